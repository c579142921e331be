/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled from src/malloc/mallocng/meta.h of 1.2.2, 1.2.3 and 1.2.5, x86-64, by
 * scripts/musl-layouts: equal in all of them. 1.2.1 is the first release that has it.
 */
#include "decode/allocators/mallocng.h"

const struct hi_mallocng_layout hi_mallocng_layout = {
	.versions = "1.2.1 or later",
	.secret = 0,
	.init_done = 8,
	.free_meta_head = 16,
	.avail_meta = 24,
	.avail_meta_count = 32,
	.meta_area_head = 56,
	.meta_area_tail = 64,
	.active = 80,
	.usage_by_class = 464,
	.context_size = 928,
	.area_check = 0,
	.area_next = 8,
	.area_nslots = 16,
	.area_slots = 24,
	.meta_prev = 0,
	.meta_next = 8,
	.meta_mem = 16,
	.meta_avail = 24,
	.meta_freed = 28,
	.meta_bits = 32,
	.meta_size = 40,
	.last_idx = {0, 5},
	.freeable = {5, 1},
	.sizeclass = {6, 6},
	.maplen = {12, 52},
	.group_meta = 0,
	.group_active = 8,
	.group_storage = 16,
	.unit = 16,
	.in_band = 4,
	.classes = {1,	  2,	3,    4,    5,	  6,	7,    8,    9,	  10,
		    12,	  15,	18,   20,   25,	  31,	36,   42,   50,	  63,
		    72,	  84,	102,  127,  146,  170,	204,  255,  292,  340,
		    409,  511,	584,  682,  818,  1023, 1169, 1364, 1637, 2047,
		    2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191},
};
