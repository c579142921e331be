/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the list of mapped files from the modules of an image. */
#ifndef HI_SESSION_LIVE_LIVE_MODULES_H
#define HI_SESSION_LIVE_LIVE_MODULES_H

#include "session/inspection.h"

/* hi_source_ops.list_mapped_files of processes and cores. */
enum hi_status hi_live_mapped_files(struct hi_inspection *in,
				    const struct hi_mapped_file **ret, size_t *n_ret,
				    struct hi_error *err);

#endif
