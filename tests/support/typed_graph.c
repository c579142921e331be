/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/typed_graph.h"

#include <stdio.h>

#include "tests/harness.h"

hi_node typed_graph_node(const struct hi_graph *g, uint64_t addr)
{
	uint64_t offset = 0;
	hi_node node = hi_objects_find(g->objects, addr, &offset);

	HI_ASSERT_MSG(node != HI_NODE_NONE && offset == 0, "no object at 0x%llx",
		      (unsigned long long)addr);
	return node;
}

const char *typed_graph_type(const struct hi_graph *g, uint64_t addr)
{
	hi_node node = typed_graph_node(g, addr);
	static char text[4][300];
	static unsigned turn;
	char *out = text[turn++ % 4];
	const struct hi_type_name *type = &g->types[g->objects->type[node]];

	snprintf(out, sizeof(text[0]), "%s%s",
		 type->klass == HI_TYPE_FIELD ? "" : type->name,
		 g->objects->flags[node] & HI_OBJECT_ARRAY ? "[]" : "");
	return out;
}
