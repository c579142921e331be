/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which threads were stopped inside the allocator. The tracer has no time to unwind: it
 * goes by words on the stack that look like a caller in malloc's code. Here the stacks
 * are frozen and are unwound.
 */
#include "decode/allocator.h"
#include "decode/allocators/musl.h"
#include "decode/frames/frames.h"

#include <string.h>

#include "base/cleanup.h"

static bool in_text(uint64_t pc, const struct hi_range *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pc >= text[i].start && pc < text[i].end)
			return true;
	return false;
}

/*
 * Where the Go runtime lets a thread or a goroutine begin (src/runtime/asm_amd64.s).
 * With cgo, what called it has no unwinding tables (src/runtime/cgo/gcc_amd64.S), and
 * the stack looks cut off; but no allocator starts threads in there.
 */
static bool is_outermost(const struct hi_frame *frame)
{
	static const char *const names[] = {"runtime.mstart", "runtime.goexit",
					    "runtime.rt0_go"};

	for (size_t i = 0; frame->function && i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(frame->function, names[i], n) == 0 &&
		    (!frame->function[n] || strcmp(frame->function + n, ".abi0") == 0))
			return true;
	}
	return false;
}

/* Only the innermost frames count: the tracer did not look at words further out. */
static enum hi_status is_thread_in_allocator(struct hi_image *image,
					     struct hi_types *types, uint32_t thread,
					     const struct hi_range *text, size_t n_text,
					     bool *ret, struct hi_error *err)
{
	HI_GUARD(hi_stack_destroy) struct hi_stack *stack = NULL;
	enum hi_status status;

	*ret = false;
	if (hi_musl_waits_outside(&image->threads[thread], hi_types_modules(types), text,
				  n_text))
		return HI_OK;
	status = hi_stack_read(types, image, thread, &stack, err);
	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < stack->n_frames && !*ret; i++) {
		if (is_outermost(&stack->frames[i]))
			return HI_OK;
		*ret = in_text(stack->frames[i].pc, text, n_text);
	}
	*ret |= stack->truncated;
	return HI_OK;
}

enum hi_status hi_allocator_recheck_threads(struct hi_image *image,
					    struct hi_types *types,
					    const struct hi_range *text, size_t n_text,
					    struct hi_error *err)
{
	for (uint32_t i = 0; i < image->n_threads; i++) {
		bool inside = false;
		enum hi_status status;

		if (!image->threads[i].maybe_in_allocator)
			continue;
		status = is_thread_in_allocator(image, types, i, text, n_text, &inside,
						err);
		if (status == HI_NO_MEMORY)
			return status;
		if (status != HI_OK || inside)
			continue;
		image->threads[i].maybe_in_allocator = false;
		image->stats.threads_in_allocator--;
	}
	return HI_OK;
}
