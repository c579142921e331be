/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/type_names.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* A word that says nothing, at the start of p: its length. */
static size_t dropped_word(const char *p)
{
	static const char *const words[] = {"const", "struct", "class", "union"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (strncmp(p, words[i], length) == 0 && !is_word(p[length]))
			return length;
	}
	return 0;
}

static void replace(char *text, const char *from, const char *to)
{
	size_t from_length = strlen(from), to_length = strlen(to);

	for (char *p = text; (p = strstr(p, from)); p += to_length) {
		memmove(p + to_length, p + from_length, strlen(p + from_length) + 1);
		memcpy(p, to, to_length);
	}
}

void type_name_normalize(const char *name, char out[TYPE_NAME_MAX])
{
	size_t n = 0;
	char last = 0; /* of the input that was kept or passed over */

	for (const char *p = name; *p && n + 2 < TYPE_NAME_MAX; p++) {
		size_t drop = is_word(last) ? 0 : dropped_word(p);

		if (drop) {
			p += drop - 1;
			last = ' ';
			continue;
		}
		if (*p != ' ') {
			if (last == ' ' && n > 0 && is_word(out[n - 1]) && is_word(*p))
				out[n++] = ' ';
			out[n++] = *p;
		}
		last = *p;
	}
	out[n] = 0;
	replace(out, "long unsigned int", "unsigned long");
	replace(out, "long int", "long");
	/* Clang names the enumerator, others its value. */
	replace(out, "(__gnu_cxx::_Lock_policy)2", "__gnu_cxx::_S_atomic");
}

/* '%' is any number of characters; linear in the product at worst. */
static bool glob(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*pattern == '%') {
			star = ++pattern;
			again = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '%')
		pattern++;
	return !*pattern;
}

bool type_name_fits(const char *expected, const char *actual)
{
	char have[TYPE_NAME_MAX], want[TYPE_NAME_MAX], one[TYPE_NAME_MAX];

	type_name_normalize(actual, have);
	for (const char *p = expected; p;
	     p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
		size_t length = strcspn(p, "|");

		if (length >= sizeof(one))
			continue;
		memcpy(one, p, length);
		one[length] = 0;
		type_name_normalize(one, want);
		if (strcmp(want, "?") == 0 ? !have[0] : glob(want, have))
			return true;
	}
	return false;
}
