/* SPDX-License-Identifier: BSD-2-Clause */
/* --name: the one running process of a name. */
#ifndef HI_CLI_OPTIONS_PROCESS_NAME_H
#define HI_CLI_OPTIONS_PROCESS_NAME_H

#include <sys/types.h>

/*
 * The process whose comm, executable (without directories) or script, where an
 * interpreter runs one, has this name; never this process. 0: there is none, or there are
 * several; then it was printed what there is.
 */
pid_t hi_process_by_name(const char *name);

#endif
