/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sources of a recording, and what is live of them without an object of its own in a
 * graph: pieces of pools, mappings, and blocks of allocators whose heap is not decoded.
 * Their memory is that of another object, or of none, and so they are added to no sum
 * over objects.
 */
#ifndef HI_CENSUS_EVENTS_PIECES_H
#define HI_CENSUS_EVENTS_PIECES_H

#include "census/events/recording.h"
#include "census/graph/objects.h"

struct hi_recorded_source {
	const char *name; /* hostile */
	uint32_t family;  /* enum hi_event_family */
	bool is_whole;	  /* all have a record, also of samples */
	struct hi_context_totals totals;
};

struct hi_piece {
	uint64_t addr, size; /* size: as requested; 0: not known */
	uint64_t time_ns;    /* since the start of the recording */
	uint32_t context, tid, source, unused;
};

struct hi_pieces {
	const struct hi_recorded_source *sources;
	uint32_t n_sources;
	const struct hi_piece *items; /* by source, then by address */
	uint64_t count;
};

struct hi_piece_list;
/* Lists the pieces. HI_FAMILY_MALLOC has those at whose address no object begins, as
 * hi_births.without_object counts them. *ret: hi_piece_list_destroy(), before the
 * recording is. HI_NO_MEMORY. */
enum hi_status hi_piece_list_make(const struct hi_recording *recording,
				  const struct hi_objects *objects, uint64_t start_ns,
				  struct hi_piece_list **ret, struct hi_error *err);
void hi_piece_list_destroy(struct hi_piece_list *list); /* NULL is fine */
struct hi_pieces hi_piece_list_view(const struct hi_piece_list *list);

/* The smallest piece that addr lies in; NULL: none. One of unknown size has only its
 * address. */
const struct hi_piece *hi_piece_at(const struct hi_pieces *pieces, uint64_t addr);

#endif
