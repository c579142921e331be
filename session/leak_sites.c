/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/leak_sites.h"

#include "session/computed.h"

/* Types that a leak without a type may have: what looks the same comes first. */
static size_t list_maybe(const struct hi_leak_name *name,
			 const char *maybe[HI_LEAK_FITS + 1])
{
	size_t n = 0;

	if (name->like && *name->like)
		maybe[n++] = name->like;
	for (uint32_t i = 0; i < name->n_fits; i++)
		maybe[n++] = name->fits[i];
	return n;
}

static enum hi_status fit_sites(struct hi_inspection *in, hi_node node,
				const struct hi_leak_name *name,
				struct hi_alloc_fits *ret, struct hi_error *err)
{
	const struct hi_objects *objects = in->graph->objects;
	const char *maybe[HI_LEAK_FITS + 1];
	const struct hi_alloc_sites *sites = NULL;
	struct hi_alloc_sought sought = {.maybe = maybe};
	enum hi_status status = hi_kept_alloc_sites(in, &sites, err);
	uint64_t used;

	*ret = (struct hi_alloc_fits){};
	if (status != HI_OK || !sites)
		return status;
	used = in->source->contents->used_bytes(in, node);
	sought.usable = hi_objects_usable(objects, node);
	sought.above = hi_alloc_below(sought.usable);
	sought.type = hi_graph_type_name(in->graph, objects->type[node]);
	sought.used = *sought.type && used != UINT64_MAX ? used : 0;
	sought.n_maybe = *sought.type ? 0 : list_maybe(name, maybe);
	sought.is_text = !*sought.type && name->text;
	sought.has_pointers = !*sought.type && name->pointers;
	*ret = hi_alloc_sites_fit(sites, &sought);
	return HI_OK;
}

enum hi_status hi_leak_sites_fit(struct hi_inspection *in, uint64_t address,
				 const struct hi_leak_name *name,
				 struct hi_alloc_fits *ret, struct hi_error *err)
{
	hi_node node = hi_objects_find(in->graph->objects, address, NULL);

	*ret = (struct hi_alloc_fits){};
	return node == HI_NODE_NONE ? HI_OK : fit_sites(in, node, name, ret, err);
}

/* The name of a leak without a type, by the groups of all leaks. */
static enum hi_status name_untyped_leak(struct hi_inspection *in, hi_node node,
					struct hi_leak_name *ret, struct hi_error *err)
{
	struct hi_leak_root root = {.node = node, .named = node, .members = 1};
	struct hi_leaks leaks = {};
	enum hi_status status = HI_OK;

	if (!in->results.leak_groups)
		status = in->source->results->find_leak_groups(in, err);
	if (status != HI_OK)
		return status;
	leaks.groups = in->results.leak_groups;
	root.group = hi_leak_groups_find(leaks.groups, node);
	*ret = hi_leak_name_of_root(in->graph, &leaks, &root);
	return HI_OK;
}

enum hi_status hi_object_sites_fit(struct hi_inspection *in, hi_node node,
				   struct hi_alloc_fits *ret, struct hi_error *err)
{
	const struct hi_objects *o = in->graph->objects;
	bool is_leaked = !hi_bit(in->results.reach->any, node);
	struct hi_leak_name name = {.type = "", .like = "", .held = ""};
	enum hi_status status = HI_OK;

	*ret = (struct hi_alloc_fits){};
	if (hi_is_internal(in->graph, node) ||
	    (o->flags[node] & HI_OBJECT_EVIDENCE_MASK) == HI_EVIDENCE_RUNTIME ||
	    (!o->type[node] && !is_leaked))
		return HI_OK;
	if (!o->type[node])
		status = name_untyped_leak(in, node, &name, err);
	return status == HI_OK ? fit_sites(in, node, &name, ret, err) : status;
}
