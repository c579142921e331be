/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as numbers from 1, each with one meaning for as long as the table lives. */
#ifndef HI_CLI_IDENTITIES_H
#define HI_CLI_IDENTITIES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vector.h"

struct hi_identities {
	struct HI_VECTOR(const char *) names; /* of number i + 1; hostile */
	struct hi_identity_index *index;      /* by a hash of the name */
	struct hi_arena arena;
};

/* Copies the name; 0: out of memory. */
uint32_t hi_identities_add(struct hi_identities *identities, const char *name);
/* 0: nobody has the name. */
uint32_t hi_identities_find(const struct hi_identities *identities, const char *name);
/* Never NULL. */
const char *hi_identities_name(const struct hi_identities *identities, uint32_t number);
void hi_identities_free(struct hi_identities *identities);

#endif
