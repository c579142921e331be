/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cuts of texts with template arguments: "unordered_map<…, shared_ptr<Order>> node".
 * What is cut first says least: namespaces of arguments, then the end of the last
 * argument and other arguments that are no types of the program, then what those types
 * are wrapped in. These themselves are cut where nothing else is left.
 */
#include <stdio.h>
#include <string.h>

#include "report/render/text_internal.h"

enum { NESTED_MAX = 32, ARGUMENTS_BYTES_MAX = 1000 };

struct cut {
	const struct hi_text_style *style;
	const char *dots;
	unsigned columns; /* 0: all that can be cut is */
	char *text;	  /* room for it and a few dots more */
	size_t size;
	bool of_libraries; /* only arguments of a library's templates */
};

static bool is_type_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* How far outside of the brackets the next character is: 1 behind "<", -1 behind ">". */
static int nesting_step(const char *text, size_t i)
{
	if (text[i] == '<')
		return i > 0 && is_type_name_char(text[i - 1]) ? 1 : 0;
	if (text[i] == '>')
		return i > 0 && (text[i - 1] == '-' || text[i - 1] == '=') ? 0 : -1;
	return 0;
}

/* Has it brackets, all in pairs? */
static bool has_arguments(const char *text)
{
	int depth = 0;
	bool any = false;

	for (size_t i = 0; text[i]; i++) {
		depth += nesting_step(text, i);
		if (depth < 0 || depth > NESTED_MAX)
			return false;
		any |= depth > 0;
	}
	return any && depth == 0;
}

static bool is_cut_enough(const struct cut *cut)
{
	return hi_text_columns(cut->style, cut->text) <= cut->columns;
}

/* Writes the dots in place of [from, to). */
static void replace_by_dots(struct cut *cut, size_t from, size_t to)
{
	size_t n = strlen(cut->dots), rest = strlen(cut->text + to) + 1;

	if (from + n + rest > cut->size)
		return;
	memmove(cut->text + from + n, cut->text + to, rest);
	memcpy(cut->text + from, cut->dots, n);
}

/* The end of what stands in the innermost of the last brackets, and where the name
 * there begins. */
static size_t last_inner_end(const char *text, size_t *name)
{
	size_t end = strlen(text);

	while (end > 0 && nesting_step(text, end - 1) != -1)
		end--;
	while (end > 0 && nesting_step(text, end - 1) == -1)
		end--;
	*name = end;
	while (*name > 0 && is_type_name_char(text[*name - 1]))
		--*name;
	return end;
}

/* Words of languages and libraries: not what the program is about. */
static const char *const library_words[] = {
	"string",
	"wstring",
	"char",
	"short",
	"int",
	"long",
	"bool",
	"float",
	"double",
	"void",
	"unsigned",
	"signed",
	"const",
	"pair",
	"tuple",
	"vector",
	"list",
	"set",
	"map",
	"deque",
	"array",
	"size_t",
	"uint64_t",
	"uint32_t",
	"String",
	"usize",
	"isize",
	"u8",
	"u16",
	"u32",
	"u64",
	"i8",
	"i16",
	"i32",
	"i64",
	"f64",
	"str",
	"Vec",
	"Box",
	"Rc",
	"Arc",
	"Option",
	"QString",
	"QByteArray",
	"QVector",
	"QList",
	"unordered_map",
	"unordered_set",
	"shared_ptr",
	"unique_ptr",
	"weak_ptr",
	"optional",
	"iterator",
	"const_iterator",
	"function",
	"forward_list",
	"variant",
	"multimap",
	"multiset",
	"unordered_multimap",
	"stack",
	"queue",
	"priority_queue",
	"span",
	"HashMap",
	"HashSet",
	"BTreeMap",
	"RefCell",
};

static bool is_library_word(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(library_words) / sizeof(*library_words); i++)
		if (strlen(library_words[i]) == n &&
		    memcmp(library_words[i], word, n) == 0)
			return true;
	return false;
}

/* Is the name in front of the "<" at i one of a library? */
static bool is_library_template(const char *text, size_t i)
{
	size_t from = i;

	while (from > 0 && is_type_name_char(text[from - 1]))
		from--;
	return is_library_word(text + from, i - from);
}

/* "shop::model::Order" in arguments becomes "…::Order". */
static void cut_namespaces(struct cut *cut)
{
	size_t start = 0;
	bool cuts = true;
	int depth = 0;

	for (size_t i = 0; cut->text[i] && (cut->columns == 0 || !is_cut_enough(cut));
	     i++) {
		size_t last = SIZE_MAX, end = i;

		if (depth == 0 && cut->of_libraries && cut->text[i] == '<')
			cuts = is_library_template(cut->text, i);
		depth += nesting_step(cut->text, i);
		if (depth == 0 || !cuts || !is_type_name_char(cut->text[i]))
			continue;
		start = i;
		while (is_type_name_char(cut->text[end]) ||
		       (cut->text[end] == ':' && cut->text[end + 1] == ':' &&
			is_type_name_char(cut->text[end + 2]))) {
			if (cut->text[end] == ':') {
				last = end;
				end++;
			}
			end++;
		}
		if (last != SIZE_MAX && last > start + strlen(cut->dots)) {
			replace_by_dots(cut, start, last);
			end -= last - start - strlen(cut->dots);
		}
		i = end - 1;
	}
}

static bool is_library_argument(const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = i;

		while (k < n && is_type_name_char(text[k]))
			k++;
		if (k > i && !(text[i] >= '0' && text[i] <= '9') &&
		    !is_library_word(text + i, k - i))
			return false;
		i = k > i ? k : i + 1;
	}
	return true;
}

/* Cuts the end of the last name, which keeps one character, if it is of a library. */
static void cut_last_name(struct cut *cut)
{
	unsigned all = hi_text_columns(cut->style, cut->text), taken;
	unsigned over = all - cut->columns + hi_text_columns(cut->style, cut->dots);
	size_t name, end = last_inner_end(cut->text, &name), keep;
	char byte = cut->text[end];
	unsigned have;

	if (!is_library_argument(cut->text + name, end - name))
		return;
	cut->text[end] = '\0';
	have = hi_text_columns(cut->style, cut->text + name);
	keep = have > over
		       ? hi_text_prefix(cut->style, cut->text + name, have - over, &taken)
		       : 0;
	cut->text[end] = byte;
	if (keep > 0)
		replace_by_dots(cut, name + keep, end);
}

/* End of the argument that begins at i. */
static size_t template_argument_end(const char *text, size_t i)
{
	int depth = 0, round = 0;

	for (; text[i]; i++) {
		int step = nesting_step(text, i);

		if (depth + step < 0 || (depth == 0 && round == 0 && text[i] == ','))
			break;
		depth += step;
		round += (text[i] == '(') - (text[i] == ')');
	}
	return i;
}

/* Replaces arguments that hold no type of the program, where others do. */
static void cut_plain_arguments(struct cut *cut)
{
	bool others = !is_library_argument(cut->text, strlen(cut->text));
	int depth = 0;

	for (size_t i = 0; others && cut->text[i] && !is_cut_enough(cut); i++) {
		size_t from = i + 1, end;

		depth += nesting_step(cut->text, i);
		if (depth == 0 || (cut->text[i] != '<' && cut->text[i] != ','))
			continue;
		while (cut->text[from] == ' ')
			from++;
		end = template_argument_end(cut->text, from);
		if (end > from + strlen(cut->dots) &&
		    is_library_argument(cut->text + from, end - from))
			replace_by_dots(cut, from, end);
	}
}

/* The last word between from and to that is a type of the program; its length, 0:
 * none. */
static size_t find_own_word(const char *text, size_t from, size_t to, size_t *word)
{
	size_t length = 0;

	for (size_t i = from, k; i<to; i = k> i ? k : i + 1) {
		k = i;
		while (is_type_name_char(text[k]))
			k++;
		if (k > i && !is_library_argument(text + i, k - i)) {
			*word = i;
			length = k - i;
		}
	}
	return length;
}

struct pieces {
	size_t open, word, length, tail; /* "<", the program's type, behind ">" */
	bool more;			 /* something follows the word but ">" */
};

static bool find_pieces(const char *text, struct pieces *ret)
{
	struct pieces p = {.tail = strlen(text)};

	while (nesting_step(text, p.open) != 1)
		p.open++;
	while (nesting_step(text, p.tail - 1) != -1)
		p.tail--;
	p.length = find_own_word(text, p.open + 1, p.tail, &p.word);
	for (size_t i = p.word + p.length; i < p.tail; i++)
		p.more |= text[i] != '>';
	*ret = p;
	return p.length > 0;
}

/* Joins the parts; false: too wide, then nothing changes. */
static bool take_name_parts(struct cut *cut, const char *head, size_t head_length,
			    const char *before, const struct pieces *p, const char *after)
{
	char joined[ARGUMENTS_BYTES_MAX + 64];
	int n = snprintf(joined, sizeof(joined), "%.*s%s%.*s%s%s", (int)head_length, head,
			 before, (int)p->length, cut->text + p->word,
			 p->more ? cut->dots : "", after);

	if (n < 0 || (size_t)n >= sizeof(joined) || (size_t)n >= cut->size ||
	    hi_text_columns(cut->style, joined) > cut->columns)
		return false;
	memcpy(cut->text, joined, (size_t)n + 1);
	return true;
}

/* "unordered_map<…Order> node", "unord…<Order> node", "…<Order>…": what the program's
 * own type is wrapped in gives way. */
static void cut_wrappers(struct cut *cut)
{
	struct pieces p;
	char before[16], after[ARGUMENTS_BYTES_MAX + 2];
	size_t head;

	if (!find_pieces(cut->text, &p))
		return;
	snprintf(before, sizeof(before), "<%s", cut->dots);
	snprintf(after, sizeof(after), ">%s", cut->text + p.tail);
	if (take_name_parts(cut, cut->text, p.open, before, &p, after))
		return;
	snprintf(before, sizeof(before), "%s<", cut->dots);
	for (head = p.open; head > 0 && is_type_name_char(cut->text[head - 1]); head--)
		;
	for (size_t n = p.open - head; n-- > 0;)
		if (take_name_parts(cut, cut->text + head, n, before, &p, after))
			return;
	snprintf(after, sizeof(after), ">%s", cut->dots);
	(void)take_name_parts(cut, "", 0, before, &p, after);
}

/* Dots at from, `depth` closing brackets, and what stands at tail. */
static void close_after_dots(struct cut *cut, size_t from, size_t depth, size_t tail)
{
	size_t n = strlen(cut->dots), rest = strlen(cut->text + tail) + 1;

	if (from + n + depth + rest > cut->size)
		return;
	memmove(cut->text + from + n + depth, cut->text + tail, rest);
	memcpy(cut->text + from, cut->dots, n);
	memset(cut->text + from + n, '>', depth);
}

/* The longest beginning, dots, as many ">" as are open there, and what stands behind
 * the last argument. */
static void cut_ending(struct cut *cut)
{
	size_t tail = strlen(cut->text), best = 0, best_depth = 0;
	unsigned room = cut->columns, taken;
	int depth = 0;

	while (tail > 0 && nesting_step(cut->text, tail - 1) != -1)
		tail--;
	taken = hi_text_columns(cut->style, cut->text + tail) +
		hi_text_columns(cut->style, cut->dots);
	if (taken + 4 > room)
		return;
	room -= taken;
	for (size_t i = 0; i < tail; i++) {
		char byte = cut->text[i + 1];

		depth += nesting_step(cut->text, i);
		if (((unsigned char)byte & 0xc0) == 0x80 || depth == 0)
			continue;
		cut->text[i + 1] = '\0';
		taken = hi_text_columns(cut->style, cut->text) + (unsigned)depth;
		cut->text[i + 1] = byte;
		if (taken > room + 8)
			break;
		if (taken <= room) {
			best = i + 1;
			best_depth = (size_t)depth;
		}
	}
	if (best)
		close_after_dots(cut, best, best_depth, tail);
}

/* A copy to cut, unless text has no arguments that are in order. */
static bool begin_cut(const struct hi_text_style *style, struct hi_arena *arena,
		      const char *text, unsigned columns, struct cut *cut)
{
	size_t n = strlen(text), size = n * 4 + 16;

	*cut = (struct cut){
		.style = style, .dots = style->utf8 ? "…" : "...", .columns = columns};
	if (size > ARGUMENTS_BYTES_MAX * 4 || !has_arguments(text) ||
	    !(cut->text = hi_arena_alloc(arena, size)))
		return false;
	memcpy(cut->text, text, n);
	cut->size = size;
	return true;
}

const char *hi_text_short_arguments(const struct hi_text_style *style,
				    struct hi_arena *arena, const char *text)
{
	struct cut cut;

	if (!strstr(text, "::") || !begin_cut(style, arena, text, 0, &cut))
		return text;
	cut.of_libraries = true;
	cut_namespaces(&cut);
	return cut.text;
}

const char *hi_text_fit_arguments(const struct hi_text_style *style,
				  struct hi_arena *arena, const char *text,
				  unsigned columns)
{
	struct cut cut;

	if (!begin_cut(style, arena, text, columns, &cut))
		return NULL;
	cut_namespaces(&cut);
	if (!is_cut_enough(&cut))
		cut_last_name(&cut);
	if (!is_cut_enough(&cut))
		cut_plain_arguments(&cut);
	if (!is_cut_enough(&cut))
		cut_last_name(&cut);
	if (!is_cut_enough(&cut))
		cut_wrappers(&cut);
	if (!is_cut_enough(&cut))
		cut_ending(&cut);
	return is_cut_enough(&cut) ? cut.text : NULL;
}
