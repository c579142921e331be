/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/merged_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

enum {
	LABEL_SIZE = 200,      /* bytes; longer ones are cut */
	LABELS_MOST = 1 << 16, /* with more, new keys are left out at once */
};

static const char ellipsis[] = "\xe2\x80\xa6";

/* Appends n bytes of text while there is room. */
static void append_label_text(char out[LABEL_SIZE], size_t *at, const char *text,
			      size_t n)
{
	if (*at + n >= LABEL_SIZE)
		return;
	memcpy(out + *at, text, n);
	*at += n;
	out[*at] = 0;
}

/* "[key]" of a map or an array, "{member}" of a set or the key of a map itself. */
static bool opens_bracket(const char *s)
{
	return *s == '[' || *s == '{';
}

/* Returns what follows the bracket, quotes respected; its end where it is not closed. */
static const char *end_of_bracket(const char *s)
{
	char quote = 0, close = *s == '{' ? '}' : ']';

	for (s++; *s && (quote || *s != close); s++) {
		if (quote && *s == '\\' && s[1])
			s++;
		else if (quote && *s == quote)
			quote = 0;
		else if (!quote && (*s == '"' || *s == '\''))
			quote = *s;
	}
	return *s ? s + 1 : s;
}

/* The text in brackets, without a number, and without a key if keys are to go. */
static const char *fold_bracket(char out[LABEL_SIZE], size_t *at, const char *s,
				bool keys)
{
	const char *end = end_of_bracket(s), *quote = strchr(s, '"');
	bool is_number = (s[1] >= '0' && s[1] <= '9') || s[1] == '-';
	bool is_key = quote && quote < end && s[1] != ']';
	const char *close = *s == '{' ? "}" : "]";

	keys |= (size_t)(end - s) + *at >= LABEL_SIZE;
	if (is_number || (keys && !is_key)) {
		append_label_text(out, at, s, 1);
		append_label_text(out, at, ellipsis, sizeof(ellipsis) - 1);
		append_label_text(out, at, close, 1);
	} else if (keys) {
		append_label_text(out, at, s, 1);
		append_label_text(out, at, "\"", 1);
		append_label_text(out, at, ellipsis, sizeof(ellipsis) - 1);
		append_label_text(out, at, "\"", 1);
		append_label_text(out, at, close, 1);
	} else {
		append_label_text(out, at, s, (size_t)(end - s));
	}
	return end;
}

/* Python's names have underscores at both ends, those of C++ libraries only in front. */
bool hi_merged_is_library_field(const char *label)
{
	const char *name = label + strspn(label, "->.");
	size_t n = strcspn(name, "-.[");

	if (name == label)
		return false;
	return strncmp(name, "_M_", 3) == 0 || (n > 4 && strncmp(name, "__", 2) == 0 &&
						strncmp(name + n - 2, "__", 2) != 0);
}

/* Bytes of the field that the text begins with, with what joins it. */
static size_t field_length(const char *text)
{
	size_t joint = strspn(text, "->.");

	return joint + strcspn(text + joint, "-.[{");
}

/* Numbers in brackets go; keys only if `keys`; so do fields of a library after one of the
 * program. A word without a name is "". */
static void fold_label(char out[LABEL_SIZE], const char *text, bool keys)
{
	size_t at = 0;

	out[0] = 0;
	if (*text == ' ')
		return;
	while (*text && at < LABEL_SIZE - 8) {
		size_t n = opens_bracket(text) ? 0 : field_length(text);

		/* Skips internals of containers: they carry no information. */
		if (at && hi_merged_is_library_field(text))
			return;

		if (n >= LABEL_SIZE - at)
			n = LABEL_SIZE - at - 1;
		append_label_text(out, &at, text, n);
		text += n;
		if (opens_bracket(text))
			text = fold_bracket(out, &at, text, keys);
	}
}

/* Returns the number of a label; 0: it is "", or there is no memory (*failed_ret). */
static uint32_t intern_label(struct hi_merged_labelling *l, const char *label,
			     uint32_t folded, bool *failed_ret)
{
	struct hi_merged_label row = {.folded = folded};
	uint32_t number;

	if (!*label)
		return 0;
	number = hi_interner_add(l->names, label);
	if (number > l->of.count) {
		row.folded = folded ? folded : number;
		if (!hi_vector_push(&l->of, row))
			number = 0;
	}
	*failed_ret |= !number;
	return number;
}

static uint32_t number_of_label(struct hi_merged_labelling *l, const char *text,
				bool *failed_ret)
{
	char whole[LABEL_SIZE], folded[LABEL_SIZE];
	uint32_t number;

	fold_label(whole, text, false);
	number = hi_interner_find(l->names, whole);
	if (number)
		return number;
	fold_label(folded, text, true);
	number = intern_label(l, folded, 0, failed_ret);
	if (l->of.count >= LABELS_MOST || strcmp(whole, folded) == 0)
		return number;
	return intern_label(l, whole, number, failed_ret);
}

/* Behind the name of the variable that the edge goes out from. */
static const char *skip_root_name(const struct hi_graph *g, hi_node node,
				  const char *text)
{
	const char *name;
	char safe[512];
	size_t n;

	if (node < g->first_root || node >= g->first_kind)
		return text;
	name = hi_text_or_empty(g->roots[node - g->first_root].name);
	n = hi_text_escape(safe, sizeof(safe), name, strlen(name));
	if (strncmp(text, safe, n) == 0)
		return text + n;
	n = strlen(name);
	return strncmp(text, name, n) == 0 ? text + n : text;
}

/* Labels what the node is the dominator of and refers to. */
static enum hi_status label_children(struct hi_merged_labelling *l,
				     const struct hi_graph *g,
				     const struct hi_dominators *d, hi_node node,
				     const char **texts, struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(g, node);
	bool failed = false;

	for (uint32_t i = 0; i < edges.count && !failed; i++) {
		hi_node to = edges.to[i];
		uint32_t number;

		if (d->idom[to] != node || l->label[to])
			continue;
		number = number_of_label(l, skip_root_name(g, node, texts[i]), &failed);
		l->label[to] = number;
		if (number)
			l->of.items[number - 1].count++;
	}
	return failed ? hi_fail_memory(err, "labels") : HI_OK;
}

/* "->index" of "->index._M_h._M_buckets"; "" where that is a name of a library. */
static void cut_to_field(char out[LABEL_SIZE], const char *label)
{
	size_t n = opens_bracket(label) ? (size_t)(end_of_bracket(label) - label)
		   : hi_merged_is_library_field(label) ? 0
						       : field_length(label);

	snprintf(out, LABEL_SIZE, "%.*s", (int)n, label);
}

/* The number of the first field of a label; 0: none. */
static uint32_t field_of_label(struct hi_merged_labelling *l, uint32_t label,
			       bool *failed_ret)
{
	char field[LABEL_SIZE];

	if (!l->of.items[label - 1].field) {
		cut_to_field(field, hi_interner_name(l->names, label));
		if (*field) {
			uint32_t number = number_of_label(l, field, failed_ret);

			l->of.items[label - 1].field = number;
		}
	}
	return l->of.items[label - 1].field;
}

/*
 * A node of a hash table is referred to by the buckets and by the node before it, so its
 * dominator is what holds the table, and does not refer to it. It gets the field that
 * leads to the sibling which refers to it.
 */
static enum hi_status label_siblings(struct hi_merged_labelling *l,
				     const struct hi_graph *g,
				     const struct hi_dominators *d, struct hi_error *err)
{
	HI_GUARD(free) hi_node *queue = hi_calloc(g->n_nodes, sizeof(*queue));
	hi_node n = 0;
	bool failed = false;

	if (!queue)
		return hi_fail_memory(err, "labels");
	for (hi_node i = 0; i < d->n_order; i++)
		if (d->order[i] < g->n_objects && l->label[d->order[i]])
			queue[n++] = d->order[i];
	for (hi_node i = 0; i < n && !failed; i++) {
		struct hi_edges edges = hi_graph_edges(g, queue[i]);
		hi_node up = d->idom[queue[i]];
		uint32_t field = 0;

		for (uint32_t k = 0; k < edges.count && !failed; k++) {
			hi_node to = edges.to[k];

			if (d->idom[to] != up || l->label[to] || up >= g->first_kind)
				continue;
			field = field ? field
				      : field_of_label(l, l->label[queue[i]], &failed);
			if (!field)
				break;
			l->label[to] = field;
			l->of.items[field - 1].count++;
			queue[n++] = to;
		}
	}
	return failed ? hi_fail_memory(err, "labels") : HI_OK;
}

/* Labels objects that several variables hold by the shortest paths to them. */
static enum hi_status label_tops(struct hi_merged_labelling *l, const struct hi_graph *g,
				 const struct hi_dominators *d,
				 const struct hi_merged_labels *labels,
				 struct hi_error *err)
{
	enum { TOPS = HI_MERGED_WORTH_A_NAME };
	hi_node tops[TOPS];
	const char *texts[TOPS] = {};
	enum hi_status status = HI_OK;
	bool failed = false;
	size_t n = 0;

	for (hi_node i = 0; i < d->n_order && n < TOPS; i++) {
		hi_node node = d->order[i];

		if (node < g->n_objects && d->idom[node] >= g->first_kind &&
		    d->idom[node] != HI_NODE_NONE &&
		    hi_merged_is_worth_a_name(g, d, node))
			tops[n++] = node;
	}
	if (n && labels->name_tops)
		status = labels->name_tops(labels->arg, tops, n, texts, err);
	for (size_t i = 0; i < n && status == HI_OK && labels->name_tops; i++) {
		uint32_t number = number_of_label(l, texts[i], &failed);

		l->label[tops[i]] = number;
		if (number)
			l->of.items[number - 1].count++;
	}
	return status == HI_OK && failed ? hi_fail_memory(err, "labels") : status;
}

static uint32_t most_edges(const struct hi_graph *g)
{
	uint32_t most = 0;

	for (hi_node i = 0; i < g->first_kind; i++)
		if (hi_graph_edges(g, i).count > most)
			most = hi_graph_edges(g, i).count;
	return most;
}

static bool has_dominated_child(const struct hi_graph *g, const struct hi_dominators *d,
				hi_node node)
{
	struct hi_edges edges = hi_graph_edges(g, node);

	for (uint32_t i = 0; i < edges.count; i++)
		if (d->idom[edges.to[i]] == node)
			return true;
	return false;
}

enum hi_status hi_merged_label_all(const struct hi_graph *g,
				   const struct hi_dominators *d,
				   const struct hi_merged_labels *labels,
				   struct hi_merged_labelling *ret, struct hi_error *err)
{
	HI_GUARD(free)
	const char **texts = hi_calloc(most_edges(g) + 1u, sizeof(*texts));
	enum hi_status status = HI_OK;

	ret->label = hi_calloc(g->n_nodes, sizeof(*ret->label));
	if (!texts || !ret->label)
		return hi_fail_memory(err, "labels");
	for (hi_node i = 0; i < d->n_order && status == HI_OK; i++) {
		hi_node node = d->order[i];

		if (node >= g->first_kind || !has_dominated_child(g, d, node))
			continue;
		status = labels->read(labels->arg, node, texts, err);
		if (status == HI_OK)
			status = label_children(ret, g, d, node, texts, err);
	}
	if (status == HI_OK)
		status = label_siblings(ret, g, d, err);
	return status == HI_OK ? label_tops(ret, g, d, labels, err) : status;
}

void hi_merged_labelling_free(struct hi_merged_labelling *labelling)
{
	hi_vector_free(&labelling->of);
	free(labelling->label);
}
