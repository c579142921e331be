/* SPDX-License-Identifier: BSD-2-Clause */
/* export, of all censuses of a file together. */
#ifndef HI_CLI_SERIES_SERIES_EXPORT_H
#define HI_CLI_SERIES_SERIES_EXPORT_H

#include "cli/command/output.h"

/* Is what export is asked for of all censuses: --table censuses or sums; hp, massif or
 * prometheus of a file of many, without --census? */
bool hi_series_file_is_wanted(const struct hi_options *options);
enum hi_status hi_series_file_export(const struct hi_options *options,
				     struct hi_output *output, struct hi_error *err);

#endif
