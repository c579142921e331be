/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/command_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct words {
	const char *at, *end;
};

/* Returns the next argument and its length; NULL after the last. */
static const char *next_argument(struct words *words, size_t *n_ret)
{
	const char *word = words->at;
	size_t left = (size_t)(words->end - word);

	if (!left)
		return NULL;
	*n_ret = strnlen(word, left);
	words->at += *n_ret < left ? *n_ret + 1 : left;
	return word;
}

/* A title that the program has written over its arguments ends in many NULs. */
static struct words begin_arguments(const struct hi_command_line *line)
{
	size_t size = line->size;

	while (size && !line->bytes[size - 1])
		size--;
	return (struct words){line->bytes, line->bytes + size};
}

static bool is_plain_argument(const char *word, size_t n)
{
	static const char plain[] = "_./+-:@%,=~^";

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)word[i]) &&
		    (!word[i] || !strchr(plain, word[i])) && !(word[i] & 0x80))
			return false;
	return n > 0;
}

/* In quotes; a quote in it as '\''. At most 4 n + 2 bytes. */
static char *put_quoted(char *out, const char *word, size_t n)
{
	*out++ = '\'';
	for (size_t i = 0; i < n; i++)
		if (word[i] == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = word[i];
	*out++ = '\'';
	return out;
}

char *hi_command_line_text(const struct hi_command_line *line, bool first_only)
{
	struct words words = begin_arguments(line);
	char *text = hi_alloc(line->size * 5 + 8), *out = text;
	const char *word;
	size_t n = 0, i = 0;

	if (!text)
		return NULL;
	while ((word = next_argument(&words, &n)) && !(first_only && i)) {
		/* A title is one argument, to be read as it is. */
		bool is_title = !i && words.at == words.end;

		if (i++)
			*out++ = ' ';
		if (is_title && first_only)
			n = strcspn(word, " ") < n ? strcspn(word, " ") : n;
		if (is_title || is_plain_argument(word, n))
			out = (char *)mempcpy(out, word, n);
		else
			out = put_quoted(out, word, n);
	}
	strcpy(out, line->is_cut && !first_only ? "..." : "");
	return text;
}

/* ---- what an interpreter runs ---- */

struct interpreter {
	const char *name;     /* a version may follow: python3.11 */
	const char *code;     /* letters of options that have the code as their value */
	const char *valued;   /* letters of options with a value */
	const char *long_one; /* long options with a value, between blanks */
	bool has_modules;     /* -m MODULE */
};

static const struct interpreter interpreters[] = {
	{"python", "c", "WX", " --check-hash-based-pycs ", true},
	{"pypy", "c", "WX", " --check-hash-based-pycs ", true},
	{"perl", "eE", "I", " ", false},
	{"ruby", "e", "IrCEF", " ", false},
	{"node", "ep", "r", " --require --import --loader --eval --print ", false},
	{"nodejs", "ep", "r", " --require --import --loader --eval --print ", false},
	{"php", "r", "cdz", " ", false},
	{"lua", "e", "l", " ", false},
	{"bash", "c", "oO", " --rcfile --init-file ", false},
	{"dash", "c", "o", " ", false},
	{"sh", "c", "o", " ", false},
	{"java", "", "", " -cp -classpath --class-path -p --module-path ", false},
};

static const struct interpreter *find_interpreter(const char *exe)
{
	const char *name = hi_base_name(exe);

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++) {
		size_t n = strlen(interpreters[i].name);

		if (strncmp(name, interpreters[i].name, n) == 0 &&
		    strspn(name + n, "0123456789.-dtm") == strlen(name + n))
			return &interpreters[i];
	}
	return NULL;
}

static bool is_long_valued(const struct interpreter *in, const char *word, size_t n)
{
	const char *at = in->long_one;

	while ((at = memmem(at, strlen(at), word, n))) {
		if (at > in->long_one && at[-1] == ' ' && at[n] == ' ')
			return true;
		at++;
	}
	return false;
}

static char *join_script(const char *option, const char *word, size_t n)
{
	char *ret = hi_alloc(strlen(option) + n + 1);

	if (ret) {
		memcpy(stpcpy(ret, option), word, n);
		ret[strlen(option) + n] = 0;
	}
	return ret;
}

/*
 * One word of options, as -uBm or -X dev. Returns 0 to go on, 'v' when the next word is
 * its value, 'c' when code follows, 'm' when a module does: in this word from *rest on,
 * or in the next one.
 */
static char read_letters(const struct interpreter *in, const char *word, size_t n,
			 size_t *rest)
{
	for (size_t i = 1; i < n; i++) {
		*rest = i + 1;
		if (strchr(in->code, word[i]))
			return 'c';
		if (in->has_modules && word[i] == 'm')
			return 'm';
		if (strchr(in->valued, word[i]))
			return i + 1 < n ? 0 : 'v';
	}
	return 0;
}

static char *find_script(const struct interpreter *in, struct words *words)
{
	const char *word;
	size_t n, rest = 0;

	next_argument(words, &n);
	while ((word = next_argument(words, &n))) {
		char what = 0;

		if (n < 2 || *word != '-')
			return join_script("", word, *word == '-' ? 0 : n);
		if (n == 4 && !*in->code && memcmp(word, "-jar", 4) == 0) {
			word = next_argument(words, &n);
			return join_script("-jar ", word ? word : "", word ? n : 0);
		}
		if (is_long_valued(in, word, n))
			what = 'v';
		else if (word[1] != '-' && *in->code)
			what = read_letters(in, word, n, &rest);
		if (what == 'c')
			break;
		if (what == 'm' && rest < n)
			return join_script("-m ", word + rest, n - rest);
		if (what && !(word = next_argument(words, &n)))
			break;
		if (what == 'm')
			return join_script("-m ", word, n);
	}
	return hi_strdup("");
}

char *hi_command_line_script(const char *exe, const struct hi_command_line *line)
{
	const struct interpreter *in = find_interpreter(exe);
	struct words words = begin_arguments(line);

	/* The last word may be the half of one. */
	while (line->is_cut && words.end > words.at && words.end[-1])
		words.end--;
	return in ? find_script(in, &words) : hi_strdup("");
}

bool hi_command_line_of_note(struct hi_command_line *ret, const char *text, size_t n)
{
	size_t size = strnlen(text, n);

	/* The kernel ends it at the last byte but one. */
	*ret = (struct hi_command_line){hi_alloc(size + 1), size, size + 1 >= n};
	if (!ret->bytes)
		return false;
	for (size_t i = 0; i < size; i++)
		ret->bytes[i] = (char)(text[i] == ' ' ? 0 : text[i]);
	return true;
}

void hi_command_line_free(struct hi_command_line *line)
{
	free(line->bytes);
	*line = (struct hi_command_line){};
}
