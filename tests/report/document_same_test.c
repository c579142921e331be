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

static void old_audit_j(const void *r, struct hi_json *json)
{
	old_audit_json(r, json);
}
static void new_audit_j(const void *r, struct hi_json *json)
{
	hi_audit_json(r, json);
}
static void old_audit_p(const void *r, struct hi_page *page)
{
	old_audit_display(r, page);
}
static void new_audit_p(const void *r, struct hi_page *page)
{
	hi_audit_display(r, page);
}

static void old_snapshots_j(const void *r, struct hi_json *json)
{
	old_snapshots_json(r, json);
}
static void new_snapshots_j(const void *r, struct hi_json *json)
{
	hi_snapshots_json(r, json);
}
static void old_snapshots_p(const void *r, struct hi_page *page)
{
	old_snapshots_display(r, page);
}
static void new_snapshots_p(const void *r, struct hi_page *page)
{
	hi_snapshots_display(r, page);
}

static void draw_audit_rows(struct hi_audit_row rows[4], bool known)
{
	for (unsigned i = 0; i < 4; i++)
		rows[i] = (struct hi_audit_row){.type = 1 +
							(uint32_t)draw(SAMPLE_TYPES - 1),
						.objects = draw_size(false),
						.excess = draw_size(false),
						.bytes = draw_size(false),
						.example = (hi_node)draw(SAMPLE_OBJECTS),
						.example_counted = draw_size(false),
						.example_found = draw_size(false),
						.loss = known ? 1 : 0};
}

HI_TEST(document_same, audit)
{
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_audit_row rows[4], shorts[4], known[4];
		struct hi_garbage_row garbage[4];
		struct hi_audit_cause causes[4];
		const char *names[4], *short_names[4];
		struct hi_audit audit = {.rows = rows,
					 .n_rows = draw(5),
					 .short_rows = shorts,
					 .n_short_rows = draw(5),
					 .known_rows = known,
					 .n_known_rows = draw(5),
					 .short_objects = draw(3),
					 .missing = draw(3),
					 .objects = draw_size(false),
					 .excess_objects = draw(3),
					 .excess = draw(3),
					 .known_objects = draw(3),
					 .known = draw(3)};
		struct hi_garbage waits = {.rows = garbage,
					   .n_rows = draw(5),
					   .objects = {1, draw(2), draw(2), draw(2)},
					   .bytes = {1, draw(2), draw_size(false), 5},
					   .aside_objects = draw(3),
					   .aside_bytes = draw(3)};
		struct hi_audit_report report = {.header = &s->header,
						 .graph = s->graph,
						 .audit = &audit,
						 .garbage = &waits,
						 .causes = causes,
						 .n_causes = draw(5),
						 .names = draw(2) ? names : NULL,
						 .short_names =
							 draw(2) ? short_names : NULL,
						 .top = draw(2) ? SIZE_MAX : draw(5)};

		draw_audit_rows(rows, false);
		draw_audit_rows(shorts, false);
		draw_audit_rows(known, true);
		for (unsigned i = 0; i < 4; i++) {
			names[i] = draw(4) ? "" : draw_name();
			short_names[i] = draw(4) ? NULL : draw_name();
			garbage[i] = (struct hi_garbage_row){
				.type = 1 + (uint32_t)draw(SAMPLE_TYPES - 1),
				.unreachable_class = (enum hi_unreachable_class)draw(
					HI_UNREACHABLE_CLASSES),
				.put_aside = draw(2),
				.objects = draw_size(false),
				.bytes = draw_size(false),
				.example = (hi_node)draw(SAMPLE_OBJECTS)};
			causes[i] = (struct hi_audit_cause){
				1 + (uint32_t)draw(SAMPLE_TYPES - 1), draw_size(false),
				(hi_node)draw(SAMPLE_OBJECTS)};
		}
		expect_same(&report, old_audit_j, new_audit_j, old_audit_p, new_audit_p);
	}
}

HI_TEST(document_same, snapshots)
{
	static const char *const ends[] = {"over", "exited", "stopped", "failed", "open"};
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_snapshots_row rows[6];
		struct hi_snapshots_mark_line marks[3];
		struct hi_snapshots_type types[5];
		struct hi_snapshots_report report = {.header = &s->header,
						     .size = draw_size(false),
						     .end = ends[draw(5)],
						     .damaged = draw(2),
						     .lost = draw(3),
						     .torn = draw(2),
						     .rows = rows,
						     .n_rows = 1 + draw(6),
						     .marks = marks,
						     .n_marks = draw(4),
						     .types = types,
						     .n_types = draw(6)};

		for (unsigned i = 0; i < 6; i++) {
			rows[i] = (struct hi_snapshots_row){
				.number = i + 1,
				.time_ns = draw_size(true),
				.wall_ns = draw(2) ? 0 : draw_size(false),
				.cpu_ns = draw_size(false),
				.pause_ns = draw_size(true),
				.objects = draw_size(true),
				.bytes = draw_size(true),
				.graph = draw(2) ? 0 : draw_size(false)};
			rows[i].leaks.certain.bytes = draw_size(true);
			rows[i].leaks.likely.bytes = draw_size(true);
			rows[i].leaks.garbage.bytes = draw_size(true);
			rows[i].leaks.uncollectable.bytes = draw_size(true);
			rows[i].leaks.lost.bytes = draw_size(true);
		}
		for (unsigned i = 0; i < 3; i++)
			marks[i] = (struct hi_snapshots_mark_line){
				draw(3), draw(2) ? 0 : draw_size(false), draw_size(false),
				draw_name()};
		for (unsigned i = 0; i < 5; i++)
			types[i] = (struct hi_snapshots_type){
				draw_name(), draw_name(), draw_size(false),
				draw_size(false), draw_size(false)};
		report.shown = draw(report.n_types + 1);
		report.of = draw(2) ? &rows[draw(report.n_rows)] : NULL;
		s->header.pid = (int)draw(3);
		expect_same(&report, old_snapshots_j, new_snapshots_j, old_snapshots_p,
			    new_snapshots_p);
	}
}
