/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/live_image.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/frozen_memory.h"
#include "attach/image.h"
#include "attach/image_internal.h"
#include "attach/maps.h"
#include "attach/target.h"
#include "base/alloc.h"
#include "tests/harness.h"

static char *read_all(pid_t pid, const char *what, size_t *n_ret)
{
	size_t capacity = 1 << 16, n = 0;
	char path[64], *text = malloc(capacity);
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_RDONLY);
	HI_ASSERT(fd >= 0 && text);
	while ((got = read(fd, text + n, capacity - n)) > 0) {
		n += (size_t)got;
		if (n == capacity)
			text = realloc(text, capacity *= 2);
		HI_ASSERT(text);
	}
	close(fd);
	*n_ret = n;
	return text;
}

/* Guard pages of stacks in the middle of a mapping (glibc 2.42) stay zeros. */
static bool read_pages(int mem, unsigned char *host, const struct hi_mapping *m)
{
	size_t size = m->end - m->start, n_read = 0;

	for (size_t at = 0; at < size;) {
		ssize_t n = pread(mem, host + at, size - at, (off_t)(m->start + at));

		if (n > 0)
			n_read += (size_t)n;
		at += n > 0 ? (size_t)n : 4096;
	}
	return n_read > 0;
}

static void add_memory(struct hi_frozen *frozen, struct hi_mapping *m, int mem)
{
	size_t size = m->end - m->start;
	unsigned char *host;
	struct hi_error err;

	if (!(m->prot & HI_PROT_WRITE) || m->kind == HI_MAPPING_OTHER)
		if (m->kind != HI_MAPPING_FILE || m->prot != HI_PROT_READ)
			return;
	host = hi_pages_alloc(size);
	HI_ASSERT(host);
	if (!read_pages(mem, host, m)) {
		hi_pages_free(host, size);
		return;
	}
	HI_ASSERT_OK(hi_frozen_own(frozen, host, size, &err), &err);
	HI_ASSERT_OK(hi_frozen_add_span(frozen, m->start, m->end, host, &err), &err);
	m->held = true;
	m->copied = size;
}

static void add_thread(struct hi_image *image, pid_t tid)
{
	struct hi_thread thread = {.tid = tid};
	struct hi_error err;
	int status;

	HI_ASSERT(ptrace(PTRACE_SEIZE, tid, 0, 0) == 0);
	HI_ASSERT(ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0);
	HI_ASSERT(waitpid(tid, &status, __WALL) == tid);
	HI_ASSERT(ptrace(PTRACE_GETREGS, tid, 0, &thread.regs) == 0);
	HI_ASSERT(ptrace(PTRACE_DETACH, tid, 0, 0) == 0);
	HI_ASSERT_OK(hi_image_add_thread(image, &thread, &err), &err);
}

static void add_threads(struct hi_image *image, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	add_thread(image, pid);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	HI_ASSERT(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != pid)
			add_thread(image, atoi(entry->d_name));
	closedir(dir);
}

struct hi_target *hi_live_target(pid_t pid)
{
	struct hi_target *target;
	struct hi_error err;

	HI_ASSERT_OK(hi_target_open(pid, &target, &err), &err);
	hi_test_defer(hi_target_close, target);
	return target;
}

struct hi_image *hi_live_image(pid_t pid)
{
	struct hi_mapping *mappings;
	struct hi_frozen *frozen;
	struct hi_image *image;
	struct hi_error err;
	size_t n, n_mappings;
	char path[64], *text = read_all(pid, "maps", &n), exe[4096];
	ssize_t exe_size;
	int mem;

	HI_ASSERT_OK(hi_maps_parse(text, n, &mappings, &n_mappings, &err), &err);
	free(text);
	HI_ASSERT_OK(hi_frozen_create("live", &frozen, &err), &err);
	HI_ASSERT_OK(
		hi_image_create(hi_frozen_memory(frozen), HI_SNAPSHOT_CORE, &image, &err),
		&err);
	hi_test_defer(hi_image_destroy, image);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY);
	HI_ASSERT(mem >= 0);
	for (size_t i = 0; i < n_mappings; i++) {
		add_memory(frozen, &mappings[i], mem);
		HI_ASSERT_OK(hi_image_add_mapping(image, &mappings[i], &err), &err);
	}
	close(mem);
	HI_ASSERT_OK(hi_frozen_seal(frozen, NULL, 0, &err), &err);
	hi_mappings_free(mappings, n_mappings);
	add_threads(image, pid);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	exe_size = readlink(path, exe, sizeof(exe) - 1);
	HI_ASSERT(exe_size > 0);
	exe[exe_size] = 0;
	free(image->exe);
	image->exe = hi_strdup(exe);
	image->pid = pid;
	text = read_all(pid, "auxv", &n);
	image->auxv = (uint64_t *)text;
	image->n_auxv = n / 16;
	return image;
}
