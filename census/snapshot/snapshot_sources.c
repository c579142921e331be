/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_sources.h"

#include "census/snapshot/snapshot_internal.h"

struct stored_source {
	uint32_t name, family, is_whole, unused;
	struct hi_context_totals totals;
};

enum hi_status hi_snapshot_put_sources(struct hi_snapshot_writer *w,
				       const struct hi_pieces *pieces,
				       struct hi_error *err)
{
	struct stored_source rows[HI_EVENT_SOURCES] = {};
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < pieces->n_sources && status == HI_OK; i++) {
		const struct hi_recorded_source *source = &pieces->sources[i];

		rows[i] = (struct stored_source){.family = source->family,
						 .is_whole = source->is_whole,
						 .totals = source->totals};
		status = hi_snapshot_put_string(w, source->name, &rows[i].name, err);
	}
	if (status == HI_OK)
		status = hi_snapshot_put(w, "sources", rows, sizeof(*rows),
					 pieces->n_sources, err);
	return status == HI_OK
		       ? hi_snapshot_put(w, "sources.pieces", pieces->items,
					 sizeof(*pieces->items), pieces->count, err)
		       : status;
}

static enum hi_status take_source(struct hi_snapshot *s, const struct stored_source *row,
				  struct hi_recorded_source *ret, struct hi_error *err)
{
	const struct hi_context_totals *t = &row->totals;

	*ret = (struct hi_recorded_source){.name = hi_snapshot_string(s, row->name),
					   .family = row->family,
					   .is_whole = row->is_whole,
					   .totals = *t};
	if (!ret->name || row->family >= HI_FAMILIES || t->frees > t->allocs ||
	    t->freed_bytes > t->bytes)
		return hi_snapshot_bad(s, "sources", err, "a source");
	return HI_OK;
}

static enum hi_status check_pieces(struct hi_snapshot *s, const struct hi_pieces *p,
				   uint32_t n_contexts, struct hi_error *err)
{
	for (uint64_t i = 0; i < p->count; i++)
		if (p->items[i].source >= p->n_sources ||
		    p->items[i].context >= n_contexts ||
		    (i && p->items[i].source < p->items[i - 1].source))
			return hi_snapshot_bad(s, "sources.pieces", err, "row %llu",
					       (unsigned long long)i);
	return HI_OK;
}

enum hi_status hi_snapshot_sources(struct hi_snapshot *s, uint32_t n_contexts,
				   struct hi_recorded_source *sources,
				   struct hi_pieces *ret, struct hi_error *err)
{
	const struct stored_source *rows;
	const void *items = NULL, *pieces = NULL;
	uint64_t n = 0, n_pieces = 0;
	enum hi_status status;

	*ret = (struct hi_pieces){};
	if (!hi_snapshot_has(s, "sources") || !hi_snapshot_has(s, "sources.pieces"))
		return HI_OK;
	status = hi_snapshot_get(s, "sources", sizeof(*rows), &items, &n, err);
	if (status == HI_OK)
		status = hi_snapshot_get(s, "sources.pieces", sizeof(*ret->items),
					 &pieces, &n_pieces, err);
	if (status == HI_OK && n > HI_EVENT_SOURCES)
		return hi_snapshot_bad(s, "sources", err, "too many");
	rows = items;
	for (uint64_t i = 0; i < n && status == HI_OK; i++)
		status = take_source(s, &rows[i], &sources[i], err);
	*ret = (struct hi_pieces){.sources = sources,
				  .n_sources = (uint32_t)n,
				  .items = pieces,
				  .count = n_pieces};
	return status == HI_OK ? check_pieces(s, ret, n_contexts, err) : status;
}
