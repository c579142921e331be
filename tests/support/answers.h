/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One heap in several forms, which all give the same answer to a question: the process, a
 * core of it, snapshot files of either, and a file that was made of a file.
 */
#ifndef HI_TESTS_SUPPORT_ANSWERS_H
#define HI_TESTS_SUPPORT_ANSWERS_H

#include "tests/support/questions.h"

enum answer_form {
	ANSWER_PROCESS,
	ANSWER_CORE,
	ANSWER_FILE_OF_PROCESS, /* with the contents of objects */
	ANSWER_FILE_OF_CORE,	/* with them, too, and compressed */
	ANSWER_FILE_OF_FILE,	/* of a census in a file of many; without them */
	ANSWER_FORMS
};

/* A program that stands still, and what is asked about in it. */
struct answer_target {
	const char *program;	  /* of hi_fixture_start() */
	const char *arguments[5]; /* NULL ends */
	const char *type;	  /* of many objects */
	const char *retainer;	  /* --retainer */
	const char *expression;	  /* the root that holds most */
	const char *root;	  /* "r=" and this variable; NULL: it has no type */
	unsigned lacks;		  /* questions that are not for it: enum question_is */
	/* One of 2 * one_of questions in a row is put to the process and one to the core;
	 * `first` is where in the row the first question stands. Files are asked all. */
	size_t first, one_of;
	/* More questions, beside those of all targets; each is put to the process or to
	 * the core. */
	const struct question *more;
	size_t n_more;
};

/* Puts all questions of questions.h to all forms of the target, and each table of
 * `query`. Fails the test where answers differ, and says all that do. */
void answers_check(const struct answer_target *target);
/* Lists the values that an option can have, as the error about another one lists them,
 * with commas; NULL: it lists none. Valid until the test ends. */
char *answers_values(const char *command, const char *option);

#endif
