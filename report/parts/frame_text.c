/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/frame_text.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/parts/report_links.h"

const char *hi_frame_function(const struct hi_frame_row *row, struct hi_page *page)
{
	if (*row->function)
		return hi_page_function(page, row->function);
	return *row->module ? "(no symbol)" : "(no module)";
}

const char *hi_frame_place(const struct hi_frame_row *row, struct hi_page *page)
{
	if (*row->file && row->line)
		return hi_page_printf(page, "%s:%u",
				      hi_page_safe(page, hi_base_name(row->file)),
				      row->line);
	if (*row->module)
		return hi_page_printf(page, "%s+0x%" PRIx64,
				      hi_page_safe(page, hi_base_name(row->module)),
				      row->offset);
	return hi_page_printf(page, "0x%" PRIx64, row->offset);
}

/* Calls fn for each row of a context's frames, the innermost first; false stops. */
typedef bool frame_row_fn(const struct hi_frame_row *row, void *arg);

static void each_row_of_context(const struct hi_context_view *contexts,
				const struct hi_frames *frames, uint32_t context,
				frame_row_fn *fn, void *arg)
{
	uint32_t numbers[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(contexts, context, numbers);

	for (unsigned i = 0; i < n; i++) {
		if (numbers[i] >= frames->n_frames)
			continue;
		for (uint32_t k = frames->first[numbers[i]];
		     k < frames->first[numbers[i] + 1]; k++)
			if (!fn(&frames->rows[k], arg))
				return;
	}
}

const char *hi_frame_item_text(const struct hi_frame_item *item, struct hi_page *page)
{
	const char *libraries = hi_page_safe(page, item->libraries);

	if (!hi_frame_item_is_fold(item))
		return hi_frame_function(item->row, page);
	if (item->n_most > item->n_folded)
		return hi_page_printf(page, "%zu to %zu frames of %s", item->n_folded,
				      item->n_most, libraries);
	return hi_page_printf(page, "%zu frame%s of %s", item->n_folded,
			      item->n_folded == 1 ? "" : "s", libraries);
}

static void show_frame_item(const struct hi_frame_item *item, struct hi_report_table *t)
{
	bool is_fold = hi_frame_item_is_fold(item);

	hi_cell_text(t,
		     hi_page_printf(t->page, "%s%s", is_fold ? "… " : "",
				    hi_frame_item_text(item, t->page)),
		     0);
	if (!is_fold)
		hi_cell_link(t, hi_address_where(t->page, "census", "site-any",
						 item->row->function));
	hi_cell_text(t,
		     is_fold ? ""
			     : hi_page_printf(t->page, "%s%s",
					      hi_frame_place(item->row, t->page),
					      item->row->flags & HI_FRAME_INLINED
						      ? "  (inlined)"
						      : ""),
		     0);
}

void hi_frames_show(const struct hi_context_view *contexts,
		    const struct hi_frames *frames, uint32_t context, size_t most,
		    struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"", HI_COLUMN_TEXT}};
	struct hi_frame_items items = {.folds = !page->type_names.keep_full};
	HI_GUARD(hi_frame_items_free) struct hi_frame_items *owned = &items;
	struct hi_report_table *t = hi_page_table(page, columns, 2);
	size_t more;

	hi_frame_items_add_context(owned, contexts, frames, context, NULL);
	page->failed |= items.failed;
	for (size_t i = 0; i < items.of.count && i < most; i++)
		show_frame_item(&items.of.items[i], t);
	more = items.left_out + (items.of.count > most ? items.of.count - most : 0);
	if (more)
		hi_page_note(page, hi_page_printf(page, "%zu more", more));
	else if (contexts->contexts[context].flags & HI_CONTEXT_CUT)
		hi_page_note(page, "outer frames are not known");
}

void hi_frame_json(const struct hi_frame_row *row, const char *key, struct hi_json *json)
{
	hi_json_object(json, key);
	hi_json_text(json, "function", *row->function ? row->function : NULL);
	hi_json_text(json, "file", *row->file ? row->file : NULL);
	hi_json_number(json, "line", row->line ? row->line : UINT64_MAX);
	hi_json_text(json, "module", *row->module ? row->module : NULL);
	hi_json_address(json, "offset", row->offset);
	hi_json_bool(json, "inlined", row->flags & HI_FRAME_INLINED);
	hi_json_end(json);
}

static bool put_frame_json(const struct hi_frame_row *row, void *arg)
{
	hi_frame_json(row, NULL, arg);
	return true;
}

void hi_frames_json(const struct hi_context_view *contexts,
		    const struct hi_frames *frames, uint32_t context,
		    struct hi_json *json)
{
	hi_json_array(json, "frames");
	each_row_of_context(contexts, frames, context, put_frame_json, json);
	hi_json_end(json);
	hi_json_bool(json, "truncated",
		     contexts->contexts[context].flags & HI_CONTEXT_CUT);
}
