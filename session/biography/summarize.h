/* SPDX-License-Identifier: BSD-2-Clause */
/* The biographies of a series up to now, as plain data. */
#ifndef HI_SESSION_BIOGRAPHY_SUMMARIZE_H
#define HI_SESSION_BIOGRAPHY_SUMMARIZE_H

#include "census/biography/summary.h"
#include "session/biography/lives.h"

/* An object that still lives counts as if it ended at the last census; there must be one.
 * *ret: hi_bio_summary_destroy() before the lives; its texts are theirs. HI_NO_MEMORY,
 * HI_LIMIT (2^32 periods). */
enum hi_status hi_lives_summarize(struct hi_lives *lives, struct hi_bio_summary **ret,
				  struct hi_error *err);
/* The last census alone. HI_NO_MEMORY. */
enum hi_status hi_lives_last_line(struct hi_lives *lives, struct hi_bio_census_row *ret,
				  struct hi_error *err);

/* Census t of all that counts: without what a restriction (--type, --under,
 * --retained-by) hides. */
void hi_lives_row(const struct hi_lives *lives, const struct hi_bio_view *view,
		  uint64_t t, struct hi_bio_row *ret);

/* Writes the summary of biographies (struct hi_lives) up to now; for hi_run.kept. Errors
 * as of hi_lives_summarize() and hi_snapshot_put_lives(). */
struct hi_snapshot_writer;
enum hi_status hi_lives_save(void *lives, struct hi_snapshot_writer *writer,
			     struct hi_error *err);

#endif
