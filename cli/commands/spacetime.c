/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `spacetime`: live bytes by band over time, and their areas. */
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/options/option_take.h"
#include "report/parts/legend.h"
#include "report/pictures/bands.h"
#include "report/pictures/graph_svg.h"
#include "report/reports/spacetime/spacetime_report.h"
#include "session/operands.h"
#include "session/space/spacetime.h"

enum { TOP = 20 };

struct filled_spacetime {
	struct hi_spacetime_report report;
	unsigned width; /* of the terminal */
};

static enum hi_status fill_spacetime(void *report, struct hi_page *page,
				     struct hi_json *json, struct hi_error *)
{
	const struct filled_spacetime *s = report;

	if (json) {
		hi_spacetime_json(&s->report, json);
		return HI_OK;
	}
	hi_spacetime_display(&s->report, s->width, page);
	hi_legend_add(page);
	return HI_OK;
}

/* As graph draws it: its areas are the same. */
static enum hi_status write_spacetime_svg(const struct hi_hp_series *series,
					  struct hi_output *output, struct hi_error *err)
{
	static const struct hi_bands_options usual = {.min_share = 0.01};
	HI_GUARD(hi_bands_destroy) struct hi_bands *bands = NULL;
	enum hi_status status = hi_bands_create(series, &usual, &bands, err);

	return status == HI_OK ? hi_graph_svg_write(bands, output->file, err) : status;
}

static enum hi_status report_spacetime(const struct hi_options *o,
				       const struct hi_spacetime_bands *bands,
				       struct hi_output *output, struct hi_error *err)
{
	struct filled_spacetime filled = {
		.width = hi_output_looks(o, fileno(output->file)).width};
	struct hi_spacetime_report *report = &filled.report;
	enum hi_status status = hi_spacetime_report_make(
		bands->series, hi_lookup_top(o, TOP), report, err);

	report->file = o->target.file;
	report->by = bands->by;
	report->censuses = bands->censuses;
	report->is_type = bands->is_type;
	report->left_out = bands->left_out;
	report->damaged = bands->damaged;
	report->lost = bands->lost;
	if (status == HI_OK)
		status =
			o->output.json || !o->output.format
				? hi_write_filled(o, output, fill_spacetime, &filled, err)
				: write_spacetime_svg(bands->series, output, err);
	hi_spacetime_report_free(report);
	return status;
}

static enum hi_status run_spacetime_command(const struct hi_options *options,
					    struct hi_output *output,
					    struct hi_error *err)
{
	struct hi_options o = *options;
	struct hi_spacetime_bands bands;
	enum hi_status status;

	o.target.file = options->argument;
	status = hi_spacetime_bands_read(&o, &bands, err);
	if (status == HI_OK)
		status = report_spacetime(&o, &bands, output, err);
	hi_spacetime_bands_free(&bands);
	return status;
}

static int check_spacetime(const struct hi_given *given)
{
	const char *census = given->options->target.census;

	return census ? hi_option_wrong(
				"spacetime: is of all censuses of a file, not of %s",
				census)
		      : 0;
}

const struct hi_command hi_command_spacetime = {
	.id = HI_COMMAND_SPACETIME,
	.name = "spacetime",
	.arguments = "FILE",
	.purpose = "Show live memory over time in bands, and the area of each: bytes x "
		   "time.",
	.help = "The file is one of snap --every or record --every, of bio -o, or a heap "
		"profile\n"
		"(FILE.hp). Between two censuses a band is a straight line; the areas of "
		"the bands\n"
		"are exactly that of all of them together.\n"
		"\n"
		"Examples:\n"
		"  heapinspect record --pid 4242 --every 1s -o app.hirec\n"
		"  heapinspect spacetime app.hirec\n"
		"  heapinspect spacetime app.hirec --by function --all\n"
		"  heapinspect spacetime app.hirec --by function --format svg -o "
		"app.svg\n"
		"  heapinspect spacetime app.hp --json",
	.run_alone = run_spacetime_command,
	.targets = "",
	.check = check_spacetime,
	.page = HI_COMMAND_PAGE,
};
