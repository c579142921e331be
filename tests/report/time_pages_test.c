/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of what is known of a heap over time: of a series of censuses, its peaks, its
 * biographies, what functions allocated. */
#include "report/parts/births_report.h"
#include "report/reports/alloc/alloc_report.h"
#include "report/reports/bio/bio_report.h"
#include "report/reports/peaks/peaks_report.h"
#include "report/reports/series/series_live.h"
#include "report/reports/series/series_text.h"
#include "report/reports/spacetime/spacetime_report.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

static const uint64_t second_ns = 1000000000;

/* ---- bytes x time ---- */

/* Four samples, a second apart. */
static struct hi_hp_series *draw_four_samples(void)
{
	static const struct {
		const char *name;
		uint64_t bytes[4];
	} bands[] = {{"struct order", {0, 1 << 20, 3 << 20, 1 << 20}},
		     {"char []", {1 << 20, 1 << 20, 1 << 20, 1 << 20}},
		     {SAMPLE_HOSTILE, {0, 0, 1 << 10, 0}}};
	struct hi_hp_series *s = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_hp_series_create("drawn", "", &s, &err), &err);
	hi_test_defer(hi_hp_series_destroy, s);
	for (size_t i = 0; i < 4; i++) {
		HI_ASSERT_OK(hi_hp_series_sample(s, (double)i, &err), &err);
		for (size_t k = 0; k < 3; k++)
			if (bands[k].bytes[i])
				HI_ASSERT_OK(hi_hp_series_band(s, bands[k].name,
							       bands[k].bytes[i], &err),
					     &err);
	}
	HI_ASSERT_OK(hi_hp_series_finish(s, &err), &err);
	return s;
}

/* Between two samples a band is what lies below the line from one to the other. In MiB s,
 * struct order has (0 + 1) / 2 + (1 + 3) / 2 + (3 + 1) / 2 = 4.5, char [] 3; the third
 * name has 1 KiB s. */
HI_TEST(time_pages, spacetime)
{
	static const uint32_t censuses[] = {1, 2, 3, 4};
	struct hi_spacetime_report r = {};
	struct hi_page *page = page_new();
	struct hi_error err;

	HI_ASSERT_OK(hi_spacetime_report_make(draw_four_samples(), 20, &r, &err), &err);
	r.file = "app.hisnap";
	r.by = "type";
	r.is_type = true;
	r.censuses = censuses;
	hi_spacetime_display(&r, 80, page);
	hi_spacetime_report_free(&r);
	HI_EXPECT_GOLDEN("spacetime-80", page_text(page, 80));
}

/* ---- peaks ---- */

/* Five censuses. At the highest, census 4, is 3 MiB, and it is known who allocated them;
 * at census 2 is 1 MiB, of which the totals alone are known. */
HI_TEST(time_pages, peaks)
{
	const struct hi_peaks_point points[] = {{1, 0, 100 << 10},
						{2, second_ns, 1 << 20},
						{3, 2 * second_ns, 500 << 10},
						{4, 3 * second_ns, 3 << 20},
						{5, 4 * second_ns, 1 << 10}};
	struct hi_peak_row totals[] = {
		{.type = "struct order", .objects = 900, .bytes = 900 << 10},
		{.type = "", .objects = 2, .bytes = 124 << 10}};
	struct hi_peak_row objects[] = {
		{"load", "load.c", "/bin/app", "struct order", 3, 2048, 2 << 20},
		{NULL, "", "", "char []", 0, 1, 1 << 19},
		{"", "", "", SAMPLE_HOSTILE, 1, 7, 1 << 19}};
	struct hi_peak peaks[] = {{.point = points[1],
				   .objects = 902,
				   .detail = HI_PEAK_TOTALS,
				   .rows = totals,
				   .n_rows = 2,
				   .n_shown = 1,
				   .bytes = 1 << 20,
				   .in_objects = 902},
				  {.point = points[3],
				   .objects = 2056,
				   .is_top = true,
				   .detail = HI_PEAK_OBJECTS,
				   .rows = objects,
				   .n_rows = 3,
				   .n_shown = 3,
				   .bytes = 3 << 20,
				   .in_objects = 2056}};
	const struct hi_peaks_report r = {.pid = 42,
					  .exe = "/bin/app",
					  .file = "app.hisnap",
					  .points = points,
					  .n_points = 5,
					  .peaks = peaks,
					  .n_peaks = 2,
					  .asked = 5};
	struct hi_page *page = page_new();

	hi_peaks_display(&r, 80, page);
	HI_EXPECT_GOLDEN("peaks-80", page_text(page, 80));
}

/* ---- biographies ---- */

static struct hi_bio_row draw_bands(uint64_t used, uint64_t drag, uint64_t unknown)
{
	struct hi_bio_row row = {
		.live = {used + drag + unknown, (used + drag + unknown) / 1024}};

	row.bytes[HI_BIO_USE] = (struct hi_bio_bounds){used, used + unknown};
	row.bytes[HI_BIO_DRAG] = (struct hi_bio_bounds){drag, drag + unknown};
	row.objects[HI_BIO_USE] =
		(struct hi_bio_bounds){used / 1024, (used + unknown) / 1024};
	row.objects[HI_BIO_DRAG] =
		(struct hi_bio_bounds){drag / 1024, (drag + unknown) / 1024};
	return row;
}

/* Objects of 1 KiB. At the last of three censuses 1 MiB is in use, 2 MiB are not used any
 * more, and 512 KiB are one or the other. */
HI_TEST(time_pages, biographies)
{
	struct hi_bio_census_row lines[] = {
		{.at_ns = second_ns,
		 .has_pages = 1,
		 .row = draw_bands(3 << 20, 0, 512 << 10)},
		{.at_ns = 2 * second_ns,
		 .has_pages = 1,
		 .row = draw_bands(2 << 20, 1 << 20, 512 << 10)},
		{.at_ns = 3 * second_ns,
		 .has_pages = 1,
		 .evidence = {[HI_BIO_CONTENT] = {1 << 20, 1024},
			      [HI_BIO_PAGE] = {2 << 20, 2048},
			      [HI_BIO_UNKNOWN] = {512 << 10, 512}},
		 .row = draw_bands(1 << 20, 2 << 20, 512 << 10)}};
	struct hi_bio_group groups[] = {
		{"struct order", draw_bands(0, 2 << 20, 512 << 10), 0},
		{"char []", draw_bands(1 << 20, 0, 0), 0}};
	const struct hi_bio_report r = {.pid = 42,
					.exe = "/bin/app",
					.by = "type",
					.is_recorded = true,
					.birth_is_idle = true,
					.death_is_idle = true,
					.lasted_ns = 3 * second_ns,
					.lines = lines,
					.n_lines = 3,
					.groups = groups,
					.n_groups = 2,
					.hidden = {3, 4096},
					.bands = HI_BIO_NOT_USED,
					.idle = {.for_ns = 2 * second_ns,
						 .all = {2 << 20, 2048},
						 .type = "struct order",
						 .site = "load load.c:12",
						 .root = "cache",
						 .retainers = "",
						 .of_type = {2 << 20, 2048},
						 .of_site = {2 << 20, 2048},
						 .of_root = {2 << 20, 2048}},
					.certain = {3584 << 10, 3584}};
	struct hi_page *page = page_new();

	hi_bio_display(&r, page);
	HI_EXPECT_GOLDEN("bio-80", page_text(page, 80));
	HI_EXPECT_GOLDEN("bio-120", page_text(page, 120));
}

/* ---- what functions allocated ---- */

/* load() allocated 100 objects of 1 KiB: all saw a census and 40 a second one: 60
 * and 40 of them are live, and 140 KiB survived. Of 1,000 objects of 16 B, 8 of them not
 * requested, that parse() allocated, none saw one. */
HI_TEST(time_pages, allocations)
{
	struct hi_space_step of_load[] = {{1, {100, 100 << 10, 0}, {60, 60 << 10, 0}},
					  {2, {40, 40 << 10, 0}, {40, 40 << 10, 0}}};
	struct hi_space_step of_parse[] = {{0, {1000, 16000, 8000}, {}}};
	struct hi_space_step of_all[] = {{0, {1100, (100 << 10) + 16000, 8000}, {}},
					 {1, {100, 100 << 10, 0}, {60, 60 << 10, 0}},
					 {2, {40, 40 << 10, 0}, {40, 40 << 10, 0}}};
	const struct hi_space_row orders = {.n_steps = 2, .steps = of_load};
	const struct hi_space_row texts = {.n_steps = 1, .steps = of_parse};
	struct hi_alloc_type types[] = {{"struct order", &orders}};
	struct hi_alloc_type text_types[] = {{SAMPLE_HOSTILE, &texts}};
	struct hi_alloc_function functions[] = {{.name = "load",
						 .file = "load.c",
						 .module = "/bin/app",
						 .line = 12,
						 .all = {.n_steps = 2, .steps = of_load},
						 .calls = HI_CALLS_NOT_COUNTED,
						 .types = types,
						 .n_types = 1},
						{.name = "parse",
						 .file = "",
						 .module = "/lib/libparse.so",
						 .all = {.n_steps = 1, .steps = of_parse},
						 .calls = HI_CALLS_NOT_COUNTED,
						 .types = text_types,
						 .n_types = 1}};
	struct hi_alloc_line lines[] = {{.at_ns = 0}, {.at_ns = second_ns}};
	struct hi_alloc_report r = {.pid = 42,
				    .exe = "/bin/app",
				    .lasted_ns = 2 * second_ns,
				    .memory = 5 << 20,
				    .lines = lines,
				    .n_lines = 2,
				    .total = {.n_steps = 3, .steps = of_all},
				    .n_selected = 2,
				    .functions = functions,
				    .n_functions = 2,
				    .weight = 1,
				    .most_bars = 20,
				    .width = 80};
	struct hi_page *page = page_new(), *bars = page_new();

	hi_alloc_display(&r, page);
	HI_EXPECT_GOLDEN("alloc-80", page_text(page, 80));
	r.bars = true;
	hi_alloc_display(&r, bars);
	HI_EXPECT_GOLDEN("alloc-bars-80", page_text(bars, 80));
}

/* ---- a series as it goes on ---- */

static const struct hi_series_header series_header = {
	.pid = 42, .exe = "/usr/bin/app", .by = "type", .axis = HI_SERIES_WALL};

/* Census `at`, after as many seconds: at MiB of struct order in at * 1,024 objects, 1 MiB
 * of a hostile type, and a leak of 4 KiB from the third on. */
static void add_series_sample(struct hi_series_live *live, uint64_t at)
{
	struct hi_series_row rows[] = {
		{.name = "struct order", .bytes = at << 20, .objects = at << 10},
		{.name = SAMPLE_HOSTILE, .bytes = 1 << 20, .objects = 1}};
	struct hi_series_sample sample = {.number = at,
					  .at_ns = at * second_ns,
					  .wall_ns = at * second_ns,
					  .cpu_ns = at * second_ns / 2,
					  .time_ns = 1700000000000000000 + at * second_ns,
					  .pause_ns = 4560000,
					  .took_ns = 120000000,
					  .mode = "copy",
					  .copied_on_write = UINT64_MAX,
					  .complete = true,
					  .objects = (at << 10) + 1,
					  .bytes = (at + 1) << 20,
					  .rows = rows,
					  .n_rows = 2,
					  .hidden = {3, 700},
					  .limit = {HI_LIMIT_CGROUP, 1 << 30, 424 << 20}};

	if (at > 2)
		sample.leaks.certain = (struct hi_leak_total){1, 4096};
	HI_ASSERT_EQ(HI_OK, hi_series_live_add(live, &series_header, &sample, NULL));
}

static const char *draw_series(struct hi_series_live *live, unsigned width)
{
	const struct hi_text_options looks = {.width = width, .utf8 = true};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out != NULL);
	HI_ASSERT_EQ(HI_OK,
		     hi_series_live_draw(live, &series_header, 12, &looks, out, NULL));
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

/* At the fifth census 6 MiB are live, 4 MiB more than at the first: 60 MiB a minute, for
 * which 600 MiB are left. */
HI_TEST(time_pages, series_live)
{
	struct hi_series_live *live = hi_series_live_create();
	struct hi_golden_pages *pages = hi_golden_pages();

	HI_ASSERT(live != NULL);
	hi_test_defer(hi_series_live_destroy, live);
	for (uint64_t at = 1; at <= 5; at++)
		add_series_sample(live, at);
	hi_golden_add(pages, "80 columns", draw_series(live, 80));
	hi_golden_add(pages, "120 columns", draw_series(live, 120));
	hi_series_live_sort(live);
	hi_series_live_show_keys(live, true, true);
	hi_series_live_note(live, "mark: load");
	hi_golden_add(pages, "by objects, with keys and a note", draw_series(live, 80));
	HI_EXPECT_GOLDEN_PAGES("series-live", pages);
}

/* ---- a recording ---- */

struct drawn_recording {
	struct hi_births births;
	struct hi_context contexts[3];
	struct hi_context_totals totals[3];
	struct hi_frame_row frames[2];
	struct hi_recorded recorded;
	struct hi_birth_group group_items[HI_GROUPS_FIXED + 2];
	struct hi_birth_groups groups;
	struct hi_births_line lines[3];
	struct hi_births_report report;
};

/* A recording of 60 s: load() allocated 1,000 objects, of which 600 are live with 6
 * MiB; another function 5,000, of which one is; without a stack are 10 with 1 MiB. From
 * before it are 50 with 2 MiB, and 9 MiB are live in all. */
static void draw_recording(struct drawn_recording *d,
			   const struct hi_report_header *header)
{
	*d = (struct drawn_recording){
		.births = {.end_ns = 60 * second_ns},
		.totals = {{.allocs = 10},
			   {.allocs = 1000, .frees = 400},
			   {.allocs = 5000, .frees = 4999}},
		.frames = {{.module = "/bin/app",
			    .function = "load",
			    .file = "load.c",
			    .offset = 0x1234,
			    .line = 12},
			   {.module = "/lib/libhostile.so",
			    .function = SAMPLE_HOSTILE,
			    .file = "",
			    .offset = 0x42}},
		.group_items = {[HI_GROUPS_FIXED] = {0}, [HI_GROUPS_FIXED + 1] = {1}},
		.lines = {{.group = HI_GROUPS_FIXED,
			   .objects = 600,
			   .bytes = 6 << 20,
			   .first_ns = 20 * second_ns,
			   .last_ns = 50 * second_ns,
			   .allocs = 1000,
			   .frees = 400,
			   .alloc_bytes = 10 << 20},
			  {.group = HI_GROUP_NO_STACK,
			   .objects = 10,
			   .bytes = (1 << 20) - 16,
			   .first_ns = 0,
			   .last_ns = 1,
			   .allocs = 10},
			  {.group = HI_GROUPS_FIXED + 1,
			   .objects = 1,
			   .bytes = 16,
			   .first_ns = 59 * second_ns,
			   .last_ns = 59 * second_ns,
			   .allocs = 5000,
			   .frees = 4999}}};
	d->recorded = (struct hi_recorded){
		.births = &d->births,
		.contexts = {.contexts = d->contexts, .n_contexts = 3},
		.totals = d->totals,
		.frames = {.rows = d->frames, .n_rows = 2},
		.counts = {.events = 11409, .lost = 7}};
	d->groups = (struct hi_birth_groups){.by = HI_BORN_BY_SITE,
					     .n_groups = HI_GROUPS_FIXED + 2,
					     .groups = d->group_items};
	d->report = (struct hi_births_report){
		.header = header,
		.recorded = &d->recorded,
		.groups = &d->groups,
		.objects = 661,
		.bytes = 9 << 20,
		.known = {.objects = 611, .bytes = 7 << 20},
		.before = {.objects = 50, .bytes = 2 << 20},
		.rows = d->lines,
		.n_rows = 3,
		.pieces = {.recorded = &d->recorded, .groups = &d->groups, .top = 10},
		.allocator = "malloc of libc.so.6"};
}

HI_TEST(time_pages, record)
{
	struct hi_page *page = page_new(), *sampled = page_new();
	struct sample *s = sample_make();
	struct drawn_recording d;

	draw_recording(&d, &s->header);
	d.report.is_of_record = true;
	d.report.file = "app.hirec";
	hi_births_display(&d.report, page);
	HI_EXPECT_GOLDEN("record-80", page_text(page, 80));
	HI_EXPECT_GOLDEN("record-120", page_text(page, 120));
	/* Every 512 KiB on average: 14 samples, by which load() has 5 to 7 MiB. */
	d.births.sample_bytes = 512 << 10;
	d.report.known.seen_objects = 14;
	d.lines[0].interval = (struct hi_interval){5 << 20, 7 << 20};
	d.lines[1].interval = (struct hi_interval){512 << 10, 3 << 20};
	d.lines[2].interval = (struct hi_interval){16, 2 << 20};
	d.report.is_of_record = false;
	hi_births_display(&d.report, sampled);
	HI_EXPECT_GOLDEN("census-by-site-sampled-120", page_text(sampled, 120));
}
