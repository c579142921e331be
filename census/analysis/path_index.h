/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data for all searches for paths in one graph, kept from one to the next: the edges
 * turned round, and how far each node is from the roots. The first search makes it, in
 * time linear in the graph; the next ones look at the neighbourhood of their targets.
 *
 * It borrows the graph. A search changes distances while it runs, and puts them back: one
 * search at a time.
 */
#ifndef HI_CENSUS_ANALYSIS_PATH_INDEX_H
#define HI_CENSUS_ANALYSIS_PATH_INDEX_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"

struct hi_path_index;

/* Turns the edges round: 4 bytes an object and an edge. HI_LIMIT: the graph is too large;
 * HI_NO_MEMORY. *ret: hi_path_index_destroy(). */
enum hi_status hi_path_index_create(const struct hi_graph *g, unsigned threads,
				    struct hi_path_index **ret, struct hi_error *err);
/* Measures the distances along no worse edges, unless they are known: 4 or 8 bytes a
 * node. A search does it itself. */
enum hi_status hi_path_index_measure(struct hi_path_index *index, enum hi_grade worst,
				     struct hi_error *err);
/* Has the graph edges of this grade, from objects or variables? */
bool hi_path_index_has_grade(const struct hi_path_index *index, enum hi_grade grade);
/* Are they known? */
bool hi_path_index_is_measured(const struct hi_path_index *index, enum hi_grade worst);
/* The path that hi_paths_shortest() finds. Length 0: there is none. The caller frees
 * ret->nodes. */
enum hi_status hi_path_index_way(struct hi_path_index *index, hi_node target,
				 struct hi_path *ret, struct hi_error *err);
/* The same as hi_referrers_find(), without looking at all edges. */
enum hi_status hi_path_index_referrers(const struct hi_path_index *index, hi_node node,
				       size_t max, struct hi_referrers **ret,
				       struct hi_error *err);
void hi_path_index_destroy(struct hi_path_index *index); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_path_index *, hi_path_index_destroy)

#endif
