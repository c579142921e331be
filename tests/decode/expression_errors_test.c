/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions that are wrong: the column, what is said, and nothing worse. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "tests/harness.h"
#include "tests/support/expression_sample.h"
#include "tests/support/random.h"

static struct hi_error err;

static enum hi_status compile(const char *text, size_t length, bool lvalue,
			      size_t *column_ret)
{
	struct hi_scope scope = sample_scope(sample_type);
	const struct hi_code *code = NULL;
	enum hi_status status = hi_code_compile(text, length, &scope, lvalue,
						&sample_arena, &code, column_ret, &err);

	HI_ASSERT((status == HI_OK) == (code != NULL));
	return status;
}

/* Unknown names have a status of their own. */
static bool is_refusal(enum hi_status status)
{
	return status == HI_BAD_DATA || status == HI_NOT_FOUND;
}

HI_TEST(expression_errors, errors_name_the_column_and_the_expected_word)
{
	/* The caret line below each text would stand at column. */
	static const struct {
		const char *text;
		size_t column;
		const char *says;
		bool lvalue;
	} bad[] = {
		{"", 0, "found the end", false},
		{"  ", 2, "found the end", false},
		{"1 +", 3, "found the end", false},
		{"(1 + 2", 6, "')'", false},
		{"1 + 2)", 5, "an operator or the end, found ')'", false},
		{"arr[1", 5, "']'", false},
		{"n ? 1", 5, "':'", false},
		{"n u", 2, "an operator or the end, found 'u'", false},
		{"in.tga", 3, "struct inner has no member 'tga'; it has 'tag'", false},
		{"ptr->nxet->x", 5, "it has 'next'", false},
		{"ptr->zzzzzz", 5, "it has 'x', 'y', 'tag', 'next'", false},
		{"grdi[1][2]", 0,
		 "no variable, function or type 'grdi'; struct sample has 'grid'", false},
		{"1 + anon_x", 4, "'anon_", false},
		{"ptr.x", 0, "use '->'", false},
		{"in->x", 0, "use '.'", false},
		{"n.x", 2, "int has no members", false},
		{"raw->x", 5, "cast", false},
		{"hidden->x", 8, "struct opaque is only declared", false},
		{"*hidden + 1", 0, "only declared", false},
		{"hidden + 1", 0, "size of struct opaque", false},
		{"*n", 0, "'*' of int", false},
		{"*raw", 0, "void", false},
		{"raw[0]", 0, "void", false},
		{"n[0]", 0, "not an array or pointer", false},
		{"arr[ptr]", 4, "cannot be an index", false},
		{"ptr * 2", 4, "cast it to unsigned long", false},
		{"2 & ptr", 2, "cast it to unsigned long", false},
		{"ptr << 1", 4, "shift of a pointer", false},
		{"ptr + ptr", 4, "cannot be added", false},
		{"1 - ptr", 2, "cannot be subtracted", false},
		{"ptr - text", 4, "struct inner * and char *", false},
		{"~ptr", 0, "of a pointer", false},
		{"-ptr", 0, "of a pointer", false},
		{"in + 1", 0, "struct inner is not a number or pointer", false},
		{"in", 0, "take its address", false},
		{"!num", 1, "union number", false},
		{"real", 0, "floating-point", false},
		{"1.5", 0, "floating-point", false},
		{"(double)n", 8, "only to integers and pointers", false},
		{"(struct inner)n", 14, "only to integers and pointers", false},
		{"(int)in", 5, "struct inner is not a number", false},
		{"(struct innr *)raw", 1, "no type has the name 'struct innr'", false},
		{"(std::list<int> *)raw", 1, "'std::list<int>'", false},
		{"(struct inner * raw", 16, "')' behind a type", false},
		{"(unsigned short long)n", 1, "not a C type", false},
		{"sizeof(struct nothing)", 7, "no type has the name", false},
		{"sizeof hidden[0]", 7, "struct opaque", false},
		{"sizeof f1", 7, "bit-field", false},
		{"sizeof(flex)", 7, "size of array", false},
		{"sizeof(void)", 7, "size of void", false},
		{"&f1", 1, "bit-field has no address", false},
		{"&1", 1, "has no address", false},
		{"&n + &*&(n + 1)", 9, "has no address", false},
		{"f1", 0, "bit-field has no address", true},
		{"n + 1", 0, "has no address", true},
		{"$", 0, "has no address", true},
		{"(int)n", 0, "has no address", true},
		{"n = 3", 2, "'==' compares", false},
		{"n += 3", 2, "assignment is not possible", false},
		{"n++", 1, "found '++'", false},
		{"n, u", 1, "found ','", false},
		{"twice(3)", 0, "'twice' cannot be called", false},
		{"u8(", 3, "found the end", false},
		{"u8(1", 4, "')'", false},
		{"u8(in)", 3, "struct inner", false},
		{"ns::nothing", 0, "no variable, function or type 'ns::nothing'", false},
		{"in.", 3, "the name of a member", false},
		{"in.3", 3, "the name of a member", false},
		{"n @ 1", 2, "unexpected character '@'", false},
		{"n + \"a\"", 4, "unexpected character", false},
		{"n + \x80", 4, "unexpected character '\\x80'", false},
		{"0x", 2, "digit", false},
		{"12z", 2, "suffix", false},
		{"089", 1, "base 8", false},
		{"0b12", 3, "base 2", false},
		{"1uu", 2, "suffix", false},
		{"99999999999999999999", 0, "64 bits", false},
		{"''", 1, "character", false},
		{"'ab'", 2, "expected '", false},
		{"'\\q'", 2, "escape", false},
		{"'\\x123'", 6, "\\x", false},
		{"'", 1, "character", false},
	};

	sample_start();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		size_t column = 1000;
		enum hi_status status =
			compile(bad[i].text, strlen(bad[i].text), bad[i].lvalue, &column);

		HI_ASSERT_MSG(is_refusal(status), "%s: %s", bad[i].text,
			      hi_status_text(status));
		HI_ASSERT_MSG(column == bad[i].column, "%s: column %zu, expected %zu: %s",
			      bad[i].text, column, bad[i].column, err.text);
		HI_ASSERT_MSG(strstr(err.text, bad[i].says), "%s: \"%s\" without \"%s\"",
			      bad[i].text, err.text, bad[i].says);
	}
}

HI_TEST(expression_errors, names_outside_their_scope_are_errors)
{
	struct hi_scope scope = {.source = &sample_source};
	static const char *const texts[] = {"$", "i", "this", "n", "this->n", "*this"};
	const struct hi_code *code = NULL;

	sample_start();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		HI_ASSERT(is_refusal(hi_code_compile(texts[i], strlen(texts[i]), &scope,
						     false, &sample_arena, &code, NULL,
						     NULL)));
	HI_ASSERT_OK(hi_code_compile("g.n", 3, &scope, false, &sample_arena, &code, NULL,
				     &err),
		     &err);
}

static bool repeated(const char *before, const char *middle, const char *after,
		     unsigned times)
{
	size_t n = strlen(before), m = strlen(after), length, column;
	char *text = malloc((n + m) * times + strlen(middle) + 1), *at = text;
	enum hi_status status;

	for (unsigned i = 0; i < times; i++, at += n)
		memcpy(at, before, n);
	strcpy(at, middle);
	at += strlen(middle);
	for (unsigned i = 0; i < times; i++, at += m)
		memcpy(at, after, m);
	length = (size_t)(at - text);
	status = compile(text, length, false, &column);
	free(text);
	HI_ASSERT(status == HI_OK || (is_refusal(status) && column <= length));
	return status == HI_OK;
}

HI_TEST(expression_errors, depth_and_length_are_bounded)
{
	static const struct {
		const char *before, *middle, *after;
		unsigned good; /* times that must do */
	} bombs[] = {
		{"(", "1", ")", 60},	    {"- ", "1", "", 60},
		{"~!", "1", "", 30},	    {"*&", "n", "", 30},
		{"1?", "1", ":1", 60},	    {"", "1", "?1:1", 60},
		{"arr[", "0", "].x", 60},   {"u64(", "ptr", ")", 60},
		{"", "ptr", "->next", 500}, {"n+", "n", "", 500},
		{"", "n", "+n*n", 250},	    {"n&&", "n", "", 500},
		{"n-(", "n", ")", 60},	    {"n||n&&n|n^n&n==n<n<<n+n*(", "n", ")", 6},
		{"(int)", "n", "", 60},	    {"sizeof ", "n", "", 60},
		{"sizeof(", "n", ")", 30},  {"(struct inner *)", "raw", "", 60},
		{"a<", "b", ">", 1},	    {"(((((a<{[(", "b", "", 1},
	};

	sample_start();
	for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
		if (i + 2 < sizeof(bombs) / sizeof(bombs[0]))
			HI_ASSERT_MSG(repeated(bombs[i].before, bombs[i].middle,
					       bombs[i].after, bombs[i].good),
				      "%s x %u: %s", bombs[i].before, bombs[i].good,
				      err.text);
		for (unsigned times = 1; times < 300000; times *= 3)
			(void)repeated(bombs[i].before, bombs[i].middle, bombs[i].after,
				       times);
	}
	HI_ASSERT(!repeated("(", "1", ")", 100));
	HI_ASSERT(!repeated("n+", "n", "", 4000));
	HI_ASSERT(!repeated(" ", "1", "", 1000000));
}

/* Compiles, and runs what compiles. */
static bool try_text(const char *text, size_t length, bool lvalue)
{
	struct hi_scope scope = sample_scope(sample_type);
	const struct hi_code *code = NULL;
	size_t column = SIZE_MAX;
	uint64_t value;
	char *exact = malloc(length ? length : 1); /* so that a sanitizer sees its end */
	enum hi_status status;

	memcpy(exact, text, length);
	status = hi_code_compile(exact, length, &scope, lvalue, &sample_arena, &code,
				 &column, &err);
	free(exact);
	HI_ASSERT(status == HI_OK ||
		  (is_refusal(status) && column <= length && err.text[0] != '\0'));
	if (status == HI_OK)
		(void)hi_code_run(code, &sample_input, &value);
	return status == HI_OK;
}

HI_TEST(expression_errors, random_bytes_never_crash)
{
	uint64_t seed = 42;
	char text[64];

	sample_start();
	for (unsigned turn = 0; turn < 20000; turn++) {
		size_t length = next_random(&seed) % sizeof(text);

		for (size_t i = 0; i < length; i++)
			text[i] = (char)next_random(&seed);
		try_text(text, length, turn & 1);
		hi_arena_free(&sample_arena);
	}
}

HI_TEST(expression_errors, random_words_never_crash)
{
	static const char *const words[] = {"n",	 "u",	     "ptr",
					    "arr",	 "in",	     "grid",
					    "text",	 "raw",	     "f1",
					    "f5",	 "flex",     "num",
					    "this",	 "$",	     "i",
					    "g",	 "p",	     "twice",
					    "ctx",	 "owner",    "real",
					    "hidden",	 "(",	     "(",
					    ")",	 ")",	     "[",
					    "]",	 "->",	     ".",
					    "*",	 "&",	     "+",
					    "-",	 "/",	     "%",
					    "<<",	 ">>",	     "<",
					    ">",	 "<=",	     "==",
					    "!=",	 "&&",	     "||",
					    "^",	 "|",	     "~",
					    "!",	 "?",	     ":",
					    "::",	 ",",	     "sizeof",
					    "(int)",	 "(char *)", "(struct inner *)",
					    "unsigned",	 "struct",   "inner",
					    "x",	 "next",     "u8(",
					    "u64(",	 "usable(",  "align8(",
					    "0",	 "1",	     "0xffffffffffffffff",
					    "'a'",	 "2u",	     "MINUS",
					    "ns::total", "where"};
	uint64_t seed = 7;
	unsigned good = 0;
	char text[400];

	sample_start();
	for (unsigned turn = 0; turn < 60000; turn++) {
		size_t n = 1 + next_random(&seed) % 12;

		text[0] = '\0';
		for (size_t i = 0; i < n; i++) {
			strcat(text, words[next_random(&seed) %
					   (sizeof(words) / sizeof(words[0]))]);
			strcat(text, " ");
		}
		good += try_text(text, strlen(text), turn & 1);
		hi_arena_free(&sample_arena);
	}
	HI_ASSERT_MSG(good > 300, "only %u were expressions", good);
}

HI_TEST(expression_errors, any_allocation_may_fail)
{
	static const char text[] = "(n ? ((struct inner **)raw)[i + 1]->next : &arr[2]) "
				   "&& ns::total << 3 < u";
	struct hi_scope scope;
	const struct hi_code *code = NULL;
	enum hi_status status = HI_NO_MEMORY;

	sample_start();
	scope = sample_scope(sample_type);
	HI_ASSERT_OK(compile(text, strlen(text), false, NULL), &err);
	for (uint64_t nth = 1; status == HI_NO_MEMORY && nth < 100; nth++) {
		hi_arena_free(&sample_arena);
		hi_alloc_fail_at(nth);
		status = hi_code_compile(text, strlen(text), &scope, false, &sample_arena,
					 &code, NULL, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(nth > 1 || status == HI_NO_MEMORY);
	}
	HI_ASSERT_MSG(status == HI_OK, "%s", err.text);
}

/* ---- types that lie ---- */

static struct hi_member looped[] = {
	{.name = "", .type = 1, .is_base = true},
	{.name = "", .offset = 8, .type = 1},
	{.name = "wide", .offset = 16, .type = 2, .bit_size = 4000, .bit_offset = 7},
	{.name = "far", .offset = UINT64_MAX, .type = 2},
	{.name = "self", .type = 3},
	{.name = "rows", .type = 4},
	{.name = "huge", .type = 5},
	{.name = "nothing", .type = 99},
	{.name = "esc\033[31m\n\xff", .type = 2},
	{.name = "self", .offset = 8, .type = 3},
};
static const struct hi_type lies[] = {
	{.name = ""},
	{.id = 1,
	 .kind = HI_KIND_STRUCT,
	 .name = "\033[31m bad \xff name",
	 .size = 24,
	 .members = looped,
	 .n_members = sizeof(looped) / sizeof(looped[0])},
	{.id = 2, .kind = HI_KIND_INTEGER, .name = "int", .size = 4, .is_signed = true},
	{.id = 3, .kind = HI_KIND_POINTER, .name = "&", .size = 8, .target = 3},
	{.id = 4,
	 .kind = HI_KIND_ARRAY,
	 .name = "rows",
	 .size = UINT64_MAX,
	 .target = 4,
	 .count = UINT64_MAX},
	{.id = 5, .kind = HI_KIND_INTEGER, .name = "huge", .size = 1ull << 40},
};

static const struct hi_type *lying_type(void *arg, hi_type_id id)
{
	(void)arg;
	return &lies[id < sizeof(lies) / sizeof(lies[0]) ? id : 0];
}

HI_TEST(expression_errors, inconsistent_types_never_crash)
{
	static const struct hi_expression_source liar = {.type = lying_type};
	static const char *const texts[] = {
		"wide",	      "far",	     "&far",
		"self",	      "*self",	     "**self",
		"self->x",    "self.x",	     "rows",
		"rows[1][2]", "*rows",	     "&rows[3] - rows",
		"huge",	      "nothing",     "&nothing",
		"nothing.x",  "sizeof rows", "sizeof nothing",
		"this->self", "this + 1",    "missing",
		"esc",	      "(int)far",    "(rows)",
		"*this",      "this[5].far",
	};
	const struct hi_scope scope = {.source = &liar, .self = 1};

	sample_start();
	for (size_t i = 0; i < 2 * sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = texts[i / 2];
		const struct hi_code *code = NULL;
		uint64_t value;

		if (hi_code_compile(text, strlen(text), &scope, i & 1, &sample_arena,
				    &code, NULL, &err) == HI_OK)
			(void)hi_code_run(code, &sample_input, &value);
		else
			for (const char *at = err.text; *at; at++)
				HI_ASSERT_MSG(*at >= ' ' && *at <= '~', "%s: byte %d",
					      text, *at);
	}
	HI_ASSERT_STATUS(HI_BAD_DATA,
			 hi_code_compile("wide", 4, &scope, false, &sample_arena,
					 &(const struct hi_code *){NULL}, NULL, NULL));
}

/* ---- speed ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

HI_TEST(expression_errors, runs_take_nanoseconds)
{
	static const char *const texts[] = {"&arr[2].next - &arr[0].next",
					    "(char **)raw - (char **)text",
					    "(struct inner *)raw - ptr",
					    "ptr",
					    "ptr->next - ptr",
					    "n && u > 3 ? l : c"};
	enum { RUNS = 200000 };

	sample_start();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct hi_code *code = sample_compile(texts[i], sample_type, false);
		uint64_t start = now_ns(), value, ns;

		for (unsigned k = 0; k < RUNS; k++)
			HI_ASSERT(hi_code_run(code, &sample_input, &value));
		ns = (now_ns() - start) / RUNS;
		hi_test_note("%s: %llu ns", texts[i], (unsigned long long)ns);
		HI_ASSERT_MSG(ns < 5000, "%s: %llu ns", texts[i], (unsigned long long)ns);
	}
}
