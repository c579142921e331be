/* SPDX-License-Identifier: BSD-2-Clause */
/* Series files of small random graphs, for the tests of the format. */
#ifndef HI_TESTS_CENSUS_SERIES_FILES_H
#define HI_TESTS_CENSUS_SERIES_FILES_H

#include <stdlib.h>
#include <sys/stat.h>

#include "census/snapshot/snapshot_series.h"
#include "tests/census/snapshots.h"
#include "tests/support/temporary.h"

/* What a census of this number says, in every file. */
static inline struct hi_census_point drawn_point(uint32_t number)
{
	return (struct hi_census_point){.number = number,
					.time_ns = 1700000000000000000 + number,
					.wall_ns = number * 1000000007ull,
					.cpu_ns = number * 10007ull,
					.pause_ns = number * 3ull,
					.objects = number * 100ull,
					.bytes = (number * 7919ull) % 10007,
					.leaked = number};
}

static inline enum hi_status put_sums(struct hi_snapshots_writer *w, uint32_t number,
				      struct hi_error *err)
{
	struct hi_snapshot_options options = {.at = w->end};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *s = NULL;
	struct hi_census_point point = drawn_point(number);
	enum hi_status status = hi_snapshot_create(w->fd, &options, &s, err);

	if (status == HI_OK)
		status = hi_snapshot_put_number(s, "number", number, err);
	if (status == HI_OK)
		status = hi_snapshot_finish(s, err);
	return status == HI_OK ? hi_snapshots_commit(w, HI_SNAPSHOTS_TOTALS, &point, err)
			       : status;
}

static inline enum hi_status put_whole(struct hi_snapshots_writer *w, uint32_t number,
				       const struct hi_graph *g, const struct hi_reach *r,
				       const struct hi_dominators *d,
				       struct hi_error *err)
{
	struct hi_snapshot_options options = {.at = w->end};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *s = NULL;
	struct hi_census_point point = drawn_point(number);
	enum hi_status status = hi_snapshot_create(w->fd, &options, &s, err);

	if (status == HI_OK)
		status = hi_snapshot_put_number(s, "number", number, err);
	if (status == HI_OK)
		status = drawn_put(s, g, r, d, err);
	return status == HI_OK ? hi_snapshots_commit(w, HI_SNAPSHOTS_WHOLE, &point, err)
			       : status;
}

/* Is all of the part there, and what was written for that number? */
static inline bool part_is_whole(const struct hi_snapshots *s, size_t i,
				 enum hi_snapshots_kind kind, const struct hi_graph *like)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *part = NULL;
	OWN(graph) *g = NULL;
	struct hi_error err;

	if (hi_snapshots_part(s, i, kind, &part, &err) != HI_OK)
		return false;
	HI_ASSERT_EQ(s->entries[i].point.number, hi_snapshot_number(part, "number", 0));
	if (kind == HI_SNAPSHOTS_TOTALS)
		return true;
	if (hi_snapshot_graph(part, &g, &err) != HI_OK)
		return false;
	HI_ASSERT_EQ(like->n_nodes, g->n_nodes);
	for (hi_node n = 0; n < g->n_nodes; n++)
		HI_ASSERT_EQ(hi_graph_edges(like, n).count, hi_graph_edges(g, n).count);
	return true;
}

/* A directory that goes with the test; in memory, where thousands of fsyncs are cheap. */
static inline const char *scratch(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/hi-series-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	HI_ASSERT(mkdtemp(path));
	temporary_path(path);
	return path;
}

#endif
