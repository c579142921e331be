/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of one census in a series, by what the command counts. */
#ifndef HI_SESSION_SERIES_ROWS_H
#define HI_SESSION_SERIES_ROWS_H

#include "report/reports/series/series_sample.h"
#include "session/inspection.h"

/* The rows of `census`, `retainers` and `roots`, out of in->arena. ret->number is set
 * before: only in the first census a type that has no object is an error. */
enum hi_status hi_series_census(struct hi_inspection *in, struct hi_series_sample *ret,
				struct hi_error *err);
enum hi_status hi_series_retainers(struct hi_inspection *in, struct hi_series_sample *ret,
				   struct hi_error *err);
enum hi_status hi_series_roots(struct hi_inspection *in, struct hi_series_sample *ret,
			       struct hi_error *err);

#endif
