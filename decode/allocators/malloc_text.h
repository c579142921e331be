/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of glibc's malloc in an ELF file: by symbols (malloc_text_symbols.c), or
 * by exported names and .eh_frame ranges (malloc_text_frames.c). ELF addresses in,
 * ELF addresses out. For this folder and its tests.
 */
#ifndef HI_DECODE_ALLOCATORS_MALLOC_TEXT_H
#define HI_DECODE_ALLOCATORS_MALLOC_TEXT_H

#include <libelf.h>

#include "base/vector.h"
#include "decode/allocator.h"

struct hi_range_list HI_VECTOR(struct hi_range);

/* True: a function with this name, as in a symbol table, belongs to malloc. */
bool hi_malloc_text_has_name(const char *name);
/* Appends the functions of elf's .symtab that are malloc's. HI_NOT_FOUND: it
 * has no .symtab or none of them. */
enum hi_status hi_malloc_text_by_symbols(Elf *elf, struct hi_range_list *list,
					 struct hi_error *err);
/* The same for a stripped library. HI_NOT_FOUND: it exports no malloc, or has
 * no frame table. */
enum hi_status hi_malloc_text_by_frames(Elf *elf, struct hi_range_list *list,
					struct hi_error *err);
struct hi_malloc_signs; /* malloc_text_signs.h */
/* Appends their functions by the symbols of `symbols`, elf itself or its debug file.
 * HI_NOT_FOUND: it has no .symtab or none of them. */
enum hi_status hi_malloc_text_by_units(Elf *symbols, const struct hi_malloc_signs *signs,
				       struct hi_range_list *list, struct hi_error *err);
/* Finds the functions that a stripped, dynamically linked file exports and their callees
 * in it; also of an allocator of another kind, which exports malloc. HI_NOT_FOUND: it
 * exports none, or has no frame table, or is static. */
enum hi_status hi_malloc_text_by_calls(Elf *elf, const struct hi_malloc_signs *signs,
				       struct hi_range_list *list, struct hi_error *err);
/* malloc_text_musl.c: the functions of musl's mallocng or oldmalloc that use its tables
 * of sizes. Uses no symbols. HI_NOT_FOUND: it has neither. */
enum hi_status hi_malloc_text_by_musl_tables(Elf *elf, struct hi_range_list *list,
					     struct hi_error *err);
/* The files in which it is looked for. */
struct hi_text_files {
	const struct hi_mapping *mappings;
	size_t n_mappings;
	const char *exe; /* its path as in the mappings; NULL: unknown */
	bool without_symbols;
	/* Opens the file of a mapping; other than HI_OK: it is passed over. */
	enum hi_status (*open)(void *arg, const struct hi_mapping *m, int *fd_ret,
			       struct hi_error *err);
	void *arg;
};
enum hi_status hi_allocator_text_of(const struct hi_text_files *files,
				    struct hi_range **ret, size_t *n_ret,
				    struct hi_error *err);
/* As hi_allocator_text(); without_symbols: does not use symbol tables. */
enum hi_status hi_allocator_text_with(const struct hi_target *target,
				      bool without_symbols, struct hi_range **ret,
				      size_t *n_ret, struct hi_error *err);

#endif
