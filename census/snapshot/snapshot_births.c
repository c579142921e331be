/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_births.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_internal.h"
#include "census/snapshot/snapshot_sources.h"

/* Sections of columns of hi_births, and properties of its numbers and of the counts. */
#define BIRTHS_COLUMNS(X)                                                                \
	X("births.context", context, uint32_t)                                           \
	X("births.thread", thread, uint32_t)                                             \
	X("births.time", time_ns, uint64_t)                                              \
	X("births.size", size, uint64_t)
#define BIRTHS_NUMBERS(X)                                                                \
	X("births.start", start_ns)                                                      \
	X("births.end", end_ns)                                                          \
	X("recording.sample_bytes", sample_bytes)                                        \
	X("recording.traced", is_traced)                                                 \
	X("births.joined", joined)                                                       \
	X("births.without_object", without_object)                                       \
	X("births.too_large", too_large)
#define RECORDING_NUMBERS(X)                                                             \
	X("recording.events", events)                                                    \
	X("recording.lost", lost)                                                        \
	X("recording.unknown_frees", unknown_frees)                                      \
	X("recording.lost_frees", lost_frees)                                            \
	X("recording.failed_reallocs", failed_reallocs)                                  \
	X("recording.failed_allocs", failed_allocs)                                      \
	X("recording.lost_begins", lost_begins)                                          \
	X("recording.lost_ends", lost_ends)                                              \
	X("recording.sampled", sampled)                                                  \
	X("recording.other_kinds", other_kinds)                                          \
	X("recording.first_event", first_ns)                                             \
	X("recording.last_event", last_ns)                                               \
	X("recording.ticks", ticks)                                                      \
	X("recording.ticks_in_probes", ticks_in_probes)
#define TIME_NUMBERS(X)                                                                  \
	X("recording.scan", scan_ns)                                                     \
	X("recording.target_time", target_ns)                                            \
	X("recording.tool_time", tool_ns)                                                \
	X("recording.threads_missed", missed)

/* ---- writing ---- */

static enum hi_status put_frame_row(struct hi_snapshot_writer *w,
				    const struct hi_frame_row *row,
				    struct hi_snapshot_frame *ret, struct hi_error *err)
{
	enum hi_status status = hi_snapshot_put_string(w, row->module, &ret->module, err);

	if (status == HI_OK)
		status = hi_snapshot_put_string(w, row->function, &ret->function, err);
	if (status == HI_OK)
		status = hi_snapshot_put_string(w, row->file, &ret->file, err);
	ret->line = row->line;
	ret->offset = row->offset;
	ret->flags = row->flags;
	return status;
}

static enum hi_status put_frames(struct hi_snapshot_writer *w, const struct hi_frames *f,
				 struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_snapshot_frame *rows = hi_calloc((size_t)f->n_rows + 1, sizeof(*rows));
	enum hi_status status = HI_OK;

	if (!rows)
		return hi_fail_memory(err, "frames");
	for (uint32_t i = 0; i < f->n_frames; i++)
		for (uint32_t k = f->first[i]; status == HI_OK && k < f->first[i + 1];
		     k++) {
			rows[k].frame = i;
			status = put_frame_row(w, &f->rows[k], &rows[k], err);
		}
	return status == HI_OK
		       ? hi_snapshot_put(w, "frames", rows, sizeof(*rows), f->n_rows, err)
		       : status;
}

static enum hi_status put_contexts(struct hi_snapshot_writer *w,
				   const struct hi_recorded *r, struct hi_error *err)
{
	const struct hi_context_view *c = &r->contexts;
	enum hi_status status = hi_snapshot_put(w, "contexts", c->nodes,
						sizeof(*c->nodes), c->n_nodes, err);

	if (status == HI_OK)
		status = hi_snapshot_put(w, "contexts.stacks", c->contexts,
					 sizeof(*c->contexts), c->n_contexts, err);
	if (status == HI_OK)
		status = hi_snapshot_put(w, "contexts.totals", r->totals,
					 sizeof(*r->totals), c->n_contexts, err);
	if (status == HI_OK && r->overheads)
		status = hi_snapshot_put(w, "contexts.costs", r->overheads,
					 sizeof(*r->overheads), c->n_contexts, err);
	if (status == HI_OK && r->ticks)
		status = hi_snapshot_put(w, "contexts.ticks", r->ticks, sizeof(*r->ticks),
					 c->n_contexts, err);
	if (status == HI_OK && r->ports)
		status = hi_snapshot_put(w, "contexts.ports", r->ports, sizeof(*r->ports),
					 c->n_contexts, err);
	return status;
}

static enum hi_status put_births_columns(struct hi_snapshot_writer *w,
					 const struct hi_births *b, struct hi_error *err)
{
	enum hi_status status = hi_snapshot_put(w, "births.threads", b->threads,
						sizeof(*b->threads), b->n_threads, err);

#define PUT_COLUMN(name, column, type)                                                   \
	if (status == HI_OK)                                                             \
		status = hi_snapshot_put(w, name, b->column, sizeof(type), b->n_objects, \
					 err);
	BIRTHS_COLUMNS(PUT_COLUMN)
#undef PUT_COLUMN
	return status;
}

static enum hi_status put_births_numbers(struct hi_snapshot_writer *w,
					 const struct hi_recorded *r,
					 struct hi_error *err)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
#define BIRTHS_NUMBER(name, field) {name, r->births->field},
		BIRTHS_NUMBERS(BIRTHS_NUMBER)
#undef BIRTHS_NUMBER
#define RECORDING_NUMBER(name, field) {name, r->counts.field},
			RECORDING_NUMBERS(RECORDING_NUMBER)
#undef RECORDING_NUMBER
#define TIME_NUMBER(name, field) {name, r->time.field},
				TIME_NUMBERS(TIME_NUMBER)
#undef TIME_NUMBER
	};
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < sizeof(numbers) / sizeof(*numbers); i++)
		status =
			hi_snapshot_put_number(w, numbers[i].name, numbers[i].value, err);
	return status;
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
		status = put_contexts(w, r, err);
	if (status == HI_OK)
		status = put_births_columns(w, r->births, err);
	if (status == HI_OK)
		status = hi_snapshot_put_sources(w, &r->pieces, err);
	if (status == HI_OK)
		status = hi_snapshot_put_marked(w, &r->marked, err);
	if (status == HI_OK)
		status = hi_snapshot_put_pauses(w, r->pauses, r->n_pauses, err);
	if (status == HI_OK && r->kept)
		status = hi_snapshot_put_events(w, r->kept, err);
	return status == HI_OK ? put_births_numbers(w, r, err) : status;
}

/* ---- reading ---- */

/* What hi_snapshot_births() returns, and what it owns. */
struct loaded_births {
	struct hi_recorded recorded; /* first */
	struct hi_births births;
	struct hi_frame_row *rows;
	uint32_t *first;
	struct hi_recorded_source sources[HI_EVENT_SOURCES];
	struct hi_recorded_mark *marks;
};

HI_DEFINE_GUARD(struct hi_recorded *, hi_recorded_destroy)

void hi_recorded_destroy(struct hi_recorded *recorded)
{
	struct loaded_births *l = (struct loaded_births *)recorded;

	if (!l)
		return;
	free(l->rows);
	free(l->first);
	free(l->marks);
	free(l);
}

static bool take_frame_row(struct hi_snapshot *s, const struct hi_snapshot_frame *from,
			   struct hi_frame_row *to)
{
	*to = (struct hi_frame_row){.module = hi_snapshot_string(s, from->module),
				    .function = hi_snapshot_string(s, from->function),
				    .file = hi_snapshot_string(s, from->file),
				    .offset = from->offset,
				    .line = from->line,
				    .flags = from->flags};
	return to->module && to->function && to->file;
}

/* Rows of one frame follow each other; no frame is left out. */
static enum hi_status take_frames(struct hi_snapshot *s, struct loaded_births *l,
				  struct hi_error *err)
{
	struct hi_frames *f = &l->recorded.frames;
	const struct hi_snapshot_frame *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "frames", sizeof(*rows), &items, &n, err);

	if (status != HI_OK)
		return status;
	rows = items;
	if (n >= UINT32_MAX)
		return hi_snapshot_bad(s, "frames", err, "too many rows");
	status = hi_snapshot_check_texts(s, "frames", rows, n, sizeof(*rows), 3, err);
	if (status != HI_OK)
		return status;
	l->rows = hi_calloc(n + 1, sizeof(*l->rows));
	l->first = hi_calloc(n + 1, sizeof(*l->first));
	if (!l->rows || !l->first)
		return hi_fail_memory(err, "frames");
	for (uint32_t i = 0; i < n; i++) {
		if (rows[i].frame == f->n_frames)
			l->first[f->n_frames++] = i;
		if (rows[i].frame + 1 != f->n_frames ||
		    !take_frame_row(s, &rows[i], &l->rows[i]))
			return hi_snapshot_bad(s, "frames", err, "row %u", i);
	}
	l->first[f->n_frames] = (uint32_t)n;
	f->n_rows = (uint32_t)n;
	f->rows = l->rows;
	f->first = l->first;
	return HI_OK;
}

static enum hi_status take_context_totals(struct hi_snapshot *s, struct hi_recorded *r,
					  struct hi_error *err)
{
	uint32_t n = r->contexts.n_contexts;
	void *items = NULL;
	enum hi_status status = hi_snapshot_column(s, "contexts.totals",
						   sizeof(*r->totals), n, &items, err);

	if (status != HI_OK)
		return status;
	r->totals = items;
	for (uint32_t i = 0; i < n; i++)
		if (r->totals[i].frees > r->totals[i].allocs ||
		    r->totals[i].freed_bytes > r->totals[i].bytes)
			return hi_snapshot_bad(s, "contexts.totals", err, "row %u", i);
	return HI_OK;
}

/* A number for each context; *ret stays NULL where the file has none. */
static enum hi_status take_context_numbers(struct hi_snapshot *s, const char *name,
					   const struct hi_recorded *r,
					   const uint64_t **ret, struct hi_error *err)
{
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, name, sizeof(**ret), &items, &n, err);

	if (status == HI_NOT_FOUND)
		return HI_OK;
	if (status == HI_OK && n != r->contexts.n_contexts)
		return hi_snapshot_bad(s, name, err, "%lu rows", (unsigned long)n);
	*ret = items;
	return status;
}

/* Of any sum of them: it has no more than 64 bits. */
static enum hi_status check_context_ticks(struct hi_snapshot *s,
					  const struct hi_recorded *r,
					  struct hi_error *err)
{
	for (uint32_t i = 0; r->ticks && i < r->contexts.n_contexts; i++)
		if (r->ticks[i] > HI_TICKS_MAX)
			return hi_snapshot_bad(s, "contexts.ticks", err, "row %u", i);
	return HI_OK;
}

/* NULL where the file has none. Any sum of them has no more than 64 bits. */
static enum hi_status take_context_ports(struct hi_snapshot *s, struct hi_recorded *r,
					 struct hi_error *err)
{
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "contexts.ports", sizeof(*r->ports), &items, &n, err);

	if (status == HI_NOT_FOUND)
		return HI_OK;
	if (status == HI_OK && n != r->contexts.n_contexts)
		return hi_snapshot_bad(s, "contexts.ports", err, "%lu rows",
				       (unsigned long)n);
	r->ports = items;
	for (uint32_t i = 0; status == HI_OK && i < n; i++)
		if (r->ports[i].fails > HI_TICKS_MAX || r->ports[i].moves > HI_TICKS_MAX)
			return hi_snapshot_bad(s, "contexts.ports", err, "row %u", i);
	return status;
}

/* Files of earlier versions have none of them. */
static enum hi_status take_context_columns(struct hi_snapshot *s, struct hi_recorded *r,
					   struct hi_error *err)
{
	enum hi_status status =
		take_context_numbers(s, "contexts.costs", r, &r->overheads, err);

	if (status == HI_OK)
		status = take_context_numbers(s, "contexts.ticks", r, &r->ticks, err);
	if (status == HI_OK)
		status = take_context_ports(s, r, err);
	return status == HI_OK ? check_context_ticks(s, r, err) : status;
}

static enum hi_status take_contexts(struct hi_snapshot *s, struct hi_recorded *r,
				    struct hi_error *err)
{
	struct hi_context_view *c = &r->contexts;
	const void *nodes = NULL, *contexts = NULL;
	uint64_t n_nodes = 0, n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "contexts", sizeof(*c->nodes), &nodes, &n_nodes, err);

	if (status == HI_OK)
		status = hi_snapshot_get(s, "contexts.stacks", sizeof(*c->contexts),
					 &contexts, &n, err);
	if (status == HI_NOT_FOUND)
		return hi_snapshot_bad(s, "contexts", err, "missing");
	if (status != HI_OK)
		return status;
	if (n_nodes > INT32_MAX || n > INT32_MAX)
		return hi_snapshot_bad(s, "contexts", err, "too many rows");
	*c = (struct hi_context_view){nodes, contexts, (uint32_t)n_nodes, (uint32_t)n,
				      r->frames.n_frames};
	if (!hi_contexts_are_valid(c))
		return hi_snapshot_bad(s, "contexts", err, "not a tree");
	status = take_context_totals(s, r, err);
	return status == HI_OK ? take_context_columns(s, r, err) : status;
}

static enum hi_status check_births_columns(struct hi_snapshot *s,
					   const struct loaded_births *l,
					   struct hi_error *err)
{
	const struct hi_births *b = &l->births;

	for (uint32_t i = 1; i < b->n_threads; i++)
		if (b->threads[i] <= b->threads[i - 1])
			return hi_snapshot_bad(s, "births.threads", err, "not in order");
	for (uint32_t i = 0; i < b->n_objects; i++) {
		if (b->context[i] >= HI_BIRTH_OTHER)
			continue;
		if (b->context[i] >= l->recorded.contexts.n_contexts)
			return hi_snapshot_bad(s, "births.context", err, "object %u", i);
		if (b->thread[i] >= b->n_threads)
			return hi_snapshot_bad(s, "births.thread", err, "object %u", i);
	}
	return HI_OK;
}

static enum hi_status take_births_columns(struct hi_snapshot *s, struct loaded_births *l,
					  struct hi_error *err)
{
	struct hi_births *b = &l->births;
	const void *items = NULL;
	void *column = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, "births.threads", sizeof(*b->threads),
						&items, &n, err);

	if (status == HI_NOT_FOUND || (status == HI_OK && n >= UINT32_MAX))
		return hi_snapshot_bad(s, "births.threads", err, "missing or too many");
	b->threads = items;
	b->n_threads = (uint32_t)n;
#define TAKE_COLUMN(name, field, type)                                                   \
	if (status == HI_OK)                                                             \
		status = hi_snapshot_column(s, name, sizeof(type), b->n_objects,         \
					    &column, err);                               \
	b->field = column;
	BIRTHS_COLUMNS(TAKE_COLUMN)
#undef TAKE_COLUMN
	return status == HI_OK ? check_births_columns(s, l, err) : status;
}

static void take_births_numbers(const struct hi_snapshot *s, struct loaded_births *l)
{
#define TAKE_BIRTHS(name, field) l->births.field = hi_snapshot_number(s, name, 0);
	BIRTHS_NUMBERS(TAKE_BIRTHS)
#undef TAKE_BIRTHS
#define TAKE_COUNT(name, field) l->recorded.counts.field = hi_snapshot_number(s, name, 0);
	RECORDING_NUMBERS(TAKE_COUNT)
#undef TAKE_COUNT
#define TAKE_TIME(name, field) l->recorded.time.field = hi_snapshot_number(s, name, 0);
	TIME_NUMBERS(TAKE_TIME)
#undef TAKE_TIME
}

enum hi_status hi_snapshot_births(struct hi_snapshot *s, hi_node n_objects,
				  struct hi_recorded **ret, struct hi_error *err)
{
	struct loaded_births *l = hi_calloc(1, sizeof(*l));
	HI_GUARD(hi_recorded_destroy) struct hi_recorded *r = l ? &l->recorded : NULL;
	enum hi_status status;

	if (!l)
		return hi_fail_memory(err, "births");
	l->births.n_objects = n_objects;
	r->births = &l->births;
	status = take_frames(s, l, err);
	if (status == HI_OK)
		status = take_contexts(s, r, err);
	if (status == HI_OK)
		status = take_births_columns(s, l, err);
	if (status == HI_OK)
		status = hi_snapshot_sources(s, r->contexts.n_contexts, l->sources,
					     &r->pieces, err);
	if (status == HI_OK)
		status = hi_snapshot_marked(s, r->totals, r->contexts.n_contexts,
					    &r->marked, &l->marks, err);
	if (status == HI_OK)
		status = hi_snapshot_pauses(s, &r->pauses, &r->n_pauses, err);
	if (status != HI_OK)
		return status;
	take_births_numbers(s, l);
	r->has_events = hi_snapshot_event_counts(s, &r->event_counts);
	*ret = hi_take(r);
	return HI_OK;
}
