/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules of an image: ELF files, their debug information, their symbols. Handles of
 * libdwfl stay inside decode/ (dwfl.h).
 */
#ifndef HI_DECODE_MODULES_MODULES_H
#define HI_DECODE_MODULES_MODULES_H

#include "attach/image.h"
#include "base/cleanup.h"

enum hi_debug_source {
	HI_DEBUG_NONE,
	HI_DEBUG_IN_FILE,  /* .debug_info in the ELF itself */
	HI_DEBUG_BUILD_ID, /* /usr/lib/debug/.build-id/… */
	HI_DEBUG_LINK,	   /* .gnu_debuglink */
	HI_DEBUG_INFOD,	   /* debuginfod */
};

struct hi_module {
	const char *path;    /* as the target maps it; hostile */
	const char *name;    /* last component */
	uint64_t start, end; /* mapped range */
	uint64_t bias;	     /* add to an ELF address to get a target address */
	uint8_t build_id[32];
	size_t build_id_size; /* 0: none */
	bool is_executable;   /* the main program */
	bool file_mismatch;   /* a file was found, but its build-id is another: unused */
	bool from_memory;     /* only the ELF headers in memory are known */
	char note[160];	      /* "" or one line: "file on disk was replaced" … */
	/* Known once asked for (hi_module_debug): */
	enum hi_debug_source debug;
	const char *debug_path;
	struct hi_module_private *priv;
};

struct hi_modules_options {
	const char *debug_dir; /* NULL: /usr/lib/debug; replaces it, ":" separates */
	const char *
		cache_dir; /* NULL: $XDG_CACHE_HOME/heapinspect or ~/.cache/…; "": none */
	const char *exe;   /* --exe, for cores */
};

struct hi_modules;

/* Opens the modules of image, which is borrowed until close. HI_OK also where a module is
 * unreadable (its note has the reason). Reads no DWARF. */
enum hi_status hi_modules_open(const struct hi_image *image,
			       const struct hi_modules_options *options,
			       struct hi_modules **ret, struct hi_error *err);
/* Frees modules and all that they gave out; modules may be NULL. */
void hi_modules_close(struct hi_modules *modules);
HI_DEFINE_GUARD(struct hi_modules *, hi_modules_close)
/* Takes over a later image of the same process. True: modules borrow it from now on;
 * their types stay (hi_types_renew). False: other files are mapped, or at other
 * addresses; nothing has changed. The image before may be gone already. */
bool hi_modules_renew(struct hi_modules *modules, const struct hi_image *image);

/* Modules in order of their addresses, with indices in [0, count). */
size_t hi_modules_count(const struct hi_modules *modules);
/* Returns module i; i is below hi_modules_count(). Borrowed. */
struct hi_module *hi_modules_get(struct hi_modules *modules, size_t i);
struct hi_module *hi_modules_at(struct hi_modules *modules,
				uint64_t addr);			     /* NULL: none */
struct hi_module *hi_modules_executable(struct hi_modules *modules); /* NULL: none */
/* By the beginning of its name: "libc.so", "ld-linux". NULL: none. */
struct hi_module *hi_modules_named(struct hi_modules *modules, const char *prefix);

/* Looks for debug information and fills in module->debug. Opens the file, reads no DIE.
 * HI_NOT_FOUND: there is none. */
enum hi_status hi_module_debug(struct hi_module *module, struct hi_error *err);

/* Symbol by name (.symtab of the file or its debug file, else .dynsym), as a
 * target address. module NULL: all of them, the executable first. HI_NOT_FOUND. */
enum hi_status hi_modules_symbol(struct hi_modules *modules, struct hi_module *module,
				 const char *name, uint64_t *addr_ret, uint64_t *size_ret,
				 struct hi_error *err);
/* Name of the symbol that covers addr, its offset; NULL if none. Valid until close. */
const char *hi_modules_symbol_at(struct hi_modules *modules, uint64_t addr,
				 uint64_t *offset_ret);
/* Bytes at a target address out of the module's file (text and rodata that the
 * image does not hold). All or HI_FAULT. */
enum hi_status hi_module_read_file(struct hi_module *module, uint64_t addr, void *buf,
				   size_t size, struct hi_error *err);
/* Image memory first, then the module's file. */
enum hi_status hi_modules_read(struct hi_modules *modules, uint64_t addr, void *buf,
			       size_t size, struct hi_error *err);

/* Has the module's file a section of this name? */
bool hi_module_has_section(struct hi_module *module, const char *name);
/* Finds the section that is loaded at a target address, and how far the address is in it.
 * The name is hostile and lives until close. False: there is none, or the file has no
 * section headers. */
bool hi_module_section_at(struct hi_module *module, uint64_t addr, const char **name_ret,
			  uint64_t *offset_ret);
/* Is it the C library, a part of it, or the loader? By the name of its file. */
bool hi_module_is_system(const struct hi_module *module);
bool hi_file_is_system(const char *name);

/* Writable data of a module: .data, .bss, .data.rel.ro, .tdata excluded. */
struct hi_section_range {
	uint64_t start, end; /* target addresses */
	bool relro;
};
size_t hi_module_data(struct hi_module *module, struct hi_section_range *ret, size_t max);

#endif
