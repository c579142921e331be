/* SPDX-License-Identifier: BSD-2-Clause */
/* types, with their live objects; the key is the type's number. */
#include "query/query_internal.h"
#include "report/parts/report_node.h"

enum {
	ID,
	TYPE,
	MODULE,
	CLASS,
	SIZE,
	COUNT,
	SHALLOW,
	RETAINED,
	LARGEST,
	OWNER,
	FIELD,
	SIZE_CLASS
};

static const struct hi_query_column columns[] = {
	[ID] = {"id", HI_UNIT_ID, false, "objects.type_id; 0: no type is known"},
	[TYPE] = {"type", HI_UNIT_TEXT, false, "its name; several may have one"},
	[MODULE] = {"module", HI_UNIT_TEXT, false, "file name of what defines it"},
	[CLASS] = {"class", HI_UNIT_TEXT, false, "as in objects"},
	[SIZE] = {"size", HI_UNIT_BYTES, false, "of one element"},
	[COUNT] = {"count", HI_UNIT_NUMBER, false, "live objects"},
	[SHALLOW] = {"shallow", HI_UNIT_BYTES, false, "of these"},
	[RETAINED] = {"retained", HI_UNIT_BYTES, false, "of these: at least"},
	[LARGEST] = {"largest", HI_UNIT_BYTES, false, "of these; NULL: there is none"},
	[OWNER] = {"owner", HI_UNIT_TEXT, true,
		   "class field: type or variable whose field leads there"},
	[FIELD] = {"field", HI_UNIT_TEXT, true, "class field: the field"},
	[SIZE_CLASS] = {"size_class", HI_UNIT_BYTES, true, "class field: at most usable"},
};

static uint64_t estimate_type_rows(const struct hi_query *q)
{
	return q->source.graph->n_types;
}

static enum hi_status find_type_keys(struct hi_query *q, uint64_t *low_ret,
				     uint64_t *high_ret, struct hi_error *err)
{
	(void)err;
	*low_ret = 0;
	*high_ret = q->source.graph->n_types;
	return HI_OK;
}

static enum hi_status census_cell(struct hi_query *q, uint32_t type, int column,
				  struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_census_row *row = NULL;
	enum hi_status status = hi_query_census_row(q, type, &row, err);

	if (status != HI_OK)
		return status;
	*ret = !row		    ? hi_cell_u64(column == LARGEST ? UINT64_MAX : 0)
	       : column == COUNT    ? hi_cell_u64(row->count)
	       : column == SHALLOW  ? hi_cell_u64(row->shallow)
	       : column == RETAINED ? hi_cell_u64(row->retained)
				    : hi_cell_u64(row->largest);
	return HI_OK;
}

static enum hi_status make_type_cell(struct hi_query *q, uint64_t row, int column,
				     struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_type_name *type = &q->source.graph->types[row];
	bool is_field = type->klass == HI_TYPE_FIELD;

	switch (column) {
	case ID:
		*ret = hi_cell_u64(row);
		return HI_OK;
	case TYPE:
		*ret = hi_cell_type(q, (uint32_t)row);
		return HI_OK;
	case MODULE:
		*ret = hi_cell_string(type->module);
		return HI_OK;
	case CLASS:
		*ret = row ? hi_cell_string(hi_type_class_name(type->klass))
			   : hi_cell_null();
		return HI_OK;
	case SIZE:
		*ret = hi_cell_u64(type->size ? type->size : UINT64_MAX);
		return HI_OK;
	case OWNER:
		*ret = hi_cell_string(is_field ? type->owner : "");
		return HI_OK;
	case FIELD:
		*ret = hi_cell_string(is_field ? type->field : "");
		return HI_OK;
	case SIZE_CLASS:
		*ret = hi_cell_u64(is_field ? type->size_class : UINT64_MAX);
		return HI_OK;
	default:
		return census_cell(q, (uint32_t)row, column, ret, err);
	}
}

const struct hi_query_ops hi_query_table_types = {
	.name = "types",
	.about = "types, and what is alive of them",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << ID | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_type_rows,
	.keys = find_type_keys,
	.cell = make_type_cell,
};
