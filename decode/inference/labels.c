/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/search.h"
#include "decode/inference/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/layouts/member_path.h"
#include "decode/inference/field_names.h"

/* The labels of one layout: pointers from `slots` on, words from `raw` on. */
struct layout_labels {
	uint32_t layout, slots, raw;
};
struct rule_label {
	const struct hi_rule *rule;
	const struct hi_rules *rules;
	uint32_t label;
};

struct used_labels HI_VECTOR(struct hi_field_label);

/* More are not worth the memory: 4 bytes each while names are made. */
enum { MAX_LABELS = 1 << 24 };

struct hi_labels {
	struct hi_typing *typing;
	struct layout_labels *layouts;		   /* by graph type */
	struct HI_VECTOR(struct rule_label) rules; /* by label */
	struct rule_label *by_rule;		   /* the same, by address */
	uint32_t first_rule, first_raw, first_root, end;
	/* The label composed last. */
	struct hi_field_label last;
	const struct hi_root_ref *last_ref;
};

HI_DEFINE_GUARD(struct hi_labels *, hi_labels_destroy)

static struct hi_layout *layout_of_type(const struct hi_typing *typing, uint32_t type)
{
	uint32_t layout = typing->layout_of_type[type];

	return layout >= HI_LAYOUT_FIRST ? hi_layouts_get(typing->layouts, layout) : NULL;
}

static bool add_rules(struct hi_labels *l, const struct hi_rules *rules)
{
	for (size_t i = 0; i < l->rules.count; i++)
		if (l->rules.items[i].rules == rules)
			return true;
	for (uint32_t i = 0; i < rules->n; i++)
		if (!hi_vector_push(&l->rules,
				    ((struct rule_label){&rules->items[i], rules, 0})))
			return false;
	return true;
}

static int by_rule(const void *a, const void *b)
{
	const struct rule_label *x = a, *y = b;

	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

static bool number_rules(struct hi_labels *l, uint32_t *next)
{
	const struct hi_typing *typing = l->typing;
	size_t bytes;

	for (uint32_t t = 1; t < typing->n_types; t++) {
		const struct hi_layout *layout = layout_of_type(typing, t);

		for (uint32_t i = 0; layout && i < layout->n_rule_sites; i++)
			if (!add_rules(l, layout->rule_sites[i].rules))
				return false;
	}
	for (size_t i = 0; i < l->rules.count; i++)
		l->rules.items[i].label = (*next)++;
	bytes = l->rules.count * sizeof(*l->by_rule);
	l->by_rule = hi_alloc(bytes + 1);
	if (!l->by_rule)
		return false;
	if (!l->rules.count)
		return true;
	memcpy(l->by_rule, l->rules.items, bytes);
	qsort(l->by_rule, l->rules.count, sizeof(*l->by_rule), by_rule);
	return true;
}

/* False: too many. */
static bool number_layouts(struct hi_labels *l, bool raw, uint64_t *next)
{
	const struct hi_typing *typing = l->typing;

	for (uint32_t t = 1; t < typing->n_types; t++) {
		const struct hi_layout *layout = layout_of_type(typing, t);

		if (!layout)
			continue;
		l->layouts[t].layout = layout->index;
		*(raw ? &l->layouts[t].raw : &l->layouts[t].slots) = (uint32_t)*next;
		*next += layout->n_slots + raw;
		if (*next > MAX_LABELS)
			return false;
	}
	return true;
}

enum hi_status hi_labels_create(struct hi_typing *typing, struct hi_labels **ret,
				struct hi_error *err)
{
	HI_GUARD(hi_labels_destroy) struct hi_labels *l = hi_calloc(1, sizeof(*l));
	uint64_t next = 1;
	uint32_t rule;

	*ret = NULL;
	if (!l || !(l->layouts = hi_calloc(typing->n_types + 1, sizeof(*l->layouts))))
		return hi_fail_memory(err, "labels");
	l->typing = typing;
	if (!number_layouts(l, false, &next))
		return HI_OK;
	l->first_rule = rule = (uint32_t)next;
	if (!number_rules(l, &rule))
		return hi_fail_memory(err, "labels");
	l->first_raw = rule;
	next = rule;
	if (!number_layouts(l, true, &next))
		return HI_OK;
	l->first_root = (uint32_t)next;
	if (next + typing->root_refs.count > MAX_LABELS)
		return HI_OK;
	l->end = l->first_root + (uint32_t)typing->root_refs.count;
	*ret = hi_take(l);
	return HI_OK;
}

void hi_labels_destroy(struct hi_labels *labels)
{
	if (!labels)
		return;
	free(labels->layouts);
	free(labels->by_rule);
	hi_vector_free(&labels->rules);
	free(labels);
}

void hi_labels_of_layout(const struct hi_labels *labels, const struct hi_layouts *layouts,
			 const struct hi_layout *layout, uint32_t *slots_ret,
			 uint32_t *raw_ret)
{
	uint32_t type = hi_layouts_get(layouts, layout->base)->graph_type;

	*slots_ret = type ? labels->layouts[type].slots : 0;
	*raw_ret = type ? labels->layouts[type].raw : 0;
}

uint32_t hi_labels_of_rule(const struct hi_labels *labels, const struct hi_rule *rule)
{
	const struct rule_label key = {.rule = rule}, *found;

	if (!labels || !labels->rules.count)
		return 0;
	found = bsearch(&key, labels->by_rule, labels->rules.count, sizeof(key), by_rule);
	return found ? found->label : 0;
}

/* ---- as text ---- */

/* "ht_table[]" for a run of words, "v.val" for a single one. */
static const char *field_text(struct hi_typing *typing, hi_type_id type,
			      const struct hi_pointer_slot *slot)
{
	char text[200] = {}, *from, *to;
	struct hi_out out = {text, sizeof(text), 0};

	(void)hi_path_to(&typing->source.types, type, slot->offset, &out);
	from = to = text + (text[0] == '.');
	while (*from) {
		*to++ = *from;
		if (*from++ == '[')
			while (*from >= '0' && *from <= '9')
				from++;
	}
	*to = 0;
	return hi_arena_strdup(&typing->arena, text + (text[0] == '.'));
}

static void label_of_slot(struct hi_labels *l, const struct layout_labels *p,
			  uint32_t index)
{
	struct hi_typing *typing = l->typing;
	const struct hi_layout *layout = hi_layouts_get(typing->layouts, p->layout);

	l->last.owner = layout->name;
	l->last.module = layout->type ? layout->type->module : "";
	if (index >= layout->n_slots || !layout->type)
		l->last.field = "(behind it)";
	else
		l->last.field =
			field_text(typing, layout->type->id, &layout->slots[index]);
}

static void label_of_layout(struct hi_labels *l, uint32_t id)
{
	bool raw = id >= l->first_raw;
	/* The last type whose first label is not above id. */
	uint32_t low =
		hi_search_from(i, 2, l->typing->n_types,
			       (raw ? l->layouts[i].raw : l->layouts[i].slots) <= id) -
		1;

	label_of_slot(l, &l->layouts[low],
		      id - (raw ? l->layouts[low].raw : l->layouts[low].slots));
}

static void label_of_rule(struct hi_labels *l, uint32_t id)
{
	const struct rule_label *r = &l->rules.items[id - l->first_rule];
	const struct hi_type_source *types = &l->typing->source.types;
	const struct hi_type *type = hi_type_source_get(types, r->rules->type);

	l->last = (struct hi_field_label){type->name, r->rule->text, type->module};
}

/* "thread 7 main(): p" of every thread is one field. */
static const char *without_thread(const char *name)
{
	const char *p = name;

	if (strncmp(p, "thread ", 7) != 0)
		return name;
	for (p += 7; *p >= '0' && *p <= '9'; p++)
		;
	return *p == ' ' ? p + 1 : name;
}

static void label_of_root(struct hi_labels *l, uint32_t id)
{
	struct hi_typing *typing = l->typing;
	const struct hi_root_ref *ref = &typing->root_refs.items[id - l->first_root];
	const struct hi_root_info *info = &typing->roots.items[ref->root];
	const struct hi_root_ref *last = l->last_ref;

	if (last && last->root == ref->root && last->slot == ref->slot)
		return;
	l->last.owner = without_thread(info->name ? info->name : "");
	l->last.module = "";
	l->last.field = ref->slot ? field_text(typing, info->type, ref->slot) : "";
	l->last_ref = ref;
}

static void compose_label(struct hi_labels *l, uint32_t id)
{
	if (id >= l->first_root) {
		label_of_root(l, id);
	} else {
		l->last_ref = NULL;
		if (id >= l->first_rule && id < l->first_raw)
			label_of_rule(l, id);
		else
			label_of_layout(l, id);
	}
}

/* ---- the end ---- */

/* Root variables name what no record does. */
static void label_from_roots(struct hi_labels *l)
{
	struct hi_typing *typing = l->typing;
	uint32_t *types = typing->objects->type;

	for (size_t i = 0; i < typing->root_refs.count; i++) {
		hi_node to = typing->root_refs.items[i].to;

		if (types[to] == 0 && !hi_object_is_internal(typing->objects, to))
			types[to] = HI_KEY_LABEL | (l->first_root + (uint32_t)i);
	}
}

enum { STEP = 1 << 12 };

/* Moves *first to the next few objects of which one or more have labels: how many; 0:
 * there are none. */
static hi_node next_labelled(const struct hi_objects *objects, hi_node *first)
{
	while (*first < objects->count) {
		hi_node left = objects->count - *first, n = left < STEP ? left : STEP;

		if (hi_types_have_any(objects->type + *first, n, HI_KEY_LABEL))
			return n;
		*first += n;
	}
	return 0;
}

static void number_labels(struct hi_objects *objects, const uint32_t *dense)
{
	hi_node first = 0, n;

	for (; (n = next_labelled(objects, &first)) > 0; first += n)
		for (hi_node i = first; i < first + n; i++)
			if (objects->type[i] & HI_KEY_LABEL)
				objects->type[i] = hi_field_label_tag(
					dense[objects->type[i] & HI_KEY_LABEL_ID]);
}

/* Those that some object has, counted from 1: *dense by label, texts by number. */
static enum hi_status compose_used(struct hi_labels *l, uint32_t *dense,
				   struct used_labels *texts, struct hi_error *err)
{
	const struct hi_objects *objects = l->typing->objects;
	hi_node first = 0, n;

	for (; (n = next_labelled(objects, &first)) > 0; first += n)
		for (hi_node i = first; i < first + n; i++)
			if (objects->type[i] & HI_KEY_LABEL)
				dense[objects->type[i] & HI_KEY_LABEL_ID] = 1;
	for (uint32_t id = 1; id < l->end; id++) {
		if (!dense[id])
			continue;
		compose_label(l, id);
		if (!hi_vector_push(texts, l->last))
			return hi_fail_memory(err, "labels");
		dense[id] = (uint32_t)texts->count;
	}
	return HI_OK;
}

static const struct hi_field_label *label_by_number(void *arg, uint32_t number)
{
	const struct used_labels *texts = arg;

	return &texts->items[number - 1];
}

enum hi_status hi_labels_apply(struct hi_labels *l, struct hi_graph_builder *b,
			       struct hi_error *err)
{
	struct hi_objects *objects = l->typing->objects;
	HI_GUARD(free) uint32_t *dense = hi_calloc((size_t)l->end + 1, sizeof(*dense));
	struct used_labels texts = {};
	enum hi_status status;

	if (!dense)
		return hi_fail_memory(err, "labels");
	label_from_roots(l);
	status = compose_used(l, dense, &texts, err);
	if (status == HI_OK)
		number_labels(objects, dense);
	if (status == HI_OK)
		status = hi_field_names_apply(objects, b, label_by_number, &texts,
					      (uint32_t)texts.count, err);
	hi_vector_free(&texts);
	return status;
}
