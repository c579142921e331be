/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the layout of mallocng out of a musl release's own src/malloc/mallocng/meta.h,
 * as rows of decode/allocators/mallocng_layout.c: scripts/musl-layouts compiles it.
 */
#include <stddef.h>
#include <stdio.h>

/* What meta.h takes from glue.h that a program of another C library has not. */
#define MALLOC_GLUE_H
#include <assert.h>
#include <string.h>
#define size_classes __malloc_size_classes
#define ctx __malloc_context
#define alloc_meta __malloc_alloc_meta
#define is_allzero __malloc_allzerop
#define PAGESIZE 4096
#define a_clz_32 __builtin_clz
static inline int a_cas(volatile int *p, int t, int s)
{
	return __sync_val_compare_and_swap(p, t, s);
}
#include "meta.h"

#define FIELD(name, type, member) printf("\t.%s = %zu,\n", name, offsetof(type, member))

/* The lowest bit of a bit field in the word behind the masks, and its width. */
static void print_bits(const char *name, struct meta m)
{
	unsigned long word;

	memcpy(&word, (char *)&m + offsetof(struct meta, freed_mask) + 4, 8);
	printf("\t.%s = {%d, %d},\n", name, __builtin_ctzl(word),
	       __builtin_popcountl(word));
}

int main(void)
{
	FIELD("secret", struct malloc_context, secret);
	FIELD("init_done", struct malloc_context, init_done);
	FIELD("free_meta_head", struct malloc_context, free_meta_head);
	FIELD("avail_meta", struct malloc_context, avail_meta);
	FIELD("avail_meta_count", struct malloc_context, avail_meta_count);
	FIELD("meta_area_head", struct malloc_context, meta_area_head);
	FIELD("meta_area_tail", struct malloc_context, meta_area_tail);
	FIELD("active", struct malloc_context, active);
	FIELD("usage_by_class", struct malloc_context, usage_by_class);
	printf("\t.context_size = %zu,\n", sizeof(struct malloc_context));
	FIELD("area_check", struct meta_area, check);
	FIELD("area_next", struct meta_area, next);
	FIELD("area_nslots", struct meta_area, nslots);
	FIELD("area_slots", struct meta_area, slots);
	FIELD("meta_prev", struct meta, prev);
	FIELD("meta_next", struct meta, next);
	FIELD("meta_mem", struct meta, mem);
	FIELD("meta_avail", struct meta, avail_mask);
	FIELD("meta_freed", struct meta, freed_mask);
	printf("\t.meta_bits = %zu,\n", offsetof(struct meta, freed_mask) + 4);
	printf("\t.meta_size = %zu,\n", sizeof(struct meta));
	print_bits("last_idx", (struct meta){.last_idx = -1});
	print_bits("freeable", (struct meta){.freeable = -1});
	print_bits("sizeclass", (struct meta){.sizeclass = -1});
	print_bits("maplen", (struct meta){.maplen = -1});
	FIELD("group_meta", struct group, meta);
	printf("\t.group_active = %zu,\n", offsetof(struct group, meta) + 8);
	FIELD("group_storage", struct group, storage);
	printf("\t.unit = %d,\n\t.in_band = %d,\n", UNIT, IB);
	return 0;
}
