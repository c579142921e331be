/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/command.h"
#include "cli/options/operand_words.h"
#include "cli/options/option_take.h"
#include "session/mark_socket.h"

static enum hi_status run_mark_command(const struct hi_options *options,
				       struct hi_output *output, struct hi_error *err)
{
	unsigned reached = 0;
	enum hi_status status = hi_marks_send(options->target.pid, HI_MARK_PLAIN,
					      options->argument, &reached, err);

	if (status == HI_OK && !options->output.quiet)
		fprintf(output->file, "marked %u series of pid %d\n", reached,
			(int)options->target.pid);
	return status;
}

static int take_marked_pid(char *word, struct hi_options *o)
{
	uint64_t pid;

	if (o->target.pid)
		return hi_operand_take_argument(word, NULL, o);
	if (hi_option_take_number("pid", word, 1, INT32_MAX, &pid) != 0)
		return 2;
	o->target.pid = (pid_t)pid;
	return 0;
}

static int check_mark(const struct hi_given *given)
{
	return given->options->argument
		       ? 0
		       : hi_option_wrong("mark: PID TEXT is missing; see heapinspect "
					 "mark --help");
}

const struct hi_command hi_command_mark = {
	.id = HI_COMMAND_MARK,
	.name = "mark",
	.arguments = "PID TEXT",
	.purpose = "Add a mark to each running series of a process.",
	.help = "Examples:\n"
		"  heapinspect mark 4242 'cache flushed'",
	.keeps_rights = true,
	.run_alone = run_mark_command,
	.targets = "",
	.take_word = take_marked_pid,
	.check = check_mark,
};
