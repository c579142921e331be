/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/recorded_stacks.h"

#include <string.h>

#include "base/text.h"

size_t hi_frame_row_file(const struct hi_frame_row *row,
			 const struct hi_mapped_file *files, size_t n_files)
{
	for (size_t i = 0; *row->module && i < n_files; i++)
		if (strcmp(files[i].path, row->module) == 0)
			return i + 1;
	return 0;
}

uint64_t hi_frame_row_address(const struct hi_frame_row *row,
			      const struct hi_mapped_file *files, size_t n_files)
{
	size_t file = hi_frame_row_file(row, files, n_files);

	return file ? files[file - 1].start + row->offset - (row->offset > 0) : 0;
}

void hi_export_warn_lost(const struct hi_export *x, const struct hi_recorded *r)
{
	char count[32];

	if (r->counts.lost)
		hi_export_warn(x,
			       "the recording lost events (%s): what was allocated is a "
			       "lower bound",
			       hi_text_count(count, r->counts.lost));
}
