/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/workshop.h"

static const char url[] = "http://127.0.0.1:1234/0123456789abcdef0123456789abcdef/";

static void unset_runtime(void *arg)
{
	(void)arg;
	unsetenv("XDG_RUNTIME_DIR");
}

/* Locks of this test are in a directory of its own. */
static const char *open_runtime(void)
{
	const char *path = workshop_open();

	HI_ASSERT(setenv("XDG_RUNTIME_DIR", path, 1) == 0);
	hi_test_defer(unset_runtime, NULL);
	return path;
}

static bool touch_fine(const char *text)
{
	return strcmp(text, url) == 0;
}

static bool exists(const char *runtime, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/heapinspect/%s", runtime, name);
	return access(path, F_OK) == 0;
}

static struct hi_server_lock take_lock(const char *name)
{
	struct hi_server_lock lock;
	struct hi_server_found found;
	struct hi_error err;

	HI_ASSERT_OK(hi_server_lock_take(name, touch_fine, &lock, &found, &err), &err);
	return lock;
}

/* In a fork, which must not go on with other tests. */
static struct hi_server_lock take_lock_or_exit(const char *name)
{
	struct hi_server_lock lock;
	struct hi_server_found found;

	if (hi_server_lock_take(name, touch_fine, &lock, &found, NULL) != HI_OK ||
	    lock.fd < 0)
		_exit(1);
	return lock;
}

HI_TEST(server_lock, the_second_finds_the_url_of_the_first)
{
	const char *runtime = open_runtime();
	struct hi_server_lock first = take_lock("a"), second;
	struct hi_server_found found;
	struct hi_error err;

	HI_ASSERT(first.fd >= 0);
	HI_ASSERT_OK(hi_server_lock_publish(&first, url, &err), &err);
	HI_ASSERT_OK(hi_server_lock_take("a", touch_fine, &second, &found, &err), &err);
	HI_ASSERT(second.fd < 0);
	HI_ASSERT_STREQ(url, found.url);
	HI_ASSERT_EQ(getpid(), found.pid);
	hi_server_lock_release(&second);
	HI_ASSERT(exists(runtime, "a"));
	hi_server_lock_release(&first);
	HI_ASSERT(!exists(runtime, "a"));
}

HI_TEST(server_lock, names_do_not_disturb_each_other)
{
	struct hi_server_lock a, b;

	open_runtime();
	a = take_lock("a");
	b = take_lock("b");
	HI_ASSERT(a.fd >= 0 && b.fd >= 0);
	hi_server_lock_release(&a);
	hi_server_lock_release(&b);
}

HI_TEST(server_lock, of_a_killed_process_is_taken_over)
{
	struct hi_server_lock lock;
	struct hi_error err;
	pid_t pid;
	int status;

	open_runtime();
	pid = fork();
	if (pid == 0) {
		lock = take_lock_or_exit("a");
		_exit(hi_server_lock_publish(&lock, url, &err) != HI_OK);
	}
	HI_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
	lock = take_lock("a");
	HI_ASSERT(lock.fd >= 0);
	hi_server_lock_release(&lock);
}

HI_TEST(server_lock, is_not_given_up_while_somebody_looks)
{
	const char *runtime = open_runtime();
	struct hi_server_lock lock = take_lock("a");
	char path[512];
	int want;

	snprintf(path, sizeof(path), "%s/heapinspect/want", runtime);
	want = open(path, O_RDWR | O_CLOEXEC);
	HI_ASSERT(want >= 0 && flock(want, LOCK_SH) == 0);
	HI_ASSERT(!hi_server_lock_give_up(&lock));
	HI_ASSERT(exists(runtime, "a"));
	close(want);
	HI_ASSERT(hi_server_lock_give_up(&lock));
	HI_ASSERT(!exists(runtime, "a"));
	hi_server_lock_release(&lock); /* once more is fine */
}

HI_TEST(server_lock, one_more_name_is_taken_unless_another_has_it)
{
	const char *runtime = open_runtime();
	struct hi_server_lock a = take_lock("a"), b = take_lock("b"), c;

	HI_ASSERT(!hi_server_lock_also(&a, "b", &c));
	HI_ASSERT(hi_server_lock_also(&a, "c", &c));
	HI_ASSERT(exists(runtime, "c"));
	hi_server_lock_release(&a);
	hi_server_lock_release(&b);
	hi_server_lock_release(&c);
}

HI_TEST(server_lock, is_private)
{
	const char *runtime = open_runtime();
	struct hi_server_lock lock = take_lock("a");
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/heapinspect", runtime);
	HI_ASSERT(stat(path, &st) == 0);
	HI_ASSERT_EQ(0700, st.st_mode & 07777);
	snprintf(path, sizeof(path), "%s/heapinspect/a", runtime);
	HI_ASSERT(stat(path, &st) == 0);
	HI_ASSERT_EQ(0600, st.st_mode & 07777);
	hi_server_lock_release(&lock);
}

HI_TEST(server_lock, a_directory_that_others_may_change_is_refused)
{
	const char *runtime = open_runtime();
	struct hi_server_lock lock;
	struct hi_server_found found;
	struct hi_error err;
	char path[512];

	snprintf(path, sizeof(path), "%s/heapinspect", runtime);
	HI_ASSERT(mkdir(path, 0700) == 0 && chmod(path, 0770) == 0);
	HI_ASSERT_STATUS(HI_USAGE,
			 hi_server_lock_take("a", touch_fine, &lock, &found, &err));
	HI_ASSERT(rmdir(path) == 0 && symlink("/tmp", path) == 0);
	HI_ASSERT_STATUS(HI_OS,
			 hi_server_lock_take("a", touch_fine, &lock, &found, &err));
}

/* Takes the lock so many times, and holds it alone; the exit status of a fork. */
static int come_and_go(const char *inside, int rounds)
{
	for (int round = 0; round < rounds;) {
		struct hi_server_lock lock;
		struct hi_server_found found;

		if (hi_server_lock_take("a", touch_fine, &lock, &found, NULL) != HI_OK)
			return 1;
		if (lock.fd < 0) {
			hi_server_lock_release(&lock);
			continue;
		}
		round++;
		if (mkdir(inside, 0700) != 0 || usleep(100) != 0 || rmdir(inside) != 0 ||
		    hi_server_lock_publish(&lock, url, NULL) != HI_OK)
			return 2;
		if (round % 2 == 0 || !hi_server_lock_give_up(&lock))
			hi_server_lock_release(&lock);
		usleep(1000);
	}
	return 0;
}

/* Never two at once. */
HI_TEST_SCENARIO(server_lock, is_held_by_one_of_many_that_come_and_go)
{
	enum { PROCESSES = 20, ROUNDS = 20 };
	const char *runtime = open_runtime();
	char inside[512];
	pid_t pids[PROCESSES];

	snprintf(inside, sizeof(inside), "%s/inside", runtime);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(come_and_go(inside, ROUNDS));
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		HI_ASSERT(waitpid(pids[i], &status, 0) == pids[i]);
		HI_ASSERT_EQ(0, status);
	}
}
