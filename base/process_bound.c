/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/process_bound.h"

#include <stdio.h>

#include "base/text.h"

static uint64_t noted_bound;

void hi_process_note_bound(uint64_t bytes)
{
	noted_bound = bytes;
}

const char *hi_process_bound_text(char out[64])
{
	char size[24];

	out[0] = 0;
	if (noted_bound)
		snprintf(out, 64, " (at most %s: --max-memory)",
			 hi_text_bytes(size, noted_bound));
	return out;
}
