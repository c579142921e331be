/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/leak_sites.h"

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

struct hi_alloc_fits hi_leak_sites_fit(struct hi_inspection *in,
				       const struct hi_alloc_sites *sites,
				       uint64_t address, const struct hi_leak_name *name)
{
	const struct hi_objects *objects = in->graph->objects;
	const char *maybe[HI_LEAK_FITS + 1];
	hi_node node = hi_objects_find(objects, address, NULL);
	struct hi_alloc_sought sought = {.maybe = maybe};
	uint64_t used;

	if (node == HI_NODE_NONE || !sites)
		return (struct hi_alloc_fits){};
	used = in->source->contents->used_bytes(in, node);
	sought.usable = hi_objects_usable(objects, node);
	sought.above = hi_alloc_below(sought.usable);
	sought.type = hi_graph_type_name(in->graph, objects->type[node]);
	sought.used = *sought.type && used != UINT64_MAX ? used : 0;
	sought.n_maybe = *sought.type ? 0 : list_maybe(name, maybe);
	sought.is_text = !*sought.type && name->text;
	sought.has_pointers = !*sought.type && name->pointers;
	return hi_alloc_sites_fit(sites, &sought);
}

enum hi_status hi_leak_sites_open(struct hi_inspection *in, struct hi_alloc_sites **ret,
				  struct hi_error *err)
{
	enum hi_status status = in->source->contents->open_used_bytes(in, err);

	*ret = NULL;
	return status == HI_OK ? in->source->results->find_alloc_sites(in, ret, err)
			       : status;
}
