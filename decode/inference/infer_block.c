/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One candidate for one block: does it fit, is it new, is it the best?
 *
 * Note [Weak candidates]
 *
 * A type that is only inferred (the evidence "shape") has pointers whose types are no
 * better known than it is itself: what they lead to is inferred as well. If the same
 * type is found with better evidence later, its pointers are followed once more.
 */
#include <string.h>

#include "decode/inference/propagation.h"

enum {
	MAX_CHECKED = 64,	/* elements of an array whose pointers are looked at */
	MAX_INTERIOR = 1 << 24, /* kept by one thread */
};

bool hi_propagation_read(struct hi_propagation_worker *w, uint64_t addr, uint64_t *ret)
{
	const uint8_t *at = hi_memory_windows_at(&w->typing->memory_windows,
						 &w->target_window, addr, 8);

	if (!at)
		return hi_memory_read_u64(w->typing->image->memory, addr, ret, NULL) ==
		       HI_OK;
	memcpy(ret, at, sizeof(*ret));
	return true;
}

uint32_t hi_propagation_class_at(struct hi_propagation_worker *w, uint64_t addr,
				 uint32_t index)
{
	struct hi_layouts *layouts = w->typing->layouts;
	const struct hi_layout *declared = hi_layouts_get(layouts, index);
	uint32_t found;

	if (!w->typing->has_vtables || declared->klass != HI_TYPE_RECORD)
		return HI_LAYOUT_NONE;
	if (!w->vtables)
		w->vtables = hi_vtables_open(w->typing);
	w->no_memory |= !w->vtables;
	found = w->vtables ? hi_vtables_layout_at(w->vtables, addr)
			   : (uint32_t)HI_LAYOUT_NOTHING;
	return found >= HI_LAYOUT_FIRST &&
			       hi_layout_has_at(layouts, hi_layouts_get(layouts, found),
						0, declared)
		       ? found
		       : (uint32_t)HI_LAYOUT_NONE;
}

/* ---- is this block an array of such elements? ---- */

struct plausible {
	struct hi_propagation_worker *w;
	const struct hi_layout *layout;
	uint64_t addr; /* of the block */
	bool ok;
};

static void check_word(void *arg, uint64_t offset, struct hi_pointer_slot *slot)
{
	struct plausible *p = arg;
	uint64_t word;

	if (!p->ok || !slot || slot->kind != HI_POINTER_SLOT_TYPED ||
	    offset >= MAX_CHECKED * p->layout->size ||
	    !hi_propagation_read(p->w, p->addr + offset, &word))
		return;
	p->ok = word == 0 || hi_image_mapping_at(p->w->typing->image, word);
}

bool hi_propagation_is_plausible(struct hi_propagation_worker *w,
				 const struct hi_layout *layout, bool array,
				 uint64_t addr, uint64_t usable)
{
	struct plausible p = {w, layout, addr, true};

	if (array && MAX_CHECKED * layout->size < usable)
		usable = MAX_CHECKED * layout->size;
	hi_walker_words(&w->walker, layout, array, true, addr, usable, check_word, &p);
	return p.ok;
}

/* Is it nothing but a pointer to its own type: the link that an allocator writes into a
 * free slot (sqlite's LookasideSlot)? Any block begins with such a record and is
 * divisible by it, so its size is no evidence. */
static bool is_bare_link(struct hi_propagation_worker *w, const struct hi_layout *layout)
{
	uint32_t pointee;

	if (layout->klass != HI_TYPE_RECORD || layout->size != 8 ||
	    layout->n_slots != 1 || layout->slots[0].kind != HI_POINTER_SLOT_TYPED)
		return false;
	pointee = hi_layouts_pointee(w->typing->layouts, &layout->slots[0]);
	return pointee >= HI_LAYOUT_FIRST &&
	       hi_layouts_get(w->typing->layouts, pointee)->base == layout->base;
}

bool hi_propagation_fits_as_array(struct hi_propagation_worker *w,
				  const struct hi_layout *layout, uint64_t addr,
				  uint64_t usable)
{
	const struct hi_block_sizes *sizes = &w->typing->layouts->sizes;
	uint64_t n = layout->size ? usable / layout->size : 0;

	/* What ends in a tail that rules know is not one of many. */
	if (n < 2 || layout->open_ended ||
	    (layout->rules && (layout->rules->tail_known || layout->rules->size)))
		return false;
	if (layout->klass == HI_TYPE_STRING || layout->klass == HI_TYPE_SCALAR ||
	    layout->klass == HI_TYPE_POINTER_ARRAY)
		return true;
	if (!hi_fit_is(sizes, n * layout->size, usable) ||
	    hi_fit_is(sizes, layout->size, usable) || /* one is as likely */
	    is_bare_link(w, layout))
		return false;
	return hi_propagation_is_plausible(w, layout, true, addr, usable);
}

/* A few records, or one that begins with this one? inference_rounds.c looks for such
 * records before the block becomes an array. */
static bool may_be_derived(const struct hi_layout *layout, uint64_t usable)
{
	return layout->klass == HI_TYPE_RECORD && layout->size &&
	       usable / layout->size <= HI_PROPAGATION_FEW;
}

/* ---- proposals ---- */

/* Note [Arrays] */
static bool array_waits(const struct hi_propagation_worker *w,
			const struct hi_layout *layout, hi_node id, uint32_t key)
{
	return (key & HI_KEY_ARRAY) && !(key & HI_KEY_SETTLED) && id != HI_NODE_NONE &&
	       !hi_layout_has_count(layout) && !w->propagation->late;
}

void hi_propagation_push(struct hi_propagation_worker *w, uint64_t addr, hi_node id,
			 uint32_t key)
{
	const struct hi_layout *layout =
		hi_layouts_get(w->typing->layouts, key & HI_KEY_LAYOUT);

	if ((!layout->n_pointers && !layout->n_rule_sites) || layout->quiet)
		return;
	if (!hi_vector_push(array_waits(w, layout, id, key) ? &w->arrays : &w->todo,
			    ((struct hi_propagation_entry){addr, id, key}))) {
		w->no_memory = true;
		atomic_store(&w->propagation->stop, true);
	}
}

static enum hi_evidence evidence_of(uint32_t key)
{
	return (enum hi_evidence)(key >> HI_KEY_EVIDENCE_SHIFT);
}

/* Note [Weak candidates] */
static bool is_weak(uint32_t key)
{
	return evidence_of(key) <= HI_EVIDENCE_SHAPE;
}

static bool is_better_known(uint32_t key, uint32_t old)
{
	return is_weak(old) && !is_weak(key);
}

static uint32_t followed_key(uint32_t key)
{
	return (key & HI_KEY_LAYOUT) | (is_weak(key) ? HI_TYPE_CANDIDATE_WEAK : 0);
}

/* Is all that a value of `layout` leads to followed with the block's type `old`, as long
 * as that one starts with it? Elements of an array may turn out to be dead later. */
static bool is_followed_with(const struct hi_propagation_worker *w, hi_node id,
			     uint32_t old, const struct hi_layout *layout)
{
	const struct hi_layout *than =
		hi_layouts_get(w->typing->layouts, old & HI_KEY_LAYOUT);
	bool first_is_live = !hi_layout_has_count(than) ||
			     (!than->first && than->count && !than->live.kind);

	return first_is_live && !than->quiet && !array_waits(w, than, id, old) &&
	       (!layout->open_ended || layout->base == than->base) &&
	       hi_layout_covers(than, layout);
}

/* The beginning of a known type adds nothing new, unless rules of that one name words of
 * it: then both are followed, whichever comes first. */
static bool adds_pointers(const struct hi_propagation_worker *w, hi_node id, uint32_t old,
			  const struct hi_layout *layout)
{
	struct hi_layouts *layouts = w->typing->layouts;
	const struct hi_layout *than = hi_layouts_get(layouts, old & HI_KEY_LAYOUT);

	return (layout->n_pointers || layout->n_rule_sites) &&
	       (hi_layout_has_count(layout) || layout->context != than->context ||
		layout->lead != than->lead ||
		!hi_layout_starts_with(layouts, than, layout, false) ||
		!is_followed_with(w, id, old, layout));
}

/* The block has a type already: is this one worth to be followed too? */
static void follow_candidate(struct hi_propagation_worker *w, uint64_t addr, hi_node id,
			     uint32_t key, uint32_t old)
{
	struct hi_propagation *s = w->propagation;
	struct hi_layouts *layouts = w->typing->layouts;
	const struct hi_layout *layout = hi_layouts_get(layouts, key & HI_KEY_LAYOUT);
	const struct hi_layout *other = hi_layouts_get(layouts, old & HI_KEY_LAYOUT);
	bool is_array = (key & HI_KEY_ARRAY) && !hi_layout_has_count(layout);
	bool follow = is_array ? layout->n_pointers || layout->n_rule_sites
			       : adds_pointers(w, id, old, layout) ||
					 (is_better_known(key, old) &&
					  (layout->n_pointers || layout->n_rule_sites));
	bool conflict;

	conflict = hi_layouts_conflict(layouts, layout, other);
	if (conflict)
		__atomic_fetch_or(&w->typing->objects->flags[id], HI_OBJECT_CONFLICT,
				  __ATOMIC_RELAXED);
	if (!conflict && !follow)
		return;
	if (s->followed_candidates.count >= s->max_candidates) {
		if (!s->last_try)
			atomic_store(&s->stop, true);
		return;
	}
	/* Both, so that the list does not depend on the order. The other one was followed
	 * when it came. */
	if (conflict)
		hi_type_candidates_add_first(&s->followed_candidates, id,
					     followed_key(old));
	if (hi_type_candidates_add(&s->followed_candidates, id, followed_key(key))) {
		if (follow)
			hi_propagation_push(w, addr, id, key);
	} else if (atomic_load(&s->followed_candidates.no_memory)) {
		atomic_store(&s->stop, true);
	}
}

static int compare_keys(const struct hi_layouts *layouts, uint32_t a, uint32_t b)
{
	return hi_type_candidate_compare(
		hi_layouts_get(layouts, a & HI_KEY_LAYOUT), evidence_of(a),
		hi_layouts_get(layouts, b & HI_KEY_LAYOUT), evidence_of(b));
}

/* Makes key the block's candidate if it is the best. */
static void set_best_type(struct hi_propagation_worker *w, uint64_t addr, hi_node id,
			  uint32_t key, uint32_t old)
{
	uint32_t *type = &w->typing->objects->type[id];
	bool followed = false;

	for (;;) {
		bool first = !(old & HI_KEY_LAYOUT);

		if (!first) {
			if (!followed && (old & HI_KEY_LAYOUT) != (key & HI_KEY_LAYOUT))
				follow_candidate(w, addr, id, key, old);
			followed = true;
			if (compare_keys(w->typing->layouts, key, old) <= 0)
				return;
		}
		/* Hands over its layout, too, which another thread may have made. */
		if (!__atomic_compare_exchange_n(type, &old, key, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			continue;
		if (first || ((old & HI_KEY_LAYOUT) == (key & HI_KEY_LAYOUT) &&
			      is_better_known(key, old)))
			hi_propagation_push(w, addr, id, key);
		if (w->notes_typed && !hi_vector_push(&w->typed, id))
			w->no_memory = true;
		return;
	}
}

void hi_propagation_add_candidate(struct hi_propagation_worker *w, uint64_t addr,
				  hi_node id, uint32_t index, enum hi_evidence evidence)
{
	struct hi_objects *objects = w->typing->objects;
	uint32_t old = __atomic_load_n(&objects->type[id], __ATOMIC_ACQUIRE), key;
	const struct hi_layout *layout = hi_layouts_get(w->typing->layouts, index);
	uint64_t usable, n;

	if (((old & HI_KEY_LAYOUT) == index && evidence_of(old) >= evidence) ||
	    (old & HI_KEY_SETTLED))
		return;
	usable = hi_object_usable(objects, id);
	if (layout->rules && layout->rules->n_variants) {
		index = hi_walker_variant(&w->walker, index, addr, usable);
		layout = hi_layouts_get(w->typing->layouts, index);
	}
	key = (uint32_t)evidence << HI_KEY_EVIDENCE_SHIFT | index;
	if (hi_layout_has_count(layout)) {
		n = layout->first + layout->count;
		if (layout->lead > usable ||
		    (layout->size && n > (usable - layout->lead) / layout->size))
			return;
		if (layout->size)
			key |= HI_KEY_ARRAY;
	} else if (layout->size > usable) {
		if (layout->type && layout->type->kind == HI_KIND_UNION &&
		    !hi_vector_push(&w->narrow,
				    ((struct hi_propagation_entry){addr, id, key})))
			w->no_memory = true;
		return;
	} else if (!may_be_derived(layout, usable) &&
		   !hi_propagation_is_crossed(w->propagation, id) &&
		   hi_propagation_fits_as_array(w, layout, addr, usable)) {
		key |= HI_KEY_ARRAY;
	}
	set_best_type(w, addr, id, key, old);
}

/* ---- pointers to the inside ---- */

static uint64_t extent_of(const struct hi_typing *typing, uint32_t key)
{
	const struct hi_layout *layout;

	if (!(key & HI_KEY_LAYOUT))
		return 0;
	layout = hi_layouts_get(typing->layouts, key & HI_KEY_LAYOUT);
	/* A pointer to an integer describes one. */
	if (layout->klass == HI_TYPE_SCALAR && !layout->blob &&
	    !hi_layout_has_count(layout))
		return layout->size;
	/* Characters and what only a name is known of may be anything: pools keep their
	 * bounds as `char *`. */
	if (layout->opaque || (layout->klass == HI_TYPE_STRING && !layout->blob &&
			       !hi_layout_has_count(layout)))
		return 0;
	return (key & HI_KEY_ARRAY) || layout->blob ? UINT64_MAX
						    : layout->lead + layout->fixed_size;
}

uint64_t hi_propagation_extent(const struct hi_typing *typing, hi_node id)
{
	return extent_of(typing,
			 __atomic_load_n(&typing->objects->type[id], __ATOMIC_ACQUIRE));
}

/* Records of a flexible array are members, as far as the block goes. */
bool hi_propagation_explains(const struct hi_typing *typing, uint32_t key,
			     uint64_t offset, uint32_t index)
{
	const struct hi_layout *layout;

	if (offset < extent_of(typing, key))
		return true;
	if (!(key & HI_KEY_LAYOUT) || index < HI_LAYOUT_FIRST)
		return false;
	layout = hi_layouts_get(typing->layouts, key & HI_KEY_LAYOUT);
	return layout->open_ended &&
	       hi_layout_has_at(typing->layouts, layout, offset,
				hi_layouts_get(typing->layouts, index));
}

/* Bytes that the block's type takes at least, with any further candidate: better
 * candidates are no smaller, but an array, a name or a list's node may still become
 * something else. While subobjects are found, the bytes that it took before. */
static uint64_t firm_extent(const struct hi_propagation_worker *w, hi_node id)
{
	const struct hi_typing *typing = w->typing;
	const struct hi_layout *layout;
	uint32_t key;

	if (w->propagation->before)
		return extent_of(typing, w->propagation->before[id]);
	key = __atomic_load_n(&typing->objects->type[id], __ATOMIC_ACQUIRE);
	if (!(key & HI_KEY_LAYOUT) || (key & HI_KEY_SETTLED))
		return extent_of(typing, key);
	layout = hi_layouts_get(typing->layouts, key & HI_KEY_LAYOUT);
	if (layout->blob || layout->opaque || layout->klass == HI_TYPE_STRING ||
	    (layout->rules && layout->rules->is_node))
		return 0;
	return layout->fixed_size;
}

/* `new T[n]` of types with a destructor: n, then the elements; the pointer is
 * to the first (Itanium C++ ABI 2.7). */
bool hi_propagation_add_counted_array(struct hi_propagation_worker *w, uint64_t start,
				      hi_node id, uint32_t index,
				      enum hi_evidence evidence)
{
	const struct hi_layout *layout = hi_layouts_get(w->typing->layouts, index);
	uint64_t usable = hi_object_usable(w->typing->objects, id), n;
	uint32_t refined;

	if (layout->klass != HI_TYPE_RECORD || layout->opaque || !layout->size ||
	    hi_layout_has_count(layout))
		return false;
	/* One is too likely a number to be a count. */
	if (!hi_propagation_read(w, start, &n) || n < 2 || n > usable / layout->size ||
	    !hi_fit_is(&w->typing->layouts->sizes, 8 + n * layout->size, usable))
		return false;
	refined = hi_layouts_refine(
		w->typing->layouts, index,
		&(struct hi_layout_refinement){
			.lead = 8, .count = n, .context = layout->context});
	if (refined < HI_LAYOUT_FIRST)
		return false;
	hi_propagation_add_candidate(w, start, id, refined, evidence);
	return true;
}

void hi_propagation_note_interior(struct hi_propagation_worker *w, uint64_t addr,
				  hi_node id, uint32_t key)
{
	uint64_t h = (addr ^ key * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull;
	uint64_t *recent = &w->recent[h >> 54];

	if (*recent == h)
		return;
	*recent = h;
	if (w->interior.count >= MAX_INTERIOR)
		w->interior_dropped++;
	else if (!hi_vector_push(&w->interior, ((struct hi_interior){addr, id, key})))
		w->no_memory = true;
}

static bool may_be_split_off(const struct hi_propagation_worker *w, uint64_t addr,
			     hi_node id, uint32_t index, bool crosses)
{
	const struct hi_typing *typing = w->typing;
	uint64_t offset = addr - hi_objects_address(typing->objects, id);

	if (!hi_subobjects_may_be_pool(hi_object_usable(typing->objects, id),
				       hi_layouts_get(typing->layouts, index)->size) &&
	    !hi_propagation_is_apart(w->propagation, addr, id, index))
		return false;
	return crosses || !hi_propagation_explains(typing, w->propagation->before[id],
						   offset, index);
}

void hi_propagation_add_interior(struct hi_propagation_worker *w, uint64_t addr,
				 hi_node id, uint32_t index, enum hi_evidence evidence)
{
	struct hi_typing *typing = w->typing;
	const struct hi_layout *layout = hi_layouts_get(typing->layouts, index);
	uint64_t start = hi_objects_address(typing->objects, id), offset = addr - start;
	uint32_t key = (uint32_t)evidence << HI_KEY_EVIDENCE_SHIFT | index;
	bool is_record =
		layout->klass == HI_TYPE_RECORD && !layout->opaque && layout->size;
	bool crosses;

	if (hi_object_is_internal(typing->objects, id))
		return;
	/* The low bits of a pointer to something aligned are used as a tag. A record
	 * without pointers may as well be a member with a smaller alignment. */
	if (is_record && offset < 8 && layout->size % 8 == 0) {
		hi_propagation_add_candidate(w, start, id, index,
					     layout->n_pointers || layout->n_rule_sites
						     ? evidence
						     : HI_EVIDENCE_SHAPE);
		return;
	}
	if (hi_propagation_add_behind_header(w, addr, id, index, evidence))
		return;
	crosses = w->propagation->subobjects &&
		  hi_propagation_crosses_array(typing, w->propagation->before[id],
					       &(struct hi_interior){addr, id, key});
	if ((offset < firm_extent(w, id) && !crosses) ||
	    (!is_record && !hi_layout_has_count(layout) &&
	     !hi_propagation_may_be_sized(w, addr, id, index)))
		return;
	if (w->propagation->subobjects && may_be_split_off(w, addr, id, index, crosses))
		hi_propagation_add_subobject(
			w, addr, start + hi_object_usable(typing->objects, id), index,
			evidence);
	else if (!w->propagation->subobjects || offset <= HI_PROPAGATION_HEADER)
		hi_propagation_note_interior(w, addr, id, key);
}

/* A pointer to a base class leads to a whole object of a class that has a vtable. */
static uint32_t derive_subobject(struct hi_propagation_worker *w, uint64_t addr,
				 uint64_t room, uint32_t index, uint32_t *flags)
{
	uint32_t found = hi_propagation_class_at(w, addr, index);

	if (!found || hi_layouts_get(w->typing->layouts, found)->size > room)
		return index;
	*flags = (*flags & HI_KEY_SLOT) | (uint32_t)HI_EVIDENCE_VTABLE
						  << HI_KEY_EVIDENCE_SHIFT;
	return hi_layouts_get(w->typing->layouts, index)->type ==
			       hi_layouts_get(w->typing->layouts, found)->type
		       ? index
		       : found;
}

/* flags: evidence and HI_KEY_SLOT. */
static void add_subobject(struct hi_propagation_worker *w, uint64_t addr, uint64_t end,
			  uint32_t index, uint32_t flags)
{
	const struct hi_layout *layout;
	uint64_t size, room = end - addr;
	uint32_t key;
	bool array;

	if (addr % 8)
		return;
	index = derive_subobject(w, addr, room, index, &flags);
	index = hi_walker_variant(&w->walker, index, addr, room);
	layout = hi_layouts_get(w->typing->layouts, index);
	array = hi_layout_has_count(layout) && layout->size;
	if (array &&
	    (room < layout->lead ||
	     layout->first + layout->count > (room - layout->lead) / layout->size))
		return; /* as in a block of its own */
	if (layout->opaque ||
	    (layout->klass != HI_TYPE_RECORD && !array && !layout->blob))
		return;
	size = hi_walker_size(&w->walker, layout, addr, room);
	if (size < 8 || size < layout->size || size > room ||
	    !hi_propagation_is_plausible(w, layout, array, addr, size))
		return;
	key = flags | index | (array ? HI_KEY_ARRAY : 0);
	if (hi_subobjects_add(w->propagation->subobjects, addr, size, key))
		hi_propagation_push(w, addr, HI_NODE_NONE, key & ~HI_KEY_SLOT);
}

void hi_propagation_add_subobject(struct hi_propagation_worker *w, uint64_t addr,
				  uint64_t end, uint32_t index, enum hi_evidence evidence)
{
	add_subobject(w, addr, end, index, (uint32_t)evidence << HI_KEY_EVIDENCE_SHIFT);
}

void hi_propagation_add_slot(struct hi_propagation_worker *w, uint64_t addr, uint64_t end,
			     uint32_t index)
{
	add_subobject(w, addr, end, index,
		      (uint32_t)HI_EVIDENCE_CONTAINER << HI_KEY_EVIDENCE_SHIFT |
			      HI_KEY_SLOT);
}
