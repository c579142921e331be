/* SPDX-License-Identifier: BSD-2-Clause */
/* The biography of one object, as a part of other reports. */
#ifndef HI_REPORT_PARTS_OBJECT_LIFE_H
#define HI_REPORT_PARTS_OBJECT_LIFE_H

#include "census/biography/summary.h"
#include "report/display.h"
#include "report/json_writer.h"

/* "inherent_use", "unused_since_attach": a band, and evidence ("contents"), in
 * documents. */
const char *hi_life_band_key(enum hi_bio_band band);
const char *hi_life_evidence_key(enum hi_bio_evidence evidence);

/* Adds the facts: its birth, its first and last use, and its band at the last census.
 * row: of the summary; NULL: nothing is added. */
void hi_life_show_facts(const struct hi_bio_summary *lives,
			const struct hi_bio_life_row *row, struct hi_page *page);
/* Writes the member "biography"; nothing where row is NULL. */
void hi_life_json(const struct hi_bio_summary *lives, const struct hi_bio_life_row *row,
		  struct hi_json *json);

#endif
