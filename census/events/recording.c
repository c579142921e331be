/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/recording.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/events/glibc_cost.h"
#include "census/events/recording_internal.h"
#include "census/events/sampling.h"

void hi_recording_destroy(struct hi_recording *r)
{
	if (!r)
		return;
	hi_contexts_destroy(r->contexts);
	for (int i = 0; i < HI_FAMILY_MAPPINGS; i++)
		hi_live_free(&r->tables[i]);
	hi_vector_free(&r->mapped);
	for (size_t i = 0; i < r->calls.count; i++)
		hi_vector_free(&r->calls.items[i].parts);
	hi_vector_free(&r->by_context);
	hi_vector_free(&r->carries);
	hi_vector_free(&r->overheads);
	hi_vector_free(&r->ticks);
	hi_vector_free(&r->ports);
	hi_vector_free(&r->calls);
	hi_table_free(&r->call_of);
	free(r);
}

enum hi_status hi_recording_create(struct hi_recording **ret, struct hi_error *err)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r || !hi_vector_push(&r->carries, (struct hi_totals_carry){}) ||
	    !hi_vector_push(&r->overheads, 0.0) || !hi_vector_push(&r->ticks, 0) ||
	    !hi_vector_push(&r->ports, (struct hi_context_ports){}) ||
	    !hi_vector_push(&r->by_context, (struct hi_context_totals){}))
		return hi_fail_memory(err, "recording");
	status = hi_contexts_create(&r->contexts, err);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

/* ---- sources ---- */

void hi_recording_set_sources(struct hi_recording *r,
			      const struct hi_event_source_name *sources, size_t n)
{
	r->n_sources = n < HI_EVENT_SOURCES ? n : HI_EVENT_SOURCES;
	for (size_t i = 0; i < r->n_sources; i++)
		r->sources[i] = sources[i];
}

const struct hi_event_source_name *hi_recording_sources(const struct hi_recording *r,
							size_t *n_ret)
{
	*n_ret = r->n_sources;
	return r->sources;
}

static enum hi_event_family family_of_source(const struct hi_recording *r,
					     unsigned source)
{
	uint32_t family = source < r->n_sources ? r->sources[source].family : 0;

	return family < HI_FAMILIES ? (enum hi_event_family)family : HI_FAMILY_MALLOC;
}

/* Do its samples stand for more? */
static uint64_t sample_bytes_of(const struct hi_recording *r, unsigned source)
{
	return source < r->n_sources && r->sources[source].is_whole ? 0 : r->sample_bytes;
}

/* ---- totals ---- */

void hi_totals_raise(struct hi_context_totals *t)
{
	uint64_t live = hi_totals_live(t), bytes = hi_totals_live_bytes(t);

	t->most_live = live > t->most_live ? live : t->most_live;
	t->most_bytes = bytes > t->most_bytes ? bytes : t->most_bytes;
}

static void count_birth(struct hi_context_totals *t, struct hi_totals_carry *c,
			const struct hi_sample_weight *w)
{
	hi_carry_add(&t->allocs, &c->allocs, w->allocs, w->allocs_part);
	hi_carry_add(&t->bytes, &c->bytes, w->bytes, w->bytes_part);
	hi_totals_raise(t);
}

static void count_death(struct hi_context_totals *t, struct hi_totals_carry *c,
			const struct hi_sample_weight *w)
{
	hi_carry_add(&t->frees, &c->frees, w->allocs, w->allocs_part);
	hi_carry_add(&t->freed_bytes, &c->freed_bytes, w->bytes, w->bytes_part);
}

/* A death that was none: what was live before is live again. */
static void take_back_death(struct hi_context_totals *t, struct hi_totals_carry *c,
			    const struct hi_sample_weight *w)
{
	hi_carry_take(&t->frees, &c->frees, w->allocs, w->allocs_part);
	hi_carry_take(&t->freed_bytes, &c->freed_bytes, w->bytes, w->bytes_part);
	hi_totals_raise(t);
}

typedef void count_fn(struct hi_context_totals *t, struct hi_totals_carry *c,
		      const struct hi_sample_weight *w);

static void count_block(struct hi_recording *r, const struct hi_live_allocation *block,
			count_fn *count)
{
	unsigned source = block->source % HI_EVENT_SOURCES;
	struct hi_sample_weight w =
		hi_sample_weight(sample_bytes_of(r, source), block->size);
	uint32_t i = block->context;

	count(&r->by_source[source], &r->source_carries[source], &w);
	if (family_of_source(r, source) != HI_FAMILY_MALLOC)
		return;
	count(&r->by_context.items[i], &r->carries.items[i], &w);
	count(&r->all, &r->all_carry, &w);
}

struct hi_context_totals hi_recording_by_source(const struct hi_recording *r,
						size_t source)
{
	return source < HI_EVENT_SOURCES ? r->by_source[source]
					 : (struct hi_context_totals){};
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
	return !(e->flags & HI_EVENT_PAUSED) &&
	       (!sample_bytes_of(r, e->source) || e->flags & HI_EVENT_SAMPLED);
}

/* ---- blocks ---- */

enum hi_status hi_recording_fail_memory(struct hi_error *err)
{
	return hi_fail_memory(err, "table of live allocations");
}

/* Context of an event, with a row of totals. */
enum hi_status hi_recording_number_context(struct hi_recording *r,
					   const struct hi_event *e, uint32_t *ret,
					   struct hi_error *err)
{
	enum hi_status status = hi_contexts_number(r->contexts, e->stack, ret, err);

	while (status == HI_OK && r->by_context.count <= *ret)
		if (!hi_vector_push(&r->carries, (struct hi_totals_carry){}) ||
		    !hi_vector_push(&r->overheads, 0.0) ||
		    !hi_vector_push(&r->ticks, 0) ||
		    !hi_vector_push(&r->ports, (struct hi_context_ports){}) ||
		    !hi_vector_push(&r->by_context, (struct hi_context_totals){}))
			return hi_fail_memory(err, "totals of contexts");
	return status;
}

static struct hi_live_table *table_of(struct hi_recording *r, unsigned source)
{
	return &r->tables[family_of_source(r, source)];
}

/* Removes a block of the family of a source. */
static bool remove_live_block(struct hi_recording *r, unsigned source, uint64_t addr,
			      struct hi_live_allocation *ret)
{
	if (!hi_live_remove(table_of(r, source), addr, ret))
		return false;
	count_block(r, ret, count_death);
	return true;
}

struct hi_live_allocation hi_live_of_event(const struct hi_event *e)
{
	return (struct hi_live_allocation){.addr = e->addr,
					   .size = e->size & HI_LIVE_SIZE_MAX,
					   .source = e->source % HI_EVENT_SOURCES,
					   .time_ns = e->time_ns,
					   .tid = e->tid};
}

/* Is it a block of glibc's, by its function? Without names all are. */
static bool is_from_malloc(const struct hi_recording *r, unsigned source)
{
	return source >= r->n_sources || strcmp(r->sources[source].name, "malloc") == 0;
}

static void count_overhead(struct hi_recording *r, const struct hi_live_allocation *block)
{
	unsigned source = block->source % HI_EVENT_SOURCES;
	uint64_t sample_bytes = sample_bytes_of(r, source), size = block->size;

	if (is_from_malloc(r, source))
		r->overheads.items[block->context] +=
			(double)(hi_glibc_cost(size) - size) /
			hi_sample_probability(sample_bytes, size);
}

void hi_recording_count_windows(struct hi_recording *r, struct hi_windows *windows)
{
	r->windows = windows;
}

const struct hi_windows *hi_recording_windows(const struct hi_recording *r)
{
	return r->windows;
}

static void note_lost_free(struct hi_recording *r, const struct hi_live_allocation *old)
{
	if (r->windows)
		hi_windows_note_reuse(r->windows, old->context);
	else
		r->counts.lost_frees++;
}

/* It is not in the table: allocated before, or between two windows. */
static void note_unknown_free(struct hi_recording *r, const struct hi_event *e)
{
	r->counts.unknown_frees += !sample_bytes_of(r, e->source);
	if (r->windows)
		hi_windows_note_old_free(r->windows, e->addr);
}

static enum hi_status count_in_window(struct hi_recording *r,
				      const struct hi_live_allocation *live,
				      struct hi_error *err)
{
	if (!r->windows || family_of_source(r, live->source) != HI_FAMILY_MALLOC)
		return HI_OK;
	return hi_windows_count(r->windows, live->context, live->size, err);
}

static enum hi_status add_live_block(struct hi_recording *r, const struct hi_event *e,
				     struct hi_error *err)
{
	struct hi_live_allocation old, live = hi_live_of_event(e);
	enum hi_status status;

	if (remove_live_block(r, e->source, e->addr, &old))
		note_lost_free(r, &old);
	if (!is_block_recorded(r, e))
		return HI_OK;
	status = hi_recording_number_context(r, e, &live.context, err);
	if (status != HI_OK)
		return status;
	if (!hi_live_add(table_of(r, e->source), &live))
		return hi_recording_fail_memory(err);
	count_block(r, &live, count_birth);
	count_overhead(r, &live);
	return count_in_window(r, &live, err);
}

/* A function that gives back may call another one that does: operator delete calls free.
 * Both events come, as a probe at the return, which would say that the first one has not
 * ended, costs more. */
static bool is_free_within_free(const struct hi_recording *r, const struct hi_event *e)
{
	const struct hi_last_free *last = &r->last_frees[e->tid % HI_LAST_FREES];

	return last->tid == e->tid && last->addr == e->addr;
}

static void apply_free(struct hi_recording *r, const struct hi_event *e)
{
	struct hi_live_allocation old;

	if (!e->addr)
		return;
	if (!remove_live_block(r, e->source, e->addr, &old) && !is_free_within_free(r, e))
		note_unknown_free(r, e);
	r->last_frees[e->tid % HI_LAST_FREES] = (struct hi_last_free){e->addr, e->tid};
}

/* ---- reallocations ---- */

/* A thread may be in one of each family. */
static uint64_t realloc_call_key(const struct hi_recording *r, const struct hi_event *e)
{
	return e->tid | (uint64_t)family_of_source(r, e->source) << 32;
}

/* NULL: the thread never was in one. */
struct hi_realloc_call *hi_recording_find_realloc(const struct hi_recording *r,
						  const struct hi_event *e)
{
	uint64_t i;

	return hi_table_get(&r->call_of, realloc_call_key(r, e), &i) ? &r->calls.items[i]
								     : NULL;
}

/* The end of the thread's reallocation was not seen: it does something else. */
static void give_up_realloc_call(struct hi_recording *r, const struct hi_event *e)
{
	struct hi_realloc_call *call = hi_recording_find_realloc(r, e);

	if (!call || !call->is_open)
		return;
	call->is_open = false;
	r->counts.lost_ends++;
}

enum hi_status hi_recording_need_realloc(struct hi_recording *r, const struct hi_event *e,
					 struct hi_realloc_call **ret,
					 struct hi_error *err)
{
	*ret = hi_recording_find_realloc(r, e);
	if (*ret)
		return HI_OK;
	if (!hi_vector_reserve(&r->calls, r->calls.count + 1) ||
	    !hi_table_put(&r->call_of, realloc_call_key(r, e), r->calls.count))
		return hi_fail_memory(err, "reallocations");
	*ret = &r->calls.items[r->calls.count++];
	**ret = (struct hi_realloc_call){};
	return HI_OK;
}

static enum hi_status apply_realloc_begin(struct hi_recording *r,
					  const struct hi_event *e, struct hi_error *err)
{
	struct hi_realloc_call *call;
	enum hi_status status = hi_recording_need_realloc(r, e, &call, err);

	if (status != HI_OK)
		return status;
	*call = (struct hi_realloc_call){
		.is_open = true, .addr = e->addr, .parts = call->parts};
	call->is_known =
		e->addr && remove_live_block(r, e->source, e->addr, &call->block);
	if (e->addr && !call->is_known)
		note_unknown_free(r, e);
	return HI_OK;
}

/* ---- ports ---- */

static enum hi_status apply_failure(struct hi_recording *r, const struct hi_event *e,
				    struct hi_error *err)
{
	enum hi_status status;
	uint32_t context;

	if (family_of_source(r, e->source) != HI_FAMILY_MALLOC)
		return HI_OK;
	status = hi_recording_number_context(r, e, &context, err);
	if (status != HI_OK)
		return status;
	r->ports.items[context].fails++;
	r->counts.failed_allocs += e->kind == HI_EVENT_FAILED;
	return HI_OK;
}

static enum hi_status apply_move(struct hi_recording *r, const struct hi_event *e,
				 struct hi_error *err)
{
	enum hi_status status;
	uint32_t context;

	if (family_of_source(r, e->source) != HI_FAMILY_MALLOC || e->addr == e->old ||
	    !is_block_recorded(r, e))
		return HI_OK;
	status = hi_recording_number_context(r, e, &context, err);
	if (status == HI_OK)
		r->ports.items[context].moves++;
	return status;
}

/* The old block lives on. */
static enum hi_status put_block_back(struct hi_recording *r,
				     const struct hi_live_allocation *block,
				     struct hi_error *err)
{
	if (hi_live_find(table_of(r, block->source), block->addr)) {
		r->counts.lost_frees++;
		return HI_OK;
	}
	if (!hi_live_add(table_of(r, block->source), block))
		return hi_recording_fail_memory(err);
	count_block(r, block, take_back_death);
	return HI_OK;
}

static enum hi_status apply_realloc_end(struct hi_recording *r, const struct hi_event *e,
					struct hi_error *err)
{
	struct hi_realloc_call *call = hi_recording_find_realloc(r, e);
	bool began = call && call->is_open && call->addr == e->old;
	bool failed = !e->addr && e->size;
	struct hi_live_allocation old;
	enum hi_status status;

	if (!began) {
		give_up_realloc_call(r, e);
		r->counts.lost_begins++;
		if (e->old && !failed)
			(void)remove_live_block(r, e->source, e->old, &old);
	} else {
		call->is_open = false;
	}
	if (e->addr) {
		status = add_live_block(r, e, err);
		return status == HI_OK && e->old ? apply_move(r, e, err) : status;
	}
	status = failed ? apply_failure(r, e, err) : HI_OK;
	if (status != HI_OK)
		return status;
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

void hi_recording_keep_events(struct hi_recording *r, struct hi_kept_events *kept)
{
	r->kept = kept;
}

const struct hi_kept_events *hi_recording_kept_events(const struct hi_recording *r)
{
	return r->kept;
}

static enum hi_status keep_event(struct hi_recording *r, const struct hi_event *e,
				 struct hi_error *err)
{
	uint32_t context = 0;
	enum hi_status status = HI_OK;

	if (e->kind != HI_EVENT_LOST)
		status = hi_recording_number_context(r, e, &context, err);
	if (status == HI_OK)
		hi_kept_events_add(r->kept, e, context);
	return status;
}

/* It does not concern blocks. */
static enum hi_status apply_tick(struct hi_recording *r, const struct hi_event *e,
				 struct hi_error *err)
{
	uint32_t context;
	enum hi_status status = hi_recording_number_context(r, e, &context, err);

	if (status != HI_OK)
		return status;
	r->ticks.items[context]++;
	r->counts.ticks++;
	r->counts.ticks_in_probes += !!(e->flags & HI_EVENT_IN_PROBE);
	return HI_OK;
}

enum hi_status hi_recording_apply(struct hi_recording *r, const struct hi_event *e,
				  struct hi_error *err)
{
	enum hi_status status;

	if (e->kind == HI_EVENT_TICK)
		return apply_tick(r, e, err);
	status = r->kept ? keep_event(r, e, err) : HI_OK;
	if (status != HI_OK)
		return status;
	if (e->kind == HI_EVENT_LOST) {
		r->counts.lost += e->size;
		return HI_OK;
	}
	count_event(r, e);
	if (e->kind != HI_EVENT_REALLOC_END)
		give_up_realloc_call(r, e);
	if (family_of_source(r, e->source) == HI_FAMILY_MAPPINGS)
		return hi_recording_apply_to_mappings(r, e, err);
	switch (e->kind) {
	case HI_EVENT_ALLOC:
		return e->addr ? add_live_block(r, e, err) : HI_OK;
	case HI_EVENT_FREE:
		apply_free(r, e);
		return HI_OK;
	case HI_EVENT_FAILED:
		return apply_failure(r, e, err);
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
	return status == HI_OK ? hi_recording_number_context(r, &named, &number, err)
			       : status;
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

const double *hi_recording_overheads(const struct hi_recording *r)
{
	return r->overheads.items;
}

const uint64_t *hi_recording_ticks(const struct hi_recording *r)
{
	return r->ticks.items;
}

const struct hi_context_ports *hi_recording_ports(const struct hi_recording *r)
{
	return r->ports.items;
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
	return r->tables[HI_FAMILY_MALLOC].count;
}

bool hi_recording_find(const struct hi_recording *r, uint64_t addr,
		       struct hi_live_allocation *ret)
{
	const struct hi_live_allocation *live =
		hi_live_find(&r->tables[HI_FAMILY_MALLOC], addr);

	if (live)
		*ret = *live;
	return live;
}

bool hi_recording_next_of(const struct hi_recording *r, enum hi_event_family family,
			  uint64_t *at, struct hi_live_allocation *ret)
{
	if (family < HI_FAMILY_MAPPINGS)
		return hi_live_next(&r->tables[family], at, ret);
	if (family != HI_FAMILY_MAPPINGS || *at >= r->mapped.count)
		return false;
	*ret = r->mapped.items[(*at)++];
	return true;
}

bool hi_recording_next(const struct hi_recording *r, uint64_t *at,
		       struct hi_live_allocation *ret)
{
	return hi_recording_next_of(r, HI_FAMILY_MALLOC, at, ret);
}

void hi_recording_forget_live(struct hi_recording *r)
{
	for (unsigned i = 0; i < HI_FAMILY_MAPPINGS; i++)
		hi_live_free(&r->tables[i]);
}

/* There are as many contexts as before. */
#define CLEAR_COLUMN(column)                                                             \
	memset((column).items, 0, (column).count * sizeof(*(column).items))

void hi_recording_restart(struct hi_recording *r)
{
	hi_recording_forget_live(r);
	hi_vector_free(&r->mapped);
	for (size_t i = 0; i < r->calls.count; i++)
		hi_vector_free(&r->calls.items[i].parts);
	hi_vector_free(&r->calls);
	hi_table_free(&r->call_of);
	CLEAR_COLUMN(r->by_context);
	CLEAR_COLUMN(r->carries);
	CLEAR_COLUMN(r->overheads);
	CLEAR_COLUMN(r->ticks);
	CLEAR_COLUMN(r->ports);
	memset(r->by_source, 0, sizeof(r->by_source));
	memset(r->source_carries, 0, sizeof(r->source_carries));
	memset(r->last_frees, 0, sizeof(r->last_frees));
	r->all = (struct hi_context_totals){};
	r->all_carry = (struct hi_totals_carry){};
	r->counts = (struct hi_recording_counts){};
}

uint64_t hi_recording_size(const struct hi_recording *r)
{
	uint64_t size = r->mapped.capacity * sizeof(*r->mapped.items);

	for (int i = 0; i < HI_FAMILY_MAPPINGS; i++)
		size += hi_live_size(&r->tables[i]);
	return size;
}

static bool is_nothing_left(const struct hi_context_totals *t,
			    const struct hi_totals_carry *c)
{
	return t->allocs == t->frees && t->bytes == t->freed_bytes &&
	       c->allocs == c->frees && c->bytes == c->freed_bytes;
}

/* Takes what is live from copies of the totals: nothing may be left. */
static bool are_source_totals_valid(const struct hi_recording *r)
{
	struct hi_context_totals totals[HI_EVENT_SOURCES];
	struct hi_totals_carry carries[HI_EVENT_SOURCES];
	struct hi_live_allocation live;
	bool is_valid = true;

	memcpy(totals, r->by_source, sizeof(totals));
	memcpy(carries, r->source_carries, sizeof(carries));
	for (unsigned f = 0; f < HI_FAMILIES; f++)
		for (uint64_t at = 0;
		     hi_recording_next_of(r, (enum hi_event_family)f, &at, &live);) {
			struct hi_sample_weight w = hi_sample_weight(
				sample_bytes_of(r, live.source), live.size);

			count_death(&totals[live.source], &carries[live.source], &w);
		}
	for (int i = 0; i < HI_EVENT_SOURCES; i++)
		is_valid &= is_nothing_left(&totals[i], &carries[i]);
	return is_valid;
}

static bool are_tables_valid(const struct hi_recording *r)
{
	bool is_valid = hi_mapped_is_valid(&r->mapped);

	for (int i = 0; i < HI_FAMILY_MAPPINGS; i++)
		is_valid &= hi_live_is_valid(&r->tables[i]);
	return is_valid;
}

bool hi_recording_is_valid(const struct hi_recording *r)
{
	size_t n = r->by_context.count, size = n * sizeof(struct hi_context_totals);
	size_t carries_size = n * sizeof(struct hi_totals_carry);
	HI_GUARD(free) struct hi_context_totals *sums = hi_alloc(size);
	HI_GUARD(free) struct hi_totals_carry *carries = hi_alloc(carries_size);
	struct hi_context_totals all = r->all;
	struct hi_totals_carry all_carry = r->all_carry;
	struct hi_live_allocation live;
	bool is_valid;

	if (!sums || !carries || !are_tables_valid(r))
		return false;
	memcpy(sums, r->by_context.items, size);
	memcpy(carries, r->carries.items, carries_size);
	for (uint64_t at = 0; hi_recording_next(r, &at, &live);) {
		struct hi_sample_weight w = hi_sample_weight(r->sample_bytes, live.size);

		count_death(&sums[live.context], &carries[live.context], &w);
		count_death(&all, &all_carry, &w);
	}
	is_valid = are_source_totals_valid(r) && is_nothing_left(&all, &all_carry);
	for (size_t i = 0; i < n; i++)
		is_valid &= is_nothing_left(&sums[i], &carries[i]);
	return is_valid;
}
