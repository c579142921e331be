/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sections of a snapshot file as rows of one table: name, rows, columns, and what a
 * number of a column may be. Sections are written, read and checked by it alone; the
 * fuzzer reads all of it, and docs/SNAPSHOT_FORMAT.md has its tables from it.
 *
 * To add a section: a row of the table (snapshot_sections.c), with a struct of its rows
 * where none fits; a call that puts it and one that takes it, by one map of members
 * (below); scripts/snapshot-format.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_SECTIONS_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_SECTIONS_H

#include "base/arena.h"
#include "census/snapshot/snapshot_file.h"

/* Numbers of things that rows count or refer to. A reader sets them as it goes; of one
 * that is not set there is none, so that nothing can refer to it. */
enum hi_bound {
	HI_BOUND_NONE,
	HI_BOUND_OBJECTS,
	HI_BOUND_OBJECT_WORDS, /* set with the objects: 64 to a word */
	HI_BOUND_EDGE_ROWS,    /* set with the objects: one more in each chunk */
	HI_BOUND_ROOTS,
	HI_BOUND_ROOT_ROWS, /* set with the roots: one more */
	HI_BOUND_TYPES,
	HI_BOUND_NODES,
	HI_BOUND_NODE_WORDS, /* set with the nodes */
	HI_BOUND_EDGES,
	HI_BOUND_ROOT_EDGES,
	HI_BOUND_ORDER, /* nodes of the dominator tree */
	HI_BOUND_CONTEXTS,
	HI_BOUND_THREADS, /* of births */
	HI_BOUND_SOURCES,
	HI_BOUND_CENSUSES, /* of biographies */
	HI_BOUND_GROUPS,   /* of them */
	HI_BOUND_LIFE_SETS,
	HI_BOUND_PERIODS, /* of biographies, or of a space profile */
	HI_BOUND_NAMES,	  /* of a space profile */
	HI_BOUND_PHASES,
	HI_BOUND_PARTS,
	HI_BOUND_LEAK_GROUPS,
	HI_BOUND_FIELDS,
	HI_BOUNDS
};

enum hi_stored_kind {
	HI_STORED_NUMBER, /* of 1, 4 or 8 bytes */
	HI_STORED_TEXT,	  /* an offset in "strings" */
	HI_STORED_REAL,	  /* a double; finite, not below 0 */
	HI_STORED_BYTES,  /* anything */
};

/*
 * A column. A number is at least `least`, at most `most` where that is not 0, and less
 * than the bound `below`, or than one more with `from_one`; numbers from `special` on,
 * where that is not 0, mean something else and are always fine.
 */
struct hi_stored_column {
	const char *name;	/* NULL: the section is this column */
	uint32_t offset, width; /* in an item; bytes of one number */
	uint32_t times;		/* so many of them; 0: one */
	enum hi_stored_kind kind;
	enum hi_bound below;
	bool from_one;
	bool ascends;	 /* from row to row */
	bool may_repeat; /* with ascends: or stays the same */
	uint64_t least, most, special;
	const char *meaning;
};

enum hi_presence {
	HI_SECTION_KEY,	   /* without it, all that it begins is not there: HI_NOT_FOUND */
	HI_SECTION_NEEDED, /* with its key: HI_BAD_DATA */
	HI_SECTION_OPTIONAL, /* no rows */
};
/* The part of the document that has it. */
enum hi_section_part {
	HI_SECTIONS_HEAP,
	HI_SECTIONS_RECORDING,
	HI_SECTIONS_LIVES,
	HI_SECTIONS_SPACE,
	HI_SECTIONS_WASTE,
	HI_SECTIONS_CONTENTS,
	HI_SECTIONS_SERIES,
	HI_SECTIONS_PARTS
};

struct hi_section {
	const char *name;
	enum hi_section_part part;
	enum hi_presence presence;
	uint32_t item;	     /* bytes of a row */
	enum hi_bound count; /* just so many rows */
	enum hi_bound count_most;
	enum hi_bound sets;   /* the number of rows is this bound, once they are read */
	uint64_t least, most; /* of rows; most 0: 2^32 - 2 */
	bool is_large;	      /* any number of rows */
	/* Its texts may be as long as they like; else they are refused where they are far
	 * longer together than the rows are (Note [Long texts]). */
	bool has_long_texts;
	const struct hi_stored_column *columns;
	size_t n_columns;
	/* Checks the columns of a row together; before: the row before, or NULL. */
	bool (*holds)(const void *row, const void *before, const uint64_t *bounds);
	const char *meaning;
};

/* All of them, in the order of the document; *n_ret their number. */
const struct hi_section *hi_snapshot_sections(size_t *n_ret);
const struct hi_section *hi_snapshot_section(const char *name); /* NULL: none */
/* As the document has it: "N", "⌈V/64⌉"; "" where it has no letter. */
const char *hi_bound_name(enum hi_bound bound);

/* ---- rows as they are in the file ---- */

enum hi_status hi_snapshot_put_section(struct hi_snapshot_writer *w, const char *name,
				       const void *rows, uint64_t n,
				       struct hi_error *err);
/* Sets what rows that are read from now on may refer to. */
void hi_snapshot_bound(struct hi_snapshot *s, enum hi_bound bound, uint64_t n);
/* Reads a section, all of whose rows hold; they live as long as s. rows_ret: the address
 * of a pointer to const; NULL there: it is optional and missing. HI_NOT_FOUND,
 * HI_BAD_DATA. */
enum hi_status hi_snapshot_rows(struct hi_snapshot *s, const char *name, void *rows_ret,
				uint64_t *n_ret, struct hi_error *err);

/* ---- members of a struct that are sections ---- */

/* A pointer to rows, and where their number is. Members are put and taken in their
 * order; optional ones that are NULL are not put. */
struct hi_section_member {
	const char *section;
	uint32_t rows, count, count_width;
};
#define HI_SECTION_MEMBER(name, type, member, n)                                         \
	{                                                                                \
		.section = name, .rows = offsetof(type, member),                         \
		.count = offsetof(type, n), .count_width = sizeof(((type *)NULL)->n)     \
	}
enum hi_status hi_snapshot_put_members(struct hi_snapshot_writer *w,
				       const struct hi_section_member *members, size_t n,
				       const void *from, struct hi_error *err);
enum hi_status hi_snapshot_take_members(struct hi_snapshot *s,
					const struct hi_section_member *members, size_t n,
					void *to, struct hi_error *err);

/* ---- rows that are another struct in memory ---- */

/* A number, a bool or a text (const char *, "" for NULL) and the column that it is. Texts
 * come into "strings" in the order of the members. */
enum hi_member_kind { HI_MEMBER_NUMBER, HI_MEMBER_BOOL, HI_MEMBER_TEXT };
struct hi_row_member {
	uint16_t column, member;
	uint8_t column_width, member_width, kind;
};
#define HI_MEMBER_KIND(value)                                                            \
	_Generic((value),                                                                \
		bool: HI_MEMBER_BOOL,                                                    \
		const char *: HI_MEMBER_TEXT,                                            \
		default: HI_MEMBER_NUMBER)
#define HI_ROW_MEMBER(row, its_column, type, its_member)                                 \
	{                                                                                \
		.column = offsetof(row, its_column),                                     \
		.member = offsetof(type, its_member),                                    \
		.column_width = sizeof(((row *)NULL)->its_column),                       \
		.member_width = sizeof(((type *)NULL)->its_member),                      \
		.kind = HI_MEMBER_KIND(((type *)NULL)->its_member)                       \
	}
struct hi_row_map {
	const char *section;
	size_t size; /* of a row in memory */
	const struct hi_row_member *members;
	size_t n_members;
};
#define HI_ROW_MAP(name, type, list)                                                     \
	{                                                                                \
		name, sizeof(type), list, sizeof(list) / sizeof((list)[0])               \
	}
/* One row, in the file's form: `row` has the item's bytes. */
enum hi_status hi_snapshot_pack_row(struct hi_snapshot_writer *w,
				    const struct hi_row_map *map, const void *from,
				    void *row, struct hi_error *err);
/* The members of one row that holds; others of `to` stay. */
void hi_snapshot_unpack_row(const struct hi_snapshot *s, const struct hi_row_map *map,
			    const void *row, void *to);
enum hi_status hi_snapshot_put_rows(struct hi_snapshot_writer *w,
				    const struct hi_row_map *map, const void *rows,
				    uint64_t n, struct hi_error *err);
/* All rows, zeroed but for the members, with one more; texts live as long as s. They are
 * of the arena, or, if that is NULL, the caller's to free. rows_ret: as above; NULL
 * there: it is optional and missing. */
enum hi_status hi_snapshot_take_rows(struct hi_snapshot *s, const struct hi_row_map *map,
				     struct hi_arena *arena, void *rows_ret,
				     uint64_t *n_ret, struct hi_error *err);

/* ---- members of a struct that are properties ---- */

struct hi_property {
	const char *name;
	uint32_t member;
	uint8_t width, kind; /* enum hi_member_kind */
	bool is_never_null;  /* a text: missing in the file, or NULL, it is "" */
	bool is_read_empty;  /* missing in the file it is "", but NULL is not put */
	uint64_t otherwise;  /* of a number that is missing */
	uint64_t most;	     /* of more it is 0; 0: any */
};
#define HI_PROPERTY(its_name, type, its_member, ...)                                     \
	{                                                                                \
		.name = its_name, .member = offsetof(type, its_member),                  \
		.width = sizeof(((type *)NULL)->its_member),                             \
		.kind = HI_MEMBER_KIND(((type *)NULL)->its_member) __VA_OPT__(, )        \
			__VA_ARGS__                                                      \
	}
/* Names are those of the table after `prefix`. A text that is NULL is not put, and one
 * that is missing is NULL, unless the table has an exception. */
enum hi_status hi_snapshot_put_properties(struct hi_snapshot_writer *w,
					  const char *prefix,
					  const struct hi_property *table, size_t n,
					  const void *from, struct hi_error *err);
void hi_snapshot_take_properties(const struct hi_snapshot *s, const char *prefix,
				 const struct hi_property *table, size_t n, void *to);

#endif
