/* SPDX-License-Identifier: BSD-2-Clause */
/* mimalloc in live processes: Debian's library, preloaded. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/command.h"
#include "tests/support/live_image.h"

#define LIBRARY "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0"

HI_TEST_SCENARIO(mimalloc_scenario, the_library_has_the_blocks_of_the_shim)
{
	static const struct allocator_run run = {.preload = "libmimalloc.so.2.0",
						 .arguments = {"3", "20000"},
						 .parts = "mimalloc"};
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_churn_start(&run);

	allocator_truth_stop(fx->pid, &run, HI_REQUEST_COPY, &figures);
	allocator_churn_tell(fx, "round", "ready");
	allocator_truth_stop(fx->pid, &run, HI_REQUEST_FORK, &figures);
	allocator_figures_note("mimalloc", &figures);
	HI_ASSERT_EQ(0, figures.in_calls);
	HI_ASSERT(strcmp(figures.version, "2.0.9") == 0);
	HI_ASSERT(strstr(figures.checks, "free lists"));
	allocator_figures_expect(&figures);
}

/* Copies of one library are different modules, each with a cookie of its own. */
static char copy_paths[2][64];
static void remove_copies(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++)
		unlink(copy_paths[i]);
}

static struct hi_fixture *start_copies(void)
{
	struct hi_fixture *fx;

	hi_test_defer(remove_copies, NULL);
	for (int i = 0; i < 2; i++) {
		snprintf(copy_paths[i], sizeof(copy_paths[i]), "/tmp/copy%d-%d.so", i,
			 getpid());
		HI_ASSERT_EQ(
			0,
			hi_command_run(0, "cp", LIBRARY, copy_paths[i], NULL)->exit_code);
	}
	fx = hi_fixture_start("mimalloc_copies", copy_paths[0], copy_paths[1], NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
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

HI_TEST_SCENARIO(mimalloc_scenario, two_copies_are_two_allocators)
{
	struct hi_fixture *fx = start_copies();
	struct hi_image *image = hi_live_image(fx->pid);
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_modules *modules = NULL;
	struct hi_allocator *a = NULL;
	struct hi_error err;
	uint64_t found = 0;

	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	HI_ASSERT_OK(hi_allocator_probe(image, modules, &a, &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(a, ignore_blocks, NULL, &err), &err);
	for (size_t i = 0; i < a->n_parts; i++) {
		const struct hi_allocator *part = a->parts[i];
		int copy = strncmp(part->module, "copy1", 5) == 0;

		if (strcmp(part->name, "mimalloc") != 0)
			continue;
		found++;
		HI_ASSERT_EQ(copy ? 2000 : 1000, part->count[HI_BLOCK_LIVE]);
	}
	hi_allocator_release(a);
	hi_modules_close(modules);
	HI_ASSERT_EQ(2, found);
}
