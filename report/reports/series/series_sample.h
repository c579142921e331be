/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One census of a series as plain data, for every output: JSON lines, lines of text, the
 * live view, heap profiles. Strings are borrowed; names are hostile.
 */
#ifndef HI_REPORT_REPORTS_SERIES_SERIES_SAMPLE_H
#define HI_REPORT_REPORTS_SERIES_SERIES_SAMPLE_H

#include "report/parts/leak_totals.h"
#include "report/parts/report_header.h"
#include "report/parts/row_selection.h"
#include "report/parts/stop_place.h"

enum hi_series_axis { HI_SERIES_CPU, HI_SERIES_WALL, HI_SERIES_CENSUS };

/* The same for the whole series. */
struct hi_series_header {
	int pid;
	const char *exe; /* path; "" unknown */
	const char *by;	 /* "type", "module", "class", …; text of this program */
	enum hi_series_axis axis; /* of times */
	bool pure;		  /* bytes of rows are what the program uses */
	bool counts;		  /* a heap profile has objects in place of bytes */
};

struct hi_series_row {
	const char *name; /* "" of no known type, module */
	uint64_t bytes, objects;
	/* Not 0: a set, whose number keeps its meaning in the whole series. */
	uint64_t set;
	const char *const *members;
	size_t n_members;
	bool keyed; /* a heap profile has the set, and its key the members */
};

struct hi_series_sample {
	uint64_t number; /* from 1 */
	uint64_t at_ns;	 /* on the axis: billionths of its unit */
	/* Since the series began: of the target, of the clock on the wall. */
	uint64_t cpu_ns, wall_ns;
	uint64_t time_ns;		  /* CLOCK_REALTIME at the stop */
	uint64_t pause_ns, took_ns;	  /* without waiting for a safepoint */
	const char *mode;		  /* "copy", "fork"; text of this program */
	uint64_t copied_on_write;	  /* UINT64_MAX: unknown, not mode fork */
	const struct hi_stopped *stopped; /* NULL: at once */
	bool complete;			  /* the snapshot has no gaps */
	uint64_t objects, bytes;	  /* live, unrestricted */
	struct hi_leak_totals leaks;
	bool lower_bound;	    /* some heap is not decoded: more may be live */
	struct hi_series_row *rows; /* by bytes, then name; each name once */
	size_t n_rows;
	struct hi_hidden hidden; /* by --type, --min-size and --top */
	/* Hidden by --under and --retained-by; NULL: there is no such restriction. */
	const struct hi_report_restriction *only;
	uint64_t visits;  /* of objects by retainers; 0: no retainers were named */
	uint64_t waiting; /* the most objects on that work list */
	const char *const *warnings; /* hostile */
	size_t n_warnings;
	struct hi_report_limit limit; /* of the target's memory */
};

/* Behind the name of a heap profile where some heap is not decoded. */
#define HI_SERIES_LOWER_BOUND " (lower bound: a heap is not decoded)"

/* Why it ended. */
enum hi_series_end {
	HI_SERIES_OVER, /* the requested time is over */
	HI_SERIES_EXITED,
	HI_SERIES_STOPPED, /* by a signal */
	HI_SERIES_FAILED,
	HI_SERIES_GOES_ON, /* not yet: there is a census to take; or to wait for */
	HI_SERIES_WAITS,
};
const char *hi_series_end_key(enum hi_series_end end);
/* Returns the unit of times: "seconds" or "census". */
const char *hi_series_unit(enum hi_series_axis axis);
/* Returns the name of a row, or the text for one that is unknown; raw. */
const char *hi_series_name(const struct hi_series_header *header,
			   const struct hi_series_row *row);
/* What is leaked, for a band of its own beside the rows (hi_leak_kind_label()); zeros:
 * none, or not known, or a row has it. */
struct hi_leak_total hi_series_leaked(const struct hi_series_sample *sample,
				      enum hi_leak_kind kind);
/* "under sessions", "retained by T"; "" where nothing is restricted. Raw. */
const char *hi_series_restriction_text(const struct hi_series_sample *sample, char *out,
				       size_t size);
/* Adds up rows of the same name, sorts them, and hides those below min_size and beyond
 * top. Rows of sets stay separate. */
void hi_series_sort_rows(struct hi_series_sample *sample, uint64_t min_size, size_t top);

#endif
