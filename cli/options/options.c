/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/options/help.h"
#include "cli/options/operand_words.h"
#include "cli/options/option_check.h"
#include "cli/options/option_names.h"
#include "cli/options/process_name.h"
#include "cli/options/profile_options.h"
#include "session/named_object.h"
#include "session/operands.h"

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

/* Returns the index of "--", which is before the program to start; argc: none. */
static int find_separator(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i += argv[i][0] == '-' && argv[i][1] ? hi_option_words(argv[i]) : 1;
	return i < argc ? i : argc;
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

/* Filled in by the parser of argp. */
struct command_line {
	struct hi_options *options;
	struct hi_given *given;
};

/* Keys of options without a letter are their indexes, above all letters. */
enum { KEYS = 0x100 };

static int argp_key_of(const struct hi_option_row *row)
{
	return row->letter ? row->letter : KEYS + (int)(row - hi_option_table);
}

static const struct hi_option_row *find_row_of_key(int key,
						   const struct hi_command *command)
{
	if (key >= KEYS && (size_t)(key - KEYS) < hi_option_table_size)
		return &hi_option_table[key - KEYS];
	for (size_t i = 0; key > 0 && i < hi_option_table_size; i++)
		if (hi_option_table[i].letter == key &&
		    hi_option_table[i].commands & 1u << command->id)
			return &hi_option_table[i];
	return NULL;
}

/* argp stops at any error but ARGP_ERR_UNKNOWN; this one means that it was printed. */
enum { ALREADY_PRINTED = 1000 };

static error_t take_parsed(int key, char *arg, struct argp_state *state)
{
	struct command_line *line = state->input;
	const struct hi_option_row *row;

	if (key == ARGP_KEY_ARG)
		return hi_operand_take(arg, line->options) ? ALREADY_PRINTED : 0;
	row = find_row_of_key(key, line->options->command);
	if (!row)
		return ARGP_ERR_UNKNOWN;
	return hi_option_take(row, arg, line->options, line->given) ? ALREADY_PRINTED : 0;
}

/* Does the command take an option below this heading? */
static bool has_rows_below(const struct hi_command *command, size_t heading)
{
	for (size_t i = heading + 1; i < hi_option_table_size && hi_option_table[i].name;
	     i++)
		if (hi_option_table[i].commands & 1u << command->id)
			return true;
	return false;
}

/* Each heading begins a group: argp sorts within one. The program's own options are in
 * the last one. */
static void fill_argp_options(const struct hi_command *command, struct argp_option *to)
{
	int group = 0;

	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];

		group += !row->name;
		if (row->name ? row->commands & 1u << command->id
			      : has_rows_below(command, i))
			*to++ = (struct argp_option){.name = row->name,
						     .key = row->name ? argp_key_of(row)
								      : 0,
						     .arg = row->arg,
						     .doc = row->help,
						     .group = group};
	}
}

/* Prints the help that is asked for, and ends. */
static void end_with_help(const struct argp *argp, const struct hi_command *command,
			  char *name, bool all)
{
	char usage[256];

	snprintf(usage, sizeof(usage), "Usage: %s [OPTION...] %s", name, argp->args_doc);
	if (all)
		hi_help_print_all(argp, command, name);
	else
		hi_help_print_page(command, usage);
	exit(hi_help_finish());
}

static error_t parse_as(const struct hi_command *command, int argc, char **argv,
			struct command_line *line)
{
	HI_GUARD(free)
	struct argp_option *options =
		hi_calloc(hi_option_table_size + 1, sizeof(*options));
	struct argp argp = {
		.options = options, .parser = take_parsed, .doc = command->purpose};
	bool is_whole = command == &hi_command_summary;
	const char *targets = command->targets ? command->targets : HI_COMMAND_TARGETS;
	char name[64], operands[128];
	enum hi_help_wanted help;

	if (!options)
		return ENOMEM;
	fill_argp_options(command, options);
	snprintf(operands, sizeof(operands), "%s%s%s", command->arguments,
		 *targets && *command->arguments ? " " : "", targets);
	argp.args_doc = operands;
	snprintf(name, sizeof(name), "heapinspect%s%s", is_whole ? "" : " ",
		 is_whole ? "" : command->name);
	argv[0] = name;
	help = hi_option_wants_help(argc, argv);
	if (help != HI_HELP_NONE)
		end_with_help(&argp, command, name, help == HI_HELP_ALL);
	if (hi_option_names_check(command, argc, argv) != 0)
		return ALREADY_PRINTED;
	return argp_parse(&argp, argc, argv, 0, NULL, line);
}

/* Completes what was parsed, and checks it. 2: it is wrong, which was printed. */
static int settle_command_line(struct hi_options *o, const struct hi_given *given)
{
	if (check_program(o) != 0 || find_target_by_name(o) != 0)
		return 2;
	o->series.at_place = hi_safepoint_asked(&o->safepoint);
	if (o->command->settle)
		o->command->settle(o);
	return hi_option_check(given);
}

/* An expression is a root that restricts nothing: it is looked up as those are. */
static bool add_expression(struct hi_options *o)
{
	uint64_t address;

	return !o->command->takes_expression ||
	       hi_lookup_is_address(o->argument, &address) ||
	       hi_named_object_is_path(o->argument) ||
	       hi_profile_take_expression(&o->profile, o->argument);
}

/* "help COMMAND" is "COMMAND --help". Returns 0, or 2 when there is no such command, which was
 * printed. */
static int turn_help_round(int argc, char **argv)
{
	static char option[] = "--help";

	if (argc < 2 || argc > 3 || strcmp(argv[1], "help") != 0)
		return 0;
	if (argc == 3 && argv[2][0] != '-' && !hi_command_find(argv[2])) {
		hi_option_no_command(argv[2]);
		return 2;
	}
	argv[1] = option;
	return 0;
}

int hi_options_parse(int argc, char **argv, struct hi_options *ret)
{
	struct hi_options o = {.selection.paths = 5,
			       .drawing.bands.min_share = 0.01,
			       .alloc.weight = 1,
			       .series.full = {.first = true, .last = true}};
	struct hi_given given = {.options = &o};
	struct command_line line = {&o, &given};
	error_t bad;
	int program;

	if (turn_help_round(argc, argv) != 0)
		return 2;
	o.command = find_command(&argc, argv);
	program = o.command->run_alone || o.command->takes_expression
			  ? argc
			  : find_separator(argc, argv);
	if (program < argc)
		o.target.program = argv + program + 1;
	bad = parse_as(o.command, program, argv, &line);
	if (bad == ALREADY_PRINTED || (!bad && settle_command_line(&o, &given) != 0)) {
		hi_options_free(&o);
		return 2;
	}
	if (!bad && !add_expression(&o))
		bad = ENOMEM;
	if (bad)
		return hi_option_wrong("options: %s", strerror(bad));
	*ret = o;
	return 0;
}

void hi_options_free(struct hi_options *options)
{
	hi_profile_options_free(&options->profile);
	free((void *)options->alloc.centres);
	free(options->alloc.manners);
	free(options->check.gates);
	hi_arena_free(&options->check.gate_names);
}
