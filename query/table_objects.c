/* SPDX-License-Identifier: BSD-2-Clause */
/* objects: the key is the object's number, which grows with its address. */
#include <string.h>

#include "base/search.h"
#include "query/query_internal.h"
#include "report/parts/report_node.h"

enum {
	ID,
	ADDRESS,
	TYPE,
	TYPE_ID,
	MODULE,
	CLASS,
	SHALLOW,
	USABLE,
	RETAINED,
	IDOM,
	EVIDENCE,
	STATE,
	REACHABLE,
	EXACT,
	ARRAY,
	CONFLICT,
	VERDICT,
	FATE,
	BLOCK,
	USED,
	DUPLICATE_GROUP,
	RETAINER_SET,
	BIN
};

static const struct hi_query_column columns[] = {
	[ID] = {"id", HI_UNIT_ID, false, "its number; grows with the address"},
	[ADDRESS] = {"address", HI_UNIT_ADDRESS, false,
		     "where it begins; of a runtime's object what the program calls "
		     "its address"},
	[TYPE] = {"type", HI_UNIT_TEXT, false, "as in the source; NULL: none is known"},
	[TYPE_ID] = {"type_id", HI_UNIT_ID, false, "in types; 0: none is known"},
	[MODULE] = {"module", HI_UNIT_TEXT, false, "file name of what defines the type"},
	[CLASS] = {"class", HI_UNIT_TEXT, false,
		   "of the type: record, array, string, pointer array, scalar, field"},
	[SHALLOW] = {"shallow", HI_UNIT_BYTES, false,
		     "what it costs, with the allocator's overhead"},
	[USABLE] = {"usable", HI_UNIT_BYTES, false, "what the program may use of it"},
	[RETAINED] = {"retained", HI_UNIT_BYTES, false,
		      "what would become free with it; NULL: nothing leads to it"},
	[IDOM] = {"idom", HI_UNIT_ID, false,
		  "the node that alone holds it (dominators.node); NULL: as above"},
	[EVIDENCE] = {"evidence", HI_UNIT_TEXT, false,
		      "evidence for the type: none, shape, base_of, container, pointer, "
		      "vtable, runtime"},
	[STATE] = {"state", HI_UNIT_TEXT, false,
		   "live, leak or internal (the allocator's own)"},
	[REACHABLE] = {"reachable", HI_UNIT_ID, false, "1: a root leads to it"},
	[EXACT] = {"exact", HI_UNIT_ID, true, "1: and by precise edges alone"},
	[ARRAY] = {"array", HI_UNIT_ID, true, "1: several elements of its type"},
	[CONFLICT] = {"conflict", HI_UNIT_ID, true,
		      "1: another type candidate contradicts it"},
	[VERDICT] = {"verdict", HI_UNIT_TEXT, true,
		     "of a leak: certain, or likely (only words that are no pointers by "
		     "their types lead there); NULL: it is none"},
	[FATE] = {"fate", HI_UNIT_TEXT, true,
		  "where a runtime has a collector: garbage, uncollectable, lost "
		  "reference; "
		  "NULL: none of them"},
	[BLOCK] = {"block", HI_UNIT_ADDRESS, true,
		   "where its block begins: a runtime's object has a header in front"},
	[USED] = {"used", HI_UNIT_BYTES, true, "what its type uses of it"},
	[DUPLICATE_GROUP] = {"duplicate_group", HI_UNIT_ID, true,
			     "the first live object of its type with the same contents "
			     "(its id); NULL: no other has them, they are zeros, or "
			     "contents were not compared"},
	[RETAINER_SET] = {"retainer_set", HI_UNIT_ID, true, "its set in retainer_sets"},
	[BIN] = {"bin", HI_UNIT_ID, true, "its bin in bins (with --root)"},
};

/* From WAY_ORDERS on: in the order of enum hi_order_by. */
enum { WAY_TYPE = 1, WAY_TYPE_ID, WAY_IDOM, WAY_ORDERS };
static const struct hi_query_way ways[] = {
	{.column = -1, .order = ID, .both_ways = true},
	[WAY_TYPE] = {.column = TYPE,
		      .order = ID,
		      .takes_null = true,
		      .both_ways = true,
		      .share = 0.05},
	[WAY_TYPE_ID] = {.column = TYPE_ID,
			 .order = ID,
			 .both_ways = true,
			 .share = 0.05},
	[WAY_IDOM] = {.column = IDOM, .order = -1},
	[WAY_ORDERS + HI_ORDER_TYPE] = {.column = -1, .order = TYPE, .both_ways = true},
	[WAY_ORDERS +
		HI_ORDER_MODULE] = {.column = -1, .order = MODULE, .both_ways = true},
	[WAY_ORDERS + HI_ORDER_CLASS] = {.column = -1, .order = CLASS, .both_ways = true},
	[WAY_ORDERS +
		HI_ORDER_EVIDENCE] = {.column = -1, .order = EVIDENCE, .both_ways = true},
	[WAY_ORDERS + HI_ORDER_STATE] = {.column = -1, .order = STATE, .both_ways = true},
};

static uint64_t estimate_object_rows(const struct hi_query *q)
{
	return q->source.graph->n_objects;
}

static enum hi_status find_object_keys(struct hi_query *q, uint64_t *low_ret,
				       uint64_t *high_ret, struct hi_error *err)
{
	(void)err;
	*low_ret = 0;
	*high_ret = q->source.graph->n_objects;
	return HI_OK;
}

static uint64_t bound_object_keys(struct hi_query *q, int column, int64_t value,
				  uint64_t low, uint64_t high)
{
	const struct hi_graph *g = q->source.graph;

	if (value <= 0)
		return low;
	return hi_search_from(i, low, high,
			      (column == ADDRESS ? hi_graph_address(g, (hi_node)i) : i) <
				      (uint64_t)value);
}

/* ---- walks ---- */

/* As strcmp(have, name), of a name that is not terminated. */
static int compare_name(const char *have, const char *name, size_t length)
{
	int sign = have ? strncmp(have, name, length) : -1;

	return sign == 0 && have[length] ? 1 : sign;
}

static uint32_t find_ordered_name(const struct hi_object_order *order, const char *name,
				  size_t length)
{
	uint32_t n = hi_search(i, order->n_names,
			       compare_name(order->name[i], name, length) < 0);

	return n < order->n_names && compare_name(order->name[n], name, length) == 0
		       ? n
		       : UINT32_MAX;
}

static uint32_t asked_rank(const struct hi_query *q, const struct hi_object_order *order,
			   const struct hi_query_walk *walk)
{
	if (walk->is_null) /* NULL comes first, and type 0 has no name */
		return order->name[0] ? UINT32_MAX : 0;
	if (walk->way == WAY_TYPE)
		return strnlen(walk->text, walk->length) == walk->length
			       ? find_ordered_name(order, walk->text, walk->length)
			       : UINT32_MAX;
	return walk->integer >= 0 && walk->integer < q->source.graph->n_types
		       ? order->rank[walk->integer]
		       : UINT32_MAX;
}

static enum hi_status start_order(struct hi_query *q, struct hi_query_walk *walk,
				  struct hi_error *err)
{
	bool is_whole = walk->way >= WAY_ORDERS;
	const struct hi_object_order *order = NULL;
	enum hi_status status = hi_query_in_order(
		q, is_whole ? (enum hi_order_by)(walk->way - WAY_ORDERS) : HI_ORDER_TYPE,
		&order, err);
	uint32_t rank;

	if (status != HI_OK)
		return status;
	walk->list = order->objects;
	walk->end = q->source.graph->n_objects;
	if (is_whole)
		return HI_OK;
	rank = asked_rank(q, order, walk);
	walk->at = rank == UINT32_MAX ? 0 : order->first[rank];
	walk->end = rank == UINT32_MAX ? 0 : order->first[rank + 1];
	return HI_OK;
}

static enum hi_status start_idom(struct hi_query *q, struct hi_query_walk *walk,
				 struct hi_error *err)
{
	const struct hi_dominators *d;
	const uint32_t *place = NULL;
	enum hi_status status = hi_query_preorder_index(q, &place, err);

	if (status == HI_OK)
		status = hi_query_dominators(q, &d, err);
	if (status != HI_OK || walk->integer < 0 || walk->integer >= d->n_nodes ||
	    place[walk->integer] == UINT32_MAX)
		return status;
	/* Its children follow it in the preorder. */
	walk->at = place[walk->integer] + 1;
	walk->end = place[walk->integer] + (uint64_t)d->span[place[walk->integer]];
	return HI_OK;
}

static enum hi_status start_object_walk(struct hi_query *q, struct hi_query_walk *walk,
					struct hi_error *err)
{
	if (walk->way == 0) {
		hi_query_walk_keys(walk);
		return HI_OK;
	}
	return (walk->way == WAY_IDOM ? start_idom : start_order)(q, walk, err);
}

static bool next_child(struct hi_query *q, struct hi_query_walk *walk)
{
	const struct hi_dominators *d = q->dominators;

	while (walk->at < walk->end) {
		walk->row = d->order[walk->at];
		walk->at += d->span[walk->at] ? d->span[walk->at] : 1;
		if (walk->row < q->source.graph->n_objects)
			return true;
	}
	return false;
}

static bool advance_object_walk(struct hi_query *q, struct hi_query_walk *walk)
{
	if (walk->way == WAY_IDOM)
		return next_child(q, walk);
	if (!hi_query_next_key(q, walk))
		return false;
	if (walk->way != 0)
		walk->row = ((const hi_node *)walk->list)[walk->row];
	return true;
}

/* ---- cells ---- */

static enum hi_status tree_cell(struct hi_query *q, hi_node i, int column,
				struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_dominators *d;
	enum hi_status status = hi_query_dominators(q, &d, err);

	if (status != HI_OK)
		return status;
	*ret = d->idom[i] == HI_NODE_NONE ? hi_cell_null()
	       : column == IDOM		  ? hi_cell_u64(d->idom[i])
					  : hi_cell_u64(d->retained[i]);
	return HI_OK;
}

static enum hi_status set_cell(struct hi_query *q, hi_node i, struct hi_sets *sets,
			       struct hi_result_cell *ret, struct hi_error *err)
{
	enum hi_status status = hi_sets_open(q, sets, err);
	uint32_t set = HI_SET_NONE;

	if (status == HI_OK && i < sets->from.table->n_objects)
		set = sets->from.table->set[i];
	*ret = set == HI_SET_NONE ? hi_cell_null() : hi_cell_u64(set);
	return status;
}

static enum hi_status used_cell(struct hi_query *q, hi_node i, struct hi_result_cell *ret,
				struct hi_error *err)
{
	uint64_t used = UINT64_MAX;
	enum hi_status status =
		q->source.used ? q->source.used(q->source.arg, i, &used, err) : HI_OK;

	*ret = hi_cell_u64(used);
	return status;
}

static enum hi_status group_cell(struct hi_query *q, hi_node i,
				 struct hi_result_cell *ret, struct hi_error *err)
{
	hi_node first = HI_NODE_NONE;
	enum hi_status status =
		q->source.equal ? q->source.equal(q->source.arg, i, &first, err) : HI_OK;

	*ret = first == HI_NODE_NONE ? hi_cell_null() : hi_cell_u64(first);
	return status;
}

static struct hi_result_cell verdict_cell(const struct hi_query *q, hi_node i)
{
	const struct hi_reach *reach = q->source.reach;

	if (hi_query_state(q, i) != HI_STATE_LEAK)
		return hi_cell_null();
	return hi_cell_string(
		hi_leak_verdict_key(reach->likely && hi_bit(reach->likely, i)));
}

static struct hi_result_cell unreachable_class_cell(const struct hi_graph *g, hi_node i)
{
	return g->unreachable_classes && g->unreachable_classes[i]
		       ? hi_cell_string(hi_unreachable_class_key(
				 (enum hi_unreachable_class)g->unreachable_classes[i]))
		       : hi_cell_null();
}

static enum hi_status costly_cell(struct hi_query *q, hi_node i, int column,
				  struct hi_result_cell *ret, struct hi_error *err)
{
	switch (column) {
	case RETAINER_SET:
		return set_cell(q, i, &q->retainers, ret, err);
	case BIN:
		return set_cell(q, i, &q->bins, ret, err);
	case USED:
		return used_cell(q, i, ret, err);
	case DUPLICATE_GROUP:
		return group_cell(q, i, ret, err);
	default:
		return tree_cell(q, i, column, ret, err);
	}
}

static enum hi_status make_object_cell(struct hi_query *q, uint64_t row, int column,
				       struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_graph *g = q->source.graph;
	const struct hi_objects *o = g->objects;
	hi_node i = (hi_node)row;
	const struct hi_type_name *type =
		&g->types[o->type[i] < g->n_types ? o->type[i] : 0];

	switch (column) {
	case ID:
		*ret = hi_cell_u64(i);
		return HI_OK;
	case ADDRESS:
		*ret = hi_cell_u64(hi_graph_address(g, i));
		return HI_OK;
	case TYPE:
		*ret = hi_cell_type(q, o->type[i]);
		return HI_OK;
	case TYPE_ID:
		*ret = hi_cell_u64(o->type[i]);
		return HI_OK;
	case MODULE:
		*ret = hi_cell_string(type->module);
		return HI_OK;
	case CLASS:
		*ret = o->type[i] ? hi_cell_string(hi_type_class_name(type->klass))
				  : hi_cell_null();
		return HI_OK;
	case SHALLOW:
		*ret = hi_cell_u64(hi_objects_cost(o, i));
		return HI_OK;
	case USABLE:
		*ret = hi_cell_u64(hi_objects_usable(o, i));
		return HI_OK;
	case EVIDENCE:
		*ret = hi_cell_string(hi_evidence_key(
			(enum hi_evidence)(o->flags[i] & HI_OBJECT_EVIDENCE_MASK)));
		return HI_OK;
	case STATE:
		*ret = hi_cell_string(hi_query_state_name(hi_query_state(q, i)));
		return HI_OK;
	case REACHABLE:
		*ret = hi_cell_u64(hi_bit(q->source.reach->any, i));
		return HI_OK;
	case EXACT:
		*ret = hi_cell_u64(hi_bit(q->source.reach->exact, i));
		return HI_OK;
	case ARRAY:
		*ret = hi_cell_u64((o->flags[i] & HI_OBJECT_ARRAY) != 0);
		return HI_OK;
	case CONFLICT:
		*ret = hi_cell_u64((o->flags[i] & HI_OBJECT_CONFLICT) != 0);
		return HI_OK;
	case BLOCK:
		*ret = hi_cell_u64(hi_objects_address(o, i));
		return HI_OK;
	case FATE:
		*ret = unreachable_class_cell(q->source.graph, i);
		return HI_OK;
	case VERDICT:
		*ret = verdict_cell(q, i);
		return HI_OK;
	default:
		return costly_cell(q, i, column, ret, err);
	}
}

const struct hi_query_ops hi_query_table_objects = {
	.name = "objects",
	.about = "allocated blocks, and objects inside of them",
	HI_COLUMNS(columns),
	HI_WAYS(ways),
	.grows = 1ull << ID | 1ull << ADDRESS | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_object_rows,
	.keys = find_object_keys,
	.bound = bound_object_keys,
	.start = start_object_walk,
	.next = advance_object_walk,
	.cell = make_object_cell,
};
