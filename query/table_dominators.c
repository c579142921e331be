/* SPDX-License-Identifier: BSD-2-Clause */
/* dominators: the dominator tree; the key is the node. */
#include "query/query_internal.h"
#include "report/parts/report_node.h"

enum { NODE, IDOM, KIND, NAME, SHALLOW, RETAINED, NODES };

static const struct hi_query_column columns[] = {
	[NODE] = {"node", HI_UNIT_ID, false, "objects.id, roots.node, or one above"},
	[IDOM] = {"idom", HI_UNIT_ID, false, "its immediate dominator; NULL: the top"},
	[KIND] = {"kind", HI_UNIT_TEXT, false,
		  "object, root, kind (of roots) or all (the top)"},
	[NAME] = {"name", HI_UNIT_TEXT, false, "of the root; type of the object"},
	[SHALLOW] = {"shallow", HI_UNIT_BYTES, false, "its own; a root costs nothing"},
	[RETAINED] = {"retained", HI_UNIT_BYTES, false,
		      "its retained size: what would become free with it"},
	[NODES] = {"nodes", HI_UNIT_NUMBER, false, "it and all below it"},
};

enum { WAY_IDOM = 1 };
static const struct hi_query_way ways[] = {
	{.column = -1, .order = NODE, .both_ways = true},
	[WAY_IDOM] = {.column = IDOM, .order = -1, .takes_null = true},
};

static uint64_t estimate_dominator_rows(const struct hi_query *q)
{
	return q->source.graph->n_nodes;
}

static enum hi_status find_dominator_keys(struct hi_query *q, uint64_t *low_ret,
					  uint64_t *high_ret, struct hi_error *err)
{
	const struct hi_dominators *d = NULL;
	const uint32_t *place;
	enum hi_status status = hi_query_dominators(q, &d, err);

	if (status == HI_OK)
		status = hi_query_preorder_index(q, &place, err);
	*low_ret = 0;
	*high_ret = status == HI_OK ? d->n_nodes : 0;
	return status;
}

static enum hi_status start_dominator_walk(struct hi_query *q, struct hi_query_walk *walk,
					   struct hi_error *err)
{
	const struct hi_dominators *d = q->dominators;
	uint32_t place;

	(void)err;
	hi_query_walk_keys(walk);
	if (walk->way == 0)
		return HI_OK;
	walk->end = walk->is_null && d->n_order ? 1 : 0;
	walk->at = 0;
	if (walk->is_null || walk->integer < 0 || walk->integer >= d->n_nodes)
		return HI_OK;
	place = q->preorder_index[walk->integer];
	if (place == UINT32_MAX)
		return HI_OK;
	walk->at = (uint64_t)place + 1;
	walk->end = (uint64_t)place + d->span[place];
	return HI_OK;
}

static bool advance_dominator_walk(struct hi_query *q, struct hi_query_walk *walk)
{
	const struct hi_dominators *d = q->dominators;

	if (walk->way == WAY_IDOM) {
		if (walk->at >= walk->end)
			return false;
		walk->row = d->order[walk->at];
		walk->at += d->span[walk->at] ? d->span[walk->at] : 1;
		return true;
	}
	while (hi_query_next_key(q, walk))
		if (q->preorder_index[walk->row] != UINT32_MAX)
			return true;
	return false;
}

static struct hi_result_cell name_cell(const struct hi_query *q, uint64_t node)
{
	const struct hi_graph *g = q->source.graph;

	if (node < g->n_objects)
		return hi_cell_type(q, g->objects->type[node]);
	if (node < g->first_kind)
		return hi_cell_string(g->roots[node - g->first_root].name);
	if (node < g->super_root)
		return hi_cell_string(
			hi_root_kind_name((enum hi_root_kind)(node - g->first_kind)));
	return hi_cell_string("all roots");
}

static const char *kind_of_dominator_node(const struct hi_graph *g, uint64_t node)
{
	return node < g->n_objects    ? "object"
	       : node < g->first_kind ? "root"
	       : node < g->super_root ? "kind"
				      : "all";
}

static enum hi_status make_dominator_cell(struct hi_query *q, uint64_t row, int column,
					  struct hi_result_cell *ret,
					  struct hi_error *err)
{
	const struct hi_graph *g = q->source.graph;
	const struct hi_dominators *d = q->dominators;

	(void)err;
	switch (column) {
	case NODE:
		*ret = hi_cell_u64(row);
		return HI_OK;
	case IDOM:
		*ret = hi_cell_node(d->idom[row]);
		return HI_OK;
	case KIND:
		*ret = hi_cell_string(kind_of_dominator_node(g, row));
		return HI_OK;
	case NAME:
		*ret = name_cell(q, row);
		return HI_OK;
	case SHALLOW:
		*ret = hi_cell_u64(hi_graph_cost(g, (hi_node)row));
		return HI_OK;
	case RETAINED:
		*ret = hi_cell_u64(d->retained[row]);
		return HI_OK;
	case NODES:
	default:
		*ret = hi_cell_u64(d->span[q->preorder_index[row]]);
		return HI_OK;
	}
}

const struct hi_query_ops hi_query_table_dominators = {
	.name = "dominators",
	.about = "the dominator tree, from all roots down",
	HI_COLUMNS(columns),
	HI_WAYS(ways),
	.grows = 1ull << NODE | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_dominator_rows,
	.keys = find_dominator_keys,
	.start = start_dominator_walk,
	.next = advance_dominator_walk,
	.cell = make_dominator_cell,
};
