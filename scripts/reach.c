/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks in the file REACH which functions are called, for scripts/mutate: one byte for
 * each 8 of the program's addresses. Processes that are forked, and those that lose their
 * rights, keep the map.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __executable_start;

#define MOST (8 << 20)

static uint8_t *marks;

__attribute__((constructor(101))) static void map_marks(void)
{
	int fd = open(REACH, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size == MOST) {
		marks = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (marks == MAP_FAILED)
			marks = NULL;
	}
	close(fd);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	uintptr_t at = ((uintptr_t)function - (uintptr_t)&__executable_start) >> 3;

	(void)caller;
	if (marks && at < MOST && !marks[at])
		marks[at] = 1;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
