/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/manual/manual.h"

/* Words of options that take one of a few; by key, since --by has two lists. */
static const struct {
	int key;
	const char *words;
} lists[] = {
	{HI_OPT_BY, "type type2 module class size owner site context thread age"},
	{HI_OPT_BORN_BY, "context"},
	{HI_OPT_COMPARE_BY, "type module root retainers site"},
	{HI_OPT_BANDS_BY, "type function retainer biography"},
	{HI_OPT_COLOR, "auto always never"},
	{HI_OPT_SNAPSHOT, "auto copy fork"},
	{HI_OPT_TIME, "cpu wall census"},
	{HI_OPT_SAMPLE, "all 64KiB 512KiB"},
	{HI_OPT_SORT, "size deviation name slope number"},
	{HI_OPT_ALLOC_SORT, "weight alloc survived live name"},
	{HI_OPT_IDENTITY, "type var site module addr"},
	{HI_OPT_TABLE, "objects edges types roots censuses sums"},
	{HI_OPT_AT, "gc now every:"},
	{HI_OPT_RETAINER, "global frame auto"},
	{'f',
	 "heapsnapshot csv ndjson parquet folded speedscope massif pprof dhat hp dot "
	 "prometheus"},
};

/* -f is of two commands. */
static const char *print_export_formats(const struct argp_option *option)
{
	return strcmp(option->arg, "ROWS") == 0
		       ? "table json csv"
		       : "heapsnapshot csv ndjson parquet folded "
			 "speedscope massif pprof dhat hp dot "
			 "prometheus";
}

struct hi_value_words hi_manual_value(const struct argp_option *option)
{
	if (!option->arg)
		return (struct hi_value_words){HI_VALUE_NONE, NULL};
	/* The one key with several lists. */
	if (strcmp(option->arg, "ROWS") == 0)
		return (struct hi_value_words){HI_VALUE_WORDS, "table json csv"};
	if (strcmp(option->arg, "PAGE") == 0)
		return (struct hi_value_words){HI_VALUE_WORDS, "html"};
	if (strcmp(option->arg, "PICTURE") == 0)
		return (struct hi_value_words){HI_VALUE_WORDS, "svg"};
	if (option->key == 'f')
		return (struct hi_value_words){HI_VALUE_WORDS,
					       print_export_formats(option)};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i].key == option->key)
			return (struct hi_value_words){HI_VALUE_WORDS, lists[i].words};
	if (strcmp(option->arg, "FILE") == 0)
		return (struct hi_value_words){HI_VALUE_FILE, NULL};
	if (strcmp(option->arg, "DIR") == 0)
		return (struct hi_value_words){HI_VALUE_DIR, NULL};
	if (strcmp(option->arg, "PID") == 0)
		return (struct hi_value_words){HI_VALUE_PID, NULL};
	return (struct hi_value_words){HI_VALUE_ANY, NULL};
}

char hi_manual_letter(const struct argp_option *option)
{
	return option->key > ' ' && option->key < 0x7f ? (char)option->key : '\0';
}

bool hi_manual_takes(const struct hi_option_entry *entry,
		     const struct hi_command *command)
{
	return entry->option.name && entry->commands & 1u << command->id;
}

bool hi_manual_takes_pid(const struct hi_command *command)
{
	for (size_t i = 0; i < hi_option_table_size; i++)
		if (hi_option_table[i].option.key == 'p' &&
		    hi_manual_takes(&hi_option_table[i], command))
			return true;
	return false;
}
