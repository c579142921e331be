/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stop: fork the tracer (before the memory for the copy is reserved, so
 * that the fork does not have to share it), reserve, stop, copy, resume.
 */
#include "attach/stop.h"

#include "attach/copy.h"
#include "attach/tracer.h"
#include "attach/tracer_process.h"
#include "base/cleanup.h"
#include "base/text.h"

HI_DEFINE_GUARD(struct hi_tracer *, hi_tracer_destroy)
HI_DEFINE_GUARD(struct hi_copy *, hi_copy_destroy)

/* The target stands only inside this function. */
static enum hi_status stop_and_copy(struct hi_tracer *tracer, struct hi_copy *copy,
				    struct hi_tracer_stop *stop, uint64_t *pause_ns_ret,
				    struct hi_error *err)
{
	enum hi_status status = hi_tracer_stop(tracer, stop, err), resumed;
	uint64_t resumed_ns;
	struct hi_error second;

	if (status != HI_OK)
		return status;
	hi_copy_guard(copy, hi_tracer_fd(tracer));
	status = hi_copy_run(copy, err);
	resumed = hi_tracer_resume(tracer, &resumed_ns, &second);
	/* Why the stop ended early explains a failed copy better than itself. */
	if (resumed != HI_OK) {
		if (err)
			*err = second;
		return resumed;
	}
	*pause_ns_ret = resumed_ns - stop->stopped_ns;
	return status;
}

/*
 * The watchdog ends a pause that is too long, but may be late itself, and a
 * short budget may be over between two of its instructions. A budget that holds
 * by luck is none: what counts is the clock.
 */
static enum hi_status check_pause(const struct hi_target *target,
				  const struct hi_stop_options *options,
				  uint64_t pause_ns, struct hi_error *err)
{
	uint64_t budget_ns = hi_stop_budget_ns(options);
	char pause[24], budget[24];

	if (pause_ns <= budget_ns)
		return HI_OK;
	return hi_fail(err, HI_TIMEOUT, 0,
		       "process %d: it stood for %s and the pause budget is %s; it runs "
		       "on, unharmed",
		       (int)target->pid, hi_text_duration(pause, pause_ns),
		       hi_text_duration(budget, budget_ns));
}

enum hi_status hi_stop_and_copy(struct hi_target *target,
				const struct hi_stop_options *options,
				struct hi_image **ret, struct hi_error *err)
{
	HI_GUARD(hi_tracer_destroy) struct hi_tracer *tracer = NULL;
	HI_GUARD(hi_copy_destroy) struct hi_copy *copy = NULL;
	struct hi_tracer_stop stop;
	struct hi_image *image;
	enum hi_status status;
	uint64_t pause_ns;

	status = hi_tracer_start(target, options, &tracer, err);
	if (status == HI_OK)
		status = hi_copy_prepare(target, options, &copy, err);
	if (status == HI_OK)
		status = stop_and_copy(tracer, copy, &stop, &pause_ns, err);
	if (status == HI_OK)
		status = check_pause(target, options, pause_ns, err);
	if (status == HI_OK)
		status = hi_copy_finish(hi_take(copy), stop.threads, stop.n_threads,
					&image, err);
	if (status != HI_OK)
		return status;
	image->stats.pause_ns = pause_ns;
	image->stats.threads_in_allocator = stop.threads_in_allocator;
	image->stats.trigger = stop.trigger;
	*ret = image;
	return HI_OK;
}
