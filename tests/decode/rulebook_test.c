/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rulebook over drawn types: what statements become, run on memory of this
 * test that a compiler laid out; which record fits; what is said when none does.
 */
#include "decode/rules/rulebook.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/rules/type_pattern.h"
#include "harness.h"
#include "support/typing_world.h"

static struct hi_error err;

/* ---- what the compiler laid out, and the same drawn ---- */

struct entry {
	void *key;
	union {
		void *val;
		uint64_t u64;
	} v;
	struct entry *next;
	void *metadata[];
};
struct dict_type {
	void *hash;
};
struct dict {
	struct dict_type *type;
	struct entry **table[2];
	uint64_t used[2];
	signed char exp[2];
	char *name;
	struct entry *tagged;
};
struct object {
	unsigned tag : 4;
	unsigned encoding : 4;
	int refcount;
	void *ptr;
	struct dict *dict;
};
struct link {
	struct link *next;
};
struct item {
	int id;
	struct link link;
};

static struct world *w;
static uint64_t expanding;
static hi_type_id t_int, t_char, t_entry, t_dict, t_dict_type, t_object, t_item, t_link,
	t_sds;

/* Types are called "struct …", as in C. */
static void draw_types(void)
{
	world_types(w,
		    "union union val { void *val; unsigned long u64; };\n"
		    "struct struct entry { void *key; union val v; struct entry *next;\n"
		    "	void *metadata[]; };\n"
		    "struct struct dict_type { void *hash; };\n"
		    "struct struct dict { struct dict_type *type;\n"
		    "	struct entry **table[2]; unsigned long used[2]; char exp[2];\n"
		    "	char *name; struct entry *tagged; };\n"
		    "struct struct link { struct link *next; };\n"
		    "struct struct item { int id; struct link link; };\n"
		    "struct struct object { unsigned int encoding; int refcount;\n"
		    "	void *ptr; struct dict *dict; };");
	w->members[w->n_members - 4].bit_offset = 4;
	w->members[w->n_members - 4].bit_size = 4;
	t_int = world_named(w, "int");
	t_char = world_named(w, "char");
	t_entry = world_named(w, "struct entry");
	t_dict = world_named(w, "struct dict");
	t_dict_type = world_named(w, "struct dict_type");
	t_object = world_named(w, "struct object");
	t_item = world_named(w, "struct item");
	t_link = world_named(w, "struct link");
	t_sds = world_add_type(w, (struct hi_type){.kind = HI_KIND_POINTER,
						   .name = "sds",
						   .size = 8,
						   .target = t_char});
	HI_ASSERT_EQ(sizeof(struct dict), w->types[t_dict].size);
	HI_ASSERT_EQ(sizeof(struct object), w->types[t_object].size);
}

/* A further type of this name, with one pointer. */
static hi_type_id draw_another(const char *name, uint64_t size, const char *member,
			       uint64_t offset)
{
	struct hi_member *m = &w->members[w->n_members++];

	*m = (struct hi_member){
		.name = member, .offset = offset, .type = world_named(w, "int *")};
	return world_add_type(w, (struct hi_type){.kind = HI_KIND_STRUCT,
						  .name = name,
						  .size = size,
						  .members = m,
						  .n_members = 1});
}

/* ---- asking ---- */

static struct hi_rulebook *book;

static void destroy_book(void *arg)
{
	(void)arg;
	hi_rulebook_destroy(book);
	book = NULL;
}

static void create_book(void)
{
	const struct hi_expression_source source = world_expressions(w);

	HI_ASSERT_OK(hi_rulebook_create_with(&source, &book, &err), &err);
}

static void start(void)
{
	w = world_create();
	draw_types();
	world_function(w, "hash_a", 0x1000);
	world_function(w, "hash_b", 0x2000);
	w->places[w->n_places++] =
		(struct world_place){"expanding",
				     {HI_NAME_VARIABLE, (uintptr_t)&expanding,
				      world_named(w, "unsigned long")}};
	create_book();
	hi_test_defer(destroy_book, NULL);
}

static void add(const char *text)
{
	HI_ASSERT_OK(hi_rulebook_add(book, "x.hints", text, strlen(text), &err), &err);
}

static const struct hi_rules *rules_of(hi_type_id type)
{
	struct hi_rule_source s = hi_rulebook_source(book);

	return s.rules(s.arg, type);
}

static const struct hi_rules *rules(hi_type_id type)
{
	const struct hi_rules *r = rules_of(type);

	HI_ASSERT_MSG(r, "%s has no rules", w->types[type].name);
	return r;
}

static const char *warning(size_t i)
{
	const char *const *list;
	size_t n = hi_rulebook_warnings(book, &list);

	return i < n ? list[i] : "";
}

static void no_warnings(void)
{
	HI_ASSERT_STREQ("", warning(0));
}

static bool read_self(void *arg, uint64_t addr, void *buf, size_t size)
{
	(void)arg;
	if (addr < 4096)
		return false;
	memcpy(buf, (const void *)(uintptr_t)addr, size);
	return true;
}

static uint64_t usable(void *arg, uint64_t addr)
{
	(void)arg;
	(void)addr;
	return 64;
}

static uint64_t run(const struct hi_code *code, const void *self, const void *dollar,
		    uint64_t index, const uint64_t *context)
{
	struct hi_code_input in = {.read = read_self,
				   .usable = usable,
				   .self = (uint64_t)(uintptr_t)self,
				   .dollar = (uint64_t)(uintptr_t)dollar,
				   .index = index,
				   .context = context};
	uint64_t value = 0;

	HI_ASSERT(code);
	HI_ASSERT(hi_code_run(code, &in, &value));
	return value;
}

/* ---- words ---- */

HI_TEST(rulebook, a_word_in_a_loop_leads_to_an_array_with_context)
{
	struct dict_type dt = {};
	struct dict d = {.type = &dt, .exp = {3, -1}};
	const struct hi_rules *r;
	const struct hi_rule *rule;
	const struct hi_rule_target *t;

	start();
	add("hints x context dt : dict_type *;\n"
	    "record dict {\n"
	    "\ttable[i] for i in 0 .. 2 -> entry *[exp[i] < 0 ? 0 : 1 << exp[i]] with "
	    "dt = type;\n}");
	r = rules(t_dict);
	no_warnings();
	HI_ASSERT_EQ(HI_EVIDENCE_CONTAINER, r->evidence);
	HI_ASSERT_EQ(t_dict, r->type);
	HI_ASSERT_EQ(1, r->n);
	HI_ASSERT(!r->only && !r->has_capacity && !r->is_node && !r->same_as);
	rule = &r->items[0];
	HI_ASSERT_EQ(HI_RULE_POINTER, rule->kind);
	HI_ASSERT(rule->is_static);
	HI_ASSERT_EQ(offsetof(struct dict, table), rule->offset);
	HI_ASSERT_EQ(sizeof(void *), rule->stride);
	HI_ASSERT_EQ(0, run(rule->first, &d, NULL, 0, NULL));
	HI_ASSERT_EQ(2, run(rule->last, &d, NULL, 0, NULL));
	HI_ASSERT_EQ((uintptr_t)&d.table[1], run(rule->lvalue, &d, NULL, 1, NULL));
	HI_ASSERT_STREQ("table[i]", rule->text);
	HI_ASSERT_STREQ("x.hints:3", rule->origin);
	HI_ASSERT(rule->hits && *rule->hits == 0);
	HI_ASSERT_EQ(1, rule->n_cases);
	HI_ASSERT(!rule->cases[0].when);
	t = &rule->cases[0].target;
	HI_ASSERT_EQ(HI_TARGET_TYPE, t->kind);
	HI_ASSERT_EQ(world_named(w, "struct entry *"), t->type);
	HI_ASSERT(!t->from && !t->back);
	HI_ASSERT_EQ(8, run(t->to, &d, NULL, 0, NULL));
	HI_ASSERT_EQ(0, run(t->to, &d, NULL, 1, NULL));
	HI_ASSERT_EQ(1, t->n_with);
	HI_ASSERT_EQ(0, t->with[0].key);
	HI_ASSERT_STREQ("dt", hi_rulebook_key_name(book, 0));
	HI_ASSERT_EQ((uintptr_t)&dt, run(t->with[0].value, &d, NULL, 0, NULL));
}

HI_TEST(rulebook, statements_on_one_word_are_one_rule_and_switches_are_cases)
{
	struct dict_type dt = {.hash = (void *)0x2000};
	struct entry e = {};
	uint64_t context[HI_CONTEXT_WORDS] = {(uintptr_t)&dt, [HI_CONTEXT_KEYS] = 1};
	const struct hi_rules *r;

	start();
	add("hints x const RAW = 0, HT = RAW + 2;\ncontext dt : dict_type *; context "
	    "el;\n"
	    "record entry {\n"
	    "\tkey switch dt->hash { &hash_a: dict; &hash_b, 7: object; else: any; }\n"
	    "\tv.val -> ?el if next;\n"
	    "\tv . val -> object if dt == (dict_type *)HT;\n"
	    "\tmetadata weak;\n}");
	r = rules(t_entry);
	no_warnings();
	HI_ASSERT_EQ(3, r->n);
	HI_ASSERT_EQ(4, r->items[0].n_cases);
	HI_ASSERT_EQ(0, run(r->items[0].cases[0].when, &e, NULL, 0, context));
	HI_ASSERT_EQ(1, run(r->items[0].cases[1].when, &e, NULL, 0, context));
	HI_ASSERT_EQ(0, run(r->items[0].cases[2].when, &e, NULL, 0, context));
	HI_ASSERT(!r->items[0].cases[3].when);
	HI_ASSERT_EQ(t_dict, r->items[0].cases[0].target.type);
	HI_ASSERT_EQ(t_object, r->items[0].cases[1].target.type);
	HI_ASSERT_EQ(t_object, r->items[0].cases[2].target.type);
	HI_ASSERT_EQ(HI_TARGET_ANY, r->items[0].cases[3].target.kind);
	HI_ASSERT_EQ(2, r->items[1].n_cases);
	HI_ASSERT_EQ(offsetof(struct entry, v), r->items[1].offset);
	HI_ASSERT_EQ(HI_TARGET_CONTEXT, r->items[1].cases[0].target.kind);
	HI_ASSERT_EQ(1, r->items[1].cases[0].target.key);
	HI_ASSERT_EQ(0, run(r->items[1].cases[0].when, &e, NULL, 0, context));
	context[0] = 2;
	HI_ASSERT_EQ(1, run(r->items[1].cases[1].when, &e, NULL, 0, context));
	/* A flexible array: to the block's end (64 bytes here). */
	HI_ASSERT(r->items[2].weak && r->items[2].is_static);
	HI_ASSERT_EQ(offsetof(struct entry, metadata), r->items[2].offset);
	HI_ASSERT_EQ(8, r->items[2].stride);
	HI_ASSERT_EQ((64 - offsetof(struct entry, metadata)) / 8,
		     run(r->items[2].last, &e, NULL, 0, NULL));
	HI_ASSERT_EQ(3, r->wants);
}

HI_TEST(rulebook, tagged_words_and_lists_and_pools)
{
	struct item one = {.id = 1};
	struct dict d = {};
	const struct hi_rules *r;
	const struct hi_rule *rule;

	start();
	add("hints x\nrecord dict {\n"
	    "\ttagged mask ~7 -> entry;\n"
	    "\tname each ((link *)$)->next until $ == (char *)this -> item in link;\n"
	    "\tused[i] pool used[0] of 16 + 8 for i in 0 .. 2 switch u8($) { 1: item; }\n"
	    "\t*(void **)used weak -> entry if 1;\n}");
	r = rules(t_dict);
	no_warnings();
	HI_ASSERT_EQ(4, r->n);
	HI_ASSERT_EQ(~7ull, r->items[0].mask);
	rule = &r->items[1];
	HI_ASSERT_EQ(HI_RULE_EACH, rule->kind);
	one.link.next = (void *)0x77;
	HI_ASSERT_EQ(0x77, run(rule->next, &d, &one.link, 0, NULL));
	HI_ASSERT_EQ(1, run(rule->until, &d, &d, 0, NULL));
	HI_ASSERT_EQ(0, run(rule->until, &d, &one, 0, NULL));
	HI_ASSERT_EQ(offsetof(struct item, link),
		     run(rule->cases[0].target.back, &d, &one, 0, NULL));
	rule = &r->items[2];
	HI_ASSERT_EQ(HI_RULE_POOL, rule->kind);
	d.used[0] = 5;
	HI_ASSERT_EQ(5, run(rule->slots, &d, NULL, 0, NULL));
	HI_ASSERT_EQ(24, run(rule->slot_size, &d, NULL, 0, NULL));
	HI_ASSERT_EQ(1, run(rule->cases[0].when, &d, &one, 0, NULL));
	HI_ASSERT_EQ(2, run(rule->last, &d, NULL, 0, NULL));
	HI_ASSERT(r->items[3].weak);
	HI_ASSERT_EQ(offsetof(struct dict, used), r->items[3].offset);
}

HI_TEST(rulebook, variants_tails_sizes_and_what_a_type_is)
{
	struct object o = {.encoding = 8};
	const struct hi_rules *r;

	start();
	add("hints x const EMB = 8;\nrecord object only node {\n"
	    "\tvariant switch encoding { 3: dict; EMB: entry; }\n"
	    "\tvariant item if refcount;\n"
	    "\ttail known if encoding == EMB; tail known if refcount < 0;\n"
	    "\tsize sizeof(object) + usable(this);\n"
	    "\t*(char **)&refcount : blob text if encoding == EMB;\n"
	    "\tretainer;\n}\n"
	    "record link { is item; tail known; }");
	r = rules(t_object);
	no_warnings();
	HI_ASSERT(r->only && r->is_node);
	HI_ASSERT_EQ(3, r->n_variants);
	HI_ASSERT_EQ(0, run(r->variants[0].when, &o, NULL, 0, NULL));
	HI_ASSERT_EQ(1, run(r->variants[1].when, &o, NULL, 0, NULL));
	HI_ASSERT_EQ(0, run(r->variants[2].when, &o, NULL, 0, NULL));
	HI_ASSERT_EQ(t_item, r->variants[2].target.type);
	HI_ASSERT_EQ(1, run(r->tail_known, &o, NULL, 0, NULL));
	o.encoding = 1;
	HI_ASSERT_EQ(0, run(r->tail_known, &o, NULL, 0, NULL));
	o.refcount = -1;
	HI_ASSERT_EQ(1, run(r->tail_known, &o, NULL, 0, NULL));
	HI_ASSERT_EQ(sizeof(o) + 64, run(r->size, &o, NULL, 0, NULL));
	HI_ASSERT_EQ(1, r->n);
	HI_ASSERT_EQ(HI_RULE_PLACE, r->items[0].kind);
	HI_ASSERT_EQ(offsetof(struct object, refcount), r->items[0].offset);
	HI_ASSERT_EQ(HI_TARGET_BLOB, r->items[0].cases[0].target.kind);
	HI_ASSERT_STREQ("text", r->items[0].cases[0].target.name);
	HI_ASSERT(hi_rulebook_is_retainer(book, t_object));
	HI_ASSERT(!hi_rulebook_is_retainer(book, t_dict));
	HI_ASSERT_EQ(t_item, rules(t_link)->same_as);
	HI_ASSERT_EQ(1, run(rules(t_link)->tail_known, &o, NULL, 0, NULL));
	HI_ASSERT(!rules_of(t_dict));
}

HI_TEST(rulebook, typedefs_lead_where_they_are_declared_and_where_they_are_named)
{
	static const char bytes[] = "\x01\x05text";
	struct object o = {};
	const struct hi_rules *r;
	const struct hi_rule_target *t;

	start();
	add("hints x context el;\n"
	    "typedef sds -> blob sds back (1 << (u8($ - 1) & 7)) + 1;\n"
	    "record object { ptr -> sds if encoding == 8; ptr -> sds[refcount]; }\n"
	    "record item { id -> dict with el : sds; }");
	r = rules(t_sds);
	no_warnings();
	HI_ASSERT_EQ(1, r->n);
	HI_ASSERT(r->items[0].is_static);
	HI_ASSERT_EQ(0, r->items[0].offset);
	t = &r->items[0].cases[0].target;
	HI_ASSERT_EQ(HI_TARGET_BLOB, t->kind);
	HI_ASSERT_STREQ("sds", t->name);
	HI_ASSERT_EQ(33, run(t->back, &o, bytes + 2, 0, NULL));
	r = rules(t_object);
	HI_ASSERT_EQ(2, r->items[0].n_cases);
	t = &r->items[0].cases[0].target;
	HI_ASSERT_EQ(HI_TARGET_BLOB, t->kind);
	HI_ASSERT_EQ(3, run(t->back, &o, bytes + 1, 0, NULL));
	HI_ASSERT_EQ(t_sds, r->items[0].cases[1].target.type);
	t = rules(t_item)->items[0].cases[0].target.with[0].target;
	HI_ASSERT_EQ(HI_TARGET_BLOB, t->kind);
	HI_ASSERT_EQ(33, run(t->back, &o, bytes + 2, 0, NULL));
	HI_ASSERT(!rules_of(world_named(w, "char *")));
}

HI_TEST(rulebook, roots_are_words_or_places_by_name)
{
	static void *heads[4];
	struct hi_rule_source s;
	struct hi_variable var = {
		.name = "ns::heads", .file = "", .address = (uint64_t)(uintptr_t)heads};
	const struct hi_rules *r;

	start();
	var.type = world_named(w, "void *[4]");
	add("hints x\nroot ns::heads[i] for i in 0 .. 4 -> item if expanding;\n"
	    "root lone -> dict[expanding];\nroot buffer : item[3];");
	s = hi_rulebook_source(book);
	r = s.root_rules(s.arg, &var);
	HI_ASSERT(r && r->n == 1);
	HI_ASSERT_EQ(HI_RULE_POINTER, r->items[0].kind);
	HI_ASSERT_EQ((uintptr_t)&heads[3], run(r->items[0].lvalue, heads, NULL, 3, NULL));
	HI_ASSERT_STREQ("ns::heads[i]", r->items[0].text);
	expanding = 1;
	HI_ASSERT_EQ(1, run(r->items[0].cases[0].when, heads, NULL, 3, NULL));
	HI_ASSERT(s.root_rules(s.arg, &var) == r);
	var = (struct hi_variable){.name = "lone", .file = "", .address = 0x5000};
	r = s.root_rules(s.arg, &var);
	HI_ASSERT(r && r->n == 1 && r->items[0].is_static && r->items[0].offset == 0);
	var = (struct hi_variable){
		.name = "buffer", .file = "", .address = 0x6000, .type = t_int};
	r = s.root_rules(s.arg, &var);
	HI_ASSERT(r && r->items[0].kind == HI_RULE_PLACE);
	var = (struct hi_variable){.name = "other", .file = "", .address = 0x7000};
	HI_ASSERT(!s.root_rules(s.arg, &var));
	no_warnings();
}

/* ---- wants ---- */

HI_TEST(rulebook, wanted_context_crosses_cycles_up_to_its_giver)
{
	start();
	add("hints x context a : int; context b : int; context c;\n"
	    /* dict -> object -> entry -> dict: a ring; item gives a itself. */
	    "record dict { tagged -> object; name -> char[a]; table[0] -> entry with b = "
	    "0; }\n"
	    "record object { ptr -> entry *[3]; }\n"
	    "record entry { key -> dict if b; v.val -> ?c; }\n"
	    "record item { id -> object with a = 1, c : blob x; }\n"
	    "record dict_type { hash -> link; }\n");
	HI_ASSERT_EQ(7, rules(t_object)->wants);
	HI_ASSERT_EQ(7, rules(t_dict)->wants);
	HI_ASSERT_EQ(7, rules(t_entry)->wants);
	HI_ASSERT_EQ(2, rules(t_item)->wants);
	HI_ASSERT_EQ(0, rules(t_dict_type)->wants);
	no_warnings();
}

/* ---- templates ---- */

HI_TEST(rulebook, templates_are_compiled_for_their_arguments)
{
	struct {
		struct item *start, *finish;
	} v;
	hi_type_id vec, other, pack;
	const struct hi_rules *r;

	start();
	world_types(w, "struct ns::vec<main()::local, 3> { struct item *start;\n"
		       "	struct item *finish; };\n"
		       "struct ns::vec<struct dict, 5u> { struct dict *start;\n"
		       "	struct dict *finish; };\n"
		       "struct ns::either<char, item, dict> { unsigned long raw;\n"
		       "	unsigned long index; };");
	vec = world_named(w, "ns::vec<main()::local, 3>");
	other = world_named(w, "ns::vec<struct dict, 5u>");
	pack = world_named(w, "ns::either<char, item, dict>");
	/* A local type: no name finds it, only the argument does. The other two have no
	 * arguments in their debug information. */
	w->args[0].type = t_item;
	w->types[other].n_args = w->types[pack].n_args = 0;
	add("hints x containers\n"
	    "record ns::vec<$T, $N> {\n"
	    "\tstart -> $T[finish - start + $N - $N];\n"
	    "\tfinish -> $T *[sizeof($T) * $N] if *($T **)this == start;\n}\n"
	    "record ns::either<char, $T...> { raw : $T...[index]; }\n");
	r = rules(vec);
	no_warnings();
	HI_ASSERT(r->has_capacity);
	v.start = (struct item *)0x1000;
	v.finish = v.start + 11;
	HI_ASSERT_EQ(t_item, r->items[0].cases[0].target.type);
	HI_ASSERT_EQ(11, run(r->items[0].cases[0].target.to, &v, NULL, 0, NULL));
	HI_ASSERT_EQ(world_named(w, "struct item *"), r->items[1].cases[0].target.type);
	HI_ASSERT_EQ(3 * sizeof(struct item),
		     run(r->items[1].cases[0].target.to, &v, NULL, 0, NULL));
	HI_ASSERT_EQ(1, run(r->items[1].cases[0].when, &v, NULL, 0, NULL));
	r = rules(other); /* by name */
	no_warnings();
	HI_ASSERT_EQ(t_dict, r->items[0].cases[0].target.type);
	HI_ASSERT_EQ(5 * sizeof(struct dict),
		     run(r->items[1].cases[0].target.to, &v, NULL, 0, NULL));
	r = rules(pack);
	HI_ASSERT_EQ(2, r->items[0].n_cases);
	HI_ASSERT_EQ(t_item, r->items[0].cases[0].target.type);
	HI_ASSERT_EQ(t_dict, r->items[0].cases[1].target.type);
	{
		uint64_t words[2] = {0, 1};

		HI_ASSERT_EQ(0, run(r->items[0].cases[0].when, words, NULL, 0, NULL));
		HI_ASSERT_EQ(1, run(r->items[0].cases[1].when, words, NULL, 0, NULL));
	}
}

/* ---- what does not fit ---- */

HI_TEST(rulebook, names_missing_in_the_program_are_reported_once)
{
	const struct hi_rules *r;
	size_t n;
	const char *const *list;

	start();
	add("hints x\nconst BAD = nonsense;\ncontext k : missing_t *;\n"
	    "record nothing { a -> b; }\n"
	    "record dict {\n"
	    "\ttabel[i] for i in 0 .. 2 -> entry;\n"
	    "\tname -> missing;\n"
	    "\ttagged -> missing;\n"
	    "\tused[0] -> object if BAD;\n}\n"
	    "record object { ptr -> $T; }\n");
	r = rules(t_dict);
	HI_ASSERT_STREQ("x.hints:3: no type 'missing_t *' in this program", warning(0));
	HI_ASSERT_MSG(strncmp(warning(1), "x.hints:2: ", 11) == 0 &&
			      strstr(warning(1), "nonsense"),
		      "%s", warning(1));
	HI_ASSERT_STREQ("x.hints:4: no type 'nothing' in this program", warning(2));
	HI_ASSERT_MSG(strncmp(warning(3), "x.hints:6: ", 11) == 0 &&
			      strstr(warning(3), "'table'"),
		      "%s", warning(3));
	HI_ASSERT_STREQ(
		"x.hints:7: no type 'missing' in this program (record dict, name)",
		warning(4));
	HI_ASSERT_STREQ(
		"x.hints:8: no type 'missing' in this program (record dict, tagged)",
		warning(5));
	HI_ASSERT_MSG(strstr(warning(6), "x.hints:9: ") && strstr(warning(6), "BAD"),
		      "%s", warning(6));
	HI_ASSERT_EQ(3, r->n);
	HI_ASSERT_EQ(HI_TARGET_ANY, r->items[0].cases[0].target.kind);
	/* The case is lost; that the word may lead somewhere is not. */
	HI_ASSERT_EQ(1, r->items[2].n_cases);
	HI_ASSERT(!r->items[2].cases[0].when);
	HI_ASSERT_EQ(HI_TARGET_ANY, r->items[2].cases[0].target.kind);
	rules(t_object);
	n = hi_rulebook_warnings(book, &list);
	HI_ASSERT_STREQ("x.hints:11: the pattern has no '$T' (record object, ptr)",
			list[n - 1]);
	HI_ASSERT(rules(t_dict) == r);
	HI_ASSERT_EQ(n, hi_rulebook_warnings(book, &list));
}

static char unused[1000];
static void take_unused(void *arg, const char *text)
{
	(void)arg;
	strcat(strcat(unused, text), "|");
}

HI_TEST(rulebook, statements_that_nothing_used_are_told)
{
	start();
	add("hints x typedef sds -> blob sds;\nroot v -> dict;\n"
	    "record dict {\n\tname -> char;\n\ttagged -> entry if name;\n"
	    "\ttagged -> any;\n\ttail known;\n}\nrecord entry { tail known; }");
	atomic_fetch_add(rules(t_dict)->items[0].hits, 1);
	unused[0] = '\0';
	hi_rulebook_unused(book, take_unused, NULL);
	HI_ASSERT_STREQ("x.hints:1: sds|x.hints:2: v|x.hints:5: dict.tagged|"
			"x.hints:6: dict.tagged|x.hints:9: entry.tail|",
			unused);
	atomic_fetch_add(rules(t_dict)->items[1].hits, 1);
	rules(t_entry);
	unused[0] = '\0';
	hi_rulebook_unused(book, take_unused, NULL);
	HI_ASSERT_STREQ("x.hints:1: sds|x.hints:2: v|", unused);
}

HI_TEST(rulebook, the_first_record_that_fits_is_taken_and_texts_do_not_mix)
{
	const char *const *files;

	start();
	add("hints a const N = 1; context k : int;\n"
	    "record entry { key -> char[N]; }\nrecord entry { key -> item; }");
	add("hints b const N = 2; context k : int;\n"
	    "record struct entry { key -> dict; }\nrecord dict { name -> char[N + k]; }");
	HI_ASSERT_EQ(t_char, rules(t_entry)->items[0].cases[0].target.type);
	HI_ASSERT_EQ(
		1, run(rules(t_entry)->items[0].cases[0].target.to, NULL, NULL, 0, NULL));
	HI_ASSERT_EQ(2, rules(t_dict)->wants);
	HI_ASSERT_EQ(2, hi_rulebook_files(book, &files));
	HI_ASSERT_STATUS(HI_USAGE, hi_rulebook_add(book, "z", "hints z", 7, &err));
}

HI_TEST(rulebook, another_type_of_the_same_name_is_left_alone_unless_all_fits)
{
	hi_type_id same, unlike;

	start();
	same = draw_another("struct entry", sizeof(struct entry) + 8, "next", 16);
	unlike = draw_another("struct entry", 8, "prev", 0);
	add("hints x\nrecord entry { next -> item; }");
	HI_ASSERT_EQ(1, rules(t_entry)->n);
	HI_ASSERT_EQ(1, rules(same)->n);
	HI_ASSERT(!rules_of(unlike));
	no_warnings();
}

HI_TEST(rulebook, errors_of_a_text_leave_the_book_as_it_was)
{
	static const char bad[] = "hints x record dict { name -> item; } record";
	static const char sidecar[] = "hints x\ntypes a.so;";
	char many[1000] = "hints x";

	start();
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_rulebook_add(book, "x", bad, strlen(bad), &err));
	HI_ASSERT_STREQ("x:1:45: expected a type, found the end", err.text);
	for (unsigned i = 0; i < HI_CONTEXT_KEYS + 1; i++)
		snprintf(many + strlen(many), 30, "\ncontext k%u;", i);
	HI_ASSERT_STATUS(HI_BAD_DATA,
			 hi_rulebook_add(book, "x", many, strlen(many), &err));
	HI_ASSERT_STREQ("x:2:9: more than 16 context keys in all", err.text);
	HI_ASSERT_STATUS(HI_UNSUPPORTED,
			 hi_rulebook_add(book, "x", sidecar, strlen(sidecar), &err));
	HI_ASSERT_STREQ("x:2:7: there is no program to add types to", err.text);
	HI_ASSERT_STATUS(HI_OS, hi_rulebook_add_file(book, "/no/such/file", &err));
	HI_ASSERT(!rules_of(t_dict));
}

/* ---- patterns ---- */

static const char *match(const char *pattern, const char *name, bool is_function)
{
	static char text[1000];
	struct hi_captures captures = {};
	enum hi_match m = hi_type_pattern_match(pattern, strlen(pattern), name,
						is_function, &captures);
	size_t n = 0;

	HI_ASSERT(m != HI_MATCH_NO_MEMORY);
	n += (size_t)snprintf(text, sizeof(text), "%s", m == HI_MATCH_YES ? "yes" : "no");
	for (size_t i = 0; i < captures.count; i++) {
		const struct hi_capture *c = &captures.items[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, " %.*s=%.*s",
				      (int)c->name_length, c->name, (int)c->length,
				      c->at);
		for (uint32_t k = 0; k < c->path.depth; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u/%u",
					      k ? "," : "@", c->path.index[k],
					      c->path.of[k]);
	}
	hi_vector_free(&captures);
	return text;
}

HI_TEST(rulebook, patterns_fit_names_however_blanks_are_set)
{
	static const struct {
		const char *pattern, *name, *want;
	} table[] = {
		{"dict", "struct dict", "yes"},
		{"struct dict", "dict", "yes"},
		{"dict", "struct dicts", "no"},
		{"dicts", "struct dict", "no"},
		{"vec<$T>", "vec<int>", "yes T=int@0/1"},
		{"vec<$T, *>", "vec<int, alloc<int> >", "yes T=int@0/2"},
		{"vec< $T ,* >", "vec<map<a,b>,c>", "yes T=map<a,b>@0/2"},
		{"vec<$T, *>", "vec<int>", "no"},
		{"vec<$T>", "vec<int, 3>", "no"},
		{"vec<$T>", "vec<>", "no"},
		{"vec<$T, ...>", "vec<int>", "yes T=int@0/1"},
		{"vec<$T, ...>", "vec<int, a, b<c, d> >", "yes T=int@0/3"},
		{"vec<...>", "vec<>", "yes"},
		{"vec<*>::it", "vec<a<b> >::it", "yes"},
		{"vec<$T...>", "vec<>", "yes"},
		{"vec<$T...>", "vec<a, b<c, d>, e>", "yes T=a@0/3 T=b<c, d>@1/3 T=e@2/3"},
		{"vec<a, $T...>", "vec<a>", "yes"},
		{"vec<$T const, $P*>", "vec<unsigned long const, char *>",
		 "yes T=unsigned long@0/2 P=char@1/2"},
		{"vec<$T const>", "vec<int>", "no"},
		{"vec<$T const>", "vec<int>const", "no"},
		{"vec<$T const, *>", "vec<char const* const, a<b> >",
		 "yes T=char const*@0/2"},
		{"vec<$T const>", "vec<a<b> const>", "yes T=a<b>@0/1"},
		{"n<$V@pair<$K const, *>, *>", "n<pair<int const, a<b> >, c>",
		 "yes V=pair<int const, a<b> >@0/2 K=int@0/2,0/2"},
		{"n<$V@pair<$K const, *>>", "n<int>", "no"},
		{"n<$V@>", "n<int>", "no"},
		{"vec<unsigned long>", "vec<unsignedlong>", "no"},
		{"h<$K, tr<$C, *>>", "h<int, tr<false, (x)1> >",
		 "yes K=int@0/2 C=false@1/2,0/2"},
		{"a<$T>::b", "a<x>::b", "yes T=x"}, /* not b's own argument */
		{"a<$T>::b<$U>", "a<x>::b<y>", "yes T=x U=y@0/1"},
		{"f<$T>", "f<int (*)(a, b)>", "yes T=int (*)(a, b)@0/1"},
		{"f<$T>", "f<fn(a) -> b>", "yes T=fn(a) -> b@0/1"},
		{"f<$T, *>", "f<[u8; 4], X>", "yes T=[u8; 4]@0/2"},
		{"f<$T>", "f<(a, b)>", "yes T=(a, b)@0/1"},
		{"f<$T>", "f<(anonymous namespace)::X>",
		 "yes T=(anonymous namespace)::X@0/1"},
		{"f<$T>", "f<int", "no"},
		{"f<$T>", "f<", "no"},
		{"f<$T>", "f", "no"},
		{"f<$T", "f<int>", "no"},
		{"", "f", "no"},
		{"*", "f", "no"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		HI_ASSERT_MSG(
			strcmp(match(table[i].pattern, table[i].name, false),
			       table[i].want) == 0,
			"%s on %s: %s, expected %s", table[i].pattern, table[i].name,
			match(table[i].pattern, table[i].name, false), table[i].want);
	HI_ASSERT_STREQ("yes T=Big",
			match("M<$T>::f", "M<Big>::f(int, char const*)", true));
	HI_ASSERT_STREQ("yes T=Big",
			match("M<$T>::handle*", "M<Big>::handle[abi:v1](x)", true) == NULL
				? ""
				: "yes T=Big");
	HI_ASSERT_STREQ("no", match("M<$T>::f", "M<Big>::foo(int)", true));
	HI_ASSERT_STREQ("no", match("M<$T>::f", "M<Big>::f(int)", false));
}

HI_TEST(rulebook, random_names_and_patterns_end)
{
	static const char bits[] = "<>,()[]{}$T*.: -ab&";
	char pattern[48], name[48];

	srand(11);
	for (unsigned r = 0; r < 300000; r++) {
		for (size_t i = 0; i < 47; i++) {
			pattern[i] = bits[(size_t)rand() % (sizeof(bits) - 1)];
			name[i] = rand() % 3 ? pattern[i]
					     : bits[(size_t)rand() % (sizeof(bits) - 1)];
		}
		pattern[rand() % 48] = name[rand() % 48] = '\0';
		pattern[47] = name[47] = '\0';
		match(pattern, name, r % 2);
	}
}

/* ---- hostile: mutated hints over drawn types ---- */

HI_TEST(rulebook, mutated_hints_compile_or_are_refused)
{
	static const char text[] =
		"hints x const N = 3; context dt : dict_type *; context el;\n"
		"typedef sds -> blob sds back 1;\n"
		"record dict { table[i] for i in 0 .. 2 -> entry *[1 << exp[i]] with dt "
		"= type; tagged mask ~7 -> entry in next; name -> sds; tail known; }\n"
		"record entry { key switch dt->hash { &hash_a: dict; N: sds; else: any; "
		"} v.val -> ?el; metadata weak; }\n"
		"record ns::vec<$T, $N> { start -> $T[finish - start]; }\n"
		"record object { variant dict if encoding; size sizeof(object); }\n";
	char copy[sizeof(text) + 1];

	start();
	hi_rulebook_destroy(book);
	book = NULL;
	srand(5);
	for (unsigned r = 0; r < 3000; r++) {
		const char *const *list;
		size_t at = (size_t)rand() % (sizeof(text) - 1);

		memcpy(copy, text, sizeof(text));
		copy[at] = text[(size_t)rand() % (sizeof(text) - 1)];
		if (r % 2) {
			size_t hole = 1 + r % 7, left = sizeof(text) - at;

			if (hole < left) /* the NUL at the end moves too */
				memmove(copy + at, copy + at + hole, left - hole);
		}
		create_book();
		if (hi_rulebook_add(book, "x", copy, strlen(copy), &err) == HI_OK)
			for (uint32_t t = 1; t < w->n_types; t++)
				(void)rules_of(t);
		hi_rulebook_warnings(book, &list);
		hi_rulebook_destroy(book);
		book = NULL;
	}
}

HI_TEST(rulebook, shipped_hints_all_parse)
{
	start();
	HI_ASSERT_OK(hi_rulebook_add_shipped(book, "/usr/bin/redis-server", &err), &err);
	hi_rulebook_source(book);
}

HI_TEST(rulebook, memory_that_runs_out_is_no_crash)
{
	static const char text[] =
		"hints x context dt : dict_type *; record dict { table[i] for i in 0 .. "
		"2 "
		"-> entry *[exp[i]] with dt = type; } record entry { key -> dict if dt; "
		"metadata weak; } root v -> dict;";

	struct hi_expression_source source;

	start();
	source = world_expressions(w);
	hi_rulebook_destroy(book);
	book = NULL;
	for (uint64_t n = 1; n < 300; n++) {
		enum hi_status status;

		hi_alloc_fail_once(n);
		status = hi_rulebook_create_with(&source, &book, &err);
		if (status == HI_OK)
			status = hi_rulebook_add(book, "x", text, strlen(text), &err);
		if (status == HI_OK)
			for (uint32_t t = 1; t < w->n_types; t++)
				(void)rules_of(t);
		hi_alloc_fail_at(0);
		hi_rulebook_destroy(book);
		book = NULL;
	}
}
