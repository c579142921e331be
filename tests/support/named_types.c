/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of a drawn target by their names, and what expressions of hints ask. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/typing_world.h"

const char *world_text(struct world *w, const char *text, size_t length)
{
	char *to = w->text + w->text_used;

	HI_ASSERT(w->text_used + length < sizeof(w->text));
	memcpy(to, text, length);
	to[length] = '\0';
	w->text_used += length + 1;
	return to;
}

/* ---- what there is ---- */

static hi_type_id find(struct world *w, const char *name)
{
	for (hi_type_id id = 1; id < w->n_types; id++)
		if (strcmp(w->types[id].name, name) == 0)
			return id;
	return 0;
}

/* Names decide what the order of types is, not who asked for them first. */
static uint64_t hash_of(const char *name)
{
	uint64_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static hi_type_id add_named(struct world *w, const char *name, struct hi_type type)
{
	hi_type_id id;

	type.name = world_text(w, name, strlen(name));
	id = world_add_type(w, type);
	w->types[id].layout_hash = hash_of(name);
	return id;
}

static hi_type_id pointer_to(struct world *w, hi_type_id to)
{
	char name[200];
	hi_type_id id;

	snprintf(name, sizeof(name), "%.190s *", w->types[to].name);
	id = find(w, name);
	return id ? id
		  : add_named(w, name,
			      (struct hi_type){
				      .kind = HI_KIND_POINTER, .size = 8, .target = to});
}

static hi_type_id array_of(struct world *w, hi_type_id element, uint64_t count)
{
	uint64_t size = w->types[element].size;
	char name[200];
	hi_type_id id;

	HI_ASSERT_MSG(size, "an array of %s", w->types[element].name);
	snprintf(name, sizeof(name), "%.170s [%llu]", w->types[element].name,
		 (unsigned long long)count);
	id = find(w, name);
	return id ? id
		  : add_named(w, name,
			      (struct hi_type){.kind = HI_KIND_ARRAY,
					       .size = count * size,
					       .target = element,
					       .count = count,
					       .flexible = !count});
}

/* A scalar, or a record that is there; 0: neither. */
static hi_type_id scalar_named(struct world *w, const char *name)
{
	static const struct {
		const char *name;
		enum hi_type_kind kind;
		uint64_t size;
		bool is_signed;
	} scalars[] = {{"void", HI_KIND_VOID, 0, false},
		       {"char", HI_KIND_CHAR, 1, true},
		       {"int", HI_KIND_INTEGER, 4, true},
		       {"long", HI_KIND_INTEGER, 8, true},
		       {"unsigned int", HI_KIND_INTEGER, 4, false},
		       {"unsigned long", HI_KIND_INTEGER, 8, false},
		       {"uintptr_t", HI_KIND_ADDRESS, 8, false},
		       {"double", HI_KIND_FLOAT, 8, true},
		       {"code", HI_KIND_FUNCTION, 0, false}};
	hi_type_id id = find(w, name);

	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]) && !id; i++)
		if (strcmp(scalars[i].name, name) == 0)
			id = add_named(
				w, name,
				(struct hi_type){.kind = scalars[i].kind,
						 .size = scalars[i].size,
						 .is_signed = scalars[i].is_signed});
	return id;
}

static hi_type_id base_named(struct world *w, const char *name)
{
	hi_type_id id = scalar_named(w, name);

	return id ? id
		  : add_named(w, name, (struct hi_type){.kind = HI_KIND_DECLARATION});
}

hi_type_id world_named(struct world *w, const char *text)
{
	size_t length = strcspn(text, "*[");
	const char *bracket;
	char base[200];
	hi_type_id id;

	while (length && text[length - 1] == ' ')
		length--;
	HI_ASSERT(length && length < sizeof(base));
	memcpy(base, text, length);
	base[length] = 0;
	id = base_named(w, base);
	for (bracket = text + length; *bracket && *bracket != '['; bracket++)
		if (*bracket == '*')
			id = pointer_to(w, id);
	/* In an array of arrays, the first number is that of the outer one. */
	for (const char *p = text + strlen(text); p-- > bracket;)
		if (*p == '[')
			id = array_of(w, id, strtoull(p + 1, NULL, 10));
	return id;
}

/* ---- records ---- */

static uint64_t alignment_of(const struct world *w, hi_type_id id)
{
	const struct hi_type *t = &w->types[id];
	uint64_t most = 1;

	if (t->kind == HI_KIND_ARRAY)
		return alignment_of(w, t->target);
	if (t->kind != HI_KIND_STRUCT && t->kind != HI_KIND_UNION)
		return t->size ? t->size : 1;
	for (uint32_t i = 0; i < t->n_members; i++) {
		uint64_t one = alignment_of(w, t->members[i].type);

		most = one > most ? one : most;
	}
	return most;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

hi_type_id world_declared(struct world *w, const char *text, size_t length,
			  const char **name_ret)
{
	const char *bracket = memchr(text, '[', length), *end = text + length;
	const char *name_end = bracket ? bracket : end, *name = name_end;
	char type[200];

	while (name > text && (isalnum(name[-1]) || name[-1] == '_'))
		name--;
	HI_ASSERT_MSG(name > text && name < name_end, "no declaration: %s", text);
	text += strspn(text, " ");
	snprintf(type, sizeof(type), "%.*s%.*s", (int)(name - text), text,
		 (int)(end - name_end), name_end);
	*name_ret = world_text(w, name, (size_t)(name_end - name));
	return world_named(w, type);
}

/* "item **d", "@8 long n" */
static struct hi_member read_member(struct world *w, const char *text, size_t length,
				    uint64_t end)
{
	const char *all = text + length;
	struct hi_member member = {.offset = UINT64_MAX};

	if (*text == '@') {
		char *behind;

		member.offset = strtoull(text + 1, &behind, 0);
		text = behind;
	}
	member.type = world_declared(w, text, (size_t)(all - text), &member.name);
	if (member.offset == UINT64_MAX)
		member.offset = round_up(end, alignment_of(w, member.type));
	return member;
}

/* Up to the brace; a size that is given stands. */
static void read_members(struct world *w, struct hi_type *record, const char *text)
{
	uint64_t size = 0;

	record->members = &w->members[w->n_members];
	while (*(text += strspn(text, " \t\n")) != '}') {
		size_t n = strcspn(text, ";}");
		struct hi_member member =
			read_member(w, text, n, record->kind == HI_KIND_UNION ? 0 : size);
		uint64_t end;

		HI_ASSERT(w->n_members < WORLD_MEMBERS);
		w->members[w->n_members++] = member;
		record->n_members++;
		end = member.offset + w->types[member.type].size;
		size = end > size ? end : size;
		text += n + (text[n] == ';');
	}
	if (!record->size)
		record->size = round_up(size, alignment_of(w, record->id));
}

/* Reads the arguments of the name: "vec<item, 3>" has a type and a number. A type that is
 * not there is none. */
static void read_args(struct world *w, struct hi_type *record)
{
	const char *at = strchr(record->name, '<');

	record->args = &w->args[w->n_args];
	while (at && *at != '>') {
		size_t n = strcspn(at + 1, ",>");
		const char *text = at + 1 + strspn(at + 1, " ");
		const char *arg = world_text(w, text, (size_t)(at + 1 + n - text));
		struct hi_template_arg *to = &w->args[w->n_args++];

		HI_ASSERT(w->n_args <= WORLD_ARGS);
		*to = (struct hi_template_arg){.name = ""};
		if (isdigit(*arg))
			to->value = strtoll(arg, NULL, 0);
		else
			to->type = scalar_named(w, arg);
		record->n_args++;
		at += 1 + n;
	}
}

/* "vec", "vec<item, 3>", "Base 16": the type that is to be defined, and its size. */
static struct hi_type *read_name(struct world *w, const char *text, size_t n)
{
	uint64_t size = 0;
	char name[200], *last;
	struct hi_type *record;

	while (n && text[n - 1] == ' ')
		n--;
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	last = strrchr(name, ' ');
	if (last && isdigit(last[1]) && !strchr(last, '>')) {
		size = strtoull(last + 1, NULL, 0);
		*last = '\0';
	}
	record = &w->types[base_named(w, name)];
	HI_ASSERT_MSG(record->kind == HI_KIND_DECLARATION, "%s is there already", name);
	record->size = size;
	return record;
}

void world_types(struct world *w, const char *text)
{
	while (*(text += strspn(text, " \t\n;"))) {
		bool is_union = strncmp(text, "union ", 6) == 0;
		const char *name = strchr(text, ' ') + 1, *brace = strchr(text, '{');
		const char *end = strchr(text, '}');
		struct hi_type *record;

		HI_ASSERT_MSG(brace && end, "no record: %s", text);
		record = read_name(w, name, (size_t)(brace - name));
		record->kind = is_union ? HI_KIND_UNION : HI_KIND_STRUCT;
		read_members(w, record, brace + 1);
		read_args(w, record);
		text = end + 1;
	}
}

uint64_t world_var(struct world *w, const char *name, const char *type, uint64_t word)
{
	return world_local(w, name, world_named(w, type), word);
}

static enum hi_status each_record(void *arg, uint64_t min_size, hi_record_size_fn *wants,
				  hi_record_fn *fn, void *fn_arg, struct hi_error *err)
{
	struct world *w = arg;

	(void)err;
	for (hi_type_id id = 1; id < w->n_types; id++) {
		const struct hi_type *t = &w->types[id];

		if ((t->kind == HI_KIND_STRUCT || t->kind == HI_KIND_UNION) &&
		    t->size >= min_size && t->name[0] &&
		    (!wants || wants(t->size, fn_arg)) && !fn(t, fn_arg))
			break;
	}
	return HI_OK;
}

static enum hi_status each_own_record(void *arg, hi_record_size_fn *wants,
				      hi_record_fn *fn, void *fn_arg,
				      struct hi_error *err)
{
	struct world *w = arg;

	(void)err;
	for (hi_type_id id = 1; id < w->n_types; id++) {
		const struct hi_type *t = &w->types[id];

		if ((t->kind == HI_KIND_STRUCT || t->kind == HI_KIND_UNION) &&
		    t->name[0] && wants(t->size, fn_arg) && !fn(t, fn_arg))
			break;
	}
	return HI_OK;
}

void world_knows_records(struct world *w)
{
	w->source.each_own_record = each_own_record;
	w->source.each_record = each_record;
}

/* ---- what expressions ask ---- */

void world_function(struct world *w, const char *name, uint64_t address)
{
	HI_ASSERT(w->n_places < sizeof(w->places) / sizeof(w->places[0]));
	w->places[w->n_places++] =
		(struct world_place){name, {.kind = HI_NAME_FUNCTION, .value = address}};
}

static const struct hi_type *ask_type(void *arg, hi_type_id id)
{
	struct world *w = arg;

	return &w->types[id < w->n_types ? id : 0];
}

/* Both "struct item" and "item" are names of one type. */
static hi_type_id ask_named(void *arg, const char *name)
{
	const char *bare = strncmp(name, "struct ", 7) == 0 ? name + 7 : name;
	hi_type_id id = find(arg, bare);
	char full[200];

	snprintf(full, sizeof(full), "struct %.190s", bare);
	return id ? id : find(arg, full);
}

static hi_type_id ask_pointer(void *arg, hi_type_id id)
{
	return pointer_to(arg, id);
}

static struct hi_name ask_name(void *arg, const char *name)
{
	struct world *w = arg;

	for (size_t i = 0; i < w->n_places; i++)
		if (strcmp(w->places[i].name, name) == 0)
			return w->places[i].is;
	for (size_t i = 0; i < w->n_locals; i++)
		if (strcmp(w->locals[i].name, name) == 0)
			return (struct hi_name){.kind = HI_NAME_VARIABLE,
						.value = w->locals[i].address,
						.type = w->locals[i].type};
	return (struct hi_name){};
}

struct hi_expression_source world_expressions(struct world *w)
{
	return (struct hi_expression_source){.arg = w,
					     .type = ask_type,
					     .type_named = ask_named,
					     .pointer_to = ask_pointer,
					     .name = ask_name};
}
