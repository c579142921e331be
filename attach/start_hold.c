/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/start_hold.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "attach/tracees.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

enum { PATH_SIZE = 4096, MOST_AUXV = 64 };

/* ---- the loader ---- */

/* 0: it has none. */
static uint64_t read_loader_base(pid_t pid)
{
	char path[32];
	Elf64_auxv_t auxv[MOST_AUXV];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "re");
	n = file ? fread(auxv, sizeof(auxv[0]), MOST_AUXV, file) : 0;
	if (file)
		fclose(file);
	for (size_t i = 0; i < n && auxv[i].a_type != AT_NULL; i++)
		if (auxv[i].a_type == AT_BASE)
			return auxv[i].a_un.a_val;
	return 0;
}

/* The file of a line of maps; "" where it has none. */
static void read_mapping_line(const char *line, struct hi_range *range,
			      char path[PATH_SIZE])
{
	*range = (struct hi_range){};
	*path = 0;
	(void)sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %4095[^\n]",
		     &range->start, &range->end, path);
}

/* All mappings of the file that is mapped at base. */
static struct hi_range find_loader_range(pid_t pid, uint64_t base)
{
	char maps[32], line[PATH_SIZE + 128], path[PATH_SIZE], loader[PATH_SIZE] = "";
	struct hi_range all = {}, range;
	FILE *file;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	file = fopen(maps, "re");
	while (file && fgets(line, sizeof(line), file)) {
		read_mapping_line(line, &range, path);
		if (range.start <= base && base < range.end) {
			all = range;
			snprintf(loader, sizeof(loader), "%s", path);
		} else if (*loader && strcmp(path, loader) == 0 && range.end > all.end) {
			all.end = range.end;
		}
	}
	if (file)
		fclose(file);
	/* It is the C library, too. */
	return strncmp(hi_base_name(loader), "ld-musl", 7) == 0 ? (struct hi_range){}
								: all;
}

/* ---- holding ---- */

static uint32_t start_state_of(const struct hi_start_hold *hold)
{
	return hold->state ? __atomic_load_n(hold->state, __ATOMIC_ACQUIRE)
			   : HI_START_NONE;
}

bool hi_start_hold_begin(struct hi_start_hold *hold, pid_t tid)
{
	uint64_t base;

	if (start_state_of(hold) != HI_START_WANTED)
		return false;
	base = read_loader_base(tid);
	hold->loader = base ? find_loader_range(tid, base) : (struct hi_range){};
	hold->tid = tid;
	return true;
}

int hi_start_hold_request(const struct hi_start_hold *hold, pid_t tid)
{
	return hold->tid == tid && start_state_of(hold) == HI_START_WANTED
		       ? PTRACE_SYSCALL
		       : PTRACE_CONT;
}

bool hi_start_hold_take(struct hi_start_hold *hold, pid_t tid)
{
	struct user_regs_struct regs;
	bool is_end_of_exec = !hold->has_run;

	if (hold->tid != tid || start_state_of(hold) != HI_START_WANTED)
		return false;
	hold->has_run = true;
	if (is_end_of_exec || ptrace(PTRACE_GETREGS, tid, 0, &regs) != 0 ||
	    (regs.rip >= hold->loader.start && regs.rip < hold->loader.end))
		return false;
	/* No signal is due there, so none is lost; else it would be reported again. */
	hi_tracee_consume(tid);
	hold->until_ns = hi_clock_ns() + HI_START_HOLD_NS;
	__atomic_store_n(hold->state, HI_START_STANDS, __ATOMIC_RELEASE);
	return true;
}

void hi_start_hold_check(struct hi_start_hold *hold, uint64_t now_ns)
{
	if (!hold->until_ns ||
	    (start_state_of(hold) == HI_START_STANDS && now_ns < hold->until_ns))
		return;
	hold->until_ns = 0;
	(void)ptrace(PTRACE_CONT, hold->tid, 0, 0);
}
