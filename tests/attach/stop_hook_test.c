/* SPDX-License-Identifier: BSD-2-Clause */
/* Work of a caller while the target stands. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/stop.h"
#include "base/clock.h"
#include "tests/harness.h"
#include "tests/support/stopping.h"

struct seen {
	unsigned calls, threads, standing; /* at the last call */
	bool pipe_open, other_open, torn;
	uint64_t left_ns;
	pid_t pid, target;
	int pipe, other; /* both ends of one pipe */
	ino_t inode;
	bool hangs, dies;
};

static void look_at_thread(struct seen *seen, const char *tid)
{
	char path[300], line[512] = "";
	const char *paren;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)seen->target, tid);
	file = fopen(path, "r");
	if (!file)
		return;
	seen->threads++;
	if (fgets(line, sizeof(line), file)) {
		paren = strrchr(line, ')');
		seen->standing += paren && paren[2] == 't';
	}
	fclose(file);
}

/* The tracer may have opened something else under this number. */
static bool is_open_as(int fd, ino_t inode)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == inode;
}

static void look_around(void *arg, const struct hi_stop_moment *moment)
{
	struct seen *seen = arg;
	uint64_t now_ns = hi_clock_ns();
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	seen->calls++;
	seen->pid = getpid();
	seen->pipe_open = is_open_as(seen->pipe, seen->inode);
	seen->other_open = is_open_as(seen->other, seen->inode);
	seen->torn = moment->is_torn(moment);
	seen->left_ns = moment->deadline_ns > now_ns ? moment->deadline_ns - now_ns : 0;
	seen->threads = seen->standing = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)seen->target);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			look_at_thread(seen, entry->d_name);
	if (tasks)
		closedir(tasks);
	if (seen->dies)
		raise(SIGKILL);
	while (seen->hangs)
		usleep(1000);
}

struct scene {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct seen *seen;
	struct hi_stop_hook hook;
	struct hi_stop_options options;
	int ends[2];
};

static void close_scene(struct scene *scene)
{
	hi_target_close(scene->target);
	munmap(scene->seen, sizeof(*scene->seen));
	close(scene->ends[0]);
	close(scene->ends[1]);
	free(scene);
}

static struct scene *start_scene(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct hi_error err;
	struct stat st;

	HI_ASSERT(scene);
	scene->seen = mmap(NULL, sizeof(*scene->seen), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	HI_ASSERT(scene->seen != MAP_FAILED && pipe(scene->ends) == 0);
	hi_test_defer(close_scene, scene);
	scene->fx = hi_fixture_start("referenced_pages", "64", "5", NULL);
	hi_fixture_read_until(scene->fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(scene->fx->pid, &scene->target, &err), &err);
	scene->seen->target = scene->fx->pid;
	scene->seen->pipe = scene->ends[0];
	scene->seen->other = scene->ends[1];
	HI_ASSERT(fstat(scene->ends[0], &st) == 0);
	scene->seen->inode = st.st_ino;
	scene->hook = (struct hi_stop_hook){
		.run = look_around, .arg = scene->seen, .fds = scene->ends, .n_fds = 1};
	scene->options = (struct hi_stop_options){.hook = &scene->hook,
						  .max_pause_ns = HI_TEST_PATIENCE_NS};
	return scene;
}

static void expect_answer(const struct scene *scene)
{
	hi_test_expect_free(scene->fx->pid, "SR");
	hi_fixture_tell(scene->fx, "rw");
	hi_fixture_read_until(scene->fx, "done", NULL, NULL);
}

HI_TEST_SCENARIO(stop_hook, runs_once_while_all_threads_stand)
{
	struct scene *scene = start_scene();

	for (int mode = HI_REQUEST_COPY; mode <= HI_REQUEST_FORK; mode++) {
		struct hi_image *image = NULL;
		struct hi_error err;

		scene->options.snapshot = mode;
		HI_ASSERT_OK(
			hi_stop_and_copy(scene->target, &scene->options, &image, &err),
			&err);
		HI_ASSERT_STREQ("", image->stats.not_forked);
		hi_image_destroy(image);
		HI_ASSERT_EQ(mode == HI_REQUEST_COPY ? 1 : 2, scene->seen->calls);
		HI_ASSERT_EQ(5, scene->seen->threads);
		HI_ASSERT_EQ(5, scene->seen->standing);
		HI_ASSERT(scene->seen->pid != getpid());
		HI_ASSERT(scene->seen->pipe_open && !scene->seen->other_open);
		HI_ASSERT(!scene->seen->torn);
		HI_ASSERT(scene->seen->left_ns > 0 &&
			  scene->seen->left_ns < HI_TEST_PATIENCE_NS / 2);
	}
	expect_answer(scene);
}

static void count_call(void *arg, const struct hi_stop_moment *moment)
{
	struct seen *seen = arg;

	(void)moment;
	/* After the other one, and with its own descriptor, too. */
	seen->calls = 10 * seen->calls + 1;
	seen->other_open = is_open_as(seen->other, seen->inode);
}

HI_TEST_SCENARIO(stop_hook, hook_is_followed_by_the_next_one)
{
	struct scene *scene = start_scene();
	struct hi_stop_hook second = {.run = count_call,
				      .arg = scene->seen,
				      .fds = scene->ends + 1,
				      .n_fds = 1};
	struct hi_image *image = NULL;
	struct hi_error err;

	scene->hook.next = &second;
	HI_ASSERT_OK(hi_stop_and_copy(scene->target, &scene->options, &image, &err),
		     &err);
	hi_image_destroy(image);
	HI_ASSERT_EQ(11, scene->seen->calls);
	HI_ASSERT(scene->seen->pipe_open && scene->seen->other_open);
	expect_answer(scene);
}

/* In the second stop, too: the first may have been delayed by a busy machine. */
HI_TEST_SCENARIO(stop_hook, that_hangs_is_ended_with_the_pause)
{
	struct scene *scene = start_scene();
	struct hi_image *image = NULL;
	struct hi_error err;

	scene->seen->hangs = true;
	scene->options.max_pause_ns = 300000000;
	HI_ASSERT_STATUS(HI_TIMEOUT,
			 hi_stop_and_copy(scene->target, &scene->options, &image, &err));
	HI_ASSERT_EQ(2, scene->seen->calls);
	expect_answer(scene);
}

HI_TEST_SCENARIO(stop_hook, that_dies_lets_the_target_go)
{
	struct scene *scene = start_scene();
	struct hi_image *image = NULL;
	struct hi_error err;

	scene->seen->dies = true;
	HI_ASSERT_STATUS(HI_OS,
			 hi_stop_and_copy(scene->target, &scene->options, &image, &err));
	HI_ASSERT_EQ(1, scene->seen->calls);
	expect_answer(scene);
}
