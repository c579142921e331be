/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/type_namespace.h"

#include <string.h>

/* "struct shop::Session": the word is no part of the name. */
static const char *skip_type_words(const char *name)
{
	static const char *const words[] = {"const ", "volatile ", "struct ",
					    "class ", "union ",	   "enum "};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			name += strlen(words[i]);
	return name;
}

/* "[]", "[16]", "*" and "&" before a name of Go or Rust. */
static const char *skip_type_marks(const char *name)
{
	for (;;) {
		const char *end = *name == '[' ? strchr(name, ']') : NULL;

		if (end && end[1])
			name = end + 1;
		else if (*name == '*' || *name == '&')
			name++;
		else
			return name;
	}
}

/* "std::__cxx11", "std::__1": namespaces of a version are the library's affair. */
static size_t leave_versions_out(const char *name, size_t n)
{
	for (size_t i = 1; i + 4 <= n; i++)
		if (strncmp(name + i, "::__", 4) == 0)
			return i;
	return n;
}

const char *hi_type_namespace(const char *name, size_t *length_ret)
{
	size_t whole, colons = 0, dots = 0, slashes = 0;

	name = skip_type_marks(skip_type_words(name ? name : ""));
	/* Arguments, and what a declarator adds, have names of their own. */
	whole = strcspn(name, "<({[ *&");
	for (size_t i = 0; i < whole; i++) {
		if (name[i] == ':' && name[i + 1] == ':' && name[i + 2])
			colons = i;
		else if (name[i] == '.' && i + 1 < whole)
			dots = i;
		else if (name[i] == '/')
			slashes = i;
	}
	/* The dot of "github.com/x" is no end of a package. */
	*length_ret = colons	       ? leave_versions_out(name, colons)
		      : dots > slashes ? dots
				       : 0;
	return name;
}
