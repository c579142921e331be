/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes on the rows that a table does not show, always with their bytes. */
#ifndef HI_REPORT_PARTS_HIDDEN_ROWS_H
#define HI_REPORT_PARTS_HIDDEN_ROWS_H

#include "report/document.h"
#include "report/parts/row_selection.h"

/* Fields of struct hi_hidden_rows. */
extern const struct hi_doc_fields hi_hidden_fields;

/* Adds notes such as "12 more rows with 1.5 MiB (--all)"; nothing if no row is hidden. */
void hi_hidden_note(struct hi_page *page, const struct hi_hidden *beyond,
		    const struct hi_hidden *below, const struct hi_hidden *other);
/* The same where `other` counts types, not rows. */
void hi_hidden_types_note(struct hi_page *page, const struct hi_hidden *beyond,
			  const struct hi_hidden *below, const struct hi_hidden *other);
/* Writes the member "hidden": {rows, bytes} of all three. */
void hi_hidden_json(struct hi_json *json, const struct hi_hidden *beyond,
		    const struct hi_hidden *below, const struct hi_hidden *other);

#endif
