/* SPDX-License-Identifier: BSD-2-Clause */
/* Described fields write what the writers before them wrote, byte for byte, for drawn
 * rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/text.h"
#include "tests/report/document_old.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

enum { DRAWN_ROWS = 30, TURNS = 200 };

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}
/* Small, large or unknown. */
static uint64_t draw_size(bool may_be_unknown)
{
	switch (draw(may_be_unknown ? 4 : 3)) {
	case 0:
		return draw(3);
	case 1:
		return draw(100000);
	case 2:
		return draw(1u << 31) << draw(20);
	default:
		return UINT64_MAX;
	}
}

typedef void (*json_writer)(const void *report, struct hi_json *json);
typedef void (*page_writer)(const void *report, struct hi_page *page);

static char *written_json(json_writer write, const void *report)
{
	struct hi_json json;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	hi_json_init(&json, out);
	write(report, &json);
	HI_ASSERT(hi_json_finish(&json));
	fclose(out);
	return text;
}

/* All cells with their links, and the text of all items. */
static char *written_page(page_writer write, const void *report)
{
	struct hi_page *page = hi_page_create();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write(report, page);
	HI_ASSERT(!page->failed);
	for (size_t i = 0; i < page->items.count; i++) {
		const struct hi_item *item = &page->items.items[i];
		const struct hi_report_table *t = item->table;

		fprintf(out, "%d %s %s %s\n", (int)item->kind, item->text, item->aside,
			item->link);
		for (size_t c = 0; t && c < t->n_columns; c++)
			fprintf(out, "%s (%d) ", t->columns[c].title,
				(int)t->columns[c].kind);
		for (size_t c = 0; t && c < t->cells.count; c++) {
			const struct hi_cell *cell = &t->cells.items[c];
			enum hi_column_kind kind = t->columns[c % t->n_columns].kind;
			bool is_text = kind == HI_COLUMN_TEXT || kind == HI_COLUMN_WORD ||
				       kind == HI_COLUMN_FIGURE ||
				       kind == HI_COLUMN_MINOR_FIGURE;

			fprintf(out, "%s[%d %d %d %d %lu %s %lu %s]",
				c % t->n_columns ? "" : "\n", (int)cell->state,
				cell->at_least, cell->negative, cell->indent,
				cell->number, cell->link,
				kind == HI_COLUMN_PERCENT ? cell->whole : 0,
				is_text && cell->state == HI_CELL_VALUE ? cell->text
									: "");
		}
		for (size_t c = 0; t && c < t->strong.count; c++)
			fprintf(out, " strong %zu", t->strong.items[c]);
	}
	fclose(out);
	hi_page_destroy(page);
	return text;
}

static void expect_equal(const char *a, const char *b)
{
	char *difference = hi_golden_difference(a, b);

	HI_ASSERT_STREQ("", difference);
	free(difference);
}

static void expect_same(const void *report, json_writer old_json, json_writer new_json,
			page_writer old_page, page_writer new_page)
{
	char *a = written_json(old_json, report), *b = written_json(new_json, report);

	expect_equal(a, b);
	free(a);
	free(b);
	a = written_page(old_page, report);
	b = written_page(new_page, report);
	expect_equal(a, b);
	free(a);
	free(b);
}

static const char *draw_name(void)
{
	return sample_type((uint32_t)draw(SAMPLE_TYPES));
}

static void old_leaks_j(const void *r, struct hi_json *json)
{
	old_leaks_json(r, json);
}
static void new_leaks_j(const void *r, struct hi_json *json)
{
	hi_leaks_json(r, json);
}
static void old_leaks_p(const void *r, struct hi_page *page)
{
	old_leaks_display(r, page);
}
static void new_leaks_p(const void *r, struct hi_page *page)
{
	hi_leaks_display(r, page);
}

static void draw_leaks(struct hi_leaks_row rows[6])
{
	for (unsigned i = 0; i < 6; i++) {
		struct hi_leak_name *kind = &rows[i].kind;

		rows[i] = (struct hi_leaks_row){
			.shape = (enum hi_leak_shape)draw(3),
			.unreachable_class =
				(enum hi_unreachable_class)draw(HI_UNREACHABLE_CLASSES),
			.is_likely = draw(2),
			.count = draw_size(false),
			.objects = draw_size(false),
			.bytes = draw_size(false),
			.address = SAMPLE_HEAP + draw(100),
			.name = draw(4)	  ? NULL
				: draw(2) ? ""
					  : draw_name()};
		*kind = (struct hi_leak_name){.type = draw_name(),
					      .like = draw(2) ? "" : draw_name(),
					      .n_like = draw(9),
					      .fits = {draw_name(), draw_name(), "c"},
					      .n_fits = (uint32_t)draw(HI_LEAK_FITS + 1),
					      .usable = draw(2) * 48,
					      .pointers = (uint32_t)draw(3),
					      .text = draw(2),
					      .held = draw(2) ? "" : draw_name(),
					      .least_members = 1 + (uint32_t)draw(2)};
		kind->most_members = kind->least_members + (uint32_t)draw(2);
	}
}

HI_TEST(document_same, leaks)
{
	static const uint64_t by_class[HI_UNREACHABLE_CLASSES] = {7, 0, 9, 4};
	struct sample *s = sample_make();
	const char *allocator = s->header.allocator;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_leaks_row rows[6], roots[6];
		struct hi_leaks_report report = {
			.header = &s->header,
			.live_bytes = draw_size(false),
			.objects = draw(3),
			.bytes = 100 + draw_size(false),
			.n_leak_roots = draw(9),
			.likely_objects = draw(2),
			.likely_bytes = draw(2) * 10,
			.n_likely_roots = draw(2),
			.integer_objects = draw(2),
			.integer_bytes = draw(9),
			.by_class = draw(2) ? by_class : NULL,
			.rows = rows,
			.n_rows = draw(7),
			.roots = roots,
			.n_roots = draw(7),
			.hidden = {{draw(2), 5}, {draw(2), 6}, {draw(2), 7}},
			.roots_beyond = {draw(2), 8}};

		draw_leaks(rows);
		draw_leaks(roots);
		s->header.allocator = draw(3) ? allocator : NULL;
		expect_same(&report, old_leaks_j, new_leaks_j, old_leaks_p, new_leaks_p);
	}
}
