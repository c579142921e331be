/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/frame_text.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/parts/report_links.h"

const char *hi_frame_function(const struct hi_frame_row *row, struct hi_page *page)
{
	if (*row->function)
		return hi_page_safe(page, row->function);
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

struct shown_frames {
	struct hi_page *page;
	size_t left, more;
};

static bool show_frame_line(const struct hi_frame_row *row, void *arg)
{
	struct shown_frames *s = arg;

	if (s->left == 0) {
		s->more++;
		return true;
	}
	s->left--;
	hi_page_code(s->page,
		     hi_page_printf(s->page, "  %s  %s%s",
				    hi_frame_function(row, s->page),
				    hi_frame_place(row, s->page),
				    row->flags & HI_FRAME_INLINED ? "  (inlined)" : ""));
	hi_page_link(s->page,
		     hi_address_where(s->page, "census", "site-any", row->function));
	return true;
}

void hi_frames_show(const struct hi_context_view *contexts,
		    const struct hi_frames *frames, uint32_t context, size_t most,
		    struct hi_page *page)
{
	struct shown_frames s = {.page = page, .left = most};

	each_row_of_context(contexts, frames, context, show_frame_line, &s);
	if (s.more)
		hi_page_code(page, hi_page_printf(page, "  ... %zu more", s.more));
	else if (contexts->contexts[context].flags & HI_CONTEXT_CUT)
		hi_page_code(page, "  ... (outer frames are not known)");
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
