/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/event_spool.h"

#include "base/output_file.h"

static const uint64_t usual_limit = 1ull << 30;

enum hi_status hi_event_spool_open(const struct hi_options *options,
				   struct hi_kept_events **ret, struct hi_error *err)
{
	uint64_t limit =
		options->series.max_file ? options->series.max_file : usual_limit;
	enum hi_status status;
	int fd;

	status = hi_output_file_open_unnamed(options->output.file, &fd, err);
	return status == HI_OK ? hi_kept_events_create(fd, limit, ret, err) : status;
}
