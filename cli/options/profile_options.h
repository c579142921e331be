/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of the options for profiles by roots and retainers, and for restrictions to
 * them.
 */
#ifndef HI_CLI_OPTIONS_PROFILE_OPTIONS_H
#define HI_CLI_OPTIONS_PROFILE_OPTIONS_H

#include "session/options.h"

/*
 * All keep `text`, and have room for `most` of them. hi_profile_take_root cuts it
 * at the "=". False: *why_ret (static) is what is wrong, "" for no memory.
 */
bool hi_profile_take_root(struct hi_profile_options *p, size_t most, char *text,
			  const char **why_ret);
/* Adds a root whose name is its expression. Call it last. False: no memory. */
bool hi_profile_take_expression(struct hi_profile_options *p, const char *expression);
/* Adds a --retainer. */
bool hi_profile_take_retainer(struct hi_profile_options *p, size_t most, const char *text,
			      const char **why_ret);
/* Adds an --under. */
bool hi_profile_take_under(struct hi_profile_options *p, size_t most, const char *text,
			   const char **why_ret);
/* Takes --identity: type, var, site, module or addr. False: none of these. */
bool hi_profile_take_identity(struct hi_profile_options *p, const char *text);
/* A name that two roots have, NULL: none. */
const char *hi_profile_duplicate(const struct hi_profile_options *p);
/* The first of --under that is no root's name, NULL: none. */
const char *hi_profile_unknown_under(const struct hi_profile_options *p);
void hi_profile_options_free(struct hi_profile_options *p);

#endif
