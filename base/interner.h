/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interner: a table of strings in which each string has one number, counted from 1.
 * A number keeps its meaning until hi_interner_free(). A zeroed struct is an empty table.
 */
#ifndef HI_BASE_INTERNER_H
#define HI_BASE_INTERNER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vector.h"

struct hi_interner {
	struct HI_VECTOR(const char *) names; /* names.items[i] has the number i + 1 */
	struct hi_interner_index *index;      /* from a hash of the name to the number */
	struct hi_arena arena;		      /* owns the names */
};

/* Returns the number of the name, which is copied if it is new; 0: out of memory. */
uint32_t hi_interner_add(struct hi_interner *interner, const char *name);
/* Returns the number of the name; 0: the table does not have it. */
uint32_t hi_interner_find(const struct hi_interner *interner, const char *name);
/* Returns the name that has the number, "" where none has. Lives as long as the table. */
const char *hi_interner_name(const struct hi_interner *interner, uint32_t number);
/* The same as a callback, with the interner as its argument. */
const char *hi_interner_name_of(void *interner, uint32_t number);
/* Frees the names and the index. */
void hi_interner_free(struct hi_interner *interner);

#endif
