/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Analyses of a sealed graph: reachability, dominators and retained sizes, leak roots,
 * paths to a root, the census by type, suspects.
 *
 * Every analysis is iterative and linear unless its comment has an exception, and its
 * result does not depend on the number of threads. Weak edges retain nothing in any of
 * them. Results are owned by the caller and freed by their _destroy function, which
 * accepts NULL. Sizes are in bytes.
 */
#ifndef HI_CENSUS_ANALYSIS_ANALYSIS_H
#define HI_CENSUS_ANALYSIS_ANALYSIS_H

#include <stdatomic.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "census/analysis/leak_groups.h"
#include "census/graph/graph.h"

/* ---- reachability (reach.c) ---- */
struct hi_reach {
	uint64_t *any;	 /* bit per node: reachable from the super-root */
	uint64_t *exact; /* bit per node: over precise edges alone */
	uint64_t live_objects, live_bytes; /* cost */
	uint64_t exact_objects, exact_bytes;
	uint64_t leak_objects, leak_bytes; /* allocated, unreachable, not internal */
	uint64_t internal_objects, internal_bytes; /* HI_OBJECT_INTERNAL, either way; in
						    * none of the other counts */
	/* Internal objects, and pieces of live blocks, that no root reaches: roots of
	 * their own, so that neither they nor what they hold is a leak; increasing. Notes
	 * [Blocks of the allocator] and [Pieces of a live block] in
	 * census/analysis/reach.c.
	 */
	hi_node *internal_roots;
	size_t n_internal_roots;
	/* A bit per node, set for leaked objects to which a word leads that is no pointer
	 * by its type, so that the leak is likely and not certain (Note [Verdicts] in
	 * decode/inference/verdict.h). NULL: all are certain. */
	uint64_t *likely;
	uint64_t likely_objects, likely_bytes; /* in leak_objects, leak_bytes too */
	bool is_doubtful; /* live memory could not all be read, or blocks are missing from
			   * a damaged heap: none is certain */
	/* Bytes of live memory that could not be read, 0: of none; and of shared memory
	 * that does not count as such (Note [Pages that are not seen] in
	 * decode/inference/unseen_pages.h). */
	uint64_t unread_bytes, apart_bytes;
	/* Live ones to which nothing but integers leads (Note [Integers] in
	 * decode/inference/integers.h). */
	uint64_t integer_objects, integer_bytes;
};
enum hi_status hi_reach_compute(const struct hi_graph *g, unsigned threads,
				struct hi_reach **ret, struct hi_error *err);
/* Sets which leaked objects are only likely leaked, and counts them. Takes likely: a
 * bit per node, from hi_calloc. */
void hi_reach_set_likely(const struct hi_graph *g, struct hi_reach *reach,
			 uint64_t *likely);
/* Returns whether an object is live only because the rest of its block is: Note [Pieces
 * of a live block] in census/analysis/reach.c. */
bool hi_reach_is_piece(const struct hi_graph *g, const struct hi_reach *reach,
		       hi_node node);
void hi_reach_destroy(struct hi_reach *reach);
HI_DEFINE_GUARD(struct hi_reach *, hi_reach_destroy)

/* ---- strongly connected components (scc.c) ---- */
struct hi_scc {
	uint32_t *component; /* per node; numbered in reverse topological order: an edge
			      * between components goes from a higher to a lower number */
	uint32_t count;
	hi_node n_nodes; /* length of component */
};
/* Computes the components of the nodes whose bit in `within` is set (NULL: of all
 * nodes); the others get component UINT32_MAX. HI_NO_MEMORY. */
enum hi_status hi_scc_compute(const struct hi_graph *g, const uint64_t *within,
			      struct hi_scc **ret, struct hi_error *err);
void hi_scc_destroy(struct hi_scc *scc);
HI_DEFINE_GUARD(struct hi_scc *, hi_scc_destroy)

/* ---- dominators (dominators.c) ----
 * Semi-NCA over the super-root's edges and one to each of internal_roots. An object that
 * precise edges reach is dominated over precise edges only; the others over all edges.
 * idom of unreachable nodes and of the super-root is HI_NODE_NONE. retained includes the
 * node's own cost; internal objects cost nothing, as in hi_reach.live_bytes, so that the
 * super-root retains exactly those. */
struct hi_dominators {
	hi_node *idom;	    /* n_nodes */
	uint64_t *retained; /* n_nodes; 0 where unreachable */
	hi_node *order; /* preorder of the dominator tree: n_order reachable nodes, the
			 * super-root first; children in a fixed order */
	uint32_t *span; /* the subtree of order[i] is order[i] .. order[i + span[i] - 1];
			 * so its first child is at i + 1, the next child after that one's
			 * span */
	hi_node n_nodes, n_order;
	bool is_borrowed; /* the four arrays are not freed with it */
};
enum hi_status hi_dominators_compute(const struct hi_graph *g,
				     const struct hi_reach *reach,
				     struct hi_dominators **ret, struct hi_error *err);
void hi_dominators_destroy(struct hi_dominators *d);
HI_DEFINE_GUARD(struct hi_dominators *, hi_dominators_destroy)
/* Sets the keys (n_nodes) of all nodes in d->order: that of the root variable that alone
 * keeps the node alive, out of of_root (n_roots), or `several`. Others stay. */
void hi_dominators_root_keys(const struct hi_graph *g, const struct hi_dominators *d,
			     const uint32_t *of_root, uint32_t several, uint32_t *keys);

/* ---- leaks (leaks.c) ---- */
enum hi_leak_shape { HI_LEAK_SINGLE, HI_LEAK_CHAIN, HI_LEAK_CYCLE };
struct hi_leak_root {
	hi_node node;		  /* lowest address of its component */
	enum hi_leak_shape shape; /* cycle: its component has a cycle; single: holds
				   * nothing else; chain: holds others */
	/* The most telling member of a cycle: typed, by the program rather than a
	 * library. Else node. */
	hi_node named;
	uint32_t members; /* of the cycle that have its type; 1 */
	uint32_t group;	  /* of named, if it has no type; 0 */
	/* The type or group of most of the named objects that it holds; 0: none. */
	uint32_t held_type, held_group;
	uint64_t objects, bytes; /* it and all it holds that no earlier root holds */
	enum hi_unreachable_class unreachable_class; /* of node */
	bool is_likely;				     /* verdict of node; else certain */
	/* Objects and bytes that are only likely. */
	uint64_t likely_objects, likely_bytes;
};
struct hi_leak_row {	/* leak roots of one type or group, shape, class and verdict */
	uint32_t type;	/* of the roots' named */
	uint32_t group; /* without a type: hi_leak_root.group */
	uint32_t least_members, most_members;
	uint32_t held_type, held_group; /* of the example */
	enum hi_leak_shape shape;
	enum hi_unreachable_class unreachable_class;
	bool is_likely;
	uint64_t count; /* leak roots */
	uint64_t objects, bytes;
	hi_node example; /* the one that holds most */
	hi_node named;	 /* of the example */
};
struct hi_leaks {
	struct hi_leak_root *roots; /* by bytes, then address */
	size_t n_roots;
	struct hi_leak_row *rows; /* by bytes, then type */
	size_t n_rows;
	const struct hi_leak_groups *groups; /* borrowed; NULL */
	uint64_t objects, bytes;	     /* certain and likely */
	uint64_t likely_objects, likely_bytes;
	size_t n_likely_roots;
	uint64_t by_class[HI_UNREACHABLE_CLASSES]; /* certain bytes, by the
						      class of the leak root */
};
/* groups: of objects without a type; outlives the leaks; may be NULL. */
enum hi_status hi_leaks_compute(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_leak_groups *groups,
				struct hi_leaks **ret, struct hi_error *err);
void hi_leaks_destroy(struct hi_leaks *leaks);
HI_DEFINE_GUARD(struct hi_leaks *, hi_leaks_destroy)

/* ---- census by type (census.c) ---- */
struct hi_census_row {
	uint32_t type;
	uint64_t count, shallow; /* live objects; cost in bytes */
	uint64_t retained;	 /* sum over its topmost dominators: a lower bound */
	uint64_t largest;
	uint64_t by_evidence[HI_EVIDENCE_RUNTIME + 1]; /* bytes */
};
struct hi_census {
	struct hi_census_row *rows; /* by shallow, then type; live objects only */
	size_t n_rows;
	uint64_t objects, bytes;
	uint64_t exact_bytes, inferred_bytes,
		untyped_bytes; /* by evidence: >= POINTER is exact */
};
enum hi_status
hi_census_by_type(const struct hi_graph *g, const struct hi_reach *reach,
		  const struct hi_dominators *dominators /* NULL: no retained */,
		  struct hi_census **ret, struct hi_error *err);
/* The same by a number of each object, below n: the row's `type`. */
enum hi_status hi_census_by_number(const struct hi_graph *g, const struct hi_reach *reach,
				   const struct hi_dominators *dominators,
				   const uint32_t *of_object, uint32_t n,
				   struct hi_census **ret, struct hi_error *err);
void hi_census_destroy(struct hi_census *census);
HI_DEFINE_GUARD(struct hi_census *, hi_census_destroy)
/* Computes the bytes that become unreachable when all objects of `type` go away, by
 * the edges that dominators go by. Exact, and so never less than
 * hi_census_row.retained. */
enum hi_status hi_census_retained_by_type(const struct hi_graph *g,
					  const struct hi_reach *reach, uint32_t type,
					  uint64_t *bytes_ret, struct hi_error *err);

/* ---- paths to a root (paths.c) ---- */
struct hi_path_index;
struct hi_path {
	hi_node *nodes; /* nodes[0] a root variable, nodes[length-1] the target */
	size_t length;
	enum hi_grade worst; /* of its edges */
};
struct hi_paths {
	struct hi_path
		*paths; /* shortest first; ties: fewer conservative edges, then ids */
	size_t n_paths;
	bool more; /* true: the search ended at k or at its own limit, so there may be
		    * more; unless n_paths is k, the last paths may be missing */
};
/*
 * Finds the k shortest simple paths from a root to any of the targets. Among paths of one
 * length those with fewer conservative edges come first. Two paths differ in at least one
 * node, and a path ends at the first target on it. A target that only internal_roots
 * reach has no path. Needs tens of bytes of memory per object while it runs.
 * HI_NO_MEMORY.
 */
enum hi_status hi_paths_find(const struct hi_graph *g, const struct hi_reach *reach,
			     const hi_node *targets, size_t n_targets, size_t k,
			     struct hi_paths **ret, struct hi_error *err);
/* The same with a choice. */
struct hi_paths_wanted {
	size_t k;	     /* at least so many, if there are */
	size_t most;	     /* up to so many while that is cheap; at least k */
	enum hi_grade worst; /* along no worse edge; at most HI_GRADE_CONSERVATIVE */
	/* The index of this graph (path_index.h), for more than one search; NULL: none is
	 * kept. */
	struct hi_path_index *index;
};
enum hi_status hi_paths_search(const struct hi_graph *g, const hi_node *targets,
			       size_t n_targets, const struct hi_paths_wanted *wanted,
			       struct hi_paths **ret, struct hi_error *err);
/* Finds for each target the path that hi_paths_find() would give first for it alone,
 * in one breadth-first walk: paths[i] leads to targets[i] and has length 0 where there
 * is none. The walk ends when all targets are found, so leave out targets that are not
 * reachable. HI_NO_MEMORY. */
enum hi_status hi_paths_shortest(const struct hi_graph *g, const hi_node *targets,
				 size_t n, struct hi_paths **ret, struct hi_error *err);
/* The same along no worse edges: what hi_paths_search() finds first. */
enum hi_status hi_paths_shortest_along(const struct hi_graph *g, const hi_node *targets,
				       size_t n, enum hi_grade worst,
				       struct hi_paths **ret, struct hi_error *err);
/* From the roots of the best rank that reach it, along any edges. */
enum hi_status hi_paths_by_rank(const struct hi_graph *g, const hi_node *targets,
				size_t n, struct hi_paths **ret, struct hi_error *err);
void hi_paths_destroy(struct hi_paths *paths);
HI_DEFINE_GUARD(struct hi_paths *, hi_paths_destroy)
/* The same for all nodes in one walk, to ask for one after the other. Keeps 8 bytes a
 * node. stop (NULL: none) ends it before, also from another thread: HI_TIMEOUT. */
struct hi_path_tree;
enum hi_status hi_path_tree_compute(const struct hi_graph *g, const atomic_bool *stop,
				    struct hi_path_tree **ret, struct hi_error *err);
/* Finds the path to a node; length 0: there is none. The caller frees ret->nodes.
 * HI_NO_MEMORY. */
enum hi_status hi_path_tree_find(const struct hi_path_tree *tree, hi_node target,
				 struct hi_path *ret, struct hi_error *err);
void hi_path_tree_destroy(struct hi_path_tree *tree);

/* ---- suspects (suspects.c) ----
 * Where at least `share` of the live heap is held: below one object or variable, by many
 * children of one type. Note [Down to the branch] in suspects.c. */
#define HI_SUSPECT_SHARE 0.2 /* of the live heap; as every page has it */
struct hi_field_reader;	     /* census/analysis/groups.h */
struct hi_nearest;	     /* census/analysis/nearest_holder.h */
struct hi_suspect {
	hi_node top;	   /* root variable or object just under the super-root's kinds */
	uint64_t retained; /* of top */
	hi_node accumulation; /* what holds the elements; the super-root: objects at the
			       * top, which several roots hold */
	uint64_t accumulation_retained;
	uint32_t child_type; /* of the elements, or of what is in each of them */
	/* The elements: children of the accumulation point, and those of their type that
	 * hang on them. 0: it has no children. children_bytes: what they retain. */
	uint64_t children, children_bytes;
	bool is_list; /* linked one after the other by one field */
	/* Number of threads that have `top` as a variable, which together are the
	 * suspect; 0: none. `top` and `accumulation` are then those of one of them. */
	uint32_t threads;
	/* An element that an edge of `holder` leads to; HI_NODE_NONE: there is none. */
	hi_node held, holder;
	hi_node example; /* the element that retains most; HI_NODE_NONE: no children */
};
struct hi_suspects {
	struct hi_suspect *items; /* by children_bytes; at most 64 */
	size_t count;
	bool is_below; /* nothing has that share: the only item is the largest */
	/* Holders of a quarter of the share and more, apart from those above; in the same
	 * order. */
	struct hi_suspect *lesser;
	size_t n_lesser; /* at most 64 */
	/* The nearest variables, where they had to be found; NULL: not. The caller may take
	 * them. */
	struct hi_nearest *nearest;
};
/* fields NULL: names of edges are not known, and so no lists. */
enum hi_status hi_suspects_find(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_dominators *d, double share,
				const struct hi_field_reader *fields,
				struct hi_suspects **ret, struct hi_error *err);
void hi_suspects_destroy(struct hi_suspects *suspects);
HI_DEFINE_GUARD(struct hi_suspects *, hi_suspects_destroy)

/* The nodes that refer to a node: its reverse edges, found by one scan of all rows. */
struct hi_referrers {
	hi_node *from;
	uint8_t *grade;
	size_t count, total; /* count <= max */
};
enum hi_status hi_referrers_find(const struct hi_graph *g, hi_node node, size_t max,
				 unsigned threads, struct hi_referrers **ret,
				 struct hi_error *err);
void hi_referrers_destroy(struct hi_referrers *referrers);
HI_DEFINE_GUARD(struct hi_referrers *, hi_referrers_destroy)

#endif
