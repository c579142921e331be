/* SPDX-License-Identifier: BSD-2-Clause */
/* Each flag and each word sets what it is called for, and nothing else. */
#include <stdio.h>
#include <string.h>

#include "cli/command/command.h"
#include "cli/options/option_take.h"
#include "cli/options/options.h"
#include "cli/command/complaints.h"
#include "tests/harness.h"

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void parse(const char *command, const char *target, const char *option,
		  const char *value, struct hi_options *ret)
{
	char *argv[8] = {word("heapinspect"), word(command)};
	int argc = 2;

	argv[argc++] = word(target);
	if (option)
		argv[argc++] = word(option);
	if (value)
		argv[argc++] = word(value);
	memset(ret, 0, sizeof(*ret));
	HI_ASSERT_MSG(hi_options_parse(argc, argv, ret) == 0, "%s %s", command, option);
}

/* Bytes that differ from those without the option lie in [at, at + size), and some do. */
static void expect_changed(const struct hi_options *before,
			   const struct hi_options *after, size_t at, size_t size,
			   const char *option)
{
	const uint8_t *a = (const uint8_t *)before, *b = (const uint8_t *)after;
	bool any = false;

	for (size_t i = 0; i < sizeof(*before); i++) {
		if (a[i] == b[i])
			continue;
		HI_ASSERT_MSG(i >= at && i < at + size, "%s: byte %zu", option, i);
		any = true;
	}
	HI_ASSERT_MSG(any, "%s", option);
}

#define FIELD(name) offsetof(struct hi_options, name)

HI_TEST(options, each_flag_sets_its_own)
{
	static const struct {
		const char *command, *option;
		size_t at;
	} flags[] = {
		{"census", "--json", FIELD(output.json)},
		{"census", "--all", FIELD(selection.all)},
		{"census", "-q", FIELD(output.quiet)},
		{"census", "--quiet", FIELD(output.quiet)},
		{"census", "-v", FIELD(output.verbose)},
		{"census", "--strict", FIELD(decoding.strict)},
		{"census", "--conservative", FIELD(decoding.conservative)},
		{"census", "--swap", FIELD(decoding.swap)},
		{"census", "--no-hints", FIELD(decoding.no_hints)},
		{"census", "--untyped", FIELD(selection.untyped)},
		{"query", "--schema", FIELD(output.schema)},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct hi_options without, with;

		parse(flags[i].command, "--pid=1", NULL, NULL, &without);
		parse(flags[i].command, "--pid=1", flags[i].option, NULL, &with);
		with.command = without.command; /* query without a statement */
		expect_changed(&without, &with, flags[i].at, sizeof(bool),
			       flags[i].option);
		HI_ASSERT(*((const bool *)&with + flags[i].at));
		hi_options_free(&without);
		hi_options_free(&with);
	}
}

HI_TEST(options, each_flag_of_a_file_sets_its_own)
{
	static const struct {
		const char *command, *option;
		size_t at;
	} flags[] = {
		{"snap", "--compress", FIELD(snap.compress)},
		{"snap", "--with-contents", FIELD(snap.with_contents)},
		{"snap", "--redact", FIELD(snap.redact)},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct hi_options without, with;

		parse(flags[i].command, "--pid=1", "-o/nowhere/x", NULL, &without);
		parse(flags[i].command, "--pid=1", "-o/nowhere/x", flags[i].option,
		      &with);
		with.output.file = without.output.file;
		expect_changed(&without, &with, flags[i].at, sizeof(bool),
			       flags[i].option);
		hi_options_free(&without);
		hi_options_free(&with);
	}
}

HI_TEST(options, each_word_sets_its_own)
{
	static const struct {
		const char *option;
		size_t at;
	} words[] = {{"-o", FIELD(output.file)},
		     {"--debug-dir", FIELD(decoding.debug_dir)}};

	for (size_t i = 0; i < 2; i++) {
		struct hi_options without, with;
		const char *text;

		parse("census", "--pid=1", NULL, NULL, &without);
		parse("census", "--pid=1", words[i].option, "/nowhere/x", &with);
		expect_changed(&without, &with, words[i].at, sizeof(text),
			       words[i].option);
		memcpy(&text, (const char *)&with + words[i].at, sizeof(text));
		HI_ASSERT_STREQ("/nowhere/x", text);
		hi_options_free(&without);
		hi_options_free(&with);
	}
}

/* ---- rows of the table ---- */

/* The type of the member fits the kind. */
static bool has_size_of_kind(const struct hi_option_row *row)
{
	switch (row->kind) {
	case HI_OPTION_FUNCTION:
		return row->take != NULL;
	case HI_OPTION_FLAG:
		return row->size == sizeof(bool) && !row->arg;
	case HI_OPTION_CHOICE:
		return (row->size == sizeof(bool) || row->size == sizeof(int)) &&
		       row->words;
	case HI_OPTION_WORD:
		return row->size == sizeof(char *) && row->words;
	case HI_OPTION_TEXT:
	case HI_OPTION_LAST_TEXT:
		return row->size == sizeof(char *);
	case HI_OPTION_LIST:
		return row->size == sizeof(char **) && row->has && row->like;
	case HI_OPTION_NUMBER:
		return row->low < row->high &&
		       (row->size == 8 || (row->size == 4 && row->high <= UINT32_MAX));
	case HI_OPTION_DECIMAL:
		return row->size == sizeof(double) && row->high > 0;
	case HI_OPTION_SIZE:
	case HI_OPTION_TIME:
		return row->size == sizeof(uint64_t) && row->like;
	default:
		return false;
	}
}

HI_TEST(options, rows_agree_with_their_kind_and_with_rows_of_the_same_name)
{
	HI_ASSERT(hi_option_table_size <= HI_OPTIONS_MOST);
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];

		if (!row->name)
			continue;
		HI_ASSERT_MSG(has_size_of_kind(row), "--%s: row %zu", row->name, i);
		HI_ASSERT_MSG(row->kind == HI_OPTION_FLAG || row->arg, "--%s", row->name);
		for (size_t k = 0; k < i; k++) {
			const struct hi_option_row *other = &hi_option_table[k];

			if (!other->name || strcmp(row->name, other->name) != 0)
				continue;
			HI_ASSERT_MSG(!(row->commands & other->commands),
				      "--%s: two rows of one command", row->name);
			HI_ASSERT_MSG(row->page == other->page, "--%s: pages", row->name);
		}
	}
}

/* argp would print an empty section, and mix those that share a group. */
HI_TEST(options, each_heading_of_a_command_has_options)
{
	for (size_t c = 0; hi_commands[c]; c++) {
		const unsigned bit = 1u << hi_commands[c]->id;
		const char *heading = NULL;

		for (size_t i = 0; i < hi_option_table_size; i++) {
			const struct hi_option_row *row = &hi_option_table[i];

			if (!(row->commands & bit))
				continue;
			HI_ASSERT_MSG(row->name || !heading, "%s: nothing below %s",
				      hi_commands[c]->name, heading);
			heading = row->name ? NULL : row->help;
		}
		HI_ASSERT_MSG(!heading, "%s: nothing below %s", hi_commands[c]->name,
			      heading);
	}
}

/* A list by spaces of names, or name=value, that a command takes beside the row. */
static void check_names(const struct hi_option_row *row, const char *list)
{
	while (list && *list) {
		int n = (int)strcspn(list, "= "), all = (int)strcspn(list, " ");
		unsigned commands = 0;

		for (size_t i = 0; i < hi_option_table_size; i++) {
			const char *name = hi_option_table[i].name;

			if (name && (int)strlen(name) == n && !strncmp(name, list, n))
				commands |= hi_option_table[i].commands;
		}
		HI_ASSERT_MSG(commands & row->commands,
			      "--%s: %.*s is no option of its commands", row->name, n,
			      list);
		list += all + (list[all] == ' ');
	}
}

HI_TEST(options, options_that_rows_need_or_exclude_exist)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		check_names(&hi_option_table[i], hi_option_table[i].only_with);
		check_names(&hi_option_table[i], hi_option_table[i].not_with);
	}
}

/* Takes a value of a row; its error, until the next call; NULL: it was taken. */
static const char *error_of(const struct hi_option_row *row, const char *value,
			    struct hi_options *o)
{
	static char error[600];
	struct hi_given given = {.options = o};
	FILE *stream = fmemopen(error, sizeof(error), "w");
	int bad;

	HI_ASSERT(stream != NULL);
	o->command = &hi_command_census;
	hi_complaints_to(stream);
	bad = hi_option_take(row, word(value), o, &given);
	hi_complaints_to(NULL);
	fclose(stream);
	HI_ASSERT_EQ(!bad, given.rows[row - hi_option_table]);
	return bad ? error : NULL;
}

HI_TEST(options, each_word_of_a_choice_is_taken_and_named_in_help_and_errors)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];
		struct hi_options o = {};
		const char *error;

		if (row->kind != HI_OPTION_CHOICE && row->kind != HI_OPTION_WORD)
			continue;
		for (uint64_t k = 0; row->words[k]; k++) {
			uint64_t value = 0;

			o = (struct hi_options){};
			error = error_of(row, row->words[k], &o);
			HI_ASSERT_MSG(!error, "%s", error);
			memcpy(&value, (char *)&o + row->at, row->size);
			HI_ASSERT_MSG(row->kind == HI_OPTION_CHOICE
					      ? value == row->low + k
					      : value == (uintptr_t)row->words[k],
				      "--%s %s", row->name, row->words[k]);
			HI_ASSERT(!row->has || *((bool *)&o + row->has));
			HI_ASSERT_MSG(strstr(row->help, row->words[k]),
				      "--%s: %s is not in the help", row->name,
				      row->words[k]);
		}
		o = (struct hi_options){};
		error = error_of(row, "xxx", &o);
		HI_ASSERT_MSG(error, "--%s xxx", row->name);
		for (size_t k = 0; row->words[k]; k++)
			HI_ASSERT_MSG(strstr(error, row->words[k]), "%s in %s",
				      row->words[k], error);
	}
}

HI_TEST(options, numbers_sizes_and_times_have_bounds)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];
		struct hi_options o = {};
		char text[32];

		if (row->kind == HI_OPTION_SIZE) {
			HI_ASSERT(!error_of(row, "2K", &o));
			HI_ASSERT(*(uint64_t *)(void *)((char *)&o + row->at) == 2048);
			HI_ASSERT(!error_of(row, "0", &o) == (row->low == 0));
		} else if (row->kind == HI_OPTION_TIME) {
			HI_ASSERT(!error_of(row, "2s", &o));
			HI_ASSERT(*(uint64_t *)(void *)((char *)&o + row->at) ==
				  2000000000);
			HI_ASSERT(error_of(row, "2", &o));
			HI_ASSERT(!row->high || error_of(row, "10000d", &o));
		} else if (row->kind == HI_OPTION_NUMBER) {
			uint64_t value = 0;

			snprintf(text, sizeof(text), "%llu",
				 (unsigned long long)row->high);
			HI_ASSERT(!error_of(row, text, &o));
			memcpy(&value, (char *)&o + row->at, row->size);
			HI_ASSERT_MSG(value == row->high, "--%s %s", row->name, text);
			snprintf(text, sizeof(text), "%llu",
				 (unsigned long long)row->high + 1);
			HI_ASSERT_MSG(error_of(row, text, &o), "--%s %s", row->name,
				      text);
			HI_ASSERT(!row->low || error_of(row, "0", &o));
		}
	}
}

/* 2: it is wrong. */
static int parse_words(const char *const *words, char error[600])
{
	char *argv[10] = {word("heapinspect")}, copies[10][80];
	FILE *stream = fmemopen(error, 600, "w");
	struct hi_options o;
	int argc = 1, code;

	HI_ASSERT(stream != NULL);
	/* Values may be cut into pieces. */
	for (; words[argc - 1]; argc++) {
		snprintf(copies[argc], sizeof(copies[argc]), "%s", words[argc - 1]);
		argv[argc] = copies[argc];
	}
	hi_complaints_to(stream);
	code = hi_options_parse(argc, argv, &o);
	hi_complaints_to(NULL);
	fclose(stream);
	if (code == 0)
		hi_options_free(&o);
	return code;
}

HI_TEST(options, rows_need_and_exclude_others)
{
	static const struct {
		const char *words[8], *error; /* NULL: none */
	} cases[] = {
		{{"alloc", "--pid=1", "--depth=2"}, "--depth: only with --callers"},
		{{"alloc", "--pid=1", "--depth=2", "--callers"}, NULL},
		{{"alloc", "--pid=1", "--weight=1", "--format=html"}, NULL},
		{{"alloc", "--pid=1", "--weight=1", "--format=mlworks"},
		 "--weight: only with --bars or --format html"},
		{{"alloc", "--pid=1", "--centre=f", "--by=mark"},
		 "--centre and --by mark: only one of them"},
		{{"alloc", "--pid=1", "--centre=f", "--by=function"}, NULL},
		{{"record", "--pid=1", "--max-file=1M"},
		 "--max-file: only with --every or --keep-events"},
		{{"export", "--pid=1", "-fcsv", "--table=types"}, NULL},
		{{"export", "--pid=1", "-fdot", "--table=types"}, "only with --format"},
		{{"census", "--pid=1", "--all", "--top=3"},
		 "--all and --top: only one of them"},
		{{"census", "--pid=1", "--conservative", "--hints=x"},
		 "--conservative: not with --hints, which needs types"},
		{{"census", "--core=x", "--swap"}, "--swap: only with --pid"},
		{{"bio", "/nowhere/x.hisnap", "--watch=1"}, "--watch: only with --pid"},
		{{"graph", "/nowhere/x.hp", "--strict"}, "--strict: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char error[600] = "";
		int code = parse_words(cases[i].words, error);

		HI_ASSERT_MSG(code == (cases[i].error ? 2 : 0), "%zu: %s", i, error);
		HI_ASSERT_MSG(!cases[i].error || strstr(error, cases[i].error), "%zu: %s",
			      i, error);
	}
}
