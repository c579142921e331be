/* SPDX-License-Identifier: BSD-2-Clause */
/* Holders of the objects of one census, as texts of their groups. */
#ifndef HI_SESSION_BIOGRAPHY_OBJECT_RETAINERS_H
#define HI_SESSION_BIOGRAPHY_OBJECT_RETAINERS_H

#include "session/biography/object_groups.h"
#include "session/inspection.h"

/* Numbers of texts; 0: nothing leads to it. Zero-initialised is empty. */
struct hi_object_retainers {
	uint32_t *root; /* by node: the variable that alone keeps it alive */
	/* By object: its retainer set, "{a, b}" or "MANY"; NULL: not asked for. */
	uint32_t *set;
};

/*
 * with_sets: retainer sets, too (session/retainers/retaining.h, as --retainer,
 * --identity and --max-set have them). *ret: hi_object_retainers_free(), also on
 * failure. HI_NO_MEMORY; errors of hi_retaining_compute(): an unknown type.
 */
enum hi_status hi_object_retainers_find(struct hi_object_groups *groups,
					struct hi_inspection *in, bool with_sets,
					struct hi_object_retainers *ret,
					struct hi_error *err);
void hi_object_retainers_free(struct hi_object_retainers *retainers);

#endif
