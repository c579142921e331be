/* SPDX-License-Identifier: BSD-2-Clause */
/* The pages of serve and report in a headless Chromium; tests/browser/pages.mjs opens
 * them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/hostile_snapshot.h"
#include "tests/support/readers.h"
#include "tests/support/recording_run.h"
#include "tests/support/snapshots.h"

enum { WORDS = 24 };

/* Runs pages.mjs WHAT WORDS; fails the test with each problem that it found. */
static json_t *ask_chromium(const char *what, const char *const *words)
{
	const char *argv[WORDS + 5] = {"node", HI_SOURCE_DIR "/tests/browser/pages.mjs",
				       readers_directory(), what};
	json_t *found, *problem;
	size_t n = 4, i;

	readers_need("chromium");
	for (; *words && n < WORDS + 4; words++)
		argv[n++] = *words;
	HI_ASSERT(!*words);
	found = readers_ask_json(argv);
	json_array_foreach(json_object_get(found, "problems"), i, problem)
		hi_test_note("%s", json_string_value(problem));
	HI_ASSERT_MSG(
		i == 0, "%zu problems, the first one: %s", i,
		json_string_value(json_array_get(json_object_get(found, "problems"), 0)));
	return found;
}

static long long number_of(const json_t *found, const char *name)
{
	return json_integer_value(json_object_get(found, name));
}

HI_TEST_INTEROP(browser_driver, names_each_fault_of_a_page)
{
	HI_ASSERT(number_of(ask_chromium("faults", (const char *const[]){NULL}),
			    "faults") > 20);
}

/* ---- files ---- */

/* Sessions, a cache, three kinds of leak. */
static const char *make_leaks(const char *in)
{
	return readers_snapshot(in, snapshot_fixture("leaky_service", "300", "400")->pid);
}

static const char *make_hostile(const char *in)
{
	return hostile_snapshot(in, "hostile.hirec", 3000);
}

/* Python with such names, where classes, attributes and keys have them. */
static const char *make_hostile_python(const char *in)
{
	struct hi_fixture *fx =
		hi_fixture_start("/usr/bin/python3.11", "-X", "utf8",
				 HI_SOURCE_DIR "/fixtures/python/hostile.py", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	return readers_snapshot(in, fx->pid);
}

static const char *make_hostile_series(const char *in)
{
	return hostile_series(in, "hostile.hisnap", 3);
}

/* A program that allocates before and in the recording, in several threads. */
static const char *make_recording(const char *in)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	const char *file = snapshot_path(in, "sites.hirec");
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "record: %s", c->err);
	return file;
}

static void set_size(struct hi_fixture *fx, const char *what, int n)
{
	char line[200];

	snprintf(line, sizeof(line), "%s %d", what, n);
	hi_fixture_tell(fx, line);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
}

/* A heap that grows and shrinks from census to census. */
static const char *make_series_by(const char *in, const char *name,
				  const char *const *command)
{
	struct hi_fixture *fx = hi_fixture_start("growing_service", NULL);
	const char *file = snapshot_path(in, name);
	struct recording_run run;
	struct hi_command *c;
	const char *words[8] = {"--every", "250ms", "-o", file};
	char line[200];

	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	for (size_t i = 0; command[2 + i]; i++)
		words[4 + i] = command[2 + i];
	run = recording_start_as(command[0], command[1], fx->pid, words);
	for (int i = 1; i <= 8; i++) {
		set_size(fx, "nodes", i * 700 % 3000);
		set_size(fx, "blobs", i * i * 7);
		set_size(fx, "busy", 200);
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "%s: exit %d: %s", command[0], c->exit_code,
		      c->err);
	return file;
}

/* The files are good ones: other commands read them, and so must the pages. */
HI_TEST_SCENARIO(browser_corpus, hostile_files_are_read_by_commands)
{
	char *in = snapshot_directory();
	const char *file = make_hostile(in), *series = make_hostile_series(in);
	const char *const of_series[] = {"spacetime", "peaks", "snapshots"};
	const char *const of_file[] = {"summary", "census",    "retained",
				       "leaks",	  "retainers", "deep"};

	for (size_t i = 0; i < 9; i++) {
		const char *command = i < 3 ? of_series[i] : of_file[i - 3];
		struct hi_command *c = hi_heapinspect(command, i < 3 ? series : file);

		HI_ASSERT_MSG(c->exit_code == 0, "%s: exit %d: %.500s", command,
			      c->exit_code, c->err);
	}
}

/* ---- pages ---- */

struct crawl {
	const char *limit;    /* pages */
	const char *often;    /* of each kind; NULL: as the limit allows */
	const char *pictures; /* a subfolder of HI_PICTURES; NULL: none */
	const char *absent;   /* pages that the file has not; NULL: it has all */
	long long kinds;      /* at least so many kinds of page */
};

static void crawl_served(const char *const *files, struct crawl how)
{
	char limit[32], often[32], absent[64], pictures[300] = "axe=yes";
	const char *words[WORDS] = {limit,  often, pictures,
				    absent, "--",  HI_BINARY_DIR "/heapinspect",
				    "serve"};
	const char *folder = getenv("HI_PICTURES");
	json_t *found;

	snprintf(limit, sizeof(limit), "limit=%s", how.limit);
	snprintf(absent, sizeof(absent), "absent=%s", how.absent ? how.absent : "");
	snprintf(often, sizeof(often), "often=%s", how.often ? how.often : "0");
	if (folder && how.pictures)
		snprintf(pictures, sizeof(pictures), "pictures=%.200s/%s", folder,
			 how.pictures);
	for (size_t i = 0; files[i]; i++)
		words[7 + i] = files[i];
	found = ask_chromium("crawl", words);
	hi_test_note(
		"%lld pages of %zu kinds, %lld left out; waits: median %lld ms, worst "
		"%lld ms",
		number_of(found, "pages"),
		json_object_size(json_object_get(found, "kinds")),
		number_of(found, "left"), number_of(found, "medianWait"),
		number_of(found, "worstWait"));
	HI_ASSERT((long long)json_object_size(json_object_get(found, "kinds")) >=
		  how.kinds);
}

static void crawl_file(const char *file, struct crawl how)
{
	crawl_served((const char *const[]){file, NULL}, how);
}

static const char *make_series(const char *in)
{
	return make_series_by(
		in, "series.hisnap",
		(const char *const[]){"snap", "census 1,", "--full", "all", NULL});
}

/* ---- in CI: the pages of the navigation of five files, and some behind them ---- */

HI_TEST_INTEROP(browser_serve, pages_of_a_heap_with_leaks)
{
	crawl_file(make_leaks(snapshot_directory()),
		   (struct crawl){.limit = "14", .pictures = "leaks", .kinds = 8});
}

HI_TEST_INTEROP(browser_serve, pages_with_names_that_are_meant_to_do_harm)
{
	crawl_file(make_hostile(snapshot_directory()),
		   (struct crawl){.limit = "20",
				  .pictures = "hostile",
				  .absent = "waste",
				  .kinds = 8});
}

HI_TEST_INTEROP(browser_serve, pages_of_a_series)
{
	crawl_file(make_series(snapshot_directory()),
		   (struct crawl){.limit = "14", .pictures = "series", .kinds = 8});
}

HI_TEST_INTEROP(browser_serve, pages_of_python_with_such_names)
{
	crawl_file(make_hostile_python(snapshot_directory()),
		   (struct crawl){.limit = "10", .pictures = "python", .kinds = 8});
}

HI_TEST_ROOT(browser_serve, pages_of_a_recording)
{
	crawl_file(make_recording(snapshot_directory()),
		   (struct crawl){.limit = "16", .pictures = "recording", .kinds = 8});
}

/* ---- slow: all pages, up to 400 a file ---- */

HI_TEST_SLOW(browser_serve, all_pages_of_a_heap_with_leaks)
{
	crawl_file(make_leaks(snapshot_directory()),
		   (struct crawl){.limit = "400", .often = "3", .kinds = 8});
}

HI_TEST_SLOW(browser_serve, all_pages_with_names_that_are_meant_to_do_harm)
{
	char *in = snapshot_directory();

	crawl_file(make_hostile(in),
		   (struct crawl){
			   .limit = "400", .often = "3", .absent = "waste", .kinds = 8});
	crawl_file(make_hostile_series(in), (struct crawl){.limit = "400",
							   .often = "3",
							   .pictures = "hostile-series",
							   .absent = "waste,waste?census",
							   .kinds = 8});
	crawl_file(make_hostile_python(in),
		   (struct crawl){.limit = "400", .often = "3", .kinds = 8});
}

HI_TEST_SLOW(browser_serve, all_pages_of_a_series)
{
	crawl_file(make_series(snapshot_directory()),
		   (struct crawl){.limit = "400", .often = "3", .kinds = 8});
}

HI_TEST_SLOW(browser_serve, all_pages_of_python)
{
	char *in = snapshot_directory();

	crawl_file(readers_python(in), (struct crawl){.limit = "400",
						      .often = "3",
						      .pictures = "python-truth",
						      .kinds = 8});
}

HI_TEST_SLOW(browser_serve, all_pages_of_recordings)
{
	char *in;

	if (geteuid() != 0)
		HI_SKIP("not root");
	in = snapshot_directory();
	crawl_file(make_recording(in),
		   (struct crawl){.limit = "400", .often = "3", .kinds = 8});
	crawl_file(make_series_by(
			   in, "bio.hisnap",
			   (const char *const[]){"bio", "the first period begins", NULL}),
		   (struct crawl){
			   .limit = "400", .often = "3", .pictures = "bio", .kinds = 8});
	crawl_file(
		make_series_by(
			in, "alloc.hirec",
			(const char *const[]){"alloc", "the first period begins", NULL}),
		(struct crawl){
			.limit = "400", .often = "3", .pictures = "alloc", .kinds = 8});
}

/* ---- the keyboard ---- */

HI_TEST_INTEROP(browser_serve, does_what_its_list_of_keys_says)
{
	char *in = snapshot_directory();
	const char *const words[] = {"--", HI_BINARY_DIR "/heapinspect", "serve",
				     make_leaks(in), NULL};

	HI_ASSERT(number_of(ask_chromium("keys", words), "done") > 50);
}

/* ---- other people's pages against the server ---- */

HI_TEST_INTEROP(browser_serve, refuses_pages_of_others)
{
	char *in = snapshot_directory();
	const char *const words[] = {
		"marker=struct session",
		"pages=census,retained,quit,restart,style.css,app.js",
		"--",
		HI_BINARY_DIR "/heapinspect",
		"serve",
		make_leaks(in),
		NULL};

	HI_ASSERT(number_of(ask_chromium("attack", words), "refused") > 30);
}

/* ---- one file ---- */

/* Without axe-core, which does not end with so many elements; the pages are those that
 * serve shows. */
static void crawl_report(const char *in, const char *file, const char *limit,
			 const char *name)
{
	const char *html = snapshot_path(in, "app.html"), *folder = getenv("HI_PICTURES");
	char pages[32], pictures[300] = "narrow=yes";
	struct hi_command *c = hi_heapinspect("report", file, "-o", html);
	const char *const words[] = {pages, "axe=no", pictures, "--", html, NULL};

	HI_ASSERT_MSG(c->exit_code == 0, "report: %s", c->err);
	snprintf(pages, sizeof(pages), "limit=%s", limit);
	if (folder)
		snprintf(pictures, sizeof(pictures), "pictures=%.200s/report-%s", folder,
			 name);
	HI_ASSERT(number_of(ask_chromium("file", words), "pages") > 5);
}

HI_TEST_INTEROP(browser_report, shows_a_heap_with_leaks_without_a_server)
{
	char *in = snapshot_directory();

	crawl_report(in, make_leaks(in), "8", "leaks");
}

HI_TEST_INTEROP(browser_report, takes_names_that_are_meant_to_do_harm)
{
	char *in = snapshot_directory();

	crawl_report(in, make_hostile(in), "8", "hostile");
}

/* ---- a picture ---- */

HI_TEST_INTEROP(browser_picture, a_flame_graph_of_stacks_turns_round)
{
	char *in = snapshot_directory();
	const char *svg = snapshot_path(in, "stacks.svg");
	struct hi_command *c =
		hi_heapinspect("graph", hostile_snapshot(in, "hostile.hirec", 40), "--by",
			       "context", "-o", svg);
	json_t *found;

	HI_ASSERT_MSG(c->exit_code == 0, "graph: %s", c->err);
	found = ask_chromium("turn", (const char *const[]){"--", svg, NULL});
	HI_ASSERT(number_of(found, "frames") > 5);
	HI_ASSERT(number_of(found, "top") > 2);
}
