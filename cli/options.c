/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/profile_options.h"
#include "cli/safepoint_options.h"
#include "cli/series_options.h"

/* Whether this option (its long name up to n bytes, or its letter) takes a
 * value that is the next word. */
static bool takes_value(const char *name, size_t n, int letter)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct argp_option *o = &hi_option_table[i].option;

		if (letter ? o->key == letter
			   : o->name && n && !strncmp(o->name, name, n))
			return o->arg != NULL;
	}
	return false;
}

/* How many words the option at argv[i] takes: 1 or 2. */
static int option_words(const char *word)
{
	if (word[1] == '-')
		return strchr(word, '=') ? 1
					 : 1 + takes_value(word + 2, strlen(word + 2), 0);
	for (const char *c = word + 1; *c; c++)
		if (takes_value(NULL, 0, *c))
			return c[1] ? 1 : 2;
	return 1;
}

/* The command's name may stand before or behind options: the first word that
 * is neither an option nor an option's value. Removes it from argv. */
static const struct hi_command *find_command(int *argc, char **argv)
{
	const struct hi_command *command;
	int i = 1;

	while (i < *argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0)
		i += option_words(argv[i]);
	command = i < *argc ? hi_command_find(argv[i]) : NULL;
	if (!command)
		return &hi_command_summary;
	memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof(*argv));
	--*argc;
	return command;
}

static bool takes_snapshot(const struct hi_command *command)
{
	switch (command->id) {
	case HI_COMMAND_AUDIT:
	case HI_COMMAND_GRAPH:
	case HI_COMMAND_MARK:
	case HI_COMMAND_SAFEPOINTS:
	case HI_COMMAND_SNAP:
	case HI_COMMAND_SNAPSHOTS:
		return false;
	default:
		return true;
	}
}

/* What the usage line shows behind the options. */
static void describe_operands(const struct hi_command *command, char *out, size_t size)
{
	if (command->id == HI_COMMAND_SUMMARY)
		snprintf(out, size, "[COMMAND] [FILE.hisnap]");
	else if (command->id == HI_COMMAND_DIFF)
		snprintf(out, size, "BEFORE.hisnap [MIDDLE.hisnap] [AFTER.hisnap]");
	else
		snprintf(out, size, "%s%s%s",
			 takes_snapshot(command) ? "[FILE.hisnap]" : "",
			 takes_snapshot(command) && *command->arguments ? " " : "",
			 command->arguments);
}

static error_t parse_as(const struct hi_command *command, int argc, char **argv,
			struct hi_options *o)
{
	HI_GUARD(free)
	struct argp_option *options =
		hi_calloc(hi_option_table_size + 1, sizeof(*options));
	struct argp argp = {.options = options, .parser = hi_option_take};
	char name[64], doc[2048], operands[128];
	size_t n = 0;

	if (!options)
		return ENOMEM;
	for (size_t i = 0; i < hi_option_table_size; i++)
		if (hi_option_table[i].commands & 1u << command->id)
			options[n++] = hi_option_table[i].option;
	snprintf(doc, sizeof(doc), "%s\v%s", command->purpose, command->help);
	argp.doc = doc;
	describe_operands(command, operands, sizeof(operands));
	argp.args_doc = operands;
	snprintf(name, sizeof(name), "heapinspect%s%s",
		 command->id == HI_COMMAND_SUMMARY ? "" : " ",
		 command->id == HI_COMMAND_SUMMARY ? "" : command->name);
	argv[0] = name;
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

int hi_options_parse(int argc, char **argv, struct hi_options *ret)
{
	struct hi_options o = {.selection.paths = 5,
			       .drawing.bands.min_share = 0.01,
			       .series.full = {.first = true, .last = true}};
	error_t bad;

	o.command = find_command(&argc, argv);
	bad = parse_as(o.command, argc, argv, &o);
	if (o.command == &hi_command_query && (o.output.schema || !o.argument))
		o.command = &hi_command_query_schema;
	o.series.at_place = hi_safepoint_asked(&o.safepoint);
	if (!bad)
		settle_diff(&o);
	if (bad == HI_OPTION_SAID || (!bad && hi_option_check(&o) != 0)) {
		hi_options_free(&o);
		return 2;
	}
	if (bad)
		return hi_option_wrong("options: %s", strerror(bad));
	*ret = o;
	return 0;
}

void hi_options_free(struct hi_options *options)
{
	hi_profile_options_free(&options->profile);
	free(options->check.gates);
	hi_arena_free(&options->check.gate_names);
}
