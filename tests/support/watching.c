/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/watching.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness.h"

enum { READS = 10 };

int hi_take_watchpoint(pid_t tid, uint64_t address)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_RW,
				       .bp_addr = address,
				       .bp_len = HW_BREAKPOINT_LEN_8};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

void hi_need_watchpoints(void)
{
	static volatile uint64_t word;
	uint64_t count = 0;
	int fd = hi_take_watchpoint(0, (uintptr_t)&word);

	for (unsigned i = 0; i < READS; i++)
		(void)word;
	if (fd < 0 || read(fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	if (fd >= 0)
		close(fd);
	if (count != READS)
		HI_SKIP("no hardware watchpoints here");
}
