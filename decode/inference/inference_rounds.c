/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is inferred when typed pointers to starts infer nothing more.
 *
 * Note [Containers of members]
 *
 * A pointer to a member leads to the inside of its record (list_head, queue nodes); a
 * pointer to a base class or a first member leads to its start. If no other pointer
 * infers the block's type, then the records of the debug information are tried that have
 * this type at this offset and for which the allocator would give a block of just this
 * size. If the pointers of exactly one of them look like pointers there, the block has
 * that type, with the evidence "shape"; if those of two do, it has none. A block with
 * room for a few elements of a type is an array only if no record begins with that type
 * and has the size of all of them.
 *
 * If no record has it there, and all pointers into the block lead to elements of an
 * array of that type which begins where the block does, the block is one.
 *
 * The nodes of an intrusive list or tree are found one by one: each leads to the inside
 * of the next. So the nodes that a block leads to are tried at once, by one thread, in an
 * order that does not depend on threads.
 *
 * The interior pointers that are left lead to subobjects of a pool, if the block is large
 * enough to be one (subobjects.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/inference/bases.h"
#include "decode/inference/propagation.h"
#include "decode/layouts/record_parts.h"

enum { MAX_NEEDS = 1 << 12, MAX_FOUND = 8, HEADER_ROUNDS = 4, TIGHT_BITS = 8 };

/* Wanted: a record with `type` at `offset`, for a block of `usable` bytes. */
struct need {
	uint64_t usable, offset;
	const struct hi_type *type;
	const struct hi_type *found[MAX_FOUND];
	unsigned n_found; /* MAX_FOUND + 1: more than fit */
};

/* The largest block of a key that is not loose; key 0: empty. */
struct tight {
	uint32_t key;
	uint64_t usable;
};

struct containment {
	struct hi_propagation *propagation;
	struct HI_VECTOR(struct need) needs; /* sorted for the search */
	struct tight *tight;		     /* 1 << TIGHT_BITS, direct-mapped */
	uint64_t min_size;
	bool no_memory;
};

static int compare_needs(const void *a, const void *b)
{
	const struct need *x = a, *y = b;

	if (x->usable != y->usable)
		return x->usable < y->usable ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->type->id < y->type->id ? -1 : x->type->id > y->type->id;
}

static struct need *find_need(struct containment *c, uint64_t usable, uint64_t offset,
			      const struct hi_type *type)
{
	const struct need key = {.usable = usable, .offset = offset, .type = type};

	return c->needs.count ? bsearch(&key, c->needs.items, c->needs.count, sizeof(key),
					compare_needs)
			      : NULL;
}

/* ---- which records have this type there? ---- */

static bool is_found(const struct need *need, const struct hi_type *record)
{
	for (unsigned i = 0; i < need->n_found && i < MAX_FOUND; i++)
		if (need->found[i] == record)
			return true;
	return false;
}

/* The first need for a block that a record of this size fits; or their number. */
static size_t first_need_of_size(const struct containment *c, uint64_t size,
				 uint64_t *fit)
{
	*fit = hi_fit_usable(&c->propagation->typing->layouts->sizes, size);
	return hi_search(i, c->needs.count, c->needs.items[i].usable < *fit);
}

/* hi_record_size_fn */
static bool is_needed_size(uint64_t size, void *arg)
{
	const struct containment *c = arg;
	uint64_t fit;
	size_t i = first_need_of_size(c, size, &fit);

	return i < c->needs.count && c->needs.items[i].usable == fit;
}

/* hi_record_fn */
static bool try_record(const struct hi_type *record, void *arg)
{
	struct containment *c = arg;
	uint64_t fit;
	size_t low = first_need_of_size(c, record->size, &fit);

	for (; low < c->needs.count && c->needs.items[low].usable == fit; low++) {
		struct need *need = &c->needs.items[low];

		if (need->n_found > MAX_FOUND || need->type == record ||
		    is_found(need, record) ||
		    !hi_record_has_at(&c->propagation->typing->source.types, record,
				      need->type, need->offset))
			continue;
		if (need->n_found < MAX_FOUND)
			need->found[need->n_found] = record;
		need->n_found++;
	}
	return true;
}

static void add_need(struct containment *c, const struct hi_type *type, uint64_t offset,
		     uint64_t usable)
{
	struct need need = {.usable = usable, .offset = offset, .type = type};

	if (c->needs.count < MAX_NEEDS && !hi_vector_push(&c->needs, need))
		c->no_memory = true;
}

static void sort_needs(struct containment *c)
{
	size_t kept = 0;

	if (c->needs.count > 1)
		qsort(c->needs.items, c->needs.count, sizeof(struct need), compare_needs);
	for (size_t i = 0; i < c->needs.count; i++)
		if (!kept ||
		    compare_needs(&c->needs.items[kept - 1], &c->needs.items[i]) != 0)
			c->needs.items[kept++] = c->needs.items[i];
	c->needs.count = kept;
}

static bool search_records(struct containment *c)
{
	const struct hi_typing_source *source = &c->propagation->typing->source;

	sort_needs(c);
	return c->needs.count && source->each_record &&
	       source->each_record(source->types.arg, 8, is_needed_size, try_record, c,
				   NULL) == HI_OK;
}

/* The only one of them whose pointers look like pointers. */
static uint32_t only_plausible(struct containment *c, hi_node id, const struct need *need)
{
	struct hi_propagation_worker *w = c->propagation->workers[0];
	struct hi_typing *typing = c->propagation->typing;
	uint64_t addr = hi_objects_address(typing->objects, id);
	uint32_t only = HI_LAYOUT_NONE;

	if (!need || need->n_found > MAX_FOUND)
		return HI_LAYOUT_NONE;
	for (unsigned i = 0; i < need->n_found; i++) {
		uint32_t layout = hi_layouts_of(typing->layouts, need->found[i]->id);

		if (layout < HI_LAYOUT_FIRST ||
		    !hi_propagation_is_plausible(
			    w, hi_layouts_get(typing->layouts, layout), false, addr,
			    hi_object_usable(typing->objects, id)))
			continue;
		if (only)
			return HI_LAYOUT_NONE;
		only = layout;
	}
	return only;
}

static bool add_found_candidate(struct containment *c, hi_node id,
				const struct need *need)
{
	struct hi_propagation_worker *w = c->propagation->workers[0];
	struct hi_typing *typing = c->propagation->typing;
	uint32_t layout = only_plausible(c, id, need);

	if (!layout)
		return false;
	hi_propagation_add_candidate(w, hi_objects_address(typing->objects, id), id,
				     layout, HI_EVIDENCE_SHAPE);
	return true;
}

/* ---- pointers to the inside ---- */

static int compare_interior(const void *a, const void *b)
{
	const struct hi_interior *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_explained(const struct hi_typing *typing, const struct hi_interior *in)
{
	return in->id != HI_NODE_NONE &&
	       hi_propagation_explains(
		       typing, typing->objects->type[in->id],
		       in->addr - hi_objects_address(typing->objects, in->id),
		       in->key & HI_KEY_LAYOUT);
}

/* Most of them, where many lead into arrays: before anything is sorted. */
static void drop_explained(struct hi_propagation_worker *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->interior.count; i++)
		if (!is_explained(w->typing, &w->interior.items[i]))
			w->interior.items[kept++] = w->interior.items[i];
	w->interior.count = kept;
}

/* All workers' into the first one's list: sorted, each once, those that no type
 * of their block explains. False: out of memory. */
static bool gather_interior(struct hi_propagation *s)
{
	struct hi_propagation_worker *first = s->workers[0];
	size_t kept = 0;

	drop_explained(s->workers[0]);
	for (unsigned i = 1; i < s->n_workers; i++) {
		struct hi_propagation_worker *w = s->workers[i];

		drop_explained(w);
		for (size_t k = 0; k < w->interior.count; k++)
			if (!hi_vector_push(&first->interior, w->interior.items[k]))
				return false;
		hi_vector_free(&w->interior);
	}
	if (first->interior.count > 1)
		qsort(first->interior.items, first->interior.count,
		      sizeof(struct hi_interior), compare_interior);
	for (size_t i = 0; i < first->interior.count; i++) {
		struct hi_interior in = first->interior.items[i];

		if (!kept || compare_interior(&first->interior.items[kept - 1], &in) != 0)
			first->interior.items[kept++] = in;
	}
	first->interior.count = kept;
	return true;
}

static const struct hi_type *type_of_key(const struct hi_typing *typing, uint32_t key)
{
	return hi_layouts_get(typing->layouts, key & HI_KEY_LAYOUT)->type;
}

/* A pointer to an integer does not describe the block (Note [Certain records]). */
static bool is_without_type(const struct hi_typing *typing, hi_node id)
{
	const struct hi_layout *layout;

	if (id == HI_NODE_NONE || !(typing->objects->type[id] & HI_KEY_LAYOUT))
		return id != HI_NODE_NONE;
	layout = hi_layouts_get(typing->layouts,
				typing->objects->type[id] & HI_KEY_LAYOUT);
	return layout->klass == HI_TYPE_SCALAR && !layout->blob &&
	       !hi_layout_has_count(layout);
}

static void need_of_interior(struct containment *c, const struct hi_interior *in,
			     struct need *ret)
{
	const struct hi_typing *typing = c->propagation->typing;

	*ret = (struct need){.usable = hi_object_usable(typing->objects, in->id),
			     .offset = in->addr -
				       hi_objects_address(typing->objects, in->id),
			     .type = type_of_key(typing, in->key)};
}

/* Others are kept for size_header.c. */
static bool is_part_of_record(const struct hi_typing *typing,
			      const struct hi_interior *in)
{
	const struct hi_layout *layout =
		hi_layouts_get(typing->layouts, in->key & HI_KEY_LAYOUT);

	return in->id != HI_NODE_NONE &&
	       (layout->klass == HI_TYPE_RECORD || hi_layout_has_count(layout));
}

/* Do all pointers into this block lead to elements of one array? */
static bool leads_to_elements(struct containment *c, const struct hi_interior *in,
			      const struct hi_layout *layout)
{
	const struct hi_propagation_worker *w = c->propagation->workers[0];
	const struct hi_interior *first = w->interior.items;
	const struct hi_interior *end = first + w->interior.count, *at = in;
	uint64_t start = hi_objects_address(c->propagation->typing->objects, in->id);

	while (at > first && at[-1].id == in->id)
		at--;
	for (; at < end && at->id == in->id; at++)
		if (hi_layouts_get(c->propagation->typing->layouts,
				   at->key & HI_KEY_LAYOUT)
				    ->base != layout->base ||
		    (at->addr - start) % layout->size)
			return false;
	return true;
}

/* Pointers to the last element of an array, or to one in its middle, where none leads to
 * its start. */
static bool contain_array(struct containment *c, const struct hi_interior *in)
{
	struct hi_propagation_worker *w = c->propagation->workers[0];
	struct hi_typing *typing = c->propagation->typing;
	const struct hi_layout *layout =
		hi_layouts_get(typing->layouts, in->key & HI_KEY_LAYOUT);
	uint64_t start = hi_objects_address(typing->objects, in->id);
	uint64_t usable = hi_object_usable(typing->objects, in->id);
	uint32_t key = (uint32_t)HI_EVIDENCE_SHAPE << HI_KEY_EVIDENCE_SHIFT |
		       HI_KEY_ARRAY | layout->index;

	/* A larger one may be a pool. */
	if (hi_subobjects_may_be_pool(usable, layout->size) ||
	    layout->klass != HI_TYPE_RECORD || !layout->size || layout->opaque ||
	    layout->lead || hi_layout_has_count(layout) ||
	    typing->objects->type[in->id] || !leads_to_elements(c, in, layout) ||
	    !hi_propagation_fits_as_array(w, layout, start, usable))
		return false;
	typing->objects->type[in->id] = key;
	hi_propagation_push(w, start, in->id, key);
	return true;
}

/* *open: the last block that got a type here; every pointer into it is tried. */
static bool contain_one(struct containment *c, const struct hi_interior *in,
			hi_node *open)
{
	const struct need *found;
	struct need need;
	uint64_t start;

	if (!is_part_of_record(c->propagation->typing, in) ||
	    (in->id != *open && !is_without_type(c->propagation->typing, in->id)))
		return false;
	*open = in->id;
	start = hi_objects_address(c->propagation->typing->objects, in->id);
	need_of_interior(c, in, &need);
	found = need.type ? find_need(c, need.usable, need.offset, need.type) : NULL;
	if (found && found->n_found)
		return add_found_candidate(c, in->id, found);
	/* No record has it there. */
	if (contain_array(c, in))
		return true;
	return in->addr == start + 8 &&
	       hi_propagation_add_counted_array(
		       c->propagation->workers[0], start, in->id, in->key & HI_KEY_LAYOUT,
		       (enum hi_evidence)(in->key >> HI_KEY_EVIDENCE_SHIFT));
}

static bool contain_interior(struct containment *c)
{
	struct hi_propagation *s = c->propagation;
	struct hi_propagation_worker *w = s->workers[0];
	hi_node open = HI_NODE_NONE;
	bool any = false;
	struct need need;

	for (size_t i = 0; i < w->interior.count; i++) {
		if (!is_part_of_record(s->typing, &w->interior.items[i]) ||
		    !is_without_type(s->typing, w->interior.items[i].id))
			continue;
		need_of_interior(c, &w->interior.items[i], &need);
		if (need.type)
			add_need(c, need.type, need.offset, need.usable);
		if (i % 1024 == 0)
			sort_needs(c);
	}
	(void)search_records(c);
	memset(w->recent, 0, sizeof(w->recent)); /* what other threads left to it */
	for (size_t i = 0; i < w->interior.count; i++) {
		/* The work of the last block is added behind the earlier work. */
		if (w->interior.items[i].id != open)
			hi_propagation_drain(w);
		any |= contain_one(c, &w->interior.items[i], &open);
		if (i + 1 == w->interior.count)
			hi_propagation_drain(w);
	}
	return any;
}

/* ---- records that are larger than their type ---- */

/* The largest block of this key for which its type is not too small. */
static uint64_t largest_tight(const struct hi_typing *typing, uint32_t key)
{
	const struct hi_layout *layout =
		hi_layouts_get(typing->layouts, key & HI_KEY_LAYOUT);

	if (layout->klass != HI_TYPE_RECORD || !layout->size || layout->opaque ||
	    layout->open_ended || (layout->rules && layout->rules->tail_known))
		return UINT64_MAX;
	return hi_fit_usable(&typing->layouts->sizes, layout->size);
}

/* A block that has more room than its type needs. table: of this thread. */
static inline const struct hi_type *loose_type(const struct hi_typing *typing,
					       struct tight *table, hi_node id)
{
	uint32_t key = typing->objects->type[id] &
		       (HI_KEY_LAYOUT | HI_KEY_ARRAY | HI_KEY_SETTLED);
	struct tight *tight = &table[(key ^ key >> TIGHT_BITS) & ((1 << TIGHT_BITS) - 1)];

	if (!(key & HI_KEY_LAYOUT) || (key & (HI_KEY_ARRAY | HI_KEY_SETTLED)))
		return NULL;
	if (tight->key != key)
		*tight = (struct tight){key, largest_tight(typing, key)};
	if (hi_object_usable(typing->objects, id) <= tight->usable)
		return NULL;
	return hi_layouts_get(typing->layouts, key)->type;
}

struct loose_search {
	const struct hi_typing *typing;
	_Atomic bool found;
};

static void search_loose(void *arg, size_t task, unsigned worker)
{
	struct loose_search *s = arg;
	hi_node id = (hi_node)task << HI_CHUNK_SHIFT,
		left = s->typing->objects->count - id;
	hi_node end = id + (left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES);
	struct tight tight[1 << TIGHT_BITS] = {};

	(void)worker;
	while (id < end && !loose_type(s->typing, tight, id))
		id++;
	if (id < end)
		s->found = true;
}

/* Is any block loose? Mostly none is, and then one look by all threads is enough. */
static bool has_loose(const struct hi_typing *typing)
{
	struct loose_search s = {.typing = typing};

	hi_parallel(typing->threads,
		    ((size_t)typing->objects->count + HI_CHUNK_NODES - 1) >>
			    HI_CHUNK_SHIFT,
		    search_loose, &s);
	return s.found;
}

static void needs_of_loose(struct containment *c)
{
	const struct hi_typing *typing = c->propagation->typing;
	const struct hi_type *last = NULL;
	uint64_t last_usable = 0;

	for (hi_node id = 0; id < typing->objects->count; id++) {
		const struct hi_type *type = loose_type(typing, c->tight, id);
		uint64_t usable = type ? hi_object_usable(typing->objects, id) : 0;

		if (!type || (type == last && usable == last_usable))
			continue;
		add_need(c, type, 0, usable);
		last = type;
		last_usable = usable;
		if (c->needs.count == MAX_NEEDS)
			sort_needs(c);
	}
}

/* No record begins with this one and fits: then the block is an array of it, if
 * it has the size of one. */
static bool take_as_array(struct containment *c, hi_node id)
{
	struct hi_propagation_worker *w = c->propagation->workers[0];
	struct hi_objects *objects = c->propagation->typing->objects;
	uint32_t key = objects->type[id];
	uint64_t addr = hi_objects_address(objects, id);
	const struct hi_layout *layout =
		hi_layouts_get(c->propagation->typing->layouts, key & HI_KEY_LAYOUT);
	uint64_t usable = hi_object_usable(objects, id);

	if (hi_propagation_is_crossed(c->propagation, id) ||
	    hi_propagation_may_be_header(c->propagation, layout, usable) ||
	    !hi_propagation_fits_as_array(w, layout, addr, usable))
		return false;
	objects->type[id] = key | HI_KEY_ARRAY;
	hi_propagation_push(w, addr, id, key | HI_KEY_ARRAY);
	return true;
}

static bool contain_loose(struct containment *c)
{
	const struct hi_typing *typing = c->propagation->typing;
	bool any = false;

	if (!has_loose(typing))
		return false;
	needs_of_loose(c);
	(void)search_records(c);
	for (hi_node id = 0; id < typing->objects->count; id++) {
		const struct hi_type *type = loose_type(typing, c->tight, id);
		struct need *need;

		if (!type)
			continue;
		need = find_need(c, hi_object_usable(typing->objects, id), 0, type);
		if (need && need->n_found)
			any |= add_found_candidate(c, id, need);
		else
			any |= take_as_array(c, id);
	}
	return any;
}

bool hi_propagation_infer_containers(struct hi_propagation *s)
{
	struct tight tight[1 << TIGHT_BITS] = {};
	struct containment c = {.propagation = s, .tight = tight};
	bool any;

	if (!gather_interior(s)) {
		s->workers[0]->no_memory = true;
		return false;
	}
	any = hi_propagation_find_sized_headers(s);
	if (!any)
		any = contain_interior(&c);
	hi_vector_free(&c.needs);
	if (!any)
		any = hi_propagation_find_header(s);
	if (!any && s->bases)
		any = hi_bases_infer(s->bases);
	if (!any)
		any = contain_loose(&c);
	hi_vector_free(&c.needs);
	s->workers[0]->no_memory |= c.no_memory;
	return any;
}

/* ---- pools ---- */

static uint64_t own_extent_of_block(void *arg, hi_node id)
{
	const struct hi_propagation *s = arg;

	return hi_propagation_extent(s->typing, id);
}

/* A pool that was taken for an array. */
static void uncross_array(void *arg, uint64_t addr, hi_node id, uint32_t key)
{
	struct hi_propagation *s = arg;
	uint32_t *type = &s->typing->objects->type[id];

	if (hi_propagation_crosses_array(s->typing, *type,
					 &(struct hi_interior){addr, id, key}))
		*type &= ~HI_KEY_ARRAY;
}

static bool is_placed_subobject(void *arg, uint64_t addr, hi_node id, uint32_t layout,
				uint64_t size)
{
	const struct hi_propagation *s = arg;

	return hi_subobjects_may_be_pool(hi_object_usable(s->typing->objects, id),
					 size) ||
	       hi_propagation_is_apart(s, addr, id, layout);
}

static void split_at_interior(struct hi_propagation *s, const struct hi_interior *in)
{
	const struct hi_objects *objects = s->typing->objects;
	enum hi_evidence evidence = (enum hi_evidence)(in->key >> HI_KEY_EVIDENCE_SHIFT);
	uint64_t start, end;

	if (in->id == HI_NODE_NONE) {
		if (hi_subobjects_range(s->subobjects, in->addr, &start, &end))
			hi_propagation_add_subobject(s->workers[0], in->addr, end,
						     in->key & HI_KEY_LAYOUT, evidence);
		return;
	}
	if (!is_placed_subobject(
		    s, in->addr, in->id, in->key & HI_KEY_LAYOUT,
		    hi_layouts_get(s->typing->layouts, in->key & HI_KEY_LAYOUT)->size))
		return;
	hi_propagation_add_subobject(s->workers[0], in->addr,
				     hi_objects_address(objects, in->id) +
					     hi_object_usable(objects, in->id),
				     in->key & HI_KEY_LAYOUT, evidence);
}

/* Slots of pools that variables and objects lead to. */
static void split_at_slots(struct hi_propagation *s)
{
	struct hi_typing *typing = s->typing;
	struct hi_propagation_worker *w = s->workers[0];

	for (size_t i = 0; i < typing->slots.count; i++) {
		const struct hi_pool_slot_seed *slot = &typing->slots.items[i];

		hi_propagation_add_slot(w, slot->addr, slot->addr + slot->size,
					slot->layout);
	}
	for (unsigned i = 0; i < s->n_workers; i++) {
		struct hi_propagation_entries *pools = &s->workers[i]->pools;

		for (size_t k = 0; k < pools->count; k++)
			if (!hi_vector_push(&w->todo, pools->items[k]))
				w->no_memory = true;
	}
}

static bool has_subobjects(const struct hi_propagation *s)
{
	bool any = s->workers[0]->interior.count || s->typing->slots.count;

	for (unsigned i = 0; i < s->n_workers && !any; i++)
		any = s->workers[i]->pools.count;
	return any;
}

/* Objects in pools may be all that leads to blocks with headers. */
static bool find_headers_from_pools(struct hi_propagation *s)
{
	if (atomic_load(&s->stop))
		return false;
	if (!gather_interior(s)) {
		s->workers[0]->no_memory = true;
		return false;
	}
	return hi_propagation_find_sized_headers(s) || hi_propagation_find_header(s);
}

static bool keep_types(struct hi_propagation *s)
{
	size_t bytes = (size_t)s->typing->objects->count * sizeof(*s->before);

	s->before = hi_alloc(bytes + 1);
	if (s->before && bytes)
		memcpy(s->before, s->typing->objects->type, bytes);
	return s->before;
}

enum hi_status hi_propagation_find_subobjects(struct hi_propagation *s,
					      struct hi_error *err)
{
	struct hi_typing *typing = s->typing;
	struct hi_propagation_worker *w = s->workers[0];
	enum hi_status status;

	if (!typing->subobjects || !gather_interior(s))
		return typing->subobjects ? hi_fail_memory(err, "types") : HI_OK;
	if (!has_subobjects(s))
		return HI_OK;
	if (!keep_types(s))
		return hi_fail_memory(err, "subobjects");
	s->subobjects = typing->subobjects;
	for (size_t i = 0; i < w->interior.count; i++)
		split_at_interior(s, &w->interior.items[i]);
	split_at_slots(s);
	hi_propagation_run(s);
	for (int i = 0; i < HEADER_ROUNDS && find_headers_from_pools(s); i++)
		hi_propagation_run(s);
	if (s->bases && !atomic_load(&s->stop) && hi_bases_infer(s->bases))
		hi_propagation_run(s);
	if (hi_subobjects_at_limit(typing->subobjects)) {
		/* What was followed until then depends on the order of threads. */
		typing->stats.subobjects.at_limit = true;
		atomic_store(&s->stop, true);
		return HI_OK;
	}
	if (hi_subobjects_failed(typing->subobjects))
		return hi_fail_memory(err, "subobjects");
	if (!hi_subobjects_count(typing->subobjects))
		return HI_OK;
	hi_bases_mark(s->bases);
	status = hi_subobjects_split(
		typing->subobjects, typing->layouts, typing->objects,
		&(struct hi_subobject_places){.look = uncross_array,
					      .extent = own_extent_of_block,
					      .may_be = is_placed_subobject,
					      .arg = s},
		&typing->remade, &typing->pools, &typing->stats.subobjects, err);
	if (status == HI_OK && typing->remade)
		hi_bases_mark_pieces(s->bases, typing->remade);
	return status;
}
