/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/limited_export.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command/command.h"
#include "cli/commands/export.h"
#include "cli/options/options.h"
#include "cli/run.h"

static struct hi_export_limits limits;

static enum hi_status write_limited(struct hi_inspection *in,
				    const struct hi_report_header *header,
				    struct hi_output *output, struct hi_error *err)
{
	return hi_export_inspection(in, header, output, &limits, err);
}

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

static int run(char **argv, int argc, const char *said)
{
	struct hi_options options;
	struct hi_command command;
	int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (dup2(fd, 2) != 2 || hi_options_parse(argc, argv, &options) != 0)
		return 99;
	command = *options.command;
	command.write = write_limited;
	options.command = &command;
	return hi_run(&options, &(struct hi_run){});
}

int limited_export(const char *file, const char *format, const char *out,
		   const char *said, const struct export_limits *less)
{
	char *argv[] = {word("heapinspect"), word("export"), word(file),
			word("-q"),	     word("-f"),     word(format),
			word("-o"),	     word(out),	     NULL};
	int status;
	pid_t pid;

	limits = (struct hi_export_limits){less->heapsnapshot, less->pprof};
	pid = fork();
	if (pid == 0)
		_exit(run(argv, 8, said));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}
