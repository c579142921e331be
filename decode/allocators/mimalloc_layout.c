/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets in mimalloc's structures, x86-64, printed by scripts/mimalloc-layouts out of
 * the headers of the releases that the comments name. Each of them three times: plain,
 * with encoded lists and padding (debug builds), with encoded lists alone (MI_SECURE).
 * A row is an earlier one with the members that differ (scripts/layout-deltas).
 * Releases between them that have the same offsets pass the same checks.
 */
#include "decode/allocators/mimalloc.h"

/* clang-format off */
/* mimalloc 2.0.9 (Debian bookworm) */
#define MI_0 \
	.version = "2.0.9", .start = HI_MI_START_384, .page_size = 80, \
	.capacity = 10, .reserved = 12, .flags = 14, .free = 16, .used = 24, \
	.used_size = 4, .local_free = 32, .xthread_free = 40, .xheap = 48, \
	.block_size = 28, .block_size_size = 4, .segment_used = 208, \
	.abandoned = 192, .cookie = 216, .segment_slices = 224, \
	.segment_info_slices = 232, .kind = 240, .slice_entries = 248, \
	.segment_thread_id = 256, .slices = 264, .segment_size = 41304, \
	.thread_delayed_free = 2840, .thread_id = 2848, .heap_cookie = 2864, \
	.heap_keys = 2872, .page_count = 3024, .next = 3048, .heap_size = 3064
#define MI_1 \
	MI_0, .encoded = true, .padding = 8, .page_size = 96, .xthread_free = 56, \
	.xheap = 64, .keys = 40, .segment_size = 49512, .thread_delayed_free = 2848, \
	.thread_id = 2856, .heap_cookie = 2872, .heap_keys = 2880, \
	.page_count = 3032, .next = 3056, .heap_size = 3072
#define MI_2 \
	MI_0, .encoded = true, .page_size = 96, .xthread_free = 56, .xheap = 64, \
	.keys = 40, .segment_size = 49512
/* mimalloc 2.1.2 (emscripten 3.1.69; CPython 3.13's are the same) */
#define MI_3 \
	MI_0, .version = "2.1.2", .start = HI_MI_START_SCALED
#define MI_4 \
	MI_1, .version = "2.1.2", .start = HI_MI_START_SCALED
#define MI_5 \
	MI_2, .version = "2.1.2", .start = HI_MI_START_SCALED
/* mimalloc 2.1.9 (mold 2.37.1) */
#define MI_6 \
	MI_2, .version = "2.1.9", .start = HI_MI_START_FIELD, .used = 32, \
	.used_size = 2, .local_free = 24, .block_size = 40, .page_start = 48, \
	.block_size_size = 8, .segment_used = 216, .abandoned = 200, .cookie = 224, \
	.segment_slices = 248, .segment_info_slices = 256, .kind = 264, \
	.slice_entries = 272, .segment_thread_id = 280, .slices = 288, \
	.segment_size = 49536, .thread_delayed_free = 8, .thread_id = 16, \
	.heap_cookie = 32, .heap_keys = 40, .page_count = 192, .next = 216, \
	.encoded = 0, .keys = 0
#define MI_7 \
	MI_6, .encoded = true, .padding = 8, .page_size = 112, .xthread_free = 72, \
	.xheap = 80, .keys = 56, .segment_size = 57744, .heap_size = 3072
#define MI_8 \
	MI_7, .heap_size = 3064, .padding = 0
#define MI_ROWS {MI_0}, {MI_1}, {MI_2}, {MI_3}, {MI_4}, {MI_5}, {MI_6}, {MI_7}, {MI_8},
/* clang-format on */

/* A row names the members of an earlier one again. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct hi_mimalloc_layout hi_mimalloc_layouts[] = {MI_ROWS{}};
#pragma GCC diagnostic pop
