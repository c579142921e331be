/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/tagged_unions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/describe/field_targets.h"
#include "decode/inference/typing_state.h"
#include "decode/inference/extent.h"
#include "decode/layouts/layout.h"

enum { CASES_MAX = 64, ALIKE_LEAST = 3, PLAIN_NAME = 64, ELEMENTS_CHECKED = 1 << 20 };

struct union_search {
	struct hi_typing *typing;
	struct hi_types *types;
	const struct hi_graph *graph;
	struct hi_arena *arena;
	struct hi_tagged_union **by_type; /* of the graph; NULL: none */
	size_t n;
	bool no_memory;
};

/* ---- names that are alike ---- */

/* What all enumerators begin with, up to the last '_' in it: "VALUE_". */
static size_t common_prefix(const struct hi_enumerator *e, size_t n)
{
	size_t same = n > 1 ? strlen(e[0].name) : 0;

	for (size_t i = 1; i < n; i++) {
		size_t k = 0;

		while (k < same && e[i].name[k] == e[0].name[k])
			k++;
		same = k;
	}
	while (same && e[0].name[same - 1] != '_')
		same--;
	return same;
}

/* Small letters and digits alone. */
static size_t make_plain(const char *name, char out[PLAIN_NAME])
{
	size_t n = 0;

	for (; *name && n + 1 < PLAIN_NAME; name++)
		if (isalnum((unsigned char)*name))
			out[n++] = (char)tolower((unsigned char)*name);
	out[n] = 0;
	return n;
}

/* 2: equal, 1: one begins with the other, 0: neither. */
static unsigned likeness_of_names(const char *enumerator, const char *member)
{
	char a[PLAIN_NAME], b[PLAIN_NAME];
	size_t n = make_plain(enumerator, a), m = make_plain(member, b);
	size_t least = n < m ? n : m;

	if (n && strcmp(a, b) == 0)
		return 2;
	return least >= ALIKE_LEAST && strncmp(a, b, least) == 0;
}

/* ---- one record ---- */

static const char *bare_name(const char *type)
{
	static const char *const words[] = {"struct ", "class ", "union "};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(type, words[i], strlen(words[i])) == 0)
			return type + strlen(words[i]);
	return type;
}

/* What a member of the union is, as the target of a hint. NULL: more than a word. */
static const char *target_of_member(struct union_search *s, const struct hi_member *m,
				    uint64_t *size_ret)
{
	const struct hi_type *type = hi_type_get(s->types, m->type), *to;
	const char *blob;

	*size_ret = 0;
	if (type->kind == HI_KIND_INTEGER || type->kind == HI_KIND_FLOAT ||
	    type->kind == HI_KIND_CHAR)
		return "scalar";
	if (type->kind != HI_KIND_POINTER || m->offset)
		return NULL;
	to = hi_type_get(s->types, type->target);
	if (to->kind == HI_KIND_FUNCTION)
		return "scalar";
	if (to->kind == HI_KIND_STRUCT && *to->name && to->size) {
		*size_ret = to->size;
		return bare_name(to->name);
	}
	if (to->kind != HI_KIND_CHAR && to->kind != HI_KIND_INTEGER &&
	    to->kind != HI_KIND_FLOAT)
		return "any";
	blob = hi_arena_printf(s->arena, "blob %s", *m->name ? m->name : "bytes");
	s->no_memory |= !blob;
	return blob;
}

static struct hi_tagged_case case_of(struct union_search *s, const struct hi_type *u,
				     const struct hi_enumerator *e, size_t prefix)
{
	struct hi_tagged_case c = {.enumerator = e->name, .value = e->value};
	const struct hi_member *best = NULL;
	unsigned likeness = 0;

	for (uint32_t i = 0; i < u->n_members; i++) {
		unsigned now = likeness_of_names(e->name + prefix, u->members[i].name);

		if (now > likeness) {
			likeness = now;
			best = &u->members[i];
		}
	}
	if (best)
		c.target = target_of_member(s, best, &c.record_size);
	return c;
}

/* The first pointer: the word that the hint is about. */
static const struct hi_member *first_pointer(struct union_search *s,
					     const struct hi_type *u)
{
	for (uint32_t i = 0; i < u->n_members; i++)
		if (hi_type_get(s->types, u->members[i].type)->kind == HI_KIND_POINTER &&
		    u->members[i].offset == 0 && *u->members[i].name)
			return &u->members[i];
	return NULL;
}

static const char *word_of(struct union_search *s, const struct hi_member *of,
			   const struct hi_member *pointer)
{
	const char *word =
		*of->name ? hi_arena_printf(s->arena, "%s.%s", of->name, pointer->name)
			  : pointer->name;

	s->no_memory |= !word;
	return word;
}

static bool has_a_pointer(const struct hi_tagged_union *u)
{
	for (size_t i = 0; i < u->n_cases; i++)
		if (u->cases[i].target && strcmp(u->cases[i].target, "scalar") != 0)
			return true;
	return false;
}

static void take_tagged_union(struct union_search *s, uint32_t type,
			      const struct hi_member *m, const struct hi_member *tag,
			      const struct hi_enumerator *e, size_t n)
{
	const struct hi_type *u = hi_type_get(s->types, m->type);
	const struct hi_member *pointer = first_pointer(s, u);
	struct hi_tagged_union *ret = hi_arena_alloc(s->arena, sizeof(*ret));
	struct hi_tagged_case *cases = hi_arena_alloc(s->arena, n * sizeof(*cases));
	size_t prefix = common_prefix(e, n);

	s->no_memory |= !ret || !cases;
	if (s->no_memory || !pointer)
		return;
	for (size_t i = 0; i < n; i++)
		cases[i] = case_of(s, u, &e[i], prefix);
	*ret = (struct hi_tagged_union){.type = type,
					.record = hi_graph_type_name(s->graph, type),
					.word = word_of(s, m, pointer),
					.tag = tag->name,
					.cases = cases,
					.n_cases = n,
					.word_offset = m->offset,
					.tag_offset = tag->offset,
					.tag_size =
						hi_type_get(s->types, tag->type)->size};
	if (!has_a_pointer(ret))
		return;
	s->by_type[type] = ret;
	s->n++;
}

/* The first union with pointers, and the enumeration before or behind it. */
static void look_at_record(struct union_search *s, uint32_t type)
{
	const struct hi_type *record =
		hi_type_get(s->types, hi_typing_type_id(s->typing, type));
	struct hi_enumerator e[CASES_MAX];

	if (record->kind != HI_KIND_STRUCT)
		return;
	for (uint32_t i = 0; i < record->n_members && !s->by_type[type]; i++) {
		const struct hi_member *m = &record->members[i];

		if (hi_type_get(s->types, m->type)->kind != HI_KIND_UNION)
			continue;
		for (uint32_t k = 0; k < record->n_members && !s->by_type[type]; k++) {
			const struct hi_member *tag = &record->members[k];
			const struct hi_type *t = hi_type_get(s->types, tag->type);
			size_t n;

			if (t->kind != HI_KIND_INTEGER || tag->bit_size || !*tag->name ||
			    t->size > 8)
				continue;
			n = hi_type_enumerators(s->types, tag->type, e, CASES_MAX);
			if (n)
				take_tagged_union(s, type, m, tag, e, n);
		}
	}
}

/* ---- what the heap says ---- */

bool hi_tagged_case_holds(const struct hi_tagged_case *c)
{
	return c->target && c->fits >= c->misfits;
}

static bool fits_target(const struct union_search *s, const struct hi_tagged_case *c,
			uint64_t word)
{
	const struct hi_objects *objects = s->graph->objects;
	uint64_t offset = 0;
	hi_node to = hi_objects_find(objects, word, &offset);

	if (strcmp(c->target, "scalar") == 0)
		return to == HI_NODE_NONE;
	if (to == HI_NODE_NONE || offset)
		return false;
	return !c->record_size || hi_fit_is(&s->typing->layouts->sizes, c->record_size,
					    hi_objects_usable(objects, to));
}

static void check_element(const struct union_search *s, struct hi_tagged_union *u,
			  uint64_t address)
{
	struct hi_memory *memory = s->typing->image->memory;
	uint64_t tag = 0, word = 0;
	struct hi_error ignored;
	uint64_t mask = u->tag_size < 8 ? (1ull << 8 * u->tag_size) - 1 : UINT64_MAX;

	if (hi_memory_read(memory, address + u->tag_offset, &tag, u->tag_size,
			   &ignored) != HI_OK ||
	    hi_memory_read(memory, address + u->word_offset, &word, sizeof(word),
			   &ignored) != HI_OK)
		return;
	for (size_t i = 0; i < u->n_cases; i++) {
		struct hi_tagged_case *c = &u->cases[i];

		if (((uint64_t)c->value & mask) != tag)
			continue;
		if (word && c->target && fits_target(s, c, word))
			c->fits++;
		else if (word && c->target)
			c->misfits++;
		return;
	}
	u->unknown++;
}

/* Do records of the size fill the block, but for what malloc adds? */
static bool is_full_of_records(const struct hi_block_sizes *sizes,
			       const struct hi_graph *g, hi_node node, uint64_t size)
{
	uint64_t usable = hi_objects_usable(g->objects, node);

	return usable >= size && hi_fit_is(sizes, usable / size * size, usable);
}

static void check_object(const struct union_search *s, hi_node node, uint64_t *left)
{
	const struct hi_graph *g = s->graph;
	uint32_t type = g->objects->type[node];
	struct hi_extent extent = hi_typing_extent(s->typing, g, node);
	uint64_t at = hi_objects_address(g->objects, node) + extent.start + extent.lead;
	uint64_t end = hi_objects_address(g->objects, node) + extent.end;
	uint64_t size = g->types[type].size;

	/* A pointer to one may lead to many. */
	if (size && !extent.is_counted &&
	    is_full_of_records(&s->typing->layouts->sizes, g, node, size))
		end = hi_objects_address(g->objects, node) +
		      hi_objects_usable(g->objects, node);
	for (; size && at + size <= end && *left; at += size, --*left)
		check_element(s, s->by_type[type], at);
}

static void check_heap(const struct union_search *s, const struct hi_reach *reach)
{
	const struct hi_graph *g = s->graph;
	uint64_t left = ELEMENTS_CHECKED;

	for (hi_node i = 0; i < g->n_objects && left; i++)
		if (hi_bit(reach->any, i) && g->objects->type[i] < g->n_types &&
		    s->by_type[g->objects->type[i]])
			check_object(s, i, &left);
}

/* ---- all ---- */

static void look_at_types(struct union_search *s, const struct hi_reach *reach,
			  bool *seen)
{
	const struct hi_graph *g = s->graph;

	for (hi_node i = 0; i < g->n_objects && !s->no_memory; i++) {
		uint32_t type = g->objects->type[i];

		if (!type || type >= g->n_types || seen[type] || !hi_bit(reach->any, i))
			continue;
		seen[type] = true;
		look_at_record(s, type);
	}
}

enum hi_status hi_tagged_unions_find(struct hi_typing *typing, struct hi_types *types,
				     const struct hi_graph *graph,
				     const struct hi_reach *reach, struct hi_arena *arena,
				     struct hi_tagged_unions *ret, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_tagged_union **by_type =
		hi_calloc((size_t)graph->n_types + 1, sizeof(*by_type));
	HI_GUARD(free) bool *seen = hi_calloc((size_t)graph->n_types + 1, sizeof(*seen));
	struct union_search s = {.typing = typing,
				 .types = types,
				 .graph = graph,
				 .arena = arena,
				 .by_type = by_type};

	*ret = (struct hi_tagged_unions){};
	if (!by_type || !seen)
		return hi_fail_memory(err, "tagged unions");
	look_at_types(&s, reach, seen);
	ret->items = s.no_memory ? NULL
				 : hi_arena_alloc(arena, (s.n + 1) * sizeof(*ret->items));
	if (!ret->items)
		return hi_fail_memory(err, "tagged unions");
	check_heap(&s, reach);
	for (uint32_t i = 0; i < graph->n_types; i++)
		if (by_type[i])
			ret->items[ret->n++] = *by_type[i];
	return HI_OK;
}
