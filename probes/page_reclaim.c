/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Bits that are cleared by others]
 *
 * Reclaim asks for a page's accessed bit and clears it (folio_referenced, and the walks
 * of the multi-generational LRU). Each way there counts in /proc/vmstat: pages that were
 * scanned (pgscan_*), looked at on the active list (pgrefill), or given back (pgsteal_*);
 * the reclaim was begun by kswapd (pageoutrun) or by an allocation (allocstall_*). The
 * counters are of the whole machine, so that reclaim elsewhere costs evidence, but never
 * makes it false. The multi-generational LRU also clears bits when it makes a new
 * generation, by itself and at the administrator's wish; its file in debugfs has their
 * numbers. It is read beside the stop, since it is long where there are many cgroups.
 *
 * Note [DAMON]
 *
 * Bits that DAMON only looks at are not lost: see Note [Bits that DAMON keeps] in
 * page_tables.c. But its schemes do something with pages, and paging out clears PG_young
 * of each page that it looks at. A scheme whose first filter leaves out anonymous memory
 * does not touch heaps, and of other memory no bit is believed then.
 */
#include "probes/page_reclaim.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "base/cleanup.h"

#define KDAMONDS_MAX 256
#define SCHEMES_MAX 256

enum { VMSTAT_SIZE = 32768 };

static bool is_reclaim_counter(const char *name)
{
	static const char *const prefixes[] = {"pgscan_",    "pgsteal_",
					       "pgrefill",   "pgdeactivate",
					       "allocstall", "pageoutrun"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

uint64_t hi_page_reclaim_parse(const char *text)
{
	bool is_complete = false;
	uint64_t sum = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *blank;

		line += *line == '\n';
		blank = strchr(line, ' ');
		if (!blank || !is_reclaim_counter(line))
			continue;
		sum += strtoull(blank, NULL, 10);
		is_complete |= strncmp(line, "pgscan_kswapd ", 14) == 0;
	}
	return is_complete ? sum : HI_PAGE_RECLAIM_UNKNOWN;
}

uint64_t hi_page_reclaim_read(int fd)
{
	char text[VMSTAT_SIZE];
	size_t size = 0;
	ssize_t n;

	do {
		n = pread(fd, text + size, sizeof(text) - 1 - size, (off_t)size);
		size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && size < sizeof(text) - 1);
	text[size] = 0;
	/* A counter may lie after the bytes that were read. */
	return n == 0 ? hi_page_reclaim_parse(text) : HI_PAGE_RECLAIM_UNKNOWN;
}

uint64_t hi_page_generations_parse(const char *text)
{
	uint64_t sum = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		uint64_t generation, age, anonymous, file;

		line += *line == '\n';
		if (sscanf(line, " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &generation, &age, &anonymous, &file) == 4)
			sum += generation + 1;
	}
	return sum;
}

static bool is_lru_gen_on(const char *sys)
{
	HI_GUARD(fclose) FILE *file = NULL;
	char path[256], text[32] = "";

	snprintf(path, sizeof(path), "%s/kernel/mm/lru_gen/enabled", sys);
	file = fopen(path, "re");
	return file && fgets(text, sizeof(text), file) && strtoul(text, NULL, 0) != 0;
}

static enum hi_status read_generations(const char *sys, uint64_t *ret,
				       struct hi_error *err)
{
	size_t capacity = 0, size;
	HI_GUARD(close) int fd = -1;
	HI_GUARD(free) char *text = NULL;
	char path[256];
	enum hi_status status;

	if (!is_lru_gen_on(sys))
		return HI_OK;
	snprintf(path, sizeof(path), "%s/kernel/debug/lru_gen", sys);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "the multi-generational LRU is on, which clears the "
			       "accessed bits of pages, and %s cannot be read: mount -t "
			       "debugfs debugfs %s/kernel/debug, or write 0 to "
			       "%s/kernel/mm/lru_gen/enabled",
			       path, sys, sys);
	status = hi_proc_read(fd, &text, &capacity, &size, err);
	if (status == HI_OK)
		*ret = hi_page_generations_parse(text);
	return status;
}

/* The first word of a small file; "" if there is none. */
static void read_word(char out[32], const char *dir, const char *name)
{
	HI_GUARD(fclose) FILE *file = NULL;
	char path[320];

	out[0] = 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%31s", out) != 1)
		out[0] = 0;
}

static bool is_word(const char *dir, const char *name, const char *wanted)
{
	char word[32];

	read_word(word, dir, name);
	return strcmp(word, wanted) == 0;
}

/* Older kernels have one list of filters, and none to allow what matches. */
static bool rejects_anonymous(const char *scheme)
{
	static const char *const lists[] = {"ops_filters/0", "filters/0"};
	char dir[300];

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		snprintf(dir, sizeof(dir), "%s/%s", scheme, lists[i]);
		if (is_word(dir, "type", "anon") && is_word(dir, "matching", "Y") &&
		    !is_word(dir, "allow", "Y"))
			return true;
	}
	return false;
}

/* See Note [DAMON]. */
static enum hi_status check_schemes(const char *kdamond, struct hi_error *err)
{
	char dir[240], action[32];

	for (int i = 0; i < SCHEMES_MAX; i++) {
		snprintf(dir, sizeof(dir), "%s/contexts/0/schemes/%d", kdamond, i);
		read_word(action, dir, "action");
		if (!action[0])
			return HI_OK;
		if (strcmp(action, "stat") != 0 && !rejects_anonymous(dir))
			return hi_fail(
				err, HI_UNSUPPORTED, 0,
				"DAMON is on, and its scheme \"%s\" (%s) may clear "
				"the accessed bits of pages",
				action, dir);
	}
	return HI_OK;
}

static enum hi_status check_damon_modules(const char *sys, struct hi_page_clearers *ret,
					  struct hi_error *err)
{
	static const char *const modules[] = {"damon_reclaim", "damon_lru_sort"};
	char dir[200];

	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		snprintf(dir, sizeof(dir), "%s/module/%s/parameters", sys, modules[i]);
		if (is_word(dir, "enabled", "Y"))
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "the kernel's %s is on (%s/enabled) and clears "
				       "the accessed bits of pages",
				       modules[i], dir);
	}
	snprintf(dir, sizeof(dir), "%s/module/damon_stat/parameters", sys);
	ret->uses_young |= is_word(dir, "enabled", "Y");
	return HI_OK;
}

static enum hi_status check_damon(const char *sys, struct hi_page_clearers *ret,
				  struct hi_error *err)
{
	enum hi_status status = check_damon_modules(sys, ret, err);
	char dir[200], state[32];

	for (int i = 0; i < KDAMONDS_MAX && status == HI_OK; i++) {
		snprintf(dir, sizeof(dir), "%s/kernel/mm/damon/admin/kdamonds/%d", sys,
			 i);
		read_word(state, dir, "state");
		if (!state[0])
			break;
		if (strcmp(state, "on") != 0)
			continue;
		ret->uses_young = true;
		status = check_schemes(dir, err);
	}
	return status;
}

enum hi_status hi_page_clearers_look(const char *sys, struct hi_page_clearers *ret,
				     struct hi_error *err)
{
	char path[200];

	*ret = (struct hi_page_clearers){};
	snprintf(path, sizeof(path), "%s/kernel/mm/page_idle/bitmap", sys);
	ret->uses_young = access(path, F_OK) == 0;
	if (check_damon(sys, ret, err) != HI_OK)
		return HI_UNSUPPORTED;
	return read_generations(sys, &ret->generations, err);
}
