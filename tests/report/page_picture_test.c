/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of pages: where boxes lie against their bytes, what stands in the HTML against
 * what was put into the picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/render/html_page.h"
#include "report/render/html_picture.h"
#include "report/render/text.h"
#include "tests/harness.h"
#include "tests/support/golden.h"

static const double rounding = 1e-6;

/* ---- layout ---- */

static uint64_t random_bytes(void)
{
	switch (rand() % 8) {
	case 0:
		return 0;
	case 1:
		return (uint64_t)rand() % 16;
	default:
		return (uint64_t)rand() % 100000;
	}
}

/* Leaves get bytes, and what contains them their sum and something of its own. */
static struct hi_page_picture *draw_random_tree(struct hi_page *page, size_t n,
						enum hi_page_picture_shape shape)
{
	struct hi_page_picture *p = hi_page_picture(page, shape, "a tree", "");

	for (size_t i = 0; i < n; i++) {
		int32_t parent = i ? rand() % (int32_t)i : HI_PAGE_BOX_NONE;

		if (i && rand() % 2)
			parent = rand() % (int32_t)(i < 5 ? i : 5);
		HI_ASSERT_EQ((int32_t)i,
			     hi_page_box(p, parent,
					 &(struct hi_page_box){.bytes = random_bytes()}));
	}
	for (size_t i = n; i-- > 1;)
		p->boxes[p->boxes[i].parent].bytes += p->boxes[i].bytes;
	return p;
}

static bool lies_in(const struct hi_page_place *a, const struct hi_page_place *b)
{
	return a->x >= b->x - rounding && a->y >= b->y - rounding &&
	       a->x + a->width <= b->x + b->width + rounding &&
	       a->y + a->height <= b->y + b->height + rounding;
}

static bool overlap(const struct hi_page_place *a, const struct hi_page_place *b)
{
	return a->x + rounding < b->x + b->width && b->x + rounding < a->x + a->width &&
	       a->y + rounding < b->y + b->height && b->y + rounding < a->y + a->height;
}

static double size_of_place(const struct hi_page_picture *p,
			    const struct hi_page_place *place)
{
	return p->shape == HI_PAGE_FLAME ? place->width : place->width * place->height;
}

/* Two siblings: apart from each other, and sizes are as bytes. */
static void check_siblings(const struct hi_page_picture *p,
			   const struct hi_page_layout *l, size_t i, size_t k)
{
	double a = size_of_place(p, &l->places[i]), b = size_of_place(p, &l->places[k]);
	double x = (double)p->boxes[i].bytes, y = (double)p->boxes[k].bytes;

	HI_ASSERT(!overlap(&l->places[i], &l->places[k]));
	HI_ASSERT(fabs(a * y - b * x) <= 1e-6 * (a * y + b * x));
}

static void check_tree(const struct hi_page_picture *p, size_t *drawn)
{
	struct hi_page_layout l = {};
	HI_GUARD(hi_page_layout_free) struct hi_page_layout *guard = &l;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_page_lay_out(p, guard, &err), &err);
	HI_ASSERT_EQ(p->n_boxes, l.count);
	for (size_t i = 1; i < p->n_boxes; i++) {
		const struct hi_page_place *above = &l.places[p->boxes[i].parent];

		if (l.places[i].width <= 0)
			continue;
		++*drawn;
		HI_ASSERT(p->boxes[i].bytes > 0 && above->width > 0);
		if (p->shape == HI_PAGE_FLAME) {
			HI_ASSERT(l.places[i].y == p->boxes[i].depth * HI_PAGE_FLAME_ROW);
			HI_ASSERT(fabs(l.places[i].width * (double)p->boxes[0].bytes -
				       l.width * (double)p->boxes[i].bytes) <=
				  1e-6 * l.width * (double)p->boxes[0].bytes);
			HI_ASSERT(l.places[i].x >= above->x - rounding &&
				  l.places[i].x + l.places[i].width <=
					  above->x + above->width + rounding);
		} else {
			HI_ASSERT(lies_in(&l.places[i], above));
		}
		for (size_t k = i + 1; k < p->n_boxes; k++)
			if (p->boxes[k].parent == p->boxes[i].parent &&
			    l.places[k].width > 0)
				check_siblings(p, &l, i, k);
	}
}

HI_TEST(page_picture, sizes_are_as_bytes_and_nothing_overlaps)
{
	size_t drawn[2] = {};

	srand(7);
	for (unsigned round = 0; round < 300; round++) {
		HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();

		check_tree(draw_random_tree(page, 1 + (size_t)rand() % 120,
					    round % 2 ? HI_PAGE_FLAME : HI_PAGE_TREEMAP),
			   &drawn[round % 2]);
	}
	HI_ASSERT(drawn[0] > 2000 && drawn[1] > 2000);
}

/* Of the area of a box without a strip, boxes that add up to it fill all. */
HI_TEST(page_picture, boxes_fill_what_they_are_in)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_TREEMAP, "", "");
	struct hi_page_layout l = {};
	struct hi_error err = {};
	double area = 0;

	hi_page_box(p, HI_PAGE_BOX_NONE, &(struct hi_page_box){.bytes = 5050});
	for (uint64_t i = 1; i <= 100; i++)
		hi_page_box(p, 0, &(struct hi_page_box){.bytes = i});
	HI_ASSERT_OK(hi_page_lay_out(p, &l, &err), &err);
	for (size_t i = 1; i <= 100; i++)
		area += l.places[i].width * l.places[i].height;
	HI_ASSERT(fabs(area - l.width * (l.height - 15)) < 1);
	hi_page_layout_free(&l);
}

/* Bytes that are no sums, that are too large for one, or 0: all is finite. */
HI_TEST(page_picture, any_bytes_have_a_place)
{
	static const uint64_t bytes[] = {0,	     1, UINT64_MAX, UINT64_MAX - 1,
					 1ull << 63, 7, UINT64_MAX, 0};
	struct hi_error err = {};

	srand(3);
	for (unsigned round = 0; round < 400; round++) {
		HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
		struct hi_page_picture *p = hi_page_picture(
			page, round % 2 ? HI_PAGE_FLAME : HI_PAGE_TREEMAP, "", "");
		struct hi_page_layout l = {};

		for (int32_t i = 0; i < 12; i++)
			hi_page_box(p, i ? rand() % i : HI_PAGE_BOX_NONE,
				    &(struct hi_page_box){.bytes = bytes[rand() % 8]});
		HI_ASSERT_OK(hi_page_lay_out(p, &l, &err), &err);
		for (size_t i = 0; i < p->n_boxes; i++) {
			HI_ASSERT(isfinite(l.places[i].x) && isfinite(l.places[i].y));
			HI_ASSERT(isfinite(l.places[i].width) &&
				  isfinite(l.places[i].height));
			if (i && l.places[i].width > 0)
				HI_ASSERT(l.places[i].x + l.places[i].width <=
						  l.width + rounding &&
					  l.places[i].y + l.places[i].height <=
						  l.height + rounding);
		}
		hi_page_layout_free(&l);
	}
}

HI_TEST(page_picture, has_a_limit_and_counts_what_is_left_out)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_TREEMAP, "", "");
	int32_t last = HI_PAGE_BOX_NONE;

	for (size_t i = 0; i < HI_PAGE_BOXES + 10; i++)
		last = hi_page_box(p, i ? 0 : HI_PAGE_BOX_NONE,
				   &(struct hi_page_box){.bytes = 1});
	HI_ASSERT_EQ(HI_PAGE_BOX_NONE, last);
	HI_ASSERT_EQ(HI_PAGE_BOXES, p->n_boxes);
	HI_ASSERT_EQ(10, p->n_left_out);
	/* A second whole, and what is in no box. */
	p->n_boxes = 3;
	HI_ASSERT_EQ(HI_PAGE_BOX_NONE,
		     hi_page_box(p, HI_PAGE_BOX_NONE, &(struct hi_page_box){}));
	HI_ASSERT_EQ(HI_PAGE_BOX_NONE, hi_page_box(p, 3, &(struct hi_page_box){}));
}

/* ---- HTML ---- */

static const char *keep_href(void *arg, const char *address)
{
	(void)arg;
	return address;
}

static char *write_html(const struct hi_page *page)
{
	struct hi_html_links links = {.href = keep_href};
	struct hi_error err = {};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT_OK(hi_html_linked_page(page, &links, out, &err), &err);
	fclose(out);
	return text;
}

static size_t count_text(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

#define HOSTILE "</title><script>alert(1)</script>\"' onload=x \xe2\x80\xae\x1b[2J\xff"

/* A box of 60 B, which is a link, in one of 100 B; of the kinds of memory, the two that
 * are there have names. */
HI_TEST(page_picture, html_has_links_and_no_names_that_mean_something)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(
		page, HI_PAGE_TREEMAP, hi_page_safe(page, HOSTILE), "Caption & more");
	const char *evil = hi_page_safe(page, HOSTILE);
	char *html;

	hi_page_box(p, HI_PAGE_BOX_NONE,
		    &(struct hi_page_box){.bytes = 100, .label = evil, .title = evil});
	hi_page_box(p, 0,
		    &(struct hi_page_box){.bytes = 60,
					  .label = evil,
					  .title = evil,
					  .kind = HI_PICTURE_STRING,
					  .link = "tree/0x10"});
	html = write_html(page);
	HI_ASSERT(!strstr(html, "<script") && !strstr(html, " onload=x\"") &&
		  !strchr(html, '\x1b') && !strstr(html, "\xe2\x80\xae") &&
		  !strstr(html, "style="));
	HI_EXPECT_GOLDEN("html-treemap", html);
	free(html);
}

HI_TEST(page_picture, html_stays_small_whatever_the_names_are)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_TREEMAP, "", "");
	char name[2000], left_out[64];
	size_t drawn;
	char *html;

	memset(name, '"', sizeof(name));
	name[1999] = 0;
	for (size_t i = 0; i < HI_PAGE_BOXES; i++)
		hi_page_box(p, i ? 0 : HI_PAGE_BOX_NONE,
			    &(struct hi_page_box){.bytes = i ? 100 : 150000,
						  .label = name,
						  .title = name,
						  .link = "tree/0x55d0c8a2b2a0"});
	html = write_html(page);
	drawn = count_text(html, "data-b=");
	HI_ASSERT(strlen(html) <= HI_HTML_PICTURE_SIZE);
	HI_ASSERT(drawn > 200 && drawn < HI_PAGE_BOXES);
	HI_ASSERT_EQ(drawn, count_text(html, "<a class"));
	HI_ASSERT_EQ(drawn, count_text(html, "</a>"));
	snprintf(left_out, sizeof(left_out), "%zu smaller boxes are not drawn",
		 (size_t)HI_PAGE_BOXES - drawn);
	HI_ASSERT(strstr(html, left_out));
	free(html);
}

HI_TEST(page_picture, usual_names_are_all_drawn)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_TREEMAP, "", "");
	char *html;

	for (size_t i = 0; i < 1000; i++)
		hi_page_box(p, i ? 0 : HI_PAGE_BOX_NONE,
			    &(struct hi_page_box){
				    .bytes = i ? 100 : 99900,
				    .label = "struct session",
				    .title = "struct session 0x55d0c8a2b2a0: 1.0 KiB "
					     "(0.1 %)",
				    .link = "tree/0x55d0c8a2b2a0"});
	html = write_html(page);
	HI_ASSERT_EQ(1000, count_text(html, "data-b="));
	HI_ASSERT(!strstr(html, "not drawn"));
	free(html);
}

/* main has 70 bytes in a library, and 30 in a function without a module. */
HI_TEST(page_picture, functions_have_the_colours_of_modules_and_a_legend)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_FLAME, "stacks", "");
	unsigned app = hi_picture_module_color("app"),
		 library = hi_picture_module_color("libdisk.so.2");
	char *html, text[96];

	HI_ASSERT(app != library);
	HI_ASSERT_EQ(library, hi_picture_module_color("libdisk.so.3.1"));
	hi_page_box(
		p, HI_PAGE_BOX_NONE,
		&(struct hi_page_box){.bytes = 100, .label = "main", .module = "app"});
	hi_page_box(p, 0, &(struct hi_page_box){.bytes = 30, .label = "plain"});
	hi_page_box(p, 0,
		    &(struct hi_page_box){
			    .bytes = 70, .label = "load", .module = "libdisk.so.2"});
	hi_page_box(p, 2,
		    &(struct hi_page_box){.bytes = 70, .label = "leaf", .module = "app"});
	html = write_html(page);
	snprintf(text, sizeof(text),
		 "<g class=\"node m%u k0\" data-d=\"0\" data-b=\"100\""
		 " data-p=\"-1\">",
		 app);
	HI_ASSERT(strstr(html, text));
	/* Siblings come by bytes: load is the second box that is drawn, leaf is in it. */
	snprintf(text, sizeof(text),
		 "<g class=\"node m%u k0\" data-d=\"2\" data-b=\"70\""
		 " data-p=\"1\">",
		 app);
	HI_ASSERT(strstr(html, text));
	HI_ASSERT(strstr(
		html, "<g class=\"node k0\" data-d=\"1\" data-b=\"30\" data-p=\"0\">"));
	snprintf(text, sizeof(text), "fill=\"%s\"", hi_picture_color_text(library));
	HI_ASSERT_EQ(2, count_text(html, text));
	HI_ASSERT_EQ(2, count_text(html, "<g class=\"kind m"));
	HI_ASSERT(strstr(html, ">libdisk.so.2</text>"));
	free(html);
}

HI_TEST(page_picture, text_leaves_it_out)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_FLAME, "seen", "seen");
	struct hi_text_options looks = {.width = 80};
	struct hi_error err = {};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	hi_page_box(p, HI_PAGE_BOX_NONE,
		    &(struct hi_page_box){.bytes = 1, .label = "seen"});
	hi_page_text(page, "words");
	HI_ASSERT_OK(hi_text_render(page, &looks, out, &err), &err);
	fclose(out);
	HI_ASSERT_STREQ("  words\n", text);
	free(text);
}

/* ---- bands ---- */

/* The height of a band at one of the plot's corners, in values. */
static double height_at(const char *path, size_t n, size_t at, double top)
{
	double y[2 * 64] = {}, x;
	size_t count = 0;

	for (const char *s = strpbrk(path, "ML"); s && count < 2 * n;
	     s = strpbrk(s + 1, "MLZ"))
		if (sscanf(s + 1, "%lf %lf", &x, &y[count]) == 2)
			count++;
	HI_ASSERT_EQ(2 * n, count);
	return (y[at] - y[2 * n - 1 - at]) / 300 * top;
}

HI_TEST(page_picture, bands_are_as_high_as_their_values)
{
	enum { BANDS = 7, TIMES = 40 };
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_BANDS, "bands", "");
	double times[TIMES], values[BANDS][TIMES], top = 0;
	const char *path;
	char *html;

	srand(5);
	for (size_t i = 0; i < TIMES; i++) {
		double sum = 0;

		times[i] = (double)(i * i);
		for (size_t k = 0; k < BANDS; k++)
			sum += values[k][i] = rand() % 100000;
		top = fmax(top, sum);
	}
	hi_page_picture_times(p, times, TIMES, "s");
	for (size_t k = 0; k < BANDS; k++)
		hi_page_band(p, &(struct hi_page_band){
					.label = hi_page_printf(page, "band %zu", k),
					.title = "<b>",
					.link = k ? "" : "census?census=1",
					.values = values[k]});
	hi_page_picture_mark(
		p, &(struct hi_page_mark){
			   .time = 4, .value = NAN, .label = "peak 1", .link = "peaks"});
	html = write_html(page);
	path = html;
	for (size_t k = 0; k < BANDS; k++) {
		path = strstr(path, " d=\"M");
		HI_ASSERT(path != NULL);
		path += 4;
		for (size_t i = 0; i < TIMES; i++)
			HI_ASSERT(fabs(height_at(path, TIMES, i, top) - values[k][i]) <
				  top / 300 * 0.011);
	}
	HI_ASSERT_EQ(1,
		     count_text(html, "<a class=\"band k0\" href=\"census?census=1\""));
	HI_ASSERT_EQ(1, count_text(html, "<a class=\"mark k0\" href=\"peaks\""));
	for (size_t k = 0; k < BANDS; k++)
		HI_ASSERT(strstr(html, hi_page_printf(page, ">band %zu</text>", k)));
	free(html);
}

HI_TEST(page_picture, many_times_keep_the_highest_and_stay_small)
{
	enum { TIMES = 50000 };
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_BANDS, "bands", "");
	double *times = calloc(TIMES, sizeof(*times));
	double *values = calloc(TIMES, sizeof(*values));
	char *html;

	for (size_t i = 0; i < TIMES; i++) {
		times[i] = (double)i;
		values[i] = i == 31234 ? 1000 : 10;
	}
	hi_page_picture_times(p, times, TIMES, "s");
	for (size_t k = 0; k < 20; k++)
		hi_page_band(p, &(struct hi_page_band){.label = "b", .values = values});
	html = write_html(page);
	HI_ASSERT(strlen(html) <= HI_HTML_PICTURE_SIZE);
	/* The topmost band reaches the top of the plot, once. */
	HI_ASSERT_EQ(1, count_text(html, " 26L"));
	free(html);
	free(times);
	free(values);
}

HI_TEST(page_picture, without_times_or_boxes_there_is_none)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_BANDS, "bands", "");
	double one = 3, same[2] = {5, 5}, zero[2] = {};
	char *html = write_html(page);

	HI_ASSERT_STREQ("", html);
	free(html);
	hi_page_picture_times(p, &one, 1, "s");
	hi_page_band(p, &(struct hi_page_band){.label = "b", .values = &one});
	p = hi_page_picture(page, HI_PAGE_BANDS, "bands", "");
	hi_page_picture_times(p, same, 2, "s");
	hi_page_band(p, &(struct hi_page_band){.label = "b", .values = zero});
	hi_page_picture(page, HI_PAGE_TREEMAP, "none", "");
	html = write_html(page);
	HI_ASSERT_EQ(2, count_text(html, "<figure"));
	HI_ASSERT(!strstr(html, "nan") && !strstr(html, "inf"));
	free(html);
}

/* Of a ring that begins at the top, three quarters end at its left side; of two bars one is
 * half as high as the other, which has 154 px. */
HI_TEST(page_picture, rings_and_bars_are_as_large_as_their_parts)
{
	static const enum hi_page_picture_shape shapes[] = {HI_PAGE_DONUT, HI_PAGE_BARS};
	static const uint64_t parts[2][2] = {{75, 25}, {100, 50}};
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	char *html;

	for (size_t k = 0; k < 2; k++) {
		struct hi_page_picture *p =
			hi_page_picture(page, shapes[k], HOSTILE, "parts");

		hi_page_box(p, HI_PAGE_BOX_NONE, &(struct hi_page_box){.label = "all"});
		for (size_t i = 0; i < 2; i++)
			hi_page_box(p, 0,
				    &(struct hi_page_box){
					    .label = hi_page_safe(page, HOSTILE),
					    .title = hi_page_safe(page, HOSTILE),
					    .link = "census?by=class",
					    .bytes = parts[k][i]});
	}
	hi_page_picture(page, HI_PAGE_DONUT, "none", "");
	html = write_html(page);
	HI_ASSERT(strstr(html, "M100 8A92 92 0 1 1  8 100L46 100A54 54 0 1 0  100 46Z"));
	HI_ASSERT(strstr(html, "A92 92 0 0 1  100 8L100 46"));
	HI_ASSERT(strstr(html, "height=\"154\"") && strstr(html, "height=\"77\""));
	HI_ASSERT_EQ(4, count_text(html, "href=\"census?by=class\""));
	HI_ASSERT(!strstr(html, "<script") && !strstr(html, "nan"));
	HI_ASSERT_EQ(2, count_text(html, "<figure"));
	free(html);
}
