/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small group lies in a slot of a bigger one. The slot is neither available nor freed,
 * and is no block of the program: it is divided further.
 */
#include <stdlib.h>

#include "decode/allocators/mallocng.h"

enum { MAX_DEPTH = 16, NESTED_GROUP = 6 /* in place of the reserved bytes */ };

static int compare_group_starts(const void *a, const void *b)
{
	const struct hi_mallocng_group *x = a, *y = b;

	return x->mem < y->mem ? -1 : x->mem > y->mem;
}

static enum hi_status refuse_group(const struct hi_mallocng *m,
				   const struct hi_mallocng_group *g, const char *what,
				   struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, g->mem, "mallocng %s: group at 0x%lx %s",
		       m->where.version, g->mem, what);
}

static void check_nested_slot(struct hi_mallocng *m,
			      const struct hi_mallocng_group *child, unsigned slot)
{
	uint8_t byte = 0;

	if (hi_memory_read(m->memory, child->mem - 3, &byte, 1, NULL) == HI_OK &&
	    byte == (slot | NESTED_GROUP << 5))
		return;
	m->n_wrong++;
	hi_allocator_note_damage(&m->base, child->mem,
				 "mallocng: the slot of the group at 0x%lx is not "
				 "marked as divided",
				 child->mem);
}

/* child begins inside of parent: the very start of a slot that is in use. */
static enum hi_status nest_group(struct hi_mallocng *m, struct hi_mallocng_group *parent,
				 struct hi_mallocng_group *child, struct hi_error *err)
{
	uint64_t storage = hi_mallocng_storage(m, parent), slot, start;

	if (child->is_mapped || child->mem < storage || !parent->stride)
		return refuse_group(m, child, "lies in another group", err);
	slot = (child->mem - storage) / parent->stride;
	start = storage + slot * parent->stride;
	if (start != child->mem || slot > parent->last ||
	    child->end > start + parent->stride)
		return refuse_group(m, child, "does not fit into a slot", err);
	if ((parent->avail | parent->freed) >> slot & 1)
		return refuse_group(m, child, "lies in a free slot", err);
	check_nested_slot(m, child, (unsigned)slot);
	parent->nested |= 1u << slot;
	child->has_parent = true;
	/* With the header of the parent, or what is left at its end. */
	child->start = slot == 0 ? parent->start : start;
	child->end = slot == parent->last ? parent->end : start + parent->stride;
	return HI_OK;
}

struct group_stack {
	struct hi_mallocng_group *items[MAX_DEPTH];
	unsigned n;
};

static enum hi_status place_group(struct hi_mallocng *m, struct group_stack *stack,
				  struct hi_mallocng_group *g, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	while (stack->n && stack->items[stack->n - 1]->end <= g->mem)
		stack->n--;
	if (stack->n == MAX_DEPTH)
		return refuse_group(m, g, "is nested too deep", err);
	if (stack->n)
		status = nest_group(m, stack->items[stack->n - 1], g, err);
	else if (!g->is_mapped && (g->is_freeable || g->last))
		return refuse_group(m, g, "has no memory of its own", err);
	stack->items[stack->n++] = g;
	return status;
}

/* Donated groups are not counted. */
static enum hi_status check_usage(const struct hi_mallocng *m, struct hi_error *err)
{
	uint64_t slots[HI_MALLOCNG_CLASSES] = {}, usage;
	unsigned n_wrong = 0, wrong = 0;

	for (size_t i = 0; i < m->groups.count; i++) {
		const struct hi_mallocng_group *g = &m->groups.items[i];

		if (g->sizeclass < HI_MALLOCNG_CLASSES && (g->is_mapped || g->has_parent))
			slots[g->sizeclass] += g->last + 1u;
	}
	for (unsigned c = 0; c < HI_MALLOCNG_CLASSES; c++) {
		uint64_t at = m->where.context + m->layout->usage_by_class + 8 * c;

		if (hi_memory_read_u64(m->memory, at, &usage, NULL) != HI_OK ||
		    usage != slots[c]) {
			n_wrong++;
			wrong = c;
		}
	}
	/* A class may be wrong by groups that are damaged, or by that of a thread which
	 * is inside of malloc. */
	if (n_wrong > 1 + m->n_wrong)
		return hi_fail(err, HI_BAD_DATA, m->where.context,
			       "mallocng %s: usage_by_class[%u] and %u more do not "
			       "agree with the groups",
			       m->where.version, wrong, n_wrong - 1);
	return HI_OK;
}

enum hi_status hi_mallocng_nest_groups(struct hi_mallocng *m, struct hi_error *err)
{
	struct group_stack stack = {};
	enum hi_status status = HI_OK;

	if (m->groups.count)
		qsort(m->groups.items, m->groups.count, sizeof(*m->groups.items),
		      compare_group_starts);
	for (size_t i = 0; i < m->groups.count && status == HI_OK; i++)
		status = place_group(m, &stack, &m->groups.items[i], err);
	return status == HI_OK ? check_usage(m, err) : status;
}
