/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of a process that is gone, against what was written to it. */
#include "attach/memory_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/maps.h"
#include "attach/maps_query.h"
#include "attach/procfs.h"
#include "tests/harness.h"

static const char words[] = "what the process wrote";

/* Its number of execs is set by the test. */
static uint32_t *execs;

static uint32_t count_execs(const struct hi_exit_log *log)
{
	(void)log;
	return __atomic_load_n(execs, __ATOMIC_ACQUIRE);
}

static const struct hi_exit_log_ops log_ops = {.execs = count_execs};
static const struct hi_exit_log exit_log = {.ops = &log_ops};

static char *memory; /* of the child */

static pid_t start_child(void)
{
	pid_t pid;

	execs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	HI_ASSERT(execs != MAP_FAILED && memory != MAP_FAILED);
	memcpy(memory, words, sizeof(words));
	pid = fork();
	HI_ASSERT(pid >= 0);
	while (pid == 0)
		pause();
	return pid;
}

static void end_child(pid_t pid)
{
	HI_ASSERT_EQ(0, kill(pid, SIGKILL));
	HI_ASSERT_EQ(pid, waitpid(pid, NULL, 0));
}

static bool has_words(int fd)
{
	char seen[sizeof(words)] = "";

	return pread(fd, seen, sizeof(seen), (off_t)(uintptr_t)memory) == sizeof(seen) &&
	       memcmp(seen, words, sizeof(words)) == 0;
}

static struct hi_memory_keeper *start_keeper(int fd)
{
	struct hi_memory_keeper *keeper = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(
		hi_memory_keeper_start(fd, (uintptr_t)memory, &exit_log, &keeper, &err),
		&err);
	return keeper;
}

HI_TEST_ROOT(memory_keeper, keeps_the_memory_of_a_process_that_is_gone)
{
	pid_t pid = start_child();
	int fd = hi_proc_open(pid, "mem");
	struct hi_memory_keeper *keeper = start_keeper(fd);

	HI_ASSERT(has_words(fd));
	end_child(pid);
	HI_ASSERT_EQ(-1, kill(pid, 0));
	HI_ASSERT(has_words(fd));
	hi_memory_keeper_end(keeper);
	HI_ASSERT(!has_words(fd));
	close(fd);
}

/* So that a program that execs does not have two memories. */
HI_TEST_ROOT(memory_keeper, frees_the_memory_after_an_exec)
{
	pid_t pid = start_child();
	int fd = hi_proc_open(pid, "mem");
	struct hi_memory_keeper *keeper = start_keeper(fd);
	struct pollfd end = {.fd = hi_memory_keeper_fd(keeper), .events = POLLIN};

	__atomic_store_n(execs, 1, __ATOMIC_RELEASE);
	HI_ASSERT_EQ(1, poll(&end, 1, 60000));
	end_child(pid);
	HI_ASSERT(!has_words(fd));
	hi_memory_keeper_end(keeper);
	close(fd);
}

HI_TEST_ROOT(memory_keeper, start_fails_where_memory_cannot_be_read)
{
	pid_t pid = start_child();
	int fd = hi_proc_open(pid, "mem");
	struct hi_memory_keeper *keeper = NULL;
	struct hi_error err = {};

	HI_ASSERT_EQ(HI_UNSUPPORTED,
		     hi_memory_keeper_start(fd, 0, &exit_log, &keeper, &err));
	HI_ASSERT(!keeper);
	end_child(pid);
	close(fd);
}

/* ---- its mappings ---- */

static struct hi_mapping *parse_mappings(const char *text, size_t size, size_t *n_ret)
{
	struct hi_mapping *mappings = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_maps_parse(text, size, &mappings, n_ret, &err), &err);
	return mappings;
}

/* The text has a page of the kernel beside them. */
static void check_same_mappings(const struct hi_mapping *a, size_t n_a,
				const struct hi_mapping *b, size_t n_b)
{
	HI_ASSERT(n_a > 5);
	HI_ASSERT(n_b == n_a || strcmp(b[n_b - 1].path, "[vsyscall]") == 0);
	for (size_t i = 0; i < n_a; i++) {
		HI_ASSERT_EQ(b[i].start, a[i].start);
		HI_ASSERT_EQ(b[i].end, a[i].end);
		HI_ASSERT_EQ(b[i].prot, a[i].prot);
		HI_ASSERT_EQ(b[i].shared, a[i].shared);
		HI_ASSERT_EQ(b[i].file_offset, a[i].file_offset);
		HI_ASSERT_EQ(b[i].inode, a[i].inode);
		HI_ASSERT_EQ(b[i].dev_major, a[i].dev_major);
		HI_ASSERT_EQ(b[i].dev_minor, a[i].dev_minor);
		HI_ASSERT_EQ(b[i].kind, a[i].kind);
		HI_ASSERT_STREQ(b[i].path, a[i].path);
	}
}

HI_TEST_ROOT(memory_keeper, the_mappings_of_a_process_that_is_gone_are_those_it_had)
{
	pid_t pid = start_child();
	int fd = hi_proc_open(pid, "mem"), maps = hi_proc_open(pid, "maps");
	struct hi_memory_keeper *keeper = start_keeper(fd);
	char *before = NULL, *after = NULL;
	size_t capacity[2] = {}, size[2] = {}, n[2];
	struct hi_mapping *had, *has;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_maps_query_check(maps, &err), &err);
	HI_ASSERT_OK(hi_proc_read(maps, &before, &capacity[0], &size[0], &err), &err);
	end_child(pid);
	HI_ASSERT_OK(hi_maps_query(maps, &after, &capacity[1], &size[1], &err), &err);
	had = parse_mappings(before, size[0], &n[0]);
	has = parse_mappings(after, size[1], &n[1]);
	check_same_mappings(has, n[1], had, n[0]);
	hi_memory_keeper_end(keeper);
	HI_ASSERT_EQ(HI_GONE, hi_maps_query(maps, &after, &capacity[1], &size[1], &err));
	hi_mappings_free(had, n[0]);
	hi_mappings_free(has, n[1]);
	free(before);
	free(after);
	close(maps);
	close(fd);
}
