/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/spacetime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "census/snapshot/snapshot_functions.h"
#include "census/snapshot/snapshot_series.h"
#include "session/lives_of_file.h"
#include "session/census_cache.h"
#include "session/inspect/inspect.h"
#include "session/series/file.h"
#include "session/series/rows.h"

enum { JOB_TEXT = 256 };

/* The function in a row of the census before: it is the same one in most. */
struct known_function {
	const char *function, *file;
	uint32_t band;
};

/* A series while it is made. */
struct bands_reading {
	const struct hi_options *options;
	const struct hi_snapshots *file;
	struct hi_spacetime_bands *bands;
	struct hi_census_cache cache; /* of retainers: their sets keep their numbers */
	struct HI_VECTOR(struct known_function) known; /* by row */
	struct hi_interner texts;		       /* of these */
};

static enum hi_status begin_bands(struct bands_reading *r, const char *exe, int pid,
				  const char *by, struct hi_error *err)
{
	char job[JOB_TEXT];

	if (r->bands->series)
		return HI_OK;
	snprintf(job, sizeof(job), "%.160s pid %d by %s", hi_base_name(exe), pid, by);
	return hi_hp_series_create(job, "", &r->bands->series, err);
}

static double seconds_of_ns(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* ---- by function: sums in the totals ---- */

/* A function of a file: others may have its name. */
static const char *name_live_function(const struct hi_live_function *f,
				      char out[JOB_TEXT])
{
	static const char *const kinds[] = {[HI_LIVE_FUNCTION_BEFORE] =
						    "(older than the recording)",
					    [HI_LIVE_FUNCTION_OTHER] = "(not recorded)",
					    [HI_LIVE_FUNCTION_NO_STACK] = "(no stack)"};

	if (f->kind != HI_LIVE_FUNCTION_NAMED)
		return kinds[f->kind];
	snprintf(out, JOB_TEXT, "%.180s%s%.60s%s", f->function, *f->file ? " (" : "",
		 hi_base_name(f->file), *f->file ? ")" : "");
	return out;
}

/* A copy that stays; "": out of memory. */
static const char *keep_function_text(struct bands_reading *r, const char *text)
{
	return *text ? hi_interner_name(&r->texts, hi_interner_add(&r->texts, text)) : "";
}

static enum hi_status learn_function(struct bands_reading *r,
				     const struct hi_live_function *row,
				     struct known_function *known, struct hi_error *err)
{
	char name[JOB_TEXT];

	known->function = keep_function_text(r, row->function);
	known->file = keep_function_text(r, row->file);
	if (strcmp(known->function, row->function) != 0 ||
	    strcmp(known->file, row->file) != 0)
		return hi_fail_memory(err, "functions");
	return hi_hp_series_name(r->bands->series, name_live_function(row, name),
				 &known->band, err);
}

static enum hi_status put_live_function(struct bands_reading *r, size_t i,
					const struct hi_live_function *row,
					struct hi_error *err)
{
	struct known_function *known;
	enum hi_status status = HI_OK;

	while (r->known.count <= i)
		if (!hi_vector_push(&r->known, (struct known_function){}))
			return hi_fail_memory(err, "functions");
	known = &r->known.items[i];
	if (row->kind != HI_LIVE_FUNCTION_NAMED || !known->function ||
	    strcmp(known->function, row->function) != 0 ||
	    strcmp(known->file, row->file) != 0)
		status = learn_function(r, row, known, err);
	if (row->kind != HI_LIVE_FUNCTION_NAMED)
		known->function = NULL;
	return status == HI_OK ? hi_hp_series_value(r->bands->series, known->band,
						    row->bytes, err)
			       : status;
}

static enum hi_status put_live_functions(struct bands_reading *r,
					 const struct hi_snapshots_entry *entry,
					 const struct hi_live_function *rows, size_t n,
					 struct hi_error *err)
{
	enum hi_status status = hi_hp_series_sample(
		r->bands->series, seconds_of_ns(entry->point.wall_ns), err);

	for (size_t i = 0; i < n && status == HI_OK; i++)
		if (rows[i].bytes)
			status = put_live_function(r, i, &rows[i], err);
	return status;
}

/* HI_NOT_FOUND: the census has no such sums. */
static enum hi_status read_live_functions(struct bands_reading *r, size_t i,
					  struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	HI_GUARD(free) struct hi_live_function *rows = NULL;
	size_t n = 0;
	enum hi_status status;

	if (!r->file->entries[i].parts[HI_SNAPSHOTS_TOTALS].size)
		return HI_NOT_FOUND;
	status = hi_snapshots_part(r->file, i, HI_SNAPSHOTS_TOTALS, &s, err);
	if (status == HI_OK)
		status = hi_snapshot_functions(s, &rows, &n, err);
	if (status == HI_OK)
		status = begin_bands(r, hi_snapshot_text(s, "head.exe", ""),
				     (int)hi_snapshot_number(s, "head.pid", 0),
				     "function", err);
	return status == HI_OK ? put_live_functions(r, &r->file->entries[i], rows, n, err)
			       : status;
}

/* ---- by retainers: of the graphs ---- */

static enum hi_status put_retainer_rows(struct bands_reading *r,
					const struct hi_snapshots_entry *entry,
					const struct hi_series_sample *sample,
					struct hi_error *err)
{
	struct hi_hp_series *series = r->bands->series;
	enum hi_status status =
		hi_hp_series_sample(series, seconds_of_ns(entry->point.wall_ns), err);

	for (size_t i = 0; i < sample->n_rows && status == HI_OK; i++)
		if (sample->rows[i].bytes)
			status = hi_hp_series_band(series, sample->rows[i].name,
						   sample->rows[i].bytes, err);
	return status;
}

static enum hi_status read_retainers_of_graph(struct bands_reading *r, size_t i,
					      struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	const struct hi_snapshots_entry *entry = &r->file->entries[i];
	struct hi_series_sample sample = {.number = 1};
	struct hi_report_header header;
	char number[24];
	const struct hi_run run = {.census_cache = &r->cache, .census = number};
	enum hi_status status;

	if (!entry->parts[HI_SNAPSHOTS_WHOLE].size)
		return HI_NOT_FOUND;
	snprintf(number, sizeof(number), "%" PRIu32, entry->point.number);
	status = hi_inspect_open(r->options, &run, 0, &in, err);
	if (status == HI_OK)
		status = hi_inspect_make_header(in, &header, err);
	if (status == HI_OK)
		status = hi_series_retainers(in, &sample, err);
	if (status == HI_OK)
		status = begin_bands(r, header.exe, header.pid, "retainer", err);
	return status == HI_OK ? put_retainer_rows(r, entry, &sample, err) : status;
}

static enum hi_status finish_bands(struct bands_reading *r, struct hi_error *err)
{
	return hi_hp_series_finish(r->bands->series, err);
}

/* ---- by biography ---- */

/* As heap profiles of bio have them; without the bands that have nothing. */
static enum hi_status put_biography(struct hi_hp_series *series,
				    const struct hi_bio_census_row *census,
				    struct hi_error *err)
{
	uint64_t bytes[HI_BIO_PARTS];
	enum hi_status status =
		hi_hp_series_sample(series, seconds_of_ns(census->at_ns), err);

	hi_bio_row_parts(&census->row, bytes);
	for (unsigned part = 0; part < HI_BIO_PARTS && status == HI_OK; part++)
		if (bytes[part])
			status = hi_hp_series_band(series, hi_bio_part_name(part),
						   bytes[part], err);
	return status;
}

static enum hi_status read_biography(struct bands_reading *r, struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	const struct hi_bio_summary *lives;
	struct hi_report_header header;
	enum hi_status status = hi_inspect_open(r->options, NULL, 0, &in, err);

	r->bands->by = "biography";
	if (status == HI_OK)
		status = hi_inspect_lives(in, &lives, err);
	if (status == HI_OK)
		status = hi_inspect_make_header(in, &header, err);
	if (status == HI_OK)
		status = begin_bands(r, header.exe, header.pid, "biography", err);
	/* The first one has a time alone. */
	for (size_t i = 1; status == HI_OK && i < lives->n_censuses; i++)
		status = put_biography(r->bands->series, &lives->censuses[i], err);
	return status == HI_OK ? finish_bands(r, err) : status;
}

/* They are in the last graph of a file, whatever became of its end. */
static bool has_biographies_at_end(const struct hi_snapshots *file)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_error unused;
	size_t i = file->n_entries;

	while (i && !file->entries[i - 1].parts[HI_SNAPSHOTS_WHOLE].size)
		i--;
	return i &&
	       hi_snapshots_part(file, i - 1, HI_SNAPSHOTS_WHOLE, &s, &unused) == HI_OK &&
	       hi_snapshot_has(s, "lives.censuses");
}

/* ---- of each census that has it ---- */

typedef enum hi_status read_bands_fn(struct bands_reading *r, size_t i,
				     struct hi_error *err);

/* what: the bands need; command: makes a file that has it. */
static enum hi_status read_each_census(struct bands_reading *r, read_bands_fn *read,
				       const char *what, const char *command,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < r->file->n_entries; i++) {
		status = read(r, i, err);
		if (status == HI_NOT_FOUND)
			r->bands->left_out++;
		else if (status != HI_OK)
			return status;
	}
	if (r->bands->series)
		return finish_bands(r, err);
	return hi_fail(err, HI_USAGE, 0,
		       "--by %s: %.120s has no %s: make a file that has them with "
		       "heapinspect %s",
		       r->bands->by, r->options->target.file, what, command);
}

static enum hi_status read_bands_of_series(struct bands_reading *r, enum hi_bands_by by,
					   struct hi_error *err)
{
	switch (by) {
	case HI_BANDS_BY_FUNCTION:
		r->bands->by = "function";
		return read_each_census(r, read_live_functions, "live bytes by function",
					"record --pid N --every 1s -o FILE", err);
	case HI_BANDS_BY_RETAINER:
		r->bands->by = "retainer";
		return read_each_census(
			r, read_retainers_of_graph, "graphs",
			"snap --pid N --every 1s --full all -o FILE (or a heap profile "
			"with retainers --pid N --every 1s --hp FILE.hp)",
			err);
	case HI_BANDS_BY_BIOGRAPHY:
		if (!has_biographies_at_end(r->file))
			return hi_fail(err, HI_USAGE, 0,
				       "--by biography: %.120s has no biographies: make "
				       "a file that has them with heapinspect bio --pid "
				       "N -o FILE",
				       r->options->target.file);
		return read_biography(r, err);
	default:
		r->bands->by = "type";
		r->bands->is_type = true;
		return hi_series_file_read(r->options->target.file, &r->bands->series,
					   err);
	}
}

/* ---- all of it ---- */

static enum hi_status refuse_one_heap(const struct hi_options *o, struct hi_error *err)
{
	return hi_fail(err, HI_USAGE, 0,
		       "%.160s has one heap and nothing over time: snap --every and "
		       "record --every write files of many censuses",
		       o->target.file);
}

/* Does the file of one heap have biographies? Only its first page is read. */
static bool has_biographies(const char *path)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_error unused;

	return hi_snapshot_open(path, &s, &unused) == HI_OK &&
	       hi_snapshot_has(s, "lives.censuses");
}

static enum hi_status read_profile_bands(struct bands_reading *r, struct hi_error *err)
{
	const struct hi_options *o = r->options;

	if (o->over_time.has_by)
		return hi_fail(err, HI_USAGE, 0,
			       "--by: %.160s is no file of many censuses; a heap profile "
			       "has the bands that it was written with",
			       o->target.file);
	r->bands->by = "profile";
	return hi_hp_read(o->target.file, &r->bands->series, err);
}

/* Which census a sample is: the one of its time. */
static enum hi_status number_samples(struct bands_reading *r, struct hi_error *err)
{
	const struct hi_hp_series *s = r->bands->series;
	uint32_t *numbers = hi_calloc(s->n_samples + 1, sizeof(*numbers));
	size_t at = 0;

	if (!numbers)
		return hi_fail_memory(err, "censuses");
	for (size_t i = 0; i < s->n_samples; i++) {
		while (at < r->file->n_entries &&
		       seconds_of_ns(r->file->entries[at].point.wall_ns) < s->times[i])
			at++;
		if (at < r->file->n_entries &&
		    seconds_of_ns(r->file->entries[at].point.wall_ns) <= s->times[i])
			numbers[i] = r->file->entries[at].point.number;
	}
	r->bands->censuses = numbers;
	return HI_OK;
}

enum hi_status hi_spacetime_bands_read(const struct hi_options *options,
				       struct hi_spacetime_bands *ret,
				       struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *file = NULL;
	struct bands_reading r = {.options = options, .bands = ret};
	const char *path = options->target.file;
	enum hi_bands_by by = options->over_time.by;
	enum hi_status status;

	*ret = (struct hi_spacetime_bands){};
	if (hi_snapshot_is_one(path)) {
		if (!options->over_time.has_by && has_biographies(path))
			by = HI_BANDS_BY_BIOGRAPHY;
		return by == HI_BANDS_BY_BIOGRAPHY ? read_biography(&r, err)
						   : refuse_one_heap(options, err);
	}
	if (!hi_snapshots_is_one(path))
		return read_profile_bands(&r, err);
	status = hi_snapshots_open(path, &file, err);
	r.file = file;
	if (status == HI_OK) {
		ret->damaged = file->damaged;
		ret->lost = file->lost;
		status = read_bands_of_series(&r, by, err);
	}
	if (status == HI_OK && by != HI_BANDS_BY_BIOGRAPHY)
		status = number_samples(&r, err);
	hi_census_cache_free(&r.cache);
	hi_interner_free(&r.texts);
	hi_vector_free(&r.known);
	return status;
}

void hi_spacetime_bands_free(struct hi_spacetime_bands *bands)
{
	hi_hp_series_destroy(bands->series);
	free(bands->censuses);
	*bands = (struct hi_spacetime_bands){};
}
