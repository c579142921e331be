/* SPDX-License-Identifier: BSD-2-Clause */
/* Live bytes of a recording by where or when they were allocated: census --by site and
 * the report of `record`. */
#ifndef HI_CLI_OPTIONS_BIRTHS_H
#define HI_CLI_OPTIONS_BIRTHS_H

#include "cli/command/command.h"
#include "report/parts/births_report.h"

struct hi_births_request {
	enum hi_born_by by;
	bool is_of_record;
	const char *file;      /* that `record` has written; NULL: none */
	const char *allocator; /* that was followed; NULL: not known */
	struct hi_recorded_children children;
};
/* Fills the page or the document. HI_NOT_FOUND: the target has no recording. */
enum hi_status hi_births_run(struct hi_inspection *in,
			     const struct hi_report_header *header,
			     const struct hi_births_request *request,
			     struct hi_page *page, struct hi_json *json,
			     struct hi_error *err);

#endif
