/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions about one heap, as command lines: for each command that reads one, with each
 * of its options. Whoever has the same heap gives the same answer.
 *
 * To add a command or an option: a question here, or a line in the lists of what is not
 * asked, with the reason. tests/cli/same_answers_test.c fails until there is one.
 */
#ifndef HI_TESTS_SUPPORT_QUESTIONS_H
#define HI_TESTS_SUPPORT_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { QUESTION_WORDS = 16 };

enum question_is {
	/* Allows no rows: leaks of a program without any. */
	QUESTION_OF_FEW = 1,
	/* Is answered of a process and of a core; files refuse it. */
	QUESTION_OF_MEMORY = 2,
	/* Needs a runtime that counts references. */
	QUESTION_OF_COUNTS = 4,
	/* Needs a list below the expression. */
	QUESTION_OF_GROUPS = 8,
};

/*
 * A command and its words; NULL ends. "@" is the heap, which else follows the command.
 * In words, "@type", "@retainer", "@root", "@expression", "@address0" to "@address3",
 * "@leak" (an address) and "@file" (a snapshot of the same heap) are those of the target.
 */
struct question {
	const char *words[QUESTION_WORDS];
	unsigned is; /* bits of enum question_is */
};

/* The questions; the table does not change. */
size_t question_count(void);
const struct question *question_at(size_t i);
/* Returns whether it has this word, with this value after it. */
bool question_has(const struct question *q, const char *word);
bool question_has_value(const struct question *q, const char *word, const char *value);

/* Says what no question asks, and why. NULL: of all. */
struct question_not_asked {
	const char *command, *option, *value;
	const char *reason;
};
size_t question_not_asked_count(void);
const struct question_not_asked *question_not_asked_at(size_t i);

#endif
