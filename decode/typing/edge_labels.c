/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/typing/edge_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/typing/describe.h"
#include "decode/typing/walker.h"

enum { TEXT_MAX = 512, FEW = 8, AHEAD = 12 };

/* An object that the node refers to, and the word that does it best. */
struct target {
	hi_node node;
	uint64_t start, end; /* its bytes; at least one */
	bool found, exact;
	struct hi_reference best;
	struct hi_runtime_edge told; /* found by a runtime */
	uint32_t text;		     /* offset of its words */
};

/* Words that were found before: those of a member are the same in every object. */
enum { KNOWN = 2048, KNOWN_TEXT = 48 };
struct known {
	const struct hi_plan *plan; /* NULL: empty */
	const struct hi_rule *rule;
	uint64_t offset, index;
	bool array, slot;
	uint8_t length;
	char text[KNOWN_TEXT];
};

struct hi_edge_labels {
	struct known known[KNOWN];
	struct hi_typing *typing;
	const struct hi_graph *graph;
	struct hi_place place;
	struct hi_view view;
	uint64_t base; /* of what lies inside, from the place's start */
	struct targets HI_VECTOR(struct target) targets; /* by node; each once */
	struct HI_VECTOR(uint32_t) of_edge;		 /* index in targets */
	struct HI_VECTOR(uint64_t) keys;		 /* to sort by */
	size_t expected; /* edge that the next word may be */
	struct HI_VECTOR(char) text;
	struct hi_walker walker;
	struct hi_runtime_cursor *cursor; /* NULL: no runtime */
	uint8_t *scratch;
};
HI_DEFINE_GUARD(struct hi_edge_labels *, hi_edge_labels_destroy)

void hi_edge_labels_destroy(struct hi_edge_labels *l)
{
	if (!l)
		return;
	hi_vector_free(&l->targets);
	hi_vector_free(&l->of_edge);
	hi_vector_free(&l->keys);
	hi_vector_free(&l->text);
	if (l->cursor)
		hi_runtime_cursor_free(l->typing->runtime, l->cursor);
	free(l->scratch);
	free(l);
}

static bool holds(const struct target *t, uint64_t word)
{
	return word >= t->start && word < t->end;
}

/* The target of the edge that is expected next: edges are mostly in the order of the
 * words that they were found in. */
static struct target *next_target(struct hi_edge_labels *l, uint64_t word)
{
	struct target *t;

	if (l->expected >= l->of_edge.count)
		return NULL;
	t = &l->targets.items[l->of_edge.items[l->expected]];
	if (!holds(t, word))
		return NULL;
	if (++l->expected + AHEAD < l->of_edge.count)
		__builtin_prefetch(
			&l->targets.items[l->of_edge.items[l->expected + AHEAD]]);
	return t;
}

/* As hi_objects_find, among those that the node refers to. */
static struct target *target_of(struct hi_edge_labels *l, uint64_t word)
{
	struct target *at = l->targets.items;
	size_t n = l->targets.count;
	struct target *next;

	if (!n || word < at[0].start || word >= at[n - 1].end)
		return NULL;
	next = next_target(l, word);
	if (next)
		return next;
	while (n > 1) {
		size_t half = n / 2;

		if (at[half].start <= word)
			at += half;
		n -= half;
	}
	return holds(at, word) ? at : NULL;
}

/* The first exact one if there is any, else the first. */
static void found_word(struct hi_edge_labels *l, uint64_t offset, uint64_t word,
		       struct hi_slot *slot)
{
	bool exact = slot && slot->kind == HI_SLOT_POINTER;
	struct target *t = target_of(l, word);

	if (!t || t->exact || (t->found && !exact))
		return;
	t->best = (struct hi_reference){.offset = offset, .word = word, .slot = slot};
	t->found = true;
	t->exact = exact;
}

static void find_slot(void *arg, uint64_t offset, struct hi_slot *slot)
{
	struct hi_edge_labels *l = arg;
	const uint8_t *at;
	uint64_t word;

	offset += l->base;
	at = l->place.value ? NULL
			    : hi_views_at(&l->typing->views, &l->view,
					  l->place.address + offset, 8);
	if (at)
		memcpy(&word, at, sizeof(word));
	else if (!hi_place_read(&l->place, offset, &word, sizeof(word)))
		return;
	found_word(l, offset, word, slot);
}

static void find_in_range(struct hi_edge_labels *l, uint64_t start, uint64_t end)
{
	struct hi_spans spans = {.image = l->typing->image,
				 .addr = (start + 7) & ~(uint64_t)7,
				 .end = end,
				 .scratch = l->scratch};
	const uint8_t *host;
	uint64_t addr, size, word;

	while (hi_spans_next(&spans, &host, &addr, &size))
		for (uint64_t i = 0; i + 8 <= size; i += 8) {
			memcpy(&word, host + i, sizeof(word));
			found_word(l, addr + i - l->place.address, word, NULL);
		}
}

static void find_place(void *arg, const struct hi_plan *plan, bool array, uint64_t addr,
		       uint64_t end)
{
	struct hi_edge_labels *l = arg;
	uint64_t base = l->base;

	l->base = addr - l->place.address;
	hi_plan_words_until(plan, array, true, end - addr, find_slot, l);
	l->base = base;
}

static void find_claim(void *arg, const struct hi_claim *claim, uint32_t plan)
{
	struct hi_edge_labels *l = arg;
	struct target *t;

	if (!claim->own || claim->slot)
		return;
	t = target_of(l, claim->word);
	if (!t || t->exact)
		return;
	t->best = (struct hi_reference){.offset = claim->at - l->place.address,
					.word = claim->word,
					.rule = claim->rule,
					.index = claim->index,
					.plan = plan};
	t->found = t->exact = true;
}

/* In the order of hi_place_find. */
static void find_all(struct hi_edge_labels *l)
{
	const struct hi_place *p = &l->place;

	if (p->plan && p->plan->klass != HI_TYPE_STRING)
		hi_plan_words(p->plan, p->array, p->size, find_slot, l);
	else if (p->value)
		for (uint64_t o = 0; o + 8 <= p->size; o += 8)
			find_slot(l, o, NULL);
	else if (!p->n_ranges)
		find_in_range(l, p->address, p->address + p->size);
	if (p->plan && p->plan->n_sites) {
		l->walker.value = p->value;
		hi_walker_sites(&l->walker, p->plan, p->array, p->address, p->size);
	}
	for (size_t i = 0; i < p->n_ranges; i++)
		find_in_range(l, p->ranges[i].start, p->ranges[i].end);
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Most nodes have few edges. */
static void sort_keys(uint64_t *keys, size_t n)
{
	if (n > FEW) {
		qsort(keys, n, sizeof(*keys), by_key);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		uint64_t moved = keys[i];
		size_t at = i;

		for (; at && keys[at - 1] > moved; at--)
			keys[at] = keys[at - 1];
		keys[at] = moved;
	}
}

static void place_target(const struct hi_objects *o, struct target *t)
{
	uint64_t usable = hi_object_usable(o, t->node);

	t->start = hi_objects_address(o, t->node);
	t->end = t->start + (usable ? usable : 1);
}

/* By node and edge: each node once, and of each edge which one it leads to. */
static bool list_targets(struct hi_edge_labels *l, struct hi_edges edges)
{
	uint64_t *keys;

	l->expected = l->targets.count = l->of_edge.count = 0;
	if (!hi_vector_reserve(&l->targets, edges.count) ||
	    !hi_vector_reserve(&l->of_edge, edges.count) ||
	    !hi_vector_reserve(&l->keys, edges.count))
		return false;
	keys = l->keys.items;
	for (uint32_t i = 0; i < edges.count; i++)
		keys[i] = (uint64_t)edges.to[i] << 32 | i;
	sort_keys(keys, edges.count);
	for (uint32_t i = 0; i < edges.count; i++) {
		hi_node node = (hi_node)(keys[i] >> 32);

		if (!i || l->targets.items[l->targets.count - 1].node != node) {
			struct target *t = &l->targets.items[l->targets.count++];

			*t = (struct target){.node = node};
			place_target(l->graph->objects, t);
		}
		l->of_edge.items[(uint32_t)keys[i]] = (uint32_t)l->targets.count - 1;
	}
	l->of_edge.count = edges.count;
	return true;
}

/* Where the objects are that a node some way ahead refers to: each is a miss. */
static void look_ahead(const struct hi_graph *g, hi_node node)
{
	struct hi_edges edges;

	if (node >= g->n_objects)
		return;
	edges = hi_graph_edges(g, node);
	for (uint32_t i = 0; i < edges.count && i < FEW; i++) {
		__builtin_prefetch(&g->objects->address_low[edges.to[i]]);
		__builtin_prefetch(&g->objects->usable_low[edges.to[i]]);
	}
}

static bool is_managed(const struct hi_edge_labels *l)
{
	return l->cursor && l->place.plan && l->place.plan->managed &&
	       !l->place.plan->opaque;
}

/* hi_runtime_edge_fn */
static bool find_told(void *arg, const struct hi_runtime_edge *edge)
{
	struct target *t = target_of(arg, edge->to);

	if (t && (!t->found || edge->grade < t->told.grade)) {
		t->told = *edge;
		t->found = true;
	}
	return true;
}

static void describe_found(struct hi_edge_labels *l, const struct target *t,
			   struct hi_out *out)
{
	char text[200] = "";

	if (is_managed(l)) {
		l->typing->runtime->ops->label(l->cursor, &t->told, text, sizeof(text));
		hi_out_add(out, "%s", text);
	} else {
		hi_reference_describe(&l->place, &t->best, out);
	}
}

/* Where the words of a member would be; NULL: they depend on more than that. */
static struct known *place_of(struct hi_edge_labels *l, const struct target *t)
{
	const struct hi_place *p = &l->place;
	uint64_t hash;

	if (p->is_root || !p->plan || !p->type || is_managed(l))
		return NULL;
	hash = ((uintptr_t)p->plan >> 4) + t->best.offset * 0x9e3779b97f4a7c15ull +
	       t->best.index * 31;
	return &l->known[hash * 0x9e3779b97f4a7c15ull >> 53];
}

static bool is_known(const struct known *k, const struct hi_place *p,
		     const struct hi_reference *ref)
{
	return k->plan == p->plan && k->rule == ref->rule && k->offset == ref->offset &&
	       k->index == ref->index && k->array == p->array &&
	       k->slot == (ref->slot != NULL);
}

static void describe_again(struct hi_edge_labels *l, struct target *t, struct hi_out *out)
{
	struct known *k = place_of(l, t);

	if (!k || out->length) {
		describe_found(l, t, out);
		return;
	}
	if (is_known(k, &l->place, &t->best)) {
		memcpy(out->text, k->text, k->length + 1u);
		out->length = k->length;
		return;
	}
	describe_found(l, t, out);
	if (out->length >= KNOWN_TEXT)
		return;
	*k = (struct known){.plan = l->place.plan,
			    .rule = t->best.rule,
			    .offset = t->best.offset,
			    .index = t->best.index,
			    .array = l->place.array,
			    .slot = t->best.slot != NULL,
			    .length = (uint8_t)out->length};
	memcpy(k->text, out->text, out->length + 1);
}

static bool describe(struct hi_edge_labels *l, struct target *t, const char *root)
{
	struct hi_out out = {.size = TEXT_MAX};

	if (!hi_vector_reserve(&l->text, l->text.count + TEXT_MAX))
		return false;
	out.text = l->text.items + l->text.count;
	out.text[0] = 0;
	if (root)
		hi_out_escaped(&out, root);
	if (t->found)
		describe_again(l, t, &out);
	t->text = (uint32_t)l->text.count;
	l->text.count += out.length + 1;
	return l->text.count < UINT32_MAX - TEXT_MAX;
}

enum hi_status hi_edge_labels_of(struct hi_edge_labels *l, hi_node node,
				 const char **texts, struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(l->graph, node);
	const char *root = NULL;

	look_ahead(l->graph, node + AHEAD);
	if (!edges.count || !hi_place_of(l->typing, l->graph, node, &l->place)) {
		for (uint32_t i = 0; i < edges.count; i++)
			texts[i] = "";
		return HI_OK;
	}
	l->text.count = 0;
	l->base = 0;
	if (!list_targets(l, edges))
		return hi_fail_memory(err, "labels");
	if (is_managed(l))
		l->typing->runtime->ops->edges(l->cursor, l->place.address, l->place.size,
					       l->place.plan->managed - 1, find_told, l);
	else
		find_all(l);
	if (l->place.is_root)
		root = l->graph->roots[node - l->graph->n_objects].name;
	for (size_t i = 0; i < l->targets.count; i++)
		if (!describe(l, &l->targets.items[i], root))
			return hi_fail_memory(err, "labels");
	for (uint32_t i = 0; i < edges.count; i++)
		texts[i] = l->text.items + l->targets.items[l->of_edge.items[i]].text;
	return HI_OK;
}

enum hi_status hi_edge_labels_create(struct hi_typing *typing,
				     const struct hi_graph *graph,
				     struct hi_edge_labels **ret, struct hi_error *err)
{
	HI_GUARD(hi_edge_labels_destroy)
	struct hi_edge_labels *l = hi_calloc(1, sizeof(*l));

	if (!l || !(l->scratch = hi_alloc(HI_SPAN_SCRATCH)))
		return hi_fail_memory(err, "labels");
	l->typing = typing;
	l->graph = graph;
	if (typing->runtime && !(l->cursor = hi_runtime_cursor(typing->runtime)))
		return hi_fail_memory(err, "labels");
	hi_walker_init(&l->walker, typing);
	l->walker.arg = l;
	l->walker.words = find_place;
	l->walker.claim = find_claim;
	l->walker.own_only = true;
	*ret = hi_take(l);
	return HI_OK;
}
