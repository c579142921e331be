/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `explain`, for other commands. */
#ifndef HI_CLI_COMMANDS_EXPLAIN_H
#define HI_CLI_COMMANDS_EXPLAIN_H

#include "report/display.h"
#include "report/parts/report_header.h"
#include "session/inspection.h"

/* Fills the page with what `explain` shows of an object or a root variable; other nodes
 * leave it empty. Wants dominators. */
enum hi_status hi_explain_node(struct hi_inspection *in,
			       const struct hi_report_header *header, hi_node node,
			       struct hi_page *page, struct hi_error *err);

#endif
