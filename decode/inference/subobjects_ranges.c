/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory without blocks where objects may be: private writable anonymous mappings without
 * stacks, static data and the allocator's regions. The kernel shows neighbours with equal
 * permissions as one mapping: a thread's stack may share its mapping with memory above
 * it.
 */
#include <stdlib.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/subobjects_internal.h"
#include "decode/modules/dwfl.h"

enum {
	/* struct pthread, from fs_base on: 2,304 bytes (nptl/descr.h, glibc 2.36),
	 * which end a stack's mapping; static data lies below. */
	THREAD_BLOCK = 2304,
	STATIC_TLS_MAX = 1 << 20,
	PAGE = 4096,
};

static bool may_hold_objects(const struct hi_mapping *m)
{
	const uint8_t rw = HI_PROT_READ | HI_PROT_WRITE;

	return (m->kind == HI_MAPPING_ANONYMOUS || m->kind == HI_MAPPING_HEAP) &&
	       !m->shared && (m->prot & rw) == rw;
}

/* Zeroed data of a module lies behind its file's mappings, one of them code. */
static bool is_bss(const struct hi_image *image, size_t index)
{
	const struct hi_mapping *m = &image->mappings[index], *file = m - 1;

	if (m->kind != HI_MAPPING_ANONYMOUS || index == 0 || file->end != m->start ||
	    file->kind != HI_MAPPING_FILE || file->shared)
		return false;
	for (size_t i = index; i > 0; i--) {
		const struct hi_mapping *at = &image->mappings[i - 1];

		if (at->end != at[1].start || at->kind != HI_MAPPING_FILE ||
		    at->inode != file->inode || at->dev_major != file->dev_major ||
		    at->dev_minor != file->dev_minor)
			return false;
		if (at->prot & HI_PROT_EXEC)
			return true;
	}
	return false;
}

/* Other memory may be mapped right after it: where the module is known, up to its end. */
static uint64_t end_of_bss(const struct hi_image *image, struct hi_modules *modules,
			   size_t index)
{
	const struct hi_mapping *m = &image->mappings[index];
	struct hi_module *module = modules ? hi_modules_at(modules, m[-1].start) : NULL;
	uint64_t end = m->start;
	size_t n;
	const GElf_Phdr *phdrs = module ? hi_module_phdrs(module, &n) : NULL;

	if (!phdrs)
		return m->end;
	for (size_t i = 0; i < n; i++) {
		uint64_t last = module->bias + phdrs[i].p_vaddr + phdrs[i].p_memsz;

		if (phdrs[i].p_type == PT_LOAD && last > end && last <= m->end)
			end = last;
	}
	return (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Bytes of static data below each thread's control block, with what aligns them. */
static uint64_t static_tls_bytes(struct hi_modules *modules)
{
	size_t n_modules = modules ? hi_modules_count(modules) : 0;
	uint64_t bytes = n_modules ? 0 : STATIC_TLS_MAX;

	for (size_t i = 0; i < n_modules && bytes < STATIC_TLS_MAX; i++) {
		size_t n;
		const GElf_Phdr *phdrs = hi_module_phdrs(hi_modules_get(modules, i), &n);

		for (size_t k = 0; k < n && bytes < STATIC_TLS_MAX; k++)
			if (phdrs[k].p_type == PT_TLS &&
			    phdrs[k].p_memsz < STATIC_TLS_MAX &&
			    phdrs[k].p_align < STATIC_TLS_MAX)
				bytes += phdrs[k].p_memsz + 2 * phdrs[k].p_align;
			else if (phdrs[k].p_type == PT_TLS)
				bytes = STATIC_TLS_MAX;
	}
	return bytes < STATIC_TLS_MAX ? bytes : STATIC_TLS_MAX;
}

static bool push_cut(struct hi_subobject_ranges *cuts, uint64_t start, uint64_t end)
{
	return start >= end || hi_vector_push(cuts, ((struct hi_range){start, end}));
}

static uint64_t thread_end(uint64_t fs_base)
{
	return (fs_base + THREAD_BLOCK + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* A thread's stack, up to its control block; its static data. */
static bool cut_thread(const struct hi_image *image, const struct hi_thread *thread,
		       uint64_t static_tls, struct hi_subobject_ranges *cuts)
{
	uint64_t sp = thread->regs.rsp, fs = thread->regs.fs_base;
	const struct hi_mapping *stack = hi_image_mapping_at(image, sp);
	const struct hi_mapping *tls = hi_image_mapping_at(image, fs);
	uint64_t start;

	if (stack && !push_cut(cuts, stack->start,
			       tls == stack && fs > sp ? thread_end(fs) : stack->end))
		return false;
	if (!tls)
		return true;
	start = fs - tls->start > static_tls ? (fs - static_tls) & ~(uint64_t)(PAGE - 1)
					     : tls->start;
	return push_cut(cuts, start, thread_end(fs));
}

static bool find_cuts(const struct hi_image *image, struct hi_modules *modules,
		      const struct hi_allocator *allocator,
		      const struct hi_objects *objects, struct hi_subobject_ranges *cuts)
{
	uint64_t static_tls = static_tls_bytes(modules);

	for (size_t i = 0; allocator && i < allocator->n_regions; i++)
		if (!push_cut(cuts, allocator->regions[i].start,
			      allocator->regions[i].end))
			return false;
	for (uint32_t i = 0; i < objects->n_regions; i++)
		if (!push_cut(cuts, objects->regions[i].start, objects->regions[i].end))
			return false;
	for (size_t i = 0; i < image->n_threads; i++)
		if (!cut_thread(image, &image->threads[i], static_tls, cuts))
			return false;
	for (size_t i = 0; i < image->n_mappings; i++)
		if (is_bss(image, i) && !push_cut(cuts, image->mappings[i].start,
						  end_of_bss(image, modules, i)))
			return false;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct hi_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_and_merge(struct hi_subobject_ranges *ranges)
{
	size_t kept = 0;

	if (ranges->count > 1)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), by_start);
	for (size_t i = 0; i < ranges->count; i++) {
		struct hi_range *last = kept ? &ranges->items[kept - 1] : NULL;

		if (!last || ranges->items[i].start > last->end)
			ranges->items[kept++] = ranges->items[i];
		else if (ranges->items[i].end > last->end)
			last->end = ranges->items[i].end;
	}
	ranges->count = kept;
}

/* What the cuts leave of [start, end); *first: the first cut that may matter, for
 * ranges in increasing order. */
static bool add_uncut(struct hi_subobject_ranges *to, uint64_t start, uint64_t end,
		      const struct hi_subobject_ranges *cuts, size_t *first)
{
	while (*first < cuts->count && cuts->items[*first].end <= start)
		++*first;
	for (size_t i = *first; i < cuts->count && cuts->items[i].start < end; i++) {
		const struct hi_range *c = &cuts->items[i];

		if (c->start > start &&
		    !hi_vector_push(to, ((struct hi_range){start, c->start})))
			return false;
		start = c->end > start ? c->end : start;
	}
	return start >= end || hi_vector_push(to, ((struct hi_range){start, end}));
}

static bool find_ranges(struct hi_subobjects *c, const struct hi_image *image,
			const struct hi_subobject_ranges *cuts)
{
	size_t first = 0;

	for (size_t i = 0; i < image->n_mappings; i++)
		if (may_hold_objects(&image->mappings[i]) &&
		    !add_uncut(&c->ranges, image->mappings[i].start,
			       image->mappings[i].end, cuts, &first))
			return false;
	sort_and_merge(&c->ranges); /* objects may lie across two mappings */
	return true;
}

enum hi_status hi_subobjects_find_ranges(struct hi_subobjects *c,
					 const struct hi_image *image,
					 struct hi_modules *modules,
					 const struct hi_allocator *allocator,
					 const struct hi_objects *objects,
					 struct hi_error *err)
{
	struct hi_subobject_ranges cuts = {};
	bool ok = find_cuts(image, modules, allocator, objects, &cuts);

	sort_and_merge(&cuts);
	ok = ok && find_ranges(c, image, &cuts);
	hi_vector_free(&cuts);
	return ok ? HI_OK : hi_fail_memory(err, "subobjects");
}

enum hi_status hi_subobjects_exclude(struct hi_subobjects *c, uint64_t start,
				     uint64_t end, struct hi_error *err)
{
	struct hi_range excluded = {start, end};
	struct hi_subobject_ranges cuts = {.items = &excluded, .count = start < end};
	struct hi_subobject_ranges left = {};
	size_t first = 0;

	for (size_t i = 0; i < c->ranges.count; i++)
		if (!add_uncut(&left, c->ranges.items[i].start, c->ranges.items[i].end,
			       &cuts, &first)) {
			hi_vector_free(&left);
			return hi_fail_memory(err, "subobjects");
		}
	hi_vector_free(&c->ranges);
	c->ranges = left;
	return HI_OK;
}

enum hi_status hi_subobjects_include(struct hi_subobjects *c, uint64_t start,
				     uint64_t end, struct hi_error *err)
{
	const struct hi_range range = {start, end};

	if (!hi_vector_push(&c->ranges, range) || !hi_vector_push(&c->statics, range))
		return hi_fail_memory(err, "subobjects");
	sort_and_merge(&c->ranges);
	sort_and_merge(&c->statics);
	return HI_OK;
}

size_t hi_subobjects_static(const struct hi_subobjects *c, const struct hi_range **ret)
{
	*ret = c->statics.items;
	return c->statics.count;
}

bool hi_subobjects_range(const struct hi_subobjects *c, uint64_t addr,
			 uint64_t *start_ret, uint64_t *end_ret)
{
	size_t low = hi_search(i, c->ranges.count, c->ranges.items[i].end <= addr);

	if (low == c->ranges.count || addr < c->ranges.items[low].start)
		return false;
	*start_ret = c->ranges.items[low].start;
	*end_ret = c->ranges.items[low].end;
	return true;
}

void hi_subobjects_bounds(const struct hi_subobjects *c, uint64_t *low_ret,
			  uint64_t *high_ret)
{
	size_t n = c->ranges.count;

	*low_ret = n ? c->ranges.items[0].start : 0;
	*high_ret = n ? c->ranges.items[n - 1].end : 0;
}

uint64_t hi_subobjects_bytes(const struct hi_subobjects *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->ranges.count; i++)
		bytes += c->ranges.items[i].end - c->ranges.items[i].start;
	return bytes;
}
