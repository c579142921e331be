/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/recorded_children.h"

static void add_child_file(const struct hi_recorded_child *child,
			   struct hi_report_table *t)
{
	struct hi_page *page = t->page;

	hi_cell_text(t, hi_page_printf(page, "%d", child->pid), 0);
	hi_cell_text(t,
		     child->failure ? hi_page_printf(page, "no file: %s",
						     hi_page_safe(page, child->failure))
				    : hi_page_safe(page, child->file),
		     0);
}

void hi_recorded_children_display(const struct hi_recorded_children *children,
				  struct hi_page *page)
{
	static const struct hi_column columns[] = {{"pid", HI_COLUMN_TEXT},
						   {"recorded in", HI_COLUMN_TEXT}};
	struct hi_report_table *t;

	if (!children->items)
		return;
	hi_page_heading(page, "Children", "each is recorded from when it was noticed");
	if (!children->n) {
		hi_page_note(page, "there were none");
		return;
	}
	t = hi_page_table(page, columns, 2);
	for (size_t i = 0; i < children->n; i++)
		add_child_file(&children->items[i], t);
}

void hi_recorded_children_json(const struct hi_recorded_children *children,
			       struct hi_json *json)
{
	if (!children->items)
		return;
	hi_json_array(json, "children");
	for (size_t i = 0; i < children->n; i++) {
		const struct hi_recorded_child *child = &children->items[i];

		hi_json_object(json, NULL);
		hi_json_number(json, "pid", (uint64_t)child->pid);
		hi_json_text(json, "file", child->failure ? NULL : child->file);
		hi_json_text(json, "failure", child->failure);
		hi_json_end(json);
	}
	hi_json_end(json);
}
