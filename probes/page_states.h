/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two readings of page tables: whether each page was referenced between them.
 * Computes only; reading and clearing are pages.h.
 */
#ifndef HI_PROBES_PAGE_STATES_H
#define HI_PROBES_PAGE_STATES_H

#include "attach/stop_options.h"
#include "base/error.h"
#include "base/vector.h"
#include "probes/bpf/pages_shared.h"

enum hi_page_state {
	HI_PAGE_UNKNOWN,      /* not in memory all the time, or not at one place */
	HI_PAGE_REFERENCED,   /* read or written, or its bit cannot be cleared */
	HI_PAGE_UNREFERENCED, /* neither read nor written by a processor */
};

/* The 512 pages from address on, a bit each. */
struct hi_page_bits {
	uint64_t referenced[HI_BPF_TABLE_ENTRIES / 64];
	uint64_t unreferenced[HI_BPF_TABLE_ENTRIES / 64];
};

struct hi_page_states {
	struct hi_page_addresses
		HI_VECTOR(uint64_t) addresses; /* sorted; of 2 MiB each */
	struct hi_page_bit_list HI_VECTOR(struct hi_page_bits) bits; /* parallel */
	/* Tells whether no page of an address that is not in `addresses` was referenced.
	 */
	struct hi_page_range_list HI_VECTOR(struct hi_range) untouched;
};

/* A reading: sorted by address. Borrowed. */
struct hi_page_reading {
	const struct hi_bpf_page_table *tables;
	size_t n;
	/* Sorted: what has no table here has no page in memory, nor anywhere else. */
	const struct hi_range *whole;
	size_t n_whole;
};

/*
 * The accessed bits were cleared after `before` was read, and `after` is how they were
 * at the end. Overwrites states. HI_NO_MEMORY.
 */
enum hi_status hi_page_states_compare(struct hi_page_states *states,
				      struct hi_page_reading before,
				      struct hi_page_reading after, struct hi_error *err);
/*
 * states was a part of the period, next the part after it: it becomes both. A page is
 * unreferenced if it is in both parts, and referenced if it is in one.
 */
void hi_page_states_join(struct hi_page_states *states,
			 const struct hi_page_states *next);
enum hi_page_state hi_page_states_get(const struct hi_page_states *states,
				      uint64_t address);
/*
 * Returns the state of the pages that [start, end) touches: UNREFERENCED if all are, so
 * that no object in it was used; REFERENCED if one is; else UNKNOWN. An empty range is
 * UNKNOWN.
 */
enum hi_page_state hi_page_states_of_range(const struct hi_page_states *states,
					   uint64_t start, uint64_t end);
void hi_page_states_free(struct hi_page_states *states);

#endif
