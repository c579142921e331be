/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/freeze.h"

#include <stdio.h>

#include "attach/core.h"
#include "attach/stop.h"
#include "base/text.h"

static enum hi_status freeze_process(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_options *o = in->options;
	struct hi_stop_options stop = {.max_pause_ns = o->max_pause_ns,
				       .with_swap = o->swap,
				       .threads = o->threads,
				       .best_effort_priority = true};
	struct hi_error quiet;
	enum hi_status status = hi_target_open(o->pid, &in->target, err);

	if (status != HI_OK)
		return status;
	/* Without it threads may stand inside malloc: worse, but no reason to fail. */
	if (hi_allocator_text(in->target, &in->allocator_text, &in->n_allocator_text,
			      &quiet) == HI_OK) {
		stop.avoid = in->allocator_text;
		stop.n_avoid = in->n_allocator_text;
	} else {
		hi_inspect_warn(in,
				"the allocator's code was not found (%s): threads may be "
				"stopped inside it",
				quiet.text);
	}
	hi_inspect_phase(in, "stopping and copying");
	status = hi_stop_and_copy(in->target, &stop, &in->image, err);
	in->resumed = hi_moment_now(o->pid);
	return status;
}

enum hi_status hi_freeze(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_core_options core = {.exe = in->options->exe};

	if (in->options->pid)
		return freeze_process(in, err);
	return hi_core_open(in->options->core, &core, &in->image, err);
}

void hi_freeze_say(const struct hi_inspection *in)
{
	char pause[24], bytes[24];

	if (in->options->quiet || !in->target)
		return;
	fprintf(stderr, "heapinspect: pid %d was paused for %s (%s copied)\n",
		(int)in->options->pid, hi_text_duration(pause, in->image->stats.pause_ns),
		hi_text_bytes(bytes, in->image->stats.bytes_copied));
}
