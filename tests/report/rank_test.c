/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of nodes that reports share. */
#include "report/node_order.h"
#include "tests/harness.h"

HI_TEST(rank, the_largest_come_first_and_then_the_lower_ids)
{
	uint64_t retained[] = {5, 9, 5, 7};
	const struct hi_dominators d = {.retained = retained};
	hi_node nodes[] = {2, 0, 3, 1};

	hi_rank_nodes(&d, nodes, 4);
	HI_ASSERT_EQ(1, nodes[0]);
	HI_ASSERT_EQ(3, nodes[1]);
	HI_ASSERT_EQ(0, nodes[2]);
	HI_ASSERT_EQ(2, nodes[3]);
}

/* No array is made for no nodes: qsort(3) must not get it. */
HI_TEST(rank, no_nodes_need_no_array)
{
	hi_rank_nodes(&(const struct hi_dominators){}, NULL, 0);
}
