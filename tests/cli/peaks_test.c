/* SPDX-License-Identifier: BSD-2-Clause */
/* `peaks` of files that were written while a fixture allocated a triangle or a saw-tooth
 * of known bytes (fixtures/space_lives.c, by malloc_usable_size()). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "census/snapshot/snapshot_series.h"
#include "census/snapshot/snapshot_series_format.h"
#include "tests/harness.h"
#include "tests/support/curve.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

static json_t *read_peaks_document(const char *most)
{
	struct hi_command *c =
		hi_heapinspect("peaks", curve_file, "--json", "--all", "--peaks", most);
	json_t *doc = doc_of(c);

	hi_check_schema(c, "peaks.v1.json");
	return doc;
}

static json_t *peak_at(json_t *doc, size_t i)
{
	return doc_at(doc, "peaks.%zu", i);
}

static size_t count_peaks(json_t *doc)
{
	return doc_size(doc, "peaks");
}

/* Of the rows of a peak: objects of a type, of an age or more. */
static long long count_aged(json_t *peak, const char *type, long long age)
{
	long long ret = 0;
	json_t *row;

	doc_each (row, doc_at(peak, "rows")) {
		if (strcmp(doc_text(row, "type"), type) == 0 &&
		    !doc_is_null(row, "age") && doc_number(row, "age") >= age)
			ret += doc_number(row, "objects");
	}
	return ret;
}

/* ---- a triangle ---- */

enum { STEPS = 4, STEP = 60 };

static void make_triangle(struct curve *c)
{
	for (int i = 0; i < STEPS; i++)
		curve_tell(c, "node", STEP);
}

static void unmake_triangle(struct curve *c)
{
	for (int i = 0; i < STEPS; i++)
		curve_tell(c, "drop node", STEP);
}

/* Of totals, in which nothing is of the recording: what is of an age was there so many
 * censuses before; nothing was freed by then. */
static void check_ages_of_peak(json_t *peak)
{
	long long census = doc_number(peak, "census");

	for (long long age = 1; age <= census; age++)
		HI_ASSERT_MSG(curve_total(census - age + 1, "struct node", "count") ==
				      count_aged(peak, "struct node", age),
			      "age %lld", age);
}

HI_TEST_ROOT(peaks, a_triangle_has_one_by_function_type_and_age)
{
	struct curve c;
	long long bytes, objects;
	json_t *doc, *peak, *row;

	curve_begin(&c);
	curve_record(&c, "--full", "peaks:2,last");
	make_triangle(&c);
	curve_tell(&c, "buf", 20);
	bytes = c.bytes;
	objects = c.objects;
	unmake_triangle(&c);
	curve_end(&c);
	doc = read_peaks_document("2");
	HI_ASSERT_EQ(1, count_peaks(doc));
	peak = peak_at(doc, 0);
	HI_ASSERT(doc_bool(peak, "global_maximum"));
	HI_ASSERT_STREQ("functions", doc_text(peak, "detail"));
	HI_ASSERT_EQ(bytes, doc_number(peak, "total.bytes"));
	HI_ASSERT_EQ(objects, doc_number(peak, "total.objects"));
	HI_ASSERT_EQ(bytes, doc_number(peak, "bytes"));
	HI_ASSERT_EQ(20, count_aged(peak, "struct buf", 1));
	HI_ASSERT_EQ(0, count_aged(peak, "struct buf", 2));
	check_ages_of_peak(peak);
	doc_each (row, doc_at(peak, "rows"))
		HI_ASSERT_STREQ("parse", doc_text(row, "function"));
}

/* The age of an object is told by the times of censuses: each is that of its pause by two
 * clocks, however long reading the forked child took afterwards. A busy machine may let
 * some time pass between the two looks. */
enum { MOST_DIFFERENCE_NS = 20000000, MANY_ENTRIES = 600000 };

HI_TEST_SCENARIO(peaks, a_census_has_the_time_of_its_pause)
{
	struct curve c;
	json_t *rows, *row;
	long long first = 0;
	size_t i = 0;

	curve_begin(&c);
	curve_snap(&c, "--snapshot", "fork");
	curve_tell(&c, "entry", MANY_ENTRIES);
	curve_end(&c);
	rows = doc_at(doc_of(hi_heapinspect("snapshots", curve_file, "--json")), "rows");
	HI_ASSERT(json_array_size(rows) > 1);
	doc_each (row, rows) {
		long long began = doc_number(row, "time_ns") +
				  doc_number(row, "pause_ns") -
				  doc_number(row, "wall_ns");

		if (!i++)
			first = began;
		HI_ASSERT_MSG(llabs(began - first) < MOST_DIFFERENCE_NS,
			      "census %zu is %lld ns late", i, first - began);
	}
}

static const char well_formed[] =
	"import sys, xml.dom.minidom as m\n"
	"text = open(sys.argv[1]).read()\n"
	"d = m.parseString(text.replace('<!DOCTYPE html>', ''))\n"
	"all = d.getElementsByTagName('*')\n"
	"ids = [e.getAttribute('id') for e in all if e.hasAttribute('id')]\n"
	"assert len(ids) == len(set(ids))\n"
	"links = [e.getAttribute('href') for e in d.getElementsByTagName('a')]\n"
	"assert all and links and not [l for l in links if l[0] != '#' or l[1:] not in "
	"ids]\n"
	"curve = [e for e in all if e.getAttribute('id') == 'curve'][0]\n"
	"print(len(curve.getElementsByTagName('a')), "
	"len(d.getElementsByTagName('script')),"
	" len(d.getElementsByTagName('path')) > 0)\n";

static void check_page(const char *html, const char *said)
{
	struct hi_command *c =
		hi_command_run(0, "python3", "-c", well_formed, html, NULL);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_STREQ(said, c->out);
}

/* The curve can be divided by what allocated. */
static void check_the_page_of_a_recording_may_be_by_function(void)
{
	struct hi_command *command;
	char html[300];

	snprintf(html, sizeof(html), "%s.html", curve_file);
	command = hi_heapinspect("peaks", curve_file, "--format", "html", "--by",
				 "function", "-o", html);
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	check_page(html, "2 0 True\n");
	command = hi_heapinspect("peaks", curve_file, "--format", "html", "--by",
				 "function");
	HI_ASSERT(strstr(command->out, "parse (space_lives.c): mean"));
	HI_ASSERT(strstr(command->out, "cache (space_lives.c): mean"));
}

/* What was there before the recording has a type, but neither function nor age. */
static void check_what_is_older_than_the_recording_is_said(void)
{
	json_t *peak = peak_at(read_peaks_document("2"), 0), *row;
	long long older = 0;

	HI_ASSERT_EQ(100, count_aged(peak, "struct node", 1));
	doc_each (row, doc_at(peak, "rows")) {
		if (!doc_is_null(row, "function"))
			continue;
		HI_ASSERT(doc_is_null(row, "age"));
		HI_ASSERT_STREQ("struct entry", doc_text(row, "type"));
		older += doc_number(row, "objects");
	}
	HI_ASSERT_EQ(30, older);
}

/* Two peaks, of two functions. */
HI_TEST_ROOT(peaks, peaks_of_a_recording_have_functions_and_older_objects)
{
	struct curve c;

	curve_begin(&c);
	curve_tell_before(&c, "entry", 30);
	curve_record(&c, "--full", "peaks:1");
	curve_tell(&c, "node", 100);
	curve_tell(&c, "drop node", 90);
	curve_tell(&c, "entry", 90);
	curve_tell(&c, "drop entry", 80);
	curve_end(&c);
	check_the_page_of_a_recording_may_be_by_function();
	check_what_is_older_than_the_recording_is_said();
}

/* Estimates of what was recorded, and the rest of what is there: not both of one object.
 */
HI_TEST_ROOT(peaks, samples_and_the_rest_make_the_whole)
{
	struct curve c;
	json_t *peak, *row;
	long long older = 0, sampled = 0;

	curve_begin(&c);
	curve_tell_before(&c, "entry", 3000);
	curve_record_samples(&c, "1KiB");
	curve_tell(&c, "node", 20000);
	curve_end(&c);
	peak = peak_at(read_peaks_document("1"), 0);
	HI_ASSERT(doc_number(peak, "sample_bytes") > 0);
	doc_each (row, doc_at(peak, "rows")) {
		if (doc_is_null(row, "function"))
			older += doc_number(row, "bytes");
		else
			sampled += doc_number(row, "bytes");
	}
	/* 20,000 nodes of 24 bytes are some 470 samples: 6 standard deviations. */
	HI_ASSERT_MSG(llabs(sampled - 20000 * 32) < 20000 * 32 * 28 / 100, "%lld",
		      sampled);
	HI_ASSERT_MSG(older >= 3000 * 48 && older + sampled >= c.bytes &&
			      older + sampled < c.bytes + c.bytes * 28 / 100,
		      "%lld + %lld of %lld", older, sampled, c.bytes);
}

/* ---- a saw ---- */

enum { TEETH = 4 };

static void make_saw(struct curve *c, long long *tops)
{
	for (int i = 0; i < TEETH; i++) {
		curve_tell(c, "node", 200 + 10 * i);
		tops[i] = c->bytes;
		/* No peak: less than 5 %. */
		curve_tell(c, "drop node", 3);
		curve_tell(c, "node", 2);
		curve_tell(c, "drop node", 150);
	}
}

static void check_saw(json_t *doc, const long long *tops)
{
	HI_ASSERT_EQ(TEETH, count_peaks(doc));
	for (size_t i = 0; i < TEETH; i++) {
		HI_ASSERT_EQ(tops[i], doc_number(peak_at(doc, i), "bytes"));
		HI_ASSERT_EQ(i == TEETH - 1,
			     doc_bool(doc, "peaks.%zu.global_maximum", i));
	}
}

static void check_each_tooth_has_types_or_totals(const long long *tops)
{
	json_t *doc = read_peaks_document("9");

	check_saw(doc, tops);
	/* Graphs are those of the maximum and of the highest other peak. */
	for (size_t i = 0; i < TEETH; i++) {
		json_t *peak = peak_at(doc, i), *row = doc_at(peak, "rows.0");

		HI_ASSERT_STREQ(i < TEETH - 2 ? "totals" : "types",
				doc_text(peak, "detail"));
		HI_ASSERT_STREQ("struct node", doc_text(row, "type"));
		HI_ASSERT_EQ(tops[i], doc_number(row, "bytes"));
		HI_ASSERT(!doc_find(row, "function"));
	}
	doc = read_peaks_document("1");
	HI_ASSERT_EQ(2, count_peaks(doc));
	HI_ASSERT_EQ(tops[TEETH - 2], doc_number(doc, "peaks.0.bytes"));
}

static void check_links_of_the_page_lead_to_its_tables(void)
{
	char html[300];
	struct hi_command *command;
	struct stat st;

	snprintf(html, sizeof(html), "%s.html", curve_file);
	command = hi_heapinspect("peaks", curve_file, "--peaks", "9", "--format", "html",
				 "-o", html);
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	HI_ASSERT_EQ(0, stat(html, &st));
	HI_ASSERT_EQ(0600, st.st_mode & 0777);
	check_page(html, "4 0 True\n");
}

/* Columns of the plot that the label of a peak is in; -1: none. */
static long column_of_label(const char *out, char label)
{
	const char *line = out, *at;

	while ((line = strchr(line, '|'))) {
		for (at = line + 1; *at && *at != '\n'; at++)
			if (*at == label)
				return at - line;
		line = at;
	}
	return -1;
}

static void check_the_curve_fits_and_has_the_labels_in_order(const char *width)
{
	struct hi_command *command = hi_heapinspect("peaks", curve_file, "--peaks", "9",
						    "--top", "1", "--width", width);
	char *line, *rest = NULL;
	long before = 0;

	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	for (char label = '1'; label < '1' + TEETH; label++) {
		long column = column_of_label(command->out, label);

		HI_ASSERT_MSG(column > before, "%c in %s", label, command->out);
		before = column;
	}
	for (line = strtok_r(command->out, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		HI_ASSERT_MSG(strlen(line) <= (size_t)atoi(width), "%s", line);
}

HI_TEST_SCENARIO(peaks, a_saw_has_one_for_each_tooth)
{
	struct curve c;
	long long tops[TEETH];

	curve_begin(&c);
	curve_snap(&c, "--full", "peaks:1");
	make_saw(&c, tops);
	curve_end(&c);
	check_each_tooth_has_types_or_totals(tops);
	check_links_of_the_page_lead_to_its_tables();
	check_the_curve_fits_and_has_the_labels_in_order("80");
	check_the_curve_fits_and_has_the_labels_in_order("120");
}

/* ---- decimation ---- */

/* A file that is too small for all censuses keeps the maximum, however long ago it was.
 */
HI_TEST_SCENARIO(peaks, the_maximum_outlives_the_limit_of_the_file)
{
	struct curve c;
	long long top;
	json_t *doc;
	size_t n;

	curve_begin(&c);
	curve_snap(&c, "--max-file", "120KiB");
	curve_tell(&c, "node", 100);
	curve_tell(&c, "entry", 500);
	top = c.bytes;
	curve_tell(&c, "drop entry", 500);
	/* Until the stride is 16: both censuses of the maximum are not at it by chance.
	 */
	for (int i = 0; i < 4; i++)
		HI_ASSERT(recording_says(&c.run, "every second census is dropped",
					 RECORDING_PATIENCE_MS));
	curve_end(&c);
	doc = read_peaks_document("5");
	HI_ASSERT_EQ(1, count_peaks(doc));
	HI_ASSERT_EQ(top, doc_number(peak_at(doc, 0), "bytes"));
	n = doc_size(doc, "censuses");
	HI_ASSERT(doc_number(doc, "censuses.%zu.census", n - 1) > (long long)n);
}

/* ---- bad input ---- */

static void write_at(const char *path, long offset, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_EQ((ssize_t)n, pwrite(fd, bytes, n, offset));
	close(fd);
}

/* As a later program would, whose format this one does not know. */
static void write_later_version(const char *path)
{
	struct hi_snapshots_header header;
	int fd = open(path, O_RDONLY);

	HI_ASSERT_EQ((ssize_t)sizeof(header), pread(fd, &header, sizeof(header), 0));
	close(fd);
	header.major = HI_SNAPSHOTS_MAJOR + 1;
	header.hash = XXH3_64bits(&header, offsetof(struct hi_snapshots_header, hash));
	write_at(path, 0, &header, sizeof(header));
}

HI_TEST_SCENARIO(peaks, one_census_is_the_maximum)
{
	struct curve c;
	json_t *doc;
	struct hi_command *command;

	curve_begin(&c);
	command = hi_heapinspect("snap", "--pid", curve_pid, "--every", "1h", "--for",
				 "1ms", "-q", "-o", curve_file);
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	doc = read_peaks_document("3");
	HI_ASSERT_EQ(1, doc_size(doc, "censuses"));
	HI_ASSERT_EQ(1, count_peaks(doc));
	HI_ASSERT(strstr(hi_heapinspect("peaks", curve_file)->out, "there is no curve"));
	command = hi_heapinspect("peaks", curve_file, "--format", "html");
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
}

HI_TEST_SCENARIO(peaks, files_without_a_curve_are_refused)
{
	struct curve c;
	char other[300];

	curve_begin(&c);
	curve_snap(&c, "--full", "last");
	curve_tell(&c, "node", 10);
	curve_end(&c);
	workshop_write("empty", "");
	workshop_write("text", "no series at all\n");
	snprintf(other, sizeof(other), "%s/empty", curve_directory);
	curve_check_refused(hi_heapinspect("peaks", other), "empty");
	snprintf(other, sizeof(other), "%s/text", curve_directory);
	curve_check_refused(hi_heapinspect("peaks", other), "not a series");
	curve_check_refused(hi_heapinspect("peaks", "/nowhere/at.all"),
			    "/nowhere/at.all");
	snprintf(other, sizeof(other), "%s/one", curve_directory);
	HI_ASSERT_EQ(
		0,
		hi_heapinspect("snap", "-q", "--pid", curve_pid, "-o", other)->exit_code);
	curve_check_refused(hi_heapinspect("peaks", other), "one heap");
	write_later_version(curve_file);
	curve_check_refused(hi_heapinspect("peaks", curve_file), "version");
}

HI_TEST_SCENARIO(peaks, options_without_a_meaning_are_refused)
{
	curve_check_refused(hi_heapinspect("peaks"), "FILE is missing");
	curve_check_refused(hi_heapinspect("peaks", "x", "--peaks", "0"), "--peaks 0");
	curve_check_refused(hi_heapinspect("peaks", "x", "--peaks", "1001"), "1000");
	curve_check_refused(hi_heapinspect("peaks", "x", "--format", "svg"), "html");
	curve_check_refused(hi_heapinspect("peaks", "x", "--format", "html", "--json"),
			    "only one of them");
	curve_check_refused(hi_heapinspect("peaks", "x", "--by", "type"), "html");
	curve_check_refused(
		hi_heapinspect("peaks", "x", "--format", "html", "--by", "retainer"),
		"type, function");
	curve_check_refused(hi_heapinspect("peaks", "x@3"), "x@3");
	curve_check_refused(hi_heapinspect("peaks", "x", "y"), "one FILE only");
}

/* In the file: where the graph of a census is. */
static long middle_of_graph(long long census)
{
	struct hi_snapshots *series = NULL;
	struct hi_error err;
	long ret = 0;

	HI_ASSERT_EQ(HI_OK, hi_snapshots_open(curve_file, &series, &err));
	for (size_t i = 0; i < series->n_entries; i++) {
		const struct hi_snapshots_part *part =
			&series->entries[i].parts[HI_SNAPSHOTS_WHOLE];

		if (series->entries[i].point.number == census && part->size)
			ret = (long)(part->offset + part->size / 2);
	}
	hi_snapshots_close(series);
	HI_ASSERT(ret != 0);
	return ret;
}

/* A graph that is damaged: the totals are still there. */
HI_TEST_SCENARIO(peaks, damaged_graph_still_has_totals)
{
	struct curve c;
	long long tops[TEETH], offset;
	json_t *doc;
	char zeros[4096] = {};

	curve_begin(&c);
	curve_snap(&c, "--full", "peaks:9");
	make_saw(&c, tops);
	curve_end(&c);
	doc = read_peaks_document("9");
	check_saw(doc, tops);
	offset = middle_of_graph(doc_number(peak_at(doc, 1), "census"));
	write_at(curve_file, offset, zeros, sizeof(zeros));
	doc = read_peaks_document("9");
	check_saw(doc, tops);
	HI_ASSERT_STREQ("totals", doc_text(doc, "peaks.1.detail"));
	HI_ASSERT_STREQ("types", doc_text(peak_at(doc, 2), "detail"));
}
