/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/smaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/procfs.h"
#include "base/cleanup.h"

static bool has_flag(const char *line, const char *flag)
{
	char wanted[8];

	snprintf(wanted, sizeof(wanted), " %s", flag);
	return strncmp(line, "VmFlags:", 8) == 0 && strstr(line, wanted);
}

/* The first line of a mapping. Others begin like a number too ("Anonymous:"). */
static bool is_mapping_header(const char *line, struct hi_page_run *mapping)
{
	unsigned long long start, end;

	if (sscanf(line, "%llx-%llx ", &start, &end) != 2)
		return false;
	mapping->start = start;
	mapping->end = end;
	return true;
}

enum hi_status hi_smaps_find(pid_t pid, const char *flag, struct hi_page_runs *runs,
			     struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_proc_open(pid, "smaps");
	char *text HI_GUARD(free) = NULL, *save = NULL;
	struct hi_page_run mapping = {.flags = 1};
	size_t capacity = 0, n;
	enum hi_status status;

	if (fd < 0)
		return HI_OK;
	status = hi_proc_read(fd, &text, &capacity, &n, err);
	if (status != HI_OK)
		return status;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!is_mapping_header(line, &mapping) && has_flag(line, flag) &&
		    !hi_vector_push(runs, mapping))
			return hi_fail_memory(err, "flags of mappings");
	}
	return HI_OK;
}

/* Field "Key:  N kB" in pages, added to *pages; its key includes the colon. */
static void add_smaps_field(const char *line, const char *key, uint64_t *pages)
{
	size_t n = strlen(key);
	unsigned long long kib;

	if (strncmp(line, key, n) == 0 && sscanf(line + n, "%llu", &kib) == 1 &&
	    *pages != UINT64_MAX)
		*pages += kib / 4;
}

/*
 * Pages of huge page filesystems have counters of their own. Mappings of a driver or a
 * DAX filesystem (pf, mm) have pages that are not counted.
 */
static void read_size_line(const char *line, struct hi_smaps_size *size)
{
	add_smaps_field(line, "Rss:", &size->resident);
	add_smaps_field(line, "Shared_Hugetlb:", &size->resident);
	add_smaps_field(line, "Private_Hugetlb:", &size->resident);
	add_smaps_field(line, "Swap:", &size->swapped);
	if (has_flag(line, "pf") || has_flag(line, "mm"))
		size->resident = size->swapped = UINT64_MAX;
}

enum hi_status hi_smaps_parse_sizes(char *text, struct hi_smaps_sizes *sizes,
				    struct hi_error *err)
{
	struct hi_page_run mapping;
	char *save = NULL;

	sizes->count = 0;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!is_mapping_header(line, &mapping)) {
			if (sizes->count)
				read_size_line(line, &sizes->items[sizes->count - 1]);
			continue;
		}
		if (!hi_vector_push(sizes, (struct hi_smaps_size){.start = mapping.start,
								  .end = mapping.end}))
			return hi_fail_memory(err, "sizes of mappings");
	}
	return HI_OK;
}

enum hi_status hi_smaps_read_sizes(pid_t pid, struct hi_smaps_sizes *sizes,
				   struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_proc_open(pid, "smaps");
	char *text HI_GUARD(free) = NULL;
	size_t capacity = 0, n;
	enum hi_status status;

	sizes->count = 0;
	if (fd < 0)
		return HI_OK;
	status = hi_proc_read(fd, &text, &capacity, &n, err);
	return status == HI_OK ? hi_smaps_parse_sizes(text, sizes, err) : status;
}
