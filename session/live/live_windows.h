/* SPDX-License-Identifier: BSD-2-Clause */
/* The estimates of a process that was recorded by windows. */
#ifndef HI_SESSION_LIVE_LIVE_WINDOWS_H
#define HI_SESSION_LIVE_LIVE_WINDOWS_H

#include "session/windows.h"

/* hi_source_ops.read_windows of processes and cores. */
enum hi_status hi_live_read_windows(struct hi_inspection *in,
				    struct hi_inspected_windows *ret,
				    struct hi_error *err);

#endif
