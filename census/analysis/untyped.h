/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields that lead to objects without a type, with the bytes of these objects. */
#ifndef HI_CENSUS_ANALYSIS_UNTYPED_H
#define HI_CENSUS_ANALYSIS_UNTYPED_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"

/* Objects of one size class that the field itself refers to. */
struct hi_untyped_size {
	uint64_t size_class;
	uint64_t least, most; /* usable bytes */
	uint64_t count, bytes;
};
struct hi_untyped_row {
	const char *owner, *field, *module;  /* as in struct hi_type_name */
	uint64_t count, bytes;		     /* all that has its name */
	uint64_t direct;		     /* objects that it refers to itself */
	const struct hi_untyped_size *sizes; /* of these, by count */
	size_t n_sizes;
};
struct hi_untyped {
	struct hi_untyped_row *rows; /* by bytes, then owner and field */
	size_t n_rows;
	uint64_t objects, bytes; /* of all rows */
	struct hi_untyped_size *sizes;
};

/* Live objects; only: by type, NULL all. */
enum hi_status hi_untyped_find(const struct hi_graph *g, const struct hi_reach *reach,
			       const bool *only, struct hi_untyped **ret,
			       struct hi_error *err);
void hi_untyped_destroy(struct hi_untyped *untyped);
HI_DEFINE_GUARD(struct hi_untyped *, hi_untyped_destroy)

#endif
