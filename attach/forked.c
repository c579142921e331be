/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/forked.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/procfs.h"

struct forked_search {
	const pid_t *parents;
	size_t n_parents;
	struct hi_forked_process *found;
	size_t n, size;
};

/* False also where the kernel does not tell. */
static bool share_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

static void take_forked(pid_t pid, const struct hi_proc_stat *stat, void *arg)
{
	struct forked_search *s = arg;
	size_t i = 0;

	while (i < s->n_parents && s->parents[i] != stat->ppid)
		i++;
	/* An image of a heap ends without a signal: see fork_program.c. */
	if (i == s->n_parents || s->n == s->size || stat->state == 'Z' ||
	    stat->state == 'X' || !stat->exit_signal || share_memory(pid, stat->ppid))
		return;
	s->found[s->n++] = (struct hi_forked_process){
		.pid = pid, .parent = stat->ppid, .start_time = stat->start_time};
}

size_t hi_forked_find(const pid_t *parents, size_t n, struct hi_forked_process *ret,
		      size_t size)
{
	struct forked_search s = {
		.parents = parents, .n_parents = n, .found = ret, .size = size};

	hi_proc_each(take_forked, &s);
	return s.n;
}
