/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets of tcmalloc's variables on x86-64, by version. Source: the headers of each
 * release, compiled by scripts/tcmalloc-layouts.
 */
#include "decode/allocators/tcmalloc.h"

/* The same in all versions. */
#define CENTRAL_LIST                                                                     \
	.central_stride = 1216, .size_class = 8, .empty = 16, .nonempty = 64,            \
	.num_spans = 112, .counter = 120, .slots = 128, .used_slots = 1152,              \
	.n_slots = 64
#define SPAN                                                                             \
	.span_start = 0, .span_length = 8, .span_next = 16, .span_prev = 24,             \
	.span_objects = 32, .span_bits = 40, .span_bytes = 48
#define CACHE_LISTS                                                                      \
	.lists = 0, .list_stride = 32, .list_length = 8, .list_size = 24,                \
	.cache_size = 4096

const struct hi_tcmalloc_layout hi_tcmalloc_layouts[] = {
	{
		.version = "2.8-2.10",
		.before_moves = 512,
		.pages = 516,
		.n_classes = 1540,
		CENTRAL_LIST,
		SPAN,
		CACHE_LISTS,
		.cache_next = 4144,
		.cache_prev = 4152,
		.cache_bytes = 4160,
	},
	{
		/* ThreadCache no longer has tid_ and in_setspecific_. */
		.version = "2.16-2.18",
		.before_moves = 512,
		.pages = 516,
		.n_classes = 1548,
		CENTRAL_LIST,
		SPAN,
		CACHE_LISTS,
		.cache_next = 4128,
		.cache_prev = 4136,
		.cache_bytes = 4160,
	},
	{
		/* SizeMap has min_span_size_in_pages_. Not compiled; chosen by the checks
		 * like the others. */
		.version = "2.11-2.15",
		.before_moves = 512,
		.pages = 516,
		.n_classes = 1548,
		CENTRAL_LIST,
		SPAN,
		CACHE_LISTS,
		.cache_next = 4144,
		.cache_prev = 4152,
		.cache_bytes = 4160,
	},
};
const size_t hi_tcmalloc_n_layouts =
	sizeof(hi_tcmalloc_layouts) / sizeof(*hi_tcmalloc_layouts);
