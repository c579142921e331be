/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/pieces.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"

struct hi_piece_list {
	struct hi_recorded_source sources[HI_EVENT_SOURCES];
	size_t n_sources;
	struct HI_VECTOR(struct hi_piece) pieces;
};

HI_DEFINE_GUARD(struct hi_piece_list *, hi_piece_list_destroy)

void hi_piece_list_destroy(struct hi_piece_list *list)
{
	if (!list)
		return;
	hi_vector_free(&list->pieces);
	free(list);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct hi_piece *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool has_object(const struct hi_objects *objects,
		       const struct hi_live_allocation *live)
{
	uint64_t offset = 0;

	return hi_objects_find(objects, live->addr, &offset) != HI_NODE_NONE && !offset;
}

static bool add_pieces_of(struct hi_piece_list *list,
			  const struct hi_recording *recording,
			  enum hi_event_family family, const struct hi_objects *objects,
			  uint64_t start_ns)
{
	struct hi_live_allocation live;

	for (uint64_t at = 0; hi_recording_next_of(recording, family, &at, &live);)
		if ((family != HI_FAMILY_MALLOC || !has_object(objects, &live)) &&
		    !hi_vector_push(
			    &list->pieces,
			    (struct hi_piece){.addr = live.addr,
					      .size = live.size,
					      .time_ns = live.time_ns > start_ns
								 ? live.time_ns - start_ns
								 : 0,
					      .context = live.context,
					      .tid = live.tid,
					      .source = live.source}))
			return false;
	return true;
}

enum hi_status hi_piece_list_make(const struct hi_recording *recording,
				  const struct hi_objects *objects, uint64_t start_ns,
				  struct hi_piece_list **ret, struct hi_error *err)
{
	HI_GUARD(hi_piece_list_destroy)
	struct hi_piece_list *list = hi_calloc(1, sizeof(*list));
	const struct hi_event_source_name *names;
	bool ok = list;

	for (unsigned f = 0; f < HI_FAMILIES && ok; f++)
		ok = add_pieces_of(list, recording, (enum hi_event_family)f, objects,
				   start_ns);
	if (!ok)
		return hi_fail_memory(err, "pieces of a recording");
	names = hi_recording_sources(recording, &list->n_sources);
	for (size_t i = 0; i < list->n_sources; i++)
		list->sources[i] = (struct hi_recorded_source){
			names[i].name, names[i].family, names[i].is_whole,
			hi_recording_by_source(recording, i)};
	if (list->pieces.count)
		qsort(list->pieces.items, list->pieces.count, sizeof(*list->pieces.items),
		      compare_pieces);
	*ret = hi_take(list);
	return HI_OK;
}

struct hi_pieces hi_piece_list_view(const struct hi_piece_list *list)
{
	return (struct hi_pieces){.sources = list->sources,
				  .n_sources = (uint32_t)list->n_sources,
				  .items = list->pieces.items,
				  .count = list->pieces.count};
}

const struct hi_piece *hi_piece_at(const struct hi_pieces *pieces, uint64_t addr)
{
	const struct hi_piece *best = NULL;

	for (uint64_t i = 0; i < pieces->count; i++) {
		const struct hi_piece *piece = &pieces->items[i];

		if (addr - piece->addr < (piece->size ? piece->size : 1) &&
		    (!best || piece->size < best->size))
			best = piece;
	}
	return best;
}
