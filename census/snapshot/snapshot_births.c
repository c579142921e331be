/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_births.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_internal.h"
#include "census/snapshot/snapshot_sources.h"

static const struct hi_section_member context_columns[] = {
	HI_SECTION_MEMBER("contexts", struct hi_recorded, contexts.nodes,
			  contexts.n_nodes),
	HI_SECTION_MEMBER("contexts.stacks", struct hi_recorded, contexts.contexts,
			  contexts.n_contexts),
	HI_SECTION_MEMBER("contexts.totals", struct hi_recorded, totals,
			  contexts.n_contexts),
	HI_SECTION_MEMBER("contexts.costs", struct hi_recorded, overheads,
			  contexts.n_contexts),
	HI_SECTION_MEMBER("contexts.ticks", struct hi_recorded, ticks,
			  contexts.n_contexts),
	HI_SECTION_MEMBER("contexts.ports", struct hi_recorded, ports,
			  contexts.n_contexts),
};
static const struct hi_section_member births_columns[] = {
	HI_SECTION_MEMBER("births.threads", struct hi_births, threads, n_threads),
	HI_SECTION_MEMBER("births.context", struct hi_births, context, n_objects),
	HI_SECTION_MEMBER("births.thread", struct hi_births, thread, n_objects),
	HI_SECTION_MEMBER("births.time", struct hi_births, time_ns, n_objects),
	HI_SECTION_MEMBER("births.size", struct hi_births, size, n_objects),
};
static const struct hi_property births_numbers[] = {
	HI_PROPERTY("births.start", struct hi_births, start_ns),
	HI_PROPERTY("births.end", struct hi_births, end_ns),
	HI_PROPERTY("recording.sample_bytes", struct hi_births, sample_bytes),
	HI_PROPERTY("recording.traced", struct hi_births, is_traced),
	HI_PROPERTY("births.joined", struct hi_births, joined),
	HI_PROPERTY("births.without_object", struct hi_births, without_object),
	HI_PROPERTY("births.too_large", struct hi_births, too_large),
};
static const struct hi_property recording_numbers[] = {
#define RECORDING_NUMBER(name, field)                                                    \
	HI_PROPERTY("recording." name, struct hi_recorded, field)
	RECORDING_NUMBER("events", counts.events),
	RECORDING_NUMBER("lost", counts.lost),
	RECORDING_NUMBER("unknown_frees", counts.unknown_frees),
	RECORDING_NUMBER("lost_frees", counts.lost_frees),
	RECORDING_NUMBER("failed_reallocs", counts.failed_reallocs),
	RECORDING_NUMBER("failed_allocs", counts.failed_allocs),
	RECORDING_NUMBER("lost_begins", counts.lost_begins),
	RECORDING_NUMBER("lost_ends", counts.lost_ends),
	RECORDING_NUMBER("sampled", counts.sampled),
	RECORDING_NUMBER("other_kinds", counts.other_kinds),
	RECORDING_NUMBER("first_event", counts.first_ns),
	RECORDING_NUMBER("last_event", counts.last_ns),
	RECORDING_NUMBER("ticks", counts.ticks),
	RECORDING_NUMBER("ticks_in_probes", counts.ticks_in_probes),
	RECORDING_NUMBER("scan", time.scan_ns),
	RECORDING_NUMBER("target_time", time.target_ns),
	RECORDING_NUMBER("tool_time", time.tool_ns),
	RECORDING_NUMBER("threads_missed", time.missed),
#undef RECORDING_NUMBER
};
#define COUNT_OF(table) (sizeof(table) / sizeof(*(table)))

/* Members of a row beside its number. */
static const struct hi_row_member frame_members[] = {
#define FRAME_MEMBER(name)                                                               \
	HI_ROW_MEMBER(struct hi_snapshot_frame, name, struct hi_frame_row, name)
	FRAME_MEMBER(module), FRAME_MEMBER(function), FRAME_MEMBER(file),
	FRAME_MEMBER(line),   FRAME_MEMBER(offset),   FRAME_MEMBER(flags),
#undef FRAME_MEMBER
};
static const struct hi_row_map frame_map =
	HI_ROW_MAP("frames", struct hi_frame_row, frame_members);

static const struct hi_section_member pause_rows =
	HI_SECTION_MEMBER("pauses", struct hi_recorded, pauses, n_pauses);

/* ---- writing ---- */

static enum hi_status put_frames(struct hi_snapshot_writer *w, const struct hi_frames *f,
				 struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin_rows(w, "frames", err);

	for (uint32_t i = 0; i < f->n_frames; i++)
		for (uint32_t k = f->first[i]; k < f->first[i + 1] && status == HI_OK;
		     k++) {
			struct hi_snapshot_frame row = {.frame = i};

			status = hi_snapshot_pack_row(w, &frame_map, &f->rows[k], &row,
						      err);
			if (status == HI_OK)
				status = hi_snapshot_append(w, &row, sizeof(row), err);
		}
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

static enum hi_status put_births_numbers(struct hi_snapshot_writer *w,
					 const struct hi_recorded *r,
					 struct hi_error *err)
{
	enum hi_status status = hi_snapshot_put_properties(
		w, "", births_numbers, COUNT_OF(births_numbers), r->births, err);

	return status == HI_OK
		       ? hi_snapshot_put_properties(w, "", recording_numbers,
						    COUNT_OF(recording_numbers), r, err)
		       : status;
}

enum hi_status hi_snapshot_put_births(struct hi_snapshot_writer *w,
				      const struct hi_recorded *r, struct hi_error *err)
{
	enum hi_status status;

	if (r->frames.n_frames != r->contexts.n_frames)
		return hi_fail(err, HI_USAGE, 0, "snapshot: %u frames have names, not %u",
			       r->frames.n_frames, r->contexts.n_frames);
	status = put_frames(w, &r->frames, err);
	if (status == HI_OK)
		status = hi_snapshot_put_members(w, context_columns,
						 COUNT_OF(context_columns), r, err);
	if (status == HI_OK)
		status = hi_snapshot_put_members(
			w, births_columns, COUNT_OF(births_columns), r->births, err);
	if (status == HI_OK)
		status = hi_snapshot_put_sources(w, &r->pieces, err);
	if (status == HI_OK)
		status = hi_snapshot_put_marked(w, &r->marked, err);
	if (status == HI_OK && r->n_pauses)
		status = hi_snapshot_put_members(w, &pause_rows, 1, r, err);
	if (status == HI_OK && r->kept)
		status = hi_snapshot_put_events(w, r->kept, err);
	return status == HI_OK ? put_births_numbers(w, r, err) : status;
}

/* ---- reading ---- */

/* The result of hi_snapshot_births(), and the memory that it owns. */
struct loaded_births {
	struct hi_recorded recorded; /* first */
	struct hi_births births;
	struct hi_frame_row *rows;
	uint32_t *first;
	struct hi_recorded_source *sources;
	struct hi_recorded_mark *marks;
};

void hi_recorded_destroy(struct hi_recorded *recorded)
{
	struct loaded_births *l = (struct loaded_births *)recorded;

	if (!l)
		return;
	free(l->rows);
	free(l->first);
	free(l->sources);
	free(l->marks);
	free(l);
}

static enum hi_status take_frames(struct hi_snapshot *s, struct loaded_births *l,
				  struct hi_error *err)
{
	struct hi_frames *f = &l->recorded.frames;
	const struct hi_snapshot_frame *rows = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_take_rows(s, &frame_map, NULL, &l->rows, &n, err);

	if (status == HI_OK)
		status = hi_snapshot_rows(s, "frames", &rows, &n, err);
	if (status != HI_OK)
		return status;
	l->first = hi_calloc(n + 1, sizeof(*l->first));
	if (!l->first)
		return hi_fail_memory(err, "frames");
	for (uint32_t i = 0; i < n; i++)
		if (rows[i].frame == f->n_frames)
			l->first[f->n_frames++] = i;
	l->first[f->n_frames] = (uint32_t)n;
	f->n_rows = (uint32_t)n;
	f->rows = l->rows;
	f->first = l->first;
	return HI_OK;
}

static enum hi_status take_contexts(struct hi_snapshot *s, struct hi_recorded *r,
				    struct hi_error *err)
{
	enum hi_status status = hi_snapshot_take_members(
		s, context_columns, COUNT_OF(context_columns), r, err);

	r->contexts.n_frames = r->frames.n_frames;
	return status == HI_OK && !hi_contexts_are_valid(&r->contexts)
		       ? hi_snapshot_bad(s, "contexts", err, "not a tree")
		       : status;
}

static enum hi_status take_births_columns(struct hi_snapshot *s, struct hi_births *b,
					  struct hi_error *err)
{
	enum hi_status status = hi_snapshot_take_members(
		s, births_columns, COUNT_OF(births_columns), b, err);

	for (uint32_t i = 0; i < b->n_objects && status == HI_OK; i++)
		if (b->context[i] < HI_BIRTH_OTHER && b->thread[i] >= b->n_threads)
			return hi_snapshot_bad(s, "births.thread", err, "object %u", i);
	return status;
}

enum hi_status hi_snapshot_births(struct hi_snapshot *s, hi_node n_objects,
				  struct hi_recorded **ret, struct hi_error *err)
{
	struct loaded_births *l = hi_calloc(1, sizeof(*l));
	HI_GUARD(hi_recorded_destroy) struct hi_recorded *r = l ? &l->recorded : NULL;
	enum hi_status status;

	if (!l)
		return hi_fail_memory(err, "births");
	hi_snapshot_bound(s, HI_BOUND_OBJECTS, n_objects);
	l->births.n_objects = n_objects;
	r->births = &l->births;
	status = take_frames(s, l, err);
	if (status == HI_OK)
		status = take_contexts(s, r, err);
	if (status == HI_OK)
		status = take_births_columns(s, &l->births, err);
	if (status == HI_OK)
		status = hi_snapshot_sources(s, &l->sources, &r->pieces, err);
	if (status == HI_OK)
		status = hi_snapshot_marked(s, r->totals, &r->marked, &l->marks, err);
	if (status == HI_OK)
		status = hi_snapshot_take_members(s, &pause_rows, 1, r, err);
	if (status != HI_OK)
		return status;
	hi_snapshot_take_properties(s, "", births_numbers, COUNT_OF(births_numbers),
				    &l->births);
	hi_snapshot_take_properties(s, "", recording_numbers, COUNT_OF(recording_numbers),
				    r);
	r->has_events = hi_snapshot_event_counts(s, &r->event_counts);
	*ret = hi_take(r);
	return HI_OK;
}
