/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables as CSV (RFC 4180) and as lines of JSON: the same columns in both. */
#include <inttypes.h>
#include <string.h>

#include "base/vector.h"
#include "cli/export.h"
#include "cli/export_table.h"
#include "report/node.h"

struct table {
	struct hi_export *x;
	struct hi_export_table cells;
	struct texts HI_VECTOR(const char *) texts;
};

static uint64_t id_or_none(hi_node node)
{
	return node == HI_NODE_NONE ? UINT64_MAX : node;
}

/* ---- rows; node is any valid one while the heading is written ---- */

static void object_row(struct table *t, hi_node i)
{
	const struct hi_inspection *in = t->x->in;
	const struct hi_graph *g = in->graph;
	bool is = !t->cells.is_heading;
	uint32_t type = is ? g->objects->type[i] : 0;
	uint8_t flags = is ? g->objects->flags[i] : 0;

	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "id", i);
	hi_export_address(&t->cells, "address",
			  is ? hi_objects_address(g->objects, i) : 0);
	hi_export_number(&t->cells, "usable", is ? hi_objects_usable(g->objects, i) : 0);
	hi_export_number(&t->cells, "cost", is ? hi_objects_cost(g->objects, i) : 0);
	hi_export_text(&t->cells, "type", g->types[type].name);
	hi_export_number(&t->cells, "type_id", type);
	hi_export_text(&t->cells, "module", g->types[type].module);
	hi_export_text(
		&t->cells, "evidence",
		hi_evidence_key((enum hi_evidence)(flags & HI_OBJECT_EVIDENCE_MASK)));
	hi_export_text(&t->cells, "state",
		       flags & HI_OBJECT_INTERNAL	 ? "internal"
		       : is && hi_bit(in->reach->any, i) ? "live"
							 : "leak");
	hi_export_number(&t->cells, "retained", is ? in->dominators->retained[i] : 0);
	hi_export_number(&t->cells, "dominator",
			 is ? id_or_none(in->dominators->idom[i]) : 0);
	hi_export_row_end(&t->cells);
}

static void type_row(struct table *t, uint32_t i)
{
	const struct hi_inspection *in = t->x->in;
	const struct hi_type_name *type = &in->graph->types[i];
	const struct hi_census_row *row = NULL;

	for (size_t k = 0; k < in->census->n_rows && !row; k++)
		if (in->census->rows[k].type == i)
			row = &in->census->rows[k];
	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "id", i);
	hi_export_text(&t->cells, "type", type->name);
	hi_export_text(&t->cells, "module", type->module);
	hi_export_text(&t->cells, "class", hi_type_class_name(type->klass));
	hi_export_number(&t->cells, "size", type->size);
	hi_export_number(&t->cells, "count", row ? row->count : 0);
	hi_export_number(&t->cells, "shallow", row ? row->shallow : 0);
	hi_export_number(&t->cells, "retained", row ? row->retained : 0);
	hi_export_row_end(&t->cells);
}

static void root_row(struct table *t, uint32_t i)
{
	static const struct hi_root nothing = {.name = "", .detail = "", .type = ""};
	const struct hi_graph *g = t->x->in->graph;
	const struct hi_root *root = t->cells.is_heading ? &nothing : &g->roots[i];

	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "id", g->first_root + i);
	hi_export_text(&t->cells, "kind", hi_root_kind_key(root->kind));
	hi_export_text(&t->cells, "name", root->name);
	hi_export_text(&t->cells, "detail", root->detail);
	hi_export_text(&t->cells, "type", root->type);
	hi_export_address(&t->cells, "address", root->address);
	hi_export_number(&t->cells, "size", root->size);
	hi_export_number(&t->cells, "retained",
			 t->cells.is_heading
				 ? 0
				 : t->x->in->dominators->retained[g->first_root + i]);
	hi_export_row_end(&t->cells);
}

static void edge_row(struct table *t, hi_node from, hi_node to, uint8_t grade,
		     const char *label)
{
	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "from", from);
	hi_export_number(&t->cells, "to", to);
	hi_export_text(&t->cells, "grade", hi_grade_key(grade));
	hi_export_text(&t->cells, "field", label);
	hi_export_row_end(&t->cells);
}

static enum hi_status edge_rows(struct table *t, struct hi_error *err)
{
	const struct hi_graph *g = t->x->in->graph;

	for (hi_node i = 0; i < g->first_kind; i++) {
		struct hi_edges edges = hi_graph_edges(g, i);
		enum hi_status status;

		if (!edges.count)
			continue;
		if (!hi_vector_reserve(&t->texts, edges.count))
			return hi_fail_memory(err, "export");
		status = t->x->labels(t->x, i, t->texts.items, err);
		if (status != HI_OK)
			return status;
		for (uint32_t k = 0; k < edges.count; k++)
			edge_row(t, i, edges.to[k], edges.grade[k], t->texts.items[k]);
	}
	return HI_OK;
}

static enum hi_status rows(struct table *t, struct hi_error *err)
{
	const struct hi_graph *g = t->x->in->graph;
	const char *name =
		t->x->in->options->table ? t->x->in->options->table : "objects";
	enum hi_status status = HI_OK;

	if (strcmp(name, "types") == 0)
		for (uint32_t i = 0; i < (t->cells.is_heading ? 1 : g->n_types); i++)
			type_row(t, i);
	else if (strcmp(name, "roots") == 0)
		for (uint32_t i = 0; i < (t->cells.is_heading ? 1 : g->n_roots); i++)
			root_row(t, i);
	else if (strcmp(name, "edges") == 0 && t->cells.is_heading)
		edge_row(t, 0, 0, 0, "");
	else if (strcmp(name, "edges") == 0)
		status = edge_rows(t, err);
	else
		for (hi_node i = 0; i < (t->cells.is_heading ? 1 : g->n_objects); i++)
			object_row(t, i);
	return status;
}

enum hi_status hi_export_csv(struct hi_export *x, struct hi_error *err)
{
	struct table t = {.x = x,
			  .cells = {.out = x->out, .csv = true, .is_heading = true}};
	enum hi_status status = rows(&t, err);

	t.cells.is_heading = false;
	if (status == HI_OK)
		status = rows(&t, err);
	hi_vector_free(&t.texts);
	return status;
}

enum hi_status hi_export_ndjson(struct hi_export *x, struct hi_error *err)
{
	struct table t = {.x = x, .cells.out = x->out};
	enum hi_status status = rows(&t, err);

	hi_vector_free(&t.texts);
	return status;
}
