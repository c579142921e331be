/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a series of censuses. */
#ifndef HI_CLI_OPTIONS_SERIES_OPTIONS_H
#define HI_CLI_OPTIONS_SERIES_OPTIONS_H

#include "session/options.h"

/* False: the text is no such thing. */
bool hi_series_take_every(struct hi_series_options *s, const char *text);
bool hi_series_take_time(struct hi_series_options *s, const char *text);
/* "first,last,every:10,peaks:3", "all", "none". */
bool hi_series_take_full(struct hi_series_options *s, const char *text);
/* What is wrong with them together; NULL: nothing. */
const char *hi_series_check(const struct hi_series_options *s);

#endif
