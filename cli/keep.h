/* SPDX-License-Identifier: BSD-2-Clause */
/* What one census of a series leaves to the next: numbers keep their meaning, and
 * debug information is read once. */
#ifndef HI_CLI_KEEP_H
#define HI_CLI_KEEP_H

#include "census/set_pool.h"
#include "cli/identities.h"
#include "decode/debuginfo/types.h"

/* Zero-initialised is empty. */
struct hi_keep {
	struct hi_identities names; /* of retainers */
	struct hi_set_pool *pool;   /* of their sets, or of roots' */
	struct hi_modules *modules; /* with their types; NULL: none, or lent */
	struct hi_types *types;
	bool lent; /* both are somebody else's for now */
};

enum hi_status hi_keep_pool(struct hi_keep *keep, struct hi_error *err); /* makes it */
void hi_keep_free(struct hi_keep *keep);

#endif
