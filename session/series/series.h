/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A series: one census after another of one process. The series decides when a census is
 * taken and reports what happens to its sinks (session/series/sink.h).
 */
#ifndef HI_SESSION_SERIES_SERIES_H
#define HI_SESSION_SERIES_SERIES_H

#include "base/cleanup.h"
#include "session/inspect/inspect.h"
#include "session/run.h"
#include "session/series/sink.h"

/* Fills rows, n_rows, hidden, objects and bytes of the sample, out of in->arena. */
typedef enum hi_status hi_series_rows_fn(struct hi_inspection *in,
					 struct hi_series_sample *ret,
					 struct hi_error *err);

struct hi_series_request {
	const struct hi_options *options; /* its `series`: how often, and how long */
	const struct hi_run *run;	  /* of the command */
	const char *by;			  /* what rows are: "type", "retainers", … */
	unsigned wanted;		  /* bits of enum hi_wanted, of each census */
	hi_series_rows_fn *find_rows;
	int stop_fd; /* readable: the series is to end */
	/* One more census is taken where it ends otherwise than by the target's end. */
	bool census_at_end;
	/* But not where the last one was less than half of --every ago: what is not used
	 * in so short a time is no news. */
	bool whole_periods;
	/* On a machine without an idle processor there are far fewer censuses: pace.h. */
	bool spares_target;
	/* Called often between censuses. False: the target's program has ended. NULL:
	 * not wanted. */
	bool (*tick)(void *arg);
	void *tick_arg;
	/* A recording beside it pauses or goes on, as another process asked. NULL: there
	 * is none that can. */
	enum hi_status (*pause)(void *arg, bool is_paused, struct hi_error *err);
	void *pause_arg;
	/* A line for the user. */
	void (*note)(void *arg, const char *text);
	void *note_arg;
};

struct hi_series;
/* The request is borrowed until destroy. HI_CANNOT_ATTACH: there is no such process. */
enum hi_status hi_series_create(const struct hi_series_request *request,
				struct hi_series **ret, struct hi_error *err);
/* Opens where marks come in, and the probe of --at; once, before the run. Errors as of
 * hi_stop_site_open(). */
enum hi_status hi_series_prepare(struct hi_series *series, struct hi_error *err);
/* Returns the run context of the censuses, with which a process that keeps its rights
 * makes their images (session/series/keeper.h). Borrowed. */
const struct hi_run *hi_series_census_run(const struct hi_series *series);
/* This process makes the images of the censuses for a fork that runs the series. */
void hi_series_keep_target(struct hi_series *series);
/* In a fork without rights, before the run: another process makes the images. */
void hi_series_be_served(struct hi_series *series, const struct hi_keeper_client *keeper);
/* That listens for marks; -1: none. */
int hi_series_marks_fd(const struct hi_series *series);
/* The descriptors that the run needs in such a fork; -1: none. Borrowed. */
enum { HI_SERIES_FDS = 5 };
size_t hi_series_fds(const struct hi_series *series, int fds[HI_SERIES_FDS]);
/*
 * Takes censuses until the series is over, once. Each sink gets each event, in the order
 * given; sinks are borrowed. HI_OK too when the target exits or stop_fd becomes
 * readable. *partial_ret: some snapshot had gaps.
 */
enum hi_status hi_series_run(struct hi_series *series, const struct hi_series_sink *sinks,
			     size_t n_sinks, bool *partial_ret, struct hi_error *err);
void hi_series_destroy(struct hi_series *series); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_series *, hi_series_destroy)

#endif
