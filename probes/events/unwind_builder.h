/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes tables (unwind_tables.h) out of rows, in the order of their addresses. */
#ifndef HI_PROBES_EVENTS_UNWIND_BUILDER_H
#define HI_PROBES_EVENTS_UNWIND_BUILDER_H

#include "base/table.h"
#include "probes/events/cfi_rows.h"
#include "probes/events/unwind_tables.h"

/* Zeros are an empty one. */
struct hi_unwind_builder {
	struct HI_VECTOR(struct hi_unwind_rule) rules;
	struct hi_table rule_numbers;
	struct HI_VECTOR(struct hi_unwind_module) modules;
	struct HI_VECTOR(uint32_t) pages, rows;
	/* The module that is being made. */
	uint64_t start, end, at; /* at: of the last row */
	size_t n_pages;		 /* that have their entry */
	size_t first_row;
	bool is_full, no_memory;
};

/* Begins a module: whole pages, above those before it. False: there is no room. */
bool hi_unwind_builder_begin(struct hi_unwind_builder *builder, uint64_t start,
			     uint64_t end);
/* From address on the rule holds; rows ascend. One below the module is one at its start.
 * False: above the module, or no room. */
bool hi_unwind_builder_row(struct hi_unwind_builder *builder, uint64_t address,
			   const struct hi_unwind_rule *rule);
/* Ends the module; it is left out if there was no room for all of it. */
void hi_unwind_builder_end(struct hi_unwind_builder *builder);

/* Adds a module of call frame information, with a bias to be added to its addresses. If
 * entries overlap the first one counts. */
void hi_unwind_builder_add_cfi(struct hi_unwind_builder *builder, uint64_t start,
			       uint64_t end, const struct hi_cfi_entries *entries,
			       uint64_t bias);

/* HI_NO_MEMORY, now or before. */
enum hi_status hi_unwind_builder_finish(struct hi_unwind_builder *builder,
					struct hi_unwind_tables *ret,
					struct hi_error *err);
void hi_unwind_builder_free(struct hi_unwind_builder *builder);

/* Merges two tables; of modules that overlap, those of `later` remain. Both were checked.
 * *ret as above. */
enum hi_status hi_unwind_tables_merge(const struct hi_unwind_tables *earlier,
				      const struct hi_unwind_tables *later,
				      struct hi_unwind_tables *ret, struct hi_error *err);

#endif
