/* SPDX-License-Identifier: BSD-2-Clause */
/* Two allocators in one process, and two copies of one: each is walked. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/command.h"

enum { BLOCKS = 3000 }; /* allocator_two.c, which marks those of the second one */
#define MARK 0x5ec02d0fa110ca70u
#define LIBRARIES "/usr/lib/x86_64-linux-gnu/"

/* A library that is opened so that it finds its own functions first allocates where the
 * shim does not see it: libstdc++ a pool for exceptions, which begins with its free
 * bytes, and tcmalloc two small objects, which begin with their virtual functions. */
enum { POOL = 72704, OWN_BLOCKS = 2 };

static bool is_marked(const struct hi_image *image, const struct hi_block *block)
{
	const struct hi_mapping *m;
	struct hi_error quiet;
	uint64_t word;

	if (hi_memory_read_u64(image->memory, block->addr, &word, &quiet) != HI_OK)
		return false;
	m = hi_image_mapping_at(image, word);
	return word == MARK || (word == POOL && block->usable >= POOL) ||
	       (block->usable <= 16 && m && m->kind == HI_MAPPING_FILE);
}

static void compare_both(const char *preload, const char *second, const char *parts)
{
	const struct allocator_run run = {
		.program = "allocator_two",
		.arguments = {second},
		.preload = preload,
		/* A library that is opened has its thread-local data there, too. */
		.environment = {"GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384"},
		.parts = parts,
		.n_parts = 2,
		.is_known = is_marked};
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_run_start(&run);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	allocator_truth_stop(fx->pid, &run, HI_REQUEST_COPY, &figures);
	allocator_figures_note(parts, &figures);
	allocator_figures_expect(&figures);
	HI_ASSERT(figures.known >= BLOCKS && figures.known <= BLOCKS + OWN_BLOCKS);
	HI_ASSERT(figures.truth >= BLOCKS * 2 / 3);
}

HI_TEST_SCENARIO(allocator_several, libc_behind_jemalloc_has_its_own_blocks)
{
	compare_both("libjemalloc.so.2", "libc", "jemalloc, glibc");
}

HI_TEST_SCENARIO(allocator_several, libc_behind_tcmalloc_has_its_own_blocks)
{
	compare_both("libtcmalloc_minimal.so.4", "libc", "tcmalloc, glibc");
}

HI_TEST_SCENARIO(allocator_several, libc_behind_mimalloc_has_its_own_blocks)
{
	compare_both("libmimalloc.so.2.0", "libc", "mimalloc, glibc");
}

HI_TEST_SCENARIO(allocator_several, glibc_and_an_opened_jemalloc)
{
	compare_both(NULL, LIBRARIES "libjemalloc.so.2", "glibc, jemalloc");
}

HI_TEST_SCENARIO(allocator_several, mimalloc_and_an_opened_jemalloc)
{
	compare_both("libmimalloc.so.2.0", LIBRARIES "libjemalloc.so.2",
		     "mimalloc, jemalloc");
}

static void remove_copy(void *path)
{
	unlink(path);
	free(path);
}

/* Another file, so that the loader takes it for another library. */
static char *copy_library(const char *library)
{
	char *path = strdup("/tmp/heapinspect-copy-XXXXXX");
	int fd = path ? mkstemp(path) : -1;

	HI_ASSERT(fd >= 0);
	close(fd);
	hi_test_defer(remove_copy, path);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", library, path, NULL)->exit_code);
	return path;
}

HI_TEST_SCENARIO(allocator_several, two_copies_of_jemalloc)
{
	compare_both("libjemalloc.so.2", copy_library(LIBRARIES "libjemalloc.so.2"),
		     "jemalloc");
}

HI_TEST_SCENARIO(allocator_several, two_copies_of_tcmalloc)
{
	compare_both("libtcmalloc_minimal.so.4",
		     copy_library(LIBRARIES "libtcmalloc_minimal.so.4"), "tcmalloc");
}

HI_TEST_SCENARIO(allocator_several, two_copies_of_mimalloc)
{
	compare_both("libmimalloc.so.2.0", copy_library(LIBRARIES "libmimalloc.so.2.0"),
		     "mimalloc");
}
