/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/command.h"
#include "session/mark_socket.h"

static enum hi_status run_era_command(const struct hi_options *options,
				      struct hi_output *output, struct hi_error *err)
{
	unsigned reached = 0;
	enum hi_status status = hi_marks_send(options->target.pid, HI_MARK_ERA,
					      options->argument, &reached, err);

	if (status == HI_OK && !options->output.quiet)
		fprintf(output->file, "an era begins in %u series of pid %d\n", reached,
			(int)options->target.pid);
	return status;
}

const struct hi_command hi_command_era = {
	.id = HI_COMMAND_ERA,
	.name = "era",
	.arguments = "NAME",
	.purpose =
		"Begin an era in each running bio of a process: what is allocated from "
		"now on belongs to it.",
	.help = "An era has a number, from 1, and a name. NAME may be a number, which is "
		"higher\n"
		"than those before; 0 leaves out what is allocated from now on. Other "
		"series take\n"
		"it as a mark.\n"
		"\n"
		"Examples:\n"
		"  heapinspect era --pid 4242 load\n"
		"  heapinspect bio --pid 4242 --for 60s --by era",
	.keeps_rights = true,
	.run_alone = run_era_command,
	.targets = "--pid PID",
};
