/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names with numbers from 0, each text once. A zeroed struct is empty. Names with equal
 * hashes are distinguished by their texts.
 */
#ifndef HI_REPORT_HEAP_PROFILE_HP_NAMES_H
#define HI_REPORT_HEAP_PROFILE_HP_NAMES_H

#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"

struct hi_hp_names {
	struct hi_arena arena; /* the texts */
	struct hi_table first; /* hash -> number of the first name with it */
	struct HI_VECTOR(const char *) texts;
	struct HI_VECTOR(uint32_t) next; /* with the same hash; HI_HP_NO_NAME ends */
};

#define HI_HP_NO_NAME UINT32_MAX

/* Returns the number of a text of n bytes without NUL; HI_HP_NO_NAME: it is not in the
 * table. */
uint32_t hi_hp_names_find(const struct hi_hp_names *names, const char *text, size_t n);
/* Returns the number of a text, a new one if it was not in the table; HI_HP_NO_NAME:
 * out of memory. */
uint32_t hi_hp_names_add(struct hi_hp_names *names, const char *text, size_t n);
void hi_hp_names_free(struct hi_hp_names *names);

#endif
