/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/function_name.h"

#include <stdio.h>
#include <string.h>

enum {
	FUNCTION_BYTES_MAX = 8192,
	FUNCTION_NESTING_MAX = 64, /* of brackets */
};

/* The name as it is written, from left to right. */
struct function_scan {
	const char *at; /* what is left of the full name */
	char name[FUNCTION_BYTES_MAX];
	size_t used;
	bool failed; /* brackets have no partners */
};

static bool is_function_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* Copies n bytes of the full name; it is not longer than the buffer. */
static void copy_function_text(struct function_scan *s, size_t n)
{
	memcpy(s->name + s->used, s->at, n);
	s->used += n;
	s->at += n;
}

/* ---- brackets ---- */

static char closing_of(char open)
{
	return open == '<' ? '>' : open == '(' ? ')' : open == '[' ? ']' : '}';
}

/* Returns the length of the group that opens at text, with its brackets; 0: it does not
 * close. In "(a < b)" and "(a->b)" there is no angle bracket. */
static size_t bracket_length(const char *text)
{
	char open[FUNCTION_NESTING_MAX];
	unsigned depth = 0;

	for (size_t i = 0; text[i]; i++) {
		char c = text[i];

		if (strchr("<([{", c)) {
			if (depth == FUNCTION_NESTING_MAX)
				return 0;
			open[depth++] = c;
			continue;
		}
		if (!strchr(">)]}", c) || (c == '>' && i && text[i - 1] == '-'))
			continue;
		while (depth && c != '>' && open[depth - 1] == '<')
			depth--;
		if (!depth)
			return 0;
		if (closing_of(open[depth - 1]) == c && --depth == 0)
			return i + 1;
	}
	return 0;
}

static void copy_group(struct function_scan *s)
{
	size_t n = bracket_length(s->at);

	s->failed |= !n;
	copy_function_text(s, n);
}

static void skip_group(struct function_scan *s)
{
	size_t n = bracket_length(s->at);

	s->failed |= !n;
	s->at += n;
}

/* "{lambda(int)#1}" without its parameters. */
static void copy_lambda(struct function_scan *s)
{
	static const char begin[] = "{lambda(";
	size_t n;

	if (strncmp(s->at, begin, strlen(begin)) != 0) {
		copy_group(s);
		return;
	}
	copy_function_text(s, strlen(begin) - 1);
	n = bracket_length(s->at);
	s->failed |= !n;
	s->at += n;
	while (*s->at && *s->at != '}')
		copy_function_text(s, 1);
	if (*s->at)
		copy_function_text(s, 1);
}

/* ---- parts of a name ---- */

static const char *const symbols[] = {"()", "[]", "<=>", "->*", "<<=", ">>=", "->",
				      "<<", ">>", "<=",	 ">=",	"==",  "!=",  "&&",
				      "||", "++", "--",	 "+=",	"-=",  "*=",  "/=",
				      "%=", "^=", "&=",	 "|=",	"<",   ">",   "+",
				      "-",  "*",  "/",	 "%",	"^",   "&",   "|",
				      "~",  "!",  "=",	 ",",	"\"\""};

static bool begins_operator(const struct function_scan *s)
{
	return strncmp(s->at, "operator", 8) == 0 && !is_function_char(s->at[8]) &&
	       (!s->used || !is_function_char(s->name[s->used - 1]));
}

/* "operator<<" without the arguments of its own template, "operator new[]", "operator
 * std::string". */
static void copy_operator(struct function_scan *s)
{
	copy_function_text(s, 8);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (strncmp(s->at, symbols[i], strlen(symbols[i])) == 0) {
			copy_function_text(s, strlen(symbols[i]));
			s->at += s->at[0] == ' ' && s->at[1] == '<';
			if (*s->at == '<')
				skip_group(s);
			return;
		}
	while (*s->at && *s->at != '(' && !s->failed) {
		if (*s->at == '<' || *s->at == '[')
			copy_group(s);
		else
			copy_function_text(s, 1);
	}
}

/* Returns what follows parameters and qualifiers where that is "::"; NULL: it is not. */
static const char *scope_after_parameters(const char *text)
{
	static const char *const qualifiers[] = {" const", " volatile", " &&", " &",
						 " noexcept"};
	size_t n = bracket_length(text);

	if (!n)
		return NULL;
	text += n;
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++)
		if (strncmp(text, qualifiers[i], strlen(qualifiers[i])) == 0)
			text += strlen(qualifiers[i]);
	return strncmp(text, "::", 2) == 0 ? text : NULL;
}

/* Parameters end the name, but for those of a function that another one is in, and
 * parentheses of a return type. Returns false at the end. */
static bool read_parenthesis(struct function_scan *s)
{
	static const char unnamed[] = "(anonymous namespace)";
	const char *scope;

	if (strncmp(s->at, unnamed, strlen(unnamed)) == 0) {
		copy_function_text(s, strlen(unnamed));
		return true;
	}
	if (!s->used) {
		skip_group(s);
		return true;
	}
	scope = scope_after_parameters(s->at);
	if (!scope)
		return false;
	s->at = scope;
	return true;
}

/* ".constprop.0" and the like end the name; "Cart.add" is one of a script. */
static bool begins_suffix(const char *text)
{
	static const char *const suffixes[] = {".constprop", ".isra",	   ".part",
					       ".cold",	     ".lto_priv",  ".llvm",
					       ".clone",     ".localalias"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (strncmp(text, suffixes[i], n) == 0 && !is_function_char(text[n]))
			return true;
	}
	return false;
}

/* One step; false at the end of the name. */
static bool scan_function_name(struct function_scan *s)
{
	char c = *s->at;

	if (begins_operator(s)) {
		copy_operator(s);
		return true;
	}
	switch (c) {
	case '\0':
		return false;
	case ' ': /* a return type ends, or "[clone .cold]" begins */
		if (s->at[1] == '[')
			return false;
		s->at++;
		s->used = 0;
		return true;
	case '(':
		return read_parenthesis(s);
	case '<':
		copy_group(s);
		return true;
	case '{':
		copy_lambda(s);
		return true;
	case '[': /* "[abi:cxx11]" */
		skip_group(s);
		return true;
	case '.':
		if (s->used && begins_suffix(s->at))
			return false;
		copy_function_text(s, 1);
		return true;
	default:
		copy_function_text(s, 1);
		return true;
	}
}

/* ---- ends of names ---- */

static bool cut_function_end(struct function_scan *s, const char *end)
{
	size_t n = strlen(end);

	if (s->used <= n || memcmp(s->name + s->used - n, end, n) != 0)
		return false;
	s->used -= n;
	return true;
}

/* "::h0123456789abcdef" of Rust. */
static void cut_hash(struct function_scan *s)
{
	enum { HASH = 19 };

	if (s->used > HASH && memcmp(s->name + s->used - HASH, "::h", 3) == 0 &&
	    strspn(s->name + s->used - HASH + 3, "0123456789abcdef") == HASH - 3)
		s->used -= HASH;
}

/* A lambda is called by its name, not by its operator. */
static void cut_call_of_lambda(struct function_scan *s)
{
	static const char call[] = "}::operator()";

	if (cut_function_end(s, call))
		s->name[s->used++] = '}';
	s->name[s->used] = '\0';
}

const char *hi_function_short(const char *full, char *out, size_t size)
{
	struct function_scan s;

	if (!full)
		full = "";
	if (!size)
		return out;
	s.at = full;
	s.used = 0;
	s.failed =
		*full == '/' || strnlen(full, FUNCTION_BYTES_MAX) == FUNCTION_BYTES_MAX;
	while (!s.failed && scan_function_name(&s))
		;
	s.name[s.used] = '\0';
	cut_hash(&s);
	cut_call_of_lambda(&s);
	if (!s.failed && s.used)
		return hi_type_short(s.name, out, size);
	snprintf(out, size, "%s", full);
	return out;
}
