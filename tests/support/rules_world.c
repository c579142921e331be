/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/rules_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "base/bits.h"
#include "census/analysis/analysis.h"
#include "harness.h"

enum { MAX_OBJECTS = 256, MAX_WARNINGS = 8 };

struct drawing {
	const char *file; /* of the test */
	int line;
	struct world *w;
	struct hi_typing_options options;
	char text[8192]; /* cut into lines */
	char *next;	 /* line */
	char hints[4096];
	struct drawn_object {
		uint64_t address;
		const char *line, *expected; /* after "=>", or "" */
	} objects[MAX_OBJECTS];
	size_t n_objects;
	const char *warnings[MAX_WARNINGS];
	size_t n_warnings;
	char wrong[1000];
};

_Noreturn static void refuse(const struct drawing *d, const char *what, const char *line)
{
	hi_test_fail(d->file, d->line, "the drawing has %s: %s", what, line);
}

__attribute__((format(printf, 3, 4))) static void
note_wrong(struct drawing *d, const char *line, const char *format, ...)
{
	size_t used = strlen(d->wrong), size = sizeof(d->wrong);
	va_list ap;

	snprintf(d->wrong + used, size - used, "\n%s\n\t", line);
	used = strlen(d->wrong);
	va_start(ap, format);
	vsnprintf(d->wrong + used, size - used, format, ap);
	va_end(ap);
}

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* ---- what is drawn ---- */

static uint64_t area_of(char letter)
{
	return letter == 'F'   ? WORLD_FAR
	       : letter == 'M' ? WORLD_MODULE
	       : letter == 'S' ? WORLD_STACK
			       : 0;
}

/* False: none begins here. */
static bool read_address(const char **text, uint64_t *ret)
{
	uint64_t area = area_of(**text);
	const char *digits = *text + (area != 0);
	size_t n = strspn(digits, "0123456789abcdef");

	if (!n || !strchr(" :.+", digits[n]))
		return false;
	*ret = (area ? area : WORLD_HEAP) + strtoull(digits, NULL, 16);
	*text = digits + n;
	return true;
}

static uint64_t read_number(const char **text)
{
	char *end;
	uint64_t number = strtoull(*text, &end, 0);

	*text = end;
	return number;
}

static void draw_text(struct drawing *d, const char **text, uint64_t at, const char *line)
{
	const char *end = strchr(*text + 1, '\'');

	if (!end)
		refuse(d, "a text without end", line);
	for (const char *p = *text + 1; p < end; p++) {
		char *byte = hi_memory_mock_at(d->w->memory, at++);

		*byte = *p;
	}
	*text = end + 1;
}

static uint64_t read_word(struct drawing *d, const char **text, const char *line)
{
	const char *start = *text;
	uint64_t word = 0;

	if (*start != '&') {
		word = read_number(text);
		if (*text == start)
			refuse(d, "words that are none", line);
		return word;
	}
	++*text;
	if (!read_address(text, &word))
		refuse(d, "no address behind &", line);
	return **text == '+' ? word + read_number(text) : word;
}

/* At [start, start + size). */
static void draw_words(struct drawing *d, uint64_t start, uint64_t size, const char *text,
		       const char *line)
{
	uint64_t at = start;

	for (text = skip_blanks(text); *text && !begins_with(text, "=>");
	     text = skip_blanks(text)) {
		if (*text == '@') {
			text++;
			at = start + read_number(&text);
			continue;
		}
		if (at - start >= size)
			refuse(d, "more words than there is room for", line);
		if (*text == '\'') {
			draw_text(d, &text, at, line);
		} else {
			world_poke(d->w, at, read_word(d, &text, line));
			at += 8;
		}
	}
}

static void add_object(struct drawing *d, uint64_t address, const char *line)
{
	const char *expected = strstr(line, "=>");

	HI_ASSERT(d->n_objects < MAX_OBJECTS);
	d->objects[d->n_objects++] = (struct drawn_object){
		address, line, expected ? skip_blanks(expected + 2) : ""};
}

/* "100 (24): WORDS => …", "100..300 (24): …", "108: …" */
static bool draw_block(struct drawing *d, const char *line)
{
	const char *at = line;
	uint64_t first, last, usable = 0;

	if (!read_address(&at, &first))
		return false;
	last = first;
	if (begins_with(at, "..")) {
		at += 2;
		if (!read_address(&at, &last))
			refuse(d, "no last block", line);
	}
	if (begins_with(at, " (")) {
		at += 2;
		usable = read_number(&at);
	}
	if (usable ? !begins_with(at, "):") : *at != ':')
		refuse(d, "no colon", line);
	at = strchr(at, ':') + 1;
	for (uint64_t block = first; block <= last; block += 0x100) {
		if (usable)
			world_block(d->w, block, usable);
		if (usable || strstr(line, "=>"))
			add_object(d, block, line);
		draw_words(d, block, usable ? usable : UINT64_MAX, at, line);
	}
	return true;
}

/* The last variable is in no memory. */
static void move_to_registers(struct world *w, uint64_t at)
{
	struct hi_local *local = &w->locals[w->n_locals - 1];
	void *bytes = hi_memory_mock_at(w->memory, at);

	HI_ASSERT(local->size < 64);
	memcpy(local->value, bytes, local->size);
	memset(bytes, 0, local->size);
	local->value_mask = (1ull << local->size) - 1;
	local->in_memory = false;
	local->address = 0;
}

/* "vec *v = WORDS", "register vec v = WORDS" */
static bool draw_variable(struct drawing *d, const char *line)
{
	const bool is_register = begins_with(line, "register ");
	const char *text = line + (is_register ? strlen("register ") : 0), *name;
	const char *end = strstr(text, " = ");
	hi_type_id type;
	uint64_t at;

	if (!end)
		return false;
	type = world_declared(d->w, text, (size_t)(end - text), &name);
	at = world_local(d->w, name, type, 0);
	draw_words(d, at, d->w->types[type].size, end + 3, line);
	if (is_register)
		move_to_registers(d->w, at);
	return true;
}

/* ---- lines ---- */

static char *take_line(struct drawing *d)
{
	char *line = d->next, *end = line + strcspn(line, "\n");

	d->next = *end ? end + 1 : end;
	*end = '\0';
	return line;
}

static int count_braces(const char *text)
{
	int depth = 0;

	for (; *text; text++)
		depth += *text == '{' ? 1 : *text == '}' ? -1 : 0;
	return depth;
}

/* This line, and the following ones until all braces are closed. */
static void take_braced(struct drawing *d, const char *line, char *to, size_t size)
{
	int depth = 0;

	for (;; line = take_line(d)) {
		size_t used = strlen(to);

		HI_ASSERT((size_t)snprintf(to + used, size - used, "%s\n", line) <
			  size - used);
		depth += count_braces(line);
		if (depth <= 0 || !*d->next)
			break;
	}
	if (depth)
		refuse(d, "braces without end", to);
}

static void draw_types(struct drawing *d, const char *line)
{
	char text[1000] = "";

	take_braced(d, line, text, sizeof(text));
	world_types(d->w, text);
}

static bool draw_hints(struct drawing *d, const char *line)
{
	static const char *const words[] = {"record ", "show ", "context ", "typedef ",
					    "const "};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins_with(line, words[i])) {
			if (!d->hints[0])
				snprintf(d->hints, sizeof(d->hints), "hints x\n");
			d->w->hints = d->hints;
			take_braced(d, line, d->hints, sizeof(d->hints));
			return true;
		}
	return false;
}

static void draw_mapping(struct drawing *d, const char *text, const char *line)
{
	uint64_t start;

	if (!read_address(&text, &start))
		refuse(d, "a mapping without address", line);
	world_mapping(d->w, start, strtoull(text, NULL, 0));
}

static void draw_vtable(struct drawing *d, const char *text, const char *line)
{
	const char *end = strrchr(text, ' '), *at = end ? end + 1 : "";
	uint64_t address;
	char type[200];

	if (!read_address(&at, &address))
		refuse(d, "a vtable without address", line);
	snprintf(type, sizeof(type), "%.*s", (int)(end - text), text);
	d->w->vtable_of[world_named(d->w, type)] = address;
}

static void draw_line(struct drawing *d, const char *line)
{
	if (!*line)
		return;
	if ((begins_with(line, "struct ") || begins_with(line, "union ")) &&
	    strchr(line, '{'))
		draw_types(d, line);
	else if (begins_with(line, "mapping "))
		draw_mapping(d, line + 8, line);
	else if (begins_with(line, "vtable "))
		draw_vtable(d, line + 7, line);
	else if (begins_with(line, "warning ") && d->n_warnings < MAX_WARNINGS)
		d->warnings[d->n_warnings++] = line + 8;
	else if (begins_with(line, "threads "))
		d->options.threads = (unsigned)strtoul(line + 8, NULL, 10);
	else if (strcmp(line, "conservative") == 0)
		d->options.conservative = true;
	else if (strcmp(line, "knows records") == 0)
		world_knows_records(d->w);
	else if (!draw_hints(d, line) && !draw_block(d, line) && !draw_variable(d, line))
		refuse(d, "a line that is nothing", line);
}

/* ---- what is expected ---- */

static void trim_end(char *text)
{
	for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
		text[n - 1] = '\0';
}

/* Takes the last part of what is expected away where it ends like this. */
static bool take_end(char *expected, const char *end)
{
	size_t n = strlen(expected), m = strlen(end);

	if (n < m || strcmp(expected + n - m, end) != 0)
		return false;
	expected[n - m] = '\0';
	trim_end(expected);
	return true;
}

/* Takes what is after a mark away; NULL: it is not there. */
static char *take_behind(char *expected, const char *mark)
{
	char *at = strstr(expected, mark);

	if (!at)
		return NULL;
	*at = '\0';
	trim_end(expected);
	return at + strlen(mark);
}

static void compare(struct drawing *d, const struct drawn_object *o, const char *what,
		    const char *got, const char *expected)
{
	if (strcmp(got, expected) != 0)
		note_wrong(d, o->line, "%s: %s \"%s\", expected \"%s\"",
			   world_address(o->address), what, got, expected);
}

/* "300 400:c" as world_edges() has it. */
static void check_edges(struct drawing *d, const struct drawn_object *o,
			const char *expected)
{
	char wanted[1000] = "";

	for (const char *p = expected; *p && strcmp(expected, "nothing") != 0;) {
		size_t n = strcspn(p, " "), used = strlen(wanted);

		snprintf(wanted + used, sizeof(wanted) - used, "%s%.*s%s",
			 used ? " " : "", (int)n, p, memchr(p, ':', n) ? "" : ":e");
		p = skip_blanks(p + n);
	}
	compare(d, o, "edges", world_edges(d->w, o->address), wanted);
}

/* "shape)" */
static void check_evidence(struct drawing *d, const struct drawn_object *o,
			   char *expected)
{
	static const char *const names[8] = {"none",	"shape",  "base",    "container",
					     "pointer", "vtable", "runtime", "?"};

	if (!take_end(expected, ")"))
		refuse(d, "an evidence without end", o->line);
	compare(d, o, "evidence", names[world_evidence(d->w, o->address)], expected);
}

static void check_type(struct drawing *d, const struct drawn_object *o, char *expected)
{
	if (*expected == '\'' && take_end(expected, "'"))
		compare(d, o, "name", world_named_type(d->w, o->address), expected + 1);
	else if (*expected)
		compare(d, o, "type", world_type(d->w, o->address),
			strcmp(expected, "untyped") == 0 ? "" : expected);
}

static void check_size(struct drawing *d, const struct drawn_object *o,
		       const char *expected)
{
	char got[24];

	snprintf(got, sizeof(got), "%llu",
		 (unsigned long long)hi_objects_usable(d->w->graph->objects,
						       world_node(d->w, o->address)));
	compare(d, o, "size", got, expected);
}

static bool is_object(const struct world *w, uint64_t address)
{
	uint64_t offset = 0;

	return hi_objects_find(w->graph->objects, address, &offset) != HI_NODE_NONE &&
	       offset == 0;
}

static void check_object(struct drawing *d, const struct drawn_object *o,
			 const struct hi_reach *reach)
{
	char expected[300], *edges, *size, *evidence;
	bool leaked;

	snprintf(expected, sizeof(expected), "%s", o->expected);
	if (!is_object(d->w, o->address)) {
		compare(d, o, "begins here", "nothing", expected);
		return;
	}
	leaked = take_end(expected, ", leaked") || take_end(expected, "leaked");
	edges = take_behind(expected, "-> ");
	size = take_behind(expected, "size ");
	evidence = expected[0] == '(' ? take_behind(expected, "(")
				      : take_behind(expected, " (");
	check_type(d, o, expected);
	if (evidence)
		check_evidence(d, o, evidence);
	if (size)
		check_size(d, o, size);
	if (edges)
		check_edges(d, o, edges);
	compare(d, o, "it is",
		hi_bit(reach->any, world_node(d->w, o->address)) ? "reached" : "leaked",
		leaked ? "leaked" : "reached");
}

/* Each object has a line. */
static void check_others(struct drawing *d)
{
	const struct hi_objects *objects = d->w->graph->objects;

	for (hi_node id = 0; id < objects->count; id++) {
		uint64_t address = hi_objects_address(objects, id);
		bool is_drawn = false;

		for (size_t i = 0; i < d->n_objects; i++)
			is_drawn |= d->objects[i].address == address;
		if (!is_drawn)
			note_wrong(d, world_address(address),
				   "an object of %llu bytes that has no line",
				   (unsigned long long)hi_objects_usable(objects, id));
	}
}

/* "…" stands for any text. */
static bool is_warning(const char *got, const char *expected)
{
	const char *gap = strstr(expected, "…"), *end = gap ? gap + strlen("…") : "";
	size_t n = strlen(got);

	if (!gap)
		return strcmp(got, expected) == 0;
	return strncmp(got, expected, (size_t)(gap - expected)) == 0 &&
	       n >= strlen(end) && strcmp(got + n - strlen(end), end) == 0;
}

static void check_warnings(struct drawing *d)
{
	for (size_t i = 0; i <= d->n_warnings; i++) {
		const char *expected = i < d->n_warnings ? d->warnings[i] : "";
		const char *got = world_warning(d->w, i);

		if (!is_warning(got, expected))
			note_wrong(d, "warnings", "\"%s\", expected \"%s\"", got,
				   expected);
	}
}

static void check_drawing(struct drawing *d)
{
	struct hi_error err;
	struct hi_reach *reach;

	HI_ASSERT_OK(hi_reach_compute(d->w->graph, 1, &reach, &err), &err);
	for (size_t i = 0; i < d->n_objects; i++)
		check_object(d, &d->objects[i], reach);
	hi_reach_destroy(reach);
	check_others(d);
	check_warnings(d);
	if (d->wrong[0])
		hi_test_fail(d->file, d->line, "it is not as drawn:%s", d->wrong);
}

struct world *rules_world_check(const char *file, int line, const char *format, ...)
{
	struct drawing *d = hi_calloc(1, sizeof(*d));
	struct hi_error err;
	va_list ap;
	int n;

	HI_ASSERT(d);
	hi_test_defer(free, d);
	d->file = file;
	d->line = line;
	d->w = world_create();
	va_start(ap, format);
	n = vsnprintf(d->text, sizeof(d->text), format, ap);
	va_end(ap);
	HI_ASSERT(n > 0 && (size_t)n < sizeof(d->text));
	for (d->next = d->text; *d->next;)
		draw_line(d, take_line(d));
	HI_ASSERT_OK(world_run(d->w, &d->options, &err), &err);
	HI_ASSERT(hi_graph_is_valid(d->w->graph));
	check_drawing(d);
	return d->w;
}
