/* SPDX-License-Identifier: BSD-2-Clause */
/* A writer of small cores, so that tests can say exactly what is in them. */
#ifndef HI_TESTS_SUPPORT_TINY_CORE_H
#define HI_TESTS_SUPPORT_TINY_CORE_H

#include <stddef.h>
#include <stdint.h>

struct hi_tiny_segment {
	uint64_t addr, memory_size, file_size;
	const void *bytes; /* file_size of them */
	uint32_t flags;	   /* PF_* */
};

struct hi_tiny_core {
	const struct hi_tiny_segment *segments;
	size_t n_segments;
	const int *tids; /* in the order of their notes */
	size_t n_tids;
	int pid;
	const uint64_t *auxv; /* pairs, closed by AT_NULL, 0 */
	size_t n_auxv;	      /* pairs */
	/* One mapped file; NULL path: none. */
	const char *file_path;
	uint64_t file_start, file_end, file_page;
};

/* The bytes, from malloc. Thread i has rsp = 0x7000 + i and rip = tid. */
unsigned char *hi_tiny_core_build(const struct hi_tiny_core *core, size_t *size_ret);
/* Writes bytes to a new file below /tmp; path needs 64 bytes. Removed when the
 * test ends. */
void hi_tiny_core_save(const void *bytes, size_t size, char path[64]);

#endif
