/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/copy.h"
#include "tests/harness.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/copy_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"

#define PAGE 4096u

struct truth {
	char name[32], how[16];
	uint64_t addr, size, value;
};

struct truths {
	struct truth items[64];
	size_t count;
};

static void add_truth(const char *line, void *arg)
{
	struct truths *truths = arg;
	struct truth *t = &truths->items[truths->count];
	unsigned long long addr, size, value = 0;

	HI_ASSERT(truths->count < 64);
	HI_ASSERT(sscanf(line, "%31s %llx %llu %15s %llu", t->name, &addr, &size, t->how,
			 &value) >= 4);
	t->addr = addr;
	t->size = size;
	t->value = value;
	truths->count++;
}

/* The fixtures idle while they are copied, so nothing has to stop them. */
static struct hi_image *copy_image(struct hi_target *target)
{
	struct hi_stop_options options = {};
	struct hi_thread thread = {.tid = target->pid, .name = "main"};
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_copy_prepare(target, &options, &copy, &err), &err);
	HI_ASSERT_OK(hi_copy_run(copy, &err), &err);
	HI_ASSERT_OK(hi_copy_finish(copy, &thread, 1, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	return image;
}

static uint64_t pattern_word(uint64_t addr)
{
	uint64_t x = addr * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

static void check_words(struct hi_image *image, const struct truth *t)
{
	for (uint64_t at = t->addr; at < t->addr + t->size; at += 8) {
		uint64_t word = 1, expected = strcmp(t->how, "pattern") == 0
						      ? pattern_word(at)
						      : t->value;
		struct hi_error err = {};

		HI_ASSERT_OK(hi_memory_read_u64(image->memory, at, &word, &err), &err);
		HI_ASSERT_MSG(word == expected, "%s at 0x%llx: 0x%llx, expected 0x%llx",
			      t->name, (unsigned long long)at, (unsigned long long)word,
			      (unsigned long long)expected);
	}
}

static void check_absent(struct hi_image *image, const struct truth *t)
{
	for (uint64_t at = t->addr; at < t->addr + t->size; at += PAGE) {
		struct hi_error err = {};
		uint64_t word;

		HI_ASSERT_STATUS(HI_FAULT,
				 hi_memory_read_u64(image->memory, at, &word, &err));
		HI_ASSERT_EQ(at, err.address);
	}
}

static struct hi_image *copy_fixture(struct hi_fixture **fx_ret, struct truths *truths)
{
	struct hi_fixture *fx = hi_fixture_start("copy_pages", NULL);

	hi_fixture_read_until(fx, "ready", add_truth, truths);
	hi_fixture_await_call(fx->pid, SYS_read);
	HI_ASSERT(truths->count > 15);
	*fx_ret = fx;
	return copy_image(hi_live_target(fx->pid));
}

static bool can_open(const struct hi_image *image, uint64_t addr)
{
	int fd = -1;

	if (hi_image_open_file(image, hi_image_mapping_at(image, addr), &fd, NULL) !=
	    HI_OK)
		return false;
	close(fd);
	return true;
}

static void check_truth(struct hi_image *image, const struct truth *t)
{
	if (strcmp(t->how, "absent") == 0 ||
	    (strcmp(t->how, "code") == 0 && can_open(image, t->addr)))
		check_absent(image, t);
	else
		check_words(image, t);
}

HI_TEST_SCENARIO(copy, every_kind_of_page_is_held_or_left_out_as_it_should)
{
	static struct truths truths;
	struct hi_fixture *fx;
	struct hi_image *image;

	truths.count = 0;
	image = copy_fixture(&fx, &truths);
	for (size_t i = 0; i < truths.count; i++)
		check_truth(image, &truths.items[i]);
	HI_ASSERT(image->complete);
	HI_ASSERT_EQ(0, image->stats.bytes_unreadable);
	HI_ASSERT_EQ(0, image->stats.pages_swapped);
	/* The terabyte alone. */
	HI_ASSERT(image->stats.pages_never_touched > (1ull << 28) - 16);
	HI_ASSERT(image->stats.bytes_copied < 64u << 20);
}

HI_TEST_SCENARIO(copy, the_target_is_the_same_before_and_after)
{
	static struct truths truths;
	struct hi_fixture *fx = hi_fixture_start("copy_pages", NULL);
	long long rss, tables;
	char line[64];

	truths.count = 0;
	hi_fixture_read_until(fx, "ready", add_truth, &truths);
	hi_fixture_await_call(fx->pid, SYS_read);
	rss = hi_process_status(fx->pid, "VmRSS");
	tables = hi_process_status(fx->pid, "VmPTE");
	copy_image(hi_live_target(fx->pid));
	HI_ASSERT_EQ(rss, hi_process_status(fx->pid, "VmRSS"));
	HI_ASSERT_EQ(tables, hi_process_status(fx->pid, "VmPTE"));
	HI_ASSERT_EQ('S', hi_process_state(fx->pid));
	hi_fixture_tell(fx, "check");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_STREQ("same", line);
}

/* Calls fn for each mapping of smaps with its Rss in bytes. */
static void each_rss(pid_t pid,
		     void (*fn)(uint64_t start, uint64_t end, uint64_t rss, void *arg),
		     void *arg)
{
	unsigned long long start = 0, end = 0, kib;
	char path[64], line[1024];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	f = fopen(path, "r");
	HI_ASSERT(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			continue;
		if (sscanf(line, "Rss: %llu kB", &kib) == 1)
			fn(start, end, kib * 1024, arg);
	}
	fclose(f);
}

static void check_rss(uint64_t start, uint64_t end, uint64_t rss, void *arg)
{
	const struct hi_image *image = arg;
	const struct hi_mapping *m = hi_image_mapping_at(image, start);

	HI_ASSERT(m && m->start == start && m->end == end);
	if (m->kind == HI_MAPPING_OTHER)
		return;
	HI_ASSERT_MSG(m->resident == rss, "%s: resident %llu, Rss %llu", m->path,
		      (unsigned long long)m->resident, (unsigned long long)rss);
	HI_ASSERT_EQ(rss, hi_image_resident(image, start, end));
}

HI_TEST_SCENARIO(copy, resident_bytes_of_each_mapping_equal_the_kernels_rss)
{
	static struct truths truths;
	struct hi_fixture *fx;
	struct hi_image *image;

	truths.count = 0;
	image = copy_fixture(&fx, &truths);
	each_rss(fx->pid, check_rss, image);
}

HI_TEST_SCENARIO(copy, resident_bytes_of_any_range_equal_the_sum_of_its_bytes)
{
	static struct truths truths;
	struct hi_fixture *fx;
	struct hi_image *image;
	uint64_t seed = 1;

	truths.count = 0;
	image = copy_fixture(&fx, &truths);
	for (int i = 0; i < 20000; i++) {
		const struct hi_mapping *m = &image->mappings[i % image->n_mappings];
		uint64_t size =
			m->end - m->start > 1u << 20 ? 1u << 20 : m->end - m->start;
		uint64_t start, end, middle;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		start = m->start + (seed >> 33) % size;
		end = start + (seed >> 13) % (m->end - start) % (64 * PAGE);
		middle = start + (end - start) / 3;
		HI_ASSERT_EQ(hi_image_resident(image, start, end),
			     hi_image_resident(image, start, middle) +
				     hi_image_resident(image, middle, end));
		HI_ASSERT(hi_image_resident(image, start, end) <= end - start);
	}
}

HI_TEST_SCENARIO(copy, held_ranges_are_all_readable_and_add_up_to_what_was_copied)
{
	static struct truths truths;
	struct hi_fixture *fx;
	struct hi_image *image;
	uint64_t at = 0, start, end, sum = 0, copied = 0;

	truths.count = 0;
	image = copy_fixture(&fx, &truths);
	while (hi_image_next_held(image, at, UINT64_MAX, &start, &end)) {
		HI_ASSERT(start >= at && end > start);
		sum += end - start;
		for (at = start; at < end;) {
			size_t avail = 0;

			HI_ASSERT(hi_memory_view(image->memory, at, &avail));
			HI_ASSERT(avail > 0);
			at += avail;
		}
		at = end;
	}
	for (size_t i = 0; i < image->n_mappings; i++) {
		HI_ASSERT_EQ(image->mappings[i].held, image->mappings[i].copied > 0);
		copied += image->mappings[i].copied;
	}
	HI_ASSERT_EQ(sum, image->stats.bytes_copied);
	HI_ASSERT_EQ(sum, copied);
}

HI_TEST_SCENARIO(copy, the_file_behind_code_can_be_opened_after_the_target_has_ended)
{
	static struct truths truths;
	struct hi_fixture *fx;
	struct hi_image *image;
	uint64_t entry = 0, size;
	struct hi_error err = {};
	struct stat a, b;
	int fd = -1;

	truths.count = 0;
	image = copy_fixture(&fx, &truths);
	hi_fixture_end(fx);
	HI_ASSERT(hi_image_auxv(image, 9 /* AT_ENTRY */, &entry));
	HI_ASSERT(hi_image_auxv(image, 6 /* AT_PAGESZ */, &size) && size == PAGE);
	HI_ASSERT_OK(
		hi_image_open_file(image, hi_image_mapping_at(image, entry), &fd, &err),
		&err);
	HI_ASSERT(fstat(fd, &a) == 0 && stat(HI_FIXTURE_DIR "/copy_pages", &b) == 0);
	HI_ASSERT_EQ(b.st_ino, a.st_ino);
	HI_ASSERT_EQ(0, lseek(fd, 0, SEEK_CUR));
	close(fd);
}

HI_TEST_SCENARIO(copy, a_target_that_ended_before_the_copy_is_gone)
{
	struct hi_fixture *fx = hi_fixture_start("copy_pages", NULL);
	struct hi_stop_options options = {};
	struct hi_target *target;
	struct hi_copy *copy = NULL;
	struct hi_error err = {};

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	target = hi_live_target(fx->pid);
	HI_ASSERT_OK(hi_copy_prepare(target, &options, &copy, &err), &err);
	hi_fixture_end(fx);
	HI_ASSERT(!hi_target_is_alive(target));
	HI_ASSERT_STATUS(HI_GONE, hi_copy_run(copy, &err));
	hi_copy_destroy(copy);
	HI_ASSERT_STATUS(HI_GONE, hi_copy_prepare(target, &options, &copy, &err));
}

/* by_reading: as on a kernel without PAGEMAP_SCAN. */
static void check_changed_target(bool by_reading)
{
	static struct truths truths;
	struct hi_fixture *fx =
		hi_fixture_start("copy_pages", by_reading ? "small" : "all", NULL);
	struct hi_stop_options options = {};
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	struct hi_error err = {};

	truths.count = 0;
	hi_fixture_read_until(fx, "ready", add_truth, &truths);
	HI_ASSERT_OK(hi_copy_prepare(hi_live_target(fx->pid), &options, &copy, &err),
		     &err);
	hi_fixture_tell(fx, "change");
	hi_fixture_read_until(fx, "changed", add_truth, &truths);
	if (by_reading)
		copy->own.pagemap.categories = 0;
	HI_ASSERT_OK(hi_copy_run(copy, &err), &err);
	HI_ASSERT_OK(hi_copy_finish(copy, NULL, 0, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	for (size_t i = 0; i < truths.count; i++)
		check_truth(image, &truths.items[i]);
	HI_ASSERT(image->complete);
}

HI_TEST_SCENARIO(copy, changes_between_estimate_and_stop_are_copied)
{
	check_changed_target(false);
}

/* Pages that are listed and then cannot be read: unmapped in between, which a
 * stopped target cannot do. */
HI_TEST_SCENARIO(copy, pages_that_cannot_be_read_are_counted_and_left_out)
{
	static struct truths truths;
	struct hi_fixture *fx = hi_fixture_start("copy_pages", NULL);
	struct hi_stop_options options = {};
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	struct hi_error err = {};

	truths.count = 0;
	hi_fixture_read_until(fx, "ready", add_truth, &truths);
	HI_ASSERT_OK(hi_copy_prepare(hi_live_target(fx->pid), &options, &copy, &err),
		     &err);
	HI_ASSERT_OK(hi_copy_scan(copy, &err), &err);
	HI_ASSERT_OK(hi_copy_add_areas(copy, false, &err), &err);
	HI_ASSERT_OK(hi_copy_make_pieces(copy, &err), &err);
	hi_fixture_tell(fx, "change");
	hi_fixture_read_until(fx, "changed", add_truth, &truths);
	HI_ASSERT_OK(hi_copy_read(copy, &err), &err);
	HI_ASSERT_OK(hi_copy_finish(copy, NULL, 0, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	for (size_t i = 0; i < truths.count; i++)
		if (strcmp(truths.items[i].name, "new") != 0 &&
		    strcmp(truths.items[i].name, "unmapped") != 0)
			check_truth(image, &truths.items[i]);
		else
			check_absent(image, &truths.items[i]);
	HI_ASSERT_EQ(32 * PAGE, image->stats.bytes_unreadable);
	HI_ASSERT(!image->complete);
}

HI_TEST_SCENARIO(copy, a_kernel_without_pagemap_scan_gives_the_same_image)
{
	check_changed_target(true);
}

/* ---- without privileges ---- */

#define NOBODY 65534u

static unsigned char *make_code_file(void)
{
	char path[] = "/tmp/hi-copy-code-XXXXXX";
	int fd = mkstemp(path);
	uint64_t words[4 * PAGE / 8];
	void *at;

	for (size_t i = 0; i < 4 * PAGE / 8; i++)
		words[i] = 99;
	HI_ASSERT(write(fd, words, sizeof(words)) == sizeof(words));
	at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	HI_ASSERT(at != MAP_FAILED);
	close(fd);
	unlink(path);
	return at;
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY) ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		_exit(3);
}

static void wait_as_nobody(uint64_t *words, volatile unsigned char *code, int ready)
{
	alarm(600);
	become_nobody();
	for (size_t i = 0; i < 16 * PAGE / 8; i++)
		words[i] = pattern_word((uintptr_t)&words[i]);
	for (size_t i = 0; i < 4; i++)
		(void)code[i * PAGE];
	mprotect(words, 16 * PAGE, PROT_NONE);
	if (write(ready, "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* 0 if the image holds the unreadable words and the code whose file is gone. */
static int copy_as_nobody(pid_t pid, const uint64_t *words, const unsigned char *code)
{
	struct hi_stop_options options = {};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	uint64_t word;

	become_nobody();
	if (hi_target_open(pid, &target, NULL) != HI_OK ||
	    hi_copy_prepare(target, &options, &copy, NULL) != HI_OK ||
	    hi_copy_run(copy, NULL) != HI_OK ||
	    hi_copy_finish(copy, NULL, 0, &image, NULL) != HI_OK)
		return 10;
	for (size_t i = 0; i < 16 * PAGE / 8; i++)
		if (hi_memory_read_u64(image->memory, (uintptr_t)&words[i], &word,
				       NULL) != HI_OK ||
		    word != pattern_word((uintptr_t)&words[i]))
			return 11;
	for (size_t i = 0; i < 4; i++)
		if (hi_memory_read_u64(image->memory, (uintptr_t)code + i * PAGE, &word,
				       NULL) != HI_OK ||
		    word != 99)
			return 12;
	return image->complete ? 0 : 13;
}

static void end_child(void *arg)
{
	kill((pid_t)(intptr_t)arg, SIGKILL);
	waitpid((pid_t)(intptr_t)arg, NULL, 0);
}

HI_TEST_ROOT(copy, a_user_copies_a_process_of_their_own_with_code_whose_file_is_gone)
{
	unsigned char *code = make_code_file();
	uint64_t *words = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ready[2], status;
	pid_t pid, copier;
	char byte;

	HI_ASSERT(pipe(ready) == 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		wait_as_nobody(words, code, ready[1]);
	hi_test_defer(end_child, (void *)(intptr_t)pid);
	close(ready[1]); /* so that a child that fails is seen to end */
	HI_ASSERT(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	copier = fork();
	if (copier == 0)
		_exit(copy_as_nobody(pid, words, code));
	HI_ASSERT(waitpid(copier, &status, 0) == copier);
	munmap(code, 4 * PAGE);
	munmap(words, 16 * PAGE);
	HI_ASSERT_EQ(0, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Every page of our own memory, asked both ways. */
HI_TEST(pagemap, scanning_and_reading_agree_on_every_page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	/* More runs than the kernel's own buffer and ours have room for. */
	const int n = 20000;
	const uint64_t size = (uint64_t)n * PAGE;
	unsigned char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hi_page_runs scanned = {}, read = {};
	struct hi_pagemap scan, plain = {.fd = fd};
	struct hi_error err = {};
	uint64_t start = (uintptr_t)at, present = 0;

	madvise(at, size, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i += 2 + i % 3)
		at[(size_t)i * PAGE] = 1;
	hi_pagemap_init(&scan, fd, getpid());
	if (!scan.categories)
		hi_test_note("this kernel has no PAGEMAP_SCAN");
	HI_ASSERT_OK(hi_pagemap_collect(&scan, start, start + size, &scanned, &err),
		     &err);
	HI_ASSERT_OK(hi_pagemap_collect(&plain, start, start + size, &read, &err), &err);
	HI_ASSERT_EQ(read.count, scanned.count);
	for (size_t i = 0; i < read.count; i++) {
		HI_ASSERT_EQ(read.items[i].start, scanned.items[i].start);
		HI_ASSERT_EQ(read.items[i].end, scanned.items[i].end);
		HI_ASSERT_EQ(read.items[i].flags, scanned.items[i].flags);
		present += (read.items[i].end - read.items[i].start) / PAGE;
	}
	for (int i = 0; i < n; i += 2 + i % 3)
		present--;
	HI_ASSERT_EQ(0, present);
	hi_pagemap_free(&scan);
	hi_pagemap_free(&plain);
	hi_vector_free(&scanned);
	hi_vector_free(&read);
	munmap(at, size);
	close(fd);
}

static enum hi_status copy_once(pid_t pid)
{
	struct hi_stop_options options = {.threads = 1};
	struct hi_thread thread = {.tid = pid};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	enum hi_status status = hi_target_open(pid, &target, NULL);

	if (status == HI_OK)
		status = hi_copy_prepare(target, &options, &copy, NULL);
	if (status == HI_OK)
		status = hi_copy_run(copy, NULL);
	if (status == HI_OK)
		status = hi_copy_finish(hi_take(copy), &thread, 1, &image, NULL);
	hi_copy_destroy(copy);
	hi_image_destroy(image);
	hi_target_close(target);
	return status;
}

HI_TEST_SCENARIO(copy, out_of_memory_at_any_allocation_is_an_error_and_leaks_nothing)
{
	struct hi_fixture *fx = hi_fixture_start("copy_pages", NULL);
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth = 0;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_STATUS(HI_OK, copy_once(fx->pid));
	while (status != HI_OK && nth < 2000) {
		hi_alloc_fail_at(++nth);
		status = copy_once(fx->pid);
		hi_alloc_fail_at(0);
		HI_ASSERT_MSG(status == HI_OK || status == HI_NO_MEMORY,
			      "allocation %llu: %s", (unsigned long long)nth,
			      hi_status_text(status));
	}
	HI_ASSERT_STATUS(HI_OK, status);
	HI_ASSERT(nth > 20);
}
