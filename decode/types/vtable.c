/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dynamic type behind a vtable pointer. Itanium C++ ABI §2.5.2: a vtable
 * pointer points behind offset-to-top and the address of the class's typeinfo,
 * at the first function; §2.9.5: a typeinfo is {its own vtable pointer, name}.
 *
 * Note [Cache of vtable pointers] All threads look up the first word of every object.
 * Words that point into no module's constant data are refused by a table that never
 * changes; the rest is looked up in an open-addressing table that is only ever added to,
 * or replaced by a larger copy, under the lock, and read without it.
 */
#include "decode/modules/demangle.h"
#include "decode/modules/module.h"
#include "decode/types/types_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"

enum {
	MANGLED_MAX = HI_MANGLED_MAX,
	NAME_MAX_BYTES = 4096,
	TABLE_FIRST = 1 << 10,
	TABLE_MAX = 1 << 22, /* slots: what does not fit is computed each time */
	TOP_OFFSET_MAX = 1 << 24,
};

struct vtable_entry {
	uint64_t vptr;
	const char *name; /* NULL: no vtable */
	int64_t top_offset;
	hi_type_id type;
};

struct vtable_table {
	size_t n; /* a power of two */
	struct vtable_table *older;
	const struct vtable_entry *_Atomic slots[];
};

struct vtable_range {
	uint64_t start, end;
};

struct hi_vtable_cache {
	struct vtable_range *ranges; /* data of modules, sorted, disjoint */
	size_t n_ranges;
	struct vtable_table *_Atomic table;
	size_t used;
};

/* ---- where vtables can be ---- */

static int compare_vtable_ranges(const void *left, const void *right)
{
	const struct vtable_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static size_t module_ranges(struct hi_module *module, struct vtable_range *out)
{
	size_t n_phdrs, n = 0;
	const GElf_Phdr *phdrs = hi_module_phdrs(module, &n_phdrs);

	for (size_t i = 0; i < n_phdrs; i++) {
		uint64_t start = phdrs[i].p_vaddr + module->bias;
		uint64_t end = start + phdrs[i].p_filesz;

		/* Constant or relocated data; old linkers put it beside the code. */
		if (phdrs[i].p_type != PT_LOAD || start < module->start ||
		    end > module->end || end <= start)
			continue;
		if (out)
			out[n] = (struct vtable_range){start, end};
		n++;
	}
	return n;
}

bool hi_vtable_cache_init(struct hi_types *types)
{
	struct hi_vtable_cache *cache = hi_calloc(1, sizeof(*cache));
	size_t total = 0;

	types->vtables = cache;
	if (!cache)
		return false;
	for (size_t i = 0; i < types->n_items; i++)
		total += module_ranges(hi_modules_get(types->modules, i), NULL);
	cache->ranges = hi_calloc(total + 1, sizeof(*cache->ranges));
	if (!cache->ranges)
		return false;
	for (size_t i = 0; i < types->n_items; i++)
		cache->n_ranges += module_ranges(hi_modules_get(types->modules, i),
						 cache->ranges + cache->n_ranges);
	if (cache->n_ranges > 1)
		qsort(cache->ranges, cache->n_ranges, sizeof(*cache->ranges),
		      compare_vtable_ranges);
	return true;
}

void hi_vtable_cache_free(struct hi_vtable_cache *cache)
{
	struct vtable_table *table;

	if (!cache)
		return;
	table = atomic_load(&cache->table);
	while (table) {
		struct vtable_table *older = table->older;

		free(table);
		table = older;
	}
	free(cache->ranges);
	free(cache);
}

static bool is_in_vtable_range(const struct hi_vtable_cache *cache, uint64_t addr)
{
	size_t low = 0, high = cache->n_ranges;

	if (high == 0 || addr < cache->ranges[0].start ||
	    addr >= cache->ranges[high - 1].end)
		return false;
	low = hi_search_from(i, low, high, cache->ranges[i].start <= addr);
	return low > 0 && addr < cache->ranges[low - 1].end;
}

/* ---- the table ---- */

static size_t hash_vptr(uint64_t vptr)
{
	return (size_t)(vptr * 0x9e3779b97f4a7c15ull >> 20);
}

static const struct vtable_entry *cache_find(const struct hi_vtable_cache *cache,
					     uint64_t vptr)
{
	const struct vtable_table *table =
		atomic_load_explicit(&cache->table, memory_order_acquire);
	const struct vtable_entry *entry = NULL;

	if (!table)
		return NULL;
	(void)hi_probe(
		i, table->n, hash_vptr(vptr),
		!(entry = atomic_load_explicit(&table->slots[i], memory_order_acquire)) ||
			entry->vptr == vptr);
	return entry;
}

static void insert_vtable_entry(struct vtable_table *table,
				const struct vtable_entry *entry)
{
	size_t at =
		hi_probe(i, table->n, hash_vptr(entry->vptr),
			 !atomic_load_explicit(&table->slots[i], memory_order_relaxed));

	atomic_store_explicit(&table->slots[at], entry, memory_order_release);
}

/* Under the lock. */
static void cache_add(struct hi_vtable_cache *cache, const struct vtable_entry *entry)
{
	struct vtable_table *table = atomic_load(&cache->table), *larger;
	size_t n = table ? table->n : 0;

	if (cache->used * 2 >= n) {
		n = n ? n * 2 : TABLE_FIRST;
		if (n > TABLE_MAX)
			return;
		larger = hi_calloc(1, sizeof(*larger) + n * sizeof(larger->slots[0]));
		if (!larger)
			return;
		larger->n = n;
		larger->older = table; /* readers may still be in it */
		for (size_t i = 0; table && i < table->n; i++)
			if (atomic_load(&table->slots[i]))
				insert_vtable_entry(larger,
						    atomic_load(&table->slots[i]));
		atomic_store_explicit(&cache->table, larger, memory_order_release);
		table = larger;
	}
	insert_vtable_entry(table, entry);
	cache->used++;
}

/* ---- names of classes ---- */

/* Name of the class out of a typeinfo's string ("N2ns1CE"). */
static bool class_name(const char *encoded, char *out, size_t out_size)
{
	static const char prefix[] = "typeinfo for ";
	char mangled[MANGLED_MAX + 16];
	size_t n = sizeof(prefix) - 1;

	if (*encoded == '*') /* local to its file: compared by address */
		encoded++;
	for (const char *p = encoded; *p; p++)
		if (!isgraph((unsigned char)*p))
			return false;
	if (!isdigit((unsigned char)*encoded) && *encoded != 'N' && *encoded != 'S' &&
	    *encoded != 'Z')
		return false;
	if (snprintf(mangled, sizeof(mangled), "_ZTI%s", encoded) >=
		    (int)sizeof(mangled) ||
	    !hi_demangle(mangled, out, out_size) || strncmp(out, prefix, n) != 0)
		return false;
	memmove(out, out + n, strlen(out + n) + 1);
	return out[0] != '\0';
}

/* ---- reading a vtable ---- */

static bool read_vtable_word(struct hi_types *types, uint64_t addr, uint64_t *ret)
{
	return hi_modules_read(types->modules, addr, ret, 8, NULL) == HI_OK;
}

static bool is_module_code(struct hi_types *types, uint64_t addr)
{
	struct hi_module *module = hi_modules_at(types->modules, addr);
	const GElf_Phdr *phdrs;
	size_t n;

	if (!module)
		return false;
	phdrs = hi_module_phdrs(module, &n);
	for (size_t i = 0; i < n; i++)
		if (phdrs[i].p_type == PT_LOAD && (phdrs[i].p_flags & PF_X) &&
		    addr - module->bias - phdrs[i].p_vaddr < phdrs[i].p_memsz)
			return true;
	return false;
}

static const char *symbol_starting(struct hi_types *types, uint64_t addr,
				   const char *prefix, uint64_t *offset_ret)
{
	const char *name = hi_modules_symbol_at(types->modules, addr, offset_ret);

	return name && strncmp(name, prefix, strlen(prefix)) == 0 ? name : NULL;
}

/* A string in a module, byte after byte over page borders. */
static bool read_string(struct hi_types *types, uint64_t addr, char *out, size_t max)
{
	for (size_t used = 0; used + 1 < max;) {
		size_t step = 64 - ((addr + used) & 63);

		if (step > max - 1 - used)
			step = max - 1 - used;
		if (hi_modules_read(types->modules, addr + used, out + used, step,
				    NULL) != HI_OK)
			return false;
		if (memchr(out + used, 0, step))
			return true;
		used += step;
	}
	return false;
}

/* By run-time type information: needs no symbols. */
static bool by_rtti(struct hi_types *types, uint64_t vptr, uint64_t info, char *out,
		    size_t out_size)
{
	const struct hi_vtable_cache *cache = types->vtables;
	char encoded[MANGLED_MAX];
	uint64_t own, name, function = 0, offset;

	if ((info & 7) || !is_in_vtable_range(cache, info) ||
	    !read_vtable_word(types, info, &own) ||
	    !read_vtable_word(types, info + 8, &name) ||
	    !is_in_vtable_range(cache, name) || !is_in_vtable_range(cache, own) ||
	    !read_string(types, name, encoded, sizeof(encoded)))
		return false;
	/* The typeinfo is one by its class, or else the vtable by its functions. */
	if (!symbol_starting(types, own, "_ZTVN10__cxxabiv1", &offset) &&
	    !(read_vtable_word(types, vptr, &function) &&
	      is_module_code(types, function)))
		return false;
	return class_name(encoded, out, out_size);
}

/* By symbol, for programs without run-time type information. */
static bool by_symbol(struct hi_types *types, uint64_t vptr, char *out, size_t out_size)
{
	static const char prefix[] = "vtable for ";
	uint64_t offset = 0;
	const char *name = symbol_starting(types, vptr, "_ZTV", &offset);

	if (!name || offset != 16 || !hi_demangle(name, out, out_size) ||
	    strncmp(out, prefix, sizeof(prefix) - 1) != 0)
		return false;
	memmove(out, out + sizeof(prefix) - 1, strlen(out + sizeof(prefix) - 1) + 1);
	return true;
}

/* GCC writes template arguments without the suffix that the demangler adds:
 * "A<3ul>" is A<3> in DWARF. */
static bool drop_suffixes(const char *name, char *out, size_t out_size)
{
	size_t n = 0;
	bool changed = false, number = false;

	for (const char *p = name; *p && n + 1 < out_size; p++) {
		bool digit = isdigit((unsigned char)*p) != 0;
		bool starts =
			p == name || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');

		number = digit && (starts || number);
		out[n++] = *p;
		if (number && (p[1] == 'u' || p[1] == 'l')) {
			while (p[1] == 'u' || p[1] == 'l')
				p++;
			changed = true;
			number = false;
		}
	}
	out[n] = '\0';
	return changed;
}

static hi_type_id find_class_named(struct hi_types *types, uint64_t vptr,
				   const char *name)
{
	struct hi_module *module = hi_modules_at(types->modules, vptr);
	hi_type_id id = hi_types_record_named(types, module, name);
	char other[NAME_MAX_BYTES];

	if (!id && drop_suffixes(name, other, sizeof(other)))
		id = hi_types_record_named(types, module, other);
	for (unsigned scoped = 0; scoped < 2 && !id && module; scoped++)
		if (hi_types_write_enumerators(types, module, name, scoped, other,
					       sizeof(other)))
			id = hi_types_record_named(types, module, other);
	return id;
}

/* Under the lock; NULL only when out of memory. */
static const struct vtable_entry *make_entry(struct hi_types *types, uint64_t vptr)
{
	struct vtable_entry *entry = hi_arena_alloc(&types->arena, sizeof(*entry));
	char name[NAME_MAX_BYTES];
	uint64_t before[2] = {};

	if (!entry)
		return NULL;
	entry->vptr = vptr;
	if (hi_modules_read(types->modules, vptr - 16, before, 16, NULL) != HI_OK ||
	    (int64_t)before[0] > 0 || (int64_t)before[0] < -TOP_OFFSET_MAX)
		return entry;
	if (!(before[1] ? by_rtti(types, vptr, before[1], name, sizeof(name))
			: by_symbol(types, vptr, name, sizeof(name))))
		return entry;
	entry->top_offset = (int64_t)before[0];
	entry->type = find_class_named(types, vptr, name);
	entry->name = hi_arena_strdup(&types->arena, name);
	return entry;
}

enum hi_status hi_types_of_vtable(struct hi_types *types, uint64_t vptr,
				  hi_type_id *type_ret, const char **name_ret,
				  int64_t *top_offset_ret, struct hi_error *err)
{
	const struct vtable_entry *entry;

	if ((vptr & 7) || !is_in_vtable_range(types->vtables, vptr))
		return hi_fail(err, HI_NOT_FOUND, vptr, "no vtable");
	entry = cache_find(types->vtables, vptr);
	if (!entry) {
		hi_types_lock(types);
		entry = cache_find(types->vtables, vptr);
		if (!entry) {
			entry = make_entry(types, vptr);
			if (entry)
				cache_add(types->vtables, entry);
		}
		hi_types_unlock(types);
		if (!entry)
			return hi_fail_memory(err, "vtable");
	}
	if (!entry->name)
		return hi_fail(err, HI_NOT_FOUND, vptr, "no vtable");
	*type_ret = entry->type;
	*name_ret = entry->name;
	*top_offset_ret = entry->top_offset;
	return HI_OK;
}
