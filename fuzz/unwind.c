/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information of any bytes, .eh_frame or .debug_frame by the first one: tables
 * that are made of it pass their check. And the bytes as tables, which need not. A walk
 * over either ends.
 */
#include <stdlib.h>
#include <string.h>

#include "probes/events/unwind_builder.h"
#include "probes/events/unwind_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTION_AT = 0x2000, CODE = 0, CODE_END = 0x8000, FRAMES = 64 };

/* Every word leads back into the code. */
static bool read_any(void *arg, uint64_t addr, uint64_t *ret)
{
	(void)arg;
	*ret = addr * 2654435761u % CODE_END;
	return addr & 1;
}

static void walk_any(const struct hi_unwind_tables *tables)
{
	const struct hi_unwind_memory memory = {read_any, NULL};

	for (uint64_t pc = CODE; pc < CODE_END; pc += 509) {
		const struct hi_unwind_start start = {pc, pc | 1, pc | 0x10001, pc & 2};
		uint64_t pcs[FRAMES];
		bool cut;

		if (hi_unwind_walk(tables, &memory, &start, pcs, FRAMES, &cut) > FRAMES)
			abort();
	}
}

static void use_as_section(const uint8_t *data, size_t size, bool is_debug)
{
	const struct hi_cfi_section section = {data, size, SECTION_AT, is_debug};
	struct hi_unwind_builder builder = {};
	struct hi_unwind_tables tables = {};
	struct hi_cfi_entries entries = {};

	if (hi_cfi_entries_read(&section, &entries, NULL) == HI_OK) {
		hi_unwind_builder_add_cfi(&builder, CODE, CODE_END, &entries, 0);
		if (hi_unwind_builder_finish(&builder, &tables, NULL) != HI_OK ||
		    hi_unwind_tables_check(&tables, NULL, NULL) != HI_OK)
			abort();
		walk_any(&tables);
	}
	hi_unwind_tables_free(&tables);
	hi_unwind_builder_free(&builder);
	hi_vector_free(&entries);
}

static void use_as_tables(const uint8_t *data, size_t size)
{
	struct hi_unwind_tables tables = {malloc(size + 8), size / 8}, merged = {};

	if (!tables.words)
		return;
	memcpy(tables.words, data, tables.n_words * 8);
	walk_any(&tables);
	if (hi_unwind_tables_check(&tables, NULL, NULL) == HI_OK &&
	    hi_unwind_tables_merge(&tables, &tables, &merged, NULL) == HI_OK &&
	    hi_unwind_tables_check(&merged, NULL, NULL) != HI_OK)
		abort();
	hi_unwind_tables_free(&merged);
	hi_unwind_tables_free(&tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	use_as_section(data + 1, size - 1, data[0] & 1);
	use_as_tables(data + 1, size - 1);
	return 0;
}
