/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops a target, copies it, resumes it. The only code that uses ptrace. The tracer is a
 * process of its own (only the thread that traces may detach), the watchdog another one
 * in its own session: when the budget runs out it kills the tracer, whose death frees the
 * target. Whatever dies, the target runs on in the state that it was in before (a
 * group-stopped one stays stopped).
 *
 * A large target is not copied while it is stopped: it is made to fork (fork.h), and the
 * child is read when the target runs again.
 *
 * Never used on the target: SIGSTOP, single-stepping, debug registers, breakpoints,
 * PTRACE_O_EXITKILL.
 */
#ifndef HI_ATTACH_STOP_H
#define HI_ATTACH_STOP_H

#include "attach/stop_options.h"
#include "attach/target.h"

/*
 * The image of target, with the pause measured, at the trigger if there is one: HI_MISSED
 * when timeout_ns is over first, with nothing stopped. HI_GONE if it exits or execs
 * meanwhile; HI_TIMEOUT if the pause was longer than the budget (the watchdog has ended
 * it, the tracer has given up, or the clock showed it afterwards; the target runs on, and
 * there is no image); HI_NO_MEMORY before anything is stopped if the image would not fit
 * into the free memory, HI_CANNOT_ATTACH with the refusing check.
 */
enum hi_status hi_stop_and_copy(struct hi_target *target,
				const struct hi_stop_options *options,
				struct hi_image **ret, struct hi_error *err);

#endif
