/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/timeline.h"

#include <string.h>

enum { FIRST_TID = 4000, STEP = 64 };
static const uint64_t heap = 0x555555560010;

uint32_t timeline_draw(uint64_t *state, uint32_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)((*state * 0x2545f4914f6cdd1d) >> 33) % n;
}

uint64_t timeline_address(int slot)
{
	return slot < 0 ? 0 : heap + (uint64_t)slot * STEP;
}

int timeline_slot(uint64_t address)
{
	uint64_t at = address - heap;

	return address < heap || at % STEP || at / STEP >= TIMELINE_SLOTS
		       ? -1
		       : (int)(at / STEP);
}

static uint64_t stack_hash(unsigned i)
{
	return i ? (i + 1) * 0x9e3779b97f4a7c15 : 0;
}

void timeline_stack(unsigned i, struct hi_event_stack *ret)
{
	unsigned n = i ? 1 + i % 6 : 0;

	memset(ret, 0, sizeof(*ret));
	ret->stack = stack_hash(i);
	ret->kind = HI_EVENT_STACK;
	ret->n = (__u16)n;
	ret->cut = i % 7 == 3;
	/* The outermost is main; the innermost differs. */
	for (unsigned k = 0; k < n; k++)
		ret->frames[n - 1 - k] = 0x401000 + k * 0x100 + (k == n - 1 ? i : i % 2);
}

void timeline_init(struct timeline *t, uint64_t seed, unsigned slots)
{
	memset(t, 0, sizeof(*t));
	t->random = (seed + 1) * 0xd1342543de82ef95;
	t->time_ns = 1000000000;
	t->slots = slots;
}

/* Some slot that has the property; -1: none. */
static int draw_slot(struct timeline *t, bool is_live)
{
	unsigned from = timeline_draw(&t->random, t->slots);

	for (unsigned i = 0; i < t->slots; i++) {
		unsigned slot = (from + i) % t->slots;

		if (!t->blocks[slot].is_held && t->blocks[slot].is_live == is_live)
			return (int)slot;
	}
	return -1;
}

static void give(struct timeline *t, int slot, struct hi_event *e)
{
	e->addr = timeline_address(slot);
	e->stack = stack_hash(timeline_draw(&t->random, TIMELINE_STACKS));
	t->blocks[slot] = (struct timeline_block){.is_live = true,
						  .size = e->size,
						  .time_ns = e->time_ns,
						  .stack = e->stack,
						  .tid = e->tid};
}

static uint64_t draw_size(struct timeline *t)
{
	return timeline_draw(&t->random, 10) ? 1 + timeline_draw(&t->random, STEP - 8)
					     : 0;
}

static void begin(struct timeline *t, struct timeline_thread *thread, struct hi_event *e)
{
	*thread = (struct timeline_thread){.reallocates = true, .from = -1, .to = -1};
	if (timeline_draw(&t->random, 6))
		thread->from = draw_slot(t, true);
	if (thread->from >= 0)
		t->blocks[thread->from].is_held = true;
	thread->size = draw_size(t);
	e->kind = HI_EVENT_REALLOC_BEGIN;
	e->addr = timeline_address(thread->from);
	e->size = thread->size;
}

/* Gives the old address back: others may have it before the call returns. */
static void move(struct timeline *t, struct timeline_thread *thread)
{
	thread->to = draw_slot(t, false);
	if (thread->to < 0)
		return;
	t->blocks[thread->to].is_held = true;
	if (thread->from >= 0)
		t->blocks[thread->from] = (struct timeline_block){};
	thread->has_moved = true;
}

static void end(struct timeline *t, struct timeline_thread *thread, struct hi_event *e)
{
	int from = thread->from;

	e->kind = HI_EVENT_REALLOC_END;
	e->size = thread->size;
	e->old = timeline_address(from);
	thread->reallocates = false;
	if (thread->has_moved) {
		give(t, thread->to, e);
	} else if (from >= 0 && thread->size && timeline_draw(&t->random, 2)) {
		give(t, from, e);
	} else if (from >= 0) { /* it failed, or freed */
		t->blocks[from].is_held = false;
		t->blocks[from].is_live = thread->size != 0;
	}
}

static bool step(struct timeline *t, struct hi_event *e)
{
	unsigned index = timeline_draw(&t->random, TIMELINE_THREADS);
	struct timeline_thread *thread = &t->threads[index];
	unsigned what = timeline_draw(&t->random, 10);
	int slot;

	*e = (struct hi_event){.time_ns = t->time_ns, .tid = FIRST_TID + index};
	if (thread->reallocates) {
		if (!thread->has_moved && thread->size && what < 5) {
			move(t, thread);
			return false;
		}
		end(t, thread, e);
		return true;
	}
	if (what < 3) {
		begin(t, thread, e);
		return true;
	}
	slot = draw_slot(t, what < 6);
	if (slot < 0)
		return false;
	if (what < 6) {
		e->kind = HI_EVENT_FREE;
		e->addr = timeline_address(slot);
		t->blocks[slot] = (struct timeline_block){};
	} else {
		e->kind = HI_EVENT_ALLOC;
		e->size = draw_size(t);
		give(t, slot, e);
	}
	return true;
}

struct hi_event timeline_next(struct timeline *t)
{
	struct hi_event e;

	do
		t->time_ns += 1 + timeline_draw(&t->random, 1000000);
	while (!step(t, &e));
	return e;
}
