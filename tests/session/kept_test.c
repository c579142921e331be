/* SPDX-License-Identifier: BSD-2-Clause */
/* What an inspection keeps gives the same answers as one that has nothing yet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "census/analysis/owners.h"
#include "session/computed.h"
#include "session/edge_text.h"
#include "session/inspect/inspect.h"
#include "session/path_text.h"
#include "session/snapshot/snapshot_source.h"
#include "tests/harness.h"
#include "tests/support/snapshots.h"

enum { ASKED = 60, REFERRERS_MOST = 50 };

static struct hi_inspection *open_kept(const struct hi_options *options)
{
	struct hi_inspection *in = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_inspect_open(options, NULL, HI_WANT_DOMINATORS | HI_WANT_SUSPECTS,
				     &in, &err),
		     &err);
	hi_test_defer(hi_inspect_close, in);
	return in;
}

static hi_node asked_node(const struct hi_inspection *in, unsigned i)
{
	return (hi_node)((uint64_t)in->graph->first_kind * i / ASKED);
}

static void check_ways(struct hi_inspection *a, struct hi_inspection *b)
{
	hi_node nodes[ASKED];
	struct hi_paths *x = NULL, *y = NULL;
	struct hi_error err = {};

	for (unsigned i = 0; i < ASKED; i++)
		nodes[i] = asked_node(a, i);
	HI_ASSERT_OK(hi_kept_ways(a, nodes, ASKED, &x, &err), &err);
	HI_ASSERT_OK(hi_kept_ways(b, nodes, ASKED, &y, &err), &err);
	for (unsigned i = 0; i < ASKED; i++) {
		HI_ASSERT_EQ(x->paths[i].length, y->paths[i].length);
		if (x->paths[i].length)
			HI_ASSERT(memcmp(x->paths[i].nodes, y->paths[i].nodes,
					 x->paths[i].length * sizeof(hi_node)) == 0);
	}
	hi_paths_destroy(x);
	hi_paths_destroy(y);
}

static void check_kept_referrers(struct hi_inspection *a, struct hi_inspection *b,
				 hi_node node)
{
	struct hi_referrers *x = NULL, *y = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_kept_referrers(a, node, REFERRERS_MOST, &x, &err), &err);
	HI_ASSERT_OK(hi_kept_referrers(b, node, REFERRERS_MOST, &y, &err), &err);
	HI_ASSERT_EQ(x->total, y->total);
	HI_ASSERT_EQ(x->count, y->count);
	for (size_t i = 0; i < x->count; i++)
		HI_ASSERT(x->from[i] == y->from[i] && x->grade[i] == y->grade[i]);
	hi_referrers_destroy(x);
	hi_referrers_destroy(y);
}

/* Paths that are found together are those that are found one by one. */
static void check_prepared(const struct hi_options *options, struct hi_inspection *bare)
{
	struct hi_inspection *together = open_kept(options);
	hi_node nodes[ASKED];

	for (unsigned i = 0; i < ASKED; i++)
		nodes[i] = asked_node(together, i);
	hi_path_text_prepare_objects(together, nodes, ASKED);
	for (unsigned i = 0; i < ASKED; i++)
		HI_ASSERT_STREQ(hi_path_text_from_root(bare, nodes[i]),
				hi_path_text_from_root(together, nodes[i]));
	HI_ASSERT(together->object_texts.count > 0);
}

HI_TEST_SCENARIO(kept, answers_are_those_of_an_inspection_that_keeps_nothing)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("bench_variety", "20000", NULL), in);
	const struct hi_options options = {
		.output.quiet = true,
		.decoding.threads = 2,
		.target.file = snapshot_of_core(core, in, "a.hisnap", NULL)};
	struct hi_inspection *bare = open_kept(&options), *kept = open_kept(&options);
	unsigned steps = 0;

	while (hi_kept_warm_up(kept))
		HI_ASSERT(++steps < 100);
	HI_ASSERT(kept->kept.paths && !kept->kept.has_failed);
	check_ways(bare, kept);
	for (unsigned i = 0; i < ASKED; i++)
		check_kept_referrers(bare, kept, asked_node(bare, i));
	HI_ASSERT(!bare->kept.paths);
	check_prepared(&options, bare);
	for (unsigned i = 0; i < ASKED; i++)
		HI_ASSERT_STREQ(hi_path_text_from_root(bare, asked_node(bare, i)),
				hi_path_text_from_root(kept, asked_node(kept, i)));
}

/* The rows of the file, against those that are computed of its graph. */
HI_TEST_SCENARIO(kept, owners_of_a_file_are_those_of_its_graph)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("bench_variety", "20000", NULL), in);
	const struct hi_options options = {
		.output.quiet = true,
		.target.file = snapshot_of_core(core, in, "a.hisnap", NULL)};
	struct hi_inspection *file = open_kept(&options);
	const struct hi_owners *stored = NULL;
	struct hi_owners *found = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_kept_owners(file, &stored, &err), &err);
	HI_ASSERT_OK(hi_owners_compute(file->graph, file->results.reach,
				       &file->shown.dominators, &found, &err),
		     &err);
	HI_ASSERT_EQ(found->n_rows, stored->n_rows);
	HI_ASSERT_EQ(found->n_shared_by_many, stored->n_shared_by_many);
	for (size_t i = 0; i < found->n_rows; i++) {
		const struct hi_owner_row *x = &found->rows[i], *y = &stored->rows[i];

		HI_ASSERT(x->n == y->n && x->is_many == y->is_many &&
			  x->is_named == y->is_named && x->bytes == y->bytes &&
			  x->largest == y->largest &&
			  x->largest_bytes == y->largest_bytes);
		HI_ASSERT(!x->n || memcmp(x->variables, y->variables,
					  x->n * sizeof(*x->variables)) == 0);
	}
	for (size_t i = 0; i < found->n_shared_by_many; i++)
		HI_ASSERT_EQ(found->shared_by_many[i], stored->shared_by_many[i]);
	hi_owners_destroy(found);
}
