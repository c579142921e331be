/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conflicts: objects to which two pointers have different types; which types, how many
 * objects. Counted from the set of candidates when propagation has ended. A candidate
 * that was the beginning of another one when it came is not in the set: where an object
 * has three candidates, the count of a pair may depend on their order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/propagation.h"
#include "decode/layouts/record_parts.h"

enum { MAX_PAIRS = 1 << 12 };

struct pair {
	uint32_t layout, other; /* base layouts: of the object, of the other candidate */
	uint64_t objects;
	hi_node example; /* the lowest */
};

struct pairs {
	struct pair *table; /* open addressing; objects 0: empty */
	uint32_t used;
	bool full;
};

static bool have_common_header(struct hi_layouts *layouts, const struct hi_layout *a,
			       const struct hi_layout *b)
{
	const struct hi_type_source *types = hi_layouts_source(layouts);

	return a->type && b->type &&
	       (hi_record_has_header(types, a->type, b->type) ||
		hi_record_has_header(types, b->type, a->type));
}

bool hi_layouts_conflict(struct hi_layouts *layouts, const struct hi_layout *a,
			 const struct hi_layout *b)
{
	return a->base != b->base && a->klass != HI_TYPE_STRING &&
	       b->klass != HI_TYPE_STRING && !a->blob && !b->blob &&
	       !hi_layout_starts_with(layouts, a, b, true) &&
	       !hi_layout_starts_with(layouts, b, a, true) &&
	       !have_common_header(layouts, a, b);
}

static void count_pair(struct pairs *p, uint32_t layout, uint32_t other, hi_node object)
{
	uint32_t n = hi_probe(i, 2 * MAX_PAIRS, layout * 2654435761u ^ other * 40503u,
			      !p->table[i].objects || (p->table[i].layout == layout &&
						       p->table[i].other == other));
	struct pair *pair = &p->table[n];

	if (!pair->objects) {
		p->full |= p->used == MAX_PAIRS;
		if (p->full)
			return;
		p->used++;
		*pair = (struct pair){layout, other, 0, object};
	}
	pair->objects++;
	if (object < pair->example)
		pair->example = object;
}

/* A type that was followed with better evidence as well counts once. */
static bool is_counted_elsewhere(const struct hi_type_candidates *candidates,
				 uint64_t key)
{
	return (key & HI_TYPE_CANDIDATE_WEAK) &&
	       hi_type_candidates_has(candidates, (uint32_t)(key >> 32),
				      (uint32_t)key & ~HI_TYPE_CANDIDATE_WEAK);
}

static void count_candidate(struct hi_typing *typing, struct pairs *p, uint64_t key)
{
	hi_node object = (hi_node)(key >> 32);
	uint32_t has = typing->objects->type[object] & HI_KEY_LAYOUT;
	const struct hi_layout *layout, *other;

	if (!has)
		return;
	layout = hi_layouts_get(typing->layouts, has);
	other = hi_layouts_get(typing->layouts, (uint32_t)key & HI_KEY_LAYOUT);
	if (hi_layouts_conflict(typing->layouts, layout, other))
		count_pair(p, layout->base, other->base, object);
}

static int compare_conflicts(const void *a, const void *b)
{
	const struct hi_typing_conflict *x = a, *y = b;
	int order;

	if (x->objects != y->objects)
		return x->objects > y->objects ? -1 : 1;
	order = strcmp(x->type, y->type);
	return order ? order : strcmp(x->other, y->other);
}

static enum hi_status keep_rows(struct hi_typing *typing, const struct pairs *p,
				struct hi_error *err)
{
	struct hi_typing_conflict *rows =
		hi_arena_alloc(&typing->arena, (p->used + 1) * sizeof(*rows));

	if (!rows)
		return hi_fail_memory(err, "conflicts");
	typing->conflict_rows = rows;
	typing->n_conflict_rows = 0;
	for (uint32_t i = 0; i < 2 * MAX_PAIRS; i++) {
		const struct pair *pair = &p->table[i];

		if (!pair->objects)
			continue;
		rows[typing->n_conflict_rows++] = (struct hi_typing_conflict){
			.type = hi_layouts_get(typing->layouts, pair->layout)->name,
			.other = hi_layouts_get(typing->layouts, pair->other)->name,
			.objects = pair->objects,
			.example = hi_objects_address(typing->objects, pair->example)};
	}
	if (typing->n_conflict_rows > 1)
		qsort(rows, typing->n_conflict_rows, sizeof(*rows), compare_conflicts);
	return HI_OK;
}

enum hi_status hi_conflicts_collect(struct hi_typing *typing,
				    const struct hi_type_candidates *candidates,
				    struct hi_error *err)
{
	HI_GUARD(free)
	struct pair *table = hi_calloc(2 * (size_t)MAX_PAIRS, sizeof(*table));
	struct pairs p = {.table = table};

	if (!table)
		return hi_fail_memory(err, "conflicts");
	for (unsigned s = 0; s < HI_TYPE_CANDIDATE_SHARDS; s++)
		for (uint32_t i = 0; i < candidates->shards[s].size; i++)
			if (candidates->shards[s].keys[i] &&
			    !is_counted_elsewhere(candidates,
						  candidates->shards[s].keys[i]))
				count_candidate(typing, &p,
						candidates->shards[s].keys[i]);
	return keep_rows(typing, &p, err);
}

size_t hi_typing_conflicts(const struct hi_typing *typing,
			   const struct hi_typing_conflict **ret)
{
	*ret = typing->conflict_rows;
	return typing->n_conflict_rows;
}
