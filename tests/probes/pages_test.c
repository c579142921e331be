/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that a fixture uses as it is told to, and what is found out about them. */
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/stop.h"
#include "base/text.h"
#include "probes/page_reclaim.h"
#include "probes/page_trial.h"
#include "probes/pages.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/probed.h"
#include "tests/support/stopping.h"

enum { PAGES = 1024, ROUNDS = 200, MOST_ROUNDS = 300 };

struct scene {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_page_watch *watch;
	struct hi_stop_options options;
	uint64_t start, step;
	size_t n_pages;
	uint32_t seed;
	char letters[PAGES + 1]; /* of the period */
};

static void close_scene(struct scene *scene)
{
	hi_page_watch_close(scene->watch);
	hi_target_close(scene->target);
	free(scene);
}

static void take_place(const char *line, void *arg)
{
	struct scene *scene = arg;

	(void)sscanf(line, "pages %lx %lu", &scene->start, &scene->step);
}

static struct scene *open_scene(struct hi_fixture *fx, pid_t pid, size_t n_pages)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct hi_page_clearers clearers;
	struct hi_error err;

	HI_ASSERT(scene);
	hi_test_defer(close_scene, scene);
	scene->fx = fx;
	scene->n_pages = n_pages;
	scene->seed = 88172645;
	scene->options.max_pause_ns = HI_TEST_PATIENCE_NS;
	hi_fixture_read_until(fx, "ready", take_place, scene);
	HI_ASSERT(scene->start && scene->step);
	if (hi_page_clearers_look("/sys", &clearers, &err) != HI_OK)
		HI_SKIP(err.text);
	HI_ASSERT_OK(hi_target_open(pid ? pid : fx->pid, &scene->target, &err), &err);
	HI_ASSERT_OK(hi_page_watch_open(scene->target, &scene->watch, &err), &err);
	return scene;
}

static struct scene *start_scene(size_t n_pages, const char *threads, const char *kind)
{
	char text[16];

	snprintf(text, sizeof(text), "%zu", n_pages);
	return open_scene(hi_fixture_start("referenced_pages", text, threads, kind, NULL),
			  0, n_pages);
}

/* A stop with its image, which is given back at once. */
static enum hi_status stop_scene(struct scene *scene, struct hi_error *err)
{
	struct hi_image *image = NULL;

	HI_ASSERT_OK(hi_page_watch_prepare(scene->watch, &scene->options, err), err);
	HI_ASSERT_OK(hi_stop_and_copy(scene->target, &scene->options, &image, err), err);
	HI_ASSERT_STREQ("", image->stats.not_forked);
	hi_image_destroy(image);
	return hi_page_watch_take(scene->watch, err);
}

static void use_pages(struct scene *scene, const char *kinds)
{
	for (size_t i = 0; i < scene->n_pages; i++) {
		scene->seed ^= scene->seed << 13;
		scene->seed ^= scene->seed >> 17;
		scene->seed ^= scene->seed << 5;
		scene->letters[i] = kinds[(scene->seed >> 7) % strlen(kinds)];
	}
	hi_fixture_tell(scene->fx, scene->letters);
	hi_fixture_read_until(scene->fx, "done", NULL, NULL);
}

/* A page that is written to may have been copied for the forked child. */
static bool is_right(const struct scene *scene, char letter, enum hi_page_state state)
{
	if (letter == '.')
		return state == HI_PAGE_UNREFERENCED;
	if (state == HI_PAGE_UNKNOWN && scene->options.snapshot == HI_REQUEST_FORK)
		return letter == 'w' || letter == 'K';
	return state == HI_PAGE_REFERENCED;
}

static void expect_truth(const struct scene *scene)
{
	for (size_t i = 0; i < scene->n_pages; i++) {
		uint64_t page = scene->start + i * scene->step;
		enum hi_page_state state = hi_page_watch_get(scene->watch, page);

		HI_ASSERT_MSG(is_right(scene, scene->letters[i], state),
			      "page %zu was '%c', its state is %d", i, scene->letters[i],
			      state);
		HI_ASSERT_EQ(state, hi_page_watch_of_range(scene->watch, page,
							   page + scene->step));
	}
}

/* Reclaim elsewhere on the machine costs a round, no more. */
static void expect_rounds(struct scene *scene, unsigned wanted, const char *kinds)
{
	unsigned judged = 0;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	HI_ASSERT_MSG(strstr(err.text, "first stop"), "%s", err.text);
	for (unsigned i = 0; judged < wanted && i < MOST_ROUNDS; i++) {
		enum hi_status status;

		use_pages(scene, kinds);
		status = stop_scene(scene, &err);
		HI_ASSERT_MSG(status == HI_OK || (status == HI_NOT_FOUND &&
						  strstr(err.text, "reclaimed")),
			      "%s", err.text);
		if (status != HI_OK)
			continue;
		expect_truth(scene);
		judged++;
	}
	HI_ASSERT_EQ(wanted, judged);
}

HI_TEST_ROOT(pages, are_told_exactly_when_the_target_is_copied)
{
	struct scene *scene = start_scene(PAGES, "1", NULL);

	scene->options.snapshot = HI_REQUEST_COPY;
	expect_rounds(scene, ROUNDS, "...rwkK");
}

HI_TEST_ROOT(pages, are_told_exactly_with_eight_threads)
{
	struct scene *scene = start_scene(PAGES, "8", NULL);

	scene->options.snapshot = HI_REQUEST_COPY;
	expect_rounds(scene, ROUNDS, "...rwkK");
}

HI_TEST_ROOT(pages, are_told_exactly_when_the_target_is_forked)
{
	struct scene *scene = start_scene(PAGES, "8", NULL);

	scene->options.snapshot = HI_REQUEST_FORK;
	expect_rounds(scene, ROUNDS, "...rwkK");
}

/* In the process's own words: how much of it is in huge pages. */
static long huge_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		(void)sscanf(line, "AnonHugePages: %ld kB", &kib);
	if (file)
		fclose(file);
	return kib;
}

HI_TEST_ROOT(pages, of_huge_pages_have_one_state)
{
	struct scene *scene = start_scene(16, "2", "huge");

	if (huge_kib(scene->fx->pid) < 16 * 2048)
		HI_SKIP("the kernel gives no huge pages");
	scene->options.snapshot = HI_REQUEST_COPY;
	expect_rounds(scene, 50, "..rwkK");
	for (size_t i = 0; i < 16; i++)
		for (uint64_t page = 0; page < scene->step; page += 4096)
			HI_ASSERT(
				is_right(scene, scene->letters[i],
					 hi_page_watch_get(
						 scene->watch,
						 scene->start + i * scene->step + page)));
}

HI_TEST_ROOT(pages, of_a_range_are_unreferenced_only_together)
{
	struct scene *scene = start_scene(8, "1", NULL);
	struct hi_error err;
	uint64_t start = scene->start;

	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	strcpy(scene->letters, "..r.....");
	hi_fixture_tell(scene->fx, scene->letters);
	hi_fixture_read_until(scene->fx, "done", NULL, NULL);
	HI_ASSERT_OK(stop_scene(scene, &err), &err);
	HI_ASSERT_EQ(HI_PAGE_UNREFERENCED,
		     hi_page_watch_of_range(scene->watch, start + 100, start + 8192));
	HI_ASSERT_EQ(HI_PAGE_REFERENCED,
		     hi_page_watch_of_range(scene->watch, start + 100, start + 8193));
	HI_ASSERT_EQ(
		HI_PAGE_UNREFERENCED,
		hi_page_watch_of_range(scene->watch, start + 3 * 4096, start + 8 * 4096));
	/* Nothing is there, which nobody can have touched. */
	HI_ASSERT_EQ(HI_PAGE_UNREFERENCED, hi_page_watch_get(scene->watch, 4096));
}

/* Two stops of one period, as when a stop is repeated. */
HI_TEST_ROOT(pages, of_a_stop_that_was_repeated_are_of_both_parts)
{
	struct scene *scene = start_scene(8, "1", NULL);
	struct hi_image *image = NULL;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	HI_ASSERT_OK(hi_page_watch_prepare(scene->watch, &scene->options, &err), &err);
	for (int i = 0; i < 3; i++) {
		static const char *const letters[] = {"r.......", ".w......", "..K....."};

		hi_fixture_tell(scene->fx, letters[i]);
		hi_fixture_read_until(scene->fx, "done", NULL, NULL);
		HI_ASSERT_OK(
			hi_stop_and_copy(scene->target, &scene->options, &image, &err),
			&err);
		hi_image_destroy(image);
	}
	HI_ASSERT_OK(hi_page_watch_take(scene->watch, &err), &err);
	strcpy(scene->letters, "rwK.....");
	expect_truth(scene);
	HI_ASSERT_OK(stop_scene(scene, &err), &err);
	strcpy(scene->letters, "........");
	expect_truth(scene);
}

HI_TEST_ROOT(pages, of_a_stop_that_was_not_taken_have_no_state)
{
	struct scene *scene = start_scene(8, "1", NULL);
	struct hi_image *image = NULL;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	hi_fixture_tell(scene->fx, "rrrrrrrr");
	hi_fixture_read_until(scene->fx, "done", NULL, NULL);
	HI_ASSERT_OK(hi_page_watch_prepare(scene->watch, &scene->options, &err), &err);
	HI_ASSERT_OK(hi_stop_and_copy(scene->target, &scene->options, &image, &err),
		     &err);
	hi_image_destroy(image);
	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	HI_ASSERT_MSG(strstr(err.text, "was not taken"), "%s", err.text);
	HI_ASSERT_EQ(HI_PAGE_UNKNOWN, hi_page_watch_get(scene->watch, scene->start));
	HI_ASSERT_OK(stop_scene(scene, &err), &err);
	HI_ASSERT_EQ(HI_PAGE_UNREFERENCED, hi_page_watch_get(scene->watch, scene->start));
}

HI_TEST_ROOT(pages, have_no_state_without_a_stop)
{
	struct scene *scene = start_scene(8, "1", NULL);
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_page_watch_take(scene->watch, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	HI_ASSERT_EQ(HI_PAGE_UNKNOWN, hi_page_watch_get(scene->watch, scene->start));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_page_watch_take(scene->watch, &err));
	HI_ASSERT_MSG(strstr(err.text, "not read at this stop"), "%s", err.text);
	HI_ASSERT_OK(stop_scene(scene, &err), &err);
	HI_ASSERT_EQ(HI_PAGE_UNREFERENCED, hi_page_watch_get(scene->watch, scene->start));
}

/* ---- hooks that go wrong ---- */

static bool say_yes(const struct hi_stop_moment *moment)
{
	(void)moment;
	return true;
}

static bool say_no(const struct hi_stop_moment *moment)
{
	(void)moment;
	return false;
}

/* In this process; nothing is stopped, but the fixture waits for a line. */
static void run_hook(struct scene *scene, const struct hi_stop_moment *moment)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_page_watch_prepare(scene->watch, &scene->options, &err), &err);
	scene->options.hook->run(scene->options.hook->arg, moment);
}

static void expect_one_period_less(const struct hi_stop_moment *moment, const char *word)
{
	struct scene *scene = start_scene(8, "1", NULL);
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	use_pages(scene, ".r");
	run_hook(scene, moment);
	HI_ASSERT_OK(hi_page_watch_take(scene->watch, &err), &err);
	expect_truth(scene);
	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	HI_ASSERT_MSG(strstr(err.text, word), "%s", err.text);
	use_pages(scene, ".w");
	HI_ASSERT_OK(stop_scene(scene, &err), &err);
	expect_truth(scene);
}

HI_TEST_ROOT(pages, have_no_state_after_bits_were_not_cleared)
{
	expect_one_period_less(
		&(struct hi_stop_moment){.deadline_ns = 1, .is_torn = say_no},
		"pause budget is too short");
	expect_one_period_less(
		&(struct hi_stop_moment){.deadline_ns = UINT64_MAX, .is_torn = say_yes},
		"woke up");
}

HI_TEST_ROOT(pages, are_read_where_the_target_stands_at_its_end)
{
	struct scene *scene = start_scene(8, "1", NULL);
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	HI_ASSERT_OK(hi_page_watch_prepare(scene->watch, &scene->options, &err), &err);
	use_pages(scene, "..rw....");
	scene->options.hook->at_exit(scene->options.hook->arg);
	HI_ASSERT_OK(hi_page_watch_take(scene->watch, &err), &err);
	expect_truth(scene);
	/* Nothing was cleared. */
	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	HI_ASSERT_MSG(strstr(err.text, "has exited"), "%s", err.text);
}

HI_TEST_ROOT(pages, have_no_state_if_the_target_was_stopped_too_often)
{
	struct hi_stop_moment moment = {.deadline_ns = UINT64_MAX, .is_torn = say_no};
	struct scene *scene = start_scene(8, "1", NULL);
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, stop_scene(scene, &err));
	run_hook(scene, &moment);
	for (int i = 0; i < 8; i++)
		scene->options.hook->run(scene->options.hook->arg, &moment);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_page_watch_take(scene->watch, &err));
	HI_ASSERT_MSG(strstr(err.text, "too often"), "%s", err.text);
}

/* ---- what must be refused ---- */

static enum hi_status open_with(const struct hi_page_faults *faults, struct hi_error *err)
{
	struct hi_target target = hi_test_target(getpid());
	struct hi_page_watch *watch = NULL;
	enum hi_status status = hi_page_watch_open_with(&target, faults, &watch, err);

	hi_page_watch_close(watch);
	return status;
}

static void expect_refused(const struct hi_page_faults *faults, const char *word)
{
	struct hi_error err;

	HI_ASSERT_STATUS(HI_UNSUPPORTED, open_with(faults, &err));
	HI_ASSERT_MSG(strstr(err.text, word), "%s", err.text);
}

HI_TEST_ROOT(pages, evidence_is_refused_if_used_pages_do_not_show_it)
{
	expect_refused(&(struct hi_page_faults){.without_use = true},
		       "used pages do not show it");
}

/* A processor may drop translations at any time; AddressSanitizer's shadow makes it do so
 * on some machines each time. */
#ifndef HI_SANITIZED
HI_TEST_ROOT(pages, evidence_is_refused_if_stale_entries_are_kept)
{
	struct hi_error err;
	int tries = 0;

	while (open_with(&(struct hi_page_faults){.without_flush = true}, &err) == HI_OK)
		HI_ASSERT_MSG(++tries < 20, "no entry was stale in %d trials", tries);
	HI_ASSERT_MSG(strstr(err.text, "used pages do not show it"), "%s", err.text);
}
#endif

HI_TEST_ROOT(pages, evidence_is_refused_with_a_wrong_map_of_memory)
{
	expect_refused(&(struct hi_page_faults){.map_shifted_by = 1ull << 30},
		       "failed a trial");
	expect_refused(&(struct hi_page_faults){.map_shifted_by = -(1ull << 30)},
		       "failed a trial");
	expect_refused(&(struct hi_page_faults){.map_shifted_by = 4096},
		       "failed a trial");
}

/* ---- permission, containers ---- */

static void expect_not_permitted(const char *word)
{
	struct hi_target target = hi_test_target(getpid());
	struct hi_page_watch *watch = NULL;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_CANNOT_ATTACH, hi_page_watch_open(&target, &watch, &err));
	HI_ASSERT_MSG(strstr(err.text, word), "%s", err.text);
}

HI_TEST_ROOT(pages, lack_of_bpf_is_named)
{
	static const int admin[] = {CAP_SYS_ADMIN}, both[] = {CAP_SYS_ADMIN, CAP_BPF};

	probed_drop_caps(admin, 1);
	expect_not_permitted("CAP_SYS_ADMIN");
	probed_restore_caps();
	probed_drop_caps(both, 2);
	expect_not_permitted("BPF needs CAP_BPF and CAP_PERFMON");
}

HI_TEST_ROOT(pages, of_a_process_in_a_container_are_told)
{
	char script[] = "exec " HI_FIXTURE_DIR "/referenced_pages 64 2";
	char *argv[] = {(char *)(uintptr_t) "unshare",
			(char *)(uintptr_t) "--pid",
			(char *)(uintptr_t) "--fork",
			(char *)(uintptr_t) "--kill-child",
			(char *)(uintptr_t) "sh",
			(char *)(uintptr_t) "-c",
			script,
			NULL};
	struct hi_fixture *fx = hi_fixture_startv("/usr/bin/unshare", argv);
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)fx->pid,
		 (int)fx->pid);
	for (int i = 0; i < 2000 && child == 0; i++) {
		file = fopen(path, "r");
		HI_ASSERT(file);
		if (fscanf(file, "%d", &child) != 1)
			usleep(5000);
		fclose(file);
	}
	HI_ASSERT(child);
	expect_rounds(open_scene(fx, child, 64), 10, "..rw");
}

HI_TEST_ROOT(pages, are_told_where_the_main_thread_has_exited)
{
	struct scene *scene = start_scene(64, "3", "leaderless");

	HI_ASSERT_EQ('Z', hi_process_state(scene->fx->pid));
	scene->options.snapshot = HI_REQUEST_COPY;
	expect_rounds(scene, 10, "..rw");
}

HI_TEST_ROOT(pages, are_told_by_an_inspector_in_a_container)
{
	const struct hi_command *c = hi_command_run(
		0, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
		HI_BINARY_DIR "/tests/probes_tests",
		"--gtest_filter=pages.of_a_range*:pages.of_a_stop_that_was_repeated*",
		NULL);

	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->out, "PASSED  ] 2 tests"), "%s",
		      c->out);
}

/* ---- what it costs ---- */

struct costs {
	uint64_t pause_ns, pause_with_ns, added_ns; /* the least of each */
};

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void measure_stop(struct scene *scene, bool with_hook, struct costs *costs)
{
	struct hi_page_watch_cost cost = {};
	struct hi_image *image = NULL;
	struct hi_error err;
	char pause[24], read[24], clear[24];

	scene->options.hook = NULL;
	if (with_hook)
		HI_ASSERT_OK(hi_page_watch_prepare(scene->watch, &scene->options, &err),
			     &err);
	HI_ASSERT_OK(hi_stop_and_copy(scene->target, &scene->options, &image, &err),
		     &err);
	HI_ASSERT_STREQ("", image->stats.not_forked);
	if (!with_hook) {
		costs->pause_ns = lesser(costs->pause_ns, image->stats.pause_ns);
	} else {
		(void)!hi_page_watch_take(scene->watch, &err);
		cost = hi_page_watch_cost(scene->watch);
		HI_ASSERT(cost.n_tables >= 512 && cost.read_ns && cost.clear_ns);
		costs->pause_with_ns =
			lesser(costs->pause_with_ns, image->stats.pause_ns);
		costs->added_ns = lesser(costs->added_ns, cost.read_ns + cost.clear_ns);
	}
	hi_test_note("pause %s, of that reading %s, clearing %s, %lu tables",
		     hi_text_duration(pause, image->stats.pause_ns),
		     hi_text_duration(read, cost.read_ns),
		     hi_text_duration(clear, cost.clear_ns),
		     (unsigned long)cost.n_tables);
	hi_image_destroy(image);
}

static struct costs measure_stops(enum hi_snapshot_request snapshot)
{
	struct hi_fixture *fx =
		hi_fixture_start("referenced_pages", "8", "1", "fill", "1024", NULL);
	struct scene *scene = open_scene(fx, 0, 8);
	struct costs costs = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
	char added[24], pause[24];

	scene->options.snapshot = snapshot;
	for (int i = 0; i < 12; i++)
		measure_stop(scene, i % 2, &costs);
	hi_test_note("at the least %s beside a pause of %s",
		     hi_text_duration(added, costs.added_ns),
		     hi_text_duration(pause, costs.pause_ns));
	hi_fixture_end(fx);
	return costs;
}

/* Of 1 GiB. The factor is for machines that do something else meanwhile. */
HI_TEST_SLOW(pages, cost_about_what_the_fork_costs)
{
	struct costs costs = measure_stops(HI_REQUEST_FORK);

	HI_ASSERT(costs.added_ns < 4 * costs.pause_ns);
}

HI_TEST_SLOW(pages, cost_less_than_the_copy)
{
	struct costs costs = measure_stops(HI_REQUEST_COPY);

	HI_ASSERT(costs.added_ns < costs.pause_ns);
}
