/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/record_series.h"

#include <stdio.h>
#include <string.h>

#include "attach/image_send.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/record/record_begin.h"
#include "cli/record/record_progress.h"
#include "cli/record/signal_relay.h"
#include "session/live/sample_choice.h"
#include "session/series/series.h"
#include "session/series/store.h"

/* For how long the calls are counted that decide whether the recording goes on. */
#define COST_PERIOD_NS (2 * HI_NS_PER_S)

/* What happens between two censuses. */
struct recorded_series {
	struct hi_exit_watch *watch;
	const struct hi_options *options;
	uint64_t counted_ns, counted_calls; /* when the cost was looked at */
	bool gave_up;
	struct hi_recorder *recorder;
	struct hi_record_progress *progress;
	struct hi_error failure; /* of the recording: it has ended */
};

static void note_recorded_series(void *arg, const char *text)
{
	struct recorded_series *s = arg;
	char safe[2048];

	if (s->progress) {
		hi_record_progress_note(s->progress, text);
		return;
	}
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(stderr, "heapinspect: %s\n", safe);
}

static void give_up_recording(struct recorded_series *s, uint64_t calls, uint64_t time_ns)
{
	char text[200], count[32];

	hi_recorder_give_up(s->recorder);
	s->gave_up = true;
	if (s->options->output.quiet)
		return;
	snprintf(text, sizeof(text),
		 "allocations are not followed any more: %s calls a second cost %.0f %% "
		 "of a "
		 "processor (--sample all follows them). No more uses are proved",
		 hi_text_count(count, calls * HI_NS_PER_S / time_ns),
		 100 * hi_sample_probes_cost(calls, time_ns));
	note_recorded_series(s, text);
}

/* There may be more calls than at the start, which decided. */
static void check_cost_of_recording(struct recorded_series *s)
{
	uint64_t now = hi_clock_ns(), time_ns = now - s->counted_ns, calls;

	if (s->options->record.most_cost == 0 || s->gave_up || time_ns < COST_PERIOD_NS)
		return;
	calls = hi_recorder_calls(s->recorder);
	if (s->counted_ns && hi_sample_probes_cost(calls - s->counted_calls, time_ns) >
				     s->options->record.most_cost)
		give_up_recording(s, calls - s->counted_calls, time_ns);
	s->counted_ns = now;
	s->counted_calls = calls;
}

static bool show_recorded_series(void *arg)
{
	struct recorded_series *s = arg;
	struct hi_error why;
	enum hi_status status = hi_recorder_check(s->recorder, &why);

	/* The census of its end is still to come. */
	if (status == HI_GONE && hi_exit_watch_is_standing(s->watch))
		return true;
	if (status != HI_OK) {
		s->failure = why;
		return false;
	}
	check_cost_of_recording(s);
	hi_recorder_lock(s->recorder);
	status = hi_record_progress_show(s->progress, &s->failure);
	hi_recorder_unlock(s->recorder);
	return status == HI_OK;
}

/* ---- keys, which the series asks its sinks for ---- */

static int keys_of_recording(void *sink)
{
	const struct recorded_series *s = sink;

	return hi_record_progress_keys_fd(s->progress);
}

static enum hi_series_wish take_keys_of_recording(void *sink,
						  const struct hi_series_header *header)
{
	struct recorded_series *s = sink;
	bool paused = hi_record_progress_pauses(s->progress);

	(void)header;
	if (hi_record_progress_take_keys(s->progress, &s->failure) != HI_OK)
		return HI_SERIES_WISH_END;
	if (hi_record_progress_is_ended(s->progress))
		return HI_SERIES_WISH_END;
	return hi_record_progress_pauses(s->progress) != paused ? HI_SERIES_WISH_PAUSE
								: HI_SERIES_WISH_NONE;
}

static void leave_keys_of_recording(void *sink)
{
	(void)sink;
}

static const struct hi_series_sink_ops keys_sink_ops = {
	.keys_fd = keys_of_recording,
	.take_keys = take_keys_of_recording,
	.destroy = leave_keys_of_recording,
};

/* ---- marks, at which the totals of the recording are kept ---- */

static enum hi_status mark_recording(void *sink, const struct hi_series_header *header,
				     const struct hi_series_mark_event *event,
				     struct hi_error *err)
{
	const struct recorded_series *s = sink;

	(void)header;
	return hi_recorder_mark(s->recorder, event->text, event->is_era, err);
}

static const struct hi_series_sink_ops marks_sink_ops = {
	.mark = mark_recording,
	.destroy = leave_keys_of_recording,
};

static enum hi_status pause_recorded_series(void *arg, bool is_paused,
					    struct hi_error *err)
{
	const struct recorded_series *s = arg;
	enum hi_status status;

	hi_recorder_lock(s->recorder);
	status = hi_recorder_pause(s->recorder, is_paused, err);
	hi_recorder_unlock(s->recorder);
	return status;
}

/* Eras of bio are of its biographies. */
static bool takes_marks(const struct recorded_series *s)
{
	return s->recorder && s->options->command->id != HI_COMMAND_BIO;
}

/* ---- all of it ---- */

/* The recorder goes on in the process that takes the censuses. */
static enum hi_status run_in_decoder(const struct hi_options *options,
				     const struct hi_run *run, struct hi_series *series,
				     const struct hi_series_sink *sinks, size_t n_sinks,
				     struct hi_output *output, struct hi_outcome *ret,
				     struct hi_error *err)
{
	struct hi_decoder decoder = {};
	enum hi_status status = hi_series_prepare(series, err);

	if (status == HI_OK && hi_decoder_serves_series(options))
		status = hi_decoder_start_series(&decoder, options, run, series, output,
						 err);
	if (status == HI_OK && decoder.pid) {
		ret->code = hi_decoder_wait(&decoder);
		ret->is_of_another = true;
		return HI_OK;
	}
	if (status == HI_OK && run->recorder)
		status = hi_recorder_run(run->recorder, err);
	return status == HI_OK ? hi_series_run(series, sinks, n_sinks, &ret->partial, err)
			       : status;
}

static enum hi_status run_recorded_series(const struct hi_options *options,
					  const struct hi_run *run,
					  const struct hi_series_sink *into,
					  struct recorded_series *s, int stop_fd,
					  struct hi_output *output,
					  struct hi_outcome *ret, struct hi_error *err)
{
	HI_GUARD(hi_series_destroy) struct hi_series *series = NULL;
	const bool is_kept = !into || options->output.file;
	struct hi_series_sink store = {}, sinks[4] = {};
	size_t n_sinks = 0;
	struct hi_series_request request = {
		.options = options,
		.run = run,
		.by = "type",
		.wanted = options->command->wanted_in_series |
			  (is_kept ? HI_SERIES_STORE_WANTED : 0),
		.find_rows = options->command->sample,
		.stop_fd = stop_fd,
		.census_at_end = true,
		.whole_periods = into != NULL,
		.spares_target = into != NULL,
		.tick = s->recorder ? show_recorded_series : NULL,
		.tick_arg = s,
		.pause = takes_marks(s) ? pause_recorded_series : NULL,
		.pause_arg = s,
		.note = note_recorded_series,
		.note_arg = s};
	enum hi_status status = hi_series_create(&request, &series, err);

	if (status == HI_OK && is_kept)
		status = hi_series_store_open(options, run, &store, err);
	/* First: if it cannot be kept, it is nowhere. */
	if (takes_marks(s))
		sinks[n_sinks++] = (struct hi_series_sink){&marks_sink_ops, s};
	if (into)
		sinks[n_sinks++] = *into;
	if (is_kept)
		sinks[n_sinks++] = store;
	if (s->progress)
		sinks[n_sinks++] = (struct hi_series_sink){&keys_sink_ops, s};
	if (status == HI_OK)
		status = run_in_decoder(options, run, series, sinks, n_sinks, output, ret,
					err);
	hi_series_sink_destroy(&store);
	return status;
}

/* The end of the program is no failure: the censuses before it are there. */
static void say_why_it_ended(const struct recorded_series *s)
{
	char text[4 * sizeof(s->failure.text)];

	if (s->failure.status == HI_OK)
		return;
	hi_text_escape(text, sizeof(text), s->failure.text, strlen(s->failure.text));
	fprintf(stderr, "heapinspect: %s; the report is of the last census before that\n",
		text);
}

enum hi_status hi_record_series(const struct hi_options *options, struct hi_run *run,
				const struct hi_series_sink *into,
				struct hi_output *output, struct hi_outcome *ret,
				struct hi_error *err)
{
	HI_GUARD(hi_recorder_close) struct hi_recorder *recorder = NULL;
	HI_GUARD(hi_record_progress_close) struct hi_record_progress *progress = NULL;
	struct hi_record_signals signals = {.fd = -1};
	struct hi_signal_relay relay = {};
	struct recorded_series s = {.options = options, .watch = run->exit_watch};
	bool goes_on = false;
	/* The image of the end is for another process, as those before it. */
	bool sends_images = !options->decoding.no_sandbox && hi_images_can_be_sent();
	enum hi_status status = hi_record_begin(options, sends_images, run->exit_watch,
						&signals, &recorder, &goes_on, err);

	if (status == HI_OK && recorder)
		status = hi_record_progress_open(options, into == NULL, recorder,
						 &progress, err);
	run->recorder = s.recorder = recorder;
	hi_stop_observers_add(&run->observers, hi_recorder_observer(recorder));
	s.progress = progress;
	if (status == HI_OK)
		status = hi_signal_relay_begin(signals.fd, &relay, err);
	if (status == HI_OK)
		status = run_recorded_series(options, run, into, &s, relay.fd, output,
					     ret, err);
	hi_signal_relay_end(&relay);
	hi_record_signals_end(&signals);
	hi_record_progress_close(hi_take(progress));
	hi_stop_observers_remove(&run->observers, hi_recorder_observer(recorder));
	run->recorder = NULL;
	if (status == HI_OK)
		say_why_it_ended(&s);
	return status;
}
