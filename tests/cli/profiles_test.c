/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles by retainers and by named roots, of heaps that were drawn by the
 * authors of these profiles. The programs say what each object costs; which objects
 * are in which band is written here, as it was drawn.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

enum { MAX_OBJECTS = 32, MAX_BANDS = 8, MAX_ARGS = 10 };

/* ---- the heap ---- */

static struct heap {
	struct {
		char name[16];
		long long cost;
		char address[24];
	} objects[MAX_OBJECTS];
	size_t count;
	char pid[16];
} heap;

static void keep_cost(const char *line, void *arg)
{
	(void)arg;
	if (heap.count < MAX_OBJECTS &&
	    sscanf(line, "cost %15s %lld %23s", heap.objects[heap.count].name,
		   &heap.objects[heap.count].cost, heap.objects[heap.count].address) == 3)
		heap.count++;
}

static const char *start_heap(const char *name)
{
	struct hi_fixture *fx = hi_fixture_start("profile_heaps", name, NULL);

	heap.count = 0;
	hi_fixture_read_until(fx, "ready", keep_cost, NULL);
	HI_ASSERT(heap.count > 0);
	snprintf(heap.pid, sizeof(heap.pid), "%d", (int)fx->pid);
	return heap.pid;
}

static size_t object_named(const char *name)
{
	for (size_t i = 0; i < heap.count; i++)
		if (strcmp(heap.objects[i].name, name) == 0)
			return i;
	hi_test_fail(__FILE__, __LINE__, "no object %s", name);
}

/* "x y z": what they cost together. */
static long long cost_of(const char *names, long long *count_ret)
{
	char text[200], *rest = text, *name;
	long long cost = 0;

	*count_ret = 0;
	snprintf(text, sizeof(text), "%s", names);
	while ((name = strsep(&rest, " ")))
		if (*name) {
			cost += heap.objects[object_named(name)].cost;
			++*count_ret;
		}
	return cost;
}

/* ---- the report ---- */

static void free_json(void *json)
{
	json_decref(json);
}

static json_t *parse(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

/* Nobody writes to it. */
static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* `command --pid PID --json`, and more words up to NULL. */
static struct hi_command *run(const char *command, const char *const *more)
{
	char *argv[MAX_ARGS + 8] = {word(HI_BINARY_DIR "/heapinspect"), word(command),
				    word("--pid"), heap.pid, word("--json")};
	size_t n = 5;

	for (size_t i = 0; i < MAX_ARGS && more[i]; i++)
		argv[n++] = word(more[i]);
	return hi_command_runv(0, argv);
}

static long long number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	HI_ASSERT_MSG(json_is_integer(value), "%s is no number", key);
	return json_integer_value(value);
}

/* "a b": the members, joined by " + ". */
static void label_of(const json_t *row, char *out, size_t size)
{
	const json_t *members = json_object_get(row, "members");
	size_t used = 0;

	out[0] = '\0';
	if (json_is_true(json_object_get(row, "many")))
		snprintf(out, size, "MANY");
	for (size_t i = 0; i < json_array_size(members) && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " + " : "",
					 json_string_value(json_array_get(members, i)));
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

			used += (size_t)snprintf(
				out + used, size - used, "%s",
				heap.objects[object_named(name)].address);
			label += 3;
		}
	}
}

static void check_band(const json_t *doc, const struct band *band,
		       void (*label)(const json_t *, char *, size_t))
{
	const json_t *rows = json_object_get(doc, "rows");
	char want[200] = "", have[400];
	long long count, cost = cost_of(band->objects, &count);

	expand(band->label, want, sizeof(want));
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		label(row, have, sizeof(have));
		if (strcmp(want, have) != 0)
			continue;
		HI_ASSERT_MSG(number(row, "bytes") == cost, "%s: %lld bytes, truth %lld",
			      want, number(row, "bytes"), cost);
		HI_ASSERT_MSG(number(row, "objects") == count,
			      "%s: %lld objects, truth %lld", want,
			      number(row, "objects"), count);
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
	const json_t *s = json_object_get(doc, "sanity");

	HI_ASSERT_EQ(0, number(s, "difference"));
	HI_ASSERT_EQ(number(s, "allocated"),
		     number(s, "exact") + number(s, "conservative_only") +
			     number(s, "leak") + number(s, "allocator"));
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

/* Members come by identity, not by name: sort them. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sorted_label(const json_t *row, char *out, size_t size)
{
	const json_t *members = json_object_get(row, "members");
	const char *names[16];
	size_t n = json_array_size(members), used = 0;

	label_of(row, out, size);
	if (n < 2 || n > 16)
		return;
	for (size_t i = 0; i < n; i++)
		names[i] = json_string_value(json_array_get(members, i));
	qsort((void *)names, n, sizeof(*names), by_text);
	for (size_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " + " : "",
					 names[i]);
}

HI_TEST_SCENARIO(profiles, retainer_sets_of_drawn_heaps_are_as_drawn)
{
	for (size_t i = 0; i < sizeof(retained_heaps) / sizeof(retained_heaps[0]); i++) {
		const struct retained_heap *h = &retained_heaps[i];
		long long sum = 0, live;
		json_t *doc, *row;
		size_t n, k;

		start_heap(h->heap);
		hi_test_note("%s %s", h->heap, h->options[0] ? h->options[0] : "");
		doc = parse(run("retainers", h->options));
		n = check_bands(doc, h->bands, sorted_label);
		HI_ASSERT_EQ(n, json_array_size(json_object_get(doc, "rows")));
		check_sanity(doc);
		json_array_foreach(json_object_get(doc, "rows"), k, row) sum +=
			number(row, "bytes");
		live = number(json_object_get(doc, "live"), "bytes");
		HI_ASSERT_EQ(live, sum);
	}
}

/* The variable of a function is one retainer, in however many threads. */
HI_TEST_SCENARIO(profiles, by_variable_all_threads_are_one_retainer)
{
	static const struct band bands[MAX_BANDS] = {
		{"work(): mine", "m1 m2 m3 b1 b2 b3"},
		{"watch(): mine", "w"},
		{"thread-local own", "o1 o2 o3"}};
	const char *const by_variable[] = {"--identity=var", NULL};
	const char *const by_address[] = {"--identity=addr", NULL};
	char label[1000];
	unsigned threads = 0;
	json_t *doc, *row;
	size_t k;

	start_heap("threads");
	doc = parse(run("retainers", by_variable));
	HI_ASSERT_EQ(3, check_bands(doc, bands, label_of));
	/* Else each thread is its own. */
	doc = parse(run("retainers", by_address));
	json_array_foreach(json_object_get(doc, "rows"), k, row)
	{
		label_of(row, label, sizeof(label));
		threads += strncmp(label, "thread ", 7) == 0 &&
			   strstr(label, " work(): mine") != NULL;
	}
	HI_ASSERT_EQ(3, threads);
}

/* A field that a hint calls weak. */
HI_TEST_SCENARIO(profiles, weak_fields_retain_only_when_they_are_asked_to)
{
	static const char *const hint = "hints links\nrecord link {\n\tnext weak;\n}\n";
	static const struct band plain[MAX_BANDS] = {{"cache", "n1"}, {"indices", "n2"}};
	static const struct band weak[MAX_BANDS] = {
		{"cache", "n1"}, {"indices", "n2"}, {"WEAK", "s t"}};
	char option[200];
	const char *options[] = {option, NULL, NULL};
	long long count;
	json_t *doc;

	snprintf(option, sizeof(option), "--hints=%s/weak.hints", workshop_open());
	workshop_write("weak.hints", hint);
	start_heap("r2");
	doc = parse(run("retainers", options));
	HI_ASSERT_EQ(2, check_bands(doc, plain, label_of));
	HI_ASSERT_EQ(2, json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT_EQ(cost_of("s t", &count),
		     number(json_object_get(doc, "sanity"), "leak"));
	options[1] = "--weak-as-roots";
	doc = parse(run("retainers", options));
	HI_ASSERT_EQ(3, check_bands(doc, weak, label_of));
	HI_ASSERT_EQ(cost_of("s t", &count), number(doc, "weak_bytes"));
}

HI_TEST_SCENARIO(profiles, dead_rings_are_leaks_and_in_no_set)
{
	const char *const options[] = {"--retainer=mark", NULL};
	long long count;
	json_t *doc;

	start_heap("r3");
	doc = parse(run("retainers", options));
	HI_ASSERT_EQ(cost_of("dead1 dead2", &count),
		     number(json_object_get(doc, "sanity"), "leak"));
}

HI_TEST_SCENARIO(profiles, many_is_shown_however_few_rows_are_asked_for)
{
	const char *const options[] = {"--max-set=2", "--top=1", NULL};
	struct band many = {"MANY", "o"};
	json_t *doc;
	long long count;

	start_heap("r6");
	doc = parse(run("retainers", options));
	check_band(doc, &many, label_of);
	HI_ASSERT_EQ(cost_of("o", &count), number(doc, "many_bytes"));
}

HI_TEST_SCENARIO(profiles, a_restriction_says_what_many_hides)
{
	const char *const options[] = {"--max-set=2", "--retained-by=a", NULL};
	const json_t *only;
	long long count;
	json_t *doc;

	start_heap("r6");
	doc = parse(run("census", options));
	only = json_object_get(doc, "only");
	HI_ASSERT_EQ(cost_of("q", &count), number(only, "bytes"));
	HI_ASSERT_EQ(cost_of("o", &count), number(only, "many_bytes"));
	HI_ASSERT_EQ(cost_of("o", &count), number(only, "hidden_bytes"));
}

HI_TEST_SCENARIO(profiles, the_climb_goes_from_big_to_the_variable)
{
	static const char *const options[] = {"--type=char*", NULL};
	static const char *const steps[] = {"struct stack_c", "struct stack_b",
					    "struct stack_a", "stk"};
	json_t *doc, *rows;

	start_heap("r1");
	doc = parse(run("up", options));
	rows = json_object_get(doc, "rows");
	HI_ASSERT_EQ(4, json_array_size(rows));
	for (size_t i = 0; i < 4; i++) {
		json_t *sets = json_object_get(json_array_get(rows, i), "sets");
		char label[100];

		HI_ASSERT_EQ(1, json_array_size(sets));
		label_of(json_array_get(sets, 0), label, sizeof(label));
		HI_ASSERT_STREQ(steps[i], label);
	}
}

HI_TEST_SCENARIO(profiles, the_climb_does_not_go_round_in_circles)
{
	static const char *const options[] = {"--type=struct knot", NULL};
	json_t *doc;

	start_heap("r7");
	doc = parse(run("up", options));
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "rows")));
}

/* ---- sharing bins ---- */

static void bin_label(const json_t *row, char *out, size_t size)
{
	snprintf(out, size, "%s", json_string_value(json_object_get(row, "bin")));
}

HI_TEST_SCENARIO(profiles, bins_of_an_environment_are_as_drawn)
{
	static const char *const options[] = {"--root=hsc=hsc", "--root=eps=hsc->eps",
					      "--root=fc=fc", "--all-bins", NULL};
	static const struct band bands[MAX_BANDS] = {{"hsc", "hsc oth t"},
						     {"hsc-eps", "eps e"},
						     {"hsc-fc", "fc z f"},
						     {"hsc-eps-fc", "x y"}};
	json_t *doc, *row, *roots;
	size_t i, zeros = 0;

	start_heap("o1");
	doc = parse(run("roots", options));
	check_bands(doc, bands, bin_label);
	/* As the heap of the paper has them under glibc. */
	json_array_foreach(json_object_get(doc, "rows"), i, row)
	{
		static const char *const labels[] = {"hsc", "hsc-eps", "hsc-fc",
						     "hsc-eps-fc"};
		static const long long bytes[] = {128, 80, 112, 64};
		char label[40];

		bin_label(row, label, sizeof(label));
		for (size_t k = 0; k < 4; k++)
			if (strcmp(label, labels[k]) == 0)
				HI_ASSERT_EQ(bytes[k], number(row, "bytes"));
		zeros += number(row, "bytes") == 0;
	}
	HI_ASSERT_EQ(9, json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT_EQ(5, zeros); /* eps, fc, eps-fc, NOROOT, LEAK */
	HI_ASSERT_EQ(384, number(json_object_get(doc, "allocated"), "bytes"));
	roots = json_object_get(doc, "roots");
	HI_ASSERT_STREQ("hsc", json_string_value(json_object_get(json_array_get(roots, 1),
								 "inside")));
	HI_ASSERT(json_is_null(json_object_get(json_array_get(roots, 0), "inside")));
	check_sanity(doc);
}

HI_TEST_SCENARIO(profiles, a_root_inside_a_tree_splits_it)
{
	static const char *const options[] = {"--root=c10=c10", "--root=c11=c11",
					      "--root=c1102=c1102", NULL};
	static const struct band bands[MAX_BANDS] = {
		{"c10", "1000 1001 1002 1003 1004"},
		{"c11", "1100 1101 1104"},
		{"c11-c1102", "1102 1103"},
		{"NOROOT", "2000 2001 2002 2003 2004 2005 2006 2007 2008"},
		{"LEAK", ""}};
	json_t *doc;

	start_heap("o2");
	doc = parse(run("roots", options));
	HI_ASSERT_EQ(5, check_bands(doc, bands, bin_label));
	HI_ASSERT_EQ(5, json_array_size(json_object_get(doc, "rows")));
}

/* Seven roots, each in all of those before it. */
static void check_suffixes(const char *const *options, bool backwards)
{
	json_t *doc = parse(run("roots", options));

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
	HI_ASSERT_EQ(9, json_array_size(json_object_get(doc, "rows")));
}

HI_TEST_SCENARIO(profiles, nested_suffixes_of_a_list_have_bins_in_any_order)
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
	start_heap("o3");
	check_suffixes(forwards, false);
	check_suffixes(backwards, true);
}

HI_TEST_SCENARIO(profiles, bins_of_a_shared_ring_are_as_drawn)
{
	static const char *const options[] = {"--root=ra=ra", "--root=rb=*rb", "--join=,",
					      NULL};
	static const struct band bands[MAX_BANDS] = {{"ra", "ra"},
						     {"rb", "rb only"},
						     {"ra,rb", "c1 c2 c3"},
						     {"LEAK", "dead1 dead2"},
						     {"NOROOT", ""}};

	start_heap("o4");
	check_bands(parse(run("roots", options)), bands, bin_label);
}

HI_TEST_SCENARIO(profiles, a_hundred_roots_on_a_chain_have_their_bins)
{
	static char words[100][64];
	char *argv[110] = {word(HI_BINARY_DIR "/heapinspect"), word("roots"),
			   word("--pid"), heap.pid, word("--json")};
	json_t *doc;

	start_heap("o4");
	for (size_t i = 0; i < 100; i++) {
		snprintf(words[i], sizeof(words[i]), "--root=r%zu=%s", i,
			 i % 2 ? "ra" : "ra->a->next");
		argv[5 + i] = words[i];
	}
	doc = parse(hi_command_runv(0, argv));
	/* Both kinds reach the ring, one of them ra itself; NOROOT, LEAK. */
	HI_ASSERT_EQ(4, json_array_size(json_object_get(doc, "rows")));
}

HI_TEST_SCENARIO(profiles, a_root_that_is_null_holds_nothing_and_says_so)
{
	static const char *const options[] = {"--root=x=ra->b", "--root=y=ra", NULL};
	const json_t *root;
	json_t *doc;

	start_heap("o4");
	doc = parse(run("roots", options));
	root = json_array_get(json_object_get(doc, "roots"), 0);
	HI_ASSERT_EQ(0, number(root, "reached"));
	HI_ASSERT_STREQ("it is null",
			json_string_value(json_object_get(root, "warning")));
}

/* Debug information is gone, names of symbols are not: all words of the variable. */
HI_TEST_SCENARIO(profiles, roots_by_symbols_lead_to_all_that_their_words_do)
{
	static const char *const options[] = {"--root=t=tab", NULL};
	static const struct band bands[MAX_BANDS] = {{"t", "s1 s2 b1 b2 sh"}};
	char path[300];
	struct hi_fixture *fx;

	snprintf(path, sizeof(path), "%s/stripped", workshop_open());
	workshop_run("strip -g -o stripped %s/profile_heaps", HI_FIXTURE_DIR);
	heap.count = 0;
	fx = hi_fixture_start(path, "r4", NULL);
	hi_fixture_read_until(fx, "ready", keep_cost, NULL);
	snprintf(heap.pid, sizeof(heap.pid), "%d", (int)fx->pid);
	check_bands(parse(run("roots", options)), bands, bin_label);
}

HI_TEST_SCENARIO(profiles, a_census_under_a_root_is_what_the_root_reaches)
{
	static const char *const options[] = {"--root=eps=eps", "--under=eps", NULL};
	const json_t *only;
	long long count;
	json_t *doc;

	start_heap("o1");
	doc = parse(run("census", options));
	only = json_object_get(doc, "only");
	HI_ASSERT_EQ(cost_of("eps x y e", &count), number(only, "bytes"));
	HI_ASSERT_EQ(4, number(only, "objects"));
	HI_ASSERT_EQ(cost_of("hsc fc oth z f t", &count), number(only, "hidden_bytes"));
	HI_ASSERT_EQ(number(only, "bytes"),
		     number(json_object_get(doc, "live"), "bytes"));
	doc = parse(run("retainers", options));
	HI_ASSERT_EQ(cost_of("eps x y e", &count),
		     number(json_object_get(doc, "live"), "bytes"));
}

HI_TEST_SCENARIO(profiles, under_several_roots_is_what_any_of_them_reaches)
{
	static const char *const options[] = {"--root=eps=hsc->eps", "--root=fc=fc",
					      "--under=fc", "--under=eps", NULL};
	const json_t *only;
	long long count;
	json_t *doc;

	start_heap("o1");
	doc = parse(run("census", options));
	only = json_object_get(doc, "only");
	HI_ASSERT_EQ(cost_of("eps x y e fc z f", &count), number(only, "bytes"));
	HI_ASSERT_EQ(count, number(only, "objects"));
	HI_ASSERT_STREQ("fc, eps", json_string_value(json_object_get(only, "under")));
}

HI_TEST_SCENARIO(profiles, bins_under_a_root_are_those_that_it_is_in)
{
	static const char *const options[] = {"--root=hsc=hsc", "--root=eps=hsc->eps",
					      "--root=fc=fc",	"--under=eps",
					      "--all-bins",	NULL};
	static const struct band bands[MAX_BANDS] = {{"hsc-eps", "eps e"},
						     {"hsc-eps-fc", "x y"}};
	long long count, zeros = 0;
	json_t *doc, *row;
	size_t i;

	start_heap("o1");
	doc = parse(run("roots", options));
	check_bands(doc, bands, bin_label);
	HI_ASSERT_EQ(cost_of("eps e x y", &count),
		     number(json_object_get(doc, "allocated"), "bytes"));
	json_array_foreach(json_object_get(doc, "rows"), i, row) zeros +=
		number(row, "bytes") == 0;
	HI_ASSERT_EQ(2, zeros); /* eps, eps-fc: neither NOROOT nor LEAK nor fc */
	HI_ASSERT_EQ(4, json_array_size(json_object_get(doc, "rows")));
}

/* Of a process and of a file. */
static void check_summary_under(json_t *doc)
{
	json_t *type, *root;
	long long count, bytes = cost_of("eps x y e", &count), sum = 0;
	size_t i;

	HI_ASSERT_EQ(bytes, number(json_object_get(doc, "bytes"), "live"));
	HI_ASSERT_EQ(count, number(json_object_get(doc, "objects"), "live"));
	HI_ASSERT_EQ(bytes, number(json_object_get(doc, "only"), "bytes"));
	HI_ASSERT_EQ(bytes, number(json_object_get(doc, "typed"), "exact"));
	json_array_foreach(json_object_get(doc, "types"), i, type) sum +=
		number(type, "shallow");
	HI_ASSERT_EQ(bytes, sum);
	sum = 0;
	json_array_foreach(json_object_get(doc, "root_kinds"), i, root) sum +=
		number(root, "retained");
	HI_ASSERT_EQ(bytes, sum);
	/* Two variables lead there: none of them alone keeps anything of it. */
	HI_ASSERT_EQ(0, json_array_size(json_object_get(doc, "roots")));
	HI_ASSERT_EQ(
		cost_of("eps e", &count),
		number(json_array_get(json_object_get(doc, "suspects"), 0), "retained"));
}

HI_TEST_SCENARIO(profiles, a_summary_under_a_root_is_of_what_the_root_reaches)
{
	static const char *const options[] = {"--root=eps=eps", "--under=eps", NULL};
	const char *file = snapshot_path(snapshot_directory(), "o1.hisnap");
	struct hi_command *c;

	start_heap("o1");
	c = run("summary", options);
	hi_check_schema(c, "summary.v1.json");
	check_summary_under(parse(c));
	c = hi_heapinspect("snap", "-q", "--pid", heap.pid, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("summary", file, "--root=eps=eps", "--under=eps", "--json");
	check_summary_under(parse(c));
}

HI_TEST_SCENARIO(profiles, under_a_root_only_what_it_reaches_is_explained)
{
	const char *file = snapshot_path(snapshot_directory(), "o1.hisnap"), *x, *fc;
	const char *targets[2];
	struct hi_command *c;
	char pid[32];

	start_heap("o1");
	x = heap.objects[object_named("x")].address;
	fc = heap.objects[object_named("fc")].address;
	c = hi_heapinspect("snap", "-q", "--pid", heap.pid, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	snprintf(pid, sizeof(pid), "--pid=%s", heap.pid);
	targets[0] = pid;
	targets[1] = file;
	for (size_t i = 0; i < 2; i++) {
		const json_t *row, *link;

		c = hi_heapinspect("explain", x, targets[i], "--root=eps=eps",
				   "--under=eps", "--json");
		hi_check_schema(c, "rows.v1.json");
		row = json_array_get(json_object_get(parse(c), "rows"), 0);
		/* x is in the caches eps and fc, and in oth: one of these is under eps.
		 */
		HI_ASSERT_EQ(1, number(row, "referrers_total"));
		HI_ASSERT_EQ(2, number(row, "referrers_hidden"));
		link = json_array_get(json_object_get(row, "referrers"), 0);
		HI_ASSERT_STREQ(heap.objects[object_named("eps")].address,
				json_string_value(json_object_get(link, "address")));
		c = hi_heapinspect("explain", fc, targets[i], "--root=eps=eps",
				   "--under=eps");
		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(
			strstr(c->err, "not among the objects that --under selects"),
			"%s", c->err);
	}
}

/* ---- what is wrong ---- */

static void check_wrong(const char *command, const char *const *options, const char *word)
{
	struct hi_command *c = run(command, options);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, word) != NULL, "no \"%s\" in: %s", word, c->err);
}

HI_TEST_SCENARIO(profiles, wrong_expressions_are_pointed_at)
{
	static const char *const text[] = {"--root=a=ra->c->next", NULL};
	struct hi_command *c;
	json_t *doc;

	start_heap("o4");
	c = run("roots", text);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "heapinspect: --root a: struct pair has no member "
				     "'c'") != NULL,
		      "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "\n  ra->c->next\n      ^\n") != NULL, "%s", c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT(doc);
	hi_test_defer(free_json, doc);
	HI_ASSERT_STREQ("heapinspect/error/v1",
			json_string_value(json_object_get(doc, "schema")));
	HI_ASSERT_EQ(4, number(doc, "column"));
}

HI_TEST_SCENARIO(profiles, unknown_retainers_get_the_nearest_names)
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

	start_heap("r4");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_wrong(cases[i].command, cases[i].options, cases[i].word);
}
