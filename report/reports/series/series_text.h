/* SPDX-License-Identifier: BSD-2-Clause */
/* A series as text, a line a sample. */
#ifndef HI_REPORT_REPORTS_SERIES_SERIES_TEXT_H
#define HI_REPORT_REPORTS_SERIES_SERIES_TEXT_H

#include "report/render/text.h"
#include "report/reports/series/series_sample.h"

/* "12.500 s", "census 25"; out needs 32 bytes. Returns out. */
char *hi_series_time_text(char out[32], const struct hi_series_header *header,
			  uint64_t at_ns);
/* "+1.2 MiB", "-64.0 KiB", "0 B"; out needs 32 bytes. Returns out. */
char *hi_series_change_text(char out[32], uint64_t before, uint64_t now);
/* The line of the sample; before: live bytes of the one before it. HI_NO_MEMORY. */
enum hi_status hi_series_text(const struct hi_series_header *header,
			      const struct hi_series_sample *sample, uint64_t before,
			      const struct hi_text_options *looks, FILE *out,
			      struct hi_error *err);

#endif
