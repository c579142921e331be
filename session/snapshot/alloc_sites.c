/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that allocate in a snapshot file. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "session/snapshot/snapshot_source.h"

static const struct hi_row_member site_members[] = {
#define SITE_MEMBER(name)                                                                \
	HI_ROW_MEMBER(struct hi_snapshot_site_row, name, struct hi_alloc_site, name)
	SITE_MEMBER(size),
	SITE_MEMBER(extra),
	SITE_MEMBER(function),
	SITE_MEMBER(file),
	SITE_MEMBER(module),
	SITE_MEMBER(type),
	SITE_MEMBER(line),
	SITE_MEMBER(kind),
	SITE_MEMBER(type_grade),
#undef SITE_MEMBER
	HI_ROW_MEMBER(struct hi_snapshot_site_row, gives_text, struct hi_alloc_site,
		      text),
};
static const struct hi_row_map site_map =
	HI_ROW_MAP("leaks.sites", struct hi_alloc_site, site_members);

enum hi_status hi_snapshot_save_alloc_sites(struct hi_inspection *in,
					    struct hi_snapshot_writer *w,
					    struct hi_error *err)
{
	HI_GUARD(hi_alloc_sites_destroy) struct hi_alloc_sites *sites = NULL;
	enum hi_status status = HI_OK;

	/* A series would have them once for each census. */
	if (in->run->census_cache || !in->results.reach ||
	    (!in->results.reach->leak_objects &&
	     !(in->results.suspects && in->results.suspects->count)))
		return HI_OK;
	status = in->source->results->find_alloc_sites(in, &sites, err);
	return status == HI_OK && sites ? hi_snapshot_put_rows(w, &site_map, sites->items,
							       sites->count, err)
					: status;
}

enum hi_status hi_snapshot_source_alloc_sites(struct hi_inspection *in,
					      struct hi_alloc_sites **ret,
					      struct hi_error *err)
{
	HI_GUARD(hi_alloc_sites_destroy)
	struct hi_alloc_sites *sites = hi_calloc(1, sizeof(*sites));
	enum hi_status status;

	if (!sites)
		return hi_fail_memory(err, "sites of allocations");
	status = hi_snapshot_take_rows(in->snapshot->snapshot, &site_map, NULL,
				       &sites->items, &sites->count, err);
	if (status == HI_OK && sites->items)
		*ret = hi_take(sites);
	return status;
}
