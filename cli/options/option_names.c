/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/option_names.h"

#include <stdio.h>
#include <string.h>

#include "base/near_names.h"
#include "cli/command/command.h"
#include "cli/options/option_take.h"

/* Every command has these. */
static const char *const own_options[] = {"help", "help-all", "usage", "version"};

/* Whether this option (its long name up to n bytes, or its letter) takes a
 * value that is the next word. */
static bool takes_value(const char *name, size_t n, int letter)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];

		if (letter ? row->letter == letter
			   : row->name && n && !strncmp(row->name, name, n))
			return row->arg != NULL;
	}
	return false;
}

int hi_option_words(const char *word)
{
	if (word[1] == '-')
		return strchr(word, '=') ? 1
					 : 1 + takes_value(word + 2, strlen(word + 2), 0);
	for (const char *c = word + 1; *c; c++)
		if (takes_value(NULL, 0, *c))
			return c[1] ? 1 : 2;
	return 1;
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

enum hi_help_wanted hi_option_wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0;
	     i += is_option(argv[i]) ? hi_option_words(argv[i]) : 1) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "-?") == 0 ||
		    strcmp(argv[i], "--help") == 0)
			return HI_HELP_PAGE;
		if (strcmp(argv[i], "--help-all") == 0)
			return HI_HELP_ALL;
	}
	return HI_HELP_NONE;
}

/* An option may be cut to what is left of its name. */
static unsigned commands_with_option(const char *name, size_t n)
{
	unsigned commands = 0;

	for (size_t i = 0; i < hi_option_table_size; i++) {
		const char *full = hi_option_table[i].name;

		if (full && strncmp(full, name, n) == 0)
			commands |= hi_option_table[i].commands;
	}
	for (size_t i = 0; i < sizeof(own_options) / sizeof(*own_options); i++)
		if (strncmp(own_options[i], name, n) == 0)
			commands = ~0u;
	return commands;
}

/* A process has no pages before it is in a file. */
static bool is_target_of_pages(const struct hi_command *command, const char *option,
			       size_t n)
{
	return (command == &hi_command_serve || command == &hi_command_report) &&
	       ((n == 5 && strncmp(option, "--pid", n) == 0) ||
		(n == 6 && (strncmp(option, "--name", n) == 0 ||
			    strncmp(option, "--core", n) == 0)));
}

static void say_other_commands(const struct hi_command *command, const char *option,
			       size_t n, unsigned commands)
{
	char names[400] = "";
	size_t used = 0;

	if (is_target_of_pages(command, option, n)) {
		hi_option_wrong("%.*s: not an option of %s, which takes a file: "
				"heapinspect snap %.*s ... -o FILE.hisnap, then "
				"heapinspect %s FILE.hisnap",
				(int)n, option, command->name, (int)n, option,
				command->name);
		return;
	}
	for (size_t i = 0; hi_commands[i] && used < sizeof(names); i++)
		if (commands & 1u << hi_commands[i]->id)
			used += (size_t)snprintf(names + used, sizeof(names) - used,
						 "%s%s", used ? ", " : "",
						 hi_commands[i]->name);
	hi_option_wrong("%.*s: not an option of %s, but of %s", (int)n, option,
			command->name, names);
}

static const char *name_of_entry(void *arg, uint32_t i)
{
	const struct hi_command *command = *(const struct hi_command **)arg;
	const struct hi_option_row *row = &hi_option_table[i];

	return row->commands & 1u << command->id ? row->name : NULL;
}

static void say_no_option(const struct hi_command *command, const char *option, size_t n)
{
	const char *near[HI_NAMES_NEAREST] = {};
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)n - 2, option + 2);
	hi_names_nearest(name, name_of_entry, (void *)&command,
			 (uint32_t)hi_option_table_size, near);
	hi_option_wrong("%.*s: no such option%s%s%s; see heapinspect %s --help",
			n < 64 ? (int)n : 64, option, near[0] ? "; did you mean --" : "",
			near[0] ? near[0] : "", near[0] ? "?" : "", command->name);
}

/* A letter that only other commands have: as its name. */
static const struct hi_option_row *find_other_letter(const struct hi_command *command,
						     int letter)
{
	const struct hi_option_row *other = NULL;

	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];

		if (row->letter != letter)
			continue;
		if (row->commands & 1u << command->id)
			return NULL;
		other = row;
	}
	return other;
}

static int check_letter(const struct hi_command *command, char letter)
{
	const struct hi_option_row *row = find_other_letter(command, letter);
	char name[40];

	if (!row)
		return 0;
	snprintf(name, sizeof(name), "--%s", row->name);
	say_other_commands(command, name, strlen(name),
			   commands_with_option(row->name, strlen(row->name)));
	return 2;
}

int hi_option_names_check(const struct hi_command *command, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0;
	     i += is_option(argv[i]) ? hi_option_words(argv[i]) : 1) {
		size_t n = strcspn(argv[i], "=");
		unsigned commands;

		if (is_option(argv[i]) && argv[i][1] != '-' &&
		    check_letter(command, argv[i][1]) != 0)
			return 2;
		if (strncmp(argv[i], "--", 2) != 0)
			continue;
		commands = commands_with_option(argv[i] + 2, n - 2);
		if (commands & 1u << command->id)
			continue;
		if (commands)
			say_other_commands(command, argv[i], n, commands);
		else
			say_no_option(command, argv[i], n);
		return 2;
	}
	return 0;
}

static const char *name_of_command(void *arg, uint32_t i)
{
	(void)arg;
	return hi_commands[i]->name;
}

void hi_option_no_command(const char *name)
{
	const char *near[HI_NAMES_NEAREST] = {};
	char names[512] = "";
	uint32_t count = 0;
	size_t n = 0;

	for (; hi_commands[count] && n < sizeof(names); count++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
				      count ? ", " : "", hi_commands[count]->name);
	hi_names_nearest(name, name_of_command, NULL, count, near);
	hi_option_wrong("%s: not a command%s%s%s; the commands are %s (for a process: "
			"--pid N)",
			name, near[0] ? "; did you mean " : "", near[0] ? near[0] : "",
			near[0] ? "?" : "", names);
}
