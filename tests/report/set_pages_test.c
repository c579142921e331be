/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of sets: what retains objects, and what named roots share. */
#include "report/reports/retainers/retainers_report.h"
#include "report/reports/roots/bins_report.h"
#include "report/reports/up/up_report.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

/* ---- retainers ---- */

static const char *drawn_identity_name(void *arg, uint32_t identity)
{
	static const char *const names[] = {"", "struct session", "cache", SAMPLE_HOSTILE,
					    "SYSTEM"};

	(void)arg;
	return names[identity];
}

static const uint32_t both[] = {1, 2}, hostile[] = {3}, by_system[] = {4};

/* Half of 100,000,000 B in 1,000 objects are kept by sessions and the cache together, a
 * tenth by SYSTEM, and a tenth by more than is known. */
HI_TEST(set_pages, retainers)
{
	struct hi_retainers_row rows[] = {
		{{.set = 2, .size = 2, .objects = 500, .cost = 50000000},
		 both,
		 drawn_identity_name,
		 NULL},
		{{.set = 3, .size = 1, .objects = 300, .cost = 30000000},
		 hostile,
		 drawn_identity_name,
		 NULL},
		{{.set = HI_SET_MANY, .objects = 100, .cost = 10000000},
		 NULL,
		 drawn_identity_name,
		 NULL},
		{{.set = 4, .size = 1, .objects = 100, .cost = 10000000},
		 by_system,
		 drawn_identity_name,
		 NULL}};
	struct sample *s = sample_make();
	const struct hi_retainers_report r = {.header = &s->header,
					      .graph = s->graph,
					      .view = {.identity = "type",
						       .max_set = 8,
						       .system = 4,
						       .heap_retainers = 42,
						       .name = drawn_identity_name},
					      .rows = rows,
					      .n_rows = 4,
					      .n_sets = 4,
					      .objects = 1000,
					      .bytes = 100000000,
					      .many = rows[2].sum,
					      .system_bytes = 10000000,
					      .weak_objects = 3,
					      .weak_bytes = 300,
					      .sanity = {.allocated = 100001096,
							 .exact = 90000000,
							 .conservative = 10000000,
							 .leak = 96,
							 .internal = 1000}};
	struct hi_page *page = page_new();

	hi_retainers_display(&r, page);
	HI_EXPECT_GOLDEN("retainers-80", page_text(page, 80));
}

/* ---- named roots ---- */

/* a and b reach 300,000 of 1,000,000 B together, a alone 400,000, b alone nothing: b is
 * inside of a. 200,000 are live under neither, and 100,000 leaked. */
HI_TEST(set_pages, roots)
{
	static const uint32_t first[] = {1}, shared[] = {1, 2};
	struct hi_bins_root roots[] = {{.name = "a",
					.expression = "server.a",
					.type = "struct shelf *",
					.address = 0x4000,
					.reached = 700000,
					.alone = 400000},
				       {.name = "b",
					.expression = "other.b->next",
					.type = SAMPLE_HOSTILE,
					.reached = 300000,
					.inside = "a"}};
	struct hi_bins_row rows[] = {
		{"a", first, {.size = 1, .objects = 40, .cost = 400000}},
		{"a-b", shared, {.size = 2, .objects = 30, .cost = 300000}},
		{"NOROOT", NULL, {.objects = 20, .cost = 200000}},
		{"LEAK", NULL, {.objects = 10, .cost = 100000}}};
	struct sample *s = sample_make();
	const struct hi_bins_report r = {
		.header = &s->header,
		.roots = roots,
		.n_roots = 2,
		.rows = rows,
		.n_rows = 4,
		.objects = 100,
		.bytes = 1000000,
		.sanity = {.allocated = 1000000, .exact = 900000, .leak = 100000}};
	struct hi_page *page = page_new();

	hi_bins_display(&r, page);
	HI_EXPECT_GOLDEN("roots-80", page_text(page, 80));
}

/* ---- step by step ---- */

/* 10 B of struct dict are kept by sessions and the cache; these by what is hostile. */
HI_TEST(set_pages, up)
{
	struct hi_retainers_row first[] = {
		{{.set = 2, .size = 2, .objects = 7, .cost = 7000},
		 both,
		 drawn_identity_name,
		 NULL},
		{{.set = HI_SET_MANY, .objects = 3, .cost = 3000},
		 NULL,
		 drawn_identity_name,
		 NULL}};
	struct hi_retainers_row second[] = {
		{{.set = 3, .size = 1, .objects = 2, .cost = 200},
		 hostile,
		 drawn_identity_name,
		 NULL}};
	struct hi_up_step steps[] = {{.types = {4},
				      .n_types = 1,
				      .objects = 10,
				      .bytes = 10000,
				      .rows = first,
				      .n_rows = 2},
				     {.types = {6, 7},
				      .n_types = 2,
				      .objects = 2,
				      .bytes = 200,
				      .rows = second,
				      .n_rows = 1,
				      .hidden = {1, 16}}};
	struct sample *s = sample_make();
	const struct hi_up_report r = {.header = &s->header,
				       .graph = s->graph,
				       .pattern = "dict",
				       .name = drawn_identity_name,
				       .steps = steps,
				       .n_steps = 2,
				       .cut = true,
				       .many = true};
	struct hi_page *page = page_new();

	hi_up_display(&r, page);
	HI_EXPECT_GOLDEN("up-80", page_text(page, 80));
}
