/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves the arguments ADDRESS and TYPE. */
#ifndef HI_SESSION_OPERANDS_H
#define HI_SESSION_OPERANDS_H

#include "report/parts/row_selection.h"
#include "session/inspection.h"

/* "0x55…"; decimal is refused, so that a type may begin with a digit. */
bool hi_lookup_is_address(const char *text, uint64_t *ret);
/* hi_types_select with the nearest names in the error, and a note where a name without
 * qualifiers was taken for another one. */
enum hi_status hi_lookup_types(struct hi_inspection *in, const char *pattern,
			       struct hi_type_set *ret, struct hi_error *err);
/* The rows that the options select; usual: without --top and --all. Free
 * ret->types' set by hi_type_set_free(set). */
enum hi_status hi_lookup_restrict(struct hi_inspection *in, size_t usual,
				  struct hi_type_set *set, struct hi_restrict *ret,
				  struct hi_error *err);
/* Returns the number of rows of a table under the options. */
size_t hi_lookup_top(const struct hi_options *options, size_t usual);

#endif
