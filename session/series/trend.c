/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/trend.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "session/series/file.h"
#include "session/series/trend_holders.h"

static const double ns_per_minute = 60e9;

/* A type in the last census, and its bytes in all that are read. */
struct followed {
	const char *name;
	double *values;
	struct hi_trend_row row;
};

struct growth_pass {
	const struct hi_snapshots *file;
	struct hi_series_trend *to;
	size_t n; /* censuses that are read */
	double *times, *live, *leaked, *objects;
	double *hits; /* of the place of --at; all 0: of none, or not counted */
	bool has_hits;
	struct followed *types; /* by name */
	size_t n_types;
	bool leaks_known;
};

static int compare_followed(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct followed *find_followed(const struct growth_pass *p, const char *name)
{
	const struct followed key = {.name = name};

	return p->n_types ? bsearch(&key, p->types, p->n_types, sizeof(key),
				    compare_followed)
			  : NULL;
}

static double *new_values(struct growth_pass *p)
{
	double *values = hi_arena_alloc(&p->to->arena, (p->n + 1) * sizeof(*values));

	if (values)
		memset(values, 0, (p->n + 1) * sizeof(*values));
	return values;
}

/* ---- which types ---- */

static enum hi_status read_rows(const struct hi_snapshots *s, size_t i,
				struct hi_series_file_census *census,
				struct hi_series_sample *rows, struct hi_error *err)
{
	enum hi_status status = hi_series_file_census_open(s, i, census, err);

	return status == HI_OK ? hi_series_file_rows(census, rows, err) : status;
}

static enum hi_status follow_types(struct growth_pass *p, struct hi_series_sample *last,
				   struct hi_error *err)
{
	p->types = hi_calloc(last->n_rows + 1, sizeof(*p->types));
	if (!p->types)
		return hi_fail_memory(err, "growth");
	for (size_t i = 0; i < last->n_rows; i++) {
		struct followed *type = &p->types[p->n_types];

		type->name = hi_arena_strdup(&p->to->arena, last->rows[i].name);
		if (!type->name)
			return hi_fail_memory(err, "growth");
		type->row = (struct hi_trend_row){.name = type->name,
						  .last = last->rows[i].bytes,
						  .last_objects = last->rows[i].objects};
		p->n_types++;
	}
	qsort(p->types, p->n_types, sizeof(*p->types), compare_followed);
	return HI_OK;
}

static int64_t growth_of_row(const struct hi_trend_row *row)
{
	return (int64_t)(row->last - row->first);
}

static int compare_growth(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;
	int64_t more = growth_of_row(&x->row), than = growth_of_row(&y->row);

	if (more != than)
		return more > than ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Those that have grown, the first of them; in order of their names again. */
static enum hi_status choose_followed(struct growth_pass *p, struct hi_error *err)
{
	size_t n = 0;

	qsort(p->types, p->n_types, sizeof(*p->types), compare_growth);
	while (n < p->n_types && n < HI_TREND_ROWS && growth_of_row(&p->types[n].row) > 0)
		n++;
	p->n_types = n;
	for (size_t i = 0; i < n; i++)
		if (!(p->types[i].values = new_values(p)))
			return hi_fail_memory(err, "growth");
	qsort(p->types, n, sizeof(*p->types), compare_followed);
	return HI_OK;
}

static void take_first_rows(struct growth_pass *p, const struct hi_series_sample *first)
{
	for (size_t i = 0; i < first->n_rows; i++) {
		struct followed *type = find_followed(p, first->rows[i].name);

		if (!type)
			continue;
		type->row.first = first->rows[i].bytes;
		type->row.first_objects = first->rows[i].objects;
	}
}

static enum hi_status find_types_that_grew(struct growth_pass *p, size_t last,
					   struct hi_error *err)
{
	struct hi_series_file_census census = {};
	struct hi_series_sample rows = {};
	enum hi_status status = read_rows(p->file, last, &census, &rows, err);

	if (status == HI_OK)
		status = follow_types(p, &rows, err);
	free(rows.rows);
	hi_series_file_census_close(&census);
	rows = (struct hi_series_sample){};
	if (status == HI_OK)
		status = read_rows(p->file, 0, &census, &rows, err);
	if (status == HI_OK)
		take_first_rows(p, &rows);
	free(rows.rows);
	hi_series_file_census_close(&census);
	return status == HI_OK ? choose_followed(p, err) : status;
}

/* ---- their bytes over time ---- */

static void take_leaked(struct growth_pass *p, size_t at,
			const struct hi_series_file_census *c)
{
	uint64_t bytes = hi_series_file_leaks(c->entry, c->snapshot).certain.bytes;
	struct hi_trend *g = &p->to->trend;

	p->leaks_known &= bytes != UINT64_MAX;
	p->leaked[at] = (double)bytes;
	if (bytes == 0) {
		g->leaked_since = 0;
	} else if (!g->leaked_since) {
		g->leaked_since = c->entry->point.number;
		g->leaked_since_ns = c->entry->point.wall_ns;
	}
	if (at == 0)
		g->leaked.first = bytes;
	g->leaked.last = bytes;
}

/* Files of earlier versions have none. */
static struct hi_report_limit limit_of_census(const struct hi_snapshot *s)
{
	return (struct hi_report_limit){
		.kind = hi_snapshot_number(s, "head.limit.kind", HI_LIMIT_UNKNOWN),
		.most = hi_snapshot_number(s, "head.limit.most", 0),
		.used = hi_snapshot_number(s, "head.limit.used", 0)};
}

/* All censuses are of one place; its hits are more at each. */
static void take_hits(struct growth_pass *p, size_t at, const struct hi_snapshot *s)
{
	double hits = (double)hi_snapshot_number(s, "stop.hits", 0);
	struct hi_trend *t = &p->to->trend;

	p->hits[at] = hits;
	p->has_hits &= hits > 0 && (at == 0 || hits >= p->hits[at - 1]);
	if (at == 0)
		t->place = hi_arena_strdup(&p->to->arena,
					   hi_snapshot_text(s, "head.safepoint", ""));
	t->hits = (uint64_t)(hits - p->hits[0]);
}

static enum hi_status take_census_of_growth(struct growth_pass *p, size_t at, size_t i,
					    struct hi_error *err)
{
	struct hi_series_file_census census = {};
	struct hi_series_sample rows = {};
	enum hi_status status = read_rows(p->file, i, &census, &rows, err);

	if (status == HI_OK) {
		p->times[at] = (double)census.entry->point.wall_ns / ns_per_minute;
		p->live[at] = (double)census.entry->point.bytes;
		p->objects[at] = (double)census.entry->point.objects;
		take_hits(p, at, census.snapshot);
		take_leaked(p, at, &census);
		p->to->trend.limit = limit_of_census(census.snapshot);
	}
	for (size_t k = 0; status == HI_OK && k < rows.n_rows; k++) {
		struct followed *type = find_followed(p, rows.rows[k].name);

		if (type)
			type->values[at] = (double)rows.rows[k].bytes;
	}
	free(rows.rows);
	hi_series_file_census_close(&census);
	return status;
}

static enum hi_status fit_types(struct growth_pass *p, struct hi_error *err)
{
	struct hi_trend *g = &p->to->trend;

	qsort(p->types, p->n_types, sizeof(*p->types), compare_growth);
	g->rows = hi_arena_alloc(&p->to->arena, (p->n_types + 1) * sizeof(*g->rows));
	if (!g->rows)
		return hi_fail_memory(err, "growth");
	for (size_t i = 0; i < p->n_types; i++) {
		enum hi_status status = hi_slope_fit(p->times, p->types[i].values, p->n,
						     &p->types[i].row.rate, err);

		if (status == HI_OK && p->has_hits)
			status = hi_slope_fit(p->hits, p->types[i].values, p->n,
					      &p->types[i].row.per_hit, err);
		if (status != HI_OK)
			return status;
		g->rows[g->n_rows++] = p->types[i].row;
	}
	return HI_OK;
}

static enum hi_status fit_hits(struct growth_pass *p, struct hi_error *err)
{
	struct hi_trend *t = &p->to->trend;
	enum hi_status status = HI_OK;

	if (!p->has_hits || !t->place) {
		t->place = NULL;
		t->hits = 0;
		return HI_OK;
	}
	status = hi_slope_fit(p->hits, p->live, p->n, &t->live.per_hit, err);
	if (status == HI_OK)
		status =
			hi_slope_fit(p->hits, p->objects, p->n, &t->objects_per_hit, err);
	if (status == HI_OK && p->leaks_known)
		status = hi_slope_fit(p->hits, p->leaked, p->n, &t->leaked.per_hit, err);
	return status;
}

/* All in one pass: of many censuses, as many as a slope is computed of. */
static enum hi_status read_values(struct growth_pass *p, size_t last,
				  struct hi_error *err)
{
	struct hi_trend *g = &p->to->trend;
	enum hi_status status = HI_OK;

	p->times = new_values(p);
	p->live = new_values(p);
	p->leaked = new_values(p);
	p->objects = new_values(p);
	p->hits = new_values(p);
	p->has_hits = true;
	if (!p->times || !p->live || !p->leaked || !p->objects || !p->hits)
		return hi_fail_memory(err, "growth");
	for (size_t i = 0; status == HI_OK && i < p->n; i++)
		status = take_census_of_growth(p, i, hi_slope_point(i, last + 1), err);
	if (status == HI_OK)
		status = hi_slope_fit(p->times, p->live, p->n, &g->live.rate, err);
	if (status == HI_OK && p->leaks_known)
		status = hi_slope_fit(p->times, p->leaked, p->n, &g->leaked.rate, err);
	if (status == HI_OK)
		status = fit_hits(p, err);
	return status == HI_OK ? fit_types(p, err) : status;
}

enum hi_status hi_series_trend_read(const struct hi_snapshots *s, size_t last,
				    struct hi_series_trend **ret, struct hi_error *err)
{
	HI_GUARD(hi_series_trend_destroy)
	struct hi_series_trend *to = hi_calloc(1, sizeof(*to));
	const struct hi_census_point *from = &s->entries[0].point;
	const struct hi_census_point *until = &s->entries[last].point;
	struct growth_pass p = {.file = s, .to = to, .leaks_known = true};
	enum hi_status status;

	if (!to)
		return hi_fail_memory(err, "growth");
	p.n = hi_min(last + 1, HI_SLOPE_MOST);
	to->trend = (struct hi_trend){.censuses = last + 1,
				      .first_number = from->number,
				      .last_number = until->number,
				      .wall_ns = until->wall_ns - from->wall_ns};
	to->trend.live = (struct hi_trend_row){.name = "",
					       .first = from->bytes,
					       .last = until->bytes,
					       .first_objects = from->objects,
					       .last_objects = until->objects};
	to->trend.leaked.name = "";
	status = find_types_that_grew(&p, last, err);
	if (status == HI_OK)
		status = read_values(&p, last, err);
	if (status == HI_OK)
		status = hi_series_trend_holders(s, last, &to->trend, &to->arena, err);
	free(p.types);
	to->trend.leaks_known = p.leaks_known;
	if (status == HI_OK)
		*ret = hi_take(to);
	return status;
}

void hi_series_trend_destroy(struct hi_series_trend *trend)
{
	if (!trend)
		return;
	hi_arena_free(&trend->arena);
	free(trend);
}
