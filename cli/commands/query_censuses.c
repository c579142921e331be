/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a file with many censuses for a query: the totals by type of each census, and
 * the graph of the selected one.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/options/query_source.h"
#include "session/series/file.h"
#include "session/snapshot/snapshot_source.h"

/* Names of one file are few, and come again in each census. */
static bool copy_census_name(struct hi_query_censuses *c, const char *name,
			     const char **ret)
{
	uint32_t number = hi_interner_add(&c->names, name ? name : "");

	*ret = hi_interner_name(&c->names, number);
	return number;
}

/* Takes the rows. */
static enum hi_status add_query_census(struct hi_query_censuses *c,
				       struct hi_query_census census,
				       struct hi_query_census_row *rows,
				       struct hi_error *err)
{
	census.rows = rows;
	if (hi_vector_push(&c->list, census))
		return HI_OK;
	free(rows);
	return hi_fail_memory(err, "censuses");
}

/* keep: the census stays as long as the rows. */
static enum hi_status add_whole(struct hi_query_censuses *c, const struct hi_graph *g,
				const struct hi_census *census, bool keep,
				struct hi_query_census to, struct hi_error *err)
{
	struct hi_query_census_row *rows = hi_calloc(census->n_rows + 1, sizeof(*rows));
	bool failed = !rows;

	for (size_t i = 0; i < census->n_rows && !failed; i++) {
		const struct hi_census_row *row = &census->rows[i];
		const struct hi_type_name *type = &g->types[row->type];

		rows[i] = (struct hi_query_census_row){.count = row->count,
						       .shallow = row->shallow,
						       .retained = row->retained,
						       .whole = keep ? row : NULL};
		failed = !copy_census_name(c, type->name, &rows[i].type) ||
			 !copy_census_name(c, type->module, &rows[i].module);
	}
	if (failed) {
		free(rows);
		return hi_fail_memory(err, "censuses");
	}
	to.n_rows = census->n_rows;
	return add_query_census(c, to, rows, err);
}

/* Both kinds of parts have it. */
static enum hi_status read_census_part(struct hi_query_censuses *c,
				       const struct hi_snapshots *s, size_t i,
				       struct hi_query_census to, struct hi_error *err)
{
	struct hi_series_file_census from = {};
	enum hi_status status = hi_series_file_census_open(s, i, &from, err);

	if (status == HI_OK)
		status = add_whole(c, from.graph, from.census, false, to, err);
	hi_series_file_census_close(&from);
	return status;
}

static enum hi_status read_file(struct hi_query_censuses *c, struct hi_inspection *in,
				const struct hi_census *this_one, struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	enum hi_status status = hi_snapshots_open(in->options->target.file, &s, err);

	for (size_t i = 0; status == HI_OK && i < s->n_entries; i++) {
		const struct hi_snapshots_entry *e = &s->entries[i];
		struct hi_query_census to = {.number = e->point.number,
					     .time_ns = e->point.time_ns,
					     .has_ids = e->point.number ==
							in->census_number};

		if (to.has_ids)
			status = add_whole(c, in->graph, this_one, true, to, err);
		else
			status = read_census_part(c, s, i, to, err);
	}
	return status;
}

enum hi_status hi_query_read_censuses(struct hi_query_censuses *c,
				      struct hi_inspection *in,
				      const struct hi_census *this_one, uint64_t time_ns,
				      const struct hi_query_census **ret, size_t *n_ret,
				      struct hi_error *err)
{
	enum hi_status status;

	if (in->census_number)
		status = read_file(c, in, this_one, err);
	else
		status = add_whole(c, in->graph, this_one, true,
				   (struct hi_query_census){.number = 1,
							    .time_ns = time_ns,
							    .has_ids = true},
				   err);
	*ret = c->list.items;
	*n_ret = c->list.count;
	return status;
}

enum hi_status hi_query_read_marks(struct hi_inspection *in,
				   struct hi_snapshots_marks *ret, struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	enum hi_status status;

	if (!in->census_number)
		return HI_OK;
	status = hi_snapshots_open(in->options->target.file, &s, err);
	return status == HI_OK ? hi_snapshots_read_marks(s, ret, err) : status;
}

void hi_query_censuses_free(struct hi_query_censuses *c)
{
	for (size_t i = 0; i < c->list.count; i++)
		free((void *)(uintptr_t)c->list.items[i].rows);
	hi_vector_free(&c->list);
	hi_interner_free(&c->names);
}
