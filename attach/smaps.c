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
static bool is_head(const char *line, struct hi_page_run *mapping)
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
		if (!is_head(line, &mapping) && has_flag(line, flag) &&
		    !hi_vector_push(runs, mapping))
			return hi_fail_memory(err, "flags of mappings");
	}
	return HI_OK;
}
