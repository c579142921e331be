/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables as CSV (RFC 4180) and as lines of JSON: the same columns in both. */
#include <inttypes.h>
#include <string.h>

#include "base/vector.h"
#include "cli/export.h"
#include "report/formats/json_writer.h"
#include "report/node.h"

struct table {
	struct hi_export *x;
	bool csv;
	bool is_heading; /* CSV: names instead of values */
	bool has_cells;	 /* in this row */
	struct hi_json json;
	struct texts HI_VECTOR(const char *) texts;
};

static void separate(struct table *t)
{
	if (t->has_cells)
		fputc(',', t->x->out);
	t->has_cells = true;
}

/* Quoted where it must be. */
static void csv_text(struct table *t, const char *text)
{
	char safe[HI_EXPORT_TEXT];
	FILE *out = t->x->out;

	hi_export_safe(safe, text);
	if (!strpbrk(safe, ",\"\r\n")) {
		fputs(safe, out);
		return;
	}
	fputc('"', out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

static void begin(struct table *t)
{
	t->has_cells = false;
	if (t->csv)
		return;
	hi_json_init(&t->json, t->x->out);
	t->json.one_line = true;
	hi_json_object(&t->json, NULL);
}

static void end(struct table *t)
{
	if (t->csv) {
		fputs("\r\n", t->x->out);
	} else {
		hi_json_end(&t->json);
		(void)hi_json_finish(&t->json);
	}
}

/* UINT64_MAX: unknown. */
static void number(struct table *t, const char *name, uint64_t value)
{
	if (!t->csv) {
		hi_json_number(&t->json, name, value);
		return;
	}
	separate(t);
	if (t->is_heading)
		fputs(name, t->x->out);
	else if (value != UINT64_MAX)
		fprintf(t->x->out, "%" PRIu64, value);
}

static void text(struct table *t, const char *name, const char *value)
{
	if (!t->csv) {
		hi_json_text(&t->json, name, hi_known(value));
		return;
	}
	separate(t);
	csv_text(t, t->is_heading ? name : value ? value : "");
}

static void address(struct table *t, const char *name, uint64_t value)
{
	if (!t->csv) {
		hi_json_address(&t->json, name, value);
		return;
	}
	separate(t);
	if (t->is_heading)
		fputs(name, t->x->out);
	else if (value)
		fprintf(t->x->out, "0x%" PRIx64, value);
}

static uint64_t id_or_none(hi_node node)
{
	return node == HI_NODE_NONE ? UINT64_MAX : node;
}

/* ---- rows; node is any valid one while the heading is written ---- */

static void object_row(struct table *t, hi_node i)
{
	const struct hi_inspection *in = t->x->in;
	const struct hi_graph *g = in->graph;
	bool is = !t->is_heading;
	uint32_t type = is ? g->objects->type[i] : 0;
	uint8_t flags = is ? g->objects->flags[i] : 0;

	begin(t);
	number(t, "id", i);
	address(t, "address", is ? hi_objects_address(g->objects, i) : 0);
	number(t, "usable", is ? hi_objects_usable(g->objects, i) : 0);
	number(t, "cost", is ? hi_objects_cost(g->objects, i) : 0);
	text(t, "type", g->types[type].name);
	number(t, "type_id", type);
	text(t, "module", g->types[type].module);
	text(t, "evidence",
	     hi_evidence_key((enum hi_evidence)(flags & HI_OBJECT_EVIDENCE_MASK)));
	text(t, "state",
	     flags & HI_OBJECT_INTERNAL	       ? "internal"
	     : is && hi_bit(in->reach->any, i) ? "live"
					       : "leak");
	number(t, "retained", is ? in->dominators->retained[i] : 0);
	number(t, "dominator", is ? id_or_none(in->dominators->idom[i]) : 0);
	end(t);
}

static void type_row(struct table *t, uint32_t i)
{
	const struct hi_inspection *in = t->x->in;
	const struct hi_type_name *type = &in->graph->types[i];
	const struct hi_census_row *row = NULL;

	for (size_t k = 0; k < in->census->n_rows && !row; k++)
		if (in->census->rows[k].type == i)
			row = &in->census->rows[k];
	begin(t);
	number(t, "id", i);
	text(t, "type", type->name);
	text(t, "module", type->module);
	text(t, "class", hi_type_class_name(type->klass));
	number(t, "size", type->size);
	number(t, "count", row ? row->count : 0);
	number(t, "shallow", row ? row->shallow : 0);
	number(t, "retained", row ? row->retained : 0);
	end(t);
}

static void root_row(struct table *t, uint32_t i)
{
	static const struct hi_root nothing = {.name = "", .detail = "", .type = ""};
	const struct hi_graph *g = t->x->in->graph;
	const struct hi_root *root = t->is_heading ? &nothing : &g->roots[i];

	begin(t);
	number(t, "id", g->first_root + i);
	text(t, "kind", hi_root_kind_key(root->kind));
	text(t, "name", root->name);
	text(t, "detail", root->detail);
	text(t, "type", root->type);
	address(t, "address", root->address);
	number(t, "size", root->size);
	number(t, "retained",
	       t->is_heading ? 0 : t->x->in->dominators->retained[g->first_root + i]);
	end(t);
}

static void edge_row(struct table *t, hi_node from, hi_node to, uint8_t grade,
		     const char *label)
{
	begin(t);
	number(t, "from", from);
	number(t, "to", to);
	text(t, "grade", hi_grade_key(grade));
	text(t, "field", label);
	end(t);
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
		for (uint32_t i = 0; i < (t->is_heading ? 1 : g->n_types); i++)
			type_row(t, i);
	else if (strcmp(name, "roots") == 0)
		for (uint32_t i = 0; i < (t->is_heading ? 1 : g->n_roots); i++)
			root_row(t, i);
	else if (strcmp(name, "edges") == 0 && t->is_heading)
		edge_row(t, 0, 0, 0, "");
	else if (strcmp(name, "edges") == 0)
		status = edge_rows(t, err);
	else
		for (hi_node i = 0; i < (t->is_heading ? 1 : g->n_objects); i++)
			object_row(t, i);
	return status;
}

enum hi_status hi_export_csv(struct hi_export *x, struct hi_error *err)
{
	struct table t = {.x = x, .csv = true, .is_heading = true};
	enum hi_status status = rows(&t, err);

	t.is_heading = false;
	if (status == HI_OK)
		status = rows(&t, err);
	hi_vector_free(&t.texts);
	return status;
}

enum hi_status hi_export_ndjson(struct hi_export *x, struct hi_error *err)
{
	struct table t = {.x = x};
	enum hi_status status = rows(&t, err);

	hi_vector_free(&t.texts);
	return status;
}
