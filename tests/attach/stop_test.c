/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole of it: a live process becomes an image, and runs on. */
#include <elf.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/stop.h"
#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/live_image.h"
#include "tests/support/stopping.h"

static struct hi_fixture *start_storm(struct hi_range *inside, uint64_t *flags)
{
	struct hi_fixture *fx = hi_fixture_start("stop_inside", "8", NULL);
	uint64_t start, size;
	char line[256];
	int64_t delta;

	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(3, sscanf(line, "inside %lx %ld %lu", &start, &delta, &size));
	*inside = (struct hi_range){start + delta, start + delta + size};
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(1, sscanf(line, "flags %lx", flags));
	hi_test_expect_line(fx, "ready");
	return fx;
}

static uint64_t nanoseconds(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Threads that say by themselves, in the image, that they are inside. */
static unsigned count_inside(struct hi_image *image, uint64_t flags)
{
	unsigned inside = 0;

	for (uint64_t i = 0; i < 8; i++) {
		struct hi_error err;
		uint64_t flag = 1;

		HI_ASSERT_OK(
			hi_memory_read_u64(image->memory, flags + i * 64, &flag, &err),
			&err);
		inside += flag != 0;
	}
	return inside;
}

HI_TEST_SCENARIO(attach_stop, an_image_has_threads_memory_and_the_pause)
{
	struct hi_range inside;
	uint64_t flags;
	struct hi_fixture *fx = start_storm(&inside, &flags);
	struct hi_stop_options options = {.n_avoid = 1,
					  .avoid = &inside,
					  .max_tries = 5000,
					  .max_pause_ns = HI_TEST_PATIENCE_NS,
					  .best_effort_priority = true};
	struct hi_target *target = hi_live_target(fx->pid);
	unsigned n_clean = 0;

	/* Who has no processor for long may be left inside; that is said, and rare. */
	for (int i = 0; i < 10 && n_clean == 0; i++) {
		struct timespec before = {}, after = {};
		struct hi_image *image;
		struct hi_error err;

		clock_gettime(CLOCK_MONOTONIC, &before);
		HI_ASSERT_OK(hi_stop_and_copy(target, &options, &image, &err), &err);
		clock_gettime(CLOCK_MONOTONIC, &after);
		HI_ASSERT_EQ(9, image->n_threads);
		HI_ASSERT_EQ(fx->pid, image->threads[0].tid);
		HI_ASSERT(image->stats.pause_ns > 0);
		HI_ASSERT(image->stats.pause_ns <
			  nanoseconds(after) - nanoseconds(before));
		HI_ASSERT(image->stats.time_ns > 1600000000000000000);
		HI_ASSERT_EQ(HI_SNAPSHOT_COPY, image->mode);
		HI_ASSERT(count_inside(image, flags) <=
			  image->stats.threads_in_allocator);
		n_clean += image->stats.threads_in_allocator == 0;
		hi_image_destroy(image);
	}
	HI_ASSERT(n_clean > 0);
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

HI_TEST_SCENARIO(attach_stop, the_memory_of_a_process_without_its_main_thread_is_copied)
{
	struct hi_fixture *fx = hi_fixture_start("stop_threads", "orphan", "4", NULL);
	struct hi_stop_options options = {.max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_target *target;
	struct hi_image *image;
	struct hi_error err;
	uint64_t word;

	hi_test_expect_line(fx, "ready");
	HI_ASSERT_EQ('Z', hi_process_state(fx->pid));
	target = hi_live_target(fx->pid);
	HI_ASSERT_OK(hi_stop_and_copy(target, &options, &image, &err), &err);
	HI_ASSERT_EQ(6, image->n_threads);
	HI_ASSERT_EQ(0, image->threads[0].regs.rip);
	for (size_t i = 1; i < image->n_threads; i++)
		HI_ASSERT_OK(hi_memory_read_u64(image->memory, image->threads[i].regs.rsp,
						&word, &err),
			     &err);
	HI_ASSERT(hi_image_auxv(image, AT_ENTRY, &word));
	HI_ASSERT(image->stats.bytes_copied > 0 && image->complete);
	hi_image_destroy(image);
	hi_test_expect_free(fx->pid, "RSZ");
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
}

HI_TEST_SCENARIO(attach_stop, a_budget_too_small_is_a_time_out_and_harms_nothing)
{
	struct hi_stop_options options = {.max_pause_ns = 1000};
	struct hi_range inside;
	uint64_t flags;
	struct hi_fixture *fx = start_storm(&inside, &flags);
	struct hi_target *target = hi_live_target(fx->pid);
	struct hi_image *image = NULL;
	struct hi_error err;

	/* From too little for any stop to what is enough now and then. */
	for (int i = 0; i < 40; i++) {
		enum hi_status status;

		options.max_pause_ns = i < 20 ? 1000 : 100000 * (uint64_t)(i - 19);
		status = hi_stop_and_copy(target, &options, &image, &err);
		if (status == HI_OK) {
			/* A first stop may have been over it. */
			HI_ASSERT(image->stats.pause_ns <= options.max_pause_ns ||
				  image->stats.bytes_copied <= options.max_pause_ns / 2);
			hi_image_destroy(image);
			image = NULL;
		}
		HI_ASSERT_MSG(status == HI_TIMEOUT || (status == HI_OK && i >= 20),
			      "round %d: %s", i, err.text);
		HI_ASSERT(!image);
		HI_ASSERT(status == HI_OK || !strstr(err.text, " 0 ms"));
	}
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

HI_TEST_SCENARIO(attach_stop, a_target_that_was_killed_before_is_gone)
{
	struct hi_stop_options options = {.max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_range inside;
	uint64_t flags;
	struct hi_fixture *fx = start_storm(&inside, &flags);
	struct hi_target *target = hi_live_target(fx->pid);
	struct hi_image *image = NULL;
	struct hi_error err;

	kill(fx->pid, SIGKILL);
	HI_ASSERT_STATUS(HI_GONE, hi_stop_and_copy(target, &options, &image, &err));
	HI_ASSERT(!image);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

/* A child whose page is somebody's to fill in; the descriptor for it is a high
 * one. Writes 1 if it could not be had. */
_Noreturn static void wait_with_userfaultfd(void *page, int report)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {(uintptr_t)page, 4096},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	char absent = fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
		      ioctl(fd, UFFDIO_REGISTER, &range) != 0;

	alarm(600);
	absent = absent || dup2(fd, 500) != 500 || close(fd) != 0;
	if (write(report, &absent, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

HI_TEST_SCENARIO(attach_stop, a_page_that_is_filled_in_later_is_not_zeros)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct hi_stop_options options = {.max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_image *image;
	struct hi_error err;
	char absent = 1;
	uint64_t word;
	int ends[2];
	pid_t pid;

	HI_ASSERT(page != MAP_FAILED && pipe(ends) == 0);
	pid = fork();
	if (pid == 0)
		wait_with_userfaultfd(page, ends[1]);
	hi_child_kill_after(pid);
	close(ends[1]); /* so that its death ends the read */
	HI_ASSERT_EQ(1, read(ends[0], &absent, 1));
	if (absent)
		HI_SKIP("no userfaultfd with a high number here");
	HI_ASSERT_OK(hi_stop_and_copy(hi_live_target(pid), &options, &image, &err), &err);
	HI_ASSERT_STATUS(HI_FAULT,
			 hi_memory_read_u64(image->memory, (uintptr_t)page, &word, &err));
	hi_image_destroy(image);
	munmap(page, 4096);
	close(ends[0]);
}
