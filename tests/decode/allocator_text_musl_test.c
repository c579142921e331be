/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of musl's malloc, found in a static program and in libc.so without symbols,
 * against what the symbols of the static one say, and what libc.so exports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/allocators/malloc_text.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"

struct function {
	uint64_t start, end;
	char name[64];
};
struct functions {
	struct function items[8192];
	size_t count;
};

/* readelf -sW: "Num: Value Size Type Bind Vis Ndx Name". */
static struct functions *read_functions(const char *path)
{
	struct functions *f = calloc(1, sizeof(*f));
	struct hi_command *c = hi_command_run(0, "readelf", "-sW", path, NULL);

	HI_ASSERT(f);
	hi_test_defer(free, f);
	for (char *line = strtok(c->out, "\n"); line && f->count < 8192;
	     line = strtok(NULL, "\n")) {
		struct function *at = &f->items[f->count];
		unsigned long size;
		char type[16];

		if (sscanf(line, "%*u: %lx %lu %15s %*s %*s %*s %63s", &at->start, &size,
			   type, at->name) == 4 &&
		    strcmp(type, "FUNC") == 0 && size) {
			at->end = at->start + size;
			f->count++;
		}
	}
	HI_ASSERT(f->count > 100);
	return f;
}

static bool is_covered(const struct hi_range *ranges, size_t n, uint64_t start,
		       uint64_t end)
{
	for (size_t i = 0; i < n; i++)
		if (ranges[i].start <= start && end <= ranges[i].end)
			return true;
	return false;
}

static struct hi_range *find_text(struct hi_fixture *fx, size_t *n_ret)
{
	struct hi_target *target = hi_live_target(fx->pid);
	struct hi_range *ranges = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_text_with(target, true, &ranges, n_ret, &err), &err);
	hi_test_defer(free, ranges);
	return ranges;
}

HI_TEST_SCENARIO(allocator_text_musl, covers_malloc_of_a_static_program)
{
	static const char *const inside[] = {"__libc_malloc_impl", "__libc_free",
					     "__libc_realloc", "alloc_slot",
					     "aligned_alloc"};
	static const char *const outside[] = {"main", "memcpy", "__lock",
					      "read", "__mmap", "printf"};
	struct hi_fixture *fx =
		hi_fixture_start("allocator_churn_musl_static", "1", "100", NULL);
	struct functions *f =
		read_functions(HI_FIXTURE_DIR "/allocator_churn_musl_static");
	size_t n, seen = 0;
	struct hi_range *ranges;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	ranges = find_text(fx, &n);
	for (size_t i = 0; i < f->count; i++) {
		const struct function *at = &f->items[i];

		for (size_t k = 0; k < sizeof(inside) / sizeof(*inside); k++) {
			if (strcmp(at->name, inside[k]) != 0)
				continue;
			seen++;
			HI_ASSERT_MSG(is_covered(ranges, n, at->start, at->end), "%s",
				      at->name);
		}
		for (size_t k = 0; k < sizeof(outside) / sizeof(*outside); k++)
			HI_ASSERT_MSG(
				strcmp(at->name, outside[k]) != 0 ||
					!is_covered(ranges, n, at->start, at->start + 1),
				"%s", at->name);
	}
	HI_ASSERT_EQ(5, seen);
}

/* libc.so exports only names that hand the call on, and its inside has no symbols: of
 * those that do it themselves, aligned_alloc and malloc_usable_size are exported. */
HI_TEST_SCENARIO(allocator_text_musl, covers_malloc_of_the_shared_library)
{
	static const char path[] = "/usr/lib/x86_64-linux-musl/libc.so";
	struct hi_fixture *fx = hi_fixture_start("musl_dynamic", NULL);
	struct functions *f = read_functions(path);
	size_t n, seen = 0;
	struct hi_range *ranges;
	uint64_t base = 0, bytes = 0;
	struct hi_target *target;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	target = hi_live_target(fx->pid);
	for (size_t i = 0; i < target->n_mappings && !base; i++)
		if (strcmp(target->mappings[i].path, path) == 0)
			base = target->mappings[i].start;
	HI_ASSERT(base);
	ranges = find_text(fx, &n);
	for (size_t i = 0; i < n; i++)
		bytes += ranges[i].end - ranges[i].start;
	HI_ASSERT_MSG(bytes > 2000 && bytes < 40000, "%lu", (unsigned long)bytes);
	for (size_t i = 0; i < f->count; i++) {
		const struct function *at = &f->items[i];
		bool is_inside = strcmp(at->name, "aligned_alloc") == 0 ||
				 strcmp(at->name, "malloc_usable_size") == 0;

		seen += is_inside;
		HI_ASSERT_MSG(!is_inside || is_covered(ranges, n, base + at->start,
						       base + at->end),
			      "%s", at->name);
		HI_ASSERT_MSG((strcmp(at->name, "read") != 0 &&
			       strcmp(at->name, "pthread_mutex_lock") != 0) ||
				      !is_covered(ranges, n, base + at->start,
						  base + at->start + 1),
			      "%s", at->name);
	}
	HI_ASSERT_EQ(2, seen);
}
