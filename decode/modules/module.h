/* SPDX-License-Identifier: BSD-2-Clause */
/* State of a module that the files of this folder share. */
#ifndef HI_DECODE_MODULES_MODULE_H
#define HI_DECODE_MODULES_MODULE_H

#include <pthread.h>

#include "base/arena.h"
#include "base/vector.h"
#include "decode/modules/dwfl.h"

enum {
	HI_ELF_PHDRS_MAX = 512,	     /* more is refused */
	HI_ELF_NOTES_MAX = 64 << 10, /* bytes of one PT_NOTE that are looked at */
	HI_PAGE = 4096,
};
/* An ELF file whose segments span more than this is refused. */
#define HI_ELF_SPAN_MAX (1ull << 40)

/* Headers of one ELF file, from a file or from memory. */
struct hi_elf_header {
	GElf_Ehdr ehdr;
	GElf_Phdr *phdrs; /* owned */
	size_t n_phdrs;
	uint64_t low, high; /* of all PT_LOADs, ELF addresses, page-rounded */
	uint64_t first;	    /* ELF address of file offset 0 */
	uint8_t build_id[32];
	size_t build_id_size;
};

/* The source of headers: a file (fd >= 0), or memory from `start` on. */
struct hi_elf_source {
	int fd;
	struct hi_memory *memory;
	uint64_t start;
};

struct hi_symbol {
	uint64_t addr, size; /* target address */
	const char *name;    /* without @version */
	uint8_t type, rank;  /* STT_*; rank: global 2, weak 1, local 0 */
};

struct hi_symbols {
	struct HI_VECTOR(struct hi_symbol) all; /* by addr, then size, then rank */
	struct HI_VECTOR(struct hi_symbol) tls; /* addr: offset in the block */
	uint32_t *by_name;			/* open addressing; index + 1, 0 empty */
	size_t n_by_name;			/* a power of two */
	struct hi_arena names;
	bool loaded;
};

struct hi_module_private {
	struct hi_modules *modules;
	size_t index;
	int fd;			     /* the module's file, verified; -1 none */
	struct hi_elf_header header; /* of the file if used, else of memory */
	void *memory_elf;	     /* from_memory: the rebuilt file (hi_pages) */
	size_t memory_elf_size;
	Elf *elf;
	bool elf_tried;
	Dwfl_Module *dwfl;
	bool dwfl_checked;
	bool debug_tried;
	int debug_fd;	 /* separate debug file; -1 none */
	int inflated_fd; /* a copy of it in memory (module_cache.c); -1 none */
	Elf *debug_elf;
	bool debug_elf_tried;
	Dwarf *dwarf;
	Dwarf_Addr dwarf_bias;
	bool dwarf_tried;
	struct hi_symbols symbols;
};

struct hi_modules {
	const struct hi_image *image;
	struct hi_mapping *files; /* of the image as they were opened; module_renew.c */
	size_t n_files;
	struct hi_modules_options options;
	char *debug_dir, *cache_dir, *exe; /* own copies of options */
	struct hi_module *items;	   /* by start */
	size_t count;
	struct hi_arena arena; /* paths; under the lock once open */
	Dwfl *dwfl;
	pthread_mutex_t lock; /* recursive */
};

/* ---- module_renew.c ---- */
bool hi_modules_remember(struct hi_modules *modules); /* false: out of memory */

/* ---- module_elf.c ---- */
/* HI_BAD_DATA: no 64-bit x86-64 ELF file, or inconsistent headers. */
enum hi_status hi_elf_header_read(const struct hi_elf_source *source,
				  struct hi_elf_header *ret, struct hi_error *err);
/* Frees its program headers. */
void hi_elf_header_free(struct hi_elf_header *header);
/* Rebuilds a file from its loaded segments; unreadable pages are zero. */
enum hi_status hi_elf_from_memory(struct hi_memory *memory, uint64_t start,
				  const struct hi_elf_header *header, void **ret,
				  size_t *size_ret, struct hi_error *err);
/* All of size bytes of a regular file at offset; false otherwise. */
bool hi_file_read_at(int fd, uint64_t offset, void *buf, size_t size);
/* An existing regular file, opened for reading; -1 otherwise. Never blocks. */
int hi_file_open_regular(const char *path);

/* ---- module_debug.c ---- */
/* Finds the separate debug file once; under the lock. */
void hi_module_find_debug(struct hi_module *module);

/* ---- module_cache.c ---- */
/* A descriptor of an inflated copy of this debug file, made now if need be: in the cache
 * directory, without one in memory; -1: none (not compressed, small, or too large for
 * memory). */
int hi_module_inflated(struct hi_module *module);
/* The cache directory, made if need be; only its owner, this user, may write to it. -1:
 * none. */
int hi_cache_open(const struct hi_modules *modules);
/* Opens a regular file in it that belongs to this user; -1: none. */
int hi_cache_open_file(int dir, const char *name);
/* A new private file under a temporary name. */
int hi_cache_create(int dir, char temporary[80]);
/* Renames it, or removes it where it is not complete. */
bool hi_cache_commit(int dir, const char *temporary, const char *name, bool complete);
/* The same with this process's own rights, and never served. given: NULL: the usual
 * directory; "": none. */
int hi_cache_open_directory(const char *given);
/* As hi_cache_open_file(). */
int hi_cache_open_in(int dir, const char *name);
/* Creates a private file of this name, which must not exist. -1 and errno. */
int hi_cache_create_as(int dir, const char *temporary);
/* As hi_cache_commit(). */
bool hi_cache_rename(int dir, const char *temporary, const char *name, bool complete);
/* All of size bytes at offset; false otherwise. */
bool hi_file_write_at(int fd, uint64_t offset, const void *buf, size_t size);
/* "BUILDID-IDENTITY.suffix" */
void hi_cache_name(const struct hi_module *module, uint64_t identity, const char *suffix,
		   char out[128]);

/* ---- module_symbols.c ---- */
/* All of them, loaded; NULL when out of memory. Takes the lock. */
const struct hi_symbols *hi_module_symbols(struct hi_module *module);
/* The symbol that covers addr, immutable until close; NULL: none. Takes the lock. */
const struct hi_symbol *hi_module_symbol_at(struct hi_module *module, uint64_t addr);
/* Frees the tables; symbols is empty then. */
void hi_module_symbols_free(struct hi_symbols *symbols);

#endif
