/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of objects in a snapshot. There are no types and no bytes, but every edge has
 * its name. An expression on the command line is followed along these names: from a
 * variable, edge by edge, as long as the names match. So a field that refers to no
 * object looks the same as a field that does not exist.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "base/text.h"
#include "base/vector.h"
#include "census/analysis/field_pattern.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "report/type_search.h"
#include "session/snapshot/snapshot_source.h"

enum { STEPS_MOST = 1 << 20 };

/* What stands between two names, or nothing. */
static bool is_joint(const char *text)
{
	return !*text || *text == '.' || *text == '[' || strncmp(text, "->", 2) == 0;
}

/* What is left of text behind start; NULL when it does not begin so. */
static const char *skip_field_prefix(const char *text, const char *start)
{
	size_t n = strlen(start);

	return strncmp(text, start, n) == 0 && is_joint(text + n) ? text + n : NULL;
}

/* The edge's name without that of the variable that it goes out from. */
static const char *edge_name(struct hi_inspection *in, hi_node node, uint32_t index,
			     char buffer[HI_EDGE_TEXT])
{
	const struct hi_graph *g = in->graph;
	const char *label =
		hi_snapshot_label(in->snapshot->snapshot, g, node, index, buffer);
	char safe[512];
	size_t n;

	if (node < g->first_root || node >= g->first_kind)
		return label;
	n = hi_text_escape(safe, sizeof(safe), g->roots[node - g->first_root].name,
			   strlen(g->roots[node - g->first_root].name));
	return strncmp(label, safe, n) == 0 ? label + n : label;
}

/* ---- expressions ---- */

struct step {
	hi_node node;
	const char *rest; /* of the expression */
};

struct search {
	struct hi_inspection *in;
	struct steps HI_VECTOR(struct step) steps; /* each once; a queue */
	struct nodes HI_VECTOR(hi_node) starts;
	bool failed;
};

static void add_step(struct search *s, hi_node node, const char *rest)
{
	for (size_t i = 0; i < s->steps.count; i++)
		if (s->steps.items[i].node == node && s->steps.items[i].rest == rest)
			return;
	if (s->steps.count >= STEPS_MOST ||
	    !hi_vector_push(&s->steps, (struct step){node, rest}))
		s->failed = true;
}

static void add_start(struct search *s, hi_node node)
{
	if (!hi_vector_push(&s->starts, node))
		s->failed = true;
}

static void follow_expression(struct search *s, struct step at)
{
	struct hi_edges edges = hi_graph_edges(s->in->graph, at.node);

	for (uint32_t i = 0; i < edges.count && !s->failed; i++) {
		char buffer[HI_EDGE_TEXT];
		const char *name = edge_name(s->in, at.node, i, buffer);
		const char *left, *more = skip_field_prefix(name, at.rest);

		if (*name == ' ')
			continue; /* a word without a name */
		/* A pointer; or a record or an array, which means the object that it
		 * lies in, in a variable all that it refers to. */
		if (more)
			add_start(s, *more && at.node < s->in->graph->n_objects
					     ? at.node
					     : edges.to[i]);
		left = skip_field_prefix(at.rest, name);
		if (left && *left)
			add_step(s, edges.to[i], left);
	}
}

static int by_id(const void *a, const void *b)
{
	hi_node x = *(const hi_node *)a, y = *(const hi_node *)b;

	return x < y ? -1 : x > y;
}

/* ---- what names of edges do not contain ---- */

/* Behind a quoted text, or the next byte. */
static size_t pass_over_edge(const char *text, size_t i)
{
	char quote = text[i];

	if (quote != '\'' && quote != '"')
		return i + 1;
	for (i++; text[i] && text[i] != quote; i++)
		if (text[i] == '\\' && text[i + 1])
			i++;
	return text[i] ? i + 1 : i;
}

static bool is_expression_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* Is [i] a variable? [3], ['key'], [b'key'] and [None] are names of edges. */
static bool is_variable(const char *index)
{
	static const char *const constants[] = {"None", "True", "False"};
	size_t n = 0;

	while (is_expression_word(index[n]))
		n++;
	if (!n || (*index >= '0' && *index <= '9') || index[n] == '\'' || index[n] == '"')
		return false;
	for (size_t i = 0; i < 3; i++)
		if (n == strlen(constants[i]) && strncmp(index, constants[i], n) == 0)
			return false;
	return true;
}

/* Where an expression that refers to no object needs values: a cast, an operator, an
 * index that is a variable. Its length: nowhere. */
static size_t find_value(const char *text)
{
	static const char unnamed[] = "(anonymous namespace)";
	size_t inside = 0, angles = 0, i = 0;

	while (text[i]) {
		if (text[i] == '-' && text[i + 1] == '>') {
			i += 2;
			continue;
		}
		if (strncmp(text + i, unnamed, strlen(unnamed)) == 0) {
			i += strlen(unnamed);
			continue;
		}
		angles += text[i] == '<' && !inside;
		angles -= text[i] == '>' && angles;
		if (text[i] == '[' && !inside++ && is_variable(text + i + 1))
			return i + 1;
		inside -= text[i] == ']' && inside;
		if (!inside && !angles && strchr("*&(+-", text[i]))
			return i;
		i = pass_over_edge(text, i);
	}
	return i;
}

static enum hi_status keep_starts(struct search *s, struct hi_named_root *root,
				  struct hi_error *err)
{
	size_t n = 0;

	if (s->failed)
		return hi_fail_memory(err, "roots");
	root->starts = hi_arena_alloc(&s->in->arena,
				      (s->starts.count + 1) * sizeof(*root->starts));
	if (!root->starts)
		return hi_fail_memory(err, "roots");
	if (s->starts.count)
		qsort(s->starts.items, s->starts.count, sizeof(hi_node), by_id);
	for (size_t i = 0; i < s->starts.count; i++)
		if (!n || root->starts[n - 1] != s->starts.items[i])
			root->starts[n++] = s->starts.items[i];
	root->n_starts = n;
	if (n == 1)
		root->address =
			hi_objects_address(s->in->graph->objects, root->starts[0]);
	if (!n)
		root->warning = "no object has this name, or a field is wrong: a "
				"snapshot knows only fields that lead to objects";
	return HI_OK;
}

static const char *nth_root_name(void *arg, uint32_t i)
{
	const struct hi_graph *g = arg;

	return g->roots[i].name;
}

static enum hi_status refuse_unknown_variable(struct hi_inspection *in,
					      const struct hi_named_root *root,
					      struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	const char *near[HI_NAMES_NEAREST] = {};
	char name[128], shown[160] = "";
	size_t n = strcspn(root->text.expression, ".-[ (");

	snprintf(name, sizeof(name), "%.*s", (int)(n < 120 ? n : 120),
		 root->text.expression);
	hi_names_nearest(name, nth_root_name, (void *)(uintptr_t)g,
			 g->first_kind - g->first_root, near);
	if (near[0])
		hi_text_escape(shown, sizeof(shown), near[0], strnlen(near[0], 36));
	return hi_fail(err, HI_USAGE, 0,
		       "--root %.60s: no variable of the snapshot has the name that "
		       "\"%.80s\" begins with%s%s",
		       root->text.name, root->text.expression,
		       *shown ? "; near it: " : "", shown);
}

static enum hi_status find_root_by_expression(struct hi_inspection *in,
					      struct hi_named_root *root, size_t *column,
					      struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	struct search s = {.in = in};
	enum hi_status status;
	bool has_value;

	root->type = "";
	for (hi_node i = g->first_root; i < g->first_kind; i++) {
		const struct hi_root *r = &g->roots[i - g->first_root];
		const char *rest = skip_field_prefix(root->text.expression, r->name);

		if (!*r->name || !rest || r->kind == HI_ROOT_UNTYPED)
			continue;
		if (!*rest)
			root->type = r->type;
		add_step(&s, i, rest);
	}
	*column = find_value(root->text.expression);
	has_value = root->text.expression[*column] != 0;
	if (!s.steps.count && !s.failed && !has_value)
		return refuse_unknown_variable(in, root, err);
	for (size_t i = 0; i < s.steps.count && !s.failed; i++)
		follow_expression(&s, s.steps.items[i]);
	if (has_value && !s.starts.count && !s.failed)
		status = hi_fail(
			err, HI_USAGE, 0,
			"this needs values, which only the process or a core has; in a "
			"snapshot file --root takes names of variables and fields");
	else
		status = keep_starts(&s, root, err);
	hi_vector_free(&s.steps);
	hi_vector_free(&s.starts);
	return status;
}

enum hi_status hi_snapshot_source_roots(struct hi_inspection *in, size_t *wrong,
					size_t *column, struct hi_error *err)
{
	const struct hi_profile_options *p = &in->options->profile;
	enum hi_status status;

	*wrong = p->n_roots;
	if (!p->n_roots)
		return HI_OK;
	in->profile.roots = hi_arena_alloc(&in->arena, sizeof(*in->profile.roots));
	if (!in->profile.roots)
		return hi_fail_memory(err, "roots");
	in->profile.roots->items = hi_arena_alloc(
		&in->arena, p->n_roots * sizeof(*in->profile.roots->items));
	if (!in->profile.roots->items)
		return hi_fail_memory(err, "roots");
	status = hi_snapshot_open_labels(in->snapshot->snapshot, err);
	for (size_t i = 0; i < p->n_roots && status == HI_OK; i++) {
		in->profile.roots->items[i].text = p->roots[i];
		in->profile.roots->count++;
		status = find_root_by_expression(in, &in->profile.roots->items[i], column,
						 err);
		if (status == HI_USAGE && p->roots[i].expression[*column])
			*wrong = i;
	}
	return status;
}

/* ---- TYPE.field ---- */

enum hi_status hi_snapshot_source_field_targets(struct hi_inspection *in,
						const char *text, const bool *has,
						const char *field, uint64_t *bits,
						struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	enum hi_status status = hi_snapshot_open_labels(in->snapshot->snapshot, err);
	uint64_t found = 0;

	(void)text;
	if (status != HI_OK)
		return status;
	for (hi_node i = 0; i < g->n_objects; i++) {
		struct hi_edges edges = hi_graph_edges(g, i);

		if (!has[g->objects->type[i]])
			continue;
		for (uint32_t k = 0; k < edges.count; k++) {
			char buffer[HI_EDGE_TEXT];
			const char *name = edge_name(in, i, k, buffer);

			/* An element of an array of them. */
			if (*name == '[' && strchr(name, ']'))
				name = strchr(name, ']') + 1;
			name += strncmp(name, "->", 2) == 0 ? 2 : *name == '.';
			if (!skip_field_prefix(name, field))
				continue;
			bits[edges.to[k] >> 6] |= 1ull << (edges.to[k] & 63);
			found++;
		}
	}
	if (found)
		return HI_OK;
	return hi_fail(err, HI_USAGE, 0,
		       "no object has a field %.80s that leads to an object", field);
}

/* ---- explain ---- */

/* A reference that leads on in the same container has the library's names: they are left
 * out where others are left. */
static void clean_link_name(char *path)
{
	char clean[HI_EDGE_TEXT];
	size_t n;

	if (!hi_edge_link_drop(path, strlen(path)))
		return;
	n = hi_field_clean(path, clean, sizeof(clean));
	if (n && n <= strlen(path))
		memcpy(path, clean, n + 1);
}

/* "struct item *"; "" without a type. NULL: no memory. */
static const char *name_pointer_type(struct hi_inspection *in, const char *type)
{
	size_t n = strlen(type);
	char *text = hi_arena_alloc(&in->arena, n + 3);

	if (text)
		snprintf(text, n + 3, "%s%s", type, n ? " *" : "");
	return text;
}

/* The edges of a node as fields. Those of a runtime's objects are as the runtime has them:
 * between them are references to no object, and those into objects have their addresses. */
struct edge_fields {
	struct hi_inspection *in;
	hi_node node;
	struct hi_edges edges;
	bool is_managed;
	const struct hi_snapshot_outside_row *outside; /* of the node */
	uint64_t n_outside;
};

static enum hi_status take_outside(struct edge_fields *e, struct hi_error *err)
{
	const struct hi_snapshot_outside_row *rows = NULL;
	uint64_t n = 0, first;
	enum hi_status status =
		hi_snapshot_rows(e->in->snapshot->snapshot, "outside", &rows, &n, err);

	if (status != HI_OK)
		return status;
	first = hi_search(i, n, rows[i].id < e->node);
	e->outside = rows + first;
	while (first + e->n_outside < n && e->outside[e->n_outside].id == e->node)
		e->n_outside++;
	return HI_OK;
}

/* False: no memory. */
static bool fill_edge_field(const struct edge_fields *e, uint32_t i, struct hi_field *f)
{
	const struct hi_graph *g = e->in->graph;
	hi_node to = e->edges.to[i];
	const char *type = g->types[g->objects->type[to]].name, *name;
	char buffer[HI_EDGE_TEXT];

	*f = (struct hi_field){.offset = UINT64_MAX,
			       .size = 8,
			       .to = to,
			       .grade = (enum hi_grade)e->edges.grade[i]};
	name = edge_name(e->in, e->node, i, buffer);
	snprintf(f->path, sizeof(f->path), "%s", name + (e->is_managed && *name == '.'));
	clean_link_name(f->path);
	f->type = e->is_managed ? type : name_pointer_type(e->in, type);
	if (e->is_managed)
		snprintf(f->value, sizeof(f->value), "0x%llx",
			 (unsigned long long)hi_graph_address(g, to));
	return f->type != NULL;
}

/* True: it is an edge, too. */
static bool fill_outside_field(const struct edge_fields *e,
			       const struct hi_snapshot_outside_row *row,
			       struct hi_field *f)
{
	const struct hi_graph *g = e->in->graph;

	*f = (struct hi_field){.offset = UINT64_MAX,
			       .size = 8,
			       .to = hi_objects_find(g->objects, row->to, NULL),
			       .type = "",
			       .grade = (enum hi_grade)row->grade};
	snprintf(f->path, sizeof(f->path), "%s",
		 hi_snapshot_string(e->in->snapshot->snapshot, row->path));
	snprintf(f->value, sizeof(f->value), "0x%llx", (unsigned long long)row->to);
	if (f->to != HI_NODE_NONE)
		f->type = g->types[g->objects->type[f->to]].name;
	return f->to != HI_NODE_NONE;
}

static enum hi_status list_edge_fields(struct edge_fields *e, struct hi_field *fields,
				       size_t max, size_t *n_ret, size_t *total_ret,
				       struct hi_error *err)
{
	const struct hi_objects *o = e->in->graph->objects;
	uint64_t outside = 0;
	uint32_t edge = 0;

	*total_ret = e->edges.count;
	for (uint64_t i = 0; i < e->n_outside; i++)
		*total_ret += hi_objects_find(o, e->outside[i].to, NULL) == HI_NODE_NONE;
	*n_ret = *total_ret < max ? *total_ret : max;
	for (size_t i = 0; i < *n_ret; i++)
		if (outside < e->n_outside &&
		    (e->outside[outside].field <= i || edge >= e->edges.count))
			edge += fill_outside_field(e, &e->outside[outside++], &fields[i]);
		else if (edge >= e->edges.count)
			*n_ret = i;
		else if (!fill_edge_field(e, edge++, &fields[i]))
			return hi_fail_memory(err, "fields");
	return HI_OK;
}

enum hi_status hi_snapshot_source_fields(struct hi_inspection *in, hi_node node,
					 struct hi_field *fields, size_t max,
					 size_t *n_ret, size_t *total_ret,
					 struct hi_error *err)
{
	struct edge_fields e = {
		.in = in, .node = node, .edges = hi_graph_edges(in->graph, node)};
	enum hi_status status = HI_NOT_FOUND;

	if (hi_graph_is_object(in->graph, node) && hi_snapshot_source_has_contents(in)) {
		status = hi_snapshot_source_contents(in, node, fields, max, n_ret,
						     total_ret, err);
		e.is_managed = status == HI_NOT_FOUND;
	}
	if (status != HI_NOT_FOUND)
		return status;
	status = hi_snapshot_open_labels(in->snapshot->snapshot, err);
	if (status == HI_OK && e.is_managed)
		status = take_outside(&e, err);
	return status == HI_OK ? list_edge_fields(&e, fields, max, n_ret, total_ret, err)
			       : status;
}
