/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * malloc's text of a running program, with and without symbols, against what
 * readelf says about libc6-dbg: the functions that the file malloc.c defines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "decode/allocators/malloc_text.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"
#include "tests/support/random.h"

struct symbol {
	uint64_t start, end;
	char name[64];
	bool malloc_c; /* a static function of malloc.c */
};
struct symbols {
	struct symbol items[32768];
	size_t count;
};

static const char *const exported[] = {
	"malloc",	"free",		 "calloc",	   "realloc",
	"memalign",	"aligned_alloc", "posix_memalign", "valloc",
	"pvalloc",	"malloc_trim",	 "mallinfo2",	   "malloc_usable_size",
	"malloc_stats", "mallopt",	 "malloc_info",
};
/* In no list of functions that hold a lock or move a chunk. */
static const char *const harmless[] = {"_dl_tunable_set_", "malloc_printerr"};

static bool starts_with_any(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

static bool is_exported(const char *name)
{
	for (size_t i = 0; i < sizeof(exported) / sizeof(exported[0]); i++)
		if (strcmp(name, exported[i]) == 0)
			return true;
	return false;
}

/* readelf -sW: "Num: Value Size Type Bind Vis Ndx Name". */
static void parse_symbols(char *text, struct symbols *ret)
{
	bool in_malloc_c = false;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char type[16], bind[16], name[256] = "";
		unsigned long value, size;
		struct symbol *s = &ret->items[ret->count];

		if (sscanf(line, "%*u: %lx %li %15s %15s %*s %*s %255s", &value, &size,
			   type, bind, name) < 4)
			continue;
		if (strcmp(type, "FILE") == 0)
			in_malloc_c = strcmp(name, "malloc.c") == 0;
		if (strcmp(type, "FUNC") != 0 || !size || ret->count == 32768)
			continue;
		*s = (struct symbol){.start = value, .end = value + size};
		snprintf(s->name, sizeof(s->name), "%.63s", name);
		s->malloc_c = in_malloc_c && strcmp(bind, "LOCAL") == 0;
		ret->count++;
	}
}

static struct symbols *libc_symbols(void)
{
	static struct symbols symbols;
	struct hi_command *c;

	if (symbols.count)
		return &symbols;
	c = hi_command_run(0, "/bin/sh", "-c",
			   "readelf -sW /usr/lib/debug/.build-id/$(readelf -nW "
			   "/lib/x86_64-linux-gnu/libc.so.6 2>/dev/null | sed -n "
			   "'s|.*Build ID: \\(..\\)\\(.*\\)|\\1/\\2|p').debug",
			   NULL);
	parse_symbols(c->out, &symbols);
	if (!symbols.count)
		HI_SKIP("libc6-dbg is not installed");
	return &symbols;
}

static uint64_t libc_base(const struct hi_target *target)
{
	for (size_t i = 0; i < target->n_mappings; i++)
		if (strstr(target->mappings[i].path, "/libc.so.6"))
			return target->mappings[i].start;
	return 0;
}

static bool covers(const struct hi_range *ranges, size_t n, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < n; i++)
		if (start >= ranges[i].start && end <= ranges[i].end)
			return true;
	return false;
}

static void check(bool without_symbols)
{
	struct hi_fixture *fx = hi_fixture_start("glibc_blocks", "1", "100", NULL);
	struct symbols *symbols = libc_symbols();
	struct hi_target *target;
	struct hi_range *ranges;
	struct hi_error err;
	uint64_t base, total = 0;
	size_t n = 0, n_checked = 0;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	target = hi_live_target(fx->pid);
	HI_ASSERT_OK(hi_allocator_text_with(target, without_symbols, &ranges, &n, &err),
		     &err);
	base = libc_base(target);
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *s = &symbols->items[i];

		if ((!s->malloc_c && !is_exported(s->name)) ||
		    starts_with_any(s->name, harmless, 2))
			continue;
		HI_ASSERT_MSG(covers(ranges, n, base + s->start, base + s->end),
			      "%s is left out", s->name);
		n_checked++;
	}
	HI_ASSERT(n_checked > 30);
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT(ranges[i].start < ranges[i].end);
		HI_ASSERT(i == 0 || ranges[i].start > ranges[i - 1].end);
		total += ranges[i].end - ranges[i].start;
	}
	hi_test_note("%zu functions in %zu ranges, %lu bytes", n_checked, n,
		     (unsigned long)total);
	/* Functions that wait or copy for everybody are not in it. */
	for (size_t i = 0; i < symbols->count; i++) {
		static const char *const foreign[] = {
			"abort",	"mmap",
			"munmap",	"__libc_message",
			"sbrk",		"read",
			"memcpy",	"__lll_lock_wait_private",
			"printf",	"reallocarray",
			"obstack_free", "timer_create",
			"strdup"};
		const struct symbol *s = &symbols->items[i];

		for (size_t k = 0; k < sizeof(foreign) / sizeof(foreign[0]); k++)
			if (strcmp(s->name, foreign[k]) == 0)
				HI_ASSERT_MSG(!covers(ranges, n, base + s->start,
						      base + s->start + 1),
					      "%s is in it", s->name);
	}
	free(ranges);
}

HI_TEST_SCENARIO(allocator_text, symbols_cover_every_function_of_malloc_c)
{
	check(false);
}

HI_TEST_SCENARIO(allocator_text, a_stripped_libc_yields_the_same_functions)
{
	check(true);
}

HI_TEST_SCENARIO(allocator_text, a_static_program_is_its_own_allocator)
{
	struct hi_fixture *fx = hi_fixture_start("glibc_static", "1", "100", NULL);
	struct hi_range *ranges;
	struct hi_error err;
	size_t n = 0;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_allocator_text(hi_live_target(fx->pid), &ranges, &n, &err), &err);
	HI_ASSERT(n > 0);
	free(ranges);
}

HI_TEST_SCENARIO(allocator_text, looking_costs_milliseconds)
{
	struct hi_fixture *fx = hi_fixture_start("glibc_blocks", "1", "100", NULL);
	struct hi_target *target;
	struct timespec a, b;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	target = hi_live_target(fx->pid);
	for (int k = 0; k < 2; k++) {
		struct hi_range *ranges;
		struct hi_error err;
		size_t n;

		clock_gettime(CLOCK_MONOTONIC, &a);
		HI_ASSERT_OK(hi_allocator_text_with(target, k, &ranges, &n, &err), &err);
		clock_gettime(CLOCK_MONOTONIC, &b);
		hi_test_note("%s symbols: %ld us", k ? "without" : "with",
			     (b.tv_sec - a.tv_sec) * 1000000 +
				     (b.tv_nsec - a.tv_nsec) / 1000);
		free(ranges);
	}
}

HI_TEST_SCENARIO(allocator_text, running_out_of_memory_is_said)
{
	struct hi_fixture *fx = hi_fixture_start("glibc_blocks", "1", "100", NULL);
	struct hi_target *target;
	bool done = false;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	target = hi_live_target(fx->pid);
	for (uint64_t n = 1; !done && n < 200; n++) {
		struct hi_range *ranges = NULL;
		enum hi_status status;
		size_t n_ranges = 0;

		hi_alloc_fail_at(n);
		status = hi_allocator_text(target, &ranges, &n_ranges, NULL);
		done = hi_alloc_count() < n;
		hi_alloc_fail_at(0);
		HI_ASSERT_EQ(done ? HI_OK : HI_NO_MEMORY, status);
		free(ranges);
	}
	HI_ASSERT(done);
}

/* ---- damaged files ---- */

static uint64_t random_state;

static uint8_t *read_libc(size_t *size_ret)
{
	FILE *f = fopen("/lib/x86_64-linux-gnu/libc.so.6", "rb");
	uint8_t *bytes;

	HI_ASSERT(f);
	fseek(f, 0, SEEK_END);
	*size_ret = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*size_ret);
	HI_ASSERT(bytes && fread(bytes, 1, *size_ret, f) == *size_ret);
	fclose(f);
	return bytes;
}

HI_TEST(allocator_text, a_damaged_library_is_never_fatal)
{
	size_t size;
	uint8_t *bytes = read_libc(&size), *damaged = malloc(size);

	HI_ASSERT(damaged);
	elf_version(EV_CURRENT);
	for (int round = 0; round < 60; round++) {
		struct hi_range_list list = {};
		enum hi_status status;
		Elf *elf;

		memcpy(damaged, bytes, size);
		for (int i = 0; i < 200; i++) {
			/* Program headers, dynamic symbols, the frame table. */
			static const size_t spans[] = {1024, 200 << 10, 1 << 20};
			size_t span = spans[next_random(&random_state) % 3],
			       at = next_random(&random_state) % span;

			if (round % 2)
				at = size - span + at;
			if (at >= 64)
				damaged[at] = (uint8_t)next_random(&random_state);
		}
		elf = elf_memory((char *)damaged, size);
		if (!elf)
			continue;
		status = hi_malloc_text_by_frames(elf, &list, NULL);
		HI_ASSERT(status == HI_OK || status == HI_NOT_FOUND);
		status = hi_malloc_text_by_symbols(elf, &list, NULL);
		HI_ASSERT(status == HI_OK || status == HI_NOT_FOUND);
		for (size_t i = 0; i < list.count; i++)
			HI_ASSERT(list.items[i].start < list.items[i].end);
		hi_vector_free(&list);
		elf_end(elf);
	}
	free(damaged);
	free(bytes);
}
