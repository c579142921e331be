/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `diff --three`: objects that were born between the first and the second
 * heap and are still alive in the third.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/commands/diff.h"
#include "report/reports/diff/survived_report.h"

static enum hi_status open_all(struct hi_three_heaps *t, unsigned wanted,
			       struct hi_error *err)
{
	const struct hi_options *o = t->after->options;
	enum hi_status status =
		hi_baseline_open(t->after, t->header, o->comparison.middle,
				 o->comparison.middle_census, wanted, &t->load, err);

	return status == HI_OK
		       ? hi_baseline_open(t->after, t->header, o->comparison.baseline,
					  o->comparison.baseline_census, wanted, &t->warm,
					  err)
		       : status;
}

static enum hi_status compare_three_heaps(const struct hi_baseline *before,
					  struct hi_inspection *in,
					  const struct hi_report_header *header,
					  struct hi_comparison **ret,
					  struct hi_error *err)
{
	struct hi_heap_side a, b;
	bool same_process = false;
	enum hi_status status =
		hi_baseline_is_same_process(before, in, header, &same_process, err);

	if (status == HI_OK)
		status = hi_diff_side(before->in, &a, err);
	if (status == HI_OK)
		status = hi_diff_side(in, &b, err);
	return status == HI_OK
		       ? hi_compare(&a, &b, same_process, HI_COMPARE_BY_TYPE, ret, err)
		       : status;
}

static enum hi_status compare_all_pairs(struct hi_three_heaps *t, struct hi_error *err)
{
	enum hi_status status;

	hi_inspect_phase(t->after, "comparing");
	status =
		compare_three_heaps(&t->warm, t->load.in, &t->load.header, &t->born, err);
	return status == HI_OK
		       ? compare_three_heaps(&t->load, t->after, t->header, &t->kept, err)
		       : status;
}

static enum hi_status find_survivors(struct hi_three_heaps *t, struct hi_error *err)
{
	struct hi_heap_side after;
	enum hi_status status = hi_diff_side(t->after, &after, err);

	return status == HI_OK ? hi_compare_survivors(t->born, t->kept, &after,
						      &t->survivors, err)
			       : status;
}

enum hi_status hi_three_heaps_open(struct hi_inspection *in,
				   const struct hi_report_header *header, unsigned wanted,
				   struct hi_three_heaps *ret, struct hi_error *err)
{
	enum hi_status status;

	*ret = (struct hi_three_heaps){.after = in, .header = header};
	status = open_all(ret, wanted, err);
	if (status == HI_OK)
		status = compare_all_pairs(ret, err);
	return status == HI_OK ? find_survivors(ret, err) : status;
}

void hi_three_heaps_close(struct hi_three_heaps *t)
{
	free(t->survivors);
	hi_comparison_destroy(t->born);
	hi_comparison_destroy(t->kept);
	hi_baseline_close(&t->warm);
	hi_baseline_close(&t->load);
	*t = (struct hi_three_heaps){};
}

static enum hi_status print_three_heaps(struct hi_three_heaps *t, struct hi_page *page,
					struct hi_json *json, struct hi_error *err)
{
	struct hi_survived_report r = {
		.warm = &t->warm.header,
		.load = &t->load.header,
		.after = t->header,
		.live = {t->warm.in->shown.reach->live_bytes,
			 t->load.in->shown.reach->live_bytes,
			 t->after->shown.reach->live_bytes},
		.leaks = {hi_diff_leaks(&t->warm.header, t->warm.in),
			  hi_diff_leaks(&t->load.header, t->load.in),
			  hi_diff_leaks(t->header, t->after)},
		.born = t->born->all.born,
		.load_by_address = t->born->same_process,
		.after_by_address = t->kept->same_process,
		.knows_births = t->born->knows_births && t->kept->knows_births};
	enum hi_status status =
		hi_diff_describe(t->after, t->survivors, t->born, &r.survived, err);

	if (status != HI_OK)
		return status;
	/* With --min-size a smaller growth of each type is none. */
	t->after->diagnostics.has_finding =
		r.survived.n_rows || r.survived.hidden.by_top.rows;
	if (json)
		hi_survived_json(&r, json);
	else
		hi_survived_display(&r, page);
	return HI_OK;
}

enum hi_status hi_diff_three(struct hi_inspection *in,
			     const struct hi_report_header *header, struct hi_page *page,
			     struct hi_json *json, struct hi_error *err)
{
	struct hi_three_heaps t;
	enum hi_status status =
		hi_three_heaps_open(in, header, HI_WANT_DOMINATORS, &t, err);

	if (status == HI_OK)
		status = print_three_heaps(&t, page, json, err);
	hi_three_heaps_close(&t);
	return status;
}
