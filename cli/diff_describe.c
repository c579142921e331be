/* SPDX-License-Identifier: BSD-2-Clause */
/* New objects in words: by type with a way to them, and who holds them. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/diff.h"
#include "cli/lookup.h"
#include "cli/words.h"

enum { TOP = 10, HOLDERS = 10, NAMED = 200 };

HI_DEFINE_GUARD(struct hi_marked *, hi_marked_destroy)

static const char *name_of(struct hi_inspection *in, hi_node node)
{
	if (node >= in->graph->first_root)
		return hi_words_way(in, &node, 1);
	return hi_words_name(in, node);
}

static const char *type_text(const struct hi_graph *g, uint32_t type)
{
	return type < g->n_types && g->types[type].name ? g->types[type].name : "";
}

static enum hi_status find_holders(struct hi_inspection *in, const uint64_t *marked,
				   struct hi_new_objects *r, struct hi_error *err)
{
	struct hi_growth found[HOLDERS];
	const struct hi_graph *g = in->graph;
	struct hi_heap_side side = {in->graph, in->reach, in->dominators, NULL, NULL};
	struct hi_new_holder *holders =
		hi_arena_alloc(&in->arena, HOLDERS * sizeof(*holders));
	enum hi_status status;

	if (!holders)
		return hi_fail_memory(err, "growth");
	status = hi_growth_find(&side, marked, HOLDERS, found, &r->n_holders, &r->leaked,
				err);
	for (size_t i = 0; status == HI_OK && i < r->n_holders; i++) {
		hi_node node = found[i].holder;
		bool is_object = hi_graph_is_object(g, node);

		holders[i] = (struct hi_new_holder){
			.name = name_of(in, node),
			.type = is_object ? type_text(g, g->objects->type[node])
					  : g->roots[node - g->first_root].type,
			.address = is_object ? hi_objects_address(g->objects, node) : 0,
			.objects = found[i].objects,
			.bytes = found[i].bytes};
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
				const struct hi_comparison *born, bool is_named)
{
	const char *type = type_text(in->graph, m->type);

	return (struct hi_new_row){
		.type = type,
		.count = m->all.count,
		.bytes = m->all.bytes,
		.leaked = m->leaked.count,
		.retained = m->retained,
		.of = born_of(born, type),
		.example = hi_objects_address(in->graph->objects, m->example),
		.way = is_named && m->leaked.count < m->all.count
			       ? hi_words_name(in, m->example)
			       : ""};
}

static enum hi_status find_rows(struct hi_inspection *in, const struct hi_marked *m,
				const struct hi_comparison *born,
				struct hi_new_objects *ret, struct hi_error *err)
{
	size_t top = hi_lookup_top(in->options, TOP);
	struct hi_new_row *rows =
		hi_arena_alloc(&in->arena, (m->n_rows + 1) * sizeof(*rows));

	if (!rows)
		return hi_fail_memory(err, "new objects");
	for (size_t i = 0; i < m->n_rows; i++) {
		bool below = m->rows[i].all.bytes < in->options->min_size;

		if (below || ret->n_rows >= top) {
			struct hi_hidden *hidden = below ? &ret->below : &ret->beyond;

			hidden->rows++;
			hidden->bytes += m->rows[i].all.bytes;
			continue;
		}
		/* A way is a search: for what a person reads. */
		rows[ret->n_rows] = row_of(in, &m->rows[i], born, ret->n_rows < NAMED);
		ret->n_rows++;
	}
	ret->rows = rows;
	ret->all = m->all;
	return HI_OK;
}

enum hi_status hi_diff_describe(struct hi_inspection *in, const uint64_t *marked,
				const struct hi_comparison *born,
				struct hi_new_objects *ret, struct hi_error *err)
{
	HI_GUARD(hi_marked_destroy) struct hi_marked *m = NULL;
	struct hi_heap_side side = {in->graph, in->reach, in->dominators, NULL, NULL};
	enum hi_status status;

	*ret = (struct hi_new_objects){};
	hi_inspect_phase(in, "ways to new objects");
	status = hi_marked_by_type(&side, marked, &m, err);
	if (status == HI_OK)
		status = find_rows(in, m, born, ret, err);
	return status == HI_OK ? find_holders(in, marked, ret, err) : status;
}
