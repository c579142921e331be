/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `snapshots`: lists the censuses in a snapshot file. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "report/reports/snapshots/snapshots_report.h"
#include "session/operands.h"
#include "session/series/file.h"
#include "session/series/trend.h"
#include "session/snapshot/snapshot_source.h"

enum { TOP = 20 };

struct listing {
	const struct hi_options *options;
	struct hi_snapshots *series;  /* NULL: a file with one */
	struct hi_snapshot *snapshot; /* of such a file */
	struct hi_series_file_census census;
	const struct hi_snapshot
		*names; /* the one of both that has the names of the report */
	struct hi_snapshots_row *rows;
	struct hi_snapshots_marks marks;
	struct hi_snapshots_mark_line *lines; /* of these */
	struct hi_snapshots_type *types;
	struct hi_series_trend *trend;
	struct hi_report_header header;
	struct hi_snapshots_report report;
};

static void close_snapshot_listing(struct listing *l)
{
	free(l->rows);
	free(l->types);
	free(l->lines);
	hi_snapshots_marks_free(&l->marks);
	hi_series_trend_destroy(l->trend);
	hi_series_file_census_close(&l->census);
	hi_snapshot_close(l->snapshot);
	hi_snapshots_close(l->series);
}

/* ---- of many ---- */

/* The record has the first number alone; the others are in the totals. Where these are
 * damaged, they are unknown. */
static struct hi_leak_totals leaks_of(const struct hi_snapshots *s, size_t i)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *sums = NULL;
	struct hi_leak_totals ret = hi_leak_totals_unknown();
	struct hi_error unused;

	if (s->entries[i].parts[HI_SNAPSHOTS_TOTALS].size &&
	    hi_snapshots_part(s, i, HI_SNAPSHOTS_TOTALS, &sums, &unused) == HI_OK)
		return hi_series_file_leaks(&s->entries[i], sums);
	ret.certain.bytes = s->entries[i].point.leaked;
	return ret;
}

static enum hi_status list_series(struct listing *l, struct hi_error *err)
{
	static const char *const ends[] = {
		[HI_SNAPSHOTS_OPEN] = "open",	  [HI_SNAPSHOTS_OVER] = "over",
		[HI_SNAPSHOTS_EXITED] = "exited", [HI_SNAPSHOTS_STOPPED] = "stopped",
		[HI_SNAPSHOTS_FAILED] = "failed",
	};
	enum hi_status status = hi_snapshots_open(l->options->argument, &l->series, err);
	const struct hi_snapshots *s = l->series;

	if (status != HI_OK)
		return status;
	l->rows = hi_calloc(s->n_entries, sizeof(*l->rows));
	if (!l->rows)
		return hi_fail_memory(err, "rows");
	for (size_t i = 0; i < s->n_entries; i++) {
		const struct hi_census_point *p = &s->entries[i].point;

		l->rows[i] = (struct hi_snapshots_row){
			.number = p->number,
			.time_ns = p->time_ns,
			.wall_ns = p->wall_ns,
			.cpu_ns = p->cpu_ns,
			.pause_ns = p->pause_ns,
			.objects = p->objects,
			.bytes = p->bytes,
			.leaks = leaks_of(s, i),
			.graph = s->entries[i].parts[HI_SNAPSHOTS_WHOLE].size};
	}
	l->report.rows = l->rows;
	l->report.n_rows = s->n_entries;
	l->report.size = s->size;
	l->report.end = ends[s->end];
	l->report.damaged = s->damaged;
	l->report.lost = s->lost;
	l->report.torn = s->torn;
	return HI_OK;
}

static enum hi_status take_listed_marks(struct listing *l, struct hi_error *err)
{
	enum hi_status status = hi_snapshots_read_marks(l->series, &l->marks, err);
	size_t n = l->marks.count;

	if (status != HI_OK)
		return status;
	l->lines = hi_calloc(n + 1, sizeof(*l->lines));
	if (!l->lines)
		return hi_fail_memory(err, "marks");
	for (size_t i = 0; i < n; i++) {
		const struct hi_snapshots_mark *m = &l->marks.items[i];

		l->lines[i] = (struct hi_snapshots_mark_line){m->census, m->wall_ns,
							      m->cpu_ns, m->text};
	}
	l->report.marks = l->lines;
	l->report.n_marks = n;
	l->report.lost += l->marks.lost;
	return HI_OK;
}

/* A census that is damaged has a row, but there is no growth then. */
static enum hi_status take_trend(struct listing *l, struct hi_error *err)
{
	size_t n = l->series->n_entries;
	enum hi_status status;

	if (n < 2 || l->options->target.census)
		return HI_OK;
	status = hi_series_trend_read(l->series, n - 1, &l->trend, err);
	if (status == HI_OK)
		l->report.trend = &l->trend->trend;
	return status == HI_BAD_DATA ? HI_OK : status;
}

static enum hi_status take_types(struct listing *l, struct hi_error *err)
{
	size_t n = l->census.census->n_rows;

	l->types = hi_calloc(n + 1, sizeof(*l->types));
	if (!l->types)
		return hi_fail_memory(err, "types");
	for (size_t i = 0; i < n; i++) {
		const struct hi_census_row *row = &l->census.census->rows[i];
		const struct hi_type_name *type = &l->census.graph->types[row->type];

		l->types[i] = (struct hi_snapshots_type){
			.name = type->name ? type->name : "",
			.module = type->module ? type->module : "",
			.objects = row->count,
			.bytes = row->shallow,
			.retained = row->retained};
	}
	l->report.types = l->types;
	l->report.n_types = n;
	l->report.shown = hi_lookup_top(l->options, TOP);
	if (l->report.shown > n)
		l->report.shown = n;
	return HI_OK;
}

static enum hi_status take_listed_census(struct listing *l, struct hi_error *err)
{
	const char *which = l->options->target.census;
	size_t i = which ? hi_snapshot_source_find_census(l->series, which, false) : 0;
	enum hi_status status;

	if (i == l->series->n_entries)
		return hi_fail(err, HI_USAGE, 0, "%.120s: has no census %.20s",
			       l->options->argument, which);
	status = hi_series_file_census_open(l->series, i, &l->census, err);
	if (status != HI_OK)
		return status;
	l->names = l->census.snapshot;
	if (!which)
		return HI_OK;
	l->report.of = &l->rows[i];
	return take_types(l, err);
}

/* ---- of one ---- */

static enum hi_status list_one(struct listing *l, struct hi_error *err)
{
	const char *path = l->options->argument;
	enum hi_status status = hi_snapshot_open(path, &l->snapshot, err);
	const struct hi_snapshot *s = l->snapshot;

	if (status != HI_OK)
		return status;
	if (l->options->target.census)
		return hi_fail(err, HI_USAGE, 0, "--census: %.120s has only one", path);
	l->rows = hi_calloc(1, sizeof(*l->rows));
	if (!l->rows)
		return hi_fail_memory(err, "rows");
	l->rows[0] = (struct hi_snapshots_row){
		.number = 1,
		.time_ns = hi_snapshot_number(s, "head.time_ns", UINT64_MAX),
		.pause_ns = hi_snapshot_number(s, "head.pause_ns", UINT64_MAX),
		.objects = hi_snapshot_number(s, "live.objects", UINT64_MAX),
		.bytes = hi_snapshot_number(s, "live.bytes", UINT64_MAX),
		.leaks = hi_snapshot_source_leak_totals(s)};
	l->rows[0].graph = hi_snapshot_size(s);
	l->report.rows = l->rows;
	l->report.n_rows = 1;
	l->report.size = l->rows[0].graph;
	l->report.end = "over";
	l->names = s;
	return HI_OK;
}

/* ---- all of it ---- */

static enum hi_status fill_snapshots(void *report, struct hi_page *page,
				     struct hi_json *json, struct hi_error *)
{
	if (json)
		hi_snapshots_json(report, json);
	else
		hi_snapshots_display(report, page);
	return HI_OK;
}

static enum hi_status run_snapshots_command(const struct hi_options *o,
					    struct hi_output *output,
					    struct hi_error *err)
{
	struct listing l = {.options = o, .report.header = &l.header};
	bool many = hi_snapshots_is_one(o->argument);
	enum hi_status status = many ? list_series(&l, err) : list_one(&l, err);

	if (status == HI_OK && many)
		status = take_listed_marks(&l, err);
	if (status == HI_OK && many)
		status = take_trend(&l, err);
	if (status == HI_OK && many)
		status = take_listed_census(&l, err);
	if (status == HI_OK) {
		l.header = (struct hi_report_header){
			.pid = (int)hi_snapshot_number(l.names, "head.pid", 0),
			.exe = hi_snapshot_text(l.names, "head.exe", ""),
			.file = o->argument};
		status = hi_write_filled(o, output, fill_snapshots, &l.report, err);
	}
	close_snapshot_listing(&l);
	return status;
}

const struct hi_command hi_command_snapshots = {
	.id = HI_COMMAND_SNAPSHOTS,
	.name = "snapshots",
	.arguments = "FILE.hisnap",
	.purpose = "List the censuses in a snapshot file: when they were taken, how much "
		   "was live, and which have a graph.",
	.help = "Other commands take one census of the file: FILE@7, FILE@first, "
		"FILE@last (the\n"
		"default) or FILE@peak. --census shows the totals by type of one census. "
		"Every\n"
		"census has them.\n"
		"\n"
		"Examples:\n"
		"  heapinspect snapshots app.hisnap\n"
		"  heapinspect snapshots app.hisnap --census 7\n"
		"  heapinspect app.hisnap@peak\n"
		"  heapinspect diff app.hisnap@first app.hisnap@last",
	.run_alone = run_snapshots_command,
	.targets = "",
	.page = HI_COMMAND_PAGE_OF_FILE,
};
