/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/births_report.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"

/* ---- lines ---- */

struct births_lines {
	struct hi_births_line *items; /* one for each group */
	struct hi_birth_sum *sums;
};

static void free_births_lines(struct births_lines *l)
{
	free(l->items);
	free(l->sums);
}

HI_DEFINE_GUARD(struct births_lines *, free_births_lines)

static void add_context_totals(const struct hi_recorded *recorded,
			       const struct hi_birth_groups *groups,
			       struct hi_births_line *lines)
{
	for (uint32_t i = 0; i < groups->n_contexts; i++) {
		struct hi_births_line *line = &lines[groups->of_context[i]];
		const struct hi_context_totals *t = &recorded->totals[i];

		line->allocs += t->allocs;
		line->frees += t->frees;
		line->alloc_bytes += t->bytes;
	}
}

static bool make_births_lines(const struct hi_recorded *recorded,
			      const struct hi_birth_groups *groups,
			      const struct hi_objects *objects, const uint64_t *mask,
			      struct births_lines *ret)
{
	uint64_t unknown = groups->n_contexts ? 0 : UINT64_MAX;

	ret->items = hi_calloc((size_t)groups->n_groups + 1, sizeof(*ret->items));
	ret->sums = hi_calloc((size_t)groups->n_groups + 1, sizeof(*ret->sums));
	if (!ret->items || !ret->sums)
		return false;
	hi_birth_groups_sum(groups, recorded->births, objects, mask, ret->sums);
	for (uint32_t i = 0; i < groups->n_groups; i++)
		ret->items[i] = (struct hi_births_line){
			.group = i,
			.objects = ret->sums[i].objects,
			.bytes = ret->sums[i].bytes,
			.interval = hi_birth_sum_interval(&ret->sums[i]),
			.first_ns = ret->sums[i].first_ns,
			.last_ns = ret->sums[i].last_ns,
			.allocs = unknown,
			.frees = unknown,
			.alloc_bytes = unknown};
	if (groups->n_contexts)
		add_context_totals(recorded, groups, ret->items);
	return true;
}

static int compare_births_lines(const void *a, const void *b)
{
	const struct hi_births_line *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->allocs != y->allocs)
		return x->allocs < y->allocs ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

/* Ages stay in their order. */
static void sort_births_lines(const struct hi_birth_groups *groups,
			      struct births_lines *l)
{
	if (groups->by != HI_BORN_BY_AGE && groups->n_groups > HI_GROUP_NO_STACK)
		qsort(l->items + HI_GROUP_NO_STACK, groups->n_groups - HI_GROUP_NO_STACK,
		      sizeof(*l->items), compare_births_lines);
}

static struct hi_birth_sum sum_known_births(const struct hi_birth_groups *groups,
					    const struct hi_birth_sum *sums)
{
	struct hi_birth_sum known = {};

	for (uint32_t i = HI_GROUP_NO_STACK; i < groups->n_groups; i++)
		hi_birth_sum_add(&known, &sums[i]);
	return known;
}

static void keep_births_lines(struct hi_births_report *r, const struct births_lines *l,
			      const struct hi_restrict *only)
{
	for (uint32_t i = HI_GROUP_NO_STACK; i < r->groups->n_groups; i++) {
		const struct hi_births_line *line = &l->items[i];

		if (!line->objects)
			continue;
		if (line->bytes < only->min_size)
			hi_hidden_add(&r->below, line->bytes);
		else if (r->n_rows >= only->top)
			hi_hidden_add(&r->beyond, line->bytes);
		else
			r->rows[r->n_rows++] = *line;
	}
}

enum hi_status hi_births_report_create(
	const struct hi_report_header *header, const struct hi_objects *objects,
	const uint64_t *mask, const struct hi_recorded *recorded,
	const struct hi_birth_groups *groups, const struct hi_restrict *only,
	struct hi_births_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_births_report_destroy)
	struct hi_births_report *r = hi_calloc(1, sizeof(*r));
	struct births_lines lines = {};
	HI_GUARD(free_births_lines) struct births_lines *owned = &lines;

	if (r)
		r->rows = hi_calloc((size_t)groups->n_groups + 1, sizeof(*r->rows));
	if (!r || !r->rows || !make_births_lines(recorded, groups, objects, mask, &lines))
		return hi_fail_memory(err, "report of a recording");
	r->header = header;
	r->recorded = recorded;
	r->groups = groups;
	r->without_record = lines.sums[HI_GROUP_BEFORE];
	r->other = lines.sums[HI_GROUP_OTHER];
	r->known = sum_known_births(groups, lines.sums);
	r->before = hi_birth_sum_rest(&r->without_record, &r->known);
	r->objects = r->without_record.seen_objects + r->other.seen_objects +
		     r->known.seen_objects;
	r->bytes =
		r->without_record.seen_bytes + r->other.seen_bytes + r->known.seen_bytes;
	sort_births_lines(groups, &lines);
	keep_births_lines(r, &lines, only);
	if (hi_pieces_report_make(recorded, groups, only->top, &r->pieces, err) != HI_OK)
		return HI_NO_MEMORY;
	*ret = hi_take(r);
	return HI_OK;
}

void hi_births_report_destroy(struct hi_births_report *report)
{
	if (!report)
		return;
	free(report->rows);
	hi_pieces_report_free(&report->pieces);
	free(report);
}

/* ---- sites of some objects ---- */

enum hi_status hi_births_sites_find(const struct hi_recorded *recorded,
				    const struct hi_objects *objects,
				    const uint64_t *mask, size_t most,
				    struct hi_births_sites *ret, struct hi_error *err)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *groups = NULL;
	HI_GUARD(hi_births_report_destroy) struct hi_births_report *r = NULL;
	struct hi_restrict only = {.top = most};
	enum hi_status status =
		hi_birth_groups_make(recorded->births, &recorded->contexts,
				     &recorded->frames, HI_BORN_BY_SITE, &groups, err);

	if (status == HI_OK)
		status = hi_births_report_create(NULL, objects, mask, recorded, groups,
						 &only, &r, err);
	if (status != HI_OK)
		return status;
	*ret = (struct hi_births_sites){.recorded = recorded,
					.before = r->before,
					.other = r->other,
					.known = r->known,
					.rows = hi_take(r->rows),
					.n_rows = r->n_rows,
					.beyond = r->beyond};
	for (size_t i = 0; i < ret->n_rows; i++)
		ret->rows[i].group = groups->groups[ret->rows[i].group].key;
	return HI_OK;
}

void hi_births_sites_free(struct hi_births_sites *sites)
{
	free(sites->rows);
}
