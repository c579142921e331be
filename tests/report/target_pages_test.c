/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of a target and of its files: safepoints, the censuses of a file, gates. */
#include "report/parts/stop_place.h"
#include "report/reports/audit/audit_report.h"
#include "report/reports/check/check_report.h"
#include "report/reports/safepoints/safepoints_report.h"
#include "report/reports/snapshots/snapshots_report.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

/* ---- safepoints ---- */

/* The collector's end has 12 hits in 2 s; of the others no hits are known, and the last
 * is not shown. */
HI_TEST(target_pages, safepoints)
{
	const struct hi_probed places[] = {{.module = "python3.11",
					    .function = "gc_collect_main",
					    .into_function = 0x40,
					    .offset = 0x1040,
					    .address = 0x401040,
					    .instruction = "nop"},
					   {.module = SAMPLE_HOSTILE,
					    .function = "",
					    .offset = 0x2000,
					    .address = 0x402000,
					    .instruction = "push %rbp",
					    .single_stepped = true}};
	struct hi_safepoint_row rows[] = {{.at = "usdt:python:gc__done",
					   .runtime = "CPython",
					   .purpose = "the end of a collection",
					   .is_gc = true,
					   .places = places,
					   .n_places = 1,
					   .hits = 12},
					  {.at = "usdt:" SAMPLE_HOSTILE,
					   .runtime = "",
					   .purpose = "",
					   .places = places + 1,
					   .n_places = 1,
					   .hits = UINT64_MAX},
					  {.at = "usdt:app:late",
					   .runtime = "",
					   .purpose = "",
					   .places = places,
					   .n_places = 2,
					   .hits = UINT64_MAX}};
	struct sample *s = sample_make();
	const struct hi_safepoints_report r = {.header = &s->header,
					       .rows = rows,
					       .n_rows = 3,
					       .shown = 2,
					       .counted_ns = 2000000000,
					       .not_counted = "",
					       .rows_not_counted = 1};
	struct hi_page *page = page_new();

	hi_safepoints_display(&r, page);
	HI_EXPECT_GOLDEN("safepoints-80", page_text(page, 80));
}

/* ---- the censuses of a file ---- */

/* Three censuses a minute apart, the second with its totals alone; a mark before the
 * third. */
static const struct hi_snapshots_row censuses[] = {
	{1, 1700000000000000000, 0, 0, 1000000, 1000, 1 << 20, {}, 50000},
	{2,
	 1700000060000000000,
	 60000000000,
	 5000000000,
	 2000000,
	 2000,
	 2 << 20,
	 {.certain = {1, 100}},
	 0},
	{3,
	 1700000120000000000,
	 120000000000,
	 9000000000,
	 UINT64_MAX,
	 3000,
	 3 << 20,
	 {.certain = {1, 4096}},
	 150000}};

static const char *text_of_file(struct sample *s, const struct hi_snapshots_row *of)
{
	static const struct hi_snapshots_mark_line marks[] = {
		{2, 90000000000, 7000000000, "load " SAMPLE_HOSTILE}};
	static const struct hi_snapshots_type types[] = {
		{"struct order", "app", 1500, 1 << 20, 2 << 20},
		{"", "", 500, 1 << 20, 0}};
	struct hi_trend_row types_that_grew[] = {
		{.name = "struct order",
		 .first = 1 << 20,
		 .last = 3 << 20,
		 .rate = {1 << 20, 1 << 19, 3 << 19, 4},
		 .per_hit = {1800, 1700, 1900, 4}},
		{.name = "", .last = 4096, .rate = {0, 0, 1000, 4}}};
	struct hi_trend_row holders[] = {
		{.name = "server",
		 .first = 1 << 20,
		 .last = 3 << 20,
		 .rate = {1 << 20, 1 << 19, 3 << 19, 4}},
		{.name = SAMPLE_HOSTILE, .last = 4096, .rate = {8192, 8192, 8192, 4}}};
	const struct hi_trend trend = {
		.censuses = 4,
		.holders = holders,
		.n_holders = 2,
		.graphs = 4,
		.graphs_ns = 120000000000,
		.live = {.name = "",
			 .first = 5 << 20,
			 .last = 7 << 20,
			 .rate = {1 << 20, 1 << 19, 3 << 19, 4},
			 .per_hit = {1946, 1843, 2048, 4}},
		.place = "handle%return",
		.hits = 1000,
		.objects_per_hit = {11, 10, 12, 4},
		.leaked = {.name = "", .last = 4096, .rate = {2048, 1024, 4096, 4}},
		.leaks_known = true,
		.rows = types_that_grew,
		.n_rows = 2,
		.limit = {HI_LIMIT_MACHINE, 4ull << 30, (4ull << 30) - (60 << 20)}};
	const struct hi_snapshots_report r = {.header = &s->header,
					      .trend = of ? NULL : &trend,
					      .size = 250000,
					      .end = "exited",
					      .torn = 17,
					      .rows = censuses,
					      .n_rows = 3,
					      .marks = marks,
					      .n_marks = 1,
					      .of = of,
					      .types = of ? types : NULL,
					      .n_types = of ? 3 : 0,
					      .shown = of ? 2 : 0};
	struct hi_page *page = page_new();

	hi_snapshots_display(&r, page);
	return page_text(page, 80);
}

HI_TEST(target_pages, snapshots)
{
	struct hi_golden_pages *pages = hi_golden_pages();
	struct sample *s = sample_make();

	s->header.file = "app.hisnap";
	hi_golden_add(pages, "all censuses", text_of_file(s, NULL));
	hi_golden_add(pages, "census 2", text_of_file(s, &censuses[1]));
	HI_EXPECT_GOLDEN_PAGES("snapshots-80", pages);
}

/* ---- gates ---- */

static bool drawn_value(void *arg, const struct hi_gate_metric *metric, double *ret)
{
	(void)arg;
	(void)metric;
	*ret = 148787;
	return true;
}

/* For other programs. */
static struct hi_golden_pages *formats_of_check(const struct hi_check_report *r)
{
	static const struct {
		const char *name;
		void (*write)(const struct hi_check_report *r, struct hi_page *scratch,
			      FILE *out);
	} formats[] = {{"JUnit", hi_check_junit},
		       {"annotations of GitHub", hi_check_github},
		       {"Markdown", hi_check_markdown}};
	struct hi_golden_pages *pages = hi_golden_pages();

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		HI_ASSERT(out != NULL);
		formats[i].write(r, page_new(), out);
		fclose(out);
		hi_golden_add(pages, formats[i].name, text);
		free(text);
	}
	return pages;
}

/* Leaks have 148,787 B: above none, below 1 MiB. */
HI_TEST(target_pages, check)
{
	static const char *const texts[] = {"leak.bytes > 0", "leak.bytes > 1MiB",
					    "live.bytes / leak.bytes > 1"};
	struct hi_check_culprit culprits[] = {{.kind = HI_CULPRIT_TYPE,
					       .type = "struct order",
					       .count = 7,
					       .objects = 7,
					       .bytes = 140000,
					       .path = "server.orders[*]",
					       .example = SAMPLE_HEAP}};
	struct sample *s = sample_make();
	struct hi_arena arena = {};
	struct hi_gate gates[3];
	struct hi_check_row rows[3] = {};
	struct hi_check_report r = {
		.header = &s->header, .rows = rows, .n_rows = 3, .n_failed = 1};
	struct hi_page *page = page_new();
	struct hi_error err;
	size_t column;

	for (size_t i = 0; i < 3; i++) {
		HI_ASSERT_OK(hi_gate_parse(texts[i], &arena, &gates[i], &column, &err),
			     &err);
		rows[i].gate = &gates[i];
		rows[i].next = "";
		rows[i].result = hi_gate_evaluate(&gates[i], drawn_value, NULL);
	}
	rows[0].culprits = culprits;
	rows[0].n_culprits = 1;
	rows[0].next = "heapinspect leaks --pid 4242";
	hi_check_display(&r, page);
	HI_EXPECT_GOLDEN("check-80", page_text(page, 80));
	HI_EXPECT_GOLDEN_PAGES("check-formats", formats_of_check(&r));
	hi_arena_free(&arena);
}

/* ---- reference counts ---- */

/* 1,000 objects count references: 3 of them count 5 more than are found, and 1 has one
 * less. 10 objects are garbage, and 2 cannot be collected. */
HI_TEST(target_pages, audit)
{
	struct hi_audit_row rows[] = {{4, 2, 4, 192, 4, 5, 2, HI_LOSS_UNKNOWN},
				      {8, 1, 1, 96, 8, 2, 1, HI_LOSS_UNKNOWN}};
	struct hi_audit_row short_rows[] = {{5, 1, 1, 96, 5, 1, 2, HI_LOSS_UNKNOWN}};
	struct hi_audit_row known_rows[] = {
		{4, 900, 900, 86400, 4, 1, 0, HI_LOSS_CYTHON}};
	struct hi_audit audit = {.rows = rows,
				 .n_rows = 2,
				 .short_rows = short_rows,
				 .n_short_rows = 1,
				 .short_objects = 1,
				 .missing = 1,
				 .objects = 1000,
				 .excess_objects = 3,
				 .excess = 5,
				 .known_rows = known_rows,
				 .n_known_rows = 1,
				 .known_objects = 900,
				 .known = 900};
	struct hi_garbage_row garbage_rows[] = {
		{4, HI_UNREACHABLE_GARBAGE, false, 10, 960, 4},
		{8, HI_UNREACHABLE_UNCOLLECTABLE, false, 2, 192, 8}};
	struct hi_garbage garbage = {.rows = garbage_rows,
				     .n_rows = 2,
				     .objects = {[HI_UNREACHABLE_GARBAGE] = 10,
						 [HI_UNREACHABLE_UNCOLLECTABLE] = 2},
				     .bytes = {[HI_UNREACHABLE_GARBAGE] = 960,
					       [HI_UNREACHABLE_UNCOLLECTABLE] = 192}};
	static const struct hi_audit_cause causes[] = {{8, 2, 8}};
	static const char *const names[] = {"app.cache", SAMPLE_HOSTILE};
	static const char *const short_names[] = {""};
	struct sample *s = sample_make();
	const struct hi_audit_report r = {.header = &s->header,
					  .graph = s->graph,
					  .audit = &audit,
					  .garbage = &garbage,
					  .causes = causes,
					  .n_causes = 1,
					  .names = names,
					  .short_names = short_names,
					  .top = 10};
	struct hi_page *page = page_new();

	s->header.runtime = "CPython";
	s->header.runtime_version = "3.11.2";
	s->header.runtime_tracked = 1000;
	s->header.runtime_found_by = "_PyRuntime";
	hi_audit_display(&r, page);
	HI_EXPECT_GOLDEN("audit-80", page_text(page, 80));
}
