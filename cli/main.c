/* SPDX-License-Identifier: BSD-2-Clause */
/* heapinspect: what the process needs before its command runs. */
#include <argp.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/options/near_files.h"
#include "cli/options/options.h"
#include "cli/record/launch.h"
#include "cli/run.h"
#include "probes/probe_holder.h"

/* A descriptor that is closed at the start would be the next file that is
 * opened: the report must not go there. Writing to these fails instead. */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* A target that reads its own text, or that is to be probed by others, waits for it. */
static void tell_wait_for_probes(bool is_over, uint64_t waited_ns)
{
	if (is_over)
		fprintf(stderr,
			"heapinspect: the probes are out of the target after %.1f s\n",
			(double)waited_ns / (double)HI_NS_PER_S);
	else
		fprintf(stderr, "heapinspect: the kernel is taking the probes out of the "
				"target\n");
}

int main(int argc, char **argv)
{
	struct hi_options options;
	struct hi_run run = {};
	int code;

	fill_standard_descriptors();
	setlocale(LC_CTYPE, "");
	/* A closed pipe is an error to be reported, not a death while a target waits. */
	hi_launch_keep_sigpipe(signal(SIGPIPE, SIG_IGN));
	/* libc's own variables: another definition would be hidden from it. */
	argp_program_version = "heapinspect " HI_VERSION;
	argp_err_exit_status = HI_EXIT_ERROR;
	code = hi_options_parse(argc, argv, &options);
	if (code != 0)
		return code;
	if (!options.output.quiet)
		hi_probe_holder_set_wait_hook(tell_wait_for_probes);
	code = hi_options_check_files(&options);
	if (code == 0)
		code = hi_run(&options, &run);
	hi_options_free(&options);
	return code;
}
