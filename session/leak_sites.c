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

static void fit_leak(struct hi_inspection *in, const struct hi_alloc_sites *sites,
		     struct hi_leaks_row *row)
{
	const struct hi_objects *objects = in->graph->objects;
	const char *maybe[HI_LEAK_FITS + 1];
	hi_node node = hi_objects_find(objects, row->address, NULL);
	struct hi_alloc_sought sought = {.maybe = maybe};
	uint64_t used;

	if (node == HI_NODE_NONE)
		return;
	used = in->source->contents->used_bytes(in, node);
	sought.usable = hi_objects_usable(objects, node);
	sought.above = hi_alloc_below(sought.usable);
	sought.type = hi_graph_type_name(in->graph, objects->type[node]);
	sought.used = *sought.type && used != UINT64_MAX ? used : 0;
	sought.n_maybe = *sought.type ? 0 : list_maybe(&row->kind, maybe);
	sought.is_text = !*sought.type && row->kind.text;
	sought.has_pointers = !*sought.type && row->kind.pointers;
	row->made_by = hi_alloc_sites_fit(sites, &sought);
}

enum hi_status hi_leak_sites_find(struct hi_inspection *in,
				  struct hi_leaks_report *report,
				  struct hi_alloc_sites **ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	*ret = NULL;
	if (!report->n_rows && !report->n_roots)
		return HI_OK;
	status = in->source->contents->open_used_bytes(in, err);
	if (status == HI_OK)
		status = in->source->results->find_alloc_sites(in, ret, err);
	for (size_t i = 0; status == HI_OK && *ret && i < report->n_rows; i++)
		fit_leak(in, *ret, &report->rows[i]);
	for (size_t i = 0; status == HI_OK && *ret && i < report->n_roots; i++)
		fit_leak(in, *ret, &report->roots[i]);
	return status;
}
