/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/portrait.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"

#define PAGE 4096ull
#define PRESENT (1ull << 63)

struct portrait {
	FILE *out;
	pid_t pid;
	enum hi_portrait_detail detail;
	int memory, pagemap;
};

static FILE *open_file(pid_t pid, const char *name)
{
	char path[320];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "r");
}

static bool starts_with_any(const char *line, const char *const *words)
{
	for (; *words; words++)
		if (strncmp(line, *words, strlen(*words)) == 0)
			return true;
	return false;
}

/* What may be different though nobody has touched it. */
static bool is_left_out(const struct portrait *p, const char *line)
{
	/* SigQ: of all processes of its user. */
	static const char *const always[] = {"voluntary_ctxt", "nonvoluntary_ctxt",
					     "it_value",       "ticks:",
					     "SigQ:",	       NULL};
	/* The page of text with the probe: Linux may leave it to the process as its own,
	 * with the file's bytes, or unmapped. */
	static const char *const probed[] = {
		"VmHWM:", "VmRSS:", "RssFile:", "RssAnon:", "VmPTE:", NULL};
	static const char *const moving[] = {"State:",	 "VmPTE:", "VmHWM:",	 "VmRSS:",
					     "RssAnon:", "Rss:",   "Anonymous:", NULL};

	return starts_with_any(line, always) ||
	       (p->detail != HI_PORTRAIT_STILL && starts_with_any(line, probed)) ||
	       (p->detail == HI_PORTRAIT_MOVING && starts_with_any(line, moving));
}

static void add_file(struct portrait *p, const char *name)
{
	FILE *in = open_file(p->pid, name);
	char line[1024];

	fprintf(p->out, "== %s%s\n", name, in ? "" : " is not there");
	while (in && fgets(line, sizeof(line), in))
		if (!is_left_out(p, line))
			fprintf(p->out, "%s: %s", name, line);
	if (in)
		fclose(in);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return atoi((*a)->d_name) - atoi((*b)->d_name);
}

/* Each entry of a directory below /proc/PID whose name is a number, in order. */
static void for_each(struct portrait *p, const char *directory,
		     void (*fn)(struct portrait *p, const char *name))
{
	struct dirent **entries = NULL;
	char path[64];
	int n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)p->pid, directory);
	n = scandir(path, &entries, NULL, compare_names);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			fn(p, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static void add_descriptor(struct portrait *p, const char *name)
{
	char path[320], target[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)p->pid, name);
	(void)!readlink(path, target, sizeof(target) - 1);
	fprintf(p->out, "fd %s: %s\n", name, target);
	snprintf(path, sizeof(path), "fdinfo/%s", name);
	add_file(p, path);
}

/* Nice value, real-time priority and policy; fields 19, 40, 41 of stat. */
static void add_scheduling(struct portrait *p, const char *name)
{
	char path[64], text[1024] = "", *at;
	FILE *in;

	snprintf(path, sizeof(path), "task/%s/stat", name);
	in = open_file(p->pid, path);
	if (!in)
		return;
	text[fread(text, 1, sizeof(text) - 1, in)] = 0;
	fclose(in);
	at = strrchr(text, ')');
	for (int field = 2; at && field < 41; field++) {
		at = strchr(at + 1, ' ');
		if (at && (field == 18 || field >= 39))
			fprintf(p->out, "thread %s scheduling: %ld\n", name,
				strtol(at, NULL, 10));
	}
}

/* Where it sleeps. Not in which call: an interrupted sleep is gone on with by
 * restart_syscall, which nobody but a tracer sees. */
static void add_stack_pointer(struct portrait *p, const char *name)
{
	char path[64], text[512] = "", *pc, *sp;
	FILE *in;

	snprintf(path, sizeof(path), "task/%s/syscall", name);
	in = open_file(p->pid, path);
	if (!in)
		return;
	text[fread(text, 1, sizeof(text) - 1, in)] = 0;
	fclose(in);
	pc = strrchr(text, ' ');
	if (!pc)
		return;
	*pc++ = 0;
	sp = strrchr(text, ' ');
	fprintf(p->out, "thread %s: sp %s pc %s", name, sp ? sp + 1 : "?", pc);
}

static void add_thread(struct portrait *p, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "task/%s/status", name);
	add_file(p, path);
	snprintf(path, sizeof(path), "task/%s/children", name);
	add_file(p, path);
	add_scheduling(p, name);
	if (p->detail != HI_PORTRAIT_MOVING)
		add_stack_pointer(p, name);
}

/* ---- memory ---- */

static uint64_t sum_of(const unsigned char *bytes, size_t size, uint64_t sum)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, 8);
		sum = (sum ^ word) * 0x100000001b3ull;
	}
	return sum;
}

/* Of the pages that are there: the others must not be touched. */
static void add_contents(struct portrait *p, uint64_t start, uint64_t end)
{
	uint64_t sum = 0xcbf29ce484222325ull, present = 0;
	unsigned char page[PAGE];

	for (uint64_t at = start; at < end; at += PAGE) {
		uint64_t entry = 0;

		if (pread(p->pagemap, &entry, 8, (off_t)(at / PAGE * 8)) != 8)
			return;
		if (!(entry & PRESENT))
			continue;
		present++;
		if (pread(p->memory, page, PAGE, (off_t)at) == PAGE)
			sum = sum_of(page, PAGE, sum ^ at);
	}
	fprintf(p->out, "contents %llx: %llu pages, sum %016llx\n",
		(unsigned long long)start, (unsigned long long)present,
		(unsigned long long)sum);
}

static void add_memory(struct portrait *p)
{
	static const char *const kept[] = {
		"Rss:", "Anonymous:", "Swap:", "Locked:", "VmFlags:", NULL};
	FILE *in = open_file(p->pid, "smaps");
	char line[1024], last[1024] = "";
	unsigned long long start, end;
	bool is_text = false;
	char mode[8];

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%llx-%llx %7s", &start, &end, mode) == 3) {
			snprintf(last, sizeof(last), "%llx", start);
			is_text = mode[2] == 'x';
			fprintf(p->out, "mapping %s", line);
			if (p->detail != HI_PORTRAIT_MOVING && mode[0] == 'r' &&
			    mode[1] == 'w')
				add_contents(p, start, end);
		} else if (starts_with_any(line, kept) && !is_left_out(p, line) &&
			   !(is_text && p->detail == HI_PORTRAIT_PROBED)) {
			fprintf(p->out, "mapping %s %s", last, line);
		}
	}
	if (in)
		fclose(in);
}

char *hi_portrait_take(pid_t pid, enum hi_portrait_detail detail)
{
	static const char *const files[] = {"status",	       "timers",	"limits",
					    "coredump_filter", "oom_score_adj", "cgroup",
					    "personality",     "timerslack_ns", NULL};
	struct portrait p = {.pid = pid, .detail = detail};
	char *text = NULL, path[64];
	struct stat st;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	HI_ASSERT_MSG(stat(path, &st) == 0, "process %d has gone", (int)pid);
	p.out = open_memstream(&text, &size);
	HI_ASSERT(p.out);
	/* The directory belongs to root while the process may not be dumped. */
	fprintf(p.out, "owner %u\n", (unsigned)st.st_uid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	p.memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	p.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	for (int i = 0; files[i]; i++)
		add_file(&p, files[i]);
	for_each(&p, "task", add_thread);
	for_each(&p, "fd", add_descriptor);
	add_memory(&p);
	close(p.memory);
	close(p.pagemap);
	fclose(p.out);
	hi_test_defer(free, text);
	return text;
}

void hi_portrait_expect_same(const char *before, const char *after)
{
	while (*before || *after) {
		size_t a = strcspn(before, "\n"), b = strcspn(after, "\n");

		if (a != b || memcmp(before, after, a) != 0)
			hi_test_fail(
				__FILE__, __LINE__,
				"it is not as it was:\n  before: %.*s\n  after:  %.*s",
				(int)a, before, (int)b, after);
		before += a + (before[a] != 0);
		after += b + (after[b] != 0);
	}
}

/* ---- text ---- */

struct text_look {
	size_t compared, changed;
	char first[400]; /* the first change; "": none */
};

static void compare_page(struct text_look *look, const char *path, uint64_t offset,
			 const unsigned char *ours, const unsigned char *theirs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ours[i] == theirs[i])
			continue;
		if (look->changed++ == 0)
			snprintf(look->first, sizeof(look->first),
				 "%.300s, offset 0x%llx: 0x%02x in the file, 0x%02x in "
				 "memory",
				 path, (unsigned long long)offset + i, ours[i],
				 theirs[i]);
	}
	look->compared += n;
}

static void compare_text(struct text_look *look, int memory, const char *path,
			 uint64_t start, uint64_t end, uint64_t offset)
{
	unsigned char ours[PAGE], theirs[PAGE];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	for (uint64_t at = start; fd >= 0 && at < end; at += PAGE, offset += PAGE) {
		ssize_t n = pread(fd, ours, PAGE, (off_t)offset);

		if (n > 0 && pread(memory, theirs, PAGE, (off_t)at) == PAGE)
			compare_page(look, path, offset, ours, theirs, (size_t)n);
	}
	if (fd >= 0)
		close(fd);
}

static struct text_look look_at_text(pid_t pid)
{
	FILE *maps = open_file(pid, "maps");
	unsigned long long start, end, offset;
	char line[1024], mode[8], path[512];
	struct text_look look = {};
	int memory;

	HI_ASSERT_MSG(maps, "process %d has gone", (int)pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %511s", &start, &end, mode,
			   &offset, path) == 5 &&
		    mode[2] == 'x' && path[0] == '/')
			compare_text(&look, memory, path, start, end, offset);
	close(memory);
	fclose(maps);
	HI_ASSERT(look.compared > 0);
	return look;
}

size_t hi_text_expect_whole(pid_t pid)
{
	struct text_look look = look_at_text(pid);

	HI_ASSERT_MSG(look.changed == 0, "%s", look.first);
	return look.compared;
}

size_t hi_text_changed(pid_t pid)
{
	return look_at_text(pid).changed;
}
