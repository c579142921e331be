/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/inspect/leak_cycles.h"

#include "session/edge_text.h"

static bool has_leaked_cycle(const struct hi_leaks *leaks)
{
	for (size_t i = 0; leaks && i < leaks->n_rows; i++)
		if (leaks->rows[i].shape == HI_LEAK_CYCLE)
			return true;
	return false;
}

enum hi_status hi_leak_cycles_find(struct hi_inspection *in, struct hi_cycle_edges **ret,
				   struct hi_error *err)
{
	struct hi_edge_text_reader reader = {};
	struct hi_field_reader fields;
	enum hi_status status;

	*ret = NULL;
	if (!has_leaked_cycle(in->results.leaks))
		return HI_OK;
	status = hi_edge_text_open(in, &reader, err);
	if (status != HI_OK)
		return status;
	reader.with_marks = true;
	fields = hi_edge_text_fields(&reader);
	status = hi_cycle_edges_find(in->graph, in->shown.leaks_reach, in->results.leaks,
				     &fields, ret, err);
	hi_edge_text_close(&reader);
	return status;
}

bool hi_leak_cycles_matter(const struct hi_inspection *in)
{
	const struct hi_leaks *leaks = in->results.leaks;

	return leaks &&
	       (leaks->bytes >= 64 << 10 ||
		leaks->bytes >= in->shown.reach->live_bytes / 100) &&
	       has_leaked_cycle(leaks);
}
