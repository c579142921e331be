/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other versions and configurations of allocators, which scripts/build-allocators builds,
 * against the table of the shim; and options of Debian's jemalloc. One that no table of
 * layouts fits must be refused by name, or not be found: never miscounted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/modules/modules.h"
#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/stopping.h"

#define BUILT HI_SOURCE_DIR "/build/allocators/"

enum { STOPS_AT_REST = 4, STOPS_UNDER_LOAD = 6 };

static void expect_built(const char *path)
{
	HI_ASSERT_MSG(access(path, R_OK) == 0, "no %s: run scripts/build-allocators",
		      path);
}

/* Four threads; blocks at rest, by copy and fork, then under load. */
static void try_variant(const struct allocator_run *kind)
{
	struct allocator_figures rest = {}, load = {};
	struct allocator_run run = *kind;
	struct hi_fixture *fx;

	run.arguments[0] = "4";
	run.arguments[1] = "100000";
	run.room = 110000;
	fx = allocator_churn_start(&run);
	for (unsigned i = 0; i < STOPS_AT_REST; i++) {
		allocator_truth_stop(fx->pid, &run,
				     i % 2 ? HI_REQUEST_FORK : HI_REQUEST_COPY, &rest);
		allocator_churn_tell(fx, "round", "ready");
	}
	allocator_churn_tell(fx, "load", "loaded");
	for (unsigned i = 0; i < STOPS_UNDER_LOAD; i++)
		allocator_truth_stop(fx->pid, &run, HI_REQUEST_AUTO, &load);
	allocator_figures_note("at rest", &rest);
	allocator_figures_note("under load", &load);
	allocator_figures_expect(&rest);
	allocator_figures_expect(&load);
}

static void try_library(const char *name, const char *parts)
{
	char path[512];
	struct allocator_run run = {.preload = path, .parts = parts};

	snprintf(path, sizeof(path), BUILT "%s.so", name);
	expect_built(path);
	try_variant(&run);
}

static void try_program(const char *name, const char *parts)
{
	char path[512];
	struct allocator_run run = {.program = path, .shim = "", .parts = parts};

	snprintf(path, sizeof(path), BUILT "%s", name);
	expect_built(path);
	try_variant(&run);
}

/* Refused, or nothing is found: in no case is it walked. */
static void expect_refused(const char *name, const char *allocator)
{
	char path[512];
	struct allocator_run run = {.preload = path, .arguments = {"2", "5000"}};
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_stop_options stop = {.max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_allocator *a = NULL;
	struct hi_modules *modules;
	struct hi_target *target;
	struct hi_image *image;
	struct hi_fixture *fx;
	struct hi_error err = {};

	snprintf(path, sizeof(path), BUILT "%s.so", name);
	expect_built(path);
	fx = allocator_churn_start(&run);
	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	HI_ASSERT_OK(hi_stop_and_copy(target, &stop, &image, &err), &err);
	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	if (hi_allocator_probe(image, modules, &a, &err) != HI_OK)
		hi_test_note("%s: %s", name, err.text);
	HI_ASSERT(!hi_allocator_has(a, allocator));
	for (size_t i = 0; a && i < a->n_refused; i++)
		hi_test_note("%s: %s: %s", name, a->refused[i].name, a->refused[i].text);
	hi_allocator_release(a);
	hi_modules_close(modules);
	hi_image_destroy(image);
	hi_target_close(target);
}

#define LIBRARY(NAME, FILE, PARTS)                                                       \
	HI_TEST_SLOW(allocator_variants, NAME)                                           \
	{                                                                                \
		try_library(FILE, PARTS);                                                \
	}
#define PROGRAM(NAME, FILE, PARTS)                                                       \
	HI_TEST_SLOW(allocator_variants, NAME)                                           \
	{                                                                                \
		try_program(FILE, PARTS);                                                \
	}
#define REFUSED(NAME, FILE, ALLOCATOR)                                                   \
	HI_TEST_SLOW(allocator_variants, NAME)                                           \
	{                                                                                \
		expect_refused(FILE, ALLOCATOR);                                         \
	}
#define CONFIGURED(NAME, CONFIGURATION)                                                  \
	HI_TEST_SLOW(allocator_variants, NAME)                                           \
	{                                                                                \
		static const struct allocator_run run = {                                \
			.preload = "libjemalloc.so.2",                                   \
			.environment = {"MALLOC_CONF=" CONFIGURATION},                   \
			.parts = "jemalloc"};                                            \
		try_variant(&run);                                                       \
	}

LIBRARY(jemalloc_521, "jemalloc-5.2.1", "jemalloc")
PROGRAM(jemalloc_521_static, "jemalloc-5.2.1-static", "jemalloc")
LIBRARY(jemalloc_530_trixie, "jemalloc-5.3.0-trixie", "jemalloc")
LIBRARY(jemalloc_quantum3, "jemalloc-quantum3", "jemalloc")
PROGRAM(jemalloc_quantum3_static, "jemalloc-quantum3-static", "jemalloc")
LIBRARY(tcmalloc_page32k, "tcmalloc-page32k", "tcmalloc")
PROGRAM(mimalloc_static, "mimalloc-2.0.9-static", "mimalloc")
LIBRARY(mimalloc_padding, "mimalloc-2.0.9-padding", "mimalloc")
LIBRARY(mimalloc_219, "mimalloc-2.1.9", "mimalloc")
LIBRARY(mimalloc_secure, "mimalloc-2.0.9-secure", "mimalloc")
LIBRARY(mimalloc_debug, "mimalloc-2.0.9-debug", "mimalloc")
PROGRAM(musl_125, "musl-1.2.5", "musl")
PROGRAM(musl_126, "musl-1.2.6", "musl")
PROGRAM(musl_123_oldmalloc, "musl-1.2.3-oldmalloc", "musl")
PROGRAM(musl_125_oldmalloc, "musl-1.2.5-oldmalloc", "musl")
CONFIGURED(jemalloc_without_caches, "narenas:1,tcache:false")
CONFIGURED(jemalloc_arena_per_processor, "percpu_arena:percpu,background_thread:true")
CONFIGURED(jemalloc_background_thread, "background_thread:true,narenas:2")
CONFIGURED(jemalloc_junk, "junk:true")
CONFIGURED(jemalloc_huge_pages, "hpa:true,metadata_thp:always")
CONFIGURED(jemalloc_break, "dss:primary,lg_tcache_max:18,tcache_nslots_small_max:1000")
CONFIGURED(jemalloc_shards, "slab_sizes:1-4096:17,bin_shards:1-160:16,retain:false")
CONFIGURED(jemalloc_guards, "san_guard_small:2,san_guard_large:2")
LIBRARY(mimalloc_301, "mimalloc-3.0.1", "mimalloc")
LIBRARY(mimalloc_360, "mimalloc-3.6.0", "mimalloc")
REFUSED(jemalloc_page16k, "jemalloc-page16k", "jemalloc")
