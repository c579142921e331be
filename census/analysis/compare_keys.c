/* SPDX-License-Identifier: BSD-2-Clause */
/* Assigns each object to a row of a comparison. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/compare_internal.h"
#include "census/analysis/leak_totals.h"

void hi_compare_keys_free(struct hi_compare_keys *k)
{
	free(k->texts);
	for (unsigned i = 0; i < 2; i++) {
		free(k->of_type[i]);
		free(k->of_object[i]);
	}
	*k = (struct hi_compare_keys){};
}

/* ---- by variable ---- */

enum { SEVERAL, LEAKED, FIRST_NAME = LEAKED + HI_LEAK_KINDS };

struct root_name {
	const char *text;
	uint32_t side, root;
};

static int compare_root_names(const void *a, const void *b)
{
	return strcmp(((const struct root_name *)a)->text,
		      ((const struct root_name *)b)->text);
}

/* Numbers of root names, into of[side][root]. */
static enum hi_status number_roots(const struct hi_graph *const g[2], bool same_process,
				   uint32_t *of[2], struct hi_compare_keys *k,
				   struct hi_error *err)
{
	size_t n = (size_t)g[0]->n_roots + g[1]->n_roots, at = 0;
	HI_GUARD(free) struct root_name *names = hi_alloc((n + 1) * sizeof(*names));

	k->texts = hi_alloc((n + FIRST_NAME) * sizeof(*k->texts));
	if (!names || !k->texts)
		return hi_fail_memory(err, "comparison");
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t i = 0; i < g[side]->n_roots; i++)
			names[at++] = (struct root_name){
				hi_compare_root_name(g[side]->roots[i].name,
						     same_process),
				side, i};
	if (n)
		qsort(names, n, sizeof(*names), compare_root_names);
	k->texts[SEVERAL] = "(several roots)";
	for (unsigned i = 0; i < HI_LEAK_KINDS; i++)
		k->texts[LEAKED + i] = hi_leak_kind_label((enum hi_leak_kind)i);
	k->n = FIRST_NAME;
	for (size_t i = 0; i < n; i++) {
		if (!i || strcmp(names[i].text, names[i - 1].text) != 0)
			k->texts[k->n++] = names[i].text;
		of[names[i].side][names[i].root] = k->n - 1;
	}
	return HI_OK;
}

static enum hi_status keys_of_objects(const struct hi_heap_side *side,
				      const uint32_t *roots, uint32_t **ret,
				      struct hi_error *err)
{
	const struct hi_graph *g = side->graph;
	uint32_t *keys = hi_alloc((size_t)g->n_nodes * sizeof(*keys));

	if (!keys)
		return hi_fail_memory(err, "comparison");
	for (hi_node i = 0; i < g->n_nodes; i++)
		keys[i] = LEAKED + (i < g->n_objects ? hi_leak_kind_of(g, side->reach, i)
						     : HI_LEAK_CERTAIN);
	hi_dominators_root_keys(g, side->dominators, roots, SEVERAL, keys);
	*ret = keys;
	return HI_OK;
}

static enum hi_status keys_by_root(const struct hi_heap_side *before,
				   const struct hi_heap_side *after, bool same_process,
				   struct hi_compare_keys *k, struct hi_error *err)
{
	const struct hi_graph *const g[2] = {before->graph, after->graph};
	HI_GUARD(free) uint32_t *a = hi_calloc(g[0]->n_roots + 1u, sizeof(*a));
	HI_GUARD(free) uint32_t *b = hi_calloc(g[1]->n_roots + 1u, sizeof(*b));
	uint32_t *of[2] = {a, b};
	enum hi_status status;

	if (!a || !b)
		return hi_fail_memory(err, "comparison");
	status = number_roots(g, same_process, of, k, err);
	if (status == HI_OK)
		status = keys_of_objects(before, a, &k->of_object[0], err);
	return status == HI_OK ? keys_of_objects(after, b, &k->of_object[1], err)
			       : status;
}

/* ---- by groups ---- */

static enum hi_status keys_by_type_number(const struct hi_heap_side *side,
					  const uint32_t *numbers, uint32_t **ret,
					  struct hi_error *err)
{
	hi_node n = side->graph->n_objects;
	uint32_t *keys = hi_alloc(((size_t)n + 1) * sizeof(*keys));

	if (!keys)
		return hi_fail_memory(err, "comparison");
	for (hi_node i = 0; i < n; i++)
		keys[i] = numbers[side->groups->of_object[i]];
	*ret = keys;
	return HI_OK;
}

static enum hi_status keys_by_group(const struct hi_heap_side *before,
				    const struct hi_heap_side *after,
				    struct hi_compare_keys *k, struct hi_error *err)
{
	size_t n = before->groups->n, all = n + after->groups->n;
	HI_GUARD(free)
	struct hi_compare_name *names = hi_alloc((all + 1) * sizeof(*names));
	HI_GUARD(free) uint32_t *numbers = hi_calloc(all + 1, sizeof(*numbers));
	enum hi_status status;

	k->texts = hi_alloc((all + 1) * sizeof(*k->texts));
	if (!names || !numbers || !k->texts)
		return hi_fail_memory(err, "comparison");
	for (size_t i = 0; i < all; i++)
		names[i] = (struct hi_compare_name){i < n ? before->groups->names[i]
							  : after->groups->names[i - n],
						    &numbers[i]};
	k->n = hi_compare_number_names(names, all);
	for (size_t i = 0; i < all; i++)
		k->texts[*names[i].number] = names[i].text;
	status = keys_by_type_number(before, numbers, &k->of_object[0], err);
	return status == HI_OK
		       ? keys_by_type_number(after, numbers + n, &k->of_object[1], err)
		       : status;
}

enum hi_status hi_compare_keys_of(const struct hi_heap_side *before,
				  const struct hi_heap_side *after, bool same_process,
				  enum hi_compare_by by, struct hi_compare_keys *ret,
				  struct hi_error *err)
{
	struct hi_compare_keys k = {};
	enum hi_status status;

	if (by == HI_COMPARE_BY_ROOT) {
		status = keys_by_root(before, after, same_process, &k, err);
	} else if (by == HI_COMPARE_BY_GROUP) {
		status = keys_by_group(before, after, &k, err);
	} else {
		k.of_type[0] = hi_calloc(before->graph->n_types, sizeof(uint32_t));
		k.of_type[1] = hi_calloc(after->graph->n_types, sizeof(uint32_t));
		status = k.of_type[0] && k.of_type[1]
				 ? hi_compare_merge_types(before->graph, after->graph, by,
							  k.of_type[0], k.of_type[1],
							  &k.texts, &k.n, err)
				 : hi_fail_memory(err, "comparison");
	}
	if (status == HI_OK)
		*ret = k;
	else
		hi_compare_keys_free(&k);
	return status;
}
