/* SPDX-License-Identifier: BSD-2-Clause */
/* Saying what a table does not show: always in bytes. */
#ifndef HI_REPORT_VIEWS_HIDDEN_H
#define HI_REPORT_VIEWS_HIDDEN_H

#include "report/views/display.h"
#include "report/formats/json_writer.h"
#include "report/views/restrict.h"

/* "12 more rows with 1.5 MiB: --all"; nothing if none. */
void hi_hidden_note(struct hi_page *page, const struct hi_hidden *beyond,
		    const struct hi_hidden *below, const struct hi_hidden *other);
/* The same where `other` counts types, not rows. */
void hi_hidden_types_note(struct hi_page *page, const struct hi_hidden *beyond,
			  const struct hi_hidden *below, const struct hi_hidden *other);
/* The member "hidden": {rows, bytes} of all three. */
void hi_hidden_json(struct hi_json *json, const struct hi_hidden *beyond,
		    const struct hi_hidden *below, const struct hi_hidden *other);

#endif
