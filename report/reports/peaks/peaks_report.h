/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `peaks`: the censuses of a file at which most was live
 * (census/space/peaks.h), and what was live there.
 */
#ifndef HI_REPORT_REPORTS_PEAKS_PEAKS_REPORT_H
#define HI_REPORT_REPORTS_PEAKS_PEAKS_REPORT_H

#include "report/document.h"
#include "report/parts/row_selection.h"
#include "report/pictures/bands.h"

/* A census. */
struct hi_peaks_point {
	uint32_t census;  /* its number */
	uint64_t wall_ns; /* since the first one */
	uint64_t bytes;	  /* live */
};

/* What is known of a peak. */
enum hi_peak_detail {
	HI_PEAK_TOTALS,	 /* by type: its objects are not in the file */
	HI_PEAK_TYPES,	 /* by type: there is no recording */
	HI_PEAK_OBJECTS, /* by function, type and age: what is not freed */
};

struct hi_peak_row {
	const char *function, *file, *module; /* "" unknown; NULL: older */
	const char *type;		      /* "" unknown */
	uint32_t age; /* censuses that found it, this one included; 0: unknown */
	uint64_t objects, bytes;
};

struct hi_peak {
	struct hi_peaks_point point;
	uint64_t time_ns; /* since 1970 */
	uint64_t objects; /* live */
	bool is_top;	  /* the global maximum */
	bool is_damaged;  /* its objects are in the file, but cannot be read */
	enum hi_peak_detail detail;
	uint64_t sample_bytes;	  /* mean distance of samples; 0: all are recorded */
	struct hi_peak_row *rows; /* most bytes first */
	size_t n_rows, n_shown;
	uint64_t bytes, in_objects; /* of all rows */
};

struct hi_peaks_report {
	int pid;
	const char *exe, *file; /* file: as given */
	uint64_t damaged, lost; /* bytes of the file; parts that are missing */
	const struct hi_peaks_point *points;
	size_t n_points;
	struct hi_peak *peaks; /* in the order of time */
	size_t n_peaks;
	size_t asked; /* of --peaks: beside the global maximum */
};

/* Adds the report to a page; width: columns that it has for the curve. */
void hi_peaks_display(const struct hi_peaks_report *report, unsigned width,
		      struct hi_page *page);
/* Adds one peak alone, without its heading. */
void hi_peak_display(const struct hi_peak *peak, struct hi_page *page);
/* "peak 2: census 7, after 12 s": as the page has it. */
const char *hi_peak_title(const struct hi_peaks_report *report, size_t peak,
			  struct hi_page *page);
/* Adds the facts above the curve. */
void hi_peaks_display_facts(const struct hi_peaks_report *report, struct hi_page *page);
/* The document "heapinspect/peaks/v1", and a row of a peak: of forms 1 << detail. */
extern const struct hi_doc_fields hi_peaks_document, hi_peak_row_fields;
/* Writes the document. */
void hi_peaks_json(const struct hi_peaks_report *report, struct hi_json *json);
/* Writes one HTML file without scripts: the curve with its bands, in which each peak is a
 * link to what follows below. Errors of the stream stay in it. HI_NO_MEMORY. */
enum hi_status hi_peaks_html(const struct hi_peaks_report *report,
			     const struct hi_bands *bands, bool full_names, FILE *out,
			     struct hi_error *err);

#endif
