/* SPDX-License-Identifier: BSD-2-Clause */
/* Copy or fork: what hi_stop_and_copy chooses, and that the image is the same. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/stop.h"
#include "tests/harness.h"
#include "tests/support/compare_images.h"
#include "tests/support/forking.h"
#include "tests/support/live_image.h"
#include "tests/support/stopping.h"

#define PAGE 4096u
#define BUDGET_NS 20000000000u /* what is tested here is not how fast */

struct truth {
	char name[32], how[16];
	uint64_t addr, size, value;
};

static struct truth truths[64];
static size_t n_truths;

static void add_truth(const char *line, void *arg)
{
	struct truth *t = &truths[n_truths];
	unsigned long long addr, size, value = 0;

	(void)arg;
	if (sscanf(line, "%31s %llx %llu %15s %llu", t->name, &addr, &size, t->how,
		   &value) < 4)
		return;
	t->addr = addr;
	t->size = size;
	t->value = value;
	HI_ASSERT(++n_truths < 64);
}

static struct hi_fixture *start_pages(const char *kind, const char *value)
{
	struct hi_fixture *fx = hi_fixture_start("copy_pages", kind, value, NULL);

	n_truths = 0;
	hi_fixture_read_until(fx, "ready", add_truth, NULL);
	return fx;
}

static struct hi_image *take(struct hi_target *target,
			     const struct hi_stop_options *options)
{
	struct hi_image *image = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_stop_and_copy(target, options, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	HI_ASSERT(image->stats.pause_ns > 0);
	HI_ASSERT(image->stats.time_ns > 1600000000000000000);
	HI_ASSERT_EQ(1, image->n_threads);
	HI_ASSERT(image->complete);
	return image;
}

static uint64_t pattern_word(uint64_t addr)
{
	uint64_t x = addr * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

static void check_words(struct hi_image *image, const struct truth *t)
{
	bool pattern = strcmp(t->how, "pattern") == 0;

	for (uint64_t at = t->addr; at < t->addr + t->size; at += 8) {
		uint64_t word = 1;
		struct hi_error err = {};

		HI_ASSERT_OK(hi_memory_read_u64(image->memory, at, &word, &err), &err);
		HI_ASSERT_MSG(word == (pattern ? pattern_word(at) : t->value),
			      "%s at 0x%llx: 0x%llx", t->name, (unsigned long long)at,
			      (unsigned long long)word);
	}
}

static void check_truths(struct hi_image *image)
{
	struct hi_error err = {};

	HI_ASSERT(n_truths > 15);
	for (size_t i = 0; i < n_truths; i++)
		if (strcmp(truths[i].how, "absent") == 0)
			HI_ASSERT_STATUS(HI_FAULT,
					 hi_memory_read(image->memory, truths[i].addr,
							&err, 1, NULL));
		else if (strcmp(truths[i].how, "code") != 0)
			check_words(image, &truths[i]);
	HI_ASSERT_OK(hi_image_check(image, &err), &err);
}

/* Nothing of us is left, and the target is what it was. */
static void check_target(struct hi_fixture *fx)
{
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
	hi_fixture_tell(fx, "check");
	hi_test_expect_line(fx, "same");
}

HI_TEST_SCENARIO(snapshot, a_forked_image_shows_the_target_and_leaves_no_trace)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages(NULL, NULL);
	struct hi_target *target = hi_live_target(fx->pid);
	long long rss, tables;
	struct hi_image *image;

	hi_fixture_await_call(fx->pid, SYS_read);
	rss = hi_process_status(fx->pid, "VmRSS");
	tables = hi_process_status(fx->pid, "VmPTE");
	target->rss = 0;
	image = take(target, &options);
	HI_ASSERT_STREQ("", image->stats.not_forked);
	HI_ASSERT_EQ(HI_SNAPSHOT_FORK, image->mode);
	HI_ASSERT_EQ((uint64_t)rss * 1024, target->rss);
	HI_ASSERT_EQ(rss, hi_process_status(fx->pid, "VmRSS"));
	HI_ASSERT_EQ(tables, hi_process_status(fx->pid, "VmPTE"));
	HI_ASSERT(image->stats.bytes_live > 0);
	HI_ASSERT(hi_image_copied_on_write(image) < 1u << 20);
	check_truths(image);
	/* The fixture alone: tracer and watchdog have ended with the child. */
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
	check_target(fx);
}

HI_TEST_SCENARIO(snapshot, an_image_that_does_not_fit_is_read_in_place)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true,
					  .max_image = 1u << 20};
	struct hi_fixture *fx = start_pages("large", "32");
	struct hi_image *image = take(hi_live_target(fx->pid), &options);
	uint64_t before;

	HI_ASSERT_EQ(HI_SNAPSHOT_FORK, image->mode);
	before = hi_image_copied_on_write(image);
	hi_fixture_tell(fx, "write 300");
	hi_test_expect_line(fx, "written");
	HI_ASSERT(hi_image_copied_on_write(image) >= before + 300 * PAGE);
	check_truths(image);
	check_target(fx);
	HI_ASSERT_EQ(3, hi_test_count_children(getpid()));
}

HI_TEST_SCENARIO(snapshot, the_child_of_an_image_in_place_ends_with_the_image)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true,
					  .max_image = 1u << 20};
	struct hi_fixture *fx = start_pages("large", "32");
	struct hi_image *image = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_stop_and_copy(hi_live_target(fx->pid), &options, &image, &err),
		     &err);
	HI_ASSERT(hi_image_copied_on_write(image) != UINT64_MAX);
	hi_image_destroy(image);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
	check_target(fx);
}

static void read_all(struct hi_image *image)
{
	uint64_t start = 0, end, word;
	struct hi_error err = {};

	while (hi_image_next_held(image, start, UINT64_MAX, &start, &end))
		for (; start < end; start += PAGE)
			HI_ASSERT_OK(
				hi_memory_read_u64(image->memory, start, &word, &err),
				&err);
	hi_test_sleep_us(20000);
}

HI_TEST_SCENARIO(snapshot, when_the_target_exits_an_image_in_place_says_what_it_lost)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true,
					  .max_image = 1u << 20};
	struct hi_fixture *fx = start_pages("large", "32");
	struct hi_image *image = take(hi_live_target(fx->pid), &options);
	struct hi_error err = {};

	hi_fixture_end(fx);
	/* The tracer ends the child soon; what was given back by then is lost. */
	for (int i = 0; i < 200 && hi_image_check(image, &err) == HI_OK; i++)
		read_all(image);
	HI_ASSERT_STATUS(HI_GONE, hi_image_check(image, &err));
}

HI_TEST_SCENARIO(snapshot, small_targets_are_copied_and_large_ones_forked)
{
	struct hi_stop_options options = {.max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true};
	struct hi_fixture *small = start_pages(NULL, NULL);
	struct hi_image *image = take(hi_live_target(small->pid), &options);
	struct hi_fixture *large;

	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	check_truths(image);
	large = start_pages("large", "200");
	image = take(hi_live_target(large->pid), &options);
	HI_ASSERT_EQ(HI_SNAPSHOT_FORK, image->mode);
	HI_ASSERT_STREQ("", image->stats.not_forked);
	check_truths(image);
	options.snapshot = HI_REQUEST_COPY;
	image = take(hi_live_target(large->pid), &options);
	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	HI_ASSERT_EQ(0, image->stats.bytes_live);
	check_truths(image);
	check_target(large);
}

HI_TEST_SCENARIO(snapshot, the_same_target_is_forked_again_and_again)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages(NULL, NULL);
	struct hi_target *target = hi_live_target(fx->pid);

	for (int i = 0; i < 50; i++) {
		struct hi_image *image = NULL;
		struct hi_error err = {};

		HI_ASSERT_OK(hi_stop_and_copy(target, &options, &image, &err), &err);
		HI_ASSERT_EQ(HI_SNAPSHOT_FORK, image->mode);
		hi_image_destroy(image);
	}
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
	check_target(fx);
}

/* The target waits for a byte and touches nothing meanwhile. */
HI_TEST_SCENARIO(snapshot, copy_and_fork_give_the_same_image)
{
	struct hi_stop_options options = {.max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages(NULL, NULL);
	struct hi_target *target;
	struct hi_image *images[3];

	hi_fixture_tell(fx, "stand");
	hi_test_sleep_us(50000);
	target = hi_live_target(fx->pid);
	for (int i = 0; i < 3; i++) {
		options.snapshot = i ? HI_REQUEST_FORK : HI_REQUEST_COPY;
		options.max_image = i == 2 ? 1u << 20 : 0;
		images[i] = take(target, &options);
		HI_ASSERT_EQ(i ? HI_SNAPSHOT_FORK : HI_SNAPSHOT_COPY, images[i]->mode);
		HI_ASSERT_EQ(0, memcmp(&images[i]->threads[0].regs,
				       &images[0]->threads[0].regs,
				       sizeof(images[0]->threads[0].regs)));
	}
	hi_test_compare_images(images[0], images[1]);
	hi_test_compare_images(images[0], images[2]);
}

HI_TEST_SCENARIO(snapshot, a_fork_that_is_refused_is_answered_by_a_copy_and_a_reason)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages("filtered", NULL);
	struct hi_image *image = take(hi_live_target(fx->pid), &options);

	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	HI_ASSERT_MSG(strstr(image->stats.not_forked, "seccomp"), "%s",
		      image->stats.not_forked);
	HI_ASSERT_EQ(0, image->stats.bytes_live);
	check_truths(image);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
	check_target(fx);
}

/* What cannot be copied in a quarter of the budget is reserved, then copied. */
HI_TEST_SCENARIO(snapshot, a_large_target_that_refuses_a_fork_is_stopped_again)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = 1200000000,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages("filtered", "350");
	struct hi_target *target = hi_live_target(fx->pid);
	enum hi_status status = HI_TIMEOUT;
	struct hi_image *image = NULL;
	struct hi_error err = {};

	/* On a busy machine even that budget may not do. */
	for (int i = 0; i < 10 && status == HI_TIMEOUT; i++)
		status = hi_stop_and_copy(target, &options, &image, &err);
	HI_ASSERT_OK(status, &err);
	hi_test_defer(hi_image_destroy, image);
	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	HI_ASSERT_MSG(strstr(image->stats.not_forked, "seccomp"), "%s",
		      image->stats.not_forked);
	check_truths(image);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
	check_target(fx);
}

#define SHORT_NS 1000000000u

/* NULL: over the pause budget, where others have the processors. */
static struct hi_image *try_short(struct hi_target *target,
				  struct hi_stop_options *options)
{
	struct hi_image *image = NULL;
	struct hi_error err = {};
	enum hi_status status = hi_stop_and_copy(target, options, &image, &err);

	HI_ASSERT_MSG(status == HI_OK || status == HI_TIMEOUT, "%s", err.text);
	if (image)
		hi_test_defer(hi_image_destroy, image);
	return image;
}

static struct hi_image *take_after_late_fork(struct hi_target *target,
					     struct hi_stop_options *options)
{
	struct hi_image *image = NULL;

	for (int i = 0; i < 10 && !image; i++) {
		if (options->fork_rest)
			*options->fork_rest = 0;
		hi_test_make_forks_late(1);
		image = try_short(target, options);
	}
	HI_ASSERT(image);
	return image;
}

HI_TEST_SCENARIO(snapshot, a_fork_over_the_pause_budget_is_answered_by_a_copy)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = SHORT_NS,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages("plain", "8");
	struct hi_image *image;

	hi_test_adopt_orphans();
	image = take_after_late_fork(hi_live_target(fx->pid), &options);
	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	HI_ASSERT_MSG(strstr(image->stats.not_forked, "pause budget"), "%s",
		      image->stats.not_forked);
	/* The first stop was a pause, too. */
	HI_ASSERT(image->stats.pause_ns >= SHORT_NS / 2);
	check_truths(image);
	hi_test_wait_alone(fx);
	check_target(fx);
}

HI_TEST_SCENARIO(snapshot, after_a_late_fork_a_series_copies_and_then_forks_again)
{
	uint32_t rest = 0;
	struct hi_stop_options options = {.max_pause_ns = SHORT_NS,
					  .best_effort_priority = true,
					  .fork_rest = &rest};
	struct hi_fixture *fx = start_pages("plain", "32");
	struct hi_target *target = hi_live_target(fx->pid);
	struct hi_image *image;
	uint32_t before;

	hi_test_adopt_orphans();
	image = take_after_late_fork(target, &options);
	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	HI_ASSERT(rest > 1);
	options.max_pause_ns = BUDGET_NS;
	before = rest;
	image = take(target, &options);
	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	HI_ASSERT_STREQ("", image->stats.not_forked);
	HI_ASSERT_EQ(before - 1, rest);
	check_truths(image);
	rest = 0;
	image = take(target, &options);
	HI_ASSERT_EQ(HI_SNAPSHOT_FORK, image->mode);
	check_truths(image);
	check_target(fx);
}

/* A copy would take longer than the budget has. */
HI_TEST_SCENARIO(snapshot, a_late_fork_of_a_large_target_is_an_error)
{
	struct hi_stop_options options = {.max_pause_ns = 100000000,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages("plain", "128");
	struct hi_image *image = NULL;
	struct hi_error err = {};

	hi_test_adopt_orphans();
	hi_test_make_forks_late(1);
	HI_ASSERT_STATUS(HI_TIMEOUT, hi_stop_and_copy(hi_live_target(fx->pid), &options,
						      &image, &err));
	hi_test_wait_alone(fx);
	check_target(fx);
}

/* ---- a copy over the pause budget ---- */

static _Atomic int *n_late_stops; /* shared with tracers */

/* Until the watchdog ends this process. */
static void be_late(void *arg, const struct hi_stop_moment *moment)
{
	(void)arg;
	(void)moment;
	if (*n_late_stops <= 0)
		return;
	--*n_late_stops;
	for (;;)
		(void)pause();
}

static struct hi_stop_hook late_hook = {.run = be_late};

static void make_stops_late(struct hi_stop_options *options, int n)
{
	if (!n_late_stops)
		n_late_stops = mmap(NULL, sizeof(*n_late_stops), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	HI_ASSERT(n_late_stops != MAP_FAILED);
	*n_late_stops = n;
	hi_stop_hook_add(&options->hook, &late_hook);
}

HI_TEST_SCENARIO(snapshot, a_copy_over_the_pause_budget_is_tried_once_more)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY,
					  .max_pause_ns = SHORT_NS,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages("plain", "8");
	struct hi_target *target = hi_live_target(fx->pid);
	struct hi_image *image = NULL;

	for (int i = 0; i < 10 && !image; i++) {
		make_stops_late(&options, 1);
		image = try_short(target, &options);
		HI_ASSERT_EQ(0, *n_late_stops);
	}
	HI_ASSERT(image);
	HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
	HI_ASSERT_STREQ("", image->stats.not_forked);
	/* The pause of the stop that failed is known, too. */
	HI_ASSERT(image->stats.pause_ns >= SHORT_NS / 2);
	check_truths(image);
	hi_test_wait_alone(fx);
	check_target(fx);
}

/* Two stops in a row are over it: there is no third one. */
HI_TEST_SCENARIO(snapshot, a_copy_that_is_late_twice_is_an_error)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY,
					  .max_pause_ns = SHORT_NS,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages("plain", "8");
	struct hi_image *image = NULL;
	struct hi_error err = {};

	make_stops_late(&options, 3);
	HI_ASSERT_STATUS(HI_TIMEOUT, hi_stop_and_copy(hi_live_target(fx->pid), &options,
						      &image, &err));
	HI_ASSERT_MSG(strstr(err.text, "pause budget"), "%s", err.text);
	HI_ASSERT_EQ(1, *n_late_stops);
	hi_test_wait_alone(fx);
	check_target(fx);
}

/* The time that any copy takes is no delay: the target is stopped once. */
HI_TEST_SCENARIO(snapshot, a_copy_that_needs_the_whole_budget_is_not_tried_again)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY,
					  .max_pause_ns = 100000000,
					  .best_effort_priority = true};
	struct hi_fixture *fx = start_pages("plain", "128");
	struct hi_image *image = NULL;
	struct hi_error err = {};

	make_stops_late(&options, 2);
	HI_ASSERT_STATUS(HI_TIMEOUT, hi_stop_and_copy(hi_live_target(fx->pid), &options,
						      &image, &err));
	HI_ASSERT_EQ(1, *n_late_stops);
	hi_test_wait_alone(fx);
	check_target(fx);
}
