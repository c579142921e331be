/* SPDX-License-Identifier: BSD-2-Clause */
/* The censuses of a file together: over time, for other programs. */
#ifndef HI_SESSION_SERIES_FILE_H
#define HI_SESSION_SERIES_FILE_H

#include "census/snapshot/snapshot_series.h"
#include "report/heap_profile/hp_reader.h"
#include "report/reports/series/series_sample.h"

/* A census out of its totals, or out of its graph where these are lost; owned. */
struct hi_series_file_census {
	const struct hi_snapshots_entry *entry; /* of the series, while that is open */
	struct hi_snapshot *snapshot;
	struct hi_graph *graph; /* types alone */
	struct hi_reach *reach;
	struct hi_census *census;
};
enum hi_status hi_series_file_census_open(const struct hi_snapshots *s, size_t i,
					  struct hi_series_file_census *ret,
					  struct hi_error *err);
void hi_series_file_census_close(struct hi_series_file_census *census);

typedef enum hi_status hi_series_file_fn(void *arg,
					 const struct hi_series_file_census *census,
					 struct hi_error *err);
/* Each census of it, in order; valid until the next one. */
enum hi_status hi_series_file_each(const struct hi_snapshots *s, hi_series_file_fn *each,
				   void *arg, struct hi_error *err);
/* Bytes alone. A file of an earlier version has one number, of all that no root leads to:
 * that is `certain`, and the rest is unknown. */
struct hi_leak_totals hi_series_file_leaks(const struct hi_snapshots_entry *entry,
					   const struct hi_snapshot *snapshot);
/* By type, each name once, most bytes first, and what is leaked; rows are the caller's to
 * free. */
enum hi_status hi_series_file_rows(const struct hi_series_file_census *census,
				   struct hi_series_sample *ret, struct hi_error *err);

/* The same to be drawn: names of types and texts of marks are whole. *ret:
 * hi_hp_series_destroy(). */
enum hi_status hi_series_file_read(const char *path, struct hi_hp_series **ret,
				   struct hi_error *err);
/* A heap profile by type over the time on the wall, and its key (-1: none). */
enum hi_status hi_series_file_profile(const char *path, int fd, int key_fd,
				      struct hi_error *err);

#endif
