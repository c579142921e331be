/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of any number into browsing a drawn heap, with screens of any size: each line is
 * text, and as many as the screen has. Two bytes a key: which, and now and then a size.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "report/reports/browse/browse_screen.h"
#include "tests/census/snapshots.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { OBJECTS = 90, MOST_KEYS = 48 };

struct world {
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_census *census;
	struct hi_browse_heap heap;
};

static enum hi_status read_fields(void *arg, hi_node node, const char **texts,
				  struct hi_error *err)
{
	struct world *w = arg;

	(void)err;
	for (uint32_t i = 0; i < hi_graph_edges(w->graph, node).count; i++)
		texts[i] = "\033[31m->next";
	return HI_OK;
}

static const char *edge_text(void *arg, hi_node from, hi_node to)
{
	(void)arg;
	return (from ^ to) & 1 ? "->next" : "";
}

static enum hi_status explain(void *arg, hi_node node, struct hi_page *page,
			      struct hi_error *err)
{
	(void)arg;
	(void)err;
	hi_page_code(page, hi_page_printf(page, "node %u", node));
	return HI_OK;
}

static struct world *draw_world(void)
{
	static struct hi_field_reader fields;
	struct world *w = calloc(1, sizeof(*w));
	struct hi_error err;

	HI_ASSERT(w);
	w->graph = drawn_graph(3, OBJECTS);
	w->reach = reach_of(w->graph);
	w->dominators = dominators_of(w->graph, w->reach);
	HI_ASSERT_OK(
		hi_census_by_type(w->graph, w->reach, w->dominators, &w->census, &err),
		&err);
	fields = (struct hi_field_reader){.read = read_fields, .arg = w};
	w->heap = (struct hi_browse_heap){.graph = w->graph,
					  .reach = w->reach,
					  .dominators = w->dominators,
					  .census = w->census,
					  .fields = &fields,
					  .edge_text = edge_text,
					  .explain = explain,
					  .arg = w,
					  .threads = 1};
	return w;
}

static void draw(struct hi_browse *browse, unsigned columns, unsigned lines)
{
	static const struct hi_text_options options = {.utf8 = true};
	struct hi_browse_screen screen = {};
	struct hi_error err;

	if (hi_browse_draw(browse, columns, lines, &options, 0, &screen, &err) == HI_OK)
		for (size_t i = 0; i < screen.n_lines; i++)
			for (const char *c = screen.lines[i].text; *c; c++)
				if ((unsigned char)*c < ' ' || *c == 127)
					abort();
	if (screen.n_lines > lines)
		abort();
	hi_browse_screen_free(&screen);
}

static uint32_t key_of(unsigned char byte)
{
	return byte >= 0xe0 ? HI_KEY_UP + (byte - 0xe0u) : byte;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static const struct hi_browse_about about = {.title = "x", .time_ns = UINT64_MAX};
	static struct world *w;
	struct hi_browse *browse = NULL;
	struct hi_error err;

	if (!w) {
		setlocale(LC_CTYPE, "C.UTF-8");
		w = draw_world();
	}
	if (hi_browse_create(&w->heap, &about, &browse, &err) != HI_OK)
		return 0;
	for (size_t i = 0;
	     i + 1 < size && i < 2 * MOST_KEYS && !hi_browse_has_ended(browse); i += 2) {
		if (hi_browse_key(browse, key_of(data[i]), &err) != HI_OK)
			break;
		draw(browse, 20 + data[i + 1] % 128, 5 + data[i + 1] % 60);
	}
	hi_browse_destroy(browse);
	return 0;
}
