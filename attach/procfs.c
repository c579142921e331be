/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define FIRST_SIZE (64u << 10)
#define MAX_SIZE (1u << 30)
#define MAX_ROLLUP (8ull << 30)

int hi_proc_open(pid_t pid, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool grow_proc_text(char **text, size_t *capacity)
{
	size_t more = *capacity ? *capacity * 2 : FIRST_SIZE;
	char *grown = more > MAX_SIZE ? NULL : hi_realloc(*text, more);

	if (!grown)
		return false;
	*text = grown;
	*capacity = more;
	return true;
}

enum hi_status hi_proc_read(int fd, char **text, size_t *capacity, size_t *size_ret,
			    struct hi_error *err)
{
	size_t used = 0;

	for (;;) {
		ssize_t n;

		if (used + 1 >= *capacity && !grow_proc_text(text, capacity))
			return hi_fail_memory(err, "text of a /proc file");
		n = pread(fd, *text + used, *capacity - used - 1, (off_t)used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ESRCH)
			n = 0;
		if (n < 0)
			return hi_fail_errno(err, "reading a /proc file");
		if (n == 0)
			break;
		used += (size_t)n;
	}
	(*text)[used] = 0;
	*size_ret = used;
	return HI_OK;
}

bool hi_proc_read_small(pid_t pid, const char *name, char *text, size_t size,
			size_t *size_ret)
{
	HI_GUARD(close) int fd = hi_proc_open(pid, name);
	size_t used = 0;

	if (fd < 0)
		return false;
	while (used + 1 < size) {
		ssize_t n = read(fd, text + used, size - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	text[used] = 0;
	if (size_ret)
		*size_ret = used;
	return true;
}

/* The name may hold blanks, parentheses and newlines: it ends at the last ')'. */
bool hi_proc_parse_stat(const char *text, size_t n, struct hi_proc_stat *ret)
{
	const char *open_paren = memchr(text, '(', n),
		   *close_paren = memrchr(text, ')', n);
	struct hi_proc_stat stat = {};
	unsigned long long start, threads;
	unsigned flags;
	size_t length;
	int ppid;

	if (!open_paren || !close_paren || close_paren < open_paren)
		return false;
	length = (size_t)(close_paren - open_paren - 1);
	if (length >= sizeof(stat.name))
		length = sizeof(stat.name) - 1;
	memcpy(stat.name, open_paren + 1, length);
	/* Fields 3 state, 4 ppid, 9 flags, 20 num_threads, 22 starttime, 38 exit_signal.
	 */
	if (sscanf(close_paren + 1,
		   " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		   "%llu %*d %llu %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u "
		   "%*u %*u %d",
		   &stat.state, &ppid, &flags, &threads, &start, &stat.exit_signal) < 5)
		return false;
	stat.ppid = ppid;
	stat.flags = flags;
	stat.n_threads = threads;
	stat.start_time = start;
	*ret = stat;
	return true;
}

bool hi_proc_stat(pid_t pid, struct hi_proc_stat *ret)
{
	char text[1024];
	size_t n;

	return hi_proc_read_small(pid, "stat", text, sizeof(text), &n) &&
	       hi_proc_parse_stat(text, n, ret);
}

void hi_proc_each(void (*fn)(pid_t pid, const struct hi_proc_stat *stat, void *arg),
		  void *arg)
{
	DIR *proc HI_GUARD(closedir) = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct hi_proc_stat stat;

		if (isdigit((unsigned char)entry->d_name[0]) && hi_proc_stat(pid, &stat))
			fn(pid, &stat, arg);
	}
}

const char *hi_proc_field(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (text && *text) {
		if (strncmp(text, key, n) == 0 && text[n] == ':') {
			text += n + 1;
			return text + strspn(text, " \t");
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

uint64_t hi_proc_field_bytes(const char *text, const char *key, uint64_t missing)
{
	const char *value = hi_proc_field(text, key);
	char *end;
	uint64_t kib;

	if (!value)
		return missing;
	kib = strtoull(value, &end, 10);
	return end == value || kib > UINT64_MAX / 1024 ? missing : kib * 1024;
}

bool hi_proc_read_rollup(pid_t pid, char *text, size_t size)
{
	return hi_proc_read_small(pid, "status", text, size, NULL) &&
	       hi_proc_field_bytes(text, "VmRSS", UINT64_MAX) <= MAX_ROLLUP &&
	       hi_proc_read_small(pid, "smaps_rollup", text, size, NULL);
}
