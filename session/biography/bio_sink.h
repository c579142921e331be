/* SPDX-License-Identifier: BSD-2-Clause */
/* A series into biographies, and into a heap profile of their bands. */
#ifndef HI_SESSION_BIOGRAPHY_BIO_SINK_H
#define HI_SESSION_BIOGRAPHY_BIO_SINK_H

#include "base/cleanup.h"
#include "session/biography/summarize.h"
#include "session/series/sink.h"

struct hi_lives_sink;
/* A heap profile that is written when the series ends. */
struct hi_lives_profile {
	const char *path; /* NULL: none; borrowed */
	/* The bands of use, as GHC's -hb writes them; what no band has for certain counts
	 * as USE there. Or groups, as GHC's -hy -hbdrag,void: each has what is proved to
	 * be in one of the bands. */
	bool has_groups;
	enum hi_lives_by by;
	uint32_t bands; /* of groups; 0: those of what is not used */
};
/* Strings are borrowed. HI_OS: the profile cannot be opened. */
enum hi_status hi_lives_sink_open(const struct hi_lives_options *options,
				  const struct hi_lives_profile *profile,
				  struct hi_lives_sink **ret, struct hi_error *err);
/* For hi_series_run(); it borrows the sink. */
struct hi_series_sink hi_lives_sink_of_series(struct hi_lives_sink *sink);
/* Returns the biographies; they are valid after the series has ended, too. */
struct hi_lives *hi_lives_sink_lives(struct hi_lives_sink *sink);
/* Returns the biographies as they were at the last census before that of the target's exit, at
 * which little is left; NULL: it has not exited, or no period had ended. Borrowed. */
const struct hi_bio_summary *hi_lives_sink_before_exit(const struct hi_lives_sink *sink);
/* The target's file, of the last census; "" before. */
const char *hi_lives_sink_exe(const struct hi_lives_sink *sink);
void hi_lives_sink_close(struct hi_lives_sink *sink); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_lives_sink *, hi_lives_sink_close)

#endif
