/* SPDX-License-Identifier: BSD-2-Clause */
/* Deep profiles for tests of their reports, and access to cells of reports. */
#ifndef HI_TESTS_REPORT_DEEP_PROFILES_H
#define HI_TESTS_REPORT_DEEP_PROFILES_H

#include <stdio.h>
#include <stdlib.h>

#include "report/reports/deep/deep_report.h"
#include "tests/census/deep_stacks.h"

struct deep_made {
	struct hi_deep_profile profile;
	struct hi_deep_index index;
	struct hi_deep_contour contour;
};

static inline void free_deep_made(struct deep_made *made)
{
	hi_deep_index_free(&made->index);
	hi_deep_contour_free(&made->contour);
	hi_deep_profile_free(&made->profile);
	free(made);
}

/* Without functions; the test frees it. */
static inline struct deep_made *make_deep(void)
{
	struct deep_made *made = calloc(1, sizeof(*made));
	struct hi_error err;

	HI_ASSERT(made != NULL);
	HI_ASSERT_OK(hi_deep_profile_init(&made->profile, &err), &err);
	hi_test_defer(free_deep_made, made);
	made->profile.has[HI_DEEP_BYTES] = made->profile.has[HI_DEEP_ALLOCS] = true;
	return made;
}

static inline uint32_t deep_text(struct deep_made *made, const char *text)
{
	uint32_t number;

	HI_ASSERT(hi_deep_profile_intern(&made->profile, text, &number));
	return number;
}

static inline uint32_t add_deep_function(struct deep_made *made, const char *name,
					 const char *module, bool is_exported)
{
	struct hi_deep_procedure f = {.name = deep_text(made, name),
				      .module = deep_text(made, module),
				      .is_exported = is_exported};

	HI_ASSERT(hi_vector_push(&made->profile.functions, f));
	return (uint32_t)made->profile.functions.count - 1;
}

static inline uint32_t add_deep_site(struct deep_made *made, uint32_t function,
				     const char *place)
{
	struct hi_deep_call_site s = {.function = function,
				      .place = deep_text(made, place),
				      .callee = HI_DEEP_NONE};

	HI_ASSERT(hi_vector_push(&made->profile.sites, s));
	return (uint32_t)made->profile.sites.count - 1;
}

static inline void add_deep_stacks(struct deep_made *made,
				   const struct deep_stack *stacks, size_t n)
{
	struct hi_error err;

	made->profile.graph = graph_of_stacks(stacks, n);
	HI_ASSERT_OK(hi_deep_index_create(&made->profile, &made->index, &err), &err);
}

static inline void set_deep_contour(struct deep_made *made, const char *text)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_contour_parse(&made->profile, text, strlen(text),
					   &made->contour, &err),
		     &err);
	made->index.contour = &made->contour;
}

/* ---- reports ---- */

static inline enum hi_status try_deep(const struct deep_made *made, const char *text,
				      struct hi_deep_report **ret, struct hi_error *err)
{
	struct hi_deep_query query;
	enum hi_status status = hi_deep_query_parse(text, &query, err);

	return status ? status : hi_deep_report_create(&made->index, &query, ret, err);
}

/* The test frees it. */
static inline const struct hi_deep_report *ask_deep(const struct deep_made *made,
						    const char *text)
{
	struct hi_deep_report *report;
	struct hi_error err;

	HI_ASSERT_OK(try_deep(made, text, &report, &err), &err);
	hi_test_defer(hi_deep_report_destroy, report);
	return report;
}

static inline const struct hi_deep_table *deep_table_of(const struct hi_deep_report *r,
							const char *key)
{
	for (size_t i = 0; i < r->tables.count; i++)
		if (strcmp(r->tables.items[i]->key, key) == 0)
			return r->tables.items[i];
	HI_ASSERT_MSG(false, "no table %s", key);
	return NULL;
}

static inline size_t deep_rows_of(const struct hi_deep_table *t)
{
	return t->columns.count ? t->cells.count / t->columns.count : 0;
}

static inline bool deep_has_column(const struct hi_deep_table *t, const char *key)
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (strcmp(t->columns.items[i].key, key) == 0)
			return true;
	return false;
}

static inline const struct hi_deep_cell *deep_cell_of(const struct hi_deep_table *t,
						      size_t row, const char *key)
{
	HI_ASSERT_MSG(row < deep_rows_of(t), "%s: no row %zu", t->key, row);
	for (size_t i = 0; i < t->columns.count; i++)
		if (strcmp(t->columns.items[i].key, key) == 0)
			return &t->cells.items[row * t->columns.count + i];
	HI_ASSERT_MSG(false, "%s: no column %s", t->key, key);
	return NULL;
}

static inline const struct hi_deep_cell *deep_fact_of(const struct hi_deep_report *r,
						      const char *key)
{
	for (size_t i = 0; i < r->facts.count; i++)
		if (strcmp(r->facts.items[i].column.key, key) == 0)
			return &r->facts.items[i].cell;
	HI_ASSERT_MSG(false, "no fact %s", key);
	return NULL;
}

/* The row whose text in the column is this. */
static inline size_t deep_row_of(const struct hi_deep_table *t, const char *key,
				 const char *text)
{
	for (size_t i = 0; i < deep_rows_of(t); i++)
		if (strcmp(deep_cell_of(t, i, key)->text, text) == 0)
			return i;
	HI_ASSERT_MSG(false, "%s: no row with %s %s", t->key, key, text);
	return 0;
}

static inline uint64_t deep_sum_of(const struct hi_deep_table *t, const char *key)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < deep_rows_of(t); i++)
		sum += deep_cell_of(t, i, key)->number;
	return sum;
}

/* free(). */
static inline char *deep_json_text(const struct hi_deep_report *r)
{
	struct hi_json json;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out != NULL);
	hi_json_init(&json, out);
	hi_deep_json(r, &json);
	HI_ASSERT(hi_json_finish(&json));
	HI_ASSERT(fclose(out) == 0);
	return text;
}

/* ---- the worked example ---- */

enum { DRAWN_MAIN = 1, DRAWN_PARSE, DRAWN_EXPR, DRAWN_LOAD };
enum {
	DRAWN_A = 1,
	DRAWN_D,
	DRAWN_M0,
	DRAWN_B,
	DRAWN_M2,
	DRAWN_C,
	DRAWN_M1,
	DRAWN_E,
	DRAWN_M3
};

/* Function main of module demo, parse and expr of util, load of disk. */
static inline struct deep_made *make_deep_drawn(void)
{
	static const struct deep_stack stacks[] = {
		{100, 10, 2, {{1, DRAWN_A}, {2, DRAWN_M2}}},
		{40, 4, 3, {{1, DRAWN_A}, {2, DRAWN_B}, {3, DRAWN_M1}}},
		{60, 6, 4, {{1, DRAWN_A}, {2, DRAWN_B}, {3, DRAWN_C}, {2, DRAWN_M2}}},
		{20,
		 2,
		 5,
		 {{1, DRAWN_A}, {2, DRAWN_B}, {3, DRAWN_C}, {2, DRAWN_B}, {3, DRAWN_M1}}},
		{500, 1, 2, {{1, DRAWN_D}, {4, DRAWN_M3}}},
		{30, 3, 3, {{1, DRAWN_D}, {4, DRAWN_E}, {2, DRAWN_M2}}},
		{7, 1, 1, {{1, DRAWN_M0}}},
	};
	static const struct {
		uint32_t function;
		const char *place;
	} sites[] = {{1, "a"}, {1, "d"},  {1, "m0"}, {2, "b"}, {2, "m2"},
		     {3, "c"}, {3, "m1"}, {4, "e"},  {4, "m3"}};
	struct deep_made *made = make_deep();

	add_deep_function(made, "main", "demo", true);
	add_deep_function(made, "parse", "util", true);
	add_deep_function(made, "expr", "util", false);
	add_deep_function(made, "load", "disk", true);
	for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++)
		add_deep_site(made, sites[i].function, sites[i].place);
	made->profile.program = deep_text(made, "demo");
	add_deep_stacks(made, stacks, sizeof(stacks) / sizeof(*stacks));
	return made;
}

#endif
