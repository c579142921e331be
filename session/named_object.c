/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Paths by their text]
 *
 * A breadth-first search over pairs of a node and how much of the text led to it. An edge
 * whose text comes next is gone along; so is one between the nodes of a container, which
 * has no text in a path, and the dictionary of an instance, whose keys are attributes
 * there. Each pair is looked at once, and there is a limit for all.
 *
 * A value in a node of a container has no object of its own: `map["key"]` is the node that
 * has an edge `["key"].lines`, where no edge is `["key"]`.
 */
#include "session/named_object.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"
#include "session/edge_text.h"

enum { MOST_PLACES = 1 << 20, MOST_TEXT = 4096 };

static const char module_word[] = "module ";

struct named_place {
	hi_node node;
	uint32_t used; /* bytes of the text */
};

struct named_search {
	struct hi_inspection *in;
	struct hi_edge_text_reader reader;
	const char *text;
	uint32_t n, longest;
	struct HI_VECTOR(struct named_place) places; /* a queue */
	struct HI_VECTOR(const char *) names;
	struct hi_table seen;
	hi_node found;
	hi_node around; /* has a step that goes on after the text */
	bool no_memory;
};

static bool starts_as(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool hi_named_object_is_path(const char *text)
{
	static const char *const words[] = {module_word, "thread ", "interpreter ",
					    "__main__"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (starts_as(text, words[i]))
			return true;
	return strstr(text, "[\"") || strstr(text, "[*]");
}

static void add_named_place(struct named_search *s, hi_node node, uint32_t used)
{
	uint64_t key = (uint64_t)node << 32 | used, known;

	if (used == s->n && s->found == HI_NODE_NONE)
		s->found = node;
	if (used > s->longest)
		s->longest = used;
	if (s->places.count >= MOST_PLACES || hi_table_get(&s->seen, key, &known))
		return;
	if (!hi_table_put(&s->seen, key, 1) ||
	    !hi_vector_push(&s->places, ((struct named_place){node, used})))
		s->no_memory = true;
}

/* `["name"]` is `.name`, too; 0: it does not come next. */
static uint32_t measure_key_step(const char *text, const char *step)
{
	size_t n = strlen(step);

	if (n < 5 || !starts_as(step, "[\"") || strcmp(step + n - 2, "\"]") != 0 ||
	    *text != '.' || strncmp(text + 1, step + 2, n - 4) != 0)
		return 0;
	return (uint32_t)(n - 3);
}

/* Does the step begin with all that is left of the text, and go on with a member? */
static bool is_in_step(const char *rest, const char *step)
{
	size_t n = strlen(rest);

	return n && strncmp(step, rest, n) == 0 && step[n] && strchr(".-[{", step[n]);
}

/* How much of the text n bytes of a step take; 0: they do not come next. `[*]` is any
 * element. */
static uint32_t measure_step(const char *text, const char *step, size_t n)
{
	const char *at = text, *end = step + n;

	while (step < end) {
		size_t digits = strspn(step + 1, "0123456789");

		if (starts_as(at, "[*]") && *step == '[' && digits &&
		    step[digits + 1] == ']') {
			at += 3;
			step += digits + 2;
		} else if (*at++ != *step++) {
			return 0;
		}
	}
	return (uint32_t)(at - text);
}

/* Steps of a path. Texts of marked edges are left out of it. */
static void follow_step(struct named_search *s, struct named_place at, hi_node to,
			const char *step)
{
	size_t n = strlen(step);
	const char *rest = s->text + at.used;
	uint32_t plain = measure_step(rest, step, n), key = measure_key_step(rest, step);

	if (!n || step[n - 1] == HI_EDGE_LINK || strcmp(step, ".__dict__") == 0)
		add_named_place(s, to, at.used);
	if (plain)
		add_named_place(s, to, at.used + plain);
	else if (key)
		add_named_place(s, to, at.used + key);
	else if (s->around == HI_NODE_NONE && is_in_step(rest, step))
		s->around = at.node;
}

static enum hi_status follow_place(struct named_search *s, struct named_place at,
				   struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(s->in->graph, at.node);
	enum hi_status status;

	if (!hi_vector_reserve(&s->names, edges.count + 1))
		return hi_fail_memory(err, "names of edges");
	status = hi_edge_text_read(&s->reader, at.node, s->names.items, err);
	for (uint32_t e = 0; e < edges.count && status == HI_OK; e++)
		follow_step(s, at, edges.to[e], s->names.items[e]);
	return status;
}

/* The names of a root's edges begin with its own. */
static enum hi_status follow_named_root(struct named_search *s, hi_node root,
					struct hi_error *err)
{
	const struct hi_graph *g = s->in->graph;
	const char *name = g->roots[root - g->first_root].name, *shown = name;
	struct hi_edges edges = hi_graph_edges(g, root);
	enum hi_status status;
	size_t front;

	if (starts_as(name, module_word) && !starts_as(s->text, module_word))
		shown = name + strlen(module_word);
	front = (size_t)(shown - name);
	if (!*shown || !starts_as(s->text, shown))
		return HI_OK;
	if (strcmp(s->text, shown) == 0 && s->found == HI_NODE_NONE)
		s->found = root;
	if (!hi_vector_reserve(&s->names, edges.count + 1))
		return hi_fail_memory(err, "names of edges");
	status = hi_edge_text_read(&s->reader, root, s->names.items, err);
	for (uint32_t e = 0; e < edges.count && status == HI_OK; e++) {
		const char *step = s->names.items[e];
		size_t n = strlen(step);
		uint32_t used;

		n -= n && step[n - 1] == HI_EDGE_LINK;
		used = n > front ? measure_step(s->text, step + front, n - front) : 0;
		if (used)
			add_named_place(s, edges.to[e], used);
	}
	return status;
}

static enum hi_status search_named(struct named_search *s, struct hi_error *err)
{
	const struct hi_graph *g = s->in->graph;
	enum hi_status status = HI_OK;

	for (hi_node i = g->first_root; i < g->first_kind && status == HI_OK; i++)
		status = follow_named_root(s, i, err);
	for (size_t i = 0; i < s->places.count && status == HI_OK && !s->no_memory &&
			   s->found == HI_NODE_NONE;
	     i++)
		status = follow_place(s, s->places.items[i], err);
	return status == HI_OK && s->no_memory ? hi_fail_memory(err, "names of edges")
					       : status;
}

enum hi_status hi_named_object_find(struct hi_inspection *in, const char *text,
				    hi_node *ret, struct hi_error *err)
{
	struct named_search s = {
		.in = in, .text = text, .found = HI_NODE_NONE, .around = HI_NODE_NONE};
	size_t n = strlen(text);
	enum hi_status status;

	if (n > MOST_TEXT)
		return hi_fail(err, HI_NOT_FOUND, 0, "the path is too long");
	s.n = (uint32_t)n;
	status = hi_edge_text_open(in, &s.reader, err);
	if (status != HI_OK)
		return status;
	s.reader.with_marks = true;
	status = search_named(&s, err);
	hi_edge_text_close(&s.reader);
	hi_vector_free(&s.places);
	hi_vector_free(&s.names);
	hi_table_free(&s.seen);
	if (status != HI_OK)
		return status;
	if (s.found == HI_NODE_NONE)
		s.found = s.around;
	if (s.found == HI_NODE_NONE)
		return s.longest
			       ? hi_fail(err, HI_NOT_FOUND, 0,
					 "no path is called %.60s: it is known up to "
					 "%.*s",
					 text, (int)(s.longest < 60 ? s.longest : 60),
					 text)
			       : hi_fail(err, HI_NOT_FOUND, 0,
					 "no path is called %.100s: no variable has this "
					 "name",
					 text);
	*ret = s.found;
	return HI_OK;
}
