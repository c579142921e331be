/* SPDX-License-Identifier: BSD-2-Clause */
/* A core file of any bytes: its mappings are sorted and disjoint, and what it has of
 * memory can be read. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READS = 4096 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void read_ends(const struct hi_image *image, const struct hi_mapping *m)
{
	uint64_t start, end, word;

	(void)!hi_memory_read(image->memory, m->start, &word, sizeof(word), NULL);
	(void)!hi_memory_read(image->memory, m->end - 4, &word, sizeof(word), NULL);
	if (hi_image_next_held(image, m->start, m->end, &start, &end)) {
		expect(m->start <= start && start < end && end <= m->end);
		(void)!hi_memory_read(image->memory, end - 1, &word, 1, NULL);
	}
}

static void look_at_image(const struct hi_image *image)
{
	uint64_t value;
	int fd;

	for (size_t i = 0; i < image->n_mappings && i < READS; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		expect(m->start < m->end && (!i || m[-1].end <= m->start));
		expect(hi_image_mapping_at(image, m->start) == m);
		read_ends(image, m);
		if (i == 0 && hi_image_open_file(image, m, &fd, NULL) == HI_OK)
			close(fd);
	}
	(void)hi_image_held_bytes(image);
	(void)hi_image_auxv(image, 9, &value);
	free(hi_command_line_text(&image->command_line, false));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* No file of this machine is looked for. */
	const struct hi_core_options options = {.sysroot = "/proc/self/fdinfo"};
	static int fd = -1;
	struct hi_image *image = NULL;
	struct hi_error err;
	char path[64];

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || size == 0 || ftruncate(fd, 0) != 0 ||
	    pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (hi_core_open(path, &options, &image, &err) == HI_OK)
		look_at_image(image);
	hi_image_destroy(image);
	return 0;
}
