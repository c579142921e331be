/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that the target has mapped, with their build-ids: from its modules, or from a
 * snapshot file.
 */
#ifndef HI_SESSION_MAPPED_FILES_H
#define HI_SESSION_MAPPED_FILES_H

#include "report/mapped_file.h"
#include "session/inspection.h"

/*
 * All of them in in->arena, the main program first. None where a snapshot file does not
 * have them.
 */
static inline enum hi_status hi_mapped_files_of(struct hi_inspection *in,
						const struct hi_mapped_file **ret,
						size_t *n_ret, struct hi_error *err)
{
	return in->source->results->list_mapped_files(in, ret, n_ret, err);
}

#endif
