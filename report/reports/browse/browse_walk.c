/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths to all objects, found by a thread while the user looks at something else. */
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/reports/browse/browse_rows_internal.h"

struct hi_browse_walk {
	const struct hi_graph *graph;
	struct hi_path_tree *tree;
	atomic_bool stop;
	pthread_t thread;
	bool is_joined;
};

static void *walk_heap(void *arg)
{
	struct hi_browse_walk *walk = arg;
	struct hi_error quiet;

	(void)!hi_path_tree_compute(walk->graph, &walk->stop, &walk->tree, &quiet);
	return NULL;
}

struct hi_browse_walk *hi_browse_walk_start(const struct hi_browse_heap *heap)
{
	struct hi_browse_walk *walk;

	if (heap->threads == 1)
		return NULL;
	walk = hi_calloc(1, sizeof(*walk));
	if (!walk)
		return NULL;
	walk->graph = heap->graph;
	if (pthread_create(&walk->thread, NULL, walk_heap, walk) == 0)
		return walk;
	free(walk);
	return NULL;
}

const struct hi_path_tree *hi_browse_walk_wait(struct hi_browse_walk *walk)
{
	if (walk && !walk->is_joined) {
		pthread_join(walk->thread, NULL);
		walk->is_joined = true;
	}
	return walk ? walk->tree : NULL;
}

void hi_browse_walk_end(struct hi_browse_walk *walk)
{
	if (!walk)
		return;
	atomic_store(&walk->stop, true);
	(void)hi_browse_walk_wait(walk);
	hi_path_tree_destroy(walk->tree);
	free(walk);
}
