/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sinks of a series: a table of operations that receive its events. The series depends
 * neither on formats nor on files; a sink depends on this header and not on the series
 * (session/series/series.h). The command chooses the sinks of a series.
 *
 * To add a sink: a function that makes its state and its table, before anything is
 * stopped, so that a bad path costs the target nothing; a line where the command opens
 * its sinks (cli/series/series_sinks.c).
 */
#ifndef HI_SESSION_SERIES_SINK_H
#define HI_SESSION_SERIES_SINK_H

#include "report/reports/series/series_sample.h"

struct hi_inspection;

/* A census was taken. */
struct hi_series_census_event {
	const struct hi_series_sample *sample;
	struct hi_inspection *in; /* what the sample was made of */
};

/* A mark came from outside. */
struct hi_series_mark_event {
	uint64_t at_ns;		  /* on the axis, as a sample's */
	uint64_t wall_ns, cpu_ns; /* since the series began */
	uint64_t census;	  /* number of the last one; 0: none yet */
	const char *text;	  /* hostile */
	bool is_era;		  /* an era of biographies begins, of this name */
};

/* Requests by keys. */
enum hi_series_wish { HI_SERIES_WISH_NONE, HI_SERIES_WISH_END, HI_SERIES_WISH_PAUSE };

struct hi_series_end_event {
	enum hi_series_end end;
	uint64_t at_ns;
	uint64_t samples;
};

/*
 * sink: the state. All operations but destroy may be NULL. Header, events and what they
 * point to are borrowed until the operation returns. An error ends the series, but for
 * HI_LIMIT of a mark: then the sender of the mark gets the error. Everything that was
 * written before stays valid whenever the series ends.
 */
struct hi_series_sink_ops {
	/* Times on the axis are in what it writes. */
	bool has_axis;
	/* Before the first census is received. A mark may come earlier. */
	enum hi_status (*begin)(void *sink, const struct hi_series_header *header,
				const struct hi_series_sample *first,
				struct hi_error *err);
	enum hi_status (*census)(void *sink, const struct hi_series_header *header,
				 const struct hi_series_census_event *event,
				 struct hi_error *err);
	enum hi_status (*mark)(void *sink, const struct hi_series_header *header,
			       const struct hi_series_mark_event *event,
			       struct hi_error *err);
	/* Only if there was a census; after an error, too. */
	enum hi_status (*end)(void *sink, const struct hi_series_header *header,
			      const struct hi_series_end_event *event,
			      struct hi_error *err);
	/* A line for the user about the last census, mark or end; "": none. */
	const char *(*news)(const void *sink);
	/* Only one of so many censuses that are due is wanted; NULL: each. */
	uint64_t (*stride)(const void *sink);
	/* Returns the descriptor that keys come from; -1: none now. NULL: never. */
	int (*keys_fd)(void *sink);
	/* Reads the keys that are there. Pause: or go on, if it pauses. */
	enum hi_series_wish (*take_keys)(void *sink,
					 const struct hi_series_header *header);
	void (*destroy)(void *sink);
};

/* Zero-initialised is none. */
struct hi_series_sink {
	const struct hi_series_sink_ops *ops;
	void *state; /* owned */
};

static inline void hi_series_sink_destroy(struct hi_series_sink *sink)
{
	if (sink->ops)
		sink->ops->destroy(sink->state);
	*sink = (struct hi_series_sink){};
}

#endif
