/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/field_leaves.h"

#include <string.h>

#include "base/alloc.h"
#include "decode/describe/container_value.h"

enum { MAX_LEAVES = 4096, MAX_ITEMS = 1 << 16, MAX_DEPTH = 32, LONGEST_PATH = 512 };

bool hi_field_is_text_array(struct hi_typing *typing, const struct hi_type *type)
{
	return type->kind == HI_KIND_ARRAY &&
	       hi_type_source_get(&typing->source.types, type->target)->kind ==
		       HI_KIND_CHAR;
}

/* A base or member without members of its own has nothing to show: an allocator, say. */
static bool is_empty_record(const struct hi_type *type)
{
	return type->kind == HI_KIND_STRUCT && !type->n_members;
}

static void push_leaf(struct hi_field_leaves *l, struct hi_field_leaf leaf)
{
	if (l->nodes.count < MAX_ITEMS &&
	    (!hi_vector_push(&l->nodes, leaf) ||
	     !hi_vector_push(&l->todo, (uint32_t)l->nodes.count - 1)))
		l->no_memory = true;
}

/* Members in reverse, so that the first is taken next. */
static void push_members(struct hi_field_leaves *l, const struct hi_type *type,
			 uint32_t parent, uint64_t base)
{
	for (uint32_t i = type->n_members; i-- > 0;) {
		const struct hi_member *m = &type->members[i];

		push_leaf(l, (struct hi_field_leaf){.offset = base + m->offset,
						    .type = m->type,
						    .parent = parent + 1,
						    .name = m->name ? m->name : "",
						    .is_bits = m->bit_size != 0,
						    .is_base = m->is_base});
	}
}

/* Raw storage is what a rule says that it is. */
static const struct hi_type *type_of_leaf(struct hi_field_leaves *l,
					  struct hi_field_leaf *leaf)
{
	const struct hi_type_source *types = &l->typing->source.types;
	const struct hi_type *type = hi_type_source_get(types, leaf->type);
	const struct hi_rules *rules =
		types->rules.rules && type->kind == HI_KIND_STRUCT
			? types->rules.rules(types->rules.arg, type->id)
			: NULL;

	if (!rules || !rules->same_as || !hi_type_source_get(types, rules->same_as)->size)
		return type;
	leaf->type = rules->same_as;
	return hi_type_source_get(types, leaf->type);
}

static void visit_field_type(struct hi_field_leaves *l, uint32_t node)
{
	const struct hi_type *type = type_of_leaf(l, &l->nodes.items[node]);
	struct hi_field_leaf at = l->nodes.items[node];
	uint64_t n = type->count < MAX_LEAVES ? type->count : MAX_LEAVES, size;

	at.is_shown = !at.is_bits && type->kind == HI_KIND_STRUCT &&
		      hi_container_is_shown(l->typing, type->id);
	l->nodes.items[node].is_shown = at.is_shown;
	if (type->n_members && !at.is_bits && !at.is_shown) {
		push_members(l, type, node, at.offset);
	} else if (type->kind == HI_KIND_ARRAY &&
		   !hi_field_is_text_array(l->typing, type)) {
		size = hi_type_source_get(&l->typing->source.types, type->target)->size;
		while (size && n-- > 0)
			push_leaf(l,
				  (struct hi_field_leaf){.offset = at.offset + n * size,
							 .type = type->target,
							 .parent = node + 1,
							 .index = n});
	} else if (!(at.parent && is_empty_record(type)) &&
		   !hi_vector_push(&l->done, node)) {
		l->no_memory = true;
	}
}

bool hi_field_leaves_read(struct hi_field_leaves *l, hi_type_id type)
{
	push_leaf(l, (struct hi_field_leaf){.type = type, .name = ""});
	while (l->todo.count && !l->no_memory && l->done.count < MAX_LEAVES)
		visit_field_type(l, l->todo.items[--l->todo.count]);
	return !l->no_memory;
}

void hi_field_leaves_free(struct hi_field_leaves *l)
{
	hi_vector_free(&l->nodes);
	hi_vector_free(&l->todo);
	hi_vector_free(&l->done);
}

/* ---- names ---- */

static bool is_library_name(const struct hi_field_leaves *l, const char *name)
{
	const struct hi_rule_source *rules = &l->typing->source.types.rules;

	return rules->hides && rules->hides(rules->arg, name);
}

/* "ht_table[0]": from the whole down to the leaf; is_plain: without names that a library
 * keeps for itself. */
static void write_leaf_path(const struct hi_field_leaves *l, size_t i, bool is_plain,
			    struct hi_out *out)
{
	const struct hi_field_leaf *way[MAX_DEPTH];
	const struct hi_field_leaf *leaf = &l->nodes.items[l->done.items[i]];
	unsigned n = 0;

	for (; leaf->parent && n < MAX_DEPTH; leaf = &l->nodes.items[leaf->parent - 1])
		way[n++] = leaf;
	while (n-- > 0) {
		if (!way[n]->name) {
			hi_out_add(out, "[%llu]", (unsigned long long)way[n]->index);
		} else if (*way[n]->name && !way[n]->is_base &&
			   !(is_plain && is_library_name(l, way[n]->name))) {
			if (out->length)
				hi_out_add(out, ".");
			hi_out_escaped(out, way[n]->name);
		}
	}
}

/* Is the plain path of leaf i this one (is_same), or one below it? */
static bool is_path_of_leaf(const struct hi_field_leaves *l, size_t i, const char *text,
			    bool is_same)
{
	char other[LONGEST_PATH] = "";
	struct hi_out out = {.text = other, .size = sizeof(other)};
	size_t n = strlen(text);

	write_leaf_path(l, i, true, &out);
	return strncmp(other, text, n) == 0 &&
	       (other[n] ? other[n] == '.' || other[n] == '[' : is_same);
}

void hi_field_leaves_path(const struct hi_field_leaves *l, size_t i, struct hi_out *out)
{
	char plain[LONGEST_PATH] = "";
	struct hi_out path = {.text = plain, .size = sizeof(plain)};

	write_leaf_path(l, i, true, &path);
	/* Leaves of one member follow each other, and the first of them has its name. */
	if (!*plain || (i && is_path_of_leaf(l, i - 1, plain, true)) ||
	    (i + 1 < l->done.count && is_path_of_leaf(l, i + 1, plain, false)))
		write_leaf_path(l, i, false, out);
	else if (out->length && *plain != '[')
		hi_out_add(out, ".%s", plain);
	else
		hi_out_add(out, "%s", plain);
}
