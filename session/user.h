/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells the user something beside the results: code of the session prints nothing, since
 * the user may be a terminal, a page or nobody. The program names its functions once;
 * before that nobody is told.
 */
#ifndef HI_SESSION_USER_H
#define HI_SESSION_USER_H

#include <stddef.h>

#include "base/error.h"

struct hi_options;
struct hi_progress;
struct hi_root_text;

/* Each may be NULL: then it is not told. */
struct hi_user_ops {
	/* Prints a line; the text is hostile. */
	void (*line)(const char *text);
	/* A root of the options is wrong at byte `column` of its expression. `why` is
	 * hostile. Fills err with what is still to be printed: "" nothing. */
	void (*wrong_root)(const struct hi_options *options,
			   const struct hi_root_text *root, size_t column,
			   struct hi_error *err);
	/* Shows which phase of work that takes long runs, until the end. *ret may be
	 * NULL, which is fine for the others. Names have static storage. */
	struct hi_progress *(*start_progress)(void);
	void (*show_phase)(struct hi_progress *progress, const char *name);
	void (*end_progress)(struct hi_progress *progress);
};

/* From now on; static storage. NULL: nobody is told. */
void hi_user_be(const struct hi_user_ops *ops);

void hi_user_tell(const char *line);
/* err: what is wrong with it, and then as wrong_root leaves it. Returns HI_USAGE. */
enum hi_status hi_user_refuse_root(const struct hi_options *options,
				   const struct hi_root_text *root, size_t column,
				   struct hi_error *err);
struct hi_progress *hi_user_start_progress(void);
void hi_user_show_phase(struct hi_progress *progress, const char *name);
void hi_user_end_progress(struct hi_progress *progress);

#endif
