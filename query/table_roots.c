/* SPDX-License-Identifier: BSD-2-Clause */
/* roots: variables; the key is the node. */
#include "query/query_internal.h"
#include "report/parts/report_node.h"

enum { NODE, KIND, NAME, DETAIL, TYPE, ADDRESS, SIZE, RETAINED, EDGES };

static const struct hi_query_column columns[] = {
	[NODE] = {"node", HI_UNIT_ID, false, "edges.source, objects.idom"},
	[KIND] = {"kind", HI_UNIT_TEXT, false,
		  "global, tls, stack, register, runtime or untyped"},
	[NAME] = {"name", HI_UNIT_TEXT, false, "as in the source"},
	[DETAIL] = {"detail", HI_UNIT_TEXT, false, "file and line, or the module"},
	[TYPE] = {"type", HI_UNIT_TEXT, false, "of the variable"},
	[ADDRESS] = {"address", HI_UNIT_ADDRESS, false, "NULL: in no memory"},
	[SIZE] = {"size", HI_UNIT_BYTES, false, "of the variable"},
	[RETAINED] = {"retained", HI_UNIT_BYTES, false, "what it alone keeps alive"},
	[EDGES] = {"edges", HI_UNIT_NUMBER, false, "objects that it refers to"},
};

static uint64_t estimate_root_rows(const struct hi_query *q)
{
	return q->source.graph->n_roots;
}

static enum hi_status find_root_keys(struct hi_query *q, uint64_t *low_ret,
				     uint64_t *high_ret, struct hi_error *err)
{
	(void)err;
	*low_ret = q->source.graph->first_root;
	*high_ret = q->source.graph->first_kind;
	return HI_OK;
}

static enum hi_status retained_cell(struct hi_query *q, uint64_t node,
				    struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_dominators *d;
	enum hi_status status = hi_query_dominators(q, &d, err);

	if (status == HI_OK)
		*ret = hi_cell_u64(d->retained[node]);
	return status;
}

static enum hi_status make_root_cell(struct hi_query *q, uint64_t row, int column,
				     struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_graph *g = q->source.graph;
	const struct hi_root *root = &g->roots[row - g->first_root];

	switch (column) {
	case NODE:
		*ret = hi_cell_u64(row);
		return HI_OK;
	case KIND:
		*ret = hi_cell_string(hi_root_kind_key(root->kind));
		return HI_OK;
	case NAME:
		*ret = hi_cell_string(root->name);
		return HI_OK;
	case DETAIL:
		*ret = hi_cell_string(root->detail);
		return HI_OK;
	case TYPE:
		*ret = hi_cell_string(root->type);
		return HI_OK;
	case ADDRESS:
		*ret = hi_cell_known_address(root->address);
		return HI_OK;
	case SIZE:
		*ret = hi_cell_u64(root->size ? root->size : UINT64_MAX);
		return HI_OK;
	case EDGES:
		*ret = hi_cell_u64(hi_graph_edges(g, (hi_node)row).count);
		return HI_OK;
	default:
		return retained_cell(q, row, ret, err);
	}
}

const struct hi_query_ops hi_query_table_roots = {
	.name = "roots",
	.about = "variables that refer to objects",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << NODE | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_root_rows,
	.keys = find_root_keys,
	.cell = make_root_cell,
};
