/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/exit_keep.h"

#include <elf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach/copy_internal.h"
#include "attach/free_memory.h"
#include "attach/maps_query.h"
#include "attach/restart_syscalls.h"
#include "attach/tracer_process.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define LOOK_NS HI_NS_PER_S /* between two looks at what only the kernel has */
#define LOOK_SHARE 200	    /* of the time that such a look takes */

HI_DEFINE_GUARD(struct hi_exit_keep *, hi_exit_keep_end)

static bool has_news(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};

	return poll(&end, 1, 0) > 0;
}

/* ---- the begin ---- */

/* A process that replaces it at once needs memory while this one's is still kept: where
 * there is none for both, it is not to be replaced before the image was made. */
static enum hi_status check_room(const struct hi_target *target, struct hi_error *err)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%d", (int)target->pid);
	if (hi_memory_available_to("/proc", pid, "/sys/fs/cgroup") >= target->rss)
		return HI_OK;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "there is not the free memory for its heap beside that of a "
		       "process that replaces it");
}

static enum hi_status check_kept_target(const struct hi_exit_keep *keep,
					struct hi_error *err)
{
	enum hi_status status = hi_maps_query_check(keep->target->priv->maps_fd, err);

	if (status == HI_OK && keep->copy->filled_later.count)
		status = hi_fail(err, HI_UNSUPPORTED, 0,
				 "it fills pages itself (userfaultfd)");
	return status == HI_OK ? check_room(keep->target, err) : status;
}

static void forget_program(struct hi_exit_keep *keep)
{
	hi_exit_keep_free_memory(keep);
	hi_copy_destroy(hi_take(keep->copy));
	hi_target_close(hi_take(keep->target));
}

static enum hi_status keep_program(struct hi_exit_keep *keep, pid_t pid,
				   struct hi_error *err)
{
	enum hi_status status = hi_target_open(pid, &keep->target, err);

	keep->execs = keep->log->ops->execs(keep->log);
	if (status == HI_OK)
		status = hi_copy_estimate(keep->target, &keep->options, &keep->copy, err);
	if (status == HI_OK)
		status = check_kept_target(keep, err);
	if (status == HI_OK)
		status = hi_memory_keeper_start(
			keep->target->priv->mem_fd,
			hi_tracer_auxv_value(keep->target->priv->proc_pid, AT_RANDOM),
			keep->log, &keep->keeper, err);
	return status;
}

enum hi_status hi_exit_keep_begin(pid_t pid, const struct hi_stop_options *options,
				  struct hi_exit_log *log, struct hi_exit_keep **ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_exit_keep_end)
	struct hi_exit_keep *keep = hi_calloc(1, sizeof(*keep));
	enum hi_status status;

	if (!keep) {
		log->ops->close(log);
		return hi_fail_memory(err, "watch of an exit");
	}
	keep->log = log;
	keep->options = *options;
	status = keep_program(keep, pid, err);
	if (status == HI_OK)
		*ret = hi_take(keep);
	return status;
}

/* ---- looks ---- */

/* Words that only the kernel has go with the process, so they are read now and then. */
static void look_at_kernel_words(struct hi_exit_keep *keep)
{
	uint64_t now_ns = hi_clock_ns(), cost_ns;

	if (now_ns < keep->look_ns)
		return;
	hi_kernel_text_read(&keep->copy->kernel, keep->copy->own.pid);
	cost_ns = hi_clock_ns() - now_ns;
	keep->look_ns = now_ns + LOOK_NS + LOOK_SHARE * cost_ns;
}

/* Another program has another memory. */
static void follow_exec(struct hi_exit_keep *keep)
{
	pid_t pid = keep->target->pid;
	struct hi_error ignored;

	if (keep->log->ops->execs(keep->log) == keep->execs)
		return;
	forget_program(keep);
	(void)!keep_program(keep, pid, &ignored);
}

static bool take_threads(struct hi_exit_keep *keep)
{
	struct hi_error ignored;
	int sig = 0;

	if (keep->log->ops->threads(keep->log, &keep->threads, &keep->n_threads, &sig,
				    &ignored) != HI_OK)
		return false;
	for (size_t i = 0; i < keep->n_threads; i++)
		hi_restart_predict(&keep->threads[i].regs);
	return sig != SIGKILL;
}

bool hi_exit_keep_look(struct hi_exit_keep *keep, bool *is_lost_ret)
{
	*is_lost_ret = false;
	if (keep->threads)
		return true;
	if (keep->target && hi_target_is_alive(keep->target)) {
		follow_exec(keep);
		if (keep->copy)
			look_at_kernel_words(keep);
		return false;
	}
	if (keep->keeper && !has_news(hi_memory_keeper_fd(keep->keeper)) &&
	    take_threads(keep))
		return true;
	*is_lost_ret = true;
	hi_exit_keep_free_memory(keep);
	return false;
}

void hi_exit_keep_free_memory(struct hi_exit_keep *keep)
{
	hi_memory_keeper_end(hi_take(keep->keeper));
}

void hi_exit_keep_end(struct hi_exit_keep *keep)
{
	if (!keep)
		return;
	forget_program(keep);
	if (keep->log)
		keep->log->ops->close(keep->log);
	free(keep->threads);
	free(keep);
}
