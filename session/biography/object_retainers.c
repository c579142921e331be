/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/object_retainers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/root_keys.h"
#include "session/retainers/retaining.h"

/* ---- root variables ---- */

static enum hi_status find_object_roots(struct hi_object_groups *groups,
					struct hi_inspection *in, uint32_t **ret,
					struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	HI_GUARD(free) uint32_t *of_root = hi_calloc(g->n_roots + 1u, sizeof(*of_root));
	HI_GUARD(free) uint32_t *keys = hi_calloc(g->n_nodes + 1u, sizeof(*keys));
	uint32_t several = 0;
	enum hi_status status;

	if (!of_root || !keys)
		return hi_fail_memory(err, "roots of biographies");
	status = hi_object_groups_text(groups, "(several roots)", &several, err);
	for (uint32_t i = 0; status == HI_OK && i < g->n_roots; i++)
		status =
			hi_object_groups_text(groups, g->roots[i].name, &of_root[i], err);
	if (status == HI_OK && in->results.dominators)
		hi_dominators_root_keys(g, in->results.dominators, of_root, several,
					keys);
	else if (status == HI_OK)
		status = hi_root_keys_find(g, in->results.reach, of_root, several, keys,
					   err);
	if (status == HI_OK)
		*ret = hi_take(keys);
	return status;
}

/* ---- retainer sets ---- */

static const char *name_of_object_retainer(void *arg, uint32_t identity)
{
	return hi_interner_name(arg, identity);
}

/* "{a, b}" */
static enum hi_status add_set_text(struct hi_object_groups *groups,
				   struct hi_retaining *r, uint32_t set, uint32_t *ret,
				   struct hi_error *err)
{
	uint32_t n = hi_set_size(r->pool, set);
	HI_GUARD(free) uint32_t *members = hi_calloc(n + 1u, sizeof(*members));
	HI_GUARD(free) char *text = NULL;
	size_t length;

	if (set == HI_SET_MANY)
		return hi_object_groups_text(groups, "MANY", ret, err);
	if (!members)
		return hi_fail_memory(err, "retainers of biographies");
	hi_set_members(r->pool, set, members);
	length = hi_set_label(members, n, ", ", name_of_object_retainer, &r->names, NULL,
			      0);
	text = hi_alloc(length + 3);
	if (!text)
		return hi_fail_memory(err, "retainers of biographies");
	text[0] = '{';
	hi_set_label(members, n, ", ", name_of_object_retainer, &r->names, text + 1,
		     length + 1);
	memcpy(text + 1 + length, "}", 2);
	return hi_object_groups_text(groups, text, ret, err);
}

static enum hi_status find_object_sets(struct hi_object_groups *groups,
				       struct hi_inspection *in, uint32_t **ret,
				       struct hi_error *err)
{
	const struct hi_set_table *t = &in->profile.retaining->sets->table;
	size_t n = hi_set_pool_end(in->profile.retaining->pool);
	HI_GUARD(free) uint32_t *of_set = hi_calloc(n + HI_SET_FIRST, sizeof(*of_set));
	HI_GUARD(free) uint32_t *set = hi_calloc(t->n_objects + 1u, sizeof(*set));
	enum hi_status status = HI_OK;

	if (!of_set || !set)
		return hi_fail_memory(err, "retainers of biographies");
	for (size_t i = 0; status == HI_OK && i < t->n_rows; i++)
		status = add_set_text(groups, in->profile.retaining, t->rows[i].set,
				      &of_set[t->rows[i].set], err);
	if (status != HI_OK)
		return status;
	for (hi_node i = 0; i < t->n_objects; i++)
		set[i] = of_set[t->set[i]];
	*ret = hi_take(set);
	return HI_OK;
}

/* ---- both ---- */

enum hi_status hi_object_retainers_find(struct hi_object_groups *groups,
					struct hi_inspection *in, bool with_sets,
					struct hi_object_retainers *ret,
					struct hi_error *err)
{
	enum hi_status status = find_object_roots(groups, in, &ret->root, err);

	if (status != HI_OK || !with_sets)
		return status;
	status = hi_retaining_compute(in, err);
	return status == HI_OK ? find_object_sets(groups, in, &ret->set, err) : status;
}

void hi_object_retainers_free(struct hi_object_retainers *retainers)
{
	free(retainers->root);
	free(retainers->set);
	*retainers = (struct hi_object_retainers){};
}
