/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/graph/graph.h"

const char *hi_root_kind_name(enum hi_root_kind kind)
{
	static const char *const names[HI_ROOT_KINDS] = {
		[HI_ROOT_GLOBAL] = "globals",	  [HI_ROOT_TLS] = "thread-locals",
		[HI_ROOT_STACK] = "stack frames", [HI_ROOT_REGISTER] = "registers",
		[HI_ROOT_RUNTIME] = "runtime",	  [HI_ROOT_UNTYPED] = "untyped words",
	};

	return (unsigned)kind < HI_ROOT_KINDS ? names[kind] : "unknown";
}

enum hi_root_rank hi_root_rank(const struct hi_root *root)
{
	if (root->rank > HI_RANK_BY_KIND && root->rank < HI_RANKS)
		return (enum hi_root_rank)root->rank;
	return root->kind == HI_ROOT_UNTYPED || root->kind == HI_ROOT_REGISTER
		       ? HI_RANK_NOBODY
		       : HI_RANK_PROGRAM;
}

const char *hi_type_class_name(enum hi_type_class klass)
{
	static const char *const names[HI_TYPE_CLASSES] = {
		[HI_TYPE_UNKNOWN] = "unknown",
		[HI_TYPE_RECORD] = "record",
		[HI_TYPE_ARRAY] = "array",
		[HI_TYPE_STRING] = "string",
		[HI_TYPE_POINTER_ARRAY] = "pointer array",
		[HI_TYPE_SCALAR] = "scalar",
		[HI_TYPE_FIELD] = "field",
	};

	return (unsigned)klass < HI_TYPE_CLASSES ? names[klass] : "unknown";
}

uint64_t hi_graph_cost(const struct hi_graph *g, hi_node node)
{
	return node < g->n_objects ? hi_objects_cost(g->objects, node) : 0;
}

const char *hi_unreachable_class_key(enum hi_unreachable_class klass)
{
	static const char *const keys[HI_UNREACHABLE_CLASSES] = {
		[HI_UNREACHABLE_NO_CLASS] = "leaked",
		[HI_UNREACHABLE_GARBAGE] = "garbage",
		[HI_UNREACHABLE_UNCOLLECTABLE] = "uncollectable",
		[HI_UNREACHABLE_LOST_REFERENCE] = "lost reference"};

	return keys[klass];
}
