/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The k shortest simple paths from root variables to any of the targets.
 *
 * Note [Paths, backwards]
 *
 * A breadth-first walk from all root variables gives every node its distance
 * and, among the shortest paths, the least number of doubtful (conservative)
 * edges. It is kept in an index, and corrected for the targets of one search
 * (Note [Around the targets]). Then paths are grown from the targets backwards, the one
 * with the least sum of (what it has) + (distance to go) first. This estimate is exact
 * but for paths that must not cross themselves, so the first paths that arrive
 * at a root are the shortest. (A* with a perfect estimate.)
 *
 * A partial path is one state: its node, and the state that it continues. Its
 * alternatives are made only when it is taken from the queue: the next
 * referrer of the same node, and the first referrer of its own node. The
 * referrers of a node are sorted by distance when they are first needed. So
 * the queue grows by at most two states a step, also at nodes with millions of
 * referrers.
 *
 * Whether a path crosses itself is looked up when it is taken out, and only if
 * its distance does not settle it: a node that is nearer to the roots than all
 * others of the path cannot be one of them. States are a tree, and each has a
 * jump towards the target (Myers, "An applicative random-access stack"), so that
 * the state of a path at some length is found in logarithmic time; it is compared
 * with the states in which the node is already. A short path, and one of fewer nodes
 * than there are such states, is looked through instead.
 *
 * The number of simple paths is exponential, so all this has limits. At a limit
 * the search ends with what it has, and at least one shortest path. One limit is
 * on what was tried since the last path was found: where all roots lead through
 * few nodes, there may be few paths and any number of tries.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "census/analysis/path_index_internal.h"
#include "census/analysis/walk_internal.h"

enum {
	MAX_STATES = 32 << 20,	     /* partial paths */
	CHEAP_STATES = 1 << 20,	     /* of more paths than are needed, and in vain */
	CHEAP_NODES = 4 << 20,	     /* in paths: of more than are needed */
	MAX_NODES = 64 << 20,	     /* in all paths */
	MAX_DETOURS = 2 << 20,	     /* those of them that may cross themselves */
	MAX_CROSS_STEPS = 300 << 20, /* steps to find out whether they do */
	VAIN_STATES = 1 << 16,	     /* and four for each node, since the last path */
	VAIN_CROSS_STEPS = 8,	     /* for each of these */
	MAX_PATHS = 100000,
	SHORT_PATH = 128,	 /* nodes: it is looked through */
	MAX_REFERRERS = 1 << 16, /* considered for one node, nearest first */
};
#define DOUBTFUL                                                                         \
	(1u                                                                              \
	 << 31) /* of a reverse edge: no precise edge between the two nodes           \
		    */
#define NO_STATE UINT32_MAX

struct state {
	hi_node node;
	uint32_t next;	  /* state towards the target; NO_STATE at the target */
	uint32_t length;  /* edges from node to the target */
	uint32_t doubt;	  /* doubtful ones among them */
	uint32_t sibling; /* our index among the referrers of next's node */
	uint32_t nearest; /* least distance of all nodes of the path */
	uint32_t jump;	  /* a state nearer to the target */
	uint32_t same;	  /* continued before, of the same node; NO_STATE: none */
};

struct queued {
	uint32_t length, doubt; /* of the whole path, estimated */
	uint32_t done;		/* its known part: longer ones first */
	uint32_t state;
};

struct referrer { /* sort key */
	uint32_t distance, doubt;
	uint32_t edge; /* node | DOUBTFUL */
};

struct ranked { /* a complete path */
	struct hi_path path;
	uint32_t doubt;
};

struct search {
	const struct hi_graph *graph;
	struct hi_path_index *index, *own; /* own: of this search alone, or NULL */
	struct hi_paths_wanted wanted;
	uint8_t worst;	     /* grade of an edge that is gone along */
	uint64_t *is_target; /* bits */
	struct hi_path_distances *d, own_d;
	struct hi_path_around around;
	struct hi_table rows; /* by node: first of its edges << 32 | their number */
	struct HI_VECTOR(uint32_t) edges; /* nodes, with DOUBTFUL */
	hi_node *targets;		  /* reached ones, nearest first */
	size_t n_targets;
	struct HI_VECTOR(struct state) states;
	struct hi_table continued; /* by node: its last state with a referrer */
	struct HI_VECTOR(struct queued) queue; /* binary heap */
	struct HI_VECTOR(struct referrer) sorting;
	uint64_t detours, cross_steps;
	uint64_t states_before, cross_before; /* the last path was found */
	uint64_t found_nodes;
	struct ranked *found;
	size_t n_found;
	bool out_of_memory, truncated;
};

static void search_deinit(struct search *s)
{
	hi_path_around_restore(&s->around);
	hi_path_distances_free(s->graph, &s->own_d);
	hi_path_index_destroy(s->own);
	free(s->is_target);
	hi_table_free(&s->rows);
	hi_vector_free(&s->edges);
	free(s->targets);
	hi_vector_free(&s->states);
	hi_table_free(&s->continued);
	hi_vector_free(&s->queue);
	hi_vector_free(&s->sorting);
	for (size_t i = 0; i < s->n_found; i++)
		free(s->found[i].path.nodes);
	free(s->found);
}

/* ---- distances ---- */

static bool measure_to_targets(struct search *s)
{
	s->d = &s->own_d;
	return hi_path_distances_measure(s->graph, s->worst, s->is_target,
					 s->worst == HI_GRADE_CONSERVATIVE, &s->own_d);
}

/* Finds distances of paths that leave no target: for few targets, all that are kept,
 * corrected. */
static bool find_distances(struct search *s, const hi_node *targets, size_t n)
{
	struct hi_error quiet;

	s->around = (struct hi_path_around){.index = s->index,
					    .worst = s->worst,
					    .is_target = s->is_target,
					    .most = s->graph->n_objects / 8 + 64};
	if (n > s->around.most)
		return measure_to_targets(s);
	if (hi_path_index_measure(s->index, s->worst, &quiet) != HI_OK)
		return false;
	s->d = s->around.d = &s->index->levels[s->worst];
	switch (hi_path_around_change(&s->around, targets, n)) {
	case HI_AROUND_DONE:
		return true;
	case HI_AROUND_TOO_MANY:
		return measure_to_targets(s);
	case HI_AROUND_NO_MEMORY:
	default:
		return false;
	}
}

/* ---- referrers of one node, nearest first ---- */

static bool is_before(const struct referrer *a, const struct referrer *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance;
	if (a->doubt != b->doubt)
		return a->doubt < b->doubt;
	return (a->edge & ~DOUBTFUL) < (b->edge & ~DOUBTFUL);
}

static int by_distance(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

/* Parallel edges, which are neighbours, become one: the best of them. */
static uint32_t drop_parallel(uint32_t *edges, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (kept && ((edges[kept - 1] ^ edges[i]) & ~DOUBTFUL) == 0)
			edges[kept - 1] &= edges[i];
		else
			edges[kept++] = edges[i];
	}
	return kept;
}

/* Edges that paths can go along, which leave no target. */
static uint32_t copy_referrers(struct search *s, hi_node node, uint32_t *edges)
{
	const struct hi_path_index *index = s->index;
	uint32_t n = 0;

	for (uint32_t i = index->row[node]; i < index->row[node + 1]; i++) {
		hi_node from = index->from[i] & HI_TURNED_NODE;
		uint32_t grade = index->from[i] >> HI_TURNED_SHIFT;

		if (grade <= s->worst && s->d->distance[from] &&
		    !hi_bit(s->is_target, from))
			edges[n++] =
				from | (grade == HI_GRADE_CONSERVATIVE ? DOUBTFUL : 0);
	}
	return n;
}

static bool sort_row(struct search *s, hi_node node, uint64_t *row_ret)
{
	uint32_t all = s->index->row[node + 1] - s->index->row[node], kept;
	size_t first = s->edges.count;
	uint32_t *edges;

	if (first + all >= UINT32_MAX || !hi_vector_reserve(&s->edges, first + all + 1))
		return false;
	edges = s->edges.items + first;
	kept = drop_parallel(edges, copy_referrers(s, node, edges));
	if (!hi_vector_reserve(&s->sorting, kept + 1))
		return false;
	for (uint32_t i = 0; i < kept; i++) {
		hi_node from = edges[i] & ~DOUBTFUL;

		s->sorting.items[i] = (struct referrer){
			s->d->distance[from],
			hi_path_doubt(s->d, from) + (edges[i] >> 31), edges[i]};
	}
	if (kept)
		qsort(s->sorting.items, kept, sizeof(*s->sorting.items), by_distance);
	if (kept > MAX_REFERRERS) {
		kept = MAX_REFERRERS;
		s->truncated = true;
	}
	for (uint32_t i = 0; i < kept; i++)
		edges[i] = s->sorting.items[i].edge;
	s->edges.count += kept;
	*row_ret = (uint64_t)first << 32 | kept;
	return hi_table_put(&s->rows, node, *row_ret);
}

/* The index-th referrer of node as a reverse edge; HI_NODE_NONE: no more. */
static uint32_t referrer_at(struct search *s, hi_node node, uint32_t index)
{
	uint64_t row = 0;

	if (!hi_table_get(&s->rows, node, &row) && !sort_row(s, node, &row)) {
		s->out_of_memory = true;
		return HI_NODE_NONE;
	}
	return index < (uint32_t)row ? s->edges.items[(row >> 32) + index] : HI_NODE_NONE;
}

/* ---- the queue ---- */

static bool goes_first(const struct search *s, const struct queued *a,
		       const struct queued *b)
{
	hi_node x, y;

	if (a->length != b->length)
		return a->length < b->length;
	if (a->doubt != b->doubt)
		return a->doubt < b->doubt;
	if (a->done != b->done)
		return a->done > b->done;
	x = s->states.items[a->state].node;
	y = s->states.items[b->state].node;
	return x != y ? x < y : a->state < b->state;
}

static bool queue_push(struct search *s, struct queued item)
{
	size_t at = s->queue.count;

	if (!hi_vector_push(&s->queue, item))
		return false;
	for (; at > 0; at = (at - 1) / 2) {
		struct queued *up = &s->queue.items[(at - 1) / 2];

		if (!goes_first(s, &item, up))
			break;
		s->queue.items[at] = *up;
	}
	s->queue.items[at] = item;
	return true;
}

static uint32_t queue_pop(struct search *s)
{
	struct queued *q = s->queue.items, last = q[--s->queue.count];
	uint32_t state = q[0].state;
	size_t at = 0, n = s->queue.count;

	for (size_t down = 1; down < n; down = 2 * at + 1) {
		if (down + 1 < n && goes_first(s, &q[down + 1], &q[down]))
			down++;
		if (!goes_first(s, &q[down], &last))
			break;
		q[at] = q[down];
		at = down;
	}
	q[at] = last;
	return state;
}

/* Jumps of two states in a row that are equally long become one. */
static uint32_t jump_of(const struct search *s, uint32_t next)
{
	const struct state *states = s->states.items;
	uint32_t jump;

	if (next == NO_STATE)
		return NO_STATE;
	jump = states[next].jump;
	if (jump == NO_STATE || states[jump].jump == NO_STATE)
		return next;
	return states[next].length - states[jump].length ==
			       states[jump].length - states[states[jump].jump].length
		       ? states[jump].jump
		       : next;
}

static bool add_state(struct search *s, struct state state)
{
	struct queued item = {
		.length = s->d->distance[state.node] + state.length,
		.doubt = hi_path_doubt(s->d, state.node) + state.doubt,
		.done = state.length,
		.state = (uint32_t)s->states.count,
	};

	state.jump = jump_of(s, state.next);
	state.same = NO_STATE;
	if (hi_vector_push(&s->states, state) && queue_push(s, item))
		return true;
	s->out_of_memory = true;
	return false;
}

/* The path of `next`, with its index-th referrer put in front. */
static bool add_referrer(struct search *s, uint32_t next, uint32_t index)
{
	struct state tail = s->states.items[next];
	uint32_t edge = referrer_at(s, tail.node, index);
	hi_node node = edge & ~DOUBTFUL;
	uint32_t distance;

	if (edge == HI_NODE_NONE)
		return !s->out_of_memory;
	distance = s->d->distance[node];
	return add_state(
		s, (struct state){
			   .node = node,
			   .next = next,
			   .length = tail.length + 1,
			   .doubt = tail.doubt + (edge >> 31),
			   .sibling = index,
			   .nearest = distance < tail.nearest ? distance : tail.nearest,
		   });
}

static bool add_search_target(struct search *s, uint32_t index)
{
	hi_node node;

	if (index >= s->n_targets)
		return true;
	node = s->targets[index];
	return add_state(s, (struct state){.node = node,
					   .next = NO_STATE,
					   .sibling = index,
					   .nearest = s->d->distance[node]});
}

static bool add_sibling(struct search *s, const struct state *state)
{
	return state->next == NO_STATE ? add_search_target(s, state->sibling + 1)
				       : add_referrer(s, state->next, state->sibling + 1);
}

/* The state of the path at this length: on the way from `at` to the target. */
static uint32_t state_at_length(struct search *s, uint32_t at, uint32_t length)
{
	const struct state *states = s->states.items;

	while (states[at].length > length) {
		uint32_t jump = states[at].jump;

		at = jump != NO_STATE && states[jump].length >= length ? jump
								       : states[at].next;
		s->cross_steps++;
	}
	return at;
}

static bool is_on_way(struct search *s, uint32_t at, hi_node node)
{
	for (; at != NO_STATE; at = s->states.items[at].next) {
		s->cross_steps++;
		if (s->states.items[at].node == node)
			return true;
	}
	return false;
}

/* Is the node on the path already? Note [Paths, backwards]. */
static bool crosses_itself(struct search *s, const struct state *state)
{
	uint64_t known = 0, most = s->cross_steps + state->length;
	uint32_t same;

	if (state->next == NO_STATE ||
	    s->d->distance[state->node] < s->states.items[state->next].nearest)
		return false;
	s->detours++;
	if (state->length <= SHORT_PATH)
		return is_on_way(s, state->next, state->node);
	if (!hi_table_get(&s->continued, state->node, &known))
		return false;
	for (same = (uint32_t)known; same != NO_STATE;
	     same = s->states.items[same].same) {
		uint32_t length = s->states.items[same].length;

		if (s->cross_steps++ >= most)
			return is_on_way(s, state->next, state->node);
		if (length < state->length &&
		    state_at_length(s, state->next, length) == same)
			return true;
	}
	return false;
}

/* Goes on from a state, which other paths may meet from now on. */
static void continue_state(struct search *s, uint32_t at)
{
	hi_node node = s->states.items[at].node;
	uint64_t known = NO_STATE;

	(void)hi_table_get(&s->continued, node, &known);
	s->states.items[at].same = (uint32_t)known;
	if (!hi_table_put(&s->continued, node, at))
		s->out_of_memory = true;
	else
		add_referrer(s, at, 0);
}

/* Nothing was found for long, by the size of the graph. */
static bool is_in_vain(const struct search *s)
{
	uint64_t states = VAIN_STATES + 4 * (uint64_t)s->graph->n_nodes;

	if (states > CHEAP_STATES)
		states = CHEAP_STATES;
	return s->states.count - s->states_before > states ||
	       s->cross_steps - s->cross_before > VAIN_CROSS_STEPS * states;
}

static bool at_limit(const struct search *s)
{
	if (s->n_found == s->wanted.most || s->found_nodes > MAX_NODES ||
	    (s->n_found >= s->wanted.k &&
	     (s->states.count > CHEAP_STATES || s->found_nodes > CHEAP_NODES)))
		return true;
	if (s->n_found && is_in_vain(s))
		return true;
	return s->states.count > MAX_STATES || s->detours > MAX_DETOURS ||
	       s->cross_steps > MAX_CROSS_STEPS;
}

/* ---- results ---- */

/* A new path of `length` nodes; its nodes are not set yet. */
static struct hi_path *new_path(struct search *s, uint32_t length, uint32_t doubt)
{
	struct ranked *ranked = &s->found[s->n_found];

	ranked->doubt = doubt;
	ranked->path.length = length;
	ranked->path.nodes = hi_alloc(length * sizeof(*ranked->path.nodes));
	if (!ranked->path.nodes) {
		s->out_of_memory = true;
		return NULL;
	}
	s->n_found++;
	return &ranked->path;
}

/* Exact edges alone need no look-up: rows may be long. */
static void find_grade(const struct search *s, struct hi_path *path)
{
	if (s->worst == HI_GRADE_EXACT)
		path->worst = HI_GRADE_EXACT;
	else
		hi_path_grade(s->graph, path);
}

static void give_path(struct search *s, uint32_t at)
{
	const struct state *states = s->states.items;
	struct hi_path *path = new_path(s, states[at].length + 1, states[at].doubt);

	if (!path)
		return;
	for (size_t i = 0; i < path->length; i++, at = states[at].next)
		path->nodes[i] = states[at].node;
	find_grade(s, path);
	s->found_nodes += path->length;
	s->states_before = s->states.count;
	s->cross_before = s->cross_steps;
}

/* One shortest path by distances alone: what is left at a limit. */
static void give_shortest(struct search *s)
{
	hi_node node = s->targets[0];
	struct hi_path *path =
		new_path(s, s->d->distance[node], hi_path_doubt(s->d, node));

	if (!path)
		return;
	for (size_t i = path->length; i > 0; i--) {
		path->nodes[i - 1] = node;
		if (i > 1)
			node = referrer_at(s, node, 0) & ~DOUBTFUL;
	}
	if (!s->out_of_memory)
		find_grade(s, path);
}

/* The paths into s->found; were there more to look at? */
static bool run_path_search(struct search *s)
{
	bool more = false;

	add_search_target(s, 0);
	while (s->queue.count && !s->out_of_memory && !more) {
		uint32_t at = queue_pop(s);
		struct state state = s->states.items[at];

		if (at_limit(s)) {
			more = true;
			continue;
		}
		if (!add_sibling(s, &state) || crosses_itself(s, &state))
			continue;
		if (hi_graph_is_object(s->graph, state.node))
			continue_state(s, at);
		else
			give_path(s, at);
	}
	more |= s->truncated;
	if (s->n_found == 0 && more && s->wanted.k && !s->out_of_memory)
		give_shortest(s);
	return more;
}

/* ---- the whole ---- */

static bool choose_targets(struct search *s, const hi_node *targets, size_t n)
{
	HI_GUARD(free) struct referrer *keys = hi_alloc(n * sizeof(*keys) + 1);
	size_t kept = 0;

	s->targets = hi_alloc(n * sizeof(*s->targets) + 1);
	if (!keys || !s->targets)
		return false;
	for (size_t i = 0; i < n; i++) {
		hi_node node = targets[i];

		if (node < s->graph->first_kind && s->d->distance[node])
			keys[kept++] = (struct referrer){s->d->distance[node],
							 hi_path_doubt(s->d, node), node};
	}
	if (kept)
		qsort(keys, kept, sizeof(*keys), by_distance);
	/* A node that is named twice is a target once. */
	for (size_t i = 0; i < kept; i++)
		if (!i || keys[i].edge != keys[i - 1].edge)
			s->targets[s->n_targets++] = keys[i].edge;
	return true;
}

static bool prepare_path_targets(struct search *s, const hi_node *targets, size_t n)
{
	s->is_target = hi_calloc(1, hi_bits_size(s->graph->n_nodes));
	if (!s->is_target)
		return false;
	for (size_t i = 0; i < n; i++)
		if (targets[i] < s->graph->n_nodes)
			hi_bit_take(s->is_target, targets[i]);
	return find_distances(s, targets, n) && choose_targets(s, targets, n);
}

static int compare_found_paths(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->path.length != y->path.length)
		return x->path.length < y->path.length ? -1 : 1;
	if (x->doubt != y->doubt)
		return x->doubt < y->doubt ? -1 : 1;
	for (size_t i = 0; i < x->path.length; i++)
		if (x->path.nodes[i] != y->path.nodes[i])
			return x->path.nodes[i] < y->path.nodes[i] ? -1 : 1;
	return 0;
}

/* Moves the paths that were found to the result. */
static bool give_found(struct search *s, struct hi_paths *paths)
{
	paths->paths = hi_calloc(s->n_found, sizeof(*paths->paths));
	if (!paths->paths)
		return false;
	qsort(s->found, s->n_found, sizeof(*s->found), compare_found_paths);
	paths->n_paths = s->n_found;
	for (size_t i = 0; i < s->n_found; i++)
		paths->paths[i] = s->found[i].path;
	s->n_found = 0;
	return true;
}

enum hi_status hi_paths_find(const struct hi_graph *g, const struct hi_reach *reach,
			     const hi_node *targets, size_t n_targets, size_t k,
			     struct hi_paths **ret, struct hi_error *err)
{
	struct hi_paths_wanted wanted = {
		.k = k, .most = k, .worst = HI_GRADE_CONSERVATIVE};

	(void)reach; /* the walk from the variables finds out by itself */
	return hi_paths_search(g, targets, n_targets, &wanted, ret, err);
}

enum hi_status hi_paths_search(const struct hi_graph *g, const hi_node *targets,
			       size_t n_targets, const struct hi_paths_wanted *wanted,
			       struct hi_paths **ret, struct hi_error *err)
{
	HI_GUARD(hi_paths_destroy) struct hi_paths *paths = hi_calloc(1, sizeof(*paths));
	struct search s = {.graph = g, .wanted = *wanted, .index = wanted->index};
	enum hi_status status = HI_OK;
	bool ok;

	if (!paths)
		return hi_fail_memory(err, "paths to a root");
	if (!s.index)
		status = hi_path_index_create(g, 0, &s.own, err);
	if (status != HI_OK)
		return status;
	s.index = s.index ? s.index : s.own;
	s.worst = (uint8_t)hi_path_index_level(s.index, wanted->worst);
	if (s.wanted.most > MAX_PATHS)
		s.wanted.most = MAX_PATHS;
	s.found = hi_calloc(s.wanted.most, sizeof(*s.found));
	ok = s.found && prepare_path_targets(&s, targets, n_targets);
	if (ok) {
		paths->more = run_path_search(&s);
		ok = !s.out_of_memory && give_found(&s, paths);
	}
	search_deinit(&s);
	if (!ok)
		return hi_fail_memory(err, "paths to a root");
	*ret = hi_take(paths);
	return HI_OK;
}

void hi_paths_destroy(struct hi_paths *paths)
{
	if (!paths)
		return;
	for (size_t i = 0; i < paths->n_paths; i++)
		free(paths->paths[i].nodes);
	free(paths->paths);
	free(paths);
}
