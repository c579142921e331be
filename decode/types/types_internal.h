/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations that the files of the type reader share. See Note [Type slots] in
 * types_open.c. */
#ifndef HI_DECODE_TYPES_TYPES_INTERNAL_H
#define HI_DECODE_TYPES_TYPES_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "decode/dwarf/dwarf.h"
#include "decode/modules/dwfl.h"
#include "decode/types/types.h"

/* ---- the index of one module (type_index.c, type_cache.c) ---- */

enum hi_index_kind {
	HI_INDEX_RECORD, /* struct, class */
	HI_INDEX_UNION,
	HI_INDEX_ENUM,
	HI_INDEX_TYPEDEF,
	HI_INDEX_BASE,
};

/* A DIE inside a module: file number, section, offset. */
typedef uint64_t hi_die_ref;
#define HI_DIE_TYPES (1ull << 47)
static inline hi_die_ref hi_die_ref_make(uint64_t file, bool in_types, uint64_t offset)
{
	return file << 48 | (in_types ? HI_DIE_TYPES : 0) | (offset & (HI_DIE_TYPES - 1));
}

/* Sorted by hash, kind, size, die. Only definitions; one per (hash, kind, size). */
struct hi_index_type {
	uint64_t hash;	    /* hi_type_hash_qualified of the name */
	uint64_t size_kind; /* size << 4 | enum hi_index_kind */
	hi_die_ref die;
};
/* Sorted by address (ELF address; for TLS: offset in the block), die. */
struct hi_index_variable {
	uint64_t address;
	uint64_t hash; /* of the qualified name; 0: not known here */
	hi_die_ref die;
};

struct hi_type_index {
	struct hi_index_type *types;
	struct hi_index_variable *variables, *tls;
	uint32_t *by_name; /* variables by hash */
	size_t n_types, n_variables, n_tls;
	uint64_t units;
	void *mapped; /* all of the above in one piece, from the cache; else NULL */
};

/* Debug information of one module. */
struct hi_type_module {
	struct hi_module *module;
	bool opened, indexed;
	struct hi_dw_file **files; /* [0] main, then alt and split files; may be 0 */
	size_t n_files;
	uint64_t bias; /* ELF address in the DWARF -> target address */
	struct hi_type_index index;
	struct hi_variable **shown; /* index.variables as they were asked for; or NULL */
};

/* Scans all files of the module; threads as hi_parallel. */
enum hi_status hi_type_index_build(struct hi_type_module *module, unsigned threads,
				   struct hi_error *err);
/* Frees the index, or unmaps it. */
void hi_type_index_free(struct hi_type_index *index);
/* First entry with this hash; *n_ret how many follow with it. */
const struct hi_index_type *hi_type_index_find(const struct hi_type_index *index,
					       uint64_t hash, size_t *n_ret);
/* The scope that variables inside functions are hashed in. */
#define HI_SCOPE_FUNCTION 0x5bd1e995f00dull

/* ---- cache directory (type_cache.c) ---- */
/* Maps the cached index of the module; false: there is none that fits. */
bool hi_type_cache_load(struct hi_type_module *module);
/* Writes the index to the cache directory, if it is large enough. */
void hi_type_cache_store(const struct hi_type_module *module);

/* ---- slots (type_table.c) ---- */

enum hi_slot_state { HI_SLOT_NEW, HI_SLOT_LOADING, HI_SLOT_READY };

struct hi_type_slot {
	struct hi_type *_Atomic type; /* NULL until ready; its id is the canonical one */
	struct hi_dw_ref die;	      /* file NULL: made without a DIE, ready at once */
	uint32_t module;
	uint8_t state;
};

enum { HI_SLOT_CHUNK = 1 << 12, HI_SLOT_CHUNKS = 1 << 14 };

/* Data that a reader of one image keeps beside the types (decode/frames: its cache).
 * hi_types_renew() and hi_types_close() destroy it. Zeroed: none. */
struct hi_types_companion {
	void *data;
	void (*destroy)(void *data);
};

/* A record in the debug information. Sizes are read of all, types only of those that
 * somebody asked for. */
struct hi_record_place {
	struct hi_dw_ref die;
	uint64_t size;
	uint32_t module;
	hi_type_id type; /* 0: not read, or like an earlier one */
	bool is_read;
};

/* The records that type_each.c found last, for those who ask again. */
struct hi_type_records {
	uint64_t min_size, max_dwarf;
	size_t n_items, n_kept; /* as they were */
	uint32_t skipped;
	struct HI_VECTOR(struct hi_record_place) places;
	bool is_complete;
};

struct hi_types {
	struct hi_modules *modules;
	struct hi_type_module
		*items; /* one per module, same order, then those of hi_types_add_file */
	size_t n_items;
	struct hi_arena arena; /* names, members, types */
	struct hi_type_slot *_Atomic chunks[HI_SLOT_CHUNKS];
	_Atomic uint32_t n_slots;
	/* Hash tables, open addressing, slot id or 0. */
	uint32_t *by_die, *by_key;
	uint64_t *keys; /* beside by_key */
	size_t n_by_die, n_by_key, used_by_die, used_by_key;
	unsigned depth; /* nested loading */
	uint64_t types_made;
	struct HI_VECTOR(char *) kept; /* names of typedefs, type_keep.c */
	struct hi_type_records records;
	_Atomic uint64_t broken;
	struct hi_types_stats stats;
	struct hi_vtable_cache *vtables;
	struct hi_types_companion companion;
};

enum { HI_TYPE_UNKNOWN = 0, HI_TYPE_VOID = 1 };
/* The upper bound of a size; a larger one is unknown. */
#define HI_TYPE_SIZE_MAX (1ull << 40)

/* The lock of the modules: one for all of this folder, so that no order of two
 * locks can be wrong. Recursive. */
void hi_types_lock(struct hi_types *types);
void hi_types_unlock(struct hi_types *types);

enum { HI_SIDE_FILES_MAX = 8 };
/* Closes the debug files of the module. */
void hi_types_close_files(struct hi_type_module *module);
/* An ELF file of its own, which its hi_dw_file ends; fd is taken. NULL: not there. */
Elf *hi_type_elf_open(int fd);
/* Opens elf (taken) as one more file of the module; NULL if it is none. */
struct hi_dw_file *hi_type_module_open_elf(struct hi_types *types,
					   struct hi_type_module *module, Elf *elf,
					   bool is_dwo);
/* Behind what is noted already, as far as there is room. */
void hi_type_module_note(struct hi_module *module, const char *text);

/* ---- split_files.c ---- */
/* Opens the split files of the skeletons in main. */
void hi_type_module_open_splits(struct hi_types *types, struct hi_type_module *module,
				struct hi_dw_file *main);

/* Opens the module's debug files / its index, once; under the lock. NULL: none. */
struct hi_type_module *hi_types_module(struct hi_types *types, struct hi_module *module);
struct hi_type_module *hi_types_indexed(struct hi_types *types, struct hi_module *module);
/* Bytes of .debug_info and .debug_types; inflates and reads nothing. */
uint64_t hi_types_dwarf_size(struct hi_types *types, struct hi_module *module);
/* The DIE that a reference of the index means. */
struct hi_dw_ref hi_types_ref(const struct hi_type_module *module, hi_die_ref ref);

/* Under the lock, all of them. 0 when out of memory. */
struct hi_type_slot *hi_slot_at(struct hi_types *types, hi_type_id id);
/* The slot of a DIE, not loaded yet. */
hi_type_id hi_slot_of_die(struct hi_types *types, uint32_t module, struct hi_dw_ref die);
/* A slot for a type that is complete, or the one that has its key already. */
hi_type_id hi_slot_of_type(struct hi_types *types, const struct hi_type *type,
			   uint64_t key);
/* Makes slot id the type with this key; *type is copied if it is new. */
void hi_slot_become(struct hi_types *types, hi_type_id id, const struct hi_type *type,
		    uint64_t key);
/* Slot id is the same type as slot `same` (which is ready). */
void hi_slot_alias(struct hi_types *types, hi_type_id id, hi_type_id same);
/* Slots 0 (unknown) and 1 (void). */
bool hi_slot_init(struct hi_types *types);
/* Key of `T *`: its name without keyword, and what T is (0: named is enough). */
uint64_t hi_type_pointer_key(const char *bare_name, uint64_t identity);
/* `T [count]`, or `T []` with flexible. 0: out of memory. */
hi_type_id hi_type_array_of(struct hi_types *types, hi_type_id element, uint64_t count,
			    bool flexible);

/* ---- type_read.c ---- */
/* Loads the slot's DIE; on return the slot is ready, maybe as unknown. */
void hi_type_load(struct hi_types *types, hi_type_id id);

/* ---- type_name.c ---- */
/* Readable name of the type at ref (file NULL: void); never loads. bare: without
 * "struct ", as hashes want it, so that C and C++ units agree. */
void hi_type_name_of(struct hi_types *types, struct hi_dw_ref ref, bool bare, char *out,
		     size_t out_size);
/* Qualified name of a record, enum or typedef, without keyword. Anonymous: "". */
void hi_type_record_name(const struct hi_dw_die *die, char *out, size_t out_size);
bool hi_type_is_named(const struct hi_dw_die *die);
/* The number of elements of a subrange or enumeration DIE; *open_ret: it has none. */
uint64_t hi_dw_subrange_count(const struct hi_dw_die *die, bool *open_ret);
/* "struct ", "union ", "enum " in C, else "". */
const char *hi_type_keyword(const struct hi_dw_die *die);
/* Hash as in the index, out of "ns::Class<x::y>::name"; leading keyword ignored. */
uint64_t hi_type_hash_qualified(const char *name);
/* Hash of one part of a qualified name in its scope's; spaces around the brackets
 * of templates do not count. */
uint64_t hi_type_hash_part(uint64_t parent, const char *name, size_t n);
/* Definition of a named record, union or enum: in this module, then (unless
 * only_here) in the others; file NULL: none. */
struct hi_dw_ref hi_types_definition(struct hi_types *types, uint32_t module,
				     uint16_t tag, const char *name, bool only_here,
				     uint32_t *module_ret);
/* Distinguishes two types of one name without reading members. */
uint64_t hi_type_identity(const char *bare_name, uint64_t size, uint32_t line);

/* ---- type_keep.c ---- */
/* A typedef that is a type of its own. */
bool hi_type_is_kept(const struct hi_types *types, const struct hi_dw_die *die);
/* Slot id, that of a kept typedef, becomes a copy of slot `of` under its name. */
void hi_type_become_kept(struct hi_types *types, hi_type_id id, hi_type_id of,
			 const struct hi_dw_die *die);

/* ---- type_args.c ---- */
struct hi_type_args {
	struct HI_VECTOR(struct hi_template_arg) items;
	struct HI_VECTOR(struct hi_constant) constants;
	bool no_memory;
};
/* Takes a child of a record, if it is a template's parameter, or a static member
 * with a value. */
void hi_type_args_take(struct hi_types *types, uint32_t module,
		       const struct hi_dw_die *child, struct hi_type_args *args);

/* ---- type_find.c ---- */
/* A struct or class, looked for in `first` before all others; 0: none. */
hi_type_id hi_types_record_named(struct hi_types *types, struct hi_module *first,
				 const char *name);

/* ---- type_enumerators.c ---- */
/* name with enumerators of the module in place of "(ns::Enum)2"; scoped: with the
 * enumeration's own name. False: nothing of the kind is in it. */
bool hi_types_write_enumerators(struct hi_types *types, struct hi_module *module,
				const char *name, bool scoped, char *out, size_t size);

/* ---- function_parameters.c ---- */
struct hi_parameter;
/* The parameters of a function with this entry (an ELF address), at most max; their
 * number. */
size_t hi_die_parameters(struct hi_types *types, struct hi_module *module,
			 Dwarf_Die *function, Dwarf_Addr entry, struct hi_parameter *ret,
			 size_t max);

/* ---- vtable.c ---- */
/* False: out of memory. */
bool hi_vtable_cache_init(struct hi_types *types);
void hi_vtable_cache_free(struct hi_vtable_cache *cache);

#endif
