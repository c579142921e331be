/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that differ in frames of libraries alone are one row, and no other ones are. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/parts/alike_stacks.h"
#include "report/parts/births_report.h"
#include "report/parts/frame_text.h"
#include "tests/harness.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/random.h"

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define CXX "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"
#define VECTOR "/usr/include/c++/12/bits/stl_vector.h"
#define APP .module = "/opt/app/bin/app"

enum {
	MAIN,
	SERVE,
	LOAD,
	LOAD_AGAIN, /* the same line by another address */
	STORE,
	MALLOC,
	NEW,
	PUSH_BACK,
	INSERT,
	CALLS_MAIN,
	N_FRAMES
};
static const struct hi_frame_row alike_rows[N_FRAMES] = {
	[MAIN] = {APP, .function = "main", .file = "main.cc", .line = 9},
	[SERVE] = {APP, .function = "app::serve(int)", .file = "serve.cc", .line = 20},
	[LOAD] = {APP, .function = "app::load(char const*)", .file = "load.cc",
		  .line = 3},
	[LOAD_AGAIN] = {APP, .function = "app::load(char const*)", .file = "load.cc",
			.line = 3, .offset = 0x40},
	[STORE] = {APP, .function = "app::store(char const*)", .file = "",
		   .offset = 0x77},
	[MALLOC] = {.module = LIBC,
		    .function = "malloc",
		    .file = "malloc.c",
		    .line = 5,
		    .flags = HI_FRAME_ALLOCATES},
	[NEW] = {.module = CXX,
		 .function = "operator new(unsigned long)",
		 .file = "",
		 .flags = HI_FRAME_ALLOCATES},
	[PUSH_BACK] = {APP, .function = "std::vector<int>::push_back(int)",
		       .file = VECTOR, .line = 2, .flags = HI_FRAME_ALLOCATES},
	[INSERT] = {APP, .function = "std::vector<int>::insert(int)", .file = VECTOR,
		    .line = 7, .flags = HI_FRAME_ALLOCATES},
	[CALLS_MAIN] = {.module = LIBC,
			.function = "__libc_start_call_main",
			.file = "start.h"},
};
static const uint32_t alike_first[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const struct hi_frames alike_frames = {alike_rows, alike_first, N_FRAMES,
					      N_FRAMES};

/* Stacks that are drawn, and one object of each: object i has context 1 + i. */
enum { STACKS = 64, NODES = 1024 };
struct drawn_stacks {
	struct hi_context_node nodes[NODES];
	struct hi_context contexts[STACKS + 1];
	struct hi_context_totals totals[STACKS + 1];
	struct hi_context_view view;
	uint32_t context[STACKS], thread[STACKS], tid;
	uint64_t time_ns[STACKS], size[STACKS];
	struct hi_births births;
	struct hi_recorded recorded;
};

static void begin_stacks(struct drawn_stacks *d)
{
	*d = (struct drawn_stacks){.nodes = {{0, HI_FRAME_NONE}}, .tid = 7};
	d->view = (struct hi_context_view){d->nodes, d->contexts, 1, 1, N_FRAMES};
	d->births = (struct hi_births){.context = d->context,
				       .thread = d->thread,
				       .time_ns = d->time_ns,
				       .size = d->size,
				       .threads = &d->tid,
				       .n_threads = 1,
				       .end_ns = 1000};
}

/* The outermost first. */
static void draw_stack(struct drawn_stacks *d, const uint32_t *frames, size_t n,
		       uint32_t flags)
{
	uint32_t at = 0, number = d->view.n_contexts++;

	for (size_t i = 0; i < n; i++) {
		HI_ASSERT(d->view.n_nodes < NODES);
		d->nodes[d->view.n_nodes] = (struct hi_context_node){at, frames[i]};
		at = d->view.n_nodes++;
	}
	HI_ASSERT(number <= STACKS);
	d->contexts[number] = (struct hi_context){number, at, flags};
	d->totals[number] =
		(struct hi_context_totals){.allocs = 2 * number + 1, .frees = number};
	d->context[d->births.n_objects] = number;
	d->size[d->births.n_objects] = 16;
	d->time_ns[d->births.n_objects++] = number;
	d->recorded = (struct hi_recorded){.births = &d->births,
					   .contexts = d->view,
					   .totals = d->totals,
					   .frames = alike_frames};
}
#define DRAW_STACK(d, flags, ...)                                                        \
	draw_stack((d), (const uint32_t[]){__VA_ARGS__},                                 \
		   sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (flags))

/* As many objects as stacks, object i with 16 * (i + 1) bytes. */
static struct hi_objects *draw_objects(size_t n)
{
	struct hi_objects_builder *b;
	struct hi_objects *o;
	struct hi_error err;
	uint64_t addr = 0x1000;
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	HI_ASSERT_OK(hi_objects_builder_region(b, 0x1000, 0x100000, 4, &region, &err),
		     &err);
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_OK(
			hi_objects_builder_add(b, region, addr, 16 * (i + 1), 0, &err),
			&err);
		addr += 16 * (i + 1);
	}
	HI_ASSERT_OK(hi_objects_seal(b, &o, &err), &err);
	hi_test_defer(hi_objects_destroy, o);
	return o;
}

static struct hi_birth_groups *group_stacks(const struct drawn_stacks *d, bool merged)
{
	struct hi_birth_groups *g;
	struct hi_error err;

	HI_ASSERT_OK(hi_birth_groups_make(&d->births, &d->view, &alike_frames,
					  HI_BORN_BY_CONTEXT, &g, &err),
		     &err);
	hi_test_defer(hi_birth_groups_destroy, g);
	if (merged)
		HI_ASSERT_OK(hi_alike_stacks_merge(g, &d->view, &alike_frames, &err),
			     &err);
	return g;
}

static struct hi_births_report *report_stacks(const struct drawn_stacks *d,
					      const struct hi_birth_groups *groups)
{
	struct hi_births_report *r;
	struct hi_restrict only = {.top = SIZE_MAX};
	struct sample *s = sample_make();
	struct hi_error err;

	HI_ASSERT_OK(hi_births_report_create(&s->header,
					     draw_objects(d->births.n_objects), NULL,
					     &d->recorded, groups, &only, &r, &err),
		     &err);
	hi_test_defer(hi_births_report_destroy, r);
	return r;
}

static const char *cells_of_report(const struct hi_births_report *r)
{
	struct hi_page *page = page_new();
	const char *text = "";

	hi_births_display(r, page);
	for (size_t i = 0; i < page->tables.items[0]->cells.count;
	     i += page->tables.items[0]->n_columns)
		text = hi_page_printf(page, "%s%s\n", text,
				      page->tables.items[0]->cells.items[i].text);
	return text;
}

/* All that load() got, by whatever way through the C++ library, is one row; store() got the
 * rest. Objects have 16, 32, 48 and 64 bytes. */
static void draw_ways_of_load(struct drawn_stacks *d)
{
	begin_stacks(d);
	DRAW_STACK(d, 0, CALLS_MAIN, MAIN, SERVE, LOAD, PUSH_BACK, NEW, MALLOC);
	DRAW_STACK(d, 0, CALLS_MAIN, MAIN, SERVE, LOAD_AGAIN, INSERT, MALLOC);
	DRAW_STACK(d, 0, CALLS_MAIN, MAIN, SERVE, STORE, MALLOC);
	DRAW_STACK(d, 0, CALLS_MAIN, MAIN, SERVE, LOAD, MALLOC);
}

HI_TEST(alike_stacks, those_that_differ_in_a_library_are_one_row)
{
	struct drawn_stacks d;
	struct hi_births_report *r;

	draw_ways_of_load(&d);
	r = report_stacks(&d, group_stacks(&d, true));
	HI_ASSERT_EQ(2, r->n_rows);
	HI_ASSERT_EQ(3, r->rows[0].objects);
	HI_ASSERT_EQ(16 + 32 + 64, r->rows[0].bytes);
	HI_ASSERT_EQ(3 + 5 + 9, r->rows[0].allocs);
	HI_ASSERT_EQ(1 + 2 + 4, r->rows[0].frees);
	HI_ASSERT_EQ(1, r->rows[0].first_ns);
	HI_ASSERT_EQ(48, r->rows[1].bytes);
	HI_ASSERT_STREQ("1  app::load\n"
			"through 1 to 3 frames of libc, libstdc++\n"
			"app::serve\n"
			"main\n"
			"__libc_start_call_main\n"
			"2  app::store\n"
			"through malloc\n"
			"app::serve\n"
			"main\n"
			"__libc_start_call_main\n",
			cells_of_report(r));
}

HI_TEST(alike_stacks, the_page_states_that_rows_are_of_several_and_fits)
{
	struct drawn_stacks d;
	struct hi_page *page = page_new();

	draw_ways_of_load(&d);
	hi_births_display(report_stacks(&d, group_stacks(&d, true)), page);
	HI_ASSERT(strstr(page_text(page, 200), "1 row is of several stacks"));
	page = page_new();
	hi_births_display(report_stacks(&d, group_stacks(&d, false)), page);
	HI_ASSERT(!strstr(page_text(page, 200), "of several stacks"));
}

HI_TEST(alike_stacks, a_fold_at_another_place_is_another_stack)
{
	struct drawn_stacks d;

	begin_stacks(&d);
	DRAW_STACK(&d, 0, MAIN, SERVE, LOAD, MALLOC);
	DRAW_STACK(&d, 0, MAIN, PUSH_BACK, SERVE, LOAD, MALLOC);
	DRAW_STACK(&d, 0, MAIN, SERVE, PUSH_BACK, LOAD, MALLOC);
	DRAW_STACK(&d, HI_CONTEXT_CUT, MAIN, SERVE, LOAD, MALLOC);
	DRAW_STACK(&d, 0, MAIN, SERVE, LOAD);
	HI_ASSERT_EQ(5, report_stacks(&d, group_stacks(&d, true))->n_rows);
}

/* A library's function that is the site is a line of its own. */
HI_TEST(alike_stacks, sites_in_libraries_are_told_apart)
{
	struct drawn_stacks d;

	begin_stacks(&d);
	DRAW_STACK(&d, 0, CALLS_MAIN, MALLOC);
	DRAW_STACK(&d, 0, CALLS_MAIN, NEW, MALLOC);
	DRAW_STACK(&d, 0, MALLOC);
	/* Both rows have 48 bytes, and the first one more calls. */
	HI_ASSERT_STREQ("1  __libc_start_call_main\n"
			"through 1 to 2 frames of libc, libstdc++\n"
			"2  malloc\n",
			cells_of_report(report_stacks(&d, group_stacks(&d, true))));
}

/* ---- drawn stacks, beside the texts of their items ---- */

static const char *text_of_stack(const struct drawn_stacks *d, uint32_t context,
				 struct hi_page *page)
{
	uint32_t site = hi_context_site(&d->view, &alike_frames, context);
	struct hi_frame_items items = {.folds = true};
	const char *text = d->contexts[context].flags ? "cut" : "";

	if (site >= N_FRAMES)
		return "";
	hi_frame_items_add_context(&items, &d->view, &alike_frames, context,
				   &alike_rows[site]);
	for (size_t i = 0; i < items.of.count; i++) {
		const struct hi_frame_item *item = &items.of.items[i];

		text = item->n_folded ? hi_page_printf(page, "%s\n*", text)
				      : hi_page_printf(page, "%s\n%s %s", text,
						       hi_frame_function(item->row, page),
						       hi_frame_place(item->row, page));
	}
	text = hi_page_printf(page, "%s\n%s", text,
			      hi_frame_function(&alike_rows[site], page));
	hi_frame_items_free(&items);
	return text;
}

static void draw_some_stacks(struct drawn_stacks *d, uint64_t *random)
{
	begin_stacks(d);
	while (d->view.n_contexts <= STACKS) {
		uint32_t frames[8];
		size_t n = next_random(random) % 7;

		for (size_t i = 0; i < n; i++)
			frames[i] = next_random(random) % 3
					    ? (uint32_t)(LOAD + next_random(random) % 6)
					    : (uint32_t)(next_random(random) % N_FRAMES);
		draw_stack(d, frames, n,
			   next_random(random) % 9 ? 0 : (uint32_t)HI_CONTEXT_CUT);
	}
}

static void check_groups_are_texts(const struct drawn_stacks *d,
				   const struct hi_birth_groups *g)
{
	struct hi_page *page = page_new();
	const char *texts[STACKS];

	for (uint32_t i = 0; i < STACKS; i++)
		texts[i] = text_of_stack(d, i + 1, page);
	for (uint32_t i = 0; i < STACKS; i++)
		for (uint32_t k = 0; k < i; k++)
			HI_ASSERT_MSG((g->of[i] == g->of[k]) ==
					      (strcmp(texts[i], texts[k]) == 0),
				      "%s\n\n%s", texts[i], texts[k]);
}

static void check_sums_are_same(const struct hi_births_report *a,
				const struct hi_births_report *b)
{
	uint64_t sum[2][5] = {};
	const struct hi_births_report *of[] = {a, b};

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < of[i]->n_rows; k++) {
			sum[i][0] += of[i]->rows[k].objects;
			sum[i][1] += of[i]->rows[k].bytes;
			sum[i][2] += of[i]->rows[k].allocs;
			sum[i][3] += of[i]->rows[k].frees;
		}
	for (int i = 0; i < 2; i++)
		sum[i][4] = of[i]->known.bytes;
	HI_ASSERT_EQ(STACKS, sum[0][0]);
	HI_ASSERT_EQ(16 * STACKS * (STACKS + 1) / 2, sum[0][1]);
	HI_ASSERT(memcmp(sum[0], sum[1], sizeof(sum[0])) == 0);
}

HI_TEST(alike_stacks, groups_are_those_that_are_shown_alike_and_sums_stay)
{
	uint64_t random = 11;
	size_t merged = 0;

	for (int round = 0; round < 40; round++) {
		struct drawn_stacks d;
		struct hi_birth_groups *all, *alike;

		draw_some_stacks(&d, &random);
		all = group_stacks(&d, false);
		alike = group_stacks(&d, true);
		check_groups_are_texts(&d, alike);
		check_sums_are_same(report_stacks(&d, all), report_stacks(&d, alike));
		merged += all->n_groups - alike->n_groups;
	}
	HI_ASSERT(merged > 100);
}
