/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where malloc's variables are: by the symbols of libc (its file's or its debug file's),
 * else out of the code of exported functions. glibc_probe.c checks all that is found
 * here.
 */
#include <stdio.h>
#include <string.h>

#include "decode/allocators/glibc.h"

#define CODE_MAX 8192

/* Code of a function by name. HI_NOT_FOUND if there is none. */
static enum hi_status read_libc_function(struct hi_modules *modules,
					 struct hi_module *libc, const char *name,
					 uint8_t code[CODE_MAX], size_t *size_ret,
					 uint64_t *addr_ret, struct hi_error *err)
{
	uint64_t size = 0;
	enum hi_status status =
		hi_modules_symbol(modules, libc, name, addr_ret, &size, err);

	if (status != HI_OK)
		return status;
	if (size == 0)
		size = 512;
	*size_ret = size < CODE_MAX ? size : CODE_MAX;
	return hi_modules_read(modules, *addr_ret, code, *size_ret, err);
}

bool hi_glibc_may_have(const struct hi_module *module)
{
	static const char *const names[] = {"libc.so.6", "libc-2."};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (module->name &&
		    strncmp(module->name, names[i], strlen(names[i])) == 0)
			return true;
	return module->is_executable;
}

/* "2.36" → 36; 0 if it is no version of glibc 2. */
static unsigned parse_minor(const char *text)
{
	unsigned minor = 0;

	if (strncmp(text, "2.", 2) != 0)
		return 0;
	for (const char *p = text + 2; *p >= '0' && *p <= '9' && minor < 1000; p++)
		minor = minor * 10 + (unsigned)(*p - '0');
	return minor;
}

/* What gnu_get_libc_version() returns. A static program rarely has it. */
static void find_version(struct hi_modules *modules, struct hi_module *libc,
			 struct hi_glibc_where *w)
{
	uint8_t code[CODE_MAX];
	uint64_t addr, text;
	size_t size;
	char version[16] = {};

	if (read_libc_function(modules, libc, "gnu_get_libc_version", code, &size, &addr,
			       NULL) != HI_OK)
		return;
	text = hi_glibc_read_getter(code, size, addr);
	if (!text ||
	    hi_modules_read(modules, text, version, sizeof(version) - 1, NULL) != HI_OK)
		return;
	w->minor = parse_minor(version);
	if (w->minor)
		snprintf(w->version, sizeof(w->version), "2.%u", w->minor);
}

/* Where each thread keeps its tcache: malloc's first thread-local accesses. */
static void find_tcache(struct hi_modules *modules, struct hi_module *libc,
			struct hi_glibc_where *w)
{
	struct hi_glibc_tls_use uses[2];
	uint8_t code[CODE_MAX];
	uint64_t addr;
	size_t size;
	unsigned n = 0;

	if (read_libc_function(modules, libc, "malloc", code, &size, &addr, NULL) !=
		    HI_OK ||
	    hi_glibc_read_malloc(code, size, addr, uses, &n, NULL) != HI_OK)
		return;
	for (unsigned i = 0; i < n; i++) {
		int64_t offset = uses[i].offset;

		if (uses[i].is_slot && hi_modules_read(modules, uses[i].slot, &offset,
						       sizeof(offset), NULL) != HI_OK)
			continue;
		/* Static thread-local blocks lie below the thread pointer. */
		if (offset < 0 && offset > -(1 << 24))
			w->tcache_offset[w->n_tcache_offsets++] = offset;
	}
	w->has_tcache = w->n_tcache_offsets > 0;
}

static enum hi_status find_by_symbols(struct hi_modules *modules, struct hi_module *libc,
				      struct hi_glibc_where *w, struct hi_error *err)
{
	enum hi_status status = hi_modules_symbol(
		modules, libc, "main_arena", &w->main_arena, &w->main_arena_size, err);

	if (status == HI_OK)
		status =
			hi_modules_symbol(modules, libc, "mp_", &w->mp, &w->mp_size, err);
	if (status == HI_OK)
		snprintf(w->found_by, sizeof(w->found_by), "symbols");
	return status;
}

static enum hi_status find_by_code(struct hi_modules *modules, struct hi_module *libc,
				   struct hi_glibc_where *w, struct hi_error *err)
{
	uint8_t code[CODE_MAX];
	unsigned distance = 0;
	uint64_t addr;
	size_t size;
	enum hi_status status =
		read_libc_function(modules, libc, "mallopt", code, &size, &addr, err);

	w->main_arena_size = w->mp_size = 0;
	if (status == HI_OK)
		status = hi_glibc_read_mallopt(code, size, addr, &w->main_arena, &w->mp,
					       &distance, err);
	if (status != HI_OK)
		return status;
	if (distance == 52)
		w->mp_size = 112;
	else if (distance == 72)
		w->mp_size = 136;
	else if (distance == 80)
		w->mp_size = 144;
	snprintf(w->found_by, sizeof(w->found_by), "disassembly of mallopt, malloc");
	return HI_OK;
}

/* A program without interpreter has its malloc in itself. */
static bool is_static_program(struct hi_module *module)
{
	return module->is_executable && !hi_module_has_section(module, ".interp");
}

enum hi_status hi_glibc_find(const struct hi_image *image, struct hi_modules *modules,
			     struct hi_module *libc,
			     const struct hi_glibc_options *options,
			     struct hi_glibc_where *ret, struct hi_error *err)
{
	struct hi_glibc_where w = {};
	enum hi_status status = HI_NOT_FOUND;

	if (!options || !options->without_symbols)
		status = find_by_symbols(modules, libc, &w, err);
	if (status == HI_NOT_FOUND)
		status = find_by_code(modules, libc, &w, err);
	if ((status == HI_NOT_FOUND || status == HI_FAULT) && is_static_program(libc))
		status = hi_glibc_search(image, libc, &w, err);
	if (status == HI_NOT_FOUND || status == HI_FAULT)
		return hi_fail(err, HI_NOT_FOUND, 0, "no glibc malloc in %s",
			       libc->name && libc->name[0] ? libc->name : "the program");
	if (status != HI_OK)
		return status;
	find_version(modules, libc, &w);
	snprintf(w.module, sizeof(w.module), "%s", libc->name);
	find_tcache(modules, libc, &w);
	*ret = w;
	return HI_OK;
}
