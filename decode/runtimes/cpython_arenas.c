/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pymalloc: arenas of 1 MiB, divided into pools of 16 KiB, each for blocks of one
 * size; up to 3.9 of 256 KiB and 4 KiB. Source: Objects/obmalloc.c,
 * Include/internal/pycore_pymem.h and pycore_obmalloc.h.
 *
 * struct arena_object: address, pool_address (the next pool that was never used),
 * nfreepools, ntotalpools, freepools, nextarena, prevarena. `arenas` points to an array
 * of them. From 3.12 on each interpreter may have its own, which its state leads to.
 * Before, it is a static variable, which a stripped interpreter does not name: then every
 * word of the module's data that may be its address is tried. Pools of the array's arenas
 * must have the arena's index in their headers.
 *
 * struct pool_header: count of used blocks, freeblock, nextpool, prevpool,
 * arenaindex, szidx, nextoffset, maxnextoffset. Blocks from nextoffset on were
 * never used; free ones are in a list through their first words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/runtimes/cpython.h"

enum {
	INITIAL_ARENAS = 16,
	MAX_ARENAS = 1 << 20,
	WRONG_ONE_OF = 4, /* pools */
	MAX_LOOKS = 4,	  /* at each */
	MAX_SECTIONS = 64,
	PAGE = 4096,
	POOL_MAX = 1 << 14,
	BLOCKS_MAX = POOL_MAX / 16,
};

struct arena_object {
	uint64_t address, pool_address;
	uint32_t nfreepools, ntotalpools;
	uint64_t freepools, nextarena, prevarena;
};
struct pool_header {
	uint32_t count, padding;
	uint64_t freeblock, nextpool, prevpool;
	uint32_t arenaindex, szidx, nextoffset, maxnextoffset;
};
_Static_assert(sizeof(struct arena_object) == 48, "as in the target");
_Static_assert(sizeof(struct pool_header) == 48, "as in the target");

static uint64_t round_up_to(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* One that has memory. */
static bool is_arena(const struct hi_py *py, const struct arena_object *a)
{
	const struct hi_py_layout *l = py->layout;
	uint64_t first = round_up_to(a->address, l->pool_size);
	uint64_t end = a->address + l->arena_size;
	uint32_t pools = (uint32_t)((end - first) / l->pool_size);

	return a->address % PAGE == 0 && end > a->address && a->ntotalpools == pools &&
	       a->nfreepools <= a->ntotalpools && a->pool_address >= first &&
	       a->pool_address <= first + (uint64_t)pools * l->pool_size &&
	       a->pool_address % l->pool_size == 0 &&
	       (!a->freepools ||
		(a->freepools >= first && a->freepools < a->pool_address &&
		 a->freepools % l->pool_size == 0));
}

/* One that has none: in the list of those, or never used. */
static bool is_empty_arena(uint64_t table, const struct arena_object *a)
{
	return a->address == 0 &&
	       (!a->nextarena || (a->nextarena - table) % sizeof(*a) == 0);
}

static bool pool_is_of(struct hi_py *py, const struct hi_py_arena *arena, uint64_t pool,
		       struct pool_header *ret)
{
	const struct hi_py_layout *l = py->layout;

	return hi_py_read(&py->reader, pool, ret, sizeof(*ret)) &&
	       ret->arenaindex == arena->index &&
	       ret->szidx < l->small_max / l->alignment &&
	       ret->nextoffset >= l->pool_header &&
	       ret->nextoffset <= l->pool_size + l->small_max;
}

/* Pools that were ever used have the index of their arena. Some may be torn, or in the
 * making. */
struct pool_check {
	uint64_t n, wrong;
};

/* Entries of arrays, and pools, that are looked at while arenas are searched for. A sound
 * heap has no more of them than bytes; many words may lead to one array that is none. */
static bool may_look_on(struct hi_py *py)
{
	if (py->arena_steps >
	    py->held / sizeof(struct arena_object) * MAX_LOOKS + MAX_ARENAS)
		return false;
	py->arena_steps++;
	return true;
}

static bool arena_is_checked(struct hi_py *py, const struct hi_py_arena *arena,
			     struct pool_check *check)
{
	struct pool_header header;

	for (uint64_t p = arena->first_pool; p < arena->unused;
	     p += py->layout->pool_size) {
		if (!may_look_on(py))
			return false;
		check->n++;
		check->wrong += !pool_is_of(py, arena, p, &header);
	}
	return check->wrong * WRONG_ONE_OF <= check->n;
}

/* Entries of an array at `table`, those with memory into py->arenas from `first` on; 0:
 * it is none. */
static size_t read_arena_table(struct hi_py *py, uint64_t table, size_t first, size_t max,
			       bool check_all)
{
	struct pool_check check = {};
	size_t n = 0, used = 0;

	py->arenas.count = first;
	for (; n < max; n++) {
		struct hi_py_arena arena;
		struct arena_object a;

		if (!may_look_on(py) ||
		    !hi_py_read(&py->reader, table + n * sizeof(a), &a, sizeof(a)))
			break;
		if (is_empty_arena(table, &a))
			continue;
		if (!is_arena(py, &a))
			break;
		arena = (struct hi_py_arena){
			.address = a.address,
			.first_pool = round_up_to(a.address, py->layout->pool_size),
			.unused = a.pool_address,
			.index = (uint32_t)n};
		if ((check_all || used < 2) && !arena_is_checked(py, &arena, &check))
			return 0;
		used += arena.unused > arena.first_pool;
		if (!hi_vector_push(&py->arenas, arena)) {
			py->no_memory = true;
			return 0;
		}
	}
	return used ? n : 0;
}

/* The array has 16, 32, 64 ... entries: as many as were read, or the next lower
 * number where something that looks like empty ones follows. */
static size_t table_size(size_t n)
{
	size_t size = INITIAL_ARENAS;

	while (size * 2 <= n)
		size *= 2;
	return size;
}

static bool keep_arena_table(struct hi_py *py, uint64_t table)
{
	if (!hi_vector_push(&py->arena_tables, table))
		py->no_memory = true;
	return !py->no_memory;
}

static bool try_table(struct hi_py *py, uint64_t table)
{
	size_t n, size;

	if (!table || table % 16)
		return false;
	if (read_arena_table(py, table, 0, INITIAL_ARENAS, false) < INITIAL_ARENAS)
		return false;
	n = read_arena_table(py, table, 0, MAX_ARENAS, true);
	if (n < INITIAL_ARENAS)
		return false;
	size = table_size(n);
	while (py->arenas.count && py->arenas.items[py->arenas.count - 1].index >= size)
		py->arenas.count--;
	return keep_arena_table(py, table);
}

static bool try_symbols(struct hi_py *py)
{
	static const char *const names[] = {"arenas", "arenas.lto_priv.0"};
	uint64_t addr, size, table;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (hi_modules_symbol(py->modules, py->module, names[i], &addr, &size,
				      NULL) == HI_OK &&
		    hi_py_u64(&py->reader, addr, &table) && try_table(py, table))
			return true;
	return false;
}

/* True: memory of the heap's kind is mapped there. Checked before any read. */
static bool may_be_table(const struct hi_py *py, uint64_t word)
{
	const struct hi_mapping *m;

	if (word < PAGE || word % 16)
		return false;
	m = hi_image_mapping_at(py->image, word);
	return m && (m->kind == HI_MAPPING_HEAP || m->kind == HI_MAPPING_ANONYMOUS) &&
	       (m->prot & HI_PROT_WRITE);
}

static bool try_range(struct hi_py *py, const struct hi_section_range *range)
{
	uint64_t words[512];

	for (uint64_t at = (range->start + 7) & ~(uint64_t)7; at + 8 <= range->end;) {
		size_t n = (range->end - at) / 8 < 512 ? (range->end - at) / 8 : 512;

		if (!hi_py_read(&py->reader, at, words, n * 8)) {
			at += n * 8;
			continue;
		}
		for (size_t i = 0; i < n; i++)
			if (may_be_table(py, words[i]) && try_table(py, words[i]))
				return true;
		at += n * 8;
	}
	return false;
}

static bool try_data(struct hi_py *py)
{
	struct hi_section_range ranges[MAX_SECTIONS];
	size_t n = hi_module_data(py->module, ranges, MAX_SECTIONS);

	for (size_t i = 0; i < n; i++)
		if (!ranges[i].relro && try_range(py, &ranges[i]))
			return true;
	return false;
}

static bool is_known_arena_table(const struct hi_py *py, uint64_t table)
{
	for (size_t i = 0; i < py->arena_tables.count; i++)
		if (py->arena_tables.items[i] == table)
			return true;
	return false;
}

/* Arrays that the state leads to: one of each interpreter, or of several. */
static enum hi_status read_own_tables(struct hi_py *py, struct hi_error *err)
{
	const struct hi_py_layout *l = py->layout;

	for (size_t i = 0; i < py->interpreters.count; i++) {
		uint64_t state = py->interpreters.items[i].addr + l->interp_obmalloc;
		size_t first = py->arenas.count;
		uint64_t table;
		uint32_t n;

		if (l->obmalloc_is_pointer)
			state = hi_py_word(&py->reader, state);
		table = hi_py_word(&py->reader, state + l->obmalloc_arenas);
		n = hi_py_u32(&py->reader, state + l->obmalloc_n_arenas);
		if (!state || !table || is_known_arena_table(py, table))
			continue;
		if (n < INITIAL_ARENAS || n > MAX_ARENAS ||
		    read_arena_table(py, table, first, n, true) < n)
			return hi_fail(err, py->no_memory ? HI_NO_MEMORY : HI_BAD_DATA,
				       table,
				       "pymalloc: an array of arenas is inconsistent");
		if (!keep_arena_table(py, table))
			return hi_fail_memory(err, "arenas");
	}
	return HI_OK;
}

static int compare_arena_addresses(const void *a, const void *b)
{
	const struct hi_py_arena *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static enum hi_status make_areas(struct hi_py *py, struct hi_error *err)
{
	uint64_t end = 0;

	if (py->arenas.count > 1)
		qsort(py->arenas.items, py->arenas.count, sizeof(*py->arenas.items),
		      compare_arena_addresses);
	for (size_t i = 0; i < py->arenas.count; i++) {
		struct hi_runtime_area area = {
			py->arenas.items[i].address,
			py->arenas.items[i].address + py->layout->arena_size, 4};

		if (area.start < end)
			return hi_fail(err, HI_BAD_DATA, area.start,
				       "pymalloc: two arenas overlap");
		end = area.end;
		if (!hi_vector_push(&py->areas, area))
			return hi_fail_memory(err, "arenas");
	}
	py->base.areas = py->areas.items;
	py->base.n_areas = py->areas.count;
	return HI_OK;
}

static enum hi_status find_tables(struct hi_py *py, const char **how_ret,
				  struct hi_error *err)
{
	enum hi_status status;

	*how_ret = "arenas of the interpreters";
	if (py->layout->interp_obmalloc) {
		status = read_own_tables(py, err);
		if (status != HI_OK || py->arenas.count)
			return status;
	} else {
		*how_ret = "symbol arenas";
		if (try_symbols(py))
			return HI_OK;
		*how_ret = "arenas by their pools";
		if (!py->no_memory && try_data(py))
			return HI_OK;
		if (py->no_memory)
			return hi_fail_memory(err, "arenas");
	}
	py->arenas.count = 0;
	return hi_fail(err, HI_NOT_FOUND, 0, "pymalloc: no array of arenas in %s",
		       py->module->name);
}

static void note_found_by(struct hi_py *py, const char *arenas)
{
	if (py->of_dwarf)
		snprintf(py->base.found_by, sizeof(py->base.found_by), "debug info, %s",
			 arenas);
	else if (py->of_offsets)
		snprintf(py->base.found_by, sizeof(py->base.found_by),
			 "its table of offsets, %s", arenas);
	else
		snprintf(py->base.found_by, sizeof(py->base.found_by),
			 "table for 3.%u, %s", py->layout->minor, arenas);
}

enum hi_status hi_py_find_arenas(struct hi_py *py, struct hi_error *err)
{
	const char *how;
	enum hi_status status = find_tables(py, &how, err);

	if (status == HI_NOT_FOUND)
		how = "no arenas";
	note_found_by(py, how);
	return status == HI_OK ? make_areas(py, err) : status;
}

/* ---- the walk ---- */

static void note_damage(struct hi_py *py, uint64_t pool, const char *what)
{
	if (py->base.n_damage++ == 0)
		snprintf(py->base.damage, sizeof(py->base.damage),
			 "pymalloc: the pool at 0x%llx: %s", (unsigned long long)pool,
			 what);
	py->base.skipped_bytes += py->layout->pool_size;
}

/* Marks the free blocks of a pool; what is wrong, or NULL. */
static const char *mark_free(struct hi_py *py, uint64_t pool, const struct pool_header *h,
			     uint64_t size, uint64_t n, uint8_t *is_free, uint64_t *n_ret)
{
	uint64_t at = h->freeblock;

	for (*n_ret = 0; at; ++*n_ret) {
		uint64_t offset = at - pool - py->layout->pool_header;

		if (at < pool + py->layout->pool_header || offset % size ||
		    offset / size >= n)
			return "its list of free blocks leaves the pool";
		if (is_free[offset / size])
			return "its list of free blocks has a cycle";
		is_free[offset / size] = 1;
		if (!hi_py_u64(&py->reader, at, &at))
			return "unreadable";
	}
	return NULL;
}

static bool walk_arena_pool(struct hi_py *py, const struct hi_py_arena *arena,
			    uint64_t pool, size_t area, hi_runtime_blocks_fn *fn,
			    void *arg)
{
	struct hi_runtime_block blocks[BLOCKS_MAX];
	uint8_t is_free[BLOCKS_MAX] = {};
	uint64_t size, n, n_free = 0, room;
	struct pool_header h;
	const char *wrong;
	size_t count = 0;

	if (!pool_is_of(py, arena, pool, &h)) {
		note_damage(py, pool, "its header is inconsistent");
		return true;
	}
	if (h.count == 0) {
		py->base.own_bytes += py->layout->pool_header;
		py->base.free_bytes += py->layout->pool_size - py->layout->pool_header;
		return true;
	}
	size = ((uint64_t)h.szidx + 1) * py->layout->alignment;
	room = (py->layout->pool_size - py->layout->pool_header) / size;
	n = (h.nextoffset - py->layout->pool_header) / size;
	if (n > room)
		n = room;
	wrong = mark_free(py, pool, &h, size, n, is_free, &n_free);
	if (!wrong && n - n_free != h.count)
		wrong = "its count of used blocks does not match its free list";
	if (wrong) {
		note_damage(py, pool, wrong);
		return true;
	}
	for (uint64_t i = 0; i < n; i++)
		if (!is_free[i])
			blocks[count++] = (struct hi_runtime_block){
				pool + py->layout->pool_header + i * size, size};
	py->base.used_blocks += count;
	py->base.used_bytes += count * size;
	py->base.free_blocks += room - count;
	py->base.free_bytes += (room - count) * size;
	py->base.own_bytes += py->layout->pool_size - room * size;
	return count == 0 || fn(blocks, count, area, arg);
}

/* Bytes that no pool has: before the first one, behind the last one; pools that
 * were never used are free. */
static void count_arena_remainder(struct hi_py *py, const struct hi_py_arena *arena)
{
	uint64_t end = arena->address + py->layout->arena_size;
	uint64_t last = arena->first_pool + (end - arena->first_pool) /
						    py->layout->pool_size *
						    py->layout->pool_size;

	py->base.own_bytes += arena->first_pool - arena->address + end - last;
	py->base.free_bytes += last - arena->unused;
}

enum hi_status hi_py_walk(struct hi_runtime *runtime, hi_runtime_blocks_fn *fn, void *arg,
			  struct hi_error *err)
{
	struct hi_py *py = (struct hi_py *)runtime;

	(void)err;
	runtime->used_blocks = runtime->used_bytes = runtime->free_blocks = 0;
	runtime->free_bytes = runtime->own_bytes = runtime->skipped_bytes = 0;
	runtime->n_damage = 0;
	for (size_t i = 0; i < py->arenas.count; i++) {
		const struct hi_py_arena *arena = &py->arenas.items[i];

		for (uint64_t p = arena->first_pool; p < arena->unused;
		     p += py->layout->pool_size)
			if (!walk_arena_pool(py, arena, p, i, fn, arg))
				return HI_OK;
		count_arena_remainder(py, arena);
	}
	return HI_OK;
}
