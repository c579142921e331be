/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of objects, edges, types and roots, in each of the forms of tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "report/exports/export.h"
#include "report/exports/export_table.h"
#include "report/parts/report_node.h"

struct table {
	struct hi_export *x;
	struct hi_export_table cells;
	const struct hi_census_row **row_of; /* by type; of the table of types */
	struct texts HI_VECTOR(const char *) texts;
};

static uint64_t id_or_none(hi_node node)
{
	return node == HI_NODE_NONE ? UINT64_MAX : node;
}

static uint64_t size_or_unknown(uint64_t size)
{
	return size ? size : UINT64_MAX;
}

/* Unknown where nothing leads to it. */
static uint64_t retained_or_unknown(const struct hi_dominators *d, hi_node node)
{
	return d->idom[node] == HI_NODE_NONE ? UINT64_MAX : d->retained[node];
}

/* ---- rows; node is any valid one while the heading is written ---- */

static void object_row(struct table *t, hi_node i)
{
	const struct hi_export *x = t->x;
	const struct hi_graph *g = x->graph;
	bool is = !t->cells.is_heading;
	uint32_t type = is ? g->objects->type[i] : 0;
	uint8_t flags = is ? g->objects->flags[i] : 0;

	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "id", i);
	hi_export_address(&t->cells, "address", is ? hi_graph_address(g, i) : 0);
	hi_export_number(&t->cells, "usable", is ? hi_objects_usable(g->objects, i) : 0);
	hi_export_number(&t->cells, "shallow", is ? hi_objects_cost(g->objects, i) : 0);
	hi_export_text(&t->cells, "type", g->types[type].name);
	hi_export_number(&t->cells, "type_id", type);
	hi_export_text(&t->cells, "module", g->types[type].module);
	hi_export_text(
		&t->cells, "evidence",
		hi_evidence_key((enum hi_evidence)(flags & HI_OBJECT_EVIDENCE_MASK)));
	hi_export_text(&t->cells, "state",
		       flags & HI_OBJECT_INTERNAL	? "internal"
		       : is && hi_bit(x->reach->any, i) ? "live"
							: "leak");
	hi_export_number(&t->cells, "retained",
			 is ? retained_or_unknown(x->dominators, i) : 0);
	hi_export_number(&t->cells, "idom", is ? id_or_none(x->dominators->idom[i]) : 0);
	hi_export_row_end(&t->cells);
}

static void put_type_table_row(struct table *t, uint32_t i)
{
	const struct hi_export *x = t->x;
	const struct hi_type_name *type = &x->graph->types[i];
	const struct hi_census_row *row = t->row_of ? t->row_of[i] : NULL;

	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "id", i);
	hi_export_text(&t->cells, "type", type->name);
	hi_export_text(&t->cells, "module", type->module);
	hi_export_text(&t->cells, "class", i ? hi_type_class_name(type->klass) : "");
	hi_export_number(&t->cells, "size", size_or_unknown(type->size));
	hi_export_number(&t->cells, "count", row ? row->count : 0);
	hi_export_number(&t->cells, "shallow", row ? row->shallow : 0);
	hi_export_number(&t->cells, "retained", row ? row->retained : 0);
	hi_export_row_end(&t->cells);
}

static void put_root_table_row(struct table *t, uint32_t i)
{
	static const struct hi_root nothing = {.name = "", .detail = "", .type = ""};
	const struct hi_graph *g = t->x->graph;
	const struct hi_root *root = t->cells.is_heading ? &nothing : &g->roots[i];

	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "node", g->first_root + i);
	hi_export_text(&t->cells, "kind", hi_root_kind_key(root->kind));
	hi_export_text(&t->cells, "name", root->name);
	hi_export_text(&t->cells, "detail", root->detail);
	hi_export_text(&t->cells, "type", root->type);
	hi_export_address(&t->cells, "address", root->address);
	hi_export_number(&t->cells, "size", size_or_unknown(root->size));
	hi_export_number(
		&t->cells, "retained",
		t->cells.is_heading ? 0 : t->x->dominators->retained[g->first_root + i]);
	hi_export_row_end(&t->cells);
}

static void edge_row(struct table *t, hi_node from, hi_node to, uint8_t grade,
		     const char *label)
{
	hi_export_row(&t->cells);
	hi_export_number(&t->cells, "source", from);
	hi_export_number(&t->cells, "target", to);
	hi_export_text(&t->cells, "grade", hi_grade_key(grade));
	hi_export_text(&t->cells, "label", label);
	hi_export_row_end(&t->cells);
}

static enum hi_status edge_rows(struct table *t, struct hi_error *err)
{
	const struct hi_graph *g = t->x->graph;

	for (hi_node i = 0; i < g->first_kind && hi_export_table_is_fine(&t->cells);
	     i++) {
		struct hi_edges edges = hi_graph_edges(g, i);
		enum hi_status status;

		if (!edges.count)
			continue;
		if (!hi_vector_reserve(&t->texts, edges.count))
			return hi_fail_memory(err, "export");
		status = t->x->source->labels(t->x->arg, i, t->texts.items, err);
		if (status != HI_OK)
			return status;
		for (uint32_t k = 0; k < edges.count; k++)
			edge_row(t, i, edges.to[k], edges.grade[k], t->texts.items[k]);
	}
	return HI_OK;
}

static enum hi_status object_rows(struct table *t, struct hi_error *err)
{
	(void)err;
	for (hi_node i = 0;
	     i < t->x->graph->n_objects && hi_export_table_is_fine(&t->cells); i++)
		object_row(t, i);
	return HI_OK;
}

static enum hi_status type_rows(struct table *t, struct hi_error *err)
{
	const struct hi_census *c = t->x->census;
	uint32_t n = t->x->graph->n_types;

	t->row_of = hi_calloc(n, sizeof(*t->row_of));
	if (!t->row_of)
		return hi_fail_memory(err, "export");
	for (size_t i = 0; i < c->n_rows; i++)
		t->row_of[c->rows[i].type] = &c->rows[i];
	for (uint32_t i = 0; i < n && hi_export_table_is_fine(&t->cells); i++)
		put_type_table_row(t, i);
	return HI_OK;
}

static enum hi_status root_rows(struct table *t, struct hi_error *err)
{
	(void)err;
	for (uint32_t i = 0;
	     i < t->x->graph->n_roots && hi_export_table_is_fine(&t->cells); i++)
		put_root_table_row(t, i);
	return HI_OK;
}

static void edge_heading(struct table *t, uint32_t i)
{
	edge_row(t, i, i, 0, "");
}

static const struct {
	const char *name;
	void (*heading)(struct table *t, uint32_t);
	enum hi_status (*rows)(struct table *t, struct hi_error *err);
} tables[] = {{"objects", object_row, object_rows},
	      {"types", put_type_table_row, type_rows},
	      {"roots", put_root_table_row, root_rows},
	      {"edges", edge_heading, edge_rows}};

static enum hi_status write_rows(struct table *t, struct hi_error *err)
{
	const char *name = t->x->table;
	size_t i = sizeof(tables) / sizeof(tables[0]) - 1;

	/* The options are checked: it is one of them. */
	while (i && strcmp(tables[i].name, name ? name : "objects") != 0)
		i--;
	tables[i].heading(t, 0);
	t->cells.is_heading = false;
	return tables[i].rows(t, err);
}

/* Adds what the rows do not have: the table, the target, its build, the time. */
static enum hi_status finish_table_export(struct table *t, struct hi_error *err)
{
	const struct hi_report_header *header = t->x->header;
	const char *name = t->x->table;
	char pid[16], time[24], exe[HI_EXPORT_TEXT];
	const struct hi_parquet_property properties[] = {
		{"heapinspect.table", name ? name : "objects"},
		{"heapinspect.pid", pid},
		{"heapinspect.exe", hi_export_safe(exe, header->exe)},
		{"heapinspect.build_id", header->build_id},
		{"heapinspect.time_ns", time},
		{"heapinspect.complete", header->complete ? "true" : "false"},
	};

	snprintf(pid, sizeof(pid), "%d", header->pid);
	snprintf(time, sizeof(time), "%" PRIu64, header->time_ns);
	return hi_export_table_finish(&t->cells, properties,
				      sizeof(properties) / sizeof(properties[0]), err);
}

enum hi_status hi_export_tables(struct hi_export *x, struct hi_error *err)
{
	struct table t = {.x = x};
	enum hi_status status =
		hi_export_table_open(&t.cells, x->format, x->uncompressed, x->out, err);

	if (status == HI_OK)
		status = write_rows(&t, err);
	if (status == HI_OK)
		status = finish_table_export(&t, err);
	hi_export_table_free(&t.cells);
	hi_vector_free(&t.texts);
	free(t.row_of);
	return status;
}
