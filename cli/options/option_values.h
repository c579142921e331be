/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of rows (option_row.h) whose values are of no kind that the table has. */
#ifndef HI_CLI_OPTIONS_OPTION_VALUES_H
#define HI_CLI_OPTIONS_OPTION_VALUES_H

#include "cli/options/option_row.h"

/* option_values.c */
hi_option_take_fn hi_option_take_by, hi_option_take_site_by, hi_option_take_compare_by,
	hi_option_take_bands, hi_option_take_eras, hi_option_take_death_use,
	hi_option_take_range, hi_option_take_share, hi_option_take_y_max,
	hi_option_take_hints, hi_option_take_label, hi_option_take_at;
/* record_options.c */
hi_option_take_fn hi_option_take_sample, hi_option_take_scan, hi_option_take_calls;
/* series_options.c */
hi_option_take_fn hi_option_take_every, hi_option_take_full;
/* alloc_options.c */
hi_option_take_fn hi_option_take_centres, hi_option_take_manner;
/* profile_options.c */
hi_option_take_fn hi_option_take_root;
/* budget.c: gates, and files of them */
hi_option_take_fn hi_option_take_gate, hi_option_take_budget;
/* operand_words.c: FILE@CENSUS */
hi_option_take_fn hi_option_take_census, hi_option_take_baseline;

#endif
