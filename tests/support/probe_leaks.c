/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/probe_leaks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "tests/harness.h"

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
	for (int wait = 0; wait < 500; wait++) {
		probe_text_read(pid, at, now);
		if (memcmp(now, wanted, PROBE_TEXT) == 0)
			return;
		usleep(10000);
	}
	HI_ASSERT_MSG(false, "a breakpoint stayed");
}
