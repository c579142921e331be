/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/trend_holders.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "report/reports/retained/retained_report.h"
#include "session/snapshot/snapshot_source.h"

enum { MOST_ROWS = 1 << 16 };

static const double ns_per_minute = 60e9;

/* A variable of the last graph, and what it holds in all of them. */
struct growing_holder {
	const char *name;
	double values[HI_TREND_GRAPHS];
	bool is_found; /* in the graph at hand */
	bool is_lost;  /* in some graph its bytes are not known */
	struct hi_trend_row row;
};

struct holder_pass {
	const struct hi_snapshots *file;
	struct hi_arena *arena;
	size_t entries[HI_TREND_GRAPHS]; /* with a graph */
	size_t n;
	double times[HI_TREND_GRAPHS];
	struct growing_holder *holders; /* by name */
	size_t n_holders;
};

static int compare_holder_names(const void *a, const void *b)
{
	return strcmp(((const struct growing_holder *)a)->name,
		      ((const struct growing_holder *)b)->name);
}

static int compare_holder_growth(const void *a, const void *b)
{
	const struct hi_trend_row *x = &((const struct growing_holder *)a)->row;
	const struct hi_trend_row *y = &((const struct growing_holder *)b)->row;
	uint64_t more = x->last - x->first, than = y->last - y->first;

	if (more != than)
		return more > than ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool has_whole_part(const struct hi_snapshots *s, size_t i)
{
	return s->entries[i].parts[HI_SNAPSHOTS_WHOLE].size != 0;
}

/* The first and the last one are among them. */
static void choose_graphs_read(struct holder_pass *p, size_t last)
{
	size_t all = 0, at = 0, many;

	for (size_t i = 0; i <= last; i++)
		all += has_whole_part(p->file, i);
	many = hi_min(all, HI_TREND_GRAPHS);
	for (size_t i = 0; i <= last; i++) {
		if (!has_whole_part(p->file, i))
			continue;
		if (many < 2 || at == p->n * (all - 1) / (many - 1))
			p->entries[p->n++] = i;
		at++;
	}
}

/* ---- one graph ---- */

static bool is_holder(const struct hi_retained_row *row)
{
	return !row->depth && row->info.sort == HI_NODE_ROOT && row->info.name &&
	       *row->info.name;
}

static enum hi_status list_holders(struct holder_pass *p,
				   const struct hi_retained_row *rows, uint64_t n,
				   struct hi_error *err)
{
	size_t kept = 0;

	p->holders = hi_calloc(n + 1, sizeof(*p->holders));
	if (!p->holders)
		return hi_fail_memory(err, "holders");
	for (uint64_t i = 0; i < n; i++) {
		struct growing_holder *h = &p->holders[p->n_holders];

		if (!is_holder(&rows[i]))
			continue;
		h->name = hi_arena_strdup(p->arena, rows[i].info.name);
		if (!h->name)
			return hi_fail_memory(err, "holders");
		p->n_holders++;
	}
	qsort(p->holders, p->n_holders, sizeof(*p->holders), compare_holder_names);
	for (size_t i = 0; i < p->n_holders; i++)
		if (!kept || strcmp(p->holders[kept - 1].name, p->holders[i].name) != 0)
			p->holders[kept++] = p->holders[i];
	p->n_holders = kept;
	return HI_OK;
}

/* Variables of one name count together. */
static void take_graph(struct holder_pass *p, size_t at,
		       const struct hi_retained_row *rows, uint64_t n, bool is_all)
{
	for (size_t i = 0; i < p->n_holders; i++)
		p->holders[i].is_found = is_all;
	for (uint64_t i = 0; i < n; i++) {
		const struct growing_holder key = {.name = rows[i].info.name};
		struct growing_holder *h =
			is_holder(&rows[i]) && p->n_holders
				? bsearch(&key, p->holders, p->n_holders, sizeof(key),
					  compare_holder_names)
				: NULL;

		if (!h)
			continue;
		h->values[at] += (double)rows[i].info.retained;
		h->is_found = true;
	}
	for (size_t i = 0; i < p->n_holders; i++)
		p->holders[i].is_lost |= !p->holders[i].is_found;
}

/* The last graph comes first: it has the variables. */
static enum hi_status read_graph(struct holder_pass *p, size_t at, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *snapshot = NULL;
	HI_GUARD(free) struct hi_retained_row *rows = NULL;
	size_t entry = p->entries[at];
	uint64_t n = 0;
	bool is_all = false;
	enum hi_status status =
		hi_snapshots_part(p->file, entry, HI_SNAPSHOTS_WHOLE, &snapshot, err);

	if (status == HI_OK)
		status = hi_snapshot_retained_rows(snapshot, &rows, &n, &is_all, err);
	n = hi_min(n, MOST_ROWS);
	if (status == HI_OK && at == p->n - 1)
		status = list_holders(p, rows, n, err);
	if (status != HI_OK)
		return status;
	take_graph(p, at, rows, n, is_all);
	p->times[at] = (double)p->file->entries[entry].point.wall_ns / ns_per_minute;
	return HI_OK;
}

/* ---- those that grow ---- */

/* Values are sums of bytes, which a double has exactly. */
static void keep_growing(struct holder_pass *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_holders; i++) {
		struct growing_holder *h = &p->holders[i];

		if (h->is_lost || h->values[p->n - 1] <= h->values[0])
			continue;
		h->row = (struct hi_trend_row){.name = h->name,
					       .first = (uint64_t)h->values[0],
					       .last = (uint64_t)h->values[p->n - 1]};
		p->holders[kept++] = *h;
	}
	p->n_holders = kept;
	qsort(p->holders, kept, sizeof(*p->holders), compare_holder_growth);
}

static enum hi_status fit_holders(struct holder_pass *p, struct hi_trend *to,
				  struct hi_error *err)
{
	size_t n = hi_min(p->n_holders, HI_TREND_HOLDERS);

	to->holders = hi_arena_alloc(p->arena, (n + 1) * sizeof(*to->holders));
	if (!to->holders)
		return hi_fail_memory(err, "growth of holders");
	for (size_t i = 0; i < n; i++) {
		struct growing_holder *h = &p->holders[i];
		enum hi_status status =
			hi_slope_fit(p->times, h->values, p->n, &h->row.rate, err);

		if (status != HI_OK)
			return status;
		to->holders[to->n_holders++] = h->row;
	}
	return HI_OK;
}

enum hi_status hi_series_trend_holders(const struct hi_snapshots *s, size_t last,
				       struct hi_trend *to, struct hi_arena *arena,
				       struct hi_error *err)
{
	struct holder_pass p = {.file = s, .arena = arena};
	enum hi_status status = HI_OK;

	choose_graphs_read(&p, last);
	to->graphs = p.n;
	if (p.n < 2)
		return HI_OK;
	to->graphs_ns = s->entries[p.entries[p.n - 1]].point.wall_ns -
			s->entries[p.entries[0]].point.wall_ns;
	for (size_t i = p.n; status == HI_OK && i-- > 0;)
		status = read_graph(&p, i, err);
	if (status == HI_OK) {
		keep_growing(&p);
		status = fit_holders(&p, to, err);
	}
	free(p.holders);
	return status == HI_NO_MEMORY ? status : HI_OK;
}
