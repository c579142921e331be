/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two heaps: which objects were born, which died, and what holds them.
 *
 * Objects of one process match by address and type, unless a recording has that the
 * later one was allocated after the heap before was taken. Objects of different processes
 * match by type and path: the types of their dominators, up to the name of a variable,
 * without the number of its thread; a run of objects of one type (a list) counts as one
 * step. As many objects with one type and path match as both heaps have, those at
 * lower addresses first. The allocator's own blocks are left out.
 */
#ifndef HI_CENSUS_ANALYSIS_COMPARE_H
#define HI_CENSUS_ANALYSIS_COMPARE_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/analysis/analysis.h"

struct hi_births;

/* Groups that the caller defines, of one heap. */
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
	/* Bits by object: only these are counted in rows, born and died; all objects
	 * are matched. NULL: all. */
	const uint64_t *only;
	/* From a recording; NULL: none. An object that was allocated after the heap
	 * before was taken matches none of its objects. */
	const struct hi_births *births;
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
	/* Change in bytes of objects that match and have another size now, or are in
	 * another row now (by root or by group). */
	int64_t grown;
};
struct hi_comparison {
	bool same_process;
	/* One whole recording has all that was allocated between the two. */
	bool knows_births;
	uint64_t *born, *died; /* a bit for each object, of after and of before */
	hi_node *before_of;    /* by object of after: which it was; HI_NODE_NONE: none */
	struct hi_compare_row *rows; /* by growth in bytes, most first, then name */
	size_t n_rows;
	struct hi_compare_row all;
	struct hi_arena strings;
};

/* Compares two heaps. same_process: both are heaps of one process, so objects match by
 * address and type; else by type and path. The sides are borrowed during the call only.
 * *ret: hi_comparison_destroy(). HI_NO_MEMORY. */
enum hi_status hi_compare(const struct hi_heap_side *before,
			  const struct hi_heap_side *after, bool same_process,
			  enum hi_compare_by by, struct hi_comparison **ret,
			  struct hi_error *err);
/* Frees it; NULL is fine. */
void hi_comparison_destroy(struct hi_comparison *c);
HI_DEFINE_GUARD(struct hi_comparison *, hi_comparison_destroy)

/*
 * Compares three heaps of one process, taken one after the other. `first` compares the
 * first with the second, `second` the second with the third. Returns bits by object of
 * the third heap: born between the first and the second, and still alive. The caller
 * frees them.
 */
enum hi_status hi_compare_survivors(const struct hi_comparison *first,
				    const struct hi_comparison *second,
				    const struct hi_heap_side *third, uint64_t **ret,
				    struct hi_error *err);

/* Returns the name of a root without the number of its thread ("main(): p" of "thread
 * 7 main(): p") unless both heaps are of one process: another run has other numbers.
 * Points into name. */
const char *hi_compare_root_name(const char *name, bool same_process);

/*
 * A holder of growth: like a suspect, by the bytes of marked objects alone. `top` is a
 * node that only a root dominates; `holder` is below it, found by going down while one
 * child has 0.7 of the marked bytes of its parent.
 */
struct hi_growth {
	hi_node top, holder;
	uint64_t objects, bytes; /* marked, that top retains */
	uint64_t holder_bytes;
};
/* Finds at most `most` holders, the largest first. items has room for them.
 * HI_NO_MEMORY. */
enum hi_status hi_growth_find(const struct hi_heap_side *side, const uint64_t *marked,
			      size_t most, struct hi_growth *items, size_t *n_ret,
			      struct hi_error *err);

#endif
