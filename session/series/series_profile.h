/* SPDX-License-Identifier: BSD-2-Clause */
/* A series as a heap profile with its key: FILE.hp and FILE.prof. */
#ifndef HI_SESSION_SERIES_SERIES_PROFILE_H
#define HI_SESSION_SERIES_SERIES_PROFILE_H

#include "session/series/sink.h"

/* A profile that exists keeps what it has until the first census. path is borrowed. */
enum hi_status hi_series_profile_open(const char *path, struct hi_series_sink *ret,
				      struct hi_error *err);

#endif
