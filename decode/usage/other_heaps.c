/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/usage/other_heaps.h"

#include <string.h>

#include "decode/usage/mapped_pools.h"

/*
 * One of the three suffices. A prefix of a module's name is of a library that is this
 * allocator or runtime and nothing else; a symbol also finds it where it is linked
 * statically. Sections stay in a stripped program.
 */
struct other_heap {
	const char *name;
	const char *prefixes[3];
	const char *symbols[4];
	const char *section;
};

static const struct other_heap others[] = {
	/* musl's libc.so is also its dynamic linker; glibc's has a number: libc.so.6. */
	{"musl", {"ld-musl-"}, {"__malloc_alloc_meta", "__malloc_donate"}, NULL},
	{"jemalloc", {"libjemalloc."}, {"mallctl", "je_mallctl", "_rjem_mallctl"}, NULL},
	{"tcmalloc",
	 {"libtcmalloc"},
	 {"tc_malloc", "TCMallocInternalMalloc", "MallocExtension_ReleaseFreeMemory"},
	 NULL},
	{"mimalloc", {"libmimalloc"}, {"mi_malloc"}, NULL},
	{"TBB malloc", {"libtbbmalloc."}, {"scalable_malloc"}, NULL},
	{"AddressSanitizer", {"libasan."}, {"__asan_init"}, NULL},
	{"ThreadSanitizer", {"libtsan."}, {"__tsan_init"}, NULL},
	{"Boehm GC", {"libgc.so"}, {"GC_malloc"}, NULL},
	/* go.dev: cmd/link writes these whatever is stripped. */
	{"Go runtime", {}, {"runtime.mallocgc"}, ".gopclntab"},
	{"Java virtual machine", {"libjvm.so"}, {"JNI_CreateJavaVM"}, NULL},
	{"V8", {"libnode.so", "libv8.so"}, {"_ZN2v82V810GetVersionEv"}, NULL},
	{".NET runtime", {"libcoreclr.so", "libmonosgen-2.0", "libmono-2.0"}, {}, NULL},
	{"Ruby", {"libruby"}, {"ruby_init"}, NULL},
	{"OCaml runtime", {}, {"caml_startup", "caml_main"}, NULL},
	{"GHC runtime", {"libHSrts"}, {"stg_upd_frame_info"}, NULL},
	{"PHP", {}, {"_emalloc"}, NULL},
	{"Erlang", {}, {"erts_alloc_init"}, NULL},
	{"PyPy", {"libpypy"}, {"pypy_execute_source", "PyPyType_Type"}, NULL},
};

static bool has_heap_prefix(const char *name, const struct other_heap *heap)
{
	for (size_t i = 0; i < 3 && heap->prefixes[i]; i++)
		if (strncmp(name, heap->prefixes[i], strlen(heap->prefixes[i])) == 0)
			return true;
	return false;
}

static bool is_musl_libc(const struct hi_module *module, const struct other_heap *heap)
{
	return heap == &others[0] && strcmp(module->name, "libc.so") == 0;
}

static bool has_symbol(struct hi_modules *modules, const struct other_heap *heap)
{
	uint64_t addr, size;

	for (size_t i = 0; i < 4 && heap->symbols[i]; i++)
		if (hi_modules_symbol(modules, NULL, heap->symbols[i], &addr, &size,
				      NULL) == HI_OK)
			return true;
	return false;
}

static bool is_there(struct hi_modules *modules, const struct other_heap *heap)
{
	for (size_t i = 0; i < hi_modules_count(modules); i++) {
		struct hi_module *m = hi_modules_get(modules, i);

		if (has_heap_prefix(m->name, heap) || is_musl_libc(m, heap) ||
		    (heap->section && hi_module_has_section(m, heap->section)))
			return true;
	}
	return has_symbol(modules, heap);
}

/*
 * Words that are 0 until a heap is used. CPython 3.13 and later have mimalloc within, for
 * PYTHONMALLOC=mimalloc alone, which allocates from arenas (its src/arena.c). Editors
 * that can run scripts are linked with Ruby; the class of all objects is the first of
 * them.
 */
static const struct {
	const char *heap, *word;
} beginnings[] = {{"mimalloc", "mi_arena_count"}, {"Ruby", "rb_cObject"}};

static bool is_other_heap_unused(struct hi_modules *modules, const struct hi_image *image,
				 const struct other_heap *heap)
{
	uint64_t addr, size, word;

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (strcmp(heap->name, beginnings[i].heap) == 0 &&
		    hi_modules_symbol(modules, NULL, beginnings[i].word, &addr, &size,
				      NULL) == HI_OK &&
		    hi_memory_read_u64(image->memory, addr, &word, NULL) == HI_OK)
			return word == 0;
	return false;
}

/* Modules of glibc: its libraries, and its dynamic linker before 2.31. */
static bool is_of_glibc(const struct hi_module *m)
{
	static const char *const prefixes[] = {"libc.so.6", "libc-2.", "ld-linux",
					       "ld-2.", "libc_malloc_debug"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(m->name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/*
 * The module that defines malloc in glibc's place. One that hands every call on to
 * glibc leaves its blocks there: then glibc's heap is the heap. NULL: none does.
 */
static const char *find_replaced(struct hi_modules *modules,
				 const struct hi_allocator *allocator)
{
	enum { FEW = 16 }; /* blocks of glibc that come before or without malloc */
	bool is_dynamic = hi_modules_named(modules, "libc.so.6") != NULL;
	uint64_t addr, size;

	if (!hi_allocator_has(allocator, "glibc") || allocator->n_parts || !is_dynamic ||
	    allocator->count[HI_BLOCK_LIVE] >= FEW)
		return NULL;
	for (size_t i = 0; i < hi_modules_count(modules); i++) {
		struct hi_module *m = hi_modules_get(modules, i);

		if (!is_of_glibc(m) &&
		    hi_modules_symbol(modules, m, "malloc", &addr, &size, NULL) == HI_OK)
			return m->name;
	}
	return NULL;
}

static bool is_refused(const struct hi_allocator_refusal *refused, size_t n,
		       const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(refused[i].name, name) == 0)
			return true;
	return false;
}

/* text NULL: memory has run out before. */
static const char *add_heap_name(struct hi_arena *arena, const char *text,
				 const char *name)
{
	return text ? hi_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", name)
		    : NULL;
}

/* Each name once. */
static const char *add_refused_names(struct hi_arena *arena,
				     const struct hi_allocator_refusal *refused, size_t n)
{
	const char *text = "";

	for (size_t i = 0; i < n; i++)
		if (!is_refused(refused, i, refused[i].name))
			text = add_heap_name(arena, text, refused[i].name);
	return text;
}

enum hi_status hi_other_heaps_find(struct hi_modules *modules,
				   const struct hi_image *image,
				   const struct hi_allocator *allocator,
				   const struct hi_allocator_refusal *refused,
				   size_t n_refused, const char *refused_runtime,
				   struct hi_arena *arena, const char **ret,
				   struct hi_error *err)
{
	const char *text = add_refused_names(arena, refused, n_refused), *module, *pools;
	enum hi_status status =
		hi_mapped_pools_find(image, modules, allocator, arena, &pools, err);

	if (status != HI_OK)
		return status;
	if (*refused_runtime)
		text = add_heap_name(arena, text, refused_runtime);
	for (size_t i = 0; text && i < sizeof(others) / sizeof(*others); i++)
		if (!hi_allocator_has(allocator, others[i].name) &&
		    !is_refused(refused, n_refused, others[i].name) &&
		    is_there(modules, &others[i]) &&
		    !is_other_heap_unused(modules, image, &others[i]))
			text = add_heap_name(arena, text, others[i].name);
	module = text && !*text ? find_replaced(modules, allocator) : NULL;
	if (module)
		text = hi_arena_printf(arena, "malloc of %.100s", module);
	if (*pools)
		text = add_heap_name(arena, text, pools);
	if (!text)
		return hi_fail_memory(err, "names of allocators");
	*ret = text;
	return HI_OK;
}
