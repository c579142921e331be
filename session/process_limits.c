/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/process_limits.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"

enum {
	TEXT = 16384, /* bytes of a file that are read */
	GROUP = 2048, /* of a control group's path */
	DEPTH = 64,   /* groups above each other */
};
/* What version 1 has for no limit: the largest number of pages. */
static const uint64_t unlimited = 1ull << 62;

/* ---- files ---- */

/* A small file as a string; false: it cannot be read. */
static bool read_limit_text(const char *path, char out[TEXT])
{
	int fd = hi_files_open(path);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	while (n < TEXT - 1 && (got = read(fd, out + n, TEXT - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	out[n] = 0;
	return n > 0;
}

static bool read_proc_text(const char *root, pid_t pid, const char *name, char out[TEXT])
{
	char path[4096];

	snprintf(path, sizeof(path), "%.2000s/proc/%d/%s", root, (int)pid, name);
	return read_limit_text(path, out);
}

/* Returns what follows the key at the begin of a line; NULL: there is none. */
static const char *find_line_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (text && strncmp(text, key, n) != 0)
		text = (text = strchr(text, '\n')) ? text + 1 : NULL;
	return text ? text + n : NULL;
}

/* UINT64_MAX: there is none, or it is "max". */
static uint64_t number_at_text(const char *text)
{
	unsigned long long number;

	return text && sscanf(text, "%llu", &number) == 1 ? number : UINT64_MAX;
}

/* ---- candidates ---- */

static void consider_limit(struct hi_report_limit *best, enum hi_limit_kind kind,
			   uint64_t most, uint64_t used)
{
	const struct hi_report_limit limit = {kind, most, used};

	if (most >= unlimited || used == UINT64_MAX)
		return;
	if (best->kind == HI_LIMIT_UNKNOWN || hi_limit_room(&limit) < hi_limit_room(best))
		*best = limit;
}

struct group_files {
	enum hi_limit_kind kind;
	const char *mount, *most, *used, *idle;
};

static bool read_group_text(const char *root, const struct group_files *files,
			    const char *group, const char *name, char out[TEXT])
{
	char path[8192];

	snprintf(path, sizeof(path), "%.2000s%s%s/%s", root, files->mount, group, name);
	return read_limit_text(path, out);
}

static void consider_group(const char *root, const struct group_files *files,
			   const char *group, struct hi_report_limit *best)
{
	uint64_t most, used, idle;
	char text[TEXT];

	if (!read_group_text(root, files, group, files->most, text))
		return;
	most = number_at_text(text);
	if (most >= unlimited || !read_group_text(root, files, group, files->used, text))
		return;
	used = number_at_text(text);
	idle = read_group_text(root, files, group, "memory.stat", text)
		       ? number_at_text(find_line_of(text, files->idle))
		       : UINT64_MAX;
	if (idle < used)
		used -= idle;
	consider_limit(best, files->kind, most, used);
}

/* From the group up to the root of what can be seen. */
static void consider_groups(const char *root, const struct group_files *files,
			    const char *line, struct hi_report_limit *best)
{
	char group[GROUP];
	size_t n = strcspn(line, "\n");

	/* A group that is not below what can be seen has "..". */
	if (*line != '/' || n >= sizeof(group))
		return;
	memcpy(group, line, n);
	group[n] = 0;
	if (strstr(group, "/.."))
		return;
	for (unsigned depth = 0; depth < DEPTH; depth++) {
		char *slash = strrchr(group, '/');

		if (strcmp(group, "/") == 0)
			*group = 0;
		consider_group(root, files, group, best);
		if (!*group || !slash)
			return;
		*slash = 0;
	}
}

/* Returns the path in the line of version 1's memory controller, "5:cpu,memory:/path";
 * NULL: there is none. */
static const char *find_memory_controller(const char *text)
{
	for (const char *line = text; line && *line;) {
		const char *list = strchr(line, ':');
		const char *path = list ? strchr(list + 1, ':') : NULL;
		const char *end = strchr(line, '\n');
		size_t n = path ? (size_t)(path - list) : 0;
		char words[256];

		if (path && (!end || path < end) && n < sizeof(words) - 1) {
			/* ":cpu,memory" and a comma. */
			snprintf(words, sizeof(words), "%.*s,", (int)n, list);
			words[0] = ',';
			if (strstr(words, ",memory,"))
				return path + 1;
		}
		line = end ? end + 1 : NULL;
	}
	return NULL;
}

static void consider_control_groups(const char *root, pid_t pid,
				    struct hi_report_limit *best)
{
	static const struct group_files second = {HI_LIMIT_CGROUP, "/sys/fs/cgroup",
						  "memory.max", "memory.current",
						  "inactive_file "};
	static const struct group_files first = {
		HI_LIMIT_CGROUP_V1, "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
		"memory.usage_in_bytes", "total_inactive_file "};
	const char *line;
	char text[TEXT];

	if (!read_proc_text(root, pid, "cgroup", text))
		return;
	if ((line = find_line_of(text, "0::")))
		consider_groups(root, &second, line, best);
	if ((line = find_memory_controller(text)))
		consider_groups(root, &first, line, best);
}

static void consider_address_space(const char *root, pid_t pid,
				   struct hi_report_limit *best)
{
	uint64_t most, pages;
	char text[TEXT];

	if (!read_proc_text(root, pid, "limits", text))
		return;
	most = number_at_text(find_line_of(text, "Max address space"));
	if (most >= unlimited || !read_proc_text(root, pid, "statm", text))
		return;
	pages = number_at_text(text);
	if (pages < unlimited)
		consider_limit(best, HI_LIMIT_ADDRESS_SPACE, most,
			       pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

static void consider_machine(const char *root, struct hi_report_limit *best)
{
	uint64_t all, available;
	char path[4096], text[TEXT];

	snprintf(path, sizeof(path), "%.2000s/proc/meminfo", root);
	if (!read_limit_text(path, text))
		return;
	all = number_at_text(find_line_of(text, "MemTotal:"));
	available = number_at_text(find_line_of(text, "MemAvailable:"));
	if (all < unlimited >> 10 && available <= all)
		consider_limit(best, HI_LIMIT_MACHINE, all << 10,
			       (all - available) << 10);
}

struct hi_report_limit hi_process_limit(const char *root, pid_t pid)
{
	struct hi_report_limit best = {};

	consider_control_groups(root, pid, &best);
	consider_address_space(root, pid, &best);
	consider_machine(root, &best);
	return best;
}
