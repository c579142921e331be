/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks full of garbage, memory that runs out, memory that cannot be read. */
#include <stdlib.h>

#include "base/alloc.h"
#include "decode/frames/frames.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"
#include "tests/support/random.h"

enum { STACK_SIZE = 64 << 10 };

/* The image's memory, but the top of the main stack is ours, and reads may fail. */
struct garbled {
	struct hi_memory base;
	struct hi_memory *under;
	uint64_t start;
	uint8_t bytes[STACK_SIZE];
	uint64_t fail_in; /* the nth read from now on fails, and all after it; 0 never */
};

static bool fails(struct garbled *g)
{
	return g->fail_in != 0 && (g->fail_in == 1 || --g->fail_in == 1);
}

static enum hi_status garbled_read(struct hi_memory *mem, uint64_t addr, void *buf,
				   size_t size, struct hi_error *err)
{
	struct garbled *g = (struct garbled *)mem;

	if (fails(g))
		return hi_fail(err, HI_FAULT, addr, "on purpose");
	if (addr >= g->start && addr < g->start + STACK_SIZE &&
	    size <= g->start + STACK_SIZE - addr) {
		memcpy(buf, g->bytes + (addr - g->start), size);
		return HI_OK;
	}
	return hi_memory_read(g->under, addr, buf, size, err);
}

static const void *garbled_view(struct hi_memory *mem, uint64_t addr, size_t *avail_ret)
{
	struct garbled *g = (struct garbled *)mem;

	if (fails(g) || addr < g->start || addr >= g->start + STACK_SIZE)
		return NULL;
	*avail_ret = g->start + STACK_SIZE - addr;
	return g->bytes + (addr - g->start);
}

static void garbled_destroy(struct hi_memory *mem)
{
	hi_memory_destroy(((struct garbled *)mem)->under);
	free(mem);
}

static const struct hi_memory_ops garbled_ops = {"garbled", garbled_read, garbled_view,
						 garbled_destroy};

struct target {
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types;
	struct garbled *garbled;
};

static void close_target(struct target *t)
{
	hi_alloc_fail_at(0);
	hi_types_close(t->types);
	hi_modules_close(t->modules);
	free(t);
}

/* thread: whose stack is ours to garble. */
static struct target *open_target(uint32_t thread)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct target *t = calloc(1, sizeof(*t));
	struct hi_fixture *fx;
	struct hi_error err;

	HI_ASSERT(t);
	t->garbled = calloc(1, sizeof(*t->garbled));
	HI_ASSERT(t->garbled);
	fx = hi_fixture_start("frames_o2", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	t->image = hi_live_image(fx->pid);
	hi_fixture_end(fx);
	t->garbled->base.ops = &garbled_ops;
	t->garbled->under = t->image->memory;
	t->garbled->start = t->image->threads[thread].regs.rsp - 256;
	for (uint64_t i = 0; i < STACK_SIZE; i += 8) /* as it is, as far as it goes */
		(void)!hi_memory_read(t->garbled->under, t->garbled->start + i,
				      t->garbled->bytes + i, 8, NULL);
	t->image->memory = &t->garbled->base;
	hi_test_defer(close_target, t);
	HI_ASSERT_OK(hi_modules_open(t->image, &options, &t->modules, &err), &err);
	HI_ASSERT_OK(hi_types_open(t->modules, &t->types, &err), &err);
	return t;
}

/* An address in some code. */
static uint64_t random_code(const struct hi_image *image, uint64_t *seed)
{
	for (;;) {
		const struct hi_mapping *m =
			&image->mappings[next_random(seed) % image->n_mappings];

		if (m->prot & HI_PROT_EXEC)
			return m->start + next_random(seed) % (m->end - m->start);
	}
}

/* A word as stacks have them: code, nearby stack, small, anything. */
static uint64_t random_word(const struct target *t, uint64_t *seed)
{
	uint64_t r = next_random(seed);

	switch (r % 8) {
	case 0:
	case 1:
	case 2:
		return random_code(t->image, seed);
	case 3:
	case 4:
		return t->garbled->start + (r >> 8) % STACK_SIZE;
	case 5:
		return (r >> 8) % 4096;
	case 6:
		return t->garbled->start + ((r >> 8) % STACK_SIZE & ~7ull);
	default:
		return r;
	}
}

static void garble(struct target *t, uint32_t thread, uint64_t *seed)
{
	struct user_regs_struct *regs = &t->image->threads[thread].regs;
	uint64_t *words = (uint64_t *)t->garbled->bytes;
	size_t top = next_random(seed) % (STACK_SIZE / 8);

	for (uint64_t *reg = (uint64_t *)regs; reg < (uint64_t *)(regs + 1); reg++)
		*reg = random_word(t, seed);
	for (size_t i = top; i < top + 256 && i < STACK_SIZE / 8; i++)
		words[i] = random_word(t, seed);
	regs->rip = random_code(t->image, seed);
	regs->rsp = t->garbled->start + top * 8 + (next_random(seed) % 16 == 0);
}

static void check_stack(const struct target *t, const struct hi_stack *stack)
{
	HI_ASSERT(stack->n_frames >= 1 && stack->n_frames <= HI_FRAMES_MAX);
	HI_ASSERT(stack->low <= stack->high && stack->alt_low <= stack->alt_high);
	for (size_t i = 0; i < stack->n_locals; i++) {
		HI_ASSERT(stack->locals[i].name);
		HI_ASSERT(stack->locals[i].frame < stack->n_frames);
	}
	for (size_t i = 1; i < stack->n_frames; i++) {
		const struct hi_mapping *m =
			hi_image_mapping_at(t->image, stack->frames[i].pc);

		HI_ASSERT(m && (m->prot & HI_PROT_EXEC));
	}
}

HI_TEST_SCENARIO(frames_hostile, random_stacks_and_registers_neither_crash_nor_hang)
{
	struct target *t = open_target(1);
	uint64_t seed = 3;
	size_t frames = 0;

	for (int i = 0; i < 3000; i++) {
		struct hi_stack *stack;
		struct hi_error err;

		garble(t, 1, &seed);
		HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
		check_stack(t, stack);
		frames += stack->n_frames;
		hi_stack_destroy(stack);
	}
	hi_test_note("%zu frames", frames);
	HI_ASSERT(frames > 3300); /* some lead on */
}

/* The frame's own return address again and again: sp grows, so it must end. */
HI_TEST_SCENARIO(frames_hostile, frames_that_lead_back_to_themselves_end)
{
	struct target *t = open_target(1);
	struct hi_stack *stack;
	struct hi_error err;
	uint64_t ra;

	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	HI_ASSERT(stack->n_frames > 2);
	ra = stack->frames[1].pc + 1;
	hi_stack_destroy(stack);
	for (size_t i = 0; i < STACK_SIZE; i += 8)
		memcpy(t->garbled->bytes + i, &ra, 8);
	t->image->threads[1].regs.rbp = t->garbled->start + 512;
	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	HI_ASSERT(stack->truncated);
	check_stack(t, stack);
	hi_stack_destroy(stack);
}

/* A frame whose address comes from rbp, and rbp leads back to below sp. */
HI_TEST_SCENARIO(frames_hostile,
		 a_frame_that_lies_lower_than_the_one_before_ends_the_walk)
{
	struct target *t = open_target(1);
	struct user_regs_struct *regs = &t->image->threads[1].regs;
	struct hi_stack *stack;
	struct hi_error err;
	uint64_t words[2], at = t->garbled->start + 1024;
	size_t i = 0;

	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	while (i < stack->n_frames && strcmp(stack->frames[i].function, "outer") != 0)
		i++;
	HI_ASSERT(i < stack->n_frames);
	regs->rip = stack->frames[i].pc + 1; /* here its CFA is rbp + 16 */
	hi_stack_destroy(stack);
	words[0] = at;
	words[1] = regs->rip;
	memcpy(t->garbled->bytes + 1024, words, sizeof(words));
	regs->rbp = at;
	regs->rsp = at - 64;
	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	HI_ASSERT(stack->truncated);
	HI_ASSERT_EQ(2, stack->n_frames);
	HI_ASSERT_EQ(at + 16, stack->frames[1].sp);
	hi_stack_destroy(stack);
}

HI_TEST_SCENARIO(frames_hostile, a_call_of_a_null_pointer_still_shows_its_caller)
{
	struct target *t = open_target(1);
	struct user_regs_struct *regs = &t->image->threads[1].regs;
	struct hi_stack *stack;
	struct hi_error err;
	uint64_t caller, sp;

	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	HI_ASSERT(stack->n_frames > 4);
	/* As if frame 2 had called 0: its return address is the only thing on top. */
	caller = stack->frames[2].pc + 1;
	sp = stack->frames[2].sp - 8;
	HI_ASSERT_EQ(0, memcmp(t->garbled->bytes + (sp - t->garbled->start), &caller, 8));
	hi_stack_destroy(stack);
	regs->rip = 0;
	regs->rsp = sp;
	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	HI_ASSERT(stack->n_frames >= 2);
	HI_ASSERT_EQ(0, stack->frames[0].pc);
	HI_ASSERT_EQ(caller - 1, stack->frames[1].pc);
	hi_stack_destroy(stack);
}

HI_TEST_SCENARIO(frames_hostile, a_wild_stack_pointer_is_one_truncated_frame)
{
	struct target *t = open_target(1);
	struct user_regs_struct *regs = &t->image->threads[1].regs;
	static const uint64_t wild[] = {0,	   8, 0x1000, UINT64_MAX, UINT64_MAX - 7,
					1ull << 63};
	struct hi_stack *stack;
	struct hi_error err;

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		regs->rsp = regs->rbp = wild[i];
		HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
		HI_ASSERT_EQ(1, stack->n_frames);
		HI_ASSERT(stack->truncated);
		HI_ASSERT_EQ(0, stack->alt_high);
		hi_stack_destroy(stack);
	}
}

HI_TEST_SCENARIO(frames_hostile,
		 out_of_memory_at_any_allocation_is_reported_and_leaks_nothing)
{
	struct target *t = open_target(1);
	struct hi_stack *stack;
	struct hi_error err;
	uint64_t n, tried, refused = 0;

	for (n = 1; n < 100000; n++) {
		enum hi_status status;

		hi_types_close(t->types);
		t->types = NULL;
		HI_ASSERT_OK(hi_types_open(t->modules, &t->types, &err), &err);
		hi_alloc_fail_at(n);
		status = hi_stack_read(t->types, t->image, 1, &stack, &err);
		tried = hi_alloc_count();
		hi_alloc_fail_at(0);
		refused += status == HI_NO_MEMORY;
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		if (status == HI_OK)
			hi_stack_destroy(stack);
		if (tried < n)
			break;
	}
	hi_test_note("%lu allocations, %lu refused", (unsigned long)n,
		     (unsigned long)refused);
	HI_ASSERT(refused > 10);
	/* and after all that it still works */
	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	HI_ASSERT(!stack->truncated);
	hi_stack_destroy(stack);
}

HI_TEST_SCENARIO(frames_hostile, unreadable_memory_at_any_read_only_shortens_the_stack)
{
	struct target *t = open_target(1);
	struct hi_stack *stack;
	struct hi_error err;
	size_t full, shorter = 0;

	HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
	full = stack->n_frames;
	hi_stack_destroy(stack);
	for (uint64_t n = 1; n < 200; n++) {
		t->garbled->fail_in = n;
		HI_ASSERT_OK(hi_stack_read(t->types, t->image, 1, &stack, &err), &err);
		t->garbled->fail_in = 0;
		HI_ASSERT(stack->n_frames >= 1 && stack->n_frames <= full);
		HI_ASSERT(stack->n_frames == full || stack->truncated);
		shorter += stack->n_frames < full;
		hi_stack_destroy(stack);
	}
	HI_ASSERT(shorter > 0);
}
