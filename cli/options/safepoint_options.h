/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of the options for stopping a target (--at) and for keeping its memory
 * (--snapshot).
 */
#ifndef HI_CLI_OPTIONS_SAFEPOINT_OPTIONS_H
#define HI_CLI_OPTIONS_SAFEPOINT_OPTIONS_H

#include "base/error.h"
#include "session/options.h"

/* Takes --at: a safepoint, or "every:N"; one of each. HI_USAGE: err is a line
 * that begins with "--at". */
enum hi_status hi_safepoint_take_at(struct hi_safepoint_options *s, const char *text,
				    struct hi_error *err);
/* Takes --snapshot: auto, copy or fork. False: none of these. */
bool hi_safepoint_take_snapshot(struct hi_safepoint_options *s, const char *text);
/* What is wrong with them together; NULL: nothing. */
const char *hi_safepoint_check(const struct hi_safepoint_options *s);

#endif
