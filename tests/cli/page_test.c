/* SPDX-License-Identifier: BSD-2-Clause */
/* What pages say around their tables: which process it is, what helps, what to do next.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "tests/harness.h"
#include "tests/support/python.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

static void check_says(const char *text, const char *part)
{
	HI_ASSERT_MSG(strstr(text, part), "no \"%s\" in %s", part, text);
}

/* A Python program of its own name, ready. */
static struct target *start_script(const char *in, const char *name)
{
	const char *path = snapshot_path(in, name);
	FILE *file = fopen(path, "we");
	char *argv[] = {(char *)(uintptr_t)PYTHON, (char *)(uintptr_t)path,
			(char *)(uintptr_t) "--port", (char *)(uintptr_t) "8 080", NULL};

	HI_ASSERT(file != NULL);
	fputs("import sys\nprint('ready', flush=True)\nsys.stdin.read()\n", file);
	HI_ASSERT_EQ(0, fclose(file));
	return target_of(hi_fixture_startv(PYTHON, argv));
}

static const char *cmdline_of(struct hi_command *c)
{
	return doc_text(doc_of(c), "target.cmdline");
}

static void check_says_which_of_several_pythons_it_is(const char *in,
						      const struct target *t,
						      const char *file)
{
	char expected[256], title[256];

	snprintf(expected, sizeof(expected), "%s %s/serve.py --port '8 080'", PYTHON, in);
	snprintf(title, sizeof(title), "python3.11, pid %s  python3.11 %s/serve.py",
		 t->pid, in);
	HI_ASSERT_STREQ(expected, cmdline_of(target_run(t, "--json")));
	HI_ASSERT_STREQ(expected, cmdline_of(hi_heapinspect("--json", file)));
	HI_ASSERT_STREQ(expected, cmdline_of(hi_heapinspect("leaks", "--json", file)));
	check_says(target_run(t, "--width", "200")->out, title);
}

static void check_another_script_is_another_program(const char *a, const char *redacted,
						    const char *b)
{
	struct hi_command *c = hi_heapinspect("diff", a, b);

	HI_ASSERT_EQ(2, c->exit_code);
	check_says(c->err, "another program (python3.11 serve.py, not python3.11 "
			   "worker.py)");
	HI_ASSERT(hi_heapinspect("diff", "--force", a, b)->exit_code < 2);
	/* A redacted file does not have the script. */
	HI_ASSERT(hi_heapinspect("diff", redacted, b)->exit_code < 2);
}

HI_TEST_SCENARIO(page, summary_names_the_python_of_several)
{
	char *in = snapshot_directory();
	const char *a, *redacted;
	struct target *t;

	if (access(PYTHON, X_OK) != 0)
		HI_SKIP("needs python3.11");
	t = start_script(in, "serve.py");
	a = target_snap(t);
	redacted = target_snap(t, "--redact");
	check_says_which_of_several_pythons_it_is(in, t, a);
	/* A redacted file has the program's name alone. */
	HI_ASSERT_STREQ(PYTHON, cmdline_of(hi_heapinspect("--json", redacted)));
	check_another_script_is_another_program(
		a, redacted, target_snap(start_script(in, "worker.py")));
}

/* ---- without debug information ---- */

/* What the linker wrote into the file, by another reader. */
static const char *build_id_of(const char *file, char out[65])
{
	struct hi_command *c = hi_command_run(0, "readelf", "-n", file, NULL);
	const char *at = strstr(c->out, "Build ID: ");

	HI_ASSERT_MSG(at && sscanf(at, "Build ID: %64[0-9a-f]", out) == 1, "%s", c->out);
	return out;
}

HI_TEST_SCENARIO(page, names_the_module_without_debug_information)
{
	const char *stripped = snapshot_path(snapshot_directory(), "plain"), *file;
	char build_id[65], named[160];
	struct hi_command *c;
	struct target *t;

	c = hi_command_run(0, "strip", "-o", stripped, HI_FIXTURE_DIR "/leaky_service",
			   NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	t = target_start(stripped, "700", "900", NULL);
	file = target_snap(t);
	snprintf(named, sizeof(named), "plain (build-id %s)",
		 build_id_of(stripped, build_id));
	c = target_run(t, "--width", "200");
	check_says(c->out, named);
	check_says(c->out, "DEBUGINFOD_URLS");
	check_says(c->out, "heapinspect census --by size --pid");
	check_says(hi_heapinspect(file, "--width", "200")->out, named);
	c = hi_heapinspect("census", "--by", "size", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	check_says(c->out, "pointers");
}

/* ---- words on the command line ---- */

static void check_refused(struct hi_command *c, const char *part)
{
	HI_ASSERT_EQ(2, c->exit_code);
	check_says(c->err, part);
}

HI_TEST_SCENARIO(page, a_missing_file_is_named_with_files_near_it)
{
	const char *in = snapshot_directory();
	const char *missing;

	HI_ASSERT_EQ(0, hi_command_run(0, "touch", snapshot_path(in, "app.hisnap"), NULL)
				->exit_code);
	missing = snapshot_path(in, "ap.hisnap");
	check_refused(hi_heapinspect("census", missing), "near it: app.hisnap");
	missing = snapshot_path(in, "app.hisna");
	check_refused(hi_heapinspect("census", missing), "near it: app.hisnap");
	check_refused(hi_heapinspect(missing), "no such file; near it: app.hisnap");
	check_refused(hi_heapinspect("census", "--core", missing), "near it: app.hisnap");
}

HI_TEST_SCENARIO(page, errors_suggest_near_names)
{
	check_refused(hi_heapinspect("cesnus", "--pid", "1"), "did you mean census?");
	check_refused(hi_heapinspect("--pidd", "1"), "did you mean --pid?");
	check_refused(hi_heapinspect("census", "--fail-on=x"),
		      "--fail-on: not an option of census, but of check");
	check_refused(hi_heapinspect("--by", "type", "--pid", "1"),
		      "of census, retained, waste, graph, diff, export");
	check_refused(hi_heapinspect("--\xff\n", "1"), "no such option");
	check_refused(hi_heapinspect("census", "--pid", "1", "--by", "tpye"),
		      "did you mean type?");
	check_refused(hi_heapinspect("help", "cesnus"), "did you mean census?");
	check_refused(hi_heapinspect("--pid", "1", "-p", "1"), "--pid: given twice");
	check_refused(
		hi_heapinspect("serve", "-p", "1"),
		"heapinspect snap --pid ... -o FILE.hisnap, then heapinspect serve");
	/* Nothing is near nothing. */
	HI_ASSERT(!strstr(hi_heapinspect("--qqqqqqqq")->err, "did you mean"));
	HI_ASSERT(!strstr(hi_heapinspect("")->err, "did you mean"));
}

HI_TEST_SCENARIO(page, help_can_be_copied)
{
	struct hi_command *help = hi_heapinspect("diff", "--help"),
			  *letter = hi_heapinspect("diff", "-h");

	HI_ASSERT_EQ(0, help->exit_code);
	HI_ASSERT_EQ(0, letter->exit_code);
	HI_ASSERT_STREQ(help->out, letter->out);
	check_says(help->out, "--pid PID|--core FILE|FILE.hisnap");
	check_says(help->out, "\n  heapinspect diff a.hisnap b.hisnap --by retainers "
			      "--retainer 'struct conn'\n");
	/* The value of an option is not an option. */
	HI_ASSERT_EQ(2, hi_heapinspect("-o", "-h")->exit_code);
	HI_ASSERT(hi_heapinspect("retainers", "--help", "--pid", "x")->exit_code == 0);
}

static void check_a_full_disk_is_named_and_a_closed_pipe_is_quiet(const struct target *t)
{
	static const char *const what[] = {"export -f ndjson", "export -f csv",
					   "census --json"};
	struct hi_command *c;
	char line[400];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(line, sizeof(line),
			 HI_BINARY_DIR "/heapinspect %s -q --pid %s > /dev/full", what[i],
			 t->pid);
		c = hi_command_run(0, "/bin/sh", "-c", line, NULL);
		HI_ASSERT_EQ(2, c->exit_code);
		check_says(c->err, "No space left on device");
		/* The reader is gone before the first byte. */
		snprintf(line, sizeof(line),
			 HI_BINARY_DIR "/heapinspect %s -q --pid %s | true", what[i],
			 t->pid);
		c = hi_command_run(0, "/bin/sh", "-c", line, NULL);
		HI_ASSERT_STREQ("", c->err);
	}
}

/* ---- widths ---- */

/* Columns of a line of UTF-8, as the C library counts them. */
static int columns_of(const char *line, size_t n)
{
	int columns = 0;

	for (size_t i = 0; i < n;) {
		wchar_t c;
		int used = mbtowc(&c, line + i, n - i);

		columns += used > 0 && wcwidth(c) >= 0 ? wcwidth(c) : 1;
		i += used > 0 ? (size_t)used : 1;
	}
	return columns;
}

static void check_width(const struct hi_command *c, const char *what, int width)
{
	const char *line = c->out;

	HI_ASSERT_MSG(c->exit_code < 2 && *c->out, "%s: %s", what, c->err);
	while (*line) {
		size_t n = strcspn(line, "\n");

		HI_ASSERT_MSG(columns_of(line, n) <= width,
			      "%s: %d columns, not %d: %.*s", what, columns_of(line, n),
			      width, (int)n, line);
		line += n + (line[n] == '\n');
	}
}

static void check_width_of_file(const char *file, const char *const words[5],
				const char *width)
{
	char what[80];

	snprintf(what, sizeof(what), "%s %s %s", words[0], words[1] ? words[1] : "",
		 words[1] && words[2] ? words[2] : "");
	check_width(hi_heapinspect_words(words, TARGET_WORDS(file, "--width", width)),
		    what, atoi(width));
}

static void check_no_line_is_wider_than_the_terminal(const struct target *t,
						     const char *a, const char *b)
{
	static const char *const words[][5] = {
		{"summary"},
		{"census"},
		{"census", "--by", "type2"},
		{"census", "--by", "module"},
		{"census", "--by", "class"},
		{"census", "--by", "size"},
		{"retained"},
		{"leaks"},
		{"paths", "struct session"},
		{"waste"},
		{"roots", "--root", "a=sessions"},
		{"retainers"},
		{"retainers", "--retainer", "auto"},
		{"up", "--type", "char *"},
		{"check", "--fail-on", "leak.bytes > 0"},
		{"snapshots"},
	};
	static const char *const widths[] = {"60", "80", "120"};

	HI_ASSERT(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
	setenv("LC_ALL", "C.UTF-8", 1);
	for (unsigned w = 0; w < 3; w++) {
		int width = atoi(widths[w]);

		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			check_width_of_file(a, words[i], widths[w]);
		check_width(hi_heapinspect("diff", a, b, "--width", widths[w]), "diff",
			    width);
		check_width(
			target_run(t, "census", "--untyped", "-q", "--width", widths[w]),
			"untyped", width);
		check_width(target_run(t, "safepoints", "-q", "--for", "0.1s", "--width",
				       widths[w]),
			    "safepoints", width);
	}
	unsetenv("LC_ALL");
}

/* A pattern selects what its names select. */
static void check_a_retainer_may_be_a_pattern(const char *file)
{
	json_t *pattern = doc_of(
		hi_heapinspect("census", "--json", file, "--retained-by", "*s?ssion*"));
	json_t *names = doc_of(
		hi_heapinspect("census", "--json", file, "--retained-by", "sessions"));

	HI_ASSERT(json_equal(doc_at(pattern, "rows"), doc_at(names, "rows")));
	HI_ASSERT(doc_size(names, "rows") > 0);
	HI_ASSERT_EQ(
		2,
		hi_heapinspect("census", file, "--retained-by", "*nothing*")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("census", file, "--retained-by", "")->exit_code);
}

/* The kernel keeps 79 bytes of it. */
static void check_a_core_has_the_command_line_too(const struct target *t)
{
	const char *core = snapshot_core(t->fx, snapshot_directory());
	const char *line = cmdline_of(hi_heapinspect("--json", "--core", core));
	size_t n = strlen(HI_FIXTURE_DIR);

	HI_ASSERT_MSG(strncmp(line, HI_FIXTURE_DIR, n < 40 ? n : 40) == 0, "%s", line);
}

/* A service with types, and another one to compare it with. */
HI_TEST_SCENARIO(page, page_of_a_service_fits_and_gives_advice)
{
	struct target *t = target_start("leaky_service", "700", "900", NULL);
	const char *a = target_snap(t);
	struct hi_command *c = target_run(t, "--width", "200");

	HI_ASSERT(!strstr(c->out, "DEBUGINFOD_URLS") && !strstr(c->out, "--by size"));
	check_a_core_has_the_command_line_too(t);
	check_a_full_disk_is_named_and_a_closed_pipe_is_quiet(t);
	check_a_retainer_may_be_a_pattern(a);
	check_no_line_is_wider_than_the_terminal(
		t, a, target_snap(target_start("leaky_service", "900", "700", NULL)));
}

/* ---- options ---- */

HI_TEST_SCENARIO(page, an_option_without_effect_is_refused)
{
	static const char *const commands[] = {"census", "retained", "leaks", "waste"};
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";

	for (unsigned i = 0; i < 4; i++) {
		check_refused(hi_heapinspect(commands[i], file, "--root", "a=x"),
			      "only with --under a");
		check_refused(hi_heapinspect(commands[i], file, "--retainer", "auto"),
			      "--retainer: only with --retained-by");
		check_refused(hi_heapinspect(commands[i], file, "--identity", "var"),
			      "--identity: only with --retained-by");
		check_refused(hi_heapinspect(commands[i], file, "--max-set", "3"),
			      "--max-set: only with --retained-by");
	}
	check_refused(hi_heapinspect("retainers", file, "--root", "a=x"), "--under");
	check_refused(hi_heapinspect("audit", file), "reference counts");
	check_refused(hi_heapinspect("snap", file), "snapshot file already");
}
