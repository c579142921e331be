/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/decoder/memory_limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attach/free_memory.h"
#include "base/cleanup.h"
#include "base/memory_bound.h"
#include "base/process_bound.h"

static uint64_t most_of_process; /* 0: any */

void hi_memory_limit_begin(const struct hi_options *options)
{
	uint64_t given = options->decoding.max_memory;
	uint64_t available = hi_memory_available("/proc", "/sys/fs/cgroup");

	if (given || available != UINT64_MAX) {
		hi_unpacked_set_bound(given ? given : available / 4, given != 0);
		most_of_process = given ? given : available / 4 * 3;
	}
}

#ifndef HI_SANITIZED
/* Bytes of private writable memory, as RLIMIT_DATA counts them; 0: unknown. */
static uint64_t count_data_bytes(void)
{
	HI_GUARD(close) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[256], *at = text;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	uint64_t pages = 0;

	text[n > 0 ? n : 0] = 0;
	/* size resident shared text lib data */
	for (int i = 0; i < 6; i++)
		pages = strtoull(at, &at, 10);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
#endif

void hi_memory_limit_process(void)
{
/* A sanitizer has its shadow and its quarantine in the same account. */
#ifndef HI_SANITIZED
	uint64_t now = count_data_bytes(), most;
	struct rlimit limit;

	if (!most_of_process || !now || getrlimit(RLIMIT_DATA, &limit) != 0 ||
	    __builtin_add_overflow(now, most_of_process, &most) || most >= limit.rlim_cur)
		return;
	limit.rlim_cur = most;
	if (setrlimit(RLIMIT_DATA, &limit) == 0)
		hi_process_note_bound(most_of_process);
#endif
}
