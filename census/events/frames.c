/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/frames.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "base/vector.h"

/* ---- functions that allocate for their caller ---- */

/*
 * Names without parameters, template arguments and return type. One that ends in '*'
 * matches whatever begins so. The C++ library is here as a whole: what a container
 * allocates, it allocates for the code that uses it.
 */
static const char *const allocating_names[] = {
	/* C library, and allocators in its place */
	"malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc",
	"posix_memalign", "valloc", "pvalloc", "__libc_malloc", "__libc_calloc",
	"__libc_realloc", "__libc_memalign", "__posix_memalign", "__aligned_alloc",
	"strdup", "__strdup", "strndup", "__strndup", "wcsdup", "asprintf", "vasprintf",
	"__asprintf", "__vasprintf", "je_*", "tc_malloc*", "mi_malloc*", "mi_calloc*",
	"mi_realloc*",
	/* C++ */
	"operator new", "operator new[]", "std::*", "__gnu_cxx::*",
	"__cxa_allocate_exception", "boost::allocator*", "boost::container::allocator*",
	/* wrappers that many programs have */
	"xmalloc", "xmalloc0", "xzalloc", "xcalloc", "xrealloc", "xreallocarray",
	"xstrdup", "xstrndup", "xmemdup", "x2realloc", "xnmalloc", "xnrealloc",
	"xasprintf", "xvasprintf", "zmalloc*", "zcalloc*", "zrealloc*", "ztrymalloc*",
	"ztrycalloc*", "ztryrealloc*", "zstrdup", "emalloc", "ecalloc", "erealloc",
	"estrdup", "safe_malloc", "safe_calloc", "safe_realloc", "mem_alloc",
	"mem_calloc", "mem_realloc",
	/* libraries */
	"g_malloc*", "g_try_malloc*", "g_realloc*", "g_try_realloc*", "g_memdup*",
	"g_strdup*", "g_strndup", "g_slice_alloc*", "g_slice_copy", "av_malloc*",
	"av_calloc", "av_realloc*", "av_mallocz*", "CRYPTO_malloc", "CRYPTO_zalloc",
	"CRYPTO_realloc", "CRYPTO_strdup", "sqlite3Malloc*", "sqlite3_malloc*",
	"sqlite3DbMalloc*", "sqlite3Realloc", "sqlite3_realloc*", "ngx_alloc",
	"ngx_calloc",
	/* CPython */
	"PyMem_Malloc", "PyMem_Calloc", "PyMem_Realloc", "PyMem_RawMalloc",
	"PyMem_RawCalloc", "PyMem_RawRealloc", "PyObject_Malloc", "PyObject_Calloc",
	"PyObject_Realloc", "_PyMem_*", "_PyObject_Malloc", "_PyObject_Calloc",
	"_PyObject_Realloc",
	/* Rust */
	"__rust_alloc*", "__rust_realloc", "__rdl_alloc*", "__rdl_realloc",
	"alloc::alloc::*", "alloc::raw_vec::*"};

static bool fits_frame_pattern(const char *pattern, const char *name, size_t size)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return size >= n - 1 && memcmp(name, pattern, n - 1) == 0;
	return size == n && memcmp(name, pattern, n) == 0;
}

const char *hi_frame_bare_name(const char *text, size_t *size_ret)
{
	const char *name = text, *p;
	unsigned depth = 0;

	for (p = text; *p; p++) {
		if (strncmp(p, "operator", 8) == 0 && !depth) {
			p += strcspn(p, "(<");
			break;
		}
		if (strncmp(p, "(anonymous namespace)", 21) == 0) {
			p += 20;
			continue;
		}
		if (*p == '(' && !depth)
			break;
		if (*p == '<')
			depth++;
		if (*p == '>' && depth)
			depth--;
		if (*p == ' ' && !depth)
			name = p + 1;
	}
	if (name == p)
		name = text;
	*size_ret = (size_t)(p - name);
	return name;
}

static bool fits_any_pattern(const char *function, const char *const *patterns, size_t n)
{
	size_t size;
	const char *name = hi_frame_bare_name(function, &size);
	/* The first part of "malloc@plt", "f<int>" and "xmalloc.constprop.0". */
	size_t plain = strcspn(name, "@<.");

	plain = plain < size ? plain : size;
	for (size_t i = 0; i < n; i++)
		if (fits_frame_pattern(patterns[i], name, size) ||
		    fits_frame_pattern(patterns[i], name, plain))
			return true;
	return false;
}

bool hi_frame_allocates(const char *function)
{
	return fits_any_pattern(function, allocating_names,
				sizeof(allocating_names) / sizeof(*allocating_names));
}

/* Entries of allocators, and of glibc's own what may have been reached by a jump. */
static const char *const allocator_names[] = {"malloc",
					      "calloc",
					      "realloc",
					      "reallocarray",
					      "free",
					      "cfree",
					      "memalign",
					      "aligned_alloc",
					      "posix_memalign",
					      "valloc",
					      "pvalloc",
					      "malloc_trim",
					      "malloc_usable_size",
					      "__libc_malloc*",
					      "__libc_calloc*",
					      "__libc_realloc*",
					      "__libc_free*",
					      "__libc_memalign*",
					      "__libc_valloc",
					      "__libc_pvalloc",
					      "__libc_reallocarray",
					      "__posix_memalign",
					      "__aligned_alloc",
					      "_int_malloc",
					      "_int_free*",
					      "_int_realloc",
					      "_int_memalign",
					      "_mid_memalign",
					      "malloc_consolidate",
					      "sysmalloc*",
					      "systrim",
					      "tcache_*",
					      "unlink_chunk",
					      "arena_get*",
					      "je_*",
					      "tc_*",
					      "mi_malloc*",
					      "mi_calloc*",
					      "mi_realloc*",
					      "mi_free*",
					      "operator new",
					      "operator new[]",
					      "operator delete",
					      "operator delete[]",
					      "PyMem_Malloc",
					      "PyMem_Calloc",
					      "PyMem_Realloc",
					      "PyMem_Free",
					      "PyMem_RawMalloc",
					      "PyMem_RawCalloc",
					      "PyMem_RawRealloc",
					      "PyMem_RawFree",
					      "PyObject_Malloc",
					      "PyObject_Calloc",
					      "PyObject_Realloc",
					      "PyObject_Free",
					      "_PyMem_*",
					      "_PyObject_Malloc",
					      "_PyObject_Calloc",
					      "_PyObject_Realloc",
					      "_PyObject_Free",
					      "__rust_alloc*",
					      "__rust_realloc",
					      "__rust_dealloc",
					      "__rdl_alloc*",
					      "__rdl_realloc",
					      "__rdl_dealloc"};

bool hi_frame_is_allocator(const char *function)
{
	return fits_any_pattern(function, allocator_names,
				sizeof(allocator_names) / sizeof(*allocator_names));
}

void hi_frame_allocator_regexp(char out[HI_ALLOCATOR_REGEXP_SIZE])
{
	/* Allocators of C++; what constructs calls the program. */
	static const char of_templates[] =
		"|(std|__gnu_cxx)::(__)?(new_allocator|allocator_traits)<.*>::allocate";
	char *at = out, *end = out + HI_ALLOCATOR_REGEXP_SIZE - sizeof(of_templates) - 4;

	for (size_t i = 0; i < sizeof(allocator_names) / sizeof(*allocator_names); i++) {
		if (i && at < end)
			*at++ = '|';
		for (const char *c = allocator_names[i]; *c && at < end; c++) {
			if (*c == '*')
				*at++ = '.';
			else if (strchr("[]", *c))
				*at++ = '\\';
			*at++ = *c;
		}
	}
	memcpy(at, of_templates, sizeof(of_templates));
}

enum { NAME_MAX_MATCHED = 1024 };

bool hi_frame_matches(const char *function, const char *pattern)
{
	char bare[NAME_MAX_MATCHED];
	size_t size, plain;
	const char *name = hi_frame_bare_name(function, &size);

	plain = strcspn(name, "@.");
	plain = plain < size ? plain : size;
	snprintf(bare, sizeof(bare), "%.*s", (int)(plain < sizeof(bare) ? plain : 0),
		 name);
	if (strcmp(function, pattern) == 0 || strcmp(bare, pattern) == 0)
		return true;
	return strpbrk(pattern, "*?") &&
	       (fnmatch(pattern, function, 0) == 0 || fnmatch(pattern, bare, 0) == 0);
}

const char *hi_frame_row_name(const struct hi_frame_row *row)
{
	return *row->function ? row->function
	       : *row->module ? row->module
			      : "(no module)";
}

/* ---- making rows ---- */

struct hi_frames_builder {
	struct HI_VECTOR(struct hi_frame_row) rows;
	struct HI_VECTOR(uint32_t) first; /* and where the last one ends */
	struct hi_interner names;
};

void hi_frames_builder_destroy(struct hi_frames_builder *b)
{
	if (!b)
		return;
	hi_vector_free(&b->rows);
	hi_vector_free(&b->first);
	hi_interner_free(&b->names);
	free(b);
}

enum hi_status hi_frames_builder_create(struct hi_frames_builder **ret,
					struct hi_error *err)
{
	HI_GUARD(hi_frames_builder_destroy)
	struct hi_frames_builder *b = hi_calloc(1, sizeof(*b));

	if (!b || !hi_vector_push(&b->first, 0))
		return hi_fail_memory(err, "names of frames");
	*ret = hi_take(b);
	return HI_OK;
}

/* A copy; NULL: out of memory. */
static const char *keep_frame_name(struct hi_frames_builder *b, const char *name)
{
	uint32_t number = name && *name ? hi_interner_add(&b->names, name) : 0;

	if (!name || !*name)
		return "";
	return number ? hi_interner_name(&b->names, number) : NULL;
}

static bool keep_frame_row(struct hi_frames_builder *b, const struct hi_frame_row *given,
			   bool is_inlined)
{
	struct hi_frame_row row = *given;

	row.module = keep_frame_name(b, given->module);
	row.function = keep_frame_name(b, given->function);
	row.file = keep_frame_name(b, given->file);
	row.flags = given->flags & (HI_FRAME_INTERPRETER | HI_FRAME_SCRIPT);
	row.flags |= is_inlined ? HI_FRAME_INLINED : 0;
	if (!row.module || !row.function || !row.file)
		return false;
	if (!(row.flags & HI_FRAME_SCRIPT) && hi_frame_allocates(row.function))
		row.flags |= HI_FRAME_ALLOCATES;
	return hi_vector_push(&b->rows, row);
}

enum hi_status hi_frames_builder_add(struct hi_frames_builder *b,
				     const struct hi_frame_row *rows, uint32_t n,
				     struct hi_error *err)
{
	size_t before = b->rows.count;
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++)
		ok = keep_frame_row(b, &rows[i], i + 1 < n);
	if (ok && hi_vector_push(&b->first, (uint32_t)b->rows.count))
		return HI_OK;
	b->rows.count = before;
	return hi_fail_memory(err, "names of frames");
}

struct hi_frames hi_frames_builder_view(const struct hi_frames_builder *b)
{
	return (struct hi_frames){
		.rows = b->rows.items,
		.first = b->first.items,
		.n_frames = (uint32_t)b->first.count - 1,
		.n_rows = (uint32_t)b->rows.count,
	};
}
