/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A series as JSON lines. Each line is a document with its own schema:
 * heapinspect/series/v1, …/series-mark/v1, …/series-end/v1 (docs/schema).
 */
#ifndef HI_REPORT_REPORTS_SERIES_SERIES_JSON_H
#define HI_REPORT_REPORTS_SERIES_SERIES_JSON_H

#include <stdio.h>

#include "report/reports/series/series_sample.h"

/* All three write one line to out. False: out of memory; errors of the stream are
 * left to ferror(out). */
bool hi_series_json(const struct hi_series_header *header,
		    const struct hi_series_sample *sample, FILE *out);
/* The line of a mark. */
bool hi_series_mark_json(const struct hi_series_header *header, uint64_t at_ns,
			 const char *text, FILE *out);
/* The line of the end of a series. */
bool hi_series_end_json(const struct hi_series_header *header, enum hi_series_end end,
			uint64_t at_ns, uint64_t samples, FILE *out);

#endif
