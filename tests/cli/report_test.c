/* SPDX-License-Identifier: BSD-2-Clause */
/* `report`: one HTML file that needs nothing else. An XML parser of others reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/hostile_snapshot.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

#define ORACLE HI_SOURCE_DIR "/tests/support/report_oracle.py"

/* What the oracle says of a report: "pages=9 links=12 about=...". */
static const char *check_report_file(const char *html)
{
	struct hi_command *c = hi_command_run(0, "python3", ORACLE, html, NULL);

	HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
	return c->out;
}

static long number_in(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	HI_ASSERT_MSG(at, "%s: no %s", text, key);
	return strtol(at + strlen(key), NULL, 10);
}

static long size_of_report(const char *path)
{
	struct stat st;

	HI_ASSERT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	return (long)st.st_size;
}

static const char *make_report(const char *in, const char *file, const char *option,
			       const char *value)
{
	const char *html = snapshot_path(in, "app.html");
	struct hi_command *c = hi_heapinspect("report", file, "-o", html, option, value);

	HI_ASSERT_MSG(c->exit_code == 0 && !*c->out, "exit %d: %s", c->exit_code, c->err);
	return html;
}

static void check_it_is_one_file_whose_links_lead_to_its_pages(const char *in,
							       const char *file)
{
	const char *said = check_report_file(make_report(in, file, NULL, NULL));

	/* Summary, types, dominators, leaks, retainers, waste, about the file, and what
	 * they lead to: a leak. */
	HI_ASSERT_MSG(number_in(said, "pages=") >= 8, "%s", said);
	HI_ASSERT_MSG(number_in(said, "links=") >= 8, "%s", said);
	HI_ASSERT_MSG(strstr(said, "All pages that are linked are in the file"), "%s",
		      said);
}

static void check_it_is_the_same_on_standard_output(const char *in, const char *file)
{
	const char *html = make_report(in, file, NULL, NULL);
	struct hi_command *c = hi_heapinspect("report", file, "-o", "-");
	FILE *f = fopen(html, "r");
	char *text = malloc(c->out_size + 1);

	HI_ASSERT(text && f);
	hi_test_defer(free, text);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_EQ((long)c->out_size, size_of_report(html));
	HI_ASSERT_EQ(1, fread(text, c->out_size, 1, f));
	fclose(f);
	HI_ASSERT(memcmp(text, c->out, c->out_size) == 0);
}

/* Whatever the names are, it is XML, has no script of theirs and no address elsewhere. */
HI_TEST_SCENARIO(report, hostile_names_do_no_harm)
{
	const char *in = snapshot_directory();
	const char *files[] = {hostile_snapshot(in, "hostile.hirec", 60),
			       hostile_series(in, "series.hirec", 2)};

	for (size_t i = 0; i < 2; i++) {
		const char *said = check_report_file(
			make_report(in, files[i], "--max-file", "1MiB"));

		HI_ASSERT_MSG(number_in(said, "pages=") >= 10, "%s", said);
	}
}

/* It is as small as it must be, and says what is missing. */
HI_TEST_SCENARIO(report, stays_below_its_limit)
{
	const char *in = snapshot_directory();
	const char *file = hostile_snapshot(in, "hostile.hirec", 60);
	static const long limits[] = {192 << 10, 128 << 10};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		char text[32];
		const char *html, *said;

		snprintf(text, sizeof(text), "%ld", limits[i]);
		html = make_report(in, file, "--max-file", text);
		said = check_report_file(html);
		HI_ASSERT_MSG(size_of_report(html) <= limits[i], "%ld bytes",
			      size_of_report(html));
		HI_ASSERT_MSG(strstr(said, "left out") && strstr(said, "--max-file"),
			      "%s", said);
	}
}

static void check_two_files_have_their_differences(const char *in, const char *core,
						   const char *before)
{
	const char *after = snapshot_of_core(core, in, "b.hisnap", NULL);
	const char *html = snapshot_path(in, "two.html");
	struct hi_command *c = hi_heapinspect("report", before, after, "-o", html);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT(strstr(check_report_file(html), "Differences"));
}

HI_TEST_SCENARIO(report, report_of_a_small_heap_is_one_file)
{
	const char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("leak_shapes", "acyclic", "3"), in);
	const char *file = snapshot_of_core(core, in, "app.hisnap", NULL);

	check_it_is_one_file_whose_links_lead_to_its_pages(in, file);
	check_it_is_the_same_on_standard_output(in, file);
	check_two_files_have_their_differences(in, core, file);
}

HI_TEST_SCENARIO(report, wrong_use_is_an_error)
{
	static const struct {
		const char *words[4];
		const char *said;
	} wrong[] = {
		{{"/nowhere/app.hisnap", NULL}, "-o FILE.html is missing"},
		{{"-o", "/tmp/x.html", NULL}, "FILE is missing"},
		{{"/etc/passwd", "-o", "/tmp/x.html", NULL}, "not a snapshot file"},
		{{"/nowhere/no", "-o", "/tmp/x.html", NULL}, "no such file"},
		{{"a.hisnap", "a.hisnap", "-o-", NULL}, "twice"},
		{{"a.hisnap", "b.hisnap", "c.hisnap", "-o-"}, "two files already"},
		{{"a.hisnap", "-o-", "--pid=1", NULL}, "not an option of report"},
		{{"a.hisnap", "-o-", "--json", NULL}, "not an option of report"},
		{{"/nowhere/app.hisnap", "-o-", NULL}, "nowhere"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *const *w = wrong[i].words;
		char *argv[8] = {(char *)(uintptr_t)HI_BINARY_DIR "/heapinspect",
				 (char *)(uintptr_t) "report"};
		struct hi_command *c;

		for (size_t k = 0; k < 4 && w[k]; k++)
			argv[2 + k] = (char *)(uintptr_t)w[k];
		c = hi_command_runv(0, argv);
		HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, wrong[i].said),
			      "%zu: exit %d: %s", i, c->exit_code, c->err);
	}
	HI_ASSERT(access("/tmp/x.html", F_OK) != 0);
}
