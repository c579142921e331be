/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Groups of leaks]
 *
 * Leaked objects without a type are grouped by usable size and by which of their words
 * are pointers. A word that is 0 says nothing, so objects are first counted by their
 * exact pattern; then patterns of one size that share a pointer and do not contradict
 * each other are one group, the most frequent ones first. Objects without any pointer
 * are a group of their own: they may be anything of their size. So are those that begin
 * with text.
 *
 * Some objects of a group are compared with the live objects of each type of that size,
 * and with the records of the program's own modules. A name is given only where all of
 * them fit (fit.h), and where not too many records fit equally well.
 */
#include "decode/inference/leak_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"
#include "decode/inference/fit.h"
#include "decode/inference/typing_state.h"

enum {
	MAX_PATTERNS = 1 << 16,
	MAX_NAMED = 256,   /* groups, the largest ones */
	SAMPLES = 24,	   /* blocks of a group that are looked at */
	LIVE_SAMPLES = 16, /* objects of a live type */
	MAX_USABLE = 4096, /* larger blocks are seldom one record */
	EQUALS = 5,	   /* records that fit equally well: more say nothing */
	PROBES = 16,
	MAX_OF_SIZE = 64, /* groups; the last one takes what is left */
};

/* All units of larger modules are not read only to name leaks. */
static const uint64_t max_named_dwarf = (uint64_t)64 << 20;

struct pattern {
	uint64_t usable, pointers, plain;
	bool text;
	bool begins; /* with text; with pointers behind it, or without */
	uint32_t count;
	uint32_t group; /* from 1 on */
};

struct candidate_type {
	const struct hi_type *type;
	uint64_t usable;
};

/* A type with live objects, of one usable size. */
struct live_type {
	uint32_t type; /* of the graph */
	uint64_t usable, count;
	hi_node samples[LIVE_SAMPLES];
	uint32_t n_samples;
	/* By word: some sample has a pointer there, a number, 0. */
	uint64_t pointers, plain;
};

struct leak_namer {
	struct hi_typing *typing;
	struct hi_types *types;
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	struct hi_leak_groups *groups;
	struct hi_table by_hash; /* pattern index */
	struct HI_VECTOR(struct pattern) patterns;
	struct HI_VECTOR(hi_node) nodes;
	struct HI_VECTOR(uint32_t) pattern_of;
	struct HI_VECTOR(struct candidate_type) records;
	struct HI_VECTOR(struct live_type) live;
	struct HI_VECTOR(uint64_t) sizes;  /* of groups; ascending */
	struct HI_VECTOR(hi_node) samples; /* SAMPLES for each group that is named */
	struct hi_fit_block *blocks;	   /* SAMPLES */
	uint32_t n_blocks;
	struct hi_fit_record record;
	bool no_memory;
};

/* ---- patterns ---- */

static uint64_t hash_pattern(const struct pattern *p)
{
	uint64_t h = p->usable * 0x9e3779b97f4a7c15ull + p->text + 2u * p->begins;

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull + p->pointers;
	h = (h ^ h >> 32) * 0x94d049bb133111ebull + p->plain;
	return (h ^ h >> 31) >> 2;
}

static bool is_same_pattern(const struct pattern *a, const struct pattern *b)
{
	return a->usable == b->usable && a->pointers == b->pointers &&
	       a->plain == b->plain && a->text == b->text && a->begins == b->begins;
}

/* The index of an equal pattern; a new one if there is none yet. */
static uint32_t take_pattern(struct leak_namer *n, const struct pattern *p)
{
	uint64_t hash = hash_pattern(p), index;

	for (unsigned i = 0; i < PROBES; i++) {
		if (!hi_table_get(&n->by_hash, hash + i, &index)) {
			index = n->patterns.count;
			if (!hi_vector_push(&n->patterns, *p) ||
			    !hi_table_put(&n->by_hash, hash + i, index))
				n->no_memory = true;
			return (uint32_t)index;
		}
		if (is_same_pattern(&n->patterns.items[index], p))
			return (uint32_t)index;
	}
	return (uint32_t)index;
}

static void add_leaked(struct leak_namer *n, hi_node node)
{
	struct hi_fit_block b;
	struct pattern p = {};
	uint32_t index;

	if (!hi_fit_read(n->typing, n->graph->objects, node, &b))
		return;
	p.usable = b.usable;
	p.begins = b.text;
	p.text = b.text && !b.objects;
	if (!p.text) {
		p.pointers = b.objects | b.modules;
		p.plain = b.plain;
	}
	/* So many patterns are noise: what is left is told apart by its size. */
	if (n->patterns.count >= MAX_PATTERNS)
		p.pointers = p.plain = 0;
	index = take_pattern(n, &p);
	if (n->no_memory)
		return;
	n->patterns.items[index].count++;
	if (!hi_vector_push(&n->nodes, node) || !hi_vector_push(&n->pattern_of, index))
		n->no_memory = true;
}

static bool is_unnamed_leak(const struct leak_namer *n, hi_node node)
{
	const struct hi_graph *g = n->graph;

	return !hi_bit(n->reach->any, node) && !g->objects->type[node] &&
	       !hi_is_internal(g, node) &&
	       (!g->unreachable_classes ||
		g->unreachable_classes[node] == HI_UNREACHABLE_NO_CLASS);
}

/* ---- groups ---- */

/* By size, text, pointers; then the most frequent first. */
static int compare_patterns(const void *a, const void *b, void *arg)
{
	const struct pattern *all = arg;
	const struct pattern *x = &all[*(const uint32_t *)a];
	const struct pattern *y = &all[*(const uint32_t *)b];
	int x_bits = __builtin_popcountll(x->pointers);
	int y_bits = __builtin_popcountll(y->pointers);

	if (x->usable != y->usable)
		return x->usable < y->usable ? -1 : 1;
	if (x->text != y->text)
		return x->text - y->text;
	if (x_bits != y_bits)
		return y_bits - x_bits;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->pointers != y->pointers)
		return x->pointers < y->pointers ? -1 : 1;
	return x->plain < y->plain ? -1 : x->plain > y->plain;
}

struct group_masks {
	uint64_t pointers, plain, members;
};

static bool joins_group(const struct pattern *p, const struct hi_leak_group *g,
			const struct group_masks *m)
{
	if (p->usable != g->usable || p->text != g->text)
		return false;
	if (!p->pointers && !m->pointers)
		return true;
	return (p->pointers & m->pointers) && !(p->pointers & m->plain) &&
	       !(p->plain & m->pointers);
}

static bool join_leak_patterns(struct leak_namer *n, struct group_masks *masks,
			       const uint32_t *order)
{
	struct hi_leak_groups *groups = n->groups;
	size_t first = 0; /* group of this size */

	for (size_t i = 0; i < n->patterns.count; i++) {
		struct pattern *p = &n->patterns.items[order[i]];
		size_t k;

		while (first < groups->count && groups->items[first].usable != p->usable)
			first++;
		for (k = first; k < groups->count; k++)
			if (k - first == MAX_OF_SIZE - 1 ||
			    joins_group(p, &groups->items[k], &masks[k]))
				break;
		if (k == groups->count)
			groups->items[groups->count++] = (struct hi_leak_group){
				.usable = p->usable, .text = p->text};
		masks[k].pointers |= p->pointers;
		masks[k].plain |= p->plain;
		masks[k].members += p->count;
		groups->items[k].pointers =
			(uint32_t)__builtin_popcountll(masks[k].pointers);
		p->group = (uint32_t)k + 1;
	}
	return true;
}

/* Nodes of a group, evenly. */
static bool take_samples(struct leak_namer *n, const struct group_masks *masks)
{
	size_t count = n->groups->count;
	HI_GUARD(free) uint64_t *seen = hi_calloc(count + 1, sizeof(*seen));
	HI_GUARD(free) uint32_t *taken = hi_calloc(count + 1, sizeof(*taken));

	if (!seen || !taken || !hi_vector_reserve(&n->samples, count * SAMPLES + 1))
		return false;
	n->samples.count = count * SAMPLES;
	for (size_t i = 0; i < n->samples.count; i++)
		n->samples.items[i] = HI_NODE_NONE;
	for (size_t i = 0; i < n->nodes.count; i++) {
		size_t k = n->patterns.items[n->pattern_of.items[i]].group - 1;
		uint64_t step = masks[k].members / SAMPLES + 1;

		if (seen[k]++ % step == 0 && taken[k] < SAMPLES)
			n->samples.items[k * SAMPLES + taken[k]++] = n->nodes.items[i];
	}
	return true;
}

static bool group_leaked(struct leak_namer *n)
{
	size_t count = n->patterns.count;
	HI_GUARD(free) uint32_t *order = hi_calloc(count + 1, sizeof(*order));
	HI_GUARD(free) struct group_masks *masks = hi_calloc(count + 1, sizeof(*masks));

	n->groups->items = hi_calloc(count + 1, sizeof(*n->groups->items));
	if (!order || !masks || !n->groups->items)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_patterns, n->patterns.items);
	if (!join_leak_patterns(n, masks, order) || !take_samples(n, masks))
		return false;
	for (size_t i = 0; i < n->nodes.count; i++)
		n->pattern_of.items[i] = n->patterns.items[n->pattern_of.items[i]].group;
	n->groups->n_nodes = n->nodes.count;
	n->groups->nodes = hi_take(n->nodes.items);
	n->groups->group_of = hi_take(n->pattern_of.items);
	return true;
}

/* ---- what may fit ---- */

static int compare_usable(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool list_sizes(struct leak_namer *n)
{
	for (size_t i = 0; i < n->groups->count; i++) {
		uint64_t usable = n->groups->items[i].usable;

		/* Groups are sorted by it. */
		if (usable <= MAX_USABLE &&
		    (!n->sizes.count || n->sizes.items[n->sizes.count - 1] != usable) &&
		    !hi_vector_push(&n->sizes, usable))
			return false;
	}
	return true;
}

static bool wants_usable(const struct leak_namer *n, uint64_t usable)
{
	return n->sizes.count && bsearch(&usable, n->sizes.items, n->sizes.count,
					 sizeof(usable), compare_usable);
}

static bool wants_record_size(uint64_t size, void *arg)
{
	const struct leak_namer *n = arg;

	return size && size <= MAX_USABLE &&
	       wants_usable(n, hi_fit_usable(&n->typing->layouts->sizes, size));
}

static bool take_own_record(const struct hi_type *type, void *arg)
{
	struct leak_namer *n = arg;
	struct candidate_type c = {type,
				   hi_fit_usable(&n->typing->layouts->sizes, type->size)};

	if (type->kind == HI_KIND_STRUCT && *type->name && wants_usable(n, c.usable) &&
	    !hi_vector_push(&n->records, c))
		n->no_memory = true;
	return !n->no_memory;
}

static void add_live_object(struct leak_namer *n, uint32_t *index_of, hi_node node)
{
	uint32_t type = n->graph->objects->type[node];
	uint64_t usable = hi_object_usable(n->graph->objects, node);
	struct live_type *live;

	if (!type || type >= n->graph->n_types || type >= n->typing->n_types ||
	    n->graph->types[type].klass != HI_TYPE_RECORD || !wants_usable(n, usable) ||
	    n->graph->objects->flags[node] & HI_OBJECT_ARRAY)
		return;
	if (!index_of[type]) {
		if (!hi_vector_push(&n->live, ((struct live_type){.type = type,
								  .usable = usable}))) {
			n->no_memory = true;
			return;
		}
		index_of[type] = (uint32_t)n->live.count;
	}
	live = &n->live.items[index_of[type] - 1];
	if (live->usable != usable)
		return;
	live->count++;
	if (live->n_samples < LIVE_SAMPLES)
		live->samples[live->n_samples++] = node;
	else if ((live->count & (live->count - 1)) == 0)
		live->samples[live->count % LIVE_SAMPLES] = node;
}

static bool list_live_types(struct leak_namer *n)
{
	HI_GUARD(free)
	uint32_t *index_of = hi_calloc(n->graph->n_types + 1ul, sizeof(*index_of));

	if (!index_of)
		return false;
	for (hi_node i = 0; i < n->graph->n_objects && !n->no_memory; i++)
		if (hi_bit(n->reach->any, i))
			add_live_object(n, index_of, i);
	for (size_t i = 0; i < n->live.count; i++) {
		struct live_type *live = &n->live.items[i];
		struct hi_fit_block b;

		for (uint32_t k = 0; k < live->n_samples; k++) {
			if (!hi_fit_read(n->typing, n->graph->objects, live->samples[k],
					 &b))
				continue;
			live->pointers |= b.objects | b.modules;
			live->plain |= b.plain;
		}
	}
	return !n->no_memory;
}

/* ---- names of one group ---- */

static const struct hi_type *type_of_live(const struct leak_namer *n, uint32_t type)
{
	uint32_t layout = n->typing->layout_of_type[type];

	return layout >= HI_LAYOUT_FIRST
		       ? hi_layouts_get(n->typing->layouts, layout)->type
		       : NULL;
}

static uint32_t points_of_record(struct leak_namer *n, const struct hi_type *type)
{
	struct hi_fit_score score = {};

	if (!hi_fit_flatten(n->typing, type, &n->record))
		return 0;
	for (uint32_t i = 0; i < n->n_blocks && !score.contradicted; i++)
		hi_fit_add(n->typing, n->graph->objects, &n->record, &n->blocks[i],
			   &score);
	return hi_fit_points(&score);
}

/* Words of the blocks hold what they hold in live objects. */
static bool looks_like_live(const struct leak_namer *n, const struct live_type *live)
{
	for (uint32_t i = 0; i < n->n_blocks; i++) {
		const struct hi_fit_block *b = &n->blocks[i];

		if ((b->objects | b->modules) & ~live->pointers)
			return false;
		if (b->plain & live->pointers & ~live->plain)
			return false;
	}
	return true;
}

/* The only one, or by far the best. */
static void find_live_likeness(struct leak_namer *n, struct hi_leak_group *group)
{
	uint32_t best = 0, second = 0;

	for (size_t i = 0; i < n->live.count; i++) {
		const struct live_type *live = &n->live.items[i];
		const struct hi_type *type = type_of_live(n, live->type);
		uint32_t points;

		if (live->usable != group->usable || !type || !looks_like_live(n, live))
			continue;
		points = points_of_record(n, type);
		if (points > best) {
			second = best;
			best = points;
			group->like = live->type;
			group->n_like = live->count;
		} else if (points > second) {
			second = points;
		}
	}
	if (best && second * 2 <= best)
		return;
	group->like = 0;
	group->n_like = 0;
}

struct found_fit {
	const char *name;
	uint32_t points;
};

static int compare_fits(const void *a, const void *b)
{
	const struct found_fit *x = a, *y = b;

	if (x->points != y->points)
		return x->points > y->points ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void keep_fits(struct leak_namer *n, struct hi_leak_group *group,
		      struct found_fit *fits, size_t count)
{
	size_t equal = 0;

	if (!count)
		return;
	qsort(fits, count, sizeof(*fits), compare_fits);
	while (equal < count && fits[equal].points == fits[0].points)
		equal++;
	if (equal > EQUALS)
		return;
	for (size_t i = 0; i < count && group->n_fits < HI_LEAK_FITS; i++) {
		if (fits[i].points * 2 < fits[0].points)
			break;
		if (group->n_fits &&
		    strcmp(group->fits[group->n_fits - 1], fits[i].name) == 0)
			continue;
		group->fits[group->n_fits] =
			hi_arena_strdup(&n->groups->arena, fits[i].name);
		if (!group->fits[group->n_fits]) {
			n->no_memory = true;
			break;
		}
		group->n_fits++;
	}
}

static void find_record_fits(struct leak_namer *n, struct hi_leak_group *group)
{
	struct HI_VECTOR(struct found_fit) fits = {};

	for (size_t i = 0; i < n->records.count && !n->no_memory; i++) {
		uint32_t points;

		if (n->records.items[i].usable != group->usable)
			continue;
		points = points_of_record(n, n->records.items[i].type);
		if (points &&
		    !hi_vector_push(
			    &fits,
			    ((struct found_fit){n->records.items[i].type->name, points})))
			n->no_memory = true;
	}
	keep_fits(n, group, fits.items, fits.count);
	hi_vector_free(&fits);
}

static void name_group(struct leak_namer *n, size_t index)
{
	struct hi_leak_group *group = &n->groups->items[index];

	n->n_blocks = 0;
	for (unsigned i = 0; i < SAMPLES; i++) {
		hi_node node = n->samples.items[index * SAMPLES + i];

		if (node != HI_NODE_NONE && hi_fit_read(n->typing, n->graph->objects,
							node, &n->blocks[n->n_blocks]))
			n->n_blocks++;
	}
	if (!n->n_blocks)
		return;
	find_live_likeness(n, group);
	find_record_fits(n, group);
}

/* ---- all ---- */

struct group_size {
	uint64_t bytes;
	size_t index;
};

static int compare_group_sizes(const void *a, const void *b)
{
	const struct group_size *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool name_largest_groups(struct leak_namer *n)
{
	const struct hi_leak_groups *groups = n->groups;
	HI_GUARD(free)
	struct group_size *order = hi_calloc(groups->count + 1, sizeof(*order));

	n->blocks = hi_calloc(SAMPLES, sizeof(*n->blocks));
	if (!order || !n->blocks)
		return false;
	for (size_t i = 0; i < groups->count; i++)
		order[i].index = i;
	for (size_t i = 0; i < groups->n_nodes; i++) {
		size_t k = groups->group_of[i] - 1;

		order[k].bytes += groups->items[k].usable;
	}
	qsort(order, groups->count, sizeof(*order), compare_group_sizes);
	for (size_t i = 0; i < groups->count && i < MAX_NAMED && !n->no_memory; i++)
		if (groups->items[order[i].index].usable <= MAX_USABLE)
			name_group(n, order[i].index);
	return !n->no_memory;
}

static enum hi_status name_all_groups(struct leak_namer *n, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!group_leaked(n))
		return hi_fail_memory(err, "names of leaks");
	if (!n->types || n->typing->conservative)
		return HI_OK;
	if (!list_sizes(n) || !list_live_types(n))
		return hi_fail_memory(err, "names of leaks");
	if (n->sizes.count)
		status = hi_types_each_own_record(n->types, wants_record_size,
						  max_named_dwarf, take_own_record, n,
						  err);
	if (status == HI_OK && (n->no_memory || !name_largest_groups(n)))
		status = hi_fail_memory(err, "names of leaks");
	return status;
}

/* Pointers behind a text may be left over from an earlier use of the block: where nothing
 * else is known of them, such blocks belong to the texts of their size. */
static bool join_texts(struct leak_namer *n)
{
	struct hi_leak_groups *groups = n->groups;
	HI_GUARD(free) bool *has_other = hi_calloc(groups->count + 1, sizeof(*has_other));
	HI_GUARD(free) uint32_t *joined = hi_calloc(groups->count + 1, sizeof(*joined));

	if (!has_other || !joined)
		return false;
	for (size_t i = 0; i < n->patterns.count; i++)
		has_other[n->patterns.items[i].group - 1] |= !n->patterns.items[i].begins;
	for (uint32_t k = 0; k < groups->count; k++) {
		const struct hi_leak_group *text = &groups->items[k];

		for (uint32_t i = k; text->text && i-- > 0;) {
			const struct hi_leak_group *g = &groups->items[i];

			if (g->usable != text->usable)
				break;
			if (!has_other[i] && !g->like && !g->n_fits)
				joined[i] = k + 1;
		}
	}
	for (size_t i = 0; i < groups->n_nodes; i++)
		if (joined[groups->group_of[i] - 1])
			groups->group_of[i] = joined[groups->group_of[i] - 1];
	return true;
}

static void free_namer(struct leak_namer *n)
{
	hi_table_free(&n->by_hash);
	hi_vector_free(&n->patterns);
	hi_vector_free(&n->nodes);
	hi_vector_free(&n->pattern_of);
	hi_vector_free(&n->records);
	hi_vector_free(&n->live);
	hi_vector_free(&n->sizes);
	hi_vector_free(&n->samples);
	free(n->blocks);
}

enum hi_status hi_leak_names_find(struct hi_typing *typing, struct hi_types *types,
				  const struct hi_graph *graph,
				  const struct hi_reach *reach,
				  struct hi_leak_groups **ret, struct hi_error *err)
{
	struct leak_namer n = {
		.typing = typing, .types = types, .graph = graph, .reach = reach};
	HI_GUARD(hi_leak_groups_destroy) struct hi_leak_groups *groups = NULL;
	enum hi_status status = HI_OK;

	*ret = NULL;
	if (!reach->leak_objects)
		return HI_OK;
	n.groups = groups = hi_calloc(1, sizeof(*groups));
	if (!groups)
		return hi_fail_memory(err, "names of leaks");
	for (hi_node i = 0; i < graph->n_objects && !n.no_memory; i++)
		if (is_unnamed_leak(&n, i))
			add_leaked(&n, i);
	if (n.no_memory)
		status = hi_fail_memory(err, "names of leaks");
	else if (n.nodes.count)
		status = name_all_groups(&n, err);
	if (status == HI_OK && groups->count && !join_texts(&n))
		status = hi_fail_memory(err, "names of leaks");
	if (status == HI_OK && groups->count)
		*ret = hi_take(groups);
	free_namer(&n);
	return status;
}
