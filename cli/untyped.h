/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --untyped`. */
#ifndef HI_CLI_UNTYPED_H
#define HI_CLI_UNTYPED_H

#include "cli/command.h"

/* As struct hi_command.run. */
enum hi_status hi_untyped_run(struct hi_inspection *in,
			      const struct hi_report_header *header, struct hi_page *page,
			      struct hi_json *json, struct hi_error *err);

#endif
