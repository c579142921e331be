/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of one run of type inference, for the folders of decode/ and their tests. */
#ifndef HI_DECODE_INFERENCE_TYPING_STATE_H
#define HI_DECODE_INFERENCE_TYPING_STATE_H

#include "base/vector.h"
#include "decode/inference/refined_layouts.h"
#include "decode/inference/subobjects.h"
#include "decode/inference/type_key.h"
#include "decode/layouts/layout.h"
#include "decode/inference/typing.h"
#include "decode/inference/memory_windows.h"

/*
 * Debug information as type inference sees it, so that tests can have their own. A NULL
 * member finds nothing. Only `types.type` and `vtable` are called from several threads.
 */
struct hi_typing_source {
	struct hi_type_source types;
	enum hi_status (*variable_at)(void *arg, uint64_t addr, struct hi_variable *ret,
				      struct hi_error *err);
	enum hi_status (*vtable)(void *arg, uint64_t vptr, hi_type_id *type_ret,
				 const char **name_ret, int64_t *top_offset_ret,
				 struct hi_error *err);
	/* As hi_types_each_record. */
	enum hi_status (*each_record)(void *arg, uint64_t min_size,
				      hi_record_size_fn *wants, hi_record_fn *fn,
				      void *fn_arg, struct hi_error *err);
	/* As hi_types_each_own_record. */
	enum hi_status (*each_own_record)(void *arg, hi_record_size_fn *wants,
					  hi_record_fn *fn, void *fn_arg,
					  struct hi_error *err);
	enum hi_status (*tls_variables)(void *arg, struct hi_module *module,
					hi_tls_variable_fn *fn, void *fn_arg,
					struct hi_error *err);
	/* As hi_type_enumerator_of. */
	bool (*enumerator)(void *arg, hi_type_id type, int64_t value,
			   const char **scope_ret, const char **name_ret);
	/* As hi_types_give_back. */
	void (*give_back)(void *arg);
	enum hi_status (*stack)(void *arg, const struct hi_image *image, uint32_t thread,
				struct hi_stack **ret, struct hi_error *err);
};

/* A root variable, for describe.c; hi_root.variable is its index. */
struct hi_root_info {
	const char *name; /* NULL: untyped words */
	hi_type_id type;
	uint32_t layout; /* HI_LAYOUT_NONE: words */
	uint64_t address, size;
	const uint8_t *value; /* its bytes, when it is in no memory (register) */
	/* Ranges of untyped roots: a scan of them finds the words that refer to
	 * objects. */
	const struct hi_section_range *ranges;
	size_t n_ranges;
};

/* A word of a typed root, with the slot that it was read from or the layout that a rule
 * infers. */
struct hi_seed {
	uint64_t word;
	struct hi_pointer_slot *slot; /* NULL: layout */
	uint32_t layout;
	hi_context context;
};

/* A slot of a pool that a root leads to. */
struct hi_pool_slot_seed {
	uint64_t addr, size;
	uint32_t layout;
};

/* The first word that leads to a leak though it is no pointer by its type (verdict.h).
 * Its address, or that of the leaked object which it is in. */
enum { HI_WITNESS_REGISTER = 0 }; /* in place of an address */
struct hi_witness {
	hi_node node;
	uint64_t place;
};

/* A word of a root that refers to an object, for its label. */
struct hi_root_ref {
	hi_node to;
	uint32_t root;
	const struct hi_pointer_slot *slot; /* NULL: untyped */
};

/* An edge of a root variable; variable as in struct hi_root. */
struct hi_variable_edge {
	uint32_t variable;
	hi_node to;
};

struct hi_edge_indexes HI_VECTOR(uint32_t);

/* Rows of a census, for the next one of a series (row_reuse.h). */
struct hi_kept_rows {
	/* Owned; its columns of types and flags have keys and marks instead. NULL: there
	 * are none, or not yet: */
	struct hi_graph *graph;
	uint32_t *keys; /* by object, as the scan found them; NULL: no series */
	uint8_t *marks; /* by object: row_reuse.h */
	struct hi_edge_indexes *integer_edges; /* as in struct hi_typing */
	size_t n_chunks;
	uint64_t low, high; /* words of [low, high) were looked up */
	uint64_t sizes_hash;
};
/* Frees the rows, and empties them. */
void hi_kept_rows_free(struct hi_kept_rows *rows);

struct hi_labels;

struct hi_typing {
	const struct hi_image *image;
	struct hi_modules *modules; /* may be NULL */
	struct hi_allocator *allocator;
	struct hi_runtime *runtime; /* may be NULL */
	struct hi_objects *objects; /* borrowed from the graph */
	struct hi_typing_source source;
	bool conservative, redact;
	bool has_vtables; /* objects of classes with virtual functions may be there */
	unsigned threads;
	struct hi_memory_windows memory_windows;
	struct hi_layouts *layouts;
	uint32_t *layout_of_type; /* by graph type id */
	uint32_t n_types;
	struct HI_VECTOR(struct hi_root_info) roots;
	struct HI_VECTOR(struct hi_seed) seeds; /* freed after propagation */
	struct HI_VECTOR(struct hi_pool_slot_seed) slots;
	/* Subobjects may be in memory between these, where no allocator is
	 * (subobjects.h); low == high: nowhere. */
	uint64_t outside_low, outside_high;
	struct hi_subobjects
		*subobjects;	   /* after propagation, if anything was split off */
	struct hi_objects *remade; /* the table with subobjects, or NULL */
	bool remade_taken;	   /* the graph owns it */
	struct hi_pools pools;
	struct hi_refined_layouts **refined_layouts; /* per chunk; after the scan */
	size_t n_refined_chunks;
	struct HI_VECTOR(struct hi_root_ref) root_refs; /* freed after the scan */
	uint64_t *untyped; /* bit per object: no layout; freed after the scan */
	/* Memory that was read for roots, and the allocator's own in it; sorted. */
	struct HI_VECTOR(struct hi_section_range) root_ranges, own_ranges;
	struct HI_VECTOR(struct hi_witness) witnesses; /* by node */
	struct HI_VECTOR(hi_node) stdio_buffers;       /* ascending; hold no pointers */
	/* Edges of integers: per chunk their indexes in it, ascending; of variables. */
	struct hi_edge_indexes *integer_edges;
	struct HI_VECTOR(struct hi_variable_edge) integer_refs; /* sorted */
	bool keeps_rows;					/* for the next census */
	struct hi_kept_rows rows, rows_before;
	uint32_t n_layouts_at_first; /* kept_typing.h; 0: they are new */
	struct hi_labels *labels; /* the run owns them while edges are scanned; or NULL */
	struct hi_typing_conflict *conflict_rows;
	size_t n_conflict_rows;
	struct hi_arena arena; /* strings, values, ranges of roots */
	struct hi_typing_stats stats;
};

/* static_pools.c: arrays of bytes among the variables that may be pools. */
enum hi_status hi_static_pools_find(struct hi_typing *typing, struct hi_error *err);
/* A module of the C library, by its name: with what is the dynamic linker's
 * own. */
bool hi_is_loader_module(const char *name);
/* managed.c: types of the runtime into the type column. */
enum hi_status hi_managed_find(struct hi_typing *typing, struct hi_error *err);
/* vtables.c: types by vtable into the type column. */
enum hi_status hi_vtables_find(struct hi_typing *typing, struct hi_error *err);
/* propagate.c: from seeds and the type column until nothing changes. */
enum hi_status hi_types_propagate(struct hi_typing *typing, struct hi_error *err);
/* Between the two layouts that are used become graph types (typing_run.c). */
/* scan.c: all rows into b; the type column becomes graph types. */
enum hi_status hi_edges_scan(struct hi_typing *typing, struct hi_graph_builder *b,
			     struct hi_error *err);

/* stdio_buffers.c: fills in stdio_buffers. HI_NO_MEMORY. */
enum hi_status hi_stdio_buffers_find(struct hi_typing *typing, struct hi_error *err);
bool hi_stdio_buffers_have(const struct hi_typing *typing, hi_node id);

/* The layout of an object, with what is known of its use; HI_LAYOUT_NONE: none. */
uint32_t hi_typing_layout_of(const struct hi_typing *typing, hi_node id);

/* Is a word one past the end of the elements of `size` bytes that `before`, a word next
 * to it, leads to? If blocks lie side by side, it leads to the next one's start. */
bool hi_is_past_the_end(const struct hi_typing *typing, uint64_t word, uint64_t before,
			uint64_t size);
/* How many words before the slot's may be `before`: those of the same record. */
static inline uint64_t hi_words_before_end(const struct hi_pointer_slot *slot)
{
	uint64_t within = slot->count > 1 && slot->stride ? slot->offset % slot->stride
							  : slot->offset;

	return within / 8 < 2 ? within / 8 : 2;
}

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
	/* Other bits of it change during propagation. */
	return __atomic_load_n(&objects->flags[id], __ATOMIC_RELAXED) &
	       HI_OBJECT_INTERNAL;
}

#endif
