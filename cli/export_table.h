/* SPDX-License-Identifier: BSD-2-Clause */
/* One table as CSV (RFC 4180) or as lines of JSON: the same columns in both. */
#ifndef HI_CLI_EXPORT_TABLE_H
#define HI_CLI_EXPORT_TABLE_H

#include <stdio.h>

#include "report/formats/json_writer.h"

struct hi_export_table {
	FILE *out;
	bool csv;
	bool is_heading; /* CSV: names instead of values */
	bool has_cells;	 /* in this row */
	struct hi_json json;
};

void hi_export_row(struct hi_export_table *t);
void hi_export_row_end(struct hi_export_table *t);
/* UINT64_MAX: unknown. */
void hi_export_number(struct hi_export_table *t, const char *name, uint64_t value);
void hi_export_text(struct hi_export_table *t, const char *name, const char *value);
/* 0: none. */
void hi_export_address(struct hi_export_table *t, const char *name, uint64_t value);

#endif
