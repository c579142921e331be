/* SPDX-License-Identifier: BSD-2-Clause */
/* `peaks` of files that were written while a fixture allocated a triangle or a saw-tooth
 * of known bytes (fixtures/space_lives.c, by malloc_usable_size()). */
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "census/snapshot/snapshot_series.h"
#include "census/snapshot/snapshot_series_format.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

enum { LIMIT_MS = 60000 };

static const char *peaks_directory;
static char peaks_file[256], fixture_pid[16];

/* A file that grows while the fixture does what it is told. */
struct curve {
	struct hi_fixture *fx;
	struct recording_run run;
	long long bytes, objects; /* that it holds */
};

static void begin_curve(struct curve *c)
{
	c->fx = hi_fixture_start("space_lives", NULL);
	hi_fixture_read_until(c->fx, "ready", NULL, NULL);
	c->bytes = c->objects = 0;
	snprintf(fixture_pid, sizeof(fixture_pid), "%d", (int)c->fx->pid);
	peaks_directory = workshop_open();
	snprintf(peaks_file, sizeof(peaks_file), "%s/app.file", peaks_directory);
}

static void begin_recorded_curve(struct curve *c, const char *full)
{
	begin_curve(c);
	c->run = recording_start(c->fx->pid, "--every", "30ms", "--full", full, "-o",
				 peaks_file, NULL);
}

static void begin_snapped_curve(struct curve *c, const char *full)
{
	const char *const words[] = {"--every", "30ms",	    "--full", full,
				     "-o",	peaks_file, NULL};

	begin_curve(c);
	c->run = recording_start_as("snap", "census 1,", c->fx->pid, words);
}

/* The census that is being taken may be older than a command; the next one is not. */
static void await_next_census(struct curve *c)
{
	while (recording_says(&c->run, "census ", 0))
		;
	for (int i = 0; i < 2; i++)
		HI_ASSERT(recording_says(&c->run, "census ", LIMIT_MS));
}

static void tell_curve(struct curve *c, const char *verb, int n)
{
	char command[64], answer[256];
	long long number, cost, overhead;
	bool is_drop = strncmp(verb, "drop", 4) == 0;

	snprintf(command, sizeof(command), "%s %d", verb, n);
	hi_fixture_tell(c->fx, command);
	HI_ASSERT(hi_fixture_line(c->fx, answer, sizeof(answer)));
	HI_ASSERT_EQ(3, sscanf(answer, "%lld %lld %lld", &number, &cost, &overhead));
	c->bytes += is_drop ? -cost : cost;
	c->objects += is_drop ? -number : number;
	await_next_census(c);
}

static void end_curve(struct curve *c)
{
	struct hi_command *command = recording_end(&c->run, SIGINT);

	HI_ASSERT_MSG(command->exit_code == 0, "exit %d: %s", command->exit_code,
		      command->err);
}

/* ---- documents ---- */

static void free_peaks_document(void *doc)
{
	json_decref(doc);
}

static json_t *load_document(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_peaks_document, doc);
	return doc;
}

static json_t *read_peaks_document(const char *most)
{
	struct hi_command *c =
		hi_heapinspect("peaks", peaks_file, "--json", "--all", "--peaks", most);
	json_t *doc = load_document(c);

	hi_check_schema(c, "peaks.v1.json");
	return doc;
}

static long long number_in(json_t *object, const char *key)
{
	json_t *number = json_object_get(object, key);

	HI_ASSERT_MSG(json_is_integer(number), "no number %s", key);
	return json_integer_value(number);
}

static const char *text_in(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_t *peak_at(json_t *doc, size_t i)
{
	json_t *peak = json_array_get(json_object_get(doc, "peaks"), i);

	HI_ASSERT_MSG(peak != NULL, "no peak %zu", i + 1);
	return peak;
}

static size_t count_peaks(json_t *doc)
{
	return json_array_size(json_object_get(doc, "peaks"));
}

/* Of the rows of a peak: objects of a type, of an age or more. */
static long long count_aged(json_t *peak, const char *type, long long age)
{
	json_t *rows = json_object_get(peak, "rows"), *row;
	long long ret = 0;
	size_t i;

	json_array_foreach(rows, i, row) if (strcmp(text_in(row, "type"), type) == 0 &&
					     number_in(row, "age") >= age) ret +=
		number_in(row, "objects");
	return ret;
}

/* Of the totals of one census: nothing of the recording is in them. */
static long long count_at_census(long long census, const char *type)
{
	char number[24];
	json_t *rows, *row;
	size_t i;

	snprintf(number, sizeof(number), "%lld", census);
	rows = json_object_get(
		load_document(hi_heapinspect("snapshots", peaks_file, "--census", number,
					     "--json", "--all")),
		"types");
	json_array_foreach(rows, i, row) if (strcmp(text_in(row, "type"), type) ==
					     0) return number_in(row, "count");
	return 0;
}

/* ---- a triangle ---- */

enum { STEPS = 4, STEP = 60 };

static void make_triangle(struct curve *c)
{
	for (int i = 0; i < STEPS; i++)
		tell_curve(c, "node", STEP);
}

static void unmake_triangle(struct curve *c)
{
	for (int i = 0; i < STEPS; i++)
		tell_curve(c, "drop node", STEP);
}

/* What is of an age was there so many censuses before; nothing was freed by then. */
static void check_ages_of_peak(json_t *peak)
{
	long long census = number_in(peak, "census");

	for (long long age = 1; age <= census; age++)
		HI_ASSERT_MSG(count_at_census(census - age + 1, "struct node") ==
				      count_aged(peak, "struct node", age),
			      "age %lld", age);
}

HI_TEST_ROOT(peaks, a_triangle_has_one_by_function_type_and_age)
{
	struct curve c;
	long long bytes, objects;
	json_t *doc, *peak, *row;
	size_t i;

	begin_recorded_curve(&c, "peaks:2,last");
	make_triangle(&c);
	tell_curve(&c, "buf", 20);
	bytes = c.bytes;
	objects = c.objects;
	unmake_triangle(&c);
	end_curve(&c);
	doc = read_peaks_document("2");
	HI_ASSERT_EQ(1, count_peaks(doc));
	peak = peak_at(doc, 0);
	HI_ASSERT(json_is_true(json_object_get(peak, "global_maximum")));
	HI_ASSERT_STREQ("functions", text_in(peak, "detail"));
	HI_ASSERT_EQ(bytes, number_in(json_object_get(peak, "total"), "bytes"));
	HI_ASSERT_EQ(objects, number_in(json_object_get(peak, "total"), "objects"));
	HI_ASSERT_EQ(bytes, number_in(peak, "bytes"));
	HI_ASSERT_EQ(20, count_aged(peak, "struct buf", 1));
	HI_ASSERT_EQ(0, count_aged(peak, "struct buf", 2));
	check_ages_of_peak(peak);
	json_array_foreach(json_object_get(peak, "rows"), i, row)
		HI_ASSERT_STREQ("parse", text_in(row, "function"));
}

/* What was there before the recording has a type, but neither function nor age. */
HI_TEST_ROOT(peaks, what_is_older_than_the_recording_is_said)
{
	struct curve c;
	json_t *doc, *row;
	long long older = 0;
	char answer[256];
	size_t i;

	begin_curve(&c);
	hi_fixture_tell(c.fx, "entry 30");
	HI_ASSERT(hi_fixture_line(c.fx, answer, sizeof(answer)));
	c.run = recording_start(c.fx->pid, "--every", "30ms", "--full", "peaks:1", "-o",
				peaks_file, NULL);
	tell_curve(&c, "node", 100);
	end_curve(&c);
	doc = read_peaks_document("1");
	HI_ASSERT_EQ(100, count_aged(peak_at(doc, 0), "struct node", 1));
	json_array_foreach(json_object_get(peak_at(doc, 0), "rows"), i, row)
	{
		if (!json_is_null(json_object_get(row, "function")))
			continue;
		HI_ASSERT(json_is_null(json_object_get(row, "age")));
		HI_ASSERT_STREQ("struct entry", text_in(row, "type"));
		older += number_in(row, "objects");
	}
	HI_ASSERT_EQ(30, older);
}

/* ---- a saw ---- */

enum { TEETH = 4 };

static void make_saw(struct curve *c, long long *tops)
{
	for (int i = 0; i < TEETH; i++) {
		tell_curve(c, "node", 200 + 10 * i);
		tops[i] = c->bytes;
		/* No peak: less than 5 %. */
		tell_curve(c, "drop node", 3);
		tell_curve(c, "node", 2);
		tell_curve(c, "drop node", 150);
	}
}

static void check_saw(json_t *doc, const long long *tops)
{
	HI_ASSERT_EQ(TEETH, count_peaks(doc));
	for (size_t i = 0; i < TEETH; i++) {
		HI_ASSERT_EQ(tops[i], number_in(peak_at(doc, i), "bytes"));
		HI_ASSERT_EQ(i == TEETH - 1, json_is_true(json_object_get(
						     peak_at(doc, i), "global_maximum")));
	}
}

HI_TEST_SCENARIO(peaks, a_saw_has_one_for_each_tooth_with_types_or_totals)
{
	struct curve c;
	long long tops[TEETH];
	json_t *doc;

	begin_snapped_curve(&c, "peaks:1");
	make_saw(&c, tops);
	end_curve(&c);
	doc = read_peaks_document("9");
	check_saw(doc, tops);
	/* Graphs are those of the maximum and of the highest other peak. */
	for (size_t i = 0; i < TEETH; i++) {
		json_t *peak = peak_at(doc, i),
		       *row = json_array_get(json_object_get(peak, "rows"), 0);

		HI_ASSERT_STREQ(i < TEETH - 2 ? "totals" : "types",
				text_in(peak, "detail"));
		HI_ASSERT_STREQ("struct node", text_in(row, "type"));
		HI_ASSERT_EQ(tops[i], number_in(row, "bytes"));
		HI_ASSERT(!json_object_get(row, "function"));
	}
	doc = read_peaks_document("1");
	HI_ASSERT_EQ(2, count_peaks(doc));
	HI_ASSERT_EQ(tops[TEETH - 2], number_in(peak_at(doc, 0), "bytes"));
}

/* ---- pages ---- */

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

HI_TEST_SCENARIO(peaks, links_of_the_page_lead_to_its_tables)
{
	struct curve c;
	long long tops[TEETH];
	char html[300];
	struct hi_command *command;
	struct stat st;

	begin_snapped_curve(&c, "peaks:1");
	make_saw(&c, tops);
	end_curve(&c);
	snprintf(html, sizeof(html), "%s.html", peaks_file);
	command = hi_heapinspect("peaks", peaks_file, "--peaks", "9", "--format", "html",
				 "-o", html);
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	HI_ASSERT_EQ(0, stat(html, &st));
	HI_ASSERT_EQ(0600, st.st_mode & 0777);
	command = hi_command_run(0, "python3", "-c", well_formed, html, NULL);
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	HI_ASSERT_STREQ("4 0 True\n", command->out);
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

HI_TEST_SCENARIO(peaks, the_curve_fits_and_has_the_labels_in_order)
{
	static const char *const widths[] = {"80", "120"};
	struct curve c;
	long long tops[TEETH];
	char *line, *rest = NULL;

	begin_snapped_curve(&c, "peaks:1");
	make_saw(&c, tops);
	end_curve(&c);
	for (size_t i = 0; i < 2; i++) {
		struct hi_command *command =
			hi_heapinspect("peaks", peaks_file, "--peaks", "9", "--top", "1",
				       "--width", widths[i]);
		long before = 0;

		HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
		for (char label = '1'; label < '1' + TEETH; label++) {
			long column = column_of_label(command->out, label);

			HI_ASSERT_MSG(column > before, "%c in %s", label, command->out);
			before = column;
		}
		for (line = strtok_r(command->out, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			HI_ASSERT_MSG(strlen(line) <= (size_t)atoi(widths[i]), "%s",
				      line);
	}
}

/* ---- bad input ---- */

static void check_peaks_refused(const struct hi_command *c, const char *text)
{
	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->out);
	HI_ASSERT_MSG(strstr(c->err, text), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}

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

	begin_curve(&c);
	command = hi_heapinspect("snap", "--pid", fixture_pid, "--every", "1h", "--for",
				 "1ms", "-q", "-o", peaks_file);
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
	doc = read_peaks_document("3");
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "censuses")));
	HI_ASSERT_EQ(1, count_peaks(doc));
	HI_ASSERT(strstr(hi_heapinspect("peaks", peaks_file)->out, "there is no curve"));
	command = hi_heapinspect("peaks", peaks_file, "--format", "html");
	HI_ASSERT_MSG(command->exit_code == 0, "%s", command->err);
}

HI_TEST_SCENARIO(peaks, files_without_a_curve_are_refused)
{
	struct curve c;
	char other[300];

	begin_snapped_curve(&c, "last");
	tell_curve(&c, "node", 10);
	end_curve(&c);
	workshop_write("empty", "");
	workshop_write("text", "no series at all\n");
	snprintf(other, sizeof(other), "%s/empty", peaks_directory);
	check_peaks_refused(hi_heapinspect("peaks", other), "empty");
	snprintf(other, sizeof(other), "%s/text", peaks_directory);
	check_peaks_refused(hi_heapinspect("peaks", other), "not a series");
	check_peaks_refused(hi_heapinspect("peaks", "/nowhere/at.all"),
			    "/nowhere/at.all");
	snprintf(other, sizeof(other), "%s/one", peaks_directory);
	HI_ASSERT_EQ(0, hi_heapinspect("snap", "-q", "--pid", fixture_pid, "-o", other)
				->exit_code);
	check_peaks_refused(hi_heapinspect("peaks", other), "one heap");
	write_later_version(peaks_file);
	check_peaks_refused(hi_heapinspect("peaks", peaks_file), "version");
}

HI_TEST_SCENARIO(peaks, options_without_a_meaning_are_refused)
{
	check_peaks_refused(hi_heapinspect("peaks"), "FILE is missing");
	check_peaks_refused(hi_heapinspect("peaks", "x", "--peaks", "0"), "--peaks 0");
	check_peaks_refused(hi_heapinspect("peaks", "x", "--peaks", "1001"), "1000");
	check_peaks_refused(hi_heapinspect("peaks", "x", "--format", "svg"), "html");
	check_peaks_refused(hi_heapinspect("peaks", "x", "--format", "html", "--json"),
			    "only one of them");
	check_peaks_refused(hi_heapinspect("peaks", "x@3"), "x@3");
	check_peaks_refused(hi_heapinspect("peaks", "x", "y"), "one FILE only");
}

/* In the file: where the graph of a census is. */
static long middle_of_graph(long long census)
{
	struct hi_snapshots *series = NULL;
	struct hi_error err;
	long ret = 0;

	HI_ASSERT_EQ(HI_OK, hi_snapshots_open(peaks_file, &series, &err));
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
HI_TEST_SCENARIO(peaks, of_a_damaged_graph_there_are_totals)
{
	struct curve c;
	long long tops[TEETH], offset;
	json_t *doc;
	char zeros[4096] = {};

	begin_snapped_curve(&c, "peaks:9");
	make_saw(&c, tops);
	end_curve(&c);
	doc = read_peaks_document("9");
	check_saw(doc, tops);
	offset = middle_of_graph(number_in(peak_at(doc, 1), "census"));
	write_at(peaks_file, offset, zeros, sizeof(zeros));
	doc = read_peaks_document("9");
	check_saw(doc, tops);
	HI_ASSERT_STREQ("totals", text_in(peak_at(doc, 1), "detail"));
	HI_ASSERT_STREQ("types", text_in(peak_at(doc, 2), "detail"));
}
