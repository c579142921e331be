/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/metrics.h"

#include <stdlib.h>
#include <string.h>

/* What follows the braces; quotes may hold any of them. NULL: they do not end. */
static const char *skip_labels(const char *s)
{
	bool is_quoted = false;

	if (*s != '{')
		return s;
	for (s++; *s && *s != '\n' && (is_quoted || *s != '}'); s++) {
		if (is_quoted && *s == '\\' && s[1])
			s++;
		else if (*s == '"')
			is_quoted = !is_quoted;
	}
	return *s == '}' ? s + 1 : NULL;
}

/* The value of a line of this name; NULL: it is another line. */
static const char *find_value(const char *line, const char *name)
{
	size_t n = strlen(name);
	const char *s = strncmp(line, name, n) == 0 ? skip_labels(line + n) : NULL;

	return s && *s == ' ' ? s + 1 : NULL;
}

static bool find_sample(const char *text, const char *name, const long long *value)
{
	const char *next;

	for (const char *line = text; line; line = next ? next + 1 : NULL) {
		const char *s = find_value(line, name);
		char *end = NULL;

		if (s && !value)
			return true;
		if (s && strtoll(s, &end, 10) == *value && end > s && strchr(" \n", *end))
			return true;
		next = strchr(line, '\n');
	}
	return false;
}

bool hi_metrics_have(const char *text, const char *name)
{
	return find_sample(text, name, NULL);
}

bool hi_metrics_have_value(const char *text, const char *name, long long value)
{
	return find_sample(text, name, &value);
}
