/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types spread along typed pointers: each object that gets a type proposes the
 * pointees of its members for the blocks that they lead to, and so on.
 *
 * Note [Opinions]
 *
 * Opinions about a block's type form a total order that depends on nothing but
 * the types: the larger type (a derived class over the base that it starts
 * with), records over scalars, more pointers, then layout hash and name
 * (hi_plan_compare). The block has the best one. A type larger than the block
 * is no opinion; `char *` is the weakest of all, a type of one byte. Objects
 * with a vtable have their type before anything spreads, and take no opinions.
 *
 * Every opinion is followed, also one that is not the best: then the set of all
 * opinions is a closure, which does not depend on who comes first, so any
 * number of threads gives the same types without waiting for each other, and a
 * list of n nodes takes no n rounds. What is followed twice does no harm. An
 * opinion that is the beginning of another one is not followed again: it
 * proposes nothing new.
 *
 * A hostile target could have each of a million objects referred to as each of
 * ten thousand types. Beyond MAX_OPINIONS an object the whole is done again, on
 * one thread, and no further opinions are followed: less is known then, but the
 * result is still always the same.
 *
 * A block is an array of T only if the count leaves no more than the
 * allocator's padding, and, where T has pointers, if each element's pointers
 * look like pointers (null, or something that the target maps): a header with
 * a payload behind it often has a size that divides well.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/typing/opinions.h"
#include "decode/typing/typing_internal.h"

enum {
	BATCH = 512,	  /* words */
	ENTRIES = 128,	  /* that are followed at once */
	SHARE = 1024,	  /* entries that are handed to an idle thread */
	MAX_CHECKED = 64, /* elements of an array whose pointers are looked at */
	MAX_OPINIONS = 4, /* further ones an object, on the average */
	MIN_OPINIONS = 1 << 16,
};

/* An opinion to be followed. */
struct entry {
	uint64_t addr;
	hi_node id;
	uint32_t key; /* plan, HI_KEY_ARRAY */
};
struct entries HI_VECTOR(struct entry);

struct spread;

struct worker {
	struct hi_typing *typing;
	struct spread *spread;
	size_t n;
	uint64_t words[BATCH];
	struct hi_slot *slots[BATCH];
	struct hi_hit hits[BATCH];
	struct hi_view view, target_view;
	struct entries todo; /* a stack */
	const uint8_t *host; /* of the object at hand, or NULL */
	uint64_t addr;
	uint64_t low, span;
	uint64_t followed;
	bool no_memory;
};

struct spread {
	struct hi_typing *typing;
	struct worker *workers[64];
	struct hi_opinions opinions;
	uint64_t max_opinions;
	bool last_try; /* beyond max_opinions: follow no more of them */
	/* Work between threads. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct entries shared;
	unsigned n_workers;	    /* that there are */
	unsigned n_started, n_idle; /* under the lock; those that have ended are idle */
	_Atomic unsigned hungry;    /* n_idle, or 0 while there is shared work */
	_Atomic bool stop;	    /* out of memory, or too many opinions */
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

/* Two types for one block, none of which is the beginning of the other. */
static void note_conflict(struct worker *w, hi_node id, const struct hi_plan *plan,
			  const struct hi_plan *other)
{
	struct hi_plans *plans = w->typing->plans;

	if (plan->klass != HI_TYPE_STRING && other->klass != HI_TYPE_STRING &&
	    !hi_plan_starts_with(plans, plan, other, true) &&
	    !hi_plan_starts_with(plans, other, plan, true))
		__atomic_fetch_or(&w->typing->objects->flags[id], HI_OBJECT_CONFLICT,
				  __ATOMIC_RELAXED);
}

static void push(struct worker *w, uint64_t addr, hi_node id, uint32_t key)
{
	const struct hi_plan *plan = hi_plans_get(w->typing->plans, key & HI_KEY_PLAN);

	if (!plan->n_pointers)
		return;
	if (!hi_vector_push(&w->todo, ((struct entry){addr, id, key}))) {
		w->no_memory = true;
		atomic_store(&w->spread->stop, true);
	}
}

/* The block has a type already: is this one worth to be followed too? */
static void add_opinion(struct worker *w, uint64_t addr, hi_node id, uint32_t key,
			uint32_t old)
{
	struct spread *s = w->spread;
	struct hi_plans *plans = w->typing->plans;
	const struct hi_plan *plan = hi_plans_get(plans, key & HI_KEY_PLAN);
	const struct hi_plan *other = hi_plans_get(plans, old & HI_KEY_PLAN);

	note_conflict(w, id, plan, other);
	if (!plan->n_pointers ||
	    (!(key & HI_KEY_ARRAY) && hi_plan_starts_with(plans, other, plan, false)))
		return;
	if (s->opinions.count >= s->max_opinions) {
		if (!s->last_try)
			atomic_store(&s->stop, true);
		return;
	}
	if (hi_opinions_add(&s->opinions, id, key & HI_KEY_PLAN))
		push(w, addr, id, key);
	else if (atomic_load(&s->opinions.no_memory))
		atomic_store(&s->stop, true);
}

static void propose(struct worker *w, uint64_t addr, hi_node id, uint32_t index)
{
	struct hi_objects *objects = w->typing->objects;
	struct hi_plans *plans = w->typing->plans;
	const struct hi_plan *plan = hi_plans_get(plans, index);
	uint32_t key = (uint32_t)HI_EVIDENCE_POINTER << HI_KEY_EVIDENCE_SHIFT | index;
	uint32_t old = __atomic_load_n(&objects->type[id], __ATOMIC_RELAXED);
	uint64_t usable;

	if ((old & HI_KEY_PLAN) == index || (old & HI_KEY_SETTLED))
		return;
	usable = hi_object_usable(objects, id);
	if (plan->size > usable)
		return;
	if (fits_as_array(w, plan, addr, usable))
		key |= HI_KEY_ARRAY;
	while ((old & HI_KEY_PLAN) != index) {
		bool first = !(old & HI_KEY_PLAN);

		if (!first) {
			add_opinion(w, addr, id, key, old);
			if (hi_plan_compare(plan,
					    hi_plans_get(plans, old & HI_KEY_PLAN)) < 0)
				return;
		}
		if (!__atomic_compare_exchange_n(&objects->type[id], &old, key, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		if (first)
			push(w, addr, id, key);
		return;
	}
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

/* ---- following ---- */

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

/* Takes the entries off the top of the stack. */
static void take_some(struct worker *w)
{
	struct entry taken[ENTRIES];
	size_t n = w->todo.count < ENTRIES ? w->todo.count : ENTRIES;

	w->todo.count -= n;
	memcpy(taken, w->todo.items + w->todo.count, n * sizeof(taken[0]));
	for (size_t i = 0; i < n && n > 1; i++)
		__builtin_prefetch(
			hi_views_at(&w->typing->views, &w->view, taken[i].addr, 8));
	for (size_t i = 0; i < n; i++)
		take_entry(w, &taken[i]);
	flush(w);
	w->followed += n;
}

/* Hands half of the stack, at most SHARE entries, to whoever waits. */
static void share(struct worker *w)
{
	struct spread *s = w->spread;
	size_t n = w->todo.count / 2 < SHARE ? w->todo.count / 2 : SHARE;

	pthread_mutex_lock(&s->lock);
	if (n && hi_vector_reserve(&s->shared, s->shared.count + n)) {
		w->todo.count -= n;
		memcpy(s->shared.items + s->shared.count, w->todo.items + w->todo.count,
		       n * sizeof(*w->todo.items));
		s->shared.count += n;
		atomic_store(&s->hungry, 0);
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Waits for shared work; false when everybody is done. */
static bool get_work(struct worker *w)
{
	struct spread *s = w->spread;
	bool got = false;

	pthread_mutex_lock(&s->lock);
	s->n_idle++;
	while (!s->shared.count && s->n_idle < s->n_started && !atomic_load(&s->stop)) {
		atomic_store(&s->hungry, s->n_idle);
		pthread_cond_wait(&s->changed, &s->lock);
	}
	if (s->shared.count && !atomic_load(&s->stop)) {
		size_t n = s->shared.count < SHARE / 2 ? s->shared.count : SHARE / 2;

		s->n_idle--;
		got = hi_vector_reserve(&w->todo, n);
		w->no_memory |= !got;
		if (got) {
			s->shared.count -= n;
			memcpy(w->todo.items, s->shared.items + s->shared.count,
			       n * sizeof(*w->todo.items));
			w->todo.count = n;
		}
	}
	if (!got) {
		atomic_store(&s->hungry, 0);
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return got;
}

/* A task of hi_parallel: one worker until the end. Where fewer threads than
 * workers could be started, those that come later find nothing left to do. */
static void work(void *arg, size_t task, unsigned worker)
{
	struct spread *s = arg;
	struct worker *w = s->workers[task];

	(void)worker;
	pthread_mutex_lock(&s->lock);
	s->n_started++;
	pthread_mutex_unlock(&s->lock);
	do {
		while (w->todo.count &&
		       !atomic_load_explicit(&s->stop, memory_order_relaxed)) {
			take_some(w);
			if (atomic_load_explicit(&s->hungry, memory_order_relaxed) &&
			    w->todo.count >= 2 * ENTRIES)
				share(w);
		}
	} while (get_work(w));
}

/* What roots lead to, and objects with a vtable, come first. */
static void start(struct spread *s)
{
	struct hi_typing *typing = s->typing;
	struct worker *w = s->workers[0];

	for (hi_node id = 0; id < typing->objects->count; id++) {
		uint32_t key = typing->objects->type[id];

		if (key & HI_KEY_PLAN)
			push(w, hi_objects_address(typing->objects, id), id, key);
		else if (hi_object_is_internal(typing->objects, id))
			typing->objects->type[id] = HI_KEY_SETTLED;
	}
	for (size_t i = 0; i < typing->seeds.count; i++)
		take_word(w, typing->seeds.items[i].word, typing->seeds.items[i].slot);
	flush(w);
}

/* Forgets all types but those by vtable. */
static void reset(struct hi_typing *typing)
{
	for (hi_node id = 0; id < typing->objects->count; id++) {
		if (!(typing->objects->type[id] & HI_KEY_SETTLED))
			typing->objects->type[id] = 0;
		typing->objects->flags[id] &= (uint8_t)~HI_OBJECT_CONFLICT;
	}
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

	for (unsigned i = 0; i < s->n_workers; i++) {
		struct worker *w = hi_calloc(1, sizeof(*w));

		if (!w)
			return false;
		s->workers[i] = w;
		w->typing = s->typing;
		w->spread = s;
		w->low = objects->low;
		w->span = objects->high - objects->low;
	}
	return true;
}

/* One whole run; *again_ret: there were too many opinions. */
static enum hi_status run(struct hi_typing *typing, unsigned threads, bool last_try,
			  bool *again_ret, struct hi_error *err)
{
	uint64_t max = (uint64_t)MAX_OPINIONS * typing->objects->count;
	struct spread s = {.typing = typing,
			   .max_opinions = max > MIN_OPINIONS ? max : MIN_OPINIONS,
			   .last_try = last_try,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .changed = PTHREAD_COND_INITIALIZER,
			   .n_workers = threads};
	bool no_memory;

	hi_opinions_init(&s.opinions);
	no_memory = !create_workers(&s);
	if (!no_memory) {
		start(&s);
		hi_parallel(threads, threads, work, &s);
	}
	*again_ret = atomic_load(&s.stop);
	typing->stats.followed = 0;
	for (unsigned i = 0; i < threads && s.workers[i]; i++) {
		no_memory |= s.workers[i]->no_memory;
		typing->stats.followed += s.workers[i]->followed;
		hi_vector_free(&s.workers[i]->todo);
		free(s.workers[i]);
	}
	no_memory |= atomic_load(&s.opinions.no_memory);
	hi_vector_free(&s.shared);
	hi_opinions_deinit(&s.opinions);
	return no_memory ? hi_fail_memory(err, "types") : HI_OK;
}

enum hi_status hi_types_propagate(struct hi_typing *typing, struct hi_error *err)
{
	bool again = false;
	enum hi_status status = run(typing, typing->threads, false, &again, err);

	if (status == HI_OK && again) {
		reset(typing);
		status = run(typing, 1, true, &again, err);
	}
	if (status != HI_OK)
		return status;
	hi_parallel(typing->threads,
		    ((size_t)typing->objects->count + HI_CHUNK_NODES - 1) >>
			    HI_CHUNK_SHIFT,
		    mark_used, typing);
	count_conflicts(typing);
	return HI_OK;
}
