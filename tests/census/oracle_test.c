/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that is computed from a graph, against brute force on thousands
 * of small random ones: reachability by repetition, components by mutual
 * reachability, dominators by taking a node away, ways by trying all of them.
 * The brute force works on the lists from which the graph was built.
 */
#include <stdlib.h>

#include "census/analysis/nearest_holder.h"
#include "census/analysis/root_keys.h"
#include "tests/census/naive.h"

/* ---- comparisons ---- */

static void check_reach(const struct naive *n, const struct hi_reach *r)
{
	uint64_t internal = 0, objects = BIT(n->n_objects) - 1, live, exact, leak;
	size_t extra = 0;

	for (hi_node i = 0; i < n->n_nodes; i++) {
		HI_ASSERT_EQ(HAS(n->any, i), hi_bit(r->any, i));
		HI_ASSERT_EQ(HAS(n->exact, i), hi_bit(r->exact, i));
		if (is_internal(n, i))
			internal |= BIT(i);
		if (HAS(n->extra, i))
			HI_ASSERT_EQ(i, r->internal_roots[extra++]);
	}
	HI_ASSERT_EQ(extra, r->n_internal_roots);
	live = n->any & objects & ~internal;
	exact = n->exact & objects & ~internal;
	leak = objects & ~n->any & ~internal;
	HI_ASSERT_EQ(__builtin_popcountll(live), r->live_objects);
	HI_ASSERT_EQ(set_cost(n, live, false), r->live_bytes);
	HI_ASSERT_EQ(__builtin_popcountll(exact), r->exact_objects);
	HI_ASSERT_EQ(set_cost(n, exact, false), r->exact_bytes);
	HI_ASSERT_EQ(__builtin_popcountll(leak), r->leak_objects);
	HI_ASSERT_EQ(set_cost(n, leak, false), r->leak_bytes);
	HI_ASSERT_EQ(__builtin_popcountll(internal), r->internal_objects);
	HI_ASSERT_EQ(set_cost(n, internal, true), r->internal_bytes);
}

static void check_order(const struct naive *n, const struct hi_dominators *d)
{
	HI_ASSERT_EQ(__builtin_popcountll(n->any), d->n_order);
	for (hi_node at = 0; at < d->n_order; at++) {
		uint64_t subtree = n->dominated[d->order[at]];

		HI_ASSERT_EQ(__builtin_popcountll(subtree), d->span[at]);
		/* A subtree is the piece of the order that starts at its top. */
		for (int k = 0; k < __builtin_popcountll(subtree); k++)
			HI_ASSERT(HAS(subtree, d->order[at + (hi_node)k]));
	}
}

static void check_dominators(const struct naive *n, const struct hi_dominators *d)
{
	for (hi_node v = 0; v < n->n_nodes; v++) {
		hi_node idom = HAS(n->any, v) ? naive_idom(n, v) : HI_NODE_NONE;

		HI_ASSERT_EQ(idom, d->idom[v]);
		HI_ASSERT_EQ(set_cost(n, n->dominated[v], false), d->retained[v]);
	}
	check_order(n, d);
}

/* By the root variable that dominates a node; of none, `several`. */
static void check_root_keys(const struct naive *n, const struct hi_graph *g,
			    const struct hi_reach *r, const struct hi_dominators *d)
{
	enum { SEVERAL = 90 };
	uint32_t of_root[MAX_ROOTS], keys[MAX_NODES], same[MAX_NODES] = {};
	struct hi_error err;

	for (uint32_t i = 0; i < MAX_ROOTS; i++)
		of_root[i] = 70 + i / 2; /* some have one name */
	memset(keys, 0xff, sizeof(keys));
	HI_ASSERT_OK(hi_root_keys_find(g, r, of_root, SEVERAL, keys, &err), &err);
	hi_dominators_root_keys(g, d, of_root, SEVERAL, same);
	for (hi_node v = 0; v < n->n_nodes; v++) {
		uint32_t key = HAS(n->any, v) ? SEVERAL : 0;

		for (uint32_t i = 0; i < n->n_roots && HAS(n->any, v); i++)
			if (HAS(n->dominated[n->n_objects + i], v))
				key = of_root[i];
		HI_ASSERT_EQ(key, keys[v]);
		HI_ASSERT_EQ(key, same[v]);
	}
}

static void check_scc(const struct naive *n, const struct hi_graph *g, uint64_t within)
{
	struct hi_error err;
	OWN(scc) *scc = NULL;
	uint64_t bits = within, ways[MAX_NODES], used = 0;

	HI_ASSERT_OK(hi_scc_compute(g, within == BIT(n->n_nodes) - 1 ? NULL : &bits, &scc,
				    &err),
		     &err);
	for (hi_node i = 0; i < n->n_nodes; i++) {
		ways[i] = closure(n, BIT(i) & within, HI_GRADE_CONSERVATIVE, ~within);
		if (!HAS(within, i)) {
			HI_ASSERT_EQ(UINT32_MAX, scc->component[i]);
			continue;
		}
		HI_ASSERT(scc->component[i] < scc->count);
		used |= BIT(scc->component[i]);
	}
	HI_ASSERT_EQ(BIT(scc->count) - 1, used);
	for (hi_node i = 0; i < n->n_nodes; i++)
		for (hi_node k = 0; k < n->n_nodes; k++) {
			if (!HAS(within, i) || !HAS(within, k))
				continue;
			HI_ASSERT_EQ(HAS(ways[i], k) && HAS(ways[k], i),
				     scc->component[i] == scc->component[k]);
			if (HAS(ways[i], k))
				HI_ASSERT(scc->component[i] >= scc->component[k]);
		}
}

static uint64_t leaked(const struct naive *n)
{
	uint64_t set = 0;

	for (hi_node i = 0; i < n->n_objects; i++)
		if (!HAS(n->any, i) && !is_internal(n, i))
			set |= BIT(i);
	return set;
}

/* Leak roots in address order. */
static size_t naive_leaks(const struct naive *n, struct hi_leak_root *roots)
{
	uint64_t set = leaked(n), rest = set, ways[MAX_NODES];
	size_t count = 0;

	for (hi_node i = 0; i < n->n_objects; i++)
		ways[i] = closure(n, BIT(i) & set, HI_GRADE_CONSERVATIVE, ~set);
	for (hi_node i = 0; i < n->n_objects; i++) {
		uint64_t own = 0, into = 0;

		if (!HAS(set, i))
			continue;
		for (hi_node k = 0; k < n->n_objects; k++) {
			if (HAS(set, k) && HAS(ways[k], i))
				into |= BIT(k);
			if (HAS(set, k) && HAS(ways[k], i) && HAS(ways[i], k))
				own |= BIT(k);
		}
		if (into != own || (own & (BIT(i) - 1)))
			continue;
		roots[count++] = (struct hi_leak_root){
			.node = i,
			.shape = own != BIT(i)	     ? HI_LEAK_CYCLE
				 : ways[i] != BIT(i) ? HI_LEAK_CHAIN
						     : HI_LEAK_SINGLE,
			.objects = (uint64_t)__builtin_popcountll(ways[i] & rest),
			.bytes = set_cost(n, ways[i] & rest, false),
		};
		rest &= ~ways[i];
	}
	HI_ASSERT_EQ(0, rest);
	return count;
}

static void check_leak_rows(const struct naive *n, const struct hi_leaks *leaks)
{
	uint64_t count = 0, bytes = 0;

	for (size_t i = 0; i < leaks->n_rows; i++) {
		const struct hi_leak_row *row = &leaks->rows[i];
		struct hi_leak_row sum = {};
		uint64_t most = 0;

		for (size_t k = 0; k < leaks->n_roots; k++) {
			const struct hi_leak_root *root = &leaks->roots[k];

			HI_ASSERT(root->named == root->node ||
				  root->shape == HI_LEAK_CYCLE);
			if (n->objects[root->named].type != row->type ||
			    root->shape != row->shape)
				continue;
			sum.count++;
			sum.objects += root->objects;
			sum.bytes += root->bytes;
			most = root->bytes > most ? root->bytes : most;
			if (root->node == row->example)
				HI_ASSERT(root->bytes >= most);
		}
		HI_ASSERT_EQ(sum.count, row->count);
		HI_ASSERT_EQ(sum.objects, row->objects);
		HI_ASSERT_EQ(sum.bytes, row->bytes);
		HI_ASSERT(!i || leaks->rows[i - 1].bytes >= row->bytes);
		count += sum.count;
		bytes += sum.bytes;
	}
	HI_ASSERT_EQ(leaks->n_roots, count);
	HI_ASSERT_EQ(leaks->bytes, bytes);
}

static void check_leaks(const struct naive *n, const struct hi_graph *g,
			const struct hi_reach *r)
{
	struct hi_leak_root truth[MAX_OBJECTS];
	size_t count = naive_leaks(n, truth), matched = 0;
	OWN(leaks) *leaks = leaks_of(g, r);

	HI_ASSERT_EQ(count, leaks->n_roots);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			const struct hi_leak_root *a = &truth[i], *b = &leaks->roots[k];

			if (a->node != b->node)
				continue;
			matched++;
			HI_ASSERT_EQ(a->shape, b->shape);
			HI_ASSERT_EQ(a->objects, b->objects);
			HI_ASSERT_EQ(a->bytes, b->bytes);
			HI_ASSERT(!k || leaks->roots[k - 1].bytes >= b->bytes);
		}
	HI_ASSERT_EQ(count, matched);
	HI_ASSERT_EQ(r->leak_objects, leaks->objects);
	HI_ASSERT_EQ(r->leak_bytes, leaks->bytes);
	check_leak_rows(n, leaks);
}

static bool counts_for(const struct naive *n, hi_node i, uint32_t type)
{
	return is_object(n, i) && HAS(n->any, i) && !is_internal(n, i) &&
	       n->objects[i].type == type;
}

static void naive_census_row(const struct naive *n, uint32_t type,
			     struct hi_census_row *row)
{
	*row = (struct hi_census_row){.type = type};
	for (hi_node i = 0; i < n->n_objects; i++) {
		unsigned evidence = n->objects[i].flags & HI_OBJECT_EVIDENCE_MASK;
		bool top = true;

		if (!counts_for(n, i, type))
			continue;
		row->count++;
		row->shallow += cost_of(n, i);
		row->largest =
			cost_of(n, i) > row->largest ? cost_of(n, i) : row->largest;
		row->by_evidence[evidence <= 6 ? evidence : 0] += cost_of(n, i);
		for (hi_node k = 0; k < n->n_objects; k++)
			if (k != i && counts_for(n, k, type) && HAS(n->dominated[k], i))
				top = false;
		if (top)
			row->retained += set_cost(n, n->dominated[i], false);
	}
}

static void check_retained_by_type(const struct naive *n, const struct hi_graph *g,
				   const struct hi_reach *r, uint32_t type,
				   uint64_t lower_bound)
{
	uint64_t gone = 0, bytes = 0;
	struct hi_error err;

	for (hi_node i = 0; i < n->n_objects; i++)
		if (n->objects[i].type == type)
			gone |= BIT(i);
	HI_ASSERT_OK(hi_census_retained_by_type(g, r, type, &bytes, &err), &err);
	HI_ASSERT_EQ(set_cost(n, n->any & ~flow(n, gone), false), bytes);
	HI_ASSERT(bytes >= lower_bound);
}

static void check_census(const struct naive *n, const struct hi_graph *g,
			 const struct hi_reach *r, const struct hi_dominators *d)
{
	struct hi_error err;
	size_t rows = 0;
	OWN(census) *c = NULL;

	HI_ASSERT_OK(hi_census_by_type(g, r, d, &c, &err), &err);
	for (uint32_t type = 0; type < TYPES; type++) {
		struct hi_census_row truth;

		naive_census_row(n, type, &truth);
		if (!d)
			truth.retained = 0;
		else
			check_retained_by_type(n, g, r, type, truth.retained);
		for (size_t k = 0; k < c->n_rows; k++) {
			if (c->rows[k].type != type)
				continue;
			rows++;
			HI_ASSERT(memcmp(&truth, &c->rows[k], sizeof(truth)) == 0);
		}
		HI_ASSERT(truth.count == 0 || rows);
	}
	HI_ASSERT_EQ(rows, c->n_rows);
	HI_ASSERT_EQ(r->live_objects, c->objects);
	HI_ASSERT_EQ(r->live_bytes, c->bytes);
	HI_ASSERT_EQ(c->bytes, c->exact_bytes + c->inferred_bytes + c->untyped_bytes);
	for (size_t k = 1; k < c->n_rows; k++)
		HI_ASSERT(c->rows[k - 1].shallow >= c->rows[k].shallow);
}

static void check_referrers(const struct naive *n, const struct hi_graph *g)
{
	hi_node node = random_below(&random_state, n->n_objects);
	size_t max = random_below(&random_state, 5), total = 0;
	struct hi_error err;
	OWN(referrers) *r = NULL;

	HI_ASSERT_OK(hi_referrers_find(g, node, max, 2, &r, &err), &err);
	for (uint32_t e = 0; e < n->n_edges; e++)
		total += n->edges[e].to == node;
	HI_ASSERT_EQ(total, r->total);
	HI_ASSERT_EQ(total < max ? total : max, r->count);
	for (size_t i = 0; i < r->count; i++) {
		bool found = false;

		for (uint32_t e = 0; e < n->n_edges; e++)
			found |= n->edges[e].to == node &&
				 n->edges[e].from == r->from[i] &&
				 n->edges[e].grade == r->grade[i];
		HI_ASSERT(found);
		HI_ASSERT(!i || r->from[i - 1] <= r->from[i]);
	}
}

/* ---- suspects, by their definition; without names of edges ---- */

struct naive_suspect {
	hi_node at;
	uint64_t members; /* bit per node */
	uint64_t count, bytes;
};
struct naive_suspects {
	uint64_t least;
	const uint32_t *nearest; /* by node: index of a root */
	uint64_t blamed; /* roots of the program: no words that may be left over */
	struct naive_suspect found[MAX_NODES];
	size_t count;
};

static uint64_t held_by_node(const struct naive *n, hi_node node)
{
	return set_cost(n, n->dominated[node], false);
}

static bool is_at_top(const struct naive *n, hi_node node)
{
	return naive_idom(n, node) >= n->n_objects + n->n_roots;
}

static struct naive_suspect group_of(const struct naive *n, hi_node at, uint64_t members)
{
	struct naive_suspect group = {.at = at, .members = members};

	for (hi_node i = 0; i < n->n_objects; i++) {
		if (!HAS(members, i))
			continue;
		group.count++;
		group.bytes += held_by_node(n, i);
	}
	return group;
}

/* Objects of a type below a node, or at the top (parent is the super-root): those that
 * are no suspects alone, and that no root holds. */
static struct naive_suspect group_below(const struct naive *n, hi_node parent,
					uint32_t type, uint64_t least)
{
	uint64_t members = 0;

	for (hi_node i = 0; i < n->n_objects; i++) {
		bool held = false;

		if (!HAS(n->any, i) || n->objects[i].type != type || !held_by_node(n, i))
			continue;
		if (parent != n->super && naive_idom(n, i) != parent)
			continue;
		if (parent == n->super &&
		    (!is_at_top(n, i) || held_by_node(n, i) >= least))
			continue;
		for (uint32_t e = 0; e < n->n_edges; e++)
			held |= parent == n->super && n->edges[e].to == i &&
				n->edges[e].from >= n->n_objects &&
				n->edges[e].from < n->n_objects + n->n_roots &&
				hi_grade_is_precise(n->edges[e].grade);
		if (!held)
			members |= BIT(i);
	}
	return group_of(n, parent, members);
}

static bool begins_naive_list(const struct naive *n, hi_node node)
{
	for (hi_node i = 0; i < n->n_objects; i++) {
		bool edge = false;

		for (uint32_t e = 0; e < n->n_edges; e++)
			edge |= n->edges[e].from == node && n->edges[e].to == i;
		if (edge && HAS(n->any, i) && naive_idom(n, i) == node &&
		    n->objects[i].type == n->objects[node].type &&
		    (n->objects[i].type || n->objects[i].cost == n->objects[node].cost))
			if (2 * held_by_node(n, i) > held_by_node(n, node))
				return true;
	}
	return false;
}

/* The member that is 70 % of its group, and begins no list. */
static uint64_t dominant_of(const struct naive *n, const struct naive_suspect *group)
{
	for (hi_node i = 0; group->count > 1 && i < n->n_objects; i++)
		if (HAS(group->members, i) && !begins_naive_list(n, i) &&
		    10 * held_by_node(n, i) >= 7 * group->bytes)
			return BIT(i);
	return 0;
}

/* At the top: all, if half of the bytes are nearest to one root; else that one's. */
static struct naive_suspect foremost_of(const struct naive *n,
					const struct naive_suspect *group,
					const uint32_t *nearest)
{
	struct naive_suspect most = {};

	for (uint32_t root = 0; root < n->n_roots; root++) {
		uint64_t members = 0;

		for (hi_node i = 0; i < n->n_objects; i++)
			if (HAS(group->members, i) && nearest[i] == root)
				members |= BIT(i);
		struct naive_suspect near = group_of(n, group->at, members);

		if (near.bytes > most.bytes)
			most = near;
	}
	return !most.count || most.bytes >= group->bytes / 2 ? *group : most;
}

static void follow_naive(const struct naive *n, hi_node node, struct naive_suspects *s);

/* A group that holds enough: the elements, or the way down. */
static void take_group(const struct naive *n, const struct naive_suspect *group,
		       struct naive_suspects *s)
{
	if (group->count > 1) {
		s->found[s->count++] = *group;
		return;
	}
	for (hi_node i = 0; i < n->n_objects; i++)
		if (HAS(group->members, i))
			follow_naive(n, i, s);
}

static void follow_naive(const struct naive *n, hi_node node, struct naive_suspects *s)
{
	struct naive_suspect largest = {.at = node};
	uint64_t rest = 0;
	bool followed = false;

	for (uint32_t type = 0; type < TYPES; type++) {
		struct naive_suspect whole = group_below(n, node, type, 0);
		uint64_t dominant = dominant_of(n, &whole);
		struct naive_suspect parts[2] = {
			group_of(n, node, whole.members & ~dominant),
			group_of(n, node, dominant)};

		for (int i = 0; i < 2; i++) {
			if (parts[i].bytes >= s->least) {
				take_group(n, &parts[i], s);
				followed = true;
				continue;
			}
			rest += parts[i].bytes;
			if (parts[i].bytes > largest.bytes)
				largest = parts[i];
		}
	}
	if (!followed || (rest >= s->least && rest > held_by_node(n, node) / 2))
		s->found[s->count++] = largest;
}

static void find_naive(const struct naive *n, struct naive_suspects *s)
{
	for (uint32_t type = 0; type < TYPES; type++) {
		struct naive_suspect group = group_below(n, n->super, type, s->least);

		if (group.count < 2 || group.bytes < s->least)
			continue;
		group = foremost_of(n, &group, s->nearest);
		if (group.bytes >= s->least)
			take_group(n, &group, s);
	}
	for (hi_node i = 0; i < n->n_objects + n->n_roots; i++)
		if (HAS(n->any, i) && is_at_top(n, i) && held_by_node(n, i) >= s->least &&
		    (i < n->n_objects || HAS(s->blamed, i - n->n_objects)))
			follow_naive(n, i, s);
}

static bool is_same_suspect(const struct naive_suspect *naive, const struct hi_suspect *s)
{
	return naive->at == s->accumulation && naive->bytes == s->children_bytes;
}

/* Are so many of the type there? Of two largest groups with as many bytes either one is
 * right. */
static bool is_a_group(const struct naive *n, const struct naive_suspects *naive,
		       const struct hi_suspect *s)
{
	struct naive_suspect whole =
		group_below(n, s->accumulation, s->child_type, naive->least);
	uint64_t dominant = 0;

	if (s->accumulation == n->super)
		whole = foremost_of(n, &whole, naive->nearest);
	else
		dominant = dominant_of(n, &whole);
	return s->children == group_of(n, s->accumulation, dominant).count ||
	       s->children ==
		       group_of(n, s->accumulation, whole.members & ~dominant).count;
}

static void check_suspects(const struct naive *n, const struct hi_graph *g,
			   const struct hi_reach *r, const struct hi_dominators *d)
{
	OWN(suspects) *s = suspects_of(g, r, d, 0.25);
	OWN(nearest) *nearest = NULL;
	struct naive_suspects naive = {.least = (r->live_bytes + 3) / 4};
	struct hi_error err;

	/* Which has a test of its own: nearest_test.c. */
	HI_ASSERT_OK(hi_nearest_compute(g, r, &nearest, &err), &err);
	naive.nearest = nearest->root_of;
	naive.least += !naive.least;
	for (uint32_t i = 0; i < g->n_roots; i++)
		if (hi_root_rank(&g->roots[i]) > HI_RANK_SYSTEM)
			naive.blamed |= BIT(i);
	find_naive(n, &naive);
	if (s->is_below) {
		HI_ASSERT_EQ(0, naive.count);
		HI_ASSERT_EQ(1, s->count);
		return;
	}
	HI_ASSERT_EQ(naive.count, s->count);
	for (size_t i = 0; i < s->count; i++) {
		bool found = false;

		HI_ASSERT(!i ||
			  s->items[i - 1].children_bytes >= s->items[i].children_bytes);
		for (size_t k = 0; k < naive.count; k++)
			found |= is_same_suspect(&naive.found[k], &s->items[i]);
		HI_ASSERT(found);
		HI_ASSERT(!s->items[i].children || is_a_group(n, &naive, &s->items[i]));
	}
}

static void check_all(uint32_t max_objects)
{
	static struct naive n;
	OWN(graph) *g = random_graph(&n, max_objects);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = NULL;

	naive_reach(&n);
	check_reach(&n, r);
	naive_dominators(&n);
	d = dominators_of(g, r);
	check_dominators(&n, d);
	check_root_keys(&n, g, r, d);
	check_scc(&n, g, BIT(n.n_nodes) - 1);
	check_scc(&n, g, leaked(&n));
	check_leaks(&n, g, r);
	check_census(&n, g, r, d);
	check_census(&n, g, r, NULL);
	check_referrers(&n, g);
	check_suspects(&n, g, r, d);
}

HI_TEST(census_oracle, all_analyses_equal_brute_force_on_small_random_graphs)
{
	for (uint64_t seed = 1; seed <= 6000; seed++) {
		random_state = seed * 0x9e3779b97f4a7c15;
		check_all(12);
	}
}

HI_TEST(census_oracle, all_analyses_equal_brute_force_on_larger_random_graphs)
{
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		random_state = seed * 0xd1342543de82ef95;
		check_all(MAX_OBJECTS);
	}
}

/* ---- ways ---- */

enum { MAX_WAYS = 3000 };
struct way {
	uint32_t length, doubt;
	hi_node nodes[MAX_NODES];
};
struct ways {
	const struct naive *graph;
	uint64_t targets;
	struct way all[MAX_WAYS];
	size_t count;
	bool overflow;
};

/* The best grade of the edges between two nodes. */
static uint8_t best_grade(const struct naive *n, hi_node from, hi_node to)
{
	uint8_t best = HI_GRADE_WEAK;

	for (uint32_t e = 0; e < n->n_edges; e++)
		if (n->edges[e].from == from && n->edges[e].to == to &&
		    n->edges[e].grade < best)
			best = n->edges[e].grade;
	return best;
}

/* Every simple way that goes on from `way`; recursion is bounded by 12 nodes. */
static void extend(struct ways *w, struct way *way, uint64_t used)
{
	hi_node last = way->nodes[way->length - 1];

	if (HAS(w->targets, last)) {
		if (w->count == MAX_WAYS)
			w->overflow = true;
		else
			w->all[w->count++] = *way;
		return;
	}
	for (hi_node to = 0; to < w->graph->n_objects && !w->overflow; to++) {
		uint8_t grade = best_grade(w->graph, last, to);

		if (grade == HI_GRADE_WEAK || HAS(used, to))
			continue;
		way->nodes[way->length++] = to;
		way->doubt += grade == HI_GRADE_CONSERVATIVE;
		extend(w, way, used | BIT(to));
		way->doubt -= grade == HI_GRADE_CONSERVATIVE;
		way->length--;
	}
}

static int by_length(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return x->doubt < y->doubt ? -1 : x->doubt > y->doubt;
}

static void check_path(const struct ways *w, const struct hi_path *path, size_t index)
{
	uint32_t doubt = 0;
	uint8_t worst = 0;
	bool known = false;

	for (size_t i = 1; i < path->length; i++) {
		uint8_t grade = best_grade(w->graph, path->nodes[i - 1], path->nodes[i]);

		doubt += grade == HI_GRADE_CONSERVATIVE;
		worst = grade > worst ? grade : worst;
	}
	/* It is one of them, and as good as the index-th best. */
	for (size_t i = 0; i < w->count; i++)
		known |= w->all[i].length == path->length &&
			 memcmp(w->all[i].nodes, path->nodes,
				path->length * sizeof(hi_node)) == 0;
	HI_ASSERT(known);
	HI_ASSERT_EQ(w->all[index].length, path->length);
	HI_ASSERT_EQ(w->all[index].doubt, doubt);
	HI_ASSERT_EQ(worst, path->worst);
}

static bool are_same(const struct hi_path *a, const struct hi_path *b)
{
	return a->length == b->length &&
	       memcmp(a->nodes, b->nodes, a->length * sizeof(hi_node)) == 0;
}

static void check_paths(void)
{
	static struct naive n;
	static struct ways w;
	OWN(graph) *g = random_graph(&n, 9);
	OWN(reach) *r = reach_of(g);
	OWN(paths) *p = NULL;
	hi_node targets[4];
	size_t n_targets = 1 + random_below(&random_state, 3),
	       k = 1 + random_below(&random_state, 12);

	w.graph = &n;
	w.targets = w.count = 0;
	w.overflow = false;
	for (size_t i = 0; i < n_targets; i++) {
		targets[i] = random_below(&random_state, n.n_objects);
		if (n.n_roots && random_below(&random_state, 20) == 0)
			targets[i] = n.n_objects + random_below(&random_state, n.n_roots);
		w.targets |= BIT(targets[i]);
	}
	for (hi_node root = n.n_objects; root < n.n_objects + n.n_roots; root++) {
		struct way way = {.length = 1, .nodes = {root}};

		extend(&w, &way, BIT(root));
	}
	if (w.overflow)
		return;
	qsort(w.all, w.count, sizeof(w.all[0]), by_length);
	p = paths_of(g, r, targets, n_targets, k);
	HI_ASSERT_EQ(w.count < k ? w.count : k, p->n_paths);
	HI_ASSERT(p->more || w.count <= k);
	for (size_t i = 0; i < p->n_paths; i++) {
		check_path(&w, &p->paths[i], i);
		for (size_t other = 0; other < i; other++)
			HI_ASSERT(!are_same(&p->paths[i], &p->paths[other]));
	}
}

HI_TEST(census_oracle, paths_are_the_shortest_of_all_simple_ways)
{
	for (uint64_t seed = 1; seed <= 8000; seed++) {
		random_state = seed * 0x2545f4914f6cdd1d + 7;
		check_paths();
	}
}
