/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct children, and how much of their memory is shared. Found by the parent
 * in every process's stat line: /proc/PID/task/TID/children is optional in the
 * kernel, and has one list per thread.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "attach/target.h"
#include "attach/target_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"

#define MAX_CHILDREN 64

HI_DEFINE_GUARD(DIR *, closedir)

static void measure_child_memory(struct hi_target_child *child)
{
	char text[4096];

	child->rss = child->pss = child->shared = UINT64_MAX;
	if (!hi_proc_read_rollup(child->pid, text, sizeof(text)))
		return;
	child->rss = hi_proc_field_bytes(text, "Rss", UINT64_MAX);
	child->pss = hi_proc_field_bytes(text, "Pss", UINT64_MAX);
	child->shared = hi_proc_field_bytes(text, "Shared_Clean", 0) +
			hi_proc_field_bytes(text, "Shared_Dirty", 0);
}

static void add_target_child(struct hi_target *target, pid_t pid,
			     const struct hi_proc_stat *stat)
{
	struct hi_target_child *child;

	target->n_children_total++;
	if (target->n_children == MAX_CHILDREN)
		return;
	child = &target->children[target->n_children++];
	*child = (struct hi_target_child){.pid = pid};
	memcpy(child->name, stat->name, sizeof(child->name));
	measure_child_memory(child);
}

static int compare_children(const void *a, const void *b)
{
	const struct hi_target_child *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

enum hi_status hi_target_find_children(struct hi_target *target, struct hi_error *err)
{
	DIR *proc HI_GUARD(closedir) = opendir("/proc");
	struct dirent *entry;

	target->children = hi_calloc(MAX_CHILDREN, sizeof(*target->children));
	if (!target->children)
		return hi_fail_memory(err, "children");
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct hi_proc_stat stat;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !hi_proc_stat(pid, &stat) || stat.ppid != target->pid ||
		    stat.state == 'Z')
			continue;
		add_target_child(target, pid, &stat);
	}
	qsort(target->children, target->n_children, sizeof(*target->children),
	      compare_children);
	return HI_OK;
}
