/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/probe_leaks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"

enum { LOG_SIZE = 4 << 20, READ_ALL = 3 };

size_t probe_leaks_count(const char *owner)
{
	char *log = calloc(1, LOG_SIZE + 1), *save = NULL;
	size_t n = 0;

	HI_ASSERT(log && klogctl(READ_ALL, log, LOG_SIZE) >= 0);
	for (char *line = strtok_r(log, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		n += strstr(line, "leaking uprobe") &&
		     (strstr(line, owner) || strstr(line, "hi-probes"));
	free(log);
	return n;
}

void probe_text_read(pid_t pid, uint64_t at, uint8_t ret[PROBE_TEXT])
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	HI_ASSERT(fd >= 0 && pread(fd, ret, PROBE_TEXT, (off_t)at) == PROBE_TEXT);
	close(fd);
}

void probe_text_expect(pid_t pid, uint64_t at, const uint8_t wanted[PROBE_TEXT])
{
	uint8_t now[PROBE_TEXT];

	/* The kernel takes a breakpoint out behind the death of the last owner. */
	for (int wait = 0; wait < 3000; wait++) {
		probe_text_read(pid, at, now);
		if (memcmp(now, wanted, PROBE_TEXT) == 0)
			return;
		usleep(10000);
	}
	HI_ASSERT_MSG(false, "a breakpoint stayed");
}

static void remove_file(void *path)
{
	unlink(path);
	free(path);
}

const char *probe_own_copy(const char *fixture)
{
	char command[512], *path = malloc(64);

	HI_ASSERT(path);
	snprintf(path, 64, "/tmp/hi-probed-%d", (int)getpid());
	snprintf(command, sizeof(command), "cp " HI_FIXTURE_DIR "/%s %s", fixture, path);
	hi_test_defer(remove_file, path);
	HI_ASSERT_EQ(0, system(command));
	return path;
}

static size_t add_children(pid_t pid, pid_t *ret, size_t n, size_t max)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	while (file && n < max && fscanf(file, "%d", &ret[n]) == 1)
		n++;
	if (file)
		fclose(file);
	return n;
}

size_t probe_family_find(pid_t pid, pid_t ret[PROBE_FAMILY])
{
	size_t n = add_children(pid, ret, 0, PROBE_FAMILY - 1);

	for (size_t i = 0; i < n; i++)
		n = add_children(ret[i], ret, n, PROBE_FAMILY - 1);
	ret[n] = pid;
	return n + 1;
}

/* What was killed may still be in a call of the kernel. */
static void await_end(pid_t pid)
{
	for (int i = 0; kill(pid, 0) == 0 && hi_process_state(pid) != 'Z'; i++) {
		HI_ASSERT(i < 10000);
		usleep(1000);
	}
}

void probe_family_kill(const pid_t *family, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kill(family[i], SIGKILL);
	for (size_t i = 0; i < n; i++)
		await_end(family[i]);
	HI_ASSERT_EQ(family[n - 1], waitpid(family[n - 1], NULL, 0));
}
