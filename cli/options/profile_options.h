/* SPDX-License-Identifier: BSD-2-Clause */
/* The options for profiles by roots and retainers, and for restrictions to them. */
#ifndef HI_CLI_OPTIONS_PROFILE_OPTIONS_H
#define HI_CLI_OPTIONS_PROFILE_OPTIONS_H

#include "session/options.h"

/* Adds a root whose name is its expression. False: no memory. */
bool hi_profile_take_expression(struct hi_profile_options *p, const char *expression);
/* Returns a name that two roots have, NULL: none. */
const char *hi_profile_duplicate(const struct hi_profile_options *p);
/* Returns the first of --under that is no root's name, NULL: none. */
const char *hi_profile_unknown_under(const struct hi_profile_options *p);
void hi_profile_options_free(struct hi_profile_options *p);

#endif
