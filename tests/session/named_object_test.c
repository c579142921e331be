/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of each path through drawn graphs is given back, and gives the object. */
#include <stdio.h>
#include <string.h>

#include "census/graph/edge_name.h"
#include "session/named_object.h"
#include "session/path_text.h"
#include "session/source.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { MOST = 30, ARCS = 90, ROOTS = 3 };

static const char *const root_names[ROOTS] = {"app::sessions", "module cache",
					      "app::sessions_old"};
static struct hi_inspection in;
static struct {
	uint32_t from, to; /* from MOST on: roots */
	char text[40];
} arcs[ARCS];
static uint32_t n_arcs, n_objects;

static const char *drawn_text(hi_node from, hi_node to)
{
	uint32_t at = from < n_objects ? from : MOST + (from - n_objects);

	for (uint32_t i = 0; i < n_arcs; i++)
		if (arcs[i].from == at && arcs[i].to == to)
			return arcs[i].text;
	return "";
}

static const char *give_drawn_text(struct hi_inspection *unused, hi_node from, hi_node to)
{
	(void)unused;
	return drawn_text(from, to);
}

static enum hi_status open_drawn_texts(struct hi_edge_text_reader *unused,
				       struct hi_error *err)
{
	(void)unused, (void)err;
	return HI_OK;
}

static enum hi_status read_drawn_texts(struct hi_edge_text_reader *unused, hi_node node,
				       const char **texts, struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(in.graph, node);

	(void)unused, (void)err;
	for (uint32_t i = 0; i < edges.count; i++)
		texts[i] = drawn_text(node, edges.to[i]);
	return HI_OK;
}

static const struct hi_text_ops drawn_texts = {.edge_text = give_drawn_text,
					       .open_edge_texts = open_drawn_texts,
					       .read_edge_texts = read_drawn_texts};
static const struct hi_source_ops drawn_source = {.texts = &drawn_texts};

static void free_drawn(void *unused)
{
	(void)unused;
	hi_arena_free(&in.arena);
	hi_table_free(&in.step_texts);
}

/* Texts that tell arcs apart, but for links of containers. */
static void write_step(uint32_t arc, uint32_t from, uint64_t *state)
{
	static const struct {
		const char *before, *behind;
	} forms[] = {{"->f", ""},
		     {".f", ""},
		     {"[\"k \\\"", "\"]"},
		     {"[\"k", "\"]"},
		     {"[", "]->x"}};
	uint32_t form = random_below(state, 5);
	char step[24];

	if (from < MOST && random_below(state, 4) == 0)
		strcpy(step, "->_M_next\x01");
	else
		snprintf(step, sizeof(step), "%s%u%s", forms[form].before, arc,
			 forms[form].behind);
	snprintf(arcs[arc].text, sizeof(arcs[arc].text), "%s%s",
		 from < MOST ? "" : root_names[from - MOST], step);
}

static struct hi_graph *draw_names(uint64_t *state)
{
	struct object_spec specs[MOST] = {};
	struct hi_graph_builder *b;
	struct hi_error err;

	n_objects = 2 + random_below(state, MOST - 2);
	for (uint32_t i = 0; i < n_objects; i++)
		specs[i].cost = 8;
	b = builder_of(specs, n_objects, 1);
	for (uint32_t i = 0; i < ROOTS; i++) {
		struct hi_root root = {.kind = HI_ROOT_GLOBAL,
				       .name = root_names[i],
				       .variable = UINT32_MAX};
		uint32_t index;

		HI_ASSERT_OK(hi_graph_builder_root(b, &root, &index, &err), &err);
	}
	n_arcs = 0;
	while (n_arcs < ROOTS + 2 * n_objects) {
		uint32_t from =
			n_arcs < ROOTS ? MOST + n_arcs : random_below(state, n_objects);
		uint32_t to = random_below(state, n_objects);

		arcs[n_arcs].from = from;
		arcs[n_arcs].to = to;
		write_step(n_arcs, from, state);
		n_arcs++;
		if (from < MOST)
			edge(b, from, to, HI_GRADE_EXACT);
		else
			root_edge(b, from - MOST, to, HI_GRADE_EXACT);
	}
	return sealed(b);
}

/* Does the last step have a text? Else the object before it has the same name. */
static bool ends_in_name(const struct hi_path *path)
{
	const char *last =
		drawn_text(path->nodes[path->length - 2], path->nodes[path->length - 1]);

	return last[strlen(last) - 1] != HI_EDGE_LINK;
}

HI_TEST(named_object, the_text_of_each_path_gives_its_object)
{
	uint64_t state = 5, n_checked = 0;
	struct hi_error err;

	hi_test_defer(free_drawn, NULL);
	for (uint32_t round = 0; round < 80; round++) {
		OWN(graph) *g = draw_names(&state);

		in.graph = g;
		in.source = &drawn_source;
		hi_table_free(&in.step_texts);
		for (hi_node i = 0; i < n_objects; i++) {
			OWN(paths) *paths = NULL;
			hi_node found = HI_NODE_NONE;
			const char *text;

			HI_ASSERT_OK(hi_paths_shortest(g, &i, 1, &paths, &err), &err);
			if (paths->paths[0].length < 2 || !ends_in_name(&paths->paths[0]))
				continue;
			text = hi_path_text_of_nodes(&in, paths->paths[0].nodes,
						     paths->paths[0].length);
			HI_ASSERT_OK(hi_named_object_find(&in, text, &found, &err), &err);
			HI_ASSERT_MSG(found == i, "%s: %u, not %u", text, found, i);
			n_checked++;
		}
	}
	HI_ASSERT(n_checked > 300);
}

HI_TEST(named_object, a_text_that_is_no_path_is_not_found)
{
	uint64_t state = 8;
	struct hi_error err;
	hi_node found;

	hi_test_defer(free_drawn, NULL);
	OWN(graph) *g = draw_names(&state);

	in.graph = g;
	in.source = &drawn_source;
	HI_ASSERT_EQ(HI_NOT_FOUND,
		     hi_named_object_find(&in, "app::nobody", &found, &err));
	HI_ASSERT(strstr(err.text, "no variable has this name"));
	HI_ASSERT_EQ(HI_NOT_FOUND,
		     hi_named_object_find(&in, "app::sessions->nothing", &found, &err));
	HI_ASSERT_EQ(HI_OK, hi_named_object_find(&in, "app::sessions_old", &found, &err));
	HI_ASSERT_EQ(g->first_root + 2, found);
	HI_ASSERT_EQ(HI_OK, hi_named_object_find(&in, "cache", &found, &err));
	HI_ASSERT_EQ(g->first_root + 1, found);
	HI_ASSERT(hi_named_object_is_path("__main__[\"HUB\"]"));
	HI_ASSERT(!hi_named_object_is_path("server->clients[0]"));
}

/* A map whose second node has a value with two members: the value is in that node. */
HI_TEST(named_object, a_value_in_a_node_of_a_container_is_that_node)
{
	static const struct {
		uint32_t from, to;
		const char *text;
	} drawn[] = {{MOST, 0, "app::sessions\x01"},
		     {0, 1, "->_M_next\x01"},
		     {1, 2, "[\"a\"].lines"},
		     {1, 3, "[\"a\"]->name"},
		     {0, 3, "[\"ab\"].lines"}};
	struct object_spec specs[4] = {
		{.cost = 8}, {.cost = 8}, {.cost = 8}, {.cost = 8}};
	struct hi_graph_builder *b = builder_of(specs, 4, 1);
	struct hi_root root = {
		.kind = HI_ROOT_GLOBAL, .name = root_names[0], .variable = UINT32_MAX};
	uint32_t index;
	struct hi_error err;
	hi_node found;

	hi_test_defer(free_drawn, NULL);
	HI_ASSERT_OK(hi_graph_builder_root(b, &root, &index, &err), &err);
	n_objects = 4;
	n_arcs = sizeof(drawn) / sizeof(*drawn);
	for (uint32_t i = 0; i < n_arcs; i++) {
		arcs[i].from = drawn[i].from;
		arcs[i].to = drawn[i].to;
		strcpy(arcs[i].text, drawn[i].text);
		if (drawn[i].from < MOST)
			edge(b, drawn[i].from, drawn[i].to, HI_GRADE_EXACT);
		else
			root_edge(b, 0, drawn[i].to, HI_GRADE_EXACT);
	}
	OWN(graph) *g = sealed(b);

	in.graph = g;
	in.source = &drawn_source;
	HI_ASSERT_OK(hi_named_object_find(&in, "app::sessions[\"a\"]", &found, &err),
		     &err);
	HI_ASSERT_EQ(1, found);
	HI_ASSERT_OK(
		hi_named_object_find(&in, "app::sessions[\"a\"].lines", &found, &err),
		&err);
	HI_ASSERT_EQ(2, found);
	HI_ASSERT_OK(hi_named_object_find(&in, "app::sessions[\"ab\"]", &found, &err),
		     &err);
	HI_ASSERT_EQ(0, found);
	HI_ASSERT_EQ(HI_NOT_FOUND,
		     hi_named_object_find(&in, "app::sessions[\"a", &found, &err));
}
