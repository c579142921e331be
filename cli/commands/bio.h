/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `bio`. */
#ifndef HI_CLI_COMMANDS_BIO_H
#define HI_CLI_COMMANDS_BIO_H

#include "cli/decoder/decoder.h"
#include "session/options.h"
#include "session/run.h"

/* Follows the target of the options, and writes the report. *partial_ret: some image had
 * gaps. Errors: as of hi_record_series(). */
enum hi_status hi_bio_run(const struct hi_options *options, struct hi_run *run,
			  struct hi_outcome *ret, struct hi_error *err);

#endif
