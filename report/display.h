/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page in no particular format: headings, facts, tables, notes and commands to try
 * next. Reports fill it, renderers (render/) write it. It makes no decision about
 * widths, colours or encodings.
 *
 * Text is UTF-8 of this program, or text of the target that came through hi_page_safe();
 * functions that take text of the target are marked. Running out of memory is sticky: the
 * page stays usable, and rendering it fails with HI_NO_MEMORY.
 */
#ifndef HI_REPORT_DISPLAY_H
#define HI_REPORT_DISPLAY_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "report/type_names.h"

enum hi_column_kind {
	HI_COLUMN_TEXT,	      /* left; goes on in lines below where it is too wide */
	HI_COLUMN_WORD,	      /* left; short */
	HI_COLUMN_MINOR_WORD, /* left out of text that would be too wide */
	/* What to ask for the page that a cell of the row leads to: left, never cut, and
	 * left out where cells are links. */
	HI_COLUMN_QUERY,
	HI_COLUMN_BYTES,
	HI_COLUMN_MINOR_BYTES, /* left out as HI_COLUMN_MINOR_WORD are */
	HI_COLUMN_COUNT,
	HI_COLUMN_MINOR_COUNT, /* left out as HI_COLUMN_MINOR_WORD are */
	HI_COLUMN_PERCENT, /* left out of such text, too, and addresses behind the first column */
	HI_COLUMN_ADDRESS,
	HI_COLUMN_FIGURE,	/* text, to the right; never cut */
	HI_COLUMN_MINOR_FIGURE, /* left out as HI_COLUMN_MINOR_WORD are */
};
struct hi_column {
	const char *title;
	enum hi_column_kind kind;
};

enum hi_cell_state { HI_CELL_EMPTY, HI_CELL_UNKNOWN, HI_CELL_VALUE };
struct hi_cell {
	enum hi_cell_state state;
	bool at_least; /* a lower bound, shown with ≥ */
	bool negative;
	uint8_t indent;	  /* text: levels */
	uint64_t number;  /* bytes, count, address; per cent: the part */
	const char *link; /* address of a page (address.h); NULL: none */
	union {
		uint64_t whole;	  /* per cent */
		const char *text; /* text and word */
	};
};

struct hi_report_table {
	const struct hi_column *columns; /* static storage of the report */
	size_t n_columns;
	struct hi_cell_list HI_VECTOR(struct hi_cell) cells; /* row by row */
	struct hi_page *page;
	struct hi_mark_list HI_VECTOR(size_t) strong; /* rows to stress */
};

enum hi_item_kind {
	HI_ITEM_TITLE,	 /* text; aside: what stands behind it */
	HI_ITEM_HEADING, /* text; aside */
	HI_ITEM_BLANK,
	HI_ITEM_FACT, /* key, text */
	HI_ITEM_TEXT,
	HI_ITEM_NOTE, /* less important */
	HI_ITEM_WARNING,
	HI_ITEM_CODE, /* one line, not wrapped */
	HI_ITEM_TABLE,
	HI_ITEM_COMMAND, /* text: a command line; aside: what it shows */
	HI_ITEM_PICTURE, /* not in text */
	HI_ITEM_FORM,	 /* text: the button; left out where there are no links */
};
struct hi_page_picture; /* picture.h */

enum hi_form_input { HI_FORM_LINE, HI_FORM_TEXT, HI_FORM_HIDDEN };
struct hi_form_field {
	enum hi_form_input input;
	const char *name, *label; /* name: of an option of an address */
	const char *value;	  /* raw; what was asked for before */
};
enum { HI_FORM_FIELDS = 4 };
struct hi_form {
	const char *address; /* of a page, without options */
	struct hi_form_field fields[HI_FORM_FIELDS];
	size_t n_fields;
};

struct hi_item {
	enum hi_item_kind kind;
	const char *text, *aside;
	const char *link; /* address of a page that the text leads to; NULL: none */
	bool needs_links; /* left out where there are no links, as in text */
	struct hi_report_table *table;
	struct hi_page_picture *picture;
	const struct hi_form *form;
	bool only_text; /* drawn with letters: a picture beside it shows the same */
};

struct hi_page {
	struct hi_arena arena;
	struct hi_item_list HI_VECTOR(struct hi_item) items;
	struct hi_report_table_list HI_VECTOR(struct hi_report_table *) tables;
	struct hi_type_names type_names;
	bool failed;
	bool draws;				 /* what shows it draws pictures */
	const char *link_census;		 /* hi_page_link_census; NULL: none */
	const char *only_command, *only_purpose; /* hi_page_replace_commands; or NULL */
};

struct hi_page *hi_page_create(void); /* NULL: out of memory */
/* Frees the page with its tables; NULL is fine. */
void hi_page_destroy(struct hi_page *page);
HI_DEFINE_GUARD(struct hi_page *, hi_page_destroy)
/* Moves all that is on the page to a new one; the old one is empty then. NULL: out of
 * memory, and nothing is moved. */
struct hi_page *hi_page_move(struct hi_page *page);

/* Escapes text of the target. The result lives as long as the page and is never NULL.
 * At most 4,000 bytes of it. NULL and "" give "". */
const char *hi_page_safe(struct hi_page *page, const char *hostile);
/* The same for text that is escaped already. */
const char *hi_page_safe_again(struct hi_page *page, const char *escaped);
/* The name of a type as this page shows it (page->type_names), escaped; "" for "" and
 * NULL. Lives as long as the page and is never NULL. */
const char *hi_page_type(struct hi_page *page, const char *hostile);
/* The name of a function as this page shows it: short (function_name.h), or whole where
 * page->type_names has full names; escaped, as hi_page_type(). */
const char *hi_page_function(struct hi_page *page, const char *hostile);
/* A text with names of types in it, which become short as page->type_names wants it;
 * `escaped`: it is escaped already. As hi_page_safe(). */
const char *hi_page_sentence(struct hi_page *page, const char *text, bool escaped);
/* The text as one word of a shell command line, in quotes where a shell would split or
 * expand it. Lives as long as the page; never NULL. */
const char *hi_page_shell_word(struct hi_page *page, const char *text);
/* Formats text that lives as long as the page. Arguments are safe already. Never NULL. */
const char *hi_page_printf(struct hi_page *page, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds an item; see enum hi_item_kind. All texts are safe (hi_page_safe) and copied. Out
 * of memory sets page->failed. aside: NULL: none. */
void hi_page_title(struct hi_page *page, const char *text, const char *aside);
/* Adds the heading of a section; aside as above. */
void hi_page_heading(struct hi_page *page, const char *text, const char *aside);
/* Adds an empty line. */
void hi_page_blank(struct hi_page *page);
/* Adds a line of a key and its value. */
void hi_page_fact(struct hi_page *page, const char *key, const char *text);
/* Adds a paragraph. */
void hi_page_text(struct hi_page *page, const char *text);
/* Adds a less important paragraph. */
void hi_page_note(struct hi_page *page, const char *text);
/* The same above the commands that end the page, if it has some. */
void hi_page_note_above_commands(struct hi_page *page, const char *text);
/* Adds a warning. */
void hi_page_warning(struct hi_page *page, const char *text);
/* Adds a line that is not wrapped. */
void hi_page_code(struct hi_page *page, const char *text);
/* Adds a command line to try, and what it shows. */
void hi_page_command(struct hi_page *page, const char *command, const char *purpose);
/* Items from this one on are drawn with letters: what shows pictures leaves them out. */
void hi_page_only_text(struct hi_page *page, size_t from);
/* Adds a picture (picture.h), which lives as long as the page. */
void hi_page_add_picture(struct hi_page *page, struct hi_page_picture *picture);
/* Leaves out the last item where there are no links, as in text: it is there for these.
 */
void hi_page_only_with_links(struct hi_page *page);
/* Adds a form that asks for an address with options; it is copied. Only pages with links
 * have it. */
void hi_page_form(struct hi_page *page, const struct hi_form *form, const char *button);
/* The first command that is added is this one instead, and there are no others: what they
 * would look at is gone. Strings are kept. */
void hi_page_replace_commands(struct hi_page *page, const char *command,
			      const char *purpose);

/* Adds a table, to be filled row by row with exactly n cells per row, in the order of
 * the columns. Never NULL. */
struct hi_report_table *hi_page_table(struct hi_page *page,
				      const struct hi_column *columns, size_t n_columns);
/* Returns the number of complete rows. */
size_t hi_report_table_rows(const struct hi_report_table *table);
/* Adds a cell with safe text (copied), moved right by `indent` columns, at most 20; ""
 * is an empty cell. */
void hi_cell_text(struct hi_report_table *table, const char *safe, unsigned indent);
/* Adds a cell with bytes, a count or an address; UINT64_MAX is unknown. */
void hi_cell_number(struct hi_report_table *table, uint64_t number);
/* Adds a cell with an address; 0 (in no memory) stays empty. */
void hi_cell_address(struct hi_report_table *table, uint64_t address);
/* Adds a cell with a lower bound, "≥ n"; UINT64_MAX is unknown. */
void hi_cell_at_least(struct hi_report_table *table, uint64_t number);
/* Adds a cell with a difference. */
void hi_cell_signed(struct hi_report_table *table, int64_t number);
/* Adds a cell with part/whole; unknown if one of them is UINT64_MAX or whole is 0. */
void hi_cell_percent(struct hi_report_table *table, uint64_t part, uint64_t whole);
/* Adds a cell without a value. */
void hi_cell_empty(struct hi_report_table *table);
/* Emphasizes the last complete row. */
void hi_report_table_stress(struct hi_report_table *table);

/* Formats a share: "90.1 %", "<0.1 %", ">99.9 %", "100 %"; "?" if one is unknown or
 * whole is 0. Returns out. */
char *hi_percent(char out[16], uint64_t part, uint64_t whole);
/* Formats bytes: "12.0 MiB"; "?" for UINT64_MAX. Returns out. */
char *hi_bytes(char out[24], uint64_t bytes);
/* Formats a count with separators; "?" for UINT64_MAX. Returns out. */
char *hi_count(char out[32], uint64_t count);

#endif
