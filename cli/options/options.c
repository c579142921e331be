/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/options.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/command/command.h"
#include "cli/command/exit_codes.h"
#include "cli/options/alloc_options.h"
#include "cli/options/option_names.h"
#include "cli/options/option_table.h"
#include "cli/options/process_name.h"
#include "cli/options/profile_options.h"
#include "cli/options/safepoint_options.h"
#include "cli/options/series_options.h"
#include "session/operands.h"

#define SCAN_NS 10000000u     /* of alloc, without --scan */
#define PERIOD_NS 1000000000u /* of bio and alloc, without --every */

/* The command's name may stand before or behind options: the first word that
 * is neither an option nor an option's value. Removes it from argv. */
static const struct hi_command *find_command(int *argc, char **argv)
{
	const struct hi_command *command;
	int i = 1;

	while (i < *argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0)
		i += hi_option_words(argv[i]);
	command = i < *argc ? hi_command_find(argv[i]) : NULL;
	if (!command)
		return &hi_command_summary;
	memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof(*argv));
	--*argc;
	return command;
}

/* What is looked at. */
static const char *describe_looked_at(const struct hi_command *command)
{
	switch (command->id) {
	case HI_COMMAND_GRAPH:
	case HI_COMMAND_MARK:
	case HI_COMMAND_SNAPSHOTS:
	case HI_COMMAND_PEAKS:
	case HI_COMMAND_SPACETIME:
	case HI_COMMAND_DEEP:
	case HI_COMMAND_REPORT:
	case HI_COMMAND_SERVE:
		return "";
	case HI_COMMAND_SAFEPOINTS:
	case HI_COMMAND_RECORD:
	case HI_COMMAND_ERA:
		return "--pid PID";
	case HI_COMMAND_ALLOC:
		return "--pid PID|FILE.hirec";
	case HI_COMMAND_BIO:
		return "--pid PID|FILE.hisnap";
	case HI_COMMAND_AUDIT:
	case HI_COMMAND_SNAP:
		return "--pid PID|--core FILE";
	default:
		return "--pid PID|--core FILE|FILE.hisnap";
	}
}

/* What the usage line shows behind the options. */
static void describe_operands(const struct hi_command *command, char *out, size_t size)
{
	const char *target = describe_looked_at(command);

	if (command->id == HI_COMMAND_SUMMARY)
		snprintf(out, size, "[COMMAND] %s", target);
	else if (command->id == HI_COMMAND_DIFF)
		snprintf(out, size, "BEFORE.hisnap [MIDDLE.hisnap] %s", target);
	else
		snprintf(out, size, "%s%s%s", command->arguments,
			 *target && *command->arguments ? " " : "", target);
}

/* The examples are to be copied: no line of them is wrapped. */
static void print_help(const struct argp *argp, const struct hi_command *command,
		       char *name)
{
	/* Written at once, so that errno is that of the write. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	argp_help(argp, stdout,
		  ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_PRE_DOC, name);
	printf("\n%s\n", command->help);
}

static bool has_reader_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP);
}

/* The exit status. A reader that has gone (| head) is no error to be reported; the write
 * that saw it may have been an earlier one. */
static int finish_help(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return HI_EXIT_FINE;
	if (errno == EPIPE || has_reader_gone())
		return 128 + SIGPIPE;
	fprintf(stderr, "heapinspect: cannot write the help: %s\n",
		strerror(errno ? errno : EIO));
	return HI_EXIT_ERROR;
}

/* Where "--" stands, with the program to start behind it; argc: nowhere. */
static int find_separator(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i += argv[i][0] == '-' && argv[i][1] ? hi_option_words(argv[i]) : 1;
	return i < argc ? i : argc;
}

/* Does the command inspect a process as a whole? Else "--" only ends its options. */
static bool can_start_program(const struct hi_command *command)
{
	return !command->run_alone && command->id != HI_COMMAND_EXPLAIN;
}

/* One target only, and a stop that needs no program yet. */
static int check_program(struct hi_options *o)
{
	const struct hi_target_options *t = &o->target;

	if (!t->program)
		return 0;
	if (!*t->program)
		return hi_option_wrong("--: the program to start is missing");
	if (t->pid || t->name || t->core || t->file)
		return hi_option_wrong("-- %s: only one target at a time; %s is one "
				       "already",
				       *t->program,
				       t->pid	 ? "--pid"
				       : t->name ? "--name"
				       : t->core ? "--core"
						 : t->file);
	if (o->safepoint.at.text || o->safepoint.every_text)
		return hi_option_wrong("--at: not with -- PROG, which has no code before "
				       "it begins; start it by itself and use --pid");
	o->target.pid = HI_TARGET_TO_START;
	return 0;
}

/* --name becomes --pid. */
static int find_target_by_name(struct hi_options *o)
{
	const struct hi_target_options *t = &o->target;

	if (!t->name)
		return 0;
	if (t->pid || t->core || t->file)
		return hi_option_wrong("--name and %s: only one target at a time",
				       t->pid	 ? "--pid"
				       : t->core ? "--core"
						 : t->file);
	o->target.pid = hi_process_by_name(t->name);
	return o->target.pid ? 0 : 2;
}

static error_t parse_as(const struct hi_command *command, int argc, char **argv,
			struct hi_options *o)
{
	HI_GUARD(free)
	struct argp_option *options =
		hi_calloc(hi_option_table_size + 1, sizeof(*options));
	struct argp argp = {.options = options, .parser = hi_option_take};
	char name[64], operands[128];
	size_t n = 0;

	if (!options)
		return ENOMEM;
	for (size_t i = 0; i < hi_option_table_size; i++)
		if (hi_option_table[i].commands & 1u << command->id)
			options[n++] = hi_option_table[i].option;
	argp.doc = command->purpose;
	describe_operands(command, operands, sizeof(operands));
	argp.args_doc = operands;
	snprintf(name, sizeof(name), "heapinspect%s%s",
		 command->id == HI_COMMAND_SUMMARY ? "" : " ",
		 command->id == HI_COMMAND_SUMMARY ? "" : command->name);
	argv[0] = name;
	if (hi_option_wants_help(argc, argv)) {
		print_help(&argp, command, name);
		exit(finish_help());
	}
	if (hi_option_names_check(command, argc, argv) != 0)
		return HI_OPTION_SAID;
	return argp_parse(&argp, argc, argv, 0, NULL, o);
}

/* Within one file: its first graph is the earlier one, unless an option selects others.
 */
static void settle_diff(struct hi_options *o)
{
	if (o->command->id != HI_COMMAND_DIFF || !o->comparison.baseline ||
	    !hi_snapshots_is_one(o->comparison.baseline))
		return;
	if (!o->target.file && !o->target.pid && !o->target.core)
		o->target.file = o->comparison.baseline;
	if (o->target.file && !o->comparison.baseline_census &&
	    strcmp(o->target.file, o->comparison.baseline) == 0)
		o->comparison.baseline_census = "first";
}

/* One heap is inspected; a series is read. */
static void settle_graph(struct hi_options *o)
{
	if (o->command != &hi_command_graph)
		return;
	if (o->argument && o->target.census && hi_snapshots_is_one(o->argument)) {
		o->target.file = o->argument;
		o->argument = NULL;
	}
	if (o->target.pid || o->target.core || o->target.file)
		o->command = &hi_command_graph_heap;
}

/* With --at the place decides, with its condition and its count. */
static void settle_period(struct hi_options *o)
{
	if (hi_series_asked(&o->series))
		return;
	o->series.each_hit = hi_safepoint_asked(&o->safepoint);
	if (!o->series.each_hit)
		o->series.every_ns = PERIOD_NS;
}

/* What was followed earlier is shown out of its file. */
static void settle_bio(struct hi_options *o)
{
	if (o->command != &hi_command_bio)
		return;
	if (o->target.file)
		o->command = &hi_command_bio_file;
	else
		settle_period(o);
}

static void settle_alloc(struct hi_options *o)
{
	if (o->command != &hi_command_alloc)
		return;
	if (!o->alloc.has_depth)
		o->alloc.depth = 1;
	if (o->target.file)
		return;
	if (o->alloc.pause || o->alloc.resume) {
		o->command = &hi_command_alloc_pause;
		return;
	}
	if (!o->record.has_scan)
		o->record.scan_ns = SCAN_NS;
	settle_period(o);
}

/* An expression is a root that restricts nothing: it is looked up as those are. */
static bool settle_explain(struct hi_options *o)
{
	uint64_t address;

	return o->command->id != HI_COMMAND_EXPLAIN ||
	       hi_lookup_is_address(o->argument, &address) ||
	       hi_profile_take_expression(&o->profile, o->argument);
}

int hi_options_parse(int argc, char **argv, struct hi_options *ret)
{
	struct hi_options o = {.selection.paths = 5,
			       .drawing.bands.min_share = 0.01,
			       .alloc.weight = 1,
			       .series.full = {.first = true, .last = true}};
	error_t bad;
	int program;

	o.command = find_command(&argc, argv);
	program = can_start_program(o.command) ? find_separator(argc, argv) : argc;
	if (program < argc)
		o.target.program = argv + program + 1;
	bad = parse_as(o.command, program, argv, &o);
	if (o.command == &hi_command_query && (o.output.schema || !o.argument))
		o.command = &hi_command_query_schema;
	settle_graph(&o);
	if (o.selection.suggest_hints) {
		o.selection.untyped = true;
		o.command = &hi_command_census_hints;
	}
	o.series.at_place = hi_safepoint_asked(&o.safepoint);
	settle_bio(&o);
	settle_alloc(&o);
	if (!bad)
		settle_diff(&o);
	if (bad == HI_OPTION_SAID ||
	    (!bad && (check_program(&o) != 0 || find_target_by_name(&o) != 0 ||
		      hi_option_check(&o) != 0))) {
		hi_options_free(&o);
		return 2;
	}
	if (!bad && !settle_explain(&o))
		bad = ENOMEM;
	if (bad)
		return hi_option_wrong("options: %s", strerror(bad));
	*ret = o;
	return 0;
}

void hi_options_free(struct hi_options *options)
{
	hi_profile_options_free(&options->profile);
	hi_alloc_options_free(&options->alloc);
	free(options->check.gates);
	hi_arena_free(&options->check.gate_names);
}
