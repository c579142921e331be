/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables by which the stacks of a target are walked (probes/bpf/unwind.h), of the call
 * frame information of everything that it has mapped as code. One piece of memory without
 * addresses of this process: to be handed from process to process, and to BPF programs.
 */
#ifndef HI_PROBES_EVENTS_UNWIND_TABLES_H
#define HI_PROBES_EVENTS_UNWIND_TABLES_H

#include "attach/target.h"
#include "probes/bpf/unwind.h"

struct hi_unwind_tables {
	uint64_t *words;
	size_t n_words;
};

/*
 * Are all indices in range, and all modules code that the target has mapped? target NULL:
 * only the former. A walk over tables that were not checked is safe, but not useful.
 * HI_BAD_DATA.
 */
enum hi_status hi_unwind_tables_check(const struct hi_unwind_tables *tables,
				      const struct hi_target *target,
				      struct hi_error *err);

struct hi_unwind_head hi_unwind_tables_head(const struct hi_unwind_tables *tables);
/* i is below n_modules of the head. */
struct hi_unwind_module hi_unwind_tables_module(const struct hi_unwind_tables *tables,
						size_t i);
/* The i-th of the entries of 4 bytes that begin at this word. */
uint32_t hi_unwind_tables_half(const struct hi_unwind_tables *tables, size_t word,
			       size_t i);
/* Is this mapping one that tables are made for? */
bool hi_unwind_is_code(const struct hi_mapping *mapping);
/* Empty is fine; it is empty again. */
void hi_unwind_tables_free(struct hi_unwind_tables *tables);

#endif
