/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/leak_totals.h"

#include "census/analysis/walk_internal.h"

static enum hi_unreachable_class unreachable_class_of(const struct hi_graph *g, hi_node i)
{
	return g->unreachable_classes
		       ? (enum hi_unreachable_class)g->unreachable_classes[i]
		       : HI_UNREACHABLE_NO_CLASS;
}

enum hi_leak_kind hi_leak_kind_of(const struct hi_graph *g, const struct hi_reach *reach,
				  hi_node i)
{
	if (unreachable_class_of(g, i) == HI_UNREACHABLE_GARBAGE)
		return HI_LEAK_GARBAGE;
	return reach->likely && hi_bit(reach->likely, i) ? HI_LEAK_LIKELY
							 : HI_LEAK_CERTAIN;
}

const char *hi_leak_kind_label(enum hi_leak_kind kind)
{
	static const char *const labels[HI_LEAK_KINDS] = {
		[HI_LEAK_CERTAIN] = "(leaked)",
		[HI_LEAK_LIKELY] = "(likely leaked)",
		[HI_LEAK_GARBAGE] = "(garbage)"};

	return labels[kind];
}

static void add_leaked_object(struct hi_leak_total *sum, uint64_t cost)
{
	sum->objects++;
	sum->bytes += cost;
}

static void add_to_class(struct hi_leak_totals *sums,
			 enum hi_unreachable_class unreachable_class, uint64_t cost)
{
	if (unreachable_class == HI_UNREACHABLE_UNCOLLECTABLE)
		add_leaked_object(&sums->uncollectable, cost);
	else if (unreachable_class == HI_UNREACHABLE_LOST_REFERENCE)
		add_leaked_object(&sums->lost, cost);
}

void hi_leak_totals_count(const struct hi_graph *g, const struct hi_reach *live,
			  const struct hi_reach *leaks, struct hi_leak_totals *ret)
{
	struct hi_leak_total *const by_kind[HI_LEAK_KINDS] = {&ret->certain, &ret->likely,
							      &ret->garbage};

	*ret = (struct hi_leak_totals){
		.certain = {leaks->leak_objects - leaks->likely_objects,
			    leaks->leak_bytes - leaks->likely_bytes},
		.likely = {leaks->likely_objects, leaks->likely_bytes}};
	if (!g->unreachable_classes)
		return;
	ret->certain = ret->likely = (struct hi_leak_total){};
	for (hi_node i = 0; i < g->n_objects; i++) {
		bool leaked = !hi_bit(leaks->any, i);

		if (hi_is_internal(g, i) || (!leaked && !unreachable_class_of(g, i)))
			continue;
		if (leaked)
			add_leaked_object(by_kind[hi_leak_kind_of(g, leaks, i)],
					  hi_cost_of(g->objects, i));
		if (leaked || hi_bit(live->any, i))
			add_to_class(ret, unreachable_class_of(g, i),
				     hi_cost_of(g->objects, i));
	}
}

struct hi_leak_totals hi_leak_totals_unknown(void)
{
	const struct hi_leak_total unknown = {UINT64_MAX, UINT64_MAX};

	return (struct hi_leak_totals){unknown, unknown, unknown, unknown, unknown};
}
