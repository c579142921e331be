/* SPDX-License-Identifier: BSD-2-Clause */
/* A space profile in a snapshot file: of `alloc -o`. */
#ifndef HI_SESSION_SPACE_KEPT_H
#define HI_SESSION_SPACE_KEPT_H

#include "census/snapshot/snapshot_space.h"
#include "session/space/profile.h"

struct hi_snapshot_writer;

/* Writes what the profile has up to the last census. HI_NO_MEMORY, HI_OS. */
enum hi_status hi_space_profile_save(const struct hi_space_profile *profile,
				     struct hi_snapshot_writer *w, struct hi_error *err);
/* Whether the snapshot file that was opened has a profile. */
bool hi_space_profile_is_kept(const struct hi_inspection *in);
/* Fills an empty profile from the file, whose recording has its contexts. HI_BAD_DATA,
 * HI_NO_MEMORY. */
enum hi_status hi_space_profile_load(struct hi_space_profile *profile,
				     struct hi_inspection *in, struct hi_error *err);

#endif
