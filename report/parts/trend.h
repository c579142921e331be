/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How memory has grown over the censuses of a series, and when a limit is reached if it
 * goes on like that. Strings are borrowed and hostile.
 */
#ifndef HI_REPORT_PARTS_TREND_H
#define HI_REPORT_PARTS_TREND_H

#include "census/analysis/slope.h"
#include "report/document.h"
#include "report/parts/report_limit.h"

struct hi_trend_row {
	const char *name;     /* of a type; "" untyped */
	uint64_t first, last; /* bytes in the first and in the last census */
	uint64_t first_objects, last_objects;
	struct hi_slope rate;	 /* bytes a minute */
	struct hi_slope per_hit; /* bytes for each hit of --at */
};

struct hi_trend {
	size_t censuses;
	uint64_t first_number, last_number; /* of these censuses */
	uint64_t wall_ns;		    /* between them */
	struct hi_trend_row live;	    /* all that is live; its name is "" */
	struct hi_trend_row leaked;	    /* certain; objects are 0 */
	bool leaks_known;		    /* in all censuses */
	uint64_t leaked_since; /* the first census with leaks up to the last; 0: none */
	uint64_t leaked_since_ns;  /* when that was, since the first census */
	struct hi_trend_row *rows; /* by the growth from first to last, those that grew */
	size_t n_rows;
	/* Variables that alone hold more in the last graph of the file than in the first
	 * one: names of roots. Their rates are of all graphs. */
	struct hi_trend_row *holders;
	size_t n_holders, graphs;     /* graphs that were read; below 2: no holders */
	uint64_t graphs_ns;	      /* from the first graph to the last */
	struct hi_report_limit limit; /* at the last census */
	/* The place at which all censuses were taken, if its hits are counted, and what
	 * a hit leaves; NULL: there is none. */
	const char *place;
	uint64_t hits; /* from the first census to the last */
	struct hi_slope objects_per_hit;
};

enum { HI_TREND_PART = 160, HI_TREND_TEXT = 2 * HI_TREND_PART + 4 };
/* Formats "+15.4 MiB/min (15.2 to 15.5)", "-1.2 KiB/min (-1.5 to -0.9)", "steady";
 * "too few censuses: it takes 4" below HI_SLOPE_LEAST. Returns out. */
char *hi_trend_rate_text(char out[HI_TREND_PART], const struct hi_slope *rate);
/* Formats "+15.4 MiB", "steady"; "" below HI_SLOPE_LEAST. out needs 24 bytes. Returns out. */
char *hi_trend_short_text(char out[24], const struct hi_slope *rate);
/* Formats "memory.max of 2.0 GiB in 41 to 44 min"; where the growth is not certain
 * "memory.max of 2.0 GiB not before 41 min"; "" where nothing grows, or no limit is known.
 * Returns out. */
char *hi_trend_forecast_text(char out[HI_TREND_PART], const struct hi_slope *rate,
			     const struct hi_report_limit *limit);
/* Formats both: "+15.4 MiB/min (15.2 to 15.5): memory.max of 2.0 GiB in 41 to 44 min".
 * Returns out. */
char *hi_trend_text(char out[HI_TREND_TEXT], const struct hi_slope *rate,
		    const struct hi_report_limit *limit);

/* Returns "each handle%return leaves 1.9 KiB (1.8 to 2.0) in 11.0 objects: struct session,
 * struct audit"; "" where there is no such place. Safe. */
const char *hi_trend_per_hit_text(const struct hi_trend *trend, struct hi_page *page);
/* Formats "600 ms", "59 s", "90 min", "3 h", "2 days"; out needs 24 bytes. Returns out. */
char *hi_span_text(char out[24], uint64_t ns);

/* Fields of struct hi_trend (document.h). */
extern const struct hi_doc_fields hi_trend_fields;
/* Adds a table of rows, at most `most`, under the rate of all that is live, and one of as
 * many holders; nothing where there is one census. */
void hi_trend_show(const struct hi_trend *trend, size_t most, struct hi_page *page);

#endif
