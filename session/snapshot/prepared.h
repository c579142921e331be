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

/* Begins to make names of edges (in->names), by the threads that are left beside two: those
 * that call the functions below, each once. The rest is made when the file is
 * written. */
enum hi_status hi_snapshot_names_begin(struct hi_inspection *in, struct hi_error *err);
/* Makes names until all are begun, or no more may wait in memory, and waits for the threads
 * that make the rest. */
void hi_snapshot_names_make(struct hi_inspection *in);
/* Makes names beside it. */
void hi_snapshot_names_help(struct hi_inspection *in);
/* Frees them. NULL is fine. */
void hi_snapshot_names_destroy(struct hi_snapshot_names *names);

#endif
