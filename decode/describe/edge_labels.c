/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/edge_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "decode/describe/describe.h"
#include "decode/describe/member_display.h"
#include "decode/inference/walker.h"

#define NO_TEXT SIZE_MAX

enum { TEXT_MAX = 512, FEW = 8, AHEAD = 16, POOL_MOST = 4 << 20 };

/* An object that the node refers to, and the word that does it best. */
struct target {
	uint64_t start, end; /* its bytes; at least one */
	hi_node node;
	bool found, exact;
	union {
		struct hi_reference best;
		struct hi_runtime_edge runtime_edge; /* found by a runtime */
	};
	struct hi_edge_name name;
	size_t text; /* offset of its words; NO_TEXT: the name has its own */
};

/* Words that were found before: those of a member are the same in every object. */
enum { KNOWN_BITS = 11, KNOWN = 1 << KNOWN_BITS };
struct known {
	const struct hi_layout *layout; /* NULL: empty */
	uint64_t within;
	const struct hi_layout *inner; /* at inner_at of the record, by a rule */
	uint64_t inner_at;
	const char *text; /* in the pool */
	uint32_t key;
	bool array;
	struct hi_shown_element element; /* used: the text has a mark */
	const char *keyless; /* then the same with an empty key in its place */
};

/*
 * Which edge a word is of. SORTED finds its object among those that the node refers to.
 * Of FEW_EDGES each is tried. The edges of a large array are in the order of its words,
 * mostly each to an object of its own (IN_ORDER): nothing is sorted then, and where it
 * turns out to be otherwise the node is looked at again.
 */
enum mode { SORTED, FEW_EDGES, IN_ORDER };

struct hi_edge_labels {
	struct known known[KNOWN];
	struct hi_arena pool;
	uint32_t n_keys;
	bool leaves_keys; /* names are for patterns */
	struct hi_typing *typing;
	const struct hi_graph *graph;
	struct hi_node_bytes place;
	struct hi_memory_window window, ahead; /* of this node; of one later */
	uint64_t base;		       /* of what lies inside, from the node's start */
	const struct hi_layout *inner; /* of that */
	enum mode mode;
	uint64_t low, span;    /* of all targets */
	struct hi_edges edges; /* IN_ORDER */
	uint64_t *seen;	       /* bits by node, all clear; or NULL */
	struct targets HI_VECTOR(struct target) targets; /* by node; each once */
	struct HI_VECTOR(uint32_t) of_edge;		 /* index in targets */
	struct HI_VECTOR(uint64_t) keys; /* to sort by; IN_ORDER: offset, has a slot */
	size_t expected;		 /* edge that the next word may be */
	struct HI_VECTOR(char) text;
	struct HI_VECTOR(struct hi_edge_name) names; /* of hi_edge_labels_of */
	struct hi_edge_texts texts;
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
	hi_vector_free(&l->names);
	hi_vector_free(&l->texts);
	hi_arena_free(&l->pool);
	free(l->seen);
	if (l->cursor)
		hi_runtime_cursor_free(l->typing->runtime, l->cursor);
	free(l->scratch);
	free(l);
}

static bool is_word_in_target(const struct target *t, uint64_t word)
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
	if (!is_word_in_target(t, word))
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

	next = next_target(l, word);
	if (next)
		return next;
	while (n > 1) {
		size_t half = n / 2;

		if (at[half].start <= word)
			at += half;
		n -= half;
	}
	return is_word_in_target(at, word) ? at : NULL;
}

/* The first exact one if there is any, else the first. */
static inline void keep_better_word(const struct hi_edge_labels *l, struct target *t,
				    uint64_t offset, uint64_t word,
				    struct hi_pointer_slot *slot)
{
	bool exact = slot && slot->kind == HI_POINTER_SLOT_TYPED;

	if (t->exact || (t->found && !exact))
		return;
	t->best = (struct hi_reference){.offset = offset,
					.word = word,
					.slot = slot,
					.inner = l->inner,
					.inner_at = l->base};
	t->found = true;
	t->exact = exact;
}

/* The bytes that the next word leads to, if edges are in the order of words. */
static void expect_next(struct hi_edge_labels *l)
{
	const struct hi_objects *o = l->graph->objects;
	size_t ahead = l->expected + AHEAD;
	hi_node to;

	l->span = 0;
	if (ahead < l->edges.count) {
		__builtin_prefetch(&o->address_low[l->edges.to[ahead]]);
		__builtin_prefetch(&o->usable_low[l->edges.to[ahead]]);
	}
	if (l->expected >= l->edges.count)
		return;
	to = l->edges.to[l->expected];
	l->low = hi_objects_address(o, to);
	l->span = hi_object_usable(o, to);
	l->span += !l->span;
}

/* No edge is made of a pointer to a function: whatever it holds, it is not the next. */
static void take_expected(struct hi_edge_labels *l, uint64_t offset,
			  struct hi_pointer_slot *slot)
{
	if (slot && slot->kind == HI_POINTER_SLOT_TYPED &&
	    atomic_load_explicit(&slot->layout, memory_order_relaxed) ==
		    HI_LAYOUT_FUNCTION)
		return;
	l->keys.items[l->expected++] = offset << 1 | (slot != NULL);
	expect_next(l);
}

static void keep_found_word(struct hi_edge_labels *l, uint64_t offset, uint64_t word,
			    struct hi_pointer_slot *slot)
{
	struct target *t;

	if (word - l->low >= l->span)
		return;
	if (l->mode == IN_ORDER) {
		take_expected(l, offset, slot);
	} else if (l->mode == FEW_EDGES) {
		for (size_t i = 0; i < l->targets.count; i++)
			if (is_word_in_target(&l->targets.items[i], word))
				keep_better_word(l, &l->targets.items[i], offset, word,
						 slot);
	} else if ((t = target_of(l, word))) {
		keep_better_word(l, t, offset, word, slot);
	}
}

static void find_target_in_slot(void *arg, uint64_t offset, struct hi_pointer_slot *slot)
{
	struct hi_edge_labels *l = arg;
	const uint8_t *at;
	uint64_t word;

	offset += l->base;
	at = l->place.value ? NULL
			    : hi_memory_windows_at(&l->typing->memory_windows, &l->window,
						   l->place.address + offset, 8);
	if (at)
		memcpy(&word, at, sizeof(word));
	else if (!hi_node_bytes_read(&l->place, offset, &word, sizeof(word)))
		return;
	keep_found_word(l, offset, word, slot);
}

static void find_targets_in_range(struct hi_edge_labels *l, uint64_t start, uint64_t end)
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
			keep_found_word(l, addr + i - l->place.address, word, NULL);
		}
}

static void find_targets_in_place(void *arg, const struct hi_layout *layout, bool array,
				  uint64_t addr, uint64_t end)
{
	struct hi_edge_labels *l = arg;
	uint64_t base = l->base;

	l->base = addr - l->place.address;
	l->inner = layout;
	hi_layout_words_until(layout, array, true, end - addr, find_target_in_slot, l);
	l->inner = NULL;
	l->base = base;
}

static void keep_rule_target(const struct hi_edge_labels *l, struct target *t,
			     const struct hi_rule_reference *reference, uint32_t layout)
{
	if (t->exact)
		return;
	t->best = (struct hi_reference){.offset = reference->at - l->place.address,
					.word = reference->word,
					.rule = reference->rule,
					.index = reference->index,
					.layout = layout};
	t->found = t->exact = true;
}

static void find_targets_by_rule(void *arg, const struct hi_rule_reference *reference,
				 uint32_t layout)
{
	struct hi_edge_labels *l = arg;
	struct target *t;

	if (!reference->own || reference->slot || reference->word - l->low >= l->span)
		return;
	if (l->mode == FEW_EDGES) {
		for (size_t i = 0; i < l->targets.count; i++)
			if (is_word_in_target(&l->targets.items[i], reference->word))
				keep_rule_target(l, &l->targets.items[i], reference,
						 layout);
	} else if ((t = target_of(l, reference->word))) {
		keep_rule_target(l, t, reference, layout);
	}
}

/* In the order of hi_node_bytes_find. */
static void find_all(struct hi_edge_labels *l)
{
	const struct hi_node_bytes *p = &l->place;

	if (p->layout && p->layout->klass != HI_TYPE_STRING)
		hi_layout_words(p->layout, p->array, p->size, find_target_in_slot, l);
	else if (p->value)
		for (uint64_t o = 0; o + 8 <= p->size; o += 8)
			find_target_in_slot(l, o, NULL);
	else if (!p->n_ranges)
		find_targets_in_range(l, p->address, p->address + p->size);
	if (p->layout && p->layout->n_rule_sites) {
		l->walker.value = p->value;
		hi_walker_rule_sites(&l->walker, p->layout, p->array, p->address,
				     p->size);
	}
	for (size_t i = 0; i < p->n_ranges; i++)
		find_targets_in_range(l, p->ranges[i].start, p->ranges[i].end);
}

static int compare_targets_by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void place_target(const struct hi_objects *o, hi_node node, struct target *t)
{
	uint64_t usable = hi_object_usable(o, node);

	t->node = node;
	t->start = hi_objects_address(o, node);
	t->end = t->start + (usable ? usable : 1);
	t->found = t->exact = false;
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
	qsort(keys, edges.count, sizeof(*keys), compare_targets_by_key);
	for (uint32_t i = 0; i < edges.count; i++) {
		hi_node node = (hi_node)(keys[i] >> 32);

		if (!i || l->targets.items[l->targets.count - 1].node != node) {
			struct target *t = &l->targets.items[l->targets.count++];

			place_target(l->graph->objects, node, t);
		}
		l->of_edge.items[(uint32_t)keys[i]] = (uint32_t)l->targets.count - 1;
	}
	l->of_edge.count = edges.count;
	l->mode = SORTED;
	l->low = l->targets.items[0].start;
	l->span = l->targets.items[l->targets.count - 1].end - l->low;
	return true;
}

/* One for each edge, in their order. */
static void list_few(struct hi_edge_labels *l, struct hi_edges edges)
{
	uint64_t low = UINT64_MAX, high = 0;

	l->mode = FEW_EDGES;
	l->targets.count = edges.count;
	for (uint32_t i = 0; i < edges.count; i++) {
		struct target *t = &l->targets.items[i];

		place_target(l->graph->objects, edges.to[i], t);
		low = t->start < low ? t->start : low;
		high = t->end > high ? t->end : high;
	}
	l->low = low;
	l->span = high - low;
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
	return l->cursor && l->place.layout && l->place.layout->managed &&
	       !l->place.layout->opaque;
}

static void keep_runtime_name(struct target *t, const struct hi_runtime_edge *edge)
{
	if (!t->found || edge->grade < t->runtime_edge.grade)
		t->runtime_edge = *edge;
	t->found = true;
}

/* hi_runtime_edge_fn */
static bool find_known_name(void *arg, const struct hi_runtime_edge *edge)
{
	struct hi_edge_labels *l = arg;
	struct target *t;

	if (edge->to - l->low >= l->span)
		return true;
	if (l->mode == FEW_EDGES) {
		for (size_t i = 0; i < l->targets.count; i++)
			if (is_word_in_target(&l->targets.items[i], edge->to))
				keep_runtime_name(&l->targets.items[i], edge);
	} else if ((t = target_of(l, edge->to))) {
		keep_runtime_name(t, edge);
	}
	return true;
}

/* ---- words ---- */

/* What the rest of a name depends on. */
static struct known key_of_rest(const struct hi_edge_labels *l,
				const struct hi_reference *ref, uint64_t within)
{
	struct known key = {.layout = l->place.layout,
			    .within = within,
			    .inner = ref->inner,
			    .array = l->place.array};

	if (ref->inner)
		key.inner_at = ref->inner_at - (ref->offset - within);
	return key;
}

static const char *keep_without_key(struct hi_edge_labels *l, const char *text,
				    const struct hi_shown_element *element)
{
	const char *mark = strchr(text, HI_SHOWN_MARK);

	if (!mark)
		return text;
	return hi_arena_printf(&l->pool, "%.*s%s%s", (int)(mark - text), text,
			       hi_shown_key_brackets(l->typing, element), mark + 1);
}

static __attribute__((noinline)) struct known *learn_rest(struct hi_edge_labels *l,
							  struct known *k,
							  const struct hi_reference *ref,
							  const struct known *key)
{
	char text[TEXT_MAX] = "";
	struct hi_out out = {.text = text, .size = sizeof(text)};
	struct hi_shown_element element;
	const char *kept;

	hi_reference_rest(&l->place, ref, key->within, &out, &element);
	kept = hi_arena_strdup(&l->pool, text);
	if (!kept)
		return NULL;
	*k = *key;
	k->text = kept;
	k->key = ++l->n_keys;
	k->element = element;
	k->keyless = kept;
	if (element.used)
		k->keyless = keep_without_key(l, kept, &element);
	return k->keyless ? k : NULL;
}

/* The rest of a name in a record or an array of them; NULL: no memory. */
static const struct known *known_rest(struct hi_edge_labels *l,
				      const struct hi_reference *ref, uint64_t within)
{
	struct known key = key_of_rest(l, ref, within);
	uint64_t hash = ((uintptr_t)key.layout >> 4) + within * 0x9e3779b97f4a7c15ull;
	struct known *k = &l->known[hash * 0x9e3779b97f4a7c15ull >> (64 - KNOWN_BITS)];

	if (k->layout == key.layout && k->within == within && k->array == key.array &&
	    k->inner == key.inner && k->inner_at == key.inner_at)
		return k;
	return learn_rest(l, k, ref, &key);
}

/* The key is this object's: a text of its own. False: no memory. */
static bool name_element(struct hi_edge_labels *l, const struct known *k,
			 struct target *t)
{
	struct hi_out out = {.size = TEXT_MAX};

	if (!hi_vector_reserve(&l->text, l->text.count + TEXT_MAX))
		return false;
	out.text = l->text.items + l->text.count;
	out.text[0] = 0;
	hi_shown_key_put(l->typing, &k->element,
			 l->place.address + t->best.offset - k->within, k->text, &out);
	t->text = l->text.count;
	l->text.count += out.length + 1;
	return true;
}

/* The text of an element is left open. NULL: there is no memory. */
static const struct known *name_typed(struct hi_edge_labels *l,
				      const struct hi_reference *ref,
				      struct hi_edge_name *name)
{
	static const struct known none;
	const struct known *k;
	uint64_t within;

	if (!hi_reference_begin(&l->place, ref, name, &within))
		return &none;
	k = known_rest(l, ref, within);
	if (k && (!k->element.used || l->leaves_keys)) {
		name->text = k->keyless;
		name->key = k->key;
	}
	return k;
}

static bool name_typed_target(struct hi_edge_labels *l, struct target *t)
{
	const struct known *k = name_typed(l, &t->best, &t->name);

	return k && (!k->element.used || l->leaves_keys || name_element(l, k, t));
}

static void name_managed(struct hi_edge_labels *l, const struct hi_runtime_edge *edge,
			 struct hi_edge_name *name, struct hi_out *out)
{
	char text[200] = "";

	name->number = edge->value;
	if (edge->label == HI_LABEL_INDEX) {
		name->kind = HI_NAME_INDEX;
	} else if (edge->label == HI_LABEL_OFFSET) {
		name->kind = HI_NAME_OFFSET;
	} else {
		l->typing->runtime->ops->label(l->cursor, edge, text, sizeof(text));
		hi_out_add(out, "%s", text);
	}
}

static void name_words(struct hi_edge_labels *l, struct target *t, struct hi_out *out)
{
	struct hi_shown_element none;
	uint64_t within;

	if (hi_reference_begin(&l->place, &t->best, &t->name, &within))
		hi_reference_rest(&l->place, &t->best, within, out, &none);
}

/* Behind the name of a variable all is one text. */
static void name_in_root(struct hi_edge_labels *l, const struct target *t,
			 const char *root, struct hi_out *out)
{
	char text[200] = "";

	hi_out_escaped(out, root);
	if (!t->found)
		return;
	if (is_managed(l)) {
		l->typing->runtime->ops->label(l->cursor, &t->runtime_edge, text,
					       sizeof(text));
		hi_out_add(out, "%s", text);
	} else {
		hi_reference_describe(&l->place, &t->best, out);
	}
}

static bool describe_target(struct hi_edge_labels *l, struct target *t, const char *root)
{
	struct hi_out out = {.size = TEXT_MAX};

	t->name = (struct hi_edge_name){};
	t->text = NO_TEXT;
	if (!root && t->found && !is_managed(l) && l->place.layout && l->place.type)
		return name_typed_target(l, t);
	if (!hi_vector_reserve(&l->text, l->text.count + TEXT_MAX))
		return false;
	out.text = l->text.items + l->text.count;
	out.text[0] = 0;
	if (root)
		name_in_root(l, t, root, &out);
	else if (t->found && is_managed(l))
		name_managed(l, &t->runtime_edge, &t->name, &out);
	else if (t->found)
		name_words(l, t, &out);
	t->text = l->text.count;
	l->text.count += out.length + 1;
	return true;
}

/* When all of them are described: texts move while they grow. */
static void give_name(const struct hi_edge_labels *l, const struct target *t,
		      struct hi_edge_name *ret)
{
	*ret = t->name;
	if (t->text != NO_TEXT)
		ret->text = l->text.items + t->text;
}

/* ---- a node ---- */

static bool no_two_are_one(struct hi_edge_labels *l)
{
	struct hi_edges e = l->edges;
	uint32_t n = 0;

	if (!l->seen)
		l->seen =
			hi_calloc((l->graph->n_objects + 63) / 64 + 1, sizeof(*l->seen));
	if (!l->seen)
		return false;
	for (; n < e.count && !hi_bit(l->seen, e.to[n]); n++)
		l->seen[e.to[n] >> 6] |= 1ull << (e.to[n] & 63);
	for (uint32_t i = 0; i < n; i++)
		l->seen[e.to[i] >> 6] = 0;
	return n == e.count;
}

/* Returns false if the rows are unsorted or memory ran out; the caller then takes the
 * slow path. */
static bool name_in_order(struct hi_edge_labels *l, struct hi_edges edges,
			  struct hi_edge_name *names)
{
	static struct hi_pointer_slot some;
	bool ok;

	if (l->place.is_root || is_managed(l) ||
	    (l->place.layout && l->place.layout->n_rule_sites) ||
	    !hi_vector_reserve(&l->keys, edges.count))
		return false;
	l->mode = IN_ORDER;
	l->edges = edges;
	l->expected = 0;
	expect_next(l);
	find_all(l);
	ok = l->expected == edges.count && no_two_are_one(l);
	for (uint32_t i = 0; i < edges.count && ok; i++) {
		struct hi_reference ref = {.offset = l->keys.items[i] >> 1,
					   .slot = l->keys.items[i] & 1 ? &some : NULL};
		const struct known *k = name_typed(l, &ref, &names[i]);

		ok = k && !k->element.used;
	}
	return ok;
}

static void forget_some(struct hi_edge_labels *l)
{
	if (l->pool.used < POOL_MOST)
		return;
	hi_arena_free(&l->pool);
	memset(l->known, 0, sizeof(l->known));
}

static bool name_edges(struct hi_edge_labels *l, hi_node node, struct hi_edges edges,
		       struct hi_edge_name *names)
{
	const char *root = NULL;

	if (edges.count <= FEW)
		list_few(l, edges);
	else if (name_in_order(l, edges, names))
		return true;
	else if (!list_targets(l, edges))
		return false;
	if (is_managed(l))
		l->typing->runtime->ops->edges(l->cursor, l->place.address, l->place.size,
					       l->place.layout->managed - 1,
					       find_known_name, l);
	else
		find_all(l);
	if (l->place.is_root)
		root = l->graph->roots[node - l->graph->n_objects].name;
	for (size_t i = 0; i < l->targets.count; i++)
		if (!describe_target(l, &l->targets.items[i], root))
			return false;
	for (uint32_t i = 0; i < edges.count; i++)
		give_name(l,
			  &l->targets.items[l->mode == SORTED ? l->of_edge.items[i] : i],
			  &names[i]);
	return true;
}

enum hi_status hi_edge_names_of(struct hi_edge_labels *l, hi_node node,
				struct hi_edge_name *names, struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(l->graph, node);

	if (!l->leaves_keys)
		look_ahead(l->graph, node + AHEAD);
	if (!edges.count || !hi_node_bytes_of(l->typing, l->graph, node, &l->place)) {
		if (edges.count)
			memset(names, 0, edges.count * sizeof(*names));
		return HI_OK;
	}
	forget_some(l);
	l->text.count = 0;
	l->base = 0;
	return name_edges(l, node, edges, names) ? HI_OK : hi_fail_memory(err, "labels");
}

void hi_edge_labels_look_at(struct hi_edge_labels *l, hi_node object, bool is_near)
{
	const struct hi_objects *o = l->graph->objects;

	if (!is_near) {
		__builtin_prefetch(&o->address_low[object]);
		__builtin_prefetch(&o->usable_low[object]);
		__builtin_prefetch(&o->type[object]);
		__builtin_prefetch(&o->flags[object]);
		return;
	}
	__builtin_prefetch(hi_memory_windows_at(&l->typing->memory_windows, &l->ahead,
						hi_objects_address(o, object), 1));
	look_ahead(l->graph, object);
}

enum hi_status hi_edge_patterns_of(struct hi_edge_labels *l, hi_node node,
				   struct hi_edge_name *names, struct hi_error *err)
{
	enum hi_status status;

	l->leaves_keys = true;
	status = hi_edge_names_of(l, node, names, err);
	l->leaves_keys = false;
	return status;
}

enum hi_status hi_edge_labels_of(struct hi_edge_labels *l, hi_node node, bool with_marks,
				 const char **texts, struct hi_error *err)
{
	uint32_t n = hi_graph_edges(l->graph, node).count;
	enum hi_status status;

	if (!hi_vector_reserve(&l->names, n))
		return hi_fail_memory(err, "labels");
	status = hi_edge_names_of(l, node, l->names.items, err);
	if (status == HI_OK &&
	    !hi_edge_names_texts(&l->texts, l->names.items, n, with_marks, texts))
		status = hi_fail_memory(err, "labels");
	return status;
}

enum hi_status hi_edge_labels_create(struct hi_typing *typing,
				     const struct hi_graph *graph,
				     struct hi_edge_labels **ret, struct hi_error *err)
{
	HI_GUARD(hi_edge_labels_destroy)
	struct hi_edge_labels *l = hi_calloc(1, sizeof(*l));

	if (!l || !(l->scratch = hi_alloc(HI_SPAN_SCRATCH)) ||
	    !hi_vector_reserve(&l->targets, FEW))
		return hi_fail_memory(err, "labels");
	l->typing = typing;
	l->graph = graph;
	if (typing->runtime && !(l->cursor = hi_runtime_cursor(typing->runtime)))
		return hi_fail_memory(err, "labels");
	hi_walker_init(&l->walker, typing);
	l->walker.arg = l;
	l->walker.words = find_targets_in_place;
	l->walker.reference = find_targets_by_rule;
	l->walker.own_only = true;
	*ret = hi_take(l);
	return HI_OK;
}
