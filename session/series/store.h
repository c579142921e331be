/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A series into one snapshot file (snap --every): of each census the totals, of some the
 * graph (census/snapshot/graphs_wanted.h). Graphs that are not wanted any more go when
 * there are as many bytes of them as of the rest, and at the end.
 */
#ifndef HI_SESSION_SERIES_STORE_H
#define HI_SESSION_SERIES_STORE_H

#include "session/inspection.h"
#include "session/series/sink.h"

/* Results that each census needs. */
#define HI_SERIES_STORE_WANTED                                                           \
	(HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_LEDGER | HI_WANT_CENSUS)
/* Beside the options' output, with what the run keeps in a file, before anything is stopped. When the disk is full, the
 * file has all that came before. HI_LIMIT of a mark: it has so many that no more are
 * taken. */
enum hi_status hi_series_store_open(const struct hi_options *options,
				    const struct hi_run *run, struct hi_series_sink *ret,
				    struct hi_error *err);

#endif
