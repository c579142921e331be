/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A series into one snapshot file (snap --every): of each census the totals, of some the
 * graph (census/graph/graphs_wanted.h). What is not wanted any more goes when there is as
 * much of it as of the rest, and at the end.
 */
#ifndef HI_SESSION_SERIES_STORE_H
#define HI_SESSION_SERIES_STORE_H

#include "census/graph/graphs_wanted.h"
#include "report/views/series.h"
#include "session/inspect.h"

struct hi_series_store {
	const struct hi_options *options;
	struct hi_snapshots_writer *writer;
	bool *points, *graphs; /* entries of the writer that stay */
	bool *before;	       /* points, once more */
	size_t capacity;
	uint64_t stride; /* only each so manieth census is made: --max-file */
	uint64_t calls;
	uint64_t too_large; /* live bytes whose graph did not fit into --max-file */
	char news[240];	    /* the message about the last census; "" */
};

/* Beside options->output, before anything is stopped. */
enum hi_status hi_series_store_open(const struct hi_options *options,
				    struct hi_series_store *ret, struct hi_error *err);
/* The sample's place on the axes is known. HI_OS: the disk is full; the file has all
 * that came before. */
enum hi_status hi_series_store_put(struct hi_series_store *store,
				   struct hi_inspection *in,
				   const struct hi_series_sample *sample,
				   struct hi_error *err);
/* HI_LIMIT: the file has so many that no more are taken. */
enum hi_status hi_series_store_mark(struct hi_series_store *store,
				    const struct hi_snapshots_mark *mark,
				    struct hi_error *err);
/* Fills news with what the file has. */
enum hi_status hi_series_store_end(struct hi_series_store *store, enum hi_series_end end,
				   struct hi_error *err);
void hi_series_store_close(struct hi_series_store *store); /* also of a zeroed one */

#endif
