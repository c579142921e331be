/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that compare heaps: keys of rows, and the match of objects. */
#ifndef HI_CENSUS_ANALYSIS_COMPARE_INTERNAL_H
#define HI_CENSUS_ANALYSIS_COMPARE_INTERNAL_H

#include "census/analysis/compare.h"

/* The row of an object: by its type, or by itself. */
struct hi_compare_keys {
	uint32_t n;
	const char **texts;   /* n */
	uint32_t *of_type[2]; /* by type of each side; NULL: of_object */
	uint32_t *of_object[2];
};
static inline uint32_t hi_compare_key(const struct hi_compare_keys *k, bool is_after,
				      const struct hi_graph *g, hi_node object)
{
	return k->of_object[is_after] ? k->of_object[is_after][object]
				      : k->of_type[is_after][g->objects->type[object]];
}
enum hi_status hi_compare_keys_of(const struct hi_heap_side *before,
				  const struct hi_heap_side *after, bool same_process,
				  enum hi_compare_by by, struct hi_compare_keys *ret,
				  struct hi_error *err);
void hi_compare_keys_free(struct hi_compare_keys *k);

/* A name, and where its number goes to. */
struct hi_compare_name {
	const char *text;
	uint32_t *number;
};
/* Numbers from 0 for names that are alike; how many there are. Sorts names. */
uint32_t hi_compare_number_names(struct hi_compare_name *names, size_t n);

/* Fills of_a and of_b by type; alike is what has the same name. */
enum hi_status hi_compare_merge_types(const struct hi_graph *a, const struct hi_graph *b,
				      enum hi_compare_by by, uint32_t *of_a,
				      uint32_t *of_b, const char ***texts_ret,
				      uint32_t *n_ret, struct hi_error *err);
/* Fills in which object of before each object of after was; HI_NODE_NONE: none. */
enum hi_status hi_compare_match(const struct hi_heap_side *before,
				const struct hi_heap_side *after, bool same_process,
				hi_node *before_of, struct hi_error *err);
/* Has one whole recording of both all that was allocated between them? */
bool hi_compare_knows_births(const struct hi_heap_side *before,
			     const struct hi_heap_side *after);
/* Is told of two objects at one address: was the later one allocated after the heap
 * before was taken, or after the earlier one? False where no recording of both has that.
 */
bool hi_compare_is_reused(const struct hi_heap_side *before,
			  const struct hi_heap_side *after, hi_node was, hi_node object);

#endif
