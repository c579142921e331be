/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/page_evidence.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

struct hi_page_evidence {
	struct hi_target *target;
	struct hi_page_watch *watch;
	uint64_t stops;
	bool is_prepared;
	struct hi_error missing; /* HI_OK: nothing is missing */
};

HI_DEFINE_GUARD(struct hi_page_evidence *, hi_page_evidence_close)

enum hi_status hi_page_evidence_open(pid_t pid, struct hi_page_evidence **ret,
				     struct hi_error *err)
{
	HI_GUARD(hi_page_evidence_close)
	struct hi_page_evidence *e = hi_calloc(1, sizeof(*e));
	enum hi_status status;

	if (!e)
		return hi_fail_memory(err, "pages of the target");
	status = hi_target_open(pid, &e->target, err);
	if (status == HI_OK)
		status = hi_page_watch_open(e->target, &e->watch, err);
	if (status == HI_OK)
		*ret = hi_take(e);
	return status;
}

void hi_page_evidence_close(struct hi_page_evidence *e)
{
	if (!e)
		return;
	hi_page_watch_close(e->watch);
	hi_target_close(e->target);
	free(e);
}

void hi_page_evidence_before_stop(struct hi_page_evidence *e,
				  struct hi_stop_options *stop)
{
	if (!e)
		return;
	e->missing = (struct hi_error){};
	e->is_prepared = hi_page_watch_prepare(e->watch, stop, &e->missing) == HI_OK;
}

void hi_page_evidence_after_stop(struct hi_page_evidence *e)
{
	struct hi_error why = {};

	if (!e)
		return;
	/* A wait for a place that ended without a stop has changed nothing. */
	e->stops += hi_page_watch_has_read(e->watch);
	if (hi_page_watch_take(e->watch, &why) != HI_OK && e->is_prepared)
		e->missing = why;
}

uint64_t hi_page_evidence_stops(const struct hi_page_evidence *e)
{
	return e->stops;
}

const char *hi_page_evidence_missing(const struct hi_page_evidence *e)
{
	return e->missing.status == HI_OK ? NULL : e->missing.text;
}

bool hi_page_evidence_is_idle(const struct hi_page_evidence *e, uint64_t start,
			      uint64_t end)
{
	return hi_page_watch_of_range(e->watch, start, end) == HI_PAGE_UNREFERENCED;
}
