/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of decode/typing share. Never leaves this folder and its tests. */
#ifndef HI_TYPING_INTERNAL_H
#define HI_TYPING_INTERNAL_H

#include "base/vector.h"
#include "decode/typing/plan.h"
#include "decode/typing/typing.h"
#include "decode/typing/views.h"

/*
 * What typing asks of debug information, so that tests can draw their own. A
 * NULL member knows nothing. Only `types.type` and vtable are called from
 * several threads.
 */
struct hi_typing_source {
	struct hi_type_source types;
	enum hi_status (*variable_at)(void *arg, uint64_t addr, struct hi_variable *ret,
				      struct hi_error *err);
	enum hi_status (*vtable)(void *arg, uint64_t vptr, hi_type_id *type_ret,
				 const char **name_ret, int64_t *top_offset_ret,
				 struct hi_error *err);
	enum hi_status (*tls_variables)(void *arg, struct hi_module *module,
					hi_tls_variable_fn *fn, void *fn_arg,
					struct hi_error *err);
	enum hi_status (*stack)(void *arg, const struct hi_image *image, uint32_t thread,
				struct hi_stack **ret, struct hi_error *err);
};

/* A root variable, for describe.c; hi_root.variable is its index. */
struct hi_root_info {
	hi_type_id type;
	uint32_t plan; /* HI_PLAN_NONE: words */
	uint64_t address, size;
	const uint8_t *value; /* its bytes, when it is in no memory (register) */
	/* Untyped roots: which words refer to what is found again by a scan of
	 * these ranges. */
	const struct hi_section_range *ranges;
	size_t n_ranges;
};

/* A word of a typed root, and the slot that it was read from. */
struct hi_seed {
	uint64_t word;
	struct hi_slot *slot;
};

/*
 * The type column while types spread (Note [Opinions] in propagate.c): from the
 * top evidence 3 bits, array 1, settled 1 (takes no opinions), plan 25. scan.c
 * turns it into graph types and flags.
 */
enum {
	HI_KEY_PLAN = HI_PLAN_MAX - 1,
	HI_KEY_SETTLED = 1 << 27,
	HI_KEY_ARRAY = 1 << 28,
	HI_KEY_EVIDENCE_SHIFT = 29,
};

struct hi_typing {
	const struct hi_image *image;
	struct hi_modules *modules; /* may be NULL */
	struct hi_allocator *allocator;
	struct hi_objects *objects; /* borrowed from the graph */
	struct hi_typing_source source;
	bool conservative;
	unsigned threads;
	struct hi_views views;
	struct hi_plans *plans;
	uint32_t *plan_of_type; /* by graph type id */
	uint32_t n_types;
	struct HI_VECTOR(struct hi_root_info) roots;
	struct HI_VECTOR(struct hi_seed) seeds; /* freed after propagation */
	struct hi_arena arena;			/* strings, values, ranges of roots */
	struct hi_typing_stats stats;
};

/* As hi_typing_run, with any source (NULL: none). */
enum hi_status
hi_typing_run_with(const struct hi_image *image, struct hi_modules *modules,
		   const struct hi_typing_source *source, struct hi_allocator *allocator,
		   struct hi_objects *objects, const struct hi_typing_options *options,
		   struct hi_typing **typing_ret, struct hi_graph **graph_ret,
		   struct hi_error *err);

/* roots.c: every root into b, seeds into typing->seeds. */
enum hi_status hi_roots_find(struct hi_typing *typing, struct hi_graph_builder *b,
			     struct hi_error *err);
/* vtables.c: types by vtable into the type column. */
enum hi_status hi_vtables_find(struct hi_typing *typing, struct hi_error *err);
/* propagate.c: from seeds and the type column until nothing changes. */
enum hi_status hi_types_propagate(struct hi_typing *typing, struct hi_error *err);
/* typing.c calls it between the two: plans that are used become graph types. */
/* scan.c: all rows into b; the type column becomes graph types. */
enum hi_status hi_edges_scan(struct hi_typing *typing, struct hi_graph_builder *b,
			     struct hi_error *err);

/* Does a block that holds `char` hold text: printable up to a NUL inside it? */
bool hi_looks_like_text(const uint8_t *bytes, uint64_t size);

/* hi_objects_usable() without a call. */
static inline uint64_t hi_object_usable(const struct hi_objects *objects, hi_node id)
{
	uint32_t low = objects->usable_low[id];

	return low == UINT32_MAX ? hi_objects_usable(objects, id) : low;
}

static inline bool hi_object_is_internal(const struct hi_objects *objects, hi_node id)
{
	return objects->flags[id] & HI_OBJECT_INTERNAL;
}

#endif
