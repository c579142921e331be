/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of types that a page shows: short ones (type_name.h), but the full one where
 * several types share a short name, so that they can be told apart. Zero-initialised is
 * empty. Not thread-safe.
 */
#ifndef HI_REPORT_TYPE_NAMES_H
#define HI_REPORT_TYPE_NAMES_H

#include "base/interner.h"
#include "base/vector.h"
#include "report/type_name.h"

struct hi_type_names {
	bool keep_full; /* show full names only */
	struct hi_interner shorts;
	/* By the number of a short name: the first type that has it. */
	struct hi_type_name_owners HI_VECTOR(const char *) owners; /* NULL: several */
	struct hi_arena arena;
};

/* Makes a type known before one is shown: types that are not known yet when the first
 * of them is shown are told apart, too, but that one has its short name then. Out of
 * memory: it is not known. */
void hi_type_names_add(struct hi_type_names *names, const char *full);
/* Returns the name to show, not escaped; it lives as long as out and full. NULL counts
 * as "". */
const char *hi_type_names_shown(struct hi_type_names *names, const char *full,
				char out[HI_TYPE_SHORT_SIZE]);
void hi_type_names_free(struct hi_type_names *names);

#endif
