/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of waste: widths, hostile text, nothing to tell, what is hidden. */
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

#include "base/alloc.h"
#include "report/render/text.h"
#include "report/reports/waste/waste_report.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

struct made {
	struct sample *s;
	struct hi_waste_row rows[SAMPLE_TYPES];
	struct hi_waste_group groups[4];
	struct hi_waste waste;
	struct hi_heap_use use;
	char *text;
};

static void free_made(struct made *m)
{
	free(m->text);
	free(m);
}

static void make_groups(struct made *m)
{
	static const char *const texts[] = {SAMPLE_HOSTILE,
					    "Gr\xc3\xb6\xc3\x9f"
					    "e",
					    "", "a text that had to be cut"};

	for (unsigned i = 0; i < 4; i++) {
		struct hi_waste_group *g = &m->groups[i];

		*g = (struct hi_waste_group){.type = 5 + i,
					     .first = i,
					     .objects = 1000000 >> i,
					     .size = 3ull << 10 * i,
					     .copied = 3ull << (40 - i),
					     .is_text = i != 2,
					     .cut = i == 3};
		snprintf(g->text, sizeof(g->text), "%s", texts[i]);
	}
	m->waste.groups = m->groups;
	m->waste.n_groups = 4;
}

static struct made *make(void)
{
	struct made *m = calloc(1, sizeof(*m));

	HI_ASSERT(m != NULL);
	hi_test_defer(free_made, m);
	m->s = sample_make();
	for (unsigned i = 0; i < SAMPLE_TYPES; i++)
		m->rows[i] = (struct hi_waste_row){.type = i,
						   .objects = 100,
						   .bytes = 4000ull << i,
						   .groups = i,
						   .copies = 2 * i,
						   .copied = 1000ull << i,
						   .zeros = i,
						   .zero_bytes = i * 96,
						   .loose = i,
						   .unused = i == 3 ? 5 : i * 200,
						   .savable = i == 3 ? 0 : i * 100};
	m->waste.rows = m->rows;
	m->waste.n_rows = SAMPLE_TYPES;
	m->waste.all = (struct hi_waste_row){.objects = 1400,
					     .bytes = 1ull << 40,
					     .groups = 7,
					     .copies = 12345678,
					     .copied = 1ull << 39,
					     .unused = 1ull << 30};
	make_groups(m);
	m->use.residency_known = true;
	m->use.n_classes = HI_SIZE_CLASSES;
	for (unsigned i = 0; i < HI_SIZE_CLASSES; i++)
		m->use.classes[i] = (struct hi_size_class){
			i + 1 < HI_SIZE_CLASSES ? 16ull << i : UINT64_MAX, i % 5,
			(i % 5) * (16ull << i), (i % 5) * 8ull};
	m->use.header = 1ull << 20;
	m->use.allocated_bytes = 1ull << 30;
	for (unsigned i = 0; i < HI_FREE_KINDS; i++)
		m->use.free[i] = (struct hi_free_blocks){i, 1ull << 4 * i, 1ull << 3 * i};
	for (unsigned i = 0; i < HI_PAGE_FILLS; i++)
		m->use.pages[i] = (struct hi_page_class){7, 7 * 4096, i * 1000};
	return m;
}

static enum hi_status show(struct made *m, const struct hi_restrict *only, unsigned width,
			   struct hi_error *err)
{
	struct hi_text_options options = {.width = width, .utf8 = true};
	struct hi_waste_report *report = NULL;
	struct hi_page *page = hi_page_create();
	enum hi_status status;
	size_t size;
	FILE *out;

	free(m->text);
	m->text = NULL;
	if (!page)
		return hi_fail_memory(err, "page");
	setlocale(LC_CTYPE, "C.UTF-8");
	status = hi_waste_report_create(&(struct hi_waste_inputs){.header = &m->s->header,
								  .graph = m->s->graph,
								  .waste = &m->waste,
								  .use = &m->use,
								  .only = only},
					&report, err);
	if (status == HI_OK) {
		hi_waste_display(report, page);
		out = open_memstream(&m->text, &size);
		HI_ASSERT(out != NULL);
		status = hi_text_render(page, &options, out, err);
		fclose(out);
	}
	hi_waste_report_destroy(report);
	hi_page_destroy(page);
	return status;
}

static const char *page_of(struct made *m, const struct hi_restrict *only, unsigned width)
{
	struct hi_error err;

	HI_ASSERT_OK(show(m, only, width, &err), &err);
	return m->text;
}

static void check_lines(const char *text, int width)
{
	wchar_t wide[2048];
	char line[2048];

	for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		size_t n = (size_t)(end - text);

		HI_ASSERT(n < sizeof(line));
		memcpy(line, text, n);
		line[n] = 0;
		n = mbstowcs(wide, line, 2048);
		HI_ASSERT(n != (size_t)-1);
		HI_ASSERT_MSG(wcswidth(wide, n) >= 0 && wcswidth(wide, n) <= width,
			      "%d columns: %s", wcswidth(wide, n), line);
	}
}

HI_TEST(report_waste, it_fits_any_width_whatever_the_names)
{
	struct made *m = make();
	struct hi_restrict only = {.top = SIZE_MAX};
	static const unsigned widths[] = {80, 81, 100, 120, 200};

	for (size_t i = 0; i < 5; i++)
		check_lines(page_of(m, &only, widths[i]), (int)widths[i]);
	HI_ASSERT(strchr(m->text, '\033') == NULL);
}

/* Drawn: type i has 4,000 << i bytes in 100 objects; 1,000 << i of them in 2 i extra
 * copies of i contents, 96 i bytes of zeros in i objects, 200 i bytes unused in i
 * objects, of which 100 i would be saved. All types have 1 TiB, half of it copied. */
HI_TEST(report_waste, is_a_page)
{
	struct made *m = make();
	struct hi_restrict only = {.top = SIZE_MAX};

	HI_EXPECT_GOLDEN("waste-80", page_of(m, &only, 80));
	m->use.n_classes = 5;
	HI_EXPECT_GOLDEN("waste-120", page_of(m, &only, 120));
}

/* The lines of a page from a heading to the next empty line. */
static const char *section_of(const char *page, const char *heading)
{
	const char *begin = strstr(page, heading);
	const char *end = begin ? strstr(begin, "\n\n") : NULL;
	char *section;

	HI_ASSERT_MSG(begin && end, "no %s in:\n%s", heading, page);
	section = strndup(begin, (size_t)(end + 1 - begin));
	HI_ASSERT(section != NULL);
	hi_test_defer(free, section);
	return section;
}

/* A tebibyte of zeros is of type 2: it comes first. Types 0 and 1 waste 1,000 and 2,000
 * B, less than 3,000; of the other 12, 3 are shown. */
HI_TEST(report_waste, types_come_by_what_they_waste_most_and_hidden_ones_are_counted)
{
	struct made *m = make();
	struct hi_restrict only = {.top = 3, .min_size = 3000};

	m->rows[2].zero_bytes = 1ull << 40;
	HI_EXPECT_GOLDEN("waste-hidden", section_of(page_of(m, &only, 120), "By type"));
}

static void add_slabs(struct made *m)
{
	static struct hi_slab_class classes[] = {
		{"jemalloc", 16, 100, 409600, 25600, 25000, 100, 0, 0, 0, 0},
		{"jemalloc", 64, 1ull << 40, 1ull << 52, 1ull << 46, 1ull << 44,
		 1ull << 40, 1ull << 38, 1ull << 39, 1ull << 51, 0},
		{"jemalloc", 320, 10, 204800, 640, 40, 24, 2, 5, 102400, 0},
		{"jemalloc", 576, 0, 0, 0, 0, 0, 0, 0, 0, 0}};

	m->use.slab_classes = classes;
	m->use.n_slab_classes = 4;
}

/* Most is free of 64 B; of 320 B 102,400 of 204,800 B, as 40 of 640 blocks are used,
 * which is 6.3 %; of 16 B 409,600 - 25,000 * 16 B, 9.4 KiB, are wasted; of 576 B are
 * none. */
HI_TEST(report_waste, slabs_come_by_what_they_waste_and_fit_any_width)
{
	static const unsigned widths[] = {80, 100, 120, 200};
	struct hi_golden_pages *pages = hi_golden_pages();
	struct made *m = make();
	struct hi_restrict only = {.top = 2};

	add_slabs(m);
	for (size_t i = 0; i < 4; i++)
		check_lines(page_of(m, &only, widths[i]), (int)widths[i]);
	hi_golden_add(pages, "two of four classes",
		      section_of(page_of(m, &only, 120), "Slabs"));
	m->use.slab_classes[0].allocator = "mimalloc";
	only.top = 3;
	hi_golden_add(pages, "of two allocators",
		      section_of(page_of(m, &only, 120), "Slabs"));
	m->use.slab_classes[0].allocator = "jemalloc";
	HI_EXPECT_GOLDEN_PAGES("waste-slabs", pages);
}

static const char *blocks_of(struct made *m)
{
	struct hi_restrict only = {.top = 2};

	return section_of(page_of(m, &only, 120), "Allocated blocks");
}

HI_TEST(report_waste, headers_are_a_column_where_there_are_some)
{
	const struct hi_report_allocator musl = {
		.name = "musl", .version = "mallocng 1.2.3", .refused = ""};
	struct hi_golden_pages *pages = hi_golden_pages();
	struct made *m = make();

	m->use.n_classes = 3;
	hi_golden_add(pages, "headers", blocks_of(m));
	m->use.header = 0;
	hi_golden_add(pages, "no headers", blocks_of(m));
	m->s->header.allocators = &musl;
	m->s->header.n_allocators = 1;
	hi_golden_add(pages, "an allocator that records what was requested",
		      blocks_of(m));
	HI_EXPECT_GOLDEN_PAGES("waste-headers", pages);
}

HI_TEST(report_waste, nothing_to_tell_is_told)
{
	struct hi_golden_pages *pages = hi_golden_pages();
	struct made *m = make();
	struct hi_restrict only = {.top = 10};

	m->waste = (struct hi_waste){.rows = m->rows, .groups = m->groups};
	m->use = (struct hi_heap_use){};
	hi_golden_add(pages, "an empty heap", page_of(m, &only, 80));
	m->waste.unread = 1;
	m->waste.unread_bytes = 4096;
	hi_golden_add(pages, "an object of 4 KiB was not read", page_of(m, &only, 80));
	m->waste.unread = 0;
	m->s->header.allocator = NULL;
	hi_golden_add(pages, "no allocator", page_of(m, &only, 80));
	HI_EXPECT_GOLDEN_PAGES("waste-nothing", pages);
}

HI_TEST(report_waste, out_of_memory_anywhere_is_told_and_leaks_nothing)
{
	struct made *m = make();
	struct hi_restrict only = {.top = 10};
	enum hi_status status = HI_NO_MEMORY;
	struct hi_error err;
	uint64_t nth = 0;

	while (status == HI_NO_MEMORY) {
		HI_ASSERT(nth < 5000);
		hi_alloc_fail_at(++nth);
		status = show(m, &only, 80, &err);
		hi_alloc_fail_at(0);
	}
	HI_ASSERT_OK(status, &err);
	HI_ASSERT(nth > 3);
}
