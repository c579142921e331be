/* SPDX-License-Identifier: BSD-2-Clause */
/* Images and targets in another process, which has dropped its rights. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/image_send.h"
#include "attach/running_image.h"
#include "attach/stop.h"
#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/image_reader.h"
#include "tests/support/live_image.h"
#include "tests/support/stopping.h"

#define BUDGET_NS 20000000000u /* how fast is not tried here */

/* It touches nothing, so that all images of it are the same; nor does a child that it
 * has, which by then ends with it. */
static struct hi_fixture *start_standing(const char *kind, const char *value)
{
	struct hi_fixture *fx = hi_fixture_start("copy_pages", kind, value, NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, "stand");
	while (hi_process_state(hi_child_first(fx->pid)) != 'S' ||
	       hi_process_state(fx->pid) != 'S')
		hi_test_sleep_us(1000);
	return fx;
}

static struct hi_image *take_image(struct hi_target *target, enum hi_snapshot_request how,
				   uint64_t max_image, bool sendable)
{
	struct hi_stop_options options = {.snapshot = how,
					  .max_image = max_image,
					  .max_pause_ns = BUDGET_NS,
					  .best_effort_priority = true,
					  .sendable = sendable};
	struct hi_image *image = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_stop_and_copy(target, &options, &image, &err), &err);
	return image;
}

static struct hi_image *take(struct hi_target *target, enum hi_snapshot_request how,
			     uint64_t max_image)
{
	return take_image(target, how, max_image, true);
}

/* For one that was taken alike, and is read here; that is destroyed. */
static char *describe_other(struct hi_image *other, const struct hi_image *image)
{
	char *text;

	HI_ASSERT_EQ(image->mode, other->mode);
	other->stats.pause_ns = image->stats.pause_ns;
	other->stats.time_ns = image->stats.time_ns;
	other->stats.monotonic_ns = image->stats.monotonic_ns;
	text = hi_test_describe_image(other);
	hi_image_destroy(other);
	HI_ASSERT(text);
	hi_test_defer(free, text);
	return text;
}

/* The other process keeps it. */
static void expect_same(struct hi_image_reader *reader, struct hi_image *image)
{
	char *expected = hi_test_describe_image(image);

	HI_ASSERT(expected);
	hi_test_defer(free, expected);
	hi_test_same_text(expected, hi_image_reader_send(reader, image));
}

/* A fork that was made later writes to a page of an earlier child. */
static void take_both(struct hi_target *target, enum hi_snapshot_request how,
		      struct hi_image **image_ret, char **expected_ret)
{
	struct hi_image *other = take_image(target, how, 0, false);

	*image_ret = take(target, how, 0);
	*expected_ret = describe_other(other, *image_ret);
}

HI_TEST_SCENARIO(image_send, a_copy_and_a_fork_answer_alike_without_rights)
{
	struct hi_image_reader *reader = hi_image_reader_start();
	struct hi_fixture *fx = start_standing(NULL, NULL);
	struct hi_target *target = hi_live_target(fx->pid);

	for (int i = 0; i < 2; i++) {
		struct hi_image *image;
		char *expected;

		take_both(target, i ? HI_REQUEST_FORK : HI_REQUEST_COPY, &image,
			  &expected);
		HI_ASSERT_EQ(i ? HI_SNAPSHOT_FORK : HI_SNAPSHOT_COPY, image->mode);
		hi_test_same_text(expected, hi_image_reader_send(reader, image));
		hi_image_give_away(image);
		hi_test_same_text(expected, hi_image_reader_again(reader));
		hi_image_reader_close(reader);
		hi_image_destroy(image);
	}
}

HI_TEST_SCENARIO(image_send, an_image_in_place_answers_alike_without_rights)
{
	struct hi_image_reader *reader = hi_image_reader_start();
	struct hi_fixture *fx = start_standing("large", "8");
	struct hi_image *image = take(hi_live_target(fx->pid), HI_REQUEST_FORK, 1u << 20);

	expect_same(reader, image);
	hi_image_give_away(image);
	hi_image_reader_close(reader);
	hi_image_destroy(image);
}

HI_TEST_SCENARIO(image_send, an_image_without_a_stop_answers_alike)
{
	struct hi_image_reader *reader = hi_image_reader_start();
	struct hi_fixture *fx = start_standing(NULL, NULL);
	const struct hi_target *target = hi_live_target(fx->pid);
	struct hi_error err = {};

	for (int i = 0; i < 2; i++) {
		struct hi_image *image = NULL;

		HI_ASSERT_OK(i ? hi_image_unstopped(target, &image, &err)
			       : hi_image_of_files(target, &image, &err),
			     &err);
		expect_same(reader, image);
		hi_image_reader_close(reader);
		hi_image_destroy(image);
	}
}

HI_TEST_SCENARIO(image_send, a_target_answers_alike_and_can_be_polled)
{
	struct hi_image_reader *reader = hi_image_reader_start();
	struct hi_fixture *fx = start_standing(NULL, NULL);
	const struct hi_target *target = hi_live_target(fx->pid);
	char *alive = hi_test_describe_target(target), *gone;

	hi_test_defer(free, alive);
	HI_ASSERT(strstr(alive, "alive 1"));
	hi_test_same_text(alive, hi_image_reader_send_target(reader, target));
	hi_fixture_end(fx);
	gone = hi_test_describe_target(target);
	hi_test_defer(free, gone);
	HI_ASSERT(strstr(gone, "alive 0"));
	HI_ASSERT(strstr(hi_image_reader_send_target(reader, target), "alive 0"));
}

HI_TEST_SCENARIO(image_send, the_other_process_ends_the_child_of_an_image_in_place)
{
	struct hi_image_reader *reader = hi_image_reader_start();
	struct hi_fixture *fx = start_standing("large", "32");
	struct hi_image *image = take(hi_live_target(fx->pid), HI_REQUEST_FORK, 1u << 20);

	HI_ASSERT(strstr(hi_image_reader_send(reader, image), "check: ok"));
	hi_image_give_away(image);
	HI_ASSERT(hi_image_copied_on_write(image) != UINT64_MAX);
	hi_image_reader_close(reader);
	for (int i = 0; i < 500 && hi_image_copied_on_write(image) != UINT64_MAX; i++)
		hi_test_sleep_us(10000);
	HI_ASSERT_EQ(UINT64_MAX, hi_image_copied_on_write(image));
	hi_image_destroy(image);
	/* The fixture and the reader. */
	HI_ASSERT_EQ(2, hi_test_count_children(getpid()));
}

HI_TEST_SCENARIO(image_send, nothing_is_left_when_the_other_process_is_killed)
{
	struct hi_fixture *fx = start_standing("large", "32");
	struct hi_target *target = hi_live_target(fx->pid);
	int children = hi_test_count_children(fx->pid);

	for (int i = 0; i < 2; i++) {
		struct hi_image_reader *reader = hi_image_reader_start();
		struct hi_image *image = take(target, HI_REQUEST_FORK, i ? 1u << 20 : 0);

		HI_ASSERT(strstr(hi_image_reader_send(reader, image), "check: ok"));
		hi_image_give_away(image);
		HI_ASSERT_EQ(0, kill(hi_image_reader_pid(reader), SIGKILL));
		hi_image_destroy(image);
	}
	HI_ASSERT_EQ(children, hi_test_count_children(fx->pid));
	hi_test_expect_children(1);
	hi_test_expect_free(fx->pid, "RS");
}

/* In a process of its own: tells the pid of its reader, which has the image, and waits to
 * be killed. */
static _Noreturn void send_and_wait(pid_t pid, uint64_t max_image, int to)
{
	struct hi_image_reader *reader = hi_image_reader_start();
	pid_t reader_pid = hi_image_reader_pid(reader);
	struct hi_image *image = take(hi_live_target(pid), HI_REQUEST_FORK, max_image);

	(void)hi_image_reader_send(reader, image);
	hi_image_give_away(image);
	(void)!write(to, &reader_pid, sizeof(reader_pid));
	for (;;)
		pause();
}

HI_TEST_SCENARIO(image_send, nothing_is_left_when_the_sender_is_killed)
{
	struct hi_fixture *fx = start_standing("large", "32");
	int ends[2];

	HI_ASSERT_EQ(0, pipe(ends));
	for (int i = 0; i < 2; i++) {
		pid_t reader = 0, sender = fork();

		if (sender == 0)
			send_and_wait(fx->pid, i ? 1u << 20 : 0, ends[1]);
		HI_ASSERT_EQ(sizeof(reader), read(ends[0], &reader, sizeof(reader)));
		HI_ASSERT_EQ(0, kill(sender, SIGKILL));
		HI_ASSERT_EQ(sender, waitpid(sender, NULL, 0));
		for (int j = 0; j < 1000 && (kill(reader, 0) == 0 ||
					     hi_test_count_children(fx->pid) > 1);
		     j++)
			hi_test_sleep_us(10000);
		HI_ASSERT_EQ(-1, kill(reader, 0));
		HI_ASSERT_EQ(1, hi_test_count_children(fx->pid)); /* its own */
	}
	close(ends[0]);
	close(ends[1]);
	hi_test_expect_free(fx->pid, "RS");
}

HI_TEST_SCENARIO(image_send, an_image_that_was_not_made_for_it_is_refused)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY,
					  .max_pause_ns = BUDGET_NS};
	struct hi_fixture *fx = start_standing(NULL, NULL);
	struct hi_image *image = NULL;
	struct hi_error err = {};
	int ends[2];

	HI_ASSERT_OK(hi_stop_and_copy(hi_live_target(fx->pid), &options, &image, &err),
		     &err);
	hi_test_defer(hi_image_destroy, image);
	HI_ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	HI_ASSERT_STATUS(HI_UNSUPPORTED, hi_image_send(image, ends[0], &err));
	/* Nothing was sent. */
	close(ends[0]);
	HI_ASSERT_STATUS(HI_GONE, hi_image_receive(ends[1], NULL, &image, &err));
	close(ends[1]);
}

HI_TEST_SCENARIO(image_send, a_thousand_images_leave_no_descriptor_open)
{
	struct hi_image_reader *reader = hi_image_reader_start();
	struct hi_fixture *fx = start_standing(NULL, NULL);
	struct hi_image *image = take(hi_live_target(fx->pid), HI_REQUEST_COPY, 0);
	int before, after, here;

	hi_test_defer(hi_image_destroy, image);
	hi_image_reader_pass(reader, image);
	before = hi_image_reader_descriptors(reader);
	here = dup(0);
	for (int i = 0; i < 1000; i++)
		hi_image_reader_pass(reader, image);
	after = dup(0);
	HI_ASSERT_EQ(here + 1, after);
	close(here);
	close(after);
	HI_ASSERT_EQ(before, hi_image_reader_descriptors(reader));
}
