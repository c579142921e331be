/* SPDX-License-Identifier: BSD-2-Clause */
/* All edges of a node at once are called what each is called alone. */
#include <stdio.h>

#include "decode/describe/edge_labels.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/typed_process.h"

static uint64_t check_node(struct typed_process *p, struct hi_edge_labels *labels,
			   hi_node node)
{
	struct hi_edges edges = hi_graph_edges(p->graph, node);
	const char *texts[4096];
	struct hi_error err;
	uint64_t named = 0;

	if (edges.count > 4096)
		return 0;
	HI_ASSERT_OK(hi_edge_labels_of(labels, node, false, texts, &err), &err);
	for (uint32_t i = 0; i < edges.count; i++) {
		char alone[512];

		hi_typing_describe_edge(p->typing, p->graph, node, edges.to[i], alone,
					sizeof(alone));
		HI_ASSERT_STREQ(alone, texts[i]);
		named += alone[0] != 0 && alone[0] != ' ';
	}
	return named;
}

static void check_fixture(const char *name, const char *argument, bool conservative)
{
	struct hi_typing_options options = {.conservative = conservative};
	struct hi_fixture *fx = hi_fixture_start(name, argument, "5", NULL);
	struct typed_process *p;
	struct hi_edge_labels *labels;
	char line[512];
	struct hi_error err;
	uint64_t named = 0;

	do
		HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	while (strncmp(line, "ready", 5) != 0);
	p = typed_process_open(fx->pid, &options);
	HI_ASSERT_OK(hi_edge_labels_create(p->typing, p->graph, &labels, &err), &err);
	hi_test_defer(hi_edge_labels_destroy, labels);
	for (hi_node i = 0; i < p->graph->first_kind; i++)
		named += check_node(p, labels, i);
	hi_test_note("%s: %llu edges, %llu with a name", name,
		     (unsigned long long)p->graph->n_edges, (unsigned long long)named);
	HI_ASSERT(conservative || named > 20);
}

HI_TEST_SCENARIO(edge_labels, labels_of_a_node_equal_labels_of_each_edge)
{
	check_fixture("mixed_heap", "/dev/null", false);
	check_fixture("untyped_fields", "3", false);
	check_fixture("leak_shapes", "acyclic", false);
}

HI_TEST_SCENARIO(edge_labels, labels_without_types_are_offsets)
{
	check_fixture("leak_shapes", "acyclic", true);
}
