/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"

static void remove_and_free(char *path)
{
	hi_command_run(0, "rm", "-rf", path, NULL);
	free(path);
}

char *temporary_directory(void)
{
	char *path = strdup("/tmp/heapinspect-test-XXXXXX");

	HI_ASSERT(path && mkdtemp(path));
	hi_test_defer(remove_and_free, path);
	return path;
}

char *temporary_file(const void *bytes, size_t size)
{
	char *path = strdup("/tmp/heapinspect-test-XXXXXX");
	int fd = path ? mkstemp(path) : -1;

	HI_ASSERT(fd >= 0);
	hi_test_defer(remove_and_free, path);
	HI_ASSERT(write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	return path;
}

void temporary_path(const char *path)
{
	char *copy = strdup(path);

	HI_ASSERT(copy);
	hi_test_defer(remove_and_free, copy);
}
