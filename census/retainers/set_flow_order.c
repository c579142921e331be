/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strongly connected components of what the late nodes lead to, sources first; the
 * algorithm is that of scc.c. Nodes without successors are left out: their order does not
 * matter.
 */
#include "census/retainers/set_flow_rows_internal.h"

struct search {
	uint32_t *state; /* HI_FLOW_FINAL, low link, or COMPLETE */
	const uint32_t *start, *succ;
	struct hi_flow_pair *path; /* number may be LOWERED */
	uint32_t *open;		   /* upward from the start; */
	uint32_t *done_end; /* complete nodes downward from the end of the same memory */
	uint32_t depth, n_open, next_index;
};
#define COMPLETE UINT32_MAX
#define LOWERED (1u << 31) /* something below leads above it */
#define NOTHING UINT32_MAX

HI_INLINE void enter(struct search *t, uint32_t node)
{
	t->state[node] = t->next_index++;
	t->path[t->depth++] = (struct hi_flow_pair){node, {t->start[node]}};
	t->open[t->n_open++] = node;
}

HI_INLINE void complete(struct search *t, uint32_t node)
{
	uint32_t member, last = HI_FLOW_LAST;

	do {
		member = t->open[--t->n_open];
		t->state[member] = COMPLETE;
		t->next_index--;
		*--t->done_end = member | last;
		last = 0;
	} while (member != node);
}

HI_INLINE void leave(struct search *t)
{
	uint32_t node = t->path[--t->depth].number, low, *state;
	struct hi_flow_pair *above;

	if (!(node & LOWERED)) {
		complete(t, node);
		return;
	}
	low = t->state[node & ~LOWERED];
	above = &t->path[t->depth - 1];
	state = &t->state[above->number & ~LOWERED];
	if (low < *state) {
		*state = low;
		above->number |= LOWERED;
	}
}

/* Looks on along the row of the path's last node: the first that is new, or NOTHING. */
HI_INLINE uint32_t find_new(struct search *t)
{
	struct hi_flow_pair *top = &t->path[t->depth - 1];
	uint32_t *low = &t->state[top->number & ~LOWERED];
	uint32_t c = top->next, found = NOTHING;

	while (c && found == NOTHING) {
		uint32_t edge = t->succ[c], state = t->state[edge & ~HI_FLOW_LAST];

		c = edge & HI_FLOW_LAST ? 0 : c + 1;
		if (state == HI_FLOW_FINAL) {
			found = edge & ~HI_FLOW_LAST;
		} else if (state < *low) {
			*low = state;
			top->number |= LOWERED;
		}
	}
	top->next = c;
	return found;
}

HI_INLINE void search_from(struct search *t, uint32_t start)
{
	enter(t, start);
	while (t->depth) {
		uint32_t found = find_new(t);

		if (found != NOTHING)
			enter(t, found);
		else
			leave(t);
	}
}

void hi_flow_rows_order(struct hi_flow_rows *rows)
{
	struct search t = {.state = rows->state,
			   .start = rows->start,
			   .succ = rows->succ,
			   .path = rows->pairs,
			   .open = rows->done,
			   .done_end = rows->done + rows->n,
			   .next_index = 1};

	for (uint32_t i = 0; i < rows->n; i++)
		if (!rows->start[i])
			t.state[i] = COMPLETE;
	for (uint32_t i = 0; i < rows->n; i++)
		if (rows->set[i] & HI_FLOW_LATE && t.state[i] == HI_FLOW_FINAL)
			search_from(&t, i);
	rows->n_late = (uint32_t)(rows->done + rows->n - t.done_end);
}
