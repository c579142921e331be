/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/operand_words.h"

#include <string.h>
#include <unistd.h>

#include "census/snapshot/snapshot_series.h"
#include "cli/command/command.h"
#include "cli/options/near_files.h"
#include "cli/options/option_names.h"
#include "cli/options/option_take.h"
#include "cli/options/option_values.h"
#include "session/snapshot/snapshot_source.h"

static bool has_extension(const char *word, const char *extension)
{
	size_t n = strlen(word), end = strlen(extension);

	return n > end && strcmp(word + n - end, extension) == 0;
}

bool hi_operand_is_snapshot(const char *word)
{
	return has_extension(word, HI_SNAPSHOT_EXTENSION) ||
	       has_extension(word, HI_RECORDING_EXTENSION) || hi_snapshot_is_one(word) ||
	       hi_snapshots_is_one(word);
}

void hi_operand_split_census(char *word, const char **census_ret)
{
	char *at = strrchr(word, '@');

	if (!at || at == word || !hi_snapshot_source_is_census(at + 1) ||
	    access(word, F_OK) == 0)
		return;
	*at = 0;
	if (hi_operand_is_snapshot(word))
		*census_ret = at + 1;
	else
		*at = '@';
}

int hi_option_take_census(const struct hi_option_row *row, char *value,
			  struct hi_options *o)
{
	if (hi_snapshot_source_is_census(value))
		return hi_option_take_once(row->name, value, hi_option_place(row, o));
	return hi_option_wrong("--census %s: not a number, first, last or peak", value);
}

int hi_option_take_baseline(const struct hi_option_row *row, char *value,
			    struct hi_options *o)
{
	hi_operand_split_census(value, &o->comparison.baseline_census);
	return hi_option_take_once(row->name, value, hi_option_place(row, o));
}

int hi_operand_take_snapshot(const char *file, const char *census, struct hi_options *o)
{
	struct hi_comparison_options *c = &o->comparison;

	/* The earlier one comes first. */
	if ((o->command->compares || c->three) && !c->baseline) {
		c->baseline = file;
		c->baseline_census = census;
		return 0;
	}
	if (c->three && !c->middle) {
		c->middle = file;
		c->middle_census = census;
		return 0;
	}
	if (o->target.file)
		return hi_option_wrong(
			"%s and %s: one target at a time%s", o->target.file, file,
			o->command->compares && !c->three ? " (--three takes three files)"
							  : "");
	o->target.file = file;
	return census ? hi_option_take_once("census", census, &o->target.census) : 0;
}

int hi_operand_take_argument(const char *word, const char *census, struct hi_options *o)
{
	if (!o->command->arguments[0])
		return hi_operand_refuse(word, o);
	if (o->argument)
		return hi_option_wrong("%s: one %s only", word, o->command->arguments);
	o->argument = word;
	return census ? hi_option_take_once("census", census, &o->target.census) : 0;
}

/* A word that can only be meant as a file: it has a folder or an extension. */
static bool looks_like_file(const char *word)
{
	return strpbrk(word, "/.") != NULL;
}

int hi_operand_refuse(const char *word, const struct hi_options *o)
{
	char near[HI_NEAR_TEXT];

	if (access(word, F_OK) == 0)
		return hi_option_wrong("%s: not a snapshot file (of a core: --core FILE)",
				       word);
	if (looks_like_file(word))
		return hi_option_no_file(word);
	if (o->command != &hi_command_summary)
		return hi_option_wrong(
			"%.150s: no such file%s; %s takes no other argument", word,
			hi_near_files_text(word, near), o->command->name);
	hi_option_no_command(word);
	return 2;
}

int hi_operand_take(char *word, struct hi_options *o)
{
	const char *census = NULL;

	if (o->command->take_word)
		return o->command->take_word(word, o);
	hi_operand_split_census(word, &census);
	if (!o->command->run_alone && hi_operand_is_snapshot(word))
		return hi_operand_take_snapshot(word, census, o);
	return hi_operand_take_argument(word, census, o);
}
