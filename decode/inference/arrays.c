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
 */
#include <stdlib.h>

#include "decode/inference/propagation.h"

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
	bool any = false;

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
