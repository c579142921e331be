/* SPDX-License-Identifier: BSD-2-Clause */
/* When a target is stopped, and how its memory is kept. */
#ifndef HI_CLI_SAFEPOINT_OPTIONS_H
#define HI_CLI_SAFEPOINT_OPTIONS_H

#include "base/error.h"
#include "probes/safepoint.h"

struct hi_safepoint_options {
	struct hi_safepoint at; /* its text NULL: --at was not given; NOW then too */
	const char *every_text; /* "every:10"; NULL: not given */
	uint64_t every;
	uint64_t timeout_ns; /* 0: wait for ever */
	enum hi_snapshot_wish snapshot;
	bool has_snapshot;
	uint64_t max_image; /* bytes; 0: not given */
};

/* Is there something to wait for? */
static inline bool hi_safepoint_asked(const struct hi_safepoint_options *s)
{
	return s->at.kind != HI_SAFEPOINT_NOW;
}

/* A --at: a place, or "every:N"; one of each. HI_USAGE says what is wrong, in a line
 * that begins with "--at". */
enum hi_status hi_safepoint_take_at(struct hi_safepoint_options *s, const char *text,
				    struct hi_error *err);
bool hi_safepoint_take_snapshot(struct hi_safepoint_options *s, const char *text);
/* What is wrong with them together; NULL: nothing. */
const char *hi_safepoint_check(const struct hi_safepoint_options *s);

#endif
