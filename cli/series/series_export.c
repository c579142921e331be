/* SPDX-License-Identifier: BSD-2-Clause */
/* The censuses of a file in the formats of other programs. */
#include "cli/series/series_export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command/command.h"
#include "report/exports/export.h"
#include "report/exports/export_table.h"
#include "session/series/file.h"
#include "session/series/openmetrics.h"

struct series_export {
	const struct hi_snapshots *series;
	FILE *out;
	struct hi_export_table table;
	uint64_t snapshots, peak; /* massif: written; live bytes of the highest */
};

static bool is_table(const struct hi_options *o, const char *name)
{
	return o->output.table && strcmp(o->output.table, name) == 0;
}

bool hi_series_file_is_wanted(const struct hi_options *o)
{
	if (o->command->id != HI_COMMAND_EXPORT || !o->output.format)
		return false;
	if (is_table(o, "censuses") || is_table(o, "sums"))
		return true;
	return (strcmp(o->output.format, "hp") == 0 ||
		strcmp(o->output.format, "massif") == 0 ||
		strcmp(o->output.format, "prometheus") == 0) &&
	       o->target.file && !o->target.census && hi_snapshots_is_one(o->target.file);
}

/* ---- tables ---- */

static void census_row(struct hi_export_table *t, const struct hi_snapshots_entry *e,
		       const struct hi_leak_totals *leaks)
{
	uint64_t graph = e->parts[HI_SNAPSHOTS_WHOLE].size;

	hi_export_row(t);
	hi_export_number(t, "census", e->point.number);
	hi_export_number(t, "time_ns", e->point.time_ns);
	hi_export_number(t, "wall_ns", e->point.wall_ns);
	hi_export_number(t, "cpu_ns", e->point.cpu_ns);
	hi_export_number(t, "pause_ns", e->point.pause_ns);
	hi_export_number(t, "bytes", e->point.bytes);
	hi_export_number(t, "objects", e->point.objects);
	hi_export_number(t, "leaked", leaks->certain.bytes);
	hi_export_number(t, "likely", leaks->likely.bytes);
	hi_export_number(t, "garbage", leaks->garbage.bytes);
	hi_export_number(t, "uncollectable", leaks->uncollectable.bytes);
	hi_export_number(t, "lost", leaks->lost.bytes);
	hi_export_number(t, "graph", graph ? graph : UINT64_MAX);
	hi_export_row_end(t);
}

static void sum_row(struct hi_export_table *t, const struct hi_census_point *point,
		    const char *type, const char *module, const struct hi_census_row *row)
{
	hi_export_row(t);
	hi_export_number(t, "census", point->number);
	hi_export_number(t, "wall_ns", point->wall_ns);
	hi_export_text(t, "type", type);
	hi_export_text(t, "module", module);
	hi_export_number(t, "count", row->count);
	hi_export_number(t, "shallow", row->shallow);
	hi_export_number(t, "retained", row->retained);
	hi_export_row_end(t);
}

static enum hi_status put_census_totals(void *arg, const struct hi_series_file_census *c,
					struct hi_error *err)
{
	struct series_export *x = arg;

	(void)err;
	for (size_t i = 0; i < c->census->n_rows; i++) {
		const struct hi_census_row *row = &c->census->rows[i];
		const struct hi_type_name *type = &c->graph->types[row->type];

		sum_row(&x->table, &c->entry->point, type->name, type->module, row);
	}
	return HI_OK;
}

static enum hi_status put_census(void *arg, const struct hi_series_file_census *c,
				 struct hi_error *err)
{
	struct series_export *x = arg;
	struct hi_leak_totals leaks = hi_series_file_leaks(c->entry, c->snapshot);

	(void)err;
	census_row(&x->table, c->entry, &leaks);
	return HI_OK;
}

static enum hi_status put_census_rows(struct series_export *x, bool sums,
				      struct hi_error *err)
{
	static const struct hi_snapshots_entry nothing;
	static const struct hi_leak_totals no_leaks;
	static const struct hi_census_row none;

	if (sums)
		sum_row(&x->table, &nothing.point, "", "", &none);
	else
		census_row(&x->table, &nothing, &no_leaks);
	x->table.is_heading = false;
	return hi_series_file_each(x->series, sums ? put_census_totals : put_census, x,
				   err);
}

static enum hi_status put_table(struct series_export *x, const struct hi_options *o,
				struct hi_error *err)
{
	const struct hi_parquet_property of[] = {{"heapinspect.table", o->output.table}};
	enum hi_status status = hi_export_table_open(&x->table, o->output.format,
						     o->output.uncompressed, x->out, err);

	if (status == HI_OK)
		status = put_census_rows(x, is_table(o, "sums"), err);
	if (status == HI_OK)
		status = hi_export_table_finish(&x->table, of, 1, err);
	hi_export_table_free(&x->table);
	return status;
}

/* ---- massif: the time in ms, a tree of types where the graph is kept, too ---- */

static void put_tree(struct series_export *x, const struct hi_series_sample *sample)
{
	static const struct hi_series_header header = {.by = "type"};
	char safe[HI_EXPORT_TEXT];
	uint64_t all = 0;

	for (size_t i = 0; i < sample->n_rows; i++)
		all += sample->rows[i].bytes;
	fprintf(x->out,
		"n%zu: %" PRIu64 " (heap allocation functions) malloc/new/new[], "
		"--alloc-fns, etc.\n",
		sample->n_rows, all);
	for (size_t i = 0; i < sample->n_rows; i++)
		fprintf(x->out, " n0: %" PRIu64 " 0x%zX: %s (heap)\n",
			sample->rows[i].bytes, i + 1,
			hi_export_safe(safe, hi_series_name(&header, &sample->rows[i])));
}

static enum hi_status put_massif(void *arg, const struct hi_series_file_census *c,
				 struct hi_error *err)
{
	struct series_export *x = arg;
	bool whole = c->entry->parts[HI_SNAPSHOTS_WHOLE].size;
	bool is_peak = c->entry->point.bytes == x->peak;
	char safe[HI_EXPORT_TEXT];
	struct hi_series_sample sample = {};
	enum hi_status status = hi_series_file_rows(c, &sample, err);

	if (status != HI_OK)
		return status;
	if (x->snapshots == 0)
		fprintf(x->out, "desc: heapinspect\ncmd: %s\ntime_unit: ms\n",
			hi_export_safe(safe,
				       hi_snapshot_text(c->snapshot, "head.exe", "")));
	fprintf(x->out,
		"#-----------\nsnapshot=%" PRIu64 "\n#-----------\ntime=%" PRIu64
		"\nmem_heap_B=%" PRIu64
		"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		x->snapshots++, c->entry->point.wall_ns / 1000000, c->entry->point.bytes,
		is_peak ? "peak"
		: whole ? "detailed"
			: "empty");
	if (is_peak || whole)
		put_tree(x, &sample);
	/* One peak only, the first of equal ones. */
	if (is_peak)
		x->peak = UINT64_MAX;
	free(sample.rows);
	return HI_OK;
}

static enum hi_status put_all_massif(struct series_export *x, struct hi_error *err)
{
	for (size_t i = 0; i < x->series->n_entries; i++)
		if (x->series->entries[i].point.bytes > x->peak)
			x->peak = x->series->entries[i].point.bytes;
	return hi_series_file_each(x->series, put_massif, x, err);
}

enum hi_status hi_series_file_export(const struct hi_options *o, struct hi_output *output,
				     struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct series_export x = {.out = output->file};
	enum hi_status status = hi_export_refuse_terminal(o->output.format, x.out, err);

	if (status != HI_OK)
		return status;
	if (!o->target.file || !hi_snapshots_is_one(o->target.file))
		return hi_fail(err, HI_USAGE, 0,
			       "--table %s: needs a file of many censuses (snap --every)",
			       o->output.table);
	if (strcmp(o->output.format, "hp") == 0)
		return hi_series_file_profile(o->target.file, fileno(output->file), -1,
					      err);
	status = hi_snapshots_open(o->target.file, &s, err);
	x.series = s;
	if (status != HI_OK)
		return status;
	if (o->output.table)
		return put_table(&x, o, err);
	return strcmp(o->output.format, "massif") == 0
		       ? put_all_massif(&x, err)
		       : hi_series_file_openmetrics(s, o, x.out, err);
}
