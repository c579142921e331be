/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of dicts in paths: the fixture prints them with the addresses of their values. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

enum { LEAST = 12 };

struct keys {
	const struct target *target;
	const char *file; /* a snapshot of it */
	size_t seen;
};

static void check_key_line(const char *line, void *arg)
{
	char address[24], path[100], quoted[110];
	const struct hi_command *c;
	struct keys *k = arg;

	if (strncmp(line, "P ", 2) != 0)
		return;
	k->seen++;
	HI_ASSERT_EQ(2, sscanf(line, "P %23s %99[^\n]", address, path));
	doc_row(doc_at(python_ask_file(k->file, "paths", address, "-k", "9"), "rows"),
		"path", path);
	/* A line break is escaped once. */
	if (!strstr(line, "line"))
		return;
	c = target_run(k->target, "paths", address, "--width=120", "-k", "9");
	snprintf(quoted, sizeof(quoted), "\n  %s\n", path);
	HI_ASSERT_MSG(strstr(c->out, quoted), "%s: no %s\n%s", address, path, c->out);
}

HI_TEST_SCENARIO(python_keys, are_shown_as_source)
{
	struct target *t = python_start("PYTHONUTF8=1", "keys", NULL, NULL);
	struct keys k = {.target = t, .file = target_snap(t)};

	target_each_line(t, check_key_line, &k);
	HI_ASSERT_EQ(LEAST, k.seen);
}
