/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/source.h"

#include "session/options.h"

const struct hi_source_ops *hi_source_select(const struct hi_options *options)
{
	if (options->target.file)
		return &hi_source_snapshot;
	return options->target.pid ? &hi_source_process : &hi_source_core;
}
