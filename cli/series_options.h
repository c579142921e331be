/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a series of censuses. */
#ifndef HI_CLI_SERIES_OPTIONS_H
#define HI_CLI_SERIES_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "census/graph/graphs_wanted.h"
#include "report/views/series.h"

struct hi_series_options {
	uint64_t every_ns, every_bytes; /* at most one of them */
	uint64_t for_ns;		/* 0: until the target or a signal ends it */
	const char *hp;			/* a heap profile; NULL: none */
	enum hi_series_axis axis;
	bool has_axis;
	/* Of snap: whose graphs stay; and bytes of the file, 0: any. */
	struct hi_graphs_wanted full;
	bool has_full;
	uint64_t max_file;
	bool at_place; /* --at: each census waits for the target to come by */
};

/* A census whenever the target comes by, until --for is over? */
static inline bool hi_series_at_each_hit(const struct hi_series_options *s)
{
	return s->at_place && s->for_ns && !s->every_ns && !s->every_bytes;
}

static inline bool hi_series_asked(const struct hi_series_options *s)
{
	return s->every_ns || s->every_bytes || hi_series_at_each_hit(s);
}

/* False: the text is no such thing. */
bool hi_series_take_every(struct hi_series_options *s, const char *text);
bool hi_series_take_time(struct hi_series_options *s, const char *text);
/* "first,last,every:10,peaks:3", "all", "none". */
bool hi_series_take_full(struct hi_series_options *s, const char *text);
/* What is wrong with them together; NULL: nothing. */
const char *hi_series_check(const struct hi_series_options *s);

#endif
