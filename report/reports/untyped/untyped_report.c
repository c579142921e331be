/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/untyped/untyped_report.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_node.h"

/* So many sizes are no longer sizes of records. */
enum { MANY_SIZES = 4, SIZES_SHOWN = 3 };

static const char *bare_record_name(const char *name)
{
	static const char *const words[] = {"struct ", "class ", "union "};

	for (unsigned i = 0; i < 3; i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			return name + strlen(words[i]);
	return name;
}

static bool is_type(const struct hi_graph *g, const char *owner)
{
	for (uint32_t i = 1; i < g->n_types; i++)
		if (g->types[i].klass != HI_TYPE_FIELD && g->types[i].name &&
		    strcmp(bare_record_name(g->types[i].name), bare_record_name(owner)) ==
			    0)
			return true;
	return false;
}

/* "thread 7 main() p" of every thread is one owner. */
static const char *name_without_thread(const char *name)
{
	const char *p = name;

	if (strncmp(p, "thread ", 7) != 0)
		return name;
	p += 7 + strspn(p + 7, "0123456789");
	return *p == ' ' ? p + 1 : name;
}

static const struct hi_root *root_named(const struct hi_graph *g, const char *name)
{
	for (hi_node i = 0; i < g->n_roots; i++)
		if (g->roots[i].name && strcmp(name_without_thread(g->roots[i].name),
					       name_without_thread(name)) == 0)
			return &g->roots[i];
	return NULL;
}

/* A record's type can be named in a hint; a pointer's or an array's cannot. */
static const char *as_record(const char *type)
{
	size_t n = strlen(hi_text_or_empty(type));

	return n && type[n - 1] != '*' && type[n - 1] != ']' ? type : "";
}

static struct hi_untyped_line line_of(const struct hi_graph *g,
				      const struct hi_untyped_row *row)
{
	struct hi_untyped_line line = {.row = row, .record = "", .variable = ""};
	const char *owner = hi_text_or_empty(row->owner),
		   *field = hi_text_or_empty(row->field);
	const struct hi_root *root;

	root = *field && is_type(g, owner) ? NULL : root_named(g, owner);
	if (!root)
		line.record = *field ? as_record(owner) : "";
	else if (*field)
		line.record = as_record(root->type);
	else if (root->kind == HI_ROOT_GLOBAL || root->kind == HI_ROOT_TLS)
		line.variable = owner;
	return line;
}

static void count_unnamed(const struct hi_graph *g, const struct hi_reach *reach,
			  struct hi_untyped_report *r)
{
	struct hi_shares shares;

	hi_shares_count(g, reach, &shares);
	r->unnamed_objects = shares.unnamed.objects;
	r->unnamed_bytes = shares.unnamed.bytes;
}

enum hi_status
hi_untyped_report_create(const struct hi_report_header *header,
			 const struct hi_graph *graph, const struct hi_reach *reach,
			 const struct hi_untyped *untyped, const struct hi_restrict *only,
			 struct hi_untyped_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_untyped_report_destroy)
	struct hi_untyped_report *r = hi_calloc(1, sizeof(*r));

	if (!r || !(r->rows = hi_calloc(untyped->n_rows + 1, sizeof(*r->rows))))
		return hi_fail_memory(err, "report of fields without types");
	r->header = header;
	r->live_bytes = reach->live_bytes;
	r->objects = untyped->objects;
	r->bytes = untyped->bytes;
	count_unnamed(graph, reach, r);
	for (size_t i = 0; i < untyped->n_rows; i++) {
		const struct hi_untyped_row *row = &untyped->rows[i];

		if (row->bytes < only->min_size)
			hi_hidden_add(&r->below, row->bytes);
		else if (r->n_rows >= only->top)
			hi_hidden_add(&r->beyond, row->bytes);
		else
			r->rows[r->n_rows++] = line_of(graph, row);
	}
	*ret = hi_take(r);
	return HI_OK;
}

void hi_untyped_report_destroy(struct hi_untyped_report *report)
{
	if (!report)
		return;
	hi_untyped_destroy(report->untyped);
	free(report->rows);
	free(report);
}

/* ---- hints ---- */

/* "ht_table[]" is ht_table[i], for each i. NULL: out of memory. */
static const char *hint_word_of_field(const char *field, struct hi_arena *arena)
{
	const char *at = strstr(field, "[]");

	/* What no member covers: words behind the record. */
	if (*field == '(')
		return "((void **)(this + 1))[i] for i in 0 .. N";
	if (!at)
		return field;
	return hi_arena_printf(arena, "%.*s[i]%s for i in 0 .. N", (int)(at - field),
			       field, at + 2);
}

/* Of sizes that no record has. */
static bool is_buffer(const struct hi_untyped_row *row)
{
	return row->n_sizes > MANY_SIZES ||
	       (row->n_sizes && row->sizes[0].least != row->sizes[0].most);
}

/* "v.val -> TYPE if …;", what stands in the record. */
static const char *statement_of(const struct hi_untyped_line *line,
				struct hi_arena *arena)
{
	const struct hi_untyped_row *row = line->row;
	const char *word =
		*line->variable ? line->variable
				: hint_word_of_field(hi_text_or_empty(row->field), arena);
	const char *target = "TYPE if …";

	if (!word)
		return NULL;
	if (is_buffer(row))
		target = "blob NAME";
	else if (row->n_sizes == 1 && line->fit.total == 1)
		target = line->fit.names[0];
	else if (row->n_sizes == 1)
		target = "TYPE";
	return hi_arena_printf(arena, "%s -> %s;", word, target);
}

const char *hi_untyped_hint(const struct hi_untyped_line *line, struct hi_arena *arena)
{
	const char *statement;

	if (!*line->variable && !*line->record)
		return "";
	statement = statement_of(line, arena);
	if (!statement)
		return NULL;
	if (*line->variable)
		return hi_arena_printf(arena, "root %s", statement);
	return hi_arena_printf(arena, "record %s { %s }", bare_record_name(line->record),
			       statement);
}

/* ---- as a page ---- */

/* "48 B", "520 B", "600–1,016 B". */
static const char *size_text(const struct hi_untyped_size *size, struct hi_page *page)
{
	char least[24], most[24];

	hi_bytes(least, size->least);
	hi_bytes(most, size->most);
	if (strcmp(least, most) == 0)
		return hi_page_printf(page, "%s", least);
	return hi_page_printf(page, "%s to %s", least, most);
}

static const char *sizes_text(const struct hi_untyped_row *row, struct hi_page *page)
{
	const char *text = "";
	char n[32];

	for (size_t i = 0; i < row->n_sizes && i < SIZES_SHOWN; i++)
		text = hi_page_printf(page, "%s%s%s × %s", text, i ? ", " : "",
				      hi_count(n, row->sizes[i].count),
				      size_text(&row->sizes[i], page));
	if (row->n_sizes > SIZES_SHOWN)
		text = hi_page_printf(page, "%s, and %zu more", text,
				      row->n_sizes - SIZES_SHOWN);
	if (row->count > row->direct)
		text = hi_page_printf(page, "%s%s%s behind", text, *text ? "; " : "",
				      hi_count(n, row->count - row->direct));
	return text;
}

static const char *text_of_untyped_field(const struct hi_untyped_row *row,
					 struct hi_page *page)
{
	const char *owner = bare_record_name(hi_text_or_empty(row->owner)),
		   *field = hi_text_or_empty(row->field);
	const char *joint = !*owner || !*field || strchr("[. ", *field) ? ""
			    : *field == '('				? " "
									: ".";

	return hi_page_printf(page, "%s%s%s", hi_page_type(page, owner), joint,
			      hi_page_safe(page, field));
}

static void show_untyped_fields(const struct hi_untyped_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"field", HI_COLUMN_TEXT},
						   {"objects", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"of live", HI_COLUMN_PERCENT},
						   {"sizes", HI_COLUMN_TEXT}};
	struct hi_report_table *t;

	hi_page_heading(page, "Fields that lead to memory without a type", NULL);
	t = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_untyped_row *row = r->rows[i].row;

		hi_cell_text(t, text_of_untyped_field(row, page), 0);
		hi_cell_number(t, row->count);
		hi_cell_number(t, row->bytes);
		hi_cell_percent(t, row->bytes, r->live_bytes);
		hi_cell_text(t, sizes_text(row, page), 0);
	}
	hi_hidden_note(page, &r->beyond, &r->below, &(struct hi_hidden){});
}

static void show_fit(const struct hi_candidates *fit, struct hi_page *page)
{
	const char *text = "";

	if (!fit->n)
		return;
	for (size_t i = 0; i < fit->n; i++)
		text = hi_page_printf(page, "%s%s%s", text, i ? ", " : "",
				      hi_page_type(page, fit->names[i]));
	if (fit->total > fit->n)
		text = hi_page_printf(page, "%s, and %zu more", text,
				      fit->total - fit->n);
	hi_page_note(page, hi_page_printf(page, "    # the size fits %s", text));
}

static void show_code(struct hi_page *page, const char *code, const char *indent)
{
	if (!code)
		page->failed = true;
	else
		hi_page_code(page, hi_page_printf(page, "%s%s", indent,
						  hi_page_safe(page, code)));
}

static bool same_record(const struct hi_untyped_line *a, const struct hi_untyped_line *b)
{
	return *a->record &&
	       strcmp(bare_record_name(a->record), bare_record_name(b->record)) == 0;
}

/* All statements about one record: only its first block would count. */
static void show_record_hint(const struct hi_untyped_report *r, size_t first,
			     struct hi_page *page)
{
	const struct hi_untyped_line *line = &r->rows[first];
	struct hi_arena *arena = &page->arena;

	show_code(page,
		  hi_arena_printf(arena, "record %s {", bare_record_name(line->record)),
		  "");
	for (size_t i = first; i < r->n_rows; i++) {
		if (!same_record(line, &r->rows[i]))
			continue;
		show_code(page, statement_of(&r->rows[i], arena), "    ");
		if (!is_buffer(r->rows[i].row))
			show_fit(&r->rows[i].fit, page);
	}
	show_code(page, "}", "");
}

static void show_hint(const struct hi_untyped_report *r, size_t i, struct hi_page *page)
{
	const struct hi_untyped_line *line = &r->rows[i];
	bool more = false;

	for (size_t k = 0; k < i; k++)
		if (same_record(line, &r->rows[k]))
			return;
	for (size_t k = i + 1; k < r->n_rows; k++)
		more |= same_record(line, &r->rows[k]);
	if (more) {
		show_record_hint(r, i, page);
	} else if (*line->record || *line->variable) {
		show_code(page, hi_untyped_hint(line, &page->arena), "");
		if (!is_buffer(line->row))
			show_fit(&line->fit, page);
	}
}

static void show_hints(const struct hi_untyped_report *r, struct hi_page *page)
{
	hi_page_heading(page, "Hints that would name it",
			"for a --hints file that begins with: hints NAME");
	for (size_t i = 0; i < r->n_rows; i++)
		show_hint(r, i, page);
	if (r->modules_skipped)
		hi_page_note(page, hi_page_printf(page,
						  "%u modules have too much debug "
						  "information to be searched for types",
						  r->modules_skipped));
}

static void show_tagged_unions(const struct hi_untyped_report *r, struct hi_page *page)
{
	if (!r->n_unions)
		return;
	hi_page_heading(page, "Tagged unions",
			"hints from their members and the enumerators beside them");
	for (size_t i = 0; i < r->n_unions; i++)
		for (size_t k = 0; k < r->unions[i].n_lines; k++)
			show_code(page, r->unions[i].lines[k], "");
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page,
				       "heapinspect census --suggest-hints -o x.hints %s",
				       hi_report_header_target(r->header, page)),
			"all of them in a file, for --hints");
}

void hi_untyped_display(const struct hi_untyped_report *r, struct hi_page *page)
{
	char bytes[24], n[32], more[24], m[32];
	const char *text;

	hi_report_header_title(r->header, page);
	text = hi_page_printf(page,
			      "%s in %s objects have no type, but a field leads there",
			      hi_bytes(bytes, r->bytes), hi_count(n, r->objects));
	if (r->unnamed_objects)
		text = hi_page_printf(page, "%s; %s in %s have no name at all", text,
				      hi_bytes(more, r->unnamed_bytes),
				      hi_count(m, r->unnamed_objects));
	hi_page_text(page, text);
	hi_report_header_facts(r->header, page, false);
	if (r->n_rows) {
		show_untyped_fields(r, page);
		show_hints(r, page);
	}
	show_tagged_unions(r, page);
}

/* ---- as JSON ---- */

static void sizes_json(const struct hi_untyped_row *row, struct hi_json *json)
{
	hi_json_array(json, "sizes");
	for (size_t i = 0; i < row->n_sizes; i++) {
		hi_json_object(json, NULL);
		hi_json_number(json, "least", row->sizes[i].least);
		hi_json_number(json, "most", row->sizes[i].most);
		hi_json_number(json, "count", row->sizes[i].count);
		hi_json_number(json, "bytes", row->sizes[i].bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static bool put_untyped_row_json(const struct hi_untyped_line *line, struct hi_json *json)
{
	const struct hi_untyped_row *row = line->row;
	struct hi_arena arena = {};
	const char *hint = hi_untyped_hint(line, &arena);
	bool ok = hint;

	hi_json_object(json, NULL);
	hi_json_text(json, "owner", hi_text_or_empty(row->owner));
	hi_json_text(json, "field", hi_text_or_empty(row->field));
	hi_json_text(json, "module", hi_known(row->module));
	hi_json_number(json, "count", row->count);
	hi_json_number(json, "shallow", row->bytes);
	hi_json_number(json, "direct", row->direct);
	sizes_json(row, json);
	hi_json_array(json, "candidates");
	for (size_t i = 0; i < line->fit.n; i++)
		hi_json_text(json, NULL, line->fit.names[i]);
	hi_json_end(json);
	hi_json_number(json, "candidates_total", line->fit.total);
	hi_json_text(json, "hint", hi_known(hint));
	hi_json_end(json);
	hi_arena_free(&arena);
	return ok;
}

static void put_union_json(const struct hi_suggested_record *u, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "record", u->record);
	hi_json_array(json, "hint");
	for (size_t i = 0; i < u->n_lines; i++)
		hi_json_text(json, NULL, u->lines[i]);
	hi_json_end(json);
	hi_json_end(json);
}

enum hi_status hi_untyped_json(const struct hi_untyped_report *r, struct hi_json *json,
			       struct hi_error *err)
{
	bool ok = true;

	hi_report_header_json(r->header, "heapinspect/census/v1", json);
	hi_json_text(json, "by", "field");
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		ok &= put_untyped_row_json(&r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->beyond, &r->below, &(struct hi_hidden){});
	hi_json_array(json, "tagged_unions");
	for (size_t i = 0; i < r->n_unions; i++)
		put_union_json(&r->unions[i], json);
	hi_json_end(json);
	hi_json_end(json);
	return ok ? HI_OK : hi_fail_memory(err, "report of fields without types");
}
