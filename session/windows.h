/* SPDX-License-Identifier: BSD-2-Clause */
/* The estimates of a recording by windows: of a process, or of the file that has them. */
#ifndef HI_SESSION_WINDOWS_H
#define HI_SESSION_WINDOWS_H

#include "census/events/window_result.h"
#include "session/inspection.h"

struct hi_inspected_windows {
	struct hi_window_result result; /* borrows from the inspection and from these */
	struct hi_window_row *rows;
};
/* ret: hi_inspected_windows_free(), before the inspection is closed, on failure, too.
 * HI_NOT_FOUND: it was not recorded by windows; HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_inspect_windows(struct hi_inspection *in,
				  struct hi_inspected_windows *ret, struct hi_error *err);
bool hi_inspect_is_by_windows(struct hi_inspection *in);
void hi_inspected_windows_free(struct hi_inspected_windows *windows);

#endif
