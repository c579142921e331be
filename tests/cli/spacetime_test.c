/* SPDX-License-Identifier: BSD-2-Clause */
/* `spacetime`: areas are bytes x time, exactly. What is true the fixture says, and sums
 * over other documents. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "census/snapshot/snapshot_series.h"
#include "tests/harness.h"
#include "tests/support/curve.h"
#include "tests/support/lived.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

static json_t *read_spacetime(const char *path, const char *by)
{
	struct hi_command *c =
		by ? hi_heapinspect("spacetime", path, "--json", "--all", "--by", by)
		   : hi_heapinspect("spacetime", path, "--json", "--all");
	json_t *doc = curve_document(c);

	hi_check_schema(c, "spacetime.v1.json");
	return doc;
}

/* Of the text of "byte_seconds", in units of 1e-10. */
static __int128 read_area(json_t *object)
{
	const char *text = curve_text(object, "byte_seconds");
	__int128 ret = 0;
	int decimals = -1;

	HI_ASSERT(*text);
	for (; *text; text++) {
		if (*text == '.') {
			decimals = 0;
			continue;
		}
		HI_ASSERT(*text >= '0' && *text <= '9');
		ret = ret * 10 + (*text - '0');
		decimals += decimals >= 0;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 10; decimals++)
		ret *= 10;
	return ret;
}

static json_t *find_band(json_t *doc, const char *name)
{
	json_t *band;
	size_t i;

	json_array_foreach(json_object_get(doc, "bands"), i,
			   band) if (strcmp(curve_text(band, "name"), name) ==
				     0) return band;
	hi_test_fail(__FILE__, __LINE__, "there is no band %s", name);
}

/* By trapezoids: half of a byte for a nanosecond is 5 units of read_area(). */
static __int128 area_between(json_t *a, json_t *b, long long before, long long behind)
{
	return (__int128)(before + behind) *
	       (curve_number(b, "at_ns") - curve_number(a, "at_ns")) * 5;
}

/* The bands make the whole, and the whole is the area below the curve of the document. */
static void check_areas(json_t *doc)
{
	json_t *censuses = json_object_get(doc, "censuses"),
	       *bands = json_object_get(doc, "bands"), *band;
	__int128 sum = 0, all = 0, last = -1;
	size_t i;

	json_array_foreach(bands, i, band)
	{
		__int128 area = read_area(band);

		HI_ASSERT(last < 0 || area <= last);
		last = area;
		sum += area;
	}
	for (i = 0; i + 1 < json_array_size(censuses); i++) {
		json_t *a = json_array_get(censuses, i),
		       *b = json_array_get(censuses, i + 1);

		all += area_between(a, b, curve_number(a, "bytes"),
				    curve_number(b, "bytes"));
	}
	HI_ASSERT(all == read_area(json_object_get(doc, "total")));
	HI_ASSERT(sum == all);
}

/* Of the totals of each census, which `snapshots` shows. */
static void check_area_of_type(json_t *doc, const char *type)
{
	json_t *rows = json_object_get(
		curve_document(hi_heapinspect("snapshots", curve_file, "--json")),
		"rows");
	json_t *censuses = json_object_get(doc, "censuses");
	long long before = 0, now, most = 0;
	__int128 area = 0;

	HI_ASSERT_EQ(json_array_size(rows), json_array_size(censuses));
	for (size_t i = 0; i < json_array_size(rows); i++, before = now) {
		json_t *b = json_array_get(censuses, i);

		now = curve_total(curve_number(json_array_get(rows, i), "census"), type,
				  "shallow");
		most = now > most ? now : most;
		if (i)
			area += area_between(json_array_get(censuses, i - 1), b, before,
					     now);
	}
	HI_ASSERT(area == read_area(find_band(doc, type)));
	HI_ASSERT_EQ(most, curve_number(find_band(doc, type), "most"));
}

static void make_curve(struct curve *c, long long *most)
{
	curve_tell(c, "node", 100);
	curve_tell(c, "buf", 30);
	*most = c->bytes;
	curve_tell(c, "drop node", 40);
}

/* ---- a file of totals alone ---- */

static void check_areas_by_type_are_those_of_the_totals(json_t *doc, long long most)
{
	HI_ASSERT_STREQ("type", curve_text(doc, "by"));
	check_areas(doc);
	check_area_of_type(doc, "struct node");
	check_area_of_type(doc, "struct buf");
	HI_ASSERT_EQ(most, curve_number(json_object_get(doc, "total"), "most"));
}

static void check_the_page_fits_and_the_picture_is_that_of_graph(void)
{
	struct hi_command *svg = hi_heapinspect("spacetime", curve_file, "--format",
						"svg"),
			  *text;
	char *line, *rest = NULL;

	HI_ASSERT_MSG(svg->exit_code == 0, "%s", svg->err);
	HI_ASSERT_STREQ(hi_heapinspect("graph", curve_file)->out, svg->out);
	for (int i = 0; i < 2; i++) {
		text = hi_heapinspect("spacetime", curve_file, "--width",
				      i ? "120" : "80");
		HI_ASSERT_MSG(strstr(text->out, "struct node"), "%s", text->out);
		for (line = strtok_r(text->out, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			HI_ASSERT_MSG(strlen(line) <= (i ? 120 : 80), "%s", line);
	}
}

static void check_what_the_bands_need_is_named(void)
{
	char other[300];

	curve_check_refused(hi_heapinspect("spacetime", curve_file, "--by", "function"),
			    "heapinspect record --pid N --every 1s -o FILE");
	curve_check_refused(hi_heapinspect("spacetime", curve_file, "--by", "retainer"),
			    "heapinspect snap --pid N --every 1s --full all -o FILE");
	curve_check_refused(hi_heapinspect("spacetime", curve_file, "--by", "biography"),
			    "heapinspect bio --pid N -o FILE");
	snprintf(other, sizeof(other), "%s/one", curve_directory);
	HI_ASSERT_EQ(
		0,
		hi_heapinspect("snap", "-q", "--pid", curve_pid, "-o", other)->exit_code);
	curve_check_refused(hi_heapinspect("spacetime", other), "one heap");
	curve_check_refused(hi_heapinspect("spacetime", other, "--by", "biography"),
			    "heapinspect bio --pid N -o FILE");
}

/* The record after a census: then the census is no part of the file. */
static void lose_census(size_t i)
{
	struct hi_snapshots *series = NULL;
	struct hi_error err;
	char zeros[64] = {};
	const struct hi_snapshots_part *part;
	int fd = open(curve_file, O_WRONLY);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_EQ(HI_OK, hi_snapshots_open(curve_file, &series, &err));
	part = &series->entries[i].parts[HI_SNAPSHOTS_TOTALS];
	HI_ASSERT_EQ((ssize_t)sizeof(zeros),
		     pwrite(fd, zeros, sizeof(zeros),
			    (off_t)((part->offset + part->size + 63) / 64 * 64)));
	hi_snapshots_close(series);
	close(fd);
}

static void check_of_a_damaged_file_there_is_what_is_left(json_t *doc)
{
	size_t n = json_array_size(json_object_get(doc, "censuses"));

	HI_ASSERT_EQ(0, curve_number(doc, "damaged") + curve_number(doc, "lost"));
	lose_census(2);
	doc = read_spacetime(curve_file, NULL);
	HI_ASSERT_EQ(n - 1, json_array_size(json_object_get(doc, "censuses")));
	HI_ASSERT(curve_number(doc, "damaged") > 0);
	HI_ASSERT_EQ(1, curve_number(doc, "lost"));
	check_areas(doc);
	check_area_of_type(doc, "struct node");
	HI_ASSERT(strstr(hi_heapinspect("spacetime", curve_file)->out,
			 "the file is damaged"));
}

HI_TEST_SCENARIO(spacetime, spacetime_without_graphs_has_totals)
{
	struct curve c;
	long long most;
	json_t *doc;

	curve_begin(&c);
	curve_snap(&c, "--full", "none");
	make_curve(&c, &most);
	curve_end(&c);
	doc = read_spacetime(curve_file, NULL);
	check_areas_by_type_are_those_of_the_totals(doc, most);
	check_the_page_fits_and_the_picture_is_that_of_graph();
	check_what_the_bands_need_is_named();
	check_of_a_damaged_file_there_is_what_is_left(doc);
}

/* ---- files of other kinds ---- */

/* The sums are those of what is live, without leaks. */
static void check_live_of_censuses(json_t *doc)
{
	json_t *rows = json_object_get(
		curve_document(hi_heapinspect("snapshots", curve_file, "--json")),
		"rows");
	json_t *censuses = json_object_get(doc, "censuses");

	HI_ASSERT_EQ(json_array_size(rows), json_array_size(censuses));
	for (size_t i = 0; i < json_array_size(rows); i++)
		HI_ASSERT_EQ(curve_number(json_array_get(rows, i), "bytes"),
			     curve_number(json_array_get(censuses, i), "bytes"));
}

HI_TEST_ROOT(spacetime, functions_of_every_census_are_known_without_their_graphs)
{
	struct curve c;
	long long most, before, entries;
	json_t *doc, *band;

	curve_begin(&c);
	curve_tell_before(&c, "entry", 20);
	before = c.bytes;
	curve_record(&c, "--full", "last");
	make_curve(&c, &most);
	entries = c.bytes;
	curve_tell(&c, "entry", 10);
	entries = c.bytes - entries;
	curve_tell(&c, "lost", 5);
	curve_tell(&c, "drop node", 60);
	curve_tell(&c, "drop buf", 30);
	curve_end(&c);
	doc = read_spacetime(curve_file, "function");
	check_areas(doc);
	check_live_of_censuses(doc);
	HI_ASSERT_EQ(0, curve_number(doc, "left_out_censuses"));
	band = find_band(doc, "parse (space_lives.c)");
	HI_ASSERT_EQ(most - before, curve_number(band, "most"));
	/* One of the lost ones may still be in a word of the stack. */
	HI_ASSERT(curve_number(band, "last") < 100);
	band = find_band(doc, "cache (space_lives.c)");
	HI_ASSERT_EQ(entries, curve_number(band, "last"));
	band = find_band(doc, "(older than the recording)");
	HI_ASSERT_EQ(before, curve_number(band, "most"));
	HI_ASSERT_EQ(before, curve_number(band, "last"));
}

HI_TEST_SCENARIO(spacetime, retainers_are_those_of_the_graphs)
{
	struct curve c;
	long long most, bufs;
	json_t *doc;

	curve_begin(&c);
	curve_snap(&c, "--full", "first,every:2,last");
	curve_tell(&c, "buf", 30);
	bufs = c.bytes;
	make_curve(&c, &most);
	curve_end(&c);
	doc = read_spacetime(curve_file, "retainer");
	check_areas(doc);
	HI_ASSERT(curve_number(doc, "left_out_censuses") > 0);
	HI_ASSERT_EQ(2 * bufs, curve_number(find_band(doc, "{bufs}"), "last"));
	HI_ASSERT_EQ(c.bytes - 2 * bufs, curve_number(find_band(doc, "{nodes}"), "last"));
}

/* ---- of other files ---- */

static const char profile[] = "JOB \"app\"\nDATE \"today\"\nSAMPLE_UNIT \"seconds\"\n"
			      "VALUE_UNIT \"bytes\"\n"
			      "BEGIN_SAMPLE 0.0\na\t100\nEND_SAMPLE 0.0\n"
			      "BEGIN_SAMPLE 2.0\na\t100\nb\t7\nEND_SAMPLE 2.0\n"
			      "BEGIN_SAMPLE 3.5\nb\t8\nEND_SAMPLE 3.5\n";

HI_TEST_SCENARIO(spacetime, a_heap_profile_has_its_own_bands)
{
	char path[300];
	json_t *doc;

	snprintf(path, sizeof(path), "%s/app.hp", workshop_open());
	workshop_write("app.hp", profile);
	doc = read_spacetime(path, NULL);
	check_areas(doc);
	HI_ASSERT_STREQ("profile", curve_text(doc, "by"));
	HI_ASSERT_STREQ("275", curve_text(find_band(doc, "a"), "byte_seconds"));
	HI_ASSERT_STREQ("18.25", curve_text(find_band(doc, "b"), "byte_seconds"));
	curve_check_refused(hi_heapinspect("spacetime", path, "--by", "type"),
			    "no file of many censuses");
	workshop_write("app.hp",
		       "VALUE_UNIT \"ticks\"\nBEGIN_SAMPLE 0.0\na\t1\nEND_SAMPLE 0.0\n");
	curve_check_refused(hi_heapinspect("spacetime", path), "ticks over seconds");
}

/* What is proved of each census, as bio has it. */
static void check_area_of_biography(json_t *doc, json_t *lives, const char *band,
				    const char *name)
{
	json_t *censuses = json_object_get(doc, "censuses");
	size_t n = json_array_size(censuses);
	__int128 area = 0;

	for (unsigned t = 2; t <= n; t++)
		area += area_between(
			json_array_get(censuses, t - 2), json_array_get(censuses, t - 1),
			(long long)lived_bound(lives, t - 1, band, "bytes", "proved"),
			(long long)lived_bound(lives, t, band, "bytes", "proved"));
	if (area)
		HI_ASSERT(area == read_area(find_band(doc, name)));
}

HI_TEST_ROOT(spacetime, biographies_are_what_is_proved_of_each_band)
{
	struct lived *l;
	json_t *live, *doc;
	char path[300];

	snprintf(path, sizeof(path), "%s/lives.hisnap", workshop_open());
	l = lived_start(LIVED("new old 400000"), LIVED("-o", path));
	lived_period(l, LIVED("new young 400000", "new dead 400000 buf"));
	lived_period(l, LIVED("write young", "write dead"));
	lived_period(l, LIVED("write young"));
	lived_period(l, LIVED("write young"));
	live = lived_interrupt(l);
	doc = read_spacetime(path, "biography");
	check_areas(doc);
	HI_ASSERT_EQ(json_array_size(json_object_get(live, "censuses")),
		     json_array_size(json_object_get(doc, "censuses")));
	check_area_of_biography(doc, live, "use", "USE");
	check_area_of_biography(doc, live, "drag", "DRAG");
	check_area_of_biography(doc, live, lived_bands[LIVED_BANDS - 1],
				"UNUSED-SINCE-ATTACH");
	HI_ASSERT(read_area(find_band(doc, "USE")) > 0);
	/* It is a file of many censuses, too. */
	HI_ASSERT_STREQ("type", curve_text(read_spacetime(path, NULL), "by"));
}

/* ---- bad input ---- */

HI_TEST_SCENARIO(spacetime, files_and_options_that_make_no_sense_are_refused)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/empty", workshop_open());
	workshop_write("empty", "");
	curve_check_refused(hi_heapinspect("spacetime", path), "empty");
	curve_check_refused(hi_heapinspect("spacetime", "/nowhere/at.all"),
			    "/nowhere/at.all");
	curve_check_refused(hi_heapinspect("spacetime"), "FILE is missing");
	curve_check_refused(hi_heapinspect("spacetime", path, "--by", "colour"),
			    "--by colour");
	curve_check_refused(hi_heapinspect("spacetime", path, "--format", "html"), "svg");
	curve_check_refused(
		hi_heapinspect("spacetime", path, "--format", "svg", "--json"),
		"only one of them");
	curve_check_refused(hi_heapinspect("spacetime", path, "--all", "--top", "3"),
			    "only one of them");
}

HI_TEST_SCENARIO(spacetime, one_census_has_no_area)
{
	struct curve c;
	struct hi_command *command;
	json_t *doc;

	curve_begin(&c);
	curve_tell_before(&c, "node", 10);
	command = hi_heapinspect("snap", "--pid", curve_pid, "--every", "1h", "--for",
				 "1ms", "-q", "-o", curve_file);
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	doc = read_spacetime(curve_file, NULL);
	check_areas(doc);
	HI_ASSERT_STREQ("0", curve_text(json_object_get(doc, "total"), "byte_seconds"));
	HI_ASSERT_EQ(c.bytes, curve_number(find_band(doc, "struct node"), "most"));
	HI_ASSERT(strstr(hi_heapinspect("spacetime", curve_file)->out, "no area"));
}
