/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/member_display.h"

#include <stdio.h>
#include <string.h>

/* What containers are made of nests deeper than what people write. */
enum { MAX_STEPS = 64, MAX_REPEATED = 64 };

struct walk {
	struct hi_typing *typing;
	const struct hi_shown_path *path;
	struct hi_out *out;
	struct hi_shown_element *element;
	hi_type_id type;
	uint64_t offset; /* in it */
	uint64_t done;	 /* bytes of the path's type in front of it */
	bool hidden;	 /* something was left out */
	bool in_element, is_link;
};

static const struct hi_type *walk_type(const struct walk *w, hi_type_id id)
{
	return hi_type_source_get(&w->typing->source.types, id);
}

static const struct hi_shown *shown_of_type(const struct hi_typing *typing, hi_type_id id)
{
	const struct hi_rule_source *rules = &typing->source.types.rules;

	return rules->shown ? rules->shown(rules->arg, id) : NULL;
}

static bool is_hidden_name(const struct walk *w, const char *name)
{
	const struct hi_rule_source *rules = &w->typing->source.types.rules;

	return rules->hides && rules->hides(rules->arg, name);
}

static void enter_type(struct walk *w, hi_type_id type, uint64_t at)
{
	w->type = type;
	w->offset -= at;
	w->done += at;
}

/* Does what points to it lead on in the same container? */
static bool is_link_pointer(const struct walk *w, const struct hi_type *type)
{
	const struct hi_shown *shown;

	if (type->kind != HI_KIND_POINTER)
		return false;
	shown = shown_of_type(w->typing, walk_type(w, type->target)->id);
	return shown && shown->is_link;
}

/* An array of the pointers to nodes is the container's own. */
static bool step_into_array(struct walk *w, const struct hi_type *type)
{
	const struct hi_type *element = walk_type(w, type->target);
	uint64_t index;

	if (!element->size)
		return false;
	index = w->offset / element->size;
	if (is_link_pointer(w, element))
		w->hidden = true;
	else
		hi_out_add(w->out, "[%llu]", (unsigned long long)index);
	enter_type(w, element->id, index * element->size);
	return true;
}

/* ---- elements ---- */

/* The number of the place that holds the offset; false: none does. */
static bool find_in_place(const struct hi_shown_place *place, uint64_t offset,
			  uint64_t *index_ret)
{
	uint64_t index = 0;

	if (!place->type || offset < place->offset)
		return false;
	if (place->stride)
		index = (offset - place->offset) / place->stride;
	*index_ret = index;
	return index < MAX_REPEATED &&
	       offset - place->offset - index * place->stride < place->size;
}

static bool is_same_place(const struct hi_shown_place *a, const struct hi_shown_place *b)
{
	return a->offset == b->offset && a->type == b->type && a->stride == b->stride;
}

static void begin_element(struct walk *w, const struct hi_shown *shown, uint64_t index,
			  bool in_key)
{
	if (w->element->used)
		return; /* a mark for one alone */
	w->in_element = true;
	*w->element = (struct hi_shown_element){
		.used = true,
		.of_set = in_key || is_same_place(&shown->key, &shown->value),
		.key = shown->key.type,
		.key_at = w->done + shown->key.offset + index * shown->key.stride};
	hi_out_add(w->out, "%c", HI_SHOWN_MARK);
}

/* Places that are repeated have no end of their own: it is the nearer one. */
static bool step_into_shown(struct walk *w, const struct hi_shown *shown)
{
	const struct hi_shown_place *value = &shown->value, *key = &shown->key;
	uint64_t of_value = 0, of_key = 0;
	bool in_value = find_in_place(value, w->offset, &of_value);
	bool in_key = find_in_place(key, w->offset, &of_key);

	if (in_value && in_key && key->offset > value->offset)
		in_value = false;
	if (!in_value && !in_key)
		return false;
	if (shown->kind == HI_SHOWN_ELEMENT)
		begin_element(w, shown, in_value ? of_value : of_key, !in_value);
	if (in_value)
		enter_type(w, value->type, value->offset + of_value * value->stride);
	else
		enter_type(w, key->type, key->offset + of_key * key->stride);
	w->hidden = true;
	return true;
}

/* ---- members ---- */

static bool step_into_same(struct walk *w)
{
	const struct hi_rule_source *rules = &w->typing->source.types.rules;
	const struct hi_rules *own =
		rules->rules ? rules->rules(rules->arg, w->type) : NULL;

	if (!own || !own->same_as || own->same_as == w->type)
		return false;
	w->type = own->same_as;
	return true;
}

static bool step_into_member(struct walk *w, const struct hi_type *type)
{
	const struct hi_member *m =
		hi_member_at(&w->typing->source.types, type, w->offset);

	if (!m)
		return false;
	if (m->name && *m->name && !m->is_base) {
		if (is_hidden_name(w, m->name)) {
			w->hidden = true;
		} else {
			hi_out_add(w->out, ".");
			hi_out_escaped(w->out, m->name);
		}
	}
	enter_type(w, m->type, m->offset);
	return true;
}

/* What lies behind `hidden` may be known by a rule. */
static bool step_into_inner(struct walk *w)
{
	const struct hi_shown_path *p = w->path;

	w->hidden = true;
	if (!p->inner || p->inner_at < w->done || p->inner_at > w->done + w->offset)
		return false;
	enter_type(w, p->inner, p->inner_at - w->done);
	return true;
}

/* False: the walk has ended. */
static bool take_step(struct walk *w)
{
	const struct hi_type *type = walk_type(w, w->type);
	const struct hi_shown *shown;

	w->type = type->id;
	if (type->kind == HI_KIND_ARRAY)
		return step_into_array(w, type);
	shown = shown_of_type(w->typing, w->type);
	if (shown && shown->kind == HI_SHOWN_HIDDEN)
		return w->type != w->path->inner && step_into_inner(w);
	if (shown && shown->kind != HI_SHOWN_PLAIN) {
		if (step_into_shown(w, shown))
			return true;
		w->is_link = !w->in_element;
		return false;
	}
	return step_into_same(w) || step_into_member(w, type);
}

bool hi_shown_path_write(struct hi_typing *typing, const struct hi_shown_path *path,
			 struct hi_out *out, struct hi_shown_element *element)
{
	struct walk w = {.typing = typing,
			 .path = path,
			 .out = out,
			 .element = element,
			 .type = path->type,
			 .offset = path->offset};
	size_t start = out->length;

	*element = (struct hi_shown_element){};
	for (int i = 0; i < MAX_STEPS && take_step(&w); i++)
		;
	if (w.is_link ||
	    (path->array && is_link_pointer(&w, walk_type(&w, path->type)))) {
		*element = (struct hi_shown_element){};
		out->length = start;
		if (out->size)
			out->text[start] = 0;
		hi_path_to(&typing->source.types, path->type, path->offset, out);
		return true;
	}
	if (w.offset && !w.hidden)
		hi_out_add(out, " +0x%llx", (unsigned long long)w.offset);
	return false;
}

/* "first" and "__0" of "second" and "__1". */
static bool is_first_name(const struct hi_member *a, const struct hi_member *b)
{
	return strcmp(a->name ? a->name : "", b->name ? b->name : "") < 0;
}

void hi_shown_slot_enter(struct hi_typing *typing, struct hi_shown_path *path,
			 struct hi_out *out, struct hi_shown_element *element)
{
	const struct hi_type *type =
		hi_type_source_get(&typing->source.types, path->type);
	bool is_pair = type->kind == HI_KIND_STRUCT && type->n_members == 2 &&
		       !type->members[0].is_base && !type->members[1].is_base;
	const struct hi_member *m = type->members;
	uint64_t value;

	*element = (struct hi_shown_element){};
	if (type->kind == HI_KIND_POINTER || path->inner)
		return;
	*element =
		(struct hi_shown_element){.used = true, .of_set = true, .key = type->id};
	hi_out_add(out, "%c", HI_SHOWN_MARK);
	if (!is_pair)
		return;
	/* The members of a tuple are in any order. */
	value = is_first_name(&m[0], &m[1]) ? 1 : 0;
	element->key = m[1 - value].type;
	element->key_at = m[1 - value].offset;
	element->of_set = path->offset - m[value].offset >=
			  hi_type_source_get(&typing->source.types, m[value].type)->size;
	value = element->of_set ? 1 - value : value;
	path->type = m[value].type;
	path->offset -= m[value].offset;
}
