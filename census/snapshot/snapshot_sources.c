/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_sources.h"

#include "census/snapshot/snapshot_internal.h"

static const struct hi_row_member source_members[] = {
#define SOURCE_MEMBER(name)                                                              \
	HI_ROW_MEMBER(struct hi_snapshot_source_row, name, struct hi_recorded_source,    \
		      name)
	SOURCE_MEMBER(name),
	SOURCE_MEMBER(family),
	SOURCE_MEMBER(is_whole),
	SOURCE_MEMBER(totals.allocs),
	SOURCE_MEMBER(totals.bytes),
	SOURCE_MEMBER(totals.frees),
	SOURCE_MEMBER(totals.freed_bytes),
	SOURCE_MEMBER(totals.most_live),
	SOURCE_MEMBER(totals.most_bytes),
#undef SOURCE_MEMBER
};
static const struct hi_row_map source_map =
	HI_ROW_MAP("sources", struct hi_recorded_source, source_members);

enum hi_status hi_snapshot_put_sources(struct hi_snapshot_writer *w,
				       const struct hi_pieces *pieces,
				       struct hi_error *err)
{
	enum hi_status status = hi_snapshot_put_rows(w, &source_map, pieces->sources,
						     pieces->n_sources, err);

	return status == HI_OK
		       ? hi_snapshot_put_section(w, "sources.pieces", pieces->items,
						 pieces->count, err)
		       : status;
}

enum hi_status hi_snapshot_sources(struct hi_snapshot *s,
				   struct hi_recorded_source **sources,
				   struct hi_pieces *ret, struct hi_error *err)
{
	uint64_t n = 0;
	enum hi_status status;

	*ret = (struct hi_pieces){};
	if (!hi_snapshot_has(s, "sources") || !hi_snapshot_has(s, "sources.pieces"))
		return HI_OK;
	status = hi_snapshot_take_rows(s, &source_map, NULL, sources, &n, err);
	if (status != HI_OK)
		return status;
	ret->sources = *sources;
	ret->n_sources = (uint32_t)n;
	return hi_snapshot_rows(s, "sources.pieces", &ret->items, &ret->count, err);
}
