/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Documents of described fields. A report describes each figure once, in a row of a table
 * of fields; pages, JSON and the schemas of docs/schema come from that row:
 *
 *	static const struct hi_doc_field line_fields[] = {
 *		{"type", "type", HI_DOC_TYPE, HI_AT(struct line, name)},
 *		{"count", "count", HI_DOC_COUNT, HI_AT(struct line, count),
 *		 .meaning = "objects of the type"},
 *		{NULL, "of live", HI_DOC_SHARE, .value = share_of_line},
 *	};
 *	static const struct hi_doc_fields lines =
 *		HI_DOC_FIELDS(line_fields, .row_size = sizeof(struct line));
 *	const struct hi_doc_fields hi_X_document = HI_DOC_FIELDS(fields, ...);
 *
 * To add a column: one row of the table, and `scripts/schemas --update`. Its place there
 * is its place in documents and on pages; `place` moves it on pages alone.
 */
#ifndef HI_REPORT_DOCUMENT_H
#define HI_REPORT_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>

#include "report/display.h"
#include "report/json_writer.h"

enum hi_doc_unit {
	HI_DOC_TEXT,  /* hostile; a page may cut it in the middle */
	HI_DOC_WORD,  /* the same, short: never cut */
	HI_DOC_TYPE,  /* name of a type, hostile; "" is "(untyped)" */
	HI_DOC_QUERY, /* as HI_COLUMN_QUERY */
	HI_DOC_BYTES,
	HI_DOC_COUNT,
	HI_DOC_FIGURE,	/* a count that pages show as a text, to the right */
	HI_DOC_REAL,	/* a fraction, as HI_DOC_FIGURE */
	HI_DOC_SHARE,	/* per cent on pages, part/whole in documents */
	HI_DOC_TIME,	/* nanoseconds; pages show a short text */
	HI_DOC_ADDRESS, /* 0 is none */
	HI_DOC_FLAG,
	/* Fields of `nested`: */
	HI_DOC_OBJECT,	/* of one row, in an object */
	HI_DOC_MEMBERS, /* of one row, among the fields around it; no key */
	HI_DOC_ROWS,	/* an array of objects */
	HI_DOC_LIST, /* an array of values: the only field of `nested`, without a key */
};

enum hi_doc_value_kind {
	HI_DOC_NONE, /* null, or left out where the field is optional; an empty cell */
	HI_DOC_NUMBER,
	HI_DOC_SIGNED,
	HI_DOC_FRACTION,
	HI_DOC_PART, /* number of whole; whole 0: unknown */
	HI_DOC_STRING,
	HI_DOC_NESTED, /* rows */
};
struct hi_doc_value {
	enum hi_doc_value_kind kind;
	bool at_least;	/* a lower bound */
	uint8_t indent; /* levels, on pages */
	union {
		uint64_t number; /* UINT64_MAX: unknown */
		int64_t sum;
		double fraction;
		const char *text; /* hostile */
		const void *rows; /* OBJECT, MEMBERS: one; NULL: none */
	};
	union {
		uint64_t whole;
		size_t n_rows;
	};
	/* Safe text of row->page that stands in the cell instead; NULL: the value. */
	const char *shown;
};

/* A row of a report, from which values are read. */
struct hi_doc_row {
	const void *report, *row;
	const void *parent;   /* the row that has this one nested; NULL: none */
	size_t index;	      /* of the row */
	unsigned variant;     /* a bit, see hi_doc_field */
	struct hi_page *page; /* NULL: for a document, not for a page */
};

enum hi_doc_stored {
	HI_STORED_PART,	   /* of nested fields: a part of the row, or all of it */
	HI_STORED_POINTER, /* to one nested row */
	HI_STORED_ROWS,	   /* a pointer to the first nested row */
	HI_STORED_ARRAY,   /* nested rows in the row */
	HI_STORED_U64,
	HI_STORED_U32,
	HI_STORED_U16,
	HI_STORED_U8,
	HI_STORED_I64,
	HI_STORED_I32,
	HI_STORED_DOUBLE,
	HI_STORED_BOOL,
	HI_STORED_STRING,
	HI_STORED_CHARS,
};
struct hi_doc_member {
	size_t offset;
	enum hi_doc_stored stored;
	size_t n_offset; /* ROWS: of their number, a size_t; ARRAY: the number itself */
};
/* A member of the row. Numbers that are UINT64_MAX are unknown. */
#define HI_AT(type, member)                                                              \
	.at = {.offset = offsetof(type, member),                                         \
	       .stored = _Generic(&((type *)0)->member,                                  \
				  uint64_t *: HI_STORED_U64,                             \
				  uint32_t *: HI_STORED_U32,                             \
				  uint16_t *: HI_STORED_U16,                             \
				  uint8_t *: HI_STORED_U8,                               \
				  int64_t *: HI_STORED_I64,                              \
				  int *: HI_STORED_I32,                                  \
				  double *: HI_STORED_DOUBLE,                            \
				  bool *: HI_STORED_BOOL,                                \
				  char **: HI_STORED_STRING,                             \
				  const char **: HI_STORED_STRING)}
/* The same for hi_doc_field.whole, which is 64 bits of the report. */
#define HI_SHARE_OF(type, member)                                                        \
	.whole = {.offset = offsetof(type, member), .stored = HI_STORED_U64}
/* An array of characters in the row. */
#define HI_AT_CHARS(type, member)                                                        \
	.at = {.offset = offsetof(type, member), .stored = HI_STORED_CHARS}
/* A struct in the row, whose fields are nested. Without a place it is the row itself. */
#define HI_AT_PART(type, member)                                                         \
	.at = {.offset = offsetof(type, member), .stored = HI_STORED_PART}
/* Nested rows that a pointer of the row leads to; n: the member with their number. */
#define HI_AT_ROWS(type, member, n)                                                      \
	.at = {.offset = offsetof(type, member),                                         \
	       .stored = HI_STORED_ROWS,                                                 \
	       .n_offset = offsetof(type, n)}
/* Nested rows that are an array in the row, all of it. */
#define HI_AT_ARRAY(type, member)                                                        \
	.at = {.offset = offsetof(type, member),                                         \
	       .stored = HI_STORED_ARRAY,                                                \
	       .n_offset = sizeof(((type *)0)->member) / sizeof(((type *)0)->member[0])}
/* One nested row that a pointer of the row leads to. */
#define HI_AT_POINTER(type, member)                                                      \
	.at = {.offset = offsetof(type, member), .stored = HI_STORED_POINTER}

struct hi_doc_fields;
struct hi_doc_field {
	const char *key;   /* of JSON; NULL: on pages alone */
	const char *title; /* of a column or fact; NULL: in documents alone */
	enum hi_doc_unit unit;
	/* The value: what the function returns, else what is stored. */
	struct hi_doc_member at;
	struct hi_doc_value (*value)(const struct hi_doc_row *);
	/* HI_DOC_SHARE of a stored value: the member of the report that is the whole. */
	struct hi_doc_member whole;
	/* At most one: the address (address.h) that the cell of a page leads to; "": none.
	 * Made of the row, of the text of the cell, of its number. */
	const char *(*link)(const struct hi_doc_row *);
	const char *(*text_link)(struct hi_page *page, const char *text);
	const char *(*address_link)(struct hi_page *page, uint64_t address);
	/* A number that documents have as a word, one of word(0) … word(n_words - 1). */
	const char *(*word)(unsigned number);
	unsigned n_words;
	const struct hi_doc_fields *nested;
	/* Forms of a report that have the field, a bit each; 0: all. An
	 * object has the fields of one form. */
	unsigned variants;
	unsigned shown_in; /* forms whose pages have its column; 0: all that have it */
	int place;	   /* on pages: those of lower ones come first */
	bool minor;	   /* left out of text that would be too wide */
	bool optional; /* documents leave out what has no value, is "", unknown or empty */
	bool may_be_missing; /* schemas do not require it of the forms that have it */
	bool nullable;	     /* documents have null for "" and for unknown numbers */
	bool at_least;	     /* pages show a lower bound */
	bool is_signed;
	bool is_escaped; /* text is safe already */
	/* For schemas: the least number; the least and the most elements of an array,
	 * where most is not 0. */
	unsigned least, most;
	const char *meaning; /* one sentence without its full stop; of schemas */
	/* Optional: writes the member of a value that no unit describes. */
	void (*put)(const struct hi_doc_row *, const struct hi_doc_field *,
		    struct hi_json *);
	/* Optional: members of the schema, without braces and description, in place of
	 * those that the unit has: "\"type\": \"array\"". */
	const char *schema;
};

struct hi_doc_fields {
	const struct hi_doc_field *items;
	size_t count;
	size_t row_size;     /* of rows in an array */
	unsigned form;	     /* bits that its rows have beside those of the report */
	const char *meaning; /* of an object; NULL: none */
	bool is_open;	     /* schemas allow other members beside these */
	/* Optional: rows of pages to emphasize; rows to leave out everywhere. */
	bool (*is_strong)(const struct hi_doc_row *);
	bool (*is_left_out)(const struct hi_doc_row *);
};
extern const struct hi_doc_fields hi_doc_texts; /* of a list of const char * */
#define HI_DOC_FIELDS(fields, ...)                                                       \
	{                                                                                \
		.items = (fields), .count = sizeof(fields) / sizeof((fields)[0]),        \
		__VA_ARGS__                                                              \
	}

/* ---- values, for functions of fields ---- */

static inline struct hi_doc_value hi_doc_none(void)
{
	return (struct hi_doc_value){};
}
/* UINT64_MAX: unknown. A flag is 0 or 1. */
static inline struct hi_doc_value hi_doc_number(uint64_t number)
{
	return (struct hi_doc_value){.kind = HI_DOC_NUMBER, .number = number};
}
static inline struct hi_doc_value hi_doc_at_least(uint64_t number)
{
	return (struct hi_doc_value){
		.kind = HI_DOC_NUMBER, .number = number, .at_least = true};
}
static inline struct hi_doc_value hi_doc_signed(int64_t sum)
{
	return (struct hi_doc_value){.kind = HI_DOC_SIGNED, .sum = sum};
}
static inline struct hi_doc_value hi_doc_real(double fraction)
{
	return (struct hi_doc_value){.kind = HI_DOC_FRACTION, .fraction = fraction};
}
static inline struct hi_doc_value hi_doc_part(uint64_t part, uint64_t whole)
{
	return (struct hi_doc_value){.kind = HI_DOC_PART, .number = part, .whole = whole};
}
/* Hostile text; NULL and "" are none. */
static inline struct hi_doc_value hi_doc_text(const char *text)
{
	return (struct hi_doc_value){.kind = HI_DOC_STRING, .text = text ? text : ""};
}
/* No value but a safe text, for pages. */
static inline struct hi_doc_value hi_doc_shown(const char *safe)
{
	return (struct hi_doc_value){.shown = safe};
}
static inline struct hi_doc_value hi_doc_nested(const void *rows, size_t n)
{
	return (struct hi_doc_value){.kind = HI_DOC_NESTED, .rows = rows, .n_rows = n};
}

/* Reads a field of a row. */
struct hi_doc_value hi_doc_read(const struct hi_doc_field *field,
				const struct hi_doc_row *row);
/* Returns the i-th row of nested ones. */
struct hi_doc_row hi_doc_nested_row(const struct hi_doc_fields *fields,
				    const struct hi_doc_value *value, size_t i,
				    const struct hi_doc_row *parent);

/* ---- pages ---- */

/* Adds a table with a column of each field that has a title, and its rows, which lie
 * side by side (row_size); the fields of `variant`. Rows may be none. */
struct hi_report_table *hi_doc_show_rows(struct hi_page *page,
					 const struct hi_doc_fields *fields,
					 const void *report, unsigned variant,
					 const void *rows, size_t n_rows);
/* The two steps of it, for rows that do not lie so. */
struct hi_report_table *hi_doc_show_table(struct hi_page *page,
					  const struct hi_doc_fields *fields,
					  unsigned variant);
void hi_doc_show_row(struct hi_report_table *table, const struct hi_doc_fields *fields,
		     const struct hi_doc_row *row);
/* Adds the cell of one value, without its link. */
void hi_doc_show_value(struct hi_report_table *table, const struct hi_doc_field *field,
		       const struct hi_doc_value *value);
/* Returns how pages show a column of the field. */
enum hi_column_kind hi_doc_column(const struct hi_doc_field *field);

/* ---- JSON ---- */

/* Writes the members that the fields are of an object that the caller opened. */
void hi_doc_put(const struct hi_doc_fields *fields, const struct hi_doc_row *row,
		struct hi_json *json);
/* Writes the members of a report that is its own row. */
void hi_doc_put_report(const struct hi_doc_fields *fields, const void *report,
		       unsigned variant, struct hi_json *json);
/* Writes one member. row: of nested values; may be NULL for others. */
void hi_doc_put_value(const struct hi_doc_field *field, const struct hi_doc_value *value,
		      const struct hi_doc_row *row, struct hi_json *json);

/* ---- schemas ---- */

/* Writes a JSON schema (draft 7) of an object with these fields, indented by so many
 * blanks from its second line on, without a newline at the end. name: of the document
 * ("census/v1"), whose member "schema" comes first; NULL: an object in one. title: of a
 * schema that is a file of its own; NULL: it is a part of one. */
void hi_doc_put_schema(const struct hi_doc_fields *fields, const char *name,
		       const char *title, unsigned indent, FILE *out);

#endif
