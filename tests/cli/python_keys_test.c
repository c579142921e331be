/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of dicts in paths: the fixture prints them with the addresses of their values. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

enum { LEAST = 12 };

static bool has_key_path(json_t *doc, const char *path)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(doc, "rows"), i, row)
	{
		if (strcmp(python_text(row, "path"), path) == 0)
			return true;
	}
	return false;
}

static void check_key_line(const struct python *p, const char *line, bool in_text)
{
	char address[24], path[100], quoted[110];

	HI_ASSERT_EQ(2, sscanf(line, "P %23s %99[^\n]", address, path));
	if (!in_text) {
		json_t *doc = python_ask(p, PYTHON_WORDS("paths", address, "-k", "9"));

		HI_ASSERT_MSG(has_key_path(doc, path), "%s: no %s", address, path);
		return;
	}
	const struct hi_command *c = hi_heapinspect("paths", address, "--width=120", "-k",
						    "9", "--pid", p->pid);

	snprintf(quoted, sizeof(quoted), "\n  %s\n", path);
	HI_ASSERT_MSG(strstr(c->out, quoted), "%s: no %s\n%s", address, path, c->out);
}

HI_TEST_SCENARIO(python_keys, are_shown_as_source)
{
	struct python *p = python_start("PYTHONUTF8=1", "keys", NULL, NULL);
	size_t seen = 0;

	for (size_t i = 0; i < p->n_lines; i++) {
		if (strncmp(p->lines[i], "P ", 2) != 0)
			continue;
		check_key_line(p, p->lines[i], false);
		/* A line break is escaped once. */
		if (strstr(p->lines[i], "line"))
			check_key_line(p, p->lines[i], true);
		seen++;
	}
	HI_ASSERT_EQ(LEAST, seen);
}
