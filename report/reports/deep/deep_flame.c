/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/deep/deep_flame.h"

#include "base/text.h"
#include "report/address.h"
#include "report/pictures/picture.h"

static const char *value_of_frame(const struct hi_deep_report *report, uint64_t value,
				  char out[32])
{
	return report->flame_kind == HI_COLUMN_BYTES ? hi_bytes(out, value)
						     : hi_count(out, value);
}

static void add_flame_box(const struct hi_deep_report *report,
			  struct hi_page_picture *picture,
			  const struct hi_deep_frame_box *frame, struct hi_page *page)
{
	const char *name = hi_page_safe(page, page->type_names.keep_full ? frame->name
									 : frame->shown);
	const char *module = hi_page_safe(page, hi_base_name(frame->module));
	char value[32], percent[16];

	hi_percent(percent, frame->value, report->flame.items[0].value);
	hi_page_box(
		picture, frame->parent,
		&(struct hi_page_box){.label = name,
				      .title = hi_page_printf(
					      page, "%s\n%s (%s)%s%s", name,
					      value_of_frame(report, frame->value, value),
					      percent, *module ? "\n" : "", module),
				      .link = hi_address(page, "deep", frame->link),
				      .module = module,
				      .bytes = frame->value,
				      .kind = frame->parent < 0 ? HI_PICTURE_ROOT
								: HI_PICTURE_RECORD});
}

void hi_deep_flame_display(const struct hi_deep_report *report, struct hi_page *page)
{
	struct hi_page_picture *picture;
	char value[32];

	if (!report->flame.count || !report->flame.items[0].value)
		return;
	picture = hi_page_picture(
		page, HI_PAGE_FLAME,
		hi_page_printf(
			page, "Flame graph of contexts: %s, %s",
			hi_page_safe(page, report->title),
			value_of_frame(report, report->flame.items[0].value, value)),
		"A frame is as wide as what it costs with all that it calls; below it is "
		"what it calls. The table has the largest ones.");
	picture->is_of_counts = report->flame_kind != HI_COLUMN_BYTES;
	for (size_t i = 0; i < report->flame.count; i++)
		add_flame_box(report, picture, &report->flame.items[i], page);
}
