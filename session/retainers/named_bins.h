/* SPDX-License-Identifier: BSD-2-Clause */
/* Sharing bins of the roots that --root names (in->profile.roots, not NULL). */
#ifndef HI_SESSION_RETAINERS_NAMED_BINS_H
#define HI_SESSION_RETAINERS_NAMED_BINS_H

#include "census/retainers/bins.h"
#include "session/inspection.h"

/* Identity i + 1 is root i. */
enum hi_status hi_named_bins_compute(struct hi_inspection *in, struct hi_set_pool *pool,
				     struct hi_bins **ret, struct hi_error *err);

#endif
