/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two heaps beside each other: which objects were born, which died, and whose they are.
 *
 * Objects are matched by address and type where both are one process; else by type and
 * the way to them (the types of what dominates them, up to a variable's name without its
 * thread's number; a run of one type, a list, counts as one step): of the objects with
 * the same type and way as many match as both heaps have, those at lower addresses
 * first. Blocks of the allocator are left out.
 */
#ifndef HI_CENSUS_ANALYSIS_COMPARE_H
#define HI_CENSUS_ANALYSIS_COMPARE_H

#include "base/arena.h"
#include "census/analysis/analysis.h"

/* Rows of the caller's own, of one side. */
struct hi_compare_groups {
	uint32_t *of_object; /* by object: which of the names */
	const char **names;  /* n; groups of one name, on either side, are one row */
	uint32_t n;
};

struct hi_heap_side {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_dominators *dominators;
	const struct hi_compare_groups *groups; /* NULL, but for HI_COMPARE_BY_GROUP */
	/* Bits by object: only these are in rows, born or died; all are matched. NULL:
	 * all. */
	const uint64_t *only;
};

enum hi_compare_by {
	HI_COMPARE_BY_TYPE,
	HI_COMPARE_BY_MODULE, /* that defines the type */
	HI_COMPARE_BY_ROOT,   /* the variable that alone keeps it alive; "(leaked)",
			       * "(likely leaked)", "(garbage)" */
	HI_COMPARE_BY_GROUP,  /* what both sides have as groups */
};

struct hi_heap_total {
	uint64_t count, bytes; /* cost */
};
/* Adds one object of this cost. */
static inline void hi_heap_total_add(struct hi_heap_total *sum, uint64_t bytes)
{
	sum->count++;
	sum->bytes += bytes;
}
struct hi_compare_row {
	const char *name; /* "" unknown; hostile */
	struct hi_heap_total before, after, born, died;
	/* Bytes of objects that match, and have another size now; or that are in another
	 * row now: by root, by group. */
	int64_t grown;
};
struct hi_comparison {
	bool same_process;
	uint64_t *born, *died; /* a bit for each object, of after and of before */
	hi_node *before_of;    /* by object of after: which it was; HI_NODE_NONE: none */
	struct hi_compare_row *rows; /* by growth in bytes, most first, then name */
	size_t n_rows;
	struct hi_compare_row all;
	struct hi_arena strings;
};

enum hi_status hi_compare(const struct hi_heap_side *before,
			  const struct hi_heap_side *after, bool same_process,
			  enum hi_compare_by by, struct hi_comparison **ret,
			  struct hi_error *err);
void hi_comparison_destroy(struct hi_comparison *c);

/*
 * Three heaps, one after the other: bits of the objects of the third that were born
 * between the first and the second. first: of these two; second: of the latter two.
 */
enum hi_status hi_compare_survivors(const struct hi_comparison *first,
				    const struct hi_comparison *second,
				    const struct hi_heap_side *third, uint64_t **ret,
				    struct hi_error *err);

/* "main(): p" of "thread 7 main(): p" where that is another run's: it has other numbers.
 */
const char *hi_compare_root_name(const char *name, bool same_process);

/*
 * What holds the growth: like suspects, by the bytes of marked objects alone. top is a
 * node that nothing but a root dominates; holder is below it, as long as one child has
 * 0.7 of what its parent has.
 */
struct hi_growth {
	hi_node top, holder;
	uint64_t objects, bytes; /* marked, that top retains */
	uint64_t holder_bytes;
};
/* At most `most`, by bytes. */
enum hi_status hi_growth_find(const struct hi_heap_side *side, const uint64_t *marked,
			      size_t most, struct hi_growth *items, size_t *n_ret,
			      struct hi_error *err);

#endif
