/* SPDX-License-Identifier: BSD-2-Clause */
/* The union of many sets; see set_merge_internal.h. */
#include "census/retainers/set_merge_internal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/number.h"

/* Larger sets share much with each other, and the pool has stored these unions. */
enum { MAX_SMALL = 64, MAX_DEPTH = 32 };

bool hi_set_merge_init(struct hi_set_merge *m, const struct hi_set_pool *pool)
{
	size_t n = pool->identities.count / 64 + 1;

	*m = (struct hi_set_merge){.bits = hi_calloc(n, sizeof(*m->bits)),
				   .touched = hi_alloc(n * sizeof(*m->touched))};
	return m->bits && m->touched;
}

void hi_set_merge_deinit(struct hi_set_merge *m)
{
	free(m->bits);
	free(m->touched);
}

static void add_leaf(struct hi_set_merge *m, const struct hi_set_node *leaf)
{
	uint32_t index = leaf->key / 2;

	if (!m->bits[index])
		m->touched[m->n_touched++] = index;
	m->bits[index] |= leaf->bits;
}

bool hi_set_merge_add(struct hi_set_merge *m, struct hi_set_pool *p, uint32_t ref,
		      uint32_t max)
{
	uint32_t stack[MAX_DEPTH];
	unsigned depth = 0;

	if (ref == HI_SET_MANY || p->nodes.items[ref].count > MAX_SMALL) {
		m->large = m->large ? hi_set_union(p, m->large, ref, max) : ref;
		return m->large;
	}
	stack[depth++] = ref;
	while (depth) {
		const struct hi_set_node *n = &p->nodes.items[stack[--depth]];

		if (n->key & 1) {
			add_leaf(m, n);
			continue;
		}
		stack[depth++] = n->child[1];
		stack[depth++] = n->child[0];
	}
	return true;
}

/* Subtrees from left to right that wait for what is right of them; each with the
 * highest bit in which its neighbour's keys differ from its own. */
struct spine {
	struct {
		uint32_t ref, bit;
	} items[MAX_DEPTH];
	unsigned depth;
};

/* The last subtree, with all left of it that end below the bit. */
static uint32_t join_spine_above(struct spine *s, struct hi_set_pool *p, uint32_t ref,
				 uint32_t bit)
{
	while (ref && s->depth && s->items[s->depth - 1].bit < bit)
		ref = hi_set_branch_above(p, s->items[--s->depth].ref, ref);
	return ref;
}

static uint32_t small_ref(struct hi_set_merge *m, struct hi_set_pool *p)
{
	struct spine spine = {};
	uint32_t ref = HI_SET_NONE, key = 0;

	qsort(m->touched, m->n_touched, sizeof(*m->touched), hi_compare_u32);
	for (uint32_t i = 0; i < m->n_touched; i++) {
		uint32_t index = m->touched[i], next = 2 * index + 1;

		if (i) {
			uint32_t bit = 1u << (31 - __builtin_clz(key ^ next));

			ref = join_spine_above(&spine, p, ref, bit);
			if (!ref)
				return HI_SET_NONE;
			spine.items[spine.depth].ref = ref;
			spine.items[spine.depth++].bit = bit;
		}
		key = next;
		ref = hi_set_leaf(p, key, m->bits[index]);
		if (!ref)
			return HI_SET_NONE;
		m->bits[index] = 0;
	}
	m->n_touched = 0;
	return join_spine_above(&spine, p, ref, UINT32_MAX);
}

uint32_t hi_set_merge_take(struct hi_set_merge *m, struct hi_set_pool *p, uint32_t max)
{
	uint32_t ref = m->large;

	m->large = HI_SET_NONE;
	if (m->n_touched) {
		uint32_t small = small_ref(m, p);

		ref = small && ref ? hi_set_union(p, ref, small, max) : small;
	}
	return p->nodes.items[ref].count > max ? HI_SET_MANY : ref;
}
