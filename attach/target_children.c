/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct children, and how much of their memory is shared. Found by the parent
 * in every process's stat line: /proc/PID/task/TID/children is optional in the
 * kernel, and has one list per thread.
 */
#include <stdlib.h>
#include <string.h>

#include "attach/target.h"
#include "attach/target_internal.h"
#include "base/alloc.h"

#define MAX_CHILDREN 64

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

static void add_target_child(pid_t pid, const struct hi_proc_stat *stat, void *arg)
{
	struct hi_target *target = arg;
	struct hi_target_child *child;

	if (stat->ppid != target->pid || stat->state == 'Z')
		return;
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
	target->children = hi_calloc(MAX_CHILDREN, sizeof(*target->children));
	if (!target->children)
		return hi_fail_memory(err, "children");
	hi_proc_each(add_target_child, target);
	qsort(target->children, target->n_children, sizeof(*target->children),
	      compare_children);
	return HI_OK;
}
