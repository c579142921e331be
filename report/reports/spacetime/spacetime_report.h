/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `spacetime`: what the bands of a series take, as bytes x time
 * (census/space/areas.h).
 */
#ifndef HI_REPORT_REPORTS_SPACETIME_SPACETIME_REPORT_H
#define HI_REPORT_REPORTS_SPACETIME_SPACETIME_REPORT_H

#include "base/arena.h"
#include "census/space/areas.h"
#include "report/document.h"
#include "report/heap_profile/hp_reader.h"

struct hi_spacetime_band {
	const char *name; /* the series'; hostile */
	uint32_t id;	  /* in the series */
	struct hi_area area;
	uint64_t mean, most, last; /* bytes */
	size_t samples;		   /* in which it has some */
};

struct hi_spacetime_report {
	const char *file; /* as given */
	const char *by;	  /* "type", …; "profile": the bands of a heap profile */
	const struct hi_hp_series *series; /* borrowed */
	uint64_t *times_ns;		   /* of each sample, since the first one */
	uint64_t *totals;		   /* of each sample, bytes */
	const uint32_t *censuses; /* of each sample, number in the file; 0, NULL: none */
	uint64_t duration_ns;
	size_t left_out; /* censuses of the file that do not have what the bands need */
	uint64_t damaged, lost; /* bytes of the file; parts that are missing */
	struct hi_area total;
	uint64_t mean, most;
	struct hi_spacetime_band *bands; /* the largest area first */
	size_t n_bands, n_shown;
	struct hi_spacetime_hidden {
		size_t bands;
		struct hi_area area;
	} hidden;
	bool is_type; /* names are of types */
	struct hi_arena arena;
};

/* Adds the series up. top: bands that are shown. *ret is freed by
 * hi_spacetime_report_free(), also after an error; the series outlives it. HI_NO_MEMORY,
 * HI_USAGE: its values are no bytes, or its times no seconds. */
enum hi_status hi_spacetime_report_make(const struct hi_hp_series *series, size_t top,
					struct hi_spacetime_report *ret,
					struct hi_error *err);
void hi_spacetime_report_free(struct hi_spacetime_report *report);

/* The document "heapinspect/spacetime/v1". */
extern const struct hi_doc_fields hi_spacetime_document;

/* Adds the report to a page; width: columns that it has for the graph. */
void hi_spacetime_display(const struct hi_spacetime_report *report, unsigned width,
			  struct hi_page *page);
/* Adds its bands as a picture, with the peaks. */
void hi_spacetime_picture(const struct hi_spacetime_report *report, struct hi_page *page);
/* Writes the document. */
void hi_spacetime_json(const struct hi_spacetime_report *report, struct hi_json *json);

#endif
