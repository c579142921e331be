/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of Prometheus and OpenMetrics: NAME{LABELS} VALUE [TIME]. */
#ifndef HI_TESTS_SUPPORT_METRICS_H
#define HI_TESTS_SUPPORT_METRICS_H

#include <stdbool.h>

/* A sample of this name, with any labels or none. */
bool hi_metrics_have(const char *text, const char *name);
/* One of this name and value, with any labels or none. */
bool hi_metrics_have_value(const char *text, const char *name, long long value);

#endif
