/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of allocation events, and those that the same walk finds in user space, against
 * libdwfl's of the same thread: it stands still in the function that allocated.
 */
#include <elfutils/libdwfl.h>
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
#include "probes/events/event_source.h"
#include "probes/events/unwind_builder.h"
#include "probes/events/unwind_find.h"
#include "probes/events/unwind_walk.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

enum { FRAMES = 1024, EVENTS = 4096, STACKS = 1 << 16, SAME_FUNCTION = 1024 };

struct frames {
	uint64_t pc[FRAMES];
	size_t n;
	bool cut;
};

/* ---- libdwfl's ---- */

static int keep_frame(Dwfl_Frame *frame, void *arg)
{
	struct frames *frames = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL) || frames->n == FRAMES)
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

static void dwfl_frames(Dwfl *dwfl, pid_t tid, struct frames *ret)
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
		       struct frames *ret)
{
	const struct hi_unwind_memory memory = {read_of_process, &tid};
	struct hi_unwind_start start = {};
	struct user_regs_struct regs;

	HI_ASSERT_EQ(0, ptrace(PTRACE_GETREGS, tid, NULL, &regs));
	start.rip = regs.rip;
	start.rsp = regs.rsp;
	start.rbp = regs.rbp;
	ret->n = hi_unwind_walk(tables, &memory, &start, ret->pc, FRAMES, &ret->cut);
}

static void stop_thread(pid_t tid)
{
	int status;

	HI_ASSERT_EQ(0, ptrace(PTRACE_SEIZE, tid, NULL, NULL));
	HI_ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, tid, NULL, NULL));
	HI_ASSERT_EQ(tid, waitpid(tid, &status, __WALL));
}

/* ---- events ---- */

struct traced {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct hi_unwind_tables tables;
	struct hi_event_sink sink;
	struct hi_event events[EVENTS]; /* the last ones, at n_events % EVENTS */
	size_t n_events;
	struct hi_event_stack stacks[STACKS]; /* by hash; 0: free */
	Dwfl *dwfl;			      /* NULL: not open */
	struct frames truth, own;
};

static void end_trace(void *arg)
{
	struct traced *t = arg;

	hi_event_source_close(t->source);
	hi_unwind_tables_free(&t->tables);
	hi_target_close(t->target);
	dwfl_end(t->dwfl);
	free(t);
}

static void keep_event(void *arg, const struct hi_event *event)
{
	struct traced *t = arg;

	t->events[t->n_events++ % EVENTS] = *event;
}

/* A stack is sent once. */
static struct hi_event_stack *slot_of_stack(struct traced *t, uint64_t hash)
{
	size_t tries = 0,
	       i = hi_probe(j, (size_t)STACKS, hash,
			    !t->stacks[j].stack || t->stacks[j].stack == hash ||
				    ++tries == STACKS);

	HI_ASSERT(tries < STACKS);
	return &t->stacks[i];
}

static void keep_stack(void *arg, const struct hi_event_stack *stack)
{
	memcpy(slot_of_stack(arg, stack->stack), stack, 16 + stack->n * 8ul);
}

static void find_tables(struct traced *t)
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
static struct traced *trace_ready(struct hi_fixture *fx)
{
	const struct hi_event_source_options options = {};
	struct traced *t = calloc(1, sizeof(*t));
	struct hi_error err;

	HI_ASSERT(t);
	t->fx = fx;
	t->sink = (struct hi_event_sink){keep_event, keep_stack, t};
	hi_test_defer(end_trace, t);
	find_tables(t);
	HI_ASSERT_OK(hi_event_functions_find(t->target, &t->functions, &err), &err);
	HI_ASSERT_OK(hi_event_source_open(t->target, &t->functions, &options, &t->source,
					  &err),
		     &err);
	HI_ASSERT_OK(hi_event_source_set_unwind(t->source, &t->tables, &err), &err);
	HI_ASSERT_OK(hi_event_source_start(t->source, &err), &err);
	return t;
}

static struct traced *trace(struct hi_fixture *fx)
{
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return trace_ready(fx);
}

static const struct hi_event_stack *stack_of_block(struct traced *t, uint64_t addr)
{
	const struct hi_event_stack *stack;

	for (size_t i = 1; i <= t->n_events && i <= EVENTS; i++) {
		const struct hi_event *event = &t->events[(t->n_events - i) % EVENTS];

		if (event->kind != HI_EVENT_ALLOC || event->addr != addr)
			continue;
		stack = slot_of_stack(t, event->stack);
		return stack->stack ? stack : NULL;
	}
	return NULL;
}

/* ---- comparisons ---- */

static void print_frames(const char *what, const void *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned long long pc;

		memcpy(&pc, (const char *)frames + i * 8, sizeof(pc));
		hi_test_note("%s %zu %llx", what, i, pc);
	}
}

static void expect_own_frames(const struct traced *t)
{
	bool same = t->own.n == t->truth.n &&
		    memcmp(t->own.pc, t->truth.pc, t->own.n * sizeof(uint64_t)) == 0;

	if (!same) {
		print_frames("dwfl", t->truth.pc, t->truth.n);
		print_frames("own", t->own.pc, t->own.n);
	}
	HI_ASSERT(same);
	HI_ASSERT(!t->own.cut);
}

/* The allocating function has gone on a bit since the event. */
static bool are_frames_from(const struct hi_event_stack *stack,
			    const struct frames *truth, size_t from)
{
	if (from + stack->n > truth->n ||
	    truth->pc[from] - stack->frames[0] > SAME_FUNCTION)
		return false;
	return memcmp(stack->frames + 1, truth->pc + from + 1, (stack->n - 1) * 8ul) == 0;
}

static void expect_event_frames(struct traced *t, uint64_t block)
{
	const struct hi_event_stack *stack = stack_of_block(t, block);
	size_t from = 0;

	HI_ASSERT(stack);
	while (from < t->truth.n && !are_frames_from(stack, &t->truth, from))
		from++;
	if (from == t->truth.n) {
		print_frames("dwfl", t->truth.pc, t->truth.n);
		print_frames("event", stack->frames, stack->n);
	}
	HI_ASSERT(from < t->truth.n);
	HI_ASSERT_EQ(t->truth.n - from > HI_STACK_FRAMES, stack->cut);
	HI_ASSERT_EQ(stack->cut ? HI_STACK_FRAMES : t->truth.n - from, stack->n);
}

struct held {
	uint64_t block;
	int tid;
};

static struct held await_held(struct traced *t)
{
	struct held held = {};
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

static void look_at(struct traced *t, pid_t tid)
{
	hi_fixture_await_call(tid, 0); /* read */
	stop_thread(tid);
	if (!t->dwfl)
		t->dwfl = open_dwfl(t->fx->pid);
	dwfl_frames(t->dwfl, tid, &t->truth);
	own_frames(&t->tables, tid, &t->own);
	HI_ASSERT_EQ(0, ptrace(PTRACE_DETACH, tid, NULL, NULL));
}

static void let_go(struct traced *t)
{
	hi_fixture_tell(t->fx, "go on");
	hi_fixture_read_until(t->fx, "done", NULL, NULL);
}

static void expect_shape(struct traced *t, const char *shape)
{
	struct held held;

	hi_test_note("%s", shape);
	hi_fixture_tell(t->fx, shape);
	held = await_held(t);
	look_at(t, held.tid);
	expect_own_frames(t);
	if (t->source)
		expect_event_frames(t, held.block);
	let_go(t);
}

HI_TEST_ROOT(unwind, equals_libdwfl_without_frame_pointers)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "recurse 0");
	expect_shape(t, "recurse 5");
	expect_shape(t, "recurse 60");
}

HI_TEST_ROOT(unwind, is_cut_behind_the_last_frame_that_has_room)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "recurse 121");
	expect_shape(t, "recurse 122");
	expect_shape(t, "recurse 123");
	expect_shape(t, "recurse 300");
}

HI_TEST_ROOT(unwind, equals_libdwfl_with_frames_of_variable_size)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "alloca 9");
	expect_shape(t, "aligned 9");
	expect_shape(t, "both 9");
	expect_shape(t, "sort 7");
}

HI_TEST_ROOT(unwind, equals_libdwfl_behind_signal_handlers)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "signal 0");
	expect_shape(t, "signal 1");
	expect_shape(t, "signal 2");
	expect_shape(t, "signal 3");
}

HI_TEST_ROOT(unwind, ends_where_a_thread_begins)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "thread 4");
}

static void expect_static(const char *fixture)
{
	struct traced *t = trace(hi_fixture_start(fixture, NULL));

	expect_shape(t, "recurse 5");
	expect_shape(t, "both 5");
	expect_shape(t, "sort 7");
	expect_shape(t, "signal 3");
	expect_shape(t, "thread 3");
}

HI_TEST_ROOT(unwind, equals_libdwfl_in_static_programs)
{
	expect_static("unwind_shapes_static");
	expect_static("unwind_shapes_static_pie");
}

HI_TEST_ROOT(unwind, equals_libdwfl_where_there_is_no_eh_frame)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes_debug_frame", NULL));

	expect_shape(t, "recurse 5");
	expect_shape(t, "both 5");
	expect_shape(t, "sort 7");
	expect_shape(t, "signal 1");
}

/* ---- a library that is loaded while events are made ---- */

HI_TEST_ROOT(unwind, takes_more_tables_while_events_are_made)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes", NULL));
	const struct hi_event_stack *stack;
	struct hi_error err;
	struct held held;

	hi_fixture_tell(t->fx, HI_FIXTURE_DIR "/libcalled_late.so");
	held = await_held(t);
	stack = stack_of_block(t, held.block);
	HI_ASSERT(stack);
	HI_ASSERT_EQ(1, stack->cut);
	HI_ASSERT_EQ(2, stack->n);
	find_tables(t);
	HI_ASSERT_OK(hi_event_source_set_unwind(t->source, &t->tables, &err), &err);
	let_go(t);
	expect_shape(t, HI_FIXTURE_DIR "/libcalled_late.so");
}

/* The same with modules below all others, so that nothing is where it was. */
static void shift_tables(const struct hi_unwind_tables *tables, unsigned n,
			 struct hi_unwind_tables *ret)
{
	struct hi_unwind_builder builder = {};
	struct hi_unwind_tables low;
	struct hi_error err;

	for (unsigned i = 0; i < n; i++) {
		const struct hi_unwind_rule wrong = {8 * (int)i + 400, 0, HI_UNWIND_RSP,
						     0};
		uint64_t start = 0x10000 + i * 0x3000ull;

		HI_ASSERT(hi_unwind_builder_begin(&builder, start, start + 0x2000));
		HI_ASSERT(hi_unwind_builder_row(&builder, start + i, &wrong));
		hi_unwind_builder_end(&builder);
	}
	HI_ASSERT_OK(hi_unwind_builder_finish(&builder, &low, &err), &err);
	HI_ASSERT_OK(hi_unwind_tables_merge(tables, &low, ret, &err), &err);
	hi_unwind_builder_free(&builder);
	hi_unwind_tables_free(&low);
}

/* All stacks lead to where the program began. */
static void expect_whole_stacks(const struct traced *t)
{
	uint64_t first = 0;
	size_t n = 0;

	for (size_t i = 0; i < STACKS; i++) {
		const struct hi_event_stack *stack = &t->stacks[i];

		if (!stack->stack)
			continue;
		first = n++ ? first : stack->frames[stack->n - 1];
		HI_ASSERT_EQ(0, stack->cut);
		HI_ASSERT_EQ(first, stack->frames[stack->n - 1]);
	}
	hi_test_note("%zu stacks, %zu events", n, t->n_events);
	HI_ASSERT(n > 100);
}

HI_TEST_ROOT(unwind, never_mixes_tables_that_are_replaced)
{
	struct traced *t = trace(hi_fixture_start("unwind_cxx", NULL));
	struct hi_error err;

	for (unsigned i = 0; i < 300; i++) {
		struct hi_unwind_tables shifted;

		shift_tables(&t->tables, i % 7 * 5, &shifted);
		HI_ASSERT_OK(hi_event_source_set_unwind(t->source, &shifted, &err), &err);
		hi_unwind_tables_free(&shifted);
		HI_ASSERT_OK(hi_event_source_poll(t->source, 1, &t->sink, &err), &err);
	}
	expect_whole_stacks(t);
}

HI_TEST_ROOT(unwind, refuses_tables_without_a_word)
{
	struct traced *t = trace(hi_fixture_start("unwind_shapes", NULL));
	const struct hi_unwind_tables none = {};

	HI_ASSERT_STATUS(HI_BAD_DATA, hi_event_source_set_unwind(t->source, &none, NULL));
	expect_shape(t, "recurse 3");
}

/* ---- programs that know nothing of the test ---- */

static void forget_environment(void *unused)
{
	(void)unused;
	unsetenv("LD_PRELOAD");
	unsetenv("MALLOC_PAUSE");
	unsetenv("PYTHONMALLOC");
}

static void set_environment(const char *every)
{
	hi_test_defer(forget_environment, NULL);
	HI_ASSERT_EQ(0, setenv("LD_PRELOAD", HI_FIXTURE_DIR "/libmalloc_pause.so", 1));
	HI_ASSERT_EQ(0, setenv("MALLOC_PAUSE", every, 1));
	HI_ASSERT_EQ(0, setenv("PYTHONMALLOC", "malloc", 1));
}

static struct traced *trace_paused(const char *every, const char *path, const char *arg1,
				   const char *arg2)
{
	struct hi_fixture *fx;

	set_environment(every);
	fx = hi_fixture_start(path, arg1, arg2, NULL);
	forget_environment(NULL);
	return trace(fx);
}

/* Compares at so many pauses; what is not one of those is read and forgotten. */
static void expect_pauses(struct traced *t, int pauses)
{
	size_t deepest = 0, cut = 0;

	HI_ASSERT_EQ(0, kill(t->fx->pid, SIGUSR2));
	for (int i = 0; i < pauses; i++) {
		struct held held = await_held(t);

		look_at(t, held.tid);
		expect_own_frames(t);
		expect_event_frames(t, held.block);
		deepest = t->truth.n > deepest ? t->truth.n : deepest;
		cut += t->truth.n > HI_STACK_FRAMES + 4;
		hi_fixture_tell(t->fx, "go on");
	}
	hi_test_note("%d stacks of up to %zu frames, %zu cut", pauses, deepest, cut);
}

HI_TEST_ROOT(unwind, equals_libdwfl_while_exceptions_are_thrown)
{
	expect_pauses(trace_paused("7", "unwind_cxx", NULL, NULL), 300);
}

HI_TEST_ROOT(unwind, equals_libdwfl_in_python)
{
	static const char program[] =
		"import json, re, os\n"
		"def deep(n):\n"
		"    text = json.dumps({'a': [str(n)] * 5, 'b': {'c': n}})\n"
		"    found = re.sub('[0-9]+', lambda m: m.group(0) + 'x', text)\n"
		"    some = sorted(range(9), key=lambda i: str(-i) + found)\n"
		"    return deep(n - 1) + found if n else found\n"
		"os.write(1, b'ready\\n')\n"
		"while True:\n"
		"    deep(12)\n";

	if (access("/usr/bin/python3.11", X_OK) != 0)
		HI_SKIP("no /usr/bin/python3.11");
	expect_pauses(trace_paused("997", "/usr/bin/python3.11", "-c", program), 300);
}

/* scripts/build-targets build/targets redis */
#define REDIS HI_SOURCE_DIR "/build/targets/redis-server"

static void await_redis(struct hi_fixture *fx)
{
	char line[512];

	do
		HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	while (!strstr(line, "eady to accept connections"));
}

static void remove_socket(void *path)
{
	unlink(path);
}

HI_TEST_SLOW(unwind, equals_libdwfl_in_redis)
{
	static char path[64];
	struct hi_fixture *redis, *load;

	if (access(REDIS, X_OK) != 0)
		HI_SKIP("no build/targets/redis-server");
	snprintf(path, sizeof(path), "/tmp/unwind-%d.sock", (int)getpid());
	hi_test_defer(remove_socket, path);
	set_environment("7");
	redis = hi_fixture_start(REDIS, "--port", "0", "--unixsocket", path, "--save", "",
				 NULL);
	forget_environment(NULL);
	await_redis(redis);
	load = hi_fixture_start("redis_load", path, NULL);
	hi_fixture_read_until(load, "ready", NULL, NULL);
	expect_pauses(trace_ready(redis), 10000);
}
