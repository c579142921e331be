/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that makes the pages of a server (server/workers.h). */
#ifndef HI_CLI_PAGES_PAGE_PROCESS_H
#define HI_CLI_PAGES_PAGE_PROCESS_H

#include "session/options.h"

/* In a fork of the server: forks again, so that pages are made without rights
 * (cli/decoder/decoder.h), and answers requests on the socket until that is closed.
 * Returns the exit status: 128 and the number of the signal that ended the process
 * without rights. */
int hi_page_process_run(const struct hi_options *options, int socket, const char *base);

#endif
