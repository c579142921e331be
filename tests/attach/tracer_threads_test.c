/* SPDX-License-Identifier: BSD-2-Clause */
/* Stopping many threads: all of them, and every one runs on afterwards. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/stopping.h"

static const struct hi_stop_options patient = {.best_effort_priority = true,
					       .max_pause_ns = HI_TEST_PATIENCE_NS};

/* For a thousand sleepers, which are woken a few at a time, and each waits for a
 * processor. */
static const struct hi_stop_options very_patient = {.best_effort_priority = true,
						    .max_pause_ns = 300000000000ull};

static struct hi_tracer *standing; /* the tracer of the test that runs */

static void destroy_standing(void *arg)
{
	(void)arg;
	hi_tracer_destroy(standing);
	standing = NULL;
}

static struct hi_fixture *start_threads(const char *kind, const char *n)
{
	struct hi_fixture *fx = hi_fixture_start("stop_threads", kind, n, NULL);

	hi_test_defer(destroy_standing, NULL);
	hi_test_expect_line(fx, "ready");
	return fx;
}

static struct hi_tracer *stop_target(pid_t pid, const struct hi_stop_options *options,
				     struct hi_tracer_stop *stop)
{
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer *tracer;
	struct hi_error err;

	HI_ASSERT_OK(hi_tracer_start(&target, options, &tracer, &err), &err);
	standing = tracer;
	HI_ASSERT_OK(hi_tracer_stop(tracer, stop, &err), &err);
	return tracer;
}

static void resume_target(struct hi_tracer *tracer)
{
	struct hi_error err;
	uint64_t resumed_ns;

	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed_ns, &err), &err);
	destroy_standing(NULL);
}

static void expect_counting(struct hi_fixture *fx)
{
	hi_test_expect_progress(fx);
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

/* All threads of pid are in state t; returns how many. */
static size_t count_standing(pid_t pid)
{
	char command[128];
	FILE *pipe;
	int n = -1;

	snprintf(command, sizeof(command), "cat /proc/%d/task/*/stat | grep -c ') t '",
		 (int)pid);
	pipe = popen(command, "r");
	HI_ASSERT(pipe && fscanf(pipe, "%d", &n) == 1);
	pclose(pipe);
	return (size_t)n;
}

static void expect_stop(const char *kind, const char *n)
{
	struct hi_fixture *fx = start_threads(kind, n);
	size_t expected = strtoul(n, NULL, 10) + 1;
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer = stop_target(fx->pid, &very_patient, &stop);

	HI_ASSERT_EQ(expected, stop.n_threads);
	HI_ASSERT_EQ(expected, count_standing(fx->pid));
	HI_ASSERT_EQ(fx->pid, stop.threads[0].tid);
	HI_ASSERT_STREQ("stop_threads", stop.threads[0].name);
	for (size_t i = 0; i < expected; i++)
		HI_ASSERT(stop.threads[i].regs.rip && stop.threads[i].regs.fs_base);
	resume_target(tracer);
	if (strcmp(kind, "sleep") != 0)
		expect_counting(fx);
	hi_test_expect_free(fx->pid, "RS");
}

HI_TEST_BUSY(attach_tracer, stops_64_busy_threads_and_all_run_on)
{
	expect_stop("busy", "64");
}

HI_TEST_BUSY(attach_tracer, stops_1000_busy_threads_and_all_run_on)
{
	expect_stop("busy", "1000");
}

HI_TEST_SCENARIO(attach_tracer, stops_1000_sleeping_threads_and_all_run_on)
{
	expect_stop("sleep", "1000");
}

HI_TEST_BUSY(attach_tracer, stops_threads_that_are_born_and_die_all_the_time)
{
	struct hi_fixture *fx = start_threads("churn", "8");
	char path[64], line[64];

	for (int i = 0; i < 100; i++) {
		struct hi_tracer_stop stop;
		struct hi_tracer *tracer = stop_target(fx->pid, &patient, &stop);

		snprintf(path, sizeof(path), "Threads");
		snprintf(line, sizeof(line), "%lld", hi_process_status(fx->pid, path));
		HI_ASSERT_EQ(strtoll(line, NULL, 10), stop.n_threads);
		HI_ASSERT_EQ(stop.n_threads, count_standing(fx->pid));
		resume_target(tracer);
		hi_test_sleep_us(i * 37 % 500);
	}
	expect_counting(fx);
}

HI_TEST_SCENARIO(attach_tracer, a_leader_that_has_exited_is_there_with_zero_registers)
{
	struct hi_fixture *fx = start_threads("orphan", "4");
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;

	HI_ASSERT_EQ('Z', hi_process_state(fx->pid));
	tracer = stop_target(fx->pid, &patient, &stop);
	HI_ASSERT_EQ(6, stop.n_threads);
	HI_ASSERT_EQ(fx->pid, stop.threads[0].tid);
	HI_ASSERT_EQ(0, stop.threads[0].regs.rip);
	HI_ASSERT_EQ(5, count_standing(fx->pid));
	resume_target(tracer);
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
	hi_test_expect_free(fx->pid, "RSZ");
}

HI_TEST_SCENARIO(attach_tracer, two_hundred_stops_leave_no_process_behind)
{
	struct hi_fixture *fx = start_threads("busy", "3");

	for (int i = 0; i < 200; i++)
		HI_ASSERT_EQ(4, hi_test_stop_once(fx->pid, &patient));
	expect_counting(fx);
}

/* ---- out of the allocator ---- */

struct storm {
	struct hi_fixture *fx;
	struct hi_range inside;
	uint64_t flags;
	size_t n, stride;
};

static struct storm start_storm(const char *n, const char *sleeper)
{
	struct storm storm = {.fx = hi_fixture_start("stop_inside", n, sleeper, NULL)};
	uint64_t start, size;
	char line[256];
	int64_t delta;

	HI_ASSERT(hi_fixture_line(storm.fx, line, sizeof(line)));
	HI_ASSERT_EQ(3, sscanf(line, "inside %lx %ld %lu", &start, &delta, &size));
	storm.inside = (struct hi_range){start + delta, start + delta + size};
	HI_ASSERT(hi_fixture_line(storm.fx, line, sizeof(line)));
	HI_ASSERT_EQ(3, sscanf(line, "flags %lx %zu %zu", &storm.flags, &storm.n,
			       &storm.stride));
	hi_test_defer(destroy_standing, NULL);
	hi_test_expect_line(storm.fx, "ready");
	return storm;
}

/* Threads that say by themselves that they are inside. */
static size_t count_inside(const struct storm *storm)
{
	size_t inside = 0;

	for (size_t i = 0; i < storm->n; i++) {
		uint64_t flag, addr = storm->flags + i * storm->stride;
		struct iovec local = {&flag, 8}, remote = {(void *)(uintptr_t)addr, 8};

		HI_ASSERT_EQ(8,
			     process_vm_readv(storm->fx->pid, &local, 1, &remote, 1, 0));
		inside += flag != 0;
	}
	return inside;
}

/* A thread that is not marked is outside, in every round. Returns in how many nobody was
 * marked. */
static int count_clean_stops(const struct storm *storm, int rounds, size_t *without)
{
	struct hi_stop_options options = patient;
	int clean = 0;

	for (int i = 0; i < rounds; i++) {
		struct hi_tracer_stop stop;
		struct hi_tracer *tracer = stop_target(storm->fx->pid, &patient, &stop);

		*without += count_inside(storm);
		resume_target(tracer);
		options.avoid = &storm->inside;
		options.n_avoid = 1;
		options.max_tries = 5000; /* others may be using the machine */
		tracer = stop_target(storm->fx->pid, &options, &stop);
		clean += stop.threads_in_allocator == 0;
		HI_ASSERT(count_inside(storm) <= stop.threads_in_allocator);
		for (size_t t = 0; t < stop.n_threads; t++)
			HI_ASSERT(stop.threads[t].maybe_in_allocator ||
				  stop.threads[t].regs.rip < storm->inside.start ||
				  stop.threads[t].regs.rip >= storm->inside.end);
		resume_target(tracer);
	}
	return clean;
}

/* Marks are honest left-overs (a loaded machine, a sleeper with a stale word): a third of
 * the rounds at least does without, if not always. */
static void expect_nobody_inside(const char *n, int rounds)
{
	struct storm storm = start_storm(n, NULL);
	size_t without = 0;
	int clean = 0;

	for (int i = 0; i < 10 && 3 * clean < rounds; i++)
		clean = count_clean_stops(&storm, rounds, &without);
	HI_ASSERT_MSG(without > 0, "no thread was ever inside: nothing was tested");
	HI_ASSERT_MSG(3 * clean >= rounds, "only %d of %d stops were clean", clean,
		      rounds);
	expect_counting(storm.fx);
}

HI_TEST_SCENARIO(attach_avoid, no_thread_of_8_is_inside_the_allocator)
{
	expect_nobody_inside("8", 50);
}

HI_TEST_BUSY(attach_avoid, no_thread_of_64_is_inside_the_allocator)
{
	expect_nobody_inside("64", 9);
}

static bool never_inside(void *arg, const struct user_regs_struct *regs,
			 const void *stack, size_t size)
{
	(void)arg;
	return !regs->rip || !stack || size < 128;
}

/* How long it took until all stood. */
static uint64_t stop_storm(const struct storm *storm,
			   const struct hi_stop_options *options, uint32_t *marked)
{
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer = stop_target(storm->fx->pid, options, &stop);
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	*marked = stop.threads_in_allocator;
	HI_ASSERT(count_inside(storm) <= *marked);
	resume_target(tracer);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - stop.stopped_ns;
}

/* The busy one may be left inside too, and others have the processors: not always. */
HI_TEST_SCENARIO(attach_avoid, a_sleeper_with_a_stale_word_is_reported_and_costs_little)
{
	struct storm storm = start_storm("1", "sleeper");
	struct hi_stop_options options = patient;
	uint64_t took_ns = UINT64_MAX;
	uint32_t marked = 0;

	options.avoid = &storm.inside;
	options.n_avoid = 1;
	for (int i = 0; i < 20 && (marked != 1 || took_ns >= 200000000); i++) {
		took_ns = stop_storm(&storm, &options, &marked);
		HI_ASSERT(marked >= 1);
	}
	HI_ASSERT_EQ(1, marked);
	HI_ASSERT_MSG(took_ns < 200000000, "%lu ns", (unsigned long)took_ns);
	expect_counting(storm.fx);
}

/* It is believed who says that the sleeper is none; the busy one is seen by its pc. */
HI_TEST_SCENARIO(attach_avoid, a_sleeper_that_is_known_to_be_outside_is_not_reported)
{
	struct storm storm = start_storm("1", "sleeper");
	struct hi_stop_options options = patient;
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;

	options.avoid = &storm.inside;
	options.n_avoid = 1;
	options.max_tries = 5000;
	options.is_inside = never_inside;
	tracer = stop_target(storm.fx->pid, &options, &stop);
	HI_ASSERT_EQ(0, stop.threads_in_allocator);
	HI_ASSERT_EQ(0, count_inside(&storm));
	resume_target(tracer);
	expect_counting(storm.fx);
}

/* A background thread of jemalloc waits so, with frames in jemalloc's code. */
HI_TEST_SCENARIO(attach_avoid, a_thread_that_waits_for_a_condition_is_outside)
{
	struct storm storm = start_storm("0", "condition");
	struct hi_stop_options options = patient;
	uint64_t took_ns = UINT64_MAX;

	hi_fixture_settle(storm.fx);
	options.avoid = &storm.inside;
	options.n_avoid = 1;
	for (int i = 0; i < 20; i++) {
		uint32_t marked;
		uint64_t ns = stop_storm(&storm, &options, &marked);

		HI_ASSERT_EQ(0, marked);
		took_ns = ns < took_ns ? ns : took_ns;
	}
	HI_ASSERT_MSG(took_ns < 20000000, "%lu ns", (unsigned long)took_ns);
}

HI_TEST_SCENARIO(attach_avoid, a_thread_that_waits_for_a_lock_inside_is_reported)
{
	struct storm storm = start_storm("0", "lock");
	struct hi_stop_options options = patient;
	uint32_t marked = 0;

	options.avoid = &storm.inside;
	options.n_avoid = 1;
	for (int i = 0; i < 20 && !marked; i++) /* it may not be there yet */
		(void)stop_storm(&storm, &options, &marked);
	HI_ASSERT_EQ(1, marked);
}

/* ---- pages that the target never touched ---- */

#define STACK_PAGES 8
#define STALE_WORD 0x123450008ull

/* Sleeps for ever with a stack pointer near the end of the first page. */
_Noreturn static void sleep_on(char *stack)
{
	alarm(600);
	memset(stack, 0, 4096);
	memcpy(stack + 4088, &(uint64_t){STALE_WORD}, 8);
	__asm__ volatile("mov %0, %%rsp\n"
			 "1: mov $34, %%eax\n" /* pause */
			 "syscall\n"
			 "jmp 1b"
			 :
			 : "r"(stack + 4000)
			 : "memory");
	__builtin_unreachable();
}

static void end_child(void *pid)
{
	kill((pid_t)(intptr_t)pid, SIGKILL);
	waitpid((pid_t)(intptr_t)pid, NULL, 0);
}

static uint64_t pagemap_entry(pid_t pid, const char *addr)
{
	uint64_t entry = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	file = fopen(path, "r");
	HI_ASSERT(file &&
		  fseeko(file, (off_t)((uintptr_t)addr / 4096 * 8), SEEK_SET) == 0 &&
		  fread(&entry, 8, 1, file) == 1);
	fclose(file);
	return entry;
}

HI_TEST_SCENARIO(attach_avoid, looking_at_a_stack_faults_no_page_in)
{
	const struct hi_range stale = {STALE_WORD - 8, STALE_WORD + 8};
	struct hi_stop_options options = {.avoid = &stale,
					  .n_avoid = 1,
					  .is_inside = never_inside,
					  .max_pause_ns = HI_TEST_PATIENCE_NS};
	char *stack = mmap(NULL, STACK_PAGES * 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;
	pid_t pid;

	HI_ASSERT(stack != MAP_FAILED);
	HI_ASSERT_EQ(0, madvise(stack, STACK_PAGES * 4096, MADV_NOHUGEPAGE));
	pid = fork();
	if (pid == 0)
		sleep_on(stack);
	hi_test_defer(end_child, (void *)(intptr_t)pid);
	hi_test_defer(destroy_standing, NULL);
	hi_fixture_await_call(pid, SYS_pause);
	tracer = stop_target(pid, &options, &stop);
	HI_ASSERT_EQ((uintptr_t)stack + 4000, stop.threads[0].regs.rsp);
	resume_target(tracer);
	for (int i = 1; i < STACK_PAGES; i++)
		HI_ASSERT_EQ(0, pagemap_entry(pid, stack + i * 4096) >> 62);
	munmap(stack, STACK_PAGES * 4096);
}
