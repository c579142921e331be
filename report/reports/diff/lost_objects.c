/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/diff/lost_objects.h"

#include "report/parts/report_links.h"
#include "report/parts/report_node.h"
#include "report/reports/diff/new_objects.h"

static struct hi_doc_value what_was_lost(const struct hi_doc_row *of)
{
	const struct hi_lost_row *row = of->row;
	struct hi_page *page = of->page;
	const char *likely = !row->likely.count			  ? ""
			     : row->likely.count < row->all.count ? " (some likely)"
								  : " (likely)";

	return hi_doc_shown(hi_page_printf(page, "was %s%s%s%s",
					   hi_type_label(row->type, page),
					   *row->under ? " under " : "",
					   hi_page_safe_again(page, row->under), likely));
}

static const struct hi_doc_field lost_fields[] = {
	{"type", NULL, HI_DOC_TEXT, HI_AT(struct hi_lost_row, type)},
	{"under", NULL, HI_DOC_TEXT, HI_AT(struct hi_lost_row, under), .nullable = true},
	{"objects", "leaked", HI_DOC_COUNT, HI_AT(struct hi_lost_row, all.count)},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_lost_row, all.bytes)},
	{NULL, "what they were", HI_DOC_TEXT, .value = what_was_lost},
	{"likely_objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_lost_row, likely.count)},
	{"example", "example", HI_DOC_ADDRESS, HI_AT(struct hi_lost_row, example),
	 .address_link = hi_address_of_object},
};
const struct hi_doc_fields hi_lost_row_fields =
	HI_DOC_FIELDS(lost_fields, .row_size = sizeof(struct hi_lost_row));

void hi_lost_objects_show(const struct hi_lost_objects *lost, struct hi_page *page)
{
	if (!lost->all.count)
		return;
	hi_page_heading(page, "Leaked since",
			"live before, at the same address and of the same size");
	hi_doc_show_rows(page, &hi_lost_row_fields, lost, 0, lost->rows, lost->n_rows);
	hi_hidden_note(page, &lost->hidden.by_top, &lost->hidden.by_min_size,
		       &lost->hidden.by_type);
}
