/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Parts of a function]
 *
 * Compilers move what is seldom executed away from a function, into a part of its own
 * (.cold), which has no symbol in a stripped file. A frame there is one of the loop as
 * well. Such a part is what the function jumps into the middle of: into another function
 * it could only jump at the entry.
 */
#include "probes/events/python_text.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "decode/runtimes/cpython_walk_find.h"
#include "probes/events/cfi_rows.h"
#include "probes/prologue.h"

enum { LOOP_MAX = 1 << 20, JUMPS_MAX = 1 << 15 };

/* Returns the entry that contains this ELF address after its start; NULL: none. */
static const struct hi_cfi_entry *find_entry_around(const struct hi_cfi_entries *entries,
						    uint64_t addr)
{
	size_t i = hi_search(j, entries->count, entries->items[j].start < addr);

	return i > 0 && addr < entries->items[i - 1].end ? &entries->items[i - 1] : NULL;
}

static void add_loop_part(struct hi_python_walk *walk, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < HI_PYTHON_EVALS; i++) {
		if (walk->evals[i].start == start)
			return;
		if (walk->evals[i].end)
			continue;
		walk->evals[i] = (struct hi_python_range){start, end};
		return;
	}
}

static void add_loop_parts(const struct hi_cfi_entries *entries, uint64_t bias,
			   const uint64_t *targets, size_t n, struct hi_python_walk *walk)
{
	for (size_t i = 0; i < n; i++) {
		const struct hi_cfi_entry *entry =
			find_entry_around(entries, targets[i] - bias);

		if (entry && (entry->end - entry->start) <= LOOP_MAX)
			add_loop_part(walk, entry->start + bias, entry->end + bias);
	}
}

static enum hi_status find_loop_parts(struct hi_module *module,
				      struct hi_python_walk *walk, struct hi_error *err)
{
	uint64_t start = walk->evals[0].start, size = walk->evals[0].end - start;
	HI_GUARD(free) uint8_t *bytes = hi_alloc(size);
	HI_GUARD(free) uint64_t *targets = hi_calloc(JUMPS_MAX, sizeof(*targets));
	struct hi_cfi_entries entries = {};
	struct hi_cfi_section section;
	enum hi_status status = HI_OK;

	if (!bytes || !targets)
		return hi_fail_memory(err, "code of Python");
	if (hi_module_read_file(module, start, bytes, size, NULL) != HI_OK ||
	    !hi_module_eh_frame(module, &section))
		return HI_OK;
	status = hi_cfi_entries_read(&section, &entries, err);
	if (status == HI_OK)
		add_loop_parts(
			&entries, module->bias, targets,
			hi_function_jumps_out(bytes, size, start, targets, JUMPS_MAX),
			walk);
	hi_vector_free(&entries);
	return status;
}

enum hi_status hi_event_python_find(struct hi_target_code *code,
				    struct hi_python_walk *ret, struct hi_error *err)
{
	struct hi_module *module = hi_python_module(code->modules);
	uint64_t start, size;

	if (!module || !hi_python_find(code->modules, ret))
		return HI_OK;
	if (hi_modules_symbol(code->modules, module, "_PyEval_EvalFrameDefault", &start,
			      &size, NULL) != HI_OK ||
	    !size || size > LOOP_MAX) {
		*ret = (struct hi_python_walk){};
		return HI_OK;
	}
	ret->evals[0] = (struct hi_python_range){start, start + size};
	return find_loop_parts(module, ret, err);
}
