/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/space_sink.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

struct hi_space_sink {
	struct hi_space_profile *profile;
	char *exe;
	char news[256];
};

/* Of the period that has just ended. */
static void tell_period(struct hi_space_sink *s, uint64_t at_ns)
{
	const struct hi_space *space = hi_space_profile_space(s->profile);
	uint32_t n = hi_space_periods(space);
	const struct hi_space_period *last;
	char time[24], born[24], died[24], live[24];

	if (!n) {
		snprintf(s->news, sizeof(s->news), "the first period begins");
		return;
	}
	last = &hi_space_history(space)[n - 1];
	snprintf(s->news, sizeof(s->news),
		 "%s: %s were allocated, %s freed; %s of the recording are live",
		 hi_text_duration(time, at_ns), hi_text_bytes(born, last->born.size),
		 hi_text_bytes(died, last->died.size),
		 hi_text_bytes(live, last->live.size));
}

static enum hi_status add_census_to_space(void *sink,
					  const struct hi_series_header *header,
					  const struct hi_series_census_event *event,
					  struct hi_error *err)
{
	struct hi_space_sink *s = sink;
	enum hi_status status =
		hi_space_profile_add(s->profile, event->in, event->sample->at_ns, err);

	if (status != HI_OK)
		return status;
	free(s->exe);
	s->exe = hi_strdup(header->exe);
	if (!s->exe)
		return hi_fail_memory(err, "space profile");
	tell_period(s, event->sample->at_ns);
	return HI_OK;
}

static enum hi_status take_mark_of_space(void *sink,
					 const struct hi_series_header *header,
					 const struct hi_series_mark_event *event,
					 struct hi_error *err)
{
	(void)header, (void)event, (void)err;
	((struct hi_space_sink *)sink)->news[0] = '\0';
	return HI_OK;
}

static const char *news_of_space(const void *sink)
{
	return ((const struct hi_space_sink *)sink)->news;
}

static enum hi_status end_space(void *sink, const struct hi_series_header *header,
				const struct hi_series_end_event *event,
				struct hi_error *err)
{
	(void)header, (void)event, (void)err;
	((struct hi_space_sink *)sink)->news[0] = '\0';
	return HI_OK;
}

/* The sink lives longer than the series. */
static void leave_space(void *sink)
{
	(void)sink;
}

static const struct hi_series_sink_ops space_sink_ops = {
	.census = add_census_to_space,
	.mark = take_mark_of_space,
	.end = end_space,
	.news = news_of_space,
	.destroy = leave_space,
};

struct hi_series_sink hi_space_sink_of_series(struct hi_space_sink *sink)
{
	return (struct hi_series_sink){&space_sink_ops, sink};
}

enum hi_status hi_space_sink_open(struct hi_space_sink **ret, struct hi_error *err)
{
	HI_GUARD(hi_space_sink_close) struct hi_space_sink *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "space profile");
	status = hi_space_profile_create(&s->profile, err);
	if (status == HI_OK)
		*ret = hi_take(s);
	return status;
}

void hi_space_sink_choose(struct hi_space_sink *sink,
			  const struct hi_space_choice *choice)
{
	hi_space_profile_choose(sink->profile, choice);
}

enum hi_status hi_space_sink_begin(struct hi_space_sink *sink, struct hi_error *err)
{
	return hi_space_profile_begin(sink->profile, err);
}

struct hi_space_profile *hi_space_sink_profile(const struct hi_space_sink *sink)
{
	return sink->profile;
}

const char *hi_space_sink_exe(const struct hi_space_sink *sink)
{
	return sink->exe ? sink->exe : "";
}

void hi_space_sink_close(struct hi_space_sink *sink)
{
	if (!sink)
		return;
	hi_space_profile_destroy(sink->profile);
	free(sink->exe);
	free(sink);
}
