/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of real threads against what the program says of itself, and gdb. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/frames/frames_internal.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"

enum { TRUTHS_MAX = 512 };

/* One line of truth about a thread: its words. */
struct truth {
	char kind[16], text[160], function[40], name[40];
	int tid;
	uint64_t number, second;
};

struct target {
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types;
	struct truth truths[TRUTHS_MAX];
	size_t n_truths;
	pid_t pid;
};

static void close_target(struct target *t)
{
	hi_types_close(t->types);
	hi_modules_close(t->modules);
	free(t);
}

static void note_truth(const char *line, void *arg)
{
	struct target *t = arg;
	struct truth *truth = &t->truths[t->n_truths];
	int n = 0;

	HI_ASSERT(t->n_truths < TRUTHS_MAX);
	HI_ASSERT(sscanf(line, "%15s %d %n", truth->kind, &truth->tid, &n) == 2);
	snprintf(truth->text, sizeof(truth->text), "%s", line + n);
	if (strcmp(truth->kind, "place") == 0 || strcmp(truth->kind, "value") == 0)
		HI_ASSERT(sscanf(line + n, "%39s %39s %lx", truth->function, truth->name,
				 &truth->number) == 3);
	else
		sscanf(line + n, "%lx %lx", &truth->number, &truth->second);
	t->n_truths++;
}

/* debug_dir NULL: the usual one. */
static struct target *open_target_with(const char *fixture, const char *debug_dir)
{
	struct hi_modules_options options = {.cache_dir = "", .debug_dir = debug_dir};
	struct target *t = calloc(1, sizeof(*t));
	struct hi_fixture *fx;
	struct hi_error err;

	HI_ASSERT(t);
	fx = hi_fixture_start(fixture, NULL);
	hi_fixture_read_until(fx, "ready", note_truth, t);
	t->pid = fx->pid;
	t->image = hi_live_image(fx->pid);
	hi_test_defer(close_target, t);
	HI_ASSERT_OK(hi_modules_open(t->image, &options, &t->modules, &err), &err);
	HI_ASSERT_OK(hi_types_open(t->modules, &t->types, &err), &err);
	return t;
}

static struct target *open_target(const char *fixture)
{
	return open_target_with(fixture, NULL);
}

static struct hi_stack *read_stack(struct target *t, int tid)
{
	struct hi_stack *stack = NULL;
	struct hi_error err;

	for (uint32_t i = 0; i < t->image->n_threads; i++)
		if (t->image->threads[i].tid == tid) {
			HI_ASSERT_OK(hi_stack_read(t->types, t->image, i, &stack, &err),
				     &err);
			hi_test_defer(hi_stack_destroy, stack);
			HI_ASSERT_EQ(i, stack->thread);
			return stack;
		}
	hi_test_fail(__FILE__, __LINE__, "the image has no thread %d", tid);
}

/* The thread that said `kind` of itself; 0 for all that is not said. */
static const struct truth *find_truth(struct target *t, const char *kind, int tid,
				      const char *text)
{
	for (size_t i = 0; i < t->n_truths; i++)
		if (strcmp(t->truths[i].kind, kind) == 0 &&
		    (tid == 0 || t->truths[i].tid == tid) &&
		    (!text || strcmp(t->truths[i].text, text) == 0))
			return &t->truths[i];
	return NULL;
}

static int thread_of(struct target *t, const char *kind)
{
	const struct truth *truth = find_truth(t, "thread", 0, kind);

	HI_ASSERT(truth);
	return truth->tid;
}

/* The functions of the fixture come in this order, with nothing between them that is
 * of its file (which in a static program holds libc too). */
static void check_calls(struct target *t, const struct hi_stack *stack, const char *calls)
{
	const struct hi_module *exe = hi_modules_executable(t->modules);
	bool is_static = !hi_modules_named(t->modules, "libc.so");
	char list[160], *save, *name;
	size_t i = 0;

	snprintf(list, sizeof(list), "%s", calls);
	for (name = strtok_r(list, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		while (i < stack->n_frames &&
		       (stack->frames[i].module != exe ||
			(is_static && strcmp(stack->frames[i].function, name) != 0)))
			i++;
		HI_ASSERT_MSG(i < stack->n_frames, "no frame of %s", name);
		HI_ASSERT_STREQ(name, stack->frames[i].function);
		i++;
	}
}

/* The next variable after `from` (NULL: the first) that this truth is about. */
static const struct hi_local *find_local(const struct hi_stack *stack,
					 const struct truth *truth,
					 const struct hi_local *from)
{
	const struct hi_local *end = stack->locals + stack->n_locals;

	for (from = from ? from + 1 : stack->locals; from < end; from++)
		if (strcmp(from->name, truth->name) == 0 && from->function &&
		    strcmp(from->function, truth->function) == 0)
			return from;
	return NULL;
}

static void check_place(const struct hi_stack *stack, const struct truth *truth)
{
	const struct hi_local *local = find_local(stack, truth, NULL);

	HI_ASSERT_MSG(local, "%s: no variable %s", truth->function, truth->name);
	HI_ASSERT_MSG(local->in_memory, "%s is in memory", truth->name);
	HI_ASSERT_EQ(truth->number, local->address);
}

/* All that are said by value are `struct node *`. */
static void check_type(struct target *t, const struct hi_local *local)
{
	const struct hi_type *type = hi_type_get(t->types, local->type);

	HI_ASSERT_EQ(HI_KIND_POINTER, type->kind);
	HI_ASSERT_STREQ("struct node", hi_type_get(t->types, type->target)->name);
}

static uint64_t local_word(struct target *t, const struct hi_local *local)
{
	uint64_t word = 0;
	struct hi_error err;

	HI_ASSERT_EQ(8, local->size);
	if (local->in_memory)
		HI_ASSERT_OK(
			hi_memory_read_u64(t->image->memory, local->address, &word, &err),
			&err);
	else
		memcpy(&word, local->value, 8);
	if (!local->in_memory)
		HI_ASSERT_EQ(0xff, local->value_mask);
	return word;
}

/* Every variable of that name in that function has the value that the program says;
 * returns how many there are. */
static int check_value(struct target *t, const struct hi_stack *stack,
		       const struct truth *truth)
{
	const struct hi_local *local = NULL;
	int n = 0;

	while ((local = find_local(stack, truth, local))) {
		HI_ASSERT_MSG(local_word(t, local) == truth->number,
			      "%s: %s is %lx, not %lx", truth->function, truth->name,
			      truth->number, local_word(t, local));
		check_type(t, local);
		n++;
	}
	return n;
}

/* All that a thread says of its variables; how many values could not be found. */
static int check_variables(struct target *t, const struct hi_stack *stack, int tid)
{
	int missing = 0;

	for (size_t i = 0; i < t->n_truths; i++) {
		const struct truth *truth = &t->truths[i];

		if (truth->tid != tid)
			continue;
		if (strcmp(truth->kind, "place") == 0)
			check_place(stack, truth);
		if (strcmp(truth->kind, "value") == 0 &&
		    check_value(t, stack, truth) == 0) {
			hi_test_note("%s: no variable %s", truth->function, truth->name);
			missing++;
		}
	}
	return missing;
}

static void check_range(struct target *t, const struct hi_stack *stack, int tid)
{
	const struct truth *said = find_truth(t, "stack", tid, NULL);
	const struct truth *sp = find_truth(t, "sp", tid, NULL);

	HI_ASSERT(said && sp);
	HI_ASSERT(stack->low >= said->number && stack->low < stack->high);
	HI_ASSERT(stack->low < sp->number && sp->number < stack->high);
	if (stack->tls_high) /* the TCB is aligned down from the end */
		HI_ASSERT(stack->tls_high <= said->second &&
			  said->second - stack->tls_high < 64);
	else /* the main thread: pthread_getattr_np leaves out the arguments */
		HI_ASSERT(stack->high >= said->second &&
			  stack->high - said->second < 1 << 20);
	for (size_t i = 0; i < stack->n_frames; i++)
		HI_ASSERT(stack->frames[i].cfa <= stack->high);
}

/* pthread_mutex_lock() saves rbx: there the variable of an outer frame is found. */
static void check_saved_register(struct target *t)
{
	int tid = thread_of(t, "mutex");
	struct truth in_rbx = {.function = "hold_in_rbx", .name = "in_rbx"};
	const struct hi_stack *stack = read_stack(t, tid);
	const struct hi_local *local = find_local(stack, &in_rbx, NULL);

	HI_ASSERT(local && local->in_memory);
	HI_ASSERT(local->address >= stack->low &&
		  local->address < stack->frames[local->frame].sp);
}

/* A register that counts as covered holds what some variable says. */
static void check_registers(struct target *t, const struct hi_stack *stack)
{
	const uint64_t *words = (const uint64_t *)&t->image->threads[stack->thread].regs;

	for (size_t i = 0; i < 27; i++) {
		size_t k = 0;

		if (!(stack->registers_in_locals >> i & 1))
			continue;
		while (k < stack->n_locals &&
		       (stack->locals[k].in_memory ||
			memcmp(stack->locals[k].value, &words[i],
			       stack->locals[k].size < 8 ? stack->locals[k].size : 8)))
			k++;
		HI_ASSERT_MSG(k < stack->n_locals, "register word %zu", i);
	}
	HI_ASSERT_EQ(0, stack->registers_in_locals >> 27);
}

static void check_nested_target(struct target *t)
{
	static const char *const kinds[] = {"nanosleep", "mutex", "cond", "main"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int tid = thread_of(t, kinds[i]);
		struct hi_stack *stack = read_stack(t, tid);

		HI_ASSERT(!stack->truncated);
		check_calls(t, stack, find_truth(t, "calls", tid, NULL)->text);
		HI_ASSERT_EQ(0, check_variables(t, stack, tid));
		check_range(t, stack, tid);
		check_registers(t, stack);
		HI_ASSERT_EQ(0, stack->alt_high);
		for (size_t k = 0; k < stack->n_locals; k++)
			HI_ASSERT(strcmp(stack->locals[k].name, "not_here") != 0);
	}
}

static void check_nested(const char *fixture)
{
	struct target *t = open_target(fixture);

	check_nested_target(t);
	check_saved_register(t);
}

HI_TEST_SCENARIO(frames, threads_that_block_in_a_stripped_libc)
{
	struct target *t = open_target_with("frames_o2", "/nonexistent");
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_module_debug(hi_modules_named(t->modules, "libc.so"), &err));
	check_nested_target(t);
}

HI_TEST_SCENARIO(frames, nested_calls_and_their_variables_without_optimisation)
{
	check_nested("frames_o0");
}

HI_TEST_SCENARIO(frames, nested_calls_and_their_variables_at_o2)
{
	check_nested("frames_o2");
}

HI_TEST_SCENARIO(frames, nested_calls_without_frame_pointers)
{
	check_nested("frames_nofp");
}

HI_TEST_SCENARIO(frames, nested_calls_in_a_static_program)
{
	check_nested("frames_static");
}

HI_TEST_SCENARIO(frames, nested_calls_by_debug_frame_alone)
{
	check_nested("frames_debugframe");
}

HI_TEST_SCENARIO(frames, nested_calls_by_frame_pointers_alone)
{
	static const char *const kinds[] = {"nanosleep", "cond", "main"};
	struct target *t = open_target("frames_pointers");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int tid = thread_of(t, kinds[i]);
		struct hi_stack *stack = read_stack(t, tid);

		check_calls(t, stack, find_truth(t, "calls", tid, NULL)->text);
		check_range(t, stack, tid);
		HI_ASSERT(!stack->truncated);
	}
}

HI_TEST_SCENARIO(frames, a_signal_handler_leads_on_to_what_it_interrupted)
{
	struct target *t = open_target("frames_o2");
	int tid = thread_of(t, "signal");
	struct hi_stack *stack = read_stack(t, tid);

	HI_ASSERT(!stack->truncated);
	check_calls(t, stack, find_truth(t, "calls", tid, NULL)->text);
	HI_ASSERT_EQ(0, check_variables(t, stack, tid));
	check_range(t, stack, tid);
	HI_ASSERT_EQ(0, stack->alt_high);
}

HI_TEST_SCENARIO(frames, a_handler_on_its_own_stack_is_told_apart_from_the_threads_stack)
{
	struct target *t = open_target("frames_o2");
	int tid = thread_of(t, "altstack");
	struct hi_stack *stack = read_stack(t, tid);
	const struct truth *alt = find_truth(t, "alt", tid, NULL);
	const struct truth *here = find_truth(t, "place", tid, NULL);
	const struct truth *sp = find_truth(t, "sp", tid, NULL);

	HI_ASSERT(!stack->truncated);
	check_calls(t, stack, find_truth(t, "calls", tid, NULL)->text);
	HI_ASSERT_EQ(0, check_variables(t, stack, tid));
	HI_ASSERT(alt->number <= stack->alt_low && stack->alt_low < sp->number);
	HI_ASSERT(sp->number < stack->alt_high && stack->alt_high - alt->second < 65536);
	/* The interrupted function's frame is the first of the own stack. */
	HI_ASSERT(stack->low <= here->number && here->number - stack->low < 1024);
	HI_ASSERT_EQ(find_truth(t, "stack", tid, NULL)->second, stack->tls_high);
}

HI_TEST_SCENARIO(frames, recursion_beyond_the_limit_is_cut_and_reported)
{
	struct target *t = open_target("frames_o2");
	struct hi_stack *stack = read_stack(t, thread_of(t, "deep"));
	size_t n = 0;

	HI_ASSERT(stack->truncated);
	HI_ASSERT_EQ(HI_FRAMES_MAX, stack->n_frames);
	for (size_t i = 0; i < stack->n_frames; i++)
		n += strcmp(stack->frames[i].function, "recurse") == 0;
	HI_ASSERT(n >= HI_FRAMES_MAX - 8);
	check_variables(t, stack, thread_of(t, "deep"));
	check_range(t, stack, thread_of(t, "deep"));
}

HI_TEST_SCENARIO(frames, variables_beyond_the_limit_are_cut_and_reported)
{
	struct target *t = open_target("frames_wide");
	struct hi_stack *stack = read_stack(t, t->pid);

	HI_ASSERT_EQ(HI_FRAMES_MAX, stack->n_frames);
	HI_ASSERT(stack->locals_truncated);
	HI_ASSERT_EQ(HI_LOCALS_MAX, stack->n_locals);
}

HI_TEST_SCENARIO(frames, functions_of_cxx_have_their_whole_names)
{
	static const char *const names[] = {
		"wait_for_end",
		"shop::shelf::put",
		"shop::shelf::count<long>",
		"shop::(anonymous namespace)::hidden(shop::shelf&, "
		"shop::item*)::{lambda(shop::item*)#1}::operator()",
		"shop::(anonymous namespace)::hidden",
		"main",
	};
	struct target *t = open_target("frames_cxx");
	struct hi_stack *stack = read_stack(t, t->pid);
	const struct hi_module *exe = hi_modules_executable(t->modules);
	size_t n = sizeof(names) / sizeof(names[0]), k = 0;

	for (size_t i = 0; i < stack->n_frames && k < n; i++)
		if (stack->frames[i].module == exe)
			HI_ASSERT_STREQ(names[k++], stack->frames[i].function);
	HI_ASSERT_EQ(n, k);
	for (size_t i = 0; i < t->n_truths; i++)
		if (strcmp(t->truths[i].kind, "place") == 0)
			check_place(stack, &t->truths[i]);
		else
			HI_ASSERT(find_local(stack, &t->truths[i], NULL) &&
				  local_word(t, find_local(stack, &t->truths[i], NULL)) ==
					  t->truths[i].number);
}

/* On a stack of its own making: all of the thread's own stack counts as used. */
static void check_coroutine(struct target *t, const char *kind)
{
	int tid = thread_of(t, kind);
	struct hi_stack *stack = read_stack(t, tid);
	const struct truth *own = find_truth(t, "stack", tid, NULL);
	const struct truth *alt = find_truth(t, "alt", tid, NULL);
	uint64_t sp = find_truth(t, "sp", tid, NULL)->number;
	uint64_t outer = find_truth(t, "outer", tid, NULL)->number;

	HI_ASSERT(!stack->truncated);
	check_calls(t, stack, find_truth(t, "calls", tid, NULL)->text);
	HI_ASSERT(alt->number <= stack->alt_low && stack->alt_low < sp);
	HI_ASSERT(outer < stack->alt_high && stack->alt_high <= alt->second);
	HI_ASSERT(stack->alt_high - outer < 1024);
	if (stack->thread != 0) {
		HI_ASSERT(stack->low <= own->number);
		HI_ASSERT_EQ(own->second, stack->tls_high);
	} else {
		const struct hi_mapping *m = hi_image_mapping_at(t->image, stack->low);

		HI_ASSERT(m && m->start == stack->low && m->end == stack->high);
		HI_ASSERT(m->kind == HI_MAPPING_STACK);
	}
}

HI_TEST_SCENARIO(frames, a_coroutine_is_on_another_stack_than_its_threads)
{
	struct target *t = open_target("frames_stacks");

	check_coroutine(t, "coroutine");
	check_coroutine(t, "main"); /* its coroutine's stack is in [heap] */
}

HI_TEST_SCENARIO(frames, a_stack_that_the_program_made_for_a_thread_ends_with_its_tcb)
{
	struct target *t = open_target("frames_stacks");
	int tid = thread_of(t, "onheap");
	struct hi_stack *stack = read_stack(t, tid);

	HI_ASSERT(!stack->truncated);
	check_calls(t, stack, find_truth(t, "calls", tid, NULL)->text);
	check_range(t, stack, tid);
	HI_ASSERT(find_truth(t, "outer", tid, NULL)->number < stack->high);
	HI_ASSERT_EQ(0, stack->alt_high);
}

/* One thread of eu-stack's output, from the line behind "TID n:" on. Its pcs are
 * return addresses; ours are in front of them, except above a signal frame. A thread
 * whose system call was interrupted by the stop begins it anew: two bytes earlier. */
static const char *check_eu_stack(const char *text, const struct hi_stack *stack)
{
	unsigned long pc;
	size_t i, n;

	for (i = 0; sscanf(text, "#%zu 0x%lx", &n, &pc) == 2; i++) {
		uint64_t ours = i < stack->n_frames ? stack->frames[i].pc : 0;

		HI_ASSERT_EQ(i, n);
		HI_ASSERT_MSG(ours == pc || ours + (i > 0 ? 1 : 2) == pc,
			      "frame %zu of thread %u: eu-stack says %lx, we %lx", i,
			      stack->thread, pc, ours);
		text = strchr(text, '\n');
		HI_ASSERT(text);
		text++;
	}
	HI_ASSERT(i == stack->n_frames || (i == 256 && stack->n_frames > i));
	return text;
}

HI_TEST_SCENARIO(frames, every_pc_of_every_thread_is_the_one_that_eu_stack_finds)
{
	struct target *t = open_target("frames_o2");
	struct hi_command *command;
	char pid[16];
	const char *text;
	size_t n = 0;
	int tid;

	snprintf(pid, sizeof(pid), "%d", (int)t->pid);
	command = hi_command_run(0, "eu-stack", "-p", pid, NULL);
	for (text = command->out; (text = strstr(text, "TID ")); n++) {
		HI_ASSERT_EQ(1, sscanf(text, "TID %d:", &tid));
		text = check_eu_stack(strchr(text, '\n') + 1, read_stack(t, tid));
	}
	HI_ASSERT_EQ(7, n);
}
