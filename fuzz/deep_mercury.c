/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data of Mercury's deep profiler of any bytes: what is read is a deep profile, and what
 * is written of it is read as the same one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/census/deep_profiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct written {
	char *bytes;
	size_t size;
};

static struct written write_data(const struct hi_deep_profile *p)
{
	struct written w = {};
	FILE *out = open_memstream(&w.bytes, &w.size);
	struct hi_error err;

	HI_ASSERT(out != NULL);
	HI_ASSERT_OK(hi_deep_mercury_write(p, out, &err), &err);
	fclose(out);
	return w;
}

/* Sums of larger costs overflow, and such a file is refused. */
static bool has_small_costs(const struct hi_deep_graph *g)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		if (g->total.of[i] >> 60)
			return false;
	return true;
}

static void check_written(const struct hi_deep_profile *p)
{
	struct written first = write_data(p), second;
	struct hi_deep_profile q;
	struct hi_error err;

	HI_ASSERT_OK(
		hi_deep_mercury_read((const uint8_t *)first.bytes, first.size, &q, &err),
		&err);
	check_deep_profile(&q);
	HI_ASSERT_EQ(p->graph.n_nodes, q.graph.n_nodes);
	HI_ASSERT_EQ(p->graph.n_edges, q.graph.n_edges);
	HI_ASSERT_EQ(p->graph.n_cliques, q.graph.n_cliques);
	second = write_data(&q);
	HI_ASSERT_EQ(first.size, second.size);
	HI_ASSERT(memcmp(first.bytes, second.bytes, first.size) == 0);
	hi_deep_profile_free(&q);
	free(first.bytes);
	free(second.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hi_deep_profile p;
	struct hi_error err = {};

	if (hi_deep_mercury_read(data, size, &p, &err) != HI_OK) {
		HI_ASSERT(*err.text);
		return 0;
	}
	check_deep_profile(&p);
	if (has_small_costs(&p.graph))
		check_written(&p);
	hi_deep_profile_free(&p);
	return 0;
}
