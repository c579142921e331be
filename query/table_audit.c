/* SPDX-License-Identifier: BSD-2-Clause */
/* audit: objects whose count of references differs from what was found, by type; the key
 * is the row. Objects that count too few come first, known losses last. */
#include "query/query_internal.h"

enum { DIFFERENCE, TYPE, TYPE_ID, OBJECTS, REFERENCES, BYTES, EXAMPLE, COUNTED, FOUND };

static const struct hi_query_column columns[] = {
	[DIFFERENCE] =
		{"difference", HI_UNIT_TEXT, false,
		 "missing: fewer are counted than lead there; excess: more; known: "
		 "more, by a known habit of a library"},
	[TYPE] = {"type", HI_UNIT_TEXT, false, "of the objects"},
	[TYPE_ID] = {"type_id", HI_UNIT_ID, false, "in types"},
	[OBJECTS] = {"objects", HI_UNIT_NUMBER, false, "that are so"},
	[REFERENCES] = {"references", HI_UNIT_NUMBER, false,
			"by which they differ, together"},
	[BYTES] = {"bytes", HI_UNIT_BYTES, false, "of these objects"},
	[EXAMPLE] = {"example", HI_UNIT_ADDRESS, false,
		     "the one that differs most (objects.address)"},
	[COUNTED] = {"counted", HI_UNIT_NUMBER, false, "references, by the example"},
	[FOUND] = {"found", HI_UNIT_NUMBER, false, "references to the example"},
};

enum { A_FEW_ROWS = 20 };

static uint64_t estimate_audit_rows(const struct hi_query *q)
{
	const struct hi_audit *a = q->audit;

	return a ? a->n_rows + a->n_short_rows + a->n_known_rows : A_FEW_ROWS;
}

static enum hi_status find_audit_keys(struct hi_query *q, uint64_t *low_ret,
				      uint64_t *high_ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!q->audit && q->source.audit)
		status = q->source.audit(q->source.arg, &q->audit, err);
	*low_ret = 0;
	*high_ret = status == HI_OK && q->audit ? estimate_audit_rows(q) : 0;
	return status;
}

static const struct hi_audit_row *find_audit_row(const struct hi_audit *a, uint64_t index,
						 const char **difference_ret)
{
	*difference_ret = "missing";
	if (index < a->n_short_rows)
		return &a->short_rows[index];
	index -= a->n_short_rows;
	*difference_ret = index < a->n_rows ? "excess" : "known";
	return index < a->n_rows ? &a->rows[index] : &a->known_rows[index - a->n_rows];
}

static enum hi_status make_audit_cell(struct hi_query *q, uint64_t index, int column,
				      struct hi_result_cell *ret, struct hi_error *err)
{
	const char *difference;
	const struct hi_audit_row *row = find_audit_row(q->audit, index, &difference);

	(void)err;
	switch (column) {
	case DIFFERENCE:
		*ret = hi_cell_string(difference);
		break;
	case TYPE:
		*ret = hi_cell_type(q, row->type);
		break;
	case TYPE_ID:
		*ret = hi_cell_u64(row->type);
		break;
	case OBJECTS:
		*ret = hi_cell_u64(row->objects);
		break;
	case REFERENCES:
		*ret = hi_cell_u64(row->excess);
		break;
	case BYTES:
		*ret = hi_cell_u64(row->bytes);
		break;
	case EXAMPLE:
		*ret = hi_cell_u64(hi_graph_address(q->source.graph, row->example));
		break;
	case COUNTED:
		*ret = hi_cell_u64(row->example_counted);
		break;
	default:
		*ret = hi_cell_u64(row->example_found);
	}
	return HI_OK;
}

const struct hi_query_ops hi_query_table_audit = {
	.name = "audit",
	.about = "objects whose count of references differs from what was found",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_audit_rows,
	.keys = find_audit_keys,
	.cell = make_audit_cell,
};
