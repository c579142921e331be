/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/retained_names.h"

#include "session/computed.h"
#include "session/edge_text.h"
#include "session/path_text.h"

enum { NAMED = 200 }; /* of all rows, those that get a name */

/* Paths from a root to those on top: one walk for all. */
static void name_tops(struct hi_inspection *in, struct hi_retained_report *r)
{
	hi_node tops[NAMED];
	size_t rows[NAMED], n = 0;
	struct hi_paths *paths = NULL;
	struct hi_error quiet;

	for (size_t i = 0; i < r->n_rows && i < NAMED; i++)
		if (!r->rows[i].depth && r->rows[i].info.sort == HI_NODE_OBJECT &&
		    r->rows[i].count == 1 &&
		    hi_bit(in->results.reach->any, r->rows[i].info.node)) {
			rows[n] = i;
			tops[n++] = r->rows[i].info.node;
		}
	if (!n || hi_kept_ways(in, tops, n, &paths, &quiet) != HI_OK)
		return;
	for (size_t k = 0; k < n; k++)
		if (paths->paths[k].length)
			r->rows[rows[k]].info.name = hi_path_text_of_nodes(
				in, paths->paths[k].nodes, paths->paths[k].length);
	hi_paths_destroy(paths);
}

void hi_retained_name_rows(struct hi_inspection *in, struct hi_retained_report *r)
{
	if (r->tree)
		name_tops(in, r);
}

enum hi_status hi_retained_create(struct hi_inspection *in,
				  const struct hi_report_header *header,
				  const struct hi_reach *reach,
				  const struct hi_restrict *only,
				  const struct hi_known_names *known, uint64_t type_exact,
				  struct hi_retained_report **ret, struct hi_error *err)
{
	struct hi_edge_text_reader names = {};
	struct hi_field_reader fields;
	enum hi_status status = hi_edge_text_open(in, &names, err);

	if (status != HI_OK)
		return status;
	names.known = known;
	fields = hi_edge_text_fields(&names);
	status = hi_retained_report_create(header, in->graph, reach,
					   in->results.dominators, in->results.census,
					   only, &fields, type_exact, ret, err);
	hi_edge_text_close(&names);
	if (status == HI_OK)
		hi_retained_name_rows(in, *ret);
	return status;
}
