/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Where pymalloc's functions are]
 *
 * They are static functions, which a stripped file has no symbols of. The interpreter
 * calls them through tables of pointers (struct PyMemAllocatorEx) for its domains raw,
 * mem and obj; up to 3.11 these are variables, which the exported PyObject_Malloc uses,
 * later members of _PyRuntime. Others may precede pymalloc: a debug allocator gives out
 * addresses inside of blocks, of malloc's as well; tracemalloc, whose table has the one
 * that it precedes as its context, allocates while pymalloc's functions run, which would
 * be taken for their own blocks. Neither would give exact records: then pymalloc's
 * functions are not followed. Copies of them are, also those that tracemalloc calls:
 * places in them are independent of calls.
 *
 * Note [Parts of pymalloc in other functions]
 *
 * If the interpreter was built with profiles and a link-time optimiser, the compiler has
 * copied pymalloc into those functions that call it most often, after a test of the
 * pointer: these allocate without a call that could be followed, and then the recording
 * would miss most objects. The calls of pymalloc for a full pool are in such copies as
 * well. So a direct call of that function from anywhere else means that there are copies.
 * Then each copy is followed by itself, at the places where it gives out and takes back
 * blocks (python_sites.h): if there are as many as there are calls. Else some are not
 * understood, and pymalloc is not followed at all.
 */
#include "probes/events/python_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "decode/runtimes/cpython_walk_find.h"
#include "probes/events/cfi_rows.h"
#include "probes/events/python_copies.h"
#include "probes/prologue.h"

enum {
	TABLE_WORDS = 5, /* struct PyMemAllocatorEx: ctx, malloc, calloc, realloc, free */
	FUNCTIONS = 4,
	FUNCTION_MAX = 1 << 16,
	TARGETS_MAX = 512,
	SLOW_MAX = 16,
	CHUNK = 1 << 20,
};

struct python_heap {
	struct hi_target_code *code;
	struct hi_module *module;
	struct hi_cfi_entries entries;
	struct hi_event_functions *ret;
	struct hi_error *err;
	bool is_traced; /* by tracemalloc */
	/* Functions that pymalloc calls and that are not exported: ELF addresses less the
	 * bias. */
	uint64_t slow[SLOW_MAX];
	size_t n_slow;
	/* Functions that are followed. */
	struct hi_range followed[2 * FUNCTIONS];
	size_t n_followed;
};

static bool read_target_words(struct python_heap *h, uint64_t addr, uint64_t *ret,
			      size_t n)
{
	return hi_memory_read(h->code->image->memory, addr, ret, n * 8, NULL) == HI_OK;
}

/* The entry of call frame information that has this address; NULL: none. */
static const struct hi_cfi_entry *find_function_at(const struct python_heap *h,
						   uint64_t addr)
{
	uint64_t at = addr - h->module->bias;
	size_t i = hi_search(j, h->entries.count, h->entries.items[j].start <= at);

	return i > 0 && at < h->entries.items[i - 1].end ? &h->entries.items[i - 1]
							 : NULL;
}

/* It begins there; false: no function that is known does. */
static bool find_function_from(const struct python_heap *h, uint64_t addr,
			       struct hi_range *ret)
{
	const struct hi_cfi_entry *entry = find_function_at(h, addr);

	if (!entry || entry->start + h->module->bias != addr ||
	    entry->end - entry->start > FUNCTION_MAX)
		return false;
	*ret = (struct hi_range){addr, entry->end + h->module->bias};
	return true;
}

/* ---- the tables of pointers ---- */

static bool is_pointer_table(struct python_heap *h, const uint64_t *table)
{
	struct hi_range unused;

	for (size_t i = 1; i < TABLE_WORDS; i++)
		if (!find_function_from(h, table[i], &unused))
			return false;
	return true;
}

/* That of which an exported function uses the pointer to malloc. */
static bool find_table_of(struct python_heap *h, const char *function, uint64_t *table)
{
	uint64_t start, size, operands[TARGETS_MAX];
	uint8_t bytes[FUNCTION_MAX];
	size_t n;

	if (hi_modules_symbol(h->code->modules, h->module, function, &start, &size,
			      NULL) != HI_OK ||
	    !size || size > sizeof(bytes) ||
	    hi_module_read_file(h->module, start, bytes, size, NULL) != HI_OK)
		return false;
	n = hi_function_operands(bytes, size, start, operands, TARGETS_MAX);
	for (size_t i = 0; i < n; i++)
		if (read_target_words(h, operands[i] - 8, table, TABLE_WORDS) &&
		    is_pointer_table(h, table))
			return true;
	return false;
}

enum domain { RAW, MEM, OBJ };

/* If it precedes another one, that takes its place. */
static bool take_table_behind(struct python_heap *h, uint64_t *table)
{
	uint64_t behind[TABLE_WORDS];

	if (!read_target_words(h, table[0], behind, TABLE_WORDS) ||
	    !is_pointer_table(h, behind))
		return false;
	memcpy(table, behind, sizeof(behind));
	return true;
}

static bool find_table(struct python_heap *h, enum domain domain, uint64_t *table)
{
	static const char *const users[] = {"PyMem_RawMalloc", "PyMem_Malloc",
					    "PyObject_Malloc"};
	uint64_t tables = hi_python_allocators(h->code->modules, h->ret->python.minor);

	if (!tables)
		return find_table_of(h, users[domain], table);
	return read_target_words(h, tables + (uint64_t)domain * TABLE_WORDS * 8, table,
				 TABLE_WORDS) &&
	       is_pointer_table(h, table);
}

/* ---- copies ---- */

static bool is_in_followed(const struct python_heap *h, uint64_t addr)
{
	for (size_t i = 0; i < h->n_followed; i++)
		if (h->followed[i].start <= addr && addr < h->followed[i].end)
			return true;
	return false;
}

/* Exported ones are called from everywhere. */
static bool is_exported(const struct python_heap *h, uint64_t addr)
{
	uint64_t offset;
	const char *name = hi_modules_symbol_at(h->code->modules, addr, &offset);

	return name && offset == 0 &&
	       (strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0);
}

static bool is_slow(const struct python_heap *h, uint64_t addr)
{
	for (size_t i = 0; i < h->n_slow; i++)
		if (h->slow[i] == addr)
			return true;
	return false;
}

static void keep_slow_functions(struct python_heap *h, const struct hi_range *function)
{
	uint64_t targets[TARGETS_MAX];
	uint8_t bytes[FUNCTION_MAX];
	struct hi_range range;
	size_t n;

	if (hi_module_read_file(h->module, function->start, bytes,
				function->end - function->start, NULL) != HI_OK)
		return;
	n = hi_function_calls(bytes, function->end - function->start, function->start,
			      targets, TARGETS_MAX);
	for (size_t i = 0; i < n && h->n_slow < SLOW_MAX; i++)
		if (find_function_from(h, targets[i], &range) &&
		    !is_exported(h, targets[i]) && !is_in_followed(h, targets[i]) &&
		    !is_slow(h, targets[i]))
			h->slow[h->n_slow++] = targets[i];
}

/* Does a call or a jump with 4 bytes of distance, which end there, lead to one of them?
 */
static bool leads_to_slow(const struct python_heap *h, const uint8_t *distance,
			  uint64_t end)
{
	int32_t bytes;

	memcpy(&bytes, distance, sizeof(bytes));
	for (size_t i = 0; i < h->n_slow; i++)
		if (end + (uint64_t)(int64_t)bytes == h->slow[i])
			return true;
	return false;
}

/* Functions in [start, start + size) that call one of them, but those that are
 * followed. Any byte may begin an instruction: a wrong one leads there by chance once in
 * 2^32. */
static size_t count_copies(const struct python_heap *h, const uint8_t *bytes, size_t size,
			   uint64_t start, const struct hi_cfi_entry **last)
{
	size_t n = 0;

	for (size_t i = 0; i + 5 <= size; i++) {
		const struct hi_cfi_entry *entry;

		if ((bytes[i] != 0xe8 && bytes[i] != 0xe9) ||
		    !leads_to_slow(h, bytes + i + 1, start + i + 5) ||
		    is_in_followed(h, start + i))
			continue;
		entry = find_function_at(h, start + i);
		n += entry && entry != *last;
		*last = entry;
	}
	return n;
}

static size_t count_copies_in_module(const struct python_heap *h, uint8_t *chunk)
{
	const struct hi_image *image = h->code->image;
	const struct hi_cfi_entry *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (!(m->prot & HI_PROT_EXEC) || m->start < h->module->start ||
		    m->end > h->module->end)
			continue;
		for (uint64_t at = m->start; at < m->end; at += CHUNK - 8) {
			size_t size = m->end - at < CHUNK ? m->end - at : CHUNK;

			if (hi_module_read_file(h->module, at, chunk, size, NULL) ==
			    HI_OK)
				n += count_copies(h, chunk, size, at, &last);
		}
	}
	return n;
}

/* ---- the functions ---- */

static void name_heap(struct hi_event_functions *ret, enum hi_python_heap heap,
		      size_t n_copies)
{
	ret->heap = heap;
	ret->n_heap_copies = (uint32_t)n_copies;
}

static enum hi_status add_heap_function(struct python_heap *h, uint64_t entry, size_t i,
					uint8_t source)
{
	static const struct {
		const char *name;
		struct hi_bpf_function does;
	} functions[FUNCTIONS] = {
		{"pymalloc malloc", {.size = 2, .result = HI_BPF_RETURNED, .unit = 1}},
		{"pymalloc calloc",
		 {.count = 2, .size = 3, .result = HI_BPF_RETURNED, .unit = 1}},
		{"pymalloc realloc",
		 {.block = 2, .size = 3, .result = HI_BPF_RETURNED, .unit = 1}},
		{"pymalloc free", {.block = 2}},
	};
	struct hi_found_function found = {.entry = entry, .does = functions[i].does};
	struct hi_range range;

	if (is_in_followed(h, entry) || !find_function_from(h, entry, &range))
		return HI_OK;
	h->followed[h->n_followed++] = range;
	found.size = range.end - range.start;
	found.does.source = source;
	found.does.family = HI_FAMILY_MALLOC;
	found.does.flags = HI_BPF_OPTIONAL;
	snprintf(found.name, sizeof(found.name), "%s", functions[i].name);
	return hi_event_functions_add(h->code, &found, h->ret, h->err);
}

static enum hi_status add_heap_functions(struct python_heap *h, const uint64_t *mem,
					 const uint64_t *obj)
{
	enum hi_status status = HI_OK;
	uint8_t source;

	if (!hi_event_functions_add_source(h->ret, "pymalloc", HI_FAMILY_MALLOC, &source))
		return HI_OK;
	for (size_t i = 0; i < FUNCTIONS && status == HI_OK; i++) {
		status = add_heap_function(h, obj[i + 1], i, source);
		if (status == HI_OK)
			status = add_heap_function(h, mem[i + 1], i, source);
	}
	return status;
}

/* The functions, and what they call when a pool is full. */
static void keep_heap_text(struct python_heap *h)
{
	struct hi_event_functions *ret = h->ret;

	for (size_t i = 0; i < h->n_followed; i++)
		ret->heap_text[ret->n_heap_text++] = h->followed[i];
	for (size_t i = 0; i < h->n_slow; i++)
		if (find_function_from(h, h->slow[i], &ret->heap_text[ret->n_heap_text]))
			ret->n_heap_text++;
}

/* ---- copies that are followed ---- */

static const struct {
	const char *name;
	struct hi_bpf_function does;
} copied_functions[HI_PYTHON_SITE_KINDS] = {
	[HI_PYTHON_SITE_GIVES] = {"pymalloc malloc", {.result = HI_BPF_RETURNED}},
	[HI_PYTHON_SITE_TAKES] = {"pymalloc free", {.block = 1}},
	[HI_PYTHON_SITE_REUSES] = {"free lists", {.block = 1, .result = HI_BPF_RETURNED}},
};

static void add_copies_of_kind(struct python_heap *h,
			       const struct hi_python_copies *copies, unsigned kind,
			       uint8_t source)
{
	struct hi_bpf_function does = copied_functions[kind].does;
	struct hi_event_functions *ret = h->ret;
	uint32_t first = ret->n_sites;
	struct hi_probe_site site;

	does.source = source;
	does.family = HI_FAMILY_MALLOC;
	does.flags = HI_BPF_OPTIONAL | HI_BPF_AT_PLACES | HI_BPF_OF_POOL;
	for (size_t i = 0; i < copies->sites.count; i++)
		if (copies->sites.items[i].kind == kind)
			(void)hi_event_functions_add_place(h->code->target, ret->count,
							   copies->sites.items[i].address,
							   &copies->sites.items[i].value,
							   ret);
	if (ret->n_sites == first)
		return;
	site = hi_event_site_probe(&ret->sites[first]);
	(void)hi_event_functions_add_site(copied_functions[kind].name, &site, &does, ret);
}

/* A pool's first block is what the function returns that makes the pool. */
static enum hi_status add_new_pool(struct python_heap *h, uint8_t source)
{
	struct hi_found_function found = {
		.name = "pymalloc new pool",
		.entry = h->slow[0],
		.does = {.result = HI_BPF_RETURNED,
			 .source = source,
			 .family = HI_FAMILY_MALLOC,
			 .flags = HI_BPF_OPTIONAL | HI_BPF_OF_POOL},
	};
	struct hi_range range;

	if (!find_function_from(h, h->slow[0], &range))
		return HI_OK;
	found.size = range.end - range.start;
	h->ret->heap_text[h->ret->n_heap_text++] = range;
	return hi_event_functions_add(h->code, &found, h->ret, h->err);
}

static enum hi_status add_copies(struct python_heap *h,
				 const struct hi_python_copies *copies)
{
	enum hi_status status;
	uint8_t source;

	if (!hi_event_functions_add_source(h->ret, "pymalloc", HI_FAMILY_MALLOC, &source))
		return HI_OK;
	for (unsigned kind = 0; kind < HI_PYTHON_SITE_KINDS; kind++)
		add_copies_of_kind(h, copies, kind, source);
	status = add_new_pool(h, source);
	h->ret->pool_size = hi_python_pool_size(h->code->modules, h->ret->python.minor);
	h->ret->heap = HI_PYTHON_HEAP_FOLLOWED;
	return status;
}

/* One for each call of the function that makes a new pool, and all of them known? */
static bool are_copies_whole(const struct hi_python_copies *copies)
{
	return copies->n_calls && copies->n_of[HI_PYTHON_SITE_GIVES] >= copies->n_calls &&
	       copies->n_of[HI_PYTHON_SITE_TAKES] &&
	       copies->sites.count <= HI_EVENT_SITES_MAX;
}

static enum hi_status follow_copies(struct python_heap *h, const uint64_t *obj)
{
	struct hi_python_copies copies = {.code = h->code,
					  .module = h->module,
					  .entries = &h->entries,
					  .new_pool = h->slow[0]};
	enum hi_status status = HI_OK;

	if (h->n_slow != 1 || !find_function_from(h, obj[4], &copies.free))
		return HI_OK;
	status = hi_python_copies_find(&copies, h->err);
	if (status == HI_OK && are_copies_whole(&copies))
		status = add_copies(h, &copies);
	hi_vector_free(&copies.sites);
	return status;
}

static enum hi_status follow_heap(struct python_heap *h, uint64_t *mem, uint64_t *obj)
{
	HI_GUARD(free) uint8_t *chunk = hi_alloc(CHUNK);
	struct hi_range range;
	size_t n_copies, count = h->ret->count, n_sources = h->ret->n_sources;
	enum hi_status status;

	if (!chunk)
		return hi_fail_memory(h->err, "code of Python");
	status = add_heap_functions(h, mem, obj);
	for (size_t i = 1; i <= 2; i++) /* malloc, calloc */
		if (find_function_from(h, obj[i], &range))
			keep_slow_functions(h, &range);
	keep_heap_text(h);
	n_copies = count_copies_in_module(h, chunk);
	name_heap(h->ret,
		  n_copies	 ? HI_PYTHON_HEAP_COPIED
		  : h->is_traced ? HI_PYTHON_HEAP_TRACED
		  : h->n_slow	 ? HI_PYTHON_HEAP_FOLLOWED
				 : HI_PYTHON_HEAP_UNKNOWN,
		  n_copies);
	if (h->ret->heap != HI_PYTHON_HEAP_FOLLOWED) {
		h->ret->count = count;
		h->ret->n_sources = n_sources;
		h->ret->n_heap_text = 0;
	}
	return status == HI_OK && h->ret->heap == HI_PYTHON_HEAP_COPIED
		       ? follow_copies(h, obj)
		       : status;
}

static enum hi_status find_heap(struct python_heap *h)
{
	uint64_t raw[TABLE_WORDS], mem[TABLE_WORDS], obj[TABLE_WORDS];

	if (hi_python_has_marks(h->code->modules, h->code->image->memory,
				h->ret->python.minor)) {
		name_heap(h->ret, HI_PYTHON_HEAP_MARKED, 0);
		return HI_OK;
	}
	if (!find_table(h, RAW, raw) || !find_table(h, MEM, mem) ||
	    !find_table(h, OBJ, obj))
		return HI_OK;
	h->is_traced = take_table_behind(h, raw);
	h->is_traced |= take_table_behind(h, mem);
	h->is_traced |= take_table_behind(h, obj);
	if (raw[1] == obj[1]) {
		name_heap(h->ret, HI_PYTHON_HEAP_OF_MALLOC, 0);
		return HI_OK;
	}
	return follow_heap(h, mem, obj);
}

enum hi_status hi_event_python_heap_add(struct hi_target_code *code,
					struct hi_event_functions *ret,
					struct hi_error *err)
{
	struct python_heap h = {.code = code, .ret = ret, .err = err};
	struct hi_cfi_section section;
	enum hi_status status;

	ret->heap = HI_PYTHON_HEAP_NONE;
	if (!ret->python.code_type)
		return HI_OK;
	ret->heap = HI_PYTHON_HEAP_UNKNOWN;
	h.module = hi_python_module(code->modules);
	if (!h.module || !hi_module_eh_frame(h.module, &section))
		return HI_OK;
	status = hi_cfi_entries_read(&section, &h.entries, err);
	if (status == HI_OK)
		status = find_heap(&h);
	hi_vector_free(&h.entries);
	return status;
}
