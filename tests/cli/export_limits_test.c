/* SPDX-License-Identifier: BSD-2-Clause */
/* What a format cannot have is refused, with nothing left behind: the same wiring as the
 * program's, with limits that a small heap meets. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/exports/parquet_writer.h"
#include "tests/harness.h"
#include "tests/support/limited_export.h"
#include "tests/support/snapshots.h"

static struct export_limits limits;

static char *contents(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	HI_ASSERT(f);
	n = fread(to, 1, size - 1, f);
	to[n] = 0;
	fclose(f);
	return to;
}

static unsigned files_in(const char *path)
{
	DIR *directory = opendir(path);
	unsigned n = 0;

	HI_ASSERT(directory);
	for (const struct dirent *e; (e = readdir(directory));)
		n += e->d_name[0] != '.';
	closedir(directory);
	return n;
}

/* As much as there is fits; one less does not: it is said, and there is no file; one that
 * was there is as it was. */
static void check_limit(const char *in, const char *format, uint64_t *limit,
			uint64_t there_is, const char *const words[2])
{
	const char *file = snapshot_path(in, "a.hisnap"),
		   *said = snapshot_path(in, "err");
	char directory[300], out[400], text[2000];
	FILE *old;

	snprintf(directory, sizeof(directory), "%.200s/%s.d", in, format);
	snprintf(out, sizeof(out), "%s/x", directory);
	HI_ASSERT(mkdir(directory, 0700) == 0);
	*limit = there_is;
	HI_ASSERT_EQ(0, limited_export(file, format, out, said, &limits));
	HI_ASSERT_STREQ("", contents(said, text, sizeof(text)));
	HI_ASSERT(unlink(out) == 0);
	*limit = there_is - 1;
	HI_ASSERT_EQ(2, limited_export(file, format, out, said, &limits));
	contents(said, text, sizeof(text));
	HI_ASSERT_MSG(strncmp(text, "heapinspect: export: ", 21) == 0 &&
			      strstr(text, words[0]) && strstr(text, words[1]),
		      "%s", text);
	HI_ASSERT_EQ(strlen(text) - 1, strcspn(text, "\n"));
	HI_ASSERT_EQ(0, files_in(directory));
	old = fopen(out, "we");
	HI_ASSERT(old && fputs("old", old) > 0 && fclose(old) == 0);
	HI_ASSERT_EQ(2, limited_export(file, format, out, said, &limits));
	HI_ASSERT_EQ(1, files_in(directory));
	HI_ASSERT_STREQ("old", contents(out, text, sizeof(text)));
}

/* What the program's own file has, told by a shell's tools. */
static uint64_t ask(const char *in, const char *format, const char *tool)
{
	char shell[500];
	uint64_t ret;
	FILE *f;

	snprintf(shell, sizeof(shell),
		 "cd %s && %s export a.hisnap -q -f %s -o full && %s", in,
		 HI_BINARY_DIR "/heapinspect", format, tool);
	f = popen(shell, "re");
	HI_ASSERT(f && fscanf(f, "%" SCNu64, &ret) == 1 && pclose(f) == 0);
	return ret;
}

static void check_a_heapsnapshot_of_too_many_nodes_is_refused(const char *in)
{
	char count[32];
	uint64_t nodes;

	limits = (struct export_limits){UINT64_MAX, UINT64_MAX};
	nodes = ask(in, "heapsnapshot",
		    "grep -o '\"node_count\":[0-9]*' full | cut -d: -f2");
	HI_ASSERT(nodes > 300);
	snprintf(count, sizeof(count), "export: %" PRIu64 " ", nodes);
	check_limit(in, "heapsnapshot", &limits.heapsnapshot, 7 * nodes,
		    (const char *const[]){count, "-f ndjson"});
}

static void check_a_profile_of_too_many_bytes_is_refused(const char *in)
{
	uint64_t bytes;

	limits = (struct export_limits){UINT64_MAX, UINT64_MAX};
	bytes = ask(in, "pprof", "gzip -dc full | wc -c");
	HI_ASSERT(bytes > 300);
	check_limit(in, "pprof", &limits.pprof, bytes,
		    (const char *const[]){"2 GiB", "-f ndjson"});
}

HI_TEST_SCENARIO(export_limits, values_beyond_a_format_are_refused)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "300"), in);

	snapshot_of_core(core, in, "a.hisnap", NULL);
	check_a_heapsnapshot_of_too_many_nodes_is_refused(in);
	check_a_profile_of_too_many_bytes_is_refused(in);
}

/* Where the groups of rows are is said at the end, which has a limit of its own. */
HI_TEST(export_limits, a_parquet_file_of_too_many_groups_is_refused)
{
	struct hi_error err;
	uint64_t end = 0;

	for (int pass = 0; pass < 3; pass++) {
		struct hi_parquet_options options = {
			.group_rows = 1, .end_bytes = pass == 2 ? end - 1 : end};
		uint8_t tail[8];
		FILE *out = tmpfile();
		struct hi_parquet *p;
		enum hi_status status;

		HI_ASSERT(out);
		HI_ASSERT_OK(hi_parquet_create(out, &options, &p, &err), &err);
		HI_ASSERT_OK(hi_parquet_column(p, "n", HI_PARQUET_NUMBER, &err), &err);
		for (uint64_t i = 0; i < 50; i++) {
			hi_parquet_number(p, i);
			HI_ASSERT_OK(hi_parquet_end_row(p, &err), &err);
		}
		status = hi_parquet_finish(p, NULL, 0, &err);
		hi_parquet_destroy(p);
		HI_ASSERT_EQ(pass == 2 ? HI_LIMIT : HI_OK, status);
		if (pass == 2)
			HI_ASSERT(strstr(err.text, "groups of rows"));
		/* The four bytes before the last four say how long it is. */
		HI_ASSERT(fseek(out, -8, SEEK_END) == 0 && fread(tail, 8, 1, out) == 1);
		if (pass < 2)
			end = tail[0] | tail[1] << 8 | tail[2] << 16;
		fclose(out);
	}
}
