/* SPDX-License-Identifier: BSD-2-Clause */
#include <gelf.h>
#include <string.h>

#include "decode/allocators/malloc_text.h"

/* Function names of malloc.c and arena.c, 2.28 to 2.42, without what
 * strip_name() takes away; those that end in * are prefixes. */
static const char *const family[] = {
	"malloc",
	"free",
	"cfree",
	"calloc",
	"realloc",
	"memalign",
	"aligned_alloc",
	"valloc",
	"pvalloc",
	"posix_memalign",
	"mallinfo",
	"mallinfo2",
	"mallopt",
	"malloc_*",
	"int_malloc*",
	"int_free*",
	"int_realloc",
	"int_memalign",
	"int_mallinfo",
	"int_new_arena",
	"mid_memalign",
	"sysmalloc*",
	"systrim",
	"mtrim",
	"musable",
	"unlink_chunk",
	"munmap_chunk",
	"mremap_chunk",
	"tcache_*",
	"arena_get*",
	"ptmalloc_init",
	"new_heap",
	"alloc_new_heap",
	"shrink_heap",
	"grow_heap",
	"heap_trim",
	"heap_max_size",
	"detach_arena",
	"reused_arena",
	"get_free_list",
	"alloc_perturb",
	"free_perturb",
	"free_check",
	"realloc_check",
	"memalign_check",
	"mem2chunk_check",
	"top_check",
	"do_set_*",
	"aligned_alloc_*",
	"madvise_thp",
	"free_mmap",
	"mmap_chunk",
	"checked_request2size",
	"default_morecore",
	"glibc_morecore",
};

static bool matches_name_pattern(const char *pattern, const char *name, size_t n)
{
	size_t m = strlen(pattern);

	if (m && pattern[m - 1] == '*')
		return n >= m - 1 && strncmp(pattern, name, m - 1) == 0;
	return n == m && strncmp(pattern, name, n) == 0;
}

/* "__GI___libc_malloc" → "malloc", "_int_free.part.0" → "int_free". */
static const char *strip_name(const char *name, size_t *n_ret)
{
	const char *p = name;

	for (;;) {
		if (*p == '_')
			p++;
		else if (strncmp(p, "GI_", 3) == 0)
			p += 3;
		else if (strncmp(p, "libc_", 5) == 0)
			p += 5;
		else
			break;
	}
	*n_ret = strcspn(p, ".@");
	return p;
}

bool hi_malloc_text_has_name(const char *name)
{
	size_t n;
	const char *p = strip_name(name, &n);

	for (size_t i = 0; i < sizeof(family) / sizeof(family[0]); i++)
		if (matches_name_pattern(family[i], p, n))
			return true;
	return false;
}

static enum hi_status add_symbols(Elf_Data *data, Elf *elf, size_t strings,
				  struct hi_range_list *list, struct hi_error *err)
{
	size_t n = data->d_size / sizeof(Elf64_Sym);

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_size ||
		    sym.st_shndx == SHN_UNDEF ||
		    sym.st_value + sym.st_size < sym.st_value)
			continue;
		name = elf_strptr(elf, strings, sym.st_name);
		if (!name || !hi_malloc_text_has_name(name))
			continue;
		if (!hi_vector_push(list, (struct hi_range){sym.st_value,
							    sym.st_value + sym.st_size}))
			return hi_fail_memory(err, "allocator's text");
	}
	return HI_OK;
}

enum hi_status hi_malloc_text_by_symbols(Elf *elf, struct hi_range_list *list,
					 struct hi_error *err)
{
	size_t before = list->count;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		Elf_Data *data;
		enum hi_status status;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data)
			continue;
		status = add_symbols(data, elf, shdr.sh_link, list, err);
		if (status != HI_OK)
			return status;
	}
	if (list->count == before)
		return hi_fail(err, HI_NOT_FOUND, 0, "no symbols of malloc");
	return HI_OK;
}
