/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads hold alone what owners, drawn by hand, have; and the page shows it. */
#include <string.h>

#include "report/reports/threads/threads_report.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

/* Roots of the drawing, by their numbers. */
enum { LIST, CURSOR, OTHER, BUF, SERVER, WORDS, REGISTERS, DRAWN_ROOTS };

static const struct hi_root drawn_roots[DRAWN_ROOTS] = {
	[LIST] = {.kind = HI_ROOT_STACK, .name = "thread 7 app::work(): list"},
	[CURSOR] = {.kind = HI_ROOT_STACK, .name = "thread 7 app::work(): cursor"},
	[OTHER] = {.kind = HI_ROOT_STACK, .name = "thread 70 main(): other"},
	[BUF] = {.kind = HI_ROOT_TLS, .name = "thread 7 buf"},
	[SERVER] = {.kind = HI_ROOT_GLOBAL, .name = "server"},
	[WORDS] = {.kind = HI_ROOT_UNTYPED,
		   .name = "thread 7 main() stack",
		   .detail = "app"},
	[REGISTERS] = {.kind = HI_ROOT_REGISTER,
		       .name = "thread 70 registers",
		       .detail = SAMPLE_HOSTILE},
};

/* list and cursor hold 4,000 bytes together, buf 500, words of main's frame 96; what list
 * and other hold is two threads', what list and server hold is nobody's. Thread 70 holds
 * 1,200 alone; 9 is known, and holds nothing. */
static const hi_node drawn_sets[][2] = {{LIST, CURSOR}, {LIST, OTHER},	{OTHER},
					{BUF},		{LIST, SERVER}, {WORDS}};
static const uint32_t drawn_sizes[] = {2, 2, 1, 1, 2, 1};
static const uint64_t drawn_bytes[] = {4000, 2000, 1200, 500, 400, 96};
enum { DRAWN_SETS = 6 };

static const struct hi_frame_row drawn_stack[] = {
	{.module = "/usr/lib/libc.so.6",
	 .function = "__read",
	 .file = "read.c",
	 .line = 26},
	{.module = "/usr/lib/libc.so.6",
	 .function = "fgets",
	 .file = "iofgets.c",
	 .line = 9},
	{.module = "/opt/app",
	 .function = "app::work(int)",
	 .file = "work.cc",
	 .line = 12},
	{.module = "/opt/app",
	 .function = "app::work(int)",
	 .file = "work.cc",
	 .line = 12},
	{.module = "/opt/app",
	 .function = "app::work(int)",
	 .file = "work.cc",
	 .line = 14},
	{.module = "/opt/app", .function = SAMPLE_HOSTILE, .file = "", .offset = 0x1140},
};

struct drawn_threads {
	struct hi_owner_row rows[DRAWN_SETS + 1];
	hi_node members[DRAWN_SETS][2];
	struct hi_owners owners;
	struct hi_threads_report *report;
};

static struct hi_graph *draw_thread_roots(void)
{
	struct hi_objects_builder *ob = NULL;
	struct hi_objects *objects = NULL;
	struct hi_graph_builder *b = NULL;
	struct hi_graph *g = NULL;
	struct hi_error err;
	uint32_t id;

	HI_ASSERT_OK(hi_objects_builder_create(&ob, &err), &err);
	sample_add_objects(ob);
	HI_ASSERT_OK(hi_objects_seal(ob, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	for (size_t i = 0; i < DRAWN_ROOTS; i++)
		HI_ASSERT_OK(hi_graph_builder_root(b, &drawn_roots[i], &id, &err), &err);
	HI_ASSERT_OK(hi_graph_seal(b, &g, &err), &err);
	hi_test_defer(hi_graph_destroy, g);
	return g;
}

/* With a row of more variables than are listed, whose threads are not known. */
static void draw_threads(const struct hi_graph *g, size_t top, struct drawn_threads *d)
{
	static const struct hi_thread_known known[] = {{9, "idle"}, {7, "worker"}};
	struct hi_threads_inputs in = {.graph = g,
				       .owners = &d->owners,
				       .live_bytes = 10000,
				       .known = known,
				       .n_known = 2,
				       .top = top};
	struct hi_error err;

	for (size_t i = 0; i < DRAWN_SETS; i++) {
		for (uint32_t k = 0; k < drawn_sizes[i]; k++)
			d->members[i][k] = g->first_root + drawn_sets[i][k];
		d->rows[i] = (struct hi_owner_row){.variables = d->members[i],
						   .n = drawn_sizes[i],
						   .bytes = drawn_bytes[i],
						   .largest = (hi_node)i};
	}
	d->rows[2].largest = d->members[2][0];
	d->rows[DRAWN_SETS] = (struct hi_owner_row){.is_many = true, .bytes = 10};
	d->owners = (struct hi_owners){.rows = d->rows, .n_rows = DRAWN_SETS + 1};
	HI_ASSERT_OK(hi_threads_report_create(&in, &d->report, &err), &err);
	hi_test_defer(hi_threads_report_destroy, d->report);
}

HI_TEST(threads, each_has_what_its_variables_alone_hold)
{
	struct drawn_threads d = {};
	const struct hi_thread_held *t;

	draw_threads(draw_thread_roots(), SIZE_MAX, &d);
	t = d.report->threads;
	HI_ASSERT_EQ(3, d.report->n_threads);
	HI_ASSERT_EQ(3, d.report->shown);
	HI_ASSERT_EQ(4000 + 500 + 96 + 1200, d.report->bytes);
	HI_ASSERT_EQ(7, t[0].id);
	HI_ASSERT_STREQ("worker", t[0].name);
	HI_ASSERT_EQ(4596, t[0].bytes);
	HI_ASSERT_EQ(3, t[0].n_shares);
	HI_ASSERT_EQ(2, t[0].shares[0].n_variables);
	HI_ASSERT_STREQ("thread 7 app::work(): cursor", t[0].shares[0].variables[1]);
	HI_ASSERT_EQ(500, t[0].shares[1].bytes);
	HI_ASSERT_EQ(70, t[1].id);
	HI_ASSERT_STREQ(SAMPLE_HOSTILE, t[1].name);
	HI_ASSERT_EQ(1200, t[1].bytes);
	HI_ASSERT_EQ(9, t[2].id);
	HI_ASSERT_EQ(0, t[2].bytes);
}

HI_TEST(threads, page_has_stacks_and_what_is_held)
{
	struct sample *s = sample_make();
	struct hi_page *page = page_new();
	struct drawn_threads d = {};

	draw_threads(draw_thread_roots(), 2, &d);
	d.report->has_stacks = true;
	d.report->threads[0].frames = drawn_stack;
	d.report->threads[0].n_frames = sizeof(drawn_stack) / sizeof(*drawn_stack);
	d.report->threads[0].is_cut = true;
	hi_threads_display(d.report, &s->header, page);
	HI_EXPECT_GOLDEN("threads-60", page_text(page, 60));
	HI_EXPECT_GOLDEN("threads-100", page_text(page, 100));
}
