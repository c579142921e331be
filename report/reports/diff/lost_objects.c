/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/diff/lost_objects.h"

#include "report/parts/report_links.h"
#include "report/parts/report_node.h"
#include "report/reports/diff/new_objects.h"

static const char *what_text(const struct hi_lost_row *row, struct hi_page *page)
{
	const char *likely = !row->likely.count			  ? ""
			     : row->likely.count < row->all.count ? " (some likely)"
								  : " (likely)";

	return hi_page_printf(page, "was %s%s%s%s", hi_type_label(row->type, page),
			      *row->under ? " under " : "",
			      hi_page_safe_again(page, row->under), likely);
}

void hi_lost_objects_show(const struct hi_lost_objects *lost, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"leaked", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"what they were", HI_COLUMN_TEXT},
						   {"example", HI_COLUMN_ADDRESS}};
	static const struct hi_hidden none;
	struct hi_report_table *t;

	if (!lost->all.count)
		return;
	hi_page_heading(page, "Leaked since",
			"live before, at the same address and of the same size");
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < lost->n_rows; i++) {
		hi_cell_number(t, lost->rows[i].all.count);
		hi_cell_number(t, lost->rows[i].all.bytes);
		hi_cell_text(t, what_text(&lost->rows[i], page), 0);
		hi_cell_number(t, lost->rows[i].example);
		hi_cell_link(t, hi_address_of_object(page, lost->rows[i].example));
	}
	hi_hidden_note(page, &lost->beyond, &lost->below, &none);
}

void hi_lost_objects_json(const struct hi_lost_objects *lost, struct hi_json *json)
{
	hi_json_array(json, "was");
	for (size_t i = 0; i < lost->n_rows; i++) {
		const struct hi_lost_row *row = &lost->rows[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", row->type);
		hi_json_text(json, "under", *row->under ? row->under : NULL);
		hi_json_number(json, "objects", row->all.count);
		hi_json_number(json, "bytes", row->all.bytes);
		hi_json_number(json, "likely_objects", row->likely.count);
		hi_json_address(json, "example", row->example);
		hi_json_end(json);
	}
	hi_json_end(json);
}
