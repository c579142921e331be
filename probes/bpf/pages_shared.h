/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Memory that the BPF program that reads page tables and its loader share: both map it.
 * Fixed layout.
 */
#ifndef HI_PROBES_BPF_PAGES_SHARED_H
#define HI_PROBES_BPF_PAGES_SHARED_H

#include <linux/types.h>

enum {
	HI_BPF_TABLE_ENTRIES = 512,
	HI_BPF_TABLES = 256,	/* that one read gives, at most */
	HI_BPF_STEPS = 1 << 16, /* tables and gaps that one read visits, at most */
	HI_BPF_PAGE_SHIFT = 12,
	HI_BPF_HUGE_SHIFT = 21,
	HI_BPF_PAGE_STRUCT = 64, /* bytes of the kernel's struct page */
	HI_BPF_STACK_PAGES = 4,
};

enum hi_bpf_pages_mode {
	HI_BPF_PAGES_TABLES, /* copies tables */
	/* Looks at the struct page of each page in the copied tables whose accessed bit
	 * is clear. If the kernel has moved the bit to PG_young, or if that is unknown,
	 * the bit is set in the copy. */
	HI_BPF_PAGES_YOUNG,
	/* Counts in `strange` those pages whose struct page is not that of anonymous
	 * memory at the page's address. */
	HI_BPF_PAGES_CHECK,
	HI_BPF_PAGES_STACK, /* where the kernel stack of the thread is */
};

/* Bits of an entry, as the processor has them (x86-64). */
#define HI_BPF_ENTRY_PRESENT 0x001ull
#define HI_BPF_ENTRY_ACCESSED 0x020ull
#define HI_BPF_ENTRY_HUGE 0x080ull
#define HI_BPF_ENTRY_FRAME 0x000ffffffffff000ull

/* The 2 MiB from address on: 512 entries, or one of a huge page, which may not be in
 * memory. */
struct hi_bpf_page_table {
	__u64 address;
	__u32 is_huge; /* only entries[0] is valid, and holds for all of it */
	__u32 unused;
	__u64 entries[HI_BPF_TABLE_ENTRIES];
};

struct hi_bpf_pages_request {
	/* By the loader. */
	__u64 direct_map;   /* where the kernel maps physical address 0 */
	__u64 page_structs; /* where it has the struct page of that; 0: not known */
	__u64 end;	    /* of the wanted addresses */
	__u32 levels;	    /* of the page tables: 4 or 5 */
	__u32 mode;	    /* enum hi_bpf_pages_mode */
	__u64 kept_top;	    /* the topmost table to begin at; 0: the process's own */
	/* By both: the first address of which nothing is known yet. */
	__u32 unused;
	__u64 next;
	/* By the program. */
	__u64 top;	/* the address of the topmost table; 0: no such process */
	__u64 faults;	/* tables that could not be read, and larger pages */
	__u64 n_tables; /* of the other map that are filled */
	__u64 strange;
	__u64 stack, stack_structs[HI_BPF_STACK_PAGES]; /* of its first pages */
};

#endif
