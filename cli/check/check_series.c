/* SPDX-License-Identifier: BSD-2-Clause */
/* Slopes of metrics over the censuses of a file. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/check/check.h"
#include "report/type_search.h"
#include "session/series/file.h"
#include "session/snapshot/snapshot_source.h"

/* One metric over all censuses. */
struct census_pass {
	const struct hi_gate_metric *metric;
	double *values;
	size_t n;
	bool is_undecoded, is_unknown;
};

/* A name without qualifiers may be that of several types in one census alone. */
static double sum_of_types(const struct hi_series_file_census *c,
			   const struct hi_gate_metric *m, bool *is_unknown)
{
	struct hi_type_set set = {};
	struct hi_error quiet;
	enum hi_status status = hi_types_select(c->graph, m->name, &set, NULL, &quiet);
	uint64_t sum = 0;

	*is_unknown |= status == HI_USAGE;
	if (status != HI_OK)
		return 0;
	for (size_t i = 0; i < c->census->n_rows; i++) {
		const struct hi_census_row *row = &c->census->rows[i];

		if (hi_type_set_has(&set, row->type))
			sum += m->field == HI_GATE_COUNT
				       ? row->count * set.values[row->type]
				       : row->shallow;
	}
	hi_type_set_free(&set);
	return (double)sum;
}

/* UINT64_MAX: unknown. */
static uint64_t unreachable_bytes(const struct hi_series_file_census *c,
				  const struct hi_gate_metric *m)
{
	struct hi_leak_totals sums = hi_series_file_leaks(c->entry, c->snapshot);

	if (m->subject == HI_GATE_GARBAGE)
		return sums.garbage.bytes;
	return m->field == HI_GATE_LIKELY ? sums.likely.bytes : sums.certain.bytes;
}

static enum hi_status take_census_value(void *arg, const struct hi_series_file_census *c,
					struct hi_error *err)
{
	struct census_pass *pass = arg;
	const struct hi_gate_metric *m = pass->metric;
	const struct hi_census_point *point = &c->entry->point;
	uint64_t bytes;

	(void)err;
	pass->is_undecoded |= !hi_snapshot_source_heap_is_known(c->snapshot);
	if (m->subject == HI_GATE_TYPE) {
		pass->values[pass->n++] = sum_of_types(c, m, &pass->is_unknown);
	} else if (m->subject == HI_GATE_LIVE) {
		pass->values[pass->n++] =
			(double)(m->field == HI_GATE_COUNT ? point->objects
							   : point->bytes);
	} else {
		bytes = unreachable_bytes(c, m);
		pass->is_unknown |= bytes == UINT64_MAX;
		pass->values[pass->n++] = (double)bytes;
	}
	return HI_OK;
}

static enum hi_status fit_metric(struct hi_check_heaps *heaps,
				 const struct hi_gate_metric *m,
				 struct hi_check_slope *ret, struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	HI_GUARD(free) double *values = NULL;
	struct census_pass pass = {.metric = m};
	const char *file = heaps->in->options->target.file;
	enum hi_status status = hi_snapshots_open(file, &s, err);

	if (status != HI_OK)
		return status;
	if (s->n_entries < HI_CHECK_SLOPE_LEAST)
		return hi_fail(err, HI_USAGE, 0,
			       "%.80s: %.100s: the file has %zu census%s, and a slope "
			       "needs at least %d",
			       m->text, file, s->n_entries, s->n_entries == 1 ? "" : "es",
			       HI_CHECK_SLOPE_LEAST);
	values = hi_calloc(s->n_entries, sizeof(*values));
	if (!values)
		return hi_fail_memory(err, "slope");
	pass.values = values;
	status = hi_series_file_each(s, take_census_value, &pass, err);
	if (status != HI_OK)
		return status;
	heaps->is_undecoded |= pass.is_undecoded;
	if (pass.is_unknown)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.80s: %.100s does not have it in every census", m->text,
			       file);
	hi_check_slope_fit(values, pass.n, ret);
	ret->metric = m;
	return HI_OK;
}

static bool is_same_metric(const struct hi_gate_metric *a, const struct hi_gate_metric *b)
{
	return a->subject == b->subject && a->field == b->field &&
	       strcmp(a->name, b->name) == 0;
}

/* A metric that lives as long as the slopes. */
static const struct hi_gate_metric *keep_metric(struct hi_check_heaps *heaps,
						const struct hi_gate_metric *m)
{
	struct hi_gate_metric *copy = hi_arena_alloc(&heaps->in->arena, sizeof(*copy));

	if (copy)
		*copy = *m;
	return copy;
}

const struct hi_check_slope *hi_check_slope(struct hi_check_heaps *heaps,
					    const struct hi_gate_metric *m)
{
	struct hi_check_slope slope = {};

	for (size_t i = 0; i < heaps->slopes.count; i++)
		if (is_same_metric(heaps->slopes.items[i].metric, m))
			return &heaps->slopes.items[i];
	if (heaps->failure.status != HI_OK ||
	    fit_metric(heaps, m, &slope, &heaps->failure) != HI_OK)
		return NULL;
	if (heaps->is_undecoded)
		return NULL;
	slope.metric = keep_metric(heaps, m);
	if (!slope.metric || !hi_vector_push(&heaps->slopes, slope)) {
		(void)hi_fail_memory(&heaps->failure, "slope");
		return NULL;
	}
	return &heaps->slopes.items[heaps->slopes.count - 1];
}
