/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/rows.h"

#include "base/cleanup.h"
#include "session/operands.h"

static enum hi_status rows_by_type(struct hi_inspection *in,
				   const struct hi_type_set *types,
				   struct hi_series_sample *s, struct hi_error *err)
{
	const struct hi_census *c = in->results.census;

	s->rows = hi_arena_alloc(&in->arena, (c->n_rows + 1) * sizeof(*s->rows));
	if (!s->rows)
		return hi_fail_memory(err, "rows");
	s->objects = c->objects;
	s->bytes = c->bytes;
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct hi_census_row *row = &c->rows[i];
		const char *name = in->graph->types[row->type].name;

		if (!hi_type_set_has(types, row->type)) {
			s->hidden.rows++;
			s->hidden.bytes += row->shallow;
			continue;
		}
		s->rows[s->n_rows++] = (struct hi_series_row){.name = name ? name : "",
							      .bytes = row->shallow,
							      .objects = row->count};
	}
	return HI_OK;
}

static enum hi_status rows_broken_down(struct hi_inspection *in,
				       const struct hi_type_set *types,
				       struct hi_series_sample *s, struct hi_error *err)
{
	HI_GUARD(hi_by_census_destroy) struct hi_by_census *c = NULL;
	enum hi_status status = hi_census_break_down(in->graph, in->shown.reach, NULL,
						     in->options->selection.by,
						     types ? types->has : NULL, &c, err);

	if (status != HI_OK)
		return status;
	s->rows = hi_arena_alloc(&in->arena, (c->n_rows + 1) * sizeof(*s->rows));
	s->objects = c->objects;
	s->bytes = c->bytes;
	s->hidden = (struct hi_hidden){c->other_types, c->other_bytes};
	for (size_t i = 0; s->rows && i < c->n_rows; i++) {
		const struct hi_by_row *row = &c->rows[i];
		const char *name = hi_arena_strdup(&in->arena, row->name);

		if (!name)
			return hi_fail_memory(err, "rows");
		s->rows[s->n_rows++] = (struct hi_series_row){.name = name,
							      .bytes = row->sum.shallow,
							      .objects = row->sum.count};
	}
	return s->rows ? HI_OK : hi_fail_memory(err, "rows");
}

enum hi_status hi_series_census(struct hi_inspection *in, struct hi_series_sample *ret,
				struct hi_error *err)
{
	struct hi_type_set set;
	struct hi_restrict only;
	enum hi_status status = hi_lookup_restrict(in, SIZE_MAX, &set, &only, err);

	/* The type may have no object at this moment: a row that is missing is 0. */
	if (status == HI_NOT_FOUND && ret->number > 1) {
		ret->objects = in->results.reach->live_objects;
		ret->bytes = in->results.reach->live_bytes;
		return HI_OK;
	}
	if (status != HI_OK)
		return status;
	status = (in->options->selection.by == HI_BY_TYPE
			  ? rows_by_type
			  : rows_broken_down)(in, only.types, ret, err);
	hi_type_set_free(&set);
	return status;
}
