/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of jemalloc with any words: the stored one of a small program (fuzz/data), with
 * words written over it as the input says (fuzz/words.h), as if no symbols led to it.
 * A heap that passes the checks has blocks in order, apart, inside their region, and all
 * bytes of the regions are accounted for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "attach/mock.h"
#include "decode/allocators/jemalloc.h"
#include "decode/modules/module.h"
#include "fuzz/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PAGE = 4096, STORED = 1 << 20 };

struct stored_mapping {
	uint64_t start, end;
	uint32_t of_library, protection;
};

static struct heap {
	struct hi_memory *memory;
	struct hi_image *image;
	struct hi_module module;
	struct hi_module_private priv;
	GElf_Phdr data;
	struct words words;
	const struct hi_allocator *allocator;
	uint64_t last; /* end of the last block */
} heap;

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void add_mapping(const struct stored_mapping *m)
{
	const struct hi_mapping mapping = {
		.start = m->start,
		.end = m->end,
		.prot = (uint8_t)m->protection,
		.kind = m->of_library ? HI_MAPPING_FILE : HI_MAPPING_ANONYMOUS,
		.held = true,
		.path = m->of_library ? "/libjemalloc.so.2" : "",
		.resident = m->end - m->start,
		.copied = m->end - m->start};

	expect(hi_memory_mock_add(heap.memory, m->start, NULL, m->end - m->start, NULL) ==
	       HI_OK);
	expect(hi_image_add_mapping(heap.image, &mapping, NULL) == HI_OK);
	if (m->of_library) {
		if (!heap.module.start)
			heap.module.start = m->start;
		heap.module.end = m->end;
	}
}

/* Its data is one part. */
static void describe_module(void)
{
	heap.data = (GElf_Phdr){.p_type = PT_LOAD,
				.p_flags = PF_R | PF_W,
				.p_vaddr = heap.module.start,
				.p_memsz = heap.module.end - heap.module.start};
	heap.priv.header.phdrs = &heap.data;
	heap.priv.header.n_phdrs = 1;
	heap.module.name = heap.module.path = "libjemalloc.so.2";
	heap.module.priv = &heap.priv;
}

static void add_page(const uint8_t *stored)
{
	uint64_t at;
	size_t n = heap.words.n_ranges;

	memcpy(&at, stored, sizeof(at));
	memcpy(hi_memory_mock_at(heap.memory, at), stored + sizeof(at), PAGE);
	if (n && heap.words.ranges[n - 1].end == at)
		heap.words.ranges[n - 1].end += PAGE;
	else
		words_add_range(&heap.words, at, at + PAGE);
}

static size_t read_stored(uint8_t *bytes)
{
	static uint8_t packed[STORED];
	FILE *in = fopen(HI_SOURCE_DIR "/fuzz/data/jemalloc.zst", "rb");
	size_t n;

	expect(in != NULL);
	n = ZSTD_decompress(bytes, STORED, packed, fread(packed, 1, STORED, in));
	fclose(in);
	expect(!ZSTD_isError(n));
	return n;
}

static void load_heap(void)
{
	static uint8_t bytes[STORED];
	struct stored_mapping m;
	uint32_t counts[2];
	const uint8_t *at = bytes + sizeof(counts);

	expect(read_stored(bytes) > sizeof(counts));
	expect(hi_memory_create_mock(&heap.memory, NULL) == HI_OK &&
	       hi_image_create_mock(heap.memory, &heap.image, NULL) == HI_OK);
	memcpy(counts, bytes, sizeof(counts));
	for (uint32_t i = 0; i < counts[0]; i++, at += sizeof(m)) {
		memcpy(&m, at, sizeof(m));
		add_mapping(&m);
	}
	heap.words.memory = heap.memory;
	for (uint32_t i = 0; i < counts[1]; i++, at += sizeof(uint64_t) + PAGE)
		add_page(at);
	describe_module();
}

static bool check_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			 void *arg)
{
	const struct hi_heap_region *r = &heap.allocator->regions[region];

	(void)arg;
	expect(region < heap.allocator->n_regions);
	for (size_t i = 0; i < n; i++) {
		expect(blocks[i].addr >= r->start && blocks[i].addr < r->end &&
		       blocks[i].usable <= r->end - blocks[i].addr &&
		       blocks[i].addr >= heap.last);
		heap.last = blocks[i].addr + blocks[i].usable;
	}
	return true;
}

static void walk(struct hi_allocator *a)
{
	uint64_t regions = 0, blocks = 0 - a->skipped_bytes;

	heap.allocator = a;
	heap.last = 0;
	if (hi_allocator_walk(a, check_blocks, NULL, NULL) != HI_OK)
		return;
	for (size_t i = 0; i < a->n_regions; i++)
		regions += a->regions[i].end - a->regions[i].start;
	blocks += a->skipped_bytes + a->overhead_bytes;
	for (int i = 0; i < HI_BLOCK_STATES; i++)
		blocks += a->bytes[i];
	expect(regions == blocks);
}

static void open_and_walk(void)
{
	struct hi_jemalloc_found found = {};
	struct hi_allocator *a;
	unsigned stage;

	if (hi_jemalloc_find(heap.image, &heap.module, &found, NULL) == HI_OK)
		for (size_t i = 0; i < found.roots.count * hi_jemalloc_n_layouts; i++) {
			a = NULL;
			stage = 0;
			if (hi_jemalloc_open(
				    heap.image, &found,
				    &found.roots.items[i / hi_jemalloc_n_layouts],
				    &hi_jemalloc_layouts[i % hi_jemalloc_n_layouts], &a,
				    &stage, NULL) == HI_OK)
				walk(a);
			hi_allocator_release(a);
		}
	hi_jemalloc_found_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!heap.image)
		load_heap();
	words_write(&heap.words, data, size);
	open_and_walk();
	words_restore(&heap.words);
	return 0;
}
