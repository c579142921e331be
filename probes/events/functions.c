/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/running_image.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "decode/allocator.h"
#include "probes/events/functions_named.h"
#include "probes/events/python_heap.h"
#include "probes/events/python_text.h"

/* Functions of one object file have padding between them. */
enum { PADDING_MAX = 256 };

/* Arguments by their numbers: see struct hi_bpf_function. */
#define GIVES(argument)                                                                  \
	{                                                                                \
		.size = (argument), .result = HI_BPF_RETURNED, .unit = 1                 \
	}
#define GIVES_PRODUCT(n, argument)                                                       \
	{                                                                                \
		.count = (n), .size = (argument), .result = HI_BPF_RETURNED, .unit = 1   \
	}
#define GIVES_AT(where, argument)                                                        \
	{                                                                                \
		.size = (argument), .result = (where), .flags = HI_BPF_RETURNS_ERROR,    \
		.unit = 1                                                                \
	}
#define RESIZES(of, argument)                                                            \
	{                                                                                \
		.block = (of), .size = (argument), .result = HI_BPF_RETURNED, .unit = 1  \
	}
#define RESIZES_PRODUCT(of, n, argument)                                                 \
	{                                                                                \
		.block = (of), .count = (n), .size = (argument),                         \
		.result = HI_BPF_RETURNED, .unit = 1                                     \
	}
#define RESIZES_IN_PLACE(of, argument)                                                   \
	{                                                                                \
		.block = (of), .size = (argument), .result = HI_BPF_RETURNED,            \
		.flags = HI_BPF_RETURNS_SIZE, .unit = 1                                  \
	}
#define TAKES(argument)                                                                  \
	{                                                                                \
		.block = (argument)                                                      \
	}

/* cfree is not among them: it is free by another name, also where a library that precedes
 * libc has only free. */
static const struct known_function {
	const char *prefix; /* NULL: any */
	const char *name;
	struct hi_bpf_function does;
} known_functions[] = {
	{NULL, "malloc", GIVES(1)},
	{NULL, "free", TAKES(1)},
	{NULL, "calloc", GIVES_PRODUCT(1, 2)},
	{NULL, "realloc", RESIZES(1, 2)},
	{NULL, "reallocarray", RESIZES_PRODUCT(1, 2, 3)},
	{NULL, "memalign", GIVES(2)},
	{NULL, "aligned_alloc", GIVES(2)},
	{NULL, "posix_memalign", GIVES_AT(1, 3)},
	{NULL, "valloc", GIVES(1)},
	{NULL, "pvalloc", GIVES(1)},
	{NULL, "free_sized", TAKES(1)}, /* C23 */
	{NULL, "free_aligned_sized", TAKES(1)},
	/* jemalloc's own */
	{NULL, "mallocx", GIVES(1)},
	{NULL, "rallocx", RESIZES(1, 2)},
	{NULL, "xallocx", RESIZES_IN_PLACE(1, 2)},
	{NULL, "dallocx", TAKES(1)},
	{NULL, "sdallocx", TAKES(1)},
	/* C++: only of a module that has malloc too (see prefer_symbols); libstdc++'s
	 * call malloc. */
	{NULL, "_Znwm", GIVES(1)},
	{NULL, "_Znam", GIVES(1)},
	{NULL, "_ZnwmRKSt9nothrow_t", GIVES(1)},
	{NULL, "_ZnamRKSt9nothrow_t", GIVES(1)},
	{NULL, "_ZnwmSt11align_val_t", GIVES(1)},
	{NULL, "_ZnamSt11align_val_t", GIVES(1)},
	{NULL, "_ZnwmSt11align_val_tRKSt9nothrow_t", GIVES(1)},
	{NULL, "_ZnamSt11align_val_tRKSt9nothrow_t", GIVES(1)},
	{NULL, "_ZdlPv", TAKES(1)},
	{NULL, "_ZdaPv", TAKES(1)},
	{NULL, "_ZdlPvm", TAKES(1)},
	{NULL, "_ZdaPvm", TAKES(1)},
	{NULL, "_ZdlPvRKSt9nothrow_t", TAKES(1)},
	{NULL, "_ZdaPvRKSt9nothrow_t", TAKES(1)},
	{NULL, "_ZdlPvSt11align_val_t", TAKES(1)},
	{NULL, "_ZdaPvSt11align_val_t", TAKES(1)},
	{NULL, "_ZdlPvmSt11align_val_t", TAKES(1)},
	{NULL, "_ZdaPvmSt11align_val_t", TAKES(1)},
	{NULL, "_ZdlPvSt11align_val_tRKSt9nothrow_t", TAKES(1)},
	{NULL, "_ZdaPvSt11align_val_tRKSt9nothrow_t", TAKES(1)},
	/* gperftools' own */
	{"tc_", "malloc_skip_new_handler", GIVES(1)},
	{"tc_", "new", GIVES(1)},
	{"tc_", "newarray", GIVES(1)},
	{"tc_", "new_nothrow", GIVES(1)},
	{"tc_", "newarray_nothrow", GIVES(1)},
	{"tc_", "new_aligned", GIVES(1)},
	{"tc_", "newarray_aligned", GIVES(1)},
	{"tc_", "delete", TAKES(1)},
	{"tc_", "deletearray", TAKES(1)},
	{"tc_", "delete_sized", TAKES(1)},
	{"tc_", "deletearray_sized", TAKES(1)},
	{"tc_", "delete_aligned", TAKES(1)},
	{"tc_", "deletearray_aligned", TAKES(1)},
	/* mimalloc's own: alignments are after the sizes */
	{"mi_", "zalloc", GIVES(1)},
	{"mi_", "malloc_small", GIVES(1)},
	{"mi_", "zalloc_small", GIVES(1)},
	{"mi_", "mallocn", GIVES_PRODUCT(1, 2)},
	{"mi_", "malloc_aligned", GIVES(1)},
	{"mi_", "malloc_aligned_at", GIVES(1)},
	{"mi_", "zalloc_aligned", GIVES(1)},
	{"mi_", "zalloc_aligned_at", GIVES(1)},
	{"mi_", "calloc_aligned", GIVES_PRODUCT(1, 2)},
	{"mi_", "calloc_aligned_at", GIVES_PRODUCT(1, 2)},
	{"mi_", "reallocn", RESIZES_PRODUCT(1, 2, 3)},
	{"mi_", "reallocf", RESIZES(1, 2)},
	{"mi_", "rezalloc", RESIZES(1, 2)},
	{"mi_", "recalloc", RESIZES_PRODUCT(1, 2, 3)},
	{"mi_", "realloc_aligned", RESIZES(1, 2)},
	{"mi_", "realloc_aligned_at", RESIZES(1, 2)},
	{"mi_", "rezalloc_aligned", RESIZES(1, 2)},
	{"mi_", "recalloc_aligned", RESIZES_PRODUCT(1, 2, 3)},
	{"mi_", "new", GIVES(1)},
	{"mi_", "new_n", GIVES_PRODUCT(1, 2)},
	{"mi_", "new_nothrow", GIVES(1)},
	{"mi_", "new_aligned", GIVES(1)},
	{"mi_", "new_aligned_nothrow", GIVES(1)},
	{"mi_", "new_realloc", RESIZES(1, 2)},
	{"mi_", "new_reallocn", RESIZES_PRODUCT(1, 2, 3)},
	{"mi_", "heap_malloc", GIVES(2)},
	{"mi_", "heap_malloc_small", GIVES(2)},
	{"mi_", "heap_zalloc", GIVES(2)},
	{"mi_", "heap_calloc", GIVES_PRODUCT(2, 3)},
	{"mi_", "heap_mallocn", GIVES_PRODUCT(2, 3)},
	{"mi_", "heap_malloc_aligned", GIVES(2)},
	{"mi_", "heap_malloc_aligned_at", GIVES(2)},
	{"mi_", "heap_zalloc_aligned", GIVES(2)},
	{"mi_", "heap_zalloc_aligned_at", GIVES(2)},
	{"mi_", "heap_calloc_aligned", GIVES_PRODUCT(2, 3)},
	{"mi_", "heap_realloc", RESIZES(2, 3)},
	{"mi_", "heap_reallocn", RESIZES_PRODUCT(2, 3, 4)},
	{"mi_", "heap_reallocf", RESIZES(2, 3)},
	{"mi_", "heap_rezalloc", RESIZES(2, 3)},
	{"mi_", "heap_recalloc", RESIZES_PRODUCT(2, 3, 4)},
	{"mi_", "heap_realloc_aligned", RESIZES(2, 3)},
	{"mi_", "heap_rezalloc_aligned", RESIZES(2, 3)},
	{"mi_", "heap_realloc_aligned_at", RESIZES(2, 3)},
	{"mi_", "heap_rezalloc_aligned_at", RESIZES(2, 3)},
	{"mi_", "heap_alloc_new", GIVES(2)},
	{"mi_", "heap_alloc_new_n", GIVES_PRODUCT(2, 3)},
	{"mi_", "free_size", TAKES(1)},
	{"mi_", "free_aligned", TAKES(1)},
	{"mi_", "free_size_aligned", TAKES(1)},
};
enum { KNOWN = sizeof(known_functions) / sizeof(known_functions[0]) };

/*
 * An allocator may have its functions under another name beside libc's malloc: both are
 * followed then. They do not call each other.
 */
static const char *const prefixes[] = {"", "je_", "_rjem_", "tc_", "mi_"};
enum { FAMILIES = sizeof(prefixes) / sizeof(prefixes[0]) };

/* The address of each of them, of one module or of the target. */
struct allocator_symbols {
	const char *prefix;
	struct allocator_symbol {
		uint64_t addr, size; /* addr 0: none */
		unsigned rank;
		struct hi_module *module;
	} found[KNOWN];
};
enum { MALLOC, FREE }; /* in known_functions */

static bool is_of_prefix(const struct known_function *known, const char *prefix)
{
	return !known->prefix || strcmp(known->prefix, prefix) == 0;
}

static void keep_symbol_of_family(struct allocator_symbols *family,
				  const struct hi_function_symbol *symbol)
{
	size_t n = strlen(family->prefix);

	if (strncmp(symbol->name, family->prefix, n) != 0)
		return;
	for (size_t i = 0; i < KNOWN; i++)
		if (strcmp(symbol->name + n, known_functions[i].name) == 0 &&
		    is_of_prefix(&known_functions[i], family->prefix) &&
		    symbol->size >= family->found[i].size) {
			family->found[i].addr = symbol->addr;
			family->found[i].size = symbol->size;
		}
}

static bool keep_allocator_symbol(const struct hi_function_symbol *symbol, void *arg)
{
	struct allocator_symbols *families = arg;

	for (size_t f = 0; f < FAMILIES && symbol->is_code && !symbol->is_ifunc; f++)
		keep_symbol_of_family(&families[f], symbol);
	return true;
}

/* Ranks modules by whose malloc the program calls, if there are several: the higher. 0:
 * the dynamic linker's, which serves itself until libc is there. */
static unsigned rank_allocator_module(const struct hi_module *module)
{
	if (module->is_executable)
		return 3;
	if (strncmp(module->name, "ld-linux", 8) == 0 ||
	    strncmp(module->name, "ld-2.", 5) == 0)
		return 0;
	return strncmp(module->name, "libc.so", 7) == 0 ||
			       strncmp(module->name, "libc-2.", 7) == 0 ||
			       strncmp(module->name, "ld-musl-", 8) == 0
		       ? 1
		       : 2;
}

/* Each function is bound by itself: a library that precedes libc may leave some to it. */
static void prefer_symbols(struct allocator_symbols *symbols,
			   const struct allocator_symbols *found,
			   struct hi_module *module)
{
	unsigned rank = rank_allocator_module(module);

	if (!found->found[MALLOC].addr || !found->found[FREE].addr)
		return;
	for (size_t i = 0; i < KNOWN; i++) {
		if (!found->found[i].addr || rank <= symbols->found[i].rank)
			continue;
		symbols->found[i] = found->found[i];
		symbols->found[i].rank = rank;
		symbols->found[i].module = module;
	}
}

static struct allocator_symbols *create_families(void)
{
	struct allocator_symbols *families = hi_calloc(FAMILIES, sizeof(*families));

	for (size_t f = 0; families && f < FAMILIES; f++)
		families[f].prefix = prefixes[f];
	return families;
}

static enum hi_status find_in_module(struct hi_module *module,
				     struct allocator_symbols *families,
				     struct hi_error *err)
{
	HI_GUARD(free) struct allocator_symbols *found = create_families();
	enum hi_status status;

	if (!found)
		return hi_fail_memory(err, "functions");
	status = hi_module_each_symbol(module, keep_allocator_symbol, found, err);
	for (size_t f = 0; f < FAMILIES && status == HI_OK; f++)
		prefer_symbols(&families[f], &found[f], module);
	return status;
}

static enum hi_status find_families(struct hi_target_code *code,
				    struct allocator_symbols *families,
				    struct hi_error *err)
{
	enum hi_status status = HI_OK;
	bool found = false;

	for (size_t i = 0; i < hi_modules_count(code->modules) && status == HI_OK; i++)
		status = find_in_module(hi_modules_get(code->modules, i), families, err);
	for (size_t f = 0; f < FAMILIES; f++)
		found |= families[f].found[MALLOC].addr != 0;
	if (status != HI_OK || found)
		return status;
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "no mapped file has symbols of malloc and free. Name the "
		       "functions of the program's own allocator (--calls "
		       "'my_alloc:ret,size=$1' --frees 'my_free:$1'), or follow mmap "
		       "(--mappings)");
}

static enum hi_status add_allocator_function(struct hi_target_code *code,
					     const struct allocator_symbols *symbols,
					     size_t i, uint8_t source,
					     struct hi_event_functions *ret,
					     struct hi_error *err)
{
	const struct known_function *known = &known_functions[i];
	struct hi_found_function found = {.entry = symbols->found[i].addr,
					  .size = symbols->found[i].size,
					  .does = known->does};

	found.does.source = source;
	found.does.family = HI_FAMILY_MALLOC;
	snprintf(found.name, sizeof(found.name), "%s%s", symbols->prefix, known->name);
	return hi_event_functions_add(code, &found, ret, err);
}

/* Names of one function at one address are one. */
static bool is_alias(const struct allocator_symbols *families, size_t family, size_t i)
{
	uint64_t addr = families[family].found[i].addr;

	for (size_t f = 0; f <= family; f++)
		for (size_t j = 0; j < (f == family ? i : KNOWN); j++)
			if (families[f].found[j].addr == addr)
				return true;
	return false;
}

/* Adds the functions of one prefix, which are a source. */
static enum hi_status add_functions_of_prefix(struct hi_target_code *code,
					      const struct allocator_symbols *families,
					      size_t f, struct hi_event_functions *ret,
					      struct hi_error *err)
{
	enum hi_status status = HI_OK;
	bool has_source = false;
	uint8_t source = 0;
	char name[32];

	snprintf(name, sizeof(name), "%smalloc", families[f].prefix);
	for (size_t i = 0; i < KNOWN && status == HI_OK; i++) {
		if (!families[f].found[i].addr || is_alias(families, f, i))
			continue;
		if (!has_source)
			has_source = hi_event_functions_add_source(
				ret, name, HI_FAMILY_MALLOC, &source);
		status = add_allocator_function(code, &families[f], i, source, ret, err);
	}
	return status;
}

static enum hi_status add_allocator_functions(struct hi_target_code *code,
					      const struct allocator_symbols *families,
					      struct hi_event_functions *ret,
					      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t f = 0; f < FAMILIES && status == HI_OK; f++)
		status = add_functions_of_prefix(code, families, f, ret, err);
	if (status == HI_OK && ret->count == 0)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "the allocator's functions are in no file that can be "
			       "probed: its file was deleted or replaced");
	return status;
}

/* Keeps the largest ones. */
static void keep_own_range(struct hi_event_functions *ret, struct hi_range range)
{
	size_t least = 0;

	if (ret->n_own < HI_BPF_EVENT_OWN) {
		ret->own[ret->n_own++] = range;
		return;
	}
	for (size_t i = 1; i < ret->n_own; i++)
		if (ret->own[i].end - ret->own[i].start <
		    ret->own[least].end - ret->own[least].start)
			least = i;
	if (range.end - range.start > ret->own[least].end - ret->own[least].start)
		ret->own[least] = range;
}

static enum hi_status find_own_text(const struct hi_target *target,
				    const struct hi_module *module,
				    struct hi_event_functions *ret, struct hi_error *err)
{
	HI_GUARD(free) struct hi_range *ranges = NULL;
	struct hi_range range = {};
	size_t n = 0;
	enum hi_status status = hi_allocator_text(target, &ranges, &n, err);

	for (size_t i = 0; i < n && status == HI_OK; i++) {
		if (ranges[i].start < module->start || ranges[i].end > module->end)
			continue;
		if (range.end && ranges[i].start - range.end <= PADDING_MAX) {
			range.end = ranges[i].end;
			continue;
		}
		if (range.end)
			keep_own_range(ret, range);
		range = ranges[i];
	}
	if (range.end)
		keep_own_range(ret, range);
	return status;
}

/* "libc.so.6", "redis-server (je_malloc) and libc.so.6" */
static void name_modules(const struct allocator_symbols *families,
			 struct hi_event_functions *ret)
{
	size_t n = 0;

	ret->module[0] = '\0';
	for (size_t f = 0; f < FAMILIES && n < sizeof(ret->module); f++) {
		const struct hi_module *module = families[f].found[MALLOC].module;

		if (module && !is_alias(families, f, MALLOC))
			n += (size_t)snprintf(ret->module + n, sizeof(ret->module) - n,
					      "%s%.63s%s%s%s", n ? " and " : "",
					      module->name, f ? " (" : "", prefixes[f],
					      f ? "malloc)" : "");
	}
}

static enum hi_status find_allocator_functions(struct hi_target_code *code,
					       struct allocator_symbols *families,
					       struct hi_event_functions *ret,
					       struct hi_error *err)
{
	enum hi_status status = find_families(code, families, err);

	if (status != HI_OK)
		return status;
	name_modules(families, ret);
	status = add_allocator_functions(code, families, ret, err);
	return status == HI_OK && families[0].found[FREE].module
		       ? find_own_text(code->target, families[0].found[FREE].module, ret,
				       err)
		       : status;
}

enum hi_status hi_event_functions_find_in(const struct hi_target *target,
					  struct hi_image *image,
					  const struct hi_followed *followed,
					  struct hi_event_functions *ret,
					  struct hi_error *err)
{
	HI_GUARD(hi_target_code_close) struct hi_target_code *code = NULL;
	HI_GUARD(free)
	struct allocator_symbols *families = create_families();
	enum hi_status status = families ? hi_target_code_open(target, image, &code, err)
					 : hi_fail_memory(err, "functions");

	memset(ret, 0, sizeof(*ret));
	if (status == HI_OK)
		status = find_allocator_functions(code, families, ret, err);
	if (status == HI_NOT_FOUND && (followed->n_calls || followed->mappings))
		status = HI_OK;
	if (status == HI_OK)
		status = hi_event_python_find(code, &ret->python, err);
	if (status == HI_OK)
		status = hi_event_python_heap_add(code, ret, err);
	return status == HI_OK ? hi_event_functions_add_named(code, followed, ret, err)
			       : status;
}

enum hi_status hi_event_functions_find_with(const struct hi_target *target,
					    const struct hi_followed *followed,
					    struct hi_event_functions *ret,
					    struct hi_error *err)
{
	struct hi_image *image;
	enum hi_status status = hi_image_unstopped(target, &image, err);

	return status == HI_OK
		       ? hi_event_functions_find_in(target, image, followed, ret, err)
		       : status;
}

enum hi_status hi_event_functions_find(const struct hi_target *target,
				       struct hi_event_functions *ret,
				       struct hi_error *err)
{
	static const struct hi_followed nothing_more;

	return hi_event_functions_find_with(target, &nothing_more, ret, err);
}
