/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/series/series.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/series/series_screen.h"
#include "cli/series/series_signals.h"
#include "cli/series/series_sinks.h"
#include "session/series/series.h"

/* On stderr, or in the live view. */
static void print_series_note(void *arg, const char *text)
{
	const struct hi_series_sinks *sinks = arg;
	char safe[2048];

	for (size_t i = 0; i < sinks->count; i++)
		if (hi_series_screen_note(&sinks->items[i], text))
			return;
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(stderr, "heapinspect: %s\n", safe);
}

/* What rows are. */
static const char *name_of_series_rows(const struct hi_options *options)
{
	enum hi_command_id id = options->command->id;

	return id == HI_COMMAND_CENSUS || id == HI_COMMAND_SNAP
		       ? hi_by_words[options->selection.by]
		       : options->command->name;
}

/* In this process, or in one without rights, for which this one keeps the target. */
static enum hi_status run_series_in_decoder(const struct hi_options *options,
					    const struct hi_run *run,
					    struct hi_series *series,
					    const struct hi_series_sinks *sinks,
					    struct hi_outcome *ret, struct hi_error *err)
{
	struct hi_decoder decoder = {};
	enum hi_status status = hi_series_prepare(series, err);

	if (status == HI_OK && hi_decoder_serves_series(options))
		status = hi_decoder_start_series(&decoder, options, run, series, NULL,
						 err);
	if (status == HI_OK && decoder.pid) {
		ret->code = hi_decoder_wait(&decoder);
		ret->is_of_another = true;
		return HI_OK;
	}
	return status == HI_OK ? hi_series_run(series, sinks->items, sinks->count,
					       &ret->partial, err)
			       : status;
}

enum hi_status hi_series_run_command(const struct hi_options *options,
				     const struct hi_run *run, struct hi_outcome *ret,
				     struct hi_error *err)
{
	HI_GUARD(hi_series_destroy) struct hi_series *series = NULL;
	struct hi_series_sinks sinks = {};
	struct hi_series_request request = {.options = options,
					    .run = run,
					    .by = name_of_series_rows(options),
					    .wanted = options->command->wanted_in_series,
					    .find_rows = options->command->sample,
					    .note = print_series_note,
					    .note_arg = &sinks};
	enum hi_status status = HI_OK;

	/* Of a program that was started here they are passed on to it. */
	request.stop_fd = -1;
	if (!options->target.program) {
		status = hi_series_signals_watch(err);
		request.stop_fd = hi_series_signals_fd();
	}
	if (status != HI_OK)
		return status;
	status = hi_series_create(&request, &series, err);
	if (status == HI_OK)
		status = hi_series_sinks_open(options, run, &sinks, err);
	if (status == HI_OK)
		status = run_series_in_decoder(options, run, series, &sinks, ret, err);
	hi_series_sinks_close(&sinks);
	return status;
}
