/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/query_internal.h"

const struct hi_query_ops *const hi_query_all[] = {
	&hi_query_table_objects,	&hi_query_table_edges,
	&hi_query_table_types,		&hi_query_table_roots,
	&hi_query_table_frames,		&hi_query_table_dominators,
	&hi_query_table_retainer_sets,	&hi_query_table_bins,
	&hi_query_table_ledger,		&hi_query_table_censuses,
	&hi_query_table_marks,		&hi_query_table_audit,
	&hi_query_table_allocations,	&hi_query_table_contexts,
	&hi_query_table_context_frames, &hi_query_table_pieces,
	&hi_query_table_events,		NULL,
};

size_t hi_query_tables(void)
{
	return sizeof(hi_query_all) / sizeof(hi_query_all[0]) - 1;
}

struct hi_query_table hi_query_table(size_t index)
{
	const struct hi_query_ops *ops = hi_query_all[index];

	return (struct hi_query_table){.name = ops->name,
				       .about = ops->about,
				       .columns = ops->columns,
				       .n_columns = ops->n_columns};
}

struct hi_result_cell hi_cell_type(const struct hi_query *q, uint32_t type)
{
	uint32_t length = type < q->source.graph->n_types ? q->type_length[type] : 0;

	return length ? hi_cell_string_n(q->source.graph->types[type].name, length)
		      : hi_cell_null();
}
