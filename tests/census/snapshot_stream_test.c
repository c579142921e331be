/* SPDX-License-Identifier: BSD-2-Clause */
/* A snapshot file on its way to the disk (census/snapshot/snapshot_stream.h): the same for any
 * number of threads, and for each way to put bytes. */
#include "tests/harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "census/snapshot/snapshot_stream.h"
#include "tests/support/random.h"

enum { SECTIONS = 4, PIECES = 30, LARGE = 9 << 20, MOST = 24 << 20 };

static unsigned char *noise;

static void free_noise(void *bytes)
{
	free(bytes);
}

/* Bytes of few kinds, so that compressing them is worth it. */
static void make_noise(void)
{
	uint64_t state = 5;

	noise = malloc(MOST);
	HI_ASSERT(noise);
	hi_test_defer(free_noise, noise);
	for (size_t i = 0; i < MOST; i += 8) {
		uint64_t word = next_random(&state) % 64;

		memcpy(noise + i, &word, 8);
	}
}

static void put_piece(struct hi_snapshot_stream *s, uint64_t *state, bool is_plain)
{
	uint64_t way = next_random(state) % 3;
	size_t size = 1 + next_random(state) % (next_random(state) % 4 ? 9000 : 300000);
	size_t at = next_random(state) % (MOST - LARGE);
	unsigned char *copy;

	if (next_random(state) % 64 == 0)
		size = LARGE;
	if (way == 0) {
		hi_snapshot_stream_put_lasting(s, noise + at, size);
		return;
	}
	copy = hi_alloc(size);
	HI_ASSERT(copy);
	memcpy(copy, noise + at, size);
	if (way == 1 && !is_plain) {
		hi_snapshot_stream_put_owned(s, copy, size);
		return;
	}
	hi_snapshot_stream_put(s, copy, size);
	memset(copy, 0xee, size);
	free(copy);
}

/* Returns a file of drawn sections. is_plain: owned bytes are put as those of the caller. */
static int write_drawn(struct hi_snapshot_options options, bool is_plain,
		       struct hi_snapshot_section sections[SECTIONS])
{
	int fd = memfd_create("stream", MFD_CLOEXEC);
	struct hi_snapshot_stream *s = NULL;
	struct hi_error err = {};
	uint64_t state = 11;

	HI_ASSERT(fd >= 0);
	memset(sections, 0, SECTIONS * sizeof(*sections));
	HI_ASSERT_OK(hi_snapshot_stream_create(fd, &options, &s, &err), &err);
	for (unsigned i = 0; i < SECTIONS; i++) {
		hi_snapshot_stream_begin(s, &sections[i]);
		for (unsigned k = 0; k < PIECES; k++)
			put_piece(s, &state, is_plain);
		hi_snapshot_stream_end(s);
	}
	HI_ASSERT_OK(hi_snapshot_stream_settle(s, &err), &err);
	HI_ASSERT_EQ(hi_snapshot_stream_size(s), (uint64_t)lseek(fd, 0, SEEK_END));
	hi_snapshot_stream_destroy(s);
	return fd;
}

static void check_same_bytes(int a, int b)
{
	size_t size = (size_t)lseek(a, 0, SEEK_END);
	const void *x, *y;

	HI_ASSERT_EQ(size, (size_t)lseek(b, 0, SEEK_END));
	x = mmap(NULL, size, PROT_READ, MAP_SHARED, a, 0);
	y = mmap(NULL, size, PROT_READ, MAP_SHARED, b, 0);
	HI_ASSERT(x != MAP_FAILED && y != MAP_FAILED);
	HI_ASSERT(memcmp(x, y, size) == 0);
	munmap((void *)(uintptr_t)x, size);
	munmap((void *)(uintptr_t)y, size);
}

HI_TEST(snapshot_stream, a_file_does_not_depend_on_threads_and_ways)
{
	make_noise();
	for (unsigned compress = 0; compress < 2; compress++) {
		struct hi_snapshot_options options = {.compress = compress, .threads = 1};
		struct hi_snapshot_section want[SECTIONS], sections[SECTIONS];
		int first = write_drawn(options, true, want);

		for (options.threads = 1; options.threads < 4; options.threads++) {
			int fd = write_drawn(options, false, sections);

			check_same_bytes(first, fd);
			HI_ASSERT(memcmp(want, sections, sizeof(want)) == 0);
			close(fd);
		}
		close(first);
	}
}

HI_TEST(snapshot_stream, a_write_that_fails_is_reported_and_the_rest_dropped)
{
	struct hi_snapshot_options options = {.threads = 2};
	struct hi_snapshot_section section = {};
	struct hi_snapshot_stream *s = NULL;
	int fd = memfd_create("stream", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct hi_error err = {};

	make_noise();
	HI_ASSERT(fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0);
	HI_ASSERT_OK(hi_snapshot_stream_create(fd, &options, &s, &err), &err);
	hi_snapshot_stream_begin(s, &section);
	hi_snapshot_stream_put_lasting(s, noise, LARGE);
	hi_snapshot_stream_put(s, noise, LARGE);
	hi_snapshot_stream_end(s);
	HI_ASSERT_EQ(HI_OS, hi_snapshot_stream_settle(s, &err));
	HI_ASSERT_EQ(HI_OS, hi_snapshot_stream_check(s, &err));
	HI_ASSERT_EQ(0, lseek(fd, 0, SEEK_END));
	hi_snapshot_stream_destroy(s);
	close(fd);
}
