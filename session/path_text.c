/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/path_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/field_pattern.h"
#include "census/graph/edge_name.h"
#include "session/computed.h"
#include "session/edge_text.h"

static bool refers_to(const struct hi_graph *g, hi_node from, hi_node to)
{
	struct hi_edges edges = hi_graph_edges(g, from);

	for (uint32_t i = 0; i < edges.count; i++)
		if (edges.to[i] == to)
			return true;
	return false;
}

static bool is_link_text(const char *text)
{
	size_t n = strlen(text);

	return n && text[n - 1] == HI_EDGE_LINK;
}

static uint64_t step_key(hi_node from, hi_node to)
{
	return (uint64_t)from << 32 | to;
}

/* Keys may be of any length, and a path has many: bytes of a step, and of a path. */
enum { STEP_MOST = 500, PATH_MOST = 4000 };

/* The text, cut where it is too long; its mark stays. */
static const char *cut_step(struct hi_inspection *in, const char *text)
{
	size_t n = STEP_MOST;
	const char *cut;

	if (strnlen(text, STEP_MOST + 1) <= STEP_MOST)
		return text;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	cut = hi_arena_printf(&in->arena, "%.*s…%s", (int)n, text,
			      is_link_text(text) ? (char[]){HI_EDGE_LINK, 0} : "");
	return cut ? cut : "";
}

static const char *step_text(struct hi_inspection *in, hi_node from, hi_node to)
{
	uint64_t known = 0;
	const char *text, *cut;

	if (hi_table_get(&in->step_texts, step_key(from, to), &known) && known)
		return (const char *)(uintptr_t)known;
	if (from >= in->graph->first_kind)
		return "";
	text = in->source->texts->edge_text(in, from, to);
	cut = cut_step(in, text);
	/* It is long: once is enough. */
	if (cut != text)
		(void)hi_table_put(&in->step_texts, step_key(from, to),
				   (uint64_t)(uintptr_t)cut);
	return cut;
}

const char *hi_path_text_of_edge(struct hi_inspection *in, hi_node from, hi_node to)
{
	const char *text = step_text(in, from, to), *shown;

	if (!is_link_text(text))
		return text;
	shown = hi_arena_printf(&in->arena, "%.*s", (int)strlen(text) - 1, text);
	return shown ? shown : "";
}

static const char *append_path_text(struct hi_inspection *in, const char *a,
				    const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	char *both;

	if (!m)
		return a;
	both = hi_arena_alloc(&in->arena, n + m + 1);
	if (!both)
		return a;
	memcpy(both, a, n);
	memcpy(both + n, b, m);
	return both;
}

/* The name in `["name"]` at the beginning of a step; 0: there is none. */
static size_t name_in_key(const char *step)
{
	size_t n = 0;

	if (strncmp(step, "[\"", 2) != 0 || (step[2] >= '0' && step[2] <= '9'))
		return 0;
	while (isalnum((unsigned char)step[2 + n]) || step[2 + n] == '_')
		n++;
	return strncmp(step + 2 + n, "\"]", 2) == 0 ? n : 0;
}

struct path_line HI_VECTOR(char);

static bool append_to_line(struct path_line *line, const char *text)
{
	return hi_vector_append(line, text, strlen(text));
}

/* An attribute in the dictionary of an instance is an attribute. */
static bool append_step(struct path_line *line, const char *step)
{
	static const char dict[] = ".__dict__";
	size_t m = sizeof(dict) - 1, name = name_in_key(step);

	if (!name || line->count < m ||
	    memcmp(line->items + line->count - m, dict, m) != 0)
		return append_to_line(line, step);
	line->count -= m;
	return hi_vector_push(line, '.') && hi_vector_append(line, step + 2, name) &&
	       append_to_line(line, step + name + 4);
}

/* The steps of a path that are written: links of containers are not. Of a long chain
 * only both ends are looked at. */
enum { SHOWN_HEAD = 24, SHOWN_TAIL = 8, LOOKED_AT = 2048 };

struct shown_steps {
	const char *texts[SHOWN_HEAD + SHOWN_TAIL];
	size_t n, head, n_skipped;
	bool in_container; /* what was skipped */
};

static const char more_alike[] = " …";

/*
 * Memory without types has lists too: the same offset again and again. Two of them are
 * shown and a mark for the others. Adds the step to texts, which has room for it and for
 * the mark; returns how many there are then.
 */
static size_t keep_step(const char **texts, size_t n, const char *text)
{
	size_t before = n && texts[n - 1] == more_alike ? n - 1 : n;
	bool is_again = hi_field_is_offset(text) && before >= 2 &&
			strcmp(texts[before - 1], text) == 0 &&
			strcmp(texts[before - 2], text) == 0;

	if (is_again && before < n)
		return n;
	texts[n] = is_again ? more_alike : text;
	return n + 1;
}

/* From the front, then from the back: a list of a million nodes is a long path. */
static void find_shown_steps(struct hi_inspection *in, const hi_node *nodes, size_t n,
			     struct shown_steps *ret)
{
	const char *tail[SHOWN_TAIL];
	size_t first = 0, end = n - 1, n_tail = 0;
	bool links = true;

	for (; first < end && ret->n < SHOWN_HEAD && first < LOOKED_AT; first++) {
		const char *text = step_text(in, nodes[first], nodes[first + 1]);

		links = is_link_text(text);
		if (!links)
			ret->n = keep_step(ret->texts, ret->n, text);
	}
	for (size_t looked = 0; end > first && n_tail < SHOWN_TAIL && looked < LOOKED_AT;
	     looked++, end--) {
		const char *text = step_text(in, nodes[end - 1], nodes[end]);

		if (!is_link_text(text))
			n_tail = keep_step(tail, n_tail, text);
		else if (end - 1 > first && looked + 1 == LOOKED_AT)
			ret->in_container = links;
	}
	ret->n_skipped = end - first;
	/* One mark for all that is left out. */
	if (ret->n_skipped && ret->n && ret->texts[ret->n - 1] == more_alike)
		ret->n--;
	if (ret->n_skipped && n_tail && tail[n_tail - 1] == more_alike)
		n_tail--;
	ret->head = ret->n;
	while (n_tail)
		ret->texts[ret->n++] = tail[--n_tail];
}

static bool write_steps(const struct shown_steps *steps, struct path_line *line)
{
	bool ok = true;

	for (size_t i = 0; i < steps->n && ok; i++) {
		if (i == steps->head && steps->n_skipped && !steps->in_container) {
			char skipped[48];

			snprintf(skipped, sizeof(skipped), " … %zu steps … ",
				 steps->n_skipped);
			ok = append_to_line(line, skipped);
		}
		if (line->count > PATH_MOST) {
			ok = ok && append_to_line(line, "…");
			break;
		}
		ok = ok && append_step(line, steps->texts[i]);
	}
	return ok && hi_vector_push(line, '\0');
}

const char *hi_path_text_in(struct hi_inspection *in, struct hi_arena *arena,
			    const hi_node *nodes, size_t n)
{
	struct shown_steps steps = {};
	struct path_line line = {};
	const char *text = "";

	/* A path to the root itself has no edge. */
	if (n == 1 && nodes[0] >= in->graph->first_root &&
	    nodes[0] < in->graph->first_kind)
		return in->graph->roots[nodes[0] - in->graph->first_root].name;
	if (n)
		find_shown_steps(in, nodes, n, &steps);
	if (steps.n && write_steps(&steps, &line))
		text = hi_arena_strdup(arena, line.items);
	hi_vector_free(&line);
	return text ? text : "";
}

const char *hi_path_text_of_nodes(struct hi_inspection *in, const hi_node *nodes,
				  size_t n)
{
	return hi_path_text_in(in, &in->arena, nodes, n);
}

/* ---- many paths ---- */

/* A node with so many edges is looked through once, not once for each path. */
enum { MANY_EDGES = 64 };

struct path_steps HI_VECTOR(uint64_t);

static int compare_steps(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool list_steps(const struct hi_inspection *in, const struct hi_paths *paths,
		       struct path_steps *ret)
{
	for (size_t p = 0; p < paths->n_paths; p++) {
		const struct hi_path *path = &paths->paths[p];

		for (size_t i = 0; i + 1 < path->length; i++)
			if (path->nodes[i] < in->graph->first_kind &&
			    hi_graph_edges(in->graph, path->nodes[i]).count >=
				    MANY_EDGES &&
			    !hi_vector_push(ret,
					    step_key(path->nodes[i], path->nodes[i + 1])))
				return false;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_steps);
	return true;
}

/* The best of parallel edges: the first one, as for a single step. */
static bool keep_step_texts(struct hi_inspection *in, hi_node from, const char **texts)
{
	struct hi_edges edges = hi_graph_edges(in->graph, from);
	uint64_t known;

	for (uint32_t i = 0; i < edges.count; i++) {
		uint64_t key = step_key(from, edges.to[i]);
		const char *kept;

		if (!hi_table_get(&in->step_texts, key, &known) || known)
			continue;
		kept = cut_step(in, texts[i]);
		kept = kept == texts[i] ? hi_arena_strdup(&in->arena, kept) : kept;
		if (!kept ||
		    !hi_table_put(&in->step_texts, key, (uint64_t)(uintptr_t)kept))
			return false;
	}
	return true;
}

static bool read_steps_of(struct hi_edge_text_reader *reader, hi_node from,
			  struct hi_error *err)
{
	uint32_t n = hi_graph_edges(reader->in->graph, from).count;
	HI_GUARD(free) const char **texts = hi_calloc(n, sizeof(*texts));

	return texts && hi_edge_text_read(reader, from, texts, err) == HI_OK &&
	       keep_step_texts(reader->in, from, texts);
}

void hi_path_text_prepare(struct hi_inspection *in, const struct hi_paths *paths)
{
	struct hi_edge_text_reader reader = {};
	struct path_steps steps = {};
	struct hi_error quiet;
	bool ok = list_steps(in, paths, &steps) && steps.count &&
		  hi_edge_text_open(in, &reader, &quiet) == HI_OK;

	reader.with_marks = true;
	for (size_t i = 0; ok && i < steps.count; i++)
		ok = hi_table_put(&in->step_texts, steps.items[i], 0);
	for (size_t i = 0; ok && i < steps.count; i++)
		if (!i || steps.items[i] >> 32 != steps.items[i - 1] >> 32)
			ok = read_steps_of(&reader, (hi_node)(steps.items[i] >> 32),
					   &quiet);
	hi_edge_text_close(&reader);
	hi_vector_free(&steps);
}

/* The shortest path along no worse edges; NULL: there is none. */
static struct hi_paths *find_one_path(struct hi_inspection *in, hi_node object,
				      enum hi_grade worst)
{
	struct hi_paths_wanted wanted = {.k = 1, .most = 1, .worst = worst};
	struct hi_paths *paths = NULL;
	struct hi_error quiet;

	if (hi_kept_paths(in, &wanted.index, &quiet) != HI_OK ||
	    hi_paths_search(in->graph, &object, 1, &wanted, &paths, &quiet) != HI_OK)
		return NULL;
	if (paths->n_paths)
		return paths;
	hi_paths_destroy(paths);
	return NULL;
}

/* Goes along any edge to what no precise ones lead to, from the roots that say whose it
 * is. */
static struct hi_paths *find_path_by_rank(struct hi_inspection *in, hi_node object)
{
	struct hi_paths *paths = NULL;
	struct hi_error quiet;

	if (hi_paths_by_rank(in->graph, &object, 1, &paths, &quiet) != HI_OK)
		return NULL;
	if (paths->paths[0].length)
		return paths;
	hi_paths_destroy(paths);
	return NULL;
}

/* Keeps the texts of *objects that are found, and removes these from it. */
static void keep_object_texts(struct hi_inspection *in, const struct hi_paths *paths,
			      hi_node *objects, size_t *n)
{
	size_t left = 0;

	for (size_t i = 0; i < *n; i++) {
		const struct hi_path *path = &paths->paths[i];
		const char *text = path->length ? hi_path_text_of_nodes(in, path->nodes,
									path->length)
						: NULL;

		if (!text || !hi_table_put(&in->object_texts, objects[i],
					   (uint64_t)(uintptr_t)text))
			objects[left++] = objects[i];
	}
	*n = left;
}

/* Objects to which no edges lead but worse ones would cost a walk over the whole heap. */
static size_t list_objects(const struct hi_inspection *in, const hi_node *objects,
			   size_t n, bool is_exact, hi_node *ret)
{
	size_t count = 0;
	uint64_t known;

	for (size_t i = 0; i < n; i++)
		if (hi_graph_is_object(in->graph, objects[i]) &&
		    hi_bit(in->results.reach->exact, objects[i]) == is_exact &&
		    !hi_table_get(&in->object_texts, objects[i], &known))
			ret[count++] = objects[i];
	return count;
}

void hi_path_text_prepare_objects(struct hi_inspection *in, const hi_node *objects,
				  size_t n)
{
	HI_GUARD(free) hi_node *left = hi_alloc(n * sizeof(*left));
	struct hi_error quiet;
	size_t count;

	if (!left || in->kept.paths)
		return;
	count = list_objects(in, objects, n, true, left);
	for (enum hi_grade worst = HI_GRADE_EXACT; count && worst < HI_GRADE_CONSERVATIVE;
	     worst++) {
		HI_GUARD(hi_paths_destroy) struct hi_paths *paths = NULL;

		if (hi_paths_shortest_along(in->graph, left, count, worst, &paths,
					    &quiet) != HI_OK)
			return;
		keep_object_texts(in, paths, left, &count);
	}
	count = list_objects(in, objects, n, false, left);
	if (count) {
		HI_GUARD(hi_paths_destroy) struct hi_paths *paths = NULL;

		if (hi_paths_by_rank(in->graph, left, count, &paths, &quiet) == HI_OK)
			keep_object_texts(in, paths, left, &count);
	}
}

/* A word that a frame left on its stack is often near, but says least. */
const char *hi_path_text_from_root(struct hi_inspection *in, hi_node object)
{
	struct hi_paths *paths = NULL;
	const char *text = "";
	uint64_t known;

	if (!hi_graph_is_object(in->graph, object))
		return "";
	if (hi_table_get(&in->object_texts, object, &known))
		return (const char *)(uintptr_t)known;
	for (enum hi_grade worst = HI_GRADE_EXACT;
	     !paths && worst < HI_GRADE_CONSERVATIVE; worst++)
		paths = find_one_path(in, object, worst);
	if (!paths)
		paths = find_path_by_rank(in, object);
	if (paths && paths->n_paths)
		text = hi_path_text_of_nodes(in, paths->paths[0].nodes,
					     paths->paths[0].length);
	hi_paths_destroy(paths);
	return text;
}

const char *hi_path_text_between(struct hi_inspection *in, hi_node top, hi_node below)
{
	struct chain HI_VECTOR(hi_node) up = {};
	const hi_node *idom = in->results.dominators->idom;
	const char *text = "";
	bool gap = false;

	if (top == below)
		return "";
	for (hi_node i = below; i != HI_NODE_NONE && i != top; i = idom[i])
		if (!hi_vector_push(&up, i))
			break;
	for (size_t i = up.count, step = 0; i-- > 0;) {
		hi_node from = i + 1 == up.count ? top : up.items[i + 1];
		const char *edge;

		if (step++ >= HI_PATH_TEXT_STEPS && i > 0) {
			gap = true;
			continue;
		}
		if (gap || !refers_to(in->graph, from, up.items[i])) {
			text = append_path_text(in, text, *text ? "…" : "");
			gap = false;
			continue;
		}
		edge = step_text(in, from, up.items[i]);
		if (!is_link_text(edge))
			text = append_path_text(in, text, edge);
	}
	hi_vector_free(&up);
	return text;
}
