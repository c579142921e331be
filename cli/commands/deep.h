/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of `deep`. */
#ifndef HI_CLI_COMMANDS_DEEP_H
#define HI_CLI_COMMANDS_DEEP_H

#include "report/display.h"
#include "session/deep/deep_kept.h"
#include "session/options.h"

/* Adds the page of a query (options->deep; without files: of the target's file). What
 * was read and computed for it stays in *kept, for the next query: hi_deep_kept_free().
 * Errors are for people: of hi_deep_kept_open(), of queries and of reports. */
enum hi_status hi_deep_page(const struct hi_options *options, struct hi_deep_kept *kept,
			    struct hi_page *page, struct hi_error *err);

#endif
