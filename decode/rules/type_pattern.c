/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/rules/type_pattern.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"

/* A name without the blanks that do not count; from[i]: where text[i] was. */
struct plain {
	char *text;
	uint32_t *from;
	size_t n;
};

static void plain_free(struct plain *plain)
{
	free(plain->text);
	free(plain->from);
}

static bool is_pattern_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static size_t keyword_length(const char *name, size_t n)
{
	static const char *const keywords[] = {"struct ", "class ", "union ", "enum "};

	for (size_t i = 0; i < 4; i++)
		if (n > strlen(keywords[i]) &&
		    memcmp(name, keywords[i], strlen(keywords[i])) == 0)
			return strlen(keywords[i]);
	return 0;
}

static bool plain_make(const char *name, size_t n, struct plain *ret)
{
	size_t i = keyword_length(name, n);

	ret->text = hi_alloc(n + 1);
	ret->from = hi_alloc((n + 1) * sizeof(*ret->from));
	ret->n = 0;
	if (!ret->text || !ret->from)
		return false;
	for (; i < n; i++) {
		if (isspace((unsigned char)name[i])) {
			size_t next = i;

			while (next < n && isspace((unsigned char)name[next]))
				next++;
			/* Blanks around anything but words do not count. */
			if (ret->n == 0 || !is_pattern_word(ret->text[ret->n - 1]) ||
			    next == n || !is_pattern_word(name[next])) {
				i = next - 1;
				continue;
			}
			i = next - 1;
		}
		ret->from[ret->n] = (uint32_t)i;
		ret->text[ret->n++] = isspace((unsigned char)name[i]) ? ' ' : name[i];
	}
	ret->from[ret->n] = (uint32_t)n;
	ret->text[ret->n] = '\0';
	return true;
}

uint64_t hi_type_name_key(const char *name, size_t length)
{
	__attribute__((cleanup(plain_free))) struct plain plain = {};
	uint64_t hash;
	size_t n = 0;

	if (!plain_make(name, length, &plain))
		return 0;
	while (n < plain.n && plain.text[n] != '<')
		n++;
	hash = hi_hash_more(HI_HASH_START, plain.text, n);
	return hash ? hash : 1;
}

/* ---- matching ---- */

struct level {
	uint32_t index, of;
	bool last; /* these brackets are the last: they belong to the type itself */
};

struct match {
	struct plain pattern, name;
	const char *pattern_text, *name_text;
	size_t p, n;
	unsigned depth;
	struct level levels[HI_PATTERN_DEPTH];
	struct hi_captures captures;
	bool is_function, no_memory;
};

/* Behind the argument that begins at `at`: its ',' or '>', or the end. */
static size_t argument_end(const char *text, size_t at)
{
	unsigned depth = 0;

	for (; text[at]; at++) {
		char c = text[at];

		if (c == '-' && text[at + 1] == '>')
			at++;
		else if (c == '<' || c == '(' || c == '[' || c == '{')
			depth++;
		else if (depth == 0 && (c == ',' || c == '>' || c == ')' || c == ']'))
			return at;
		else if (c == '>' || c == ')' || c == ']' || c == '}')
			depth -= depth > 0;
	}
	return at;
}

static struct hi_argument_path path_of(const struct match *m)
{
	struct hi_argument_path path = {};

	if (m->depth > HI_PATTERN_DEPTH)
		return path;
	for (unsigned i = 0; i < m->depth; i++) {
		if (!m->levels[i].last)
			return path;
		path.index[i] = m->levels[i].index;
		path.of[i] = m->levels[i].of;
	}
	path.depth = m->depth;
	return path;
}

static void enter_brackets(struct match *m)
{
	struct level level = {};
	size_t at = m->n + 1;
	char next;

	if (m->depth < HI_PATTERN_DEPTH) {
		if (m->name.text[at] != '>')
			for (level.of = 1; at = argument_end(m->name.text, at),
			    m->name.text[at] == ',' && level.of < 4096;
			     level.of++)
				at++;
		next = m->name.text[at] ? m->name.text[at + 1] : '\0';
		level.last = next == '\0' || next == ',' || next == '>';
		m->levels[m->depth] = level;
	}
	m->depth++;
}

static void add_capture(struct match *m, size_t name_at, size_t name_end, size_t end,
			bool of_pack)
{
	bool whole = end == argument_end(m->name.text, m->n);
	struct hi_capture c = {.name = m->pattern_text + m->pattern.from[name_at],
			       .name_length = (uint32_t)(name_end - name_at),
			       .at = m->name_text + m->name.from[m->n],
			       .of_pack = of_pack,
			       .whole = whole,
			       .path = path_of(m)};

	/* Up to the last byte that counts. */
	c.length = m->name.from[end - 1] + 1 - m->name.from[m->n];
	if (!hi_vector_push(&m->captures, c))
		m->no_memory = true;
}

static bool pattern_is(const struct match *m, size_t at, const char *text)
{
	return strncmp(m->pattern.text + at, text, strlen(text)) == 0;
}

/* `$T` as it stands at the pattern's p. */
static size_t capture_name_end(const struct match *m)
{
	size_t end = m->p + 1;

	while (isalnum((unsigned char)m->pattern.text[end]) ||
	       m->pattern.text[end] == '_')
		end++;
	return end;
}

static bool take_pack(struct match *m, size_t name_end)
{
	size_t name_at = m->p + 1;

	m->p = name_end + 3;
	while (m->name.text[m->n] && m->name.text[m->n] != '>') {
		size_t end = argument_end(m->name.text, m->n);

		if (end == m->n || m->captures.count > 4096)
			return false;
		if (name_at < name_end)
			add_capture(m, name_at, name_end, end, true);
		m->n = end;
		if (m->name.text[end] != ',')
			break;
		m->n++;
		if (m->depth && m->depth <= HI_PATTERN_DEPTH)
			m->levels[m->depth - 1].index++;
	}
	return true;
}

/* Matches `$T`, and the text behind it in the same argument; of `$T@PATTERN` all of the
 * argument, which the pattern is to match next. */
static bool take_capture(struct match *m)
{
	size_t name_end = capture_name_end(m), end = argument_end(m->name.text, m->n);
	size_t rest = argument_end(m->pattern.text, name_end) - name_end;
	size_t behind = name_end;

	if (pattern_is(m, name_end, "..."))
		return take_pack(m, name_end);
	if (m->pattern.text[name_end] == '@' && end > m->n) {
		add_capture(m, m->p + 1, name_end, end, false);
		m->p = name_end + 1;
		return true;
	}
	/* The blank of ` const` is none behind `>` or `*`. */
	if (m->pattern.text[name_end] == ' ' && end - m->n >= rest && rest > 1 &&
	    m->name.text[end - rest] != ' ' && !is_pattern_word(m->name.text[end - rest]))
		behind++, rest--;
	if (end - m->n <= rest ||
	    memcmp(m->name.text + end - rest, m->pattern.text + behind, rest) != 0)
		return false;
	add_capture(m, m->p + 1, name_end, end - rest, false);
	m->n = end - rest;
	m->p = behind;
	return true;
}

static bool at_argument(const struct match *m)
{
	char before = m->p ? m->pattern.text[m->p - 1] : '\0';

	return before == '<' || before == ',';
}

static bool take_literal(struct match *m)
{
	char c = m->pattern.text[m->p];

	if (c != m->name.text[m->n])
		return false;
	if (c == '<')
		enter_brackets(m);
	else if (c == '>' && m->depth && m->name.text[m->n - (m->n > 0)] != '-')
		m->depth--;
	else if (c == ',' && m->depth && m->depth <= HI_PATTERN_DEPTH)
		m->levels[m->depth - 1].index++;
	m->p++;
	m->n++;
	return true;
}

/* An empty rest: `<$T, ...>` fits `<int>`. */
static bool take_nothing(struct match *m)
{
	size_t at = m->p + 1;

	if (m->name.text[m->n] != '>')
		return false;
	if (m->pattern.text[at] == '$')
		while (is_pattern_word(m->pattern.text[at]))
			at++;
	if (strncmp(m->pattern.text + at, "...", 3) != 0)
		return false;
	m->p = at + 3;
	return true;
}

static bool step_match(struct match *m)
{
	char c = m->pattern.text[m->p], next = m->pattern.text[m->p + 1];

	if (c == '$' && (isalpha((unsigned char)next) || next == '_'))
		return take_capture(m);
	if (c == '*' && at_argument(m) && (next == ',' || next == '>')) {
		size_t end = argument_end(m->name.text, m->n);

		if (end == m->n)
			return false;
		m->n = end;
		m->p++;
		return true;
	}
	if (c == '*' && !next && m->is_function) {
		m->n = m->name.n;
		m->p++;
		return true;
	}
	if (pattern_is(m, m->p, "...") && at_argument(m))
		return take_pack(m, m->p);
	if (c == ',' && take_nothing(m))
		return true;
	return take_literal(m);
}

static bool is_end(const struct match *m)
{
	char c = m->name.text[m->n];

	return c == '\0' || (m->is_function && (c == '(' || c == '[' || c == ' '));
}

enum hi_match hi_type_pattern_match(const char *pattern, size_t pattern_length,
				    const char *name, bool is_function,
				    struct hi_captures *captures)
{
	struct match m = {
		.pattern_text = pattern, .name_text = name, .is_function = is_function};
	bool fits = plain_make(pattern, pattern_length, &m.pattern) &&
		    plain_make(name, strlen(name), &m.name);

	m.no_memory = !fits;
	while (fits && m.p < m.pattern.n && !m.no_memory)
		fits = step_match(&m);
	fits = fits && is_end(&m);
	for (size_t i = 0; fits && !m.no_memory && i < m.captures.count; i++)
		m.no_memory = !hi_vector_push(captures, m.captures.items[i]);
	hi_vector_free(&m.captures);
	plain_free(&m.pattern);
	plain_free(&m.name);
	return m.no_memory ? HI_MATCH_NO_MEMORY : fits ? HI_MATCH_YES : HI_MATCH_NO;
}

/* ---- from text to types ---- */

static bool strip_keyword(const char **name, size_t *length, const char *word,
			  bool behind)
{
	size_t n = strlen(word);

	if (*length <= n || memcmp(behind ? *name + *length - n : *name, word, n) != 0)
		return false;
	if (!behind)
		*name += n;
	*length -= n;
	return true;
}

/* const, blanks and the stars behind; *stars_ret counts them. */
static void strip_all(const char **name, size_t *length, unsigned *stars_ret)
{
	bool more = true;

	while (more) {
		unsigned stars = *stars_ret;

		if (strip_keyword(name, length, "*", true) ||
		    strip_keyword(name, length, "&&", true) ||
		    strip_keyword(name, length, "&", true))
			(*stars_ret)++;
		more = stars != *stars_ret || strip_keyword(name, length, " ", true) ||
		       strip_keyword(name, length, " ", false) ||
		       strip_keyword(name, length, " const", true) ||
		       strip_keyword(name, length, ">const", true) ||
		       strip_keyword(name, length, "*const", true) ||
		       strip_keyword(name, length, " volatile", true) ||
		       strip_keyword(name, length, "const ", false) ||
		       strip_keyword(name, length, "volatile ", false);
	}
}

hi_type_id hi_type_by_name(const struct hi_expression_source *source, const char *name,
			   size_t length)
{
	HI_GUARD(free) char *copy = NULL;
	unsigned stars = 0;
	hi_type_id id;

	strip_all(&name, &length, &stars);
	copy = hi_strndup(name, length);
	if (!copy || !length)
		return 0;
	id = source->type_named(source->arg, copy);
	for (unsigned i = 0; i < stars && id; i++)
		id = source->pointer_to(source->arg, id);
	return id;
}

/* By the template arguments of the types on the way. False: they do not determine it. */
static bool by_argument(const struct hi_expression_source *source, hi_type_id type,
			struct hi_capture *c)
{
	const struct hi_argument_path *path = &c->path;
	const struct hi_template_arg *arg = NULL;

	if (!c->whole || !path->depth || !type)
		return false;
	for (uint32_t i = 0; i < path->depth; i++) {
		const struct hi_type *t = source->type(source->arg, type);

		if (t->n_args != path->of[i] || path->index[i] >= t->n_args)
			return false;
		arg = &t->args[path->index[i]];
		type = arg->type;
		if (!type && i + 1 < path->depth)
			return false;
	}
	c->type = type ? source->type(source->arg, type)->id : 0;
	c->is_value = !type;
	c->value = arg->value;
	return true;
}

/* "true", "42ul", "(ns::Enum)3" */
static bool by_value(struct hi_capture *c)
{
	const char *at = c->at, *end = c->at + c->length;
	char number[32], *stop;
	size_t n = 0;

	if (at < end && *at == '(') {
		while (at < end && *at != ')')
			at++;
		at += at < end;
	}
	if ((end - at == 4 && memcmp(at, "true", 4) == 0) ||
	    (end - at == 5 && memcmp(at, "false", 5) == 0)) {
		c->is_value = true;
		c->value = *at == 't';
		return true;
	}
	while (at < end && n + 1 < sizeof(number))
		number[n++] = *at++;
	number[n] = '\0';
	if (!isdigit((unsigned char)number[0]) && number[0] != '-')
		return false;
	c->value = number[0] == '-' ? strtoll(number, &stop, 0)
				    : (int64_t)strtoull(number, &stop, 0);
	c->is_value = stop > number;
	return c->is_value;
}

void hi_captures_resolve(const struct hi_expression_source *source, hi_type_id type,
			 struct hi_captures *captures)
{
	for (size_t i = 0; i < captures->count; i++) {
		struct hi_capture *c = &captures->items[i];

		if (!by_argument(source, type, c) && !by_value(c))
			c->type = hi_type_by_name(source, c->at, c->length);
	}
}
