/* SPDX-License-Identifier: BSD-2-Clause */
/* The peaks of a file of many censuses, and what is live at each, as a report. */
#ifndef HI_SESSION_SPACE_PEAKS_OF_FILE_H
#define HI_SESSION_SPACE_PEAKS_OF_FILE_H

#include "base/cleanup.h"
#include "report/reports/peaks/peaks_report.h"
#include "session/options.h"

struct hi_peaks;
struct hi_peaks_request {
	size_t most; /* peaks beside the global maximum */
	size_t top;  /* rows of each; SIZE_MAX: all */
};
/*
 * Reads the file of the options (target.file). Each peak whose objects are in the file
 * has rows by function, type and age, if a recording is there; else rows by type. Each
 * peak reads one census: the time grows with the peaks and with the censuses, not with
 * their product. *ret: hi_peaks_destroy(). HI_BAD_DATA: it is no file of many censuses,
 * or damaged. HI_NO_MEMORY.
 */
enum hi_status hi_peaks_read(const struct hi_options *options,
			     const struct hi_peaks_request *request,
			     struct hi_peaks **ret, struct hi_error *err);
const struct hi_peaks_report *hi_peaks_report_of(const struct hi_peaks *peaks);
void hi_peaks_destroy(struct hi_peaks *peaks); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_peaks *, hi_peaks_destroy)

#endif
