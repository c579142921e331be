/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "census/analysis/field_pattern.h"
#include "census/analysis/groups_internal.h"
#include "census/graph/edge_name.h"

enum {
	MEMO_BITS = 10,
	TABLE = 16,	/* words without a name that lead to blocks of one kind */
	TAIL_MAX = 400, /* of a text that fits after any number (HI_EDGE_TEXT) */
};

/* The field of a name that was met before. */
struct field_memo {
	uint64_t number; /* of an offset */
	uint32_t key, kind;
	uint32_t field;
	bool used;
};

struct hi_field_maker {
	struct HI_VECTOR(struct hi_edge_name) names; /* of one node */
	struct HI_VECTOR(const char *) texts;	     /* the same, of a reader of texts */
	struct hi_edge_texts text;		     /* one name in one piece */
	struct field_memo memo[1 << MEMO_BITS];
	char last[HI_PATTERN_MAX]; /* the pattern that was interned last */
	uint32_t last_id;	   /* HI_NO_FIELD: none was */
};

/* ---- patterns ---- */

static bool intern_locked(struct hi_grouping *gr, const char *pattern, uint32_t *ret)
{
	uint64_t key = hi_hash_name(pattern) >> 1, known;
	const char *kept;

	while (hi_table_get(&gr->pattern_ids, key, &known)) {
		if (strcmp(gr->patterns.items[known], pattern) == 0) {
			*ret = (uint32_t)known;
			return true;
		}
		key = (key + 1) & INT64_MAX;
	}
	*ret = (uint32_t)gr->patterns.count;
	kept = hi_arena_strdup(&gr->arena, pattern);
	return kept && hi_vector_push(&gr->patterns, kept) &&
	       hi_table_put(&gr->pattern_ids, key, *ret);
}

bool hi_group_pattern_intern(struct hi_grouping *gr, const char *pattern, uint32_t *ret)
{
	bool ok;

	pthread_mutex_lock(&gr->pattern_lock);
	ok = intern_locked(gr, pattern, ret);
	pthread_mutex_unlock(&gr->pattern_lock);
	return ok;
}

const char *hi_grouping_pattern(const struct hi_grouping *gr, uint32_t field)
{
	return field < gr->patterns.count ? gr->patterns.items[field] : "";
}

/* ---- one name ---- */

/* The name as one text, without the node's own (hi_grouping_exact_name()). NULL: out of
 * memory. */
static const char *write_exact_name(const struct hi_grouping *gr,
				    struct hi_field_maker *m, hi_node node,
				    const struct hi_edge_name *name)
{
	const char *text;

	return hi_edge_names_texts(&m->text, name, 1, false, &text)
		       ? hi_grouping_exact_name(gr, node, text)
		       : NULL;
}

static bool make_field(struct hi_grouping *gr, struct hi_field_maker *m, const char *text,
		       uint32_t *ret)
{
	char pattern[HI_PATTERN_MAX];

	hi_field_pattern(text, pattern, sizeof(pattern));
	/* Patterns of an array are all the same. */
	if (m->last_id == HI_NO_FIELD || strcmp(pattern, m->last) != 0) {
		if (!hi_group_pattern_intern(gr, pattern, &m->last_id))
			return false;
		memcpy(m->last, pattern, strlen(pattern) + 1);
	}
	*ret = hi_field_pack(m->last_id, hi_field_is_link(text));
	return true;
}

/* Do all names of this key and kind have one pattern? Names of a root's edges begin with
 * the root's own, which is left out. */
static bool is_memorable(const struct hi_grouping *gr, hi_node node,
			 const struct hi_edge_name *name)
{
	return hi_graph_is_object(gr->graph, node) &&
	       (name->key || !name->text || !*name->text);
}

static struct field_memo *memo_of(struct hi_field_maker *m, const struct field_memo *key)
{
	uint64_t hash = (key->number ^ (uint64_t)key->key << 34 ^ key->kind) *
			0x9e3779b97f4a7c15ull;

	return &m->memo[hash >> (64 - MEMO_BITS)];
}

/* A longer text is cut, where depends on the number. */
static bool is_cut_by_number(const struct hi_edge_name *name)
{
	return name->kind == HI_NAME_INDEX && name->text && strlen(name->text) > TAIL_MAX;
}

static bool field_of_name(struct hi_grouping *gr, struct hi_field_maker *m, hi_node node,
			  const struct hi_edge_name *name, uint32_t *ret)
{
	struct field_memo key = {.number =
					 name->kind == HI_NAME_OFFSET ? name->number : 0,
				 .key = name->key,
				 .kind = name->kind,
				 .used = true};
	bool memorable = is_memorable(gr, node, name);
	struct field_memo *memo = memo_of(m, &key);
	const char *text;

	if (memorable && memo->used && memo->number == key.number &&
	    memo->key == key.key && memo->kind == key.kind) {
		*ret = memo->field;
		return true;
	}
	text = write_exact_name(gr, m, node, name);
	if (!text || !make_field(gr, m, text, &key.field))
		return false;
	if (memorable && !is_cut_by_number(name))
		*memo = key;
	*ret = key.field;
	return true;
}

/* ---- tables ---- */

/* The kind of a child that has no field of its own: its type and size. */
static uint64_t kind_of_child(const struct hi_graph *g, hi_node node)
{
	return (uint64_t)hi_group_type(g, node) << 32 | (uint32_t)hi_graph_cost(g, node);
}

/* " +0x8" as a text: of a root, or with the mark of a link at its end. */
static bool is_offset_name(const struct hi_grouping *gr, hi_node node,
			   const struct hi_edge_name *name)
{
	char text[32];
	const char *exact;
	size_t n;

	if (name->kind != HI_NAME_TEXT || !name->text)
		return name->kind == HI_NAME_OFFSET;
	exact = hi_grouping_exact_name(gr, node, name->text);
	n = strnlen(exact, sizeof(text));
	if (*exact != ' ' || n == sizeof(text))
		return false;
	memcpy(text, exact, n + 1);
	hi_edge_link_drop(text, n);
	return hi_field_is_offset(text);
}

static bool is_child_by_offset(const struct hi_grouping *gr, hi_node node, hi_node to,
			       const struct hi_edge_name *name)
{
	return is_offset_name(gr, node, name) && gr->dominators->idom[to] == node;
}

/*
 * Words of memory without a type have no names. If many lead to blocks of one kind
 * they are the elements of a table, whatever their offsets. Counts the children of each
 * kind; false: out of memory.
 */
static bool count_kinds(const struct hi_grouping *gr, hi_node node, struct hi_edges edges,
			const struct hi_edge_name *names, struct hi_table *counts)
{
	if (edges.count < TABLE)
		return true;
	for (uint32_t i = 0; i < edges.count; i++) {
		uint64_t n = 0, kind;

		if (!is_child_by_offset(gr, node, edges.to[i], &names[i]))
			continue;
		kind = kind_of_child(gr->graph, edges.to[i]);
		(void)hi_table_get(counts, kind, &n);
		if (!hi_table_put(counts, kind, n + 1))
			return false;
	}
	return true;
}

static bool is_of_table(const struct hi_grouping *gr, hi_node node, hi_node to,
			const struct hi_edge_name *name, const struct hi_table *counts)
{
	uint64_t n;

	return counts->count && is_child_by_offset(gr, node, to, name) &&
	       hi_table_get(counts, kind_of_child(gr->graph, to), &n) && n >= TABLE;
}

/* ---- the edges of a node ---- */

static bool reserve_names(struct hi_field_maker *m, uint32_t n)
{
	return hi_vector_reserve(&m->names, n) && hi_vector_reserve(&m->texts, n);
}

static enum hi_status read_texts_as_names(const struct hi_field_reader *reader,
					  struct hi_field_maker *m, hi_node node,
					  uint32_t n, struct hi_error *err)
{
	enum hi_status status = reader->read(reader->arg, node, m->texts.items, err);

	for (uint32_t i = 0; i < n && status == HI_OK; i++)
		m->names.items[i] = (struct hi_edge_name){.text = m->texts.items[i]};
	return status;
}

/* All names of a node's edges, or none (*ret NULL). */
static enum hi_status read_names(const struct hi_grouping *gr, unsigned worker,
				 hi_node node, const struct hi_edge_name **ret,
				 struct hi_error *err)
{
	const struct hi_field_reader *reader = gr->fields;
	struct hi_field_maker *m = &gr->makers[worker];
	uint32_t n = hi_graph_edges(gr->graph, node).count;
	enum hi_status status;

	*ret = NULL;
	if (!reader || !reader->read || n > gr->most_edges || n == 0)
		return HI_OK;
	if (!reserve_names(m, n))
		return hi_fail_memory(err, "groups");
	status = reader->names
			 ? reader->names(reader->arg, worker, node, m->names.items, err)
			 : read_texts_as_names(reader, m, node, n, err);
	if (status == HI_OK)
		*ret = m->names.items;
	return status;
}

/* Has the edge no say in the field of its other end? */
static bool is_passed_over(const struct hi_grouping *gr, hi_node node,
			   struct hi_edges edges, uint32_t i)
{
	hi_node to = edges.to[i];

	return gr->dominators->idom[to] != node || gr->field_of[to] ||
	       edges.grade[i] == HI_GRADE_WEAK;
}

static bool name_edges_of(struct hi_grouping *gr, struct hi_field_maker *m, hi_node node,
			  struct hi_edges edges, const struct hi_edge_name *names,
			  const struct hi_table *counts)
{
	for (uint32_t i = 0; i < edges.count; i++) {
		hi_node to = edges.to[i];
		bool ok;

		if (i + HI_GROUP_AHEAD < edges.count) {
			hi_node ahead = edges.to[i + HI_GROUP_AHEAD];

			__builtin_prefetch(&gr->dominators->idom[ahead]);
			__builtin_prefetch(&gr->field_of[ahead], 1);
		}
		if (is_passed_over(gr, node, edges, i))
			continue;
		ok = is_of_table(gr, node, to, &names[i], counts)
			     ? make_field(gr, m, "[]", &gr->field_of[to])
			     : field_of_name(gr, m, node, &names[i], &gr->field_of[to]);
		if (!ok)
			return false;
	}
	return true;
}

static void leave_unnamed(struct hi_grouping *gr, hi_node node, struct hi_edges edges)
{
	for (uint32_t i = 0; i < edges.count; i++)
		if (!is_passed_over(gr, node, edges, i))
			gr->field_of[edges.to[i]] = hi_field_pack(HI_NO_FIELD, true);
}

enum hi_status hi_group_fields_name(struct hi_grouping *gr, unsigned worker, hi_node node,
				    struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(gr->graph, node);
	struct hi_table counts = {};
	const struct hi_edge_name *names;
	enum hi_status status = read_names(gr, worker, node, &names, err);

	if (status != HI_OK)
		return status;
	if (!names) {
		leave_unnamed(gr, node, edges);
		return HI_OK;
	}
	if (!count_kinds(gr, node, edges, names, &counts) ||
	    !name_edges_of(gr, &gr->makers[worker], node, edges, names, &counts))
		status = hi_fail_memory(err, "groups");
	hi_table_free(&counts);
	return status;
}

/* ---- lifetime ---- */

bool hi_group_fields_init(struct hi_grouping *gr)
{
	const struct hi_field_reader *reader = gr->fields;

	pthread_mutex_init(&gr->pattern_lock, NULL);
	gr->n_makers =
		reader && reader->names && reader->workers > 1 ? reader->workers : 1;
	gr->makers = hi_calloc(gr->n_makers, sizeof(*gr->makers));
	return gr->makers;
}

void hi_group_fields_deinit(struct hi_grouping *gr)
{
	for (unsigned i = 0; gr->makers && i < gr->n_makers; i++) {
		hi_vector_free(&gr->makers[i].names);
		hi_vector_free(&gr->makers[i].texts);
		hi_vector_free(&gr->makers[i].text);
	}
	free(gr->makers);
	hi_arena_free(&gr->arena);
	hi_vector_free(&gr->patterns);
	hi_table_free(&gr->pattern_ids);
	pthread_mutex_destroy(&gr->pattern_lock);
}
