/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --untyped`. */
#ifndef HI_CLI_COMMANDS_UNTYPED_H
#define HI_CLI_COMMANDS_UNTYPED_H

#include "cli/command/command.h"
#include "report/reports/untyped/untyped_report.h"

/* As struct hi_command.run. */
enum hi_status hi_untyped_run(struct hi_inspection *in,
			      const struct hi_report_header *header, struct hi_page *page,
			      struct hi_json *json, struct hi_error *err);

/* As struct hi_command.write: `census --suggest-hints`. */
enum hi_status hi_suggest_hints_write(struct hi_inspection *in,
				      const struct hi_report_header *header,
				      struct hi_output *output, struct hi_error *err);
/* The report of `census --untyped`, with candidates and tagged unions, in the arena of
 * `in`. *ret: hi_untyped_report_destroy(). */
enum hi_status hi_untyped_make(struct hi_inspection *in,
			       const struct hi_report_header *header, size_t top,
			       struct hi_untyped_report **ret, struct hi_error *err);
/* Lines of a hint for each tagged union; empty for a snapshot file. */
enum hi_status hi_suggest_unions(struct hi_inspection *in,
				 const struct hi_suggested_record **ret, size_t *n_ret,
				 struct hi_error *err);

#endif
