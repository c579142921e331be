/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/retainers/type_evidence.h"

#include "census/analysis/walk_internal.h"

/* Returns the share of an object without evidence. */
static struct hi_share *share_without(const struct hi_graph *g, hi_node i,
				      struct hi_shares *shares)
{
	return g->types[hi_type_of(g, i)].klass == HI_TYPE_FIELD ? &shares->by_field
								 : &shares->unnamed;
}

void hi_shares_count(const struct hi_graph *g, const struct hi_reach *reach,
		     struct hi_shares *ret)
{
	struct hi_shares shares = {};

	for (hi_node i = 0; i < g->n_objects; i++) {
		uint8_t evidence = g->objects->flags[i] & HI_OBJECT_EVIDENCE_MASK;
		struct hi_share *share = &shares.inferred;

		if (!hi_bit(reach->any, i) || hi_is_internal(g, i))
			continue;
		/* Beyond the last there is none. */
		if (evidence == HI_EVIDENCE_NONE || evidence > HI_EVIDENCE_RUNTIME)
			share = share_without(g, i, &shares);
		else if (evidence >= HI_EVIDENCE_POINTER)
			share = &shares.exact;
		share->objects++;
		share->bytes += hi_cost_of(g->objects, i);
	}
	shares.conservative_only =
		(struct hi_share){reach->live_objects - reach->exact_objects,
				  reach->live_bytes - reach->exact_bytes};
	*ret = shares;
}
