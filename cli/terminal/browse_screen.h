/* SPDX-License-Identifier: BSD-2-Clause */
/* Browsing on a terminal, by ncurses. */
#ifndef HI_CLI_TERMINAL_BROWSE_SCREEN_H
#define HI_CLI_TERMINAL_BROWSE_SCREEN_H

#include "report/render/text.h"
#include "report/reports/browse/browse.h"

/*
 * Shows it on the terminal of hi_browse_terminal_open() and takes keys until the user
 * quits. A signal that asks the process to end does so when the terminal is as before.
 * HI_UNSUPPORTED: the terminal is not known. Errors of hi_browse_key().
 */
enum hi_status hi_browse_show(struct hi_browse *browse,
			      const struct hi_text_options *looks, struct hi_error *err);

#endif
