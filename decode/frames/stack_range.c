/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which bytes are a thread's stack.
 *
 * Note [Which stack a thread is on]
 * The main thread's own stack is the mapping that holds AT_RANDOM's bytes. A
 * pthread's is the mapping that holds its thread pointer: the stack grows down
 * from the static TLS blocks, which end in the TCB, which ends the mapping.
 * (A caller's pthread_attr_setstack makes no difference to that.)
 *
 * If sp lies in the own stack, it is used from sp - 128 (the red zone) on. If not, the
 * thread is on another one: [alt_low, alt_high), from sp - 128 to the outermost frame on
 * it. Frames of the own stack may follow through a signal frame, then the own stack is
 * used from there on. Without such a frame (a coroutine: its scheduler's sp is not known)
 * all of the own stack counts as used: too many roots show garbage as live, too few show
 * leaks that are none.
 *
 * A foreign stack that could not be unwound to its end is cut 8 MiB above sp
 * (the default size of a stack), in [heap] 64 KiB: there it is a block among
 * others, which is an object of its own.
 */
#include <elf.h>

#include "decode/frames/frames_internal.h"

enum {
	PAGE = 4096,
	MUSL_WORDS = 24, /* of musl's struct pthread */
	RED_ZONE = 128,
	ALT_MAX = 8 << 20,
	ALT_HEAP_MAX = 64 << 10,
	/* ucontext_t and what the kernel puts behind it */
	SIGNAL_FRAME_MAX = 4096,
	PTHREAD_SIZE =
		2304, /* of struct pthread if libc has no descriptor of it: glibc 2.36 */
};

static uint64_t min_stack_address(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t red_zone(uint64_t sp, const struct hi_mapping *mapping)
{
	return sp - mapping->start > RED_ZONE ? sp - RED_ZONE : mapping->start;
}

static uint64_t pthread_size(struct hi_modules *modules)
{
	uint64_t addr;
	uint32_t size;

	if (hi_modules_symbol(modules, NULL, "_thread_db_sizeof_pthread", &addr, NULL,
			      NULL) == HI_OK &&
	    hi_modules_read(modules, addr, &size, sizeof(size), NULL) == HI_OK &&
	    size >= 512 && size <= 1 << 16)
		return size;
	return PTHREAD_SIZE;
}

/* Thread-local layout of every module, found once. False when out of memory. */
static bool read_tls_modules(struct hi_frame_cache *cache)
{
	struct hi_tls_module tls;

	if (cache->tls_read)
		return true;
	for (size_t i = 0; i < cache->n_modules; i++)
		if (hi_tls_find_module(cache->modules, hi_modules_get(cache->modules, i),
				       &tls) &&
		    !hi_vector_push(&cache->tls, tls))
			return false;
	cache->pthread_size = pthread_size(cache->modules);
	cache->tls_read = true;
	return true;
}

/* The lowest thread-local block between the thread's stack and its TCB: the static
 * ones. Dynamic ones may share the mapping of a stack that the program provided. */
static uint64_t find_tls_low(struct hi_frame_cache *cache, const struct hi_thread *thread,
			     const struct hi_mapping *mapping)
{
	uint64_t low = thread->regs.fs_base, sp = thread->regs.rsp, start;
	uint64_t bottom = sp > mapping->start && sp < low ? sp : mapping->start;

	for (size_t i = 0; i < cache->tls.count; i++)
		if (hi_tls_find_block(cache->modules, &cache->tls.items[i], thread,
				      &start) &&
		    start >= bottom && start < low)
			low = start;
	return low;
}

/*
 * The end of what musl mapped for the thread: its struct pthread has the start and the
 * size of that next to each other (map_base, map_size; src/internal/pthread_impl.h of
 * 1.2.5), a tenth of glibc's struct pthread and pointers of pthread_setspecific end it.
 * UINT64_MAX: not musl's, or on a stack that the program provided.
 */
static uint64_t find_musl_end(const struct hi_image *image, uint64_t tp)
{
	uint64_t words[MUSL_WORDS];

	if (hi_memory_read(image->memory, tp, words, sizeof(words), NULL) != HI_OK ||
	    words[0] != tp)
		return UINT64_MAX;
	for (unsigned i = 1; i + 1 < MUSL_WORDS; i++) {
		uint64_t base = words[i], end = base + words[i + 1];

		if (base && base <= tp && end > tp && end - tp <= PAGE &&
		    base % PAGE == 0 && end % PAGE == 0)
			return end;
	}
	return UINT64_MAX;
}

/* The end of a thread's own data, above its thread pointer. Areas of musl's heap may
 * follow in the same mapping. */
static uint64_t find_tls_high(const struct hi_frame_cache *cache, uint64_t tp,
			      const struct hi_mapping *mapping)
{
	return min_stack_address(
		find_musl_end(cache->image, tp),
		min_stack_address(tp + cache->pthread_size, mapping->end));
}

static const struct hi_mapping *main_stack(const struct hi_image *image)
{
	uint64_t random;

	if (hi_image_auxv(image, AT_RANDOM, &random))
		return hi_image_mapping_at(image, random);
	for (size_t i = 0; i < image->n_mappings; i++)
		if (image->mappings[i].kind == HI_MAPPING_STACK)
			return &image->mappings[i];
	return NULL;
}

/* The stack that belongs to a thread, its end in stack->high; NULL: not found. */
static const struct hi_mapping *own_stack(struct hi_frame_cache *cache,
					  const struct hi_thread *thread,
					  struct hi_stack *stack)
{
	const struct hi_image *image = cache->image;
	const struct hi_mapping *mapping = main_stack(image);
	uint64_t sp = thread->regs.rsp, tp = thread->regs.fs_base;

	if (mapping &&
	    (stack->thread == 0 || (sp >= mapping->start && sp < mapping->end))) {
		stack->high = mapping->end;
		return mapping;
	}
	mapping = hi_image_mapping_at(image, tp);
	if (!mapping || mapping->kind == HI_MAPPING_FILE)
		return NULL;
	stack->tls_low = find_tls_low(cache, thread, mapping);
	stack->tls_high = find_tls_high(cache, tp, mapping);
	stack->high = stack->tls_low;
	return mapping;
}

/* The end of the foreign stack whose frames are [0, n). */
static uint64_t alt_end(const struct hi_unwind *unwind, size_t n, bool complete,
			const struct hi_mapping *mapping)
{
	const struct hi_unwound *last = &unwind->frames.items[n - 1];
	uint64_t sp = unwind->frames.items[0].regs.value[HI_DWARF_RSP], end;

	if (last->is_signal)
		end = last->regs.value[HI_DWARF_RSP] + SIGNAL_FRAME_MAX;
	else if (complete && last->cfa > sp)
		end = last->cfa;
	else
		end = sp + (mapping->kind == HI_MAPPING_HEAP ? ALT_HEAP_MAX : ALT_MAX);
	return end < sp ? mapping->end : min_stack_address(end, mapping->end);
}

/* sp is not on the thread's own stack [own->start, stack->high). */
static void find_alt_range(struct hi_unwind *unwind, const struct hi_mapping *own,
			   struct hi_stack *stack)
{
	uint64_t sp = unwind->frames.items[0].regs.value[HI_DWARF_RSP];
	const struct hi_mapping *mapping = hi_image_mapping_at(unwind->cache->image, sp);
	size_t n = 1;

	for (; n < unwind->frames.count; n++) {
		uint64_t outer = unwind->frames.items[n].regs.value[HI_DWARF_RSP];

		if (own && outer >= own->start && outer < stack->high) {
			stack->low = red_zone(outer, own);
			break;
		}
	}
	if (!mapping)
		return;
	stack->alt_low = red_zone(sp, mapping);
	stack->alt_high = alt_end(
		unwind, n, n < unwind->frames.count || !unwind->truncated, mapping);
}

enum hi_status hi_stack_find_range(struct hi_unwind *unwind,
				   const struct hi_thread *thread, struct hi_stack *stack,
				   struct hi_error *err)
{
	const struct hi_mapping *own;
	uint64_t sp = thread->regs.rsp;

	if (!read_tls_modules(unwind->cache))
		return hi_fail_memory(err, "thread-local layout");
	own = own_stack(unwind->cache, thread, stack);
	if (own && sp >= own->start && sp < stack->high) {
		stack->low = red_zone(sp, own);
		return HI_OK;
	}
	if (own && own->kind != HI_MAPPING_HEAP)
		stack->low = own->start;
	else
		stack->low = stack->high; /* its start is not known: leave it out */
	find_alt_range(unwind, own, stack);
	return HI_OK;
}
