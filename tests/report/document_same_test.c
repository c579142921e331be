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

static void old_paths_j(const void *r, struct hi_json *json)
{
	old_paths_json(r, json);
}
static void new_paths_j(const void *r, struct hi_json *json)
{
	hi_paths_json(r, json);
}
static void old_paths_p(const void *r, struct hi_page *page)
{
	old_paths_display(r, page);
}
static void new_paths_p(const void *r, struct hi_page *page)
{
	hi_paths_display(r, page);
}

HI_TEST(document_same, paths)
{
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_paths_step steps[9];
		struct hi_paths_way ways[3];
		struct hi_paths_report report = {.header = &s->header,
						 .query = draw_name(),
						 .target = draw_name(),
						 .n_targets = draw(3),
						 .n_unreachable = draw(3),
						 .ways = ways,
						 .n_ways = draw(4),
						 .more = draw(2),
						 .steps = draw(2)};

		for (unsigned i = 0; i < 9; i++)
			steps[i] = (struct hi_paths_step){
				{.node = (hi_node)draw(SAMPLE_OBJECTS),
				 .sort = (enum hi_node_sort)draw(4),
				 .kind = (enum hi_root_kind)draw(HI_ROOT_KINDS),
				 .name = draw(2) ? "" : "a\\x1b.b",
				 .detail = draw(2) ? "" : draw_name(),
				 .type = draw_name(),
				 .address = draw(2) ? 0 : SAMPLE_HEAP,
				 .shallow = draw_size(false),
				 .retained = draw_size(true),
				 .array = draw(2)},
				draw(2) ? "" : "->x\\x1b[3]"};
		for (unsigned i = 0; i < 3; i++)
			ways[i] = (struct hi_paths_way){
				.text = "a->b\\n",
				.pattern = "a->*\\n",
				.n_alike = 1 + draw(3),
				.more_alike = draw(2),
				.worst = (enum hi_grade)draw(HI_GRADE_WEAK + 1),
				.steps = steps + i * 3,
				.n_steps = draw(4)};
		expect_same(&report, old_paths_j, new_paths_j, old_paths_p, new_paths_p);
	}
}
