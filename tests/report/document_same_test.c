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

static void old_census_j(const void *r, struct hi_json *json)
{
	old_census_json(r, json);
}
static void new_census_j(const void *r, struct hi_json *json)
{
	hi_census_json(r, json);
}
static void old_census_p(const void *r, struct hi_page *page)
{
	old_census_display(r, page);
}
static void new_census_p(const void *r, struct hi_page *page)
{
	hi_census_display(r, page);
}

static void draw_line(struct hi_by_row *row, enum hi_by by)
{
	*row = (struct hi_by_row){
		.sum = {.type = (uint32_t)draw(SAMPLE_TYPES),
			.count = draw_size(false),
			.shallow = draw_size(false),
			.largest = draw_size(false),
			.retained = draw_size(true)},
		.n_children = (uint32_t)draw(HI_BY_CHILDREN + 1),
		.more = draw(2),
		.size = draw_size(false),
		.edges = draw_size(false),
		.name = by == HI_BY_MODULE && draw(3) == 0 ? ""
			: by == HI_BY_CLASS ? hi_type_class_name((enum hi_type_class)draw(
						      HI_TYPE_CLASSES))
					    : sample_type((uint32_t)draw(SAMPLE_TYPES)),
	};
	for (unsigned e = 0; e <= HI_EVIDENCE_RUNTIME; e++)
		row->sum.by_evidence[e] = draw(2) ? draw_size(false) : 0;
	for (unsigned i = 0; i < row->n_children; i++)
		row->children[i] = (uint32_t)draw(SAMPLE_TYPES);
	for (unsigned i = 0; i < HI_BY_LEADS && draw(4); i++)
		row->leads[i] = (struct hi_by_lead){
			.key = draw(2) ? draw(SAMPLE_TYPES)
				       : HI_BY_SIZE_KEY + draw_size(false) % 100000,
			.edges = 1 + draw(1000)};
}

HI_TEST(document_same, census)
{
	struct sample *s = sample_make();
	static struct hi_by_row rows[DRAWN_ROWS];
	static struct hi_census_row plain[DRAWN_ROWS];
	struct hi_error err;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		enum hi_by by = (enum hi_by)(turn % 6);
		size_t n = draw(DRAWN_ROWS);
		struct hi_by_census census = {.by = by,
					      .rows = rows,
					      .n_rows = n,
					      .objects = draw_size(false),
					      .bytes = draw_size(false),
					      .other_types = draw(3),
					      .other_bytes = draw_size(false)};
		struct hi_census types = {.rows = plain,
					  .n_rows = n,
					  .objects = census.objects,
					  .bytes = census.bytes};
		struct hi_restrict only = {.top = draw(2) ? SIZE_MAX : draw(20),
					   .min_size = draw(2) ? 0 : draw(500)};
		struct hi_census_conflict conflicts[3];
		struct hi_census_report *report = NULL;

		for (size_t i = 0; i < n; i++) {
			draw_line(&rows[i], by);
			plain[i] = rows[i].sum;
		}
		s->header.has_totals_alone = draw(2);
		if (by == HI_BY_TYPE)
			HI_ASSERT_OK(hi_census_report_create(&s->header, s->graph, &types,
							     &only, &report, &err),
				     &err);
		else
			HI_ASSERT_OK(hi_census_by_report_create(&s->header, s->graph,
								&census, &only, &report,
								&err),
				     &err);
		if (by == HI_BY_TYPE && draw(2)) {
			report->conflicts = conflicts;
			report->n_conflicts = 1 + draw(3);
			report->conflicts_shown = draw(4);
			report->objects_in_conflict = draw(100);
			for (unsigned i = 0; i < 3; i++)
				conflicts[i] = (struct hi_census_conflict){
					sample_type(1 + (uint32_t)draw(13)),
					sample_type(1 + (uint32_t)draw(13)), 1 + draw(9),
					SAMPLE_HEAP + draw(1000)};
		}
		expect_same(report, old_census_j, new_census_j, old_census_p,
			    new_census_p);
		hi_census_report_destroy(report);
	}
}

static void old_safepoints_j(const void *r, struct hi_json *json)
{
	old_safepoints_json(r, json);
}
static void new_safepoints_j(const void *r, struct hi_json *json)
{
	hi_safepoints_json(r, json);
}
static void old_safepoints_p(const void *r, struct hi_page *page)
{
	old_safepoints_display(r, page);
}
static void new_safepoints_p(const void *r, struct hi_page *page)
{
	hi_safepoints_display(r, page);
}

HI_TEST(document_same, safepoints)
{
	static const char *const names[] = {"", "gc__done", SAMPLE_HOSTILE, "f"};
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_probed places[5];
		struct hi_safepoint_row rows[8];
		uint64_t hits[5];
		struct hi_safepoints_report report = {.header = &s->header,
						      .rows = rows,
						      .n_rows = draw(9),
						      .counted_ns = draw_size(false),
						      .cut_short = draw(2),
						      .not_counted = names[draw(4)],
						      .may_not_probe = draw(2)};

		report.shown = draw(report.n_rows + 1);
		for (unsigned i = 0; i < 5; i++) {
			hits[i] = draw_size(true);
			places[i] = (struct hi_probed){.module = names[draw(4)],
						       .function = names[draw(4)],
						       .into_function = draw_size(false),
						       .offset = draw_size(false),
						       .address = draw_size(false),
						       .instruction = names[draw(4)],
						       .single_stepped = draw(2)};
		}
		for (unsigned i = 0; i < 8; i++)
			rows[i] = (struct hi_safepoint_row){.at = names[1 + draw(3)],
							    .runtime = names[draw(4)],
							    .purpose = names[draw(4)],
							    .is_gc = draw(2),
							    .places = places,
							    .n_places = draw(6),
							    .place_hits =
								    draw(2) ? hits : NULL,
							    .hits = draw_size(true)};
		expect_same(&report, old_safepoints_j, new_safepoints_j, old_safepoints_p,
			    new_safepoints_p);
	}
}
