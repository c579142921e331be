/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of the heap of tests/report/sample.h, in which object i has type i % SAMPLE_TYPES
 * and begins at SAMPLE_HEAP + 0x10 + 0x100 i. */
#ifndef HI_TESTS_REPORT_HEAP_PAGES_H
#define HI_TESTS_REPORT_HEAP_PAGES_H

#include "report/reports/census/census_report.h"
#include "report/reports/explain/explain_report.h"
#include "report/reports/leaks/leaks_report.h"
#include "report/reports/paths/paths_report.h"
#include "report/reports/retained/retained_report.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"

static inline struct hi_node_info object_info(const struct sample *s, hi_node object)
{
	return hi_node_info(s->graph, &s->dominators, object);
}

static inline struct hi_page *leaks_page(struct sample *s)
{
	struct hi_restrict all = {.top = SIZE_MAX};
	struct hi_leaks_report *report = NULL;
	struct hi_page *page = page_new();
	struct hi_error err = {};

	HI_ASSERT_OK(hi_leaks_report_create(&s->header, s->graph, &s->reach, &s->leaks,
					    &all, &report, &err),
		     &err);
	hi_leaks_display(report, page);
	hi_leaks_report_destroy(report);
	return page;
}

static inline struct hi_page *census_page(struct sample *s, size_t top)
{
	struct hi_restrict only = {.top = top};
	struct hi_census_report *report = NULL;
	struct hi_page *page = page_new();
	struct hi_error err = {};

	HI_ASSERT_OK(hi_census_report_create(&s->header, s->graph, &s->census, &only,
					     &report, &err),
		     &err);
	hi_census_display(report, page);
	hi_census_report_destroy(report);
	return page;
}

static inline struct hi_page *retained_page(struct sample *s, size_t top)
{
	struct hi_restrict only = {.top = top};
	struct hi_retained_report *report = NULL;
	struct hi_page *page = page_new();
	struct hi_error err = {};

	HI_ASSERT_OK(hi_retained_report_create(&s->header, s->graph, &s->reach,
					       &s->dominators, &s->census, &only, NULL,
					       UINT64_MAX, &report, &err),
		     &err);
	hi_retained_display(report, page);
	hi_retained_report_destroy(report);
	return page;
}

static inline struct hi_page *explain_page(struct sample *s)
{
	struct hi_explain_field fields[] = {
		{.offset = 0, .path = "next", .type = "struct dict *", .value = "0x1"},
		{.offset = 8, .path = "id", .type = "int", .value = "7"}};
	struct hi_explain_link referrers[] = {
		{.info = object_info(s, 2), .text = "->a"},
		{.info = hi_node_info(s->graph, NULL, s->graph->first_root), .text = ""}};
	struct hi_node_info dominators[] = {object_info(s, 3)};
	struct hi_explain_report r = {.header = &s->header,
				      .address = SAMPLE_HEAP + 0x110,
				      .state = "live",
				      .block = SAMPLE_HEAP + 0x110,
				      .usable = 88,
				      .cost = 96,
				      .info = object_info(s, 1),
				      .live_bytes = s->reach.live_bytes,
				      .mapping = "",
				      .evidence = "",
				      .name = "",
				      .value = "",
				      .fields = fields,
				      .n_fields = 2,
				      .n_fields_total = 2,
				      .referrers = referrers,
				      .n_referrers = 2,
				      .n_referrers_total = 2,
				      .dominators = dominators,
				      .n_dominators = 1};
	struct hi_page *page = page_new();

	fields[0].points = true;
	fields[0].to = object_info(s, 4);
	hi_explain_display(&r, page);
	return page;
}

static inline struct hi_page *paths_page(struct sample *s, bool steps)
{
	struct hi_paths_step step[] = {
		{.edge = "",
		 .info = hi_node_info(s->graph, &s->dominators, s->graph->first_root)},
		{.edge = "->db", .info = object_info(s, 0)},
		{.edge = "->key", .info = object_info(s, 15)}};
	struct hi_paths_way way = {.text = "server->db->key",
				   .pattern = "server->db->key",
				   .steps = step,
				   .n_steps = 3,
				   .n_alike = 1};
	struct hi_paths_report r = {.header = &s->header,
				    .query = "struct dictEntry",
				    .target = "struct dictEntry (2 live)",
				    .steps = steps,
				    .n_targets = 2,
				    .ways = &way,
				    .n_ways = 1,
				    .more = true};
	struct hi_page *page = page_new();

	hi_paths_display(&r, page);
	return page;
}

#endif
