/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/recording.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "census/events/live_table_internal.h"
#include "census/events/sampling.h"

/* The reallocation in which a thread is, or was. */
struct realloc_call {
	bool is_open;  /* it began and did not end */
	bool is_known; /* the block was in the table */
	uint64_t addr; /* as passed; 0 none */
	struct hi_live_allocation block;
};

/* What totals have beside whole numbers, in units of 2^-32. */
struct totals_carry {
	uint32_t allocs, bytes, frees, freed_bytes;
};

struct hi_recording {
	struct hi_contexts *contexts;
	struct hi_live_table table;
	struct HI_VECTOR(struct hi_context_totals) by_context;
	struct HI_VECTOR(struct totals_carry) carries; /* at least as many */
	struct hi_context_totals all;
	struct totals_carry all_carry;
	uint64_t sample_bytes;
	struct hi_recording_counts counts;
	struct HI_VECTOR(struct realloc_call) calls;
	struct hi_table call_of; /* thread -> index of calls */
};

HI_DEFINE_GUARD(struct hi_recording *, hi_recording_destroy)

void hi_recording_destroy(struct hi_recording *r)
{
	if (!r)
		return;
	hi_contexts_destroy(r->contexts);
	hi_live_free(&r->table);
	hi_vector_free(&r->by_context);
	hi_vector_free(&r->carries);
	hi_vector_free(&r->calls);
	hi_table_free(&r->call_of);
	free(r);
}

enum hi_status hi_recording_create(struct hi_recording **ret, struct hi_error *err)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r || !hi_vector_push(&r->carries, (struct totals_carry){}) ||
	    !hi_vector_push(&r->by_context, (struct hi_context_totals){}))
		return hi_fail_memory(err, "recording");
	status = hi_contexts_create(&r->contexts, err);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

/* ---- totals ---- */

static void raise_live_maxima(struct hi_context_totals *t)
{
	uint64_t live = hi_totals_live(t), bytes = hi_totals_live_bytes(t);

	t->most_live = live > t->most_live ? live : t->most_live;
	t->most_bytes = bytes > t->most_bytes ? bytes : t->most_bytes;
}

static void count_birth(struct hi_context_totals *t, struct totals_carry *c,
			const struct hi_sample_weight *w)
{
	hi_carry_add(&t->allocs, &c->allocs, w->allocs, w->allocs_part);
	hi_carry_add(&t->bytes, &c->bytes, w->bytes, w->bytes_part);
	raise_live_maxima(t);
}

static void count_death(struct hi_context_totals *t, struct totals_carry *c,
			const struct hi_sample_weight *w)
{
	hi_carry_add(&t->frees, &c->frees, w->allocs, w->allocs_part);
	hi_carry_add(&t->freed_bytes, &c->freed_bytes, w->bytes, w->bytes_part);
}

/* A death that was none: what was live before is live again. */
static void take_back_death(struct hi_context_totals *t, struct totals_carry *c,
			    const struct hi_sample_weight *w)
{
	hi_carry_take(&t->frees, &c->frees, w->allocs, w->allocs_part);
	hi_carry_take(&t->freed_bytes, &c->freed_bytes, w->bytes, w->bytes_part);
	raise_live_maxima(t);
}

typedef void count_fn(struct hi_context_totals *t, struct totals_carry *c,
		      const struct hi_sample_weight *w);

static void count_block(struct hi_recording *r, const struct hi_live_allocation *block,
			count_fn *count)
{
	struct hi_sample_weight w = hi_sample_weight(r->sample_bytes, block->size);
	uint32_t i = block->context;

	count(&r->by_context.items[i], &r->carries.items[i], &w);
	count(&r->all, &r->all_carry, &w);
}

void hi_recording_set_sampling(struct hi_recording *r, uint64_t sample_bytes)
{
	r->sample_bytes = sample_bytes;
}

uint64_t hi_recording_sample_bytes(const struct hi_recording *r)
{
	return r->sample_bytes;
}

/* Is the block that the event gives to the program one of the recording? */
static bool is_block_recorded(const struct hi_recording *r, const struct hi_event *e)
{
	return !r->sample_bytes || e->flags & HI_EVENT_SAMPLED;
}

/* ---- blocks ---- */

static enum hi_status fail_live_memory(struct hi_error *err)
{
	return hi_fail_memory(err, "table of live allocations");
}

/* Context of an event, with a row of totals. */
static enum hi_status number_event_context(struct hi_recording *r,
					   const struct hi_event *e, uint32_t *ret,
					   struct hi_error *err)
{
	enum hi_status status = hi_contexts_number(r->contexts, e->stack, ret, err);

	while (status == HI_OK && r->by_context.count <= *ret)
		if (!hi_vector_push(&r->carries, (struct totals_carry){}) ||
		    !hi_vector_push(&r->by_context, (struct hi_context_totals){}))
			return hi_fail_memory(err, "totals of contexts");
	return status;
}

static bool remove_live_block(struct hi_recording *r, uint64_t addr,
			      struct hi_live_allocation *ret)
{
	if (!hi_live_remove(&r->table, addr, ret))
		return false;
	count_block(r, ret, count_death);
	return true;
}

static enum hi_status add_live_block(struct hi_recording *r, const struct hi_event *e,
				     struct hi_error *err)
{
	struct hi_live_allocation old, live = {.addr = e->addr,
					       .size = e->size,
					       .time_ns = e->time_ns,
					       .tid = e->tid};
	enum hi_status status;

	if (remove_live_block(r, e->addr, &old))
		r->counts.lost_frees++;
	if (!is_block_recorded(r, e))
		return HI_OK;
	status = number_event_context(r, e, &live.context, err);
	if (status != HI_OK)
		return status;
	if (!hi_live_add(&r->table, &live))
		return fail_live_memory(err);
	count_block(r, &live, count_birth);
	return HI_OK;
}

static void apply_free(struct hi_recording *r, uint64_t addr)
{
	struct hi_live_allocation old;

	if (addr && !remove_live_block(r, addr, &old))
		r->counts.unknown_frees += !r->sample_bytes;
}

/* ---- reallocations ---- */

/* NULL: the thread never was in one. */
static struct realloc_call *find_realloc_call(const struct hi_recording *r, uint32_t tid)
{
	uint64_t i;

	return hi_table_get(&r->call_of, tid, &i) ? &r->calls.items[i] : NULL;
}

/* The end of the thread's reallocation was not seen: it does something else. */
static void give_up_realloc_call(struct hi_recording *r, uint32_t tid)
{
	struct realloc_call *call = find_realloc_call(r, tid);

	if (!call || !call->is_open)
		return;
	call->is_open = false;
	r->counts.lost_ends++;
}

static enum hi_status need_realloc_call(struct hi_recording *r, uint32_t tid,
					struct realloc_call **ret, struct hi_error *err)
{
	*ret = find_realloc_call(r, tid);
	if (*ret)
		return HI_OK;
	if (!hi_vector_reserve(&r->calls, r->calls.count + 1) ||
	    !hi_table_put(&r->call_of, tid, r->calls.count))
		return hi_fail_memory(err, "reallocations");
	*ret = &r->calls.items[r->calls.count++];
	**ret = (struct realloc_call){};
	return HI_OK;
}

static enum hi_status apply_realloc_begin(struct hi_recording *r,
					  const struct hi_event *e, struct hi_error *err)
{
	struct realloc_call *call;
	enum hi_status status = need_realloc_call(r, e->tid, &call, err);

	if (status != HI_OK)
		return status;
	*call = (struct realloc_call){.is_open = true, .addr = e->addr};
	call->is_known = e->addr && remove_live_block(r, e->addr, &call->block);
	if (e->addr && !call->is_known)
		r->counts.unknown_frees += !r->sample_bytes;
	return HI_OK;
}

/* The old block lives on. */
static enum hi_status put_block_back(struct hi_recording *r,
				     const struct hi_live_allocation *block,
				     struct hi_error *err)
{
	if (hi_live_find(&r->table, block->addr)) {
		r->counts.lost_frees++;
		return HI_OK;
	}
	if (!hi_live_add(&r->table, block))
		return fail_live_memory(err);
	count_block(r, block, take_back_death);
	return HI_OK;
}

static enum hi_status apply_realloc_end(struct hi_recording *r, const struct hi_event *e,
					struct hi_error *err)
{
	struct realloc_call *call = find_realloc_call(r, e->tid);
	bool began = call && call->is_open && call->addr == e->old;
	bool failed = !e->addr && e->size;
	struct hi_live_allocation old;

	if (!began) {
		give_up_realloc_call(r, e->tid);
		r->counts.lost_begins++;
		if (e->old && !failed)
			(void)remove_live_block(r, e->old, &old);
	} else {
		call->is_open = false;
	}
	if (e->addr)
		return add_live_block(r, e, err);
	r->counts.failed_reallocs += failed;
	return failed && began && call->is_known ? put_block_back(r, &call->block, err)
						 : HI_OK;
}

/* ---- events ---- */

static void count_event(struct hi_recording *r, const struct hi_event *e)
{
	struct hi_recording_counts *c = &r->counts;

	if (!c->events++)
		c->first_ns = e->time_ns;
	c->last_ns = e->time_ns > c->last_ns ? e->time_ns : c->last_ns;
	c->sampled += !!(e->flags & HI_EVENT_SAMPLED);
}

enum hi_status hi_recording_apply(struct hi_recording *r, const struct hi_event *e,
				  struct hi_error *err)
{
	if (e->kind == HI_EVENT_LOST) {
		r->counts.lost += e->size;
		return HI_OK;
	}
	count_event(r, e);
	if (e->kind != HI_EVENT_REALLOC_END)
		give_up_realloc_call(r, e->tid);
	switch (e->kind) {
	case HI_EVENT_ALLOC:
		return e->addr ? add_live_block(r, e, err) : HI_OK;
	case HI_EVENT_FREE:
		apply_free(r, e->addr);
		return HI_OK;
	case HI_EVENT_REALLOC_BEGIN:
		return apply_realloc_begin(r, e, err);
	case HI_EVENT_REALLOC_END:
		return apply_realloc_end(r, e, err);
	default:
		r->counts.other_kinds++;
		return HI_OK;
	}
}

enum hi_status hi_recording_stack(struct hi_recording *r,
				  const struct hi_event_stack *stack,
				  struct hi_error *err)
{
	const struct hi_event named = {.stack = stack->stack};
	enum hi_status status = hi_contexts_add(r->contexts, stack, err);
	uint32_t number;

	/* Totals have a row for each context. */
	return status == HI_OK ? number_event_context(r, &named, &number, err) : status;
}

/* ---- answers ---- */

void hi_recording_counts(const struct hi_recording *r, struct hi_recording_counts *ret)
{
	*ret = r->counts;
}

struct hi_context_totals hi_recording_totals(const struct hi_recording *r)
{
	return r->all;
}

const struct hi_context_totals *hi_recording_by_context(const struct hi_recording *r)
{
	return r->by_context.items;
}

const struct hi_contexts *hi_recording_contexts(const struct hi_recording *r)
{
	return r->contexts;
}

uint64_t hi_recording_live(const struct hi_recording *r)
{
	return r->table.count;
}

bool hi_recording_find(const struct hi_recording *r, uint64_t addr,
		       struct hi_live_allocation *ret)
{
	const struct hi_live_allocation *live = hi_live_find(&r->table, addr);

	if (live)
		*ret = *live;
	return live;
}

bool hi_recording_next(const struct hi_recording *r, uint64_t *at,
		       struct hi_live_allocation *ret)
{
	return hi_live_next(&r->table, at, ret);
}

uint64_t hi_recording_size(const struct hi_recording *r)
{
	return hi_live_size(&r->table);
}

static bool is_nothing_left(const struct hi_context_totals *t,
			    const struct totals_carry *c)
{
	return t->allocs == t->frees && t->bytes == t->freed_bytes &&
	       c->allocs == c->frees && c->bytes == c->freed_bytes;
}

/* Takes what is live from copies of the totals: nothing may be left. */
bool hi_recording_is_valid(const struct hi_recording *r)
{
	size_t n = r->by_context.count, size = n * sizeof(struct hi_context_totals);
	size_t carries_size = n * sizeof(struct totals_carry);
	HI_GUARD(free) struct hi_context_totals *sums = hi_alloc(size);
	HI_GUARD(free) struct totals_carry *carries = hi_alloc(carries_size);
	struct hi_context_totals all = r->all;
	struct totals_carry all_carry = r->all_carry;
	struct hi_live_allocation live;
	bool is_valid;

	if (!sums || !carries || !hi_live_is_valid(&r->table))
		return false;
	memcpy(sums, r->by_context.items, size);
	memcpy(carries, r->carries.items, carries_size);
	for (uint64_t at = 0; hi_live_next(&r->table, &at, &live);) {
		struct hi_sample_weight w = hi_sample_weight(r->sample_bytes, live.size);

		count_death(&sums[live.context], &carries[live.context], &w);
		count_death(&all, &all_carry, &w);
	}
	is_valid = is_nothing_left(&all, &all_carry);
	for (size_t i = 0; i < n; i++)
		is_valid &= is_nothing_left(&sums[i], &carries[i]);
	return is_valid;
}
