/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of a target, out of DWARF, read lazily: an index of names first, a unit only when
 * a type in it is needed. Same name, size and layout is one type, whichever unit or
 * module has it; a declaration is joined with its definition anywhere. DWARF is hostile
 * input: cycles, sizes out of range and unknown forms end in HI_BAD_DATA or in a type of
 * kind UNKNOWN.
 *
 * Thread-safe for reading of types that exist; hi_type_get may load (it takes
 * a lock of its own). A `struct hi_type *` lives until hi_types_close and
 * never changes after it was returned.
 */
#ifndef HI_DECODE_TYPES_TYPES_H
#define HI_DECODE_TYPES_TYPES_H

#include "decode/modules/modules.h"

/*
 * 0: unknown. An id may stand for a type that has not been read yet, and several ids for
 * one type: hi_type_get(id)->id is the one to compare and to keep.
 */
typedef uint32_t hi_type_id;

enum hi_type_kind {
	HI_KIND_UNKNOWN,
	HI_KIND_VOID,
	HI_KIND_INTEGER, /* signed, unsigned, enum, bool */
	HI_KIND_CHAR,	 /* char, signed/unsigned char, char8_t: bytes */
	HI_KIND_FLOAT,
	HI_KIND_ADDRESS, /* uintptr_t, intptr_t: may hold a pointer */
	HI_KIND_POINTER, /* also C++ references */
	HI_KIND_FUNCTION,
	HI_KIND_STRUCT, /* struct, class */
	HI_KIND_UNION,
	HI_KIND_ARRAY,
	HI_KIND_DECLARATION, /* opaque: no definition anywhere */
};

struct hi_member {
	const char *name; /* "" for anonymous; hostile */
	uint64_t offset;  /* bytes from the start of the record */
	hi_type_id type;
	uint16_t bit_size;  /* 0: no bit-field */
	uint8_t bit_offset; /* of its lowest bit in the byte at offset: 0 to 7 */
	bool is_base;	    /* C++ base class */
	bool is_virtual;    /* a virtual one, of an object of just this class */
	bool is_vptr;	    /* compiler-made _vptr */
};

/* Template parameter, packs written out in their order. */
struct hi_template_arg {
	const char *name; /* "_Tp", "_Elements" for each of a pack; hostile */
	hi_type_id type;  /* 0: a value */
	int64_t value;
	bool of_pack;
};

/* A static member with a known value: `static const bool small = true`. */
struct hi_constant {
	const char *name; /* hostile */
	int64_t value;
};

struct hi_type {
	hi_type_id id;
	enum hi_type_kind kind;
	const char *name; /* readable: "struct conn", "ns::Map<int>", "char *", "int [4]";
			   * typedefs of records without tag give their name; hostile */
	uint64_t size;	  /* bytes; 0: unknown or incomplete */
	uint64_t
		layout_hash; /* over name, size, members' names, offsets and type names */
	hi_type_id target;   /* pointer: pointee; array: element */
	uint64_t count;	     /* array: elements; 0 with flexible set: flexible */
	bool flexible;	     /* array [] or [0] */
	bool is_signed;	     /* integers, characters, enumerations */
	bool has_vtable;     /* polymorphic: a vptr somewhere at offset 0 */
	const struct hi_member
		*members; /* records, by offset; static members are left out */
	uint32_t n_members;
	const struct hi_template_arg *args; /* of a C++ template's instance */
	uint32_t n_args;
	const struct hi_constant *constants;
	uint32_t n_constants;
	const char *file; /* declared in; "" unknown; hostile */
	uint32_t line;
	const char *module; /* file name of the module that has it; "" none; hostile */
};

struct hi_types;
struct hi_types_stats {
	uint64_t units_total, units_read, types, bytes_dwarf;
	uint64_t index_ns; /* time to index, or to map the cached index */
	bool index_from_cache;
	uint64_t broken; /* DIEs that could not be understood */
};

/* Opens the types of modules, which are borrowed until close. Reads no debug information
 * yet. HI_NO_MEMORY only. */
enum hi_status hi_types_open(struct hi_modules *modules, struct hi_types **ret,
			     struct hi_error *err);
/* Frees all types and names; types may be NULL. */
void hi_types_close(struct hi_types *types);
/* Gives back the pages of debug files that were read, after a search through all of them.
 * They are read again when they are touched. */
void hi_types_give_back(struct hi_types *types);
/* As they were given to hi_types_open(). */
struct hi_modules *hi_types_modules(struct hi_types *types);
/* Forgets what was read of the previous image; after hi_modules_renew(). */
void hi_types_renew(struct hi_types *types);
/* Counters up to now. */
struct hi_types_stats hi_types_stats(const struct hi_types *types);

/* Loads the type if need be; its pointees are not loaded. Never NULL: id 0 and unknown
 * ids give the unknown type. */
const struct hi_type *hi_type_get(struct hi_types *types, hi_type_id id);
struct hi_enumerator {
	const char *name; /* in the debug information; hostile */
	int64_t value;
};
/* The enumerators of a type, at most max, as they are declared; 0: it has none. */
size_t hi_type_enumerators(struct hi_types *types, hi_type_id id,
			   struct hi_enumerator *ret, size_t max);
/* Finds the enumerator of a type that has this value, and the text before it in source
 * code: "Color" of a scoped enumeration, else "". Both are in the debug information;
 * hostile. False: it has none, or over 256 enumerators. Thread-safe. */
bool hi_type_enumerator_of(struct hi_types *types, hi_type_id id, int64_t value,
			   const char **scope_ret, const char **name_ret);
/* By readable name, with or without "struct "; HI_NOT_FOUND. */
enum hi_status hi_types_find(struct hi_types *types, const char *name, hi_type_id *ret,
			     struct hi_error *err);
/* True: a module with at most max_dwarf bytes of .debug_info has a type of this name.
 * Larger ones are not read. */
bool hi_types_has(struct hi_types *types, const char *name, uint64_t max_dwarf);
/* `T *` and `T [n]` of a type that exists. */
hi_type_id hi_types_pointer_to(struct hi_types *types, hi_type_id id);
/* Before any type is read: what is declared by this typedef (`typedef char *sds`)
 * becomes a type of its own, of the same kind, target and size, with the
 * typedef's name; also in members, elements and pointees. Copies the name. */
enum hi_status hi_types_keep_typedef(struct hi_types *types, const char *name,
				     struct hi_error *err);
/* Before any type is read: adds the types of a file that the target does not map (of a
 * library that is built without debug information); modules are searched first. Not its
 * variables. A linked ELF file (else HI_UNSUPPORTED); at most 8. HI_NOT_FOUND,
 * HI_BAD_DATA. */
enum hi_status hi_types_add_file(struct hi_types *types, const char *path,
				 struct hi_error *err);
/*
 * Every complete record of at least min_size bytes, once, of the sizes for which the
 * callback is true (NULL: of any), in an order that depends on nothing but the debug
 * information; reads all units, of modules with at most max_dwarf bytes of .debug_info
 * (others are counted in *skipped_ret, may be NULL), and the types of these sizes.
 * Records without a name, by tag or typedef, are left out. fn is called without a lock;
 * false of it stops.
 */
typedef bool hi_record_fn(const struct hi_type *type, void *arg);
typedef bool hi_record_size_fn(uint64_t size, void *arg);
enum hi_status hi_types_each_record(struct hi_types *types, uint64_t min_size,
				    hi_record_size_fn *wants, uint64_t max_dwarf,
				    hi_record_fn *fn, void *arg, uint32_t *skipped_ret,
				    struct hi_error *err);

/*
 * The same for the records of the program's own modules alone: the executable, and
 * libraries that do not lie in the system's folders; and of these only those of a size
 * for which the callback is true, and that no header of the system declares. Reads of
 * each unit only what is needed to find them.
 */
enum hi_status hi_types_each_own_record(struct hi_types *types, hi_record_size_fn *wants,
					uint64_t max_dwarf, hi_record_fn *fn, void *arg,
					struct hi_error *err);

/*
 * Finds the dynamic type for a vtable pointer: vptr is the word at an object's start.
 * HI_NOT_FOUND unless it points into a vtable of a module (symbol _ZTV*, or, in stripped
 * files, the RTTI structure before it). *type_ret is 0 if only the RTTI name is known;
 * *name_ret (demangled, valid until close) is never NULL; *top_offset_ret is
 * offset-to-top (<= 0). Cached; thread-safe.
 */
enum hi_status hi_types_of_vtable(struct hi_types *types, uint64_t vptr,
				  hi_type_id *type_ret, const char **name_ret,
				  int64_t *top_offset_ret, struct hi_error *err);

/* ---- variables with static storage ---- */
struct hi_variable {
	const char *name; /* "server", "ns::Class::instance"; function-statics:
			   * "function()::name"; hostile */
	const char *file; /* unit or file:line; "" unknown; hostile */
	hi_type_id type;  /* 0: only the ELF symbol is known */
	uint64_t address; /* target address; for TLS: of the thread's instance */
	uint64_t size;	  /* bytes; 0 unknown */
	bool is_tls;
	uint32_t thread; /* index into image->threads; only TLS */
	struct hi_module *module;
};
/* The variable that covers a target address in a module's data, by the index
 * (DWARF), else by the symbol table; HI_NOT_FOUND. Reads the unit it is in. */
enum hi_status hi_types_variable_at(struct hi_types *types, uint64_t addr,
				    struct hi_variable *ret, struct hi_error *err);
/* Names of all variables that begin at this address, by the index; at most max of them,
 * valid until close. A linker may merge constants. */
size_t hi_types_names_at(struct hi_types *types, uint64_t addr, const char **ret,
			 size_t max);
/* By source name (for expressions and tests); the first definition. */
enum hi_status hi_types_variable_named(struct hi_types *types, const char *name,
				       struct hi_variable *ret, struct hi_error *err);
/* The names of variables with static storage and debug information, the executable's
 * first; not more than some 100,000. False of fn stops. For messages: it reads them all.
 */
void hi_types_each_variable_name(struct hi_types *types,
				 bool (*fn)(void *arg, const char *name), void *arg);
/* Every thread-local variable of a module, as (name, type, offset in the TLS
 * block); false stops. */
typedef bool hi_tls_variable_fn(const struct hi_variable *var, uint64_t tls_offset,
				void *arg);
enum hi_status hi_types_tls_variables(struct hi_types *types, struct hi_module *module,
				      hi_tls_variable_fn *fn, void *arg,
				      struct hi_error *err);

/* For decode/frames: the type of a DW_TAG_variable/parameter DIE. `die` is a Dwarf_Die *
 * of module's main Dwarf. */
hi_type_id hi_types_of_die(struct hi_types *types, struct hi_module *module, void *die);

#endif
