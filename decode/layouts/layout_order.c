/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of two type candidates for a block is the better one. */
#include <string.h>

#include "decode/layouts/layout.h"

static bool is_record(const struct hi_layout *layout)
{
	return layout->klass == HI_TYPE_RECORD;
}

/* Text is the weakest, then a name alone, then a list's node where a list's head may be;
 * what rules know nothing of but that it is a node is the base of one. */
static int layout_rank(const struct hi_layout *layout)
{
	if (layout->klass == HI_TYPE_STRING)
		return 0;
	if (layout->blob || layout->opaque)
		return 1;
	if (!layout->rules || !layout->rules->is_node)
		return 4;
	return layout->rules->n ? 3 : 2;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* By type alone; refined layouts share their slots. */
static int compare_types(const struct hi_layout *a, const struct hi_layout *b)
{
	if (a->type == b->type && a->name == b->name && a->slots == b->slots)
		return 0;
	if (a->n_pointers != b->n_pointers)
		return compare_u64(a->n_pointers, b->n_pointers);
	if (a->hash != b->hash)
		return compare_u64(b->hash, a->hash);
	return -strcmp(a->name, b->name);
}

/* By their values: contexts are numbered as they come, by whichever thread. */
static int compare_contexts(const struct hi_layout *a, const struct hi_layout *b)
{
	const uint64_t *x = a->context_values, *y = b->context_values;

	if (!x != !y)
		return x ? 1 : -1;
	for (int i = 0; x && i < HI_CONTEXT_WORDS; i++)
		if (x[i] != y[i])
			return compare_u64(x[i], y[i]);
	return 0;
}

/* More of it live. */
static int compare_uses(const struct hi_layout *a, const struct hi_layout *b)
{
	if (a->count != b->count)
		return compare_u64(a->count, b->count);
	if (a->first != b->first)
		return compare_u64(b->first, a->first);
	if (a->lead != b->lead)
		return compare_u64(b->lead, a->lead);
	if (a->live.kind != b->live.kind)
		return compare_u64(a->live.kind, b->live.kind);
	if (a->live.at != b->live.at)
		return compare_u64(b->live.at, a->live.at);
	if (a->live.step != b->live.step)
		return compare_u64(a->live.step, b->live.step);
	if (a->quiet != b->quiet)
		return a->quiet ? 1 : -1;
	if (a->part != b->part)
		return a->part ? 1 : -1;
	return compare_contexts(a, b);
}

/* One property after the other, so that the order is total. What is known of the use
 * comes before the evidence, else a pointer into a buffer would make its dead part live.
 */
int hi_type_candidate_compare(const struct hi_layout *a, enum hi_evidence a_evidence,
			      const struct hi_layout *b, enum hi_evidence b_evidence)
{
	int order;

	if (layout_rank(a) != layout_rank(b))
		return layout_rank(a) - layout_rank(b);
	if (a->size != b->size)
		return compare_u64(a->size, b->size);
	if (is_record(a) != is_record(b))
		return is_record(a) ? 1 : -1;
	if (hi_layout_has_count(a) != hi_layout_has_count(b))
		return hi_layout_has_count(a) ? 1 : -1;
	if (!a->context != !b->context)
		return a->context ? 1 : -1;
	if (a_evidence != b_evidence)
		return (int)a_evidence - (int)b_evidence;
	order = compare_types(a, b);
	return order ? order : compare_uses(a, b);
}

int hi_layout_compare(const struct hi_layout *a, const struct hi_layout *b)
{
	return hi_type_candidate_compare(a, HI_EVIDENCE_POINTER, b, HI_EVIDENCE_POINTER);
}
