/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that a snapshot file alone has: which contents are equal, and the names of all
 * edges. They need no dominators, so that they are made beside them (HI_WANT_PREPARED); what
 * was not made before is made when the file is written.
 */
#ifndef HI_SESSION_SNAPSHOT_PREPARED_H
#define HI_SESSION_SNAPSHOT_PREPARED_H

#include "session/inspection.h"

/* Compares contents (in->contents), on so many threads, 0: all. Needs reachability. */
enum hi_status hi_snapshot_prepare_contents(struct hi_inspection *in, unsigned threads,
					    struct hi_error *err);
/* Frees them. NULL is fine. */
void hi_snapshot_contents_destroy(struct hi_snapshot_contents *contents);

/* Makes names of edges (in->names), on so many threads, of as much of the graph as may wait
 * in memory. */
enum hi_status hi_snapshot_prepare_names(struct hi_inspection *in, unsigned threads,
					 struct hi_error *err);
/* Frees them. NULL is fine. */
void hi_snapshot_names_destroy(struct hi_snapshot_names *names);

#endif
