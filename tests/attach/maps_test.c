/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/maps.h"
#include "tests/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/free_memory.h"
#include "attach/procfs.h"
#include "attach/target.h"
#include "base/alloc.h"
#include "tests/support/temporary.h"

static struct hi_mapping *parse(const char *text, size_t *n)
{
	struct hi_mapping *mappings = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_maps_parse(text, strlen(text), &mappings, n, &err), &err);
	return mappings;
}

static void check_one(const char *line, enum hi_mapping_kind kind, const char *path,
		      bool deleted)
{
	struct hi_mapping *m;
	size_t n;

	m = parse(line, &n);
	HI_ASSERT_EQ(1, n);
	HI_ASSERT_MSG(m->kind == kind, "%s: kind %d, expected %d", line, m->kind, kind);
	HI_ASSERT_STREQ(path, m->path);
	HI_ASSERT_EQ(deleted, m->deleted);
	hi_mappings_free(m, n);
}

HI_TEST(maps, every_column_is_read)
{
	struct hi_mapping *m;
	size_t n;

	m = parse(
		"563fe0058000-563fe0065000 r-xs 0000e000 fe:1a 5310117    /usr/bin/x y\n"
		"7fbd4e985000-7fbd4e995000 -w-p 00000000 00:00 0 \n"
		"7fbd4e995000-7fbd4e996000 ---p 00000000 00:00 0",
		&n);
	HI_ASSERT_EQ(3, n);
	HI_ASSERT_EQ(0x563fe0058000, m[0].start);
	HI_ASSERT_EQ(0x563fe0065000, m[0].end);
	HI_ASSERT_EQ(HI_PROT_READ | HI_PROT_EXEC, m[0].prot);
	HI_ASSERT(m[0].shared && !m[1].shared);
	HI_ASSERT_EQ(0xe000, m[0].file_offset);
	HI_ASSERT_EQ(0xfe, m[0].dev_major);
	HI_ASSERT_EQ(0x1a, m[0].dev_minor);
	HI_ASSERT_EQ(5310117, m[0].inode);
	HI_ASSERT_STREQ("/usr/bin/x y", m[0].path);
	HI_ASSERT_EQ(HI_PROT_WRITE, m[1].prot);
	HI_ASSERT_STREQ("", m[1].path);
	HI_ASSERT_EQ(0, m[2].prot);
	hi_mappings_free(m, n);
}

#define HEAD "1000-2000 rw-p 00000000 "

HI_TEST(maps, the_kind_follows_from_the_path_and_the_flags)
{
	check_one(HEAD "00:00 0 ", HI_MAPPING_ANONYMOUS, "", false);
	check_one(HEAD "00:00 0   [heap]", HI_MAPPING_HEAP, "[heap]", false);
	check_one(HEAD "00:00 0   [stack]", HI_MAPPING_STACK, "[stack]", false);
	check_one(HEAD "00:00 0   [vdso]", HI_MAPPING_VDSO, "[vdso]", false);
	check_one(HEAD "00:00 0   [vvar_vclock]", HI_MAPPING_OTHER, "[vvar_vclock]",
		  false);
	check_one(HEAD "00:00 0   [anon:a name]", HI_MAPPING_ANONYMOUS, "[anon:a name]",
		  false);
	check_one(HEAD "00:01 7   [anon_shmem:x]", HI_MAPPING_SHMEM, "[anon_shmem:x]",
		  false);
	check_one(HEAD "fe:00 7   /usr/lib/a", HI_MAPPING_FILE, "/usr/lib/a", false);
	check_one(HEAD "fe:00 7   /usr/lib/a (deleted)", HI_MAPPING_FILE, "/usr/lib/a",
		  true);
	check_one("1000-2000 rw-s 00000000 00:01 9 /dev/zero (deleted)", HI_MAPPING_SHMEM,
		  "/dev/zero", true);
	check_one("1000-2000 rw-s 00000000 00:01 9 /SYSV00000000 (deleted)",
		  HI_MAPPING_SHMEM, "/SYSV00000000", true);
	check_one(HEAD "00:01 9  /memfd:x (deleted)", HI_MAPPING_SHMEM, "/memfd:x", true);
	check_one(HEAD "fe:00 9  /memfd:x", HI_MAPPING_FILE, "/memfd:x", false);
	check_one(HEAD "00:15 9  /dev/shm/PostgreSQL.1", HI_MAPPING_SHMEM,
		  "/dev/shm/PostgreSQL.1", false);
	check_one(HEAD "00:06 9  /dev/nvidia0", HI_MAPPING_OTHER, "/dev/nvidia0", false);
	check_one(HEAD "00:0e 9  anon_inode:[perf_event]", HI_MAPPING_OTHER,
		  "anon_inode:[perf_event]", false);
	check_one(HEAD "00:0e 9  socket:[77]", HI_MAPPING_OTHER, "socket:[77]", false);
}

HI_TEST(maps, an_escaped_newline_in_a_name_comes_back)
{
	check_one(HEAD "fe:00 7   /tmp/a\\012b", HI_MAPPING_FILE, "/tmp/a\nb", false);
	check_one(HEAD "fe:00 7   /tmp/\\012", HI_MAPPING_FILE, "/tmp/\n", false);
	check_one(HEAD "fe:00 7   /tmp/\\01", HI_MAPPING_FILE, "/tmp/\\01", false);
	check_one(HEAD "fe:00 7   /tmp/ (deleted) (deleted)", HI_MAPPING_FILE,
		  "/tmp/ (deleted)", true);
}

HI_TEST(maps, malformed_line_is_refused_with_its_number)
{
	static const char *const lines[] = {
		"",
		"x",
		"1000",
		"1000-2000",
		"1000-2000 rw",
		"1000-2000 rwzp 0 0:0 0",
		"1000-2000 rw-q 0 0:0 0",
		"2000-1000 rw-p 0 0:0 0",
		"1000-1000 rw-p 0 0:0 0",
		"10000000000000000-20000000000000000 rw-p 0 0:0 0",
		"1000-2000 rw-p 0 0:0",
		"1000-2000 rw-p 0 0:0 x",
		"1000-2000 rw-p 0 100000000:0 1",
		"1000-2000 rw-p 0 0:0 99999999999999999999",
		"1000-2000 rw-p 0 0:0 7x",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct hi_mapping *m = NULL;
		struct hi_error err = {};
		char text[256];
		size_t n = 5;

		snprintf(text, sizeof(text), "100-200 rw-p 0 0:0 0\n%s\n", lines[i]);
		HI_ASSERT_MSG(hi_maps_parse(text, strlen(text), &m, &n, &err) ==
				      HI_BAD_DATA,
			      "\"%s\" was taken", lines[i]);
		HI_ASSERT(strstr(err.text, "line 2"));
		HI_ASSERT(!m && n == 5);
	}
}

HI_TEST(maps, lines_that_overlap_as_a_running_target_makes_them_are_clipped)
{
	struct hi_mapping *m;
	size_t n;

	m = parse("1000-3000 rw-p 00000000 00:00 0\n2000-4000 r--p 00005000 fe:00 7 /a\n"
		  "2000-3000 rw-p 00000000 00:00 0\n",
		  &n);
	HI_ASSERT_EQ(2, n);
	HI_ASSERT_EQ(0x3000, m[1].start);
	HI_ASSERT_EQ(0x6000, m[1].file_offset);
	hi_mappings_free(m, n);
}

HI_TEST(maps, our_own_maps_are_understood_and_sorted)
{
	char *text = NULL;
	size_t capacity = 0, size = 0, n = 0;
	struct hi_mapping *m = NULL;
	struct hi_error err = {};
	int fd = hi_proc_open(getpid(), "maps");
	bool has_stack = false, has_text = false;

	HI_ASSERT_OK(hi_proc_read(fd, &text, &capacity, &size, &err), &err);
	HI_ASSERT_OK(hi_maps_parse(text, size, &m, &n, &err), &err);
	for (size_t i = 0; i < n; i++) {
		uint64_t here = (uintptr_t)&parse;

		HI_ASSERT(i == 0 || m[i - 1].end <= m[i].start);
		has_stack |= m[i].kind == HI_MAPPING_STACK;
		has_text |= m[i].start <= here && here < m[i].end &&
			    m[i].prot == (HI_PROT_READ | HI_PROT_EXEC);
	}
	HI_ASSERT(has_stack && has_text);
	hi_mappings_free(m, n);
	free(text);
	close(fd);
}

HI_TEST(maps, a_hundred_thousand_random_texts_never_crash_it)
{
	static const char alphabet[] = "0123456789abcdef-- rwxps:\n\n\\/[heap](deleted)";
	static const char line[] = "1000-2000 rw-p 00000000 fe:00 7  /a\\012 (deleted)\n";
	uint64_t seed = 99;
	size_t taken = 0;

	for (int i = 0; i < 100000; i++) {
		size_t size = (size_t)(i % 200), n = 0;
		char *text = malloc(size ? size : 1); /* no NUL: it must not be needed */
		struct hi_mapping *m = NULL;

		for (size_t j = 0; j < size; j++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			text[j] =
				i % 2 || seed >> 60 == 0
					? alphabet[(seed >> 33) % (sizeof(alphabet) - 1)]
					: line[j % (sizeof(line) - 1)];
			if (i % 7 == 0 && seed >> 58 == 1)
				text[j] = (char)(seed >> 33);
		}
		if (hi_maps_parse(text, size, &m, &n, NULL) == HI_OK) {
			for (size_t j = 0; j < n; j++)
				HI_ASSERT(m[j].start < m[j].end &&
					  strlen(m[j].path) < size);
			taken += n;
			hi_mappings_free(m, n);
		}
		free(text);
	}
	HI_ASSERT(taken > 1000);
}

HI_TEST(maps, out_of_memory_is_reported)
{
	struct hi_mapping *m = NULL;
	size_t n = 0;

	hi_alloc_fail_at(1);
	HI_ASSERT_STATUS(HI_NO_MEMORY, hi_maps_parse("", 0, &m, &n, NULL));
	hi_alloc_fail_at(0);
}

HI_TEST(procfs, a_name_with_blanks_and_parentheses_does_not_shift_the_fields_of_stat)
{
	static const char text[] =
		"77 (a) R 1 (b) S 5 1 1 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 3 0 24 0 0";
	struct hi_proc_stat stat = {};

	HI_ASSERT(hi_proc_parse_stat(text, strlen(text), &stat));
	HI_ASSERT_STREQ("a) R 1 (b", stat.name);
	HI_ASSERT_EQ('S', stat.state);
	HI_ASSERT_EQ(5, stat.ppid);
	HI_ASSERT_EQ(2129984, stat.flags);
	HI_ASSERT_EQ(3, stat.n_threads);
	HI_ASSERT_EQ(24, stat.start_time);
	HI_ASSERT(!hi_proc_parse_stat("77 (a", 5, &stat));
	HI_ASSERT(!hi_proc_parse_stat("77 (a) S 5", 10, &stat));
}

/* ---- free memory: fake trees ---- */

static void write_file(const char *root, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p $(dirname %s/%s)", root, name);
	HI_ASSERT(system(path) == 0);
	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	HI_ASSERT(f && fputs(text, f) >= 0);
	fclose(f);
}

HI_TEST(available, the_least_of_free_memory_and_all_cgroups_above_us_counts)
{
	char root[] = "/tmp/hi-available-XXXXXX";
	uint64_t kib = 1024;

	HI_ASSERT(mkdtemp(root));
	temporary_path(root);
	HI_ASSERT_EQ(-1, (int64_t)hi_memory_available(root, root));
	write_file(root, "meminfo", "MemTotal: 900 kB\nMemAvailable:    800 kB\n");
	HI_ASSERT_EQ(800 * kib, hi_memory_available(root, root));
	/* Version 2: the group above is the tighter one. */
	write_file(root, "self/cgroup", "0::/a/b\n");
	write_file(root, "a/b/memory.max", "max\n");
	write_file(root, "a/b/memory.current", "1000\n");
	write_file(root, "a/memory.max", "500000\n");
	write_file(root, "a/memory.current", "100000\n");
	HI_ASSERT_EQ(400000, hi_memory_available(root, root));
	/* Files that can be dropped are free. */
	write_file(root, "a/memory.stat", "anon 5\ninactive_file 60000\n");
	HI_ASSERT_EQ(460000, hi_memory_available(root, root));
	write_file(root, "a/memory.current", "900000\n");
	HI_ASSERT_EQ(0, hi_memory_available(root, root));
	/* Version 1. */
	write_file(root, "self/cgroup", "5:cpu:/a\n4:memory:/c\n0::/\n");
	write_file(root, "memory/c/memory.limit_in_bytes", "300000\n");
	write_file(root, "memory/c/memory.usage_in_bytes", "100000\n");
	HI_ASSERT_EQ(200000, hi_memory_available(root, root));
}
