/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/census_by.h"

#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/search.h"
#include "base/text.h"
#include "base/vector.h"
#include "census/analysis/owned_parts.h"
#include "census/analysis/type_namespace.h"
#include "census/analysis/walk_internal.h"

const char *const hi_by_words[HI_BY_COUNT] = {HI_BY_WORDS};

enum { NO_ROW = UINT32_MAX };

/* Maps an object to the row that counts it. */
struct grouping {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	enum hi_by by;
	const bool *only;
	struct hi_arena *strings;
	struct HI_VECTOR(struct hi_by_row) rows;
	uint32_t *
		row_of; /* MODULE, NAMESPACE, OWNER: by type; SIZE: by size class, row + 1 */
	hi_node *owners;      /* OWNER: by object; itself where it is no part */
	uint64_t *with_parts; /* OWNER: by object: bytes, so far */
	uint32_t *slots;      /* TYPE2: rows + 1 by the hash of their key, 0 empty */
	size_t n_slots;	      /* a power of two, never fuller than half */
	bool failed;	      /* out of memory */
};

static bool is_object_in_grouping(const struct grouping *gr, hi_node i)
{
	hi_node counted = gr->owners ? gr->owners[i] : i;

	return hi_bit(gr->reach->any, i) && !hi_is_internal(gr->graph, i) &&
	       (!gr->only || gr->only[hi_type_of(gr->graph, counted)]);
}

/* ---- by type and the types of the children ---- */

/* Keeps the first ones in order; a type that finds no room is more. */
static void add_child_type(struct hi_by_row *key, uint32_t type)
{
	uint32_t n = key->n_children, at = 0;

	while (at < n && key->children[at] < type)
		at++;
	if (at < n && key->children[at] == type)
		return;
	if (n == HI_BY_CHILDREN) {
		key->more = true;
		if (at == n)
			return;
		n--;
	}
	memmove(key->children + at + 1, key->children + at,
		(n - at) * sizeof(*key->children));
	key->children[at] = type;
	key->n_children = n + 1;
}

static struct hi_by_row key_of_children(const struct hi_graph *g, hi_node i)
{
	struct hi_by_row key = {.sum.type = hi_type_of(g, i)};
	struct hi_edges edges = hi_graph_edges(g, i);

	for (uint32_t e = 0; e < edges.count; e++)
		if (hi_grade_is_precise(edges.grade[e]) &&
		    !hi_is_internal(g, edges.to[e]))
			add_child_type(&key, hi_type_of(g, edges.to[e]));
	return key;
}

static uint64_t hash_of(const struct hi_by_row *key)
{
	uint64_t hash = key->sum.type + 1 + ((uint64_t)key->more << 32);

	for (uint32_t i = 0; i < key->n_children; i++)
		hash = (hash ^ (key->children[i] + 1)) * 0x9e3779b97f4a7c15;
	hash *= 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static bool same_key(const struct hi_by_row *a, const struct hi_by_row *b)
{
	return a->sum.type == b->sum.type && a->n_children == b->n_children &&
	       a->more == b->more &&
	       memcmp(a->children, b->children, a->n_children * sizeof(*a->children)) ==
		       0;
}

/* The slot that has this key, or the empty one where it belongs. */
static uint32_t *find_group_slot(const struct grouping *gr, const struct hi_by_row *key)
{
	size_t n = hi_probe(i, gr->n_slots, hash_of(key),
			    !gr->slots[i] ||
				    same_key(&gr->rows.items[gr->slots[i] - 1], key));

	return &gr->slots[n];
}

static bool grow_group_slots(struct grouping *gr)
{
	size_t n = gr->n_slots ? 2 * gr->n_slots : 256;
	uint32_t *slots = hi_calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	free(gr->slots);
	gr->slots = slots;
	gr->n_slots = n;
	for (size_t i = 0; i < gr->rows.count; i++)
		*find_group_slot(gr, &gr->rows.items[i]) = (uint32_t)i + 1;
	return true;
}

static uint32_t row_by_children(struct grouping *gr, hi_node i)
{
	struct hi_by_row key = key_of_children(gr->graph, i);
	uint32_t *slot;

	if (2 * (gr->rows.count + 1) > gr->n_slots && !grow_group_slots(gr)) {
		gr->failed = true;
		return NO_ROW;
	}
	slot = find_group_slot(gr, &key);
	if (!*slot) {
		if (!hi_vector_push(&gr->rows, key)) {
			gr->failed = true;
			return NO_ROW;
		}
		*slot = (uint32_t)gr->rows.count;
	}
	return *slot - 1;
}

static const char *name_of_type_or_untyped(const struct hi_graph *g, uint32_t type)
{
	const char *name = g->types[type].name;

	return name && *name ? name : "(untyped)";
}

static bool name_by_children(struct grouping *gr, struct hi_by_row *row)
{
	const char *text = "";

	for (uint32_t i = 0; i < row->n_children && text; i++)
		text = hi_arena_printf(
			gr->strings, "%s%s%s", text, i ? ", " : "",
			name_of_type_or_untyped(gr->graph, row->children[i]));
	if (!text)
		return false;
	row->name = row->n_children ? hi_arena_printf(gr->strings, "%s {%s%s}",
						      name_of_type_or_untyped(
							      gr->graph, row->sum.type),
						      text, row->more ? ", …" : "")
				    : name_of_type_or_untyped(gr->graph, row->sum.type);
	return row->name;
}

/* ---- by module, by namespace ---- */

/* The text that a type has as its key. */
struct keyed_type {
	const char *key;
	uint32_t type;
};

static int compare_keyed_types(const void *a, const void *b)
{
	const struct keyed_type *x = a, *y = b;

	return strcmp(x->key, y->key);
}

/* NULL: out of memory. */
static const char *key_of_type(struct grouping *gr, uint32_t type)
{
	const struct hi_type_name *t = &gr->graph->types[type];
	size_t length = 0;
	const char *at;

	if (gr->by == HI_BY_MODULE)
		return hi_text_or_empty(t->module);
	at = hi_type_namespace(t->name, &length);
	return length ? hi_arena_printf(gr->strings, "%.*s", (int)hi_min(length, INT_MAX),
					at)
		      : "";
}

/* Types of one key have one row. */
static bool number_keys_of_types(struct grouping *gr)
{
	const struct hi_graph *g = gr->graph;
	HI_GUARD(free)
	struct keyed_type *types = hi_calloc(g->n_types + 1, sizeof(*types));

	gr->row_of = hi_calloc(g->n_types + 1, sizeof(*gr->row_of));
	if (!types || !gr->row_of)
		return false;
	for (uint32_t i = 0; i < g->n_types; i++) {
		types[i] = (struct keyed_type){key_of_type(gr, i), i};
		if (!types[i].key)
			return false;
	}
	qsort(types, g->n_types, sizeof(*types), compare_keyed_types);
	for (uint32_t i = 0; i < g->n_types; i++) {
		struct hi_by_row row = {.name = types[i].key};

		if ((!i || compare_keyed_types(&types[i - 1], &types[i]) != 0) &&
		    !hi_vector_push(&gr->rows, row))
			return false;
		gr->row_of[types[i].type] = (uint32_t)gr->rows.count - 1;
	}
	return true;
}

/* ---- by class ---- */

static bool make_classes(struct grouping *gr)
{
	for (unsigned i = 0; i < HI_TYPE_CLASSES; i++) {
		struct hi_by_row row = {
			.name = hi_type_class_name((enum hi_type_class)i)};

		if (!hi_vector_push(&gr->rows, row))
			return false;
	}
	return true;
}

static uint32_t row_by_class(const struct hi_graph *g, hi_node i)
{
	enum hi_type_class klass = g->types[hi_type_of(g, i)].klass;

	if ((unsigned)klass >= HI_TYPE_CLASSES)
		return HI_TYPE_UNKNOWN;
	if (g->objects->flags[i] & HI_OBJECT_ARRAY &&
	    (klass == HI_TYPE_RECORD || klass == HI_TYPE_SCALAR))
		return HI_TYPE_ARRAY;
	return klass;
}

/* ---- by size ---- */

enum { SIZE_CLASSES = HI_BY_SIZE_EXACT + 65 };

static uint64_t size_of_class(uint64_t usable)
{
	if (usable <= HI_BY_SIZE_EXACT)
		return usable;
	return usable > 1ull << 63 ? UINT64_MAX
				   : 1ull << (64 - __builtin_clzll(usable - 1));
}

static unsigned number_of_class(uint64_t size)
{
	return size <= HI_BY_SIZE_EXACT
		       ? (unsigned)size
		       : HI_BY_SIZE_EXACT + 64 - (unsigned)__builtin_clzll(size - 1);
}

static uint32_t row_by_size(struct grouping *gr, hi_node i)
{
	uint64_t size = size_of_class(hi_objects_usable(gr->graph->objects, i));
	uint32_t *row = &gr->row_of[number_of_class(size)];

	if (!*row) {
		if (!hi_vector_push(&gr->rows, (struct hi_by_row){.size = size})) {
			gr->failed = true;
			return NO_ROW;
		}
		*row = (uint32_t)gr->rows.count;
	}
	return *row - 1;
}

/* The frequent ones of a sequence in a few counters: where all are taken, each loses one
 * (Misra and Gries). */
static void count_lead(struct hi_by_row *row, uint64_t key)
{
	struct hi_by_lead *empty = NULL;

	row->edges++;
	for (unsigned i = 0; i < HI_BY_LEADS; i++) {
		if (row->leads[i].edges && row->leads[i].key == key) {
			row->leads[i].edges++;
			return;
		}
		if (!row->leads[i].edges)
			empty = &row->leads[i];
	}
	if (empty)
		*empty = (struct hi_by_lead){key, 1};
	else
		for (unsigned i = 0; i < HI_BY_LEADS; i++)
			row->leads[i].edges--;
}

/* Not only the name of a field that leads to it. */
static bool has_real_type(const struct hi_graph *g, hi_node i)
{
	uint32_t type = hi_type_of(g, i);

	return type && g->types[type].klass != HI_TYPE_FIELD;
}

static void count_leads_of(struct grouping *gr, hi_node i)
{
	const struct hi_graph *g = gr->graph;
	struct hi_edges edges = hi_graph_edges(g, i);
	uint32_t at = edges.count ? row_by_size(gr, i) : NO_ROW;

	for (uint32_t e = 0; e < edges.count && at != NO_ROW; e++) {
		hi_node to = edges.to[e];

		if (!hi_graph_is_object(g, to) || hi_is_internal(g, to))
			continue;
		count_lead(&gr->rows.items[at],
			   has_real_type(g, to)
				   ? hi_type_of(g, to)
				   : HI_BY_SIZE_KEY | size_of_class(hi_objects_usable(
							      g->objects, to)));
	}
}

static int compare_leads(const void *a, const void *b)
{
	const struct hi_by_lead *x = a, *y = b;

	if (x->edges != y->edges)
		return x->edges > y->edges ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void add_leads(struct grouping *gr)
{
	for (hi_node i = 0; i < gr->graph->n_objects; i++)
		if (is_object_in_grouping(gr, i))
			count_leads_of(gr, i);
	for (size_t i = 0; i < gr->rows.count; i++)
		qsort(gr->rows.items[i].leads, HI_BY_LEADS, sizeof(struct hi_by_lead),
		      compare_leads);
}

static bool name_by_size(struct grouping *gr, struct hi_by_row *row)
{
	char text[24];

	row->name = hi_arena_printf(gr->strings, "%s%s",
				    row->size > HI_BY_SIZE_EXACT ? "to " : "",
				    hi_text_bytes(text, row->size));
	return row->name;
}

/* ---- by owner ---- */

static bool number_types(struct grouping *gr)
{
	const struct hi_graph *g = gr->graph;

	gr->row_of = hi_calloc(g->n_types + 1, sizeof(*gr->row_of));
	gr->owners = hi_part_owners(g, gr->reach);
	gr->with_parts = hi_calloc((size_t)g->n_objects + 1, sizeof(*gr->with_parts));
	if (!gr->row_of || !gr->owners || !gr->with_parts)
		return false;
	for (uint32_t i = 0; i < g->n_types; i++) {
		struct hi_by_row row = {.sum.type = i,
					.name = hi_text_or_empty(g->types[i].name)};

		if (!hi_vector_push(&gr->rows, row))
			return false;
		gr->row_of[i] = i;
	}
	return true;
}

/* ---- counting ---- */

static uint32_t find_group_row(struct grouping *gr, hi_node i)
{
	if (gr->by == HI_BY_TYPE2)
		return row_by_children(gr, i);
	if (gr->by == HI_BY_MODULE || gr->by == HI_BY_NAMESPACE)
		return gr->row_of[hi_type_of(gr->graph, i)];
	if (gr->by == HI_BY_SIZE)
		return row_by_size(gr, i);
	if (gr->by == HI_BY_OWNER)
		return gr->row_of[hi_type_of(gr->graph, gr->owners[i])];
	return row_by_class(gr->graph, i);
}

static void count_object_in_group(struct grouping *gr, hi_node i, uint64_t cost)
{
	unsigned evidence = gr->graph->objects->flags[i] & HI_OBJECT_EVIDENCE_MASK;
	uint32_t at = find_group_row(gr, i);
	struct hi_census_row *row;

	if (at == NO_ROW)
		return;
	row = &gr->rows.items[at].sum;
	row->count += gr->by != HI_BY_OWNER || gr->owners[i] == i;
	row->shallow += cost;
	row->by_evidence[evidence <= HI_EVIDENCE_RUNTIME ? evidence : 0] += cost;
	if (gr->by == HI_BY_OWNER)
		cost = gr->with_parts[gr->owners[i]] += cost;
	if (cost > row->largest)
		row->largest = cost;
}

/* seen: types of objects that were not selected, a bit each. */
static void count_objects_by_group(struct grouping *gr, struct hi_by_census *census,
				   uint64_t *seen)
{
	const struct hi_graph *g = gr->graph;

	for (hi_node i = 0; i < g->n_objects && !gr->failed; i++) {
		uint64_t cost;

		if (!hi_bit(gr->reach->any, i) || hi_is_internal(g, i))
			continue;
		cost = hi_cost_of(g->objects, i);
		census->objects++;
		census->bytes += cost;
		if (is_object_in_grouping(gr, i)) {
			count_object_in_group(gr, i, cost);
			continue;
		}
		census->other_bytes += cost;
		census->other_types += hi_bit_take(seen, hi_type_of(g, i));
	}
}

/* As in census.c: what the topmost objects of a row retain. */
static bool add_retained_by_group(struct grouping *gr, const struct hi_dominators *d)
{
	HI_GUARD(free) hi_node *until = hi_calloc(gr->rows.count + 1, sizeof(*until));

	for (hi_node i = 0; until && i < d->n_order; i++) {
		hi_node node = d->order[i];
		uint32_t row;

		if (!hi_graph_is_object(gr->graph, node) ||
		    !is_object_in_grouping(gr, node))
			continue;
		row = find_group_row(gr, node);
		if (i < until[row])
			continue;
		until[row] = i + d->span[i];
		gr->rows.items[row].sum.retained += d->retained[node];
	}
	return until;
}

static int compare_group_rows(const void *a, const void *b)
{
	const struct hi_by_row *x = a, *y = b;
	int order;

	if (x->sum.shallow != y->sum.shallow)
		return x->sum.shallow > y->sum.shallow ? -1 : 1;
	order = strcmp(x->name, y->name);
	if (order == 0)
		order = memcmp(x->children, y->children, sizeof(x->children));
	return order ? order : x->sum.type < y->sum.type ? -1 : x->sum.type > y->sum.type;
}

/* Rows that occur, named and sorted. */
static bool keep_group_rows(struct grouping *gr, bool retained,
			    struct hi_by_census *census)
{
	size_t n = 0;

	for (size_t i = 0; i < gr->rows.count; i++) {
		struct hi_by_row row = gr->rows.items[i];

		if (!row.sum.count && !row.sum.shallow)
			continue;
		if ((gr->by == HI_BY_TYPE2 && !name_by_children(gr, &row)) ||
		    (gr->by == HI_BY_SIZE && !name_by_size(gr, &row)))
			return false;
		if (!retained)
			row.sum.retained = UINT64_MAX;
		gr->rows.items[n++] = row;
	}
	if (n > 1)
		qsort(gr->rows.items, n, sizeof(*gr->rows.items), compare_group_rows);
	census->rows = hi_take(gr->rows.items);
	census->n_rows = n;
	return true;
}

static bool break_down(struct grouping *gr, const struct hi_dominators *d,
		       struct hi_by_census *census)
{
	HI_GUARD(free) uint64_t *seen = hi_calloc(1, hi_bits_size(gr->graph->n_types));
	bool retained = d && gr->by != HI_BY_TYPE2;

	bool by_key = gr->by == HI_BY_MODULE || gr->by == HI_BY_NAMESPACE;

	if (!seen || (by_key && !number_keys_of_types(gr)) ||
	    (gr->by == HI_BY_OWNER && !number_types(gr)) ||
	    (gr->by == HI_BY_CLASS && !make_classes(gr)) ||
	    (gr->by == HI_BY_SIZE &&
	     !(gr->row_of = hi_calloc(SIZE_CLASSES, sizeof(*gr->row_of)))))
		return false;
	count_objects_by_group(gr, census, seen);
	if (gr->by == HI_BY_SIZE)
		add_leads(gr);
	if (gr->failed || (retained && !add_retained_by_group(gr, d)))
		return false;
	return keep_group_rows(gr, retained, census);
}

enum hi_status hi_census_break_down(const struct hi_graph *g,
				    const struct hi_reach *reach,
				    const struct hi_dominators *dominators, enum hi_by by,
				    const bool *only, struct hi_by_census **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_by_census_destroy)
	struct hi_by_census *census = hi_calloc(1, sizeof(*census));
	struct grouping gr = {.graph = g, .reach = reach, .by = by, .only = only};
	bool ok;

	if (!census)
		return hi_fail_memory(err, "census");
	census->by = by;
	gr.strings = &census->strings;
	ok = break_down(&gr, dominators, census);
	hi_vector_free(&gr.rows);
	free(gr.row_of);
	free(gr.owners);
	free(gr.with_parts);
	free(gr.slots);
	if (!ok)
		return hi_fail_memory(err, "census");
	*ret = hi_take(census);
	return HI_OK;
}

void hi_by_census_destroy(struct hi_by_census *census)
{
	if (!census)
		return;
	free(census->rows);
	hi_arena_free(&census->strings);
	free(census);
}
