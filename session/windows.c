/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/windows.h"

#include <stdlib.h>

#include "session/source.h"

enum hi_status hi_inspect_windows(struct hi_inspection *in,
				  struct hi_inspected_windows *ret, struct hi_error *err)
{
	*ret = (struct hi_inspected_windows){};
	return in->source->results->read_windows(in, ret, err);
}

bool hi_inspect_is_by_windows(struct hi_inspection *in)
{
	struct hi_inspected_windows windows;
	bool is = hi_inspect_windows(in, &windows, NULL) == HI_OK;

	hi_inspected_windows_free(&windows);
	return is;
}

void hi_inspected_windows_free(struct hi_inspected_windows *windows)
{
	free(windows->rows);
	*windows = (struct hi_inspected_windows){};
}
