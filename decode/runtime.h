/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runtimes: code that manages objects of its own inside the blocks of an allocator, or in
 * areas beside it. A runtime finds its objects, their references with names, and their
 * roots. Reads only the image.
 *
 * To add a runtime: files with its name as prefix under decode/runtimes/ with a `const
 * struct hi_runtime_ops hi_runtime_NAME`; an entry in runtimes/registry.c; a fixture that
 * prints the runtime's own truth; a line in tests/decode/runtime_contract_test.c. Struct
 * layouts are data tables with their source, selected by version and checked by
 * self_check. An unknown version is HI_UNSUPPORTED, and the error names those that are
 * known.
 *
 * Addresses of edges and roots may lead into an object: what the runtime calls
 * the address of an object need not be the start of its block.
 */
#ifndef HI_DECODE_RUNTIME_H
#define HI_DECODE_RUNTIME_H

#include "census/analysis/audit.h"
#include "decode/modules/modules.h"
#include "decode/types/types.h"

/* The contents of a block. Names are unique in one runtime. Index 0: unknown. */
struct hi_runtime_type {
	const char *name;   /* "dict", "myapp.Session", "dict keys"; hostile */
	const char *module; /* that defines it: "myapp"; hostile */
	uint64_t size;	    /* of one, when all have the same; 0 */
	enum hi_type_class klass;
	/* Memory whose layout is not the runtime's: its words may be pointers. Else
	 * edges() reports all of them. */
	bool words;
	/* The collector takes no cycle with one of them (a finaliser that it must not
	 * call, as the order is not known). */
	bool uncollectable;
	/* Bytes of a block before the object, whose address the program uses. */
	uint8_t front;
	bool fronts_differ; /* of types with the same name */
	/* The collector does not see what one of them refers to: it takes no cycle
	 * through one. */
	bool unseen;
};

/* How an edge is called. */
enum hi_edge_label {
	HI_LABEL_FIELD,	    /* name */
	HI_LABEL_INDEX,	    /* [value] */
	HI_LABEL_OFFSET,    /* +0x18: a word of a structure without a description */
	HI_LABEL_KEY,	    /* [the object at value, as text] */
	HI_LABEL_ATTRIBUTE, /* .the object at value, as text */
	HI_LABEL_NONE,
};
struct hi_runtime_edge {
	uint64_t to; /* target address, as read; may lead nowhere */
	enum hi_grade grade;
	enum hi_edge_label label;
	const char *name; /* FIELD; valid until release; hostile */
	uint64_t value;
	/* By the runtime's own structures the object counts this reference: not only
	 * debug information, and no word that looks like one. */
	bool owned;
};
/* False ends it. */
typedef bool hi_runtime_edge_fn(void *arg, const struct hi_runtime_edge *edge);

struct hi_runtime_root {
	enum hi_root_kind kind;
	const char *name, *detail, *type; /* valid during the call; hostile */
	const struct hi_runtime_edge *edges;
	size_t n_edges;
};
typedef bool hi_runtime_root_fn(void *arg, const struct hi_runtime_root *root);
typedef void hi_runtime_object_fn(void *arg, uint64_t addr);

/* A function that a thread is in. Strings are valid during the call, hostile, and cut;
 * "" unknown. */
struct hi_runtime_frame {
	int thread; /* of the kernel; 0 unknown */
	const char *function, *file;
	uint32_t line; /* 0 unknown */
};
/* False ends it. */
typedef bool hi_runtime_frame_fn(void *arg, const struct hi_runtime_frame *frame);

/* Facts of a runtime about one object beside its type. */
struct hi_runtime_facts {
	uint64_t address; /* that the program uses for it: id() */
	bool counts;	  /* its references, */
	uint64_t counted;
	/* The names of functions, classes and their like, the values of others as source;
	 * cut, not escaped. "" none, or not to be shown. */
	char name[200], value[200];
};

/* Used blocks inside one area, in increasing address order. */
struct hi_runtime_block {
	uint64_t addr, size;
};
typedef bool hi_runtime_blocks_fn(const struct hi_runtime_block *blocks, size_t n,
				  size_t area, void *arg);
/* Called from several threads, once or more for a block. firm: by the owner of a buffer,
 * not only by the block's own bytes: that wins, in any order. */
typedef void hi_runtime_type_fn(void *arg, hi_node block, uint32_t type, bool firm);

/* Facts about lost references beside the object. Bits per object of the graph. */
struct hi_runtime_losses {
	const struct hi_graph *graph;
	const uint64_t *in_data; /* variables of modules refer to it */
	uint64_t *marks;	 /* of mark_losses() */
};

struct hi_runtime;
struct hi_runtime_cursor; /* one thread's */

struct hi_runtime_ops {
	const char *name; /* "CPython" */
	/* Probes at which its heap is consistent, NULL ends: "usdt:python:gc__done". */
	const char *const *safepoints;
	/* HI_NOT_FOUND: it is not in the image. HI_UNSUPPORTED: it is, but this version
	 * or state is not known. HI_BAD_DATA: the layout check fails. */
	enum hi_status (*probe)(const struct hi_image *image, struct hi_modules *modules,
				struct hi_types *types, struct hi_runtime **ret,
				struct hi_error *err);
	/* Checks the layout on the image: lists close, sizes and counts agree. */
	enum hi_status (*self_check)(struct hi_runtime *runtime, struct hi_error *err);
	/* Every used block of every area once. */
	enum hi_status (*walk)(struct hi_runtime *runtime, hi_runtime_blocks_fn *fn,
			       void *arg, struct hi_error *err);
	/* Finds the types of blocks, the allocator's too: calls fn for those that are the
	 * runtime's. objects: all blocks, sealed. */
	enum hi_status (*type_of)(struct hi_runtime *runtime,
				  const struct hi_objects *objects, unsigned threads,
				  hi_runtime_type_fn *fn, void *arg,
				  struct hi_error *err);
	struct hi_runtime_cursor *(*cursor)(
		struct hi_runtime *runtime); /* NULL: memory */
	void (*cursor_free)(struct hi_runtime_cursor *cursor);
	/* Emits the references of the block at addr; type: of type_of(). */
	void (*edges)(struct hi_runtime_cursor *cursor, uint64_t addr, uint64_t size,
		      uint32_t type, hi_runtime_edge_fn *fn, void *arg);
	/* The number of blocks of which edges() left out references beyond the memory
	 * that is there. */
	uint64_t (*cut)(const struct hi_runtime_cursor *cursor);
	/* The label of an edge as in source code: `["key"]`, ".name", "[3]". Escaped and
	 * cut. Nothing of the values of objects with runtime->redact. */
	size_t (*label)(struct hi_runtime_cursor *cursor,
			const struct hi_runtime_edge *edge, char *out, size_t out_size);
	/* How many references the object in a block counts itself; false: it counts
	 * none. NULL: nothing here is counted. */
	bool (*counted)(struct hi_runtime_cursor *cursor, uint64_t addr, uint64_t size,
			uint32_t type, uint64_t *ret);
	/* Optional, with known_loss(): called once, before it. */
	void (*mark_losses)(struct hi_runtime_cursor *cursor,
			    const struct hi_runtime_losses *losses);
	/* The library by whose habit an object, of a type of type_of(), counts `excess`
	 * references more than were found. */
	enum hi_known_loss (*known_loss)(struct hi_runtime_cursor *cursor,
					 const struct hi_runtime_losses *losses,
					 hi_node node, uint32_t type, uint64_t excess);
	/* Optional. False: the block has no object of the runtime. */
	bool (*facts)(struct hi_runtime_cursor *cursor, uint64_t addr, uint64_t size,
		      uint32_t type, struct hi_runtime_facts *ret);
	/* Objects that its collector gave up and put aside. NULL: it has no such list. */
	void (*put_aside)(struct hi_runtime_cursor *cursor, hi_runtime_object_fn *fn,
			  void *arg);
	enum hi_status (*roots)(struct hi_runtime *runtime, hi_runtime_root_fn *fn,
				void *arg, struct hi_error *err);
	/* Optional. Emits the stack of each thread, one after the other, the innermost
	 * frame first. */
	void (*frames)(struct hi_runtime_cursor *cursor, hi_runtime_frame_fn *fn,
		       void *arg);
	void (*release)(struct hi_runtime *runtime);
};

/* Memory that it divides itself. */
struct hi_runtime_area {
	uint64_t start, end;
	unsigned align_shift; /* of its blocks */
};

/* When its collector runs by itself. */
enum { HI_RUNTIME_GENERATIONS = 4 };
struct hi_runtime_collector {
	uint64_t n_generations; /* 0: there is none, or it is not known */
	bool is_on;
	/* Youngest first: what makes a collection due, and how far that is. */
	uint64_t threshold[HI_RUNTIME_GENERATIONS], count[HI_RUNTIME_GENERATIONS];
};

struct hi_runtime {
	const struct hi_runtime_ops *ops;
	/* Labels have no values: of a key or an attribute "["…"]" and ".?". */
	bool redact;
	char version[48];  /* "3.11.2" */
	char found_by[64]; /* how the layout was found: "symbols", "table for 3.11" */
	char note[160];	   /* "" or a warning: "the collector was running" */
	/* Heaps whose collector was running by its own flag; not 0: the note is about
	 * them. A collection that is about to end still has the flag. */
	unsigned collecting;
	/* Bytes that a debug allocator has at the beginning of each block: the program
	 * uses the address after them. */
	uint8_t marks;
	const struct hi_runtime_area *areas; /* sorted, disjoint */
	size_t n_areas;
	/* Its own data, sorted. Words there are no roots, unless roots() reports them. */
	const struct hi_range *own;
	size_t n_own;
	/* Variables of its memory manager: roots of the runtime, not the program's. */
	const uint64_t *internals;
	size_t n_internals;
	/* Names of variables whose pointers it leaves when the memory is freed: they hold
	 * nothing. Ends with NULL; NULL: none. */
	const char *const *dangling;
	/* After type_of; may grow until then. */
	const struct hi_runtime_type *types;
	uint32_t n_types;
	/* Sums over the areas, after walk. */
	uint64_t used_blocks, used_bytes, free_blocks, free_bytes;
	uint64_t own_bytes;	/* headers, padding */
	uint64_t skipped_bytes; /* damaged or unreadable */
	size_t n_damage;
	char damage[160]; /* text of the first one */
	uint64_t tracked; /* objects in the collector's lists */
	/* Members of these lists that cannot be read as objects, and places where a list
	 * is torn: they and what only they lead to may be missing. Text of the first. */
	uint64_t n_odd;
	char odd[200];
	/* All blocks, from type_of on. A caller that makes another table of them updates
	 * this. */
	const struct hi_objects *objects;
	uint64_t n_cut; /* of all blocks, after their edges were read: ops->cut */
	struct hi_runtime_collector collector; /* of the first of several */
};

extern const struct hi_runtime_ops *const hi_runtimes[]; /* NULL ends */

/*
 * The first runtime of the registry that is in the image, after its self-check.
 * refused_ret, which may be NULL, gets the name of one that is there and cannot be
 * decoded, for a failure other than HI_NOT_FOUND and HI_NO_MEMORY; else "".
 */
enum hi_status hi_runtime_probe(const struct hi_image *image, struct hi_modules *modules,
				struct hi_types *types, struct hi_runtime **ret,
				const char **refused_ret, struct hi_error *err);
/* The operations of hi_runtime_ops, of this runtime. */
enum hi_status hi_runtime_walk(struct hi_runtime *runtime, hi_runtime_blocks_fn *fn,
			       void *arg, struct hi_error *err);
/* Calls fn with the type of each object of the runtime, from `threads` threads. */
enum hi_status hi_runtime_type_of(struct hi_runtime *runtime,
				  const struct hi_objects *objects, unsigned threads,
				  hi_runtime_type_fn *fn, void *arg,
				  struct hi_error *err);
/* A cursor for one thread, which the caller frees. NULL: out of memory. */
struct hi_runtime_cursor *hi_runtime_cursor(struct hi_runtime *runtime);
void hi_runtime_cursor_free(struct hi_runtime *runtime, struct hi_runtime_cursor *cursor);
/* Calls fn for every root that the runtime has, in this thread. */
enum hi_status hi_runtime_roots(struct hi_runtime *runtime, hi_runtime_root_fn *fn,
				void *arg, struct hi_error *err);
/* Frees what probe made; runtime may be NULL. */
void hi_runtime_release(struct hi_runtime *runtime);

#endif
