/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/options/link_options.h"
#include "cli/options/option_take.h"
#include "report/reports/roots/bins_report.h"
#include "session/inspect/restrictions.h"
#include "session/operands.h"
#include "session/retainers/named_bins.h"
#include "session/retainers/pure.h"
#include "session/retainers/retaining.h"
#include "session/series/rows.h"

enum { TOP = 30 };

enum hi_status hi_named_bins_compute(struct hi_inspection *in, struct hi_set_pool *pool,
				     struct hi_bins **ret, struct hi_error *err)
{
	const struct hi_named_roots *roots = in->profile.roots;
	HI_GUARD(free)
	struct hi_bin_root *bin_roots = hi_calloc(roots->count + 1, sizeof(*bin_roots));
	struct hi_bin_options options = {
		.roots = bin_roots, .n_roots = roots->count, .arg = in};

	if (!bin_roots)
		return hi_fail_memory(err, "bins");
	for (size_t i = 0; i < roots->count; i++)
		bin_roots[i] = (struct hi_bin_root){.identity = (uint32_t)i + 1,
						    .nodes = roots->items[i].starts,
						    .n_nodes = roots->items[i].n_starts};
	if (in->options->profile.pure || in->options->output.json ||
	    in->options->command->id == HI_COMMAND_QUERY) {
		enum hi_status status = hi_pure_open(in, err);

		if (status != HI_OK)
			return status;
		options.pure = hi_pure_bytes;
	}
	hi_inspect_phase(in, "sharing bins");
	return hi_bins_compute(in->graph, in->results.reach, &options, pool, ret, err);
}

static struct hi_bins_root *describe_bins(struct hi_inspection *in)
{
	const struct hi_named_roots *roots = in->profile.roots;
	struct hi_bins_root *ret =
		hi_arena_alloc(&in->arena, (roots->count + 1) * sizeof(*ret));

	for (size_t i = 0; ret && i < roots->count; i++) {
		const struct hi_named_root *root = &roots->items[i];

		ret[i] = (struct hi_bins_root){.name = root->text.name,
					       .expression = root->text.expression,
					       .type = root->type,
					       .address = root->address,
					       .starts = root->starts,
					       .n_starts = root->n_starts,
					       .warning = root->warning};
	}
	return ret;
}

/* By root: is it one of --under? NULL: there are none. */
static const bool *shown_roots(struct hi_inspection *in)
{
	const struct hi_profile_options *p = &in->options->profile;
	bool *shown;

	if (!p->n_under)
		return NULL;
	shown = hi_arena_alloc(&in->arena, in->profile.roots->count + 1);
	for (size_t i = 0; shown && i < in->profile.roots->count; i++)
		shown[i] = hi_profile_is_under(p, in->profile.roots->items[i].text.name);
	return shown;
}

static enum hi_status run_roots_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = NULL;
	HI_GUARD(hi_bins_destroy) struct hi_bins *bins = NULL;
	HI_GUARD(hi_bins_report_destroy) struct hi_bins_report *report = NULL;
	const struct hi_profile_options *p = &in->options->profile;
	struct hi_restrict only = {.top = hi_lookup_top(in->options, TOP),
				   .min_size = in->options->selection.min_size};
	struct hi_bins_view view = {.join = p->join,
				    .all = p->all_bins,
				    .pure = p->pure,
				    .shown = shown_roots(in),
				    .allocated = hi_inspect_allocated(in)};
	struct hi_bins_root *roots = describe_bins(in);
	enum hi_status status;

	if (!roots)
		return hi_fail_memory(err, "roots");
	status = hi_set_pool_create(&pool, err);
	if (status == HI_OK)
		status = hi_named_bins_compute(in, pool, &bins, err);
	if (status == HI_OK)
		status = hi_link_options_of_roots(in, &view.options, err);
	if (status == HI_OK)
		status = hi_naming_keep_bins(in, bins, pool, err);
	if (status == HI_OK)
		status = hi_bins_report_create(header, in->results.reach, bins, pool,
					       roots, in->profile.roots->count, &view,
					       &only, &report, err);
	if (status != HI_OK)
		return status;
	if (json)
		hi_bins_json(report, json);
	else
		hi_bins_display(report, page);
	return HI_OK;
}

static int check_roots(const struct hi_given *given)
{
	return given->options->profile.n_roots
		       ? 0
		       : hi_option_wrong("roots: --root NAME=EXPRESSION is missing; see "
					 "heapinspect roots --help");
}

const struct hi_command hi_command_roots = {
	.id = HI_COMMAND_ROOTS,
	.name = "roots",
	.arguments = "",
	.purpose =
		"Show what named roots hold: what each holds alone, and what they share.",
	.help = "EXPR is a C expression over the program's variables. A pointer selects "
		"the\n"
		"object that it points to. A record or array on the heap selects the "
		"object\n"
		"that contains it. A variable that is a record or an array selects all "
		"objects\n"
		"that it refers to.\n"
		"\n"
		"Examples:\n"
		"  heapinspect roots --pid 4242 --root a='server.db[0].dict' --root "
		"b=cache\n"
		"  heapinspect roots --pid 4242 --root job=thread:4243/frame:2/job\n"
		"  heapinspect roots --pid 4242 --root all=ns::Cache::instance "
		"--all-bins\n"
		"  heapinspect census --pid 4242 --root db='server.db[0]' --under db",
	.wanted = 0,
	.has_no_verdicts = true,
	.run = run_roots_command,
	.sample = hi_series_roots,
	.takes_roots_alone = true,
	.check = check_roots,
	.page = HI_COMMAND_PAGE,
};
