/* SPDX-License-Identifier: BSD-2-Clause */
/* Described fields write what the writers before them wrote, byte for byte, for drawn
 * rows of retainers, roots and up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/text.h"
#include "tests/report/sample.h"
#include "tests/report/diffs_old.h"
#include "tests/report/sets_old.h"
#include "tests/support/golden.h"

enum { DRAWN_ROWS = 12, TURNS = 200, MOST_MEMBERS = 20 };

static uint64_t set_state = 1;

static uint64_t set_draw(uint64_t below)
{
	set_state = set_state * 6364136223846793005ull + 1442695040888963407ull;
	return (set_state >> 33) % below;
}
/* Small, large or unknown. */
static uint64_t set_draw_size(bool may_be_unknown)
{
	switch (set_draw(may_be_unknown ? 4 : 3)) {
	case 0:
		return set_draw(3);
	case 1:
		return set_draw(100000);
	case 2:
		return set_draw(1u << 31) << set_draw(20);
	default:
		return UINT64_MAX;
	}
}

typedef void (*set_json_writer)(const void *report, struct hi_json *json);
typedef void (*set_page_writer)(const void *report, struct hi_page *page);

static char *set_written_json(set_json_writer write, const void *report)
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
static char *set_written_page(set_page_writer write, const void *report)
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

static void set_expect_equal(const char *a, const char *b)
{
	char *difference = hi_golden_difference(a, b);

	HI_ASSERT_STREQ("", difference);
	free(difference);
}

static void set_expect_same(const void *report, set_json_writer old_json,
			    set_json_writer new_json, set_page_writer old_page,
			    set_page_writer new_page)
{
	char *a = set_written_json(old_json, report),
	     *b = set_written_json(new_json, report);

	set_expect_equal(a, b);
	free(a);
	free(b);
	a = set_written_page(old_page, report);
	b = set_written_page(new_page, report);
	set_expect_equal(a, b);
	free(a);
	free(b);
}

static void new_retainers_j(const void *r, struct hi_json *json)
{
	hi_retainers_json(r, json);
}
static void old_retainers_j(const void *r, struct hi_json *json)
{
	old_retainers_json(r, json);
}
static void new_retainers_p(const void *r, struct hi_page *page)
{
	hi_retainers_display(r, page);
}
static void old_retainers_p(const void *r, struct hi_page *page)
{
	old_retainers_display(r, page);
}
static void new_bins_j(const void *r, struct hi_json *json)
{
	hi_bins_json(r, json);
}
static void old_bins_j(const void *r, struct hi_json *json)
{
	old_bins_json(r, json);
}
static void new_bins_p(const void *r, struct hi_page *page)
{
	hi_bins_display(r, page);
}
static void old_bins_p(const void *r, struct hi_page *page)
{
	old_bins_display(r, page);
}
static void new_up_j(const void *r, struct hi_json *json)
{
	hi_up_json(r, json);
}
static void old_up_j(const void *r, struct hi_json *json)
{
	old_up_json(r, json);
}
static void new_up_p(const void *r, struct hi_page *page)
{
	hi_up_display(r, page);
}
static void old_up_p(const void *r, struct hi_page *page)
{
	old_up_display(r, page);
}

static const char *drawn_set_name(void *, uint32_t identity)
{
	return identity % 7 == 0 ? SAMPLE_HOSTILE
				 : sample_type(1 + identity % (SAMPLE_TYPES - 1));
}

static struct hi_set_row draw_sum(uint32_t size, bool unknown)
{
	return unknown ? (struct hi_set_row){.size = size,
					     .objects = UINT64_MAX,
					     .cost = UINT64_MAX,
					     .cost_pure = UINT64_MAX,
					     .exact_cost = UINT64_MAX,
					     .leak_cost = UINT64_MAX}
		       : (struct hi_set_row){.set = 1 + (uint32_t)set_draw(100),
					     .size = size,
					     .objects = set_draw_size(false),
					     .cost = set_draw_size(false),
					     .cost_pure = set_draw_size(false),
					     .exact_cost = set_draw_size(false),
					     .leak_cost = set_draw_size(false)};
}

static struct hi_retainers_row draw_set(void)
{
	static const uint32_t identities[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					      11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
	bool is_many = set_draw(8) == 0;
	struct hi_retainers_row row = {
		draw_sum(is_many ? 0 : (uint32_t)set_draw(MOST_MEMBERS + 1), false),
		is_many ? NULL : identities, drawn_set_name, NULL};

	if (is_many)
		row.sum.set = HI_SET_MANY;
	return row;
}

static struct hi_sanity draw_sanity(void)
{
	return (struct hi_sanity){set_draw_size(true), set_draw_size(false),
				  set_draw_size(false), set_draw_size(true),
				  set_draw_size(false)};
}

HI_TEST(sets_same, retainers)
{
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_retainers_row rows[DRAWN_ROWS];
		bool types[SAMPLE_TYPES], pure = set_draw(2);
		struct hi_retainers_report r = {
			.header = &s->header,
			.graph = s->graph,
			.view = {.identity = "type",
				 .max_set = (uint32_t)set_draw(20),
				 .heap_retainers = set_draw_size(false),
				 .name = drawn_set_name,
				 .by_count = set_draw(2),
				 .pure = pure,
				 .has_pure = pure || set_draw(2),
				 .auto_types = set_draw(2) ? types : NULL,
				 .auto_by_hints = set_draw(2)},
			.rows = rows,
			.n_rows = set_draw(DRAWN_ROWS + 1),
			.n_sets = set_draw(40),
			.objects = set_draw_size(false),
			.bytes = set_draw_size(false),
			.pure = set_draw_size(false),
			.many = draw_sum(0, false),
			.system_bytes = set_draw_size(false),
			.weak_objects = set_draw(2),
			.weak_bytes = set_draw_size(false),
			.revisited = set_draw_size(false),
			.waiting = set_draw_size(false),
			.hidden = {{set_draw(3), set_draw_size(false)},
				   {set_draw(3), set_draw_size(false)},
				   {}},
			.sanity = draw_sanity()};

		for (unsigned i = 0; i < DRAWN_ROWS; i++)
			rows[i] = draw_set();
		for (unsigned i = 0; i < SAMPLE_TYPES; i++)
			types[i] = set_draw(2);
		set_expect_same(&r, old_retainers_j, new_retainers_j, old_retainers_p,
				new_retainers_p);
	}
}

HI_TEST(sets_same, roots)
{
	static const char *const names[] = {"a", "b'c", SAMPLE_HOSTILE};
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		static const uint32_t members[] = {1, 2, 3};
		struct hi_bins_root roots[3];
		struct hi_bins_row rows[DRAWN_ROWS];
		struct hi_bins_report r = {.header = &s->header,
					   .roots = roots,
					   .n_roots = 3,
					   .rows = rows,
					   .n_rows = set_draw(DRAWN_ROWS + 1),
					   .objects = set_draw_size(false),
					   .bytes = set_draw_size(false),
					   .pure_bytes = set_draw_size(false),
					   .hidden = {{set_draw(3), set_draw_size(false)},
						      {set_draw(3), set_draw_size(false)},
						      {}},
					   .pure = set_draw(2),
					   .sanity = draw_sanity(),
					   .join = set_draw(2) ? "+" : NULL};

		for (unsigned i = 0; i < 3; i++)
			roots[i] = (struct hi_bins_root){
				.name = names[i],
				.expression = names[set_draw(3)],
				.type = sample_type((uint32_t)set_draw(SAMPLE_TYPES)),
				.address = set_draw(2) ? 0 : set_draw_size(false),
				.n_starts = set_draw(3),
				.warning = set_draw(2) ? NULL : names[set_draw(3)],
				.reached = set_draw_size(false),
				.alone = set_draw_size(false),
				.inside = set_draw(2) ? NULL : names[set_draw(3)],
				.each_other = set_draw(2)};
		for (unsigned i = 0; i < DRAWN_ROWS; i++) {
			bool is_bin = set_draw(4);

			rows[i] = (struct hi_bins_row){
				is_bin	      ? names[set_draw(3)]
				: set_draw(2) ? "LEAK"
					      : "NOROOT",
				is_bin ? members : NULL,
				draw_sum((uint32_t)set_draw(4), !is_bin && set_draw(2))};
		}
		set_expect_same(&r, old_bins_j, new_bins_j, old_bins_p, new_bins_p);
	}
}

HI_TEST(sets_same, up)
{
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		static struct hi_retainers_row rows[4][DRAWN_ROWS];
		struct hi_up_step steps[4];
		struct hi_up_report r = {.header = &s->header,
					 .graph = s->graph,
					 .pattern = SAMPLE_HOSTILE,
					 .name = drawn_set_name,
					 .steps = steps,
					 .n_steps = set_draw(5),
					 .cut = set_draw(2),
					 .many = set_draw(2)};

		for (unsigned i = 0; i < 4; i++) {
			steps[i] = (struct hi_up_step){
				.n_types = (uint32_t)set_draw(10),
				.objects = set_draw_size(false),
				.bytes = set_draw_size(false),
				.rows = rows[i],
				.n_rows = set_draw(DRAWN_ROWS + 1),
				.hidden = {set_draw(3), set_draw_size(false)}};
			for (unsigned k = 0; k < HI_UP_TYPES; k++)
				steps[i].types[k] = (uint32_t)set_draw(SAMPLE_TYPES);
			for (unsigned k = 0; k < DRAWN_ROWS; k++)
				rows[i][k] = draw_set();
		}
		set_expect_same(&r, old_up_j, new_up_j, old_up_p, new_up_p);
	}
}

static void new_diff_j(const void *r, struct hi_json *json)
{
	hi_diff_json(r, json);
}
static void old_diff_j(const void *r, struct hi_json *json)
{
	old_diff_json(r, json);
}
static void new_diff_p(const void *r, struct hi_page *page)
{
	hi_diff_display(r, page);
}
static void old_diff_p(const void *r, struct hi_page *page)
{
	old_diff_display(r, page);
}
static void new_survived_j(const void *r, struct hi_json *json)
{
	hi_survived_json(r, json);
}
static void old_survived_j(const void *r, struct hi_json *json)
{
	old_survived_json(r, json);
}
static void new_survived_p(const void *r, struct hi_page *page)
{
	hi_survived_display(r, page);
}
static void old_survived_p(const void *r, struct hi_page *page)
{
	old_survived_display(r, page);
}

static struct hi_heap_total draw_total(void)
{
	return (struct hi_heap_total){set_draw(3) ? set_draw_size(false) : 0,
				      set_draw_size(false)};
}

static const char *draw_type(void)
{
	return sample_type((uint32_t)set_draw(SAMPLE_TYPES));
}

static struct hi_hidden_rows draw_hidden(void)
{
	return (struct hi_hidden_rows){{set_draw(3), set_draw_size(false)},
				       {set_draw(3), set_draw_size(false)},
				       {}};
}

static struct hi_new_objects draw_new(void)
{
	static struct hi_new_row rows[DRAWN_ROWS];
	static struct hi_new_holder holders[DRAWN_ROWS];

	for (unsigned i = 0; i < DRAWN_ROWS; i++) {
		rows[i] = (struct hi_new_row){.type = draw_type(),
					      .count = set_draw_size(false),
					      .bytes = set_draw_size(false),
					      .leaked = set_draw(3),
					      .likely = set_draw(3),
					      .garbage = set_draw(3),
					      .retained = set_draw_size(true),
					      .of = set_draw_size(false),
					      .example = SAMPLE_HEAP + set_draw(1000),
					      .way = set_draw(2) ? "" : "a\\x01.b"};
		holders[i] = (struct hi_new_holder){
			.name = set_draw(2) ? "server" : "a\\x01.b",
			.type = draw_type(),
			.address = set_draw(2) ? 0 : SAMPLE_HEAP + set_draw(1000),
			.objects = set_draw_size(false),
			.bytes = set_draw_size(false)};
	}
	return (struct hi_new_objects){.rows = rows,
				       .n_rows = set_draw(DRAWN_ROWS + 1),
				       .hidden = draw_hidden(),
				       .all = draw_total(),
				       .unheld = {draw_total(), draw_total()},
				       .holders = holders,
				       .n_holders = set_draw(DRAWN_ROWS + 1)};
}

static struct hi_leak_totals draw_leaks(void)
{
	return (struct hi_leak_totals){.certain = {set_draw(9), set_draw_size(true)},
				       .likely = {set_draw(9), set_draw_size(true)}};
}

HI_TEST(sets_same, diff)
{
	static const char *const by[] = {"type", "module", "root", "retainers", "site"};
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_compare_row rows[DRAWN_ROWS];
		struct hi_lost_row lost[DRAWN_ROWS];
		struct hi_comparison c = {.same_process = set_draw(2),
					  .knows_births = set_draw(2),
					  .rows = rows,
					  .n_rows = set_draw(DRAWN_ROWS + 1),
					  .all = {"", draw_total(), draw_total(),
						  draw_total(), draw_total(),
						  (int64_t)set_draw_size(false)}};
		struct hi_diff_report r = {.before = &s->header,
					   .after = &s->header,
					   .c = &c,
					   .by = by[set_draw(5)],
					   .live_before = set_draw_size(true),
					   .live_after = set_draw_size(true),
					   .leaks_before = draw_leaks(),
					   .leaks_after = draw_leaks(),
					   .born = draw_new(),
					   .lost = {.is_known = set_draw(2),
						    .rows = lost,
						    .n_rows = set_draw(DRAWN_ROWS + 1),
						    .hidden = draw_hidden(),
						    .all = draw_total()},
					   .top = set_draw(DRAWN_ROWS + 4),
					   .min_size = set_draw(2) ? set_draw(2000) : 0};

		for (unsigned i = 0; i < DRAWN_ROWS; i++) {
			rows[i] = (struct hi_compare_row){
				draw_type(),
				draw_total(),
				draw_total(),
				draw_total(),
				draw_total(),
				set_draw(2) ? 0 : -(int64_t)set_draw_size(false)};
			lost[i] = (struct hi_lost_row){
				.type = draw_type(),
				.under = set_draw(2) ? "" : "a\\x01.b",
				.all = draw_total(),
				.likely = draw_total(),
				.example = SAMPLE_HEAP + set_draw(1000)};
		}
		set_expect_same(&r, old_diff_j, new_diff_j, old_diff_p, new_diff_p);
	}
}

HI_TEST(sets_same, survived)
{
	struct sample *s = sample_make();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_survived_report r = {
			.warm = &s->header,
			.load = &s->header,
			.after = &s->header,
			.live = {set_draw_size(true), set_draw_size(true),
				 set_draw_size(true)},
			.leaks = {draw_leaks(), draw_leaks(), draw_leaks()},
			.born = draw_total(),
			.load_by_address = set_draw(2),
			.after_by_address = set_draw(2),
			.knows_births = set_draw(2),
			.survived = draw_new()};

		set_expect_same(&r, old_survived_j, new_survived_j, old_survived_p,
				new_survived_p);
	}
}
