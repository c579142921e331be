/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The run of type inference: from an image, its blocks and its types to a graph. Roots,
 * types, then one pass for all edges.
 */
#ifndef HI_DECODE_RUN_TYPING_RUN_H
#define HI_DECODE_RUN_TYPING_RUN_H

#include "decode/inference/typing.h"

struct hi_kept_typing;

struct hi_typing_options {
	bool conservative; /* every word of every block and root may be a pointer; no
			      types */
	bool redact;	   /* paths have no keys of elements */
	unsigned threads;  /* 0: hi_parallel_threads() */
	/* Rules of containers and hints (hi_rulebook_source); zeroed: none. */
	struct hi_rule_source rules;
	/* Knows the objects in its blocks, and its roots; NULL: none. Outlives the
	 * typing. */
	struct hi_runtime *runtime;
	/* The part of the census before that a series keeps (kept_typing.h). It is taken,
	 * and hi_typing_keep() fills it again. Outlives the typing. NULL: no series. */
	struct hi_kept_typing *kept;
};

/*
 * Builds the graph over `objects`, which it takes. Image, modules, types and allocator
 * are borrowed and outlive the typing. types may be NULL: no debug information at all.
 * allocator may be NULL: no heap is known, the graph has roots only.
 * *typing_ret: hi_typing_destroy(); *graph_ret: hi_graph_destroy().
 */
enum hi_status hi_typing_run(const struct hi_image *image, struct hi_modules *modules,
			     struct hi_types *types, struct hi_allocator *allocator,
			     struct hi_objects *objects,
			     const struct hi_typing_options *options,
			     struct hi_typing **typing_ret, struct hi_graph **graph_ret,
			     struct hi_error *err);
struct hi_typing_source; /* typing_state.h */
/* As hi_typing_run, with any source (NULL: none). */
enum hi_status
hi_typing_run_with(const struct hi_image *image, struct hi_modules *modules,
		   const struct hi_typing_source *source, struct hi_allocator *allocator,
		   struct hi_objects *objects, const struct hi_typing_options *options,
		   struct hi_typing **typing_ret, struct hi_graph **graph_ret,
		   struct hi_error *err);

#endif
