/* SPDX-License-Identifier: BSD-2-Clause */
/* The overview of the summary: who holds the heap, what kinds of objects it has, and how
 * large they are. */
#include <inttypes.h>

#include "base/text.h"
#include "report/address.h"
#include "report/pictures/picture.h"
#include "report/reports/summary/summary_report.h"

static const char *title_of_part(const struct hi_summary_report *r, const char *name,
				 const struct hi_summary_part *part, struct hi_page *page)
{
	char bytes[24], count[32], percent[16];

	return hi_page_printf(
		page, "%s\n%s in %s object%s (%s)", name, hi_bytes(bytes, part->bytes),
		hi_count(count, part->objects), part->objects == 1 ? "" : "s",
		hi_percent(percent, part->bytes, r->live_bytes));
}

static const char *address_of_break_down(struct hi_page *page, const char *by)
{
	return hi_address_with(page, hi_address(page, "census", NULL), "by", by);
}

/* The whole, which the parts are put into. */
static struct hi_page_picture *begin_parts(const struct hi_summary_report *r,
					   enum hi_page_picture_shape shape,
					   const char *label, const char *caption,
					   struct hi_page *page)
{
	struct hi_page_picture *p = hi_page_picture(page, shape, label, caption);
	char bytes[24];

	hi_page_box(p, HI_PAGE_BOX_NONE,
		    &(struct hi_page_box){.label = hi_bytes(bytes, r->live_bytes),
					  .title = label,
					  .bytes = r->live_bytes});
	return p;
}

static void draw_kinds(const struct hi_summary_report *r, struct hi_page *page)
{
	struct hi_page_picture *p =
		begin_parts(r, HI_PAGE_DONUT, "Live bytes by kind of object",
			    "Live bytes by kind of object.", page);

	for (unsigned k = 0; k < HI_PICTURE_KINDS; k++) {
		const char *name = hi_picture_kind_name((enum hi_picture_kind)k);

		if (r->by_kind[k].bytes)
			hi_page_box(p, 0,
				    &(struct hi_page_box){
					    .label = name,
					    .title = title_of_part(r, name,
								   &r->by_kind[k], page),
					    .link = address_of_break_down(page, "class"),
					    .bytes = r->by_kind[k].bytes,
					    .kind = (enum hi_picture_kind)k});
	}
}

/* Ranges without objects between others are bars of no height. */
static void draw_sizes(const struct hi_summary_report *r, struct hi_page *page)
{
	struct hi_page_picture *p = begin_parts(
		r, HI_PAGE_BARS, "Live bytes by size of the object",
		"Live bytes by size of the object, each bar up to its size.", page);
	unsigned first = HI_SUMMARY_SIZES, last = 0;

	for (unsigned k = 0; k < HI_SUMMARY_SIZES; k++)
		if (r->by_size[k].objects) {
			first = first < k ? first : k;
			last = k;
		}
	for (unsigned k = first; k <= last && k < HI_SUMMARY_SIZES; k++) {
		char size[24];
		const char *name = hi_bytes(size, k < 64 ? 1ull << k : UINT64_MAX - 1);

		hi_page_box(p, 0,
			    &(struct hi_page_box){
				    .label = name,
				    .title = title_of_part(
					    r, hi_page_printf(page, "up to %s", name),
					    &r->by_size[k], page),
				    .link = address_of_break_down(page, "size"),
				    .bytes = r->by_size[k].bytes,
				    .kind = HI_PICTURE_SCALAR});
	}
}

void hi_summary_pictures(const struct hi_summary_report *r, struct hi_page *page)
{
	if (!r->live_bytes || !r->tree)
		return;
	hi_tree_overview(r->tree, page);
	draw_kinds(r, page);
	draw_sizes(r, page);
}
