/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/subgraph.h"
#include "cli/command/command.h"
#include "cli/options/option_check.h"
#include "cli/options/option_take.h"
#include "census/events/frames.h"
#include "session/birth_sites.h"
#include "session/operands.h"
#include "session/retained_names.h"
#include "session/thread_stacks.h"

/* Exact where one type is selected: a walk that leaves its objects out. */
static enum hi_status exact_bytes(struct hi_inspection *in, const struct hi_type_set *set,
				  uint64_t *ret, struct hi_error *err)
{
	*ret = UINT64_MAX;
	if (set->count != 1)
		return HI_OK;
	for (uint32_t i = 0; i < set->n_types; i++)
		if (set->has[i])
			return hi_census_retained_by_type(in->graph, in->results.reach, i,
							  ret, err);
	return HI_OK;
}

/* In the place of rows by type. */
static enum hi_status divide_by_site(struct hi_inspection *in,
				     const struct hi_restrict *only,
				     struct hi_retained_report *report,
				     struct hi_error *err)
{
	struct hi_compare_groups sites = {};
	struct hi_census *census = NULL;
	enum hi_status status = hi_birth_sites_of(in, &sites, err);

	if (status == HI_OK)
		status = hi_census_by_number(in->graph, in->shown.reach,
					     in->results.dominators, sites.of_object,
					     sites.n, &census, err);
	if (status == HI_OK)
		status = hi_retained_report_set_sites(report, census, sites.names,
						      only->top, err);
	hi_census_destroy(census);
	return status;
}

/* Also what others keep alive, which is in no retained size. */
static enum hi_status add_reachable(struct hi_inspection *in,
				    const struct hi_type_set *set,
				    struct hi_retained_report *report,
				    struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	HI_GUARD(free) hi_node *starts = hi_alloc((g->n_objects + 1u) * sizeof(*starts));
	size_t n = 0;

	if (report->tree)
		return HI_OK;
	if (!starts)
		return hi_fail_memory(err, "reachable objects");
	for (hi_node i = 0; i < g->n_objects; i++)
		if (set->has[g->objects->type[i]] && hi_bit(in->shown.reach->any, i))
			starts[n++] = i;
	return hi_within_sum(g, in->results.reach, starts, n, &report->type_reachable,
			     err);
}

static enum hi_status make_retained_report(struct hi_inspection *in,
					   const struct hi_report_header *header,
					   struct hi_retained_report **ret,
					   struct hi_error *err)
{
	struct hi_type_set set;
	struct hi_restrict only;
	uint64_t exact = UINT64_MAX;
	enum hi_status status = hi_lookup_restrict(in, HI_RETAINED_TOP, &set, &only, err);

	if (status == HI_OK)
		status = exact_bytes(in, &set, &exact, err);
	if (status == HI_OK)
		status = hi_retained_create(in, header, in->shown.reach, &only, NULL,
					    exact, ret, err);
	if (status == HI_OK && set.has)
		status = add_reachable(in, &set, *ret, err);
	if (status == HI_OK && in->options->selection.has_born_by)
		status = divide_by_site(in, &only, *ret, err);
	hi_type_set_free(&set);
	return status;
}

static enum hi_status run_retained_command(struct hi_inspection *in,
					   const struct hi_report_header *header,
					   struct hi_page *page, struct hi_json *json,
					   struct hi_error *err)
{
	HI_GUARD(hi_retained_report_destroy) struct hi_retained_report *report = NULL;
	HI_GUARD(hi_threads_report_destroy) struct hi_threads_report *threads = NULL;
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *frames = NULL;
	enum hi_status status =
		hi_inspect_has_answer(in)
			? in->source->stored->read_retained(in, header, &report, err)
			: make_retained_report(in, header, &report, err);

	if (status == HI_OK && in->options->selection.by_thread)
		status = hi_inspect_threads(in,
					    hi_lookup_top(in->options, HI_RETAINED_TOP),
					    &frames, &threads, err);
	if (status != HI_OK)
		return status;
	report->threads = threads;
	if (json)
		hi_retained_json(report, json);
	else
		hi_retained_display(report, page);
	return HI_OK;
}

static int check_retained(const struct hi_given *given)
{
	const struct hi_options *o = given->options;

	return o->selection.by_thread && o->selection.type
		       ? hi_option_wrong("--by thread: not with --type; retained --type "
					 "lists the objects of a type")
		       : 0;
}

const struct hi_command hi_command_retained = {
	.id = HI_COMMAND_RETAINED,
	.name = "retained",
	.arguments = "",
	.purpose = "Show variables and objects by retained size: the bytes that would be "
		   "freed with them.",
	.help = "Examples:\n"
		"  heapinspect retained --pid 4242\n"
		"  heapinspect retained --pid 4242 --type 'struct conn'\n"
		"  heapinspect retained --pid 4242 --by thread\n"
		"  heapinspect retained --by site app.hirec",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_CENSUS | HI_WANT_ONLY_RETAINED,
	.check = check_retained,
	.run = run_retained_command,
	.page = HI_COMMAND_PAGE,
};
