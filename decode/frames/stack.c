/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of threads: the walk, its variables, what is remembered between stacks. */
#include "decode/frames/frames.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/frames/frames_internal.h"
#include "decode/types/types_internal.h"

/* ---- what is remembered ---- */

static void frame_cache_destroy(void *data)
{
	struct hi_frame_cache *cache = data;

	for (size_t i = 0; i < cache->pcs.capacity; i++)
		if (cache->pcs.slots[i].key != UINT64_MAX)
			free(((struct hi_pc *)(uintptr_t)cache->pcs.slots[i].value)
				     ->variables);
	hi_table_free(&cache->pcs);
	hi_scopes_free(cache);
	hi_cfi_free(cache);
	hi_vector_free(&cache->tls);
	hi_arena_free(&cache->arena);
	free(cache);
}

HI_DEFINE_GUARD(struct hi_frame_cache *, frame_cache_destroy)

static enum hi_status create_frame_cache(struct hi_types *types,
					 struct hi_frame_cache **ret,
					 struct hi_error *err)
{
	HI_GUARD(frame_cache_destroy) struct hi_frame_cache *cache = NULL;
	enum hi_status status;

	cache = hi_calloc(1, sizeof(*cache));
	if (!cache)
		return hi_fail_memory(err, "frames");
	cache->types = types;
	cache->modules = types->modules;
	cache->image = hi_modules_image(types->modules);
	cache->n_modules = hi_modules_count(types->modules);
	status = hi_cfi_init(cache, err);
	if (status == HI_OK)
		status = hi_scopes_init(cache, err);
	if (status == HI_OK)
		*ret = hi_take(cache);
	return status;
}

/* Returns the cache of the image that the types are read with; made by the first call.
 * The types keep it. */
static enum hi_status frame_cache_of_types(struct hi_types *types,
					   struct hi_frame_cache **ret,
					   struct hi_error *err)
{
	struct hi_frame_cache *made = NULL;

	if (!types->companion.data) {
		enum hi_status status = create_frame_cache(types, &made, err);

		if (status != HI_OK)
			return status;
		types->companion = (struct hi_types_companion){made, frame_cache_destroy};
	}
	*ret = types->companion.data;
	return HI_OK;
}

enum hi_status hi_frame_cache_pc(struct hi_frame_cache *cache, uint64_t pc,
				 struct hi_pc **ret, struct hi_error *err)
{
	const struct hi_mapping *mapping;
	struct hi_pc *made;
	uint64_t found;

	if (hi_table_get(&cache->pcs, pc, &found)) {
		*ret = (struct hi_pc *)(uintptr_t)found;
		return HI_OK;
	}
	made = hi_arena_alloc(&cache->arena, sizeof(*made));
	if (!made)
		return hi_fail_memory(err, "frames");
	mapping = hi_image_mapping_at(cache->image, pc);
	made->pc = pc;
	made->is_code = mapping && (mapping->prot & HI_PROT_EXEC);
	made->module = made->is_code ? hi_modules_at(cache->modules, pc) : NULL;
	hi_cfi_read(cache, made);
	if (pc != UINT64_MAX && !hi_table_put(&cache->pcs, pc, (uintptr_t)made))
		return hi_fail_memory(err, "frames");
	*ret = made;
	return HI_OK;
}

/* ---- a stack ---- */

static enum hi_status fill_frames(struct hi_unwind *unwind, struct hi_stack *stack,
				  struct hi_error *err)
{
	stack->frames = hi_calloc(unwind->frames.count, sizeof(*stack->frames));
	if (!stack->frames)
		return hi_fail_memory(err, "frames");
	stack->n_frames = unwind->frames.count;
	for (size_t i = 0; i < stack->n_frames; i++) {
		const struct hi_unwound *from = &unwind->frames.items[i];

		stack->frames[i] = (struct hi_frame){
			.pc = from->pc->pc,
			.cfa = from->cfa,
			.sp = from->regs.value[HI_DWARF_RSP],
			.function = from->pc->function,
			.module = from->pc->module,
		};
	}
	return HI_OK;
}

static enum hi_status read_locals(struct hi_unwind *unwind, struct hi_stack *stack,
				  struct hi_error *err)
{
	struct hi_locals locals = {};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < unwind->frames.count && status == HI_OK; i++)
		status = hi_locals_read(unwind, i, &locals, err);
	/* The stack owns them, also if they are incomplete. */
	stack->locals = locals.all.items;
	stack->n_locals = locals.all.count;
	stack->locals_truncated = locals.truncated;
	stack->registers_in_locals = locals.thread_registers;
	return status;
}

static enum hi_status fill_stack(struct hi_unwind *unwind, const struct hi_thread *thread,
				 struct hi_stack *stack, struct hi_error *err)
{
	enum hi_status status = hi_unwind_thread(unwind, thread, err);

	if (status == HI_OK)
		status = read_locals(unwind, stack, err);
	if (status == HI_OK)
		status = fill_frames(unwind, stack, err);
	if (status != HI_OK)
		return status;
	stack->truncated = unwind->truncated;
	return hi_stack_find_range(unwind, thread, stack, err);
}

static enum hi_status read_thread_stack(struct hi_types *types,
					const struct hi_image *image, uint32_t thread,
					struct hi_stack **ret, struct hi_error *err)
{
	HI_GUARD(hi_stack_destroy) struct hi_stack *stack = hi_calloc(1, sizeof(*stack));
	struct hi_unwind unwind = {};
	enum hi_status status;

	if (!stack)
		return hi_fail_memory(err, "stack");
	status = frame_cache_of_types(types, &unwind.cache, err);
	if (status != HI_OK)
		return status;
	stack->thread = thread;
	status = fill_stack(&unwind, &image->threads[thread], stack, err);
	hi_vector_free(&unwind.frames);
	if (status == HI_OK)
		*ret = hi_take(stack);
	return status;
}

enum hi_status hi_stack_read(struct hi_types *types, const struct hi_image *image,
			     uint32_t thread, struct hi_stack **ret, struct hi_error *err)
{
	enum hi_status status;

	if (thread >= image->n_threads)
		return hi_fail(err, HI_NOT_FOUND, 0, "thread number %u", thread);
	hi_types_lock(types);
	status = read_thread_stack(types, image, thread, ret, err);
	hi_types_unlock(types);
	return status;
}

void hi_stack_destroy(struct hi_stack *stack)
{
	if (!stack)
		return;
	free(stack->frames);
	free(stack->locals);
	free(stack);
}
