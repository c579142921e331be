/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/event_source.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

void hi_event_source_count(struct hi_event_source *source)
{
	source->ops->count(source);
}

void hi_event_source_set_sampling(struct hi_event_source *source, uint64_t bytes)
{
	source->ops->set_sampling(source, bytes);
}

void hi_event_source_drop_optional(struct hi_event_source *source)
{
	source->ops->drop_optional(source);
}

enum hi_status hi_event_source_use_windows(struct hi_event_source *source,
					   const struct hi_event_schedule *schedule,
					   struct hi_error *err)
{
	return source->ops->use_windows
		       ? source->ops->use_windows(source, schedule, err)
		       : hi_fail(err, HI_UNSUPPORTED, 0, "%s have no windows",
				 source->ops->name);
}

enum hi_status hi_event_source_start(struct hi_event_source *source, struct hi_error *err)
{
	return source->ops->start(source, err);
}

void hi_event_source_pause(struct hi_event_source *source, bool is_paused)
{
	source->ops->pause(source, is_paused);
}

enum hi_status hi_event_source_set_unwind(struct hi_event_source *source,
					  const struct hi_unwind_tables *tables,
					  struct hi_error *err)
{
	return source->ops->set_unwind(source, tables, err);
}

enum hi_status hi_event_source_poll(struct hi_event_source *source, unsigned timeout_ms,
				    const struct hi_event_sink *sink,
				    struct hi_error *err)
{
	return source->ops->poll(source, timeout_ms, sink, err);
}

enum hi_status hi_event_source_drain(struct hi_event_source *source,
				     const struct hi_event_sink *sink,
				     struct hi_error *err)
{
	return source->ops->drain(source, sink, err);
}

void hi_event_source_stats(struct hi_event_source *source, struct hi_event_stats *ret)
{
	memset(ret, 0, sizeof(*ret));
	source->ops->stats(source, ret);
}

void hi_event_source_look(struct hi_event_source *source)
{
	if (source->ops->look)
		source->ops->look(source);
}

enum hi_status hi_event_source_rest(struct hi_event_source *source,
				    const struct hi_event_sink *sink,
				    struct hi_error *err)
{
	return source->ops->rest ? source->ops->rest(source, sink, err) : HI_OK;
}

void hi_event_source_stop(struct hi_event_source *source)
{
	source->ops->stop(source);
}

void hi_event_source_fds(const struct hi_event_source *source,
			 int fds[HI_EVENT_SOURCE_FDS])
{
	for (int i = 0; i < HI_EVENT_SOURCE_FDS; i++)
		fds[i] = -1;
	if (source->ops->fds)
		source->ops->fds(source, fds);
}

void hi_event_source_close(struct hi_event_source *source)
{
	if (source)
		source->ops->close(source);
}

bool hi_event_return_page(pid_t pid, struct hi_range *ret)
{
	HI_GUARD(fclose) FILE *file = NULL;
	char line[512];

	snprintf(line, sizeof(line), "/proc/%d/maps", (int)pid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		unsigned long start, end;
		int path = 0;

		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &path) < 2 ||
		    path == 0 || strcmp(line + path, "[uprobes]\n") != 0)
			continue;
		*ret = (struct hi_range){start, end};
		return true;
	}
	return false;
}
