/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/event_spool.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t usual_limit = 1ull << 30;

/* "." of a name without a directory. */
static void take_directory(char directory[PATH_MAX], const char *file)
{
	const char *slash = strrchr(file, '/');
	size_t n = slash == file ? 1 : slash ? (size_t)(slash - file) : 0;

	snprintf(directory, PATH_MAX, "%.*s", (int)(slash ? n : 1), slash ? file : ".");
}

/* Some file systems (overlayfs of older kernels, FUSE, NFS) have no O_TMPFILE. */
static int open_unlinked_file(const char *directory)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/.heapinspect-events-XXXXXX", directory);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

enum hi_status hi_event_spool_open(const struct hi_options *options,
				   struct hi_kept_events **ret, struct hi_error *err)
{
	uint64_t limit =
		options->series.max_file ? options->series.max_file : usual_limit;
	char directory[PATH_MAX];
	int fd;

	take_directory(directory, options->output.file);
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = open_unlinked_file(directory);
	if (fd < 0)
		return hi_fail_errno(err, "--keep-events: cannot make a file in %.120s",
				     directory);
	return hi_kept_events_create(fd, limit, ret, err);
}
