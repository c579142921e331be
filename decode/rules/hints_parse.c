/* SPDX-License-Identifier: BSD-2-Clause */
/* A hints text as a whole: what stands at the top. */
#include "decode/rules/hints_internal.h"

#include <stdlib.h>
#include <string.h>

struct pieces HI_VECTOR(struct hi_text_piece);

struct top {
	struct hi_hints_parser p;
	struct pieces programs, types, sidecars;
	struct HI_VECTOR(struct hi_hint_const) consts;
	struct HI_VECTOR(struct hi_hint_named) typedefs, roots;
	struct HI_VECTOR(struct hi_hint_record) records;
	struct HI_VECTOR(struct hi_hint_show) shows;
	struct pieces hides;
};

/* The rest of the line is blank. */
static bool at_line_end(struct hi_hints_parser *p)
{
	while (p->p < p->end && (*p->p == ' ' || *p->p == '\t' || *p->p == '\r'))
		p->p++;
	return p->p == p->end || *p->p == '\n';
}

static bool parse_programs(struct top *t)
{
	do {
		struct hi_text_piece name;

		if (!hi_hints_label(&t->p, "the file name of a program", &name) ||
		    !hi_hints_push(&t->p, &t->programs, name))
			return false;
	} while (!at_line_end(&t->p));
	return true;
}

/* A name to the end of the line. */
static bool line_type(struct top *t)
{
	struct hi_hints_parser *p = &t->p;
	struct hi_text_piece name = {};

	if (at_line_end(p))
		return hi_hints_expected(p, "the name of a type in the same line");
	name.at = p->p;
	while (p->p < p->end && *p->p != '\n') {
		p->p++;
		if (!strchr(" \t\r", p->p[-1]))
			name.length = (uint32_t)(p->p - name.at);
	}
	return hi_hints_push(p, &t->types, name);
}

static bool for_what(struct top *t)
{
	if (hi_hints_take_word(&t->p, "program"))
		return parse_programs(t);
	if (hi_hints_take_word(&t->p, "type"))
		return line_type(t);
	return hi_hints_expected(&t->p, "'program' or 'type'");
}

/* const N = EXPR, M = EXPR; */
static bool parse_consts(struct top *t)
{
	do {
		struct hi_hint_const one = {};

		if (!hi_hints_name(&t->p, "the name of a constant", &one.name) ||
		    !hi_hints_need(&t->p, '=') ||
		    !hi_hints_expression(&t->p, &one.value) ||
		    !hi_hints_push(&t->p, &t->consts, one))
			return false;
	} while (hi_hints_take(&t->p, ','));
	return hi_hints_take(&t->p, ';') || hi_hints_expected(&t->p, "',' or ';'");
}

static bool parse_key(struct top *t)
{
	struct hi_hint_key one = {};

	if (!hi_hints_name(&t->p, "the name of a context key", &one.name))
		return false;
	for (size_t i = 0; i < t->p.keys.count; i++)
		if (t->p.keys.items[i].name.length == one.name.length &&
		    memcmp(t->p.keys.items[i].name.at, one.name.at, one.name.length) == 0)
			return hi_hints_wrong(&t->p, one.name.at,
					      "this context key is declared already");
	if (hi_hints_take(&t->p, ':') && !hi_hints_type(&t->p, &one.type))
		return false;
	if (t->p.failed || !hi_hints_take(&t->p, ';'))
		return hi_hints_expected(&t->p, one.type.length ? "';'" : "':' or ';'");
	return hi_hints_push(&t->p, &t->p.keys, one);
}

/* TARGET; and no more. */
static bool one_target(struct hi_hints_parser *p, struct hi_hint *hint)
{
	hint->kind = HI_HINT_WORD;
	hint->cases = hi_arena_alloc(p->arena, sizeof(*hint->cases));
	hint->n_cases = 1;
	if (!hint->cases)
		return hi_hints_no_memory(p);
	return hi_hints_target(p, &hint->cases[0].target) && hi_hints_need(p, ';');
}

static bool typedef_of(struct top *t)
{
	struct hi_hint_named one = {};

	if (!hi_hints_init(&t->p, &one.hint) ||
	    !hi_hints_name(&t->p, "the name of a typedef", &one.name))
		return false;
	one.hint.at = one.name;
	if (!hi_hints_take_text(&t->p, "->"))
		return hi_hints_expected(&t->p, "'->' and a target");
	return one_target(&t->p, &one.hint) && hi_hints_push(&t->p, &t->typedefs, one);
}

/* root VARIABLE -> TARGET; the name is the first word of the lvalue. */
static bool parse_root_statement(struct top *t)
{
	struct hi_hints_parser *p = &t->p;
	struct hi_hint_named one = {};
	const char *start;

	if (!hi_hints_init(p, &one.hint))
		return false;
	start = p->p;
	if (!hi_hints_name(p, "the name of a variable", &one.name))
		return false;
	while (p->end - p->p > 2 && p->p[0] == ':' && p->p[1] == ':') {
		struct hi_text_piece part;

		p->p += 2;
		if (!hi_hints_name(p, "a name behind '::'", &part))
			return false;
	}
	one.name.length = (uint32_t)(p->p - start);
	p->p = start;
	return hi_hints_word(p, &one.hint) && hi_hints_push(p, &t->roots, one);
}

static bool parse_record(struct top *t)
{
	struct hi_hint_record one;

	return hi_hints_record(&t->p, &one) && hi_hints_push(&t->p, &t->records, one);
}

static bool parse_show(struct top *t)
{
	struct hi_hint_show one;

	return hi_hints_show(&t->p, &one) && hi_hints_push(&t->p, &t->shows, one);
}

/* hide NAME NAME*; */
static bool parse_hidden_names(struct top *t)
{
	do {
		struct hi_text_piece one;

		if (!hi_hints_label(&t->p, "the name of a member", &one) ||
		    !hi_hints_push(&t->p, &t->hides, one))
			return false;
	} while (!hi_hints_take(&t->p, ';'));
	return true;
}

static bool parse_sidecar(struct top *t)
{
	struct hi_text_piece one;

	return hi_hints_label(&t->p, "the path of an object file", &one) &&
	       hi_hints_need(&t->p, ';') && hi_hints_push(&t->p, &t->sidecars, one);
}

/* header BYTES; */
static bool parse_header(struct top *t)
{
	struct hi_text_piece number;
	const char *at;
	char *end;

	if (!hi_hints_label(&t->p, "a number of bytes", &number))
		return false;
	at = number.at;
	t->p.hints->header = strtoull(at, &end, 10);
	if (end != at + number.length || !t->p.hints->header || t->p.hints->header % 8 ||
	    t->p.hints->header > HINTS_HEADER_MAX)
		return hi_hints_wrong(&t->p, at,
				      "a header has 8 to 4096 bytes, a multiple of 8");
	return hi_hints_need(&t->p, ';');
}

static bool top_statement(struct top *t)
{
	static const struct {
		const char *word;
		bool (*parse)(struct top *t);
	} statements[] = {{"for", for_what},
			  {"const", parse_consts},
			  {"context", parse_key},
			  {"typedef", typedef_of},
			  {"root", parse_root_statement},
			  {"types", parse_sidecar},
			  {"record", parse_record},
			  {"show", parse_show},
			  {"hide", parse_hidden_names},
			  {"header", parse_header}};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (hi_hints_take_word(&t->p, statements[i].word))
			return statements[i].parse(t);
	if (hi_hints_take_word(&t->p, "containers")) {
		t->p.hints->containers = true;
		return true;
	}
	return hi_hints_expected(&t->p, "for, containers, const, context, typedef, root, "
					"types, record, show, hide or header");
}

static bool parse_all(struct top *t)
{
	struct hi_hints *h = t->p.hints;

	if (!hi_hints_need_word(&t->p, "hints") ||
	    !hi_hints_label(&t->p, "the name of these hints", &h->name))
		return false;
	hi_hints_take(&t->p, ';');
	for (hi_hints_blanks(&t->p); t->p.p < t->p.end; hi_hints_blanks(&t->p))
		if (!top_statement(t))
			return false;
	return hi_hints_keep(&t->p, &t->programs, &h->programs, &h->n_programs) &&
	       hi_hints_keep(&t->p, &t->types, &h->types, &h->n_types) &&
	       hi_hints_keep(&t->p, &t->sidecars, &h->sidecars, &h->n_sidecars) &&
	       hi_hints_keep(&t->p, &t->consts, &h->consts, &h->n_consts) &&
	       hi_hints_keep(&t->p, &t->p.keys, &h->keys, &h->n_keys) &&
	       hi_hints_keep(&t->p, &t->typedefs, &h->typedefs, &h->n_typedefs) &&
	       hi_hints_keep(&t->p, &t->roots, &h->roots, &h->n_roots) &&
	       hi_hints_keep(&t->p, &t->records, &h->records, &h->n_records) &&
	       hi_hints_keep(&t->p, &t->shows, &h->shows, &h->n_shows) &&
	       hi_hints_keep(&t->p, &t->hides, &h->hides, &h->n_hides);
}

static void free_lists(struct top *t)
{
	hi_vector_free(&t->programs);
	hi_vector_free(&t->types);
	hi_vector_free(&t->sidecars);
	hi_vector_free(&t->consts);
	hi_vector_free(&t->p.keys);
	hi_vector_free(&t->typedefs);
	hi_vector_free(&t->roots);
	hi_vector_free(&t->records);
	hi_vector_free(&t->shows);
	hi_vector_free(&t->hides);
}

/* A '#' at a word's beginning starts a comment; those of {impl#0} do not. */
static void blank_comments(char *text, size_t size)
{
	bool quoted = false;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"')
			quoted = !quoted;
		else if (text[i] == '\n')
			quoted = false;
		if (text[i] != '#' || quoted ||
		    (i > 0 && !strchr(" \t\r\n;{}", text[i - 1])))
			continue;
		while (i < size && text[i] != '\n')
			text[i++] = ' ';
		quoted = false;
	}
}

enum hi_status hi_hints_parse(struct hi_arena *arena, const char *file, const char *text,
			      size_t size, struct hi_hints **ret, struct hi_error *err)
{
	const char *slash = strrchr(file, '/');
	struct hi_hints *hints = hi_arena_alloc(arena, sizeof(*hints));
	char *copy = size <= HINTS_SIZE_MAX ? hi_arena_alloc(arena, size + 1) : NULL;
	struct top t = {};
	bool ok;

	if (size > HINTS_SIZE_MAX)
		return hi_fail(err, HI_BAD_DATA, 0, "%.100s: hints of more than 16 MiB",
			       file);
	if (!hints || !copy)
		return hi_fail_memory(err, "hints");
	memcpy(copy, text, size);
	hints->file = hi_arena_strdup(arena, slash && slash[1] ? slash + 1 : file);
	hints->path = hi_arena_strdup(arena, file);
	if (!hints->file || !hints->path)
		return hi_fail_memory(err, "hints");
	hints->text = copy;
	hints->size = size;
	t.p = (struct hi_hints_parser){.hints = hints,
				       .arena = arena,
				       .p = copy,
				       .end = copy + size,
				       .err = err};
	if (memchr(copy, '\0', size)) {
		hi_hints_wrong(&t.p, memchr(copy, '\0', size),
			       "the file contains a NUL byte");
		return t.p.status;
	}
	blank_comments(copy, size);
	ok = parse_all(&t);
	free_lists(&t);
	if (!ok)
		return t.p.status;
	*ret = hints;
	return HI_OK;
}
