/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of the options of space profiles. */
#ifndef HI_CLI_OPTIONS_ALLOC_OPTIONS_H
#define HI_CLI_OPTIONS_ALLOC_OPTIONS_H

#include "session/options.h"

/*
 * Adds the names or patterns of --centre, which are divided by commas outside of
 * brackets. Keeps `text`, and cuts it at the commas. False: *why_ret (static) is what is
 * wrong, "" for no memory.
 */
bool hi_alloc_take_centres(struct hi_alloc_options *o, char *text, const char **why_ret);
/* What is wrong with them together (static); NULL: nothing. */
const char *hi_alloc_options_check(const struct hi_options *o);
/* The same of --pause and --resume. */
const char *hi_alloc_pause_check(const struct hi_options *o);
void hi_alloc_options_free(struct hi_alloc_options *o);

#endif
