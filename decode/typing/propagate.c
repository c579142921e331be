/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types spread along typed pointers, in rounds: each object whose type changed
 * in the last round proposes the pointees of its members for the blocks that
 * they lead to. A list of n nodes takes n rounds of one entry, so a round costs
 * nothing beyond its entries.
 *
 * Note [Conflicts]
 *
 * Opinions about a block's type form a total order that depends on nothing but
 * the types and the evidence: evidence first, then hi_plan_compare(): the
 * larger type (a derived class over the base that it starts with), records over
 * scalars, more pointers, then layout hash and name. A type larger than the
 * block is no opinion. `char *` is the weakest of all: a type of 1 byte.
 *
 * Proposals are made by the types at the end of the round before, and the best
 * of a round wins, so the result does not depend on who comes first: any number
 * of threads gives the same. A block's type only ever becomes better, and after
 * MAX_TIMES changes it stays as it is, so the rounds end.
 *
 * A block is an array of T only if the count leaves no more than the
 * allocator's padding, and, where T has pointers, if each element's pointers
 * look like pointers (null, or something that the target maps): a header with
 * a payload behind it often has a size that divides well. (FACTS §7)
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/typing/typing_internal.h"

enum {
	BATCH = 512,   /* words */
	ENTRIES = 128, /* of the frontier that are taken at once */
	PARALLEL_AT = 4096 /* entries */,
	TASK = 1024, /* entries of a parallel task */
	MAX_TIMES = 3,
	MAX_CHECKED = 64, /* elements of an array whose pointers are looked at */
};

struct entry {
	uint64_t addr;
	hi_node id;
	uint32_t key; /* its type at the end of the round before */
};

struct worker {
	struct hi_typing *typing;
	size_t n;
	uint64_t words[BATCH];
	struct hi_slot *slots[BATCH];
	struct hi_hit hits[BATCH];
	struct hi_view view, target_view;
	struct HI_VECTOR(struct entry) changed; /* keys are filled in at the end */
	const uint8_t *host;			/* of the object at hand, or NULL */
	uint64_t addr;
	uint64_t low, span;
	bool no_memory;
};

struct spread {
	struct hi_typing *typing;
	struct worker *workers[64];
	struct HI_VECTOR(struct entry) frontier;
};

/* ---- is this block an array of such elements? ---- */

struct plausible {
	struct worker *w;
	const struct hi_plan *plan;
	uint64_t addr; /* of the block */
	bool ok;
};

static bool read_word(struct worker *w, uint64_t addr, uint64_t *ret)
{
	const uint8_t *at = hi_views_at(&w->typing->views, &w->target_view, addr, 8);

	if (!at)
		return hi_memory_read_u64(w->typing->image->memory, addr, ret, NULL) ==
		       HI_OK;
	memcpy(ret, at, sizeof(*ret));
	return true;
}

static void check_word(void *arg, uint64_t offset, struct hi_slot *slot)
{
	struct plausible *p = arg;
	uint64_t word;

	if (!p->ok || !slot || slot->kind != HI_SLOT_POINTER ||
	    offset >= MAX_CHECKED * p->plan->size ||
	    !read_word(p->w, p->addr + offset, &word))
		return;
	p->ok = word == 0 || hi_image_mapping_at(p->w->typing->image, word);
}

static bool fits_as_array(struct worker *w, const struct hi_plan *plan, uint64_t addr,
			  uint64_t usable)
{
	uint64_t n = plan->size ? usable / plan->size : 0, checked;
	struct plausible p = {w, plan, addr, true};

	if (n < 2 || plan->open_ended)
		return false;
	if (plan->klass == HI_TYPE_STRING || plan->klass == HI_TYPE_SCALAR ||
	    plan->klass == HI_TYPE_POINTER_ARRAY)
		return true;
	if (hi_fit_usable(n * plan->size) != usable ||
	    hi_fit_usable(plan->size) == usable) /* one is as likely */
		return false;
	checked = MAX_CHECKED * plan->size < usable ? MAX_CHECKED * plan->size : usable;
	hi_plan_words(plan, true, checked, check_word, &p);
	return p.ok;
}

/* ---- proposals ---- */

static bool is_better(const struct hi_plans *plans, uint32_t key, uint32_t than)
{
	uint32_t a = key >> HI_KEY_EVIDENCE_SHIFT, b = than >> HI_KEY_EVIDENCE_SHIFT;

	if (a != b)
		return a > b;
	return hi_plan_compare(hi_plans_get(plans, key & HI_KEY_PLAN),
			       hi_plans_get(plans, than & HI_KEY_PLAN)) > 0;
}

/* Two types for one block, none of which is the beginning of the other. */
static void note_conflict(struct worker *w, hi_node id, const struct hi_plan *plan,
			  uint32_t old)
{
	struct hi_plans *plans = w->typing->plans;
	const struct hi_plan *other = hi_plans_get(plans, old & HI_KEY_PLAN);

	if (plan->klass == HI_TYPE_STRING || other->klass == HI_TYPE_STRING ||
	    hi_plan_starts_with(plans, plan, other) ||
	    hi_plan_starts_with(plans, other, plan))
		return;
	__atomic_fetch_or(&w->typing->objects->flags[id], HI_OBJECT_CONFLICT,
			  __ATOMIC_RELAXED);
}

static void push_changed(struct worker *w, uint64_t addr, hi_node id)
{
	if (!hi_vector_push(&w->changed, ((struct entry){addr, id, 0})))
		w->no_memory = true;
}

static void propose(struct worker *w, uint64_t addr, hi_node id, uint32_t index)
{
	struct hi_objects *objects = w->typing->objects;
	const struct hi_plan *plan = hi_plans_get(w->typing->plans, index);
	uint32_t key = (uint32_t)HI_EVIDENCE_POINTER << HI_KEY_EVIDENCE_SHIFT | index;
	uint32_t old = __atomic_load_n(&objects->type[id], __ATOMIC_RELAXED);
	uint64_t usable;

	if ((old & HI_KEY_PLAN) == index || (old & HI_KEY_TIMES) == HI_KEY_TIMES)
		return;
	usable = hi_object_usable(objects, id);
	if (plan->size > usable)
		return;
	if (fits_as_array(w, plan, addr, usable))
		key |= HI_KEY_ARRAY;
	for (;;) {
		uint32_t wanted;

		if (old & HI_KEY_PLAN) {
			if ((old & HI_KEY_PLAN) == index)
				return;
			note_conflict(w, id, plan, old);
			if ((old & HI_KEY_TIMES) == HI_KEY_TIMES ||
			    !is_better(w->typing->plans, key, old))
				return;
		}
		wanted = key | HI_KEY_PENDING | (old & HI_KEY_TIMES);
		if (__atomic_compare_exchange_n(&objects->type[id], &old, wanted, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
	}
	if (!(old & HI_KEY_PENDING))
		push_changed(w, addr, id);
}

/* Looks the batch up; each hit at a start is a proposal. */
static void flush(struct worker *w)
{
	struct hi_typing *typing = w->typing;
	const struct hi_objects *objects = typing->objects;
	size_t n = hi_objects_find_many(objects, w->words, w->n, w->hits);

	w->n = 0;
	if (n > 2)
		for (size_t i = 0; i < n; i++) {
			__builtin_prefetch(&objects->type[w->hits[i].id]);
			__builtin_prefetch(&objects->usable_low[w->hits[i].id]);
		}
	for (size_t i = 0; i < n; i++) {
		const struct hi_hit *hit = &w->hits[i];
		uint32_t plan = hi_plans_pointee(typing->plans, w->slots[hit->index]);

		if (plan >= HI_PLAN_FIRST && !hit->interior)
			propose(w, w->words[hit->index], hit->id, plan);
	}
}

static inline __attribute__((always_inline)) void
take_word(struct worker *w, uint64_t word, struct hi_slot *slot)
{
	w->words[w->n] = word;
	w->slots[w->n] = slot;
	w->n += word - w->low < w->span;
	if (w->n == BATCH)
		flush(w);
}

/* hi_word_fn */
static inline __attribute__((always_inline)) void take_slot(void *arg, uint64_t offset,
							    struct hi_slot *slot)
{
	struct worker *w = arg;
	uint64_t word;

	if (!slot || slot->kind != HI_SLOT_POINTER)
		return;
	if (w->host)
		memcpy(&word, w->host + offset, sizeof(word));
	else if (!read_word(w, w->addr + offset, &word))
		return;
	take_word(w, word, slot);
}

/* ---- rounds ---- */

static void take_entry(struct worker *w, const struct entry *e)
{
	const struct hi_plan *plan = hi_plans_get(w->typing->plans, e->key & HI_KEY_PLAN);
	bool array = e->key & HI_KEY_ARRAY;
	uint64_t usable = plan->size;

	if (array || plan->open_ended)
		usable = hi_object_usable(w->typing->objects, e->id);
	w->addr = e->addr;
	w->host = hi_views_at(&w->typing->views, &w->view, e->addr, usable);
	hi_plan_words(plan, array, usable, take_slot, w);
}

static void take_entries(struct worker *w, const struct entry *entries, size_t n)
{
	for (size_t from = 0; from < n; from += ENTRIES) {
		size_t to = from + ENTRIES < n ? from + ENTRIES : n;

		for (size_t i = from; i < to && to - from > 1; i++) {
			const uint8_t *at = hi_views_at(&w->typing->views, &w->view,
							entries[i].addr, 8);

			__builtin_prefetch(at);
		}
		for (size_t i = from; i < to; i++)
			take_entry(w, &entries[i]);
		flush(w);
	}
}

static void take_task(void *arg, size_t task, unsigned worker)
{
	struct spread *s = arg;
	size_t from = task * TASK, left = s->frontier.count - from;

	take_entries(s->workers[worker], s->frontier.items + from,
		     left < TASK ? left : TASK);
}

static void round_of(struct spread *s)
{
	if (s->frontier.count < PARALLEL_AT)
		take_entries(s->workers[0], s->frontier.items, s->frontier.count);
	else
		hi_parallel(s->typing->threads, (s->frontier.count + TASK - 1) / TASK,
			    take_task, s);
}

/* Fixes a type for the next round; true if it has pointers to follow. */
static bool settle(struct spread *s, struct entry *e)
{
	uint32_t *type = &s->typing->objects->type[e->id], times;
	struct hi_plan *plan = hi_plans_get(s->typing->plans, *type & HI_KEY_PLAN);

	times = (*type & HI_KEY_TIMES) >> HI_KEY_TIMES_SHIFT;
	if (times < MAX_TIMES)
		times++;
	*type = (*type & ~(uint32_t)(HI_KEY_PENDING | HI_KEY_TIMES)) |
		times << HI_KEY_TIMES_SHIFT;
	e->key = *type;
	return plan->n_pointers;
}

/* What changed becomes the frontier. */
static bool next_frontier(struct spread *s)
{
	s->frontier.count = 0;
	for (unsigned i = 0; i < s->typing->threads; i++) {
		struct worker *w = s->workers[i];

		if (w->no_memory ||
		    !hi_vector_reserve(&s->frontier,
				       s->frontier.count + w->changed.count))
			return false;
		for (size_t k = 0; k < w->changed.count; k++)
			if (settle(s, &w->changed.items[k]))
				s->frontier.items[s->frontier.count++] =
					w->changed.items[k];
		w->changed.count = 0;
	}
	return true;
}

static enum hi_status run_rounds(struct spread *s, struct hi_error *err)
{
	for (;;) {
		if (!next_frontier(s))
			return hi_fail_memory(err, "types");
		if (!s->frontier.count)
			return HI_OK;
		s->typing->stats.rounds++;
		round_of(s);
	}
}

/* What roots lead to, and objects with a vtable, are the first changes. */
static void start(struct spread *s)
{
	struct hi_typing *typing = s->typing;
	struct worker *w = s->workers[0];

	for (hi_node id = 0; id < typing->objects->count; id++) {
		if (typing->objects->type[id])
			push_changed(w, hi_objects_address(typing->objects, id), id);
		else if (hi_object_is_internal(typing->objects, id))
			typing->objects->type[id] = HI_KEY_TIMES; /* stays untyped */
	}
	for (size_t i = 0; i < typing->seeds.count; i++)
		take_word(w, typing->seeds.items[i].word, typing->seeds.items[i].slot);
	flush(w);
}

/* Which plans did objects end up with? */
static void mark_used(void *arg, size_t task, unsigned worker)
{
	struct hi_typing *typing = arg;
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT;
	hi_node left = typing->objects->count - first;
	uint32_t last = 0;

	(void)worker;
	for (hi_node i = 0; i < left && i < HI_CHUNK_NODES; i++) {
		uint32_t plan = typing->objects->type[first + i] & HI_KEY_PLAN;

		if (plan == last || !plan)
			continue;
		last = plan;
		if (!atomic_load_explicit(&hi_plans_get(typing->plans, plan)->used,
					  memory_order_relaxed))
			atomic_store(&hi_plans_get(typing->plans, plan)->used, true);
	}
}

static void count_conflicts(struct hi_typing *typing)
{
	for (hi_node id = 0; id < typing->objects->count; id++)
		typing->stats.conflicts +=
			typing->objects->flags[id] / HI_OBJECT_CONFLICT;
}

static bool create_workers(struct spread *s)
{
	const struct hi_objects *objects = s->typing->objects;

	for (unsigned i = 0; i < s->typing->threads; i++) {
		struct worker *w = hi_calloc(1, sizeof(*w));

		if (!w)
			return false;
		s->workers[i] = w;
		w->typing = s->typing;
		w->low = objects->low;
		w->span = objects->high - objects->low;
	}
	return true;
}

enum hi_status hi_types_propagate(struct hi_typing *typing, struct hi_error *err)
{
	struct spread s = {.typing = typing};
	enum hi_status status;

	if (create_workers(&s)) {
		start(&s);
		status = run_rounds(&s, err);
	} else {
		status = hi_fail_memory(err, "types");
	}
	for (unsigned i = 0; i < typing->threads && s.workers[i]; i++) {
		hi_vector_free(&s.workers[i]->changed);
		free(s.workers[i]);
	}
	hi_vector_free(&s.frontier);
	if (status != HI_OK)
		return status;
	hi_parallel(typing->threads,
		    ((size_t)typing->objects->count + HI_CHUNK_NODES - 1) >>
			    HI_CHUNK_SHIFT,
		    mark_used, typing);
	count_conflicts(typing);
	return HI_OK;
}
