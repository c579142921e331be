/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/heap_profile/hp_writer.h"
#include "session/snapshot/snapshot_source.h"

void hi_series_file_census_close(struct hi_series_file_census *c)
{
	hi_census_destroy(c->census);
	hi_reach_destroy(c->reach);
	hi_graph_destroy(c->graph);
	hi_snapshot_close(c->snapshot);
	*c = (struct hi_series_file_census){};
}

enum hi_status hi_series_file_census_open(const struct hi_snapshots *s, size_t i,
					  struct hi_series_file_census *ret,
					  struct hi_error *err)
{
	struct hi_series_file_census c = {.entry = &s->entries[i]};
	bool sums = c.entry->parts[HI_SNAPSHOTS_TOTALS].size != 0;
	enum hi_status status = hi_snapshots_part(
		s, i, sums ? HI_SNAPSHOTS_TOTALS : HI_SNAPSHOTS_WHOLE, &c.snapshot, err);

	if (status == HI_OK)
		status = hi_snapshot_outline(c.snapshot, &c.graph, &c.reach, err);
	if (status == HI_OK)
		status = hi_snapshot_census(c.snapshot, &c.census, err);
	if (status == HI_OK)
		*ret = c;
	else
		hi_series_file_census_close(&c);
	return status == HI_NOT_FOUND
		       ? hi_fail(err, HI_BAD_DATA, 0, "%.120s: census %u has no sums",
				 s->path, s->entries[i].point.number)
		       : status;
}

enum hi_status hi_series_file_each(const struct hi_snapshots *s, hi_series_file_fn *each,
				   void *arg, struct hi_error *err)
{
	for (size_t i = 0; i < s->n_entries; i++) {
		struct hi_series_file_census c = {};
		enum hi_status status = hi_series_file_census_open(s, i, &c, err);

		if (status == HI_OK)
			status = each(arg, &c, err);
		hi_series_file_census_close(&c);
		if (status != HI_OK)
			return status;
	}
	return HI_OK;
}

struct hi_leak_totals hi_series_file_leaks(const struct hi_snapshots_entry *entry,
					   const struct hi_snapshot *snapshot)
{
	struct hi_leak_totals ret = hi_snapshot_source_leak_totals(snapshot);

	ret.certain.bytes = entry->point.leaked;
	return ret;
}

enum hi_status hi_series_file_rows(const struct hi_series_file_census *c,
				   struct hi_series_sample *ret, struct hi_error *err)
{
	size_t n = c->census->n_rows;
	struct hi_series_row *rows = hi_calloc(n + 1, sizeof(*rows));

	if (!rows)
		return hi_fail_memory(err, "rows");
	for (size_t i = 0; i < n; i++) {
		const struct hi_census_row *row = &c->census->rows[i];
		const char *name = c->graph->types[row->type].name;

		rows[i] = (struct hi_series_row){.name = name ? name : "",
						 .bytes = row->shallow,
						 .objects = row->count};
	}
	*ret = (struct hi_series_sample){
		.rows = rows,
		.n_rows = n,
		.lower_bound = !hi_snapshot_source_heap_is_known(c->snapshot),
		.leaks = hi_series_file_leaks(c->entry, c->snapshot)};
	hi_series_sort_rows(ret, 0, SIZE_MAX);
	return HI_OK;
}

/* ---- a heap profile ---- */

struct profile {
	int fd, key_fd;
	struct hi_hp *hp; /* NULL until the first census */
	uint64_t last_ns;
	struct hi_snapshots_marks marks;
	size_t n_put; /* of them */
};

/* Those before a census; UINT64_MAX: the rest. */
static enum hi_status put_profile_marks(struct profile *p, uint64_t until_ns,
					struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (; status == HI_OK && p->n_put < p->marks.count &&
	       p->marks.items[p->n_put].wall_ns < until_ns;
	     p->n_put++) {
		const struct hi_snapshots_mark *mark = &p->marks.items[p->n_put];

		if (mark->wall_ns > p->last_ns)
			p->last_ns = mark->wall_ns;
		status = hi_hp_mark(p->hp, mark->wall_ns, mark->text, err);
	}
	return status;
}

enum { JOB = 256 };

static void format_job(const struct hi_series_file_census *c, char job[JOB])
{
	const char *exe = hi_snapshot_text(c->snapshot, "head.exe", "");

	snprintf(job, JOB, "%.160s pid %d by type%s", hi_base_name(exe),
		 (int)hi_snapshot_number(c->snapshot, "head.pid", 0),
		 hi_snapshot_source_heap_is_known(c->snapshot) ? ""
							       : HI_SERIES_LOWER_BOUND);
}

static enum hi_status begin_profile(struct profile *p,
				    const struct hi_series_file_census *c,
				    struct hi_error *err)
{
	char job[JOB];
	struct hi_hp_header hp_header = {
		.job = job, .date = (time_t)(c->entry->point.time_ns / 1000000000)};

	format_job(c, job);
	return hi_hp_create(p->fd, p->key_fd, &hp_header, &p->hp, err);
}

static enum hi_status put_sample(void *arg, const struct hi_series_file_census *c,
				 struct hi_error *err)
{
	static const struct hi_series_header header = {.by = "type"};
	struct profile *p = arg;
	struct hi_series_sample sample = {};
	enum hi_status status = p->hp ? HI_OK : begin_profile(p, c, err);

	if (status == HI_OK)
		status = put_profile_marks(p, c->entry->point.wall_ns, err);
	if (status == HI_OK)
		status = hi_series_file_rows(c, &sample, err);
	if (status != HI_OK)
		return status;
	p->last_ns = c->entry->point.wall_ns;
	hi_hp_sample_begin(p->hp, p->last_ns);
	for (size_t i = 0; i < sample.n_rows && status == HI_OK; i++)
		status = hi_hp_band(p->hp, hi_series_name(&header, &sample.rows[i]),
				    sample.rows[i].bytes, err);
	for (unsigned kind = 0; kind < HI_LEAK_KINDS && status == HI_OK; kind++)
		if (hi_series_leaked(&sample, kind).bytes)
			status = hi_hp_band(p->hp, hi_leak_kind_label(kind),
					    hi_series_leaked(&sample, kind).bytes, err);
	free(sample.rows);
	return status == HI_OK ? hi_hp_sample_end(p->hp, err) : status;
}

enum hi_status hi_series_file_profile(const char *path, int fd, int key_fd,
				      struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct profile p = {.fd = fd, .key_fd = key_fd};
	enum hi_status status = hi_snapshots_open(path, &s, err);

	if (status == HI_OK)
		status = hi_snapshots_read_marks(s, &p.marks, err);
	if (status == HI_OK)
		status = hi_series_file_each(s, put_sample, &p, err);
	if (status == HI_OK && p.hp)
		status = put_profile_marks(&p, UINT64_MAX, err);
	if (status == HI_OK && p.hp)
		status = hi_hp_finish(p.hp, p.last_ns, err);
	hi_snapshots_marks_free(&p.marks);
	hi_hp_destroy(p.hp);
	return status;
}

/* ---- to be drawn ---- */

static double seconds_of(uint64_t ns)
{
	return (double)ns / 1e9;
}

static enum hi_status begin_drawn(struct hi_hp_series **series,
				  const struct hi_series_file_census *c,
				  struct hi_error *err)
{
	time_t date = (time_t)(c->entry->point.time_ns / 1000000000);
	char job[JOB], text[64] = "";
	struct tm tm;

	format_job(c, job);
	if (localtime_r(&date, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
	return hi_hp_series_create(job, text, series, err);
}

static enum hi_status draw_census(void *arg, const struct hi_series_file_census *c,
				  struct hi_error *err)
{
	static const struct hi_series_header header = {.by = "type"};
	struct hi_hp_series **series = arg;
	struct hi_series_sample sample = {};
	enum hi_status status = *series ? HI_OK : begin_drawn(series, c, err);

	if (status == HI_OK)
		status = hi_hp_series_sample(*series, seconds_of(c->entry->point.wall_ns),
					     err);
	if (status == HI_OK)
		status = hi_series_file_rows(c, &sample, err);
	for (size_t i = 0; i < sample.n_rows && status == HI_OK; i++)
		status = hi_hp_series_band(*series,
					   hi_series_name(&header, &sample.rows[i]),
					   sample.rows[i].bytes, err);
	for (unsigned kind = 0; kind < HI_LEAK_KINDS && status == HI_OK; kind++)
		if (hi_series_leaked(&sample, kind).bytes)
			status = hi_hp_series_band(*series, hi_leak_kind_label(kind),
						   hi_series_leaked(&sample, kind).bytes,
						   err);
	free(sample.rows);
	return status;
}

static enum hi_status draw_marks(const struct hi_snapshots *s,
				 struct hi_hp_series *series, struct hi_error *err)
{
	struct hi_snapshots_marks marks = {};
	enum hi_status status = hi_snapshots_read_marks(s, &marks, err);

	for (size_t i = 0; i < marks.count && status == HI_OK; i++)
		status = hi_hp_series_mark(series, seconds_of(marks.items[i].wall_ns),
					   marks.items[i].text, err);
	hi_snapshots_marks_free(&marks);
	return status;
}

enum hi_status hi_series_file_read(const char *path, struct hi_hp_series **ret,
				   struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	HI_GUARD(hi_hp_series_destroy) struct hi_hp_series *series = NULL;
	enum hi_status status = hi_snapshots_open(path, &s, err);

	if (status == HI_OK)
		status = hi_series_file_each(s, draw_census, &series, err);
	if (status == HI_OK && !series)
		status = hi_fail(err, HI_BAD_DATA, 0, "%.160s: no complete census", path);
	if (status == HI_OK)
		status = draw_marks(s, series, err);
	if (status == HI_OK)
		status = hi_hp_series_finish(series, err);
	if (status == HI_OK)
		*ret = hi_take(series);
	return status;
}
