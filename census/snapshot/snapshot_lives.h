/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Biographies in a snapshot file: lives of the objects, groups and censuses.
 * docs/SNAPSHOT_FORMAT.md has the sections. A file without them has no biographies.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_LIVES_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_LIVES_H

#include "census/biography/summary.h"
#include "census/snapshot/snapshot_file.h"

/* Writes the sections; lives are of objects of the graph in the file. */
enum hi_status hi_snapshot_put_lives(struct hi_snapshot_writer *w,
				     const struct hi_bio_summary *summary,
				     struct hi_error *err);
/* Reads them, for a graph of so many objects. *ret borrows from s:
 * hi_bio_summary_destroy() before s is closed. Whatever the file has, groups and objects
 * are in range, and periods are in order and have ended. HI_NOT_FOUND: the file has no
 * biographies; HI_BAD_DATA. */
enum hi_status hi_snapshot_lives(struct hi_snapshot *s, hi_node n_objects,
				 struct hi_bio_summary **ret, struct hi_error *err);

#endif
