/* SPDX-License-Identifier: BSD-2-Clause */
/* ledger: RSS until it adds up; the key is the row. The last one is what is unknown. */
#include "query/query_internal.h"

enum { KEY, LABEL, LEVEL, RESIDENT, VIRTUAL, SWAPPED, COUNT };

static const struct hi_query_column columns[] = {
	[KEY] = {"key", HI_UNIT_TEXT, false, "live, leak, free, … unknown"},
	[LABEL] = {"label", HI_UNIT_TEXT, false, "the same in words"},
	[LEVEL] = {"level", HI_UNIT_ID, false,
		   "0: a term of the sum, which is RSS; 1: a part of the one above"},
	[RESIDENT] = {"resident", HI_UNIT_BYTES, false, "in memory; NULL of a core"},
	[VIRTUAL] = {"virtual", HI_UNIT_BYTES, false, "of address space"},
	[SWAPPED] = {"swapped", HI_UNIT_BYTES, false, "out of memory"},
	[COUNT] = {"count", HI_UNIT_NUMBER, false, "blocks or mappings"},
};

static uint64_t estimate_ledger_rows(const struct hi_query *q)
{
	return q->source.ledger ? q->source.ledger->n_rows + 1 : 0;
}

static enum hi_status find_ledger_keys(struct hi_query *q, uint64_t *low_ret,
				       uint64_t *high_ret, struct hi_error *err)
{
	(void)err;
	*low_ret = 0;
	*high_ret = estimate_ledger_rows(q);
	return HI_OK;
}

/* Below 0 where the target changed while it was looked at. */
static struct hi_result_cell unknown_cell(const struct hi_ledger *l, int column)
{
	switch (column) {
	case KEY:
	case LABEL:
		return hi_cell_string("unknown");
	case LEVEL:
		return hi_cell_u64(0);
	case RESIDENT:
		return l->rss == HI_UNKNOWN
			       ? hi_cell_null()
			       : (struct hi_result_cell){.kind = HI_RESULT_INTEGER,
							 .integer = l->unknown};
	default:
		return hi_cell_null();
	}
}

static enum hi_status make_ledger_cell(struct hi_query *q, uint64_t index, int column,
				       struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_ledger *l = q->source.ledger;
	const struct hi_ledger_row *row = &l->rows[index < l->n_rows ? index : 0];

	(void)err;
	if (index >= l->n_rows) {
		*ret = unknown_cell(l, column);
		return HI_OK;
	}
	*ret = column == KEY	    ? hi_cell_string(row->key)
	       : column == LABEL    ? hi_cell_string(row->label)
	       : column == LEVEL    ? hi_cell_u64((uint64_t)row->level)
	       : column == RESIDENT ? hi_cell_u64(row->resident)
	       : column == VIRTUAL  ? hi_cell_u64(row->virtual_size)
	       : column == SWAPPED  ? hi_cell_u64(row->swapped)
				    : hi_cell_u64(row->count);
	return HI_OK;
}

const struct hi_query_ops hi_query_table_ledger = {
	.name = "ledger",
	.about = "the process's memory, until it adds up",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_ledger_rows,
	.keys = find_ledger_keys,
	.cell = make_ledger_cell,
};
