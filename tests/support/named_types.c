/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of a drawn target by their names, and what expressions of hints ask. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/typing_world.h"

static const char *keep(struct world *w, const char *text)
{
	size_t size = strlen(text) + 1;
	char *to = w->text + w->text_used;

	HI_ASSERT(w->text_used + size <= sizeof(w->text));
	memcpy(to, text, size);
	w->text_used += size;
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

	type.name = keep(w, name);
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

static hi_type_id base_named(struct world *w, const char *name)
{
	static const struct {
		const char *name;
		enum hi_type_kind kind;
		uint64_t size;
		bool is_signed;
	} bases[] = {{"void", HI_KIND_VOID, 0, false},
		     {"char", HI_KIND_CHAR, 1, true},
		     {"int", HI_KIND_INTEGER, 4, true},
		     {"long", HI_KIND_INTEGER, 8, true},
		     {"unsigned long", HI_KIND_INTEGER, 8, false},
		     {"uintptr_t", HI_KIND_ADDRESS, 8, false},
		     {"code", HI_KIND_FUNCTION, 0, false}};
	hi_type_id id = find(w, name);

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]) && !id; i++)
		if (strcmp(bases[i].name, name) == 0)
			id = add_named(w, name,
				       (struct hi_type){.kind = bases[i].kind,
							.size = bases[i].size,
							.is_signed = bases[i].is_signed});
	if (!id)
		id = add_named(w, name, (struct hi_type){.kind = HI_KIND_DECLARATION});
	return id;
}

hi_type_id world_named(struct world *w, const char *text)
{
	size_t length = strcspn(text, "*[");
	char base[200];
	hi_type_id id;

	while (length && text[length - 1] == ' ')
		length--;
	HI_ASSERT(length && length < sizeof(base));
	memcpy(base, text, length);
	base[length] = 0;
	id = base_named(w, base);
	for (const char *p = text + length; *p; p++) {
		if (*p == '*')
			id = pointer_to(w, id);
		else if (*p == '[')
			id = array_of(w, id, strtoull(p + 1, NULL, 10));
	}
	return id;
}

/* ---- records ---- */

static void add_member(struct world *w, struct hi_type *record, const char *text)
{
	const char *colon = strstr(text, " : ");
	struct hi_member member = {.offset = strtoull(text, NULL, 10)};
	char type[200];

	HI_ASSERT_MSG(colon, "'%s' has no name", text);
	text = strchr(text, ' ') + 1;
	snprintf(type, sizeof(type), "%.*s", (int)(colon - text), text);
	member.name = colon + 3;
	member.type = world_named(w, type);
	HI_ASSERT(w->n_members < WORLD_MEMBERS);
	w->members[w->n_members++] = member;
	record->n_members++;
}

static hi_type_id define(struct world *w, const char *name, enum hi_type_kind kind,
			 uint64_t size, va_list ap)
{
	hi_type_id id = base_named(w, name);
	struct hi_type *record = &w->types[id];
	const char *member;

	HI_ASSERT_EQ(HI_KIND_DECLARATION, record->kind);
	record->kind = kind;
	record->size = size;
	record->members = &w->members[w->n_members];
	while ((member = va_arg(ap, const char *)))
		add_member(w, record, member);
	return id;
}

hi_type_id world_struct(struct world *w, const char *name, uint64_t size, ...)
{
	hi_type_id id;
	va_list ap;

	va_start(ap, size);
	id = define(w, name, HI_KIND_STRUCT, size, ap);
	va_end(ap);
	return id;
}

hi_type_id world_union(struct world *w, const char *name, uint64_t size, ...)
{
	hi_type_id id;
	va_list ap;

	va_start(ap, size);
	id = define(w, name, HI_KIND_UNION, size, ap);
	va_end(ap);
	return id;
}

void world_arg(struct world *w, const char *record, const char *type, int64_t value)
{
	struct hi_type *t = &w->types[world_named(w, record)];
	struct hi_template_arg arg = {.name = "", .value = value};

	HI_ASSERT(w->n_args < WORLD_ARGS);
	if (type)
		arg.type = world_named(w, type);
	if (!t->n_args)
		t->args = &w->args[w->n_args];
	HI_ASSERT(&t->args[t->n_args] == &w->args[w->n_args]);
	w->args[w->n_args++] = arg;
	t->n_args++;
}

uint64_t world_var(struct world *w, const char *name, const char *type, uint64_t word)
{
	return world_local(w, name, world_named(w, type), word);
}

static enum hi_status each_record(void *arg, uint64_t min_size, hi_record_fn *fn,
				  void *fn_arg, struct hi_error *err)
{
	struct world *w = arg;

	(void)err;
	for (hi_type_id id = 1; id < w->n_types; id++) {
		const struct hi_type *t = &w->types[id];

		if ((t->kind == HI_KIND_STRUCT || t->kind == HI_KIND_UNION) &&
		    t->size >= min_size && t->name[0] && !fn(t, fn_arg))
			break;
	}
	return HI_OK;
}

void world_knows_records(struct world *w)
{
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

static hi_type_id ask_named(void *arg, const char *name)
{
	return find(arg, strncmp(name, "struct ", 7) == 0 ? name + 7 : name);
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
