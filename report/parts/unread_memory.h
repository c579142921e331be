/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines on what the verdicts of leaks could not see: memory that could not be read. */
#ifndef HI_REPORT_PARTS_UNREAD_MEMORY_H
#define HI_REPORT_PARTS_UNREAD_MEMORY_H

#include "census/analysis/analysis.h"
#include "report/display.h"
#include "report/json_writer.h"

/* As in struct hi_reach. */
struct hi_unread {
	bool is_doubtful;
	uint64_t bytes, apart;
};
struct hi_unread hi_unread_of(const struct hi_reach *reach);
enum { HI_UNREAD_TEXT = 192 };
/* "8.0 KiB of live memory could not be read", "the heap is damaged": why no leak is
 * certain; "" where leaks may be. Returns out. */
char *hi_unread_doubt_text(const struct hi_unread *unread, char out[HI_UNREAD_TEXT]);
/* "16.0 MiB of shared memory could not be read; no word in the rest of it …"; "" where
 * all was read. Returns out. */
char *hi_unread_apart_text(const struct hi_unread *unread, char out[HI_UNREAD_TEXT]);
/* Adds lines with both. */
void hi_unread_display(const struct hi_unread *unread, struct hi_page *page);
/* Writes the members "doubtful", "unread_bytes" and "unread_shared_bytes". */
void hi_unread_json(const struct hi_unread *unread, struct hi_json *json);

#endif
