/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `peaks`: what was live when most was, in a file of many censuses. */
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/options/option_take.h"
#include "report/parts/legend.h"
#include "report/reports/peaks/peaks_report.h"
#include "session/operands.h"
#include "session/space/peaks_of_file.h"
#include "session/space/spacetime.h"

enum { PEAKS = 3, TOP = 20 };

struct filled_peaks {
	const struct hi_peaks_report *report;
	unsigned width; /* of the terminal */
};

static enum hi_status fill_peaks(void *report, struct hi_page *page, struct hi_json *json,
				 struct hi_error *)
{
	const struct filled_peaks *p = report;

	if (json) {
		hi_peaks_json(p->report, json);
		return HI_OK;
	}
	hi_peaks_display(p->report, p->width, page);
	hi_legend_add(page);
	return HI_OK;
}

/* The bands of the curve are read once more: as graph draws them. */
static enum hi_status write_peaks_html(const struct hi_options *o,
				       const struct hi_peaks_report *report,
				       struct hi_output *output, struct hi_error *err)
{
	static const struct hi_bands_options usual = {.min_share = 0.01};
	HI_GUARD(hi_bands_destroy) struct hi_bands *bands = NULL;
	struct hi_spacetime_bands read;
	enum hi_status status = hi_spacetime_bands_read(o, &read, err);

	if (status == HI_OK)
		status = hi_bands_create(read.series, &usual, &bands, err);
	if (status == HI_OK)
		status = hi_peaks_html(report, bands, o->output.full_names, output->file,
				       err);
	hi_spacetime_bands_free(&read);
	return status;
}

static enum hi_status write_peaks(const struct hi_options *o,
				  const struct hi_peaks_report *report,
				  struct hi_output *output, struct hi_error *err)
{
	struct filled_peaks filled = {report,
				      hi_output_looks(o, fileno(output->file)).width};

	return o->output.json || !o->output.format
		       ? hi_write_filled(o, output, fill_peaks, &filled, err)
		       : write_peaks_html(o, report, output, err);
}

static enum hi_status run_peaks_command(const struct hi_options *options,
					struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_peaks_destroy) struct hi_peaks *peaks = NULL;
	struct hi_options o = *options;
	struct hi_peaks_request request = {.most = o.over_time.peaks ? o.over_time.peaks
								     : (size_t)PEAKS,
					   .top = hi_lookup_top(options, TOP)};
	enum hi_status status;

	o.target.file = options->argument;
	if (hi_snapshot_is_one(options->argument))
		return hi_fail(err, HI_USAGE, 0,
			       "%.160s has one heap and no curve: snap --every and "
			       "record --every write files of many censuses",
			       options->argument);
	status = hi_peaks_read(&o, &request, &peaks, err);
	return status == HI_OK ? write_peaks(&o, hi_peaks_report_of(peaks), output, err)
			       : status;
}

static int check_peaks(const struct hi_given *given)
{
	const char *census = given->options->target.census;

	return census ? hi_option_wrong("peaks: is of all censuses of a file, not of %s",
					census)
		      : 0;
}

const struct hi_command hi_command_peaks = {
	.id = HI_COMMAND_PEAKS,
	.name = "peaks",
	.arguments = "FILE",
	.purpose = "Show what was live when most was: at the maximum of a file of many "
		   "censuses, and at its highest local maxima.",
	.help = "The file is one of snap --every or record --every. From a local maximum "
		"live\n"
		"bytes fall by 5 % on both sides before they are higher again.\n"
		"\n"
		"Examples:\n"
		"  heapinspect record --pid 4242 --every 1s --full peaks:3 -o app.hirec\n"
		"  heapinspect peaks app.hirec\n"
		"  heapinspect peaks app.hirec --peaks 10 --json\n"
		"  heapinspect peaks app.hirec --format html -o peaks.html\n"
		"  heapinspect peaks app.hirec --format html --by function -o peaks.html",
	.run_alone = run_peaks_command,
	.targets = "",
	.check = check_peaks,
	.page = HI_COMMAND_PAGE,
};
