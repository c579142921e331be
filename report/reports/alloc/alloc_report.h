/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `alloc`: which functions allocate, and how much of it survives how many
 * censuses, by type (census/space has the definitions).
 */
#ifndef HI_REPORT_REPORTS_ALLOC_ALLOC_REPORT_H
#define HI_REPORT_REPORTS_ALLOC_ALLOC_REPORT_H

#include "census/space/space.h"
#include "census/space/time.h"
#include "report/display.h"
#include "report/json_writer.h"
#include "report/parts/row_selection.h"
#include "report/reports/alloc/alloc_manner.h"
#include "report/reports/alloc/alloc_order.h"

struct hi_alloc_type {
	const char *name; /* "" unknown */
	const struct hi_space_row *row;
};

/* What one function has allocated that this one called, at the end of a chain of callers.
 */
struct hi_alloc_caller {
	const char *name, *file; /* as of a function; "" unknown */
	unsigned level;		 /* 1: it calls the function; else the caller of the last
				    level below that is in front of it */
	uint32_t chain;		 /* as the profile has it */
	/* Frames of libraries between the two, in its stacks; of one frame that is the same
	 * in all of them its function, else "". */
	uint32_t passed, passed_most;
	const char *passed_name;
	const char *libraries; /* "libc, libstdc++"; hostile, as the other texts */
	struct hi_space_row row;
	struct hi_space_time time; /* top, scans and found of the chain */
};

struct hi_alloc_function {
	/* "" unknown. File: of the source; module: path of the file with its code. */
	const char *name, *file, *module;
	uint32_t line;	 /* of the file, where it allocates: the first that was seen */
	uint32_t number; /* as the profile has it */
	struct hi_space_row all;   /* of all types */
	struct hi_space_time time; /* zeros: it is in no sample, or there are none */
	unsigned without;	   /* bits of enum hi_alloc_columns that are not shown */
	uint64_t calls;		   /* counted; HI_CALLS_NOT_COUNTED */
	struct hi_alloc_type *types; /* most allocated bytes first */
	size_t n_types;
	struct hi_alloc_caller *callers; /* the same order; only where they are wanted */
	size_t n_callers;
};

#define HI_CALLS_NOT_COUNTED UINT64_MAX

static inline bool hi_alloc_shows(const struct hi_alloc_function *f, unsigned columns)
{
	return (f->without & columns) != columns;
}

/* Of samples of time, which are scans of a stack. */
struct hi_alloc_time {
	uint64_t scan_ns;	/* CPU time between two of them; 0: there are none */
	uint64_t scans, frames; /* frames of all of them, with inlined ones */
	uint32_t most_frames;	/* of one */
	uint64_t in_allocator, in_probes; /* of the scans; and of these */
	uint64_t no_stack;		  /* of the scans: no frame is known */
	uint64_t target_ns, tool_ns;	  /* CPU time during the recording */
	uint64_t missed;		  /* threads that were not sampled */
};

/* A function whose calls were counted, whether it allocates or not. */
struct hi_counted_calls {
	const char *name, *module; /* demangled; path of the file with its code; hostile
				    */
	uint64_t calls;
};

/* A census. */
struct hi_alloc_line {
	uint64_t at_ns; /* since the first one, with which period 1 begins */
	struct hi_space_period amounts;
	struct hi_space_amount older; /* live, from before the recording */
};

/* A time in which allocations were not recorded. */
struct hi_alloc_pause {
	uint64_t from_ns, to_ns; /* since the recording began */
	uint64_t calls, bytes;	 /* that are in no amount */
};

struct hi_alloc_report {
	int pid;
	const char *exe;
	uint64_t sample_bytes;	  /* mean distance of samples; 0: all are recorded */
	uint64_t lasted_ns, lost; /* lost: events */
	uint64_t memory;	  /* bytes that the profile took here */
	bool has_costs;	   /* of what died before a census; else it counts as requested */
	bool is_bracketed; /* of a file: it was made with --from-mark or --to-mark */
	bool has_manners;  /* else all is shown of all functions */
	/* Of --manner PATTERN=calls; n_calls 0: none were counted. */
	const struct hi_counted_calls *calls;
	size_t n_calls;
	uint64_t call_ns; /* what the count of one took, as measured */
	const struct hi_alloc_pause *pauses;
	uint32_t n_pauses;
	size_t left_out;    /* censuses of a file whose objects are not in it */
	const char *select; /* NULL: all functions */
	/* What stands for functions: what allocated, or what was called first. */
	enum hi_alloc_by {
		HI_ALLOC_BY_FUNCTION,
		HI_ALLOC_BY_CENTRE,
		HI_ALLOC_BY_MARK
	} by;
	/* What was allocated between these marks alone; NULL: from the beginning, to the
	 * end. */
	const char *from_mark, *to_mark;
	struct hi_alloc_line *lines;
	uint32_t n_lines;	   /* and ages there can be */
	struct hi_space_row total; /* of the selected functions */
	size_t n_selected;
	/* Of the selected ones those that are shown for what they have allocated or for
	 * their times, in their order. */
	struct hi_alloc_function *functions;
	size_t n_functions;
	struct hi_alloc_time time;
	struct hi_hidden hidden;
	bool bars;     /* instead of tables */
	double weight; /* of space in them, 0 to 1 */
	size_t most_bars;
	unsigned width; /* of text, in characters */
	enum hi_alloc_order order;
	bool callers; /* they are wanted */
	bool all;     /* ages and types of all functions that are shown */
};

/* Adds the report to a page. */
void hi_alloc_display(const struct hi_alloc_report *report, struct hi_page *page);
/* Adds what samples of time say; nothing without any. */
void hi_alloc_time_display(const struct hi_alloc_report *report, struct hi_page *page);
void hi_alloc_time_facts(const struct hi_alloc_report *report, struct hi_page *page);
/* In an open object: the member "time" of the report, and of a function. */
void hi_alloc_time_json(const struct hi_alloc_report *report, struct hi_json *json);
void hi_space_time_json(const struct hi_space_time *time, bool is_of_caller,
			struct hi_json *json);
/* Adds the table of calls that were counted; nothing without any. */
void hi_alloc_calls_display(const struct hi_alloc_report *report, struct hi_page *page);
/* The address of what was allocated below a function; "" where --centre would take its
 * name for a pattern. */
const char *hi_alloc_centre_address(const char *function, struct hi_page *page);
/* Adds a bar for each function, instead of the tables. */
void hi_alloc_bars_display(const struct hi_alloc_report *report, struct hi_page *page);
/* Adds what stands in front of the tables. */
void hi_alloc_display_facts(const struct hi_alloc_report *report, struct hi_page *page);
/* Adds one function: where it is, its totals, callers, ages and types. */
void hi_alloc_function_display(const struct hi_alloc_report *report,
			       const struct hi_alloc_function *f, struct hi_page *page);
/* Writes one HTML file: totals, and bars, of which each is a link to its function. Errors
 * of the stream stay in it. HI_NO_MEMORY. */
enum hi_status hi_alloc_html(const struct hi_alloc_report *report, bool full_names,
			     FILE *out, struct hi_error *err);
/* Writes the document "heapinspect/alloc/v1" (docs/schema/alloc.v1.json). */
void hi_alloc_json(const struct hi_alloc_report *report, struct hi_json *json);

#endif
