/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals of `alloc --sample all` beside what allocators count themselves: mallinfo2() of
 * glibc, INFO memory of redis, tracemalloc of CPython. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/python.h"
#include "tests/support/service.h"
#include "tests/support/spaced.h"

static json_t *read_counted(const struct hi_command *c)
{
	json_t *doc = doc_of(c);

	HI_ASSERT_EQ(0, doc_number(doc, "lost_events"));
	return doc;
}

/* Adds what is live at census t, counted from 0, of the recording and older. */
static struct spaced live_at(json_t *doc, size_t t)
{
	json_t *census = doc_at(doc, "censuses.%zu", t);

	return spaced_sum(spaced_amount(census, "live"), spaced_amount(census, "older"));
}

/* ---- glibc ---- */

struct mallinfo {
	long long used, mapped, blocks, requested, made, of_bytes;
};

static struct mallinfo tell_counted(struct lived *l, const char *command)
{
	struct mallinfo m;
	char answer[256];

	hi_fixture_tell(l->fx, command);
	HI_ASSERT(hi_fixture_line(l->fx, answer, sizeof(answer)));
	HI_ASSERT_EQ(6, sscanf(answer, "%lld %lld %lld %lld %lld %lld", &m.used,
			       &m.mapped, &m.blocks, &m.requested, &m.made, &m.of_bytes));
	return m;
}

enum { COUNTED_PERIODS = 4 };

/* The blocks of before are older at the first census, and the recording's at the last. */
HI_TEST_ROOT(alloc_counters, live_is_what_mallinfo2_has)
{
	static const char *const commands[COUNTED_PERIODS] = {"work 20000 3", "large 9",
							      "work 9000 5", "drop"};
	struct hi_fixture *fx = hi_fixture_start(
		"/usr/bin/env", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0",
		HI_FIXTURE_DIR "/space_counted", NULL);
	struct lived *l = calloc(1, sizeof(*l));
	struct mallinfo truth[COUNTED_PERIODS], before;
	long long internal = 0;
	struct spaced all;
	json_t *doc;

	HI_ASSERT(l);
	hi_test_defer(free, l);
	l->fx = fx;
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	before = tell_counted(l, "work 5000 1");
	HI_ASSERT(before.blocks > 500);
	l = lived_start_alloc(fx, LIVED("--json", "--all"));
	for (size_t t = 0; t < COUNTED_PERIODS; t++) {
		truth[t] = tell_counted(l, commands[t]);
		if (t + 1 < COUNTED_PERIODS)
			lived_period(l, LIVED());
	}
	lived_end_alloc(l);
	doc = read_counted(l->command);
	HI_ASSERT_EQ(COUNTED_PERIODS, doc_size(doc, "censuses"));
	for (size_t t = 0; t < COUNTED_PERIODS; t++) {
		struct spaced live = live_at(doc, t);

		hi_test_note("census %zu: %lld live in %lld, mallinfo2 %lld + %lld in "
			     "%lld",
			     t + 1, live.size, live.number, truth[t].used,
			     truth[t].mapped, truth[t].blocks);
		/* The allocator's own, which is not in live: the same at all times. */
		if (!t)
			internal = truth[t].used + truth[t].mapped - live.size;
		HI_ASSERT_EQ(truth[t].used + truth[t].mapped, live.size + internal);
		HI_ASSERT_EQ(truth[t].blocks, live.number);
	}
	/* All that was allocated since, and as it was requested; and all of that, and
	 * of what was there before, is gone. */
	all = spaced_amount(doc_at(doc, "total"), "alloc");
	HI_ASSERT_EQ(truth[COUNTED_PERIODS - 1].made - before.made, all.number);
	HI_ASSERT_EQ(truth[COUNTED_PERIODS - 1].of_bytes - before.of_bytes,
		     all.size - all.overhead);
	HI_ASSERT_EQ(0, spaced_amount(doc_at(doc, "total"), "live").number);
	/* The cache of the thread alone. */
	HI_ASSERT(internal >= 0 && internal < 1024);
}

/* ---- programs that know no period ---- */

static const char *const each_census[] = {"--sample", "all",   "--every", "400ms",
					  "--json",   "--all", NULL};

/* Returns when the first period has ended, whose census is the first of the document. */
static struct recording_run start_counting(pid_t pid)
{
	struct recording_run run =
		recording_start_as("alloc", "the first period begins", pid, each_census);

	HI_ASSERT_MSG(recording_says(&run, "were allocated", RECORDING_PATIENCE_MS), "%s",
		      run.begun);
	return run;
}

/* The second census from now has begun behind all that was said until now. */
static json_t *end_counting(struct recording_run *run)
{
	recording_says(run, "\n", 0);
	for (int i = 0; i < 2; i++)
		HI_ASSERT_MSG(
			recording_says(run, "were allocated", RECORDING_PATIENCE_MS),
			"%s", run->begun);
	return read_counted(recording_end(run, SIGINT));
}

/* ---- redis ---- */

static long long ask_used_memory(struct hi_service *s)
{
	const char *reply = hi_service_ask(s, "INFO memory\r\n", "\r\n\r\n"),
		   *used = strstr(reply, "used_memory:");

	HI_ASSERT_MSG(used != NULL, "%s", reply);
	return strtoll(used + strlen("used_memory:"), NULL, 10);
}

static void set_keys(struct hi_service *s, int from, int to)
{
	char batch[64 * 1000];

	for (int i = from; i < to;) {
		size_t used = 0, n = 0;

		for (; i < to && n < 500; i++, n++)
			used += (size_t)snprintf(batch + used, sizeof(batch) - used,
						 "SET key:%d value-that-is-%d-%0*d\r\n",
						 i, i, i % 60, i);
		hi_service_send(s, batch, used, n);
	}
}

/* Redis counts what malloc_usable_size() says: without the word of each block. (A block
 * that is a mapping has two; there is none.) */
static long long usable_at(json_t *doc, size_t t)
{
	struct spaced live = live_at(doc, t);

	return live.size - 8 * live.number;
}

/* Redis asks for its memory, and is inspected where it begins to answer: what it says at
 * a census. What came in between, such as its cron, is in both. */
static long long ask_at_census(struct hi_service *s, struct recording_run *run,
			       const char *news)
{
	for (int i = 0; i < 60; i++) {
		long long used = ask_used_memory(s);

		if (recording_says(run, news, 3000))
			return used;
	}
	hi_test_fail(__FILE__, __LINE__, "no census: %s", run->begun);
}

HI_TEST_SLOW(alloc_counters, live_of_redis_grows_as_its_used_memory)
{
	static const char *const words[] = {"--sample",	   "all",   "--at",
					    "infoCommand", "--for", "600s",
					    "--json",	   "--all", NULL};
	struct hi_service *s;
	struct recording_run run;
	long long used[3], live[3];
	json_t *doc;

	setenv("GLIBC_TUNABLES", "glibc.malloc.mmap_max=0", 1);
	s = hi_service_start_redis("redis-server", "--maxmemory-clients", "0", NULL);
	unsetenv("GLIBC_TUNABLES");
	set_keys(s, 0, 1000);
	ask_used_memory(s);
	run = recording_start_as("alloc", "waiting for ", s->pid, words);
	ask_at_census(s, &run, "the first period begins");
	for (size_t t = 0; t < 3; t++) {
		used[t] = ask_at_census(s, &run, "were allocated");
		if (t < 2)
			set_keys(s, 500, 20000 + (int)t * 30000);
	}
	doc = read_counted(recording_end(&run, SIGINT));
	HI_ASSERT_EQ(3, doc_size(doc, "censuses"));
	for (size_t t = 0; t < 3; t++) {
		live[t] = usable_at(doc, t);
		hi_test_note("redis: used_memory %lld, live %lld", used[t], live[t]);
	}
	for (size_t t = 1; t < 3; t++)
		HI_ASSERT_EQ(used[t] - used[0], live[t] - live[0]);
}

/* ---- CPython ---- */

struct traced {
	char function[3][32];
	long long bytes[3], blocks[3];
	long long rounded[3]; /* bytes, as pymalloc has them */
	size_t n;
};

static void take_traced_line(const char *line, void *arg)
{
	struct traced *t = arg;
	size_t i = t->n;

	if (i < 3 && sscanf(line, "%31s %lld %lld %lld", t->function[i], &t->bytes[i],
			    &t->blocks[i], &t->rounded[i]) == 4)
		t->n++;
}

static void tell_python(struct target *p, struct traced *ret)
{
	static const char *const commands[] = {"keep_bytes 500", "keep_objects 700",
					       "keep_texts 300", "drop_texts 100"};

	for (size_t i = 0; i < 4; i++) {
		hi_fixture_tell(p->fx, commands[i]);
		hi_fixture_read_until(p->fx, "done", NULL, NULL);
	}
	if (!ret)
		return;
	hi_fixture_tell(p->fx, "report");
	hi_fixture_read_until(p->fx, "done", take_traced_line, ret);
}

/* With the comprehensions in it, which are functions of their own. */
static struct spaced live_of_function(json_t *doc, const char *name)
{
	struct spaced sum = {};
	json_t *function;

	doc_each (function, doc_at(doc, "functions")) {
		if (strncmp(doc_text(function, "name"), name, strlen(name)) == 0)
			sum = spaced_sum(sum, spaced_amount(function, "live"));
	}
	return sum;
}

/* Blocks of up to 512 bytes are in pymalloc's pools, unless malloc has them. */
static void check_traced(const char *environment, bool has_pools)
{
	const char *drained = has_pools ? "drained" : "";
	struct target *traced = python_start(environment, "counted", "trace", drained),
		      *plain = python_start(environment, "counted", "plain", drained);
	struct traced t = {};
	struct recording_run run = start_counting(plain->fx->pid);
	json_t *doc;

	tell_python(traced, &t);
	HI_ASSERT_EQ(3, t.n);
	tell_python(plain, NULL);
	doc = end_counting(&run);
	for (size_t i = 0; i < t.n; i++) {
		struct spaced live = live_of_function(doc, t.function[i]);
		long long bytes = has_pools ? t.rounded[i] : t.bytes[i],
			  blocks = t.blocks[i];

		hi_test_note("%s: tracemalloc %lld in %lld, alloc %lld in %lld",
			     t.function[i], bytes, blocks, live.size - live.overhead,
			     live.number);
		HI_ASSERT_EQ(bytes, live.size - live.overhead);
		HI_ASSERT_EQ(blocks, live.number);
	}
}

HI_TEST_ROOT(alloc_counters, live_of_python_on_malloc_is_what_tracemalloc_has)
{
	check_traced("PYTHONMALLOC=malloc", false);
}

/* Also where the compiler has copied pymalloc into other functions. */
HI_TEST_ROOT(alloc_counters, live_of_python_on_pymalloc_is_what_tracemalloc_has)
{
	check_traced("PYTHONMALLOC=pymalloc", true);
}
