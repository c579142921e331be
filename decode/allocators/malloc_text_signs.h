/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which allocators beside libc's are in an ELF file, by names of functions that nothing
 * else has, and which of its other functions are theirs. For this folder and its tests.
 */
#ifndef HI_DECODE_ALLOCATORS_MALLOC_TEXT_SIGNS_H
#define HI_DECODE_ALLOCATORS_MALLOC_TEXT_SIGNS_H

#include <gelf.h>
#include <stdbool.h>

enum hi_malloc_kind {
	HI_MALLOC_JEMALLOC = 1,
	HI_MALLOC_TCMALLOC = 2,
	HI_MALLOC_MIMALLOC = 4,
};

struct hi_malloc_signs {
	unsigned kinds;	 /* enum hi_malloc_kind; 0: none */
	bool has_malloc; /* functions malloc and free */
	char api[16];	 /* of jemalloc: before "mallctl"; "" is its malloc's own name */
	char internal[16]; /* before its internal functions: "je_", "_rjem_je_" */
};

/* Adds the signs of the symbols of this type, SHT_DYNSYM or SHT_SYMTAB, to *signs. */
void hi_malloc_signs_read(Elf *elf, GElf_Word type, struct hi_malloc_signs *signs);
/* Is a function of this name one of those allocators'? */
bool hi_malloc_signs_has_name(const struct hi_malloc_signs *signs, const char *name);
/* "my_malloc", "inside_free": what libc's are called with a prefix. */
bool hi_malloc_has_prefix(const char *name);
/* A library that is an allocator and nothing else: by its DT_SONAME, or because most of
 * what it exports belongs to one. */
bool hi_malloc_signs_is_library(Elf *elf, const struct hi_malloc_signs *signs);
/* The name of a library that is an allocator: "libjemalloc.so.2", "libtcmalloc…". */
bool hi_malloc_is_library_name(const char *name);

/* Calls fn with each function that elf defines in its symbols of this type. */
typedef bool hi_malloc_symbol_fn(const GElf_Sym *sym, const char *name, unsigned file,
				 void *arg);
/* file: a number for each STT_FILE, of local symbols; 0: unknown. False: fn did. */
bool hi_malloc_each_function(Elf *elf, GElf_Word type, hi_malloc_symbol_fn *fn,
			     void *arg);

#endif
