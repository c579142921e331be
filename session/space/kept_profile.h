/* SPDX-License-Identifier: BSD-2-Clause */
/* A space profile that a snapshot file keeps. */
#ifndef HI_SESSION_SPACE_KEPT_PROFILE_H
#define HI_SESSION_SPACE_KEPT_PROFILE_H

#include "session/inspection.h"
#include "session/space/space_profile.h"

/* Writes a profile (struct hi_space_profile) as it is up to now; for hi_run.kept. */
enum hi_status hi_space_profile_save(void *profile, struct hi_snapshot_writer *writer,
				     struct hi_error *err);
/* Does the file of the inspection keep one? */
bool hi_space_profile_is_kept(const struct hi_inspection *in);
/* Fills an empty profile from it, whose contexts are those of the recording in the file.
 * HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_space_profile_read(struct hi_inspection *in,
				     struct hi_space_profile *profile,
				     struct hi_error *err);

#endif
