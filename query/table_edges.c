/* SPDX-License-Identifier: BSD-2-Clause */
/* edges: the key is the node that it comes from, and 32 bits of its place there. */
#include "query/query_internal.h"
#include "report/parts/report_node.h"

enum { SOURCE, TARGET, GRADE, LABEL, POSITION };

static const struct hi_query_column columns[] = {
	[SOURCE] = {"source", HI_UNIT_ID, false,
		    "the object (objects.id) or variable (roots.node) that refers"},
	[TARGET] = {"target", HI_UNIT_ID, false, "the object that it refers to"},
	[GRADE] = {"grade", HI_UNIT_TEXT, false,
		   "exact, interior, conservative or weak (which retains nothing)"},
	[LABEL] = {"label", HI_UNIT_TEXT, false,
		   "as C writes it: ->next, [3].key; NULL unknown"},
	[POSITION] = {"position", HI_UNIT_ID, true, "among the edges of its source"},
};

enum { WAY_TARGET = 1 };
static const struct hi_query_way ways[] = {
	/* A source has several. */
	{.column = -1, .order = SOURCE, .share = 0.01},
	[WAY_TARGET] = {.column = TARGET, .order = SOURCE},
};

static uint64_t estimate_edge_rows(const struct hi_query *q)
{
	return q->source.graph->n_edges;
}

static enum hi_status find_edge_keys(struct hi_query *q, uint64_t *low_ret,
				     uint64_t *high_ret, struct hi_error *err)
{
	(void)err;
	*low_ret = 0;
	*high_ret = (uint64_t)q->source.graph->first_kind << 32;
	return HI_OK;
}

static enum hi_status start_edge_walk(struct hi_query *q, struct hi_query_walk *walk,
				      struct hi_error *err)
{
	const struct hi_edges_to *to = NULL;
	enum hi_status status;

	hi_query_walk_keys(walk);
	if (walk->way == 0)
		return HI_OK;
	status = hi_query_edges_to(q, &to, err);
	walk->at = walk->end = 0;
	if (status != HI_OK || walk->integer < 0 || walk->integer >= to->n)
		return status;
	walk->list = to->sources;
	walk->at = to->first[walk->integer];
	walk->end = to->first[walk->integer + 1];
	return HI_OK;
}

static bool next_to(struct hi_query_walk *walk)
{
	const struct hi_edge_source *place;

	if (walk->at >= walk->end)
		return false;
	place = (const struct hi_edge_source *)walk->list + walk->at++;
	walk->row = (uint64_t)place->from << 32 | place->index;
	return true;
}

static bool advance_edge_walk(struct hi_query *q, struct hi_query_walk *walk)
{
	if (walk->way == WAY_TARGET)
		return next_to(walk);
	while (walk->at < walk->end) {
		uint32_t count =
			hi_graph_edges(q->source.graph, (hi_node)(walk->at >> 32)).count;

		if ((uint32_t)walk->at < count) {
			walk->row = walk->at++;
			return true;
		}
		walk->at = ((walk->at >> 32) + 1) << 32;
	}
	return false;
}

static enum hi_status label_cell(struct hi_query *q, uint64_t row,
				 struct hi_result_cell *ret, struct hi_error *err)
{
	const char *text = NULL;
	enum hi_status status = HI_OK;

	if (q->source.label)
		status = q->source.label(q->source.arg, (hi_node)(row >> 32),
					 (uint32_t)row, &text, err);
	*ret = hi_cell_string(text);
	ret->is_passing = true;
	return status;
}

static enum hi_status make_edge_cell(struct hi_query *q, uint64_t row, int column,
				     struct hi_result_cell *ret, struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(q->source.graph, (hi_node)(row >> 32));

	switch (column) {
	case SOURCE:
		*ret = hi_cell_u64(row >> 32);
		return HI_OK;
	case TARGET:
		*ret = hi_cell_u64(edges.to[(uint32_t)row]);
		return HI_OK;
	case GRADE:
		*ret = hi_cell_string(hi_grade_key(edges.grade[(uint32_t)row]));
		return HI_OK;
	case POSITION:
		*ret = hi_cell_u64((uint32_t)row);
		return HI_OK;
	case LABEL:
	default:
		return label_cell(q, row, ret, err);
	}
}

const struct hi_query_ops hi_query_table_edges = {
	.name = "edges",
	.about = "which object or variable refers to which object",
	HI_COLUMNS(columns),
	HI_WAYS(ways),
	.grows = 1ull << SOURCE,
	.about_rows = estimate_edge_rows,
	.keys = find_edge_keys,
	.bound = hi_query_bound_upper,
	.start = start_edge_walk,
	.next = advance_edge_walk,
	.cell = make_edge_cell,
};
