/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Arrays]
 *
 * A pointer to T at the start of a block with room for many T's makes it an array: the
 * pointers of all its elements are followed. Where the block is the buffer of a
 * container, some elements are dead: what they lead to was freed and may have been
 * allocated again as something else. The container knows which are live, but another
 * pointer to the buffer (an iterator, data()) may come first. So arrays without a known
 * count wait until propagation has nothing else to follow; those whose count became known
 * until then are not followed at all. That does not depend on the order of candidates.
 * After ROUNDS (propagate.c) arrays no longer wait.
 *
 * A block that divides well may as well be a pool, of which the first object is a T: the
 * first header, or a free slot that a list of them ends at. Then other typed pointers
 * lead to records in it, after the first T, that no T has there. Such a block is no array
 * (it is crossed), since the words of its other objects would be taken for numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/inference/propagation.h"

static int compare_crossed(const void *a, const void *b)
{
	const hi_node *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool hi_propagation_is_crossed(const struct hi_propagation *s, hi_node id)
{
	return s->crossed.count && bsearch(&id, s->crossed.items, s->crossed.count,
					   sizeof(id), compare_crossed);
}

/* Another definition of the same type is no other type. */
static bool has_record_at(struct hi_layouts *layouts, const struct hi_layout *element,
			  uint64_t offset, const struct hi_layout *record)
{
	return (offset == 0 && (element->base == record->base ||
				strcmp(element->name, record->name) == 0)) ||
	       hi_layout_has_at(layouts, element, offset, record) ||
	       (offset == 0 && hi_layout_has_at(layouts, record, 0, element));
}

bool hi_propagation_crosses_array(const struct hi_typing *typing, uint32_t key,
				  const struct hi_interior *in)
{
	const struct hi_layout *array,
		*record = hi_layouts_get(typing->layouts, in->key & HI_KEY_LAYOUT);
	enum hi_evidence evidence = (enum hi_evidence)(in->key >> HI_KEY_EVIDENCE_SHIFT);

	if (!(key & HI_KEY_ARRAY) || (key & HI_KEY_SETTLED) ||
	    evidence == HI_EVIDENCE_SHAPE || evidence == HI_EVIDENCE_NONE ||
	    record->klass != HI_TYPE_RECORD || record->opaque || !record->size)
		return false;
	array = hi_layouts_get(typing->layouts, key & HI_KEY_LAYOUT);
	return (array->klass == HI_TYPE_RECORD ||
		array->klass == HI_TYPE_POINTER_ARRAY) &&
	       array->size && !hi_layout_has_count(array) &&
	       !has_record_at(typing->layouts, array,
			      (in->addr - hi_objects_address(typing->objects, in->id)) %
				      array->size,
			      record);
}

/* Whether a pointer into the first element was noted depends on which candidate came
 * first: what one covers is left out (firm_extent in infer_block.c). */
static bool is_in_first_element(const struct hi_typing *typing,
				const struct hi_interior *in)
{
	uint32_t layout = typing->objects->type[in->id] & HI_KEY_LAYOUT;

	return layout && in->addr - hi_objects_address(typing->objects, in->id) <
				 hi_layouts_get(typing->layouts, layout)->size;
}

static void uncross_one(struct hi_propagation *s, const struct hi_interior *in)
{
	struct hi_typing *typing = s->typing;
	uint32_t *type;

	if (in->id == HI_NODE_NONE)
		return;
	type = &typing->objects->type[in->id];
	if (is_in_first_element(typing, in) ||
	    !hi_propagation_crosses_array(typing, *type, in))
		return;
	if (!hi_vector_push(&s->crossed, in->id))
		s->workers[0]->no_memory = true;
	*type &= ~HI_KEY_ARRAY;
	/* The first object is followed as one. */
	hi_propagation_push(s->workers[0], hi_objects_address(typing->objects, in->id),
			    in->id, *type);
}

static bool uncross_arrays(struct hi_propagation *s)
{
	size_t before = s->crossed.count;

	for (unsigned i = 0; i < s->n_workers; i++)
		for (size_t k = 0; k < s->workers[i]->interior.count; k++)
			uncross_one(s, &s->workers[i]->interior.items[k]);
	if (s->crossed.count > before)
		qsort(s->crossed.items, s->crossed.count, sizeof(*s->crossed.items),
		      compare_crossed);
	return s->crossed.count > before;
}

bool hi_is_past_the_end(const struct hi_typing *typing, uint64_t word, uint64_t before,
			uint64_t size)
{
	const struct hi_objects *objects = typing->objects;
	hi_node id;

	/* glibc has its own words between blocks. */
	if (!typing->layouts->sizes.n || before >= word || !size ||
	    (word - before) % size)
		return false;
	id = hi_objects_find(objects, before, NULL);
	return id != HI_NODE_NONE &&
	       hi_objects_address(objects, id) + hi_object_usable(objects, id) == word;
}

static int compare_waiting_arrays(const void *a, const void *b)
{
	const struct hi_propagation_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_counted(const struct hi_typing *typing, hi_node id)
{
	uint32_t key = typing->objects->type[id];

	return (key & HI_KEY_LAYOUT) &&
	       hi_layout_has_count(hi_layouts_get(typing->layouts, key & HI_KEY_LAYOUT));
}

static bool gather_arrays(struct hi_propagation *s, struct hi_propagation_entries *all)
{
	for (unsigned i = 0; i < s->n_workers; i++) {
		struct hi_propagation_entries *from = &s->workers[i]->arrays;

		for (size_t k = 0; k < from->count; k++)
			if (!is_counted(s->typing, from->items[k].id) &&
			    !hi_propagation_is_crossed(s, from->items[k].id) &&
			    !hi_vector_push(all, from->items[k]))
				return false;
		hi_vector_free(from);
	}
	if (all->count > 1)
		qsort(all->items, all->count, sizeof(*all->items),
		      compare_waiting_arrays);
	return true;
}

bool hi_propagation_release_arrays(struct hi_propagation *s)
{
	struct hi_propagation_worker *first = s->workers[0];
	struct hi_propagation_entries all = {};
	bool any = uncross_arrays(s);

	if (!gather_arrays(s, &all))
		first->no_memory = true;
	for (size_t i = 0; i < all.count && !first->no_memory; i++) {
		if (i && compare_waiting_arrays(&all.items[i - 1], &all.items[i]) == 0)
			continue;
		any = true;
		if (!hi_vector_push(&first->todo, all.items[i]))
			first->no_memory = true;
	}
	hi_vector_free(&all);
	return any && !first->no_memory;
}
