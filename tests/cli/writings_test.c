/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that write a file: by their flag in the option table, none is untried. */
#include <string.h>

#include "cli/command/command.h"
#include "cli/options/option_row.h"
#include "tests/harness.h"
#include "tests/support/writings.h"

static bool is_tried(const char *command, const char *option)
{
	for (int kind = 0; kind < WRITING_KINDS; kind++)
		for (size_t i = 0; i < writing_count((enum writing_kind)kind); i++) {
			const struct writing *w = writing_at((enum writing_kind)kind, i);

			if (strcmp(w->words[0], command) == 0 &&
			    strcmp(w->option, option) == 0)
				return true;
		}
	return false;
}

HI_TEST(writings, every_option_with_a_file_reads_or_writes_it)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];
		bool has_file = row->arg && strcmp(row->arg, "FILE") == 0;

		HI_ASSERT_MSG(
			has_file == !!(row->file & (HI_OPTION_READS | HI_OPTION_WRITES)),
			"--%s: HI_OPTION_READS or HI_OPTION_WRITES", row->name);
	}
}

HI_TEST(writings, every_option_that_writes_is_tried)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *e = &hi_option_table[i];

		if (!(e->file & HI_OPTION_WRITES))
			continue;
		for (size_t c = 0; hi_commands[c]; c++)
			HI_ASSERT_MSG(!(e->commands & 1u << hi_commands[c]->id) ||
					      is_tried(hi_commands[c]->name, e->name),
				      "%s --%s", hi_commands[c]->name, e->name);
	}
}
