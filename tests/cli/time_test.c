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
#include "tests/support/lived.h"
#include "tests/support/schema.h"
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

static void free_time_document(void *doc)
{
	json_decref(doc);
}

static json_t *parse_time(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	hi_check_schema(c, "alloc.v1.json");
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_time_document, doc);
	return doc;
}

static json_t *read_time_file(const char *more, const char *value)
{
	return parse_time(
		hi_heapinspect("alloc", time_file, "--json", "--all", more, value));
}

static json_t *find_function(json_t *doc, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(
		json_object_get(doc, "functions"), i,
		item) if (strcmp(json_string_value(json_object_get(item, "name")),
				 name) == 0) return item;
	hi_test_fail(__FILE__, __LINE__, "there is no %s", name);
}

static long long number_of(json_t *object, const char *key)
{
	json_t *number = json_object_get(object, key);

	HI_ASSERT_MSG(json_is_integer(number), "no %s", key);
	return json_integer_value(number);
}

static long long time_of(json_t *doc, const char *name, const char *key)
{
	return number_of(json_object_get(find_function(doc, name), "time"), key);
}

static long long total_of(json_t *doc, const char *key)
{
	return number_of(json_object_get(doc, "time"), key);
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

HI_TEST_ROOT(time_samples, a_function_that_calls_itself_has_its_depth)
{
	static const char *const commands[] = {"recurse 7 300", NULL};
	json_t *doc;
	long long scans;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
	scans = time_of(doc, "descend", "scans");
	HI_ASSERT_MSG(scans >= 40, "%lld", scans);
	HI_ASSERT_EQ(7, time_of(doc, "descend", "depth"));
	HI_ASSERT_EQ(6, time_of(doc, "descend", "self"));
	HI_ASSERT_EQ(7 * scans, time_of(doc, "descend", "found"));
	HI_ASSERT_EQ(1, time_of(doc, "main", "depth"));
}

HI_TEST_ROOT(time_samples, an_inlined_function_is_one_of_its_own)
{
	static const char *const commands[] = {"inlined 300", NULL};
	json_t *doc;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
	HI_ASSERT(time_of(doc, "churn", "top") >= 40);
	HI_ASSERT_EQ(time_of(doc, "churn", "scans"), time_of(doc, "stir", "scans"));
	HI_ASSERT_EQ(0, time_of(doc, "stir", "top"));
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

HI_TEST_ROOT(time_samples, what_does_not_allocate_is_not_inside_the_allocator)
{
	static const char *const commands[] = {"spin 200 100", NULL};
	json_t *doc;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
	HI_ASSERT_EQ(0, total_of(doc, "in_allocator"));
	HI_ASSERT_EQ(0, total_of(doc, "in_probes"));
}

HI_TEST_ROOT(time_samples, a_thread_that_begins_later_is_sampled)
{
	static const char *const commands[] = {"thread 400", "thread 200", NULL};
	json_t *doc;
	double us;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
	us = (double)(answers[0].first + answers[1].first);
	HI_ASSERT_MSG(fabs((double)time_of(doc, "spin_thread", "scans") - us / 5000) <
			      us / 5000 / 10 + 2,
		      "%lld in %.0f us", time_of(doc, "spin_thread", "scans"), us);
	HI_ASSERT_EQ(0, total_of(doc, "missed_threads"));
}

HI_TEST_ROOT(time_samples, cpu_times_add_up)
{
	static const char *const commands[] = {"spin 300 100", NULL};
	struct hi_command *c;
	json_t *doc;
	long long ns;

	record_time("10", commands);
	doc = read_time_file(NULL, NULL);
	ns = 1000LL * (answers[0].first + answers[0].second);
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
HI_TEST_ROOT_ALONE(time_samples, time_of_short_threads_is_missed_aloud)
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
	HI_ASSERT_MSG(strstr(c->out, " of the CPU time: threads that end soon have none"),
		      "%s", c->out);
}

HI_TEST_ROOT(time_samples, tables_fit_and_select_chooses_functions_of_time)
{
	static const char *const commands[] = {"recurse 3 100", "alloc 100", NULL};
	struct hi_command *c;
	char *line, *rest = NULL;
	json_t *doc, *functions;

	record_time("5", commands);
	doc = read_time_file("--select", "descen");
	functions = json_object_get(doc, "functions");
	HI_ASSERT_EQ(1, json_array_size(functions));
	HI_ASSERT_EQ(3, time_of(doc, "descend", "depth"));
	HI_ASSERT_EQ(1, number_of(doc, "selected"));
	HI_ASSERT(total_of(doc, "scans") > time_of(doc, "descend", "scans"));
	HI_ASSERT_EQ(
		2, hi_heapinspect("alloc", time_file, "--select", "nothing")->exit_code);
	/* The one that allocated most, and the one that took most time. */
	doc = parse_time(
		hi_heapinspect("alloc", time_file, "--json", "--top", "1", "--callers"));
	functions = json_object_get(doc, "functions");
	HI_ASSERT_MSG(json_array_size(functions) <= 2, "%zu", json_array_size(functions));
	HI_ASSERT_STREQ("allocate", json_string_value(json_object_get(
					    json_array_get(functions, 0), "name")));
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

	while (i < json_array_size(callers) &&
	       number_of(json_array_get(callers, i), "level") == level) {
		json_t *c = json_array_get(callers, i);
		long long its_top = number_of(json_object_get(c, "time"), "top"),
			  its_alloc = number_of(json_object_get(c, "alloc"), "size");

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
	size_t i, k;

	json_array_foreach(json_object_get(doc, "functions"), i, f)
	{
		json_t *callers = json_object_get(f, "callers");

		HI_ASSERT_EQ(json_array_size(callers),
			     check_callers_from(
				     callers, 0, 1,
				     number_of(json_object_get(f, "time"), "top"),
				     number_of(json_object_get(f, "alloc"), "size")));
		json_array_foreach(callers, k, c)
			HI_ASSERT(number_of(c, "level") <= depth);
	}
}

static const char *caller_of(json_t *doc, const char *name, size_t i)
{
	json_t *callers = json_object_get(find_function(doc, name), "callers");

	return json_string_value(json_object_get(json_array_get(callers, i), "name"));
}

HI_TEST_ROOT(time_samples, chains_of_callers_add_up)
{
	static const char *const commands[] = {"recurse 5 200", "thread 200", "alloc 200",
					       NULL};
	json_t *doc;

	record_time("5", commands);
	doc = read_time_file("--callers", "--depth=3");
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
	HI_ASSERT(!json_object_get(find_function(doc, "allocate"), "callers"));
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

HI_TEST_ROOT(time_samples, bars_weigh_time_against_space)
{
	static const char *const commands[] = {"spin 200 100", "alloc 100", NULL};
	struct hi_command *c;
	json_t *doc;
	double share;

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
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

HI_TEST_ROOT(time_samples, mlworks_has_its_report_of_time)
{
	static const char *const commands[] = {"recurse 7 200", NULL};
	struct hi_command *c;
	json_t *doc;
	char line[200];

	record_time("5", commands);
	doc = read_time_file(NULL, NULL);
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
	size_t i;

	doc = parse_time(start_time("10", &with)->command);
	HI_ASSERT_MSG(time_of(doc, "heavy", "top") + time_of(doc, "light", "top") >= 15,
		      "%lld", total_of(doc, "scans"));
	doc = parse_time(start_time("0", &without)->command);
	HI_ASSERT(json_is_null(json_object_get(doc, "time")));
	json_array_foreach(json_object_get(doc, "functions"), i, f)
		HI_ASSERT(!json_object_get(f, "time"));
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
	HI_ASSERT(json_is_null(json_object_get(doc, "time")));
	c = hi_heapinspect("alloc", time_file);
	HI_ASSERT_MSG(!strstr(c->out, "Time by function") && !strstr(c->out, "samples"),
		      "%s", c->out);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", time_file, "--scan", "10")->exit_code);
}

/* Allocations are followed all the same, where that does not need them. */
HI_TEST_ROOT(time_samples, where_timers_are_refused_there_are_no_times)
{
	struct hi_fixture *fx = hi_fixture_start("time_lives", NULL);
	struct hi_command *c;
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_command_run(0, HI_BINARY_DIR "/fixtures/refuse_perf",
			   HI_BINARY_DIR "/heapinspect", "alloc", "--pid", pid, "--every",
			   "200ms", "--for", "400ms", "--sample", "all", "--json", NULL);
	if (c->exit_code && strstr(c->err, "perf event"))
		HI_SKIP("this kernel has no probes without perf_event_open");
	HI_ASSERT_MSG(strstr(c->err, "heapinspect: time is not sampled: perf_event_open "
				     "needs CAP_PERFMON: Permission denied\n"),
		      "%s", c->err);
	HI_ASSERT(json_is_null(json_object_get(parse_time(c), "time")));
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
