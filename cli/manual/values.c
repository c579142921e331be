/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/manual/manual.h"

enum hi_option_value hi_manual_value(const struct hi_option_row *row)
{
	if (!row->arg)
		return HI_VALUE_NONE;
	if (row->words)
		return HI_VALUE_WORDS;
	return row->file		      ? HI_VALUE_FILE
	       : strcmp(row->arg, "DIR") == 0 ? HI_VALUE_DIR
	       : strcmp(row->arg, "PID") == 0 ? HI_VALUE_PID
					      : HI_VALUE_ANY;
}

void hi_manual_words(FILE *out, const struct hi_option_row *row,
		     void (*put)(FILE *out, const char *word))
{
	for (size_t i = 0; row->words[i]; i++) {
		if (i)
			fputc(' ', out);
		put(out, row->words[i]);
	}
}

bool hi_manual_takes(const struct hi_option_row *row, const struct hi_command *command)
{
	return row->name && row->commands & 1u << command->id;
}

bool hi_manual_takes_pid(const struct hi_command *command)
{
	return hi_option_find(command->id, "pid") != NULL;
}
