/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPython, for this folder and its tests only. The steps:
 *
 *   probe (cpython_probe.c)     _PyRuntime, the interpreters; layout check
 *   lists (cpython_lists.c)     the collector's, with all their objects
 *   version (cpython_version.c) which one it is; its structures by its own table of
 *                               offsets (cpython_offsets.c), by debug information
 *                               (cpython_dwarf.c)
 *   arenas (cpython_arenas.c)   pymalloc's arenas and pools, their used blocks
 *   types (cpython_types.c)     type objects by address; cpython_fields.c: what is in
 *                               instances; cpython_extension.c: by debug information
 *   blocks (cpython_blocks.c)   what each block holds
 *   edges (cpython_edges.c)     references of one object, with their names
 *   arrays (cpython_numpy.c)    those of NumPy, with their dtypes
 *   tables (cpython_tables.c)   dicts and sets; attributes of instances
 *                               (cpython_managed.c)
 *   bounds (cpython_bounds.c)   how much of a table may be read
 *   frozen (cpython_frozen.c)   instructions in the interpreter's data
 *   roots (cpython_roots.c)     modules, interpreter state; frames (cpython_frames.c)
 *                               and their lines (cpython_lines.c)
 *   words (cpython_text.c)      strings and names of the target as text
 *   facts (cpython_facts.c)     id(), count, name and value of one object
 *   losses (cpython_losses.c)   references that libraries are known to lose
 *
 * For recordings of allocations: what a walk over the frames of a running thread needs
 * (cpython_walk_find.c), and code objects that are copied while the program runs
 * (cpython_code.c).
 *
 * Versions differ in data: cpython_layout_table.h has offsets and, where a structure is
 * another one, which function reads it; cpython_builtins.c the fields of types. Sources:
 * Include/internal/pycore_*.h, Objects/obmalloc.c and the named object's own file,
 * CPython 3.8 to 3.14.
 */
#ifndef HI_RUNTIMES_CPYTHON_H
#define HI_RUNTIMES_CPYTHON_H

#include <pthread.h>

#include "attach/stop.h"
#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"
#include "decode/runtime.h"

extern const struct hi_runtime_ops hi_runtime_cpython;

enum {
	HI_PY_PTR = 8,
	/* PyObject and its type's flags: the same in all versions with 64 bits. */
	HI_PY_REFCNT = 0,
	HI_PY_TYPE = 8,
	HI_PY_SIZE = 16,
	HI_PY_TYPE_DEALLOC = 48, /* tp_dealloc */
	HI_PY_TYPE_DEL = 376,	 /* tp_del */
	/* PYTHONMALLOC=debug: what is asked for lies between these (size, 'o', 7 × 0xfd;
	 * 8 × 0xfd), more than once where one allocator asks another. */
	HI_PY_DEBUG_FRONT = 16,
	HI_PY_DEBUG_BACK = 8,
	HI_PY_GC_HEAD = 16, /* before an object: next, prev and two flags */
	HI_PY_GC_PREV_FLAGS = 3,
	HI_PY_MAX_INTERPRETERS = 1024,
	HI_PY_MAX_THREADS = 1 << 16,
	HI_PY_MAX_BASES = 64,
	HI_PY_MAX_TYPES = 1 << 20,
	HI_PY_MAX_FIELDS = 512, /* of one type */
};
#define HI_PY_INLINE_VALUES (UINT64_C(1) << 2)
#define HI_PY_MANAGED_WEAKREF (UINT64_C(1) << 3)
#define HI_PY_MANAGED_DICT (UINT64_C(1) << 4)
#define HI_PY_HEAPTYPE (UINT64_C(1) << 9)
#define HI_PY_READY (UINT64_C(1) << 12)
#define HI_PY_HAVE_GC (UINT64_C(1) << 14)
#define HI_PY_DICT_SUBCLASS (UINT64_C(1) << 29)
#define HI_PY_TYPE_SUBCLASS (UINT64_C(1) << 31)
#define HI_PY_MAX_REFCNT (UINT64_C(1) << 40)

/* The beginning of an instance, when it is more than fields. */
enum hi_py_family {
	HI_PY_PLAIN,  /* fields of the table, slots */
	HI_PY_OPAQUE, /* a C structure without a description */
	HI_PY_OBJECT,
	HI_PY_DICT,
	HI_PY_ODICT,
	HI_PY_LIST,
	HI_PY_TUPLE,
	HI_PY_ITEMS, /* ob_size references after its fixed part */
	HI_PY_SET,
	HI_PY_TYPE_OBJECT,
	HI_PY_CODE,
	HI_PY_GENERATOR,
	HI_PY_FRAME,
	HI_PY_DEQUE,
	HI_PY_STR,
	HI_PY_INT,
	HI_PY_BYTES,
	HI_PY_BYTEARRAY,
	HI_PY_ARRAY,
	HI_PY_LRU_CACHE,
	HI_PY_LINK, /* fields; its owner shows them to the collector */
	HI_PY_TIME, /* datetime.time, datetime.datetime: a time zone follows, or none */
	HI_PY_DATETIME,
	HI_PY_NDARRAY, /* of NumPy, as its dtypes (1.x, 2.x) and its structured scalars */
	HI_PY_DTYPE_1,
	HI_PY_DTYPE_2,
	HI_PY_VOID,
	HI_PY_FAMILIES,
};

enum hi_py_field_kind {
	HI_PY_STRONG,
	HI_PY_DECLARED,	    /* a reference by debug information: counted or borrowed */
	HI_PY_WEAK,	    /* not counted by the target object */
	HI_PY_CONSERVATIVE, /* a word of an unknown structure */
	HI_PY_MEMORY,	    /* a block that is no object */
	HI_PY_WORDS,	    /* one whose words may be references */
	HI_PY_POINTER,	    /* of C, to what is no object; or into the same one */
	HI_PY_FIELD_END,
};
struct hi_py_field {
	uint32_t offset;
	enum hi_py_field_kind kind;
	const char *name;
};
/* A type of the interpreter or its library, known by name and instance size. */
struct hi_py_builtin {
	uint8_t from, to; /* minor versions, inclusive */
	const char *name; /* tp_name */
	uint16_t basicsize;
	enum hi_py_family family;
	const struct hi_py_field *fields; /* END ends; NULL: none */
};

extern const struct hi_py_builtin hi_py_builtins[]; /* name NULL ends */

struct hi_py_free_list {
	const char *path, *count_path; /* in the interpreter's state */
	uint32_t lists, n;	       /* offset of the array of pointers, its length */
	uint32_t stride;	       /* of the array; 0: pointers alone */
	uint32_t link;		       /* offset in an object of the next one; 0: none */
	bool first_word;	       /* no count, but the next one: 3.14 */
	uint32_t count;	  /* offset of how many of the array are in use; 0: all that
			   * are not NULL */
	const char *what; /* "tuple" */
	bool is_memory;	  /* no objects: */
	uint8_t buffer;	  /* enum hi_py_buffer; 0: floats, or keys */
};

/* References at equal distances: dicts of static types. */
struct hi_py_array {
	uint32_t first, n, stride;
	const char *what; /* in a state its path: "types.builtins[].tp_dict" */
};
/* A part of the state whose words are no references, or are reported by other code. */
struct hi_py_skip {
	uint32_t from, to;
	const char *path;
};

/* The same in a variable that is an array of numbers by its type. */
struct hi_py_global {
	const char *symbol;
	struct hi_py_array array;
};

struct hi_runtime_cursor;
struct hi_py_frame;
struct hi_py_keys;
struct hi_py_object;
struct hi_py_visit;

/* Offsets of one minor version; 0: it has none, where it is not the first word. */
struct hi_py_layout {
	unsigned minor;
	/* _PyRuntimeState */
	uint32_t runtime_core_initialized, runtime_initialized, runtime_finalizing;
	uint32_t runtime_interpreters_head, runtime_interpreters_main,
		runtime_words_end, /* after it are objects, interpreter and thread */
		runtime_size;
	uint32_t runtime_gc; /* 3.8: one for all interpreters */
	/* The thread that has the lock of the interpreter (up to 3.11); the key by which
	 * a thread finds its own state (Py_tss_t). */
	uint32_t runtime_current, runtime_tss;
	uint32_t runtime_allocators; /* PyMemAllocatorEx of raw, mem, obj; 0: variables */
	const struct hi_py_field *runtime_fields;
	/* PyInterpreterState */
	uint32_t interp_next, interp_threads, interp_runtime, interp_id, interp_gc,
		interp_modules, interp_sysdict, interp_interned, interp_size;
	uint32_t gc_generations, gc_generation_size, gc_n_generations, gc_permanent,
		gc_collecting, gc_enabled, gc_threshold, gc_count, gc_size;
	const struct hi_py_field *interp_fields;
	const struct hi_py_free_list *free_lists; /* n 0 ends */
	const struct hi_py_array *arrays;	  /* n 0 ends; NULL: none */
	const struct hi_py_global *globals;	  /* symbol NULL ends; NULL: none */
	const struct hi_py_skip *interp_skip;
	uint32_t n_interp_skip;
	/* The cache of attributes by name: entries, and where a name is in one. The names
	 * are counted, the values are borrowed. */
	uint32_t type_cache, type_cache_entries, type_cache_entry_size, type_cache_name;
	/* PyThreadState */
	uint32_t thread_next, thread_interp, thread_cframe, thread_frame,
		thread_native_id, thread_id, thread_pthread, thread_stack_chunk,
		thread_size;
	const struct hi_py_field *thread_fields;
	uint32_t thread_state; /* 0: it runs no Python, and has saved its frame */
	uint32_t cframe_current, chunk_previous, chunk_size;
	/* _PyInterpreterFrame; PyFrameObject up to 3.10 */
	uint32_t frame_func, frame_locals, frame_code, frame_object, frame_previous,
		frame_instr, frame_stacktop, frame_stackdepth, frame_is_entry,
		frame_owner, frame_values, frame_localsplus;
	/* Words of frames are references with tags (3.14, _PyStackRef), and stacktop is
	 * an address. */
	bool frame_stack_refs;
	/* PyCodeObject */
	uint32_t code_stacksize, code_firstlineno, code_nlocalsplus, code_names,
		code_cellvars, code_freevars, code_filename, code_qualname,
		code_linetable, code_first_traceable, code_instructions;
	/* PyGenObject, PyFrameObject */
	uint32_t gen_state, gen_frame, frameobj_frame, frameobj_data;
	/* PyTypeObject, PyHeapTypeObject */
	uint32_t type_doc, type_name, type_basicsize, type_itemsize, type_flags,
		type_weaklist, type_members, type_base, type_dict, type_dictoffset,
		type_mro, heap_qualname, heap_module, heap_cached_keys, heap_tpname,
		type_basic; /* of "type" itself: where members of slots begin */
	/* PyDictObject, keys */
	uint32_t tuple_items;
	bool tuple_hides_more; /* basicsize has the items that ob_size has not */
	uint32_t dict_used, dict_keys, dict_values, keys_size, keys_log2_size,
		keys_log2_index, keys_kind, keys_nentries, keys_indices, values_items;
	/* Values inside of an object are reported for the dict that was made of them, if
	 * there is one; else for the object. */
	bool dict_has_inline;
	/* PyUnicodeObject */
	uint32_t str_length, str_state, str_wstr, str_ascii_data, str_utf8,
		str_compact_data, str_any, str_size;
	uint32_t deque_n_free, deque_free; /* blocks that it keeps */
	unsigned int_tag_bits; /* below the number of digits; 0: a signed one */
	/* Types with these flags have managed_size bytes before the object. */
	uint64_t preheader_flags;
	uint32_t managed_size;
	bool immortal;		/* such objects have a refcount of 2^31 and more */
	uint64_t refcnt_flags;	/* bits in an object's first word that do not count */
	uint64_t gc_next_flags; /* bits of _gc_next that are no address */
	/* pymalloc */
	uint32_t arena_size, pool_size, pool_header, arena_object_size, alignment,
		small_max;
	/* The place of an interpreter's own arenas: in the state, or at a pointer
	 * there */
	uint32_t interp_obmalloc, obmalloc_arenas, obmalloc_n_arenas;
	bool obmalloc_is_pointer;
	/* Functions for structures that differ by more than offsets. NULL: there is
	 * none. */
	bool (*frame_at)(struct hi_runtime_cursor *c, uint64_t addr,
			 struct hi_py_frame *ret);
	uint64_t (*local_name)(struct hi_runtime_cursor *c, uint64_t code, uint32_t i);
	int (*line)(const uint8_t *table, size_t size, int64_t at);
	bool (*read_keys)(struct hi_runtime_cursor *c, uint64_t addr,
			  struct hi_py_keys *ret);
	void (*visit_managed)(struct hi_py_visit *v, const struct hi_py_object *o);
	/* Returns the bytes after the items of an object. */
	uint64_t (*tail_size)(struct hi_runtime_cursor *c, const struct hi_py_object *o);
};
extern const struct hi_py_layout *const hi_py_layouts[]; /* NULL ends */
/* cpython_walk_find.c: that of 3.MINOR; NULL: not known. */
const struct hi_py_layout *hi_py_layout_of_minor(unsigned minor);

/* How often an object is referred to, by its first word. HI_PY_MAX_REFCNT and more: it is
 * no such word. */
static inline uint64_t hi_py_refcnt(const struct hi_py_layout *l, uint64_t word)
{
	return word & ~l->refcnt_flags;
}

/* Does this minor version have the built-in type? */
static inline bool hi_py_has_builtin(const struct hi_py_layout *l,
				     const struct hi_py_builtin *b)
{
	return b->from <= l->minor && l->minor <= b->to;
}

/* Reads for one thread. It copies: nothing that it returns is borrowed. */
struct hi_py_reader {
	struct hi_memory *memory;
	/* For pages of a module's data that the target never wrote to, which the memory
	 * does not hold: objects of frozen modules. NULL: no modules. */
	struct hi_modules *modules;
	struct hi_py_window {
		uint64_t start, end;
		const uint8_t *host;
	} windows[4];
	unsigned next;
};
/* hi_py_read() where no window covers the range. False: unreadable. */
bool hi_py_read_slow(struct hi_py_reader *r, uint64_t addr, void *buf, size_t size);
/* Reads [addr, addr + size) through one of the windows. False: unreadable. */
static inline bool hi_py_read(struct hi_py_reader *r, uint64_t addr, void *buf,
			      size_t size)
{
	for (unsigned i = 0; i < 4; i++) {
		const struct hi_py_window *w = &r->windows[i];

		if (addr >= w->start && addr < w->end && w->end - addr >= size) {
			__builtin_memcpy(buf, w->host + (addr - w->start), size);
			return true;
		}
	}
	return hi_py_read_slow(r, addr, buf, size);
}
/* Reads 8 bytes. False: unreadable. */
static inline bool hi_py_u64(struct hi_py_reader *r, uint64_t addr, uint64_t *ret)
{
	return hi_py_read(r, addr, ret, 8);
}
static inline uint64_t hi_py_word(struct hi_py_reader *r, uint64_t addr) /* 0: fault */
{
	uint64_t word;

	return hi_py_read(r, addr, &word, 8) ? word : 0;
}
/* Returns 4 bytes; 0 if they are unreadable. */
static inline uint32_t hi_py_u32(struct hi_py_reader *r, uint64_t addr)
{
	uint32_t word;

	return hi_py_read(r, addr, &word, 4) ? word : 0;
}

/* A type object. */
struct hi_py_type {
	uint64_t addr, flags, basicsize, base;
	uint64_t itemsize;
	int64_t dictoffset;
	uint32_t type;	     /* hi_runtime.types of its instances */
	uint32_t freed_type; /* of instances that a free list keeps; 0: not asked yet */
	uint16_t presize;    /* bytes before an instance */
	uint16_t n_hidden;   /* items of an instance, whatever its ob_size; 0: ob_size */
	enum hi_py_family family;
	bool is_heap, exact; /* exact: the builtin itself, not a subclass */
	bool is_managed;     /* attributes: read by the layout's visit_managed */
	bool has_weaklist;
	const struct hi_py_field *fields; /* sorted by offset */
	uint32_t n_fields;
};

/* Contents of blocks that are no objects. */
enum hi_py_buffer {
	HI_PY_BUFFER_NONE,
	HI_PY_BUFFER_DICT_KEYS,
	HI_PY_BUFFER_VALUES,
	HI_PY_BUFFER_LIST_ITEMS,
	HI_PY_BUFFER_SET_TABLE,
	HI_PY_BUFFER_DEQUE_BLOCK,
	HI_PY_BUFFER_ODICT_NODE,
	HI_PY_BUFFER_ODICT_TABLE,
	HI_PY_BUFFER_STR_DATA,
	HI_PY_BUFFER_BYTES, /* of bytearray, array */
	HI_PY_BUFFER_CODE_LINES,
	HI_PY_BUFFER_CODE_CACHE,
	HI_PY_BUFFER_TYPE_NAME,
	HI_PY_BUFFER_MODULE_STATE,
	HI_PY_BUFFER_INTERPRETER,
	HI_PY_BUFFER_THREAD,
	HI_PY_BUFFER_FREE_FLOAT,
	HI_PY_BUFFER_FREE_KEYS,
	HI_PY_BUFFER_FREE_WRITER,
	HI_PY_BUFFER_ARENAS,
	HI_PY_BUFFER_NDARRAY_SHAPE,
	HI_PY_BUFFER_DTYPE,
	HI_PY_BUFFER_NDARRAY_DATA, /* by the number of the dtype */
	HI_PY_BUFFER_NDARRAY_OTHER = HI_PY_BUFFER_NDARRAY_DATA + 24,
	HI_PY_BUFFERS,
};

struct hi_py_arena {
	uint64_t address, first_pool, unused; /* pools from `unused` on were never used */
	uint32_t index;
};

struct hi_py_interpreter {
	uint64_t addr;
	int64_t id;
	uint64_t gc; /* its collector; 0: it shares that of the first one */
	uint64_t tracked;
	uint64_t interned; /* the dict of interned strings; 0: not its own */
	bool collecting;
};

struct hi_py {
	struct hi_runtime base;
	const struct hi_image *image;
	struct hi_modules *modules;
	const struct hi_py_layout *layout;
	bool of_dwarf, of_offsets; /* where the layout comes from; else from the table */
	struct hi_types *dwarf;	   /* for types of extensions; NULL: none */
	struct hi_module *module;  /* that has _PyRuntime */
	uint64_t runtime, runtime_size, type_type;
	struct HI_VECTOR(struct hi_py_interpreter) interpreters;
	struct HI_VECTOR(uint64_t) threads;
	struct HI_VECTOR(struct hi_py_arena) arenas;
	struct HI_VECTOR(uint64_t) arena_tables;
	struct HI_VECTOR(struct hi_runtime_area) areas;
	struct HI_VECTOR(struct hi_range) own;
	struct HI_VECTOR(uint64_t) internals;
	struct HI_VECTOR(struct hi_runtime_type) types;
	/* Types by address; the lock is for all below. */
	pthread_mutex_t lock;
	struct hi_table by_addr; /* -> index in all + 1; 0: it is no type */
	struct HI_VECTOR(struct hi_py_type *) all;
	struct hi_table by_name; /* hash of a type name -> its index */
	struct hi_table freed;	 /* addresses that free lists have instead of counts */
	struct hi_arena arena;
	struct hi_py_reader reader; /* under the lock, or of a single thread */
	bool has_marks;		    /* PYTHONMALLOC=debug */
	bool no_memory;
	unsigned making; /* types in the making, each asked for by the one before */
	/* Bytes of tables that all objects may have, and that one may read:
	 * cpython_bounds.c. */
	uint64_t budget, share;
	uint64_t held; /* bytes that the image has */
	uint64_t arena_steps;
};

struct hi_runtime_cursor {
	struct hi_py *py;
	uint64_t n_cut; /* objects that have less than their length */
	struct hi_py_reader reader;
	enum { HI_PY_TYPE_CACHE = 512 } cache_size;
	struct {
		uint64_t addr;
		const struct hi_py_type *type; /* NULL: none */
	} cache[HI_PY_TYPE_CACHE];
};
/* Makes a cursor for one thread. py is borrowed. */
void hi_py_cursor_init(struct hi_runtime_cursor *c, struct hi_py *py);

/* cpython_version.c */
enum hi_status hi_py_find_layout(struct hi_py *py, struct hi_error *err);
/* Whether the lists of this layout have an interpreter, or are unreadable. A library that
 * is linked and never initialised has none. */
bool hi_py_has_interpreter(struct hi_py *py, const struct hi_py_layout *layout);
/* cpython_dwarf.c: the layout with the offsets of the interpreter's own structures by
 * debug information; NULL: it has none of them, or no memory (py->no_memory). */
const struct hi_py_layout *hi_py_layout_of_dwarf(struct hi_py *py,
						 struct hi_types *types);
/* cpython_offsets.c: words that _PyRuntime begins with, of which some are read. */
enum { HI_PY_OFFSETS_WORDS = 95 };
/* Fills in the words of the layout `from` that the interpreter describes itself, by these
 * words of _PyRuntime; the tables of it stay. False: it describes none, or in an unknown
 * form. */
bool hi_py_apply_offsets(const uint64_t *words, const struct hi_py_layout *from,
			 struct hi_py_layout *ret);
/* The same with the tables. with_end: members after all that are described move with the
 * end of the interpreter's state, not with the members before them. NULL: as above, or
 * that is the same, or no memory (py->no_memory). */
const struct hi_py_layout *
hi_py_layout_of_offsets(struct hi_py *py, const struct hi_py_layout *from, bool with_end);
/* cpython_frozen.c: adds what is no root to py->own; false: no memory. */
bool hi_py_own_frozen(struct hi_py *py, struct hi_runtime_cursor *c);
/* cpython_interned.c: the dicts of interned strings, of each interpreter or of all. */
void hi_py_find_interned(struct hi_py *py, struct hi_runtime_cursor *c);

/* cpython_lists.c: checks the lists of all collectors, and counts their objects. Members
 * that are none any more are counted, and the first one is named (hi_runtime.odd); where
 * they have many classes it is another layout: HI_BAD_DATA. */
enum hi_status hi_py_check_collector(struct hi_py *py, struct hi_runtime_cursor *c,
				     struct hi_error *err);
/* cpython_arenas.c */
/* Finds the arenas. base.found_by gets the source of layout and arenas. */
enum hi_status hi_py_find_arenas(struct hi_py *py, struct hi_error *err);
/* hi_runtime_ops.walk. */
enum hi_status hi_py_walk(struct hi_runtime *runtime, hi_runtime_blocks_fn *fn, void *arg,
			  struct hi_error *err);

/* cpython_types.c: NULL where no type object is. */
const struct hi_py_type *hi_py_type_at(struct hi_runtime_cursor *c, uint64_t addr);
/* False: there is none at addr. */
bool hi_py_read_type(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_type *t);
/* True: a type object is at addr. */
bool hi_py_is_type(struct hi_runtime_cursor *c, uint64_t addr);
/* tp_name of a type object, as it is in memory; hostile. False: unreadable, or too long
 * for out. */
bool hi_py_type_name(struct hi_runtime_cursor *c, uint64_t type, char *out, size_t size);
/* The row of hi_py_builtins for this version; NULL: none. */
const struct hi_py_builtin *hi_py_builtin_of(struct hi_py *py, const char *name,
					     uint64_t basicsize);
/* cpython_fields.c */
struct hi_py_field_list {
	struct hi_py_field items[HI_PY_MAX_FIELDS];
	uint32_t n;
};
/* Adds a field, unless there is one at this offset. */
void hi_py_add_field(struct hi_py_field_list *f, uint32_t offset,
		     enum hi_py_field_kind kind, const char *name);
/* A copy that lives as long as py; "" and py->no_memory when out of memory. */
const char *hi_py_keep_text(struct hi_py *py, const char *text);
/* Collects the fields of a type along its bases: slots, then the builtin at the end. Sets
 * t->family. */
void hi_py_collect_fields(struct hi_runtime_cursor *c, struct hi_py_type *t,
			  struct hi_py_field_list *f);
/* Items of a structure like time.struct_time, with those that its ob_size does not count;
 * 0: it is no such structure. */
uint16_t hi_py_hidden_items(struct hi_runtime_cursor *c, const struct hi_py_type *t);
/* Sorts the fields and makes them those of t. False: out of memory. */
bool hi_py_keep_fields(struct hi_py *py, struct hi_py_type *t,
		       struct hi_py_field_list *f);
/* cpython_extension.c: adds the fields from offset `from` on by debug information; false:
 * there is none. */
bool hi_py_describe(struct hi_runtime_cursor *c, const struct hi_py_type *t,
		    uint64_t from, struct hi_py_field_list *fields);
/* A name of hi_runtime.types; 0 when out of memory. Under the lock. */
uint32_t hi_py_name_type(struct hi_py *py, const struct hi_runtime_type *type);
/* Adds the types of buffers to hi_runtime.types. False: out of memory. */
bool hi_py_name_buffers(struct hi_py *py);
/* The type of an instance that a free list keeps. */
uint32_t hi_py_freed_type(struct hi_py *py, const struct hi_py_type *type);

/* An object in memory. */
struct hi_py_object {
	uint64_t addr;
	const struct hi_py_type *type;
	uint64_t refcnt;
	int64_t size;  /* ob_size; 0 for types without items */
	uint64_t room; /* bytes from addr to the end of its block; 0: not known */
};
/* False: there is none at addr. */
bool hi_py_object_at(struct hi_runtime_cursor *c, uint64_t addr,
		     struct hi_py_object *ret);
/* Finds the object in a block, after the header that its type puts before it. */
bool hi_py_object_in(struct hi_runtime_cursor *c, uint64_t block, uint64_t size,
		     struct hi_py_object *ret);
/* True: a class of C, which is never freed. NumPy copies those of its dtypes into blocks;
 * none has the collector's head. */
bool hi_py_is_static_class(struct hi_runtime_cursor *c, const struct hi_py_object *o);
/* The next one in a chain of a free list; 0: it was the last. */
uint64_t hi_py_next_free(struct hi_py_reader *r, const struct hi_py_free_list *f,
			 uint64_t addr);
/* From a block to what was asked for, without the marks of a debug allocator. */
void hi_py_skip_marks(struct hi_runtime_cursor *c, uint64_t *block, uint64_t *size);
/* Is there such a mark right before addr? */
bool hi_py_is_marked(struct hi_py_reader *r, uint64_t addr);
/* Offset of the time zone of a datetime; 0: it has none, nor room for it. */
uint32_t hi_py_time_zone(struct hi_runtime_cursor *c, const struct hi_py_object *o);

/* cpython_blocks.c */
enum hi_status hi_py_type_of(struct hi_runtime *runtime, const struct hi_objects *objects,
			     unsigned threads, hi_runtime_type_fn *fn, void *arg,
			     struct hi_error *err);

/* cpython_bounds.c */
struct hi_py_visit;
/* Returns how many of n items, `size` bytes each, lie in the block of the table at addr,
 * after `head` bytes. Fewer than n: v->is_cut is set. */
uint64_t hi_py_bound(struct hi_py_visit *v, uint64_t addr, uint64_t head, uint64_t n,
		     uint64_t size);
/* Bytes from addr, which may lie anywhere in a block or in a stack of frames, to the end
 * of what holds it. */
uint64_t hi_py_room_inside(struct hi_runtime_cursor *c, uint64_t addr);
/* Brent's algorithm: finds a cycle in a chain of the target. */
struct hi_py_chain {
	uint64_t mark, n;
};
/* Call once for each element. True: the chain has met itself. */
bool hi_py_is_cycle(struct hi_py_chain *chain, uint64_t at);

/* cpython_edges.c */
struct hi_py_visit {
	struct hi_runtime_cursor *c;
	hi_runtime_edge_fn *fn;
	void *arg;
	bool stopped;
	bool is_cut; /* the object has less than its length */
	/* References that are reported now may not be counted: Note [Hidden dicts] in
	 * cpython_tables.c. */
	bool is_hidden;
	uint64_t share; /* bytes of tables that may be read; 0: the runtime's share */
	uint64_t used;	/* bytes of tables */
	/* Memory of an object that is no object itself, and how many bytes of it may be
	 * read for this one; may be NULL. */
	uint64_t (*memory)(void *arg, uint64_t addr, enum hi_py_buffer what);
};
/* Reports one edge of the object. False: the visit has stopped. */
bool hi_py_emit(struct hi_py_visit *v, uint64_t to, enum hi_grade grade,
		enum hi_edge_label label, const char *name, uint64_t value);
/* Reports an edge to a buffer of the object, and types its block. */
void hi_py_emit_memory(struct hi_py_visit *v, uint64_t to, enum hi_py_buffer what,
		       const char *name);
/* Reports all edges of an object, by its family. */
void hi_py_visit(struct hi_py_visit *v, const struct hi_py_object *o);
/* cpython_tables.c: dict and related types */
void hi_py_visit_dict(struct hi_py_visit *v, const struct hi_py_object *o);
/* The same for an OrderedDict. */
void hi_py_visit_odict(struct hi_py_visit *v, const struct hi_py_object *o);
/* The same for a set or frozenset. */
void hi_py_visit_set(struct hi_py_visit *v, const struct hi_py_object *o);
/* The block that they are in. */
void hi_py_visit_keys(struct hi_py_visit *v, uint64_t keys, uint64_t size);
struct hi_py_keys {
	uint64_t addr, entries, n;
	bool unicode; /* entries are key, value; else hash, key, value */
	bool shared;  /* values are elsewhere. Other tables may be shared, too, up to
		       * 3.10 */
};
/* Values in an array, their names in keys. */
void hi_py_visit_values(struct hi_py_visit *v, const struct hi_py_keys *k,
			uint64_t values, enum hi_edge_label label);
/* True: it is a dict of interned strings. */
bool hi_py_is_interned(const struct hi_py *py, uint64_t dict);
/* (key, value) of a dict, in order; false of fn ends it. At most max. */
typedef bool hi_py_item_fn(void *arg, uint64_t key, uint64_t value);
void hi_py_dict_items(struct hi_runtime_cursor *c, uint64_t dict, uint64_t max,
		      hi_py_item_fn *fn, void *arg);
/* hi_runtime_ops.counted, edges and cut. */
bool hi_py_counted(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size,
		   uint32_t type, uint64_t *ret);
/* Reports the references of an object to fn. */
void hi_py_edges(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size, uint32_t type,
		 hi_runtime_edge_fn *fn, void *arg);
/* Returns the number of objects that have less memory than their length. */
uint64_t hi_py_cut(const struct hi_runtime_cursor *c);

/* cpython_losses.c: hi_runtime_ops.mark_losses and known_loss. */
void hi_py_mark_losses(struct hi_runtime_cursor *c,
		       const struct hi_runtime_losses *losses);
/* The same for one object. */
enum hi_known_loss hi_py_known_loss(struct hi_runtime_cursor *c,
				    const struct hi_runtime_losses *losses, hi_node node,
				    uint32_t type, uint64_t excess);

/* cpython_managed.c: how many values lie inside of the object that a dict was made for;
 * 0: there is no such object. */
uint64_t hi_py_inline_room(struct hi_runtime_cursor *c, uint64_t dict, uint64_t values);

/* cpython_numpy.c */
void hi_py_visit_ndarray(struct hi_py_visit *v, const struct hi_py_object *o);
/* The same for a numpy.void, a record. */
void hi_py_visit_void(struct hi_py_visit *v, const struct hi_py_object *o);
/* The same for a dtype. */
void hi_py_visit_dtype(struct hi_py_visit *v, const struct hi_py_object *o);
/* Adds the names of the types of arrays' data. False: out of memory. */
bool hi_py_name_ndarray_buffers(struct hi_py *py);
/* hi_runtime.types of an array: with the name of its dtype. */
uint32_t hi_py_ndarray_type(struct hi_runtime_cursor *c, const struct hi_py_object *o);
/* Writes its dtype, its shape, and the owner of its data. out is untouched if the array
 * fails its checks. */
void hi_py_ndarray_text(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			char *out, size_t size);

/* cpython_frames.c */
struct hi_py_frame {
	uint64_t addr, func, locals, code, object, previous;
	uint64_t slots; /* locals, then its stack */
	uint64_t room;	/* bytes of them that are there */
	uint32_t n_locals, n_stack;
	int64_t stacktop; /* slots in use; < 0: it runs, only the CPU has it */
	int64_t at;	  /* bytes into the code; < 0: not begun */
	bool of_object;	  /* a frame object has it */
	bool is_object;	  /* it is one: locals stay when it runs */
	bool is_shim;	  /* of C code that called: nothing in it */
	/* They have no count of their own: their words had tags (3.14). */
	bool func_is_borrowed, code_is_borrowed;
};
/* Its specials and locals. as_root: with its stack, borrowed ones and all. */
void hi_py_visit_frame(struct hi_py_visit *v, const struct hi_py_frame *frame,
		       bool as_root);
/* A thread as the kernel calls it; 0: not known. */
int hi_py_thread_id(struct hi_runtime_cursor *c, uint64_t thread);

/* cpython_roots.c */
enum hi_status hi_py_roots(struct hi_runtime *runtime, hi_runtime_root_fn *fn, void *arg,
			   struct hi_error *err);
/* Calls fn for the objects of gc.garbage. */
void hi_py_put_aside(struct hi_runtime_cursor *c, hi_runtime_object_fn *fn, void *arg);
/* The roots of all frames of all threads. */
enum hi_status hi_py_frame_roots(struct hi_py *py, struct hi_runtime_cursor *c,
				 hi_runtime_root_fn *fn, void *arg, struct hi_error *err);
/* hi_runtime_ops.frames. */
void hi_py_frames(struct hi_runtime_cursor *c, hi_runtime_frame_fn *fn, void *arg);

/* cpython_text.c */
/* Writes a character as 1 to 4 bytes of UTF-8, and returns how many. */
size_t hi_py_put_utf8(char *out, uint32_t ch);
/* Text of a str, escaped and cut; false: it is none. */
bool hi_py_str(struct hi_runtime_cursor *c, uint64_t addr, char *out, size_t out_size);
/* As source: 'key', 7, or <type> for what is neither. */
void hi_py_repr(struct hi_runtime_cursor *c, uint64_t addr, char *out, size_t out_size);
/* False: not a small one. */
bool hi_py_int(struct hi_runtime_cursor *c, const struct hi_py_object *o, int64_t *ret);
/* hi_runtime_ops.facts. */
bool hi_py_facts(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size, uint32_t type,
		 struct hi_runtime_facts *ret);
/* hi_runtime_ops.label. */
size_t hi_py_label(struct hi_runtime_cursor *c, const struct hi_runtime_edge *edge,
		   char *out, size_t out_size);

#endif
