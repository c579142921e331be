/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/peaks_of_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "census/space/peaks.h"
#include "session/inspect/inspect.h"
#include "session/series/file.h"
#include "session/space/space_profile.h"

struct hi_peaks {
	const struct hi_options *options;
	struct hi_peaks_request request;
	struct hi_snapshots *series;
	struct hi_peaks_report report;
	struct hi_peaks_point *points;
	struct hi_interner texts; /* names in rows */
	struct hi_arena arena;
};

static enum hi_status fail_peaks(struct hi_error *err)
{
	return hi_fail_memory(err, "peaks");
}

/* A copy that lives as long as the peaks; NULL: out of memory. */
static const char *keep_peak_text(struct hi_peaks *p, const char *text)
{
	uint32_t number = *text ? hi_interner_add(&p->texts, text) : 0;

	if (!*text)
		return "";
	return number ? hi_interner_name(&p->texts, number) : NULL;
}

/* ---- rows ---- */

static int compare_peak_rows(const void *a, const void *b)
{
	const struct hi_peak_row *x = a, *y = b;
	int order;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	order = strcmp(x->function ? x->function : "", y->function ? y->function : "");
	if (!order)
		order = strcmp(x->type, y->type);
	return order ? order : (x->age > y->age) - (x->age < y->age);
}

/* All rows are there: what is shown of them, and their sums. */
static void finish_peak(const struct hi_peaks *p, struct hi_peak *peak)
{
	qsort(peak->rows, peak->n_rows, sizeof(*peak->rows), compare_peak_rows);
	peak->n_shown = peak->n_rows < p->request.top ? peak->n_rows : p->request.top;
	for (size_t i = 0; i < peak->n_rows; i++) {
		peak->bytes += peak->rows[i].bytes;
		peak->in_objects += peak->rows[i].objects;
	}
}

/* ---- by type ---- */

static enum hi_status take_peak_types(struct hi_peaks *p, size_t entry,
				      struct hi_peak *peak, struct hi_error *err)
{
	struct hi_series_file_census c = {};
	enum hi_status status = hi_series_file_census_open(p->series, entry, &c, err);
	size_t n = status == HI_OK ? c.census->n_rows : 0;

	peak->rows = hi_arena_alloc(&p->arena, (n + 1) * sizeof(*peak->rows));
	for (size_t i = 0; peak->rows && i < n; i++) {
		const struct hi_census_row *row = &c.census->rows[i];
		const char *name = c.graph->types[row->type].name;
		const char *type = keep_peak_text(p, name ? name : "");

		if (!type)
			break;
		peak->rows[peak->n_rows++] = (struct hi_peak_row){.function = "",
								  .file = "",
								  .module = "",
								  .type = type,
								  .objects = row->count,
								  .bytes = row->shallow};
	}
	hi_series_file_census_close(&c);
	return status == HI_OK && peak->n_rows < n ? fail_peaks(err) : status;
}

/* ---- by function, type and age ---- */

/* Rows while they are made. */
struct peak_rows HI_VECTOR(struct hi_peak_row);

static bool name_peak_row(struct hi_peaks *p, const struct hi_space_profile *profile,
			  const struct hi_space_row *row, struct hi_peak_row *ret)
{
	size_t n;
	const struct hi_space_function *f =
		&hi_space_profile_functions(profile, &n)[row->function];

	*ret = (struct hi_peak_row){
		.function = keep_peak_text(p, hi_space_profile_text(profile, f->name)),
		.file = keep_peak_text(p, hi_space_profile_text(profile, f->file)),
		.module = keep_peak_text(p, hi_space_profile_text(profile, f->module)),
		.type = keep_peak_text(p, hi_space_profile_text(profile, row->type))};
	return ret->function && ret->file && ret->module && ret->type;
}

/* Of each age that has some; names are copied only for these. */
static bool add_space_row(struct hi_peaks *p, const struct hi_space_profile *profile,
			  const struct hi_space_row *row, struct peak_rows *rows)
{
	struct hi_peak_row add = {};

	for (uint32_t i = 0; i < row->n_steps; i++) {
		const struct hi_space_step *step = &row->steps[i];

		if (!step->live.number && !step->live.size)
			continue;
		if (!add.type && !name_peak_row(p, profile, row, &add))
			return false;
		add.age = step->age;
		add.objects = step->live.number;
		add.bytes = step->live.size;
		if (!hi_vector_push(rows, add))
			return false;
	}
	return true;
}

static enum hi_status add_space_rows(struct hi_peaks *p,
				     const struct hi_space_profile *profile,
				     struct peak_rows *rows, struct hi_error *err)
{
	struct hi_space_sites sites = hi_space_profile_sites(profile);
	struct hi_space_result result = {};
	enum hi_status status =
		hi_space_result(hi_space_profile_space(profile), &sites, &result, err);

	for (size_t i = 0; status == HI_OK && i < result.n_rows; i++)
		if (!add_space_row(p, profile, &result.rows[i], rows))
			status = fail_peaks(err);
	hi_space_result_free(&result);
	return status;
}

/* By type of the graph, the last one is none; pieces of a block are one object. Of
 * samples all objects, else those without a record. */
static void sum_older_blocks(const struct hi_graph *g, const struct hi_births *b,
			     struct hi_peak_row *sums)
{
	for (hi_node i = 0, last; i < b->n_objects; i = last + 1) {
		uint32_t type = g->objects->type[i];

		last = hi_births_last_piece(g->objects, i);
		if ((hi_birth_is_known(b, i) && !b->sample_bytes) || hi_is_internal(g, i))
			continue;
		type = type < g->n_types ? type : g->n_types;
		sums[type].objects++;
		for (hi_node k = i; k <= last; k++)
			sums[type].bytes += hi_objects_cost(g->objects, k);
	}
}

static uint64_t subtract_part(uint64_t *whole, uint64_t part)
{
	uint64_t taken = part < *whole ? part : *whole;

	*whole -= taken;
	return part - taken;
}

/* What samples stand for is no older memory. Names of types are each once in memory. */
static void subtract_estimates(const struct peak_rows *rows, struct hi_peak_row *sums,
			       size_t n)
{
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t objects = rows->items[i].objects, bytes = rows->items[i].bytes;

		for (size_t k = 0; k < n; k++) {
			if (!sums[k].type || sums[k].type != rows->items[i].type)
				continue;
			objects = subtract_part(&sums[k].objects, objects);
			bytes = subtract_part(&sums[k].bytes, bytes);
		}
	}
}

static enum hi_status add_older_rows(struct hi_peaks *p, struct hi_inspection *in,
				     const struct hi_births *b, struct peak_rows *rows,
				     struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	HI_GUARD(free)
	struct hi_peak_row *sums = hi_calloc(g->n_types + 1u, sizeof(*sums));

	if (!sums)
		return fail_peaks(err);
	sum_older_blocks(g, b, sums);
	for (uint32_t i = 0; i <= g->n_types; i++) {
		const char *name = i < g->n_types ? g->types[i].name : NULL;

		if (sums[i].objects &&
		    !(sums[i].type = keep_peak_text(p, name ? name : "")))
			return fail_peaks(err);
	}
	if (b->sample_bytes)
		subtract_estimates(rows, sums, g->n_types + 1u);
	for (uint32_t i = 0; i <= g->n_types; i++)
		if (sums[i].bytes && !hi_vector_push(rows, sums[i]))
			return fail_peaks(err);
	return HI_OK;
}

/* When a census was, since the recording began: when all threads stood, as for the
 * recording, which ended at the peak's. The times of both points are later by their
 * pauses. */
static uint64_t end_of_period(const struct hi_census_point *point,
			      const struct hi_census_point *peak, uint64_t peak_end_ns)
{
	uint64_t before =
		peak->wall_ns > point->wall_ns ? peak->wall_ns - point->wall_ns : 0;
	uint64_t end = peak_end_ns + peak->pause_ns, back = before + point->pause_ns;

	return end > back ? end - back : 0;
}

static enum hi_status pass_censuses(const struct hi_peaks *p, size_t entry,
				    uint64_t end_ns, struct hi_space_profile *profile,
				    struct hi_error *err)
{
	const struct hi_snapshots_entry *e = p->series->entries;
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < entry; i++) {
		uint64_t end = end_of_period(&e[i].point, &e[entry].point, end_ns);

		if (end)
			status = hi_space_profile_pass(profile, e[i].point.wall_ns, end,
						       err);
	}
	return status;
}

static enum hi_status profile_peak(const struct hi_peaks *p, size_t entry,
				   struct hi_inspection *in, const struct hi_births *b,
				   struct hi_space_profile *profile, struct hi_error *err)
{
	enum hi_status status = hi_space_profile_begin(profile, err);

	if (status == HI_OK)
		status = pass_censuses(p, entry, b->end_ns - b->start_ns, profile, err);
	if (status == HI_OK)
		status = hi_space_profile_add(
			profile, in, p->series->entries[entry].point.wall_ns, err);
	return status;
}

static enum hi_status take_peak_objects(struct hi_peaks *p, size_t entry,
					struct hi_inspection *in,
					const struct hi_births *b, size_t number,
					struct hi_error *err)
{
	HI_GUARD(hi_space_profile_destroy) struct hi_space_profile *profile = NULL;
	struct hi_peak *peak = &p->report.peaks[number];
	struct peak_rows rows = {};
	enum hi_status status = hi_space_profile_create(&profile, err);

	if (status == HI_OK)
		status = profile_peak(p, entry, in, b, profile, err);
	if (status == HI_OK)
		status = add_space_rows(p, profile, &rows, err);
	if (status == HI_OK)
		status = add_older_rows(p, in, b, &rows, err);
	peak->rows = hi_arena_alloc(&p->arena, (rows.count + 1) * sizeof(*peak->rows));
	if (status == HI_OK && !peak->rows)
		status = fail_peaks(err);
	if (status == HI_OK && rows.count)
		memcpy(peak->rows, rows.items, rows.count * sizeof(*peak->rows));
	peak->n_rows = status == HI_OK ? rows.count : 0;
	peak->sample_bytes = b->sample_bytes;
	peak->detail = HI_PEAK_OBJECTS;
	hi_vector_free(&rows);
	return status;
}

/* Without a recording it has no rows yet. */
static enum hi_status read_peak_objects(struct hi_peaks *p, size_t entry, size_t number,
					struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	const struct hi_recorded *recorded = NULL;
	char census[24];
	const struct hi_run run = {.census = census};
	enum hi_status status;

	snprintf(census, sizeof(census), "%" PRIu32,
		 p->series->entries[entry].point.number);
	status = hi_inspect_open(p->options, &run, 0, &in, err);
	if (status == HI_OK)
		status = hi_inspect_recorded_if_any(in, &recorded, err);
	return status == HI_OK && recorded
		       ? take_peak_objects(p, entry, in, recorded->births, number, err)
		       : status;
}

/* Where the objects are damaged, the totals may be whole. */
static enum hi_status read_peak(struct hi_peaks *p, size_t entry, size_t number,
				struct hi_error *err)
{
	struct hi_peak *peak = &p->report.peaks[number];
	enum hi_status status = HI_OK;

	if (p->series->entries[entry].parts[HI_SNAPSHOTS_WHOLE].size) {
		peak->detail = HI_PEAK_TYPES;
		status = read_peak_objects(p, entry, number, err);
	}
	if (status == HI_BAD_DATA) {
		peak->is_damaged = true;
		peak->detail = HI_PEAK_TOTALS;
		status = HI_OK;
	}
	if (status == HI_OK && peak->detail != HI_PEAK_OBJECTS)
		status = take_peak_types(p, entry, peak, err);
	if (status == HI_OK)
		finish_peak(p, peak);
	return status;
}

/* ---- all of them ---- */

static enum hi_status take_points(struct hi_peaks *p, uint64_t *heights,
				  struct hi_error *err)
{
	size_t n = p->series->n_entries;

	p->points = hi_arena_alloc(&p->arena, n * sizeof(*p->points));
	if (!p->points)
		return fail_peaks(err);
	for (size_t i = 0; i < n; i++) {
		const struct hi_census_point *point = &p->series->entries[i].point;
		uint64_t before = i ? p->points[i - 1].wall_ns : 0;

		p->points[i] = (struct hi_peaks_point){
			point->number, point->wall_ns > before ? point->wall_ns : before,
			point->bytes};
		heights[i] = point->bytes;
	}
	p->report.points = p->points;
	p->report.n_points = n;
	return HI_OK;
}

static enum hi_status begin_peaks(struct hi_peaks *p, const uint64_t *heights,
				  const size_t *peaks, size_t n, struct hi_error *err)
{
	struct hi_peaks_report *r = &p->report;
	size_t top = 0;

	r->peaks = hi_arena_alloc(&p->arena, (n + 1) * sizeof(*r->peaks));
	if (!r->peaks)
		return fail_peaks(err);
	for (size_t i = 0; i < n; i++) {
		const struct hi_census_point *point = &p->series->entries[peaks[i]].point;

		r->peaks[i] = (struct hi_peak){.point = p->points[peaks[i]],
					       .time_ns = point->time_ns,
					       .objects = point->objects};
		if (heights[peaks[i]] > heights[peaks[top]])
			top = i;
	}
	r->peaks[top].is_top = true;
	r->n_peaks = n;
	return HI_OK;
}

static enum hi_status read_peaks(struct hi_peaks *p, uint64_t *heights, size_t *found,
				 size_t *scratch, struct hi_error *err)
{
	enum hi_status status = take_points(p, heights, err);
	size_t n = 0;

	if (status == HI_OK) {
		n = hi_peaks_find(heights, p->series->n_entries, p->request.most, found,
				  scratch);
		status = begin_peaks(p, heights, found, n, err);
	}
	for (size_t i = 0; status == HI_OK && i < n; i++)
		status = read_peak(p, found[i], i, err);
	return status;
}

/* Whose it is, as the first census has it. */
static enum hi_status take_peaks_target(struct hi_peaks *p, struct hi_error *err)
{
	struct hi_series_file_census c = {};
	enum hi_status status = hi_series_file_census_open(p->series, 0, &c, err);
	struct hi_peaks_report *r = &p->report;

	if (status != HI_OK)
		return status;
	r->pid = (int)hi_snapshot_number(c.snapshot, "head.pid", 0);
	r->exe = hi_arena_strdup(&p->arena, hi_snapshot_text(c.snapshot, "head.exe", ""));
	r->file = p->options->target.file;
	r->damaged = p->series->damaged;
	r->lost = p->series->lost;
	r->asked = p->request.most;
	hi_series_file_census_close(&c);
	return r->exe ? HI_OK : fail_peaks(err);
}

static enum hi_status find_and_read_peaks(struct hi_peaks *p, struct hi_error *err)
{
	size_t n = p->series->n_entries;
	HI_GUARD(free) uint64_t *heights = hi_calloc(n + 1, sizeof(*heights));
	HI_GUARD(free) size_t *found = hi_calloc(n + 1, sizeof(*found));
	HI_GUARD(free) size_t *scratch = hi_calloc(n + 1, sizeof(*scratch));
	enum hi_status status;

	if (!heights || !found || !scratch)
		return fail_peaks(err);
	status = take_peaks_target(p, err);
	return status == HI_OK ? read_peaks(p, heights, found, scratch, err) : status;
}

enum hi_status hi_peaks_read(const struct hi_options *options,
			     const struct hi_peaks_request *request,
			     struct hi_peaks **ret, struct hi_error *err)
{
	HI_GUARD(hi_peaks_destroy) struct hi_peaks *p = hi_calloc(1, sizeof(*p));
	enum hi_status status;

	if (!p)
		return fail_peaks(err);
	p->options = options;
	p->request = *request;
	status = hi_snapshots_open(options->target.file, &p->series, err);
	if (status == HI_OK)
		status = find_and_read_peaks(p, err);
	if (status == HI_OK)
		*ret = hi_take(p);
	return status;
}

const struct hi_peaks_report *hi_peaks_report_of(const struct hi_peaks *peaks)
{
	return &peaks->report;
}

void hi_peaks_destroy(struct hi_peaks *peaks)
{
	if (!peaks)
		return;
	hi_snapshots_close(peaks->series);
	hi_interner_free(&peaks->texts);
	hi_arena_free(&peaks->arena);
	free(peaks);
}
