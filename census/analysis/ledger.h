/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger: RSS broken down until it adds up. Plain data; decode/usage/ledger.c
 * fills it in, report/ prints it. Bytes; UINT64_MAX means unknown (cores have
 * no residency).
 */
#ifndef HI_CENSUS_ANALYSIS_LEDGER_H
#define HI_CENSUS_ANALYSIS_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#define HI_UNKNOWN UINT64_MAX

struct hi_ledger_row {
	const char *key;   /* JSON name, "free_tcache"; static storage */
	const char *label; /* for people, "free: thread caches"; static storage */
	int level;	   /* 0: a term of the sum; 1: part of the level-0 row above */
	uint64_t resident, virtual_size, swapped;
	uint64_t count; /* blocks, mappings; HI_UNKNOWN: makes no sense */
};

enum { HI_LEDGER_ROWS = 48 };
struct hi_ledger {
	uint64_t rss; /* smaps_rollup at the stop; HI_UNKNOWN for cores */
	struct hi_ledger_row
		rows[HI_LEDGER_ROWS]; /* sum of level 0 resident + unknown = rss */
	size_t n_rows;
	int64_t unknown; /* rss - sum; negative where pages changed between the readings
			  */
};

#endif
