/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/command.h"
#include "decode/usage/contents.h"
#include "decode/usage/heap_use.h"
#include "report/reports/summary/rss_advice.h"
#include "report/reports/waste/waste_report.h"
#include "session/birth_sites.h"
#include "session/operands.h"

enum { TOP = 12 };

static enum hi_status compare_waste_contents(struct hi_inspection *in,
					     const struct hi_restrict *only,
					     struct hi_waste **ret, struct hi_error *err)
{
	struct hi_contents_options options = {.threads = hi_inspection_threads(in),
					      .top = only->top,
					      .min_size = only->min_size};

	if (only->types) {
		options.types = only->types->has;
		options.n_types = only->types->n_types;
	}
	hi_inspect_phase(in, "comparing contents");
	return in->source->contents->compare_contents(in, &options, ret, err);
}

/* Counts again, by the function that allocated. */
static enum hi_status count_waste_by_site(struct hi_inspection *in,
					  struct hi_compare_groups *sites,
					  struct hi_waste **ret, struct hi_error *err)
{
	struct hi_contents_options options = {.threads = hi_inspection_threads(in)};
	enum hi_status status = hi_birth_sites_of(in, sites, err);

	if (status != HI_OK)
		return status;
	options.row_of = sites->of_object;
	options.n_rows = sites->n;
	return in->source->contents->compare_contents(in, &options, ret, err);
}

static void show_waste_page(const struct hi_inspection *in,
			    const struct hi_waste_report *report, struct hi_page *page)
{
	hi_waste_display(report, page);
	if (in->results.ledger_known)
		hi_rss_advice_show(&in->results.ledger, report->header, page);
}

static enum hi_status
print_waste_report(struct hi_inspection *in, const struct hi_report_header *header,
		   const struct hi_waste *waste, const struct hi_restrict *only,
		   struct hi_page *page, struct hi_json *json, struct hi_error *err)
{
	bool by_site = in->options->selection.has_born_by;
	struct hi_waste_report *report = NULL;
	struct hi_compare_groups sites = {};
	struct hi_waste *rows = NULL;
	struct hi_heap_use use = {};
	enum hi_status status;

	hi_inspect_phase(in, "blocks and pages");
	status = in->source->contents->measure_heap_use(in, &use, err);
	if (status == HI_OK && by_site)
		status = count_waste_by_site(in, &sites, &rows, err);
	hi_inspect_phase(in, "report");
	if (status == HI_OK)
		status = hi_waste_report_create(
			&(struct hi_waste_inputs){.header = header,
						  .graph = in->graph,
						  .waste = waste,
						  .by_site = by_site ? rows : NULL,
						  .site_names =
							  by_site ? sites.names : NULL,
						  .use = &use,
						  .only = only},
			&report, err);
	if (status == HI_OK && json)
		hi_waste_json(report, json);
	else if (status == HI_OK)
		show_waste_page(in, report, page);
	hi_waste_report_destroy(report);
	hi_heap_use_free(&use);
	hi_waste_destroy(rows);
	return status;
}

static enum hi_status run_waste_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	struct hi_waste *waste = NULL;
	struct hi_type_set set;
	struct hi_restrict only;
	enum hi_status status = hi_lookup_restrict(in, TOP, &set, &only, err);

	if (status != HI_OK)
		return status;
	status = compare_waste_contents(in, &only, &waste, err);
	if (status == HI_OK)
		status = print_waste_report(in, header, waste, &only, page, json, err);
	hi_waste_destroy(waste);
	hi_type_set_free(&set);
	return status;
}

const struct hi_command hi_command_waste = {
	.id = HI_COMMAND_WASTE,
	.name = "waste",
	.arguments = "",
	.purpose = "Show identical, zero-filled and unused bytes, and the overhead and "
		   "fragmentation of the allocator.",
	.help = "Examples:\n"
		"  heapinspect waste --pid 4242\n"
		"  heapinspect waste --pid 4242 --type 'char []' --min-size 1KiB --all\n"
		"  heapinspect waste app.hisnap\n"
		"  heapinspect waste --by site app.hirec",
	.wanted = HI_WANT_LEDGER,
	.has_no_verdicts = true,
	.run = run_waste_command,
	.page = HI_COMMAND_PAGE,
};
