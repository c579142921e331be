/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "session/inspect/inspect.h"
#include "session/mark_socket.h"
#include "session/snapshot/snapshot_source.h"

/* Bytes: less than this is not worth a new file. */
enum { LITTLE = 1 << 20 };

struct store_sink {
	const struct hi_options *options;
	const struct hi_run *run; /* for what the file keeps */
	struct hi_snapshots_writer *writer;
	bool *points, *graphs; /* entries of the writer that stay */
	bool *before;	       /* points, once more */
	uint64_t *places;      /* of entries: among the censuses that could be made */
	size_t capacity;
	uint64_t stride; /* only each so manieth census is made: --max-file */
	uint64_t calls;
	uint32_t before_exit; /* number of a census whose graph a page shows; 0: none */
	uint64_t too_large;   /* live bytes whose graph did not fit into --max-file */
	char news[HI_MARK_MAX + 64];
};

/* ---- what stays ---- */

static bool keeps_series_part(void *arg, size_t entry, enum hi_snapshots_kind kind)
{
	const struct store_sink *s = arg;

	return s->points[entry] && (kind == HI_SNAPSHOTS_TOTALS || s->graphs[entry]);
}

static bool make_room(struct store_sink *s)
{
	size_t want = s->writer->n_entries + 1;
	uint64_t *places;
	bool *more;

	if (want <= s->capacity)
		return true;
	want *= 2;
	if (!(more = hi_realloc_array(s->points, want, sizeof(*more))))
		return false;
	s->points = more;
	if (!(more = hi_realloc_array(s->before, want, sizeof(*more))))
		return false;
	s->before = more;
	if (!(more = hi_realloc_array(s->graphs, want, sizeof(*more))))
		return false;
	s->graphs = more;
	if (!(places = hi_realloc_array(s->places, want, sizeof(*places))))
		return false;
	s->places = places;
	s->capacity = want;
	return true;
}

static void choose_graphs_to_keep(struct store_sink *s, bool is_over)
{
	const struct hi_snapshots_writer *w = s->writer;
	size_t n = w->n_entries;

	memset(s->points, 1, n * sizeof(*s->points));
	hi_graphs_choose(&s->options->series.full, w->entries, n, is_over, s->graphs);
	for (size_t i = 0; s->before_exit && i < n; i++)
		s->graphs[i] |= w->entries[i].point.number == s->before_exit &&
				w->entries[i].parts[HI_SNAPSHOTS_WHOLE].size;
	hi_points_drop(w->entries, s->places, s->graphs, n, s->stride, s->points);
	/* The profile in the last one has all censuses. */
	if (s->run->kept.has_all_censuses && s->options->series.max_file && n)
		memset(s->points, 0, (n - 1) * sizeof(*s->points));
}

static uint64_t size_kept(struct store_sink *s)
{
	return hi_snapshots_size(s->writer, keeps_series_part, s);
}

/* The graph of the last census goes, and the next ones as large are not written. */
static void give_up_last(struct store_sink *s)
{
	size_t last = s->writer->n_entries - 1;

	s->graphs[last] = false;
	s->too_large = s->writer->entries[last].point.bytes;
}

/* What would be free without every second census; *taken_ret of them, and the stride
 * then. */
static uint64_t gain_of_halving(struct store_sink *s, size_t *taken_ret,
				uint64_t *stride_ret)
{
	const struct hi_snapshots_writer *w = s->writer;
	uint64_t before = size_kept(s), after;

	memcpy(s->before, s->points, w->n_entries * sizeof(*s->points));
	*stride_ret = s->stride;
	*taken_ret = hi_points_halve(w->entries, s->places, s->graphs, w->n_entries,
				     stride_ret, s->points);
	after = size_kept(s);
	return before - after;
}

/* Takes away what frees more: every second census, or the least graph. False: there is
 * nothing left to take. */
static bool drop_census_or_graph(struct store_sink *s, size_t *graphs_gone)
{
	const struct hi_snapshots_writer *w = s->writer;
	size_t n = w->n_entries, halved,
	       least = hi_graphs_least(w->entries, s->graphs, n);
	uint64_t stride, gain = gain_of_halving(s, &halved, &stride);

	if (halved &&
	    (least == n || gain >= w->entries[least].parts[HI_SNAPSHOTS_WHOLE].size)) {
		s->stride = stride;
		return true;
	}
	memcpy(s->points, s->before, n * sizeof(*s->points));
	if (least == n)
		return false;
	++*graphs_gone;
	if (least == n - 1)
		give_up_last(s);
	else
		s->graphs[least] = false;
	return true;
}

static void note_dropped(struct store_sink *s, uint64_t stride_before, size_t gone)
{
	char size[24], every[80] = "", graphs[80] = "";

	if (s->stride != stride_before)
		snprintf(every, sizeof(every),
			 "; every second census is dropped, from now on one of %" PRIu64
			 " is made",
			 s->stride);
	if (gone)
		snprintf(graphs, sizeof(graphs), "; %zu graph%s dropped", gone,
			 gone == 1 ? " is" : "s are");
	snprintf(s->news, sizeof(s->news), "--max-file %s is reached%s%s",
		 hi_text_bytes(size, s->options->series.max_file), every, graphs);
}

static void fit_into_max_file(struct store_sink *s)
{
	const struct hi_snapshots_writer *w = s->writer;
	const struct hi_snapshots_entry *last = &w->entries[w->n_entries - 1];
	uint64_t most = s->options->series.max_file, stride = s->stride;
	size_t gone = 0;

	if (s->graphs[w->n_entries - 1] &&
	    last->parts[HI_SNAPSHOTS_WHOLE].size + last->parts[HI_SNAPSHOTS_TOTALS].size >
		    most) {
		give_up_last(s);
		gone = 1;
	}
	while (size_kept(s) > most && drop_census_or_graph(s, &gone))
		;
	note_dropped(s, stride, gone);
}

/* Entries that stay keep their places. */
static enum hi_status thin_store(struct store_sink *s, struct hi_error *err)
{
	size_t before = s->writer->n_entries, n = 0;
	enum hi_status status = hi_snapshots_thin(s->writer, keeps_series_part, s, err);

	for (size_t i = 0; status == HI_OK && i < before; i++)
		if (s->points[i])
			s->places[n++] = s->places[i];
	return status;
}

/* Writes the file anew without dropped parts when these are most of it. */
static enum hi_status rewrite_without_dropped(struct store_sink *s, bool at_the_end,
					      struct hi_error *err)
{
	uint64_t most = s->options->series.max_file, kept;

	choose_graphs_to_keep(s, at_the_end);
	kept = size_kept(s);
	if (most && kept > most) {
		fit_into_max_file(s);
		kept = size_kept(s);
	} else if (!at_the_end && s->writer->end - kept < LITTLE + kept &&
		   (!most || s->writer->end <= most)) {
		return HI_OK;
	}
	return kept < s->writer->end ? thin_store(s, err) : HI_OK;
}

/* ---- a census ---- */

static struct hi_census_point point_of(const struct hi_series_sample *s)
{
	return (struct hi_census_point){.number = (uint32_t)s->number,
					.time_ns = s->time_ns,
					.wall_ns = s->wall_ns,
					.cpu_ns = s->cpu_ns,
					.pause_ns = s->pause_ns,
					.objects = s->objects,
					.bytes = s->bytes,
					.leaked = s->leaks.certain.bytes};
}

/* Where the census that is made now stands among those that could be made. */
static uint64_t next_place(const struct store_sink *s)
{
	size_t n = s->writer->n_entries;

	return n ? hi_points_next(s->places[n - 1], s->stride) : 0;
}

static enum hi_status put_parts(struct store_sink *s, struct hi_inspection *in,
				const struct hi_series_sample *sample,
				struct hi_error *err)
{
	struct hi_snapshots_writer *w = s->writer;
	struct hi_census_point point = point_of(sample);
	struct hi_snapshot_options options = {
		.compress = in->options->snap.compress,
		.threads = hi_inspection_threads(in) ? hi_inspection_threads(in) : 2,
		.at = w->end};
	struct hi_report_header header;
	uint64_t place = next_place(s);
	enum hi_status status = hi_inspect_make_header(in, &header, err);

	if (status == HI_OK)
		status = hi_snapshot_save_totals(in, &header, w->fd, w->end, err);
	if (status == HI_OK)
		status = hi_snapshots_commit(w, HI_SNAPSHOTS_TOTALS, &point, err);
	if (status != HI_OK)
		return status;
	s->places[w->n_entries - 1] = place;
	choose_graphs_to_keep(s, false);
	if (!s->graphs[w->n_entries - 1] || point.bytes >= s->too_large)
		return HI_OK;
	options.at = w->end;
	status = hi_snapshot_save(in, &header, w->fd, &options, err);
	return status == HI_OK ? hi_snapshots_commit(w, HI_SNAPSHOTS_WHOLE, &point, err)
			       : status;
}

static void note_census(struct store_sink *s, const struct hi_series_sample *sample)
{
	const struct hi_snapshots_entry *e =
		s->writer->entries + s->writer->n_entries - 1;
	char bytes[24], objects[32], time[24], graph[24], leaks[160];

	hi_leak_totals_text(leaks, sizeof(leaks), &sample->leaks);
	snprintf(s->news, sizeof(s->news),
		 "census %" PRIu64 ", %s: %s live, %s objects%s%s%s%s", sample->number,
		 sample->wall_ns ? hi_text_duration(time, sample->wall_ns) : "0 s",
		 hi_text_bytes(bytes, sample->bytes),
		 hi_text_count(objects, sample->objects), *leaks ? ", " : "", leaks,
		 e->parts[HI_SNAPSHOTS_WHOLE].size ? "; graph " : "",
		 e->parts[HI_SNAPSHOTS_WHOLE].size
			 ? hi_text_bytes(graph, e->parts[HI_SNAPSHOTS_WHOLE].size)
			 : "");
}

/* The report of a recording is of the census before the exit: its graph stays, too. */
static void keep_before_exit_of_record(struct store_sink *s,
				       const struct hi_inspection *in)
{
	size_t n = s->writer->n_entries;

	if (n && in->image->stats.at_exit && s->run->recorder && !s->run->kept.save)
		s->before_exit = s->writer->entries[n - 1].point.number;
}

static enum hi_status put_census_in_store(void *sink,
					  const struct hi_series_header *header,
					  const struct hi_series_census_event *event,
					  struct hi_error *err)
{
	struct store_sink *s = sink;
	enum hi_status status;

	(void)header;
	s->news[0] = 0;
	/* With --at alone there is no schedule: the stride is applied here. */
	if (hi_series_at_each_hit(&s->options->series) && s->calls++ % s->stride)
		return HI_OK;
	if (!make_room(s))
		return hi_fail_memory(err, "series");
	keep_before_exit_of_record(s, event->in);
	status = put_parts(s, event->in, event->sample, err);
	if (status == HI_OK) {
		/* Else the biographies or the space profile have news of it. */
		if (!s->run->kept.save)
			note_census(s, event->sample);
		status = rewrite_without_dropped(s, false, err);
	}
	if (status != HI_OK)
		hi_snapshots_take_back(s->writer);
	return status;
}

static enum hi_status put_mark_in_store(void *sink, const struct hi_series_header *header,
					const struct hi_series_mark_event *event,
					struct hi_error *err)
{
	struct store_sink *s = sink;
	struct hi_snapshots_mark mark = {.census = (uint32_t)event->census,
					 .wall_ns = event->wall_ns,
					 .cpu_ns = event->cpu_ns,
					 .text = event->text};
	enum hi_status status = hi_snapshots_put_mark(s->writer, &mark, err);
	char time[24];

	(void)header;
	snprintf(s->news, sizeof(s->news), "mark, %s: %s",
		 event->wall_ns ? hi_text_duration(time, event->wall_ns) : "0 s",
		 event->text);
	return status;
}

/* "graphs of 1, 5 and 9". */
static void list_kept_graphs(const struct hi_snapshots_writer *w, char *text, size_t size)
{
	size_t n = 0, used = 0;

	for (size_t i = 0; i < w->n_entries; i++)
		n += w->entries[i].parts[HI_SNAPSHOTS_WHOLE].size != 0;
	if (!n)
		snprintf(text, size, "no graph");
	else if (n > 8)
		snprintf(text, size, "%zu graphs", n);
	for (size_t i = 0, k = 0; n && n <= 8 && i < w->n_entries; i++)
		if (w->entries[i].parts[HI_SNAPSHOTS_WHOLE].size)
			used += (size_t)snprintf(text + used,
						 used < size ? size - used : 0, "%s%u",
						 k++	 ? ", "
						 : n > 1 ? "graphs of "
							 : "the graph of ",
						 w->entries[i].point.number);
}

static enum hi_status end_store_sink(void *sink, const struct hi_series_header *header,
				     const struct hi_series_end_event *event,
				     struct hi_error *err)
{
	struct store_sink *s = sink;
	static const enum hi_snapshots_end ends[] = {
		[HI_SERIES_OVER] = HI_SNAPSHOTS_OVER,
		[HI_SERIES_EXITED] = HI_SNAPSHOTS_EXITED,
		[HI_SERIES_STOPPED] = HI_SNAPSHOTS_STOPPED,
		[HI_SERIES_FAILED] = HI_SNAPSHOTS_FAILED,
	};
	struct hi_snapshots_writer *w = s->writer;
	char graphs[120], size[24];
	struct hi_error unused;
	enum hi_status status;

	(void)header;
	/* Without the space for that it stays as it is. */
	if (make_room(s))
		(void)!rewrite_without_dropped(s, true, &unused);
	status = hi_snapshots_finish(w, ends[event->end], err);
	list_kept_graphs(w, graphs, sizeof(graphs));
	snprintf(s->news, sizeof(s->news), "%.80s: %s, %zu census%s, %s", w->path,
		 hi_text_bytes(size, w->end), w->n_entries, w->n_entries == 1 ? "" : "es",
		 graphs);
	return status;
}

static const char *news_of_store(const void *sink)
{
	return ((const struct store_sink *)sink)->news;
}

static uint64_t stride_of_store(const void *sink)
{
	return ((const struct store_sink *)sink)->stride;
}

static void destroy_store_sink(void *sink)
{
	struct store_sink *s = sink;

	hi_snapshots_writer_destroy(s->writer);
	free(s->points);
	free(s->before);
	free(s->places);
	free(s->graphs);
	free(s);
}

static const struct hi_series_sink_ops store_sink_ops = {
	.census = put_census_in_store,
	.mark = put_mark_in_store,
	.end = end_store_sink,
	.news = news_of_store,
	.stride = stride_of_store,
	.destroy = destroy_store_sink,
};

enum hi_status hi_series_store_open(const struct hi_options *options,
				    const struct hi_run *run, struct hi_series_sink *ret,
				    struct hi_error *err)
{
	struct store_sink *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "series");
	*s = (struct store_sink){
		.options = options, .run = run, .stride = 1, .too_large = UINT64_MAX};
	status = hi_snapshots_create(options->output.file, &s->writer, err);
	if (status == HI_OK)
		*ret = (struct hi_series_sink){&store_sink_ops, s};
	else
		destroy_store_sink(s);
	return status;
}
