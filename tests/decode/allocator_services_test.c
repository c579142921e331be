/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stock services of Debian on jemalloc: redis-server, whose allocator counts the regions
 * of each bin itself, and varnishd with the shim in front of its allocator.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/child.h"
#include "tests/support/service.h"
#include "tests/support/stopping.h"

/* Regions are smaller than SMALL; bins without one are not in the table. */
enum { BINS = 64, TRIES = 20, COLUMNS = 64, SMALL = 16384 };

struct bins {
	struct bin {
		uint64_t size, regions;
	} items[BINS];
	size_t count;
	uint64_t others; /* small regions of sizes that are not in the table */
};

/* ---- redis ---- */

/* The words of a line; "(#/sec)" is a column of its own. */
static size_t split_columns(char *line, char *columns[COLUMNS])
{
	size_t n = 0;
	char *rest = NULL;

	for (char *word = strtok_r(line, " \t", &rest); word && n < COLUMNS;
	     word = strtok_r(NULL, " \t", &rest))
		columns[n++] = word;
	return n;
}

static size_t column_of(char *const columns[], size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(columns[i], name) == 0)
			return i;
	hi_test_fail(__FILE__, __LINE__, "no column %s", name);
}

/* The first table of bins in what malloc_stats_print() says: that of all arenas. Its
 * head begins with "bins:", which its rows do not have. */
static void parse_bins(char *text, struct bins *ret)
{
	char *columns[COLUMNS], *at = strstr(text, "bins:"), *rest = NULL;
	size_t n, size, regions;
	char *line;

	HI_ASSERT(at);
	line = strtok_r(at, "\n", &rest);
	n = split_columns(line, columns);
	size = column_of(columns, n, "size") - 1;
	regions = column_of(columns, n, "curregs") - 1;
	ret->count = 0;
	while ((line = strtok_r(NULL, "\n", &rest)) && strncmp(line, "large:", 6) != 0) {
		size_t got = split_columns(line, columns);

		if (got <= regions || ret->count == BINS || columns[size][0] < '0' ||
		    columns[size][0] > '9')
			continue;
		ret->items[ret->count++] =
			(struct bin){strtoull(columns[size], NULL, 10),
				     strtoull(columns[regions], NULL, 10)};
	}
	HI_ASSERT(ret->count > 15);
}

static void ask_bins(struct hi_service *s, struct bins *ret)
{
	char *text = strdup(hi_service_ask(s, "MEMORY MALLOC-STATS\r\n",
					   "--- End jemalloc statistics ---\n\r\n"));

	HI_ASSERT(text);
	parse_bins(text, ret);
	free(text);
}

static bool count_regions(const struct hi_block *blocks, size_t n, unsigned region,
			  void *arg)
{
	struct bins *walked = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		if (blocks[i].usable >= SMALL ||
		    (blocks[i].state != HI_BLOCK_LIVE &&
		     blocks[i].state != HI_BLOCK_INTERNAL &&
		     blocks[i].state != HI_BLOCK_FREE_TCACHE))
			continue;
		while (k < walked->count && walked->items[k].size != blocks[i].usable)
			k++;
		if (k < walked->count)
			walked->items[k].regions++;
		else
			walked->others++;
	}
	return true;
}

/* walked has the sizes of the bins; counts what is not free in its slab. */
static void walk_bins(pid_t pid, struct bins *walked)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_stop_options stop = {.max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_allocator *a;
	struct hi_modules *modules;
	struct hi_target *target;
	struct hi_image *image;
	struct hi_error err;

	HI_ASSERT_OK(hi_target_open(pid, &target, &err), &err);
	HI_ASSERT_OK(hi_stop_and_copy(target, &stop, &image, &err), &err);
	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	HI_ASSERT_OK(hi_allocator_probe(image, modules, &a, &err), &err);
	HI_ASSERT(hi_allocator_has(a, "jemalloc"));
	for (size_t i = 0; i < walked->count; i++)
		walked->items[i].regions = 0;
	if (!a->n_parts)
		HI_ASSERT_OK(hi_allocator_walk(a, count_regions, walked, &err), &err);
	for (size_t i = 0; i < a->n_parts; i++)
		if (strcmp(a->parts[i]->ops->name, "jemalloc") == 0)
			HI_ASSERT_OK(hi_allocator_walk(a->parts[i], count_regions, walked,
						       &err),
				     &err);
	hi_allocator_release(a);
	hi_modules_close(modules);
	hi_image_destroy(image);
	hi_target_close(target);
}

/* Bins that differ; redis allocates a little between the two. */
static size_t count_differing(const struct bins *said, const struct bins *walked,
			      bool is_last)
{
	size_t n = walked->others != 0;

	for (size_t i = 0; i < said->count; i++) {
		if (said->items[i].regions == walked->items[i].regions)
			continue;
		n++;
		if (is_last)
			hi_test_note("bin %" PRIu64 ": redis says %" PRIu64
				     ", walked %" PRIu64,
				     said->items[i].size, said->items[i].regions,
				     walked->items[i].regions);
	}
	return n;
}

HI_TEST_SCENARIO(allocator_services, redis_has_the_regions_that_its_allocator_counts)
{
	struct hi_service *s = hi_service_create();
	const char *argv[] = {"/usr/bin/redis-server",
			      "--port",
			      "0",
			      "--save",
			      "",
			      "--enable-debug-command",
			      "yes",
			      "--io-threads",
			      "2",
			      "--unixsocket",
			      s->socket_path,
			      NULL};
	struct bins said, walked;
	size_t differing = 1, regions = 0;

	hi_service_start(s, 1, argv);
	hi_service_ask(s, "DEBUG POPULATE 50000 key 40\r\n", "+OK\r\n");
	for (int i = 0; i < TRIES && differing; i++) {
		ask_bins(s, &said);
		walked = said;
		walked.others = 0;
		walk_bins(s->pid, &walked);
		differing = count_differing(&said, &walked, i == TRIES - 1);
	}
	for (size_t i = 0; i < said.count; i++)
		regions += said.items[i].regions;
	hi_test_note("%zu bins, %zu regions", said.count, regions);
	HI_ASSERT_EQ(0, differing);
	HI_ASSERT(regions > 100000);
}

/* ---- varnish ---- */

static void compare_service(pid_t pid, const char *what)
{
	static const struct allocator_run run = {.parts = "jemalloc"};
	struct allocator_figures figures = {};

	allocator_truth_stop(pid, &run, HI_REQUEST_COPY, &figures);
	allocator_figures_note(what, &figures);
	allocator_figures_expect(&figures);
}

HI_TEST_SCENARIO(allocator_services, varnish_has_the_blocks_of_the_shim)
{
	struct hi_service *s = hi_service_create();
	const char *argv[] = {"/usr/bin/env",
			      "LD_PRELOAD=" HI_FIXTURE_DIR "/liballocator_shim.so",
			      "/usr/sbin/varnishd",
			      "-F",
			      "-j",
			      "none",
			      "-b",
			      "none",
			      "-n",
			      s->directory,
			      "-a",
			      s->socket_path,
			      NULL};

	hi_service_start(s, 1, argv);
	hi_service_ask(s, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "</html>\n");
	compare_service(s->pid, "manager");
	compare_service(hi_child_first(s->pid), "child");
}
