/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of the index, for the searches that use it. */
#ifndef HI_CENSUS_ANALYSIS_PATH_INDEX_INTERNAL_H
#define HI_CENSUS_ANALYSIS_PATH_INDEX_INTERNAL_H

#include "base/bits.h"
#include "base/vector.h"
#include "census/analysis/path_index.h"

enum { HI_TURNED_SHIFT = 30 };
#define HI_TURNED_NODE ((1u << HI_TURNED_SHIFT) - 1)

/* Distances from the roots, + 1; 0: not reached. The least number of conservative edges
 * on a shortest path; NULL: there are none. */
struct hi_path_distances {
	uint32_t *distance, *doubt;
};

struct hi_path_index {
	const struct hi_graph *graph;
	uint32_t *row;	/* of objects; n_objects + 1 */
	uint32_t *from; /* node | grade << HI_TURNED_SHIFT, increasing by node */
	size_t n_from;
	bool has_grade[HI_GRADE_WEAK + 1];
	struct hi_path_distances levels[HI_GRADE_WEAK]; /* NULL: not measured */
};

static inline uint32_t hi_path_doubt(const struct hi_path_distances *d, hi_node node)
{
	return d->doubt ? d->doubt[node] : 0;
}
/* The worst grade that there is, and no worse than this. */
enum hi_grade hi_path_index_level(const struct hi_path_index *index, enum hi_grade worst);
/* Measures from all variables. Paths end at the targets (bits; NULL: none), which are not
 * left again. */
bool hi_path_distances_measure(const struct hi_graph *g, enum hi_grade worst,
			       const uint64_t *is_target, bool with_doubt,
			       struct hi_path_distances *ret);
void hi_path_distances_free(const struct hi_graph *g, struct hi_path_distances *d);

/* path->worst, of nodes that are there. */
void hi_path_grade(const struct hi_graph *g, struct hi_path *path);

/* ---- paths that end at targets (paths_around.c) ---- */

struct hi_path_changed {
	hi_node node;
	uint32_t distance, doubt; /* before */
};
struct hi_path_around {
	const struct hi_path_index *index;
	struct hi_path_distances *d;
	enum hi_grade worst;
	const uint64_t *is_target;
	uint64_t *is_changed, *is_seen; /* bits */
	struct hi_path_changes HI_VECTOR(struct hi_path_changed) changed;
	size_t most; /* nodes to change */
};
enum hi_path_outcome { HI_AROUND_DONE, HI_AROUND_TOO_MANY, HI_AROUND_NO_MEMORY };
/* Changes d to the result of hi_path_distances_measure() with these targets. If that is
 * not done, d is as before. */
enum hi_path_outcome hi_path_around_change(struct hi_path_around *a,
					   const hi_node *targets, size_t n);
/* Puts back what was changed, and frees the rest. */
void hi_path_around_restore(struct hi_path_around *a);

#endif
