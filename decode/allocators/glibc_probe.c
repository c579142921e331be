/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout check: addresses that were found are used only if the image agrees with the
 * layout. The ring of arenas closes, empty bins point at themselves and others at chunks
 * that point back, tops and counters are plausible, mp_ has the values that only mp_ has.
 * A wrong version fails here, by name.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/allocators/glibc.h"

#define MAX_ARENAS (1u << 20)

struct copies HI_VECTOR(struct hi_glibc_where);

/* Arenas lie side by side in memory that the image has. */
static size_t max_arenas(const struct hi_glibc *g)
{
	uint64_t n = g->held / g->layout->state_size + 1;

	return n < MAX_ARENAS ? (size_t)n : MAX_ARENAS;
}

void hi_glibc_damage(struct hi_glibc *g, uint64_t addr, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&g->lock);
	if (g->base.n_damage < 64) {
		struct hi_allocator_damage *d = &g->base.damage[g->base.n_damage++];

		d->address = addr;
		va_start(ap, fmt);
		vsnprintf(d->text, sizeof(d->text), fmt, ap);
		va_end(ap);
	}
	g->base.n_damage_total++;
	pthread_mutex_unlock(&g->lock);
}

const struct hi_glibc_part *hi_glibc_part_at(const struct hi_glibc *g, uint64_t addr)
{
	size_t low = hi_search(i, g->parts.count, g->parts.items[i].end <= addr);

	if (low < g->parts.count && g->parts.items[low].start <= addr)
		return &g->parts.items[low];
	return NULL;
}

/* ---- mp_ ---- */

static uint64_t load_state_field(const uint8_t *bytes, unsigned offset, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, bytes + offset, width);
	return value;
}

/* tcache_max_bytes and tcache_bins mean the same limit. 2.42 counts 64 small lists
 * whatever the largest size is. */
bool hi_glibc_limits_agree(const struct hi_glibc_layout *l, const uint8_t *par)
{
	uint64_t bins = load_state_field(par, l->tcache_bins, 8);
	uint64_t max = load_state_field(par, l->tcache_max_bytes, 8);

	if (bins > 64)
		return false;
	if (l->counts_free_slots)
		return max <= (1u << 26);
	return max <= 1032 &&
	       bins == (max + 8 + 15 < 32 ? 0 : (max + 8 + 15 - 32) / 16) + 1;
}

static enum hi_status check_par(struct hi_glibc *g, struct hi_error *err)
{
	const struct hi_glibc_layout *l = g->layout;
	uint8_t par[256];
	enum hi_status status =
		hi_memory_read(g->memory, g->where.mp, par, l->par_size, err);

	if (status != HI_OK)
		return status == HI_FAULT ? hi_fail(err, HI_BAD_DATA, g->where.mp,
						    "glibc %s: mp_ is not readable",
						    g->where.version)
					  : status;
	if (g->where.mp_size && g->where.mp_size != l->par_size)
		return hi_fail(err, HI_BAD_DATA, g->where.mp,
			       "glibc %s: mp_ has %u bytes, its layout %u",
			       g->where.version, (unsigned)g->where.mp_size, l->par_size);
	g->n_mmaps = (int32_t)load_state_field(par, l->n_mmaps, 4);
	g->mmapped_mem = load_state_field(par, l->mmapped_mem, 8);
	g->sbrk_base = load_state_field(par, l->sbrk_base, 8);
	g->tcache_count = load_state_field(par, l->tcache_count, 8);
	g->hp_pagesize = l->hp_pagesize ? load_state_field(par, l->hp_pagesize, 8) : 0;
	if (!hi_glibc_limits_agree(l, par))
		return hi_fail(err, HI_BAD_DATA, g->where.mp,
			       "glibc %s: mp_: tcache_bins and tcache_max_bytes disagree",
			       g->where.version);
	if (g->n_mmaps < 0 || (g->mmapped_mem % HI_GLIBC_PAGE && !l->mmapped_uncounted) ||
	    (!l->mmapped_uncounted && (g->n_mmaps == 0) != (g->mmapped_mem == 0)))
		return hi_fail(
			err, HI_BAD_DATA, g->where.mp,
			"glibc %s: mp_: n_mmaps %d and mmapped_mem 0x%llx disagree",
			g->where.version, g->n_mmaps, (unsigned long long)g->mmapped_mem);
	if (g->hp_pagesize & (g->hp_pagesize - 1))
		return hi_fail(err, HI_BAD_DATA, g->where.mp,
			       "glibc %s: mp_: hp_pagesize is no power of two",
			       g->where.version);
	g->heap_max = g->hp_pagesize ? g->hp_pagesize * 4 : 64u << 20;
	return HI_OK;
}

/* ---- arenas ---- */

static uint64_t bin_header(const struct hi_glibc *g, uint64_t arena, unsigned bin)
{
	return arena + g->layout->bins + (uint64_t)(bin - 1) * 16 - 16;
}

static bool points_back(struct hi_glibc *g, uint64_t chunk, unsigned offset,
			uint64_t header)
{
	uint64_t back;

	return chunk % HI_CHUNK_ALIGN == 0 &&
	       hi_memory_read_u64(g->memory, chunk + offset, &back, NULL) == HI_OK &&
	       back == header;
}

/* How many bins fail the check: two links lead from the header and back. */
static unsigned wrong_bins(struct hi_glibc *g, uint64_t arena, const uint8_t *state)
{
	unsigned wrong = 0;

	for (unsigned bin = 1; bin <= HI_GLIBC_BINS; bin++) {
		uint64_t header = bin_header(g, arena, bin);
		uint64_t fd =
			load_state_field(state, g->layout->bins + (bin - 1) * 16u, 8);
		uint64_t bk =
			load_state_field(state, g->layout->bins + (bin - 1) * 16u + 8, 8);

		if (fd == header && bk == header)
			continue;
		if (!points_back(g, fd, 24, header) || !points_back(g, bk, 16, header))
			wrong++;
	}
	return wrong;
}

/* Freshly linked in or never used: everything is zero but next. */
static bool is_arena_unused(struct hi_glibc *g, const uint8_t *state)
{
	return load_state_field(state, g->layout->top, 8) == 0 &&
	       load_state_field(state, g->layout->system_mem, 8) == 0;
}

static enum hi_status check_top(struct hi_glibc *g, struct hi_glibc_arena *a,
				struct hi_error *err)
{
	uint64_t header = 0;

	if (a->top == bin_header(g, a->addr, 1)) { /* initial_top: no memory yet */
		a->top = 0;
		return HI_OK;
	}
	if (a->top % HI_CHUNK_ALIGN || !hi_image_mapping_at(g->image, a->top))
		return hi_fail(err, HI_BAD_DATA, a->top,
			       "glibc %s: arena 0x%llx: its top lies in no mapping",
			       g->where.version, (unsigned long long)a->addr);
	if (hi_memory_read_u64(g->memory, a->top + 8, &header, NULL) != HI_OK) {
		hi_glibc_damage(g, a->top, "arena %zu: top chunk is not readable",
				g->arenas.count);
		return HI_OK;
	}
	a->top_size = header & ~(uint64_t)HI_CHUNK_FLAGS;
	if (!(header & HI_CHUNK_PREV_INUSE) || a->top_size % HI_CHUNK_ALIGN ||
	    a->top_size < HI_CHUNK_MIN || a->top_size > a->system_mem) {
		hi_glibc_damage(g, a->top, "arena %zu: top chunk has size 0x%llx",
				g->arenas.count, (unsigned long long)header);
		a->top_size = 0;
	}
	return HI_OK;
}

/* Reads and checks one arena; *next_ret is the following one in the ring. */
static enum hi_status check_arena(struct hi_glibc *g, uint64_t addr, uint64_t *next_ret,
				  struct hi_error *err)
{
	struct hi_glibc_arena a = {.addr = addr, .main = addr == g->where.main_arena};
	uint8_t state[4096];
	unsigned wrong;
	enum hi_status status =
		hi_memory_read(g->memory, addr, state, g->layout->state_size, err);

	if (status == HI_FAULT)
		return hi_fail(err, HI_BAD_DATA, addr,
			       "glibc %s: the ring of arenas does not close: an arena is "
			       "not readable",
			       g->where.version);
	if (status != HI_OK)
		return status;
	*next_ret = load_state_field(state, g->layout->next, 8);
	a.top = load_state_field(state, g->layout->top, 8);
	a.system_mem = load_state_field(state, g->layout->system_mem, 8);
	a.flags = (uint32_t)load_state_field(state, 4, 4);
	if (!is_arena_unused(g, state)) {
		wrong = wrong_bins(g, addr, state);
		if (wrong > HI_GLIBC_BINS / 4)
			return hi_fail(
				err, HI_BAD_DATA, addr,
				"glibc %s: arena 0x%llx: %u of its bins are inconsistent",
				g->where.version, (unsigned long long)addr, wrong);
		if (wrong)
			hi_glibc_damage(g, addr, "arena %zu: %u bins are inconsistent",
					g->arenas.count, wrong);
		status = check_top(g, &a, err);
	}
	if (status == HI_OK && !hi_vector_push(&g->arenas, a))
		status = hi_fail_memory(err, "arenas");
	return status;
}

/* Brent's: a second fixed point, renewed at powers of two, meets every loop
 * that does not lead through main_arena. */
static enum hi_status check_ring(struct hi_glibc *g, struct hi_error *err)
{
	uint64_t addr = g->where.main_arena, mark = 0, next = 0;
	enum hi_status status;

	if (g->where.main_arena_size && g->where.main_arena_size != g->layout->state_size)
		return hi_fail(err, HI_BAD_DATA, addr,
			       "glibc %s: main_arena has %llu bytes, its layout %u",
			       g->where.version,
			       (unsigned long long)g->where.main_arena_size,
			       g->layout->state_size);
	for (size_t n = 1; n <= max_arenas(g); n++) {
		status = check_arena(g, addr, &next, err);
		if (status != HI_OK)
			return status;
		if (next == g->where.main_arena)
			return HI_OK;
		if ((n & (n - 1)) == 0)
			mark = addr;
		if (next == mark || next % 8)
			break;
		addr = next;
	}
	return hi_fail(err, HI_BAD_DATA, addr,
		       "glibc %s: the ring of arenas does not close", g->where.version);
}

static enum hi_status check_malloc_is_used(struct hi_glibc *g, struct hi_error *err)
{
	for (size_t i = 0; i < g->arenas.count; i++)
		if (g->arenas.items[i].top)
			return HI_OK;
	if (g->n_mmaps)
		return HI_OK;
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "glibc malloc is not used by this process (another allocator?)");
}

/* ---- the instance ---- */

static void release_glibc(struct hi_allocator *allocator)
{
	struct hi_glibc *g = (struct hi_glibc *)allocator;

	if (!g)
		return;
	hi_vector_free(&g->arenas);
	hi_vector_free(&g->parts);
	hi_vector_free(&g->listed);
	free((void *)(uintptr_t)g->base.regions);
	free(g->base.damage);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
HI_DEFINE_GUARD(struct hi_allocator *, release_glibc)

static int compare_part_starts(const void *a, const void *b)
{
	const struct hi_glibc_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorted and disjoint, whatever the target contains. */
static enum hi_status publish_regions(struct hi_glibc *g, struct hi_error *err)
{
	struct hi_glibc_part *parts = g->parts.items;
	struct hi_heap_region *regions;
	size_t kept = 0;

	if (g->parts.count)
		qsort(parts, g->parts.count, sizeof(*parts), compare_part_starts);
	regions = hi_calloc(g->parts.count, sizeof(*regions));
	if (!regions)
		return hi_fail_memory(err, "regions");
	for (size_t i = 0; i < g->parts.count; i++) {
		if (kept && parts[i].start < parts[kept - 1].end) {
			hi_glibc_damage(g, parts[i].start,
					"arena %u: its memory overlaps another region",
					parts[i].arena);
			continue;
		}
		parts[kept] = parts[i];
		regions[kept] = (struct hi_heap_region){.start = parts[i].start,
							.end = parts[i].end,
							.arena = parts[i].arena,
							.mmapped_chunk = parts[i].kind ==
									 HI_GLIBC_MMAPPED,
							.align_shift = 4,
							.header = HI_CHUNK_HEADER};
		kept++;
	}
	g->parts.count = kept;
	free((void *)(uintptr_t)g->base.regions);
	g->base.regions = regions;
	g->base.n_regions = kept;
	return HI_OK;
}

static enum hi_status open_layout(struct hi_glibc *g, struct hi_error *err)
{
	enum hi_status status = check_par(g, err);

	if (status == HI_OK)
		status = check_ring(g, err);
	if (status == HI_OK)
		status = check_malloc_is_used(g, err);
	if (status == HI_OK)
		status = hi_glibc_add_heaps(g, err);
	if (status == HI_OK)
		status = publish_regions(g, err);
	if (status == HI_OK && !g->where.has_mmapped_elsewhere &&
	    (g->n_mmaps || g->where.other_n_mmaps))
		status = hi_glibc_add_mmapped(g, err);
	if (status == HI_OK)
		status = publish_regions(g, err);
	if (status == HI_OK)
		status = hi_glibc_list_free(g, err);
	g->base.n_arenas = g->arenas.count;
	g->n_probe_damage = g->base.n_damage;
	g->n_probe_damage_total = g->base.n_damage_total;
	return status;
}

static enum hi_status open_as(const struct hi_image *image,
			      const struct hi_glibc_where *where,
			      const struct hi_glibc_layout *layout,
			      struct hi_allocator **ret, struct hi_error *err)
{
	struct hi_glibc *g = hi_calloc(1, sizeof(*g));
	HI_GUARD(release_glibc) struct hi_allocator *guard = g ? &g->base : NULL;
	enum hi_status status;

	if (!g)
		return hi_fail_memory(err, "allocator");
	pthread_mutex_init(&g->lock, NULL);
	g->base.ops = &hi_allocator_glibc;
	g->image = image;
	g->memory = image->memory;
	g->held = hi_image_held_bytes(image);
	g->layout = layout;
	g->where = *where;
	snprintf(g->base.name, sizeof(g->base.name), "glibc");
	snprintf(g->base.found_by, sizeof(g->base.found_by), "%s", where->found_by);
	snprintf(g->base.module, sizeof(g->base.module), "%s", where->module);
	snprintf(g->base.checks, sizeof(g->base.checks), "arenas, bins");
	g->base.damage = hi_calloc(64, sizeof(*g->base.damage));
	if (!g->base.damage)
		return hi_fail_memory(err, "allocator");
	status = open_layout(g, err);
	if (status != HI_OK)
		return status;
	snprintf(g->base.version, sizeof(g->base.version), "%s", g->where.version);
	*ret = hi_take(guard);
	return HI_OK;
}

static void name_releases(const struct hi_glibc_layout *l, char *text, size_t size)
{
	if (l->minor_first == l->minor_last)
		snprintf(text, size, "2.%u", l->minor_first);
	else
		snprintf(text, size, "2.%u-2.%u", l->minor_first, l->minor_last);
}

/* No version is known (a static program): the newest layout that passes its check without
 * damage, else the newest that passes. */
static enum hi_status open_unknown(const struct hi_image *image,
				   const struct hi_glibc_where *where,
				   struct hi_allocator **ret, struct hi_error *err)
{
	HI_GUARD(release_glibc) struct hi_allocator *best = NULL;
	enum hi_status status = HI_NOT_FOUND, first = HI_OK;

	for (size_t i = hi_glibc_n_layouts; i-- > 0;) {
		HI_GUARD(release_glibc) struct hi_allocator *now = NULL;
		struct hi_glibc_where w = *where;

		name_releases(&hi_glibc_layouts[i], w.version, sizeof(w.version));
		status = open_as(image, &w, &hi_glibc_layouts[i], &now,
				 first ? NULL : err);
		if (status == HI_NO_MEMORY || status == HI_NOT_FOUND)
			return status;
		if (status != HI_OK) {
			first = status;
			continue;
		}
		if (!best || now->n_damage_total < best->n_damage_total) {
			release_glibc(best);
			best = hi_take(now);
		}
	}
	if (!best)
		return first;
	*ret = hi_take(best);
	return HI_OK;
}

enum hi_status hi_glibc_open(const struct hi_image *image,
			     const struct hi_glibc_where *where,
			     struct hi_allocator **ret, struct hi_error *err)
{
	const struct hi_glibc_layout *layout;

	if (!where->minor)
		return open_unknown(image, where, ret, err);
	layout = hi_glibc_layout_of(where->minor);
	if (!layout)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "glibc %s is older than the oldest known layout, 2.%u",
			       where->version, hi_glibc_layouts[0].minor_first);
	return open_as(image, where, layout, ret, err);
}

/* Each module that may have one: *ret. */
static enum hi_status find_glibc_copies(const struct hi_image *image,
					struct hi_modules *modules,
					const struct hi_glibc_options *options,
					struct copies *ret, struct hi_error *err)
{
	struct hi_glibc_where where;

	for (size_t i = 0; i < hi_modules_count(modules); i++) {
		struct hi_module *module = hi_modules_get(modules, i);
		enum hi_status status;

		if (!hi_glibc_may_have(module))
			continue;
		status = hi_glibc_find(image, modules, module, options, &where, err);
		if (status == HI_NOT_FOUND)
			continue;
		if (status != HI_OK)
			return status;
		if (ret->count < HI_ALLOCATORS_MAX && !hi_vector_push(ret, where))
			return hi_fail_memory(err, "allocators");
	}
	return HI_OK;
}

enum hi_status hi_glibc_probe_with(const struct hi_image *image,
				   struct hi_modules *modules,
				   const struct hi_glibc_options *options,
				   struct hi_allocator **ret, struct hi_error *err)
{
	struct copies copies = {};
	enum hi_status status = find_glibc_copies(image, modules, options, &copies, err);

	if (status == HI_OK && copies.count == 0)
		status = hi_fail(err, HI_NOT_FOUND, 0, "no glibc malloc in the modules");
	if (status == HI_OK)
		status = hi_glibc_open(image, &copies.items[0], ret, err);
	hi_vector_free(&copies);
	return status;
}

/* Adds it, and its chunks that are mappings to those of `first`. */
static enum hi_status open_glibc_copy(const struct hi_image *image,
				      struct hi_glibc_where *where,
				      struct hi_glibc_where *first,
				      struct hi_allocator_list *list,
				      struct hi_error *err)
{
	struct hi_allocator *allocator;
	struct hi_error why;
	enum hi_status status;

	where->has_mmapped_elsewhere = first;
	status = hi_glibc_open(image, where, &allocator, &why);
	if (status == HI_OK && first) {
		const struct hi_glibc *g = (const struct hi_glibc *)allocator;

		first->other_n_mmaps += g->n_mmaps;
		first->other_mmapped_mem += g->mmapped_mem;
	}
	if (status == HI_OK)
		hi_allocator_list_add(list, allocator);
	else if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "allocator");
	else if (status != HI_NOT_FOUND)
		hi_allocator_list_refuse(list, "glibc", where->module, &why);
	return HI_OK;
}

static enum hi_status probe_glibc(const struct hi_image *image,
				  struct hi_modules *modules,
				  struct hi_allocator_list *list, struct hi_error *err)
{
	struct copies copies = {};
	struct hi_error why;
	enum hi_status status = find_glibc_copies(image, modules, NULL, &copies, &why);

	if (status != HI_OK && status != HI_NO_MEMORY) {
		hi_allocator_list_refuse(list, "glibc", "", &why);
		status = HI_OK;
	} else if (status == HI_NO_MEMORY) {
		status = hi_fail_memory(err, "allocators");
	}
	/* The first comes last: then it is known what the others have. */
	for (size_t i = copies.count; i-- > 0 && status == HI_OK;)
		status = open_glibc_copy(image, &copies.items[i],
					 i ? &copies.items[0] : NULL, list, err);
	hi_vector_free(&copies);
	return status;
}

const struct hi_allocator_ops hi_allocator_glibc = {
	.name = "glibc",
	.states = 1u << HI_BLOCK_LIVE | 1u << HI_BLOCK_INTERNAL |
		  1u << HI_BLOCK_FREE_TCACHE | 1u << HI_BLOCK_FREE_FASTBIN |
		  1u << HI_BLOCK_FREE_BIN | 1u << HI_BLOCK_FREE_TOP,
	.probe = probe_glibc,
	.walk = hi_glibc_walk,
	.walk_region = hi_glibc_walk_region,
	.restart = hi_glibc_restart,
	.release = release_glibc,
};
