/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/usage/mapped_pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/vector.h"
#include "decode/allocators/window.h"

enum { PAGE = 4096 };

static bool is_own_mapping(const struct hi_mapping *m)
{
	return m->kind == HI_MAPPING_ANONYMOUS && !m->shared &&
	       (m->prot & (HI_PROT_READ | HI_PROT_WRITE)) ==
		       (HI_PROT_READ | HI_PROT_WRITE);
}

/* Memory from mmap in which malloc's regions do not lie. */
static bool is_beside_malloc(const struct hi_image *image,
			     const struct hi_allocator *allocator, uint64_t start,
			     uint64_t end)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, start);

	if (!m || !is_own_mapping(m) || end > m->end)
		return false;
	for (size_t i = 0; allocator && i < allocator->n_regions; i++)
		if (allocator->regions[i].start < end &&
		    allocator->regions[i].end > start)
			return false;
	return true;
}

/* ---- APR ---- */

/* apr_memnode_t (include/apr_allocator.h, 1.0 to 1.7): next, ref, u32 index and
 * free_index, first_avail, endp; a node has index + 1 pages. */
enum { NEXT = 0, REF = 1, INDEX = 2, FIRST_AVAIL = 3, ENDP = 4, NODE_WORDS = 5 };

static bool is_null_or_mapped(const struct hi_image *image, uint64_t addr)
{
	return !addr || (addr % 8 == 0 && hi_image_mapping_at(image, addr));
}

/* Bytes of the node at addr; 0: none is there. */
static uint64_t node_size(const struct hi_image *image, struct hi_window *window,
			  uint64_t addr, uint64_t limit)
{
	const uint64_t *at = hi_window_at(window, addr, NODE_WORDS * 8);
	uint64_t node[NODE_WORDS], size;

	if (!at)
		return 0;
	memcpy(node, at, sizeof(node));
	size = ((node[INDEX] & UINT32_MAX) + 1) * PAGE;
	if (size > limit - addr || node[ENDP] != addr + size ||
	    node[FIRST_AVAIL] < addr + NODE_WORDS * 8 || node[FIRST_AVAIL] > node[ENDP] ||
	    !node[REF] || !is_null_or_mapped(image, node[REF]) ||
	    !is_null_or_mapped(image, node[NEXT]))
		return 0;
	return size;
}

uint64_t hi_mapped_pools_apr(const struct hi_image *image,
			     const struct hi_allocator *allocator)
{
	struct hi_window window = {.memory = image->memory};
	uint64_t bytes = 0, size;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		for (uint64_t at = m->start; is_own_mapping(m) && at < m->end;
		     at += size ? size : PAGE) {
			size = node_size(image, &window, at, m->end);
			if (size && is_beside_malloc(image, allocator, at, at + size))
				bytes += size;
		}
	}
	hi_window_free(&window);
	return bytes;
}

/* ---- gcc's collector ---- */

/* struct page_entry (gcc/ggc-page.cc, since 4.0), in blocks of malloc: next, prev, bytes,
 * page, index_by_depth, u16 context_depth, num_free_objects, next_bit_hint, u8 order. */
enum { ENTRY_NEXT, ENTRY_PREV, ENTRY_BYTES, ENTRY_PAGE, ENTRY_INDEX, ENTRY_WORDS = 6 };
enum {
	MIN_ENTRIES = 16, /* that may not be there by chance */
	MAX_DEPTH = 64,
	MAX_ENTRIES = 1 << 22
};

struct page_ranges HI_VECTOR(struct hi_range);

static int compare_page_ranges(const void *a, const void *b)
{
	const struct hi_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Each byte once: entries that were freed may still be there. */
static uint64_t sum_pages(struct page_ranges *ranges)
{
	uint64_t bytes = 0, end = 0;

	if (ranges->count < MIN_ENTRIES)
		return 0;
	qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_page_ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct hi_range *r = &ranges->items[i];
		uint64_t start = r->start > end ? r->start : end;

		if (r->end > start)
			bytes += r->end - start;
		end = r->end > end ? r->end : end;
	}
	return bytes;
}

static bool is_page_entry(const struct hi_image *image,
			  const struct hi_allocator *allocator,
			  const uint64_t entry[ENTRY_WORDS])
{
	uint64_t page = entry[ENTRY_PAGE], bytes = entry[ENTRY_BYTES];

	return page && page % PAGE == 0 && bytes && bytes % PAGE == 0 &&
	       page <= UINT64_MAX - bytes &&
	       (entry[ENTRY_WORDS - 1] & 0xffff) <= MAX_DEPTH &&
	       is_null_or_mapped(image, entry[ENTRY_NEXT]) &&
	       is_null_or_mapped(image, entry[ENTRY_PREV]) &&
	       is_beside_malloc(image, allocator, page, page + bytes);
}

static bool find_page_entries(const struct hi_image *image,
			      const struct hi_allocator *allocator,
			      const struct hi_heap_region *region,
			      struct hi_window *window, struct page_ranges *ranges)
{
	for (uint64_t at = (region->start + 15) & ~(uint64_t)15;
	     at + ENTRY_WORDS * 8 <= region->end && ranges->count < MAX_ENTRIES;
	     at += 16) {
		const void *host = hi_window_at(window, at, ENTRY_WORDS * 8);
		uint64_t entry[ENTRY_WORDS];

		if (!host)
			continue;
		memcpy(entry, host, sizeof(entry));
		if (is_page_entry(image, allocator, entry) &&
		    !hi_vector_push(
			    ranges,
			    ((struct hi_range){entry[ENTRY_PAGE],
					       entry[ENTRY_PAGE] + entry[ENTRY_BYTES]})))
			return false;
	}
	return true;
}

uint64_t hi_mapped_pools_ggc(const struct hi_image *image,
			     const struct hi_allocator *allocator)
{
	struct hi_window window = {.memory = image->memory};
	struct page_ranges ranges = {};
	uint64_t bytes = 0;
	bool ok = true;

	for (size_t i = 0; ok && allocator && i < allocator->n_regions; i++)
		ok = find_page_entries(image, allocator, &allocator->regions[i], &window,
				       &ranges);
	if (ok && ranges.count)
		bytes = sum_pages(&ranges);
	hi_vector_free(&ranges);
	hi_window_free(&window);
	return bytes;
}

/* ---- both ---- */

static bool has_function(struct hi_modules *modules, const char *name)
{
	uint64_t addr, size;

	return hi_modules_symbol(modules, NULL, name, &addr, &size, NULL) == HI_OK;
}

static const char *add_pool(struct hi_arena *arena, const char *text, const char *name,
			    uint64_t bytes)
{
	char size[24];

	if (!text || !bytes)
		return text;
	return hi_arena_printf(arena, "%s%s%s (%s)", text, *text ? ", " : "", name,
			       hi_text_bytes(size, bytes));
}

enum hi_status hi_mapped_pools_find(const struct hi_image *image,
				    struct hi_modules *modules,
				    const struct hi_allocator *allocator,
				    struct hi_arena *arena, const char **ret,
				    struct hi_error *err)
{
	const char *text = "";

	if (has_function(modules, "apr_palloc"))
		text = add_pool(arena, text, "APR's pools",
				hi_mapped_pools_apr(image, allocator));
	if (has_function(modules, "_Z11ggc_collect11ggc_collect") ||
	    has_function(modules, "_Z11ggc_collectv") ||
	    has_function(modules, "ggc_collect"))
		text = add_pool(arena, text, "gcc's own collector",
				hi_mapped_pools_ggc(image, allocator));
	if (!text)
		return hi_fail_memory(err, "names of pools");
	*ret = text;
	return HI_OK;
}
