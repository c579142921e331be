/* SPDX-License-Identifier: BSD-2-Clause */
/* All sites of a safepoint, whatever it is. */
#include "probes/condition.h"

enum hi_status hi_find_probe_sites(struct hi_target_code *code,
				   const struct hi_safepoint *safepoint,
				   struct hi_probe_site_list *sites, struct hi_error *err)
{
	struct hi_condition condition;
	enum hi_status status = HI_OK;

	/* One that names arguments is compiled for the function, others are the same
	 * everywhere. */
	if (safepoint->condition && safepoint->kind != HI_SAFEPOINT_FUNCTION)
		status = hi_condition_compile(code, safepoint->condition, 0, &condition,
					      err);
	if (status != HI_OK)
		return status;
	switch (safepoint->kind) {
	case HI_SAFEPOINT_FUNCTION:
		return hi_find_function(code, safepoint, sites, err);
	case HI_SAFEPOINT_LINE:
		return hi_find_line(code, safepoint, sites, err);
	case HI_SAFEPOINT_USDT:
		status = hi_find_usdt(code, safepoint, sites, err);
		hi_probe_sites_mark_ends(safepoint, sites);
		return status;
	case HI_SAFEPOINT_GC:
		return hi_find_gc(code, sites, err);
	case HI_SAFEPOINT_NOW:
		break;
	}
	return hi_fail(err, HI_USAGE, 0, "\"now\" needs no probe");
}

enum hi_status hi_condition_of_sites(struct hi_target_code *code,
				     const struct hi_safepoint *safepoint,
				     const struct hi_probe_site_list *sites,
				     struct hi_condition *ret, struct hi_error *err)
{
	const struct hi_probe_site *first = sites->items;
	bool in_function = safepoint->kind == HI_SAFEPOINT_FUNCTION && sites->count;

	if (!safepoint->condition) {
		*ret = (struct hi_condition){};
		return HI_OK;
	}
	return hi_condition_compile(
		code, safepoint->condition,
		in_function ? first->address - first->into_function : 0, ret, err);
}
