/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of waste: widths, hostile text, nothing to tell, what is hidden. */
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

#include "base/alloc.h"
#include "report/formats/text.h"
#include "report/views/waste_report.h"
#include "tests/report/sample.h"

struct made {
	struct sample *s;
	struct hi_waste_row rows[SAMPLE_TYPES];
	struct hi_waste_group groups[4];
	struct hi_waste waste;
	struct hi_heap_use use;
	char *text;
};

static void free_made(void *arg)
{
	struct made *m = arg;

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
	status = hi_waste_report_create(&m->s->header, m->s->graph, &m->waste, &m->use,
					only, &report, err);
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

static void has(const char *text, const char *part)
{
	HI_ASSERT_MSG(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

HI_TEST(report_waste, it_fits_any_width_whatever_the_names)
{
	struct made *m = make();
	struct hi_restrict only = {.top = SIZE_MAX};
	static const unsigned widths[] = {80, 81, 100, 120, 200};

	for (size_t i = 0; i < 5; i++)
		check_lines(page_of(m, &only, widths[i]), (int)widths[i]);
	has(page_of(m, &only, 200), "\"a text that had to be cut...\"");
	has(m->text, "\"Gr\xc3\xb6\xc3\x9f"
		     "e\"");
	HI_ASSERT(strchr(m->text, '\033') == NULL);
}

HI_TEST(report_waste, types_come_by_what_they_waste_most_and_hidden_ones_are_counted)
{
	struct made *m = make();
	struct hi_restrict only = {.top = 3, .min_size = 3000};
	const char *text;

	m->rows[2].zero_bytes = 1ull << 40;
	text = page_of(m, &only, 120);
	HI_ASSERT(strstr(text, sample_type(2)) < strstr(text, sample_type(13)));
	HI_ASSERT(strstr(text, sample_type(13)) < strstr(text, sample_type(12)));
	/* 1,000 and 2,000 bytes are less than 3,000; 12 - 3 are left. */
	has(text, "9 rows with 3.9 MiB more (--all)");
	has(text, "2 rows with 2.9 KiB hidden by --min-size");
	has(text, "are of the whole heap");
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

HI_TEST(report_waste, slabs_come_by_what_they_waste_and_fit_any_width)
{
	static const unsigned widths[] = {80, 100, 120, 200};
	struct made *m = make();
	struct hi_restrict only = {.top = 2};
	const char *text;

	add_slabs(m);
	for (size_t i = 0; i < 4; i++)
		check_lines(page_of(m, &only, widths[i]), (int)widths[i]);
	text = strstr(page_of(m, &only, 120), "Slabs");
	HI_ASSERT(text);
	has(text, "320 B");
	HI_ASSERT(strstr(text, "64 B") < strstr(text, "320 B"));
	HI_ASSERT(strstr(text, "576 B") == NULL);
	/* 409600 - 25000 * 16 */
	has(text, "1 row with 9.4 KiB more (--all)");
	has(text, "6.3 %"); /* 40 of 640 */
	HI_ASSERT(strstr(text, "jemalloc") == NULL);
	m->use.slab_classes[0].allocator = "mimalloc";
	only.top = 3;
	has(page_of(m, &only, 120), "16 B, mimalloc");
	m->use.slab_classes[0].allocator = "jemalloc";
}

HI_TEST(report_waste, headers_are_a_column_where_there_are_some)
{
	const struct hi_report_allocator musl = {
		.name = "musl", .version = "mallocng 1.2.3", .refused = ""};
	struct made *m = make();
	struct hi_restrict only = {.top = 2};

	has(page_of(m, &only, 120), "headers");
	has(m->text, "with headers; the requested sizes are not recorded");
	m->use.header = 0;
	page_of(m, &only, 120);
	HI_ASSERT(strstr(m->text, "headers") == NULL);
	has(m->text, "the requested sizes are not recorded");
	m->s->header.allocators = &musl;
	m->s->header.n_allocators = 1;
	has(page_of(m, &only, 120), "as they were requested");
}

HI_TEST(report_waste, nothing_to_tell_is_told)
{
	struct made *m = make();
	struct hi_restrict only = {.top = 10};

	m->waste = (struct hi_waste){.rows = m->rows, .groups = m->groups};
	m->use = (struct hi_heap_use){};
	has(page_of(m, &only, 80), "none");
	has(m->text, "0 B in extra copies");
	HI_ASSERT(strstr(m->text, "Identical contents") == NULL);
	check_lines(m->text, 80);
	m->s->header.allocator = NULL;
	has(page_of(m, &only, 80), "no known allocator");
	HI_ASSERT(strstr(m->text, "Free blocks") == NULL);
}

HI_TEST(report_waste, unread_objects_are_a_warning)
{
	struct made *m = make();
	struct hi_restrict only = {.top = 10};

	m->waste.unread = 1;
	m->waste.unread_bytes = 4096;
	has(page_of(m, &only, 120), "1 object with 4.0 KiB not compared");
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
