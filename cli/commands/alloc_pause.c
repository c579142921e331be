/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc --pause` and `--resume`: tells a recording that runs. */
#include "cli/command/command.h"
#include "cli/options/option_take.h"
#include "session/mark_socket.h"

static enum hi_status run_alloc_pause(const struct hi_options *options,
				      struct hi_output *output, struct hi_error *err)
{
	bool is_pause = options->alloc.pause;
	unsigned reached = 0;
	enum hi_status status = hi_marks_send(options->target.pid,
					      is_pause ? HI_MARK_PAUSE : HI_MARK_RESUME,
					      "", &reached, err);

	if (status == HI_OK && !options->output.quiet)
		fprintf(output->file, "%u recording%s of pid %d %s\n", reached,
			reached == 1 ? "" : "s", (int)options->target.pid,
			is_pause       ? reached == 1 ? "pauses" : "pause"
			: reached == 1 ? "goes on"
				       : "go on");
	return status;
}

static int check_alloc_pause(const struct hi_given *given)
{
	const struct hi_target_options *t = &given->options->target;

	return t->pid && !t->file
		       ? 0
		       : hi_option_wrong("--pause, --resume: --pid N is missing");
}

const struct hi_command hi_command_alloc_pause = {
	.id = HI_COMMAND_ALLOC,
	.name = "alloc",
	.arguments = "",
	.keeps_rights = true,
	.run_alone = run_alloc_pause,
	.check = check_alloc_pause,
};
