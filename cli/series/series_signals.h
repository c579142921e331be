/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a series by a signal: the first one ends it in order. */
#ifndef HI_CLI_SERIES_SERIES_SIGNALS_H
#define HI_CLI_SERIES_SERIES_SIGNALS_H

#include "base/error.h"

enum hi_status hi_series_signals_watch(struct hi_error *err);
/* Readable from the first signal on. */
int hi_series_signals_fd(void);

#endif
