/* SPDX-License-Identifier: BSD-2-Clause */
/* What export writes is read by readers that know nothing of us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

static const char *export_as(const char *file, const char *format, const char *table,
			     const char *in, const char *name)
{
	const char *path = snapshot_path(in, name);
	struct hi_command *c =
		table ? hi_heapinspect("export", file, "-q", "-f", format, "-o", path,
				       "--table", table)
		      : hi_heapinspect("export", file, "-q", "-f", format, "-o", path);

	HI_ASSERT_MSG(c->exit_code == 0, "%s: exit %d: %s", format, c->exit_code, c->err);
	return path;
}

static void check_are_what_their_readers_understand(char *in, const char *file)
{
	static const char *const formats[] = {"heapsnapshot", "csv",	    "ndjson",
					      "folded",	      "speedscope", "dot",
					      "prometheus",   "sqlite"};
	struct hi_command *c;
	char name[64];

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(name, sizeof(name), "x.%s", formats[i]);
		export_as(file, formats[i], NULL, in, name);
	}
	HI_ASSERT_EQ(0,
		     hi_heapinspect("query", file, "-o", snapshot_path(in, "tables.txt"))
			     ->exit_code);
	export_as(file, "csv", "edges", in, "edges.csv");
	export_as(file, "csv", "roots", in, "roots.csv");
	c = hi_heapinspect("--json", file, "-o", snapshot_path(in, "live.json"));
	HI_ASSERT_EQ(0, c->exit_code);
	c = hi_command_run(0, "/usr/bin/python3",
			   HI_SOURCE_DIR "/tests/support/export_oracle.py", in, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
	hi_test_note("%s", c->out);
}

/* ms_print adds it all up again, and refuses a tree that does not. */
static void check_massif_is_what_ms_print_reads(const char *in, const char *file)
{
	const char *path = export_as(file, "massif", NULL, in, "x.massif");
	long long live = doc_number(doc_of(hi_heapinspect("--json", file)), "bytes.live");
	struct hi_command *c = hi_command_run(0, "ms_print", path, NULL);
	char total[64];
	const char *at;

	HI_ASSERT_MSG(c->exit_code == 0 && !*c->err, "%s", c->err);
	at = strstr(c->out, "100.00% (");
	HI_ASSERT_MSG(at, "%.2000s", c->out);
	snprintf(total, sizeof(total), "%.40s", at + 9);
	/* "1,381,632B)" */
	for (char *from = total, *to = total;; from++)
		if (*from != ',' && !(*to++ = *from))
			break;
	HI_ASSERT_EQ(live, atoll(total));
}

/* Words that must be on stderr, and are not with -q. */
static void check_warning(const char *file, const char *format, const char *words)
{
	struct hi_command *c =
		hi_heapinspect("export", file, "-f", format, "-o", "/dev/null");
	struct hi_command *quiet =
		hi_heapinspect("export", file, "-q", "-f", format, "-o", "/dev/null");

	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->err, words), "-f %s: %s", format,
		      c->err);
	HI_ASSERT_MSG(quiet->exit_code == 0 && !*quiet->err, "-f %s: %s", format,
		      quiet->err);
}

static void check_say_what_they_leave_out(const char *file)
{
	/* Written before files told which modules there were. */
	const char *old = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	static const char *const no_leaks[] = {"folded", "speedscope", "massif", "hp"};

	for (int i = 0; i < 4; i++)
		check_warning(file, no_leaks[i], "without unreachable objects: ");
	check_warning(file, "hp", "at most 60 bytes");
	check_warning(file, "dot", "the largest 60 of ");
	check_warning(old, "pprof", "without mappings and build ids");
	HI_ASSERT_STREQ(
		"",
		hi_heapinspect("export", file, "-f", "pprof", "-o", "/dev/null")->err);
}

HI_TEST_SCENARIO(export_formats, formats_are_accepted_by_their_readers)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", NULL);

	check_are_what_their_readers_understand(in, file);
	check_massif_is_what_ms_print_reads(in, file);
	check_say_what_they_leave_out(file);
}

HI_TEST_SCENARIO(export_formats, wrong_arguments_are_refused)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	static const struct {
		const char *format, *table, *word;
	} wrong[] = {{"hprof", "objects", "not one of"},
		     {"csv", "frames", "--table frames"},
		     {"dot", "edges", "only with"}};

	for (int i = 0; i < 3; i++) {
		struct hi_command *c = hi_heapinspect(
			"export", file, "-f", wrong[i].format, "--table", wrong[i].table);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, wrong[i].word), "%s", c->err);
	}
	HI_ASSERT_EQ(2, hi_heapinspect("export", file)->exit_code);
}

HI_TEST_SCENARIO(export_formats, binary_formats_are_not_written_to_terminals)
{
	static const char *const formats[] = {"pprof", "parquet", "sqlite"};
	char shell[300];

	for (int i = 0; i < 3; i++) {
		struct hi_command *c;

		snprintf(shell, sizeof(shell),
			 HI_BINARY_DIR "/heapinspect export " HI_SOURCE_DIR
				       "/tests/data/v1.hisnap -f %s",
			 formats[i]);
		c = hi_command_run(0, "script", "-qec", shell, "/dev/null", NULL);
		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->out, "use -o FILE") && c->out_size < 200, "%s",
			      c->out);
	}
}

/* A database is there whole or not at all, and hostile names are valid text in it. */
HI_TEST_SCENARIO(export_formats, a_database_is_complete_or_absent)
{
	char *in = snapshot_directory(), shell[600];
	const char *core =
		snapshot_core(snapshot_fixture("hostile_names", NULL, NULL), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", NULL);
	const char *path = export_as(file, "sqlite", NULL, in, "a.db");
	struct hi_command *c;

	snprintf(shell, sizeof(shell),
		 "cd %s && test $(stat -c %%a a.db) = 600 && python3 -c 'import sqlite3\n"
		 "db = sqlite3.connect(\"a.db\")\n"
		 "for t, in db.execute(\"SELECT name FROM sqlite_master WHERE type = "
		 "\\\"table\\\"\").fetchall():\n"
		 " for row in db.execute(\"SELECT * FROM \" + t):\n"
		 "  assert all(ord(c) > 31 for v in row if isinstance(v, str) for c in "
		 "v)'",
		 in);
	c = hi_command_run(0, "sh", "-c", shell, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s%s (%s)", c->out, c->err, path);
	c = hi_heapinspect("export", file, "-f", "sqlite", "-o", "/dev/full");
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "/dev/full"), "%s", c->err);
	c = hi_heapinspect("export", file, "-f", "sqlite", "-o", "/nonexistent/x.db");
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_SCENARIO(export_formats, labels_of_prometheus_are_checked_and_stay)
{
	static const char *const wrong[] = {"",	     "x",     "=y",	"1a=b",
					    "a-b=c", "__a=b", "type=x", "exe=x"};
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	const char *in = snapshot_directory();
	char shell[800];
	struct hi_command *c;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		c = hi_heapinspect("export", file, "-f", "prometheus", "--label",
				   wrong[i]);
		HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "--label"), "%s: %s",
			      wrong[i], c->err);
	}
	HI_ASSERT_EQ(
		2,
		hi_heapinspect("export", file, "-f", "csv", "--label", "a=b")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("export", file, "-f", "prometheus", "--label",
				       "a=b", "--label", "a=c")
				->exit_code);
	c = hi_heapinspect("export", file, "-q", "-f", "prometheus", "--label",
			   "env=a\"b\\c\n", "--label", "zone=");
	HI_ASSERT_MSG(strstr(c->out, "heapinspect_live_bytes{exe=\"leak_shapes\","
				     "pid=\"28973\",env=\"a\\\"b\\\\c\\\\n\","
				     "zone=\"\"} "),
		      "%.500s", c->out);
	HI_ASSERT(!strstr(c->out, ",id=\""));
	/* Others read a new one, which a textfile collector takes; one that is replaced
	 * keeps its mode. Other formats are private. */
	snprintf(shell, sizeof(shell),
		 "cd %s && %s/heapinspect export %s -q -f prometheus -o x.prom && "
		 "test $(stat -c %%a x.prom) = 644 && chmod 640 x.prom && "
		 "%s/heapinspect export %s -q -f prometheus -o x.prom && "
		 "test $(stat -c %%a x.prom) = 640 && chmod 644 x.prom && "
		 "%s/heapinspect export %s -q -f csv -o x.prom && "
		 "test $(stat -c %%a x.prom) = 600",
		 in, HI_BINARY_DIR, file, HI_BINARY_DIR, file, HI_BINARY_DIR, file);
	c = hi_command_run(0, "sh", "-c", shell, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
}
