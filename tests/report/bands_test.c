/* SPDX-License-Identifier: BSD-2-Clause */
/* Bands of a graph against sums made by hand over dense tables, and the picture
 * against the bands: areas of its polygons. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/pictures/graph_svg.h"
#include "tests/harness.h"
#include "tests/support/random.h"

enum { BANDS = 60, SAMPLES = 40 };

/* The truth: a dense table, and the file that says it. */
struct table {
	size_t n_bands, n_samples;
	double times[SAMPLES];
	uint64_t values[BANDS][SAMPLES];
	char *text;
	struct hi_hp_series *series;
};

static void free_table(struct table *t)
{
	hi_hp_series_destroy(t->series);
	free(t->text);
	free(t);
}

static struct table *new_table(size_t n_bands, size_t n_samples)
{
	struct table *t = calloc(1, sizeof(*t));

	HI_ASSERT(t != NULL);
	hi_test_defer(free_table, t);
	t->n_bands = n_bands;
	t->n_samples = n_samples;
	return t;
}

static const char *name_of(size_t band)
{
	static char name[16];

	/* The order of names is not that of numbers. */
	snprintf(name, sizeof(name), "band%02zu", band * 37 % BANDS);
	return name;
}

static void parse_table(struct table *t)
{
	struct hi_error err = {};
	size_t size = 0;
	FILE *out = open_memstream(&t->text, &size);

	HI_ASSERT(out != NULL);
	fputs("JOB \"a <job> & more\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n",
	      out);
	for (size_t i = 0; i < t->n_samples; i++) {
		fprintf(out, "BEGIN_SAMPLE %.6f\n", t->times[i]);
		for (size_t b = 0; b < t->n_bands; b++)
			if (t->values[b][i])
				fprintf(out, "%s\t%llu\n", name_of(b),
					(unsigned long long)t->values[b][i]);
		fprintf(out, "END_SAMPLE %.6f\n", t->times[i]);
	}
	fclose(out);
	HI_ASSERT_OK(hi_hp_parse(t->text, size, &t->series, &err), &err);
}

static uint64_t state = 0x9e3779b97f4a7c15u;

static struct table *random_table(void)
{
	struct table *t = new_table(1 + random_below(&state, BANDS),
				    2 + random_below(&state, SAMPLES - 2));
	double time = 0;

	for (size_t i = 0; i < t->n_samples; i++) {
		time += (double)(1 + random_below(&state, 1000)) / 64;
		t->times[i] = time;
	}
	for (size_t b = 0; b < t->n_bands; b++) {
		uint64_t scale = 1ull << random_below(&state, 24);

		for (size_t i = 0; i < t->n_samples; i++)
			t->values[b][i] = random_below(&state, 5)
						  ? 1 + random_below(&state, scale)
						  : 0;
	}
	parse_table(t);
	return t;
}

static struct hi_bands *make(const struct table *t, const struct hi_bands_options *o)
{
	struct hi_bands *bands = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_bands_create(t->series, o, &bands, &err), &err);
	hi_test_defer(hi_bands_destroy, bands);
	return bands;
}

static double area_of(const struct table *t, size_t b)
{
	double area = 0;

	for (size_t i = 1; i < t->n_samples; i++)
		area += ((double)t->values[b][i] + (double)t->values[b][i - 1]) / 2 *
			(t->times[i] - t->times[i - 1]);
	return area;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-9;
}

static double deviation_of(const struct table *t, size_t b)
{
	double mean = 0, square = 0;

	for (size_t i = 0; i < t->n_samples; i++)
		mean += (double)t->values[b][i] / (double)t->n_samples;
	for (size_t i = 0; i < t->n_samples; i++)
		square += pow((double)t->values[b][i] - mean, 2);
	return sqrt(square / (double)t->n_samples);
}

/* By the normal equations, not by centred sums. */
static double slope_of(const struct table *t, size_t b)
{
	long double n = (long double)t->n_samples, x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < t->n_samples; i++) {
		long double value = (long double)t->values[b][i];

		x += t->times[i];
		y += value;
		xx += (long double)t->times[i] * t->times[i];
		xy += value * t->times[i];
	}
	return (double)((n * xy - x * y) / (n * xx - x * x));
}

static size_t number_of(const struct table *t, const char *name)
{
	for (size_t b = 0; b < t->n_bands; b++)
		if (strcmp(name_of(b), name) == 0)
			return b;
	return SIZE_MAX;
}

/* A last sample that is empty ends the profile and measures nothing. */
static struct table measured(const struct table *t)
{
	struct table seen = *t;
	bool empty = t->n_samples > 1;

	for (size_t b = 0; b < t->n_bands; b++)
		empty = empty && !t->values[b][t->n_samples - 1];
	seen.n_samples -= empty;
	return seen;
}

static void check_band(const struct table *t, const struct hi_band *band)
{
	struct table seen = measured(t);
	size_t b = number_of(t, band->name), n = seen.n_samples;
	double span = t->times[n - 1] - t->times[0], peak = 0;

	HI_ASSERT(b < t->n_bands);
	HI_ASSERT(near(area_of(t, b), band->area));
	HI_ASSERT(near(span > 0 ? area_of(&seen, b) / span : (double)t->values[b][0],
		       band->mean));
	HI_ASSERT(fabs(deviation_of(&seen, b) - band->deviation) < 1e-6 * band->peak);
	if (n > 1)
		HI_ASSERT(fabs(slope_of(&seen, b) - band->slope) < 1e-6 * band->peak);
	for (size_t i = 0; i < t->n_samples; i++) {
		/* Drawn at the same height up to the end. */
		HI_ASSERT_EQ(t->values[b][i < n ? i : n - 1], band->values[i]);
		peak = fmax(peak, (double)t->values[b][i]);
	}
	HI_ASSERT_EQ(peak, band->peak);
	HI_ASSERT_EQ(t->values[b][n - 1], band->last);
}

HI_TEST(report_bands, the_empty_sample_at_the_end_is_no_fall)
{
	struct table *t = new_table(2, 11);
	struct hi_bands_options o = {};
	struct hi_bands *b;

	for (size_t i = 0; i < 11; i++) {
		t->times[i] = (double)i;
		t->values[0][i] = i < 10 ? 1000 : 0;
		t->values[1][i] = i < 10 ? 100 * i : 0;
	}
	parse_table(t);
	b = make(t, &o);
	for (size_t i = 0; i < b->count; i++)
		check_band(t, &b->items[i]);
	HI_ASSERT_EQ(1000, b->items[1].mean);
	HI_ASSERT_EQ(0, b->items[1].deviation);
	HI_ASSERT(near(100, b->items[0].slope) && near(900, b->items[0].last));
	HI_ASSERT_EQ(9500, b->items[1].area);
	/* Up to a time before it, or one sample alone: all of them measure. */
	o.to = 9;
	HI_ASSERT_EQ(1000, make(t, &o)->items[1].mean);
}

/* What hp2ps' manual says: the largest number of the smallest bands whose sum is
 * below the share. */
static size_t count_removed(const struct table *t, double share, double *area_ret)
{
	double areas[BANDS], total = 0, gone = 0;
	size_t n = 0, removed = 0;

	for (size_t b = 0; b < t->n_bands; b++) {
		double area = area_of(t, b);
		size_t i = n;

		total += area;
		if (area <= 0)
			continue;
		for (; i > 0 && areas[i - 1] > area; i--)
			areas[i] = areas[i - 1];
		areas[i] = area;
		n++;
	}
	while (removed < n && gone + areas[removed] < share * total)
		gone += areas[removed++];
	*area_ret = gone;
	return removed;
}

static size_t count_bands(const struct table *t)
{
	size_t n = 0;

	for (size_t b = 0; b < t->n_bands; b++)
		n += area_of(t, b) > 0;
	return n;
}

HI_TEST(report_bands, figures_equal_sums_by_hand_on_random_tables)
{
	for (int round = 0; round < 250; round++) {
		struct table *t = random_table();
		struct hi_bands_options o = {.min_share = 0.01};
		struct hi_bands *b = make(t, &o);
		double gone, other = 0, total = 0;
		size_t removed = count_removed(t, 0.01, &gone), n = count_bands(t);
		size_t kept = n - removed < 20 ? n - removed : 20;

		HI_ASSERT_EQ(removed, b->n_removed);
		HI_ASSERT(near(gone, b->removed_area));
		HI_ASSERT_EQ(n - removed - kept, b->in_other);
		HI_ASSERT_EQ(kept + (b->in_other > 0), b->count);
		for (size_t i = b->in_other > 0; i < b->count; i++) {
			check_band(t, &b->items[i]);
			HI_ASSERT(i < 2 || b->items[i - 1].id == UINT32_MAX ||
				  b->items[i].area >= b->items[i - 1].area);
			other -= b->items[i].area;
		}
		for (size_t k = 0; k < t->n_bands; k++)
			total += area_of(t, k);
		HI_ASSERT(near(total, b->total_area));
		if (b->in_other) {
			HI_ASSERT_STREQ("OTHER", b->items[0].name);
			HI_ASSERT(fabs(other + total - gone - b->items[0].area) <
				  1e-9 * total);
		}
		/* 1024 deferred calls are the most that a test has. */
		if (round == 249)
			hi_test_note("the last of %d tables has %zu bands", round + 1, n);
	}
}

HI_TEST(report_bands, twenty_five_types_become_twenty_and_other)
{
	struct table *t = new_table(25, 2);
	struct hi_bands_options o = {.min_share = 0.01};
	struct hi_bands *b;
	char note[HI_GRAPH_NOTE_SIZE];

	t->times[1] = 1;
	for (size_t k = 0; k < 25; k++)
		t->values[k][0] = t->values[k][1] = 1000 + k;
	parse_table(t);
	b = make(t, &o);
	HI_ASSERT_EQ(21, b->count);
	HI_ASSERT_STREQ("OTHER", b->items[0].name);
	HI_ASSERT_EQ(5 * 1000 + 10, b->items[0].area);
	HI_ASSERT_EQ(1024, b->items[20].area);
	hi_graph_note(b, note);
	HI_ASSERT_STREQ("25 bands: 20 drawn, 5 summed in OTHER", note);
	o.limit = 7;
	HI_ASSERT_EQ(8, make(t, &o)->count);
	o.limit = 25;
	HI_ASSERT_EQ(25, make(t, &o)->count);
}

HI_TEST(report_bands, removed_bytes_are_reported)
{
	struct table *t = new_table(5, 3);
	struct hi_bands_options o = {.min_share = 0.01};
	char note[HI_GRAPH_NOTE_SIZE];
	struct hi_bands *b;

	for (size_t i = 0; i < 3; i++) {
		t->times[i] = (double)i;
		t->values[0][i] = 10000;
		t->values[1][i] = 39 + (i == 1) * 10;
		t->values[2][i] = 41;
		t->values[3][i] = 60;
	}
	parse_table(t);
	b = make(t, &o);
	HI_ASSERT_EQ(2, b->n_removed);
	HI_ASSERT_EQ(90, b->removed_peak);
	hi_graph_note(b, note);
	HI_ASSERT_STREQ("4 bands: 2 drawn, 2 not drawn (together 0.8 %, at most 90 B at "
			"once)",
			note);
	o.min_share = 0;
	HI_ASSERT_EQ(0, make(t, &o)->n_removed);
	HI_ASSERT_EQ(4, make(t, &o)->count);
}

/* Names from top to bottom. */
static const char *stack_of(const struct hi_bands *b)
{
	static char text[256];

	text[0] = 0;
	for (size_t i = b->count; i > 0; i--)
		sprintf(text + strlen(text), "%s%s", text[0] ? " " : "",
			b->items[i - 1].name);
	return text;
}

HI_TEST(report_bands, five_orders_of_one_file)
{
	static const char text[] =
		"BEGIN_SAMPLE 0.0\nbig\t1000\nleak\t10\nrough\t5\nalpha\t50\nEND_SAMPLE "
		"0.0\n"
		"BEGIN_SAMPLE 1.0\nbig\t1001\nleak\t74\nrough\t605\nalpha\t50\n"
		"END_SAMPLE 1.0\n"
		"BEGIN_SAMPLE 2.0\nbig\t1000\nleak\t138\nrough\t5\nalpha\t50\n"
		"END_SAMPLE 2.0\n";
	static const char *const stacks[] = {
		"big rough leak alpha", "rough leak big alpha", "alpha big leak rough",
		"leak big rough alpha", "big leak rough alpha"};
	struct table *t = new_table(0, 0);
	struct hi_error err = {};

	HI_ASSERT_OK(hi_hp_parse(text, sizeof(text) - 1, &t->series, &err), &err);
	for (unsigned i = 0; i < 5; i++) {
		struct hi_bands_options o = {.sort = i};
		struct hi_bands *b = make(t, &o);

		if (i == HI_BANDS_SLOPE) {
			/* big, rough and alpha do not grow; the leak grows by 64. */
			HI_ASSERT_STREQ("leak", b->items[3].name);
			HI_ASSERT(near(64, b->items[3].slope));
			HI_ASSERT(b->items[3].slope_error < 1e-6);
			HI_ASSERT(fabs(b->items[2].slope) < 1e-9);
		}
		HI_ASSERT_STREQ(stacks[i], stack_of(b));
	}
}

/* As bio --hp and GHC's -hb write them, with a band that only ours has. */
static const char biography[] =
	"JOB \"a\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n"
	"BEGIN_SAMPLE 1.0\nVOID\t9\nLAG\t50\nUSE\t1\nINHERENT_USE\t7\nDRAG\t3\n"
	"UNUSED-SINCE-ATTACH\t20\nEND_SAMPLE 1.0\n"
	"BEGIN_SAMPLE 2.0\nVOID\t9\nLAG\t50\nUSE\t1\nINHERENT_USE\t7\nDRAG\t3\n"
	"UNUSED-SINCE-ATTACH\t20\nEND_SAMPLE 2.0\n";

static struct hi_bands *bands_of_biography(enum hi_bands_sort sort)
{
	struct hi_bands_options options = {.sort = sort};
	struct hi_hp_series *series = NULL;
	struct hi_bands *bands = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_hp_parse(biography, sizeof(biography) - 1, &series, &err), &err);
	hi_test_defer(hi_hp_series_destroy, series);
	HI_ASSERT_OK(hi_bands_create(series, &options, &bands, &err), &err);
	hi_test_defer(hi_bands_destroy, bands);
	HI_ASSERT_EQ(6, bands->count);
	return bands;
}

HI_TEST(report_bands, a_biography_has_its_order_and_its_colours)
{
	static const char *const upwards[] = {
		"USE", "INHERENT_USE", "LAG", "UNUSED-SINCE-ATTACH", "DRAG", "VOID"};
	const struct hi_bands *bands = bands_of_biography(HI_BANDS_SIZE);
	bool taken[HI_BANDS_MAX] = {};

	for (size_t i = 0; i < 6; i++) {
		HI_ASSERT_STREQ(upwards[i], bands->items[i].name);
		HI_ASSERT(!taken[bands->items[i].colour]);
		taken[bands->items[i].colour] = true;
	}
	/* An order that was asked for holds. */
	bands = bands_of_biography(HI_BANDS_NAME);
	HI_ASSERT_STREQ("DRAG", bands->items[5].name);
}

HI_TEST(report_bands, a_range_is_the_file_without_the_other_samples)
{
	struct table *t = random_table(), *part = new_table(t->n_bands, 0);
	struct hi_bands_options o = {.min_share = 0.01};
	struct hi_bands *a, *b;
	struct hi_error err = {};

	while (t->n_samples < 12)
		t = random_table();
	part = new_table(t->n_bands, 6);
	for (size_t i = 0; i < 6; i++) {
		part->times[i] = t->times[i + 3];
		for (size_t k = 0; k < t->n_bands; k++)
			part->values[k][i] = t->values[k][i + 3];
	}
	parse_table(part);
	b = make(part, &o);
	o.from = t->times[3];
	o.to = t->times[8];
	a = make(t, &o);
	HI_ASSERT_EQ(b->count, a->count);
	HI_ASSERT_EQ(b->n_removed, a->n_removed);
	HI_ASSERT(near(b->total_area, a->total_area));
	for (size_t i = 0; i < a->count; i++) {
		HI_ASSERT_STREQ(b->items[i].name, a->items[i].name);
		HI_ASSERT(near(b->items[i].slope, a->items[i].slope));
		HI_ASSERT_EQ(b->items[i].colour, a->items[i].colour);
	}
	o.from = o.to = t->times[3] + 1e-3;
	HI_ASSERT_STATUS(HI_USAGE, hi_bands_create(t->series, &o, &a, &err));
}

static const struct hi_band *find(const struct hi_bands *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->items[i].name, name) == 0)
			return &b->items[i];
	return NULL;
}

HI_TEST(report_bands, like_another_graph_keeps_its_colours_order_and_scale)
{
	static const char one[] =
		"BEGIN_SAMPLE 0.0\na\t30\nb\t20\nc\t10\nEND_SAMPLE 0.0\n"
		"BEGIN_SAMPLE 9.0\na\t30\nb\t20\nc\t10\nEND_SAMPLE 9.0\n";
	static const char two[] =
		"BEGIN_SAMPLE 1.0\nnew\t5\nc\t15\nb\t1\nEND_SAMPLE 1.0\n"
		"BEGIN_SAMPLE 3.0\nnew\t5\nc\t15\nEND_SAMPLE 3.0\n";
	struct table *t = new_table(0, 0), *u = new_table(0, 0);
	struct hi_bands_options o = {.min_share = 0.1};
	struct hi_error err = {};
	struct hi_bands *a, *b;

	HI_ASSERT_OK(hi_hp_parse(one, sizeof(one) - 1, &t->series, &err), &err);
	HI_ASSERT_OK(hi_hp_parse(two, sizeof(two) - 1, &u->series, &err), &err);
	a = make(t, &o);
	o.like = a;
	b = make(u, &o);
	/* b is small there, but it has its place. */
	HI_ASSERT_STREQ("a b c", stack_of(a));
	HI_ASSERT_STREQ("new b c", stack_of(b));
	HI_ASSERT_EQ(find(a, "b")->colour, find(b, "b")->colour);
	HI_ASSERT_EQ(find(a, "c")->colour, find(b, "c")->colour);
	for (size_t i = 0; i < a->count; i++)
		HI_ASSERT(a->items[i].colour != find(b, "new")->colour);
	HI_ASSERT(near(a->y_max, b->y_max) && near(0, b->x_from) && near(9, b->x_to));
	HI_ASSERT(!b->outgrown);
	/* The other way round it does not fit, which is told. */
	o.like = make(u, &(struct hi_bands_options){});
	b = make(t, &o);
	HI_ASSERT(b->outgrown && near(60, b->y_max) && near(0, b->x_from));
	o.y_max = 500;
	HI_ASSERT(near(500, make(t, &o)->y_max));
}

/* The area of each polygon of the class "band", in square pixels. */
static size_t polygon_areas(const char *svg, double *areas, size_t most)
{
	size_t n = 0;

	for (const char *s = svg; (s = strstr(s, "class=\"band\"")) && n < most; n++) {
		double first_x, first_y, x, y, next_x, next_y, sum = 0;
		char *end;

		s = strstr(s, " d=\"M") + 5;
		first_x = x = strtod(s, &end);
		first_y = y = strtod(end, &end);
		while (*end == 'L') {
			next_x = strtod(end + 1, &end);
			next_y = strtod(end, &end);
			sum += x * next_y - next_x * y;
			x = next_x;
			y = next_y;
		}
		HI_ASSERT(*end == 'Z');
		sum += x * first_y - first_x * y;
		areas[n] = fabs(sum) / 2;
	}
	return n;
}

HI_TEST(report_bands, polygons_of_the_picture_have_the_areas_of_the_bands)
{
	for (int round = 0; round < 60; round++) {
		struct table *t = random_table();
		struct hi_bands_options o = {.min_share = 0.01};
		struct hi_bands *b = make(t, &o);
		double areas[32], drawn = 0, pixels = 0;
		struct hi_error err = {};
		char *svg = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&svg, &size);

		HI_ASSERT_OK(hi_graph_svg_write(b, out, &err), &err);
		fclose(out);
		HI_ASSERT_EQ(b->count, polygon_areas(svg, areas, 32));
		for (size_t i = 0; i < b->count; i++) {
			drawn += b->items[i].area;
			pixels += areas[i];
		}
		/* Coordinates have two decimals: 1,120 pixels wide, 0.005 off. */
		for (size_t i = 0; i < b->count; i++)
			HI_ASSERT_MSG(fabs(areas[i] - b->items[i].area * pixels / drawn) <
					      16,
				      "%f %f", areas[i], b->items[i].area);
		free(svg);
	}
}

HI_TEST(report_bands, hostile_names_make_valid_xml)
{
	static const char *const names[] = {
		"<script>alert(1)</script>", "a&b;\"c'", "\x01\x1b[31m", "\xff\xfe\xc3(",
		"\xef\xbf\xbf\xef\xbf\xbe",  "]]>"};
	struct table *t = new_table(0, 0);
	struct hi_bands_options o = {};
	struct hi_error err = {};
	char *svg = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&t->text, &size), *python;
	struct hi_bands *b;

	fputs("JOB \"</title><b>\xff & more\"\nDATE \"<&>\"\nSAMPLE_UNIT \"<s>\"\n"
	      "VALUE_UNIT \"<v>\"\nBEGIN_SAMPLE 1.0\n",
	      out);
	for (int i = 0; i < 6; i++)
		fprintf(out, "%s\t%d\n", names[i], i + 1);
	fputs("END_SAMPLE 1.0\n", out);
	fclose(out);
	HI_ASSERT_OK(hi_hp_parse(t->text, size, &t->series, &err), &err);
	b = make(t, &o);
	out = open_memstream(&svg, &size);
	HI_ASSERT_OK(hi_graph_svg_write(b, out, &err), &err);
	fclose(out);
	hi_test_defer(free, svg);
	python = popen(
		"/usr/bin/python3 -c 'import sys, xml.etree.ElementTree as e\n"
		"r = e.fromstring(sys.stdin.buffer.read())\n"
		"ns = \"{http://www.w3.org/2000/svg}\"\n"
		"sys.exit(len(r.findall(\".//%spath[@class=\\\"band\\\"]\" % ns)))'",
		"w");
	HI_ASSERT(python != NULL);
	HI_ASSERT(fwrite(svg, 1, size, python) == size);
	HI_ASSERT_EQ(6 << 8, pclose(python));
	HI_ASSERT(strstr(svg, "<script") == NULL && strstr(svg, "<b>") == NULL);
}
