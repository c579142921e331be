/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels propagate breadth-first: from the labelled objects in the order of their ids,
 * then from the objects that got a label, in the order in which they got it. So an object
 * has the label of one of the nearest labelled objects, and always the same.
 */
#include "decode/inference/field_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"

/* GCC makes vectors of branch-free passes at -O3 only. */
#if defined(__GNUC__) && !defined(__clang__)
#define HI_VECTORS __attribute__((optimize("O3")))
#else
#define HI_VECTORS
#endif

enum { EXACT_SIZES = 512, BATCH = 32, AHEAD = 16 };

/* What one type of the graph stands for. */
struct combination {
	uint32_t label; /* rank by text */
	bool indirect;
	uint64_t size_class;
	uint32_t number; /* as found */
};

struct naming {
	struct hi_objects *objects;
	bool *is_tagged; /* per chunk: some object in it has a tag */
	struct hi_graph_builder *builder;
	hi_field_label_fn *label;
	void *arg;
	uint32_t n_labels;
	uint32_t *rank;		 /* by id: rank of the label's text */
	uint32_t *of_rank;	 /* a label with this rank */
	struct hi_table numbers; /* combination -> its number */
	struct HI_VECTOR(struct combination) found;
	struct hi_arena strings;
};

uint64_t hi_size_class(uint64_t usable)
{
	if (usable <= EXACT_SIZES)
		return usable;
	if (usable > UINT64_C(1) << 63)
		return UINT64_C(1) << 63;
	return UINT64_C(1) << (64 - __builtin_clzll(usable - 1));
}

char *hi_size_class_text(char out[32], uint64_t size_class)
{
	static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB"};
	const char *most = size_class > EXACT_SIZES ? "≤ " : "";
	unsigned unit = 0;

	while (size_class > EXACT_SIZES && unit < 6) {
		size_class = size_class / 1024 + (size_class % 1024 != 0);
		unit++;
	}
	snprintf(out, 32, "%s%llu %s", most, (unsigned long long)size_class, units[unit]);
	return out;
}

/* ---- labels by their texts ---- */

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static const char *owner_of(const struct hi_field_label *label)
{
	static const char *const words[] = {"struct ", "class ", "union "};
	const char *owner = text_or_empty(label->owner);

	for (unsigned i = 0; i < 3; i++)
		if (strncmp(owner, words[i], strlen(words[i])) == 0)
			return owner + strlen(words[i]);
	return owner;
}

static int compare_label_texts(const void *a, const void *b, void *arg)
{
	const struct naming *n = arg;
	const struct hi_field_label *x = n->label(n->arg, *(const uint32_t *)a);
	const struct hi_field_label *y = n->label(n->arg, *(const uint32_t *)b);
	int order = strcmp(owner_of(x), owner_of(y));

	if (order == 0)
		order = strcmp(text_or_empty(x->field), text_or_empty(y->field));
	return order ? order : strcmp(text_or_empty(x->module), text_or_empty(y->module));
}

HI_VECTORS
bool hi_types_have_any(const uint32_t *type, size_t n, uint32_t bits)
{
	uint32_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= type[i];
	return all & bits;
}

static size_t count_label_chunks(const struct naming *n)
{
	return ((size_t)n->objects->count + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT;
}

static hi_node end_of_chunk(const struct naming *n, size_t chunk)
{
	size_t end = (chunk + 1) << HI_CHUNK_SHIFT;

	return end < n->objects->count ? (hi_node)end : n->objects->count;
}

/* Most chunks of a typed heap have no tag at all. */
static enum hi_status find_tagged_chunks(struct naming *n, struct hi_error *err)
{
	size_t n_chunks = count_label_chunks(n);

	if (!n->is_tagged)
		n->is_tagged = hi_calloc(n_chunks + 1, sizeof(*n->is_tagged));
	if (!n->is_tagged)
		return hi_fail_memory(err, "names by field");
	for (size_t k = 0; k < n_chunks; k++) {
		hi_node first = (hi_node)(k << HI_CHUNK_SHIFT);

		n->is_tagged[k] =
			hi_types_have_any(n->objects->type + first,
					  end_of_chunk(n, k) - first, HI_FIELD_LABEL_TAG);
	}
	return HI_OK;
}

/* The next object with a tag from *at on, and one past it in *at. */
static bool next_tagged(const struct naming *n, hi_node *at, hi_node *ret)
{
	const uint32_t *type = n->objects->type;

	while (*at < n->objects->count) {
		size_t chunk = *at >> HI_CHUNK_SHIFT;
		hi_node end = end_of_chunk(n, chunk);

		for (; n->is_tagged[chunk] && *at < end; (*at)++)
			if (type[*at] & HI_FIELD_LABEL_TAG) {
				*ret = (*at)++;
				return true;
			}
		*at = end;
	}
	return false;
}

static enum hi_status rank_labels(struct naming *n, struct hi_error *err)
{
	HI_GUARD(free) uint32_t *ids = hi_calloc((size_t)n->n_labels + 1, sizeof(*ids));
	uint32_t rank = 0;

	n->rank = hi_calloc((size_t)n->n_labels + 1, sizeof(*n->rank));
	n->of_rank = hi_calloc((size_t)n->n_labels + 1, sizeof(*n->of_rank));
	if (!ids || !n->rank || !n->of_rank)
		return hi_fail_memory(err, "names by field");
	for (uint32_t i = 0; i < n->n_labels; i++)
		ids[i] = i + 1;
	if (n->n_labels)
		qsort_r(ids, n->n_labels, sizeof(*ids), compare_label_texts, n);
	for (uint32_t i = 0; i < n->n_labels; i++) {
		rank += i && compare_label_texts(&ids[i - 1], &ids[i], n) != 0;
		n->rank[ids[i]] = rank;
		n->of_rank[rank] = ids[i];
	}
	return HI_OK;
}

/* ---- propagation ---- */

struct queue {
	hi_node *nodes; /* pages, touched as far as they are used */
	size_t count;
};

/* A few nodes at once, so that their cache misses overlap. */
struct batch {
	hi_node nodes[BATCH];
	struct hi_edges edges[BATCH];
	unsigned count;
};

static void give_label(struct naming *n, struct queue *queue, uint32_t label,
		       const struct hi_edges *edges)
{
	uint32_t *type = n->objects->type;

	for (uint32_t e = 0; e < edges->count; e++) {
		hi_node to = edges->to[e];

		if (type[to] || edges->grade[e] == HI_GRADE_WEAK ||
		    n->objects->flags[to] & HI_OBJECT_INTERNAL)
			continue;
		type[to] = label | HI_FIELD_LABEL_INDIRECT;
		queue->nodes[queue->count++] = to;
	}
}

static void propagate_from(struct naming *n, struct queue *queue, struct batch *batch)
{
	const uint32_t *type = n->objects->type;

	for (unsigned i = 0; i < batch->count; i++) {
		batch->edges[i] = hi_graph_builder_edges(n->builder, batch->nodes[i]);
		__builtin_prefetch(batch->edges[i].to);
		__builtin_prefetch(batch->edges[i].grade);
	}
	for (unsigned i = 0; i < batch->count; i++)
		for (uint32_t e = 0; e < batch->edges[i].count && e < AHEAD; e++)
			__builtin_prefetch(&type[batch->edges[i].to[e]]);
	for (unsigned i = 0; i < batch->count; i++)
		give_label(n, queue, type[batch->nodes[i]], &batch->edges[i]);
	batch->count = 0;
}

static enum hi_status propagate_labels(struct naming *n, struct hi_error *err)
{
	const uint32_t *type = n->objects->type;
	size_t size = (size_t)n->objects->count * sizeof(hi_node);
	struct queue queue = {.nodes = hi_pages_alloc(size)};
	struct batch batch = {};
	hi_node at = 0, id;

	if (!queue.nodes && size)
		return hi_fail_memory(err, "names by field");
	while (next_tagged(n, &at, &id)) {
		if (!(type[id] & HI_FIELD_LABEL_INDIRECT))
			batch.nodes[batch.count++] = id;
		if (batch.count == BATCH)
			propagate_from(n, &queue, &batch);
	}
	propagate_from(n, &queue, &batch);
	for (size_t i = 0; i < queue.count;) {
		while (i < queue.count && batch.count < BATCH)
			batch.nodes[batch.count++] = queue.nodes[i++];
		propagate_from(n, &queue, &batch);
	}
	hi_pages_free(queue.nodes, size);
	return HI_OK;
}

/* ---- combinations become types ---- */

/* Its rank in 30 bits, 1 for indirect, and the size class: its bytes while they are
 * exact, else its exponent behind them. */
static uint64_t combination_key(const struct combination *c)
{
	uint64_t size = c->size_class <= EXACT_SIZES
				? c->size_class
				: EXACT_SIZES + (uint64_t)__builtin_ctzll(c->size_class);

	return (uint64_t)c->label << 11 | (uint64_t)c->indirect << 10 | size;
}

static enum hi_status find_combination(struct naming *n, hi_node id, uint32_t *number_ret,
				       struct hi_error *err)
{
	uint32_t tagged = n->objects->type[id];
	struct combination c = {.label = n->rank[tagged & HI_FIELD_LABEL_MAX],
				.indirect = tagged & HI_FIELD_LABEL_INDIRECT,
				.size_class =
					hi_size_class(hi_objects_usable(n->objects, id)),
				.number = (uint32_t)n->found.count};
	uint64_t key = combination_key(&c), number = c.number;

	if (!hi_table_get(&n->numbers, key, &number) &&
	    (!hi_table_put(&n->numbers, key, number) || !hi_vector_push(&n->found, c)))
		return hi_fail_memory(err, "names by field");
	*number_ret = (uint32_t)number;
	return HI_OK;
}

/* The column holds tagged numbers of combinations from here. */
static enum hi_status find_combinations(struct naming *n, struct hi_error *err)
{
	enum hi_status status = find_tagged_chunks(n, err);
	hi_node at = 0, i;

	while (status == HI_OK && next_tagged(n, &at, &i)) {
		uint32_t number = 0;

		status = find_combination(n, i, &number, err);
		if (status == HI_OK)
			n->objects->type[i] = HI_FIELD_LABEL_TAG | number;
	}
	return status;
}

static int compare_combination_names(const void *a, const void *b)
{
	const struct combination *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->indirect != y->indirect)
		return x->indirect ? 1 : -1;
	return x->size_class < y->size_class ? -1 : x->size_class > y->size_class;
}

const char *hi_field_joint(const char *owner, const char *field)
{
	if (!*owner || !*field || strchr("[. ", *field))
		return "";
	return *field == '(' ? " " : ".";
}

static enum hi_status add_type(struct naming *n, const struct combination *c,
			       uint32_t *id_ret, struct hi_error *err)
{
	const struct hi_field_label *label = n->label(n->arg, n->of_rank[c->label]);
	const char *owner = owner_of(label), *field = text_or_empty(label->field);
	char size[32];
	struct hi_type_name type = {
		.name = hi_arena_printf(&n->strings, "via %s%s%s%s, %s", owner,
					hi_field_joint(owner, field), field,
					c->indirect ? " …" : "",
					hi_size_class_text(size, c->size_class)),
		.klass = HI_TYPE_FIELD,
		.module = label->module,
		.owner = owner,
		.field = field,
		.size_class = c->size_class,
		.indirect = c->indirect};

	if (!type.name)
		return hi_fail_memory(err, "names by field");
	return hi_graph_builder_type(n->builder, &type, id_ret, err);
}

/* Types in the order of their names, so that equal heaps have equal ids. */
static enum hi_status add_field_types(struct naming *n, uint32_t *types,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (n->found.count > 1)
		qsort(n->found.items, n->found.count, sizeof(*n->found.items),
		      compare_combination_names);
	for (size_t i = 0; i < n->found.count && status == HI_OK; i++)
		status = add_type(n, &n->found.items[i], &types[n->found.items[i].number],
				  err);
	return status;
}

static enum hi_status name_objects(struct naming *n, struct hi_error *err)
{
	HI_GUARD(free)
	uint32_t *types = hi_calloc(n->found.count + 1, sizeof(*types));
	uint32_t *type = n->objects->type;
	enum hi_status status = HI_OK;
	hi_node at = 0, i;

	if (!types)
		return hi_fail_memory(err, "names by field");
	status = add_field_types(n, types, err);
	while (status == HI_OK && next_tagged(n, &at, &i))
		type[i] = types[type[i] & ~HI_FIELD_LABEL_TAG];
	return status;
}

/* ---- the pass ---- */

static enum hi_status check_label_tags(const struct naming *n, struct hi_error *err)
{
	hi_node at = 0, i;

	while (next_tagged(n, &at, &i))
		if ((n->objects->type[i] & ~HI_FIELD_LABEL_TAG) - 1 >= n->n_labels)
			return hi_fail(err, HI_USAGE, 0, "object %u has an unknown label",
				       i);
	return HI_OK;
}

static void naming_deinit(struct naming *n)
{
	free(n->rank);
	free(n->of_rank);
	free(n->is_tagged);
	hi_table_free(&n->numbers);
	hi_vector_free(&n->found);
	hi_arena_free(&n->strings);
}

enum hi_status hi_field_names_apply(struct hi_objects *objects,
				    struct hi_graph_builder *b, hi_field_label_fn *label,
				    void *arg, uint32_t n_labels, struct hi_error *err)
{
	struct naming n = {.objects = objects,
			   .builder = b,
			   .label = label,
			   .arg = arg,
			   .n_labels = n_labels};
	enum hi_status status;

	if (n_labels > HI_FIELD_LABEL_MAX)
		return hi_fail(err, HI_LIMIT, 0, "too many fields lead to unknown data");
	status = find_tagged_chunks(&n, err);
	if (status == HI_OK)
		status = check_label_tags(&n, err);
	if (status == HI_OK)
		status = rank_labels(&n, err);
	if (status == HI_OK)
		status = propagate_labels(&n, err);
	if (status == HI_OK)
		status = find_combinations(&n, err);
	if (status == HI_OK)
		status = name_objects(&n, err);
	naming_deinit(&n);
	return status;
}
