/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * glibc's malloc structs, 2.28 to 2.43, x86-64. Compiled from each release's
 * own sources (malloc/malloc.c, malloc/arena.c; malloc_par as distributions
 * build it, with tunables); 2.43: from the debug information of Debian's 2.43-7.
 * Checked on the image by glibc_probe.c.
 */
#include "decode/allocators/glibc.h"

/* struct malloc_state has not moved until 2.42; 2.43 has no fastbins. */
#define STATE                                                                            \
	.state_size = 2200, .fastbins = 16, .n_fastbins = 10, .top = 96, .bins = 112,    \
	.next = 2160, .system_mem = 2184
#define STATE_2_43                                                                       \
	.state_size = 2112, .top = 8, .bins = 24, .next = 2072, .system_mem = 2096
#define PAR_2_28                                                                         \
	.par_size = 112, .hp_pagesize = 0, .n_mmaps = 40, .no_dyn_threshold = 52,        \
	.mmapped_mem = 56, .sbrk_base = 72, .tcache_bins = 80, .tcache_max_bytes = 88,   \
	.tcache_count = 96, .heap_info_size = 32
#define PAR_2_35                                                                         \
	.par_size = 136, .hp_pagesize = 48, .n_mmaps = 60, .no_dyn_threshold = 72,       \
	.mmapped_mem = 80, .sbrk_base = 96, .tcache_bins = 104, .tcache_max_bytes = 112, \
	.tcache_count = 120, .heap_info_size = 48
#define PAR_2_43                                                                         \
	.par_size = 144, .hp_pagesize = 56, .n_mmaps = 68, .no_dyn_threshold = 80,       \
	.mmapped_mem = 88, .sbrk_base = 104, .tcache_bins = 112,                         \
	.tcache_max_bytes = 120, .tcache_count = 128, .heap_info_size = 48
/* One byte a counter until 2.29, two since 2.30; 76 lists since 2.42, whose
 * counters are the number of chunks that still fit. */
#define TCACHE_2_28                                                                      \
	.tcache_size = 576, .tcache_entries = 64, .tcache_lists = 64, .count_width = 1
#define TCACHE_2_30                                                                      \
	.tcache_size = 640, .tcache_entries = 128, .tcache_lists = 64, .count_width = 2
#define TCACHE_2_42                                                                      \
	.tcache_size = 760, .tcache_entries = 152, .tcache_lists = 76, .count_width = 2, \
	.counts_free_slots = true

const struct hi_glibc_layout hi_glibc_layouts[] = {
	{28, 29, STATE, PAR_2_28, TCACHE_2_28, .mangled = false},
	{30, 31, STATE, PAR_2_28, TCACHE_2_30, .mangled = false},
	{32, 34, STATE, PAR_2_28, TCACHE_2_30, .mangled = true},
	{35, 41, STATE, PAR_2_35, TCACHE_2_30, .mangled = true},
	{42, 42, STATE, PAR_2_35, TCACHE_2_42, .mangled = true},
	{43, 43, STATE_2_43, PAR_2_43, TCACHE_2_42, .mangled = true,
	 .mmapped_uncounted = 16, .mmapped_tail = 8},
};
const size_t hi_glibc_n_layouts = sizeof(hi_glibc_layouts) / sizeof(hi_glibc_layouts[0]);

const struct hi_glibc_layout *hi_glibc_layout_of(unsigned minor)
{
	for (size_t i = 0; i < hi_glibc_n_layouts; i++)
		if (minor >= hi_glibc_layouts[i].minor_first &&
		    minor <= hi_glibc_layouts[i].minor_last)
			return &hi_glibc_layouts[i];
	return minor > 43 ? &hi_glibc_layouts[hi_glibc_n_layouts - 1] : NULL;
}
