/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/cycle_edges.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "census/analysis/cycle_part.h"
#include "census/analysis/walk_internal.h"

enum {
	MAX_MEMBERS = 1 << 20, /* of cycles that are looked at */
	MAX_ARCS = 1 << 23,
	NO_ITEM = UINT32_MAX,
};

/* States of a component, beside the number of an item. */
enum { STATE_OPEN, STATE_STAYS, STATE_ITEMS };

struct kept_closer {
	uint32_t component;
	bool is_root; /* of a leak root */
	struct hi_cycle_closer closer;
};

struct cycle_finder {
	const struct hi_graph *graph;
	const struct hi_leaks *leaks;
	struct hi_scc *scc;
	uint64_t *leaked; /* bits */
	uint32_t *size;	  /* per component */
	uint32_t *state;  /* per component */
	uint32_t *local;  /* per object: its index in the part, plus 1 */
	struct hi_cycle_fields fields;
	struct hi_cycle_part part;
	uint64_t members, arcs; /* so far */
	struct HI_VECTOR(struct kept_closer) closers;
	struct HI_VECTOR(struct hi_cycle_edge) items;
	struct hi_cycle_edges *edges;
	/* To find what falls: */
	uint64_t *falls, *stays;
	struct HI_VECTOR(hi_node) stack, stops;
};

/* ---- components ---- */

static bool is_leaked_edge(const struct cycle_finder *f, const struct hi_edges *edges,
			   uint32_t e)
{
	return edges->grade[e] != HI_GRADE_WEAK &&
	       hi_graph_is_object(f->graph, edges->to[e]) &&
	       hi_bit(f->leaked, edges->to[e]);
}

static bool add_part_member(struct cycle_finder *f, hi_node node)
{
	if (f->local[node])
		return true;
	f->local[node] = (uint32_t)f->part.members.count + 1;
	return hi_vector_push(&f->part.members, node);
}

static bool add_arcs(struct cycle_finder *f, hi_node from, const char *const *texts)
{
	struct hi_edges edges = hi_graph_edges(f->graph, from);
	bool ok = true;

	for (uint32_t e = 0; e < edges.count && ok; e++) {
		hi_node to = edges.to[e];
		struct hi_cycle_arc arc = {
			.from = f->local[from] - 1, .from_object = from, .to_object = to};

		if (!is_leaked_edge(f, &edges, e) || to == from ||
		    f->scc->component[to] != f->scc->component[from])
			continue;
		arc.field = hi_cycle_field_take(&f->fields, from, to, edges.grade[e],
						texts[e], &ok);
		ok = ok && add_part_member(f, to);
		arc.to = f->local[to] - 1;
		ok = ok && hi_vector_push(&f->part.arcs, arc);
	}
	return ok;
}

/* The members that the first one leads to, and so all. */
static enum hi_status read_part(struct cycle_finder *f, hi_node first,
				const struct hi_field_reader *reader,
				struct hi_error *err)
{
	bool ok;

	f->part.members.count = f->part.arcs.count = 0;
	ok = add_part_member(f, first);
	for (size_t i = 0; i < f->part.members.count && ok; i++) {
		hi_node node = f->part.members.items[i];
		uint32_t n = hi_graph_edges(f->graph, node).count;
		enum hi_status status;

		if (!hi_vector_reserve(&f->fields.texts, n + 1))
			return hi_fail_memory(err, "cycles of leaks");
		status = reader->read(reader->arg, node, f->fields.texts.items, err);
		if (status != HI_OK)
			return status;
		ok = add_arcs(f, node, f->fields.texts.items);
	}
	f->members += f->part.members.count;
	f->arcs += f->part.arcs.count;
	return ok ? HI_OK : hi_fail_memory(err, "cycles of leaks");
}

static enum hi_status solve_part(struct cycle_finder *f, hi_node first, bool is_root,
				 const struct hi_field_reader *reader,
				 struct hi_error *err)
{
	uint32_t component = f->scc->component[first];
	enum hi_status status = read_part(f, first, reader, err);

	if (status != HI_OK)
		return status;
	if (!hi_cycle_part_solve(&f->part))
		return hi_fail_memory(err, "cycles of leaks");
	/* One of links alone is a container. */
	f->state[component] = f->part.n_nodes > 1 ? STATE_STAYS : STATE_OPEN;
	f->edges->cycles += is_root && f->part.n_nodes > 1;
	for (uint32_t i = 0; i < f->part.n_closers; i++)
		if (!hi_vector_push(&f->closers,
				    ((struct kept_closer){component, is_root,
							  f->part.closers[i]})))
			return hi_fail_memory(err, "cycles of leaks");
	return HI_OK;
}

/* The leak roots first: there may be too many objects for all. */
static enum hi_status solve_parts(struct cycle_finder *f,
				  const struct hi_field_reader *reader,
				  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (hi_node i = 0; i < f->graph->n_objects; i++)
		if (hi_bit(f->leaked, i) && f->size[f->scc->component[i]]++ == 1)
			f->state[f->scc->component[i]] = STATE_STAYS;
	for (size_t i = 0; i < f->leaks->n_roots && status == HI_OK; i++) {
		const struct hi_leak_root *root = &f->leaks->roots[i];

		if (root->shape != HI_LEAK_CYCLE)
			continue;
		if (f->members >= MAX_MEMBERS || f->arcs >= MAX_ARCS) {
			f->edges->is_partial = true;
			f->edges->cycles++;
			continue;
		}
		status = solve_part(f, root->node, true, reader, err);
	}
	for (hi_node i = 0; i < f->graph->n_objects && status == HI_OK; i++)
		if (hi_bit(f->leaked, i) && !f->local[i] &&
		    f->size[f->scc->component[i]] > 1 && f->members < MAX_MEMBERS &&
		    f->arcs < MAX_ARCS)
			status = solve_part(f, i, false, reader, err);
	return status;
}

/* ---- the choice ---- */

/* Is the member called after what owns the object, or what is before it? */
static bool is_named_back(const char *pattern)
{
	static const char *const words[] = {"parent", "owner",	"prev",
					    "back",   "outer",	"super",
					    "upper",  "enclos", "container"};
	char name[64];
	size_t n = 0;

	for (; *pattern && n + 1 < sizeof(name); pattern++)
		name[n++] = (char)tolower((unsigned char)*pattern);
	name[n] = 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(name, words[i]))
			return true;
	return n >= 3 &&
	       (strcmp(name + n - 3, ">up") == 0 || strcmp(name + n - 3, ".up") == 0);
}

static int order_flags(bool a, bool b)
{
	return (int)b - (int)a;
}

/* Below 0: a is preferred. */
static int compare_fields(const struct cycle_finder *f, uint32_t a, uint32_t b)
{
	const struct hi_cycle_field *x = &f->fields.all.items[a];
	const struct hi_cycle_field *y = &f->fields.all.items[b];
	uint64_t x_in = x->edges * (y->targets ? y->targets : 1);
	uint64_t y_in = y->edges * (x->targets ? x->targets : 1);
	int order = order_flags(x->type != 0, y->type != 0);

	if (!order)
		order = order_flags(!strchr(x->pattern, '['), !strchr(y->pattern, '['));
	if (!order)
		order = order_flags(x->pointer != HI_CYCLE_PLAIN,
				    y->pointer != HI_CYCLE_PLAIN);
	if (!order)
		order = order_flags(is_named_back(x->pattern), is_named_back(y->pattern));
	if (!order)
		order = order_flags(x_in > y_in, y_in > x_in);
	if (!order)
		order = order_flags(x->cycles > y->cycles, y->cycles > x->cycles);
	if (!order)
		order = strcmp(hi_graph_type_name(f->graph, x->type),
			       hi_graph_type_name(f->graph, y->type));
	return order ? order : strcmp(x->pattern, y->pattern);
}

/* The item of a field; a new one for its first component. */
static uint32_t take_item(struct cycle_finder *f, const struct hi_cycle_closer *c)
{
	struct hi_cycle_field *field = &f->fields.all.items[c->field];
	const struct hi_cycle_field *back = &f->fields.all.items[c->back];
	struct hi_cycle_edge item = {
		.type = field->type,
		.field = hi_arena_strdup(&f->edges->arena, field->pattern),
		.back_type = back->type,
		.back_field = hi_arena_strdup(&f->edges->arena, back->pattern),
		.pointer = field->pointer,
		.from = c->from,
		.to = c->to};

	if (field->item != NO_ITEM)
		return field->item;
	if (!item.field || !item.back_field || !hi_vector_push(&f->items, item))
		return NO_ITEM;
	field->item = (uint32_t)f->items.count - 1;
	return field->item;
}

/* Closers of one component are in a row. */
static bool choose_closers(struct cycle_finder *f)
{
	for (size_t i = 0; i < f->fields.all.count; i++)
		f->fields.all.items[i].item = NO_ITEM;
	for (size_t i = 0, end; i < f->closers.count; i = end) {
		const struct kept_closer *best = &f->closers.items[i];
		uint32_t item;

		for (end = i + 1; end < f->closers.count &&
				  f->closers.items[end].component == best->component;
		     end++)
			if (compare_fields(f, f->closers.items[end].closer.field,
					   best->closer.field) < 0)
				best = &f->closers.items[end];
		item = take_item(f, &best->closer);
		if (item == NO_ITEM)
			return false;
		f->state[best->component] = STATE_ITEMS + item;
		f->items.items[item].cycles += best->is_root;
	}
	return true;
}

/* ---- objects that fall ---- */

/* Marks what the stack leads to. item: not beyond cycles that stay without it, which are
 * put aside; NO_ITEM: all. */
static bool mark_from_stack(struct cycle_finder *f, uint64_t *bits, uint32_t item)
{
	bool ok = true;

	while (f->stack.count && ok) {
		hi_node node = f->stack.items[--f->stack.count];
		struct hi_edges edges = hi_graph_edges(f->graph, node);
		uint32_t state = f->state[f->scc->component[node]];

		if (item != NO_ITEM && state != STATE_OPEN &&
		    state != STATE_ITEMS + item) {
			ok = hi_vector_push(&f->stops, node);
			continue;
		}
		for (uint32_t e = 0; e < edges.count && ok; e++)
			if (is_leaked_edge(f, &edges, e) &&
			    hi_bit_take(bits, edges.to[e]))
				ok = hi_vector_push(&f->stack, edges.to[e]);
	}
	return ok;
}

static bool push_marked(struct cycle_finder *f, uint64_t *bits, hi_node node)
{
	return !hi_bit_take(bits, node) || hi_vector_push(&f->stack, node);
}

static bool count_fallen(struct cycle_finder *f, uint32_t item)
{
	struct hi_cycle_edge *edge = &f->items.items[item];
	size_t bytes = hi_bits_size(f->graph->n_objects);
	bool ok = true;

	memset(f->falls, 0, bytes);
	memset(f->stays, 0, bytes);
	f->stack.count = f->stops.count = 0;
	for (size_t i = 0; i < f->leaks->n_roots && ok; i++)
		if (f->state[f->scc->component[f->leaks->roots[i].node]] ==
		    STATE_ITEMS + item)
			ok = push_marked(f, f->falls, f->leaks->roots[i].node);
	ok = ok && mark_from_stack(f, f->falls, item);
	for (size_t i = 0; i < f->leaks->n_roots && ok; i++)
		if (f->state[f->scc->component[f->leaks->roots[i].node]] !=
		    STATE_ITEMS + item)
			ok = push_marked(f, f->stays, f->leaks->roots[i].node);
	for (size_t i = 0; i < f->stops.count && ok; i++)
		ok = push_marked(f, f->stays, f->stops.items[i]);
	ok = ok && mark_from_stack(f, f->stays, NO_ITEM);
	for (hi_node i = 0; i < f->graph->n_objects && ok; i++)
		if (hi_bit(f->falls, i) && !hi_bit(f->stays, i)) {
			edge->objects++;
			edge->bytes += hi_cost_of(f->graph->objects, i);
		}
	return ok;
}

/* ---- all ---- */

static int by_cycles(const void *a, const void *b)
{
	const struct hi_cycle_edge *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return strcmp(x->field, y->field);
}

/* Fields without a type say nothing; so many, and no more, are measured. */
static bool keep_items(struct cycle_finder *f)
{
	struct hi_cycle_edges *edges = f->edges;
	uint64_t closed = 0;

	edges->items = hi_calloc(f->items.count + 1, sizeof(*edges->items));
	if (!edges->items)
		return false;
	for (uint32_t i = 0; i < f->items.count; i++) {
		const struct hi_cycle_edge *item = &f->items.items[i];

		if (!item->type || !item->cycles || edges->count == HI_CYCLE_EDGES)
			continue;
		if (!count_fallen(f, i))
			return false;
		edges->items[edges->count++] = *item;
		closed += item->cycles;
	}
	qsort(edges->items, edges->count, sizeof(*edges->items), by_cycles);
	edges->unclosed = edges->cycles - closed;
	return true;
}

static bool prepare_finder(struct cycle_finder *f, const struct hi_reach *reach)
{
	hi_node n = f->graph->n_objects, all = f->graph->n_nodes;

	/* Components are those of all nodes; roots are in none. */
	f->leaked = hi_calloc(1, hi_bits_size(all) + 1);
	f->falls = hi_calloc(1, hi_bits_size(all) + 1);
	f->stays = hi_calloc(1, hi_bits_size(all) + 1);
	f->local = hi_calloc(all + 1ul, sizeof(*f->local));
	if (!f->leaked || !f->falls || !f->stays || !f->local)
		return false;
	for (hi_node i = 0; i < n; i++)
		if (!hi_bit(reach->any, i))
			hi_bit_set(f->leaked, i);
	return hi_cycle_fields_init(&f->fields, f->graph);
}

static enum hi_status find_cycle_edges(struct cycle_finder *f,
				       const struct hi_reach *reach,
				       const struct hi_field_reader *fields,
				       struct hi_error *err)
{
	enum hi_status status;

	if (!prepare_finder(f, reach))
		return hi_fail_memory(err, "cycles of leaks");
	f->part.fields = &f->fields;
	status = hi_scc_compute(f->graph, f->leaked, &f->scc, err);
	if (status != HI_OK)
		return status;
	f->size = hi_calloc(f->scc->count + 1ul, sizeof(*f->size));
	f->state = hi_calloc(f->scc->count + 1ul, sizeof(*f->state));
	if (!f->size || !f->state)
		return hi_fail_memory(err, "cycles of leaks");
	status = solve_parts(f, fields, err);
	if (status != HI_OK)
		return status;
	return choose_closers(f) && keep_items(f)
		       ? HI_OK
		       : hi_fail_memory(err, "cycles of leaks");
}

static void free_cycle_finder(struct cycle_finder *f)
{
	hi_scc_destroy(f->scc);
	hi_cycle_fields_free(&f->fields);
	hi_cycle_part_free(&f->part);
	hi_vector_free(&f->closers);
	hi_vector_free(&f->items);
	hi_vector_free(&f->stack);
	hi_vector_free(&f->stops);
	free(f->leaked);
	free(f->falls);
	free(f->stays);
	free(f->local);
	free(f->size);
	free(f->state);
}

enum hi_status hi_cycle_edges_find(const struct hi_graph *g, const struct hi_reach *reach,
				   const struct hi_leaks *leaks,
				   const struct hi_field_reader *fields,
				   struct hi_cycle_edges **ret, struct hi_error *err)
{
	HI_GUARD(hi_cycle_edges_destroy)
	struct hi_cycle_edges *edges = hi_calloc(1, sizeof(*edges));
	struct cycle_finder f = {.graph = g, .leaks = leaks, .edges = edges};
	enum hi_status status = HI_OK;
	bool has_cycle = false;

	if (!edges)
		return hi_fail_memory(err, "cycles of leaks");
	for (size_t i = 0; i < leaks->n_roots && !has_cycle; i++)
		has_cycle = leaks->roots[i].shape == HI_LEAK_CYCLE;
	if (has_cycle && fields->read)
		status = find_cycle_edges(&f, reach, fields, err);
	free_cycle_finder(&f);
	if (status == HI_OK)
		*ret = hi_take(edges);
	return status;
}

void hi_cycle_edges_destroy(struct hi_cycle_edges *edges)
{
	if (!edges)
		return;
	free(edges->items);
	hi_arena_free(&edges->arena);
	free(edges);
}
