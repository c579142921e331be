/* SPDX-License-Identifier: BSD-2-Clause */
/* Golden pages as such: each file has a test, what is not seen is shown, and differences
 * name their lines. */
#include "tests/support/golden.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/harness.h"

static const char *visible(const char *text)
{
	char *seen = hi_golden_visible(text);

	hi_test_defer(free, seen);
	return seen;
}

HI_TEST(golden, nothing_that_a_terminal_obeys_is_in_a_file)
{
	HI_ASSERT_STREQ("", visible(""));
	HI_ASSERT_STREQ("a ≥ 7 B · ü表\n", visible("a ≥ 7 B · ü表\n"));
	HI_ASSERT_STREQ("␛[1mred␛[0m\n", visible("\033[1mred\033[0m\n"));
	HI_ASSERT_STREQ("␇␉␍␡\n", visible("\a\t\r\x7f\n"));
	/* An escape that we wrote is not what it stands for. */
	HI_ASSERT_STREQ("\\x1b\n", visible("\\x1b\n"));
	HI_ASSERT_STREQ("⟨ff⟩⟨c3⟩(⟨e2⟩⟨80⟩\n", visible("\xff\xc3(\xe2\x80\n"));
	/* Longer than needed, and beyond Unicode. */
	HI_ASSERT_STREQ("⟨c0⟩⟨af⟩⟨f4⟩⟨90⟩⟨80⟩⟨80⟩\n",
			visible("\xc0\xaf\xf4\x90\x80\x80\n"));
	HI_ASSERT_STREQ("⟨U+202E⟩x⟨U+009B⟩⟨U+200B⟩\n",
			visible("\xe2\x80\xaex\xc2\x9b\xe2\x80\x8b\n"));
	HI_ASSERT_STREQ("a b ␠\n\n␠\n", visible("a b  \n\n \n"));
	HI_ASSERT_STREQ("no end⏎\n", visible("no end"));
}

static const char *difference(const char *old_text, const char *new_text)
{
	char *text = hi_golden_difference(old_text, new_text);

	hi_test_defer(free, text);
	return text;
}

HI_TEST(golden, a_difference_has_the_first_lines_that_differ)
{
	HI_ASSERT_STREQ("", difference("", ""));
	HI_ASSERT_STREQ("", difference("a\nb\n", "a\nb\n"));
	HI_ASSERT_STREQ("-   2 b\n+   2 B\n", difference("a\nb\nc\n", "a\nB\nc\n"));
	HI_ASSERT_STREQ("+   2 b\n", difference("a\nc\n", "a\nb\nc\n"));
	HI_ASSERT_STREQ("-   2 a\n", difference("a\na\n", "a\n"));
	HI_ASSERT_STREQ("-   1 a\n-   2 b\n-   3 c\n-   4 d\n-     and 2 lines more\n"
			"+   1 x\n",
			difference("a\nb\nc\nd\ne\nf\n", "x\n"));
	/* One is the start of the other. */
	HI_ASSERT_STREQ("-   1 ab\n+   1 a\n", difference("ab\n", "a\n"));
}

static void append_file(const char *path, FILE *out)
{
	static char source[1 << 20];
	FILE *in = fopen(path, "re");
	size_t n;

	HI_ASSERT(in != NULL);
	n = fread(source, 1, sizeof(source) - 1, in);
	fclose(in);
	source[n] = 0;
	if (strstr(source, "HI_EXPECT_GOLDEN"))
		fputs(source, out);
}

/* The sources of all tests that have golden pages, as one text. */
static const char *sources_with_golden_pages(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	glob_t tests;

	HI_ASSERT(out != NULL);
	HI_ASSERT_EQ(0, glob(HI_SOURCE_DIR "/tests/*/*_test.c", 0, NULL, &tests));
	for (size_t i = 0; i < tests.gl_pathc; i++)
		append_file(tests.gl_pathv[i], out);
	globfree(&tests);
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

HI_TEST(golden, each_file_has_a_test)
{
	const char *sources = sources_with_golden_pages();
	glob_t files;

	HI_ASSERT_EQ(0, glob(HI_SOURCE_DIR "/tests/golden/*", 0, NULL, &files));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *name = strrchr(files.gl_pathv[i], '/') + 1;
		const char *end = strstr(name, ".txt");
		char quoted[256];

		HI_ASSERT_MSG(end && !end[4], "tests/golden/%s is no page", name);
		snprintf(quoted, sizeof(quoted), "\"%.*s\"", (int)(end - name), name);
		HI_ASSERT_MSG(strstr(sources, quoted), "tests/golden/%s has no test",
			      name);
	}
	globfree(&files);
}
