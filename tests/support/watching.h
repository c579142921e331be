/* SPDX-License-Identifier: BSD-2-Clause */
/* Hardware watchpoints as the kernel has them, without heapinspect. */
#ifndef HI_TESTS_SUPPORT_WATCHING_H
#define HI_TESTS_SUPPORT_WATCHING_H

#include <stdint.h>
#include <sys/types.h>

/* Takes one of the four of a thread (0: of the caller), on a word; -1 with errno. The
 * caller closes it. */
int hi_take_watchpoint(pid_t tid, uint64_t address);
/* Skips the test where a watchpoint on a word of the test itself does not count. */
void hi_need_watchpoints(void);

#endif
