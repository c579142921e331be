/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/harness.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/copy.h"
#include "attach/core.h"
#include "attach/core_notes.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/temporary.h"
#include "tests/support/tiny_core.h"

#define PAGE 4096u

static unsigned char page_bytes[4 * PAGE];

static const struct hi_tiny_segment segments[] = {
	{0x400000, PAGE, 0, NULL, PF_R | PF_X},
	{0x401000, 2 * PAGE, 2 * PAGE, page_bytes, PF_R | PF_W},
	{0x500000, PAGE, PAGE, page_bytes + 2 * PAGE, PF_R | PF_W},
	{0x7fff00000000, PAGE, PAGE, page_bytes + 3 * PAGE, PF_R | PF_W},
	{0x7fff10000000, PAGE, PAGE, page_bytes, PF_R | PF_X},
};
static const uint64_t auxv[] = {
	AT_ENTRY,	 0x400100,	 AT_EXECFN, 0x7fff00000ff0,
	AT_SYSINFO_EHDR, 0x7fff10000000, AT_NULL,   0};
static const int tids[] = {42, 41, 43};

static unsigned char *tiny(size_t *size)
{
	struct hi_tiny_core core = {
		.segments = segments,
		.n_segments = 5,
		.tids = tids,
		.n_tids = 3,
		.pid = 41,
		.auxv = auxv,
		.n_auxv = 4,
		.file_path = "/bin/tiny (deleted)",
		.file_start = 0x400000,
		.file_end = 0x402000,
		.file_page = 3,
	};

	for (size_t i = 0; i < sizeof(page_bytes); i++)
		page_bytes[i] = (unsigned char)(i % 251);
	return hi_tiny_core_build(&core, size);
}

static struct hi_image *open_core(const char *path)
{
	struct hi_image *image = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_core_open(path, NULL, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	return image;
}

static struct hi_image *open_tiny(void)
{
	char path[64];
	size_t size;
	unsigned char *bytes = tiny(&size);

	hi_tiny_core_save(bytes, size, path);
	free(bytes);
	return open_core(path);
}

static void check_mapping(const struct hi_image *image, uint64_t start, uint64_t end,
			  enum hi_mapping_kind kind, const char *path, uint64_t copied)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, start);

	HI_ASSERT(m);
	HI_ASSERT_EQ(start, m->start);
	HI_ASSERT_EQ(end, m->end);
	HI_ASSERT_EQ(kind, m->kind);
	HI_ASSERT_STREQ(path, m->path);
	HI_ASSERT_EQ(copied, m->copied);
	HI_ASSERT_EQ(copied > 0, m->held);
	HI_ASSERT(m->resident == UINT64_MAX && m->swapped == UINT64_MAX);
}

HI_TEST(core, mappings_are_the_segments_cut_at_the_borders_of_mapped_files)
{
	struct hi_image *image = open_tiny();

	HI_ASSERT_EQ(6, image->n_mappings);
	check_mapping(image, 0x400000, 0x401000, HI_MAPPING_FILE, "/bin/tiny", 0);
	check_mapping(image, 0x401000, 0x402000, HI_MAPPING_FILE, "/bin/tiny", PAGE);
	check_mapping(image, 0x402000, 0x403000, HI_MAPPING_ANONYMOUS, "", PAGE);
	check_mapping(image, 0x500000, 0x501000, HI_MAPPING_ANONYMOUS, "", PAGE);
	check_mapping(image, 0x7fff00000000, 0x7fff00001000, HI_MAPPING_STACK, "[stack]",
		      PAGE);
	check_mapping(image, 0x7fff10000000, 0x7fff10001000, HI_MAPPING_VDSO, "[vdso]",
		      PAGE);
	HI_ASSERT_EQ(0x3000, image->mappings[0].file_offset);
	HI_ASSERT_EQ(0x4000, image->mappings[1].file_offset);
	HI_ASSERT(image->mappings[0].deleted);
	HI_ASSERT_EQ(HI_PROT_READ | HI_PROT_EXEC, image->mappings[0].prot);
	HI_ASSERT_STREQ("/bin/tiny", image->exe);
	HI_ASSERT(image->complete);
	HI_ASSERT_EQ(0, image->stats.segments_missing);
	HI_ASSERT_EQ(5 * PAGE, image->stats.bytes_copied);
	HI_ASSERT_EQ(UINT64_MAX, hi_image_resident(image, 0x401000, 0x402000));
}

HI_TEST(core, the_leader_is_the_first_thread_whoever_died_first)
{
	struct hi_image *image = open_tiny();
	uint64_t entry = 0;

	HI_ASSERT_EQ(3, image->n_threads);
	HI_ASSERT_EQ(41, image->threads[0].tid);
	HI_ASSERT_EQ(42, image->threads[1].tid);
	HI_ASSERT_EQ(43, image->threads[2].tid);
	HI_ASSERT_EQ(0x7001, image->threads[0].regs.rsp);
	HI_ASSERT_EQ(43, image->threads[2].regs.rip);
	HI_ASSERT_STREQ("tiny", image->threads[0].name);
	HI_ASSERT(hi_image_auxv(image, AT_ENTRY, &entry) && entry == 0x400100);
	HI_ASSERT(!hi_image_auxv(image, AT_BASE, &entry));
	HI_ASSERT_EQ(HI_SNAPSHOT_CORE, image->mode);
}

/* Uses everything of an image that hostile bytes could have made wrong. */
static void use_image(struct hi_image *image)
{
	uint64_t at = 0, start, end, sum = 0;
	unsigned char buf[256];

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		HI_ASSERT(m->start < m->end);
		HI_ASSERT(i == 0 || m[-1].end <= m->start);
		(void)hi_memory_read(image->memory, m->start, buf, 1, NULL);
		(void)hi_memory_read(image->memory, m->end - 1, buf, sizeof(buf), NULL);
	}
	for (int i = 0;
	     i < 1000 && hi_image_next_held(image, at, UINT64_MAX, &start, &end); i++) {
		for (at = start; at < end;) {
			const unsigned char *bytes;
			size_t avail = 0;

			bytes = hi_memory_view(image->memory, at, &avail);
			HI_ASSERT(bytes && avail);
			sum += bytes[0] + bytes[avail - 1];
			at += avail;
		}
	}
	HI_ASSERT(sum < UINT64_MAX);
	HI_ASSERT(image->n_threads > 0);
}

static void open_bytes(const unsigned char *bytes, size_t size, const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	struct hi_image *image = NULL;
	struct hi_error err = {};
	enum hi_status status;

	HI_ASSERT(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	status = hi_core_open(path, NULL, &image, &err);
	if (status == HI_OK) {
		use_image(image);
		hi_image_destroy(image);
		return;
	}
	HI_ASSERT(!image && err.status == status && err.text[0]);
	HI_ASSERT_MSG(status == HI_BAD_DATA || status == HI_UNSUPPORTED, "%s: %s",
		      hi_status_text(status), err.text);
}

HI_TEST(core, core_cut_at_any_byte_is_refused_or_its_rest_is_counted)
{
	size_t size;
	unsigned char *bytes = tiny(&size);
	char path[64];

	hi_tiny_core_save(bytes, size, path);
	for (size_t cut = 0; cut < size; cut += 997)
		open_bytes(bytes, cut, path);
	for (size_t cut = 0; cut < 2048; cut += 7)
		open_bytes(bytes, cut, path);
	free(bytes);
}

HI_TEST(core, a_truncated_segment_keeps_its_readable_part)
{
	size_t size;
	unsigned char *bytes = tiny(&size), buf[8];
	struct hi_image *image;
	struct hi_error err = {};
	char path[64];

	/* The last segment ends the file, the one before it is cut in half too. */
	hi_tiny_core_save(bytes, size - PAGE - 100, path);
	free(bytes);
	image = open_core(path);
	HI_ASSERT_EQ(2, image->stats.segments_missing);
	HI_ASSERT(!image->complete);
	HI_ASSERT_OK(
		hi_memory_read(image->memory, 0x7fff00000000 + PAGE - 108, buf, 8, &err),
		&err);
	HI_ASSERT(memcmp(buf, page_bytes + 4 * PAGE - 108, 8) == 0);
	HI_ASSERT_STATUS(
		HI_FAULT,
		hi_memory_read(image->memory, 0x7fff00000000 + PAGE - 104, buf, 8, &err));
	HI_ASSERT_EQ(0x7fff00000000 + PAGE - 100, err.address);
	HI_ASSERT_STATUS(HI_FAULT,
			 hi_memory_read(image->memory, 0x7fff10000000, buf, 8, &err));
}

HI_TEST(core, two_thousand_random_byte_flips_never_crash_it)
{
	size_t size;
	unsigned char *bytes = tiny(&size), *copy = malloc(size);
	uint64_t seed = 12345;
	char path[64];

	hi_tiny_core_save(bytes, size, path);
	for (int i = 0; i < 2000; i++) {
		memcpy(copy, bytes, size);
		for (int flips = 1 + i % 4; flips; flips--) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			/* Mostly in the headers and notes: the rest is contents. */
			copy[(seed >> 33) % (i % 8 ? 2048 : size)] ^=
				(unsigned char)(seed >> 20);
		}
		open_bytes(copy, size, path);
	}
	free(copy);
	free(bytes);
}

static void check_refused(const char *path, enum hi_status expected, const char *word)
{
	struct hi_image *image = NULL;
	struct hi_error err = {};

	HI_ASSERT_STATUS(expected, hi_core_open(path, NULL, &image, &err));
	HI_ASSERT_MSG(strstr(err.text, word), "\"%s\" does not say \"%s\"", err.text,
		      word);
	HI_ASSERT(!strchr(err.text, '\n'));
}

static void check_patched(size_t offset, unsigned char value, enum hi_status expected,
			  const char *word)
{
	size_t size;
	unsigned char *bytes = tiny(&size);
	char path[64];

	bytes[offset] = value;
	hi_tiny_core_save(bytes, size, path);
	free(bytes);
	check_refused(path, expected, word);
}

HI_TEST(core, each_wrong_file_is_refused_with_its_own_message)
{
	char path[64];

	check_patched(0, 'x', HI_BAD_DATA, "not an ELF file");
	check_patched(EI_CLASS, ELFCLASS32, HI_UNSUPPORTED, "32-bit");
	check_patched(EI_DATA, ELFDATA2MSB, HI_BAD_DATA, "damaged ELF header");
	check_patched(16, ET_EXEC, HI_BAD_DATA, "not a core");
	check_patched(18, EM_AARCH64, HI_UNSUPPORTED, "aarch64");
	check_patched(18, EM_RISCV, HI_UNSUPPORTED, "another machine");
	check_patched(56, 0, HI_BAD_DATA, "no program headers");
	check_patched(57, 0xee, HI_BAD_DATA, "the program headers are cut off");
	check_refused("/proc/self/exe", HI_BAD_DATA, "not a core");
	check_refused("/dev/null", HI_BAD_DATA, "not a regular file");
	check_refused("/nonexistent/core", HI_OS, "No such file");
	hi_tiny_core_save("short", 5, path);
	check_refused(path, HI_BAD_DATA, "too short");
	hi_tiny_core_save("\x28\xb5\x2f\xfd"
			  "0123456789012345678901234567890123456789012345678901234567890",
			  65, path);
	check_refused(path, HI_UNSUPPORTED, "compressed");
}

/* One note of the given sizes, in a block that ends with it. */
static void check_note(uint32_t type, uint32_t name_size, uint32_t desc_size,
		       const void *desc, size_t desc_given, const char *word)
{
	Elf64_Nhdr header = {name_size, desc_size, type};
	size_t size = sizeof(header) + 8 + desc_given;
	unsigned char *bytes = malloc(size);
	struct hi_core_notes notes = {};
	struct hi_error err = {};

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), "CORE\0\0\0", 8);
	memcpy(bytes + sizeof(header) + 8, desc, desc_given);
	if (word) {
		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_core_notes_parse(&notes, bytes, size, &err));
		HI_ASSERT_MSG(strstr(err.text, word), "\"%s\" does not say \"%s\"",
			      err.text, word);
	} else {
		HI_ASSERT_OK(hi_core_notes_parse(&notes, bytes, size, &err), &err);
	}
	hi_core_notes_free(&notes);
	free(bytes);
}

HI_TEST(core, notes_that_do_not_fit_are_refused)
{
	uint64_t files[] = {1, 4096, 0x1000, 0x2000, 0, 0x0061};
	uint64_t wrap[] = {1, UINT64_MAX, 0x1000, 0x2000, 2, 0x0061};
	unsigned char status[336] = {};

	check_note(NT_PRSTATUS, 5, 336, status, 336, NULL);
	check_note(NT_PRSTATUS, 5, 335, status, 335, "too short");
	check_note(NT_PRSTATUS, 5, 336, status, 335, "beyond its segment");
	check_note(NT_PRSTATUS, 5, UINT32_MAX, status, 336, "beyond its segment");
	check_note(NT_PRSTATUS, UINT32_MAX, 8, status, 336, "beyond its segment");
	check_note(NT_PRPSINFO, 5, 16, status, 16, "too short");
	check_note(NT_AUXV, 5, 15, status, 15, NULL);
	check_note(NT_FILE, 5, 48, files, 48, NULL);
	check_note(NT_FILE, 5, 41, files, 41, "has no end");
	check_note(NT_FILE, 5, 8, files, 8, "too short");
	check_note(NT_FILE, 5, 48, wrap, 48, "wraps");
	files[0] = 2;
	check_note(NT_FILE, 5, 48, files, 48, "cut off");
	files[0] = UINT64_MAX / 24 + 2;
	check_note(NT_FILE, 5, 48, files, 48, "cut off");
}

HI_TEST(core, more_than_65534_segments_are_counted_by_the_section_header)
{
	size_t size, n = 0;
	unsigned char *bytes = tiny(&size), *grown = realloc(bytes, size + 64);
	Elf64_Shdr section = {.sh_info = 6};
	Elf64_Ehdr header;
	struct hi_image *image;
	char path[64];

	memcpy(&header, grown, sizeof(header));
	HI_ASSERT_EQ(6, header.e_phnum);
	header.e_phnum = PN_XNUM;
	header.e_shoff = size;
	memcpy(grown, &header, sizeof(header));
	memcpy(grown + size, &section, sizeof(section));
	hi_tiny_core_save(grown, size + 64, path);
	free(grown);
	image = open_core(path);
	for (size_t i = 0; i < image->n_mappings; i++)
		n += image->mappings[i].held;
	HI_ASSERT_EQ(5, n);
}

HI_TEST(core, out_of_memory_at_any_allocation_is_an_error_and_leaks_nothing)
{
	struct hi_core_options options = {.exe = "/proc/self/exe", .sysroot = "/tmp"};
	enum hi_status status = HI_NO_MEMORY;
	size_t size;
	unsigned char *bytes = tiny(&size);
	uint64_t nth = 0;
	char path[64];

	hi_tiny_core_save(bytes, size, path);
	free(bytes);
	while (status != HI_OK && nth < 500) {
		struct hi_image *image = NULL;

		hi_alloc_fail_at(++nth);
		status = hi_core_open(path, &options, &image, NULL);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		hi_image_destroy(image);
	}
	HI_ASSERT_STATUS(HI_OK, status);
	HI_ASSERT(nth > 20);
}

HI_TEST(core, the_executable_given_by_hand_stands_for_the_one_in_the_notes)
{
	struct hi_core_options options = {.exe = "/proc/self/exe"};
	size_t size;
	unsigned char *bytes = tiny(&size);
	struct hi_image *image = NULL;
	struct hi_error err = {};
	struct stat a, b;
	char path[64];
	int fd = -1;

	hi_tiny_core_save(bytes, size, path);
	free(bytes);
	HI_ASSERT_OK(hi_core_open(path, &options, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	HI_ASSERT_OK(hi_image_open_file(image, &image->mappings[0], &fd, &err), &err);
	HI_ASSERT(fstat(fd, &a) == 0 && stat("/proc/self/exe", &b) == 0);
	HI_ASSERT_EQ(b.st_ino, a.st_ino);
	close(fd);
	options.exe = "/nonexistent/exe";
	HI_ASSERT_STATUS(HI_OS, hi_core_open(path, &options, &image, &err));
}

/* ---- cores of real processes ---- */

static struct hi_image *copy_of(pid_t pid)
{
	struct hi_stop_options options = {};
	struct hi_thread thread = {.tid = pid};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_target_open(pid, &target, &err), &err);
	HI_ASSERT_OK(hi_copy_prepare(target, &options, &copy, &err), &err);
	HI_ASSERT_OK(hi_copy_run(copy, &err), &err);
	HI_ASSERT_OK(hi_copy_finish(copy, &thread, 1, &image, &err), &err);
	hi_target_close(target);
	hi_test_defer(hi_image_destroy, image);
	return image;
}

/* The kernel itself writes the number of the processor there (rseq). */
static void mask_rseq(const struct hi_image *core, uint64_t page, unsigned char *bytes)
{
	uint64_t rseq = core->threads[0].regs.fs_base + (uint64_t)__rseq_offset;

	for (uint64_t at = rseq; at < rseq + 32; at++)
		if (at / PAGE * PAGE == page)
			bytes[at % PAGE] = 0;
}

/* Compares all that both hold; returns the bytes. */
static uint64_t compare(struct hi_image *live, struct hi_image *core)
{
	static unsigned char a[PAGE], b[PAGE];
	uint64_t at = 0, start, end, same = 0;

	while (hi_image_next_held(live, at, UINT64_MAX, &start, &end)) {
		for (at = start; at < end; at += PAGE) {
			const struct hi_mapping *m = hi_image_mapping_at(live, at);
			struct hi_error err = {};

			HI_ASSERT_OK(hi_memory_read(live->memory, at, a, PAGE, &err),
				     &err);
			if (hi_memory_read(core->memory, at, b, PAGE, &err) != HI_OK)
				continue;
			mask_rseq(core, at, a);
			mask_rseq(core, at, b);
			HI_ASSERT_MSG(memcmp(a, b, PAGE) == 0, "differs at 0x%llx in %s",
				      (unsigned long long)at, m->path);
			same += PAGE;
		}
	}
	return same;
}

static void compare_kinds(const struct hi_image *live, const struct hi_image *core)
{
	for (size_t i = 0; i < core->n_mappings; i++) {
		const struct hi_mapping *c = &core->mappings[i];
		const struct hi_mapping *l = hi_image_mapping_at(live, c->start);

		if (!c->held || !l)
			continue;
		if (l->kind == HI_MAPPING_OTHER) {
			HI_ASSERT_EQ(l->kind, c->kind);
			continue;
		}
		HI_ASSERT_STREQ(l->kind == HI_MAPPING_HEAP ||
						strncmp(l->path, "[anon", 5) == 0
					? ""
					: l->path,
				c->path);
		HI_ASSERT_EQ(l->kind == HI_MAPPING_HEAP ? HI_MAPPING_ANONYMOUS : l->kind,
			     c->kind);
	}
}

/* gdb writes the program's name alone into the notes, and the kernel 79 bytes. */
HI_TEST_SCENARIO(core, the_command_line_is_read_from_the_stack)
{
	static const char long_word[] =
		"a word that is longer than what the notes of a core have room for, "
		"so that they have its beginning only";
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", long_word, "5", NULL);
	const char expected[] = " 'a word that is longer than what the notes of "
				"a core have room for, so that they have its beginning "
				"only' 5";
	char directory[] = "/tmp/hi-gcore-XXXXXX", prefix[64], pid[16], path[96];
	struct hi_image *image;
	struct hi_error err;
	char *text;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT(mkdtemp(directory));
	snprintf(prefix, sizeof(prefix), "%s/core", directory);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0, hi_command_run(0, "gcore", "-o", prefix, pid, NULL)->exit_code);
	snprintf(path, sizeof(path), "%s.%s", prefix, pid);
	HI_ASSERT_OK(hi_core_open(path, NULL, &image, &err), &err);
	text = hi_command_line_text(&image->command_line, false);
	HI_ASSERT_MSG(text && strstr(text, expected), "%s", text);
	free(text);
	hi_image_destroy(image);
	unlink(path);
	rmdir(directory);
}

HI_TEST_SCENARIO(core, gcore_and_the_live_copy_hold_the_same_bytes)
{
	struct hi_fixture *fx = hi_fixture_start("copy_pages", "small", NULL);
	struct hi_image *live, *core;
	struct hi_command *gcore;
	char directory[] = "/tmp/hi-gcore-XXXXXX", prefix[64], pid[16], path[96];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT(mkdtemp(directory));
	temporary_path(directory);
	snprintf(prefix, sizeof(prefix), "%s/core", directory);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	snprintf(path, sizeof(path), "%s.%s", prefix, pid);
	hi_fixture_await_call(fx->pid, SYS_read);
	gcore = hi_command_run(0, "gcore", "-o", prefix, pid, NULL);
	temporary_path(path);
	HI_ASSERT_MSG(gcore->exit_code == 0, "gcore: %s", gcore->err);
	live = copy_of(fx->pid);
	core = open_core(path);
	HI_ASSERT_EQ(live->stats.bytes_copied, compare(live, core));
	compare_kinds(live, core);
	HI_ASSERT_STREQ(live->exe, core->exe);
	HI_ASSERT_EQ(fx->pid, core->pid);
	HI_ASSERT_EQ(fx->pid, core->threads[0].tid);
	HI_ASSERT_EQ(live->n_auxv, core->n_auxv);
	HI_ASSERT(memcmp(live->auxv, core->auxv, live->n_auxv * 16) == 0);
	HI_ASSERT_EQ(0, core->stats.segments_missing);
}

HI_TEST_SCENARIO(core, the_kernels_own_core_and_the_live_copy_hold_the_same_bytes)
{
	struct rlimit limit = {1 << 30, 1 << 30}, old;
	char directory[] = "/tmp/hi-core-XXXXXX", pattern[128] = "", path[96], back[512];
	struct hi_image *live, *core;
	struct hi_fixture *fx;
	FILE *f = fopen("/proc/sys/kernel/core_pattern", "r");

	HI_ASSERT(f && fgets(pattern, sizeof(pattern), f));
	fclose(f);
	if (strcmp(pattern, "core\n") != 0)
		HI_SKIP("kernel.core_pattern is not \"core\"");
	HI_ASSERT(mkdtemp(directory) && getcwd(back, sizeof(back)));
	HI_ASSERT(getrlimit(RLIMIT_CORE, &old) == 0 && chdir(directory) == 0);
	limit.rlim_max = old.rlim_max < limit.rlim_max ? old.rlim_max : limit.rlim_max;
	limit.rlim_cur = limit.rlim_max;
	limit.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
	fx = hi_fixture_start("copy_pages", "small", NULL);
	setrlimit(RLIMIT_CORE, &old);
	HI_ASSERT(chdir(back) == 0);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_await_call(fx->pid, SYS_read);
	live = copy_of(fx->pid);
	kill(fx->pid, SIGABRT);
	HI_ASSERT(WCOREDUMP(hi_fixture_end(fx)));
	snprintf(path, sizeof(path), "%s/core", directory);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "%s/core.%d", directory, (int)fx->pid);
	core = open_core(path);
	unlink(path);
	rmdir(directory);
	HI_ASSERT(compare(live, core) > 60 * PAGE);
	compare_kinds(live, core);
	HI_ASSERT_STREQ(live->exe, core->exe);
	HI_ASSERT_EQ(fx->pid, core->threads[0].tid);
}
