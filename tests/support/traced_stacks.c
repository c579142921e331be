/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/traced_stacks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/search.h"
#include "probes/events/unwind_find.h"
#include "probes/events/unwind_walk.h"
#include "tests/harness.h"

/* ---- libdwfl's ---- */

static int keep_frame(Dwfl_Frame *frame, void *arg)
{
	struct traced_frames *frames = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL) || frames->n == TRACED_FRAMES)
		return DWARF_CB_ABORT;
	frames->pc[frames->n++] = pc;
	return DWARF_CB_OK;
}

/* While a thread is stopped. */
static Dwfl *open_dwfl(pid_t pid)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debug_path,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	HI_ASSERT(dwfl);
	HI_ASSERT_EQ(0, dwfl_linux_proc_report(dwfl, pid));
	HI_ASSERT_EQ(0, dwfl_report_end(dwfl, NULL, NULL));
	HI_ASSERT_EQ(0, dwfl_linux_proc_attach(dwfl, pid, true));
	return dwfl;
}

static void dwfl_frames(Dwfl *dwfl, pid_t tid, struct traced_frames *ret)
{
	ret->n = 0;
	ret->cut = dwfl_getthread_frames(dwfl, tid, keep_frame, ret) != 0;
}

/* ---- the walk in user space ---- */

static bool read_of_process(void *arg, uint64_t addr, uint64_t *ret)
{
	const pid_t *pid = arg;
	struct iovec to = {ret, sizeof(*ret)};
	struct iovec from = {(void *)(uintptr_t)addr, sizeof(*ret)};

	return process_vm_readv(*pid, &to, 1, &from, 1, 0) == sizeof(*ret);
}

static void own_frames(const struct hi_unwind_tables *tables, pid_t tid,
		       struct traced_frames *ret)
{
	const struct hi_unwind_memory memory = {read_of_process, &tid};
	struct hi_unwind_start start = {};
	struct user_regs_struct regs;

	HI_ASSERT_EQ(0, ptrace(PTRACE_GETREGS, tid, NULL, &regs));
	start.rip = regs.rip;
	start.rsp = regs.rsp;
	start.rbp = regs.rbp;
	ret->n = hi_unwind_walk(tables, &memory, &start, ret->pc, TRACED_FRAMES,
				&ret->cut);
}

static void stop_thread(pid_t tid)
{
	int status;

	HI_ASSERT_EQ(0, ptrace(PTRACE_SEIZE, tid, NULL, NULL));
	HI_ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, tid, NULL, NULL));
	HI_ASSERT_EQ(tid, waitpid(tid, &status, __WALL));
}

/* ---- events ---- */

static void end_trace(struct traced *t)
{
	hi_event_source_close(t->source);
	hi_unwind_tables_free(&t->tables);
	hi_target_close(t->target);
	dwfl_end(t->dwfl);
	free(t);
}

static void keep_event(void *arg, const struct hi_event *event)
{
	struct traced *t = arg;

	t->events[t->n_events++ % TRACED_EVENTS] = *event;
}

/* A stack is sent once. */
static struct hi_event_stack *slot_of_stack(struct traced *t, uint64_t hash)
{
	size_t tries = 0,
	       i = hi_probe(j, (size_t)TRACED_STACKS, hash,
			    !t->stacks[j].stack || t->stacks[j].stack == hash ||
				    ++tries == TRACED_STACKS);

	HI_ASSERT(tries < TRACED_STACKS);
	return &t->stacks[i];
}

static void keep_stack(void *arg, const struct hi_event_stack *stack)
{
	memcpy(slot_of_stack(arg, stack->stack), stack, 16 + stack->n * 8ul);
}

void traced_find_tables(struct traced *t)
{
	struct hi_error err;

	hi_unwind_tables_free(&t->tables);
	hi_target_close(t->target);
	t->target = NULL;
	dwfl_end(t->dwfl);
	t->dwfl = NULL;
	HI_ASSERT_OK(hi_target_open(t->fx->pid, &t->target, &err), &err);
	HI_ASSERT_OK(hi_unwind_tables_find(t->target, &t->tables, &err), &err);
	HI_ASSERT_OK(hi_unwind_tables_check(&t->tables, t->target, &err), &err);
}

/* A program that is ready. */
struct traced *traced_ready(struct hi_fixture *fx)
{
	const struct hi_event_source_options options = {};
	struct traced *t = calloc(1, sizeof(*t));
	struct hi_error err;

	HI_ASSERT(t);
	t->fx = fx;
	t->sink = (struct hi_event_sink){
		.event = keep_event, .stack = keep_stack, .arg = t};
	hi_test_defer(end_trace, t);
	traced_find_tables(t);
	HI_ASSERT_OK(hi_event_functions_find(t->target, &t->functions, &err), &err);
	/* The interpreter's own frames, as libdwfl has them. */
	t->functions.python = (struct hi_python_walk){};
	HI_ASSERT_OK(hi_event_source_open(t->target, &t->functions, &options, &t->source,
					  &err),
		     &err);
	HI_ASSERT_OK(hi_event_source_set_unwind(t->source, &t->tables, &err), &err);
	HI_ASSERT_OK(hi_event_source_start(t->source, &err), &err);
	return t;
}

struct traced *traced_start(struct hi_fixture *fx)
{
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return traced_ready(fx);
}

const struct hi_event_stack *traced_stack_of(struct traced *t, uint64_t addr)
{
	const struct hi_event_stack *stack;

	for (size_t i = 1; i <= t->n_events && i <= TRACED_EVENTS; i++) {
		const struct hi_event *event =
			&t->events[(t->n_events - i) % TRACED_EVENTS];

		if (event->kind != HI_EVENT_ALLOC || event->addr != addr)
			continue;
		stack = slot_of_stack(t, event->stack);
		return stack->stack ? stack : NULL;
	}
	return NULL;
}

/* ---- comparisons ---- */

void traced_print(const char *what, const void *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned long long pc;

		memcpy(&pc, (const char *)frames + i * 8, sizeof(pc));
		hi_test_note("%s %zu %llx", what, i, pc);
	}
}

void traced_expect_own(const struct traced *t)
{
	bool same = t->own.n == t->truth.n &&
		    memcmp(t->own.pc, t->truth.pc, t->own.n * sizeof(uint64_t)) == 0;

	if (!same) {
		traced_print("dwfl", t->truth.pc, t->truth.n);
		traced_print("own", t->own.pc, t->own.n);
	}
	HI_ASSERT(same);
	HI_ASSERT(!t->own.cut);
}

/* The allocating function has gone on a bit since the event. */
static bool are_frames_from(const struct hi_event_stack *stack,
			    const struct traced_frames *truth, size_t from)
{
	if (from + stack->n > truth->n ||
	    truth->pc[from] - stack->frames[0] > TRACED_SAME_FUNCTION)
		return false;
	return memcmp(stack->frames + 1, truth->pc + from + 1, (stack->n - 1) * 8ul) == 0;
}

void traced_expect_event(struct traced *t, uint64_t block)
{
	const struct hi_event_stack *stack = traced_stack_of(t, block);
	size_t from = 0;

	HI_ASSERT(stack);
	while (from < t->truth.n && !are_frames_from(stack, &t->truth, from))
		from++;
	if (from == t->truth.n) {
		traced_print("dwfl", t->truth.pc, t->truth.n);
		traced_print("event", stack->frames, stack->n);
	}
	HI_ASSERT(from < t->truth.n);
	HI_ASSERT_EQ(t->truth.n - from > HI_STACK_FRAMES, stack->cut);
	HI_ASSERT_EQ(stack->cut ? HI_STACK_FRAMES : t->truth.n - from, stack->n);
}

struct traced_held traced_await_held(struct traced *t)
{
	struct traced_held held = {};
	unsigned long block = 0;
	struct hi_error err;
	char line[256];

	HI_ASSERT(hi_fixture_line(t->fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "held %lx %d", &block, &held.tid));
	held.block = block;
	if (t->source)
		HI_ASSERT_OK(hi_event_source_drain(t->source, &t->sink, &err), &err);
	return held;
}

void traced_look_at(struct traced *t, pid_t tid)
{
	hi_fixture_await_call(tid, 0); /* read */
	stop_thread(tid);
	if (!t->dwfl)
		t->dwfl = open_dwfl(t->fx->pid);
	dwfl_frames(t->dwfl, tid, &t->truth);
	own_frames(&t->tables, tid, &t->own);
	HI_ASSERT_EQ(0, ptrace(PTRACE_DETACH, tid, NULL, NULL));
}

void traced_let_go(struct traced *t)
{
	hi_fixture_tell(t->fx, "go on");
	hi_fixture_read_until(t->fx, "done", NULL, NULL);
}
