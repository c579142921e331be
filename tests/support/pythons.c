/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/pythons.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

void hi_each_python(void (*fn)(const char *python))
{
	const char *list = getenv("HI_PYTHONS");
	char path[PATH_MAX];

	if (!list || !*list)
		list = "/usr/bin/python3.11";
	while (*list) {
		size_t n = strcspn(list, ":");

		HI_ASSERT(n > 0 && n < sizeof(path));
		snprintf(path, sizeof(path), "%.*s", (int)n, list);
		hi_test_note("%s", path);
		fn(path);
		list += n + (list[n] == ':');
	}
}
