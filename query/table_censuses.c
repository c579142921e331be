/* SPDX-License-Identifier: BSD-2-Clause */
/* censuses: live objects by type, as a file has them; the key is the row. */
#include "base/search.h"
#include "query/query_internal.h"

enum {
	CENSUS,
	TIME_NS,
	TYPE,
	MODULE,
	COUNT,
	SHALLOW,
	RETAINED,
	TYPE_ID,
	LARGEST,
	BY_NONE
};

#define EVIDENCE(name, words)                                                            \
	{                                                                                \
		name, HI_UNIT_BYTES, true, "of shallow: " words                          \
	}
static const struct hi_query_column columns[] = {
	[CENSUS] = {"census", HI_UNIT_ID, false, "its number, from 1"},
	[TIME_NS] = {"time_ns", HI_UNIT_ID, false, "when: nanoseconds since 1970, UTC"},
	[TYPE] = {"type", HI_UNIT_TEXT, false, "NULL: none is known"},
	[MODULE] = {"module", HI_UNIT_TEXT, false, "file name of what defines the type"},
	[COUNT] = {"count", HI_UNIT_NUMBER, false, "live objects"},
	[SHALLOW] = {"shallow", HI_UNIT_BYTES, false, "of these"},
	[RETAINED] = {"retained", HI_UNIT_BYTES, false, "of these: at least"},
	[TYPE_ID] = {"type_id", HI_UNIT_ID, true,
		     "types.id; NULL: of another census than the objects"},
	[LARGEST] = {"largest", HI_UNIT_BYTES, true, "the largest one's; as type_id"},
	[BY_NONE] = EVIDENCE("by_none", "of no type"),
	EVIDENCE("by_shape", "typed by their shape"),
	EVIDENCE("by_base", "by a typed pointer to what may be only their beginning"),
	EVIDENCE("by_container", "by a container or a hint"),
	EVIDENCE("by_pointer", "by a typed pointer"),
	EVIDENCE("by_vtable", "by a vtable"),
	EVIDENCE("by_runtime", "by a runtime"),
};

enum { A_FEW_ROWS = 1000 };

static uint64_t estimate_census_rows(const struct hi_query *q)
{
	return q->census_end && q->n_censuses ? q->census_end[q->n_censuses - 1]
					      : A_FEW_ROWS;
}

static enum hi_status find_census_keys(struct hi_query *q, uint64_t *low_ret,
				       uint64_t *high_ret, struct hi_error *err)
{
	enum hi_status status = hi_query_censuses(q, err);

	*low_ret = 0;
	*high_ret =
		status == HI_OK && q->n_censuses ? q->census_end[q->n_censuses - 1] : 0;
	return status;
}

static const struct hi_query_census *census_of(const struct hi_query *q, uint64_t *row)
{
	size_t low = hi_search(i, q->n_censuses - 1, q->census_end[i] <= *row);

	*row -= low ? q->census_end[low - 1] : 0;
	return &q->censuses[low];
}

/* A census that has only its totals has NULL for the rest. */
static struct hi_result_cell whole_cell(const struct hi_query_census *c,
					const struct hi_census_row *whole, int column)
{
	if (!whole || (column == TYPE_ID && !c->has_ids))
		return hi_cell_null();
	return column == TYPE_ID   ? hi_cell_u64(whole->type)
	       : column == LARGEST ? hi_cell_u64(whole->largest)
				   : hi_cell_u64(whole->by_evidence[column - BY_NONE]);
}

static enum hi_status make_census_cell(struct hi_query *q, uint64_t index, int column,
				       struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_query_census *c = census_of(q, &index);
	const struct hi_query_census_row *row = &c->rows[index];

	(void)err;
	*ret = column == CENSUS	    ? hi_cell_u64(c->number)
	       : column == TIME_NS  ? hi_cell_u64(c->time_ns)
	       : column == TYPE	    ? hi_cell_string(row->type)
	       : column == MODULE   ? hi_cell_string(row->module)
	       : column == COUNT    ? hi_cell_u64(row->count)
	       : column == SHALLOW  ? hi_cell_u64(row->shallow)
	       : column == RETAINED ? hi_cell_u64(row->retained)
				    : whole_cell(c, row->whole, column);
	return HI_OK;
}

const struct hi_query_ops hi_query_table_censuses = {
	.name = "censuses",
	.about = "live objects by type, census by census",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_census_rows,
	.keys = find_census_keys,
	.cell = make_census_cell,
};
