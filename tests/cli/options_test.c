/* SPDX-License-Identifier: BSD-2-Clause */
/* Each flag and each word sets what it is called for, and nothing else. */
#include <string.h>

#include "cli/options/options.h"
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
