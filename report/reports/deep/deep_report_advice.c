/* SPDX-License-Identifier: BSD-2-Clause */
/* What a deep profile says that could be done. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/reports/deep/deep_report_internal.h"

enum {
	LEAST_OBJECTS = 1000, /* of a place, for advice on how often it allocates */
	SMALL = 512,	      /* bytes of an object on average, for a pool */
	SHARE = 100,	      /* one of this many bytes or objects of all is worth it */
};

enum advice {
	LEAK,
	UNUSED,
	NEVER_USED,
	COPIES,
	TOO_LARGE,
	GROWS,
	SHORT_LIVED,
	POOL,
	N_ADVICE
};

struct advice_row {
	enum advice advice;
	uint32_t site;
	uint64_t bytes; /* that are at stake */
};
struct advice_rows HI_VECTOR(struct advice_row);

static bool is_known(const struct hi_deep_maker *m, const enum hi_deep_cost *costs, int n)
{
	for (int i = 0; i < n; i++)
		if (!m->profile->has[costs[i]])
			return false;
	return true;
}

/* Whether it is 1 % of all, and not nothing. */
static bool is_share(const struct hi_deep_maker *m, const struct hi_deep_costs *c,
		     enum hi_deep_cost cost, enum hi_deep_cost of)
{
	return c->of[cost] && c->of[cost] >= m->graph->total.of[of] / SHARE;
}

static bool is_often(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return c->of[HI_DEEP_ALLOCS] >= LEAST_OBJECTS &&
	       is_share(m, c, HI_DEEP_ALLOCS, HI_DEEP_ALLOCS);
}

/* ---- which places ---- */

static bool is_leak(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return is_share(m, c, HI_DEEP_LEAKED_BYTES, HI_DEEP_LEAKED_BYTES);
}

static bool is_unused(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return is_share(m, c, HI_DEEP_DRAG_BYTES, HI_DEEP_LIVE_BYTES);
}

static bool is_never_used(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return is_share(m, c, HI_DEEP_VOID_BYTES, HI_DEEP_LIVE_BYTES);
}

static bool is_copied(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return is_share(m, c, HI_DEEP_COPIED_BYTES, HI_DEEP_LIVE_BYTES);
}

static bool is_too_large(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return is_share(m, c, HI_DEEP_SPARE_BYTES, HI_DEEP_LIVE_BYTES);
}

/* Half of the calls that returned memory made something larger. */
static bool is_growing(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	(void)m;
	return c->of[HI_DEEP_REDOS] >= LEAST_OBJECTS &&
	       c->of[HI_DEEP_REDOS] >= c->of[HI_DEEP_EXITS] / 2;
}

static bool is_short_lived(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return is_often(m, c) && c->of[HI_DEEP_LIVE] <= c->of[HI_DEEP_ALLOCS] / SHARE;
}

static bool is_worth_a_pool(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return is_often(m, c) && c->of[HI_DEEP_BYTES] / SMALL < c->of[HI_DEEP_ALLOCS] &&
	       (!m->profile->has[HI_DEEP_LIVE] || !is_short_lived(m, c));
}

static const struct advice_kind {
	const char *name, *text;
	enum hi_deep_cost needs[2];
	int n_needs;
	enum hi_deep_cost stake;
	bool (*applies)(const struct hi_deep_maker *m, const struct hi_deep_costs *c);
} advice_kinds[N_ADVICE] = {
	[LEAK] = {"leak",
		  "unreachable: nothing can free it any more",
		  {HI_DEEP_LEAKED_BYTES},
		  1,
		  HI_DEEP_LEAKED_BYTES,
		  is_leak},
	[UNUSED] = {"unused",
		    "live, but not used any more: free it earlier",
		    {HI_DEEP_DRAG_BYTES, HI_DEEP_LIVE_BYTES},
		    2,
		    HI_DEEP_DRAG_BYTES,
		    is_unused},
	[NEVER_USED] = {"void",
			"live, and no use was seen: allocate it when it is needed",
			{HI_DEEP_VOID_BYTES, HI_DEEP_LIVE_BYTES},
			2,
			HI_DEEP_VOID_BYTES,
			is_never_used},
	[COPIES] = {"copies",
		    "other objects have the same contents: share one",
		    {HI_DEEP_COPIED_BYTES, HI_DEEP_LIVE_BYTES},
		    2,
		    HI_DEEP_COPIED_BYTES,
		    is_copied},
	[TOO_LARGE] = {"too-large",
		       "larger than what is used of it: ask for less, or shrink it",
		       {HI_DEEP_SPARE_BYTES, HI_DEEP_LIVE_BYTES},
		       2,
		       HI_DEEP_SPARE_BYTES,
		       is_too_large},
	[GROWS] = {"grows",
		   "half of its calls enlarge what there was: reserve more at once",
		   {HI_DEEP_REDOS, HI_DEEP_EXITS},
		   2,
		   HI_DEEP_BYTES,
		   is_growing},
	[SHORT_LIVED] = {"short-lived",
			 "nearly all is freed again: keep one and reuse it",
			 {HI_DEEP_ALLOCS, HI_DEEP_LIVE},
			 2,
			 HI_DEEP_BYTES,
			 is_short_lived},
	[POOL] = {"pool",
		  "many small objects that stay: a pool saves the overhead of each",
		  {HI_DEEP_ALLOCS, HI_DEEP_BYTES},
		  2,
		  HI_DEEP_BYTES,
		  is_worth_a_pool},
};

static int compare_advice(const void *a, const void *b)
{
	const struct advice_row *x = a, *y = b;

	if (x->advice != y->advice)
		return x->advice < y->advice ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static void list_advice(struct hi_deep_maker *m, const struct hi_deep_costs *sites,
			struct advice_rows *rows)
{
	for (uint32_t i = 0; i < m->profile->sites.count; i++)
		for (int k = 0; k < N_ADVICE; k++) {
			const struct advice_kind *kind = &advice_kinds[k];
			struct advice_row row = {.advice = (enum advice)k, .site = i};

			if (!is_known(m, kind->needs, kind->n_needs) ||
			    !kind->applies(m, &sites[i]))
				continue;
			row.bytes = sites[i].of[kind->stake];
			if (!hi_vector_push(rows, row))
				m->report->failed = true;
		}
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_advice);
}

/* ---- the report ---- */

static void add_advice_columns(struct hi_deep_maker *m, struct hi_deep_table *t)
{
	hi_deep_column(m, t, "function", "function", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "site", "at", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "bytes", "at stake", HI_COLUMN_BYTES);
	hi_deep_column(m, t, "allocs", "objects", HI_COLUMN_COUNT);
	hi_deep_column(m, t, "mean", "bytes each", HI_COLUMN_FIGURE);
}

static void add_advice_row(struct hi_deep_maker *m, struct hi_deep_table *t,
			   const struct advice_row *row, const struct hi_deep_costs *c)
{
	uint32_t function = m->profile->sites.items[row->site].function;

	hi_deep_cell_function(m, t, function, 0, hi_deep_link(m, HI_DEEP_PROC, function));
	hi_deep_cell_text(m, t, hi_deep_site_text(m, row->site), 0, NULL);
	hi_deep_cell_number(m, t, row->bytes);
	hi_deep_cell_number(m, t, c->of[HI_DEEP_ALLOCS]);
	hi_deep_cell_ratio(m, t, c->of[HI_DEEP_BYTES], c->of[HI_DEEP_ALLOCS]);
}

static void add_advice_table(struct hi_deep_maker *m, int kind,
			     const struct advice_rows *rows,
			     const struct hi_deep_costs *sites, uint32_t limit)
{
	struct hi_deep_table *t = NULL;
	size_t n = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct advice_row *row = &rows->items[i];

		if ((int)row->advice != kind)
			continue;
		if (!t) {
			t = hi_deep_table(m, advice_kinds[kind].name,
					  advice_kinds[kind].name);
			t->aside = advice_kinds[kind].text;
			add_advice_columns(m, t);
		}
		if (n++ < limit)
			add_advice_row(m, t, row, &sites[row->site]);
	}
	if (n > limit)
		t->note = hi_deep_text(m, "%zu more", n - limit);
}

static void note_unknown_advice(struct hi_deep_maker *m)
{
	for (int k = 0; k < N_ADVICE; k++)
		if (!is_known(m, advice_kinds[k].needs, advice_kinds[k].n_needs))
			hi_deep_note(m, hi_deep_text(m, "%s: the profile does not say",
						     advice_kinds[k].name));
}

static bool fill_advice(struct hi_deep_maker *m, uint32_t limit)
{
	HI_GUARD(free)
	struct hi_deep_costs *sites =
		hi_calloc(m->profile->sites.count + 1, sizeof(*sites));
	struct advice_rows rows = {};

	if (!sites)
		return false;
	for (uint32_t i = 0; i < m->graph->n_leaves; i++)
		hi_deep_costs_add(&sites[m->graph->leaves[i].site],
				  &m->graph->leaves[i].costs);
	list_advice(m, sites, &rows);
	hi_deep_fact_number(m, "advice", "places", HI_COLUMN_COUNT, rows.count);
	for (int k = 0; k < N_ADVICE; k++)
		add_advice_table(m, k, &rows, sites, limit);
	note_unknown_advice(m);
	hi_vector_free(&rows);
	return !m->report->failed;
}

enum hi_status hi_deep_advice_report(const struct hi_deep_index *index,
				     const struct hi_deep_query *query, uint32_t rows,
				     struct hi_deep_report **ret, struct hi_error *err)
{
	struct hi_deep_maker m = {.index = index,
				  .query = query,
				  .profile = index->profile,
				  .graph = &index->profile->graph,
				  .module = HI_DEEP_NONE};
	struct hi_deep_report *report = hi_calloc(1, sizeof(*report));

	if (!report)
		return hi_fail_memory(err, "advice");
	m.report = report;
	report->query = "advise";
	report->title = "What could be done";
	if (!fill_advice(&m, rows)) {
		hi_deep_report_destroy(report);
		return hi_fail_memory(err, "advice");
	}
	*ret = report;
	return HI_OK;
}
