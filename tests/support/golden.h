/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Golden pages: whole pages of inputs that a test draws, kept as tests/golden/NAME.txt
 * and reviewed as files.
 *
 *	HI_EXPECT_GOLDEN("summary-80", text);
 *
 * A page that differs fails the test, which goes on to the next page; the message has the
 * first lines that differ, and the new page is in BUILD/golden/NAME.txt. scripts/golden
 * shows all that differ, and takes them with --update. A test whose page is not the one
 * it was is right only when somebody has read the new one: beside it stands which of its
 * numbers follow from what was drawn.
 *
 * NAME stands in quotes in the source of the test: a file that has no test fails one
 * (tests/report/golden_test.c).
 */
#ifndef HI_TESTS_SUPPORT_GOLDEN_H
#define HI_TESTS_SUPPORT_GOLDEN_H

#define HI_EXPECT_GOLDEN(name, text) hi_golden_check(__FILE__, __LINE__, name, text)
void hi_golden_check(const char *file, int line, const char *name, const char *text);

/* Several pages in one file, each below a line with its caption. The test frees them. */
struct hi_golden_pages *hi_golden_pages(void);
void hi_golden_add(struct hi_golden_pages *pages, const char *caption, const char *text);
#define HI_EXPECT_GOLDEN_PAGES(name, pages)                                              \
	hi_golden_check(__FILE__, __LINE__, name, hi_golden_text(pages))
const char *hi_golden_text(struct hi_golden_pages *pages);

/* Returns the text as a golden file has it: ESC is ␛, other controls are the pictures of
 * their names too, bytes that are no UTF-8 are ⟨ff⟩, and characters that are not seen or
 * turn the direction of a line ⟨U+202E⟩. A blank at the end of a line is ␠. The end of a
 * text without a newline is ⏎ and a newline. free(). */
char *hi_golden_visible(const char *text);

/* Returns the first lines that differ, with their numbers, of the old text (-) and the
 * new one (+), at most four of each; "" for equal texts. free(). */
char *hi_golden_difference(const char *old_text, const char *new_text);

#endif
