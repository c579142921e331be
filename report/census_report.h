/* SPDX-License-Identifier: BSD-2-Clause */
/* Live bytes by type: `census --by type`. Strings borrowed from the graph. */
#ifndef HI_REPORT_CENSUS_REPORT_H
#define HI_REPORT_CENSUS_REPORT_H

#include "report/head.h"
#include "report/node.h"
#include "report/restrict.h"

struct hi_census_line {
	const char *type; /* "" untyped */
	uint64_t count, shallow, retained, largest;
	const uint64_t *by_evidence; /* bytes, per enum hi_evidence; borrowed */
	enum hi_evidence evidence;
};
struct hi_census_report {
	const struct hi_head *head;
	uint64_t objects, bytes; /* live, unrestricted */
	struct hi_census_line *rows;
	size_t n_rows;
	struct hi_hidden below, beyond, other; /* min-size, top, type */
};

enum hi_status
hi_census_report_create(const struct hi_head *head, const struct hi_graph *graph,
			const struct hi_census *census, const struct hi_restrict *only,
			struct hi_census_report **ret, struct hi_error *err);
void hi_census_report_destroy(struct hi_census_report *report);
void hi_census_display(const struct hi_census_report *report, struct hi_page *page);
void hi_census_json(const struct hi_census_report *report, struct hi_json *json);

#endif
