/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/process_name.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/command_line.h"
#include "attach/procfs.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/near_names.h"
#include "base/text.h"
#include "base/vector.h"
#include "cli/options/option_take.h"

enum {
	MAX_LISTED = 20,
	PATH_SIZE = 4096,
	LINE_SIZE = 60, /* of a command line */
	COMM_LENGTH = 15,
};

struct process {
	pid_t pid;
	struct hi_proc_stat stat;
	char exe[256];	     /* without directories; "" unknown. All are hostile */
	char *script, *line; /* owned; NULL unknown */
};

struct lookup {
	const char *name;
	struct process_list HI_VECTOR(struct process) found;
	struct process_name_list
	HI_VECTOR(const char *) others; /* names of processes, for near ones */
	struct hi_arena arena;
};

static void free_process(struct process *p)
{
	free(p->script);
	free(p->line);
}

static void free_lookup(struct lookup *l)
{
	for (size_t i = 0; i < l->found.count; i++)
		free_process(&l->found.items[i]);
	hi_vector_free(&l->found);
	hi_vector_free(&l->others);
	hi_arena_free(&l->arena);
}

static const char *without_directories(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void read_exe_name(struct process *p, char path[PATH_SIZE])
{
	static const char deleted[] = " (deleted)";
	char link[64];
	ssize_t n;
	char *end;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)p->pid);
	n = readlink(link, path, PATH_SIZE - 1);
	path[n > 0 ? n : 0] = 0;
	end = strstr(path, deleted);
	if (end && !end[sizeof(deleted) - 1])
		*end = 0;
	/* A file's name has at most 255 bytes. */
	snprintf(p->exe, sizeof(p->exe), "%.255s", without_directories(path));
}

/* False: it is gone, is no program, or has ended. */
static bool read_process(pid_t pid, struct process *ret)
{
	struct process p = {.pid = pid};
	char path[PATH_SIZE], *bytes = hi_alloc(HI_COMMAND_LINE_MAX + 1);
	struct hi_command_line line = {.bytes = bytes};

	if (!bytes || !hi_proc_stat(pid, &p.stat) ||
	    (p.stat.flags & HI_PROC_KERNEL_THREAD) || p.stat.state == 'Z' ||
	    p.stat.state == 'X') {
		free(bytes);
		return false;
	}
	read_exe_name(&p, path);
	if (hi_proc_read_small(pid, "cmdline", bytes, HI_COMMAND_LINE_MAX + 1,
			       &line.size)) {
		p.script = hi_command_line_script(path, &line);
		p.line = hi_command_line_text(&line, false);
	}
	free(bytes);
	*ret = p;
	return true;
}

/* comm is cut by the kernel. */
static bool has_this_name(const struct process *p, const char *name)
{
	size_t n = strlen(name);

	return strcmp(p->stat.name, name) == 0 || strcmp(p->exe, name) == 0 ||
	       (n > COMM_LENGTH && !*p->exe && strlen(p->stat.name) == COMM_LENGTH &&
		strncmp(p->stat.name, name, COMM_LENGTH) == 0) ||
	       (p->script && *p->script &&
		(strcmp(p->script, name) == 0 ||
		 strcmp(without_directories(p->script), name) == 0));
}

static void remember_name(struct lookup *l, const char *name)
{
	const char *copy = name && *name ? hi_arena_strdup(&l->arena, name) : NULL;

	for (size_t i = 0; copy && i < l->others.count; i++)
		if (strcmp(l->others.items[i], copy) == 0)
			return;
	if (copy)
		(void)!hi_vector_push(&l->others, copy);
}

static void look_at_process(struct lookup *l, pid_t pid)
{
	struct process p;

	if (pid == getpid() || !read_process(pid, &p))
		return;
	if (has_this_name(&p, l->name) && hi_vector_push(&l->found, p))
		return;
	remember_name(l, p.stat.name);
	remember_name(l, p.exe);
	remember_name(l, p.script ? without_directories(p.script) : NULL);
	free_process(&p);
}

static void look_at_all(struct lookup *l)
{
	HI_GUARD(closedir) DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			look_at_process(l, pid);
	}
}

/* ---- what is printed ---- */

static const char *near_name(void *arg, uint32_t i)
{
	const struct lookup *l = arg;

	return l->others.items[i];
}

static void report_none(struct lookup *l)
{
	char near[HI_NEAR_TEXT];

	hi_names_near_text(l->name, near_name, l, (uint32_t)l->others.count, near);
	hi_option_wrong("--name %s: no process has this name%s", l->name,
			*near ? near : " (comm, executable or script)");
}

/* Not by getpwuid(), which loads libraries: the portable program has none. */
static const char *user_of_process(pid_t pid, char out[32])
{
	FILE *users = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) == 0) {
		snprintf(out, 32, "%u", (unsigned)st.st_uid);
		while (users && (user = fgetpwent(users)) && user->pw_uid != st.st_uid)
			;
	} else {
		snprintf(out, 32, "?");
	}
	if (user)
		hi_text_escape(out, 32, user->pw_name, strnlen(user->pw_name, 20));
	if (users)
		fclose(users);
	return out;
}

/* Since it was started. */
static const char *age_of(const struct process *p, char out[24])
{
	struct timespec now = {};
	long ticks = sysconf(_SC_CLK_TCK);
	uint64_t started = ticks > 0 ? p->stat.start_time / (uint64_t)ticks : 0, s;

	clock_gettime(CLOCK_BOOTTIME, &now);
	s = (uint64_t)now.tv_sec > started ? (uint64_t)now.tv_sec - started : 0;
	if (s >= 86400)
		snprintf(out, 24, "%llud %lluh", (unsigned long long)(s / 86400),
			 (unsigned long long)(s / 3600 % 24));
	else if (s >= 3600)
		snprintf(out, 24, "%lluh %llum", (unsigned long long)(s / 3600),
			 (unsigned long long)(s / 60 % 60));
	else
		snprintf(out, 24, "%llum %llus", (unsigned long long)(s / 60),
			 (unsigned long long)(s % 60));
	return out;
}

static void report_several(const struct lookup *l)
{
	hi_option_wrong("--name %s: %zu processes have this name; choose one with --pid:",
			l->name, l->found.count);
	fprintf(stderr, "%10s  %-12s  %9s  %s\n", "pid", "user", "age", "command");
	for (size_t i = 0; i < l->found.count && i < MAX_LISTED; i++) {
		const struct process *p = &l->found.items[i];
		const char *line = p->line && *p->line ? p->line : p->stat.name;
		char safe[4 * LINE_SIZE + 8], owner[32], age[24];
		size_t n = strlen(line);

		hi_text_escape(safe, sizeof(safe), line, n < LINE_SIZE ? n : LINE_SIZE);
		fprintf(stderr, "%10d  %-12s  %9s  %s%s\n", (int)p->pid,
			user_of_process(p->pid, owner), age_of(p, age), safe,
			n > LINE_SIZE ? "..." : "");
	}
	if (l->found.count > MAX_LISTED)
		fprintf(stderr, "%10s  %zu more\n", "", l->found.count - MAX_LISTED);
}

pid_t hi_process_by_name(const char *name)
{
	struct lookup l = {.name = name};
	pid_t pid = 0;

	if (!*name) {
		hi_option_wrong("--name: the name is empty");
		return 0;
	}
	look_at_all(&l);
	if (l.found.count == 1)
		pid = l.found.items[0].pid;
	else if (l.found.count == 0)
		report_none(&l);
	else
		report_several(&l);
	free_lookup(&l);
	return pid;
}
