/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/typed_process.h"

#include <stdio.h>
#include <stdlib.h>

#include "attach/core.h"
#include "attach/stop.h"
#include "base/alloc.h"
#include "tests/harness.h"
#include "tests/support/typed_graph.h"

static struct hi_error process_err;

struct filling {
	struct hi_objects_builder *builder;
	unsigned *regions;
};

static bool add_blocks(const struct hi_block *blocks, size_t n, unsigned region,
		       void *arg)
{
	struct filling *f = arg;

	for (size_t i = 0; i < n; i++) {
		uint8_t flags = 0;

		if (blocks[i].state > HI_BLOCK_INTERNAL)
			continue;
		if (blocks[i].state == HI_BLOCK_INTERNAL)
			flags = HI_OBJECT_INTERNAL;
		HI_ASSERT_OK(hi_objects_builder_add(f->builder, f->regions[region],
						    blocks[i].addr, blocks[i].usable,
						    flags, &process_err),
			     &process_err);
	}
	return true;
}

static bool add_runtime_blocks(const struct hi_runtime_block *blocks, size_t n,
			       size_t area, void *arg)
{
	struct filling *f = arg;

	for (size_t i = 0; i < n; i++)
		HI_ASSERT_OK(hi_objects_builder_add(f->builder, f->regions[area],
						    blocks[i].addr, blocks[i].size,
						    2 << HI_OBJECT_OVERHEAD_SHIFT,
						    &process_err),
			     &process_err);
	return true;
}

static void walk_runtime(struct hi_objects_builder *builder, struct hi_runtime *runtime)
{
	struct filling f = {.builder = builder,
			    .regions = hi_calloc(runtime->n_areas + 1, sizeof(unsigned))};

	HI_ASSERT(f.regions);
	for (size_t i = 0; i < runtime->n_areas; i++)
		HI_ASSERT_OK(hi_objects_builder_region(builder, runtime->areas[i].start,
						       runtime->areas[i].end,
						       runtime->areas[i].align_shift,
						       &f.regions[i], &process_err),
			     &process_err);
	HI_ASSERT_OK(hi_runtime_walk(runtime, add_runtime_blocks, &f, &process_err),
		     &process_err);
	free(f.regions);
}

static struct hi_objects *walk(struct hi_allocator *a, struct hi_runtime *runtime)
{
	struct filling f = {.regions = hi_calloc(a->n_regions + 1, sizeof(unsigned))};
	struct hi_objects *objects = NULL;

	HI_ASSERT(f.regions);
	HI_ASSERT_OK(hi_objects_builder_create(&f.builder, &process_err), &process_err);
	hi_objects_builder_overhead(f.builder, 0, 8);
	for (size_t i = 0; i < a->n_regions; i++)
		HI_ASSERT_OK(hi_objects_builder_region(f.builder, a->regions[i].start,
						       a->regions[i].end, 4,
						       &f.regions[i], &process_err),
			     &process_err);
	HI_ASSERT_OK(hi_allocator_walk(a, add_blocks, &f, &process_err), &process_err);
	if (runtime)
		walk_runtime(f.builder, runtime);
	HI_ASSERT_OK(hi_objects_seal(f.builder, &objects, &process_err), &process_err);
	free(f.regions);
	return objects;
}

static void process_free(struct typed_process *p)
{
	hi_typing_destroy(p->typing);
	hi_graph_destroy(p->graph);
	hi_rulebook_destroy(p->rulebook);
	hi_runtime_release(p->runtime);
	hi_allocator_release(p->allocator);
	hi_types_close(p->types);
	hi_modules_close(p->modules);
	hi_image_destroy(p->image);
	free(p);
}

void typed_process_again(struct typed_process *p, const struct hi_typing_options *options)
{
	struct hi_typing_options with = options ? *options : (struct hi_typing_options){};

	with.rules = hi_rulebook_source(p->rulebook);
	with.runtime = p->runtime;
	hi_typing_destroy(p->typing);
	hi_graph_destroy(p->graph);
	p->typing = NULL;
	p->graph = NULL;
	HI_ASSERT_OK(hi_typing_run(p->image, p->modules, p->types, p->allocator,
				   walk(p->allocator, p->runtime), &with, &p->typing,
				   &p->graph, &process_err),
		     &process_err);
	HI_ASSERT(hi_graph_is_valid(p->graph));
}

static void open_rulebook(struct typed_process *p, const char *hints_file)
{
	HI_ASSERT_OK(hi_rulebook_create(p->types, p->modules, &p->rulebook, &process_err),
		     &process_err);
	if (hints_file)
		HI_ASSERT_OK(hi_rulebook_add_file(p->rulebook, hints_file, &process_err),
			     &process_err);
	HI_ASSERT_OK(hi_rulebook_add_shipped(p->rulebook, NULL, &process_err),
		     &process_err);
}

struct typed_process *typed_process_open(pid_t pid,
					 const struct hi_typing_options *options)
{
	return typed_process_open_with(pid, options, NULL);
}

static struct hi_image *copy_process(pid_t pid)
{
	/* What is tested here is not how fast. */
	struct hi_stop_options stop = {.max_pause_ns = 40000000000ull};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	struct hi_range *text = NULL;

	HI_ASSERT_OK(hi_target_open(pid, &target, &process_err), &process_err);
	HI_ASSERT_OK(hi_allocator_text(target, &text, &stop.n_avoid, &process_err),
		     &process_err);
	stop.avoid = text;
	HI_ASSERT_OK(hi_stop_and_copy(target, &stop, &image, &process_err), &process_err);
	free(text);
	hi_target_close(target);
	return image;
}

/* The image is taken. */
static struct typed_process *open_image(struct hi_image *image,
					const struct hi_typing_options *options,
					const char *hints_file, const char *debug_dir)
{
	struct typed_process *p = hi_calloc(1, sizeof(*p));
	struct hi_modules_options modules = {.cache_dir = "", .debug_dir = debug_dir};

	HI_ASSERT(p);
	hi_test_defer(process_free, p);
	p->image = image;
	HI_ASSERT_OK(hi_modules_open(p->image, &modules, &p->modules, &process_err),
		     &process_err);
	HI_ASSERT_OK(hi_types_open(p->modules, &p->types, &process_err), &process_err);
	HI_ASSERT_OK(
		hi_allocator_probe(p->image, p->modules, &p->allocator, &process_err),
		&process_err);
	if (hi_runtime_probe(p->image, p->modules, p->types, &p->runtime, NULL,
			     &process_err) != HI_OK)
		HI_ASSERT_MSG(process_err.status == HI_NOT_FOUND, "%s", process_err.text);
	open_rulebook(p, hints_file);
	typed_process_again(p, options);
	return p;
}

struct typed_process *typed_process_open_with(pid_t pid,
					      const struct hi_typing_options *options,
					      const char *hints_file)
{
	return open_image(copy_process(pid), options, hints_file, NULL);
}

struct typed_process *typed_process_open_without_debug(pid_t pid)
{
	return open_image(copy_process(pid), NULL, NULL, "/nonexistent");
}

struct typed_process *typed_process_open_core(const char *path)
{
	struct hi_image *image = NULL;

	HI_ASSERT_OK(
		hi_core_open(path, &(struct hi_core_options){}, &image, &process_err),
		&process_err);
	return open_image(image, NULL, NULL, "/nonexistent");
}

hi_node typed_process_node(const struct typed_process *p, uint64_t addr)
{
	return typed_graph_node(p->graph, addr);
}

const char *typed_process_type(const struct typed_process *p, uint64_t addr)
{
	return typed_graph_type(p->graph, addr);
}
