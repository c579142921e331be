/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made by scripts/jemalloc-layouts out of jemalloc's own headers: Debian's source
 * packages of 5.3.0 and 5.3.1, and 5.2.1 as redis 7.0 bundles it. The configurations
 * above a row share its offsets; so do those that combine them. A row is an earlier one
 * with the members that differ (scripts/layout-deltas).
 */
#include "decode/allocators/jemalloc.h"

/* clang-format off */
/*
 * quantum 4
 * quantum 4, prof
 * quantum 4, no cache-oblivious, no stats
 */
#define JE_0 \
	.version = "5.2.1", .sizes = 232, .bins = 36, .edata_addr = 8, \
	.edata_size = 16, .edata_bitmap = 64, .edata_bytes = 128, .slab_shift = 12, \
	.state_shift = 16, .state_width = 2, .szind_shift = 18, .nfree_shift = 26, \
	.nfree_width = 10, .shard_shift = 36, .leaf_low = 1, .edata_tctx = 72, \
	.arena_bytes = 29496, .arena_internal = 104, .arena_caches = 10184, \
	.arena_caches_mutex = 10200, .arena_large_mutex = 10360, .arena_base = 29480, \
	.arena_bins = 29192, .bins_are_pointers = 1, .thread_cache = 496, \
	.thread_arena = 440, .thread_tickers = 448, .bin_bytes = 280, \
	.bin_regions = 160, .bin_slabs = 200, .info_bytes = 40, .info_shards = 20, \
	.mutex_locked = 104, .base_ind = 0, .base_mutex = 16, .base_blocks = 144, \
	.base_allocated = 2008, .block_header = 144, .slow_link = 880, \
	.slow_bins = 936, .slow_bins_large = 944, .slow_arena = 952, \
	.cache_bins = 16, .cache_bins_large = 1000, .cache_n_bins = 232, \
	.cached_count = 4, .cached_head = 16, .cached_bytes = 24
/*
 * quantum 3
 * quantum 3, prof
 * quantum 3, no cache-oblivious, no stats
 */
#define JE_1 \
	JE_0, .sizes = 235, .bins = 39, .arena_bytes = 29520, .arena_base = 29504, \
	.base_allocated = 2032, .slow_link = 952, .slow_bins = 1008, \
	.slow_bins_large = 1016, .slow_arena = 1024, .cache_bins_large = 1080, \
	.cache_n_bins = 235
/*
 * quantum 4
 * quantum 4, prof
 * quantum 4, no cache-oblivious, no stats
 */
#define JE_2 \
	JE_0, .version = "5.3.0", .state_shift = 17, .state_width = 3, \
	.szind_shift = 20, .nfree_shift = 28, .shard_shift = 38, .leaf_low = 127, \
	.leaf_szind_shift = 5, .pai_shift = 14, .edata_tctx = 80, .edata_ps = 24, \
	.ps_address = 0, .arena_bytes = 78952, .arena_internal = 56, \
	.arena_caches = 10392, .arena_caches_mutex = 10408, \
	.arena_large_mutex = 10536, .arena_base = 78936, .arena_ind = 78928, \
	.arena_bins = 78952, .bin_bytes = 224, .bin_regions = 136, .bin_slabs = 176, \
	.base_mutex = 32, .base_blocks = 160, .base_allocated = 3880, .slow_link = 0, \
	.slow_bins = 32, .slow_arena = 40, .slow_memory = 160, .slow_cache = 168, \
	.cache_bins = 8, .cache_n_bins = 73, .cached_head = 0, .cached_full = 18, \
	.cached_empty = 20, .junk_after = 0xa7a7a7a7a7a7a7a7ull, \
	.bins_are_pointers = 0, .thread_cache = 0, .thread_arena = 0, \
	.thread_tickers = 0, .slow_bins_large = 0, .cache_bins_large = 0, \
	.cached_count = 0
/*
 * quantum 3
 * quantum 3, prof
 * quantum 3, no cache-oblivious, no stats
 */
#define JE_3 \
	JE_2, .sizes = 235, .bins = 39, .base_allocated = 3928, .slow_memory = 176, \
	.slow_cache = 184, .cache_n_bins = 76
/*
 * quantum 4
 * quantum 4, prof
 * quantum 4, no cache-oblivious, no stats
 */
#define JE_4 \
	JE_2, .version = "5.3.1", .arena_bytes = 80704, .arena_internal = 72, \
	.arena_caches = 11976, .arena_caches_mutex = 11992, \
	.arena_large_mutex = 12120, .arena_base = 80648, .arena_ind = 80640, \
	.arena_bins = 80704, .mutex_locked = 64, .base_allocated = 3896, \
	.slow_memory = 224, .slow_cache = 232, .cache_n_bins = 41, .slow_n_bins = 48, \
	.cached_max = 22, .sizes_by_page = 1, .junk_after = 0x7a7a7a7a7a7a7a7bull
/*
 * quantum 3
 * quantum 3, prof
 * quantum 3, no cache-oblivious, no stats
 */
#define JE_5 \
	JE_4, .sizes = 235, .bins = 39, .base_allocated = 3944, .slow_memory = 232, \
	.slow_cache = 240, .cache_n_bins = 44
#define JE_ROWS {JE_0}, {JE_1}, {JE_2}, {JE_3}, {JE_4}, {JE_5},
/* clang-format on */

/* A row names the members of an earlier one again. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct hi_jemalloc_layout hi_jemalloc_layouts[] = {JE_ROWS};
#pragma GCC diagnostic pop
const size_t hi_jemalloc_n_layouts =
	sizeof(hi_jemalloc_layouts) / sizeof(hi_jemalloc_layouts[0]);
