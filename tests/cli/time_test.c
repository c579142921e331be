/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of time (--scan) of functions that take time as commanded
 * (fixtures/time_lives.c), which says by clock_gettime() how much that was. */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/schema.h"
#include "tests/support/targets.h"
#include "tests/support/workshop.h"

static char time_file[256];

enum { COMMANDS_MAX = 4 };

/* What the fixture has answered: microseconds. */
static struct {
	long first, second;
} answers[COMMANDS_MAX];

/* A recording of these commands, with a sample for each `ms`. */
static void record_time(const char *ms, const char *const *commands)
{
	struct hi_fixture *fx = hi_fixture_start("time_lives", NULL);
	struct recording_run run;
	struct hi_command *c;
	char answer[64];

	memset(answers, 0, sizeof(answers));
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(time_file, sizeof(time_file), "%s/time.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", time_file, "--scan", ms, NULL);
	for (size_t i = 0; commands[i]; i++) {
		HI_ASSERT(i < COMMANDS_MAX);
		hi_fixture_tell(fx, commands[i]);
		HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
		HI_ASSERT_EQ(2, sscanf(answer, "%ld %ld", &answers[i].first,
				       &answers[i].second));
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
}

/* ---- documents ---- */

static json_t *parse_time(const struct hi_command *c)
{
	json_t *doc = doc_of(c);

	hi_check_schema(c, "alloc.v1.json");
	return doc;
}

static json_t *read_time_file(const char *more, const char *value)
{
	return parse_time(
		hi_heapinspect("alloc", time_file, "--json", "--all", more, value));
}

static json_t *find_function(json_t *doc, const char *name)
{
	return doc_row(doc_at(doc, "functions"), "name", name);
}

static long long time_of(json_t *doc, const char *name, const char *key)
{
	return doc_number(find_function(doc, name), "time.%s", key);
}

static long long total_of(json_t *doc, const char *key)
{
	return doc_number(doc, "time.%s", key);
}

/* n samples, each with probability p: within five standard deviations, and one. */
static void check_samples(long long found, double n, double p)
{
	double off = fabs((double)found - n * p), most = 1 + 5 * sqrt(n * p * (1 - p));

	HI_ASSERT_MSG(off <= most, "%lld of %.0f, expected %.1f", found, n, n * p);
}

/* ---- times of functions ---- */

HI_TEST_ROOT_ALONE(time_samples, two_functions_have_the_shares_that_they_measure)
{
	static const char *const commands[] = {"spin 900 300", NULL};
	double us;
	json_t *doc;

	record_time("2", commands);
	doc = read_time_file(NULL, NULL);
	us = (double)(answers[0].first + answers[0].second);
	check_samples(time_of(doc, "heavy", "top"), (double)total_of(doc, "scans"),
		      (double)answers[0].first / us);
	check_samples(time_of(doc, "light", "top"), (double)total_of(doc, "scans"),
		      (double)answers[0].second / us);
	HI_ASSERT_EQ(2000000, total_of(doc, "scan_ns"));
	/* One for each 2 ms; what other threads and main do comes to little. */
	HI_ASSERT_MSG(fabs((double)total_of(doc, "scans") - us / 2000) < us / 2000 / 10,
		      "%lld samples in %.0f us", total_of(doc, "scans"), us);
	HI_ASSERT_EQ(0, time_of(doc, "spin_both", "self"));
	HI_ASSERT(time_of(doc, "spin_both", "scans") >=
		  time_of(doc, "heavy", "scans") + time_of(doc, "light", "scans"));
}

static void check_a_function_that_calls_itself_has_its_depth(json_t *doc)
{
	long long scans;

	scans = time_of(doc, "descend", "scans");
	HI_ASSERT_MSG(scans >= 40, "%lld", scans);
	HI_ASSERT_EQ(7, time_of(doc, "descend", "depth"));
	HI_ASSERT_EQ(6, time_of(doc, "descend", "self"));
	HI_ASSERT_EQ(7 * scans, time_of(doc, "descend", "found"));
	HI_ASSERT_EQ(1, time_of(doc, "main", "depth"));
}

/* A sample or two may hit what stir() does around the call. */
static void check_an_inlined_function_is_one_of_its_own(json_t *doc)
{
	long long own = time_of(doc, "stir", "top");

	HI_ASSERT(time_of(doc, "churn", "top") >= 40);
	HI_ASSERT_EQ(time_of(doc, "churn", "scans") + own, time_of(doc, "stir", "scans"));
	HI_ASSERT_MSG(own <= 2, "%lld", own);
}

HI_TEST_ROOT(time_samples, a_malloc_loop_is_inside_the_allocator)
{
	static const char *const commands[] = {"alloc 500", NULL};
	json_t *doc;
	long long scans, inside;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
	scans = total_of(doc, "scans");
	inside = total_of(doc, "in_allocator");
	HI_ASSERT_MSG(scans >= 70, "%lld", scans);
	HI_ASSERT_MSG(inside * 100 > scans * 80, "%lld of %lld", inside, scans);
	HI_ASSERT(total_of(doc, "in_probes") <= scans);
	/* Whatever the kernel was at, the stack leads to the caller. */
	HI_ASSERT_MSG(time_of(doc, "allocate", "scans") >= scans * 9 / 10, "%lld of %lld",
		      time_of(doc, "allocate", "scans"), scans);
}

static void check_what_does_not_allocate_is_not_inside_the_allocator(json_t *doc)
{
	HI_ASSERT_EQ(0, total_of(doc, "in_allocator"));
	HI_ASSERT_EQ(0, total_of(doc, "in_probes"));
}

static void check_threads_that_begin_later_are_sampled(json_t *doc)
{
	double us = (double)(answers[0].first + answers[1].first);
	long long scans = time_of(doc, "spin_thread", "scans");

	HI_ASSERT_MSG(fabs((double)scans - us / 5000) < us / 5000 / 10 + 2,
		      "%lld in %.0f us", scans, us);
	HI_ASSERT_EQ(0, total_of(doc, "missed_threads"));
}

static void check_cpu_times_add_up(json_t *doc)
{
	struct hi_command *c;
	long long ns = 0;

	for (size_t i = 0; i < COMMANDS_MAX; i++)
		ns += 1000LL * (answers[i].first + answers[i].second);
	HI_ASSERT_EQ(total_of(doc, "sum_ns"),
		     total_of(doc, "target_ns") + total_of(doc, "tool_ns"));
	HI_ASSERT_MSG(total_of(doc, "target_ns") >= ns &&
			      total_of(doc, "target_ns") < ns + ns / 2,
		      "%lld, not %lld", total_of(doc, "target_ns"), ns);
	HI_ASSERT(total_of(doc, "tool_ns") > 0);
	c = hi_heapinspect("alloc", time_file);
	HI_ASSERT_MSG(strstr(c->out, " of the process") && strstr(c->out, " of both") &&
			      strstr(c->out, "Time by function"),
		      "%s", c->out);
}

/* Their threads end before the first step of their timers. */
HI_TEST_ROOT_ALONE(time_samples, missed_time_of_short_threads_is_reported)
{
	static const char *const commands[] = {"threads 3000 0", "spin 20 20", NULL};
	struct hi_command *c;
	json_t *doc;

	record_time("1", commands);
	doc = read_time_file(NULL, NULL);
	c = hi_heapinspect("alloc", time_file);
	HI_ASSERT_MSG(total_of(doc, "scans") * 1250000 < total_of(doc, "target_ns") &&
			      total_of(doc, "target_ns") > 100000000,
		      "%lld samples in %lld ns", total_of(doc, "scans"),
		      total_of(doc, "target_ns"));
	HI_ASSERT_MSG(strstr(c->out, " of the CPU time"), "%s", c->out);
}

static void check_select_chooses_functions_of_time(void)
{
	json_t *doc = read_time_file("--select", "descen");

	HI_ASSERT_EQ(1, doc_size(doc, "functions"));
	HI_ASSERT_EQ(5, time_of(doc, "descend", "depth"));
	HI_ASSERT_EQ(1, doc_number(doc, "selected"));
	HI_ASSERT(total_of(doc, "scans") > time_of(doc, "descend", "scans"));
	HI_ASSERT_EQ(
		2, hi_heapinspect("alloc", time_file, "--select", "nothing")->exit_code);
}

static void check_tables_fit(void)
{
	struct hi_command *c;
	char *line, *rest = NULL;
	json_t *doc;

	/* The one that allocated most, and the one that took most time. */
	doc = parse_time(
		hi_heapinspect("alloc", time_file, "--json", "--top", "1", "--callers"));
	HI_ASSERT(doc_size(doc, "functions") <= 2);
	HI_ASSERT_STREQ("allocate", doc_text(doc, "functions.0.name"));
	c = hi_heapinspect("alloc", time_file, "--width", "80", "--callers", "--depth=4");
	HI_ASSERT_EQ(0, c->exit_code);
	for (line = strtok_r(c->out, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		HI_ASSERT_MSG(strlen(line) <= 80, "%zu: %s", strlen(line), line);
}

/* ---- callers ---- */

/* In front of a caller of one level are those of the levels before it. Returns where the
 * callers of this level end. */
static size_t check_callers_from(json_t *callers, size_t from, long long level,
				 long long top, long long alloc)
{
	long long sum_top = 0, sum_alloc = 0;
	size_t i = from;
	json_t *c;

	while ((c = doc_item(callers, i)) && doc_number(c, "level") == level) {
		long long its_top = doc_number(c, "time.top"),
			  its_alloc = doc_number(c, "alloc.size");

		sum_top += its_top;
		sum_alloc += its_alloc;
		i = check_callers_from(callers, i + 1, level + 1, its_top, its_alloc);
	}
	if (i > from) {
		HI_ASSERT_EQ(top, sum_top);
		HI_ASSERT_EQ(alloc, sum_alloc);
	}
	return i;
}

static void check_all_callers(json_t *doc, long long depth)
{
	json_t *f, *c;

	doc_each (f, doc_at(doc, "functions")) {
		json_t *callers = doc_at(f, "callers");

		HI_ASSERT_EQ(json_array_size(callers),
			     check_callers_from(callers, 0, 1, doc_number(f, "time.top"),
						doc_number(f, "alloc.size")));
		doc_each (c, callers)
			HI_ASSERT(doc_number(c, "level") <= depth);
	}
}

static const char *caller_of(json_t *doc, const char *name, size_t i)
{
	return doc_text(find_function(doc, name), "callers.%zu.name", i);
}

static void check_chains_of_callers_add_up(void)
{
	json_t *doc = read_time_file("--callers", "--depth=3");

	check_all_callers(doc, 3);
	HI_ASSERT_STREQ("act", caller_of(doc, "allocate", 0));
	HI_ASSERT_STREQ("main", caller_of(doc, "allocate", 1));
	doc = read_time_file("--callers", "--depth=15");
	check_all_callers(doc, 15);
	/* Of the four frames of itself and act(): the last of them. */
	HI_ASSERT_EQ(5, time_of(doc, "descend", "depth"));
	doc = read_time_file("--callers", NULL);
	check_all_callers(doc, 1);
	HI_ASSERT_STREQ("act", caller_of(doc, "allocate", 0));
	doc = read_time_file("--callers", "--depth=0");
	HI_ASSERT(!doc_find(find_function(doc, "allocate"), "callers"));
}

/* ---- other forms ---- */

static double height_of(const struct hi_command *c, const char *name)
{
	char text[64];
	const char *line, *end;
	double height = -1;

	snprintf(text, sizeof(text), "\n  %s ", name);
	line = strstr(c->out, text);
	HI_ASSERT_MSG(line, "no %s in %s", name, c->out);
	line += strlen(text);
	end = strchr(line, '\n');
	while (line < end && sscanf(line, " %lf", &height) != 1)
		line++;
	return height;
}

static void check_bars_weigh_time_against_space(json_t *doc)
{
	struct hi_command *c;
	double share;

	share = 100 * (double)time_of(doc, "heavy", "top") /
		(double)total_of(doc, "scans");
	c = hi_heapinspect("alloc", time_file, "--bars", "--weight", "0");
	HI_ASSERT_MSG(fabs(height_of(c, "heavy") - share) < .006, "%s", c->out);
	HI_ASSERT(!strstr(c->out, "no samples of time"));
	c = hi_heapinspect("alloc", time_file, "--bars", "--weight", "0.25");
	HI_ASSERT_MSG(fabs(height_of(c, "heavy") - .75 * share) < .006, "%s", c->out);
	c = hi_heapinspect("alloc", time_file, "--bars", "--weight", "1");
	HI_ASSERT_MSG(height_of(c, "allocate") > 99, "%s", c->out);
}

static void check_mlworks_has_its_report_of_time(json_t *doc)
{
	struct hi_command *c;
	char line[200];

	c = hi_heapinspect("alloc", time_file, "--format", "mlworks");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	snprintf(line, sizeof(line),
		 "\nscans: %lld\n(plus 0 ticks in GC, 0 ticks in profiler, 0 "
		 "re-entered)\n",
		 total_of(doc, "scans"));
	HI_ASSERT_MSG(strstr(c->out, line), "no %s in %s", line, c->out);
	HI_ASSERT_MSG(strstr(c->out, "\nMLWorks time profile:\n") &&
			      strstr(c->out,
				     "\n---\n   calls       top     scans     found  "
				     "   depth      self   name\n"),
		      "%s", c->out);
	snprintf(line, sizeof(line),
		 "\n       -  %8lld  %8lld  %8lld  %8d  %8d   descend[time_lives.c]\n",
		 time_of(doc, "descend", "top"), time_of(doc, "descend", "scans"),
		 time_of(doc, "descend", "found"), 7, 6);
	HI_ASSERT_MSG(strstr(c->out, line), "no %s in %s", line, c->out);
	c = hi_heapinspect("alloc", time_file, "--format", "mlworks", "--callers");
	HI_ASSERT_MSG(strstr(c->out, "  descend[time_lives.c]; act[time_lives.c]\n"),
		      "%s", c->out);
}

HI_TEST_ROOT(time_samples, samples_of_functions_that_do_not_allocate)
{
	static const char *const commands[] = {"recurse 7 300", "inlined 300",
					       "spin 200 100", NULL};
	json_t *doc;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
	check_a_function_that_calls_itself_has_its_depth(doc);
	check_an_inlined_function_is_one_of_its_own(doc);
	check_what_does_not_allocate_is_not_inside_the_allocator(doc);
	check_cpu_times_add_up(doc);
	check_mlworks_has_its_report_of_time(doc);
}

HI_TEST_ROOT(time_samples, samples_of_threads_recursion_and_allocations)
{
	static const char *const commands[] = {"thread 400", "thread 200",
					       "recurse 5 200", "alloc 200", NULL};
	json_t *doc;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
	check_threads_that_begin_later_are_sampled(doc);
	check_select_chooses_functions_of_time();
	check_tables_fit();
	check_chains_of_callers_add_up();
	check_bars_weigh_time_against_space(doc);
}

/* ---- of a process ---- */

static size_t count_perf_events(pid_t pid)
{
	char path[300], link[64];
	struct dirent *entry;
	ssize_t length;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	HI_ASSERT(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)pid,
			 entry->d_name);
		length = readlink(path, link, sizeof(link) - 1);
		link[length < 0 ? 0 : length] = '\0';
		n += strstr(link, "perf_event") != NULL;
	}
	closedir(dir);
	return n;
}

static struct lived *start_time(const char *scan, size_t *events_ret)
{
	struct hi_fixture *fx = hi_fixture_start("time_lives", NULL);
	struct lived *l;
	char answer[64];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	l = lived_start_alloc(fx, LIVED("--json", "--all", "--scan", scan));
	*events_ret = count_perf_events(l->run.pid);
	hi_fixture_tell(fx, "spin 100 100");
	HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
	lived_end_alloc(l);
	return l;
}

HI_TEST_ROOT(time_samples, a_running_process_is_sampled_and_with_0_it_is_not)
{
	size_t with, without;
	json_t *doc, *f;

	doc = parse_time(start_time("10", &with)->command);
	HI_ASSERT_MSG(time_of(doc, "heavy", "top") + time_of(doc, "light", "top") >= 15,
		      "%lld", total_of(doc, "scans"));
	doc = parse_time(start_time("0", &without)->command);
	HI_ASSERT(doc_is_null(doc, "time"));
	doc_each (f, doc_at(doc, "functions"))
		HI_ASSERT(!doc_find(f, "time"));
	/* The timer of the one thread. */
	HI_ASSERT_EQ(1, with - without);
}

HI_TEST_ROOT(time_samples, a_recording_without_them_has_no_times)
{
	static const char *const commands[] = {"spin 100 50", NULL};
	json_t *doc;
	struct hi_command *c;

	record_time("0", commands);
	doc = read_time_file(NULL, NULL);
	HI_ASSERT(doc_is_null(doc, "time"));
	c = hi_heapinspect("alloc", time_file);
	HI_ASSERT_MSG(!strstr(c->out, "Time by function") && !strstr(c->out, "samples"),
		      "%s", c->out);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", time_file, "--scan", "10")->exit_code);
}

/* Allocations are followed all the same, where that does not need them. */
HI_TEST_ROOT(time_samples, without_timers_allocations_are_recorded_without_times)
{
	struct target *t = target_start("time_lives", NULL);
	struct hi_command *c;

	c = hi_command_run(0, HI_FIXTURE_DIR "/refuse_perf", HI_BINARY_DIR "/heapinspect",
			   "alloc", "--pid", t->pid, "--every", "200ms", "--for", "400ms",
			   "--sample", "all", "--json", NULL);
	if (c->exit_code && strstr(c->err, "perf event"))
		HI_SKIP("this kernel has no probes without perf_event_open");
	HI_ASSERT_MSG(strstr(c->err, "heapinspect: time is not sampled: perf_event_open "
				     "needs CAP_PERFMON: Permission denied\n"),
		      "%s", c->err);
	HI_ASSERT(doc_is_null(parse_time(c), "time"));
}

HI_TEST_SCENARIO(time_samples, options_out_of_range_are_refused)
{
	static const struct {
		const char *option, *value;
	} wrong[] = {{"--scan", "-1"},
		     {"--scan", "10001"},
		     {"--scan", "ten"},
		     {"--scan", ""},
		     {"--scan", "1.5"},
		     {"--scan", "10s"},
		     {"--scan", "99999999999999999999"},
		     {"--depth", "16"},
		     {"--depth", "-1"},
		     {"--depth", "x"}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct hi_command *c = hi_heapinspect("alloc", "--pid", "1", "--callers",
						      wrong[i].option, wrong[i].value);

		HI_ASSERT_MSG(c->exit_code == 2, "%s %s: %d", wrong[i].option,
			      wrong[i].value, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, wrong[i].option), "%s", c->err);
	}
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", "--pid", "1", "--depth", "2")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("bio", "--pid", "1", "--scan", "1")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("record", "--pid", "1", "--scan", "x")->exit_code);
}
