/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The array of arenas, their metadata, and the counters that they keep. An arena proves
 * itself: its base has its number, and the arena lies in a block of that base.
 */
#include "decode/allocators/jemalloc.h"

#include <stdio.h>

enum {
	MAX_BLOCKS = 1 << 16,	/* of one base */
	MAX_CANDIDATES = 16,	/* for the array */
	MAX_DAMAGED_SHARE = 16, /* one of so many may be damaged */
	MAX_SHARDS = 64,
};
static const uint64_t BLOCK_LIMIT = 1ull << 46;

static bool read_u32(struct hi_jemalloc *j, uint64_t addr, uint32_t *ret)
{
	return hi_window_u32(&j->other, addr, ret);
}

static bool read_u64(struct hi_jemalloc *j, uint64_t addr, uint64_t *ret)
{
	return hi_window_u64(&j->other, addr, ret);
}

/* ---- an arena ---- */

static bool read_arena_number(struct hi_jemalloc *j, uint64_t arena, uint64_t *base_ret,
			      uint32_t *ind_ret)
{
	const struct hi_jemalloc_layout *l = j->layout;
	uint32_t ind;

	if (!read_u64(j, arena + l->arena_base, base_ret) || !*base_ret ||
	    *base_ret % 16 || !hi_jemalloc_is_memory(j->image, *base_ret) ||
	    !read_u32(j, *base_ret + l->base_ind, ind_ret))
		return false;
	if (!l->arena_ind)
		return true;
	return read_u32(j, arena + l->arena_ind, &ind) && ind == *ind_ret;
}

/* Whether one of the blocks of base holds addr. Its blocks are a list. */
static bool base_holds(struct hi_jemalloc *j, uint64_t base, uint64_t addr)
{
	uint64_t block, size, next;

	if (!read_u64(j, base + j->layout->base_blocks, &block))
		return false;
	for (unsigned i = 0; block && i < MAX_BLOCKS; i++) {
		if (block % HI_JEMALLOC_PAGE || !read_u64(j, block, &size) ||
		    !read_u64(j, block + 8, &next) || size > BLOCK_LIMIT)
			return false;
		if (addr >= block && addr - block < size)
			return true;
		block = next;
	}
	return false;
}

/* The number of the arena at addr; UINT32_MAX: there is none. */
static uint32_t arena_number(struct hi_jemalloc *j, uint64_t addr, uint64_t *base_ret)
{
	uint32_t ind;

	if (addr % 64 || !read_arena_number(j, addr, base_ret, &ind) ||
	    ind >= HI_JEMALLOC_MAX_ARENAS || !base_holds(j, *base_ret, addr))
		return UINT32_MAX;
	return ind;
}

/* ---- the array ---- */

struct arena_arrays {
	uint64_t at[MAX_CANDIDATES];
	unsigned votes[MAX_CANDIDATES];
	size_t n;
};

static void vote_for_array(struct arena_arrays *a, uint64_t at)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->at[i] == at) {
			a->votes[i]++;
			return;
		}
	if (a->n == MAX_CANDIDATES)
		return;
	a->at[a->n] = at;
	a->votes[a->n++] = 1;
}

/* Those with most votes come first. */
static void sort_arrays(struct arena_arrays *a)
{
	for (size_t i = 1; i < a->n; i++)
		for (size_t k = i; k > 0 && a->votes[k] > a->votes[k - 1]; k--) {
			uint64_t at = a->at[k];
			unsigned votes = a->votes[k];

			a->at[k] = a->at[k - 1];
			a->votes[k] = a->votes[k - 1];
			a->at[k - 1] = at;
			a->votes[k - 1] = votes;
		}
}

static enum hi_status add_array_entry(struct hi_jemalloc *j, uint32_t ind, uint64_t addr,
				      uint64_t base, struct hi_error *err)
{
	struct hi_jemalloc_arena a = {.addr = addr, .base = base}, none = {};

	while (j->arenas.count < ind)
		if (!hi_vector_push(&j->arenas, none))
			return hi_fail_memory(err, "arenas");
	if (!hi_vector_push(&j->arenas, a))
		return hi_fail_memory(err, "arenas");
	j->base.n_arenas++;
	return HI_OK;
}

/* The array at `at`. HI_BAD_DATA: an entry is no arena of its number. */
static enum hi_status read_array(struct hi_jemalloc *j, uint64_t at, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	j->arenas.count = 0;
	j->base.n_arenas = 0;
	j->arenas_at = at;
	for (uint32_t i = 0; i < HI_JEMALLOC_MAX_ARENAS && status == HI_OK; i++) {
		uint64_t addr, base;

		if (!read_u64(j, at + i * 8ull, &addr))
			break;
		if (!addr)
			continue;
		if (arena_number(j, addr, &base) != i)
			return hi_fail(err, HI_BAD_DATA, at + i * 8ull,
				       "arenas[%u] is no arena", i);
		status = add_array_entry(j, i, addr, base, err);
	}
	return status;
}

/* The array must be that of the root: its node is in arena 0's metadata. */
static enum hi_status choose_array(struct hi_jemalloc *j, const struct arena_arrays *a,
				   uint64_t node, struct hi_error *err)
{
	enum hi_status status = hi_fail(err, HI_BAD_DATA, j->root,
					"no arena has the metadata of its map");

	for (size_t i = 0; i < a->n; i++) {
		uint64_t addr, base;

		if (!read_u64(j, a->at[i], &addr) || arena_number(j, addr, &base) != 0 ||
		    !base_holds(j, base, node))
			continue;
		status = read_array(j, a->at[i], err);
		if (status != HI_BAD_DATA)
			break;
	}
	return status;
}

/* ---- metadata ---- */

static bool is_base_seen(const struct hi_jemalloc *j, size_t n, uint64_t base)
{
	for (size_t i = 0; i < n; i++)
		if (j->arenas.items[i].addr && j->arenas.items[i].base == base)
			return true;
	return false;
}

static enum hi_status add_block(struct hi_jemalloc *j, uint64_t block, uint64_t size,
				uint32_t arena, struct hi_error *err)
{
	struct hi_slab slab = {.start = block,
			       .end = block + size,
			       .first = block,
			       .size = size,
			       .usable = size,
			       .context = UINT64_MAX,
			       .n = 1,
			       .arena = arena,
			       .align_shift = 12};

	return hi_slabs_add(&j->slabs, &slab, HI_BLOCK_METADATA, NULL, err);
}

static enum hi_status add_base(struct hi_jemalloc *j, uint64_t base, uint32_t arena,
			       struct hi_error *err)
{
	uint64_t block, next, size, total = 0, allocated;
	enum hi_status status = HI_OK;

	if (!read_u64(j, base + j->layout->base_blocks, &block) ||
	    !read_u64(j, base + j->layout->base_allocated, &allocated))
		return hi_fail(err, HI_BAD_DATA, base,
			       "arena %u: its metadata is not readable", arena);
	for (unsigned i = 0; block && i < MAX_BLOCKS && status == HI_OK; i++) {
		if (block % HI_JEMALLOC_PAGE || !read_u64(j, block, &size) ||
		    !read_u64(j, block + 8, &next) || size % HI_JEMALLOC_PAGE ||
		    size > BLOCK_LIMIT || !size)
			return hi_fail(err, HI_BAD_DATA, block,
				       "arena %u: a block of its metadata is wrong",
				       arena);
		status = add_block(j, block, size, arena, err);
		total += size;
		block = next;
	}
	if (status == HI_OK && allocated > total)
		return hi_fail(err, HI_BAD_DATA, base,
			       "arena %u: its metadata has %lu bytes in blocks of %lu",
			       arena, allocated, total);
	return status;
}

static enum hi_status check_unlocked(struct hi_jemalloc *j, uint64_t mutex,
				     const char *what, uint32_t arena,
				     struct hi_error *err)
{
	const uint8_t *locked =
		hi_window_at(&j->other, mutex + j->layout->mutex_locked, 1);

	if (!locked || *locked > 1)
		return hi_fail(err, HI_BAD_DATA, mutex, "arena %u: no mutex of its %s",
			       arena, what);
	if (*locked)
		return hi_fail(err, HI_BAD_DATA, mutex,
			       "arena %u: the mutex of its %s is locked", arena, what);
	return HI_OK;
}

static enum hi_status check_arena_mutexes(struct hi_jemalloc *j, uint32_t ind,
					  struct hi_error *err)
{
	const struct hi_jemalloc_arena *a = &j->arenas.items[ind];
	const struct hi_jemalloc_layout *l = j->layout;
	enum hi_status status = check_unlocked(j, a->addr + l->arena_caches_mutex,
					       "thread caches", ind, err);

	if (status == HI_OK)
		status = check_unlocked(j, a->addr + l->arena_large_mutex, "large blocks",
					ind, err);
	if (status == HI_OK)
		status = check_unlocked(j, a->base + l->base_mutex, "metadata", ind, err);
	return status;
}

static enum hi_status add_bases(struct hi_jemalloc *j, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < j->arenas.count && status == HI_OK; i++) {
		const struct hi_jemalloc_arena *a = &j->arenas.items[i];

		if (!a->addr)
			continue;
		status = check_arena_mutexes(j, i, err);
		if (status == HI_OK && !is_base_seen(j, i, a->base))
			status = add_base(j, a->base, i, err);
	}
	return status;
}

/* ---- what the bins have ---- */

static bool is_bin_table(struct hi_jemalloc *j, uint64_t at)
{
	uint64_t size, slab;

	for (uint32_t b = 0; b < j->layout->bins; b++) {
		uint64_t info = at + (uint64_t)b * j->layout->info_bytes;
		uint32_t regions;

		if (!read_u64(j, info, &size) || size != j->sizes[b] ||
		    !read_u64(j, info + 8, &slab) || !read_u32(j, info + 16, &regions) ||
		    !regions || slab / size < regions || slab % HI_JEMALLOC_PAGE)
			return false;
	}
	return true;
}

static void read_bin_table(struct hi_jemalloc *j, const struct hi_jemalloc_found *found)
{
	const struct hi_jemalloc_layout *l = j->layout;

	for (size_t i = 0; i < found->eights.count; i++) {
		uint64_t at = found->eights.items[i];

		if (!is_bin_table(j, at))
			continue;
		j->knows_shards = true;
		for (uint32_t b = 0; b < l->bins; b++, at += l->info_bytes) {
			j->knows_shards &=
				read_u32(j, at + l->info_shards, &j->shards[b]) &&
				j->shards[b] && j->shards[b] <= MAX_SHARDS;
			(void)read_u32(j, at + 16, &j->slab_regions[b]);
		}
		return;
	}
}

enum hi_status hi_jemalloc_read_arenas(struct hi_jemalloc *j,
				       const struct hi_jemalloc_found *found,
				       const struct hi_jemalloc_root *root,
				       struct hi_error *err)
{
	struct arena_arrays arrays = {};
	enum hi_status status;

	for (size_t i = 0; i < found->words.count; i++) {
		const struct hi_jemalloc_word *w = &found->words.items[i];
		uint64_t base;
		uint32_t ind = arena_number(j, w->value, &base);

		if (ind != UINT32_MAX)
			vote_for_array(&arrays, w->at - 8ull * ind);
	}
	if (!arrays.n)
		return hi_fail(err, HI_BAD_DATA, j->root, "it has no arenas");
	sort_arrays(&arrays);
	status = choose_array(j, &arrays, root->node, err);
	if (status == HI_OK)
		status = add_bases(j, err);
	read_bin_table(j, found);
	return status;
}

/* ---- counters ---- */

struct bin_counts {
	uint64_t regions, slabs;
};

/* Adds what the shards of one bin count; bin is the first of them. */
static enum hi_status add_bin_counts(struct hi_jemalloc *j, uint64_t bin, uint32_t shards,
				     uint32_t arena, struct bin_counts *c,
				     struct hi_error *err)
{
	const struct hi_jemalloc_layout *l = j->layout;
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < shards && status == HI_OK; i++, bin += l->bin_bytes) {
		uint64_t regions, slabs;

		if (!read_u64(j, bin + l->bin_regions, &regions) ||
		    !read_u64(j, bin + l->bin_slabs, &slabs))
			return hi_fail(err, HI_BAD_DATA, bin,
				       "arena %u: its bins are not readable", arena);
		c->regions += regions;
		c->slabs += slabs;
		status = check_unlocked(j, bin, "bins", arena, err);
	}
	return status;
}

/* Where the first shard of bin b is; shards before it: those of the bins below. */
static bool find_bin(struct hi_jemalloc *j, const struct hi_jemalloc_arena *a, uint32_t b,
		     uint32_t before, uint64_t *ret)
{
	const struct hi_jemalloc_layout *l = j->layout;

	*ret = a->addr + l->arena_bins + (uint64_t)before * l->bin_bytes;
	return !l->bins_are_pointers ||
	       read_u64(j, a->addr + l->arena_bins + b * 8ull, ret);
}

struct counter_check {
	uint64_t bins, wrong, counted;
	uint64_t wrong_at;
	char text[120];
};

static void compare_bin(struct hi_jemalloc *j, struct counter_check *c, uint32_t arena,
			uint32_t b, uint64_t at, const struct bin_counts *counts)
{
	const struct hi_jemalloc_arena *a = &j->arenas.items[arena];

	if (!counts->regions && !counts->slabs && !a->slabs[b])
		return;
	c->bins++;
	c->counted += counts->regions + counts->slabs;
	if (a->is_bin_damaged[b] ||
	    (counts->regions == a->regions[b] && counts->slabs == a->slabs[b]))
		return;
	c->wrong++;
	c->wrong_at = at;
	snprintf(
		c->text, sizeof(c->text),
		"arena %u: its bin of %lu bytes counts %lu regions in %lu slabs, and has "
		"%lu in %lu",
		arena, j->sizes[b], counts->regions, counts->slabs, a->regions[b],
		a->slabs[b]);
}

static enum hi_status check_arena_bins(struct hi_jemalloc *j, uint32_t arena,
				       struct counter_check *c, struct hi_error *err)
{
	const struct hi_jemalloc_arena *a = &j->arenas.items[arena];
	enum hi_status status = HI_OK;
	uint32_t before = 0;

	for (uint32_t b = 0; b < j->layout->bins && status == HI_OK; b++) {
		struct bin_counts counts = {};
		uint32_t shards = j->knows_shards ? j->shards[b] : 1;
		uint64_t bin;

		if (!find_bin(j, a, b, before, &bin))
			return hi_fail(err, HI_BAD_DATA, a->addr,
				       "arena %u: its bins are not readable", arena);
		before += shards;
		status = add_bin_counts(j, bin, shards, arena, &counts, err);
		if (status == HI_OK)
			compare_bin(j, c, arena, b, bin, &counts);
	}
	return status;
}

/* Blocks in arenas that jemalloc has for itself: we know those of thread caches. Others
 * are the profiler's; they count as the program's, and are said. */
static enum hi_status check_internal(struct hi_jemalloc *j, struct hi_error *err)
{
	uint64_t bytes;

	for (size_t i = 0; i < j->arenas.count; i++) {
		const struct hi_jemalloc_arena *a = &j->arenas.items[i];

		if (!a->addr)
			continue;
		if (!read_u64(j, a->addr + j->layout->arena_internal, &bytes))
			return hi_fail(err, HI_BAD_DATA, a->addr,
				       "arena %zu: its counters are not readable", i);
		j->internal_counted += bytes;
	}
	if (j->internal_counted < j->internal_known || j->internal_counted >= BLOCK_LIMIT)
		return hi_fail(err, HI_BAD_DATA, j->arenas_at,
			       "it counts %lu bytes of its own, its thread caches have "
			       "%lu",
			       j->internal_counted, j->internal_known);
	return HI_OK;
}

enum hi_status hi_jemalloc_check_counters(struct hi_jemalloc *j, struct hi_error *err)
{
	struct counter_check c = {};
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < j->arenas.count && status == HI_OK; i++)
		if (j->arenas.items[i].addr)
			status = check_arena_bins(j, i, &c, err);
	if (status != HI_OK)
		return status;
	j->has_counters = c.counted != 0;
	if (!j->has_counters) /* built without */
		return HI_OK;
	if (c.wrong * MAX_DAMAGED_SHARE > c.bins)
		return hi_fail(err, HI_BAD_DATA, c.wrong_at, "%s", c.text);
	if (c.wrong)
		hi_allocator_note_damage(&j->base, c.wrong_at, "%s", c.text);
	return check_internal(j, err);
}
