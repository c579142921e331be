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

static void old_waste_j(const void *r, struct hi_json *json)
{
	old_waste_json(r, json);
}
static void new_waste_j(const void *r, struct hi_json *json)
{
	hi_waste_json(r, json);
}
static void old_waste_p(const void *r, struct hi_page *page)
{
	old_waste_display(r, page);
}
static void new_waste_p(const void *r, struct hi_page *page)
{
	hi_waste_display(r, page);
}

static struct hi_waste_row draw_waste_row(void)
{
	return (struct hi_waste_row){.type = (uint32_t)draw(SAMPLE_TYPES),
				     .objects = draw_size(false),
				     .bytes = draw_size(false),
				     .groups = draw_size(false),
				     .copies = draw_size(false),
				     .copied = draw_size(false),
				     .zeros = draw_size(false),
				     .zero_bytes = draw_size(false),
				     .loose = draw_size(false),
				     .unused = draw_size(false),
				     .savable = draw_size(false)};
}

static void draw_use(struct hi_heap_use *use, struct hi_slab_class *slabs)
{
	static const char *const allocators[] = {"jemalloc", "mimalloc"};

	*use = (struct hi_heap_use){.n_classes = draw(HI_SIZE_CLASSES),
				    .allocated = draw_size(false),
				    .allocated_bytes = draw_size(false),
				    .header = draw(2) ? draw_size(false) : 0,
				    .slab_classes = slabs,
				    .n_slab_classes = draw(2) ? draw(10) : 0,
				    .states = draw(2) ? 0 : (uint32_t)draw(1u << 24),
				    .residency_known = draw(2)};
	for (size_t i = 0; i < use->n_classes; i++)
		use->classes[i] = (struct hi_size_class){
			i + 1 == HI_SIZE_CLASSES - 1 ? UINT64_MAX : 1 + draw_size(false),
			draw(3) ? draw_size(false) : 0, draw_size(false),
			draw_size(false)};
	for (size_t i = 0; i < HI_FREE_KINDS; i++)
		use->free[i] = (struct hi_free_blocks){draw(2), draw_size(false),
						       draw_size(false)};
	for (size_t i = 0; i < HI_PAGE_FILLS; i++)
		use->pages[i] = (struct hi_page_class){draw(9), draw_size(false),
						       draw_size(false)};
	for (size_t i = 0; i < use->n_slab_classes; i++)
		slabs[i] = (struct hi_slab_class){.allocator = allocators[draw(2)],
						  .size = draw_size(false),
						  .slabs = draw(5),
						  .bytes = draw_size(false),
						  .slots = draw_size(false),
						  .live = draw(2000),
						  .cached = draw(100),
						  .empty = draw(9),
						  .sparse = draw(9),
						  .sparse_bytes = draw_size(false),
						  .slack = draw(3)};
}

HI_TEST(document_same, waste)
{
	struct sample *s = sample_make();
	const char *allocator = s->header.allocator;
	struct hi_error err;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		static const char *names[SAMPLE_TYPES];
		struct hi_slab_class slabs[10];
		struct hi_waste_row rows[DRAWN_ROWS];
		struct hi_waste_group groups[8];
		struct hi_waste waste = {.rows = rows,
					 .n_rows = draw(DRAWN_ROWS),
					 .all = draw_waste_row(),
					 .groups = groups,
					 .n_groups = draw(9),
					 .beyond = {draw(3), draw_size(false)},
					 .below = {draw(3), draw_size(false)},
					 .other = {draw(3), draw_size(false)},
					 .unread = draw(3),
					 .unread_bytes = draw_size(false),
					 .texts_missing = draw(2)};
		struct hi_restrict only = {.top = draw(2) ? SIZE_MAX : draw(20),
					   .min_size = draw(2) ? 0 : draw(500)};
		struct hi_heap_use use;
		struct hi_waste_report *report = NULL;

		for (unsigned i = 0; i < SAMPLE_TYPES; i++)
			names[i] = draw_name();
		for (unsigned i = 0; i < DRAWN_ROWS; i++)
			rows[i] = draw_waste_row();
		for (unsigned i = 0; i < 8; i++)
			groups[i] = (struct hi_waste_group){
				.type = (uint32_t)draw(SAMPLE_TYPES),
				.first = (hi_node)draw(SAMPLE_OBJECTS),
				.objects = draw_size(false),
				.size = draw_size(false),
				.copied = draw_size(false),
				.is_text = draw(2),
				.text = "a \033 text",
				.cut = draw(2)};
		draw_use(&use, slabs);
		s->header.allocator = draw(3) ? allocator : NULL;
		HI_ASSERT_OK(hi_waste_report_create(
				     &(struct hi_waste_inputs){
					     .header = &s->header,
					     .graph = s->graph,
					     .waste = &waste,
					     .by_site = draw(2) ? &waste : NULL,
					     .site_names = turn & 1 ? names : NULL,
					     .use = &use,
					     .only = &only},
				     &report, &err),
			     &err);
		expect_same(report, old_waste_j, new_waste_j, old_waste_p, new_waste_p);
		hi_waste_report_destroy(report);
	}
}
