/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of `retainers` and `roots` in a series: sets whose numbers stay. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/retainers/bins.h"
#include "report/reports/retainers/retainers_report.h"
#include "session/census_cache.h"
#include "session/inspect/restrictions.h"
#include "session/retainers/pure.h"
#include "session/retainers/retaining.h"
#include "session/series/rows.h"

/* ---- labels ---- */

struct labels {
	struct hi_inspection *in;
	hi_set_name_fn *name;
	void *arg;
	const char *before, *join, *after; /* "{", ", ", "}" */
	bool keyed;
};

static uint64_t bytes_of_sample_set(const struct hi_inspection *in,
				    const struct hi_set_row *sum)
{
	return in->options->profile.pure ? sum->cost_pure : sum->cost;
}

static bool set_row(const struct labels *l, const struct hi_set_row *sum,
		    const uint32_t *members, struct hi_series_row *ret)
{
	size_t n = hi_set_label(members, sum->size, l->join, l->name, l->arg, NULL, 0);
	size_t before = strlen(l->before), after = strlen(l->after);
	char *label = hi_arena_alloc(&l->in->arena, before + n + after + 1);
	const char **names =
		hi_arena_alloc(&l->in->arena, (sum->size + 1u) * sizeof(*names));

	if (!label || !names)
		return false;
	memcpy(label, l->before, before);
	hi_set_label(members, sum->size, l->join, l->name, l->arg, label + before, n + 1);
	memcpy(label + before + n, l->after, after + 1);
	for (uint32_t i = 0; i < sum->size; i++)
		names[i] = hi_arena_strdup(&l->in->arena, l->name(l->arg, members[i]));
	for (uint32_t i = 0; i < sum->size; i++)
		if (!names[i])
			return false;
	*ret = (struct hi_series_row){.name = label,
				      .bytes = bytes_of_sample_set(l->in, sum),
				      .objects = sum->objects,
				      .set = sum->set,
				      .members = names,
				      .n_members = sum->size,
				      .keyed = l->keyed};
	return true;
}

static void plain_row(const struct hi_inspection *in, struct hi_series_sample *s,
		      const char *name, const struct hi_set_row *sum)
{
	/* HI_SET_NONE is 0: no set. */
	s->rows[s->n_rows++] =
		(struct hi_series_row){.name = name,
				       .bytes = bytes_of_sample_set(in, sum),
				       .objects = sum->objects,
				       .set = sum->set};
}

/* ---- retainers ---- */

static const char *name_of_sample_retainer(void *arg, uint32_t identity)
{
	return hi_interner_name(arg, identity);
}

static enum hi_status take_retainers(struct hi_inspection *in,
				     const struct hi_retainers_report *r,
				     struct hi_series_sample *s, struct hi_error *err)
{
	struct labels l = {in,
			   name_of_sample_retainer,
			   &in->profile.retaining->names,
			   "{",
			   ", ",
			   "}",
			   true};

	s->rows = hi_arena_alloc(&in->arena, (r->n_rows + 1) * sizeof(*s->rows));
	if (!s->rows)
		return hi_fail_memory(err, "rows");
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_retainers_row *row = &r->rows[i];

		if (row->sum.set == HI_SET_MANY)
			plain_row(in, s, "MANY", &row->sum);
		else if (!set_row(&l, &row->sum, row->members, &s->rows[s->n_rows]))
			return hi_fail_memory(err, "rows");
		else
			s->n_rows++;
	}
	s->visits = in->profile.retaining->sets->table.objects + r->revisited;
	s->waiting = r->waiting;
	return HI_OK;
}

enum hi_status hi_series_retainers(struct hi_inspection *in, struct hi_series_sample *ret,
				   struct hi_error *err)
{
	HI_GUARD(hi_retainers_report_destroy) struct hi_retainers_report *report = NULL;
	struct hi_retainers_view view = {
		.shown = in->shown.reach == in->results.reach ? NULL : in->shown.reach,
		.pure_of = hi_pure_bytes,
		.pure_arg = in,
		.name = name_of_sample_retainer,
	};
	enum hi_status status;

	ret->objects = in->results.reach->live_objects;
	ret->bytes = in->results.reach->live_bytes;
	status = hi_retaining_compute(in, err);
	if (status != HI_OK)
		return status;
	view.arg = &in->profile.retaining->names;
	view.system = in->profile.retaining->system;
	status = hi_retainers_report_create(
		NULL, in->graph, in->results.reach, in->profile.retaining->sets,
		in->profile.retaining->pool, &view, SIZE_MAX, &report, err);
	return status == HI_OK ? take_retainers(in, report, ret, err) : status;
}

/* ---- roots ---- */

static const char *name_of_sample_root(void *arg, uint32_t identity)
{
	const struct hi_named_roots *roots = arg;

	return identity && identity <= roots->count ? roots->items[identity - 1].text.name
						    : "?";
}

static enum hi_status take_bins(struct hi_inspection *in, const struct hi_bins *bins,
				struct hi_series_sample *s, struct hi_error *err)
{
	const struct hi_set_table *t = &bins->table;
	const char *join = in->options->profile.join;
	struct labels l = {in,	 name_of_sample_root, in->profile.roots,
			   "",	 join ? join : "-",   "",
			   false};

	s->rows = hi_arena_alloc(&in->arena, (t->n_rows + 3) * sizeof(*s->rows));
	if (!s->rows)
		return hi_fail_memory(err, "rows");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct hi_set_row *sum = &t->rows[i];
		HI_GUARD(free)
		uint32_t *members = hi_calloc(sum->size + 1u, sizeof(*members));

		if (!members)
			return hi_fail_memory(err, "rows");
		hi_set_members(in->run->census_cache->pool, sum->set, members);
		if (!set_row(&l, sum, members, &s->rows[s->n_rows]))
			return hi_fail_memory(err, "rows");
		s->n_rows++;
	}
	if (in->options->profile.n_under)
		return HI_OK;
	plain_row(in, s, "NOROOT", &bins->noroot);
	if (hi_inspect_heap_is_known(in))
		plain_row(in, s, "LEAK", &bins->leak);
	return HI_OK;
}

enum hi_status hi_series_roots(struct hi_inspection *in, struct hi_series_sample *ret,
			       struct hi_error *err)
{
	const struct hi_named_roots *roots = in->profile.roots;
	struct hi_census_cache *census_cache = in->run->census_cache;
	HI_GUARD(hi_bins_destroy) struct hi_bins *bins = NULL;
	HI_GUARD(free)
	struct hi_bin_root *starts = hi_calloc(roots->count + 1, sizeof(*starts));
	struct hi_bin_options options = {
		.roots = starts, .n_roots = roots->count, .arg = in};
	enum hi_status status = hi_census_cache_make_pool(census_cache, err);

	if (!starts)
		return hi_fail_memory(err, "bins");
	for (size_t i = 0; i < roots->count; i++)
		starts[i] = (struct hi_bin_root){.identity = (uint32_t)i + 1,
						 .nodes = roots->items[i].starts,
						 .n_nodes = roots->items[i].n_starts};
	ret->objects = in->results.reach->live_objects;
	ret->bytes = in->results.reach->live_bytes;
	if (in->options->profile.pure)
		options.pure = hi_pure_bytes;
	if (status == HI_OK)
		status = hi_bins_compute(in->graph, in->results.reach, &options,
					 census_cache->pool, &bins, err);
	if (status == HI_OK)
		status = hi_naming_keep_bins(in, bins, census_cache->pool, err);
	return status == HI_OK ? take_bins(in, bins, ret, err) : status;
}
