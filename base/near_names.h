/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds names near one that does not exist, for messages. */
#ifndef HI_BASE_NEAR_NAMES_H
#define HI_BASE_NEAR_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { HI_NAMES_NEAREST = 3, HI_EDITED_MAX = 64, HI_NEAR_TEXT = 320 };

/* Returns the edits that make b (m bytes) of a (n bytes), over the first HI_EDITED_MAX bytes of
 * each: insertions, deletions, replacements and swaps of neighbours. Upper and lower case are
 * the same. */
unsigned hi_edit_distance(const char *a, size_t n, const char *b, size_t m);

/* Returns the name of this number, below n; NULL: it is skipped. The name must stay until the
 * next one is asked for; where hi_names_nearest() is called, until the last one was used. */
typedef const char *hi_nth_name_fn(void *arg, uint32_t i);
/* Finds the names with the least edit distance from the pattern among n names, the nearest
 * first; NULL where none is near. A name that contains the pattern is near however long it is.
 * "struct " and the like before either do not count. */
void hi_names_nearest(const char *pattern, hi_nth_name_fn *name_of, void *arg, uint32_t n,
		      const char *nearest[HI_NAMES_NEAREST]);
/* Finds their numbers instead; UINT32_MAX where none is near. */
void hi_names_rank(const char *pattern, hi_nth_name_fn *name_of, void *arg, uint32_t n,
		   uint32_t nearest[HI_NAMES_NEAREST]);
/* Writes "; near it: a, b, c" of these, or "". Names are cut to 80 bytes, and not escaped.
 * Returns out. */
const char *hi_names_near_text(const char *pattern, hi_nth_name_fn *name_of, void *arg,
			       uint32_t n, char out[HI_NEAR_TEXT]);

#endif
