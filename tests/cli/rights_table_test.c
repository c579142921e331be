/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which process decodes, for each command, and with which rights: the one that writes the
 * report, or its first words, is held there by a full pipe, and /proc/PID/status tells.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/held_run.h"
#include "tests/support/snapshots.h"
#include "tests/support/waiting.h"

enum { WORDS = 10 };

/* Stand for what the test makes. */
static const char PID[] = "PID", FILE_A[] = "FILE_A", FILE_B[] = "FILE_B", NEW[] = "NEW",
		  CORE[] = "CORE", EXE[] = "EXE";

struct row {
	bool by_error;	   /* its report is a file: held by -v, before it decodes */
	bool keeps_rights; /* it decodes with all rights */
	const char *words[WORDS];
};

/* To add one: a command that decodes, or a way to name what it reads. Not here: serve and
 * report, which put together what processes of serve_test.c make. */
static const struct row rows[] = {
	{false, false, {"summary", "--pid", PID}},
	{false, false, {"census", "--pid", PID}},
	{false, false, {"census", "--by", "module", "--pid", PID}},
	{false, false, {"retained", "--pid", PID}},
	{false, false, {"retainers", "--pid", PID}},
	{false, false, {"paths", "struct item", "--pid", PID}},
	{false, false, {"leaks", "--pid", PID}},
	{false, false, {"waste", "--pid", PID}},
	{false, false, {"tree", "--pid", PID}},
	{false, false, {"graph", "--pid", PID}},
	{false, false, {"query", "--pid", PID, "select * from types"}},
	{false, false, {"export", "-f", "ndjson", "--pid", PID}},
	{true, false, {"snap", "--pid", PID, "-o", NEW}},
	{true, false, {"safepoints", "--pid", PID}},
	{true, false, {"--", EXE, "acyclic", "1"}},
	{false, false, {"record", "--pid", PID, "--for", "100ms", "-o", NEW}},
	{false, false, {"summary", "--core", CORE, "--exe", EXE}},
	{false, false, {"summary", FILE_A}},
	{false, false, {"census", FILE_A}},
	{false, false, {"leaks", FILE_A}},
	{false, false, {"query", FILE_A, "select * from types"}},
	{false, false, {"export", "-f", "ndjson", FILE_A}},
	{false, false, {"diff", FILE_A, FILE_B}},
	{false, false, {"check", FILE_A, "--fail-on", "live.bytes > 0"}},
	{false, false, {"census", "--pid", PID, "--every", "100ms", "--for", "1s"}},
	{false, false, {"bio", "--pid", PID, "--every", "300ms", "--for", "1s"}},
	{false, false, {"alloc", "--pid", PID, "--every", "300ms", "--for", "1s"}},
	{false, true, {"summary", "--no-sandbox", "--pid", PID}},
};

/* Series that write files only: the process that is called hi-decoder, as long as it
 * lives. */
static const char *const series[][WORDS] = {
	{"snap", "--pid", PID, "--every", "50ms", "--for", "20s", "-o", NEW},
	{"record", "--pid", PID, "--every", "50ms", "--for", "20s", "-o", NEW},
	{"bio", "--pid", PID, "--every", "50ms", "--for", "20s", "-o", NEW},
	{"alloc", "--pid", PID, "--every", "50ms", "--for", "20s", "-o", NEW},
	{"census", "--pid", PID, "--every", "50ms", "--for", "20s", "-o", NEW},
};

struct made {
	const struct hi_fixture *fx;
	char pid[16];
	const char *core, *file_a, *file_b, *new_file;
};

static struct made make_all(void)
{
	const char *dir = snapshot_directory();
	struct made made = {.fx = snapshot_fixture("leak_shapes", "acyclic", "1")};

	snprintf(made.pid, sizeof(made.pid), "%d", (int)made.fx->pid);
	made.core = snapshot_core(made.fx, dir);
	made.file_a = snapshot_of_core(made.core, dir, "a.hisnap", NULL);
	made.file_b = snapshot_of_core(made.core, dir, "b.hisnap", NULL);
	made.new_file = snapshot_path(dir, "new");
	return made;
}

static const char *word_of(const struct made *made, const char *word)
{
	return word == PID	? made->pid
	       : word == FILE_A ? made->file_a
	       : word == FILE_B ? made->file_b
	       : word == NEW	? made->new_file
	       : word == CORE	? made->core
	       : word == EXE	? HI_FIXTURE_DIR "/leak_shapes"
				: word;
}

static struct hi_held_run *start_row(const struct made *made, const struct row *row)
{
	const char *arguments[WORDS + 3] = {"-q", "-v"};
	size_t n = row->by_error ? 2 : 1;

	for (size_t i = 0; i < WORDS && row->words[i]; i++)
		arguments[n++] = word_of(made, row->words[i]);
	arguments[n] = NULL;
	return hi_held_run_start(!row->by_error, row->by_error, arguments);
}

static void name_row(const struct row *row, char out[128])
{
	size_t n = 0;

	for (size_t i = 0; i < WORDS && row->words[i]; i++)
		n += (size_t)snprintf(out + n, 128 - n, "%s%s", i ? " " : "",
				      row->words[i]);
}

static unsigned long long capabilities_of(pid_t pid)
{
	unsigned long long set = ~0ull;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	HI_ASSERT(file);
	while (fgets(line, sizeof(line), file) && sscanf(line, "CapEff: %llx", &set) != 1)
		;
	fclose(file);
	return set;
}

/* A decoder has its name before it gives up its rights. */
static unsigned long long await_rights(pid_t pid, bool keeps_rights)
{
	unsigned long long rights = capabilities_of(pid);

	for (int i = 0; i < 5000 && !keeps_rights; i++) {
		if (rights == 0 && hi_process_status(pid, "Seccomp") == 2)
			break;
		usleep(1000);
		rights = capabilities_of(pid);
	}
	return rights;
}

static void check_row_rights(const struct made *made, const struct row *row)
{
	struct hi_held_run *run = start_row(made, row);
	pid_t pid = hi_held_run_writer(run, row->by_error ? 2 : 1);
	unsigned long long rights = await_rights(pid, row->keeps_rights);
	long long filter = hi_process_status(pid, "Seccomp");
	char name[128];

	name_row(row, name);
	printf("%-52s CapEff %016llx Seccomp %lld  %s\n", name, rights, filter,
	       pid == run->pid ? "the first process" : "a process of its own");
	HI_ASSERT_MSG(row->keeps_rights == (rights != 0), "%s", name);
	HI_ASSERT_MSG(row->keeps_rights == (filter != 2), "%s", name);
	if (!row->keeps_rights)
		HI_ASSERT_MSG(hi_process_status(pid, "Uid") == 65534, "%s", name);
	hi_held_run_end(run);
}

HI_TEST_ROOT(rights_table, commands_decode_without_rights)
{
	struct made made = make_all();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row_rights(&made, &rows[i]);
	HI_ASSERT_EQ(0, hi_process_status(made.fx->pid, "TracerPid"));
}

/* The file is there with its first census. */
static void await_census(const char *path, const struct hi_held_run *run)
{
	for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++) {
		HI_ASSERT_EQ(0, waitpid(run->pid, NULL, WNOHANG));
		usleep(10000);
	}
	HI_ASSERT_EQ(0, access(path, F_OK));
}

static void check_series_rights(const struct made *made, const char *const words[])
{
	const char *arguments[WORDS + 2] = {"-q"};
	struct hi_held_run *run;
	char name[128];
	unsigned long long rights;
	pid_t pid;

	for (size_t i = 0; i < WORDS && words[i]; i++)
		arguments[i + 1] = word_of(made, words[i]);
	(void)unlink(made->new_file);
	run = hi_held_run_start(false, false, arguments);
	await_census(made->new_file, run);
	pid = hi_waiting_await_child(run->pid, "hi-decoder");
	rights = await_rights(pid, false);
	name_row(&(struct row){.words = {words[0], words[3], words[4]}}, name);
	printf("%-52s CapEff %016llx Seccomp %lld  %s\n", name, rights,
	       hi_process_status(pid, "Seccomp"), "a process of its own");
	HI_ASSERT_MSG(rights == 0, "%s", name);
	HI_ASSERT_EQ(2, hi_process_status(pid, "Seccomp"));
	HI_ASSERT_EQ(1, hi_process_status(pid, "NoNewPrivs"));
	HI_ASSERT_EQ(65534, hi_process_status(pid, "Uid"));
	hi_held_run_end(run);
}

HI_TEST_ROOT(rights_table, series_that_write_files_decode_without_rights)
{
	struct made made = make_all();

	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++)
		check_series_rights(&made, series[i]);
	HI_ASSERT_EQ(0, hi_process_status(made.fx->pid, "TracerPid"));
}
