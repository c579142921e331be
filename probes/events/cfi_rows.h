/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information as rows of addresses and rules, as far as a walk over the stack
 * needs it: the CFA, the return address and rbp of x86-64. An interpreter of its own
 * reads a whole library in milliseconds, where libdw runs the program of a function again
 * for each address.
 */
#ifndef HI_PROBES_EVENTS_CFI_ROWS_H
#define HI_PROBES_EVENTS_CFI_ROWS_H

#include "base/error.h"
#include "base/vector.h"
#include "decode/frames/cfi_section.h"
#include "probes/bpf/unwind.h"

/* Code of [start, end), ELF addresses, and where its entry begins in the section. */
struct hi_cfi_entry {
	uint64_t start, end;
	const struct hi_cfi_section *section; /* borrowed */
	size_t at;
};
struct hi_cfi_entries HI_VECTOR(struct hi_cfi_entry);

/* Adds the entries of a section to *ret, and orders all by their start, .eh_frame's
 * first; hostile: they may overlap. Entries of unknown form are left out. HI_NO_MEMORY
 * only; the caller frees *ret in any case. */
enum hi_status hi_cfi_entries_read(const struct hi_cfi_section *section,
				   struct hi_cfi_entries *ret, struct hi_error *err);

/* From this ELF address on the rule holds. False: no more of this entry. */
typedef bool hi_cfi_row_fn(void *arg, uint64_t address,
			   const struct hi_unwind_rule *rule);
/* The rows of one entry, ascending, the first at its start, all below its end. */
void hi_cfi_entry_rows(const struct hi_cfi_entry *entry, hi_cfi_row_fn *fn, void *arg);

#endif
