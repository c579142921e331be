/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the report of a command: a page, or JSON. All commands write theirs here. */
#ifndef HI_CLI_COMMAND_WRITE_REPORT_H
#define HI_CLI_COMMAND_WRITE_REPORT_H

#include "cli/command/output.h"
#include "session/inspection.h"

/* Puts a report onto the page or into the document: one of them is NULL. */
typedef enum hi_status hi_fill_report(void *report, struct hi_page *page,
				      struct hi_json *json, struct hi_error *err);

/* Writes the report as JSON. A write that fails is found, with its reason, by
 * hi_output_commit(); so HI_NO_MEMORY is the one error beside those of fill. */
enum hi_status hi_write_json(struct hi_output *output, hi_fill_report *fill, void *report,
			     struct hi_error *err);
/* Writes the report as a page. */
enum hi_status hi_write_page(const struct hi_options *options, struct hi_output *output,
			     hi_fill_report *fill, void *report, struct hi_error *err);
/* Writes it as the option --json wants it. */
enum hi_status hi_write_filled(const struct hi_options *options, struct hi_output *output,
			       hi_fill_report *fill, void *report, struct hi_error *err);

/* Runs the command of the options on the inspection, and writes its report onto the
 * output. Damage that was found meanwhile is an error. */
enum hi_status hi_write_report(struct hi_inspection *in,
			       const struct hi_report_header *header,
			       struct hi_output *output, struct hi_error *err);

#endif
