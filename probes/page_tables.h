/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page tables of a process, read by a BPF program (bpf/pages.bpf.c). Only the lowest
 * level is given: an entry for each page of 4 KiB, or for each huge page of 2 MiB.
 */
#ifndef HI_PROBES_PAGE_TABLES_H
#define HI_PROBES_PAGE_TABLES_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "probes/bpf/pages_shared.h"

#define HI_PAGE_TABLE_BYTES (1ull << HI_BPF_HUGE_SHIFT) /* that a table is for */

struct hi_page_tables;

/*
 * Loads the program. HI_CANNOT_ATTACH: BPF is not permitted, err->text names the rights
 * that are needed; HI_UNSUPPORTED: not this kernel (Linux 6.1 or later is needed) or
 * machine.
 */
enum hi_status hi_page_tables_open(struct hi_page_tables **ret, struct hi_error *err);
/* *link_ret: gives access to the page tables of process pid, for the caller to close. */
enum hi_status hi_page_tables_link(struct hi_page_tables *tables, pid_t pid,
				   int *link_ret, struct hi_error *err);
/*
 * Finds where the kernel maps physical memory, by n pages of the process of link (pid),
 * whose addresses are given, which are in memory and stay where they are. HI_UNSUPPORTED:
 * it is not found. See Note [The direct map].
 */
enum hi_status hi_page_tables_find_map(struct hi_page_tables *tables, int link, pid_t pid,
				       const uint64_t *pages, size_t n,
				       struct hi_error *err);
/*
 * After that: finds the kernel's struct page, by the kernel stack of the process of link.
 * The n pages are anonymous memory that was mapped where it is now. HI_UNSUPPORTED: it is
 * not found; read->with_young must not be set then. See Note [Bits that DAMON keeps].
 */
enum hi_status hi_page_tables_find_structs(struct hi_page_tables *tables, int link,
					   const uint64_t *pages, size_t n,
					   struct hi_error *err);
/* For tests: adds bytes to the direct map that was found. */
void hi_page_tables_shift_map(struct hi_page_tables *tables, uint64_t bytes);

struct hi_page_tables_read {
	uint64_t start, end;  /* of the addresses */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	bool with_young; /* an accessed bit that DAMON has moved away counts as set */
	/* Filled up to max, in order of addresses. For a huge page only entries[0] is
	 * written. Pages that are not in memory have no table. */
	struct hi_bpf_page_table *tables;
	size_t max, n;
	uint64_t faults; /* tables that are missing, as they could not be read */
};

/*
 * May be called in a forked process that has kept link; allocates nothing. Appends to
 * read->tables; HI_LIMIT if there are more than max, HI_TIMEOUT at the deadline, HI_GONE.
 */
enum hi_status hi_page_tables_read(const struct hi_page_tables *tables, int link,
				   struct hi_page_tables_read *read,
				   struct hi_error *err);
/* The same of the process that was read last, which is gone since, and whose memory is
 * kept (attach/memory_keeper.h). HI_NOT_FOUND: none was read. */
enum hi_status hi_page_tables_read_kept(struct hi_page_tables *tables,
					struct hi_page_tables_read *read,
					struct hi_error *err);
/* NULL is fine. */
void hi_page_tables_close(struct hi_page_tables *tables);

#endif
