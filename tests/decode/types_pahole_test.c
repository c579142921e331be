/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layouts of real programs against pahole's: 200 records of each program, chosen by
 * a fixed seed; every member's name, place and size. pahole prints
 *
 *	struct NAME {
 *		TYPE  NAME[:BITS];          OFFSET[:BIT] SIZE, as a comment
 *		union {                      its members, at absolute offsets
 *			…
 *		} NAME;                      OFFSET SIZE
 *		size: N, cachelines: …       as a comment
 *	};
 *
 * and its comment for a base class is "class BASE <ancestor>;". What is printed in
 * another form is counted and not compared; pahole knows no namespaces, so that
 * several records may stand for one name: one of them must fit.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/file_types.h"
#include "tests/support/workshop.h"

enum { CHOSEN = 200, DEPTH_MAX = 8, NAME_BYTES = 160 };

static struct hi_error err;

/* ---- what pahole prints ---- */

struct field {
	char name[NAME_BYTES]; /* "" anonymous, "<base>" for base classes */
	unsigned depth;
	uint64_t bit, size; /* absolute; bytes, or bits of a bit-field */
	bool is_bits;
};

struct layout {
	char name[NAME_BYTES];
	uint64_t size;
	struct HI_VECTOR(struct field) fields;
	bool strange; /* printed in a form that is not understood */
};

struct layouts {
	struct HI_VECTOR(struct layout) items;
};

static void layouts_free(struct layouts *layouts)
{
	for (size_t i = 0; i < layouts->items.count; i++)
		hi_vector_free(&layouts->items.items[i].fields);
	hi_vector_free(&layouts->items);
	free(layouts);
}

/* "struct NAME {", "class NAME : public BASE {": the name. */
static bool record_name(const char *line, char out[NAME_BYTES])
{
	static const char *const keywords[] = {"struct ", "class ", "union "};
	const char *end;

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(keywords[i]);

		if (strncmp(line, keywords[i], n) != 0)
			continue;
		line += n;
		end = strstr(line, " : ");
		if (!end)
			end = strstr(line, " {");
		if (!end || (size_t)(end - line) >= NAME_BYTES ||
		    strncmp(line, "typedef ", 8) == 0)
			return false;
		memcpy(out, line, (size_t)(end - line));
		out[end - line] = '\0';
		return true;
	}
	return false;
}

/* The last comment of a line: "OFFSET SIZE" or "OFFSET: BIT SIZE". */
static bool place_of(const char *line, struct field *field, const char **comment_ret)
{
	const char *comment = NULL, *p;
	unsigned long long offset, bit, size;

	for (p = line; (p = strstr(p, "/*")) != NULL; p += 2)
		comment = p;
	if (!comment)
		return false;
	*comment_ret = comment;
	if (sscanf(comment, "/* %llu: %llu %llu", &offset, &bit, &size) == 3) {
		field->is_bits = true;
		field->bit = offset * 8 + bit;
		return true;
	}
	if (sscanf(comment, "/* %llu %llu", &offset, &size) != 2)
		return false;
	field->bit = offset * 8;
	field->size = size;
	return true;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* The declared name in "TYPE NAME[4];", "TYPE (*NAME)(ARGS);", "TYPE NAME:3;". */
static bool declared_name(const char *line, const char *end, struct field *field)
{
	const char *start, *star = strstr(line, "(*");
	size_t n;

	if (star && star < end) {
		start = star + 2;
		while (*start == '*' || *start == ' ')
			start++;
		for (end = start; is_name(*end); end++)
			;
	} else {
		const char *attribute = strstr(line, "__attribute__");
		const char *cut = attribute && attribute < end ? attribute : end;
		const char *colon = memchr(line, ';', (size_t)(cut - line));

		cut = colon ? colon : cut;
		while (cut > line && isspace((unsigned char)cut[-1]))
			cut--;
		for (colon = cut; colon > line && isdigit((unsigned char)colon[-1]);)
			colon--;
		if (field->is_bits) {
			if (colon == cut || colon == line || colon[-1] != ':')
				return false;
			field->size = strtoull(colon, NULL, 10);
			cut = colon - 1;
		}
		while (cut > line && cut[-1] == ']') {
			while (cut > line && cut[-1] != '[')
				cut--;
			cut--;
		}
		end = cut;
		for (start = end; start > line && is_name(start[-1]); start--)
			;
	}
	n = (size_t)(end - start);
	if (n == 0 || n >= NAME_BYTES)
		return false;
	memcpy(field->name, start, n);
	field->name[n] = '\0';
	return true;
}

static void add_field(struct layout *layout, const struct field *field)
{
	HI_ASSERT(hi_vector_push(&layout->fields, *field));
}

struct nesting {
	unsigned depth;
	size_t first[DEPTH_MAX + 1]; /* field of each open record */
};

/* The end of a record inside another one: a member, or, without a place, a type that
 * is only declared there. */
static void close_inner(struct layout *layout, const char *text, struct nesting *nesting)
{
	struct field field = {};
	const char *comment;

	if (nesting->depth == 0)
		return;
	field.depth = --nesting->depth;
	if (!place_of(text, &field, &comment)) {
		layout->fields.count = nesting->first[nesting->depth];
		return;
	}
	if (strncmp(text, "} *", 3) == 0) /* a pointer to it */
		layout->fields.count = nesting->first[nesting->depth];
	if (text[1] != ';' && !declared_name(text, comment, &field))
		layout->strange = true;
	add_field(layout, &field);
}

/* One line inside a record. */
static void take_line(struct layout *layout, const char *line, struct nesting *nesting)
{
	const char *text = line + strspn(line, "\t "), *comment = NULL;
	struct field field = {.depth = nesting->depth};
	bool placed = place_of(line, &field, &comment);

	if (strncmp(text, "/* size: ", 9) == 0 && nesting->depth == 0) {
		layout->size = strtoull(text + 9, NULL, 10);
	} else if (strncmp(text, "/*", 2) == 0) {
		if (!strstr(text, "<ancestor>"))
			return; /* holes and sums */
		layout->strange |= !placed;
		snprintf(field.name, sizeof(field.name), "<base>");
		add_field(layout, &field);
	} else if (*text == '}') {
		close_inner(layout, text, nesting);
	} else if (text[0] && text[strlen(text) - 1] == '{') {
		HI_ASSERT(nesting->depth < DEPTH_MAX);
		nesting->first[nesting->depth++] = layout->fields.count;
	} else if (strncmp(text, "static ", 7) == 0 || *text == '\0') {
		return;
	} else if (placed) {
		layout->strange |= !declared_name(line, comment, &field);
		/* pahole knows no _Atomic types. */
		layout->strange |=
			!field.is_bits && field.size == 0 && !strchr(text, '[');
		add_field(layout, &field);
	} else if (*text == '<' || !strchr(text, '(')) { /* methods have no place */
		layout->strange = true;
	}
}

static bool is_access(const char *line)
{
	return strcmp(line, "public:") == 0 || strcmp(line, "protected:") == 0 ||
	       strcmp(line, "private:") == 0;
}

static void parse(char *text, struct layouts *layouts)
{
	struct layout *layout = NULL;
	struct nesting nesting = {};
	char *next;

	for (char *line = text; *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		if (is_access(line))
			continue;
		if (!isspace((unsigned char)line[0]) && line[0] != '}' && line[0]) {
			struct layout fresh = {};

			layout = NULL;
			nesting.depth = 0;
			if (!record_name(line, fresh.name) ||
			    line[strlen(line) - 1] != '{')
				continue;
			HI_ASSERT(hi_vector_push(&layouts->items, fresh));
			layout = &layouts->items.items[layouts->items.count - 1];
		} else if (layout && line[0] == '}') {
			layout = NULL;
		} else if (layout) {
			take_line(layout, line, &nesting);
		}
	}
}

/* ---- what we say ---- */

/* Name without keyword and namespaces. */
static const char *bare_name(const char *name)
{
	const char *last = name, *p;
	int depth = 0;

	for (p = name; *p; p++) {
		depth += *p == '<';
		depth -= *p == '>';
		if (depth == 0 && (*p == ' ' || *p == ':'))
			last = p + 1;
	}
	return last;
}

static bool is_anonymous(const struct hi_type *type)
{
	return strstr(type->name, "{...}") != NULL;
}

struct walk {
	const struct hi_type *type;
	uint32_t next;
	uint64_t base;
};

/* Our members in pahole's order: those of an anonymous record before itself. */
static void flatten(struct inspected *p, const struct hi_type *type,
		    struct layout *layout)
{
	struct walk open[DEPTH_MAX + 1] = {{type, 0, 0}};
	unsigned depth = 1;

	while (depth > 0) {
		struct walk *at = &open[depth - 1];
		const struct hi_member *m;
		const struct hi_type *of;
		struct field field = {.depth = depth - 1};

		if (at->next == at->type->n_members) {
			depth--;
			continue;
		}
		m = &at->type->members[at->next++];
		of = hi_type_get(p->types, m->type);
		field.bit = (at->base + m->offset) * 8 + m->bit_offset;
		field.size = m->bit_size ? m->bit_size : of->size;
		field.is_bits = m->bit_size != 0;
		layout->strange |= strcmp(m->name, "(virtual base)") == 0;
		snprintf(field.name, sizeof(field.name), "%.150s",
			 m->is_base ? "<base>" : m->name);
		add_field(layout, &field);
		for (unsigned i = 0; i < 4 && of->kind == HI_KIND_ARRAY; i++)
			of = hi_type_get(p->types, of->target);
		if ((of->kind == HI_KIND_STRUCT || of->kind == HI_KIND_UNION) &&
		    is_anonymous(of) && depth <= DEPTH_MAX)
			open[depth++] = (struct walk){of, 0, at->base + m->offset};
	}
}

static const struct field *field_like(const struct layout *layout,
				      const struct field *field)
{
	for (size_t i = 0; i < layout->fields.count; i++) {
		const struct field *f = &layout->fields.items[i];

		if (f->depth == field->depth && f->bit == field->bit &&
		    f->size == field->size && f->is_bits == field->is_bits &&
		    strcmp(f->name, field->name) == 0)
			return f;
	}
	return NULL;
}

/* The first field of one that the other has not; NULL: both say the same. */
static const struct field *difference(const struct layout *a, const struct layout *b)
{
	for (size_t i = 0; i < a->fields.count; i++)
		if (!field_like(b, &a->fields.items[i]))
			return &a->fields.items[i];
	for (size_t i = 0; i < b->fields.count; i++)
		if (!field_like(a, &b->fields.items[i]))
			return &b->fields.items[i];
	return NULL;
}

struct tally {
	size_t records, fields, unknown, strange;
};

static void compare(struct inspected *p, const struct hi_type *type,
		    const struct layouts *layouts, struct tally *tally)
{
	struct layout ours = {.size = type->size};
	const struct field *differs = NULL;
	const struct layout *seen = NULL;
	bool fits = false;

	flatten(p, type, &ours);
	for (size_t i = 0; i < layouts->items.count && !fits; i++) {
		const struct layout *theirs = &layouts->items.items[i];

		if (strcmp(theirs->name, bare_name(type->name)) != 0)
			continue;
		if (theirs->strange || ours.strange) {
			tally->strange++;
			seen = NULL;
			break;
		}
		seen = theirs;
		differs = difference(theirs, &ours);
		/* Unions have no line of their size. */
		fits = !differs && (theirs->size == type->size ||
				    (theirs->size == 0 && type->kind == HI_KIND_UNION));
	}
	if (fits) {
		tally->records++;
		tally->fields += ours.fields.count;
	} else if (seen) {
		hi_test_fail(__FILE__, __LINE__,
			     "%s: size %llu, pahole's %llu; differs at \"%s\", bit %llu",
			     type->name, (unsigned long long)type->size,
			     (unsigned long long)seen->size, differs ? differs->name : "",
			     differs ? (unsigned long long)differs->bit : 0);
	} else {
		tally->unknown++;
	}
	hi_vector_free(&ours.fields);
}

/* ---- the choice ---- */

struct choice {
	struct HI_VECTOR(const struct hi_type *) types;
};

static bool take_type(const struct hi_type *type, void *arg)
{
	struct choice *choice = arg;

	if (strlen(type->name) < NAME_BYTES)
		HI_ASSERT(hi_vector_push(&choice->types, type));
	return true;
}

static void shuffle(struct choice *choice)
{
	uint64_t state = 20240607;

	for (size_t i = choice->types.count; i > 1; i--) {
		const struct hi_type *swap = choice->types.items[i - 1];
		size_t k;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		k = (state >> 33) % i;
		choice->types.items[i - 1] = choice->types.items[k];
		choice->types.items[k] = swap;
	}
}

/* Structs of a file by itself, and what it knows by name: unions, C++ classes. */
static void ask_pahole(const struct choice *choice, const char *debug,
		       struct layouts *layouts)
{
	const char *dir = workshop_open();
	char list[1024];
	struct hi_command *c;
	FILE *file;

	snprintf(list, sizeof(list), "%s/names", dir);
	file = fopen(list, "w");
	HI_ASSERT(file);
	for (size_t i = 0; i < choice->types.count; i++)
		fprintf(file, "%s\n", bare_name(choice->types.items[i]->name));
	HI_ASSERT(fclose(file) == 0);
	snprintf(list, sizeof(list), "file://%s/names", dir);
	c = hi_command_run(0, "pahole", "-F", "dwarf", debug, NULL);
	HI_ASSERT_MSG(c->out_size > 0, "pahole: %.300s", c->err);
	parse(c->out, layouts);
	c = hi_command_run(0, "pahole", "-F", "dwarf", "-C", list, debug, NULL);
	parse(c->out, layouts);
}

/* Compares until CHOSEN records were; at least min_records of them. */
static void compare_with_pahole(const char *path, const char *debug, size_t min_records)
{
	struct inspected *p = inspected_file(path);
	struct choice choice = {};
	struct tally tally = {};
	struct layouts *layouts = calloc(1, sizeof(*layouts));

	HI_ASSERT(layouts);
	hi_test_defer(layouts_free, layouts);
	HI_ASSERT_OK(hi_types_each_record(p->types, 1, NULL, UINT64_MAX, take_type,
					  &choice, NULL, &err),
		     &err);
	HI_ASSERT_MSG(choice.types.count >= min_records, "only %zu records",
		      choice.types.count);
	shuffle(&choice);
	ask_pahole(&choice, debug, layouts);
	for (size_t i = 0; i < choice.types.count && tally.records < CHOSEN; i++)
		compare(p, choice.types.items[i], layouts, &tally);
	hi_vector_free(&choice.types);
	printf("%s: %zu records, %zu members equal; %zu in a form of their own, %zu not "
	       "printed\n",
	       path, tally.records, tally.fields, tally.strange, tally.unknown);
	HI_ASSERT(tally.records >= min_records && tally.fields >= CHOSEN);
}

HI_TEST_SCENARIO(types_pahole, layouts_of_redis_are_paholes)
{
	static const char path[] = HI_SOURCE_DIR "/build/targets/redis-server";
	struct hi_command *c;

	c = hi_command_run(0, HI_SOURCE_DIR "/scripts/build-targets",
			   HI_SOURCE_DIR "/build/targets", "redis", NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "redis: %s", c->err);
	compare_with_pahole(path, path, CHOSEN);
}

HI_TEST_SCENARIO(types_pahole, layouts_of_python_are_paholes)
{
	static const char path[] = "/usr/bin/python3.11";
	struct inspected *p = inspected_file(path);
	struct hi_module *module = hi_modules_get(p->modules, 0);

	HI_ASSERT_OK(hi_module_debug(module, &err), &err);
	compare_with_pahole(path, module->debug_path, CHOSEN);
}

HI_TEST_SCENARIO(types_pahole, layouts_of_cxx_classes_are_paholes)
{
	static const char path[] = HI_FIXTURE_DIR "/types_layouts";

	compare_with_pahole(path, path, CHOSEN);
}
