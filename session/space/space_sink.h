/* SPDX-License-Identifier: BSD-2-Clause */
/* A series into a space profile. */
#ifndef HI_SESSION_SPACE_SPACE_SINK_H
#define HI_SESSION_SPACE_SPACE_SINK_H

#include "base/cleanup.h"
#include "session/series/sink.h"
#include "session/space/space_profile.h"

struct hi_space_sink;
/* *ret: hi_space_sink_close(). HI_NO_MEMORY. */
enum hi_status hi_space_sink_open(struct hi_space_sink **ret, struct hi_error *err);
/* Sets the choices of the profile; before the first census. */
void hi_space_sink_choose(struct hi_space_sink *sink,
			  const struct hi_space_choice *choice);
/* For hi_series_run(); it borrows the sink. */
struct hi_series_sink hi_space_sink_of_series(struct hi_space_sink *sink);
/* Returns the profile; it is valid after the series has ended, too. */
struct hi_space_profile *hi_space_sink_profile(const struct hi_space_sink *sink);
/* The target's file, of the last census; "" before. */
const char *hi_space_sink_exe(const struct hi_space_sink *sink);
/* Before the first census: period 1 begins with the recording, and that census ends it.
 * HI_NO_MEMORY. */
enum hi_status hi_space_sink_begin(struct hi_space_sink *sink, struct hi_error *err);
void hi_space_sink_close(struct hi_space_sink *sink); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_space_sink *, hi_space_sink_close)

#endif
