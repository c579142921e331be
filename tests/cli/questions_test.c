/* SPDX-License-Identifier: BSD-2-Clause */
/* Each command that reads a heap has a question of questions.h, with each of its options
 * and each value of them; so has one that is new. */
#include <stdio.h>
#include <string.h>

#include "cli/command/command.h"
#include "cli/options/option_row.h"
#include "tests/harness.h"
#include "tests/support/answers.h"

static bool takes(const struct hi_command *command, const struct hi_option_row *e)
{
	return e->commands & 1u << command->id;
}

/* Takes it from --core: who reads a heap wherever it is reads cores. */
static bool reads_heaps(const struct hi_command *command)
{
	return hi_option_find(command->id, "core");
}

/* Tells options that say what is shown from those of how the target is stopped and
 * decoded, by the heading above them. */
static bool chooses_what_is_shown(const struct hi_option_row *row)
{
	static const char *const headings[] = {
		"What to show:", "What to draw:", "Roots and retainers:",
		"Of a recording (heapinspect record):", "Output:"};
	const struct hi_option_row *heading = row;

	while (heading->name)
		heading--;
	for (size_t i = 0; row->name && i < sizeof(headings) / sizeof(*headings); i++)
		if (strcmp(heading->help, headings[i]) == 0)
			return true;
	return false;
}

static bool matches(const char *wanted, const char *name)
{
	return !wanted || (name && strcmp(wanted, name) == 0);
}

static bool is_not_asked(const char *command, const char *option, const char *value)
{
	for (size_t i = 0; i < question_not_asked_count(); i++) {
		const struct question_not_asked *n = question_not_asked_at(i);

		if (matches(n->command, command) && matches(n->option, option) &&
		    matches(n->value, value))
			return true;
	}
	return false;
}

/* Looks for --name or its letter, with this value; NULL: any. */
static bool is_asked(const char *command, const struct hi_option_row *o,
		     const char *value)
{
	char letter[3] = {'-', o->letter}, name[40];

	snprintf(name, sizeof(name), "--%s", o->name);
	for (size_t i = 0; i < question_count(); i++) {
		const struct question *q = question_at(i);

		if (strcmp(q->words[0], command) != 0)
			continue;
		if (value ? question_has_value(q, name, value) ||
				    (o->letter && question_has_value(q, letter, value))
			  : question_has(q, name) ||
				    (o->letter && question_has(q, letter)))
			return true;
	}
	return false;
}

HI_TEST(questions, every_command_that_reads_heaps_is_asked)
{
	for (size_t i = 0; hi_commands[i]; i++) {
		bool asked = false;

		for (size_t k = 0; k < question_count(); k++)
			asked |= strcmp(question_at(k)->words[0], hi_commands[i]->name) ==
				 0;
		HI_ASSERT_MSG(asked || !reads_heaps(hi_commands[i]) ||
				      is_not_asked(hi_commands[i]->name, NULL, NULL),
			      "%s: no question in questions.c", hi_commands[i]->name);
	}
}

HI_TEST(questions, every_option_of_theirs_is_asked)
{
	for (size_t i = 0; hi_commands[i]; i++)
		for (size_t k = 0; k < hi_option_table_size; k++) {
			const struct hi_option_row *e = &hi_option_table[k];
			const char *command = hi_commands[i]->name;

			if (!reads_heaps(hi_commands[i]) || !takes(hi_commands[i], e) ||
			    !chooses_what_is_shown(e))
				continue;
			HI_ASSERT_MSG(is_asked(command, e, NULL) ||
					      is_not_asked(command, e->name, NULL),
				      "%s --%s: no question in questions.c", command,
				      e->name);
		}
}

static void check_values(const char *command, const struct hi_option_row *option)
{
	char *list = answers_values(command, option->name);

	for (char *value; (value = strsep(&list, ", \n"));)
		if (*value)
			HI_ASSERT_MSG(is_asked(command, option, value) ||
					      is_not_asked(command, option->name, value),
				      "%s --%s %s: no question in questions.c", command,
				      option->name, value);
}

HI_TEST_SCENARIO(questions, every_value_of_an_option_is_asked)
{
	HI_ASSERT(answers_values("export", "format") && answers_values("census", "by"));
	for (size_t i = 0; hi_commands[i]; i++)
		for (size_t k = 0; k < hi_option_table_size; k++) {
			const struct hi_option_row *e = &hi_option_table[k];

			if (reads_heaps(hi_commands[i]) && takes(hi_commands[i], e) &&
			    chooses_what_is_shown(e) && e->arg &&
			    !is_not_asked(hi_commands[i]->name, e->name, NULL))
				check_values(hi_commands[i]->name, e);
		}
}
