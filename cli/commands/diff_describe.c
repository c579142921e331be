/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes new objects: by type, with a path to one of them and what holds them. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands/diff.h"
#include "session/operands.h"
#include "session/path_text.h"

enum { TOP = 10, HOLDERS = 10, NAMED = 200 };

/* Objects that need a path, and where to store it. */
struct wanted {
	hi_node nodes[NAMED + HOLDERS];
	const char **names[NAMED + HOLDERS];
	size_t n;
};

static void add_wanted_object(struct wanted *w, hi_node node, const char **name)
{
	*name = "";
	if (w->n == NAMED + HOLDERS)
		return;
	w->nodes[w->n] = node;
	w->names[w->n++] = name;
}

/* All in one walk; without memory for it they stay without a name. */
static void find_paths_to_new_objects(struct hi_inspection *in, const struct wanted *w)
{
	struct hi_paths *paths = NULL;
	struct hi_error quiet;

	if (!w->n ||
	    hi_paths_shortest(in->graph, w->nodes, w->n, &paths, &quiet) != HI_OK)
		return;
	for (size_t i = 0; i < w->n; i++) {
		const struct hi_path *path = &paths->paths[i];

		/* A stale word of a stack is often nearest, but says least. */
		if (path->length && path->worst == HI_GRADE_CONSERVATIVE)
			*w->names[i] = hi_path_text_from_root(in, w->nodes[i]);
		else if (path->length)
			*w->names[i] =
				hi_path_text_of_nodes(in, path->nodes, path->length);
	}
	hi_paths_destroy(paths);
}

static enum hi_status find_holders(struct hi_inspection *in, const uint64_t *marked,
				   struct wanted *w, struct hi_new_objects *r,
				   struct hi_error *err)
{
	struct hi_growth found[HOLDERS];
	const struct hi_graph *g = in->graph;
	struct hi_heap_side side = {
		in->graph, in->results.reach, in->results.dominators, NULL, NULL, NULL};
	struct hi_new_holder *holders =
		hi_arena_alloc(&in->arena, HOLDERS * sizeof(*holders));
	enum hi_status status;

	if (!holders)
		return hi_fail_memory(err, "growth");
	status = hi_growth_find(&side, marked, HOLDERS, found, &r->n_holders, err);
	for (size_t i = 0; status == HI_OK && i < r->n_holders; i++) {
		hi_node node = found[i].holder;
		bool is_object = hi_graph_is_object(g, node);

		holders[i] = (struct hi_new_holder){
			.type = is_object ? hi_graph_type_name(g, g->objects->type[node])
					  : g->roots[node - g->first_root].type,
			.address = is_object ? hi_graph_address(g, node) : 0,
			.objects = found[i].objects,
			.bytes = found[i].bytes};
		if (is_object)
			add_wanted_object(w, node, &holders[i].name);
		else
			holders[i].name = hi_path_text_of_nodes(in, &node, 1);
	}
	r->holders = holders;
	return status;
}

/* How many were born of the type. */
static uint64_t born_of(const struct hi_comparison *born, const char *type)
{
	for (size_t i = 0; born && i < born->n_rows; i++)
		if (strcmp(born->rows[i].name, type) == 0)
			return born->rows[i].born.count;
	return 0;
}

static struct hi_new_row row_of(struct hi_inspection *in, const struct hi_marked_row *m,
				const struct hi_comparison *born)
{
	const char *type = hi_graph_type_name(in->graph, m->type);

	return (struct hi_new_row){.type = type,
				   .count = m->all.count,
				   .bytes = m->all.bytes,
				   .leaked = m->unheld[HI_LEAK_CERTAIN].count,
				   .likely = m->unheld[HI_LEAK_LIKELY].count,
				   .garbage = m->unheld[HI_LEAK_GARBAGE].count,
				   .retained = m->retained,
				   .of = born_of(born, type),
				   .example = hi_graph_address(in->graph, m->example),
				   .way = ""};
}

static enum hi_status find_rows(struct hi_inspection *in, const struct hi_marked *m,
				const struct hi_comparison *born, struct wanted *w,
				struct hi_new_objects *ret, struct hi_error *err)
{
	size_t top = hi_lookup_top(in->options, TOP);
	struct hi_new_row *rows =
		hi_arena_alloc(&in->arena, (m->n_rows + 1) * sizeof(*rows));

	if (!rows)
		return hi_fail_memory(err, "new objects");
	for (size_t i = 0; i < m->n_rows; i++) {
		bool below = m->rows[i].all.bytes < in->options->selection.min_size;

		if (below || ret->n_rows >= top) {
			struct hi_hidden *hidden =
				below ? &ret->hidden.by_min_size : &ret->hidden.by_top;

			hidden->rows++;
			hidden->bytes += m->rows[i].all.bytes;
			continue;
		}
		rows[ret->n_rows] = row_of(in, &m->rows[i], born);
		if (ret->n_rows < NAMED && hi_new_row_is_held(&rows[ret->n_rows]))
			add_wanted_object(w, m->rows[i].example, &rows[ret->n_rows].way);
		ret->n_rows++;
	}
	ret->rows = rows;
	ret->all = m->all;
	memcpy(ret->unheld, m->unheld, sizeof(ret->unheld));
	return HI_OK;
}

enum hi_status hi_diff_describe(struct hi_inspection *in, const uint64_t *marked,
				const struct hi_comparison *born,
				struct hi_new_objects *ret, struct hi_error *err)
{
	HI_GUARD(hi_marked_destroy) struct hi_marked *m = NULL;
	struct hi_heap_side side = {
		in->graph, in->results.reach, in->results.dominators, NULL, NULL, NULL};
	struct wanted w = {.n = 0};
	enum hi_status status;

	*ret = (struct hi_new_objects){};
	hi_inspect_phase(in, "paths to new objects");
	status = hi_marked_by_type(&side, marked, &m, err);
	if (status == HI_OK)
		status = find_rows(in, m, born, &w, ret, err);
	if (status == HI_OK)
		status = find_holders(in, marked, &w, ret, err);
	if (status == HI_OK)
		find_paths_to_new_objects(in, &w);
	return status;
}
