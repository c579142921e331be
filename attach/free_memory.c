/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/free_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/procfs.h"
#include "base/cleanup.h"

#define MAX_DEPTH 64

/* Names of the same three figures in cgroup v2 and v1; inactive NULL: there is none. */
struct names {
	const char *controller; /* v1 only: also where it is mounted */
	const char *limit, *usage, *inactive;
};
static const struct names memory_v2 = {"", "memory.max", "memory.current",
				       "inactive_file "};
static const struct names memory_v1 = {"memory", "memory.limit_in_bytes",
				       "memory.usage_in_bytes", "total_inactive_file "};
static const struct names pids_v2 = {"", "pids.max", "pids.current", NULL};
static const struct names pids_v1 = {"pids", "pids.max", "pids.current", NULL};

static bool read_text(const char *path, char *text, size_t size)
{
	FILE *f HI_GUARD(fclose) = fopen(path, "re");
	size_t n;

	if (!f)
		return false;
	n = fread(text, 1, size - 1, f);
	text[n] = 0;
	return n > 0;
}

static bool read_number(const char *directory, const char *name, uint64_t *ret)
{
	char path[4096], text[64], *end;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (!read_text(path, text, sizeof(text)))
		return false;
	*ret = strtoull(text, &end, 10); /* "max" has no digit */
	return end > text;
}

static uint64_t read_inactive(const char *directory, const char *key)
{
	char path[4096], text[8192];

	snprintf(path, sizeof(path), "%s/memory.stat", directory);
	if (!read_text(path, text, sizeof(text)))
		return 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) == 0)
			return strtoull(line + strlen(key), NULL, 10);
	}
	return 0;
}

static uint64_t left_in(const char *directory, const struct names *names)
{
	uint64_t limit, usage, inactive;

	if (!read_number(directory, names->limit, &limit) ||
	    !read_number(directory, names->usage, &usage))
		return UINT64_MAX;
	inactive = names->inactive ? read_inactive(directory, names->inactive) : 0;
	usage -= inactive < usage ? inactive : usage;
	return limit > usage ? limit - usage : 0;
}

/* The group and all above it, up to the root of the hierarchy. */
static uint64_t left_in_all(const char *root, const char *group,
			    const struct names *names)
{
	size_t base = strlen(root);
	uint64_t least = UINT64_MAX;
	char path[2048];

	if ((size_t)snprintf(path, sizeof(path), "%s%s", root, group) >= sizeof(path))
		return UINT64_MAX;
	for (int i = 0; i < MAX_DEPTH; i++) {
		uint64_t left = left_in(path, names);
		char *slash = strrchr(path + base, '/');

		if (left < least)
			least = left;
		if (!slash)
			break;
		*slash = 0;
	}
	return least;
}

/* Lines of /proc/PID/cgroup: "0::/path" is v2, "4:memory:/path" is v1. */
static uint64_t left_by_cgroups(const char *proc, const char *who, const char *cgroup,
				const struct names *v2, const struct names *v1)
{
	char path[4096], text[8192], root[1024], *save = NULL;
	uint64_t least = UINT64_MAX, left;

	snprintf(path, sizeof(path), "%s/%s/cgroup", proc, who);
	if (!read_text(path, text, sizeof(text)))
		return UINT64_MAX;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = 0;
		controllers++;
		if (!*controllers) {
			left = left_in_all(cgroup, group, v2);
		} else if (strstr(controllers, v1->controller)) {
			snprintf(root, sizeof(root), "%s/%s", cgroup, v1->controller);
			left = left_in_all(root, group, v1);
		} else {
			continue;
		}
		if (left < least)
			least = left;
	}
	return least;
}

uint64_t hi_memory_available_to(const char *proc, const char *who, const char *cgroup)
{
	uint64_t free_bytes = UINT64_MAX;
	uint64_t left = left_by_cgroups(proc, who, cgroup, &memory_v2, &memory_v1);
	char path[4096], text[8192];

	snprintf(path, sizeof(path), "%s/meminfo", proc);
	if (read_text(path, text, sizeof(text)))
		free_bytes = hi_proc_field_bytes(text, "MemAvailable", UINT64_MAX);
	return free_bytes < left ? free_bytes : left;
}

uint64_t hi_memory_available(const char *proc, const char *cgroup)
{
	return hi_memory_available_to(proc, "self", cgroup);
}

uint64_t hi_pids_available_to(const char *proc, const char *who, const char *cgroup)
{
	return left_by_cgroups(proc, who, cgroup, &pids_v2, &pids_v1);
}
