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
	while (live->blocks[i].addr)
		i = (i + 1) % LIVE_BLOCKS_MAX;
	live->blocks[i] = (struct live_block){addr, size};
	live->live++;
	HI_ASSERT(live->live < LIVE_BLOCKS_MAX / 2);
}

/* Blocks behind it that would not be found any more move up. */
static void close_gap(struct live_blocks *live, size_t gap)
{
	for (size_t i = (gap + 1) % LIVE_BLOCKS_MAX; live->blocks[i].addr;
	     i = (i + 1) % LIVE_BLOCKS_MAX) {
		size_t first = first_slot(live->blocks[i].addr, LIVE_BLOCKS_MAX);

		if ((i - first) % LIVE_BLOCKS_MAX < (i - gap) % LIVE_BLOCKS_MAX)
			continue;
		live->blocks[gap] = live->blocks[i];
		gap = i;
	}
	live->blocks[gap] = (struct live_block){};
}

static struct live_block remove_block(struct live_blocks *live, uint64_t addr)
{
	struct live_block *found = live_blocks_find(live, addr), was = {};

	if (!found) {
		live->unknown_frees++;
		return was;
	}
	was = *found;
	close_gap(live, (size_t)(found - live->blocks));
	live->live--;
	return was;
}

/* That of a thread, else a free one. */
static struct live_resize *resize_of(struct live_blocks *live, uint32_t tid)
{
	struct live_resize *unused = NULL;

	for (size_t i = 0; i < LIVE_THREADS_MAX; i++) {
		if (live->resized[i].tid == tid)
			return &live->resized[i];
		if (!live->resized[i].tid && !unused)
			unused = &live->resized[i];
	}
	HI_ASSERT(unused);
	unused->tid = tid;
	return unused;
}

static void end_resize(struct live_blocks *live, const struct hi_event *event)
{
	struct live_resize *resize = resize_of(live, event->tid);
	struct live_block old = resize->old;

	live->ended++;
	*resize = (struct live_resize){};
	if (event->addr && live->is_sampled && !(event->flags & HI_EVENT_SAMPLED))
		return; /* it moved, and where to is not recorded */
	if (event->addr)
		put_block(live, event->addr, event->size);
	else if (event->size && old.addr)
		put_block(live, old.addr, old.size);
}

static void see_thread(struct live_blocks *live, uint32_t tid)
{
	for (size_t i = 0; i < live->n_tids; i++)
		if (live->tids[i] == tid)
			return;
	if (live->n_tids < LIVE_THREADS_MAX)
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
	case HI_EVENT_FAILED:
		HI_ASSERT(!event->addr && event->size);
		live->failed++;
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
	size_t i = first_slot(stack->stack, LIVE_STACKS_MAX), tries = 0;

	HI_ASSERT_EQ(HI_EVENT_STACK, stack->kind);
	HI_ASSERT(stack->stack && stack->n <= HI_STACK_FRAMES);
	while (live->stacks[i] && live->stacks[i] != stack->stack &&
	       ++tries < LIVE_STACKS_MAX / 2)
		i = (i + 1) % LIVE_STACKS_MAX;
	if (tries < LIVE_STACKS_MAX / 2)
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
