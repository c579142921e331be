/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshot files: what is in them, and what is refused. That they answer as what they
 * were taken of: same_answers_test.c. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "census/snapshot/snapshot_format.h"
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

enum { WORDS = 12 };

/* The command with its words, then the target. */
static json_t *ask(const char *const *words, const char *option, const char *target)
{
	char *argv[WORDS + 6] = {(char *)(uintptr_t)(HI_BINARY_DIR "/heapinspect")};
	size_t n = 1;

	for (size_t i = 0; words[i]; i++)
		argv[n++] = (char *)(uintptr_t)words[i];
	argv[n++] = (char *)(uintptr_t) "--json";
	if (option)
		argv[n++] = (char *)(uintptr_t)option;
	argv[n] = (char *)(uintptr_t)target;
	return doc_of(hi_command_runv(0, argv));
}

static void check_equal(const char *const *words, const char *core, const char *file)
{
	json_t *a = ask(words, "--core", core), *b = ask(words, NULL, file);
	const char *key;
	json_t *value;

	HI_ASSERT(json_array_size(json_object_get(a, "rows")) > 0 ||
		  json_object_get(a, "types"));
	json_object_foreach(a, key,
			    value) if (!json_equal(value, json_object_get(b, key)))
		hi_test_fail(__FILE__, __LINE__, "%s %s: %s differs:\n%.1500s\n%.1500s",
			     words[0], words[1] ? words[1] : "", key,
			     json_dumps(value, JSON_COMPACT),
			     json_dumps(json_object_get(b, key), JSON_COMPACT));
	HI_ASSERT(json_equal(a, b));
}

HI_TEST_SCENARIO(snap, a_file_is_private_and_compressed_when_asked)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);
	const char *plain = snapshot_of_core(core, in, "plain.hisnap", NULL);
	const char *packed = snapshot_of_core(core, in, "packed.hisnap", "--compress");
	struct stat a, b;

	HI_ASSERT(stat(plain, &a) == 0 && stat(packed, &b) == 0);
	HI_ASSERT_EQ(0600, a.st_mode & 0777);
	HI_ASSERT(b.st_size < a.st_size / 2);
}

HI_TEST_SCENARIO(snap, a_file_keeps_the_ledger_of_a_process)
{
	char *in = snapshot_directory(), pid[16];
	struct hi_fixture *fx = snapshot_fixture("leak_shapes", "acyclic", "5");
	const char *file = snapshot_path(in, "live.hisnap");
	struct hi_command *c;
	json_t *doc;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("snap", "--pid", pid, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT(strstr(c->err, "was paused for"));
	hi_fixture_end(fx);
	doc = doc_of(hi_heapinspect("--json", "--all", file));
	HI_ASSERT_EQ(atoi(pid), json_integer_value(json_object_get(
					json_object_get(doc, "target"), "pid")));
	HI_ASSERT(json_integer_value(
			  json_object_get(json_object_get(doc, "ledger"), "rss")) > 0);
	HI_ASSERT(json_integer_value(json_object_get(json_object_get(doc, "snapshot"),
						     "pause_ns")) > 0);
}

/* How a run without a process ends, and what it says. */
static void check_refused(struct hi_command *c, const char *word)
{
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, word), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}

HI_TEST_SCENARIO(snap, a_root_that_needs_values_says_where)
{
	static const struct {
		const char *root, *pointed;
	} wrong[] = {
		{"a=service->values[service->n]",
		 "  service->values[service->n]\n                  ^\n"},
		{"a=*service", "  *service\n  ^\n"},
		{"a=service->values + 1", "  service->values + 1\n                  ^\n"},
		{"a=(struct x *)service", "  (struct x *)service\n  ^\n"},
	};
	/* These are names, of nothing that is there. */
	static const char *const names[] = {"a=service['a+b']", "a=service->no->more",
					    "a=service[b'*'].x[None]"};
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "100"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", NULL);

	for (size_t i = 0; i < 4; i++) {
		struct hi_command *c =
			hi_heapinspect("roots", "--root", wrong[i].root, file);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "--root a: this needs values") &&
				      strstr(c->err, wrong[i].pointed),
			      "%s", c->err);
	}
	check_refused(hi_heapinspect("roots", "--root", "a=no_such_variable", file),
		      "no variable of the snapshot");
	for (size_t i = 0; i < 3; i++) {
		struct hi_command *c = hi_heapinspect("roots", "--root", names[i], file);

		HI_ASSERT_EQ(0, c->exit_code);
		HI_ASSERT(strstr(c->out, "holds nothing"));
	}
}

HI_TEST_SCENARIO(snap, options_that_need_the_process_are_refused)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("leak_shapes", "acyclic", "5"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", NULL);
	const char *cut = snapshot_path(in, "cut.hisnap"), *half;
	char command[512];
	struct stat st;

	check_refused(hi_heapinspect("snap", file), "is a snapshot file already");
	check_refused(hi_heapinspect("census", "--untyped", file), "--untyped");
	check_refused(hi_heapinspect("census", "--hints", "x", file), "--hints");
	check_refused(hi_heapinspect("--core", core, file), "--core");
	check_refused(hi_heapinspect(file, file), "one target at a time");
	check_refused(hi_heapinspect("explain", "0x10", file), "use the process");
	check_refused(hi_heapinspect("snap", "--core", core), "-o FILE");
	check_refused(hi_heapinspect("snap", "--core", core, "-o", "/dev/null"),
		      "regular file");
	check_refused(hi_heapinspect("/nonexistent/a.hisnap"), "cannot read");
	HI_ASSERT(stat(file, &st) == 0);
	snprintf(command, sizeof(command), "head -c %lld '%s' > '%s'",
		 (long long)st.st_size / 2, file, cut);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
	check_refused(hi_heapinspect(cut), "section ");
	half = snapshot_path(in, "text.hisnap");
	snprintf(command, sizeof(command), "seq 5000 > '%s'", half);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
	check_refused(hi_heapinspect(half), "not a snapshot");
}

HI_TEST_SCENARIO(snap, a_file_that_is_missing_or_another_one_is_named)
{
	check_refused(hi_heapinspect("leaks", "/nonexistent/a.bin"), "no such file");
	check_refused(hi_heapinspect("/nonexistent/a.bin"), "no such file");
	check_refused(hi_heapinspect("leaks", "nonexistent.hirec"), "cannot read");
	check_refused(hi_heapinspect("leaks", "/etc/passwd"), "not a snapshot file");
	check_refused(hi_heapinspect("/etc/passwd"), "not a snapshot file");
	check_refused(hi_heapinspect("leaks", "word"),
		      "word: no such file; leaks takes no other argument");
}

/* Turns one bit in the middle of a section of the file. */
static void damage(const char *file, const char *section)
{
	struct hi_snapshot_section e;
	int fd = open(file, O_RDWR | O_CLOEXEC);
	uint8_t byte;

	HI_ASSERT(fd >= 0);
	for (off_t at = sizeof(struct hi_snapshot_header);; at += sizeof(e)) {
		HI_ASSERT_MSG(at < HI_SNAPSHOT_FIRST, "no section %s", section);
		HI_ASSERT(pread(fd, &e, sizeof(e), at) == sizeof(e));
		if (strcmp(e.name, section) == 0)
			break;
	}
	HI_ASSERT_MSG(e.stored, "section %s is empty", section);
	e.offset += e.stored / 2;
	HI_ASSERT(pread(fd, &byte, 1, (off_t)e.offset) == 1);
	byte ^= 4;
	HI_ASSERT(pwrite(fd, &byte, 1, (off_t)e.offset) == 1);
	close(fd);
}

/* Stored tables are looked at without the heap that they were made of: what is damaged
 * elsewhere hurts who needs it. */
HI_TEST_SCENARIO(snap, stored_tables_need_their_own_sections_alone)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", NULL);
	static const char *const census[] = {"census", "--all", NULL};
	static const char *const retained[] = {"retained", "--top", "20", NULL};

	damage(file, "objects.type");
	damage(file, "edges.to");
	check_equal(census, core, file);
	check_equal(retained, core, file);
	check_refused(hi_heapinspect("census", "--by", "module", file),
		      "section objects.type: damaged");
	damage(file, "retained.tree");
	check_refused(hi_heapinspect("retained", file), "section retained.tree: damaged");
	damage(file, "census");
	check_refused(hi_heapinspect("census", file), "section census: damaged");
	file = snapshot_of_core(core, in, "b.hisnap", "--compress");
	damage(file, "edges.to");
	check_equal(census, core, file);
	damage(file, "types");
	check_refused(hi_heapinspect("census", file), "section types: damaged");
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Killed at any instant: no file under that name, or one that is whole. */
HI_TEST_SCENARIO(snap, a_killed_writer_leaves_no_half_file)
{
	const char *rounds = getenv("HI_SNAP_KILLS");
	int n = rounds ? atoi(rounds) : 12, whole = 0;
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);
	const char *file = snapshot_path(in, "killed.hisnap");
	unsigned seed = 17, us;
	struct timespec from, to;

	/* A whole one, to know how long they live. */
	clock_gettime(CLOCK_MONOTONIC, &from);
	snapshot_of_core(core, in, "whole.hisnap", NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	us = (unsigned)((to.tv_sec - from.tv_sec) * 1000000 +
			(to.tv_nsec - from.tv_nsec) / 1000);

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		int status;

		HI_ASSERT(pid >= 0);
		if (pid == 0) {
			/* LeakSanitizer's helper outlives a process that is killed while
			 * it looks for leaks, and would hold the pipe to ctest. */
			setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
			execl(HI_BINARY_DIR "/heapinspect", "heapinspect", "snap", "-q",
			      "--core", core, "-o", file, NULL);
			_exit(127);
		}
		usleep(us / 8 + (unsigned)rand_r(&seed) % us);
		kill(pid, SIGKILL);
		HI_ASSERT(waitpid(pid, &status, 0) == pid);
		if (!exists(file))
			continue;
		whole++;
		doc_of(hi_heapinspect("--json", file));
		unlink(file);
	}
	hi_test_note("%d of %d were complete", whole, n);
}

/* A file that the first version wrote of fixtures/leak_shapes, kept: it must be readable
 * for ever. */
HI_TEST_SCENARIO(snap, a_file_of_version_1_is_read)
{
	static const char *const files[] = {"v1.hisnap", "v1-packed.hisnap"};

	for (int i = 0; i < 2; i++) {
		const char *file = snapshot_path(HI_SOURCE_DIR "/tests/data", files[i]);
		json_t *doc = doc_of(hi_heapinspect("--json", "--all", file));
		json_t *bytes = json_object_get(doc, "bytes");

		HI_ASSERT_EQ(20464, json_integer_value(json_object_get(bytes, "live")));
		HI_ASSERT_EQ(148784, json_integer_value(json_object_get(bytes, "leak")));
		HI_ASSERT_EQ(2, json_array_size(json_object_get(doc, "types")));
		doc = doc_of(hi_heapinspect("leaks", "--json", file));
		HI_ASSERT_EQ(2, json_array_size(json_object_get(doc, "rows")));
		doc = doc_of(hi_heapinspect("paths", "struct item", "--json", file));
		HI_ASSERT_STREQ("live[1]",
				json_string_value(json_object_get(
					json_array_get(json_object_get(doc, "rows"), 0),
					"path")));
	}
}
