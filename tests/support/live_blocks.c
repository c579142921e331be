/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/live_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

#define A_SECOND 1000000000ull

struct live_blocks *live_blocks_new(void)
{
	struct live_blocks *live = calloc(1, sizeof(*live));

	HI_ASSERT(live);
	return live;
}

static size_t first_slot(uint64_t addr, size_t n)
{
	return (size_t)((addr * 0x9e3779b97f4a7c15ull) >> 32) % n;
}

struct live_block *live_blocks_find(struct live_blocks *live, uint64_t addr)
{
	size_t i = first_slot(addr, LIVE_BLOCKS_MAX);

	for (; live->blocks[i].addr; i = (i + 1) % LIVE_BLOCKS_MAX)
		if (live->blocks[i].addr == addr)
			return &live->blocks[i];
	return NULL;
}

static void put_block(struct live_blocks *live, uint64_t addr, uint64_t size)
{
	size_t i = first_slot(addr, LIVE_BLOCKS_MAX);

	if (live_blocks_find(live, addr)) {
		live->twice++;
		live_blocks_find(live, addr)->size = size;
		return;
	}
	while (live->blocks[i].addr > 1)
		i = (i + 1) % LIVE_BLOCKS_MAX;
	live->blocks[i] = (struct live_block){addr, size};
	live->live++;
	HI_ASSERT(live->live < LIVE_BLOCKS_MAX / 2);
}

static struct live_block remove_block(struct live_blocks *live, uint64_t addr)
{
	struct live_block *found = live_blocks_find(live, addr), was = {};

	if (!found) {
		live->unknown_frees++;
		return was;
	}
	was = *found;
	found->addr = 1;
	live->live--;
	return was;
}

static struct live_resize *resize_of(struct live_blocks *live, uint32_t tid)
{
	for (size_t i = 0; i < live->n_resized; i++)
		if (live->resized[i].tid == tid)
			return &live->resized[i];
	HI_ASSERT(live->n_resized < LIVE_THREADS_MAX);
	live->resized[live->n_resized].tid = tid;
	return &live->resized[live->n_resized++];
}

static void end_resize(struct live_blocks *live, const struct hi_event *event)
{
	struct live_block *old = &resize_of(live, event->tid)->old;

	live->ended++;
	if (event->addr && live->is_sampled && !(event->flags & HI_EVENT_SAMPLED))
		old->addr = 0; /* it moved, and where to is not recorded */
	else if (event->addr)
		put_block(live, event->addr, event->size);
	else if (event->size && old->addr)
		put_block(live, old->addr, old->size);
	old->addr = 0;
}

static void see_thread(struct live_blocks *live, uint32_t tid)
{
	for (size_t i = 0; i < live->n_tids; i++)
		if (live->tids[i] == tid)
			return;
	HI_ASSERT(live->n_tids < LIVE_THREADS_MAX);
	live->tids[live->n_tids++] = tid;
}

static void apply_event(void *arg, const struct hi_event *event)
{
	struct live_blocks *live = arg;

	live->backwards += event->time_ns && event->time_ns + A_SECOND < live->last_time;
	live->last_time = event->time_ns ? event->time_ns : live->last_time;
	if (event->tid)
		see_thread(live, event->tid);
	switch (event->kind) {
	case HI_EVENT_ALLOC:
		live->allocs++;
		put_block(live, event->addr, event->size);
		break;
	case HI_EVENT_FREE:
		live->frees++;
		remove_block(live, event->addr);
		break;
	case HI_EVENT_REALLOC_BEGIN:
		live->begun++;
		resize_of(live, event->tid)->old = remove_block(live, event->addr);
		break;
	case HI_EVENT_REALLOC_END:
		end_resize(live, event);
		break;
	case HI_EVENT_LOST:
		live->lost += event->size;
		live->lost_records++;
		break;
	default:
		HI_ASSERT_MSG(false, "an event of kind %u", event->kind);
	}
}

static void keep_stack(void *arg, const struct hi_event_stack *stack)
{
	struct live_blocks *live = arg;
	size_t i = first_slot(stack->stack, LIVE_STACKS_MAX);

	HI_ASSERT_EQ(HI_EVENT_STACK, stack->kind);
	HI_ASSERT(stack->stack && stack->n <= HI_STACK_FRAMES);
	while (live->stacks[i] && live->stacks[i] != stack->stack)
		i = (i + 1) % LIVE_STACKS_MAX;
	live->stacks[i] = stack->stack;
	memcpy(&live->last_stack, stack,
	       offsetof(struct hi_event_stack, frames) +
		       stack->n * sizeof(stack->frames[0]));
}

bool live_blocks_has_stack(const struct live_blocks *live, uint64_t stack)
{
	size_t i = first_slot(stack, LIVE_STACKS_MAX);

	while (live->stacks[i] && live->stacks[i] != stack)
		i = (i + 1) % LIVE_STACKS_MAX;
	return live->stacks[i] == stack;
}

struct hi_event_sink live_blocks_sink(struct live_blocks *live)
{
	return (struct hi_event_sink){
		.event = apply_event, .stack = keep_stack, .arg = live};
}
