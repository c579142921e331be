/* SPDX-License-Identifier: BSD-2-Clause */
/* The censuses of a file as OpenMetrics. */
#ifndef HI_SESSION_SERIES_OPENMETRICS_H
#define HI_SESSION_SERIES_OPENMETRICS_H

#include <stdio.h>

#include "census/snapshot/snapshot_series.h"
#include "session/options.h"

/* A sample of each gauge for each census, at its time. */
enum hi_status hi_series_file_openmetrics(const struct hi_snapshots *s,
					  const struct hi_options *options, FILE *out,
					  struct hi_error *err);

#endif
