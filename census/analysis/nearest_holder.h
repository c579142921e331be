/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects that many variables hold together, by the nearest of those of the best rank
 * (hi_root_rank): the one with the fewest references on the way. Among equally near ones
 * a module of a runtime comes first, then global variables, other roots of the runtime,
 * thread-locals, stacks, and words without a variable; then the one with the lower
 * number.
 *
 * Note [The nearest variable]
 *
 * In a runtime with modules nearly everything is reachable from everything, so that the
 * set of all variables that reach an object carries no information, and no variable
 * dominates it. The nearest one is where a reader of the program looks for it: a class is
 * in its module, and what the class refers to is nearer to it than to any other module.
 * An object counts for the variable that is nearest to its *top*: the object above it in
 * the dominator tree that lies directly below the roots. So what an object holds alone is
 * not torn apart.
 */
#ifndef HI_CENSUS_ANALYSIS_NEAREST_HOLDER_H
#define HI_CENSUS_ANALYSIS_NEAREST_HOLDER_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"

struct hi_nearest {
	/* By node: the index of its nearest root (node - first_root), or
	 * HI_NEAREST_NONE: no variable reaches it. */
	uint32_t *root_of;
	size_t size; /* in bytes: hi_pages_alloc() */
};
#define HI_NEAREST_NONE UINT32_MAX

/* Classes of roots, in the order of preference. */
enum hi_nearest_class {
	HI_NEAREST_MODULES,
	HI_NEAREST_GLOBALS,
	HI_NEAREST_RUNTIME,
	HI_NEAREST_TLS,
	HI_NEAREST_STACK,
	HI_NEAREST_WORDS,
	HI_NEAREST_CLASSES,
};
enum hi_nearest_class hi_nearest_class_of(const struct hi_root *root);
/* "modules", "globals", … */
const char *hi_nearest_class_name(enum hi_nearest_class klass);

/*
 * By the edges that dominators go by. Linear in edges; 8 bytes a node while it runs.
 * HI_NO_MEMORY. *ret: hi_nearest_destroy().
 */
enum hi_status hi_nearest_compute(const struct hi_graph *g, const struct hi_reach *reach,
				  struct hi_nearest **ret, struct hi_error *err);
/* Makes root_of, of no roots, in a new one. False: out of memory. */
bool hi_nearest_prepare(struct hi_nearest *nearest, const struct hi_graph *g);
/* Adds what objects directly below the super-root retain, which no kind of root alone
 * keeps, by the class of their nearest root. */
void hi_nearest_sum_kinds(const struct hi_nearest *nearest, const struct hi_graph *g,
			  const struct hi_dominators *d,
			  uint64_t bytes[HI_NEAREST_CLASSES]);
void hi_nearest_destroy(struct hi_nearest *nearest); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_nearest *, hi_nearest_destroy)

#endif
