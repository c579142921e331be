/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leak roots: one for each strongly connected component of the unreachable
 * objects that no other unreachable object leads into. Any edge but a weak one
 * counts, whatever its grade: it is better to report a leaked pair as one leak
 * than as two because a pointer was not understood.
 *
 * Shapes. A component of several objects is a cycle. An object that only
 * points to itself is not: a list head that is its own neighbour is an empty
 * list, and would be a leak just the same without. Such an object is single,
 * or a chain if it holds others.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "census/analysis/walk_internal.h"

/* Facts about a component. */
enum { ENTERED = 1, HOLDS = 2, SEEN = 4, SEVERAL = 8 };

struct leak_finder {
	const struct hi_graph *graph;
	uint64_t *unreachable;	/* bits; cleared for objects that an earlier leak root has
				 * counted */
	const uint64_t *likely; /* bits; NULL: none */
	uint32_t *component;
	uint8_t *facts;	   /* per component */
	hi_node *named;	   /* of cycles */
	uint32_t *members; /* of cycles */
	struct hi_leaks *leaks;
	size_t roots_capacity;
};

static uint64_t *unreachable_bits(const struct hi_graph *g, const struct hi_reach *reach)
{
	uint64_t *bits = hi_calloc(1, hi_bits_size(g->n_nodes));

	for (hi_node i = 0; bits && i < g->n_objects; i += 64) {
		hi_node rest = g->n_objects - i;
		uint64_t mask = rest < 64 ? (1ull << rest) - 1 : UINT64_MAX;

		bits[i >> 6] = ~reach->any[i >> 6] & mask;
	}
	return bits;
}

/* The next set bit at or after i; n if there is none. No bit from n on is set. */
static hi_node next_bit(const uint64_t *bits, hi_node i, hi_node n)
{
	for (uint64_t at = i; at < n; at = (at | 63) + 1) {
		uint64_t word = bits[at >> 6] >> (at & 63);

		if (word)
			return (hi_node)at + (hi_node)__builtin_ctzll(word);
	}
	return n;
}

static void note_edges(struct leak_finder *f, hi_node from)
{
	struct hi_edges edges = hi_graph_edges(f->graph, from);
	uint32_t own = f->component[from];

	for (uint32_t e = 0; e < edges.count; e++) {
		hi_node to = edges.to[e];

		if (edges.grade[e] == HI_GRADE_WEAK || !hi_bit(f->unreachable, to) ||
		    f->component[to] == own)
			continue;
		f->facts[own] |= HOLDS;
		f->facts[f->component[to]] |= ENTERED;
	}
}

static void note_facts(struct leak_finder *f)
{
	hi_node n = f->graph->n_objects;

	for (hi_node i = next_bit(f->unreachable, 0, n); i < n;
	     i = next_bit(f->unreachable, i + 1, n)) {
		uint8_t *facts = &f->facts[f->component[i]];

		*facts |= *facts & SEEN ? SEVERAL : SEEN;
		note_edges(f, i);
	}
}

/* ---- what a cycle is called ---- */

/* Types of the program say more than those of libraries and runtimes. */
static bool is_own_type(const struct hi_graph *g, hi_node node)
{
	const char *name = hi_graph_type_name(g, hi_type_of(g, node));
	uint8_t evidence = g->objects->flags[node] & HI_OBJECT_EVIDENCE_MASK;

	if (evidence == HI_EVIDENCE_RUNTIME)
		return strchr(name, '.') != NULL;
	return strncmp(name, "std::", 5) != 0 && strncmp(name, "__gnu_cxx::", 11) != 0;
}

/* Ranks an object by how telling its name is. */
static unsigned rank_of_name(const struct leak_finder *f, hi_node node)
{
	const struct hi_leak_group *group;

	if (hi_type_of(f->graph, node))
		return 16u * is_own_type(f->graph, node) + 3 +
		       (f->graph->objects->flags[node] & HI_OBJECT_EVIDENCE_MASK);
	group = hi_leak_groups_get(f->leaks->groups,
				   hi_leak_groups_find(f->leaks->groups, node));
	return group && (group->like || group->n_fits) ? 2 : group != NULL;
}

static bool is_same_kind(const struct leak_finder *f, hi_node a, hi_node b)
{
	uint32_t type = hi_type_of(f->graph, a);

	return type == hi_type_of(f->graph, b) &&
	       (type || hi_leak_groups_find(f->leaks->groups, a) ==
				hi_leak_groups_find(f->leaks->groups, b));
}

static void name_cycles(struct leak_finder *f)
{
	hi_node n = f->graph->n_objects;

	for (hi_node i = next_bit(f->unreachable, 0, n); i < n;
	     i = next_bit(f->unreachable, i + 1, n)) {
		uint32_t own = f->component[i];

		if (!(f->facts[own] & SEVERAL))
			continue;
		if (f->named[own] == HI_NODE_NONE ||
		    rank_of_name(f, i) > rank_of_name(f, f->named[own]))
			f->named[own] = i;
	}
	for (hi_node i = next_bit(f->unreachable, 0, n); i < n;
	     i = next_bit(f->unreachable, i + 1, n)) {
		uint32_t own = f->component[i];

		if (f->facts[own] & SEVERAL)
			f->members[own] += is_same_kind(f, i, f->named[own]);
	}
}

static enum hi_leak_shape shape_of(uint8_t facts)
{
	if (facts & SEVERAL)
		return HI_LEAK_CYCLE;
	return facts & HOLDS ? HI_LEAK_CHAIN : HI_LEAK_SINGLE;
}

struct leak_count {
	const struct hi_graph *graph;
	uint64_t *unreachable;
	const uint64_t *likely;
	const struct hi_leak_groups *groups;
	struct hi_leak_root *root;
	uint64_t votes;
};

/* Votes for the type or group that more than half of the held objects have, if there is
 * one. */
static void vote_for_held(struct leak_count *c, hi_node node)
{
	uint32_t type = hi_type_of(c->graph, node);
	uint32_t group = type ? 0 : hi_leak_groups_find(c->groups, node);
	const struct hi_leak_group *g = hi_leak_groups_get(c->groups, group);

	if (!type && (!g || (!g->like && !g->n_fits)))
		return;
	if (c->votes && c->root->held_type == type && c->root->held_group == group) {
		c->votes++;
	} else if (c->votes) {
		c->votes--;
	} else {
		c->root->held_type = type;
		c->root->held_group = group;
		c->votes = 1;
	}
}

static void count_leaked_object(struct leak_count *c, hi_node node)
{
	c->unreachable[node >> 6] &= ~(1ull << (node & 63));
	c->root->objects++;
	c->root->bytes += hi_cost_of(c->graph->objects, node);
	if (c->likely && hi_bit(c->likely, node)) {
		c->root->likely_objects++;
		c->root->likely_bytes += hi_cost_of(c->graph->objects, node);
	}
}

HI_INLINE bool take_uncounted(void *arg, hi_node from, hi_node to, uint8_t grade)
{
	struct leak_count *c = arg;

	(void)from;
	if (grade == HI_GRADE_WEAK || !hi_bit(c->unreachable, to))
		return false;
	count_leaked_object(c, to);
	vote_for_held(c, to);
	return true;
}

static bool add_leak_root(struct leak_finder *f, struct hi_walk *walk, hi_node node)
{
	struct hi_leaks *leaks = f->leaks;
	struct leak_count leak_count = {.graph = f->graph,
					.unreachable = f->unreachable,
					.likely = f->likely,
					.groups = leaks->groups};
	uint32_t own = f->component[node];

	if (leaks->n_roots == f->roots_capacity &&
	    !hi_vector_grow((void **)&leaks->roots, &f->roots_capacity,
			    leaks->n_roots + 1, sizeof(*leaks->roots)))
		return false;
	leak_count.root = &leaks->roots[leaks->n_roots++];
	*leak_count.root = (struct hi_leak_root){
		.node = node,
		.named = f->named[own] == HI_NODE_NONE ? node : f->named[own],
		.members = f->members[own] ? f->members[own] : 1,
		.shape = shape_of(f->facts[own]),
		.unreachable_class = f->graph->unreachable_classes
					     ? f->graph->unreachable_classes[node]
					     : HI_UNREACHABLE_NO_CLASS,
		.is_likely = f->likely && hi_bit(f->likely, node)};
	if (!hi_type_of(f->graph, leak_count.root->named))
		leak_count.root->group =
			hi_leak_groups_find(leaks->groups, leak_count.root->named);
	count_leaked_object(&leak_count, node);
	walk->stack[walk->depth++] = node;
	hi_walk_run(walk, take_uncounted, &leak_count);
	leaks->objects += leak_count.root->objects;
	leaks->bytes += leak_count.root->bytes;
	leaks->likely_objects += leak_count.root->likely_objects;
	leaks->likely_bytes += leak_count.root->likely_bytes;
	leaks->n_likely_roots += leak_count.root->is_likely;
	leaks->by_class[leak_count.root->unreachable_class] +=
		leak_count.root->bytes - leak_count.root->likely_bytes;
	return true;
}

/*
 * In address order: objects that a leak root counts are no longer unreachable for the
 * later ones. The first member of a component that is found is its lowest one. It was not
 * counted before, because no edge leads into the component.
 */
static bool add_roots(struct leak_finder *f)
{
	hi_node n = f->graph->n_objects;
	struct hi_walk walk;
	bool ok = hi_walk_init(&walk, f->graph);

	for (hi_node i = next_bit(f->unreachable, 0, n); ok && i < n;
	     i = next_bit(f->unreachable, i + 1, n))
		if (!(f->facts[f->component[i]] & ENTERED))
			ok = add_leak_root(f, &walk, i);
	hi_walk_deinit(&walk);
	return ok;
}

/* ---- rows ---- */

static int compare_leak_roots(const void *a, const void *b)
{
	const struct hi_leak_root *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int by_row_bytes(const void *a, const void *b)
{
	const struct hi_leak_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->shape != y->shape)
		return (int)x->shape - (int)y->shape;
	if (x->unreachable_class != y->unreachable_class)
		return (int)x->unreachable_class - (int)y->unreachable_class;
	return (int)x->is_likely - (int)y->is_likely;
}

struct leak_row_key {
	uint32_t type, group, kind; /* shape, class and verdict */
	size_t root;		    /* index */
};

static int compare_row_keys(const void *a, const void *b)
{
	const struct leak_row_key *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->root < y->root ? -1 : x->root > y->root;
}

static struct leak_row_key key_of_root(const struct hi_graph *g,
				       const struct hi_leaks *leaks, size_t i)
{
	const struct hi_leak_root *root = &leaks->roots[i];

	return (struct leak_row_key){.type = hi_type_of(g, root->named),
				     .group = root->group,
				     .kind = (uint32_t)root->unreachable_class << 8 |
					     (uint32_t)root->is_likely << 4 |
					     (uint32_t)root->shape,
				     .root = i};
}

static bool is_same_row(const struct leak_row_key *a, const struct leak_row_key *b)
{
	return a->type == b->type && a->group == b->group && a->kind == b->kind;
}

static void begin_row(struct hi_leak_row *row, uint32_t type,
		      const struct hi_leak_root *root)
{
	*row = (struct hi_leak_row){.type = type,
				    .group = root->group,
				    .shape = root->shape,
				    .unreachable_class = root->unreachable_class,
				    .is_likely = root->is_likely,
				    .example = root->node,
				    .named = root->named,
				    .least_members = root->members,
				    .held_type = root->held_type,
				    .held_group = root->held_group};
}

static void add_root_to_row(struct hi_leak_row *row, const struct hi_leak_root *root)
{
	row->count++;
	row->objects += root->objects;
	row->bytes += root->bytes;
	if (root->members < row->least_members)
		row->least_members = root->members;
	if (root->members > row->most_members)
		row->most_members = root->members;
}

/* Roots are sorted: the first of a row is the one that holds most. */
static bool make_leak_rows(const struct hi_graph *g, struct hi_leaks *leaks)
{
	size_t n = leaks->n_roots, kept = 0;
	HI_GUARD(free) struct leak_row_key *keys = hi_calloc(n + 1, sizeof(*keys));

	if (!keys)
		return false;
	for (size_t i = 0; i < n; i++)
		keys[i] = key_of_root(g, leaks, i);
	qsort(keys, n, sizeof(*keys), compare_row_keys);
	for (size_t i = 0; i < n; i++)
		kept += i == 0 || !is_same_row(&keys[i], &keys[i - 1]);
	leaks->rows = hi_calloc(kept + 1, sizeof(*leaks->rows));
	if (!leaks->rows)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct hi_leak_root *root = &leaks->roots[keys[i].root];

		if (i == 0 || !is_same_row(&keys[i], &keys[i - 1]))
			begin_row(&leaks->rows[leaks->n_rows++], keys[i].type, root);
		add_root_to_row(&leaks->rows[leaks->n_rows - 1], root);
	}
	qsort(leaks->rows, kept, sizeof(*leaks->rows), by_row_bytes);
	return true;
}

static bool find_leak_roots(struct leak_finder *f)
{
	note_facts(f);
	name_cycles(f);
	if (!add_roots(f))
		return false;
	if (f->leaks->n_roots)
		qsort(f->leaks->roots, f->leaks->n_roots, sizeof(*f->leaks->roots),
		      compare_leak_roots);
	return make_leak_rows(f->graph, f->leaks);
}

static bool create_facts(struct leak_finder *f, uint32_t count)
{
	f->facts = hi_calloc(count, 1);
	f->named = hi_alloc((count + 1ul) * sizeof(*f->named));
	f->members = hi_calloc(count + 1ul, sizeof(*f->members));
	if (!f->facts || !f->named || !f->members)
		return false;
	memset(f->named, 0xff, (count + 1ul) * sizeof(*f->named));
	return true;
}

enum hi_status hi_leaks_compute(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_leak_groups *groups,
				struct hi_leaks **ret, struct hi_error *err)
{
	HI_GUARD(hi_leaks_destroy) struct hi_leaks *leaks = hi_calloc(1, sizeof(*leaks));
	HI_GUARD(free) uint64_t *bits = NULL;
	HI_GUARD(hi_scc_destroy) struct hi_scc *scc = NULL;
	struct leak_finder f = {.graph = g, .leaks = leaks};
	enum hi_status status;

	if (!leaks)
		return hi_fail_memory(err, "leaks");
	leaks->groups = groups;
	if (reach->leak_objects == 0) {
		*ret = hi_take(leaks);
		return HI_OK;
	}
	f.unreachable = bits = unreachable_bits(g, reach);
	if (!bits)
		return hi_fail_memory(err, "leaks");
	status = hi_scc_compute(g, bits, &scc, err);
	if (status != HI_OK)
		return status;
	f.component = scc->component;
	f.likely = reach->likely;
	if (!create_facts(&f, scc->count) || !find_leak_roots(&f))
		status = hi_fail_memory(err, "leaks");
	free(f.facts);
	free(f.named);
	free(f.members);
	if (status != HI_OK)
		return status;
	*ret = hi_take(leaks);
	return HI_OK;
}

void hi_leaks_destroy(struct hi_leaks *leaks)
{
	if (!leaks)
		return;
	free(leaks->roots);
	free(leaks->rows);
	free(leaks);
}
