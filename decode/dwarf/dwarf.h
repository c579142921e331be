/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader of DWARF 2 to 5 for types and static variables: no handle that is not
 * thread-safe, every offset is checked, every loop is bounded. Source of the encodings:
 * the DWARF 5 standard, section 7, and dwarf.h of elfutils.
 *
 * Note [Two readers of DWARF]
 *
 * This reader is for what a program's data looks like: types with their members,
 * enumerators and template arguments, names and addresses of variables with static
 * storage, the file that declares them. decode/types is its only user.
 *
 * libdw (decode/modules/dwfl.h) is for what a program's code does at an address: call
 * frame information, location lists and expressions, scopes and inlined calls, line
 * tables, parameters of functions. Its users are decode/frames,
 * decode/modules/functions_*.c and code_*.c, and decode/types/function_*.c. It also finds
 * the dwz file of a debug file, and libdwfl places modules.
 *
 * Why types are not read by libdw:
 * - Threads. The index of names scans all units on all CPUs. A Dwarf handle serves one
 *   thread at a time, and a handle for each thread would parse everything again.
 * - Memory. libdw keeps the abbreviations of every unit that it met until it is closed.
 *   Here a scan uses one scratch table a thread, and what is kept has a budget
 *   (hi_dw_file.abbrev_budget).
 * - Hostile input. All units are read, not a few addresses of them: references in
 *   cycles, names without an end, and sizes that cannot be are met here first.
 *
 * Why code is not read here: few addresses are asked for, under the lock of the modules,
 * and call frame tables, line programs and location lists are large formats that libdw
 * reads well. Its results are evaluated with bounds of their own (frames/locexpr.h).
 *
 * They meet in one function: hi_types_of_die() makes a type of a libdw DIE, by the DIE's
 * offset in the same section. There is no way back. Both read split units (.dwo, .dwp)
 * by themselves. dwarf_lines.c reads the table of file names only, no line program.
 *
 * New code uses this reader for types and static variables, libdw for addresses of code.
 */
#ifndef HI_DECODE_DWARF_DWARF_H
#define HI_DECODE_DWARF_DWARF_H

#include <dwarf.h>
#include <libelf.h>

#include "base/arena.h"
#include "base/memory_bound.h"
#include "base/vector.h"
#include "decode/modules/modules.h"

enum hi_dw_section_kind {
	HI_DW_INFO,
	HI_DW_TYPES, /* DWARF 4 type units */
	HI_DW_ABBREV,
	HI_DW_STR,
	HI_DW_LINE_STR,
	HI_DW_STR_OFFSETS,
	HI_DW_ADDR,
	HI_DW_LINE,
	HI_DW_CU_INDEX, /* of packages (.dwp) */
	HI_DW_TU_INDEX,
	HI_DW_SECTIONS,
};

struct hi_dw_section {
	const uint8_t *data;
	size_t size;
};

/* Reads [at, end). Reading past the end sets bad, and yields 0. */
struct hi_dw_cursor {
	const uint8_t *at, *end;
	bool bad;
};

struct hi_dw_attr {
	uint16_t name, form;
	int64_t implicit; /* DW_FORM_implicit_const */
};

struct hi_dw_abbrev {
	uint64_t code;
	uint16_t tag;
	bool children;
	uint32_t first_attr, n_attrs;
	/* For the scanner, see decode/types/type_index.c. */
	uint32_t first_op, n_ops;
};

struct hi_dw_op {
	uint16_t attr; /* 0: skip */
	uint16_t form; /* 0: `size` bytes */
	uint32_t size;
	int64_t implicit;
};

struct hi_dw_abbrevs {
	struct HI_VECTOR(struct hi_dw_abbrev) items; /* by code */
	struct HI_VECTOR(struct hi_dw_attr) attrs;
	struct HI_VECTOR(struct hi_dw_op) ops; /* empty unless asked for */
	const struct hi_dw_file *file;
	uint64_t offset;			    /* in .debug_abbrev */
	uint8_t version, address_size, offset_size; /* that it was made for */
	bool valid, dense;			    /* dense: code i is items[i - 1] */
};

/* A DIE with children that gives names: namespace, record, function. */
struct hi_dw_scope {
	uint64_t offset, end; /* of its DIE; where its children end */
	uint32_t parent;      /* index + 1; 0: the unit itself */
	uint16_t tag;
};

struct hi_dw_unit {
	struct hi_dw_file *file;
	uint64_t offset, end; /* in its section */
	uint64_t first_die;
	uint64_t abbrev_offset;
	uint64_t signature;   /* type units: of the type; skeletons: the dwo id */
	uint64_t type_offset; /* type units: of the type's DIE, in the section */
	uint8_t version, unit_type, address_size, offset_size;
	bool in_types;
	/* In a package: where its parts of the sections begin. */
	bool packed;
	uint64_t str_offsets_start, line_start;
	const struct hi_dw_unit *skeleton; /* of a split unit; NULL: not found */
	/* Known once prepared (hi_dw_unit_prepare): */
	bool prepared, usable;
	uint16_t language;
	uint64_t str_offsets_base, addr_base, line_offset;
	bool has_lines;
	const char *name, *comp_dir, *dwo_name; /* NULL: none */
	struct hi_dw_abbrevs abbrevs;		/* on-demand reading only */
	bool scoped;
	struct HI_VECTOR(struct hi_dw_scope) scopes; /* by offset */
	bool files_read;
	const char **files; /* names by DW_AT_decl_file; "" where unknown */
	size_t n_files;
};

struct hi_dw_file {
	struct hi_dw_section sections[HI_DW_SECTIONS];
	struct HI_VECTOR(struct hi_dw_unit) units; /* .debug_info, then .debug_types */
	size_t n_info_units;
	uint32_t *by_signature; /* open addressing, unit index + 1 */
	size_t n_by_signature;	/* a power of two; 0: no type units */
	uint64_t hash_key;	/* of by_signature: random */
	bool is_dwo;		/* a split unit's file */
	struct hi_dw_file *alt; /* dwz supplementary file; NULL: none */
	/* The skeleton of a split file that has one unit (and type units); NULL: a
	 * package. */
	const struct hi_dw_unit *skeleton;
	uint8_t *joined[HI_DW_SECTIONS]; /* of several sections of one name; NULL: none */
	uint32_t number; /* in its module: 0 main, then alt and split files */
	Elf *elf;	 /* owned where own_elf: of hi_elf_map() */
	bool own_elf;
	struct hi_unpacked unpacked;
	uint64_t unpacked_bytes; /* taken from it */
	struct hi_arena *arena;	 /* for file names */
	_Atomic int64_t
		abbrev_budget; /* bytes of abbreviations that may still be parsed */
	_Atomic uint64_t broken;
};

struct hi_dw_ref {
	struct hi_dw_file *file; /* NULL: none */
	uint64_t offset;	 /* in its section */
	bool in_types;
};

struct hi_dw_block {
	const uint8_t *data; /* NULL: none */
	size_t size;
};

/* One DIE with the attributes that have a use here. */
struct hi_dw_die {
	struct hi_dw_unit *unit;
	uint64_t offset, next; /* next: first byte after its attributes */
	uint16_t tag;
	bool children;
	uint64_t sibling; /* 0: none */
	const char *name; /* NULL: none */
	struct hi_dw_ref type, specification, origin, containing, signature;
	uint64_t byte_size, bit_size, bit_offset, data_bit_offset;
	uint64_t member_location; /* constant or plus_uconst */
	int64_t value;		  /* DW_AT_const_value, where it is a number */
	int64_t lower_bound, upper_bound;
	uint64_t count;
	struct hi_dw_block location; /* exprloc only */
	uint32_t decl_file, decl_line;
	uint8_t encoding, virtuality;
	bool has_byte_size, has_bit_size, has_bit_offset, has_data_bit_offset;
	bool has_member_location, has_upper_bound, has_count, has_lower_bound;
	bool dynamic_bound;    /* a bound that is no constant */
	bool dynamic_location; /* a member location that is no constant */
	bool declaration, external, artificial, const_value, enum_class;
	/* of unit DIEs */
	uint64_t language, str_offsets_base, addr_base, stmt_list, dwo_id;
	bool has_str_offsets_base, has_addr_base, has_stmt_list, has_dwo_id;
	const char *comp_dir, *dwo_name;
};

/* ---- dwarf_form.c ---- */
/* A fixed-size integer (size 1 to 8), and LEB128 numbers. */
uint64_t hi_dw_uint(struct hi_dw_cursor *cursor, unsigned size);
/* Reads an unsigned LEB128 number. */
uint64_t hi_dw_uleb(struct hi_dw_cursor *cursor);
/* Reads a signed LEB128 number. */
int64_t hi_dw_sleb(struct hi_dw_cursor *cursor);
/* Moves the cursor by size bytes. */
void hi_dw_skip(struct hi_dw_cursor *cursor, uint64_t size);
/* Returns the string and moves the cursor past its NUL; NULL and bad if it does not
 * end. */
const char *hi_dw_cstring(struct hi_dw_cursor *cursor);
/* The bytes of a form of fixed size (0 for DW_FORM_flag_present). False: the size is not
 * fixed, or the form is unknown. */
bool hi_dw_form_fixed(const struct hi_dw_unit *unit, uint16_t form, uint32_t *size_ret);
/* Moves the cursor past a value of this form. False: cut short, or the form is unknown. */
bool hi_dw_form_skip(const struct hi_dw_unit *unit, struct hi_dw_cursor *cursor,
		     uint16_t form);

enum hi_dw_class {
	HI_DW_NOTHING, /* a form without a use here */
	HI_DW_CONSTANT,
	HI_DW_STRING,
	HI_DW_BLOCK,
	HI_DW_REF,
	HI_DW_FLAG,
	HI_DW_ADDRESS,
	HI_DW_OFFSET, /* sec_offset */
};
struct hi_dw_value {
	enum hi_dw_class class;
	uint64_t u;
	const char *string; /* NULL where it could not be read */
	struct hi_dw_block block;
	struct hi_dw_ref ref;
	bool is_signed;
};
/* Reads one attribute; false where the form is unknown or cut short. */
bool hi_dw_form_read(struct hi_dw_unit *unit, struct hi_dw_cursor *cursor, uint16_t form,
		     int64_t implicit, struct hi_dw_value *ret);
/* Address number index of the unit's .debug_addr. */
bool hi_dw_address_at(const struct hi_dw_unit *unit, uint64_t index, uint64_t *ret);

/* ---- dwarf_abbrev.c ---- */
/* Reads the abbreviations at offset into abbrevs, in place of what it held. False:
 * broken, or the file's budget is used up. */
bool hi_dw_abbrevs_read(struct hi_dw_unit *unit, uint64_t offset,
			struct hi_dw_abbrevs *abbrevs);
/* NULL: there is none with this code. */
const struct hi_dw_abbrev *hi_dw_abbrev_find(const struct hi_dw_abbrevs *abbrevs,
					     uint64_t code);
void hi_dw_abbrevs_free(struct hi_dw_abbrevs *abbrevs);
/* Moves the cursor past the attributes of a DIE, by the ops of its abbreviation. False:
 * cut short, or a form that is not known. */
bool hi_dw_attrs_skip(struct hi_dw_unit *unit, const struct hi_dw_abbrevs *abbrevs,
		      struct hi_dw_cursor *cursor, const struct hi_dw_abbrev *abbrev);

/* ---- dwarf_file.c ---- */
/* Opens the sections of elf, inflates those that are compressed, and lists the units.
 * The caller holds the lock of elf's owner; file names live in the arena.
 * HI_NOT_FOUND: no .debug_info. HI_NO_MEMORY. */
enum hi_status hi_dw_file_open(Elf *elf, bool is_dwo, struct hi_arena *arena,
			       struct hi_dw_file **ret, struct hi_error *err);
/* Leaves its alt file open. file may be NULL. */
void hi_dw_file_close(struct hi_dw_file *file);
/* Gives back the pages of its sections; they are read again when they are touched. */
void hi_dw_file_give_back(struct hi_dw_file *file);
/* The unit with the DIE at this offset of its section; NULL: none. */
struct hi_dw_unit *hi_dw_unit_at(struct hi_dw_file *file, bool in_types, uint64_t offset);
/* The type unit with this signature; NULL: none. */
struct hi_dw_unit *hi_dw_unit_signed(struct hi_dw_file *file, uint64_t signature);
/* Reads the unit's DIE: language, bases, names. abbrevs is a scratch table; NULL: the
 * unit's own, which is kept. False: the unit is unusable. */
bool hi_dw_unit_prepare(struct hi_dw_unit *unit, struct hi_dw_abbrevs *abbrevs);
/* A cursor from this offset of the section to the end of the unit. */
struct hi_dw_cursor hi_dw_unit_cursor(const struct hi_dw_unit *unit, uint64_t offset);

/* ---- dwarf_die.c ---- */
/* Reads the DIE at ref. One that only has a signature yields the DIE in that type unit.
 * False: broken, or a null entry. */
bool hi_dw_die_read(struct hi_dw_ref ref, struct hi_dw_die *ret);
/* The same inside a unit that is prepared. *null_ret: a null entry, next is set. */
bool hi_dw_die_read_at(struct hi_dw_unit *unit, const struct hi_dw_abbrevs *abbrevs,
		       uint64_t offset, struct hi_dw_die *ret, bool *null_ret);
/*
 * Reads the next child of a DIE; grandchildren are skipped. Start with
 * *at = parent->next. False: there is none.
 */
bool hi_dw_child_next(const struct hi_dw_die *parent, uint64_t *at,
		      struct hi_dw_die *child);
/* Follows DW_AT_specification and DW_AT_abstract_origin, a bounded number of times, to
 * a DIE with a name, which *die becomes. False: broken. */
bool hi_dw_die_origin(struct hi_dw_die *die);
/* The same to the end of the chain, named or not: the declaration, which has the scope.
 * False, and *die untouched: it is the declaration. */
bool hi_dw_die_declared(struct hi_dw_die *die);

/* ---- dwarf_scope.c ---- */
/*
 * Writes the scope of a DIE, "ns::Class", or "". with_functions: functions are scopes
 * too, as "name()". Cut at out_size. Returns the length.
 */
size_t hi_dw_scope_name(struct hi_dw_unit *unit, uint64_t offset, bool with_functions,
			char *out, size_t out_size);

/* ---- dwarf_package.c ---- */
/* False: file is no package. Else sets where the parts of its units begin in the
 * sections, and leaves out units that the indexes do not name. */
bool hi_dw_package_read(struct hi_dw_file *file);

/* ---- dwarf_lines.c ---- */
/* "dir/file.c" of a DW_AT_decl_file; "": unknown. Lives as long as the file's arena. */
const char *hi_dw_file_name(struct hi_dw_unit *unit, uint32_t index);

/* ---- names ---- */
enum { HI_DW_NAME_MAX = 4096 }; /* longer names are cut */
/* Hash of a scope's name inside its parent scope (0: global). */
uint64_t hi_dw_hash_name(uint64_t parent, const char *name, size_t n);

#endif
