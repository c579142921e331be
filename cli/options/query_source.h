/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives an inspection to query/. Costly parts are computed when a query first uses
 * them. */
#ifndef HI_CLI_OPTIONS_QUERY_SOURCE_H
#define HI_CLI_OPTIONS_QUERY_SOURCE_H

#include "base/interner.h"
#include "base/vector.h"
#include "census/retainers/bins.h"
#include "decode/usage/contents.h"
#include "query/query.h"
#include "session/edge_text.h"
#include "session/inspect/inspect.h"

/* Zero-initialised is empty. */
struct hi_query_censuses {
	struct hi_query_census_list HI_VECTOR(struct hi_query_census) list;
	struct hi_interner names;
};

struct hi_query_feed {
	struct hi_inspection *in;
	struct hi_query_source source;	   /* filled by hi_query_feed_begin */
	struct hi_edge_text_reader labels; /* its `in` NULL: not opened */
	hi_node node;			   /* whose labels are in texts */
	struct hi_query_texts HI_VECTOR(const char *) texts;
	uint64_t time_ns;
	struct hi_query_censuses censuses;
	struct hi_snapshots_marks marks;
	struct hi_audit audit;
	bool has_audit;
	const uint32_t *equal; /* contents; of the file, or of `alike` */
	struct hi_contents_marks alike;
	bool has_equal;
	struct hi_set_pool *pool; /* of the bins */
	struct hi_bins *bins;
};

/* Fills in feed->source. feed must not move before hi_query_feed_end(), which is called
 * after the query. */
void hi_query_feed_begin(struct hi_query_feed *feed, struct hi_inspection *in,
			 uint64_t time_ns);
/* Frees what the feed has made. */
void hi_query_feed_end(struct hi_query_feed *feed);

/* Reads the censuses of the file (cli/commands/query_censuses.c); without a file, this
 * one. *ret is borrowed from c. */
enum hi_status hi_query_read_censuses(struct hi_query_censuses *c,
				      struct hi_inspection *in,
				      const struct hi_census *this_one, uint64_t time_ns,
				      const struct hi_query_census **ret, size_t *n_ret,
				      struct hi_error *err);
/* Reads the marks of the file; none if it is no series. */
enum hi_status hi_query_read_marks(struct hi_inspection *in,
				   struct hi_snapshots_marks *ret, struct hi_error *err);
void hi_query_censuses_free(struct hi_query_censuses *c);

#endif
