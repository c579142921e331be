/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Arrays]
 *
 * A pointer to T at the start of a block with room for many T's makes it an array:
 * all of its elements are followed. Where the block is the buffer of a container,
 * some of them are dead: what they lead to was freed and may have been handed out
 * again as something else. The container says which ones are live, but another
 * pointer to the buffer (an iterator, data()) may come first. So arrays whose number
 * of elements is not said wait until nothing else spreads; those for whose block a
 * number was said until then are not followed at all. That does not depend on the
 * order in which candidates come. After so many rounds nothing waits any more.
 */
#include <stdlib.h>

#include "decode/inference/spread.h"

static int by_node(const void *a, const void *b)
{
	const struct hi_spread_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_counted(const struct hi_typing *typing, hi_node id)
{
	uint32_t key = typing->objects->type[id];

	return (key & HI_KEY_LAYOUT) && hi_layout_count_is_said(hi_layouts_get(
						typing->layouts, key & HI_KEY_LAYOUT));
}

static bool gather_arrays(struct hi_spread *s, struct hi_spread_entries *all)
{
	for (unsigned i = 0; i < s->n_workers; i++) {
		struct hi_spread_entries *from = &s->workers[i]->arrays;

		for (size_t k = 0; k < from->count; k++)
			if (!is_counted(s->typing, from->items[k].id) &&
			    !hi_vector_push(all, from->items[k]))
				return false;
		hi_vector_free(from);
	}
	if (all->count > 1)
		qsort(all->items, all->count, sizeof(*all->items), by_node);
	return true;
}

bool hi_spread_release(struct hi_spread *s)
{
	struct hi_spreader *first = s->workers[0];
	struct hi_spread_entries all = {};
	bool any = false;

	if (!gather_arrays(s, &all))
		first->no_memory = true;
	for (size_t i = 0; i < all.count && !first->no_memory; i++) {
		if (i && by_node(&all.items[i - 1], &all.items[i]) == 0)
			continue;
		any = true;
		if (!hi_vector_push(&first->todo, all.items[i]))
			first->no_memory = true;
	}
	hi_vector_free(&all);
	return any && !first->no_memory;
}
