/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that the target has mapped, by which build they are: out of its modules, or out
 * of a snapshot file. */
#ifndef HI_SESSION_MAPPED_FILES_H
#define HI_SESSION_MAPPED_FILES_H

#include "census/snapshot/snapshot_file.h"
#include "report/formats/mapped_file.h"
#include "session/inspect.h"

/* In in->arena; the main program first. None where the snapshot file has none. */
enum hi_status hi_mapped_files_of(struct hi_inspection *in,
				  const struct hi_mapped_file **ret, size_t *n_ret,
				  struct hi_error *err);
/* The section "modules" of a snapshot file. */
enum hi_status hi_mapped_files_store(struct hi_inspection *in,
				     struct hi_snapshot_writer *w, struct hi_error *err);

#endif
