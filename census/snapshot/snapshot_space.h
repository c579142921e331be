/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A space profile in a snapshot file; its contexts are those of the recording in it.
 * docs/SNAPSHOT_FORMAT.md has the sections. A file without them has no profile.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_SPACE_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_SPACE_H

#include "census/snapshot/snapshot_file.h"
#include "census/snapshot/snapshot_format.h"
#include "census/space/space_kept.h"

struct hi_arena;

/* Between two marks; the first one is before all of them. */
struct hi_snapshot_space_phase {
	uint64_t from_ns;  /* of the mark, since the recording began */
	const char *label; /* of the mark; hostile */
	bool is_wanted;	   /* else nothing of it was counted */
};

struct hi_snapshot_space {
	struct hi_space_kept kept; /* types: items of `names`; periods: of `censuses` */
	const char *const *names;
	size_t n_names;
	const struct hi_snapshot_space_census *censuses;
	size_t n_censuses; /* periods, and one */
	/* Present if there are marks. Bytes that are kept by part, whose number is that
	 * of the context there; kinds are phases. */
	const struct hi_snapshot_space_phase *phases;
	size_t n_phases;
	const struct hi_snapshot_space_part *parts;
	size_t n_parts;
	struct hi_space_kept by_part;
	uint64_t sample_bytes, memory;
	bool has_costs;
};

/* Writes the sections. */
enum hi_status hi_snapshot_put_space(struct hi_snapshot_writer *w,
				     const struct hi_snapshot_space *space,
				     struct hi_error *err);
bool hi_snapshot_has_space(const struct hi_snapshot *s);
/* Reads them, for a recording of so many contexts. *ret borrows from s and from the
 * arena. Whatever the file has: contexts, types and ages are in range, ages ascend within
 * a context and type, and censuses are in order. HI_NOT_FOUND: the file has no profile;
 * HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_snapshot_space(struct hi_snapshot *s, uint32_t n_contexts,
				 struct hi_arena *arena, struct hi_snapshot_space *ret,
				 struct hi_error *err);

#endif
