/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image of a copy-on-write child against the plain copy of the same target,
 * which stands still: both must be the same image. The target forks by itself here
 * (fixtures/copy_pages.c, "stand"); nothing has to be stopped.
 */
#include "attach/copy.h"
#include "tests/harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/copy_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "tests/support/child.h"
#include "tests/support/compare_images.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"

#define PAGE 4096u

static struct hi_image *copy_image(struct hi_target *target)
{
	struct hi_stop_options options = {};
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_copy_prepare(target, &options, &copy, &err), &err);
	HI_ASSERT_OK(hi_copy_run(copy, &err), &err);
	HI_ASSERT_OK(hi_copy_finish(copy, NULL, 0, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	return image;
}

/* A target that stands, and the child that it made of itself. */
struct pair {
	struct hi_fixture *fx;
	struct hi_target *target;
	pid_t child;
	int ended; /* how often the image has ended the child */
};

static void end_child(void *arg)
{
	struct pair *pair = arg;

	pair->ended++;
	HI_ASSERT(kill(pair->child, SIGKILL) == 0);
}

/* Where the fixture says that things are. */
struct truth {
	char name[32];
	uint64_t addr, size;
};

static struct truth truths[64];
static size_t n_truths;

static void add_truth(const char *line, void *arg)
{
	struct truth *t = &truths[n_truths];
	unsigned long long addr, size;

	(void)arg;
	if (sscanf(line, "%31s %llx %llu", t->name, &addr, &size) != 3)
		return;
	t->addr = addr;
	t->size = size;
	HI_ASSERT(++n_truths < 64);
}

static const struct truth *truth_of(const char *name)
{
	for (size_t i = 0; i < n_truths; i++)
		if (strcmp(truths[i].name, name) == 0)
			return &truths[i];
	hi_test_fail(__FILE__, __LINE__, "the fixture has no \"%s\"", name);
	return NULL;
}

static struct pair *start_pair(const char *mib)
{
	static struct pair pair;

	n_truths = 0;
	pair = (struct pair){
		.fx = hi_fixture_start("copy_pages", mib ? "large" : NULL, mib, NULL)};
	hi_fixture_read_until(pair.fx, "ready", add_truth, NULL);
	hi_fixture_tell(pair.fx, "stand");
	pair.child = hi_child_first(pair.fx->pid);
	while (hi_process_state(pair.fx->pid) != 'S' ||
	       hi_process_state(pair.child) != 'S')
		usleep(1000);
	pair.target = hi_live_target(pair.fx->pid);
	return &pair;
}

static enum hi_status run_child(struct pair *pair, const struct hi_stop_options *options,
				struct hi_image **ret, struct hi_error *err)
{
	struct hi_copy_child child = {.pid = pair->child, .end = end_child, .arg = pair};
	struct hi_copy *copy = NULL;
	enum hi_status status = hi_copy_estimate(pair->target, options, &copy, err);

	if (status == HI_OK) {
		hi_copy_set_time(copy);
		status = hi_copy_run_child(copy, &child, err);
	}
	if (status == HI_OK)
		status = hi_copy_finish(hi_take(copy), NULL, 0, ret, err);
	hi_copy_destroy(copy);
	return status;
}

/* It is gone when this returns, its memory too. */
static void kill_child(const struct pair *pair)
{
	HI_ASSERT(kill(pair->child, SIGKILL) == 0);
	for (int i = 0; i < 10000; i++) {
		char state = hi_process_state(pair->child);

		if (!state || state == 'Z' || state == 'X')
			return;
		usleep(1000);
	}
	hi_test_fail(__FILE__, __LINE__, "the child did not die");
}

static struct hi_image *child_image(struct pair *pair, uint64_t max_image)
{
	struct hi_stop_options options = {.max_image = max_image};
	struct hi_image *image = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(run_child(pair, &options, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	HI_ASSERT_EQ(HI_SNAPSHOT_FORK, image->mode);
	return image;
}

HI_TEST_SCENARIO(copy_child, image_of_the_child_equals_a_copy)
{
	struct pair *pair = start_pair(NULL);
	struct hi_image *copied = copy_image(pair->target), *forked;
	uint64_t rss = pair->target->rss;

	forked = child_image(pair, 0);
	HI_ASSERT_EQ(1, pair->ended);
	hi_test_compare_images(copied, forked);
	HI_ASSERT_EQ(rss, pair->target->rss);
	HI_ASSERT_EQ(0, copied->stats.bytes_live);
	/* 8 memfd, 16 shared, 2 of a shared file, 6 not forked, 6 wiped. */
	HI_ASSERT_EQ(38 * PAGE, forked->stats.bytes_live);
}

HI_TEST_SCENARIO(copy_child, image_read_in_place_equals_a_copy)
{
	struct pair *pair = start_pair(NULL);
	struct hi_image *copied = copy_image(pair->target);
	struct hi_image *forked = child_image(pair, 1u << 20);
	struct hi_error err = {};

	HI_ASSERT_EQ(0, pair->ended);
	hi_test_compare_images(copied, forked);
	hi_test_compare_images(forked, copied);
	HI_ASSERT_OK(hi_image_check(forked, &err), &err);
	HI_ASSERT_EQ(0, pair->ended);
}

/* ---- the target goes on ---- */

/* From its wait, and until it says `last`. */
static void wake_target(struct pair *pair, const char *order, const char *last)
{
	hi_fixture_tell(pair->fx, "go");
	hi_fixture_tell(pair->fx, order);
	hi_fixture_read_until(pair->fx, last, add_truth, NULL);
}

static uint64_t pattern_word(uint64_t addr)
{
	uint64_t x = addr * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

static void check_pattern(struct hi_image *image, uint64_t start, uint64_t end)
{
	static _Thread_local uint64_t words[PAGE / 8];

	for (uint64_t page = start; page < end; page += PAGE) {
		struct hi_error err = {};

		HI_ASSERT_OK(hi_memory_read(image->memory, page, words, PAGE, &err),
			     &err);
		for (size_t i = 0; i < PAGE / 8; i++)
			HI_ASSERT_EQ(pattern_word(page + i * 8), words[i]);
	}
}

HI_TEST_SCENARIO(copy_child, changes_after_the_fork_are_not_in_the_image)
{
	struct pair *pair = start_pair(NULL);
	struct hi_image *image;
	const struct truth *t;

	wake_target(pair, "change", "changed");
	image = child_image(pair, 0);
	t = truth_of("new");
	for (uint64_t page = t->addr; page < t->addr + t->size; page += PAGE)
		HI_ASSERT(!hi_image_mapping_at(image, page));
	for (const char *const *name = (const char *const[]){"dropped", "unmapped", NULL};
	     *name; name++) {
		t = truth_of(*name);
		for (uint64_t at = t->addr; at < t->addr + t->size; at += 8) {
			uint64_t word = 0;

			HI_ASSERT_STATUS(HI_OK, hi_memory_read_u64(image->memory, at,
								   &word, NULL));
			HI_ASSERT_EQ(0x5a5a5a5a5a5a5a5a, word);
		}
	}
	HI_ASSERT(image->complete);
}

HI_TEST_SCENARIO(copy_child, pages_copied_on_write_are_counted)
{
	const uint64_t written = 500 * PAGE, slack = 64 * PAGE;
	struct pair *pair = start_pair(NULL);
	struct hi_image *image = child_image(pair, 1u << 20);
	uint64_t before = hi_image_copied_on_write(image), after;

	HI_ASSERT(before < slack);
	wake_target(pair, "write 500", "written");
	after = hi_image_copied_on_write(image);
	HI_ASSERT_MSG(after >= before + written && after < before + written + slack,
		      "%llu, then %llu", (unsigned long long)before,
		      (unsigned long long)after);
	HI_ASSERT_EQ(UINT64_MAX, hi_image_copied_on_write(copy_image(pair->target)));
}

HI_TEST_SCENARIO(copy_child, count_of_pages_copied_on_write_outlives_the_child)
{
	struct pair *pair = start_pair(NULL);
	struct hi_image *image;

	wake_target(pair, "write 500", "written");
	image = child_image(pair, 0);
	HI_ASSERT_EQ(1, pair->ended);
	HI_ASSERT(hi_image_copied_on_write(image) >= 500 * PAGE);
	HI_ASSERT(hi_image_copied_on_write(image) < 600 * PAGE);
}

/* Counts what a process has for itself of its mappings without a file, in bytes, by the
 * kernel's own count. Pages of files count for others, too, that begin to run the same
 * program. */
static uint64_t private_bytes(pid_t pid)
{
	char path[64], line[4200];
	unsigned long long kib, sum = 0, inode = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	f = fopen(path, "r");
	HI_ASSERT(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*x-%*x %*s %*x %*x:%*x %llu", &inode) != 1 && !inode &&
		    (sscanf(line, "Private_Clean: %llu", &kib) == 1 ||
		     sscanf(line, "Private_Dirty: %llu", &kib) == 1))
			sum += kib * 1024;
	fclose(f);
	return sum;
}

/* The same, of a process that has come to rest: its last steps touch pages too. */
static uint64_t await_private_bytes(pid_t pid)
{
	uint64_t last = private_bytes(pid), now;

	for (int same = 0, tries = 0; same < 5 && tries < 500; tries++) {
		usleep(10000);
		now = private_bytes(pid);
		same = now == last ? same + 1 : 0;
		last = now;
	}
	return last;
}

/* A server with forked workers: reading must not make the shared pages its own. */
HI_TEST_SCENARIO(copy, a_target_that_shares_memory_by_a_fork_goes_on_sharing_it)
{
	struct pair *pair = start_pair("16");
	uint64_t before = await_private_bytes(pair->fx->pid);

	HI_ASSERT(before);
	for (int known = 0; known < 2; known++) {
		pair->target->priv->shares_anonymous = known;
		check_pattern(copy_image(pair->target), truth_of("large")->addr,
			      truth_of("large")->addr + (16u << 20));
		HI_ASSERT_EQ(before, private_bytes(pair->fx->pid));
	}
	HI_ASSERT(hi_live_target(pair->fx->pid)->priv->shares_anonymous);
}

HI_TEST_SCENARIO(copy_child, child_that_ended_before_reading_is_gone)
{
	struct pair *pair = start_pair(NULL);
	struct hi_stop_options options = {};
	struct hi_image *image = NULL;
	struct hi_error err = {};

	kill_child(pair);
	HI_ASSERT_STATUS(HI_GONE, run_child(pair, &options, &image, &err));
	HI_ASSERT_EQ(0, pair->ended); /* it stays the caller's */
}

HI_TEST_SCENARIO(copy_child, an_image_that_lost_its_child_says_so)
{
	struct pair *pair = start_pair(NULL);
	struct hi_image *image = child_image(pair, 1u << 20);
	const struct truth *many = truth_of("many");
	struct hi_error err = {};
	uint64_t word = 1;

	check_pattern(image, many->addr, many->addr + PAGE);
	HI_ASSERT_OK(hi_image_check(image, &err), &err);
	kill_child(pair);
	for (uint64_t at = many->addr; at < many->addr + many->size; at += PAGE)
		HI_ASSERT_OK(hi_memory_read_u64(image->memory, at, &word, &err), &err);
	HI_ASSERT_STATUS(HI_GONE, hi_image_check(image, &err));
	HI_ASSERT_EQ(UINT64_MAX, hi_image_copied_on_write(image));
}

HI_TEST_SCENARIO(copy_child, shared_memory_that_does_not_fit_is_refused)
{
	struct pair *pair = start_pair(NULL);
	struct hi_stop_options options = {.max_image = 16 * PAGE};
	struct hi_image *image = NULL;
	struct hi_error err = {};

	HI_ASSERT_STATUS(HI_NO_MEMORY, run_child(pair, &options, &image, &err));
	HI_ASSERT_EQ(0, pair->ended);
}

/* ---- an image that is larger than its budget ---- */

struct reader {
	pthread_t thread;
	struct hi_image *image;
	uint64_t start, end;
	bool backwards, wrong;
};

static void *read_large(void *arg)
{
	struct reader *r = arg;
	uint64_t n = (r->end - r->start) / PAGE;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t page = r->start + (r->backwards ? n - 1 - i : i) * PAGE;
		size_t avail = 0;
		const uint64_t *words = hi_memory_view(r->image->memory, page, &avail);

		if (!words || avail < PAGE)
			r->wrong = true;
		for (size_t j = 0; !r->wrong && j < PAGE / 8; j++)
			r->wrong = words[j] != pattern_word(page + j * 8);
	}
	return NULL;
}

HI_TEST_SCENARIO(copy_child, an_image_of_512_mib_is_read_in_64)
{
	const long long budget = 64 << 10, overhead = 24 << 10; /* KiB */
	struct pair *pair = start_pair("512");
	int refs = open("/proc/self/clear_refs", O_WRONLY);
	struct reader readers[3] = {};
	const struct truth *large = truth_of("large");
	struct hi_image *image;
	struct hi_error err = {};
	long long before;

	/* 5: the peak is what it is now (proc(5)). */
	HI_ASSERT(refs >= 0 && write(refs, "5", 1) == 1);
	close(refs);
	before = hi_process_status(getpid(), "VmRSS");
	image = child_image(pair, (uint64_t)budget << 10);
	HI_ASSERT(image->stats.bytes_copied > 512u << 20);
	for (int i = 0; i < 3; i++) {
		uint64_t half = large->addr + large->size / 2;

		readers[i].image = image;
		readers[i].backwards = i == 2;
		readers[i].start = i == 1 ? half : large->addr;
		readers[i].end = i == 0 ? half : large->addr + large->size;
		HI_ASSERT(pthread_create(&readers[i].thread, NULL, read_large,
					 &readers[i]) == 0);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(readers[i].thread, NULL);
		HI_ASSERT(!readers[i].wrong);
	}
	HI_ASSERT_MSG(hi_process_status(getpid(), "VmHWM") <= before + budget + overhead,
		      "peak %lld KiB, before %lld", hi_process_status(getpid(), "VmHWM"),
		      before);
	HI_ASSERT_OK(hi_image_check(image, &err), &err);
}

/* ---- out of memory ---- */

static enum hi_status run_once(pid_t pid, pid_t child_pid, uint64_t max_image)
{
	struct hi_stop_options options = {.threads = 1, .max_image = max_image};
	struct hi_copy_child child = {.pid = child_pid};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	enum hi_status status = hi_target_open(pid, &target, NULL);

	if (status == HI_OK)
		status = hi_copy_estimate(target, &options, &copy, NULL);
	if (status == HI_OK)
		status = hi_copy_run_child(copy, &child, NULL);
	if (status == HI_OK)
		status = hi_copy_finish(hi_take(copy), NULL, 0, &image, NULL);
	hi_copy_destroy(copy);
	hi_image_destroy(image);
	hi_target_close(target);
	return status;
}

HI_TEST_SCENARIO(copy_child, out_of_memory_at_any_allocation_is_an_error)
{
	struct pair *pair = start_pair(NULL);

	for (uint64_t limit = 0; limit <= 1u << 20; limit += 1u << 20) {
		enum hi_status status = HI_NO_MEMORY;
		uint64_t nth = 0;

		HI_ASSERT_STATUS(HI_OK, run_once(pair->fx->pid, pair->child, limit));
		while (status != HI_OK && nth < 2000) {
			hi_alloc_fail_at(++nth);
			status = run_once(pair->fx->pid, pair->child, limit);
			hi_alloc_fail_at(0);
			HI_ASSERT_MSG(status == HI_OK || status == HI_NO_MEMORY,
				      "allocation %llu: %s", (unsigned long long)nth,
				      hi_status_text(status));
		}
		HI_ASSERT_STATUS(HI_OK, status);
		HI_ASSERT(nth > 20);
	}
}
