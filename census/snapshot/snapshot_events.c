/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_events.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

enum { PIECE = 1 << 20 };

/* ---- writing ---- */

struct event_pieces {
	const struct hi_kept_events *kept;
	uint64_t at;
	uint8_t *piece; /* PIECE bytes */
};

/* hi_snapshot_piece_fn */
static enum hi_status next_event_piece(void *arg, const void **bytes, size_t *size,
				       struct hi_error *err)
{
	struct event_pieces *p = arg;
	enum hi_status status =
		hi_kept_events_read(p->kept, p->at, p->piece, PIECE, size, err);

	*bytes = p->piece;
	p->at += status == HI_OK ? *size : 0;
	return status;
}

static const struct hi_property event_counts[] = {
	HI_PROPERTY("events.kept", struct hi_kept_counts, kept),
	HI_PROPERTY("events.left_out", struct hi_kept_counts, left_out),
};

enum hi_status hi_snapshot_put_events(struct hi_snapshot_writer *w,
				      const struct hi_kept_events *kept,
				      struct hi_error *err)
{
	HI_GUARD(free) uint8_t *piece = hi_alloc(PIECE);
	struct event_pieces pieces = {.kept = kept, .piece = piece};
	struct hi_kept_counts counts;
	uint32_t n_threads;
	const uint32_t *threads = hi_kept_events_threads(kept, &n_threads);
	enum hi_status status;

	if (!piece)
		return hi_fail_memory(err, "kept events");
	hi_kept_events_counts(kept, &counts);
	status = hi_snapshot_put_pieces(w, "events", 1, next_event_piece, &pieces, err);
	if (status == HI_OK)
		status = hi_snapshot_put_section(w, "events.threads", threads, n_threads,
						 err);
	return status == HI_OK
		       ? hi_snapshot_put_properties(w, "", event_counts, 2, &counts, err)
		       : status;
}

/* ---- reading ---- */

bool hi_snapshot_event_counts(const struct hi_snapshot *s, struct hi_kept_counts *ret)
{
	*ret = (struct hi_kept_counts){};
	hi_snapshot_take_properties(s, "", event_counts, 2, ret);
	return hi_snapshot_has(s, "events") && hi_snapshot_has(s, "events.threads");
}

void hi_stored_events_free(struct hi_stored_events *events)
{
	hi_event_list_free(&events->list);
	events->threads = NULL;
}

/* With the name of the file, where it is damage. */
static enum hi_status report_events(const struct hi_snapshot *s, enum hi_status status,
				    struct hi_error *err)
{
	struct hi_error why;

	if (status != HI_BAD_DATA)
		return status;
	why = *err;
	return hi_snapshot_bad(s, "events", err, "%.100s", why.text);
}

enum hi_status hi_stored_events_read(const struct hi_stored_events *events,
				     uint64_t block,
				     struct hi_kept_event ret[HI_EVENT_BLOCK],
				     uint32_t *n_ret, struct hi_error *err)
{
	return report_events(events->snapshot,
			     hi_event_list_read(&events->list, block, ret, n_ret, err),
			     err);
}

enum hi_status hi_snapshot_events(struct hi_snapshot *s, uint32_t n_contexts,
				  struct hi_stored_events *ret, struct hi_error *err)
{
	const void *bytes = NULL;
	uint64_t size = 0, n = 0;
	struct hi_event_bounds bounds = {.n_contexts = n_contexts};
	struct hi_kept_counts counts;
	enum hi_status status;

	*ret = (struct hi_stored_events){};
	if (!hi_snapshot_event_counts(s, &counts))
		return hi_fail(err, HI_NOT_FOUND, 0, "events were not kept");
	status = hi_snapshot_rows(s, "events.threads", &ret->threads, &n, err);
	if (status == HI_OK)
		status = hi_snapshot_rows(s, "events", &bytes, &size, err);
	if (status != HI_OK)
		return status;
	ret->snapshot = s;
	bounds.n_threads = (uint32_t)n;
	status = report_events(
		s, hi_event_list_open(bytes, size, &bounds, &ret->list, err), err);
	if (status == HI_OK && ret->list.count != counts.kept)
		return hi_snapshot_bad(s, "events", err,
				       "%" PRIu64 " events where %" PRIu64 " belong",
				       ret->list.count, counts.kept);
	return status;
}
