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

static struct hi_doc_value difference_of_sanity(const struct hi_doc_row *row)
{
	const struct hi_sanity *s = row->row;

	return s->allocated == UINT64_MAX
		       ? hi_doc_none()
		       : hi_doc_signed((int64_t)(s->allocated - sum_of_sanity(s)));
}

static const struct hi_doc_field sanity_fields[] = {
	{"allocated", NULL, HI_DOC_BYTES, HI_AT(struct hi_sanity, allocated),
	 .nullable = true},
	{"exact", NULL, HI_DOC_BYTES, HI_AT(struct hi_sanity, exact)},
	{"conservative_only", NULL, HI_DOC_BYTES, HI_AT(struct hi_sanity, conservative)},
	{"leak", NULL, HI_DOC_BYTES, HI_AT(struct hi_sanity, leak), .nullable = true},
	{"allocator", NULL, HI_DOC_BYTES, HI_AT(struct hi_sanity, internal)},
	{"difference", NULL, HI_DOC_BYTES, .value = difference_of_sanity,
	 .is_signed = true, .nullable = true},
};
const struct hi_doc_fields hi_sanity_fields = HI_DOC_FIELDS(
	sanity_fields, .meaning = "allocated, by the allocator's own lists = exact + "
				  "conservative_only + leak + allocator + difference");
