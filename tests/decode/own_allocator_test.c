/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs with a malloc of their own: it is said to be unknown, and none is invented. */
#include <string.h>

#include "decode/allocator.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"

static struct hi_modules *modules;
static struct hi_allocator *allocator;

static void close_own(void *arg)
{
	(void)arg;
	hi_allocator_release(allocator);
	allocator = NULL;
	hi_modules_close(modules);
	modules = NULL;
}

static enum hi_status probe_program(const char *program, const char *what,
				    struct hi_error *err)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_fixture *fx = hi_fixture_start(program, "1000", what, NULL);
	struct hi_image *image;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	image = hi_live_image(fx->pid);
	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, err), err);
	hi_test_defer(close_own, NULL);
	return hi_allocator_probe(image, modules, &allocator, err);
}

static void expect_unknown(const char *program)
{
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND, probe_program(program, NULL, &err));
	HI_ASSERT_MSG(strstr(err.text, "no known allocator"), "%s", err.text);
}

HI_TEST_SCENARIO(own_allocator, heap_of_an_own_allocator_is_unknown)
{
	expect_unknown("own_allocator");
}

HI_TEST_SCENARIO(own_allocator, heap_of_a_static_program_without_symbols_is_unknown)
{
	expect_unknown("own_allocator_static");
}

static bool ignore_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			  void *arg)
{
	(void)blocks;
	(void)n;
	(void)region;
	(void)arg;
	return true;
}

/* Only glibc's blocks are counted. */
HI_TEST_SCENARIO(own_allocator, allocator_beside_glibc_leaves_its_heap_whole)
{
	struct hi_error err;

	HI_ASSERT_OK(probe_program("own_allocator", "libc", &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(allocator, ignore_blocks, NULL, &err), &err);
	HI_ASSERT_STREQ("glibc", allocator->name);
	HI_ASSERT_EQ(1000, allocator->count[HI_BLOCK_LIVE]);
	HI_ASSERT_EQ(0, allocator->n_damage_total);
}
