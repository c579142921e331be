/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RSS broken down. Heap regions: objects that are live, leaked or the allocator's own by
 * the graph, blocks that are free by the allocator, and the remaining resident bytes as
 * fragmentation. Outside of the regions: mappings by kind.
 *
 * Where a region is wholly resident, bytes are resident bytes. Where it is not, its
 * blocks are walked beside the list of its missing pages, and what lies on those is
 * subtracted. Both are linear. Objects that were split off other memory
 * (census/graph/objects.h) are taken from their mapping's row.
 */
#include "decode/usage/ledger.h"

#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/vector.h"

#define PAGE 4096u

enum row {
	LIVE,
	LEAK,
	FREE,
	FREE_FIRST, /* a row a state, as in enum hi_block_state */
	FREE_LAST = FREE_FIRST + HI_FREE_KINDS - 1,
	ALLOCATOR,
	METADATA,
	FRAGMENTATION,
	STACKS,
	FILES,
	SHARED,
	OTHER,
	KERNEL,
	ROWS,
};

static const struct hi_ledger_row empty_rows[ROWS] = {
	[LIVE] = {"live", "live objects", 0, 0, 0, 0, 0},
	[LEAK] = {"leak", "leaked", 0, 0, 0, 0, 0},
	[FREE] = {"free", "free in the allocator", 0, 0, 0, 0, 0},
	[ALLOCATOR] = {"allocator", "allocator overhead", 0, 0, 0, 0, 0},
	[METADATA] = {"metadata", "metadata", 1, 0, 0, 0, 0},
	[FRAGMENTATION] = {"fragmentation", "fragmentation", 0, 0, 0, 0, HI_UNKNOWN},
	[STACKS] = {"stacks", "stacks", 0, 0, 0, 0, 0},
	[FILES] = {"files", "mapped files", 0, 0, 0, 0, 0},
	[SHARED] = {"shared", "shared memory", 0, 0, 0, 0, 0},
	[OTHER] = {"other", "other anonymous memory", 0, 0, 0, 0, 0},
	[KERNEL] = {"kernel", "kernel mappings (vdso)", 0, 0, 0, 0, 0},
};

struct holes HI_VECTOR(struct hi_range);

struct fill {
	const struct hi_image *image;
	struct hi_allocator *allocator;
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	struct hi_ledger_row *rows;
	bool residency_known;
	bool heap_swapped;
	uint64_t region_bytes, region_resident;
	uint64_t outside_bytes, outside_resident; /* objects outside of the regions */
	struct subobject_part {
		uint64_t bytes, resident;
	} * subobjects; /* of each mapping; NULL: nothing */
	/* While one region is walked: */
	const struct hi_range *hole, *holes_end;
	const struct hi_heap_region *region;
	uint64_t before; /* end of the block before */
	hi_node next;	 /* the object that comes next */
};

/* ---- heap ---- */

static enum row row_of_state(enum hi_block_state state)
{
	if (hi_block_state_is_free(state))
		return FREE_FIRST + (state - HI_BLOCK_FREE_FIRST);
	if (state == HI_BLOCK_INTERNAL)
		return ALLOCATOR;
	return state == HI_BLOCK_METADATA ? METADATA : LIVE;
}

static enum row row_of_object(const struct fill *f, hi_node id)
{
	if (f->graph->objects->flags[id] & HI_OBJECT_INTERNAL)
		return ALLOCATOR;
	return !f->reach || hi_bit(f->reach->any, id) ? LIVE : LEAK;
}

/* Live blocks are objects in the same order: mostly the next one. */
static enum row row_of_block(struct fill *f, const struct hi_block *b)
{
	const struct hi_objects *objects = f->graph ? f->graph->objects : NULL;
	enum row row = row_of_state(b->state);
	hi_node id = f->next;

	if (row != LIVE || !objects)
		return row;
	if (id >= objects->count || hi_objects_address(objects, id) != b->addr)
		id = hi_objects_find(objects, b->addr, NULL);
	if (id == HI_NODE_NONE)
		return FRAGMENTATION; /* the table refused it: no row has its bytes */
	f->next = id + 1;
	return row_of_object(f, id);
}

/* Bytes of [start, end) that lie on missing pages. Blocks come in order. */
static uint64_t count_missing_bytes(struct fill *f, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;

	while (f->hole < f->holes_end && f->hole->end <= start)
		f->hole++;
	for (const struct hi_range *h = f->hole; h < f->holes_end && h->start < end;
	     h++) {
		uint64_t from = h->start > start ? h->start : start;
		uint64_t to = h->end < end ? h->end : end;

		bytes += to - from;
	}
	return bytes;
}

/*
 * A block's bytes end where its user's end, less the next one's header: an
 * allocator's header is cost - usable bytes before the address at most. A chunk
 * that is a mapping may start far inside it (memalign): as an object it costs
 * its own header and bytes only, and what lies before it is fragmentation.
 */
static void extent_of_block(const struct fill *f, const struct hi_block *b,
			    uint64_t *start_ret, uint64_t *end_ret)
{
	bool whole = b->mmapped && !f->reach;
	uint64_t start = whole ? f->region->start : b->addr - f->region->header;
	uint64_t end;

	if (start < f->before)
		start = f->before;
	end = b->mmapped ? b->addr + b->usable : start + b->cost;
	if (end > f->region->end || end < start)
		end = f->region->end;
	*start_ret = start;
	*end_ret = end;
}

static void subtract_resident(struct hi_ledger_row *row, uint64_t bytes)
{
	row->resident -= bytes < row->resident ? bytes : row->resident;
}

/* Takes what is missing of [start, end) from the row of the block there, or from
 * the rows of the objects that the block was cut into. They end as far before
 * the next one as the block's bytes do, so that each has as many as it costs. */
static void subtract_block(struct fill *f, const struct hi_block *b, uint64_t start,
			   uint64_t end)
{
	const struct hi_objects *objects = f->graph ? f->graph->objects : NULL;
	uint64_t early = b->addr + b->usable > end ? b->addr + b->usable - end : 0;
	enum row row = row_of_block(f, b);

	while (objects && b->state == HI_BLOCK_LIVE && row != FRAGMENTATION &&
	       f->next < objects->count) {
		uint64_t next = hi_objects_address(objects, f->next);

		if (next <= b->addr || next - b->addr >= b->usable || next - early >= end)
			break;
		subtract_resident(&f->rows[row],
				  count_missing_bytes(f, start, next - early));
		row = row_of_object(f, f->next++);
		start = next - early;
	}
	subtract_resident(&f->rows[row], count_missing_bytes(f, start, end));
}

static bool subtract_missing(const struct hi_block *blocks, size_t n, unsigned region,
			     void *arg)
{
	struct fill *f = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		const struct hi_block *b = &blocks[i];
		uint64_t start, end;

		extent_of_block(f, b, &start, &end);
		f->before = end;
		if (f->hole < f->holes_end && end > f->hole->start && start < end)
			subtract_block(f, b, start, end);
		else if (b->state == HI_BLOCK_LIVE)
			f->next++;
	}
	return true;
}

/* Missing runs of pages of [start, end), by halving: a run that is all resident or all
 * missing is not halved again. */
static bool find_holes(struct fill *f, uint64_t start, uint64_t end, struct holes *ret)
{
	struct hi_range stack[64]; /* a halving at a time: no deeper than 52 */
	size_t depth = 0;

	stack[depth++] = (struct hi_range){start, end};
	while (depth) {
		struct hi_range r = stack[--depth];
		uint64_t resident = hi_image_resident(f->image, r.start, r.end);
		uint64_t middle =
			(r.start + (r.end - r.start) / 2) & ~(uint64_t)(PAGE - 1);

		if (resident >= r.end - r.start)
			continue;
		if (resident && middle > r.start && middle < r.end) {
			stack[depth++] = (struct hi_range){middle, r.end};
			stack[depth++] = (struct hi_range){r.start, middle};
			continue;
		}
		if (resident && r.start / PAGE != (r.end - 1) / PAGE) {
			middle = (r.start / PAGE + 1) * PAGE;
			stack[depth++] = (struct hi_range){middle, r.end};
			stack[depth++] = (struct hi_range){r.start, middle};
			continue;
		}
		if (ret->count && ret->items[ret->count - 1].end == r.start)
			ret->items[ret->count - 1].end = r.end;
		else if (!hi_vector_push(ret, r))
			return false;
	}
	return true;
}

/* Walks the blocks of one region that is not wholly resident. */
static enum hi_status fill_region(struct fill *f, unsigned index, struct holes *holes,
				  struct hi_error *err)
{
	const struct hi_heap_region *region = &f->allocator->regions[index];

	holes->count = 0;
	if (!find_holes(f, region->start, region->end, holes))
		return hi_fail_memory(err, "ledger");
	f->hole = holes->items;
	f->holes_end = holes->items + holes->count;
	f->region = region;
	f->before = region->start;
	f->next = HI_NODE_NONE;
	return f->allocator->ops->walk_region(f->allocator, index, subtract_missing, f,
					      err);
}

/* What a walk counts. */
struct walk_counters {
	size_t n_damage, n_damage_total;
	uint64_t skipped_bytes, overhead_bytes;
	uint64_t count[HI_BLOCK_STATES], bytes[HI_BLOCK_STATES];
};

static struct walk_counters save_counters(const struct hi_allocator *a)
{
	struct walk_counters c = {
		a->n_damage, a->n_damage_total, a->skipped_bytes, a->overhead_bytes, {},
		{}};

	memcpy(c.count, a->count, sizeof(c.count));
	memcpy(c.bytes, a->bytes, sizeof(c.bytes));
	return c;
}

static void restore_counters(struct hi_allocator *a, const struct walk_counters *c)
{
	a->n_damage = c->n_damage;
	a->n_damage_total = c->n_damage_total;
	a->skipped_bytes = c->skipped_bytes;
	a->overhead_bytes = c->overhead_bytes;
	memcpy(a->count, c->count, sizeof(a->count));
	memcpy(a->bytes, c->bytes, sizeof(a->bytes));
}

static enum hi_status walk_partly_resident(struct fill *f, struct hi_error *err)
{
	struct hi_allocator *a = f->allocator;
	struct holes holes = {};
	enum hi_status status = HI_OK;

	for (unsigned i = 0; i < a->n_regions && status == HI_OK; i++) {
		const struct hi_heap_region *r = &a->regions[i];
		uint64_t resident = hi_image_resident(f->image, r->start, r->end);

		f->region_bytes += r->end - r->start;
		if (resident == UINT64_MAX)
			continue;
		f->region_resident += resident;
		if (resident < r->end - r->start && a->ops->walk_region)
			status = fill_region(f, i, &holes, err);
	}
	hi_vector_free(&holes);
	return status;
}

/* The walks before this one keep their counters, those of the parts too. */
static enum hi_status fill_regions(struct fill *f, struct hi_error *err)
{
	struct walk_counters saved = save_counters(f->allocator),
			     parts[HI_ALLOCATORS_MAX];
	size_t n = f->allocator->n_parts;
	enum hi_status status;

	for (size_t i = 0; i < n && i < HI_ALLOCATORS_MAX; i++)
		parts[i] = save_counters(f->allocator->parts[i]);
	status = walk_partly_resident(f, err);
	restore_counters(f->allocator, &saved);
	for (size_t i = 0; i < n && i < HI_ALLOCATORS_MAX; i++)
		restore_counters(f->allocator->parts[i], &parts[i]);
	return status;
}

static void set_ledger_row(struct fill *f, enum row row, uint64_t bytes, uint64_t count)
{
	f->rows[row].virtual_size = f->rows[row].resident = bytes;
	f->rows[row].count = count;
}

/* Costs of all blocks, as if everything were resident. */
static void fill_costs(struct fill *f)
{
	const struct hi_allocator *a = f->allocator;

	for (int s = HI_BLOCK_FREE_FIRST; a && s < HI_BLOCK_STATES; s++)
		set_ledger_row(f, row_of_state((enum hi_block_state)s), a->bytes[s],
			       a->count[s]);
	if (f->reach) {
		set_ledger_row(f, LIVE, f->reach->live_bytes, f->reach->live_objects);
		set_ledger_row(f, LEAK, f->reach->leak_bytes, f->reach->leak_objects);
		set_ledger_row(f, ALLOCATOR, f->reach->internal_bytes,
			       f->reach->internal_objects);
	} else if (a) {
		set_ledger_row(f, LIVE, a->bytes[HI_BLOCK_LIVE], a->count[HI_BLOCK_LIVE]);
		set_ledger_row(f, ALLOCATOR, a->bytes[HI_BLOCK_INTERNAL],
			       a->count[HI_BLOCK_INTERNAL]);
	}
}

static void add_ledger_row(struct hi_ledger_row *sum, const struct hi_ledger_row *row)
{
	sum->resident += row->resident;
	sum->virtual_size += row->virtual_size;
	sum->count += row->count;
}

static void sum_free(struct fill *f)
{
	for (enum row r = FREE_FIRST; r <= FREE_LAST; r++)
		add_ledger_row(&f->rows[FREE], &f->rows[r]);
	add_ledger_row(&f->rows[ALLOCATOR], &f->rows[METADATA]);
}

static uint64_t subtract_or_zero(uint64_t whole, uint64_t parts)
{
	return whole > parts ? whole - parts : 0;
}

/* ---- objects outside of the regions ---- */

/* [start, end) of an object, in each of the mappings that it lies in; *mapping is
 * the first that may be one. Objects come in order. */
static void take_from_mappings(struct fill *f, uint64_t start, uint64_t end, enum row row,
			       size_t *mapping)
{
	const struct hi_image *image = f->image;

	while (*mapping < image->n_mappings && image->mappings[*mapping].end <= start)
		++*mapping;
	for (size_t i = *mapping; i < image->n_mappings && image->mappings[i].start < end;
	     i++) {
		const struct hi_mapping *m = &image->mappings[i];
		uint64_t from = m->start > start ? m->start : start;
		uint64_t to = m->end < end ? m->end : end;
		uint64_t gone = count_missing_bytes(f, from, to);

		subtract_resident(&f->rows[row], gone);
		f->subobjects[i].bytes += to - from;
		f->subobjects[i].resident += to - from - gone;
		f->outside_bytes += to - from;
		f->outside_resident += to - from - gone;
	}
}

static enum hi_status fill_outside_region(struct fill *f,
					  const struct hi_lookup_region *region,
					  struct holes *holes, size_t *mapping,
					  struct hi_error *err)
{
	const struct hi_objects *objects = f->graph->objects;
	hi_node id = hi_search(i, objects->count,
			       hi_objects_address(objects, i) < region->start);

	holes->count = 0;
	if (f->residency_known && !find_holes(f, region->start, region->end, holes))
		return hi_fail_memory(err, "ledger");
	f->hole = holes->items;
	f->holes_end = holes->items + holes->count;
	for (; id < objects->count; id++) {
		uint64_t addr = hi_objects_address(objects, id);

		if (addr >= region->end)
			break;
		take_from_mappings(f, addr, addr + hi_objects_cost(objects, id),
				   row_of_object(f, id), mapping);
	}
	return HI_OK;
}

/* The table's regions lie in the allocator's or outside of all. */
static enum hi_status fill_outside(struct fill *f, struct hi_error *err)
{
	const struct hi_objects *objects = f->graph->objects;
	const struct hi_allocator *a = f->allocator;
	struct holes holes = {};
	size_t walked = 0, mapping = 0;
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < objects->n_regions && status == HI_OK; i++) {
		const struct hi_lookup_region *r = &objects->regions[i];

		while (a && walked < a->n_regions && a->regions[walked].end <= r->start)
			walked++;
		if (a && walked < a->n_regions && a->regions[walked].start < r->end)
			continue;
		if (!f->subobjects)
			f->subobjects = hi_calloc(f->image->n_mappings + 1,
						  sizeof(*f->subobjects));
		status = f->subobjects ? fill_outside_region(f, r, &holes, &mapping, err)
				       : hi_fail_memory(err, "ledger");
	}
	hi_vector_free(&holes);
	return status;
}

static enum hi_status fill_heap(struct fill *f, struct hi_error *err)
{
	static const enum row heap[] = {LIVE, LEAK, FREE, ALLOCATOR};
	uint64_t resident = 0, virtual_size = 0;
	enum hi_status status;

	fill_costs(f);
	status = f->allocator ? fill_regions(f, err) : HI_OK;
	if (status == HI_OK && f->reach)
		status = fill_outside(f, err);
	if (status != HI_OK)
		return status;
	sum_free(f);
	for (size_t i = 0; i < sizeof(heap) / sizeof(heap[0]); i++) {
		resident += f->rows[heap[i]].resident;
		virtual_size += f->rows[heap[i]].virtual_size;
	}
	f->rows[FRAGMENTATION].resident =
		subtract_or_zero(f->region_resident + f->outside_resident, resident);
	f->rows[FRAGMENTATION].virtual_size =
		subtract_or_zero(f->region_bytes + f->outside_bytes, virtual_size);
	return HI_OK;
}

/* ---- mappings ---- */

static int compare_u64_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static enum row row_of_mapping(const struct hi_mapping *m)
{
	switch (m->kind) {
	case HI_MAPPING_STACK:
		return STACKS;
	case HI_MAPPING_FILE:
		return FILES;
	case HI_MAPPING_SHMEM:
		return SHARED;
	case HI_MAPPING_VDSO:
	case HI_MAPPING_OTHER:
		return KERNEL;
	case HI_MAPPING_ANONYMOUS:
	case HI_MAPPING_HEAP:
		break;
	}
	return OTHER;
}

/* Bytes of heap regions inside a mapping; both lists are sorted. */
static void heap_part(struct fill *f, const struct hi_mapping *m, size_t *region,
		      uint64_t *virtual_ret, uint64_t *resident_ret)
{
	const struct hi_allocator *a = f->allocator;

	*virtual_ret = *resident_ret = 0;
	if (!a)
		return;
	while (*region < a->n_regions && a->regions[*region].end <= m->start)
		++*region;
	for (size_t i = *region; i < a->n_regions && a->regions[i].start < m->end; i++) {
		uint64_t from = a->regions[i].start, to = a->regions[i].end;

		from = from > m->start ? from : m->start;
		to = to < m->end ? to : m->end;
		*virtual_ret += to - from;
		*resident_ret +=
			f->residency_known ? hi_image_resident(f->image, from, to) : 0;
	}
}

/* [vvar], [vsyscall] and the like: pages of the kernel, which RSS does not count and of
 * which a core has only some. */
static bool is_kernels_own(const struct hi_mapping *m)
{
	const uint64_t user_end = 1ull << 47;

	return m->kind == HI_MAPPING_OTHER &&
	       (m->start >= user_end || strncmp(m->path, "[v", 2) == 0);
}

static struct subobject_part subobjects_of(const struct fill *f, size_t mapping)
{
	return f->subobjects ? f->subobjects[mapping] : (struct subobject_part){};
}

/* Below the stacks of threads is a page that nothing may touch. If a runtime has the
 * stacks of its own tasks among its objects (Go's arenas) there is none. Cores that have
 * no such mapping at all tell nothing. */
static bool is_above_guard(const struct hi_image *image, size_t i)
{
	const struct hi_mapping *m = &image->mappings[i];

	if (i && m[-1].end == m->start && m[-1].prot == 0)
		return true;
	for (size_t k = 0; k < image->n_mappings; k++)
		if (image->mappings[k].prot == 0)
			return false;
	return true;
}

static void fill_mappings(struct fill *f, const uint64_t *stack_pointers)
{
	const struct hi_image *image = f->image;
	size_t region = 0, sp = 0;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];
		enum row row = row_of_mapping(m);
		uint64_t heap, heap_resident, resident = 0;

		if (is_kernels_own(m))
			continue;
		while (sp < image->n_threads && stack_pointers[sp] < m->start)
			sp++;
		if (row == OTHER && sp < image->n_threads &&
		    stack_pointers[sp] < m->end && is_above_guard(image, i))
			row = STACKS;
		heap_part(f, m, &region, &heap, &heap_resident);
		if (f->residency_known && m->resident != UINT64_MAX)
			resident = m->resident;
		f->rows[row].virtual_size += subtract_or_zero(
			m->end - m->start, heap + subobjects_of(f, i).bytes);
		f->rows[row].resident += subtract_or_zero(
			resident, heap_resident + subobjects_of(f, i).resident);
		f->rows[row].count += heap < m->end - m->start;
		if (m->swapped == UINT64_MAX)
			continue;
		if (heap)
			f->heap_swapped |= m->swapped > 0;
		if (!heap)
			f->rows[row].swapped += m->swapped;
	}
}

/* ---- all of it ---- */

/* Without an allocator it is not known what is leaked or free: its memory is part of
 * other anonymous memory. */
static void forget_allocator(struct fill *f)
{
	if (!f->allocator)
		f->rows[LIVE].label = "found by typed pointers";
	for (enum row r = LEAK; !f->allocator && r <= FRAGMENTATION; r++) {
		struct hi_ledger_row *row = &f->rows[r];

		if (row->level == 0) {
			f->rows[OTHER].resident += row->resident;
			f->rows[OTHER].virtual_size += row->virtual_size;
		}
		row->resident = row->virtual_size = row->swapped = HI_UNKNOWN;
		row->count = HI_UNKNOWN;
	}
}

static void finish_unknown(struct fill *f, uint64_t rss, struct hi_ledger *ret)
{
	uint64_t sum = 0;

	forget_allocator(f);
	for (size_t r = 0; r < ROWS; r++) {
		if (!f->residency_known)
			f->rows[r].resident = f->rows[r].swapped = HI_UNKNOWN;
		else if (f->rows[r].level == 0 && f->rows[r].resident != HI_UNKNOWN)
			sum += f->rows[r].resident;
	}
	ret->rss = f->residency_known ? rss : HI_UNKNOWN;
	ret->unknown = ret->rss == HI_UNKNOWN ? 0 : (int64_t)(rss - sum);
	ret->n_rows = ROWS;
}

static void name_free_rows(struct hi_ledger_row *rows)
{
	for (enum row r = FREE_FIRST; r <= FREE_LAST; r++) {
		enum hi_block_state state = HI_BLOCK_FREE_FIRST + (r - FREE_FIRST);

		rows[r] = (struct hi_ledger_row){.key = hi_block_state_key(state),
						 .label = hi_block_state_label(state),
						 .level = 1};
	}
}

/* Whether the allocators can have such memory; without one, those of glibc. */
static bool has_ledger_row(const struct hi_allocator *a, enum row row)
{
	enum hi_block_state state = HI_BLOCK_METADATA;

	if (row >= FREE_FIRST && row <= FREE_LAST)
		state = HI_BLOCK_FREE_FIRST + (row - FREE_FIRST);
	else if (row != METADATA)
		return true;
	return a ? a->ops->states & hi_block_state_bit(state)
		 : state <= HI_BLOCK_FREE_TOP;
}

static void drop_rows(struct hi_ledger *ledger, const struct hi_allocator *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < ledger->n_rows; i++)
		if (has_ledger_row(a, (enum row)i))
			ledger->rows[kept++] = ledger->rows[i];
	ledger->n_rows = kept;
}

enum hi_status hi_ledger_fill(const struct hi_image *image,
			      struct hi_allocator *allocator,
			      const struct hi_graph *graph, const struct hi_reach *reach,
			      uint64_t rss, struct hi_ledger *ret, struct hi_error *err)
{
	struct hi_ledger ledger = {};
	struct fill f = {.image = image,
			 .allocator = allocator,
			 .graph = graph,
			 .reach = reach,
			 .rows = ledger.rows};
	uint64_t *stack_pointers = hi_calloc(image->n_threads, sizeof(*stack_pointers));
	enum hi_status status;

	if (!stack_pointers)
		return hi_fail_memory(err, "ledger");
	memcpy(ledger.rows, empty_rows, sizeof(empty_rows));
	name_free_rows(ledger.rows);
	f.residency_known = image->n_mappings &&
			    image->mappings[0].resident != UINT64_MAX &&
			    hi_image_resident(image, image->mappings[0].start,
					      image->mappings[0].end) != UINT64_MAX;
	for (size_t i = 0; i < image->n_threads; i++)
		stack_pointers[i] = image->threads[i].regs.rsp;
	if (image->n_threads)
		qsort(stack_pointers, image->n_threads, sizeof(*stack_pointers),
		      compare_u64_values);
	status = fill_heap(&f, err);
	if (status == HI_OK) {
		fill_mappings(&f, stack_pointers);
		/* No block was compared with the swapped pages. */
		for (enum row r = LIVE; r <= FRAGMENTATION; r++)
			f.rows[r].swapped = f.heap_swapped ? HI_UNKNOWN : 0;
		finish_unknown(&f, rss, &ledger);
		drop_rows(&ledger, allocator);
		*ret = ledger;
	}
	free(f.subobjects);
	free(stack_pointers);
	return status;
}
