/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/freeze.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "attach/core.h"
#include "attach/exit_watch.h"
#include "attach/stop.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/text.h"
#include "session/census_cache.h"
#include "session/live/keeper_client.h"
#include "session/live/live_roots.h"
#include "session/live/symbols.h"
#include "session/user.h"

void hi_freeze_waiting_text(const struct hi_stop_site *place, char out[HI_FREEZE_WAITING])
{
	const char *why = hi_probe_why_no_bpf(place->probe);
	char text[HI_STOP_SITE_TEXT];
	bool stepped = false;

	for (size_t i = 0; i < place->sites.count; i++)
		stepped |= place->sites.items[i].single_stepped;
	snprintf(out, HI_FREEZE_WAITING, "waiting for %s%s%s%s%s; ^C ends it",
		 hi_stop_site_text(place, text),
		 stepped ? " (single-stepped: a hit costs 15 to 30 us in a virtual "
			   "machine)"
			 : "",
		 *why ? " (" : "", why, *why ? ": the stop is near that place)" : "");
}

/* The probe of a series waits again; else there is one for this stop. */
static enum hi_status open_freeze_stop_site(struct hi_inspection *in,
					    struct hi_error *err)
{
	const struct hi_safepoint *safepoint = &in->options->safepoint.at;
	struct hi_stop_site **at =
		in->run->census_cache ? &in->run->census_cache->site : &in->stop.own_site;
	char text[HI_FREEZE_WAITING];
	enum hi_status status = HI_OK;

	if (!hi_safepoint_asked(&in->options->safepoint))
		return HI_OK;
	if (*at && !hi_stop_site_is_mapped(*at, in->stop.target))
		hi_stop_site_close(hi_take(*at));
	if (!*at)
		status = hi_stop_site_open(in->options, safepoint, at, err);
	if (status != HI_OK)
		return status;
	in->stop.site = *at;
	hi_freeze_waiting_text(in->stop.site, text);
	if (!hi_inspection_is_quiet(in))
		hi_user_tell(text);
	return HI_OK;
}

static void find_allocator_text(struct hi_inspection *in)
{
	struct hi_error quiet;
	enum hi_status status;

	if (in->options->decoding.no_sandbox)
		status = hi_allocator_text(in->stop.target, &in->stop.allocator_text,
					   &in->stop.n_allocator_text, &quiet);
	else
		status = hi_symbols_allocator(in->stop.target, &in->stop.allocator_text,
					      &in->stop.n_allocator_text, &quiet);

	/* Without it threads may stand inside malloc: worse, but no reason to fail. */
	if (status != HI_OK)
		hi_inspect_warn(in,
				"the allocator's code was not found (%s): threads may be "
				"stopped inside it",
				quiet.text);
}

/* The process of the inspection may have got the processor much later, and a forked child
 * has been read by then. But the pause may be that of a stop before, and the time of the
 * image is one within the pause. */
static struct hi_timestamp find_resumption(const struct hi_inspection *in)
{
	struct hi_timestamp at = hi_timestamp_now(in->options->target.pid);

	if (in->image && in->image->stats.monotonic_ns)
		at.wall_ns = hi_min(at.wall_ns, in->image->stats.monotonic_ns +
							in->image->stats.pause_ns);
	return at;
}

static enum hi_status stop_there(struct hi_inspection *in, struct hi_stop_options *stop,
				 struct hi_error *err)
{
	enum hi_status status;

	if (in->stop.site) {
		stop->trigger = hi_probe_trigger(in->stop.site->probe);
		stop->timeout_ns = hi_inspection_site_timeout_ns(in);
		stop->interrupt_fd =
			in->run->census_cache ? in->run->census_cache->interrupt_fd : 0;
		hi_stop_site_begin(in->stop.site);
	}
	status = hi_stop_and_copy(in->stop.target, stop, &in->image, err);
	in->stop.resumed = find_resumption(in);
	if (status == HI_MISSED && in->stop.site)
		return hi_stop_site_missed(in->stop.site, err);
	return status;
}

/* 0: they are not counted. */
static uint64_t count_place_hits(const struct hi_stop_site *site)
{
	uint64_t hits = hi_stop_site_hits(site);

	return hits == UINT64_MAX ? 0 : hits;
}

static enum hi_status remember_stop(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_trigger_stop *t = &in->image->stats.trigger;
	struct hi_stopped *stopped;
	const struct hi_probed *at;

	if (!in->stop.site || t->position == HI_HIT_NONE)
		return HI_OK;
	stopped = hi_arena_alloc(&in->arena, sizeof(*stopped));
	if (!stopped)
		return hi_fail_memory(err, "stop");
	*stopped = (struct hi_stopped){.safepoint = in->options->safepoint.at.text,
				       .near = t->position == HI_HIT_NEAR,
				       .tid = t->hit.tid,
				       .thread = "",
				       .waited_ns = t->waited_ns,
				       .every = in->options->safepoint.at.every,
				       .hits = count_place_hits(in->stop.site)};
	at = hi_stop_site_at(in->stop.site, t->hit.pc);
	stopped->place_known = at != NULL;
	if (at)
		stopped->place = *at;
	for (size_t i = 0; i < in->image->n_threads; i++)
		if (in->image->threads[i].tid == t->hit.tid)
			stopped->thread = in->image->threads[i].name;
	in->stop.hit = stopped;
	return HI_OK;
}

/*
 * It was opened by number. While the process of the series lives, the number is its own.
 */
static enum hi_status check_same_process(const struct hi_inspection *in,
					 struct hi_error *err)
{
	struct pollfd end = {.fd = in->run->census_cache ? in->run->census_cache->pidfd
							 : 0,
			     .events = POLLIN};

	if (end.fd <= 0 || poll(&end, 1, 0) == 0)
		return HI_OK;
	return hi_fail(err, HI_GONE, 0, "process %d has exited",
		       (int)in->options->target.pid);
}

/* One that is gone is the one that was watched. */
static enum hi_status open_freeze_target(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status;

	in->stop.target = hi_exit_watch_take_target(in->run->exit_watch);
	in->stop.is_of_gone = in->stop.target != NULL;
	if (in->stop.target)
		return HI_OK;
	status = hi_target_open(in->options->target.pid, &in->stop.target, err);
	return status == HI_OK ? check_same_process(in, err) : status;
}

/* Observers take the period that the stop has ended. */
static enum hi_status take_stop(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = hi_stop_observers_census(&in->run->observers, in, err);

	return status == HI_OK ? remember_stop(in, err) : status;
}

static enum hi_status freeze_process(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_options *o = in->options;
	const struct hi_run *run = in->run;
	enum hi_status status = hi_stop_observers_replace(&run->observers, in, err);
	struct hi_stop_options stop = {
		.snapshot = o->safepoint.snapshot,
		.max_image = o->safepoint.max_image,
		.max_pause_ns = o->safepoint.max_pause_ns,
		.with_swap = o->decoding.swap,
		.threads = hi_inspection_threads(in),
		.exit_watch = run->exit_watch,
		.fork_rest = run->census_cache ? &run->census_cache->fork_rest : NULL,
		.sendable = run->sends_images,
		.best_effort_priority = true};

	if (status != HI_NOT_FOUND)
		return status;
	status = open_freeze_target(in, err);
	if (status != HI_OK)
		return status;
	if (!hi_census_cache_has_samples(in->run->census_cache))
		status = hi_live_roots_check(in, err);
	if (status != HI_OK)
		return status;
	if (!in->stop.is_of_gone) {
		find_allocator_text(in);
		status = open_freeze_stop_site(in, err);
	}
	if (status != HI_OK)
		return status;
	hi_inspect_phase(in,
			 in->stop.site ? "waiting and stopping" : "stopping and copying");
	hi_stop_observers_before(&run->observers, in, &stop);
	in->stop.is_observed = true;
	stop.avoid = in->stop.allocator_text;
	stop.n_avoid = in->stop.n_allocator_text;
	status = stop_there(in, &stop, err);
	hi_stop_observers_after(&run->observers);
	return status == HI_OK ? take_stop(in, err) : status;
}

enum hi_status hi_freeze(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_core_options core = {.exe = in->options->target.exe};

	if (in->run->keeper) {
		enum hi_status status = hi_keeper_freeze(in, err);

		return status == HI_OK ? take_stop(in, err) : status;
	}
	if (in->options->target.pid) {
		enum hi_status status = freeze_process(in, err);

		if (status != HI_OK && in->stop.is_of_gone)
			hi_exit_watch_give_up(in->run->exit_watch);
		return status;
	}
	return hi_core_open(in->options->target.core, &core, &in->image, err);
}

void hi_freeze_report(const struct hi_inspection *in)
{
	char pause[24], bytes[24], what[64], place[HI_PROBED_TEXT] = "", text[1024];
	const struct hi_image_stats *s = &in->image->stats;

	if (hi_inspection_is_quiet(in) || !in->stop.target ||
	    in->image->mode == HI_SNAPSHOT_MOCK)
		return;
	if (s->outlived) {
		snprintf(
			text, sizeof(text),
			"pid %d has exited: its memory was kept until it was copied (%s)",
			(int)in->options->target.pid,
			hi_text_bytes(bytes, s->bytes_copied));
		hi_user_tell(text);
		return;
	}
	if (in->image->mode == HI_SNAPSHOT_FORK)
		snprintf(what, sizeof(what), "forked");
	else
		snprintf(what, sizeof(what), "%s copied",
			 hi_text_bytes(bytes, s->bytes_copied));
	if (in->stop.hit && in->stop.hit->place_known)
		hi_probed_text(place, &in->stop.hit->place);
	snprintf(text, sizeof(text), "pid %d was %s for %s%s%s (%s%s%s)",
		 (int)in->options->target.pid, s->at_exit ? "held at its exit" : "paused",
		 hi_text_duration(pause, s->pause_ns),
		 !in->stop.hit	      ? ""
		 : in->stop.hit->near ? " near "
				      : " at ",
		 *place || !in->stop.hit ? place : in->stop.hit->safepoint, what,
		 s->not_forked[0] ? ", not forked: " : "", s->not_forked);
	hi_user_tell(text);
}
