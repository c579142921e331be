/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles by retainers and by named roots, of heaps that were drawn by the
 * authors of these profiles. The programs say what each object costs; which objects
 * are in which band is written here, as it was drawn.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/targets.h"
#include "tests/support/workshop.h"

enum { MAX_BANDS = 8, MAX_ARGS = 10 };

/* ---- the heap ---- */

static struct target *heap;

static void start_heap(const char *name)
{
	heap = target_start("profile_heaps", name, NULL);
}

/* It says "cost NAME BYTES ADDRESS". */
static const char *said_of(const char *name)
{
	char key[24];

	snprintf(key, sizeof(key), "cost %s", name);
	return target_said(heap, key);
}

static const char *address_of(const char *name)
{
	return strchr(said_of(name), ' ') + 1;
}

/* "x y z": what they cost together. */
static long long cost_of(const char *names)
{
	char text[200], *rest = text, *name;
	long long cost = 0;

	snprintf(text, sizeof(text), "%s", names);
	while ((name = strsep(&rest, " ")))
		cost += *name ? atoll(said_of(name)) : 0;
	return cost;
}

static long long count_of(const char *names)
{
	long long n = *names != '\0';

	for (; *names; names++)
		n += *names == ' ';
	return n;
}

/* ---- the report ---- */

static struct hi_command *run(const char *command, const char *const *more)
{
	return hi_heapinspect_words(TARGET_WORDS(command, "--pid", heap->pid, "--json"),
				    more);
}

static json_t *ask(const char *command, const char *const *more)
{
	return doc_of(run(command, more));
}

/* Members come by identity, not by name: sort them. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "a + b": the members, by name. */
static void label_of(const json_t *row, char *out, size_t size)
{
	const char *names[16];
	size_t n = doc_size(row, "members"), used = 0;

	HI_ASSERT(n <= 16);
	out[0] = '\0';
	if (doc_bool(row, "many"))
		snprintf(out, size, "MANY");
	for (size_t i = 0; i < n; i++)
		names[i] = doc_text(row, "members.%zu", i);
	qsort((void *)names, n, sizeof(*names), by_text);
	for (size_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " + " : "",
					 names[i]);
}

/* A band that must be there: its label ("@s1" is the address of s1) and objects. */
struct band {
	const char *label, *objects;
};

static void expand(const char *label, char *out, size_t size)
{
	size_t used = 0;

	while (*label && used + 1 < size) {
		size_t n = strcspn(label, "@");

		used += (size_t)snprintf(out + used, size - used, "%.*s", (int)n, label);
		label += n;
		if (*label == '@') {
			char name[8] = {label[1], label[2]};

			used += (size_t)snprintf(out + used, size - used, "%s",
						 address_of(name));
			label += 3;
		}
	}
}

static void check_band(const json_t *doc, const struct band *band,
		       void (*label)(const json_t *, char *, size_t))
{
	long long count = count_of(band->objects), cost = cost_of(band->objects);
	char want[200] = "", have[400];
	json_t *row;

	expand(band->label, want, sizeof(want));
	doc_each (row, doc_at(doc, "rows")) {
		label(row, have, sizeof(have));
		if (strcmp(want, have) != 0)
			continue;
		HI_ASSERT_MSG(doc_number(row, "bytes") == cost,
			      "%s: %lld bytes, truth %lld", want,
			      doc_number(row, "bytes"), cost);
		HI_ASSERT_MSG(doc_number(row, "objects") == count,
			      "%s: %lld objects, truth %lld", want,
			      doc_number(row, "objects"), count);
		return;
	}
	HI_ASSERT_MSG(cost == 0, "no band %s", want);
}

static size_t check_bands(const json_t *doc, const struct band *bands,
			  void (*label)(const json_t *, char *, size_t))
{
	size_t n = 0;

	for (; n < MAX_BANDS && bands[n].label; n++)
		check_band(doc, &bands[n], label);
	return n;
}

static void check_sanity(const json_t *doc)
{
	const json_t *s = doc_at(doc, "sanity");

	HI_ASSERT_EQ(0, doc_number(s, "difference"));
	HI_ASSERT_EQ(doc_number(s, "allocated"),
		     doc_number(s, "exact") + doc_number(s, "conservative_only") +
			     doc_number(s, "leak") + doc_number(s, "allocator"));
}

/* ---- retainers ---- */

static const struct retained_heap {
	const char *heap, *options[MAX_ARGS];
	struct band bands[MAX_BANDS];
} retained_heaps[] = {
	{"r1",
	 {"--retainer=stack_a", "--retainer=struct stack_b", "--retainer=stack_c"},
	 {{"struct stack_c", "big"},
	  {"struct stack_b", "C"},
	  {"struct stack_a", "B"},
	  {"stk", "A"}}},
	{"r2", {NULL}, {{"cache", "n1"}, {"indices", "n2"}, {"cache + indices", "s t"}}},
	{"r3", {"--retainer=mark"}, {{"g", "x y z"}, {"g + struct mark", "p T"}}},
	{"r4",
	 {"--retainer=session"},
	 {{"tab", "s1 s2"}, {"struct session", "b1 b2 sh"}}},
	{"r4",
	 {"--retainer=session", "--identity=addr"},
	 {{"tab", "s1 s2"},
	  {"struct session @s1", "b1"},
	  {"struct session @s2", "b2"},
	  {"struct session @s1 + struct session @s2", "sh"}}},
	/* Coarser: both are what tab retains. */
	{"r4", {"--retainer=session", "--identity=var"}, {{"tab", "s1 s2 b1 b2 sh"}}},
	{"r4",
	 {"--retainer=session", "--identity=module"},
	 {{"profile_heaps", "s1 s2 b1 b2 sh"}}},
	{"r4",
	 {"--retainer=session.buffer"},
	 {{"tab", "s1 s2 b1 b2 sh"}}}, /* buffers hold nothing */
	{"r4",
	 {"--retainer=session.shared", "--identity=addr"},
	 {{"tab", "s1 s2 b1 b2 sh"}}},
	{"r4", {"--retainer=global"}, {{"tab", "s1 s2"}, {"struct session", "b1 b2 sh"}}},
	{"r5",
	 {"--retainer=target"},
	 {{"R1 + struct target", "cp T c"}, {"R1 + R3 + struct target", "d"}}},
	{"r6", {"--max-set=2"}, {{"a + b", "q"}, {"MANY", "o"}}},
	{"r6", {"--max-set=4"}, {{"a + b", "q"}, {"a + b + c + d", "o"}}},
	{"r7", {NULL}, {{"r", "a b c d e"}}},
	{"words", {NULL}, {{"SYSTEM", "m n"}}},
	/* Without types words are as good as pointers. */
	{"r4",
	 {"--retainer=global", "--conservative", "--identity=var"},
	 {{"tab", "s1 s2 b1 b2 sh"}}},
};

/* All that is drawn of the heap that runs. */
static void check_retainer_sets_are_as_drawn(const char *name)
{
	for (size_t i = 0; i < sizeof(retained_heaps) / sizeof(retained_heaps[0]); i++) {
		const struct retained_heap *h = &retained_heaps[i];
		json_t *doc;

		if (strcmp(h->heap, name) != 0)
			continue;
		hi_test_note("%s %s", name, h->options[0] ? h->options[0] : "");
		doc = ask("retainers", h->options);
		HI_ASSERT_EQ(check_bands(doc, h->bands, label_of), doc_size(doc, "rows"));
		check_sanity(doc);
		HI_ASSERT_EQ(doc_number(doc, "live.bytes"),
			     doc_sum(doc_at(doc, "rows"), "bytes"));
	}
}

/* A field that a hint calls weak. */
static void check_weak_fields_retain_only_when_they_are_asked_to(void)
{
	static const char *const hint = "hints links\nrecord link {\n\tnext weak;\n}\n";
	static const struct band plain[MAX_BANDS] = {{"cache", "n1"}, {"indices", "n2"}};
	static const struct band weak[MAX_BANDS] = {
		{"cache", "n1"}, {"indices", "n2"}, {"WEAK", "s t"}};
	char option[200];
	const char *options[] = {option, NULL, NULL};
	json_t *doc;

	snprintf(option, sizeof(option), "--hints=%s/weak.hints", workshop_open());
	workshop_write("weak.hints", hint);
	doc = ask("retainers", options);
	HI_ASSERT_EQ(2, check_bands(doc, plain, label_of));
	HI_ASSERT_EQ(2, doc_size(doc, "rows"));
	HI_ASSERT_EQ(cost_of("s t"), doc_number(doc, "sanity.leak"));
	options[1] = "--weak-as-roots";
	doc = ask("retainers", options);
	HI_ASSERT_EQ(3, check_bands(doc, weak, label_of));
	HI_ASSERT_EQ(cost_of("s t"), doc_number(doc, "weak_bytes"));
}

static void check_dead_rings_are_leaks_and_in_no_set(void)
{
	json_t *doc = ask("retainers", TARGET_WORDS("--retainer=mark"));

	HI_ASSERT_EQ(cost_of("dead1 dead2"), doc_number(doc, "sanity.leak"));
}

static void check_many_is_shown_however_few_rows_are_asked_for(void)
{
	struct band many = {"MANY", "o"};
	json_t *doc = ask("retainers", TARGET_WORDS("--max-set=2", "--top=1"));

	check_band(doc, &many, label_of);
	HI_ASSERT_EQ(cost_of("o"), doc_number(doc, "many_bytes"));
}

static void check_a_restriction_says_what_many_hides(void)
{
	json_t *doc = ask("census", TARGET_WORDS("--max-set=2", "--retained-by=a"));

	HI_ASSERT_EQ(cost_of("q"), doc_number(doc, "only.bytes"));
	HI_ASSERT_EQ(cost_of("o"), doc_number(doc, "only.many_bytes"));
	HI_ASSERT_EQ(cost_of("o"), doc_number(doc, "only.hidden_bytes"));
}

static void check_the_climb_goes_from_big_to_the_variable(void)
{
	static const char *const steps[] = {"struct stack_c", "struct stack_b",
					    "struct stack_a", "stk"};
	json_t *doc = ask("up", TARGET_WORDS("--type=char*"));

	HI_ASSERT_EQ(4, doc_size(doc, "rows"));
	for (size_t i = 0; i < 4; i++) {
		char label[100];

		HI_ASSERT_EQ(1, doc_size(doc, "rows.%zu.sets", i));
		label_of(doc_at(doc, "rows.%zu.sets.0", i), label, sizeof(label));
		HI_ASSERT_STREQ(steps[i], label);
	}
}

static void check_the_climb_does_not_go_round_in_circles(void)
{
	HI_ASSERT_EQ(1, doc_size(ask("up", TARGET_WORDS("--type=struct knot")), "rows"));
}

/* ---- sharing bins ---- */

static void bin_label(const json_t *row, char *out, size_t size)
{
	snprintf(out, size, "%s", doc_text(row, "bin"));
}

static void check_bins_of_an_environment_are_as_drawn(void)
{
	/* As the heap of the paper has them under glibc. */
	static const struct {
		const char *bin;
		long long bytes;
	} paper[] = {{"hsc", 128}, {"hsc-eps", 80}, {"hsc-fc", 112}, {"hsc-eps-fc", 64}};
	static const struct band bands[MAX_BANDS] = {{"hsc", "hsc oth t"},
						     {"hsc-eps", "eps e"},
						     {"hsc-fc", "fc z f"},
						     {"hsc-eps-fc", "x y"}};
	json_t *doc = ask("roots", TARGET_WORDS("--root=hsc=hsc", "--root=eps=hsc->eps",
						"--root=fc=fc", "--all-bins")),
	       *row;
	size_t zeros = 0;

	check_bands(doc, bands, bin_label);
	for (size_t k = 0; k < 4; k++)
		HI_ASSERT_EQ(paper[k].bytes,
			     doc_number(doc_row(doc_at(doc, "rows"), "bin", paper[k].bin),
					"bytes"));
	doc_each (row, doc_at(doc, "rows"))
		zeros += doc_number(row, "bytes") == 0;
	HI_ASSERT_EQ(9, doc_size(doc, "rows"));
	HI_ASSERT_EQ(5, zeros); /* eps, fc, eps-fc, NOROOT, LEAK */
	HI_ASSERT_EQ(384, doc_number(doc, "allocated.bytes"));
	HI_ASSERT_STREQ("hsc", doc_text(doc, "roots.1.inside"));
	HI_ASSERT(doc_is_null(doc, "roots.0.inside"));
	check_sanity(doc);
}

static void check_a_root_inside_a_tree_splits_it(void)
{
	static const struct band bands[MAX_BANDS] = {
		{"c10", "1000 1001 1002 1003 1004"},
		{"c11", "1100 1101 1104"},
		{"c11-c1102", "1102 1103"},
		{"NOROOT", "2000 2001 2002 2003 2004 2005 2006 2007 2008"},
		{"LEAK", ""}};
	json_t *doc = ask("roots", TARGET_WORDS("--root=c10=c10", "--root=c11=c11",
						"--root=c1102=c1102"));

	HI_ASSERT_EQ(5, check_bands(doc, bands, bin_label));
	HI_ASSERT_EQ(5, doc_size(doc, "rows"));
}

/* Seven roots, each in all of those before it. */
static void check_suffixes(const char *const *options, bool backwards)
{
	json_t *doc = ask("roots", options);

	for (int i = 1; i <= 7; i++) {
		char label[64] = "", objects[16];
		size_t used = 0;

		for (int k = 1; k <= i; k++)
			used += (size_t)snprintf(label + used, sizeof(label) - used,
						 "%sx%d", k > 1 ? "-" : "",
						 backwards ? i + 1 - k : k);
		if (i < 7)
			snprintf(objects, sizeof(objects), "x%d w%d", i, i);
		else
			snprintf(objects, sizeof(objects), "x7");
		check_band(doc, &(struct band){label, objects}, bin_label);
	}
	HI_ASSERT_EQ(9, doc_size(doc, "rows"));
}

static void check_nested_suffixes_of_a_list_have_bins_in_any_order(void)
{
	static const char *const forwards[MAX_ARGS] = {
		"--root=x1=list",
		"--root=x2=list->next",
		"--root=x3=list->next->next",
		"--root=x4=list->next->next->next",
		"--root=x5=list->next->next->next->next",
		"--root=x6=list->next->next->next->next->next",
		"--root=x7=list->next->next->next->next->next->next"};
	const char *backwards[MAX_ARGS] = {NULL};

	for (size_t i = 0; i < 7; i++)
		backwards[i] = forwards[6 - i];
	check_suffixes(forwards, false);
	check_suffixes(backwards, true);
}

static void check_bins_of_a_shared_ring_are_as_drawn(void)
{
	static const struct band bands[MAX_BANDS] = {{"ra", "ra"},
						     {"rb", "rb only"},
						     {"ra,rb", "c1 c2 c3"},
						     {"LEAK", "dead1 dead2"},
						     {"NOROOT", ""}};

	check_bands(
		ask("roots", TARGET_WORDS("--root=ra=ra", "--root=rb=*rb", "--join=,")),
		bands, bin_label);
}

static void check_a_hundred_roots_on_a_chain_have_their_bins(void)
{
	const char *words[102] = {"roots"};
	char roots[100][64];

	for (size_t i = 0; i < 100; i++) {
		snprintf(roots[i], sizeof(roots[i]), "--root=r%zu=%s", i,
			 i % 2 ? "ra" : "ra->a->next");
		words[1 + i] = roots[i];
	}
	/* Both kinds reach the ring, one of them ra itself; NOROOT, LEAK. */
	HI_ASSERT_EQ(4, doc_size(target_ask_words(heap, words), "rows"));
}

static void check_a_root_that_is_null_holds_nothing_and_says_so(void)
{
	json_t *doc = ask("roots", TARGET_WORDS("--root=x=ra->b", "--root=y=ra"));

	HI_ASSERT_EQ(0, doc_number(doc, "roots.0.reached"));
	HI_ASSERT_STREQ("it is null", doc_text(doc, "roots.0.warning"));
}

/* ---- under a root ---- */

static void check_a_census_under_a_root_is_what_the_root_reaches(void)
{
	const char *const *options = TARGET_WORDS("--root=eps=eps", "--under=eps");
	json_t *doc = ask("census", options);

	HI_ASSERT_EQ(cost_of("eps x y e"), doc_number(doc, "only.bytes"));
	HI_ASSERT_EQ(4, doc_number(doc, "only.objects"));
	HI_ASSERT_EQ(cost_of("hsc fc oth z f t"), doc_number(doc, "only.hidden_bytes"));
	HI_ASSERT_EQ(doc_number(doc, "only.bytes"), doc_number(doc, "live.bytes"));
	doc = ask("retainers", options);
	HI_ASSERT_EQ(cost_of("eps x y e"), doc_number(doc, "live.bytes"));
}

static void check_under_several_roots_is_what_any_of_them_reaches(void)
{
	json_t *doc = ask("census", TARGET_WORDS("--root=eps=hsc->eps", "--root=fc=fc",
						 "--under=fc", "--under=eps"));

	HI_ASSERT_EQ(cost_of("eps x y e fc z f"), doc_number(doc, "only.bytes"));
	HI_ASSERT_EQ(7, doc_number(doc, "only.objects"));
	HI_ASSERT_STREQ("fc, eps", doc_text(doc, "only.under"));
}

static void check_bins_under_a_root_are_those_that_it_is_in(void)
{
	static const struct band bands[MAX_BANDS] = {{"hsc-eps", "eps e"},
						     {"hsc-eps-fc", "x y"}};
	json_t *doc = ask("roots",
			  TARGET_WORDS("--root=hsc=hsc", "--root=eps=hsc->eps",
				       "--root=fc=fc", "--under=eps", "--all-bins")),
	       *row;
	long long zeros = 0;

	check_bands(doc, bands, bin_label);
	HI_ASSERT_EQ(cost_of("eps e x y"), doc_number(doc, "allocated.bytes"));
	doc_each (row, doc_at(doc, "rows"))
		zeros += doc_number(row, "bytes") == 0;
	HI_ASSERT_EQ(2, zeros); /* eps, eps-fc: neither NOROOT nor LEAK nor fc */
	HI_ASSERT_EQ(4, doc_size(doc, "rows"));
}

/* Of a process and of a file. */
static void check_summary_under(json_t *doc)
{
	long long bytes = cost_of("eps x y e");

	HI_ASSERT_EQ(bytes, doc_number(doc, "bytes.live"));
	HI_ASSERT_EQ(4, doc_number(doc, "objects.live"));
	HI_ASSERT_EQ(bytes, doc_number(doc, "only.bytes"));
	HI_ASSERT_EQ(bytes, doc_number(doc, "typed.exact"));
	HI_ASSERT_EQ(bytes, doc_sum(doc_at(doc, "types"), "shallow"));
	HI_ASSERT_EQ(bytes, doc_sum(doc_at(doc, "root_kinds"), "retained"));
	/* Two variables lead there: none of them alone keeps anything of it. */
	HI_ASSERT_EQ(0, doc_size(doc, "roots"));
	HI_ASSERT_EQ(cost_of("eps e"), doc_number(doc, "suspects.0.retained"));
}

static void check_a_summary_under_a_root_is_of_what_the_root_reaches(const char *file)
{
	struct hi_command *c =
		run("summary", TARGET_WORDS("--root=eps=eps", "--under=eps"));

	hi_check_schema(c, "summary.v1.json");
	check_summary_under(doc_of(c));
	c = hi_heapinspect("summary", file, "--root=eps=eps", "--under=eps", "--json");
	check_summary_under(doc_of(c));
}

static void check_explained_under_a_root(const char *target)
{
	struct hi_command *c = hi_heapinspect("explain", address_of("x"), target,
					      "--root=eps=eps", "--under=eps", "--json");
	json_t *row = doc_at(doc_of(c), "rows.0");

	hi_check_schema(c, "rows.v1.json");
	/* x is in the caches eps and fc, and in oth: one of these is under eps. */
	HI_ASSERT_EQ(1, doc_number(row, "referrers_total"));
	HI_ASSERT_EQ(2, doc_number(row, "referrers_hidden"));
	HI_ASSERT_STREQ(address_of("eps"), doc_text(row, "referrers.0.address"));
	c = hi_heapinspect("explain", address_of("fc"), target, "--root=eps=eps",
			   "--under=eps");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "not among the objects that --under selects"), "%s",
		      c->err);
}

static void check_under_a_root_only_what_it_reaches_is_explained(const char *file)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "--pid=%s", heap->pid);
	check_explained_under_a_root(pid);
	check_explained_under_a_root(file);
}

/* ---- what is wrong ---- */

static void check_wrong_expressions_are_pointed_at(void)
{
	struct hi_command *c = run("roots", TARGET_WORDS("--root=a=ra->c->next"));
	json_t *doc = doc_of_exit(c, 2);

	HI_ASSERT_MSG(strstr(c->err, "heapinspect: --root a: struct pair has no member "
				     "'c'") != NULL,
		      "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "\n  ra->c->next\n      ^\n") != NULL, "%s", c->err);
	HI_ASSERT_STREQ("heapinspect/error/v1", doc_text(doc, "schema"));
	HI_ASSERT_EQ(4, doc_number(doc, "column"));
}

static void check_unknown_retainers_get_the_nearest_names(void)
{
	static const struct {
		const char *command, *options[MAX_ARGS], *word;
	} cases[] = {
		{"retainers", {"--retainer=sesion"}, "struct session"},
		{"retainers", {"--retainer=session.bufer"}, "'buffer'"},
		{"retainers", {"--identity=site"}, "heapinspect record"},
		{"census", {"--retained-by=nobody"}, "nobody"},
		{"roots", {"--root=cache=x", "--under=cahce"}, "near it: cache"},
		{"summary", {"--under=cache"}, "--root cache=EXPRESSION"},
		{"census", {"--retained-by=tap"}, "near it: tab"},
		{"up", {"--type=sharde"}, "struct shared"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hi_command *c = run(cases[i].command, cases[i].options);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, cases[i].word), "no \"%s\" in: %s",
			      cases[i].word, c->err);
	}
}

/* ---- one process for each heap ---- */

HI_TEST_SCENARIO(profiles, retainers_of_stacks_are_as_drawn)
{
	start_heap("r1");
	check_retainer_sets_are_as_drawn("r1");
	check_the_climb_goes_from_big_to_the_variable();
}

HI_TEST_SCENARIO(profiles, retainers_of_a_list_with_two_owners_are_as_drawn)
{
	start_heap("r2");
	check_retainer_sets_are_as_drawn("r2");
	check_weak_fields_retain_only_when_they_are_asked_to();
}

HI_TEST_SCENARIO(profiles, retainers_of_marks_and_dead_rings_are_as_drawn)
{
	start_heap("r3");
	check_retainer_sets_are_as_drawn("r3");
	check_dead_rings_are_leaks_and_in_no_set();
}

HI_TEST_SCENARIO(profiles, retainers_of_sessions_are_as_drawn)
{
	start_heap("r4");
	check_retainer_sets_are_as_drawn("r4");
	check_unknown_retainers_get_the_nearest_names();
}

HI_TEST_SCENARIO(profiles, retainers_in_a_row_and_by_words_are_as_drawn)
{
	start_heap("r5");
	check_retainer_sets_are_as_drawn("r5");
	start_heap("words");
	check_retainer_sets_are_as_drawn("words");
}

HI_TEST_SCENARIO(profiles, many_retainers_are_as_drawn)
{
	start_heap("r6");
	check_retainer_sets_are_as_drawn("r6");
	check_many_is_shown_however_few_rows_are_asked_for();
	check_a_restriction_says_what_many_hides();
}

/* R7: what an object leads to, also where another one does. */
static void check_each_object_reaches_what_it_leads_to(void)
{
	static const char *const reached[][2] = {
		{"a", "a c d"}, {"b", "b c d e"}, {"c", "c d"}, {"d", "c d"}, {"e", "e"}};

	for (size_t i = 0; i < sizeof(reached) / sizeof(reached[0]); i++) {
		json_t *doc = target_ask(heap, "explain", address_of(reached[i][0]));

		HI_ASSERT_EQ(cost_of(reached[i][1]), doc_number(doc, "rows.0.reachable"));
	}
	HI_ASSERT_EQ(cost_of("a b c d e"),
		     doc_number(target_ask(heap, "retained", "--type", "struct knot"),
				"of_type.reachable"));
}

HI_TEST_SCENARIO(profiles, retainers_of_a_knot_are_as_drawn)
{
	start_heap("r7");
	check_each_object_reaches_what_it_leads_to();
	check_retainer_sets_are_as_drawn("r7");
	check_the_climb_does_not_go_round_in_circles();
}

/* The variable of a function is one retainer, in however many threads. */
HI_TEST_SCENARIO(profiles, by_variable_all_threads_are_one_retainer)
{
	static const struct band bands[MAX_BANDS] = {
		{"work(): mine", "m1 m2 m3 b1 b2 b3"},
		{"watch(): mine", "w"},
		{"thread-local own", "o1 o2 o3"}};
	char label[1000];
	unsigned threads = 0;
	json_t *row;

	start_heap("threads");
	HI_ASSERT_EQ(3, check_bands(ask("retainers", TARGET_WORDS("--identity=var")),
				    bands, label_of));
	/* Else each thread is its own. */
	doc_each (row,
		  doc_at(ask("retainers", TARGET_WORDS("--identity=addr")), "rows")) {
		label_of(row, label, sizeof(label));
		threads += strncmp(label, "thread ", 7) == 0 &&
			   strstr(label, " work(): mine") != NULL;
	}
	HI_ASSERT_EQ(3, threads);
}

HI_TEST_SCENARIO(profiles, bins_of_an_environment_are_as_drawn)
{
	const char *file;

	start_heap("o1");
	file = target_snap(heap);
	check_bins_of_an_environment_are_as_drawn();
	check_a_census_under_a_root_is_what_the_root_reaches();
	check_under_several_roots_is_what_any_of_them_reaches();
	check_bins_under_a_root_are_those_that_it_is_in();
	check_a_summary_under_a_root_is_of_what_the_root_reaches(file);
	check_under_a_root_only_what_it_reaches_is_explained(file);
}

HI_TEST_SCENARIO(profiles, bins_of_trees_and_lists_are_as_drawn)
{
	start_heap("o2");
	check_a_root_inside_a_tree_splits_it();
	start_heap("o3");
	check_nested_suffixes_of_a_list_have_bins_in_any_order();
}

HI_TEST_SCENARIO(profiles, bins_of_a_shared_ring_are_as_drawn)
{
	start_heap("o4");
	check_bins_of_a_shared_ring_are_as_drawn();
	check_a_hundred_roots_on_a_chain_have_their_bins();
	check_a_root_that_is_null_holds_nothing_and_says_so();
	check_wrong_expressions_are_pointed_at();
}

/* Debug information is gone, names of symbols are not: all words of the variable. */
HI_TEST_SCENARIO(profiles, roots_by_symbols_lead_to_all_that_their_words_do)
{
	static const struct band bands[MAX_BANDS] = {{"t", "s1 s2 b1 b2 sh"}};
	char path[300];

	snprintf(path, sizeof(path), "%s/stripped", workshop_open());
	workshop_run("strip -g -o stripped %s/profile_heaps", HI_FIXTURE_DIR);
	heap = target_start(path, "r4", NULL);
	check_bands(ask("roots", TARGET_WORDS("--root=t=tab")), bands, bin_label);
}
