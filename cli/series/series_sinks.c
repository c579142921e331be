/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/series/series_sinks.h"

#include <string.h>

#include "cli/command/command.h"
#include "cli/series/series_lines.h"
#include "cli/series/series_screen.h"
#include "cli/terminal/terminal_screen.h"
#include "session/series/series_profile.h"
#include "session/series/store.h"

static enum hi_status open_lines(const struct hi_options *options,
				 struct hi_series_sink *ret, struct hi_error *err)
{
	const char *path = options->output.file;
	struct hi_sink_file file = hi_sink_file_stdout();
	enum hi_status status;

	/* The program has the standard output, and the terminal. */
	if (options->target.program && (!path || strcmp(path, "-") == 0))
		return hi_series_lines_open(options, hi_sink_file_stderr(), ret, err);
	if (!path || strcmp(path, "-") == 0)
		return !options->output.json && hi_terminal_screen_is_possible()
			       ? hi_series_screen_open(options, ret, err)
			       : hi_series_lines_open(options, file, ret, err);
	status = hi_sink_file_open(path, &file, err);
	if (status != HI_OK)
		return status;
	status = hi_sink_file_commit(&file, err);
	if (status == HI_OK)
		return hi_series_lines_open(options, file, ret, err);
	hi_sink_file_close(&file);
	return status;
}

static void push_sink(struct hi_series_sinks *sinks, struct hi_series_sink sink)
{
	if (sink.ops)
		sinks->items[sinks->count++] = sink;
}

enum hi_status hi_series_sinks_open(const struct hi_options *options,
				    const struct hi_run *run, struct hi_series_sinks *ret,
				    struct hi_error *err)
{
	struct hi_series_sink store = {}, profile = {}, lines = {};
	bool is_snap = options->command->id == HI_COMMAND_SNAP;
	enum hi_status status = is_snap ? HI_OK : open_lines(options, &lines, err);

	if (status == HI_OK && options->series.hp)
		status = hi_series_profile_open(options->series.hp, &profile, err);
	if (status == HI_OK && is_snap)
		status = hi_series_store_open(options, run, &store, err);
	*ret = (struct hi_series_sinks){};
	push_sink(ret, store);
	push_sink(ret, profile);
	push_sink(ret, lines);
	if (status != HI_OK)
		hi_series_sinks_close(ret);
	return status;
}

void hi_series_sinks_close(struct hi_series_sinks *sinks)
{
	for (size_t i = 0; i < sinks->count; i++)
		hi_series_sink_destroy(&sinks->items[i]);
	sinks->count = 0;
}
