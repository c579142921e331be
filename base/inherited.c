/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/inherited.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vector.h"

struct shared_part {
	uintptr_t start, end;
};
struct shared_parts HI_VECTOR(struct shared_part);
struct descriptors HI_VECTOR(int);

static bool has_start(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Read-only, it may be of a file that others may write to, or be made writable. Files
 * that are opened for reading (the cache of gconv) are not. */
static bool is_shared_part(const char *line, struct shared_part *ret)
{
	char permissions[8] = "";
	int path = 0;

	if (sscanf(line, "%zx-%zx %7s %*s %*s %*s %n", &ret->start, &ret->end,
		   permissions, &path) < 3 ||
	    permissions[3] != 's')
		return false;
	return permissions[1] == 'w' || has_start(line + path, "/dev/zero") ||
	       has_start(line + path, "/memfd:") || has_start(line + path, "anon_inode:");
}

static bool list_shared_parts(struct shared_parts *parts)
{
	HI_GUARD(fclose) FILE *maps = fopen("/proc/self/maps", "re");
	HI_GUARD(free) char *line = NULL;
	struct shared_part part;
	size_t size = 0;

	while (maps && getline(&line, &size, maps) > 0)
		if (is_shared_part(line, &part) && !hi_vector_push(parts, part))
			return false;
	return maps != NULL;
}

static bool is_kernel_descriptor(int directory, const char *name, int socket)
{
	int fd = (int)strtol(name, NULL, 10);
	char link[64] = "";

	if (fd <= STDERR_FILENO || fd == socket || fd == directory ||
	    readlinkat(directory, name, link, sizeof(link) - 1) < 0)
		return false;
	return has_start(link, "socket:") ||
	       (has_start(link, "anon_inode:") && !strstr(link, "[userfaultfd]"));
}

static bool list_descriptors(struct descriptors *fds, int socket)
{
	HI_GUARD(closedir) DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (is_kernel_descriptor(dirfd(directory), entry->d_name, socket) &&
		    !hi_vector_push(fds, (int)strtol(entry->d_name, NULL, 10)))
			return false;
	return directory != NULL;
}

enum hi_status hi_inherited_drop(const void *keep, int socket, struct hi_error *err)
{
	struct shared_parts parts = {};
	struct descriptors fds = {};
	bool done = list_shared_parts(&parts) && list_descriptors(&fds, socket);

	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].start != (uintptr_t)keep)
			(void)munmap((void *)parts.items[i].start,
				     parts.items[i].end - parts.items[i].start);
	for (size_t i = 0; i < fds.count; i++)
		close(fds.items[i]);
	hi_vector_free(&parts);
	hi_vector_free(&fds);
	return done ? HI_OK : hi_fail_errno(err, "what a process inherits");
}
