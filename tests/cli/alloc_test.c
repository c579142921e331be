/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc` of functions that allocate as commanded (fixtures/space_lives.c): M2 of SPEC
 * section 4 as a real process. What is true the fixture says, by malloc_usable_size(). */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/spaced.h"
#include "tests/support/workshop.h"

static struct lived *start_alloc(const char *const *options)
{
	struct hi_fixture *fx = hi_fixture_start("space_lives", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return lived_start_alloc(fx, options);
}

static void end_alloc_period(struct lived *l)
{
	lived_period(l, LIVED());
}

/* ---- documents ---- */

static json_t *read_alloc(struct lived *l, size_t censuses)
{
	json_t *doc = spaced_columns(l->command);

	HI_ASSERT_EQ(censuses, doc_size(doc, "censuses"));
	return doc;
}

/* ---- invariants ---- */

static void check_row_of_ages(json_t *row)
{
	json_t *ages = doc_at(row, "ages"), *live = doc_at(row, "live_ages");
	struct spaced survived = {}, alive = {}, before = spaced_at_age(row, 0);

	spaced_check(before, spaced_amount(row, "alloc"));
	for (size_t age = 1; age < json_array_size(ages); age++) {
		struct spaced now = spaced_at_age(row, age);

		HI_ASSERT(now.number <= before.number && now.size <= before.size);
		survived = spaced_sum(survived, now);
		alive = spaced_sum(alive, spaced_of(doc_at(live, "%zu", age)));
		before = now;
	}
	HI_ASSERT_EQ(json_array_size(ages), json_array_size(live));
	HI_ASSERT(json_array_size(ages) == 1 || before.number || before.size);
	spaced_check(survived, spaced_amount(row, "survived"));
	spaced_check(alive, spaced_amount(row, "live"));
}

static void check_sum_of(json_t *whole, json_t *parts)
{
	size_t n = doc_size(whole, "ages");
	json_t *part;

	for (size_t age = 0; age < n; age++) {
		struct spaced sum = {};

		doc_each (part, parts)
			sum = spaced_sum(sum, spaced_at_age(part, age));
		spaced_check(spaced_at_age(whole, age), sum);
	}
}

static void check_balance(json_t *doc)
{
	struct spaced before = {}, born = {}, now, died;
	json_t *census;

	doc_each (census, doc_at(doc, "censuses")) {
		now = spaced_amount(census, "live");
		died = spaced_amount(census, "died");
		before = spaced_sum(before, spaced_amount(census, "born"));
		born = spaced_sum(born, spaced_amount(census, "born"));
		spaced_check(before, spaced_sum(now, died));
		before = now;
	}
	spaced_check(born, spaced_at_age(doc_at(doc, "total"), 0));
}

/* Those of SPEC, where no function is left out. */
static void check_alloc_invariants(json_t *doc)
{
	json_t *function, *type;

	check_row_of_ages(doc_at(doc, "total"));
	check_sum_of(doc_at(doc, "total"), doc_at(doc, "functions"));
	doc_each (function, doc_at(doc, "functions")) {
		check_row_of_ages(function);
		check_sum_of(function, doc_at(function, "types"));
		doc_each (type, doc_at(function, "types"))
			check_row_of_ages(type);
	}
	check_balance(doc);
}

/* ---- M2 ---- */

struct m2 {
	struct spaced gone, kept, bufs, entries;
};

static struct lived *live_m2(const char *const *options, struct m2 *ret)
{
	struct lived *l = start_alloc(options);

	/* What is dropped came last. */
	ret->kept = spaced_tell(l->fx, "node 3");
	ret->gone = spaced_tell(l->fx, "node 10");
	ret->entries = spaced_tell(l->fx, "entry 5");
	end_alloc_period(l);
	spaced_tell(l->fx, "drop node 10");
	ret->bufs = spaced_tell(l->fx, "buf 2");
	end_alloc_period(l);
	end_alloc_period(l);
	spaced_tell(l->fx, "drop buf 2");
	lived_end_alloc(l);
	return l;
}

static void check_m2_document(json_t *doc, const struct m2 *m)
{
	json_t *parse = spaced_function(doc, "parse"),
	       *cache = spaced_function(doc, "cache");
	json_t *types = doc_at(parse, "types");

	spaced_check(spaced_sum(spaced_sum(m->gone, m->kept), m->bufs),
		     spaced_amount(parse, "alloc"));
	spaced_check(spaced_sum(spaced_sum(m->gone, m->kept), m->bufs),
		     spaced_at_age(parse, 1));
	spaced_check(spaced_sum(m->kept, m->bufs), spaced_at_age(parse, 2));
	spaced_check(m->kept, spaced_at_age(parse, 3));
	spaced_check(m->kept, spaced_at_age(parse, 4));
	spaced_check(m->kept, spaced_at_age(spaced_named(types, "struct node"), 2));
	spaced_check(m->bufs, spaced_at_age(spaced_named(types, "struct buf"), 2));
	spaced_check(m->kept, spaced_amount(parse, "live"));
	spaced_check(m->entries, spaced_amount(cache, "alloc"));
	for (size_t age = 0; age <= 4; age++)
		spaced_check(m->entries, spaced_at_age(cache, age));
	spaced_check(m->entries, spaced_amount(cache, "live"));
}

HI_TEST_ROOT(alloc, m2_is_what_the_fixture_has_counted)
{
	struct m2 m;
	struct lived *l = live_m2(LIVED("--json", "--all"), &m);
	json_t *doc = read_alloc(l, 4), *parse = spaced_function(doc, "parse");

	check_alloc_invariants(doc);
	check_m2_document(doc, &m);
	HI_ASSERT_EQ(2, doc_number(doc, "selected"));
	/* The figures of SPEC, which glibc's costs give. */
	spaced_check((struct spaced){15, 640, 128}, spaced_amount(parse, "alloc"));
	HI_ASSERT_EQ(1152, spaced_amount(parse, "survived").size);
	HI_ASSERT_EQ(960, spaced_amount(spaced_function(doc, "cache"), "survived").size);
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
	HI_ASSERT_MSG(strstr(out, "880 B") && strstr(out, "72.7 %"), "%s", out);
	HI_ASSERT_MSG(strstr(out, "2.1 KiB") != NULL, "%s", out);
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
	struct spaced inlined = spaced_tell(l->fx, "inlined 4"),
		      wrapped = spaced_tell(l->fx, "wrapped 6"),
		      resized = spaced_tell(l->fx, "resized 3");
	json_t *doc, *grow;

	lived_end_alloc(l);
	doc = read_alloc(l, 1);
	check_alloc_invariants(doc);
	spaced_check(inlined, spaced_amount(spaced_function(doc, "fill"), "live"));
	spaced_check(wrapped,
		     spaced_amount(spaced_function(doc, "parse_wrapped"), "live"));
	HI_ASSERT_EQ(3, doc_number(doc, "selected"));
	/* A reallocation is an allocation; what it replaces dies. */
	grow = spaced_function(doc, "grow");
	spaced_check(resized, spaced_amount(grow, "alloc"));
	HI_ASSERT_EQ(3, spaced_amount(grow, "live").number);
}

/* The cost of what no census has seen is that of glibc; its type is unknown, also where all
 * survivors of its site have one type. */
HI_TEST_ROOT(alloc, objects_between_censuses_have_a_cost_and_no_type)
{
	struct lived *l = start_alloc(LIVED("--json", "--all"));
	struct spaced kept = spaced_tell(l->fx, "node 2"),
		      brief = spaced_tell(l->fx, "brief 500"),
		      rushed = spaced_tell(l->fx, "short 70");
	json_t *doc, *rush, *parse;

	end_alloc_period(l);
	brief = spaced_sum(brief, spaced_tell(l->fx, "brief 9"));
	lived_end_alloc(l);
	doc = read_alloc(l, 2);
	check_alloc_invariants(doc);
	parse = spaced_function(doc, "parse");
	spaced_check(spaced_sum(kept, brief), spaced_amount(parse, "alloc"));
	spaced_check(kept, spaced_at_age(parse, 1));
	spaced_check(kept,
		     spaced_amount(spaced_named(doc_at(parse, "types"), "struct node"),
				   "alloc"));
	spaced_check(brief,
		     spaced_amount(spaced_named(doc_at(parse, "types"), ""), "alloc"));
	rush = spaced_function(doc, "rush");
	spaced_check(rushed, spaced_amount(rush, "alloc"));
	spaced_check(rushed,
		     spaced_amount(spaced_named(doc_at(rush, "types"), ""), "alloc"));
	spaced_check((struct spaced){}, spaced_amount(rush, "survived"));
}

HI_TEST_ROOT(alloc, select_leaves_other_functions_out)
{
	struct m2 m;
	struct lived *l = live_m2(LIVED("--json", "--select", "cach"), &m);
	json_t *doc = read_alloc(l, 4);

	HI_ASSERT_EQ(1, doc_number(doc, "selected"));
	spaced_check(m.entries, spaced_amount(doc_at(doc, "total"), "alloc"));
	spaced_check(m.entries, spaced_amount(spaced_function(doc, "cache"), "alloc"));
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
		     {"--every", "10MB", "--every 10MB: not a time"},
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
			  struct spaced alloc)
{
	json_t *callers = doc_at(spaced_function(doc, name), "callers");

	HI_ASSERT_EQ(1, json_array_size(callers));
	spaced_check(alloc, spaced_amount(spaced_named(callers, caller), "alloc"));
}

/* fill() is inlined in its caller. */
HI_TEST_ROOT(alloc, callers_are_shown_where_they_are_asked_for)
{
	struct lived *l = start_alloc(LIVED("--json", "--callers"));
	struct spaced inlined = spaced_tell(l->fx, "inlined 4"),
		      node = spaced_tell(l->fx, "node 6"),
		      wrapped = spaced_tell(l->fx, "wrapped 2");
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

	spaced_tell(l->fx, "inlined 4");
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
	struct spaced all = spaced_tell(l->fx, "node 20000");
	json_t *doc, *parse;
	struct spaced alloc, live;

	end_alloc_period(l);
	lived_end_alloc(l);
	doc = read_alloc(l, 2);
	check_alloc_invariants(doc);
	HI_ASSERT_EQ(1024, doc_number(doc, "sample_bytes"));
	parse = spaced_function(doc, "parse");
	alloc = spaced_at_age(parse, 0);
	live = spaced_at_age(parse, 2);
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

	if (access(alloc_file, F_OK) != 0)
		return 0;
	c = hi_heapinspect("snapshots", "--json", "--all", alloc_file);
	return c->exit_code == 0 ? doc_size(doc_of(c), "rows") : 0;
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
	json_t *doc =
		spaced_columns(hi_heapinspect("alloc", alloc_file, "--json", "--all"));

	*censuses_ret = doc_size(doc, "censuses");
	check_alloc_invariants(doc);
	return doc;
}

static const char *const recorded_commands[] = {
	"node 13", "entry 5", "buf 2", "drop node 10", "brief 40", "inlined 1", NULL};

/* 13 + 40 of 32 bytes, 2 of 112; 3 and 2 of them live. */
static void check_recorded_parse(json_t *doc)
{
	json_t *parse = spaced_function(doc, "parse");

	spaced_check((struct spaced){55, 53 * 32 + 224, 53 * 8 + 24},
		     spaced_amount(parse, "alloc"));
	spaced_check((struct spaced){5, 96 + 224, 48}, spaced_amount(parse, "live"));
	spaced_check((struct spaced){5, 240, 40},
		     spaced_amount(spaced_function(doc, "cache"), "live"));
	spaced_check((struct spaced){1, 48, 8},
		     spaced_amount(spaced_function(doc, "fill"), "alloc"));
	HI_ASSERT(doc_bool(doc, "costs_computed"));
}

HI_TEST_ROOT(alloc, a_recording_is_one_period)
{
	size_t n;
	json_t *doc;

	record_space(recorded_commands, NULL, NULL, NULL, NULL);
	doc = read_alloc_file(&n);
	HI_ASSERT_EQ(1, n);
	check_recorded_parse(doc);
	HI_ASSERT_EQ(320, spaced_at_age(spaced_function(doc, "parse"), 1).size);
}

/* However many censuses there were by then. */
HI_TEST_ROOT(alloc, censuses_of_a_recording_are_those_of_alloc)
{
	size_t n;
	json_t *doc, *census;

	record_space(recorded_commands, "--every", "100ms", "--full", "all");
	doc = read_alloc_file(&n);
	HI_ASSERT(n >= 2);
	HI_ASSERT_EQ(0, doc_number(doc, "left_out_censuses"));
	check_recorded_parse(doc);
	census = doc_at(doc, "censuses.%zu", n - 1);
	spaced_check((struct spaced){11, 320 + 240 + 48, 96},
		     spaced_amount(census, "live"));
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
	HI_ASSERT(doc_number(doc, "left_out_censuses") > 0);
	check_recorded_parse(doc);
	c = hi_heapinspect("alloc", alloc_file);
	HI_ASSERT_MSG(strstr(c->out, "not in the file") != NULL, "%s", c->out);
}

HI_TEST_ROOT(alloc, files_that_do_not_have_what_is_needed_are_refused)
{
	struct hi_command *c;
	char plain[300], pid[16];
	struct hi_fixture *fx;

	record_space(recorded_commands, "--every", "100ms", "--full", "last");
	c = hi_heapinspect("alloc", alloc_file);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "record --every 1s --full all"), "%s", c->err);
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
	HI_ASSERT_MSG(strstr(c->err, "no recording"), "%s", c->err);
}
