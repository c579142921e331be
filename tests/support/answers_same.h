/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two answers to one question, apart from the differences that
 * answers_same.c declares, each with its reason.
 */
#ifndef HI_TESTS_SUPPORT_ANSWERS_SAME_H
#define HI_TESTS_SUPPORT_ANSWERS_SAME_H

#include "tests/support/answers.h"
#include "tests/support/command.h"

struct answer {
	enum answer_form form;
	const char *name;		  /* of the heap, as a word of a command line */
	const struct hi_command *command; /* whose output has no names of heaps */
};

/* Puts "@" for each file in the directory, for the process (--pid=N) and for options with
 * one of them. Takes the output, of *size bytes and a NUL; free what it returns. */
char *answer_without_names(char *out, size_t *size, const char *directory,
			   const char *process);
/* Returns whether they are the same; says in the log of the test what is not. */
bool answer_same(const struct question *q, const struct answer *one,
		 const struct answer *other);
/* Returns whether there is a row, or something else than a document. */
bool answer_has_rows(const struct answer *answer);
/* Returns the question in one line; valid until the next call. */
const char *answer_text(const struct question *q);

#endif
