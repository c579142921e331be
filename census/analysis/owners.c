/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Owners by the dominator tree]
 *
 * A root variable alone holds the objects that it dominates. All else is below an object
 * that lies directly under the super-root or a kind of roots: a *top*. By the definition
 * of dominators the edges into a top's subtree from outside lead to the top itself, so
 * the set of variables that reach the top is the set of all of its subtree. The sets are
 * the least solution over the tops alone: there are far fewer of them than objects.
 *
 * A set has the variables of one rank, the best of those that lead there: the program's,
 * else words of its memory, else what the C library keeps, else words that may be left
 * over. Joining two sets so is associative, commutative and idempotent, so the
 * solution does not depend on the order. A set of over HI_OWNERS_MAX variables absorbs
 * all others: a set changes at most HI_OWNERS_MAX + 2 times.
 */
#include "census/analysis/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/analysis/walk_internal.h"

#define SET_MANY UINT32_MAX /* as a number of members */
#define NO_TOP UINT32_MAX

enum { EMPTY_SET = 0 };

struct owner_set {
	uint32_t n;   /* SET_MANY: no members are known */
	uint8_t rank; /* of all members */
	hi_node members[HI_OWNERS_MAX];
};

struct top {
	hi_node at; /* in the dominators' order */
	uint32_t set;
	bool is_queued;
};

struct owners_job {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_dominators *dominators;
	struct HI_VECTOR(struct top) tops;
	uint32_t *top_of; /* by node: index of its top, or NO_TOP */
	uint32_t *queue;  /* a ring of indices of tops */
	size_t queue_first, n_queued;
	struct HI_VECTOR(struct owner_set) sets;
	struct hi_table set_ids; /* by hash; the next slot where two have one hash */
	struct hi_table unions;	 /* by two sets */
};

static void deinit_job(struct owners_job *job)
{
	hi_vector_free(&job->tops);
	hi_vector_free(&job->sets);
	hi_table_free(&job->set_ids);
	hi_table_free(&job->unions);
	free(job->top_of);
	free(job->queue);
}

/* ---- sets ---- */

static bool is_equal_set(const struct owner_set *a, const struct owner_set *b)
{
	return a->n == b->n && a->rank == b->rank &&
	       (a->n == SET_MANY ||
		memcmp(a->members, b->members, a->n * sizeof(a->members[0])) == 0);
}

/* The number of a set, the same for equal ones. False: out of memory. */
static bool intern_set(struct owners_job *job, const struct owner_set *set, uint32_t *ret)
{
	size_t size = set->n == SET_MANY ? 0 : set->n * sizeof(set->members[0]);
	uint64_t key = hi_hash_more(HI_HASH_START ^ (set->n == SET_MANY ? set->rank : 0u),
				    set->members, size) >>
		       1;
	uint64_t known;

	while (hi_table_get(&job->set_ids, key, &known)) {
		if (is_equal_set(&job->sets.items[known], set)) {
			*ret = (uint32_t)known;
			return true;
		}
		key = (key + 1) & INT64_MAX;
	}
	*ret = (uint32_t)job->sets.count;
	return hi_vector_push(&job->sets, *set) && hi_table_put(&job->set_ids, key, *ret);
}

static struct owner_set merge_members(const struct owner_set *a,
				      const struct owner_set *b)
{
	struct owner_set both = {.rank = a->rank};
	uint32_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		hi_node x = i < a->n ? a->members[i] : UINT32_MAX;
		hi_node y = k < b->n ? b->members[k] : UINT32_MAX;

		if (both.n == HI_OWNERS_MAX)
			return (struct owner_set){.n = SET_MANY, .rank = a->rank};
		both.members[both.n++] = x < y ? x : y;
		i += x <= y;
		k += y <= x;
	}
	return both;
}

/* Note [Owners by the dominator tree] */
static struct owner_set join_owner_sets(const struct owner_set *a,
					const struct owner_set *b)
{
	if (a->n == 0 || (b->rank > a->rank))
		return *b;
	if (b->n == 0 || (a->rank > b->rank))
		return *a;
	if (a->n == SET_MANY || b->n == SET_MANY)
		return (struct owner_set){.n = SET_MANY, .rank = a->rank};
	return merge_members(a, b);
}

static bool join_sets(struct owners_job *job, uint32_t a, uint32_t b, uint32_t *ret)
{
	uint64_t key = (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), known;
	struct owner_set both;

	if (a == b || b == EMPTY_SET) {
		*ret = a;
		return true;
	}
	if (hi_table_get(&job->unions, key, &known)) {
		*ret = (uint32_t)known;
		return true;
	}
	both = join_owner_sets(&job->sets.items[a], &job->sets.items[b]);
	return intern_set(job, &both, ret) && hi_table_put(&job->unions, key, *ret);
}

/* ---- tops ---- */

static bool is_root(const struct hi_graph *g, hi_node node)
{
	return node >= g->first_root && node < g->first_kind;
}

static bool add_owned_top(struct owners_job *job, hi_node at)
{
	const struct hi_dominators *d = job->dominators;
	uint32_t index = (uint32_t)job->tops.count;

	for (hi_node i = at; i < at + d->span[at]; i++)
		job->top_of[d->order[i]] = index;
	return hi_vector_push(&job->tops, ((struct top){.at = at}));
}

static enum hi_status collect_owner_tops(struct owners_job *job, struct hi_error *err)
{
	const struct hi_dominators *d = job->dominators;

	job->top_of = hi_alloc((size_t)job->graph->n_nodes * sizeof(*job->top_of) + 1);
	if (!job->top_of)
		return hi_fail_memory(err, "owners");
	memset(job->top_of, 0xff, (size_t)job->graph->n_nodes * sizeof(*job->top_of));
	for (hi_node at = 1; at < d->n_order;) {
		if (d->order[at] >= job->graph->first_kind) {
			at++; /* a kind: its roots are tops */
			continue;
		}
		if (!add_owned_top(job, at))
			return hi_fail_memory(err, "owners");
		at += d->span[at];
	}
	job->queue = hi_alloc((job->tops.count + 1) * sizeof(*job->queue));
	return job->queue ? HI_OK : hi_fail_memory(err, "owners");
}

static void queue_top(struct owners_job *job, uint32_t index)
{
	size_t last = job->queue_first + job->n_queued;

	if (job->tops.items[index].is_queued)
		return;
	job->tops.items[index].is_queued = true;
	job->queue[last % job->tops.count] = index;
	job->n_queued++;
}

/* Root variables are the first to have sets: {itself}, or the first of its name. */
static enum hi_status seed_sets(struct owners_job *job, struct hi_error *err)
{
	const struct hi_graph *g = job->graph;
	struct hi_table names = {};
	bool ok = hi_vector_push(&job->sets, ((struct owner_set){}));

	for (uint32_t i = 0; i < job->tops.count && ok; i++) {
		hi_node node = job->dominators->order[job->tops.items[i].at];
		const struct hi_root *root;
		struct owner_set set = {.n = 1};
		uint64_t key, first = node;

		if (!is_root(g, node))
			continue;
		root = &g->roots[node - g->first_root];
		key = hi_hash_more(HI_HASH_START + root->kind +
					   HI_ROOT_KINDS * hi_root_rank(root),
				   root->name, strlen(root->name)) >>
		      1;
		if (!hi_table_get(&names, key, &first))
			ok = hi_table_put(&names, key, node);
		set.members[0] = (hi_node)first;
		set.rank = (uint8_t)hi_root_rank(root);
		ok = ok && intern_set(job, &set, &job->tops.items[i].set);
		queue_top(job, i);
	}
	hi_table_free(&names);
	return ok ? HI_OK : hi_fail_memory(err, "owners");
}

/* Note [Flow graph] in dominators.c */
static bool is_followed(const struct hi_reach *reach, hi_node from, hi_node to,
			uint8_t grade)
{
	if (hi_bit(reach->exact, to))
		return hi_bit(reach->exact, from) && hi_grade_is_precise(grade);
	return grade != HI_GRADE_WEAK;
}

static bool give_set(struct owners_job *job, uint32_t from, hi_node to)
{
	uint32_t index = job->top_of[to], set;

	if (index == from || index == NO_TOP)
		return true;
	if (!join_sets(job, job->tops.items[index].set, job->tops.items[from].set, &set))
		return false;
	if (set == job->tops.items[index].set)
		return true;
	job->tops.items[index].set = set;
	queue_top(job, index);
	return true;
}

/* All edges that leave the subtree of a top. */
static bool follow_top(struct owners_job *job, uint32_t index)
{
	const struct hi_dominators *d = job->dominators;
	hi_node at = job->tops.items[index].at;

	for (hi_node i = at; i < at + d->span[at]; i++) {
		hi_node from = d->order[i];
		struct hi_edges edges = hi_graph_edges(job->graph, from);

		hi_walk_look_ahead(job->graph, &d->order[i], at + d->span[at] - i,
				   job->top_of);
		for (uint32_t e = 0; e < edges.count; e++)
			if (is_followed(job->reach, from, edges.to[e], edges.grade[e]) &&
			    !give_set(job, index, edges.to[e]))
				return false;
	}
	return true;
}

static enum hi_status spread_sets(struct owners_job *job, struct hi_error *err)
{
	while (job->n_queued) {
		uint32_t index = job->queue[job->queue_first];

		job->queue_first = (job->queue_first + 1) % job->tops.count;
		job->n_queued--;
		job->tops.items[index].is_queued = false;
		if (!follow_top(job, index))
			return hi_fail_memory(err, "owners");
	}
	return HI_OK;
}

/* ---- rows ---- */

static void add_owned_bytes(const struct owners_job *job, const struct top *top,
			    struct hi_owner_row *row)
{
	hi_node node = job->dominators->order[top->at];
	uint64_t bytes = job->dominators->retained[node];

	row->bytes += bytes;
	if (bytes > row->largest_bytes) {
		row->largest_bytes = bytes;
		row->largest = node;
	}
}

static int compare_owner_rows(const void *a, const void *b)
{
	const struct hi_owner_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->variables[i] != y->variables[i])
			return x->variables[i] < y->variables[i] ? -1 : 1;
	return (int)x->is_many - (int)y->is_many;
}

static bool list_shared_by_many(const struct owners_job *job, struct hi_owners *o)
{
	o->shared_by_many = hi_calloc(job->tops.count + 1, sizeof(*o->shared_by_many));
	if (!o->shared_by_many)
		return false;
	for (size_t i = 0; i < job->tops.count; i++) {
		const struct top *top = &job->tops.items[i];
		hi_node node = job->dominators->order[top->at];

		if (job->sets.items[top->set].n == SET_MANY &&
		    hi_graph_is_object(job->graph, node))
			o->shared_by_many[o->n_shared_by_many++] = node;
	}
	return true;
}

/* One row a set; those without bytes are dropped. */
static enum hi_status make_owner_rows(const struct owners_job *job, struct hi_owners *o,
				      struct hi_error *err)
{
	size_t n = job->sets.count, kept = 0;

	o->rows = hi_calloc(n + 1, sizeof(*o->rows));
	o->members = hi_calloc(n * HI_OWNERS_MAX + 1, sizeof(*o->members));
	if (!o->rows || !o->members)
		return hi_fail_memory(err, "owners");
	for (size_t i = 0; i < job->tops.count; i++)
		add_owned_bytes(job, &job->tops.items[i],
				&o->rows[job->tops.items[i].set]);
	for (size_t i = 0; i < n; i++) {
		const struct owner_set *set = &job->sets.items[i];
		struct hi_owner_row row = o->rows[i];

		if (!row.bytes)
			continue;
		row.is_many = set->n == SET_MANY;
		row.is_named = set->rank > HI_RANK_SYSTEM;
		row.n = row.is_many ? 0 : set->n;
		row.variables = o->members + kept * HI_OWNERS_MAX;
		memcpy(o->members + kept * HI_OWNERS_MAX, set->members,
		       row.n * sizeof(*o->members));
		o->rows[kept++] = row;
	}
	o->n_rows = kept;
	if (!list_shared_by_many(job, o))
		return hi_fail_memory(err, "owners");
	if (kept > 1)
		qsort(o->rows, kept, sizeof(*o->rows), compare_owner_rows);
	return HI_OK;
}

enum hi_status hi_owners_compute(const struct hi_graph *g, const struct hi_reach *reach,
				 const struct hi_dominators *dominators,
				 struct hi_owners **ret, struct hi_error *err)
{
	HI_GUARD(hi_owners_destroy)
	struct hi_owners *owners = hi_calloc(1, sizeof(*owners));
	struct owners_job job = {.graph = g, .reach = reach, .dominators = dominators};
	enum hi_status status;

	if (!owners)
		return hi_fail_memory(err, "owners");
	status = collect_owner_tops(&job, err);
	if (status == HI_OK)
		status = seed_sets(&job, err);
	if (status == HI_OK)
		status = spread_sets(&job, err);
	if (status == HI_OK)
		status = make_owner_rows(&job, owners, err);
	deinit_job(&job);
	if (status == HI_OK)
		*ret = hi_take(owners);
	return status;
}

void hi_owners_destroy(struct hi_owners *owners)
{
	if (!owners)
		return;
	free(owners->rows);
	free(owners->members);
	free(owners->shared_by_many);
	free(owners);
}
