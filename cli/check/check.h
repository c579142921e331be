/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the command `check`: values of metrics, slopes, names that match nothing,
 * what is behind a gate that failed, and the new baseline.
 */
#ifndef HI_CLI_CHECK_CHECK_H
#define HI_CLI_CHECK_CHECK_H

#include "base/vector.h"
#include "cli/command/output.h"
#include "cli/commands/diff.h"
#include "report/reports/check/check_report.h"

/* In the order of the words of --format. */
enum hi_check_format {
	HI_CHECK_TEXT,
	HI_CHECK_JSON,
	HI_CHECK_JUNIT,
	HI_CHECK_GITHUB,
	HI_CHECK_MARKDOWN,
};

/* What the gates look at. */
struct hi_check_heaps {
	struct hi_inspection *in, *before; /* before: NULL, no baseline */
	const struct hi_report_header *header, *head_before;
	const struct hi_three_heaps *three; /* NULL: not three */
	bool lacks_baseline; /* the file is to be written, and does not exist yet */
	/* Of hi_check_compared(). */
	struct hi_comparison *comparison;
	/* Slopes that were computed, one for each metric. */
	struct hi_check_slope_list HI_VECTOR(struct hi_check_slope) slopes;
	struct hi_error failure; /* of a value; status HI_OK: none */
	bool warned_of_unread;	 /* memory that may be the program's */
	bool is_undecoded;	 /* of a census of the series: its heap is not decoded */
};
void hi_check_heaps_close(struct hi_check_heaps *heaps); /* what it owns */

/* hi_gate_value_fn; arg is the struct hi_check_heaps. An error is kept in failure, and
 * the value is unknown then. */
bool hi_check_value(void *arg, const struct hi_gate_metric *metric, double *ret);
/* Is the value unknown because some heap is not decoded? Then the gate fails. */
bool hi_check_is_undecoded(const struct hi_check_heaps *heaps,
			   const struct hi_gate_metric *metric);
/* Is the value unknown because no leak is certain? Then the gate fails, too. Returns what
 * is known of the leaks, or NULL. */
const struct hi_reach *hi_check_doubtful(const struct hi_check_heaps *heaps,
					 const struct hi_gate_metric *metric);
/* The slope of a metric over the censuses of the target's file; cached. NULL: an error,
 * in heaps->failure, or a heap that is not decoded. */
const struct hi_check_slope *hi_check_slope(struct hi_check_heaps *heaps,
					    const struct hi_gate_metric *metric);

/* Is what the gate is about smaller than --min-size? In bytes: the value of each metric,
 * its change since the baseline, or its growth over the series. */
bool hi_check_is_small(struct hi_check_heaps *heaps, const struct hi_gate *gate);

/* Writes the heap to the baseline file, which takes its name when it is complete. */
enum hi_status hi_check_update_baseline(struct hi_check_heaps *heaps,
					struct hi_error *err);

/* Fills in what is behind a gate that fails: culprits and the next command. Texts live in
 * the inspection's arena. */
enum hi_status hi_check_find_culprits(struct hi_check_heaps *heaps,
				      struct hi_check_row *row, struct hi_error *err);

#endif
