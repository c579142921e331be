/* SPDX-License-Identifier: BSD-2-Clause */
/* The parser of hints: every statement, every message, hostile texts. */
#include "decode/rules/hints.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/rules/rulebook.h"
#include "harness.h"

static struct hi_error err;
static struct hi_arena arena;

static void free_arena(void *arg)
{
	(void)arg;
	hi_arena_free(&arena);
}

static const struct hi_hints *parse(const char *text)
{
	struct hi_hints *hints = NULL;

	hi_test_defer(free_arena, NULL);
	HI_ASSERT_OK(
		hi_hints_parse(&arena, "dir/x.hints", text, strlen(text), &hints, &err),
		&err);
	return hints;
}

/* ---- a statement as text again, everything in its place ---- */

static char shown[4096];

__attribute__((format(printf, 1, 2))) static void show(const char *fmt, ...)
{
	size_t used = strlen(shown);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(shown + used, sizeof(shown) - used, fmt, ap);
	va_end(ap);
}

static void show_piece(const char *before, struct hi_text_piece piece)
{
	if (piece.length)
		show("%s<%.*s>", before, (int)piece.length, piece.at);
}

static void show_target(const struct hi_hint_target *t)
{
	static const char *const kinds[] = {"type",   "blob", "words", "any",
					    "scalar", "key",  "symbol"};

	show("%s", kinds[t->kind]);
	show_piece(" ", t->name);
	show_piece(" pack", t->pack_index);
	show_piece(" from", t->from);
	show_piece(" to", t->to);
	show_piece(" at", t->symbol);
	show_piece(" lead", t->lead);
	show_piece(" full", t->full);
	show_piece(" ring", t->ring);
	show("%s%s", t->down ? " down" : "", t->only ? " only" : "");
	show_piece(" back", t->back);
	show_piece(" in", t->member);
	for (uint32_t i = 0; i < t->n_with; i++) {
		show_piece(" with", t->with[i].key);
		show_piece("=", t->with[i].value);
		if (!t->with[i].value.length) {
			show("(");
			show_target(&t->with[i].target);
			show(")");
		}
	}
	if (t->then) {
		show(" then ");
		show_target(t->then);
	}
}

static const char *show_hint(const struct hi_hint *h)
{
	static const char *const kinds[] = {"word", "place", "each", "pool",	"variant",
					    "is",   "tail",  "size", "retainer"};

	shown[0] = '\0';
	show("%s", kinds[h->kind]);
	show_piece(" ", h->lvalue);
	show_piece(" first", h->first);
	show_piece(" last", h->last);
	show_piece(" mask", h->mask);
	show_piece(" value", h->value);
	show_piece(" next", h->next);
	show_piece(" until", h->until);
	show_piece(" slots", h->slots);
	show_piece(" of", h->slot_size);
	if (h->weak)
		show(" weak");
	for (uint32_t i = 0; i < h->n_cases; i++) {
		show(" {");
		show_piece("", h->cases[i].label);
		show(h->cases[i].label.length ? ": " : "");
		show_target(&h->cases[i].target);
		show("}");
	}
	show_piece(" if", h->when);
	return shown;
}

static const char *show_statement(const char *statement)
{
	static char text[1000];
	const struct hi_hints *hints;

	snprintf(text, sizeof(text),
		 "hints x context dt : int; context n : int; context k : int; "
		 "context el; context l; context val; record r { %s }",
		 statement);
	hints = parse(text);
	HI_ASSERT_EQ(1, hints->n_records);
	HI_ASSERT_EQ(1, hints->records[0].n);
	return show_hint(&hints->records[0].items[0]);
}

HI_TEST(hints, statements_of_records_are_parsed)
{
	static const char *const table[][2] = {
		{"key -> sds;", "word <key> {type <sds>}"},
		{"a.b[3].c -> struct x *;", "word <a.b[3].c> {type <struct x *>}"},
		{"v.val -> redisObject if dt == &dbDictType;",
		 "word <v.val> {type <redisObject>} if<dt == &dbDictType>"},
		{"t[i] for i in 0 .. 2 -> dictEntry *[1 << e[i]] with dt = type;",
		 "word <t[i]> first<0> last<2> {type <dictEntry *> to<1 << e[i]> "
		 "with<dt>=<type>}"},
		{"p mask ~7 -> u *;", "word <p> mask<~7> {type <u *>}"},
		{"p mask ~(u)7 weak -> u;", "word <p> mask<~(u)7> weak {type <u>}"},
		{"metadata weak;", "word <metadata> weak"},
		{"p weak -> any;", "word <p> weak {any}"},
		{"head each ((n *)$)->next until $ == &head -> n in link;",
		 "each <head> next<((n *)$)->next> until<$ == &head> {type <n> "
		 "in<link>}"},
		{"head each $->next -> n;", "each <head> next<$->next> {type <n>}"},
		{"u.a : A if tag == 1;", "place <u.a> {type <A>} if<tag == 1>"},
		{"u : switch tag { 1: A; 2, 3: B[n]; else: blob text; }",
		 "place <u> value<tag> {<1>: type <A>} {<2>: type <B> to<n>} "
		 "{<3>: type <B> to<n>} {blob <text>}"},
		{"u : switch x ? y : z { a ? b : c: any; };",
		 "place <u> value<x ? y : z> {<a ? b : c>: any}"},
		{"slabs[i] pool per of size for i in 0 .. n : item;",
		 "pool <slabs[i]> first<0> last<n> slots<per> of<size> {type <item>}"},
		{"m pool n of s switch u8($) { 1: A; }",
		 "pool <m> value<u8($)> slots<n> of<s> {<1>: type <A>}"},
		{"variant T if tag == 3;", "variant {type <T>} if<tag == 3>"},
		{"variant switch gch.tt { 4: TString; 5: Table; }",
		 "variant value<gch.tt> {<4>: type <TString>} {<5>: type <Table>}"},
		{"is $T;", "is {type <$T>}"},
		{"tail known;", "tail"},
		{"tail known if encoding == 8;", "tail if<encoding == 8>"},
		{"size sizeof(*this) + len + 1;", "size value<sizeof(*this) + len + 1>"},
		{"size (n);", "size value<(n)>"},
		{"retainer;", "retainer"},
		/* Members that are called like words of the language. */
		{"tail -> listNode;", "word <tail> {type <listNode>}"},
		{"size -> T;", "word <size> {type <T>}"},
		{"size weak;", "word <size> weak"},
		{"pool -> ngx_pool_t;", "word <pool> {type <ngx_pool_t>}"},
		{"pool pool n of 8 : T;", "pool <pool> slots<n> of<8> {type <T>}"},
		{"is.x -> T;", "word <is.x> {type <T>}"},
		{"variant : T;", "place <variant> {type <T>}"},
		{"retainer -> T;", "word <retainer> {type <T>}"},
		{"weak weak;", "word <weak> weak"},
		{"a->weak weak;", "word <a->weak> weak"},
		{"if -> T;", "word <if> {type <T>}"},
		/* Expressions. */
		{"((raxNode **)((char *)this + align8(4 + size)))[i] for i in 0 .. "
		 "(iscompr ? 1 : size) -> raxNode;",
		 "word <((raxNode **)((char *)this + align8(4 + size)))[i]> first<0> "
		 "last<(iscompr ? 1 : size)> {type <raxNode>}"},
		{"*(void **)p -> T;", "word <*(void **)p> {type <T>}"},
		{"a -> T[sizeof x * 'c' + '\\'' + sizeof(int)];",
		 "word <a> {type <T> to<sizeof x * 'c' + '\\'' + sizeof(int)>}"},
		{"a -> T if (x) != -y && !z || ns::v->w == (u8)~$;",
		 "word <a> {type <T>} if<(x) != -y && !z || ns::v->w == (u8)~$>"},
		/* Targets. */
		{"a -> blob plain-node;", "word <a> {blob <plain-node>}"},
		{"a -> words \"two words\" back 8;",
		 "word <a> {words <two words> back<8>}"},
		{"a -> scalar;", "word <a> {scalar}"},
		{"a -> ?el if x;", "word <a> {key <el>} if<x>"},
		{"a -> $T[n - 1 .. n];", "word <a> {type <$T> from<n - 1> to<n>}"},
		{"a : $T...[_M_index];", "place <a> {type <$T> pack<_M_index>}"},
		{"a -> std::pair<$K const, $V *> in second.x with k = 1, l : x back 8;",
		 "word <a> {type <std::pair<$K const, $V *>> in<second.x> with<k>=<1> "
		 "with<l>(type <x> back<8>)}"},
		{"a -> rax with val : blob listpack with n = m if z;",
		 "word <a> {type <rax> with<val>(blob <listpack>) with<n>=<m>} if<z>"},
		{"a -> $T[m + 1] full c + m down back (m + 1) * 8;",
		 "word <a> {type <$T> to<m + 1> full<c + m> down back<(m + 1) * 8>}"},
		{"a -> x[h .. h + n] ring c only;",
		 "word <a> {type <x> from<h> to<h + n> ring<c> only}"},
		{"a -> x[n] lead 8 + m full c;",
		 "word <a> {type <x> to<n> lead<8 + m> full<c>}"},
		{"b -> y *[2] full c + 1;", "word <b> {type <y *> to<2> full<c + 1>}"},
		{"a -> sds back (1 << (u8($ - 1) & 7));",
		 "word <a> {type <sds> back<(1 << (u8($ - 1) & 7))>}"},
		{"_M_manager -> symbol _M_manager \"M<$T>::f\": $T in x;",
		 "word <_M_manager> {symbol <M<$T>::f> at<_M_manager> then type <$T> "
		 "in<x>}"},
		{"a -> alloc::sync::ArcInner<[u8; 4], {impl#0}::X>;",
		 "word <a> {type <alloc::sync::ArcInner<[u8; 4], {impl#0}::X>>}"},
		{"a -> core::{impl#0}::X;", "word <a> {type <core::{impl#0}::X>}"},
		{"a -> (anonymous namespace)::X;",
		 "word <a> {type <(anonymous namespace)::X>}"},
		{"a # comment; }\n -> T; # another\n", "word <a> {type <T>}"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		HI_ASSERT_STREQ(table[i][1], show_statement(table[i][0]));
}

HI_TEST(hints, top_level_statements_are_parsed)
{
	const struct hi_hints *h = parse("hints redis   # a name\n"
					 "for program redis-server redis-*\n"
					 "for type struct redisServer  \n"
					 "for type std::vector<int, char>\n"
					 "containers\n"
					 "const A = 0, B = 1 << 3;\n"
					 "context dt : dictType *; context val;\n"
					 "types lua_side.so; header 16;\n"
					 "typedef sds -> blob sds back 1;\n"
					 "root Users -> rax with val : user;\n"
					 "root ns::x[i] for i in 0 .. 3 weak -> T if y;\n"
					 "root buf : T[4];\n"
					 "record std::vector<$T, *> only node { }\n"
					 "record struct dict { a -> b; c -> d; }\n");

	HI_ASSERT_STREQ("x.hints", h->file);
	HI_ASSERT_EQ(5, h->name.length);
	HI_ASSERT_EQ(2, h->n_programs);
	HI_ASSERT_EQ(0, memcmp(h->programs[1].at, "redis-*", 7));
	HI_ASSERT_EQ(2, h->n_types);
	HI_ASSERT_EQ(18, h->types[0].length);
	HI_ASSERT_EQ(22, h->types[1].length);
	HI_ASSERT(h->containers);
	HI_ASSERT_EQ(16, h->header);
	HI_ASSERT_EQ(2, h->n_consts);
	HI_ASSERT_EQ(0, memcmp(h->consts[1].value.at, "1 << 3;", 7));
	HI_ASSERT_EQ(6, h->consts[1].value.length);
	HI_ASSERT_EQ(2, h->n_keys);
	HI_ASSERT_EQ(10, h->keys[0].type.length);
	HI_ASSERT_EQ(0, h->keys[1].type.length);
	HI_ASSERT_EQ(1, h->n_sidecars);
	HI_ASSERT_EQ(1, h->n_typedefs);
	HI_ASSERT_STREQ("word {blob <sds> back<1>}", show_hint(&h->typedefs[0].hint));
	HI_ASSERT_EQ(3, h->n_roots);
	HI_ASSERT_EQ(5, h->roots[1].name.length);
	HI_ASSERT_STREQ("word <ns::x[i]> first<0> last<3> weak {type <T>} if<y>",
			show_hint(&h->roots[1].hint));
	HI_ASSERT_STREQ("place <buf> {type <T> to<4>}", show_hint(&h->roots[2].hint));
	HI_ASSERT_EQ(2, h->n_records);
	HI_ASSERT(h->records[0].only && h->records[0].node);
	HI_ASSERT(!h->records[1].only && !h->records[1].node);
	HI_ASSERT_EQ(18, h->records[0].pattern.length);
	HI_ASSERT_EQ(2, h->records[1].n);
	HI_ASSERT_EQ(14, hi_hints_position(h, h->records[1].items[1].at.at).line);
	HI_ASSERT_EQ(30, hi_hints_position(h, h->records[1].items[1].at.at).column);
}

static bool piece_is(struct hi_text_piece piece, const char *text)
{
	return piece.length == strlen(text) && memcmp(piece.at, text, piece.length) == 0;
}

HI_TEST(hints, show_and_hide_statements_are_parsed)
{
	static const char text[] = "hints x\nhide _M_* \"__*\";\n"
				   "show node<$V@pair<$K const, *>> {\n"
				   "\telement v[i] key k[i];\n\tlink;\n}\n"
				   "show text { text wide at length n - 1; hidden; }\n"
				   "show block { value data; }\n"
				   "show list { count n; }\n"
				   "show range { count e - b in b .. e; }\n";
	const struct hi_hints *h = parse(text);

	HI_ASSERT_EQ(2, h->n_hides);
	HI_ASSERT(piece_is(h->hides[0], "_M_*") && piece_is(h->hides[1], "__*"));
	HI_ASSERT_EQ(5, h->n_shows);
	HI_ASSERT(piece_is(h->shows[0].pattern, "node<$V@pair<$K const, *>>"));
	HI_ASSERT(h->shows[0].is_element && h->shows[0].link && !h->shows[0].hidden);
	HI_ASSERT(piece_is(h->shows[0].value, "v[i]"));
	HI_ASSERT(piece_is(h->shows[0].key, "k[i]"));
	HI_ASSERT(h->shows[1].is_wide && h->shows[1].hidden);
	HI_ASSERT(piece_is(h->shows[1].text, "at"));
	HI_ASSERT(piece_is(h->shows[1].length, "n - 1"));
	HI_ASSERT(!h->shows[2].is_element && piece_is(h->shows[2].value, "data"));
	HI_ASSERT(piece_is(h->shows[3].count, "n") && !h->shows[3].first.length);
	HI_ASSERT(piece_is(h->shows[4].count, "e - b"));
	HI_ASSERT(piece_is(h->shows[4].first, "b") && piece_is(h->shows[4].last, "e"));
}

HI_TEST(hints, errors_name_line_and_column_and_what_was_expected)
{
	static const char *const table[][2] = {
		{"", "1:1: expected 'hints', found the end"},
		{"record x { }", "1:1: expected 'hints', found 'record'"},
		{"hints", "1:6: expected the name of these hints, found the end"},
		{"hints x\nrecrod y { }",
		 "2:1: expected for, containers, const, context, typedef, root, types, "
		 "record, show, hide or header, found 'recrod'"},
		{"hints x\nshow y { z; }", "2:10: expected hidden, link, element, value, "
					   "text or count, found 'z'"},
		{"hints x\nshow y { value a; element b; }",
		 "2:26: more than one 'value' or 'element'"},
		{"hints x\nshow y { text a; }", "2:16: expected 'length', found ';'"},
		{"hints x\nshow y { text a length b; text c length d; }",
		 "2:31: more than one 'text'"},
		{"hints x\nshow y { count a; count b; }", "2:24: more than one 'count'"},
		{"hints x\nshow y { count a in b; }", "2:22: expected '..', found ';'"},
		{"hints x\nshow y { element a key; }",
		 "2:23: expected an expression, found ';'"},
		{"hints x\nshow y {",
		 "2:9: expected hidden, link, element, value, text or count, "
		 "found the end"},
		{"hints x\nhide ;", "2:6: expected the name of a member, found ';'"},
		{"hints x\nheader 12;",
		 "2:8: a header has 8 to 4096 bytes, a multiple of 8"},
		{"hints x\nheader 8x;",
		 "2:8: a header has 8 to 4096 bytes, a multiple of 8"},
		{"hints x\nheader 99999999999999999999;",
		 "2:8: a header has 8 to 4096 bytes, a multiple of 8"},
		{"hints x\nheader ;", "2:8: expected a number of bytes, found ';'"},
		{"hints x\nfor programm y", "2:5: expected 'program' or 'type', found "
					    "'programm'"},
		{"hints x\nfor type\nrecord a { }",
		 "3:1: expected the name of a type in the same line, found 'record'"},
		{"hints x\nconst A 3;", "2:9: expected '=', found '3'"},
		{"hints x\nconst A = 3\nrecord b {}",
		 "3:1: expected ',' or ';', found 'record'"},
		{"hints x\nconst A = ;", "2:11: expected an expression, found ';'"},
		{"hints x\nconst A = 1 +;", "2:14: expected an expression, found ';'"},
		{"hints x\nconst A = (1 + 2;", "2:17: expected ')', found ';'"},
		{"hints x\nconst A = 'a;", "2:11: expected a closing quote before the "
					   "line's end"},
		{"hints x\nconst A = x ? y;", "2:16: expected ':' of '?', found ';'"},
		{"hints x\ncontext a; context a : int;",
		 "2:20: this context key is declared already"},
		{"hints x\ncontext 5;",
		 "2:9: expected the name of a context key, found '5'"},
		{"hints x\ntypedef sds blob sds;",
		 "2:13: expected '->' and a target, found 'blob'"},
		{"hints x\nroot -> T;",
		 "2:6: expected the name of a variable, found '-'"},
		{"hints x\nroot v T;",
		 "2:8: expected ' -> TARGET', ': TARGET', switch, for, mask, weak, each "
		 "or pool, found 'T'"},
		{"hints x\nrecord { }", "2:8: expected a type, found '{'"},
		{"hints x\nrecord a<b { }", "2:15: expected '>', found the end"},
		{"hints x\nrecord a\n  x -> y;", "3:5: expected '{', found '-'"},
		{"hints x\nrecord a {\n\tx -> y\n}", "4:1: expected ';', found '}'"},
		{"hints x\nrecord a { x -> y;", "2:19: expected an expression, found the "
						"end"},
		{"hints x\nrecord a { x -> ; }", "2:17: expected a type, found ';'"},
		{"hints x\nrecord a { x -> y[; }",
		 "2:19: expected an expression, found ';'"},
		{"hints x\nrecord a { x -> y[1; }", "2:20: expected ']', found ';'"},
		{"hints x\nrecord a { x -> y[1 .. ]; }",
		 "2:24: expected an expression, found ']'"},
		{"hints x\nrecord a { x->y; }",
		 "2:16: expected ' -> TARGET', ': TARGET', switch, for, mask, weak, each "
		 "or pool, found ';'"},
		{"hints x\nrecord a { x for j in 0 .. 2 -> y; }",
		 "2:18: expected 'i', found 'j'"},
		{"hints x\nrecord a { x for i in 0 -> y; }",
		 "2:25: expected '..', found '-'"},
		{"hints x\nrecord a { x switch y { A: b }",
		 "2:30: expected ';', found '}'"},
		{"hints x\nrecord a { x switch y { else: b; C: d; } }",
		 "2:34: expected '}' behind else, found 'C'"},
		{"hints x\nrecord a { x switch y { A B: c; } }",
		 "2:27: expected ':', found 'B'"},
		{"hints x\nrecord a { x -> y back; }",
		 "2:23: expected an expression, found ';'"},
		{"hints x context k;\nrecord a { x -> y with k; }",
		 "2:25: expected ':', found ';'"},
		{"hints x context k : int;\nrecord a { x -> y with k : z; }",
		 "2:26: expected '=', found ':'"},
		{"hints x\nrecord a { x -> y with k = 1; }",
		 "2:24: expected a context key (context K; before this)"},
		{"hints x\nrecord a { x -> ?k; }",
		 "2:18: expected a context key (context K; before this)"},
		{"hints x context k : int;\nrecord a { x -> ?k; }",
		 "2:18: this context key is a value, not a target"},
		{"hints x\ntypedef sds -> T if x;", "2:18: expected ';', found 'if'"},
		{"hints x context k; context l;\nrecord a { x -> y with k : ?l; }",
		 "2:24: a context can be a type, a buffer, any or scalar"},
		{"hints x\nrecord a { x -> blob; }",
		 "2:21: expected the buffer's name, found ';'"},
		{"hints x\nrecord a { x -> blob \"no; }",
		 "2:22: expected '\"' before the line's end"},
		{"hints x\nrecord a { x -> T...[1]; }",
		 "2:17: expected '$NAME' before '...'"},
		{"hints x\nrecord a { x -> symbol f \"g\": symbol h \"i\": j; }",
		 "2:31: expected a type, blob, words, any or scalar"},
		{"hints x\nrecord a { x pool 3 : T; }", "2:21: expected 'of', found ':'"},
		{"hints x\nrecord a { x pool 3 of 4 -> T; }",
		 "2:26: expected ':', found '-'"},
		{"hints x\nrecord a { x each $->n : T; }",
		 "2:24: expected 'until' or '->' and a target, found ':'"},
		{"hints x\nrecord a { x weak : T; }",
		 "2:12: mask and weak are for pointers; ':' describes what lies at this "
		 "place"},
		{"hints x\nrecord a { is T if x; }", "2:12: 'is' has no 'if': see "
						     "'variant'"},
		{"hints x\nrecord a { variant blob x; }",
		 "2:12: expected the name of a type, alone"},
		{"hints x\nrecord a { x -> y if a b; }", "2:24: expected ';', found 'b'"},
		{"hints x\nrecord a { x -> y if a = b; }",
		 "2:24: expected ';', found '='"},
		{"hints x\nrecord a { x -> y if a..b; }",
		 "2:23: expected ';', found '.'"},
		{"hints x\n\x1b[31m",
		 "2:1: expected for, containers, const, context, "
		 "typedef, root, types, record, show, hide or header, found '\\x1b'"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct hi_hints *hints = NULL;
		char want[240];

		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_hints_parse(&arena, "/a/b/x.hints", table[i][0],
						strlen(table[i][0]), &hints, &err));
		snprintf(want, sizeof(want), "x.hints:%s", table[i][1]);
		HI_ASSERT_STREQ(want, err.text);
		HI_ASSERT(!hints);
		hi_arena_free(&arena);
	}
}

/* ---- hostile texts ---- */

static enum hi_status try_parse(const char *text, size_t size)
{
	struct hi_arena own = {};
	struct hi_hints *hints = NULL;
	enum hi_status status = hi_hints_parse(&own, "x", text, size, &hints, &err);

	HI_ASSERT(status == HI_OK || status == HI_BAD_DATA);
	HI_ASSERT((status == HI_OK) == (hints != NULL));
	if (status != HI_OK)
		HI_ASSERT_MSG(strncmp(err.text, "x:", 2) == 0, "no place: %s", err.text);
	hi_arena_free(&own);
	return status;
}

HI_TEST(hints, deep_nesting_and_nul_bytes_and_long_lists_are_errors)
{
	static const char *const around[] = {"hints x record a { b -> T[",
					     "hints x record a"};
	static char text[1 << 21];
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		size_t used = strlen(around[i]);

		memcpy(text, around[i], used);
		memset(text + used, i ? '<' : '(', 100000);
		HI_ASSERT_STATUS(HI_BAD_DATA, try_parse(text, used + 100000));
		HI_ASSERT(strstr(err.text, "nested too deeply"));
	}
	HI_ASSERT_STATUS(HI_BAD_DATA, try_parse("hints x\n\0record a { }", 21));
	HI_ASSERT_STREQ("x:2:1: the file contains a NUL byte", err.text);
	n = (size_t)snprintf(text, sizeof(text), "hints x const a = 0");
	for (unsigned i = 0; i < 70000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", a = %u", i);
	HI_ASSERT_STATUS(HI_BAD_DATA, try_parse(text, n));
	HI_ASSERT(strstr(err.text, "more than 65536"));
}

/* "p -> T with a: symbol p "x": T with a: symbol ...". */
HI_TEST(hints, targets_within_targets_have_a_limit)
{
	static char text[1 << 20];
	size_t n = (size_t)snprintf(text, sizeof(text),
				    "hints x context a; record r { p -> T ");

	for (unsigned i = 0; i < 20000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "with a: symbol p \"x\": T ");
	n += (size_t)snprintf(text + n, sizeof(text) - n, "; }");
	HI_ASSERT_STATUS(HI_BAD_DATA, try_parse(text, n));
	HI_ASSERT_MSG(strstr(err.text, "nested too deeply"), "%s", err.text);
}

static const char example[] =
	"hints redis\nfor program redis-server\nfor type redisServer\n"
	"const OBJ_RAW = 0, OBJ_HT = 2;\ncontext dt : dictType *; context el; context "
	"val;\n"
	"typedef sds -> blob sds back (1 << (u8($ - 1) & 7)) ;\n"
	"record dict { ht_table[i] for i in 0 .. 2 -> dictEntry *[1 << e[i]] with dt = "
	"type; }\n"
	"record std::vector<$T, *> only {\n_M_start -> $T[(_M_finish - _M_start) / "
	"sizeof($T)]; }\n"
	"record dictEntry { key switch dt->hashFunction { &dictSdsHash: sds; else: any; "
	"}\n"
	" v.val -> ?el; metadata weak; tail known if x == 'c'; is T; }\n"
	"record slab { p[i] pool n of s for i in 0 .. m switch u8($) { 1, 2: A; } }\n"
	"record q { h each $->n until $ == &h -> T in l; m -> symbol m \"M<$T>::x\": $T; "
	"}\n"
	"root Users -> rax with val : user;\n";

static void mutate(const char *from, size_t size, unsigned rounds)
{
	static const char *const bits[] = {"{", "}", "(",  ")",	 "<",	  ">",	";", ":",
					   "$", "[", "]",  "->", "..",	  "\"", "'", "?",
					   "#", ",", "if", "=",	 "with ", "\n", "i", "*"};
	char *text = hi_alloc(size + 16);
	unsigned fine = 0;

	HI_ASSERT(text);
	hi_test_defer(free, text);
	for (unsigned r = 0; r < rounds; r++) {
		size_t n = size, at = (size_t)rand() % size, len;

		memcpy(text, from, size);
		switch (rand() % 4) {
		case 0: /* a byte */
			text[at] = (char)rand();
			break;
		case 1: /* cut off */
			n = at;
			break;
		case 2: /* a hole */
			len = (size_t)rand() % (size - at);
			memmove(text + at, text + at + len, size - at - len);
			n -= len;
			break;
		default: { /* something more */
			const char *bit = bits[(size_t)rand() % 24];

			len = strlen(bit);
			memmove(text + at + len, text + at, size - at);
			memcpy(text + at, bit, len);
			n += len;
		}
		}
		fine += try_parse(text, n) == HI_OK;
	}
	HI_ASSERT_MSG(rounds < 1000 || (fine > 0 && fine < rounds), "%u of %u parsed",
		      fine, rounds);
}

HI_TEST(hints, mutated_texts_are_parsed_or_refused)
{
	srand(7);
	HI_ASSERT_STATUS(HI_OK, try_parse(example, sizeof(example) - 1));
	mutate(example, sizeof(example) - 1, 20000);
}

HI_TEST(hints, nth_allocation_fails_cleanly)
{
	for (uint64_t n = 1; n < 200; n++) {
		struct hi_arena own = {};
		struct hi_hints *hints = NULL;
		enum hi_status status;

		hi_alloc_fail_at(n);
		status = hi_hints_parse(&own, "x", example, sizeof(example) - 1, &hints,
					&err);
		hi_alloc_fail_at(0);
		hi_arena_free(&own);
		if (status == HI_OK) {
			HI_ASSERT(n > 1);
			return;
		}
		HI_ASSERT_EQ(HI_NO_MEMORY, status);
	}
	HI_ASSERT(!"it must work at last");
}

/* What people copy from. */
HI_TEST(hints, the_example_of_the_documentation_parses)
{
	static char text[1 << 16];
	FILE *file = fopen(HI_SOURCE_DIR "/docs/HINTS.md", "r");
	struct hi_hints *hints = NULL;
	char *start, *end;
	size_t n;

	HI_ASSERT(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	start = strstr(text, "```\n");
	HI_ASSERT(start);
	start += 4;
	end = strstr(start, "```");
	HI_ASSERT(end);
	hi_test_defer(free_arena, NULL);
	HI_ASSERT_OK(hi_hints_parse(&arena, "HINTS.md", start, (size_t)(end - start),
				    &hints, &err),
		     &err);
	HI_ASSERT_EQ(3, hints->n_records);
	HI_ASSERT_EQ(1, hints->n_roots);
}

HI_TEST(hints, shipped_hints_parse_and_survive_mutation)
{
	unsigned n = 0;

	srand(13);
	for (const struct hi_shipped_hints *s = hi_shipped_hints; s->name; s++, n++) {
		struct hi_arena own = {};
		struct hi_hints *hints = NULL;
		enum hi_status status =
			hi_hints_parse(&own, s->name, s->text, s->size, &hints, &err);

		hi_arena_free(&own);
		HI_ASSERT_OK(status, &err);
		mutate(s->text, s->size, 500);
	}
	HI_ASSERT(n >= 2);
}
