/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc` of functions that allocate as commanded (fixtures/space_lives.c): M2 of SPEC
 * section 4 as a real process. What is true the fixture says, by malloc_usable_size(). */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/lived.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

struct told {
	long long number, size, overhead;
};

static struct lived *start_alloc(const char *const *options)
{
	struct hi_fixture *fx = hi_fixture_start("space_lives", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return lived_start_alloc(fx, options);
}

/* What the fixture has allocated by it. */
static struct told tell_space(struct lived *l, const char *command)
{
	char answer[256];
	struct told t;

	hi_fixture_tell(l->fx, command);
	HI_ASSERT(hi_fixture_line(l->fx, answer, sizeof(answer)));
	HI_ASSERT_EQ(3,
		     sscanf(answer, "%lld %lld %lld", &t.number, &t.size, &t.overhead));
	return t;
}

static struct told sum_told(struct told a, struct told b)
{
	return (struct told){a.number + b.number, a.size + b.size,
			     a.overhead + b.overhead};
}

static void end_alloc_period(struct lived *l)
{
	lived_period(l, LIVED());
}

/* ---- documents ---- */

static void free_alloc_document(void *doc)
{
	json_decref(doc);
}

static json_t *read_alloc(struct lived *l, size_t censuses)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(l->command->exit_code == 0, "exit %d: %s", l->command->exit_code,
		      l->command->err);
	hi_check_schema(l->command, "alloc.v1.json");
	doc = json_loads(l->command->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, l->command->out);
	hi_test_defer(free_alloc_document, doc);
	HI_ASSERT_EQ(censuses, json_array_size(json_object_get(doc, "censuses")));
	return doc;
}

static json_t *find_named(json_t *list, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(
		list, i,
		item) if (strcmp(json_string_value(json_object_get(item, "name")),
				 name) == 0) return item;
	hi_test_fail(__FILE__, __LINE__, "there is no %s", name);
}

static json_t *function_of(json_t *doc, const char *name)
{
	return find_named(json_object_get(doc, "functions"), name);
}

static struct told read_told(json_t *amount)
{
	return (struct told){json_integer_value(json_object_get(amount, "number")),
			     json_integer_value(json_object_get(amount, "size")),
			     json_integer_value(json_object_get(amount, "overhead"))};
}

/* There are none behind the last that has something. */
static struct told at_age(json_t *row, size_t age)
{
	json_t *amount = json_array_get(json_object_get(row, "ages"), age);

	HI_ASSERT(amount != NULL || age > 0);
	return amount ? read_told(amount) : (struct told){};
}

static void check_told(struct told expected, struct told actual)
{
	HI_ASSERT_MSG(expected.number == actual.number && expected.size == actual.size &&
			      expected.overhead == actual.overhead,
		      "%lld/%lld/%lld, not %lld/%lld/%lld", actual.number, actual.size,
		      actual.overhead, expected.number, expected.size, expected.overhead);
}

static void check_told_row(json_t *row, const char *key, struct told expected)
{
	check_told(expected, read_told(json_object_get(row, key)));
}

/* ---- invariants ---- */

static void check_row_of_ages(json_t *row)
{
	json_t *ages = json_object_get(row, "ages"),
	       *live = json_object_get(row, "live_ages");
	struct told survived = {}, alive = {}, before = at_age(row, 0);

	check_told_row(row, "alloc", before);
	for (size_t age = 1; age < json_array_size(ages); age++) {
		struct told now = at_age(row, age);

		HI_ASSERT(now.number <= before.number && now.size <= before.size);
		survived = sum_told(survived, now);
		alive = sum_told(alive, read_told(json_array_get(live, age)));
		before = now;
	}
	HI_ASSERT_EQ(json_array_size(ages), json_array_size(live));
	HI_ASSERT(json_array_size(ages) == 1 || before.number || before.size);
	check_told_row(row, "survived", survived);
	check_told_row(row, "live", alive);
}

static void check_sum_of(json_t *whole, json_t *parts)
{
	size_t n = json_array_size(json_object_get(whole, "ages")), i;
	json_t *part;

	for (size_t age = 0; age < n; age++) {
		struct told sum = {};

		json_array_foreach(parts, i, part) sum = sum_told(sum, at_age(part, age));
		check_told(at_age(whole, age), sum);
	}
}

static void check_balance(json_t *doc)
{
	struct told before = {}, born = {}, now, died;
	json_t *census;
	size_t i;

	json_array_foreach(json_object_get(doc, "censuses"), i, census)
	{
		now = read_told(json_object_get(census, "live"));
		died = read_told(json_object_get(census, "died"));
		before = sum_told(before, read_told(json_object_get(census, "born")));
		born = sum_told(born, read_told(json_object_get(census, "born")));
		check_told(before, sum_told(now, died));
		before = now;
	}
	check_told(born, at_age(json_object_get(doc, "total"), 0));
}

/* Those of SPEC, where no function is left out. */
static void check_alloc_invariants(json_t *doc)
{
	json_t *function, *type;
	size_t i, k;

	check_row_of_ages(json_object_get(doc, "total"));
	check_sum_of(json_object_get(doc, "total"), json_object_get(doc, "functions"));
	json_array_foreach(json_object_get(doc, "functions"), i, function)
	{
		check_row_of_ages(function);
		check_sum_of(function, json_object_get(function, "types"));
		json_array_foreach(json_object_get(function, "types"), k, type)
			check_row_of_ages(type);
	}
	check_balance(doc);
}

/* ---- M2 ---- */

struct m2 {
	struct told gone, kept, bufs, entries;
};

static struct lived *live_m2(const char *const *options, struct m2 *ret)
{
	struct lived *l = start_alloc(options);

	/* What is dropped came last. */
	ret->kept = tell_space(l, "node 3");
	ret->gone = tell_space(l, "node 10");
	ret->entries = tell_space(l, "entry 5");
	end_alloc_period(l);
	tell_space(l, "drop node 10");
	ret->bufs = tell_space(l, "buf 2");
	end_alloc_period(l);
	end_alloc_period(l);
	tell_space(l, "drop buf 2");
	lived_end_alloc(l);
	return l;
}

static void check_m2_document(json_t *doc, const struct m2 *m)
{
	json_t *parse = function_of(doc, "parse"), *cache = function_of(doc, "cache");
	json_t *types = json_object_get(parse, "types");

	check_told_row(parse, "alloc", sum_told(sum_told(m->gone, m->kept), m->bufs));
	check_told(sum_told(sum_told(m->gone, m->kept), m->bufs), at_age(parse, 1));
	check_told(sum_told(m->kept, m->bufs), at_age(parse, 2));
	check_told(m->kept, at_age(parse, 3));
	check_told(m->kept, at_age(parse, 4));
	check_told(m->kept, at_age(find_named(types, "struct node"), 2));
	check_told(m->bufs, at_age(find_named(types, "struct buf"), 2));
	check_told_row(parse, "live", m->kept);
	check_told_row(cache, "alloc", m->entries);
	for (size_t age = 0; age <= 4; age++)
		check_told(m->entries, at_age(cache, age));
	check_told_row(cache, "live", m->entries);
}

HI_TEST_ROOT(alloc, m2_is_what_the_fixture_has_counted)
{
	struct m2 m;
	struct lived *l = live_m2(LIVED("--json", "--all"), &m);
	json_t *doc = read_alloc(l, 4), *parse = function_of(doc, "parse");

	check_alloc_invariants(doc);
	check_m2_document(doc, &m);
	HI_ASSERT_EQ(2, json_integer_value(json_object_get(doc, "selected")));
	/* The figures of SPEC, which glibc's costs give. */
	check_told_row(parse, "alloc", (struct told){15, 640, 128});
	HI_ASSERT_EQ(1152, read_told(json_object_get(parse, "survived")).size);
	HI_ASSERT_EQ(
		960,
		read_told(json_object_get(function_of(doc, "cache"), "survived")).size);
}

HI_TEST_ROOT(alloc, m2_has_the_lines_of_the_seed)
{
	struct m2 m;
	struct lived *l = live_m2(LIVED("--format", "mlworks"), &m);
	static const char *const lines[] = {
		"MLWorks space profile\n",
		"\n4 collections\nfunctions profiled : 2\n---\n",
		"\n       alloc      copied  name\n",
		"\n         880        2112  total profiled\n",
		"\n         640        1152  parse[space_lives.c]\n"
		"                     640         320          96          96\n"
		"          gen               node         buf       total\n"
		"           0     no           13           2          15\n"
		"               size          416         224         640\n"
		"           overhead          104          24         128\n"
		"           1     no           13           2          15\n"
		"               size          416         224         640\n"
		"           overhead          104          24         128\n"
		"           2     no            3           2           5\n"
		"               size           96         224         320\n"
		"           overhead           24          24          48\n"
		"           3     no            3           0           3\n"
		"               size           96           0          96\n"
		"           overhead           24           0          24\n"
		"           4     no            3           0           3\n"
		"               size           96           0          96\n"
		"           overhead           24           0          24\n",
		"\n         240         960  cache[space_lives.c]\n"
		"                     240         240         240         240\n"
		"          gen              entry       total\n"
		"           0     no            5           5\n"
		"               size          240         240\n"
		"           overhead           40          40\n",
	};

	HI_ASSERT_MSG(l->command->exit_code == 0, "%s", l->command->err);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		HI_ASSERT_MSG(strstr(l->command->out, lines[i]) != NULL, "no %s in %s",
			      lines[i], l->command->out);
}

HI_TEST_ROOT(alloc, the_table_fits_and_has_totals_functions_and_ages)
{
	struct m2 m;
	struct lived *l = live_m2(LIVED("--width", "80"), &m);
	char *out = l->command->out, *line, *rest = NULL;

	HI_ASSERT_MSG(l->command->exit_code == 0, "%s", l->command->err);
	HI_ASSERT_MSG(strstr(out, "880 B were allocated, 72.7 % of it by parse") != NULL,
		      "%s", out);
	HI_ASSERT_MSG(strstr(out, "2.1 KiB (once for each census)") != NULL, "%s", out);
	HI_ASSERT_MSG(strstr(out, "parse by age and type") != NULL, "%s", out);
	HI_ASSERT_MSG(strstr(out, "By function") < strstr(out, "parse by age"), "%s",
		      out);
	for (line = strtok_r(out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		HI_ASSERT_MSG(strlen(line) <= 80, "%zu: %s", strlen(line), line);
}

/* ---- other functions ---- */

HI_TEST_ROOT(alloc, inlined_functions_and_callers_of_allocators_count)
{
	struct lived *l = start_alloc(LIVED("--json", "--all"));
	struct told inlined = tell_space(l, "inlined 4"),
		    wrapped = tell_space(l, "wrapped 6"),
		    resized = tell_space(l, "resized 3");
	json_t *doc, *grow;

	lived_end_alloc(l);
	doc = read_alloc(l, 1);
	check_alloc_invariants(doc);
	check_told_row(function_of(doc, "fill"), "live", inlined);
	check_told_row(function_of(doc, "parse_wrapped"), "live", wrapped);
	HI_ASSERT_EQ(3, json_integer_value(json_object_get(doc, "selected")));
	/* A reallocation is an allocation; what it replaces dies. */
	grow = function_of(doc, "grow");
	check_told_row(grow, "alloc", resized);
	HI_ASSERT_EQ(3, read_told(json_object_get(grow, "live")).number);
}

/* The cost of what no census has seen is that of glibc; its type that of its site. */
HI_TEST_ROOT(alloc, what_no_census_sees_has_its_cost_and_the_type_of_its_site)
{
	struct lived *l = start_alloc(LIVED("--json", "--all"));
	struct told kept = tell_space(l, "node 2"), brief = tell_space(l, "brief 500"),
		    rushed = tell_space(l, "short 70");
	json_t *doc, *rush, *parse;

	end_alloc_period(l);
	brief = sum_told(brief, tell_space(l, "brief 9"));
	lived_end_alloc(l);
	doc = read_alloc(l, 2);
	check_alloc_invariants(doc);
	parse = function_of(doc, "parse");
	check_told_row(parse, "alloc", sum_told(kept, brief));
	check_told(kept, at_age(parse, 1));
	check_told_row(find_named(json_object_get(parse, "types"), "struct node"),
		       "alloc", sum_told(kept, brief));
	rush = function_of(doc, "rush");
	check_told_row(rush, "alloc", rushed);
	check_told_row(find_named(json_object_get(rush, "types"), ""), "alloc", rushed);
	check_told_row(rush, "survived", (struct told){});
}

HI_TEST_ROOT(alloc, select_leaves_other_functions_out)
{
	struct m2 m;
	struct lived *l = live_m2(LIVED("--json", "--select", "cach"), &m);
	json_t *doc = read_alloc(l, 4);

	HI_ASSERT_EQ(1, json_integer_value(json_object_get(doc, "selected")));
	check_told_row(json_object_get(doc, "total"), "alloc", m.entries);
	check_told_row(function_of(doc, "cache"), "alloc", m.entries);
}

HI_TEST_ROOT(alloc, a_selection_of_nothing_names_what_is_near)
{
	struct m2 m;
	struct lived *l = live_m2(LIVED("--select", "prase"), &m);

	HI_ASSERT_EQ(2, l->command->exit_code);
	HI_ASSERT_STREQ("", l->command->out);
	HI_ASSERT_MSG(strstr(l->command->err, "near it: parse") != NULL, "%s",
		      l->command->err);
}

HI_TEST_SCENARIO(alloc, wrong_options_are_refused)
{
	static const struct {
		const char *option, *value, *text;
	} wrong[] = {{"--format", "mlwork", "--format mlwork: not one of mlworks"},
		     {"--every", "10MB", "alloc --every: not a time"},
		     {"--sample", "none", "--sample none"},
		     {"--by", "type", "--by"},
		     {"--for", "soon", "--for soon"}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct hi_command *c = hi_heapinspect("alloc", "--pid", "1",
						      wrong[i].option, wrong[i].value);

		HI_ASSERT_MSG(c->exit_code == 2, "%s: %d", wrong[i].value, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, wrong[i].text) != NULL, "%s", c->err);
	}
	HI_ASSERT_EQ(
		2, hi_heapinspect("alloc", "--pid", "1", "--format", "mlworks", "--json")
			   ->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc")->exit_code);
	HI_ASSERT_EQ(3, hi_heapinspect("alloc", "--pid", "2147483647")->exit_code);
}

static void check_callers(json_t *doc, const char *name, const char *caller,
			  struct told alloc)
{
	json_t *callers = json_object_get(function_of(doc, name), "callers");

	HI_ASSERT_EQ(1, json_array_size(callers));
	check_told_row(find_named(callers, caller), "alloc", alloc);
}

/* fill() is inlined in its caller. */
HI_TEST_ROOT(alloc, callers_are_shown_where_they_are_asked_for)
{
	struct lived *l = start_alloc(LIVED("--json", "--callers"));
	struct told inlined = tell_space(l, "inlined 4"), node = tell_space(l, "node 6"),
		    wrapped = tell_space(l, "wrapped 2");
	json_t *doc;

	lived_end_alloc(l);
	doc = read_alloc(l, 1);
	check_callers(doc, "fill", "refill", inlined);
	check_callers(doc, "parse", "do_once", node);
	check_callers(doc, "parse_wrapped", "do_once", wrapped);
}

HI_TEST_ROOT(alloc, callers_of_a_function_add_up_to_it)
{
	struct lived *l = start_alloc(LIVED("--callers"));
	const char *fill, *refill;

	tell_space(l, "inlined 4");
	lived_end_alloc(l);
	HI_ASSERT_MSG(l->command->exit_code == 0, "%s", l->command->err);
	fill = strstr(l->command->out, "\n  fill ");
	refill = strstr(l->command->out, "called by refill");
	HI_ASSERT_MSG(fill && refill && fill < refill, "%s", l->command->out);
	HI_ASSERT_MSG(strstr(refill, "192 B") && strstr(fill, "192 B") < refill, "%s",
		      l->command->out);
}

/* Of about 470 samples; 30 % are six standard deviations. */
HI_TEST_ROOT(alloc, samples_are_estimates_that_add_up)
{
	struct lived *l = start_alloc(LIVED("--json", "--sample", "1KiB", "--all"));
	struct told all = tell_space(l, "node 20000");
	json_t *doc, *parse;
	struct told alloc, live;

	end_alloc_period(l);
	lived_end_alloc(l);
	doc = read_alloc(l, 2);
	check_alloc_invariants(doc);
	HI_ASSERT_EQ(1024, json_integer_value(json_object_get(doc, "sample_bytes")));
	parse = function_of(doc, "parse");
	alloc = at_age(parse, 0);
	live = at_age(parse, 2);
	HI_ASSERT_MSG(alloc.size > all.size * 7 / 10 && alloc.size < all.size * 13 / 10,
		      "%lld of %lld", alloc.size, all.size);
	HI_ASSERT_MSG(live.number > all.number * 7 / 10 &&
			      live.number < all.number * 13 / 10,
		      "%lld of %lld", live.number, all.number);
}

/* ---- recordings ---- */

static char alloc_file[256];

enum { LOOK_US = 20000, LOOKS = 3000 };

/* Of the file, when it has some. */
static size_t count_alloc_censuses(void)
{
	struct hi_command *c;
	json_t *doc;
	size_t n;

	if (access(alloc_file, F_OK) != 0)
		return 0;
	c = hi_heapinspect("snapshots", "--json", "--all", alloc_file);
	doc = json_loads(c->out, 0, NULL);
	n = json_array_size(json_object_get(doc, "rows"));
	json_decref(doc);
	return n;
}

/* `record` of the same fixture, as commanded. */
static void record_space(const char *const *commands, const char *option,
			 const char *value, const char *full, const char *which)
{
	struct hi_fixture *fx = hi_fixture_start("space_lives", NULL);
	struct recording_run run;
	struct hi_command *c;
	char answer[64];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(alloc_file, sizeof(alloc_file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", alloc_file, option, value, full, which,
			      NULL);
	for (size_t i = 0; commands[i]; i++) {
		hi_fixture_tell(fx, commands[i]);
		HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
	}
	for (int i = 0; full && count_alloc_censuses() < 3; i++) {
		HI_ASSERT(i < LOOKS);
		usleep(LOOK_US);
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
}

static json_t *read_alloc_file(size_t *censuses_ret)
{
	struct hi_command *c = hi_heapinspect("alloc", alloc_file, "--json", "--all");
	struct lived l = {.command = c};
	json_error_t error;
	json_t *doc = json_loads(c->out, 0, &error);

	HI_ASSERT_MSG(c->exit_code == 0 && doc, "%s", c->err);
	*censuses_ret = json_array_size(json_object_get(doc, "censuses"));
	json_decref(doc);
	doc = read_alloc(&l, *censuses_ret);
	check_alloc_invariants(doc);
	return doc;
}

static const char *const recorded_commands[] = {
	"node 13", "entry 5", "buf 2", "drop node 10", "brief 40", "inlined 1", NULL};

/* 13 + 40 of 32 bytes, 2 of 112; 3 and 2 of them live. */
static void check_recorded_parse(json_t *doc)
{
	json_t *parse = function_of(doc, "parse");

	check_told_row(parse, "alloc", (struct told){55, 53 * 32 + 224, 53 * 8 + 24});
	check_told_row(parse, "live", (struct told){5, 96 + 224, 48});
	check_told_row(function_of(doc, "cache"), "live", (struct told){5, 240, 40});
	check_told_row(function_of(doc, "fill"), "alloc", (struct told){1, 48, 8});
	HI_ASSERT(json_is_true(json_object_get(doc, "costs_computed")));
}

HI_TEST_ROOT(alloc, a_recording_is_one_period)
{
	size_t n;
	json_t *doc;

	record_space(recorded_commands, NULL, NULL, NULL, NULL);
	doc = read_alloc_file(&n);
	HI_ASSERT_EQ(1, n);
	check_recorded_parse(doc);
	HI_ASSERT_EQ(320, at_age(function_of(doc, "parse"), 1).size);
}

/* However many censuses there were by then. */
HI_TEST_ROOT(alloc, censuses_of_a_recording_are_those_of_alloc)
{
	size_t n;
	json_t *doc, *census;

	record_space(recorded_commands, "--every", "100ms", "--full", "all");
	doc = read_alloc_file(&n);
	HI_ASSERT(n >= 2);
	HI_ASSERT_EQ(0, json_integer_value(json_object_get(doc, "left_out_censuses")));
	check_recorded_parse(doc);
	census = json_array_get(json_object_get(doc, "censuses"), n - 1);
	check_told_row(census, "live", (struct told){11, 320 + 240 + 48, 96});
}

/* M3 has heights; here space is all there is: 1,920 bytes of 2,208, 240, 48. */
HI_TEST_ROOT(alloc, bars_have_the_shares_of_space_by_weight)
{
	struct hi_command *c;

	record_space(recorded_commands, NULL, NULL, NULL, NULL);
	c = hi_heapinspect("alloc", alloc_file, "--bars", "--width", "80");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, " ############################## ") != NULL, "%s",
		      c->out);
	HI_ASSERT_MSG(strstr(c->out, "86.96") && strstr(c->out, "10.87"), "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "1920 bytes") != NULL, "%s", c->out);
	HI_ASSERT(!strstr(c->out, "no samples of time"));
	c = hi_heapinspect("alloc", alloc_file, "--bars", "--weight", "0.5");
	HI_ASSERT_MSG(strstr(c->out, "43.48") != NULL, "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "no samples of time") != NULL, "%s", c->out);
	c = hi_heapinspect("alloc", alloc_file, "--bars", "--weight", "1.2");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--weight 1.2") != NULL, "%s", c->err);
	c = hi_heapinspect("alloc", alloc_file, "--bars", "--weight", "-0.1");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", alloc_file, "--weight", "1")->exit_code);
	HI_ASSERT_EQ(2,
		     hi_heapinspect("alloc", alloc_file, "--bars", "--json")->exit_code);
}

HI_TEST_ROOT(alloc, censuses_without_objects_are_left_out)
{
	struct hi_command *c;
	size_t n;
	json_t *doc;

	record_space(recorded_commands, "--every", "100ms", "--full", "first,last");
	doc = read_alloc_file(&n);
	HI_ASSERT_EQ(1, n);
	HI_ASSERT(json_integer_value(json_object_get(doc, "left_out_censuses")) > 0);
	check_recorded_parse(doc);
	c = hi_heapinspect("alloc", alloc_file);
	HI_ASSERT_MSG(strstr(c->out, "whose objects are not in the file") != NULL, "%s",
		      c->out);
}

HI_TEST_ROOT(alloc, files_that_do_not_have_what_is_needed_are_refused)
{
	struct hi_command *c;
	char plain[300], pid[16];
	struct hi_fixture *fx;

	record_space(recorded_commands, "--every", "100ms", "--full", "last");
	c = hi_heapinspect("alloc", alloc_file);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "needs two at least: record --every 1s --full all"),
		      "%s", c->err);
	HI_ASSERT_STREQ("", c->out);
	/* What is recorded is recorded. */
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", alloc_file, "--for", "1s")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", alloc_file, "--every", "1s")->exit_code);
	HI_ASSERT_EQ(2,
		     hi_heapinspect("alloc", alloc_file, "--sample", "all")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", alloc_file, "--at", "gc")->exit_code);
	snprintf(plain, sizeof(plain), "%s@1", alloc_file);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", plain)->exit_code);
	/* A snapshot has no recording. */
	snprintf(plain, sizeof(plain), "%s.hisnap", alloc_file);
	fx = hi_fixture_start("space_lives", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("snap", "--pid", pid, "-o", plain);
	HI_ASSERT_EQ(0, c->exit_code);
	c = hi_heapinspect("alloc", plain);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "has no recording of allocations"), "%s", c->err);
}
