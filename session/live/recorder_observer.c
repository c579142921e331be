/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording observes stops: the part of recorder.h that inspections call. */
#include "session/inspection.h"
#include "session/live/recorder.h"

/* Each recorder begins with its observer. */
static struct hi_recorder *recorder_of(struct hi_stop_observer *observer)
{
	return (struct hi_recorder *)observer;
}

struct hi_stop_observer *hi_recorder_observer(struct hi_recorder *recorder)
{
	return (struct hi_stop_observer *)recorder;
}

/* A function that is followed returns through a page of the kernel: a thread that stands
 * there has its block, and its event was not made yet. A thread inside pymalloc may leave
 * a pool inconsistent. */
static void avoid_recorded(const struct hi_recorder *recorder, struct hi_inspection *in)
{
	const struct hi_range *ranges;
	struct hi_range page;
	size_t n = 0;

	ranges = hi_recorder_avoided(recorder, &n);
	for (size_t i = 0; i < n; i++)
		hi_inspection_avoid(in, &ranges[i]);
	if (hi_recorder_return_page(recorder, &page))
		hi_inspection_avoid(in, &page);
}

static bool is_in_series(const struct hi_inspection *in)
{
	return in->run->census_cache != NULL;
}

static void hold_recording(struct hi_stop_observer *observer, struct hi_inspection *in,
			   struct hi_stop_options *stop)
{
	struct hi_recorder *recorder = recorder_of(observer);

	if (stop && !in->stop.is_of_gone)
		avoid_recorded(recorder, in);
	/* So that nothing is taken that happens between the stop and its time. */
	if (is_in_series(in) && !in->run->sends_images)
		hi_recorder_hold(recorder);
}

/* Where images are sent, the events are of the process that receives them. */
static enum hi_status take_events_of_period(struct hi_stop_observer *observer,
					    struct hi_inspection *in,
					    struct hi_error *err)
{
	const struct hi_image_stats *stats = &in->image->stats;
	struct hi_recorder *recorder = recorder_of(observer);

	if (in->run->sends_images)
		return HI_OK;
	hi_recorder_stood(recorder, stats->monotonic_ns, stats->pause_ns);
	return is_in_series(in) ? hi_recorder_advance(recorder, stats->monotonic_ns, err)
				: hi_recorder_finish(recorder, stats->monotonic_ns, err);
}

static void release_recording(struct hi_stop_observer *observer)
{
	hi_recorder_release(recorder_of(observer));
}

/* The target was killed while it was recorded: the events are there, and the files of its
 * code. */
static enum hi_status take_lost_process(struct hi_stop_observer *observer,
					struct hi_inspection *in, struct hi_error *err)
{
	struct hi_recorder *recorder = recorder_of(observer);
	enum hi_status status;

	if (!hi_recorder_is_lost(recorder) || is_in_series(in) ||
	    hi_exit_watch_is_standing(in->run->exit_watch))
		return HI_NOT_FOUND;
	status = hi_recorder_take_lost(recorder, &in->stop.target, &in->image, err);
	if (status == HI_OK)
		hi_inspect_warn(in, "the process was killed, and its heap is gone: what "
				    "is known is of the events of the recording");
	return status;
}

static void close_recorder(struct hi_stop_observer *observer)
{
	hi_recorder_close(recorder_of(observer));
}

const struct hi_stop_observer_ops hi_recorder_observer_ops = {
	.name = "recorder",
	.before_stop = hold_recording,
	.census = take_events_of_period,
	.end_census = release_recording,
	.replace_stop = take_lost_process,
	.close = close_recorder,
};
