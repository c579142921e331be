/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the command `diff`: rows by retainer sets, descriptions of new objects,
 * and the comparison of three heaps.
 */
#ifndef HI_CLI_COMMANDS_DIFF_H
#define HI_CLI_COMMANDS_DIFF_H

#include "census/analysis/subset_totals.h"
#include "cli/options/baseline.h"
#include "report/parts/leak_totals.h"
#include "report/reports/diff/lost_objects.h"
#include "report/reports/diff/new_objects.h"

/* Fills in one side of a comparison: the objects that --under selects. */
enum hi_status hi_diff_side(struct hi_inspection *in, struct hi_heap_side *ret,
			    struct hi_error *err);

/* Returns the totals of leaks among the objects that are shown. */
struct hi_leak_totals hi_diff_leaks(const struct hi_report_header *header,
				    const struct hi_inspection *in);

/* The retainer set of each object of both, by names; in the arenas of both. HI_NOT_FOUND:
 * a type of --retainer that neither of them has. */
enum hi_status hi_diff_sets(struct hi_inspection *before, struct hi_inspection *after,
			    bool same_process, struct hi_compare_groups groups[2],
			    struct hi_error *err);

/* The marked objects by type and by what holds them, with paths to them; in the arena of
 * `in`. comparison: to print of how many born ones they are; NULL: not printed. */
enum hi_status hi_diff_describe(struct hi_inspection *in, const uint64_t *marked,
				const struct hi_comparison *born,
				struct hi_new_objects *ret, struct hi_error *err);

/* The leaks of `after` by what they were in `before`; in the arenas of both. Empty if the
 * heaps are of different processes. */
enum hi_status hi_diff_lost(struct hi_inspection *before, struct hi_inspection *after,
			    bool same_process, struct hi_lost_objects *ret,
			    struct hi_error *err);

/* Three heaps: after warm-up, under load, after the load. */
struct hi_three_heaps {
	struct hi_inspection *after;
	const struct hi_report_header *header;
	struct hi_baseline warm, load;
	struct hi_comparison *born, *kept; /* warm-up to load, load to after */
	uint64_t *
		survivors; /* bits by object of after: born under load, and still there */
};
/* Opens the other two heaps that the options name, and compares. wanted: of each, bits of
 * enum hi_wanted. Close it after errors, too. */
enum hi_status hi_three_heaps_open(struct hi_inspection *in,
				   const struct hi_report_header *header, unsigned wanted,
				   struct hi_three_heaps *ret, struct hi_error *err);
void hi_three_heaps_close(struct hi_three_heaps *t); /* also of a zeroed one */

/* The command `diff --three`: fills the page or the document (one of them is NULL). */
enum hi_status hi_diff_three(struct hi_inspection *in,
			     const struct hi_report_header *header, struct hi_page *page,
			     struct hi_json *json, struct hi_error *err);

#endif
