/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types are propagated along typed pointers: each object that gets a type adds the
 * pointees of its members as candidates for the blocks that they lead to, and so on.
 *
 * Note [Type candidates]
 *
 * The candidates for a block's type are in a total order that depends on nothing but the
 * types (hi_layout_compare): the larger type first (a derived class before the base that
 * it starts with), records before scalars, more pointers, then layout hash and name. The
 * block gets the best one. A type larger than the block is no candidate; `char *` is the
 * weakest of all, a type of one byte. Objects with a vtable have their type before
 * propagation begins, and take no candidates.
 *
 * Every candidate is followed, also one that is not the best: the set of all candidates
 * is then a closure that does not depend on their order. So any number of threads infers
 * the same types without waiting for each other, and a list of n nodes does not take n
 * rounds. To follow a candidate twice does no harm. A candidate that is the beginning of
 * another one is not followed again, but only if each of its words leads there to the
 * same type: rules may name some of them, a container may have no live element there, an
 * array may never be followed (Note [Arrays]). Else the result would depend on which of
 * the two came first.
 *
 * A hostile target could refer to each of a million objects as each of ten thousand
 * types. Beyond MAX_CANDIDATES per object, propagation starts again on one thread and
 * follows no further candidates: it infers less, but the result is still always the same.
 *
 * A block is an array of T only if the count leaves no more than the allocator's padding
 * and, where T has pointers, if the pointers of each element look like pointers (null, or
 * an address that the target maps): a header with a payload often has a size that divides
 * well.
 *
 * Rules (rules.h) add candidates in the same way. What they know about one use of a type
 * (how many elements are live, the context) is part of the candidate, as a refinement of
 * the layout. Between types of one size the evidence decides.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/inference/bases.h"
#include "decode/inference/propagation.h"

enum {
	ENTRIES = 128,	    /* that are followed at once */
	SHARE = 1024,	    /* entries that are handed to an idle thread */
	MAX_CANDIDATES = 4, /* per object on the average, beside its type */
	MIN_CANDIDATES = 1 << 16,
	INTERIOR_ROUNDS = 8, /* in which interior pointers are looked at */
	ROUNDS = 64,	     /* with those that follow arrays */
};

/* ---- words that lead somewhere ---- */

static uint32_t layout_of_candidate(struct hi_propagation_worker *w,
				    const struct hi_type_candidate *candidate)
{
	uint32_t layout = candidate->layout;

	if (!candidate->slot)
		return layout;
	layout = hi_layouts_pointee(w->typing->layouts, candidate->slot);
	if (candidate->context && layout >= HI_LAYOUT_FIRST)
		layout = hi_walker_with_context(&w->walker, layout, candidate->context);
	return layout;
}

static void take_hit(struct hi_propagation_worker *w, const struct hi_hit *hit)
{
	const struct hi_type_candidate *candidate = &w->candidates[hit->index];
	uint32_t layout = layout_of_candidate(w, candidate);

	if (layout < HI_LAYOUT_FIRST)
		return;
	if (hit->interior && candidate->slot &&
	    hi_pointer_slot_may_be_number(candidate->slot, w->words[hit->index]))
		return;
	if (hit->interior)
		hi_propagation_add_interior(w, w->words[hit->index], hit->id, layout,
					    candidate->evidence);
	else
		hi_propagation_add_candidate(w, w->words[hit->index], hit->id, layout,
					     candidate->evidence);
}

/* Words to where no block is. */
static void take_misses(struct hi_propagation_worker *w, size_t n_words, size_t n_hits)
{
	uint64_t start, end;
	size_t h = 0;
	uint32_t layout;

	for (size_t i = 0; i < n_words; i++) {
		if (h < n_hits && w->hits[h].index == i) {
			h++;
			continue;
		}
		if (!hi_subobjects_range(w->typing->subobjects, w->words[i], &start,
					 &end))
			continue;
		layout = layout_of_candidate(w, &w->candidates[i]);
		if (layout < HI_LAYOUT_FIRST)
			continue;
		if (w->propagation->subobjects)
			hi_propagation_add_subobject(w, w->words[i], end, layout,
						     w->candidates[i].evidence);
		else
			hi_propagation_note_interior(
				w, w->words[i], HI_NODE_NONE,
				(uint32_t)w->candidates[i].evidence
						<< HI_KEY_EVIDENCE_SHIFT |
					layout);
	}
}

/* Looks the batch up; each hit at a start adds a candidate. */
static void flush_batch(struct hi_propagation_worker *w)
{
	struct hi_typing *typing = w->typing;
	const struct hi_objects *objects = typing->objects;
	size_t n_words = w->n;
	size_t n = hi_objects_find_many(objects, w->words, w->n, w->hits);

	w->n = 0;
	if (n > 2)
		for (size_t i = 0; i < n; i++) {
			__builtin_prefetch(&objects->type[w->hits[i].id]);
			__builtin_prefetch(&objects->usable_low[w->hits[i].id]);
		}
	for (size_t i = 0; i < n; i++)
		take_hit(w, &w->hits[i]);
	if (w->propagation->outside)
		take_misses(w, n_words, n);
}

/* Fetches what will be followed, unless it was: its bytes come while the word is looked
 * up. A long list has nothing else to wait beside. */
static inline void fetch_target(const struct hi_propagation_worker *w, uint64_t word)
{
	uint64_t offset = word - w->window.start;

	if (offset < w->window.end - w->window.start)
		__builtin_prefetch(w->window.host + offset);
}

static inline __attribute__((always_inline)) void
follow_word(struct hi_propagation_worker *w, uint64_t word,
	    struct hi_type_candidate candidate)
{
	w->words[w->n] = word;
	w->candidates[w->n] = candidate;
	w->n += word - w->low < w->span;
	fetch_target(w, word);
	if (w->n == HI_PROPAGATION_BATCH)
		flush_batch(w);
}

static bool is_end_pointer(struct hi_propagation_worker *w, uint64_t offset,
			   struct hi_pointer_slot *slot, uint64_t word)
{
	uint32_t layout = hi_layouts_pointee(w->typing->layouts, slot);
	uint64_t before;

	if (layout < HI_LAYOUT_FIRST)
		return false;
	for (uint64_t k = 1; k <= hi_words_before_end(slot) && offset >= 8 * k; k++)
		if (hi_propagation_read(w, w->addr + offset - 8 * k, &before) &&
		    hi_is_past_the_end(w->typing, word, before,
				       hi_layouts_get(w->typing->layouts, layout)->size))
			return true;
	return false;
}

/* hi_word_fn */
static inline __attribute__((always_inline)) void take_slot(void *arg, uint64_t offset,
							    struct hi_pointer_slot *slot)
{
	struct hi_propagation_worker *w = arg;
	uint64_t word;

	if (!slot || slot->kind != HI_POINTER_SLOT_TYPED)
		return;
	if (w->host)
		memcpy(&word, w->host + offset, sizeof(word));
	else if (!hi_propagation_read(w, w->addr + offset, &word))
		return;
	if (w->typing->layouts->sizes.n && word - w->low < w->span &&
	    is_end_pointer(w, offset, slot, word))
		return;
	follow_word(w, word,
		    (struct hi_type_candidate){.slot = slot,
					       .context = w->context,
					       .evidence = w->evidence});
}

/* ---- following ---- */

/* Plain slots of what lies at [addr, end). */
static void take_words(void *arg, const struct hi_layout *layout, bool array,
		       uint64_t addr, uint64_t end)
{
	struct hi_propagation_worker *w = arg;

	w->addr = addr;
	w->context = layout->context;
	w->host = hi_memory_windows_at(&w->typing->memory_windows, &w->window, addr,
				       end - addr);
	hi_walker_words(&w->walker, layout, array, true, addr, end - addr, take_slot, w);
}

static void follow_rule_reference(void *arg, const struct hi_rule_reference *reference,
				  uint32_t layout)
{
	struct hi_propagation_worker *w = arg;

	if (layout < HI_LAYOUT_FIRST)
		return;
	if (reference->slot && w->propagation->subobjects)
		hi_propagation_add_slot(w, reference->to,
					reference->to + reference->slot_size, layout);
	else if (reference->slot)
		w->has_slots = true;
	else
		follow_word(w, reference->to,
			    (struct hi_type_candidate){
				    .layout = layout, .evidence = HI_EVIDENCE_CONTAINER});
}

/* To the inside of a block: a piece of a pool whose vtable names one of the pointees. */
static void take_either_inside(struct hi_propagation_worker *w,
			       struct hi_pointer_slot *slots, uint32_t n, uint64_t word,
			       hi_node id)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t layout = hi_layouts_pointee(w->typing->layouts, &slots[i]);

		if (layout >= HI_LAYOUT_FIRST &&
		    hi_propagation_class_at(w, word, layout)) {
			hi_propagation_add_interior(w, word, id, layout,
						    HI_EVIDENCE_VTABLE);
			return;
		}
	}
}

/* A word of a union: adds the only pointee for which the block has just the size, with
 * less evidence than a typed pointer. */
static void take_either(struct hi_propagation_worker *w, struct hi_pointer_slot *slots,
			uint32_t n, uint64_t word)
{
	uint64_t offset, usable;
	hi_node id = hi_objects_find(w->typing->objects, word, &offset);
	uint32_t only = HI_LAYOUT_NONE;

	if (id != HI_NODE_NONE && offset)
		take_either_inside(w, slots, n, word, id);
	if (id == HI_NODE_NONE || offset)
		return;
	usable = hi_object_usable(w->typing->objects, id);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t layout = hi_layouts_pointee(w->typing->layouts, &slots[i]);
		const struct hi_layout *p;

		if (layout < HI_LAYOUT_FIRST || layout == only)
			continue;
		p = hi_layouts_get(w->typing->layouts, layout);
		if (p->klass != HI_TYPE_RECORD || p->opaque || p->open_ended)
			return; /* fits anything */
		if (!hi_fit_is(&w->typing->layouts->sizes, p->size, usable))
			continue;
		if (only)
			return;
		only = layout;
	}
	if (only &&
	    hi_propagation_is_plausible(w, hi_layouts_get(w->typing->layouts, only),
					false, word, usable))
		hi_propagation_add_candidate(w, word, id, only, HI_EVIDENCE_SHAPE);
}

static void take_unions(struct hi_propagation_worker *w, const struct hi_layout *layout,
			bool array, uint64_t addr, uint64_t usable)
{
	uint64_t start, end, word;
	uint32_t n;

	hi_layout_extent(layout, array, usable, &start, &end);
	for (uint64_t at = start; layout->size && at + layout->size <= end;
	     at += layout->size)
		for (uint32_t i = 0; i < layout->n_either; i += n) {
			struct hi_pointer_slot *slot = &layout->either[i];
			uint64_t offset = at + slot->offset;

			for (n = 1; i + n < layout->n_either &&
				    layout->either[i + n].offset == slot->offset;)
				n++;
			for (uint64_t k = 0; k < slot->count && offset + 8 <= end; k++) {
				if (hi_propagation_read(w, addr + offset, &word))
					take_either(w, slot, n, word);
				offset += slot->stride;
			}
		}
}

/* Up to where a subobject may go: the end of the block or range around it.
 * In neither, it is no larger than its type. */
static uint64_t room_at(const struct hi_typing *typing, uint64_t addr,
			const struct hi_layout *layout)
{
	uint64_t offset = 0, start, end;
	hi_node id = hi_objects_find(typing->objects, addr, &offset);

	if (id != HI_NODE_NONE)
		return hi_object_usable(typing->objects, id) - offset;
	return hi_subobjects_range(typing->subobjects, addr, &start, &end) ? end - addr
									   : layout->size;
}

/* Bytes of an object that have to be read to follow it. */
static uint64_t bytes_to_follow(struct hi_propagation_worker *w,
				const struct hi_propagation_entry *e,
				const struct hi_layout *layout)
{
	bool array = e->key & HI_KEY_ARRAY;

	if (e->id == HI_NODE_NONE)
		return hi_walker_size(&w->walker, layout, e->addr,
				      room_at(w->typing, e->addr, layout));
	if (array || layout->open_ended || layout->n_rule_sites)
		return hi_object_usable(w->typing->objects, e->id);
	return layout->lead + layout->size;
}

static void take_entry(struct hi_propagation_worker *w,
		       const struct hi_propagation_entry *e)
{
	const struct hi_layout *layout =
		hi_layouts_get(w->typing->layouts, e->key & HI_KEY_LAYOUT);
	bool array = e->key & HI_KEY_ARRAY;
	uint64_t usable = bytes_to_follow(w, e, layout);
	bool tail_known = false;

	if (layout->open_ended && layout->rules)
		tail_known = hi_walker_tail_known(&w->walker, layout, e->addr, usable);
	w->addr = e->addr;
	w->context = layout->context;
	/* No better than that of the object itself. */
	w->evidence = e->key >> HI_KEY_EVIDENCE_SHIFT == HI_EVIDENCE_SHAPE
			      ? HI_EVIDENCE_SHAPE
			      : HI_EVIDENCE_POINTER;
	w->host = hi_memory_windows_at(&w->typing->memory_windows, &w->window, e->addr,
				       usable);
	hi_walker_words(&w->walker, layout, array, tail_known, e->addr, usable, take_slot,
			w);
	if (layout->n_either)
		take_unions(w, layout, array, e->addr, usable);
	if (!layout->n_rule_sites)
		return;
	w->has_slots = false;
	hi_walker_rule_sites(&w->walker, layout, array, e->addr, usable);
	if (w->has_slots && !hi_vector_push(&w->pools, *e))
		w->no_memory = true;
}

/* Takes the entries off the top of the stack. */
static void take_some(struct hi_propagation_worker *w)
{
	struct hi_propagation_entry taken[ENTRIES];
	size_t n = w->todo.count < ENTRIES ? w->todo.count : ENTRIES;

	w->todo.count -= n;
	memcpy(taken, w->todo.items + w->todo.count, n * sizeof(taken[0]));
	for (size_t i = 0; i < n && n > 1; i++)
		__builtin_prefetch(hi_memory_windows_at(&w->typing->memory_windows,
							&w->window, taken[i].addr, 8));
	for (size_t i = 0; i < n; i++)
		take_entry(w, &taken[i]);
	flush_batch(w);
	w->followed += n;
}

void hi_propagation_drain(struct hi_propagation_worker *w)
{
	while (w->todo.count && !atomic_load(&w->propagation->stop))
		take_some(w);
}

/* Hands half of the stack, at most SHARE entries, to waiting threads: the oldest ones,
 * from which most is to be expected. A long list that was begun first is then followed
 * beside everything else, not alone at the end. */
static void share_entries(struct hi_propagation_worker *w)
{
	struct hi_propagation *s = w->propagation;
	size_t n = w->todo.count / 2 < SHARE ? w->todo.count / 2 : SHARE;
	struct hi_propagation_entry *oldest = w->todo.items;

	pthread_mutex_lock(&s->lock);
	if (n && hi_vector_append(&s->shared, oldest, n)) {
		w->todo.count -= n;
		memcpy(oldest, oldest + w->todo.count, n * sizeof(*oldest));
		atomic_store(&s->hungry, 0);
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Waits for shared work; false when all workers are idle. */
static bool get_work(struct hi_propagation_worker *w)
{
	struct hi_propagation *s = w->propagation;
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
static void run_propagation_worker(void *arg, size_t task, unsigned worker)
{
	struct hi_propagation *s = arg;
	struct hi_propagation_worker *w = s->workers[task];

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
				share_entries(w);
		}
	} while (get_work(w));
}

static void push_chunk(void *arg, size_t task, unsigned worker)
{
	struct hi_propagation_worker *w = ((struct hi_propagation *)arg)->workers[worker];
	const struct hi_objects *objects = w->typing->objects;
	hi_node id = (hi_node)task << HI_CHUNK_SHIFT, left = objects->count - id;
	hi_node end = id + (left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES);

	for (; id < end; id++) {
		uint32_t key = objects->type[id];

		if (key & HI_KEY_LAYOUT)
			hi_propagation_push(w, hi_objects_address(objects, id), id, key);
		else if (objects->flags[id] & HI_OBJECT_INTERNAL)
			objects->type[id] = HI_KEY_SETTLED;
	}
}

static size_t count_chunks(const struct hi_objects *objects)
{
	return ((size_t)objects->count + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT;
}

/* What roots lead to, and objects with a vtable, come first. */
static void push_roots(struct hi_propagation *s)
{
	struct hi_typing *typing = s->typing;
	struct hi_propagation_worker *w = s->workers[0];

	hi_parallel(s->n_workers, count_chunks(typing->objects), push_chunk, s);
	for (size_t i = 0; i < typing->seeds.count; i++) {
		const struct hi_seed *seed = &typing->seeds.items[i];

		follow_word(w, seed->word,
			    (struct hi_type_candidate){
				    .slot = seed->slot,
				    .layout = seed->layout,
				    .context = seed->context,
				    .evidence = seed->slot ? HI_EVIDENCE_POINTER
							   : HI_EVIDENCE_CONTAINER});
	}
	flush_batch(w);
}

/* Forgets all types but those that nothing can change. */
static void forget_propagated_types(struct hi_typing *typing)
{
	for (hi_node id = 0; id < typing->objects->count; id++) {
		if (!(typing->objects->type[id] & HI_KEY_SETTLED))
			typing->objects->type[id] = 0;
		typing->objects->flags[id] &= (uint8_t)~HI_OBJECT_CONFLICT;
	}
}

static const struct hi_objects *final_objects(const struct hi_typing *typing)
{
	return typing->remade ? typing->remade : typing->objects;
}

/* Layouts that objects ended up with. */
struct outcome {
	struct hi_typing *typing;
	const struct hi_objects *objects;
	_Atomic uint64_t conflicts;
};

static void mark_used(struct hi_layouts *layouts, uint32_t layout)
{
	struct hi_layout *base =
		hi_layouts_get(layouts, hi_layouts_get(layouts, layout)->base);

	if (!atomic_load_explicit(&base->used, memory_order_relaxed))
		atomic_store(&base->used, true);
}

static void look_at_chunk(void *arg, size_t task, unsigned worker)
{
	struct outcome *o = arg;
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT;
	hi_node left = o->objects->count - first;
	const uint32_t *type = o->objects->type + first;
	const uint8_t *flags = o->objects->flags + first;
	uint64_t *untyped = o->typing->untyped + first / 64, conflicts = 0;
	uint32_t last = 0;

	(void)worker;
	for (hi_node i = 0; i < left && i < HI_CHUNK_NODES; i++) {
		uint32_t layout = type[i] & HI_KEY_LAYOUT;

		conflicts += flags[i] / HI_OBJECT_CONFLICT;
		untyped[i / 64] |= (uint64_t)!layout << i % 64;
		if (layout == last || !layout)
			continue;
		last = layout;
		mark_used(o->typing->layouts, layout);
	}
	atomic_fetch_add(&o->conflicts, conflicts);
}

static enum hi_status look_at_outcome(struct hi_typing *typing, struct hi_error *err)
{
	struct outcome o = {.typing = typing, .objects = final_objects(typing)};

	free(typing->untyped);
	typing->untyped =
		hi_calloc((size_t)o.objects->count / 64 + 1, sizeof(*typing->untyped));
	if (!typing->untyped)
		return hi_fail_memory(err, "types");
	hi_parallel(typing->threads, count_chunks(o.objects), look_at_chunk, &o);
	typing->stats.conflicts += o.conflicts;
	return HI_OK;
}

/* Words may lead to objects, and to where subobjects may be outside of them. */
static void set_bounds(struct hi_propagation *s, struct hi_propagation_worker *w)
{
	uint64_t low = s->typing->objects->low, high = s->typing->objects->high;

	if (s->outside && s->typing->outside_low < s->typing->outside_high) {
		if (s->typing->outside_low < low || low == high)
			low = s->typing->outside_low;
		if (s->typing->outside_high > high)
			high = s->typing->outside_high;
	}
	w->low = low;
	w->span = high - low;
}

static bool create_workers(struct hi_propagation *s)
{
	for (unsigned i = 0; i < s->n_workers; i++) {
		struct hi_propagation_worker *w = hi_calloc(1, sizeof(*w));

		if (!w)
			return false;
		s->workers[i] = w;
		w->typing = s->typing;
		w->propagation = s;
		hi_walker_init(&w->walker, s->typing);
		w->walker.arg = w;
		w->walker.words = take_words;
		w->walker.reference = follow_rule_reference;
		w->walker.applier.types_only = true;
		set_bounds(s, w);
	}
	return true;
}

void hi_propagation_run(struct hi_propagation *s)
{
	flush_batch(s->workers[0]);
	s->n_started = s->n_idle = 0;
	atomic_store(&s->hungry, 0);
	hi_parallel(s->n_workers, s->n_workers, run_propagation_worker, s);
}

/* Types by pointers to starts, then by interior pointers, then subobjects. */
static enum hi_status run_inference_rounds(struct hi_propagation *s, struct hi_error *err)
{
	enum hi_status status;

	push_roots(s);
	hi_propagation_run(s);
	for (int i = 0, interior_rounds = 0; i < ROUNDS && !atomic_load(&s->stop); i++) {
		if (!hi_propagation_release_arrays(s) &&
		    (interior_rounds++ == INTERIOR_ROUNDS ||
		     !hi_propagation_infer_containers(s)))
			break;
		hi_propagation_run(s);
	}
	s->late = true;
	if (hi_propagation_release_arrays(s))
		hi_propagation_run(s);
	if (atomic_load(&s->stop))
		return HI_OK;
	status = hi_propagation_find_subobjects(s, err);
	s->subobjects = NULL;
	return status;
}

static bool collect_workers(struct hi_propagation *s)
{
	struct hi_typing *typing = s->typing;
	bool no_memory = atomic_load(&s->followed_candidates.no_memory);

	typing->stats.followed = 0;
	for (unsigned i = 0; i < s->n_workers && s->workers[i]; i++) {
		struct hi_propagation_worker *w = s->workers[i];

		no_memory |= w->no_memory;
		typing->stats.followed += w->followed;
		typing->stats.bounded += w->walker.applier.bounded;
		hi_vector_free(&w->todo);
		hi_vector_free(&w->interior);
		hi_vector_free(&w->pools);
		hi_vector_free(&w->arrays);
		hi_vector_free(&w->narrow);
		hi_vector_free(&w->typed);
		hi_vtables_close(w->vtables);
		free(w);
	}
	return !no_memory;
}

/* One whole run; *again_ret: there were too many candidates. */
static enum hi_status run_propagation(struct hi_typing *typing, unsigned threads,
				      bool last_try, bool *again_ret,
				      struct hi_error *err)
{
	uint64_t max = (uint64_t)MAX_CANDIDATES * typing->objects->count;
	struct hi_propagation s = {.typing = typing,
				   .max_candidates =
					   max > MIN_CANDIDATES ? max : MIN_CANDIDATES,
				   .last_try = last_try,
				   .lock = PTHREAD_MUTEX_INITIALIZER,
				   .changed = PTHREAD_COND_INITIALIZER,
				   .n_workers = threads};
	enum hi_status status = HI_OK;
	bool ok;

	s.outside = typing->outside_low < typing->outside_high;
	hi_type_candidates_init(&s.followed_candidates);
	s.bases = hi_bases_create(&s);
	ok = create_workers(&s) && s.bases;
	if (ok)
		status = run_inference_rounds(&s, err);
	*again_ret = atomic_load(&s.stop);
	if (status == HI_OK && ok && !*again_ret)
		status = hi_conflicts_collect(typing, &s.followed_candidates, err);
	if (status == HI_OK && ok && !*again_ret && !typing->remade)
		hi_bases_mark(s.bases);
	hi_bases_destroy(s.bases);
	ok = collect_workers(&s) && ok;
	free(s.before);
	hi_vector_free(&s.shared);
	hi_vector_free(&s.crossed);
	hi_type_candidates_deinit(&s.followed_candidates);
	return ok ? status : hi_fail_memory(err, "types");
}

enum hi_status hi_types_propagate(struct hi_typing *typing, struct hi_error *err)
{
	bool again = false;
	enum hi_status status =
		run_propagation(typing, typing->threads, false, &again, err);

	if (status == HI_OK && again) {
		forget_propagated_types(typing);
		if (typing->stats.subobjects.at_limit) {
			hi_subobjects_destroy(hi_take(typing->subobjects));
			typing->outside_low = typing->outside_high = 0;
		}
		status = hi_vtables_find(typing, err);
		if (status == HI_OK)
			status = run_propagation(typing, 1, true, &again, err);
	}
	return status == HI_OK ? look_at_outcome(typing, err) : status;
}
