/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/command/command.h"
#include "cli/commands/diff.h"
#include "cli/options/option_check.h"
#include "report/reports/diff/diff_report.h"
#include "session/birth_sites.h"
#include "session/inspect/restrictions.h"
#include "session/operands.h"
#include "session/recorded.h"

enum { TOP = 20 };

enum hi_status hi_diff_side(struct hi_inspection *in, struct hi_heap_side *ret,
			    struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	*ret = (struct hi_heap_side){in->graph,
				     in->results.reach,
				     in->results.dominators,
				     NULL,
				     NULL,
				     recorded ? recorded->births : NULL};
	return status == HI_OK ? hi_naming_bits(in, &ret->only, err) : status;
}

struct hi_leak_totals hi_diff_leaks(const struct hi_report_header *header,
				    const struct hi_inspection *in)
{
	struct hi_leak_totals sums;

	hi_leak_totals_count(in->graph, in->shown.reach, in->shown.leaks_reach, &sums);
	return hi_leak_totals_if_known(header, sums);
}

static enum hi_status group_both_heaps(struct hi_inspection *before,
				       struct hi_inspection *after, bool same_process,
				       struct hi_compare_groups groups[2],
				       struct hi_error *err)
{
	enum hi_status status;

	hi_inspect_phase(after, "groups");
	if (!after->options->comparison.by_site)
		return hi_diff_sets(before, after, same_process, groups, err);
	status = hi_birth_sites_of(before, &groups[0], err);
	return status == HI_OK ? hi_birth_sites_of(after, &groups[1], err) : status;
}

/* Rows by retainer sets and by sites are made here, the others by the comparison itself.
 */
static enum hi_status compare_heaps(struct hi_inspection *in, struct hi_baseline *before,
				    const struct hi_report_header *header,
				    struct hi_comparison **ret, struct hi_error *err)
{
	struct hi_heap_side a, b;
	struct hi_compare_groups groups[2];
	bool same_process = false;
	enum hi_status status =
		hi_baseline_is_same_process(before, in, header, &same_process, err);

	if (status == HI_OK)
		status = hi_diff_side(before->in, &a, err);
	if (status == HI_OK)
		status = hi_diff_side(in, &b, err);
	if (status == HI_OK && in->options->comparison.by == HI_COMPARE_BY_GROUP) {
		status = group_both_heaps(before->in, in, same_process, groups, err);
		a.groups = &groups[0];
		b.groups = &groups[1];
	}
	hi_inspect_phase(in, "comparing");
	return status == HI_OK ? hi_compare(&a, &b, same_process,
					    in->options->comparison.by, ret, err)
			       : status;
}

static enum hi_status print_diff_report(struct hi_inspection *in,
					struct hi_baseline *before,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	static const char *const words[] = {"type", "module", "root", "retainers"};
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
	struct hi_diff_report r = {
		.before = &before->header,
		.after = header,
		.by = in->options->comparison.by_site ? "site"
						      : words[in->options->comparison.by],
		.live_before = before->in->shown.reach->live_bytes,
		.live_after = in->shown.reach->live_bytes,
		.leaks_before = hi_diff_leaks(&before->header, before->in),
		.leaks_after = hi_diff_leaks(header, in),
		.top = hi_lookup_top(in->options, TOP),
		.min_size = in->options->selection.min_size};
	enum hi_status status = compare_heaps(in, before, header, &c, err);

	if (status == HI_OK)
		status = hi_diff_describe(in, c->born, NULL, &r.born, err);
	if (status == HI_OK)
		status = hi_diff_lost(before->in, in, c->same_process, &r.lost, err);
	if (status != HI_OK)
		return status;
	r.c = c;
	in->diagnostics.has_finding = hi_diff_has_finding(&r);
	if (json)
		hi_diff_json(&r, json);
	else
		hi_diff_display(&r, page);
	return HI_OK;
}

static enum hi_status run_diff_command(struct hi_inspection *in,
				       const struct hi_report_header *header,
				       struct hi_page *page, struct hi_json *json,
				       struct hi_error *err)
{
	struct hi_baseline before = {};
	enum hi_status status;

	if (in->options->comparison.three)
		return hi_diff_three(in, header, page, json, err);
	status = hi_baseline_open(in, header, in->options->comparison.baseline,
				  in->options->comparison.baseline_census,
				  HI_WANT_DOMINATORS, &before, err);
	if (status == HI_OK)
		status = print_diff_report(in, &before, header, page, json, err);
	hi_baseline_close(&before);
	return status;
}

/* Within one file its first graph is the earlier one, unless an option selects others. */
static void settle_diff(struct hi_options *o)
{
	struct hi_comparison_options *c = &o->comparison;

	if (!c->baseline || !hi_snapshots_is_one(c->baseline))
		return;
	if (!o->target.file && !o->target.pid && !o->target.core)
		o->target.file = c->baseline;
	if (o->target.file && !c->baseline_census &&
	    strcmp(o->target.file, c->baseline) == 0)
		c->baseline_census = "first";
}

static int check_diff(const struct hi_given *given)
{
	const struct hi_comparison_options *c = &given->options->comparison;
	const struct hi_profile_options *p = &given->options->profile;

	if (hi_option_check_three(given->options) != 0)
		return 2;
	if (!c->baseline)
		return hi_option_wrong(
			"diff: needs two snapshot files; see heapinspect diff --help");
	if (p->n_roots && !p->n_under)
		return hi_option_wrong("--root: only with --under, which restricts both "
				       "heaps");
	if ((p->n_retainers || p->identity || p->max_set) &&
	    (c->by != HI_COMPARE_BY_GROUP || c->by_site))
		return hi_option_wrong("--retainer, --identity, --max-set: only with "
				       "--by retainers");
	return 0;
}

const struct hi_command hi_command_diff = {
	.id = HI_COMMAND_DIFF,
	.name = "diff",
	.arguments = "",
	.purpose = "Compare two snapshots of one program: which objects were born, which "
		   "died, and what holds the growth.",
	.help = "The first file is the earlier snapshot. The later one may also be a "
		"process or\n"
		"a core file. Objects of one process match by address and type. Objects "
		"of two\n"
		"processes match by type and by the path to them. The report names the "
		"method.\n"
		"Leaks that were live in the earlier snapshot are listed by what they "
		"were.\n"
		"With --three, the command lists objects that were born between the "
		"first two\n"
		"heaps and still exist in the third. The exit status is 1 if there is a\n"
		"difference, or if objects survived; with --min-size, only if a row "
		"changed\n"
		"by so many bytes, or so many bytes of a type survived.\n"
		"\n"
		"Examples:\n"
		"  heapinspect diff before.hisnap after.hisnap\n"
		"  heapinspect diff before.hisnap --pid 4242 --by root\n"
		"  heapinspect diff a.hisnap b.hisnap --by retainers --retainer 'struct "
		"conn'\n"
		"  heapinspect diff a.hisnap b.hisnap --root db='server.db[0]' --under "
		"db\n"
		"  heapinspect diff --three warm.hisnap load.hisnap after.hisnap\n"
		"  heapinspect diff v1.hisnap v2.hisnap --min-size 64KiB --json",
	.wanted = HI_WANT_DOMINATORS,
	.run = run_diff_command,
	.targets = "BEFORE.hisnap [MIDDLE.hisnap] " HI_COMMAND_TARGETS,
	.compares = true,
	.groups_by_retainers = true,
	.settle = settle_diff,
	.check = check_diff,
	.page = HI_COMMAND_PAGE_OF_TWO,
};
