/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * musl's malloc of programs that are linked statically and never call free() or realloc()
 * (src/malloc/lite_malloc.c): it hands out the next bytes of the heap, without headers.
 * Its variables lie side by side in some order: brk and end, both the end of the heap,
 * and cur, up to which it is handed out. Nothing has been written beyond cur.
 */
#include "decode/allocators/musl_lite.h"

#include <inttypes.h>
#include <string.h>

#include "decode/allocators/musl.h"
#include "decode/allocators/window.h"

enum { MAX_RANGES = 16, PAGE = 4096, NEAR = 4 /* words that hold the three */ };

static const struct hi_mapping *find_only_heap(const struct hi_image *image)
{
	const struct hi_mapping *heap = NULL;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (m->kind != HI_MAPPING_HEAP)
			continue;
		if (heap)
			return NULL; /* in several parts: another allocator's */
		heap = m;
	}
	return heap;
}

static bool is_unwritten(struct hi_window *window, uint64_t start, uint64_t end)
{
	for (uint64_t at = (start + 7) & ~(uint64_t)7; at + 8 <= end; at += 8) {
		uint64_t word;

		if (!hi_window_u64(window, at, &word) || word)
			return false;
	}
	return true;
}

/* The three are among NEAR words at addr: two are the end of the heap, one is inside. */
static bool has_variables(struct hi_window *window, const struct hi_mapping *heap,
			  uint64_t addr, uint64_t *cur_ret)
{
	unsigned ends = 0, inside = 0;

	for (unsigned i = 0; i < NEAR; i++) {
		uint64_t word;

		if (!hi_window_u64(window, addr + 8ull * i, &word))
			return false;
		ends += word == heap->end;
		if (word > heap->start && word < heap->end) {
			*cur_ret = word;
			inside++;
		}
	}
	return ends == 2 && inside == 1 && heap->end - *cur_ret < PAGE &&
	       is_unwritten(window, *cur_ret, heap->end);
}

static bool find_lite_variables(struct hi_window *window, struct hi_module *module,
				const struct hi_mapping *heap, uint64_t *cur_ret)
{
	struct hi_section_range ranges[MAX_RANGES];
	size_t n = hi_module_data(module, ranges, MAX_RANGES);

	for (size_t i = 0; i < n; i++)
		for (uint64_t at = (ranges[i].start + 7) & ~(uint64_t)7;
		     at + 8 * NEAR <= ranges[i].end; at += 8) {
			uint64_t word;

			if (hi_window_u64(window, at, &word) && word > heap->start &&
			    word <= heap->end && has_variables(window, heap, at, cur_ret))
				return true;
		}
	return false;
}

enum hi_status hi_musl_lite_refuse(const struct hi_image *image,
				   struct hi_modules *modules,
				   struct hi_allocator_list *list, struct hi_error *err)
{
	struct hi_module *program = hi_modules_executable(modules);
	const struct hi_mapping *heap = find_only_heap(image);
	struct hi_window window = {.memory = image->memory};
	struct hi_error why;
	bool found = false, out_of_memory;
	uint64_t cur = 0;

	if (!program || !heap || !hi_musl_may_be_in(modules))
		return HI_OK;
	found = find_lite_variables(&window, program, heap, &cur);
	out_of_memory = window.out_of_memory;
	hi_window_free(&window);
	if (out_of_memory)
		return hi_fail_memory(err, "window");
	if (!found)
		return HI_OK;
	(void)hi_fail(&why, HI_NOT_FOUND, 0,
		      "the program never calls free(), and this malloc keeps no sizes "
		      "then; %" PRIu64 " bytes are handed out",
		      cur - heap->start);
	hi_allocator_list_refuse(list, "musl", program->name, &why);
	list->refused[list->n_refused - 1].has_no_blocks = true;
	return HI_OK;
}
