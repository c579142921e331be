/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/totals_check.h"

#include "report/parts/decoded_share.h"

struct hi_sanity hi_sanity_of(const struct hi_report_header *header,
			      const struct hi_reach *reach, uint64_t allocated)
{
	return (struct hi_sanity){
		.allocated = allocated,
		.exact = reach->exact_bytes,
		.conservative = reach->live_bytes - reach->exact_bytes,
		.leak = header && hi_heap_known(header) == HI_HEAP_UNKNOWN
				? UINT64_MAX
				: reach->leak_bytes,
		.internal = reach->internal_bytes,
	};
}

static uint64_t sum_of_sanity(const struct hi_sanity *s)
{
	return s->exact + s->conservative + s->leak + s->internal;
}

void hi_sanity_show(const struct hi_sanity *s, struct hi_page *page)
{
	char all[24], exact[24], conservative[24], leak[24], internal[24];
	uint64_t sum = sum_of_sanity(s);

	hi_page_fact(
		page, "allocated",
		hi_page_printf(page,
			       "%s = %s by exact edges + %s by conservative ones "
			       "alone + %s leaked + %s of the allocator",
			       hi_bytes(all, s->allocated), hi_bytes(exact, s->exact),
			       hi_bytes(conservative, s->conservative),
			       hi_bytes(leak, s->leak), hi_bytes(internal, s->internal)));
	if (s->allocated != UINT64_MAX && s->allocated != sum)
		hi_page_warning(
			page, hi_page_printf(page,
					     "the sums differ: the allocator has handed "
					     "out %llu bytes, the graph has %llu",
					     (unsigned long long)s->allocated,
					     (unsigned long long)sum));
}

void hi_sanity_json(const struct hi_sanity *s, struct hi_json *json)
{
	uint64_t sum = sum_of_sanity(s);

	hi_json_object(json, "sanity");
	hi_json_number(json, "allocated", s->allocated);
	hi_json_number(json, "exact", s->exact);
	hi_json_number(json, "conservative_only", s->conservative);
	hi_json_number(json, "leak", s->leak);
	hi_json_number(json, "allocator", s->internal);
	if (s->allocated != UINT64_MAX)
		hi_json_signed(json, "difference", (int64_t)(s->allocated - sum));
	else
		hi_json_null(json, "difference");
	hi_json_end(json);
}
