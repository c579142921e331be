/* SPDX-License-Identifier: BSD-2-Clause */
/* What the session tells the user (session/user.h), and what it leaves where nobody is. */
#include <stdio.h>
#include <string.h>

#include "decode/roots/named_roots.h"
#include "session/inspection.h"
#include "session/user.h"
#include "tests/harness.h"

static char told[400];

static void take_line(const char *line)
{
	snprintf(told, sizeof(told), "%s", line);
}

static void take_wrong_root(const struct hi_options *options,
			    const struct hi_root_text *root, size_t column,
			    struct hi_error *err)
{
	HI_ASSERT(options);
	snprintf(told, sizeof(told), "%s at %zu: %.200s", root->name, column, err->text);
	err->text[0] = 0;
}

static enum hi_status refuse(struct hi_error *err)
{
	const struct hi_options options = {};
	const struct hi_run run = {};
	struct hi_inspection in = {.options = &options, .run = &run};
	struct hi_root_text root = {.name = "conns", .expression = "conns->next"};

	(void)!hi_fail(err, HI_USAGE, 0, "no member next");
	return hi_inspection_wrong_root(&in, &root, 7, err);
}

static void be_nobody(void *arg)
{
	(void)arg;
	hi_user_be(NULL);
}

HI_TEST(user, is_told_lines_and_wrong_roots)
{
	static const struct hi_user_ops ops = {.line = take_line,
					       .wrong_root = take_wrong_root};
	struct hi_error err = {};

	hi_test_defer(be_nobody, NULL);
	hi_user_be(&ops);
	hi_user_tell("paused");
	HI_ASSERT_STREQ("paused", told);
	HI_ASSERT_STATUS(HI_USAGE, refuse(&err));
	HI_ASSERT_STREQ("conns at 7: no member next", told);
	/* Nothing is left to be printed. */
	HI_ASSERT_STREQ("", err.text);
	/* Operations that are not there. */
	HI_ASSERT(!hi_user_start_progress());
	hi_user_show_phase(NULL, "modules");
	hi_user_end_progress(NULL);
}

HI_TEST(user, where_nobody_is_told_the_error_has_the_text)
{
	struct hi_error err = {};

	told[0] = 0;
	hi_user_be(NULL);
	hi_user_tell("paused");
	HI_ASSERT_STATUS(HI_USAGE, refuse(&err));
	HI_ASSERT_STREQ("no member next", err.text);
	HI_ASSERT_STREQ("", told);
}
