/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug files of a module: its DWARF, the dwz file that it shares with
 * others, the split files that its skeletons name.
 */
#include "decode/modules/elf_mapped.h"
#include "decode/modules/module.h"
#include "decode/types/types_internal.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/parallel.h"

enum { FILES_MAX = 1 << 15, PATH_BYTES = 4096 };

static bool add_file(struct hi_type_module *module, struct hi_dw_file *file)
{
	struct hi_dw_file **files = hi_realloc_array(module->files, module->n_files + 1,
						     sizeof(struct hi_dw_file *));

	if (!files)
		return false;
	file->number = (uint32_t)module->n_files;
	files[module->n_files++] = file;
	module->files = files;
	return true;
}

Elf *hi_type_elf_open(int fd)
{
	Elf *elf = hi_elf_map(fd);

	if (fd >= 0)
		close(fd);
	return elf;
}

void hi_type_module_note(struct hi_module *module, const char *text)
{
	size_t n = strlen(module->note);

	snprintf(module->note + n, sizeof(module->note) - n, "%s%s", n ? "; " : "", text);
}

struct hi_dw_file *hi_type_module_open_elf(struct hi_types *types,
					   struct hi_type_module *module, Elf *elf,
					   bool is_dwo)
{
	struct hi_dw_file *file;

	if (!elf)
		return NULL;
	if (module->n_files >= FILES_MAX ||
	    hi_dw_file_open(elf, is_dwo, &types->arena, &file, NULL) != HI_OK) {
		hi_elf_unmap(elf);
		return NULL;
	}
	file->own_elf = true;
	if (!add_file(module, file)) {
		hi_dw_file_close(file);
		return NULL;
	}
	return file;
}

/* ---- dwz ---- */

static bool has_build_id(Elf *elf, const void *id, size_t n)
{
	const void *bits;
	ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bits) : -1;

	return size > 0 && (size_t)size == n && memcmp(bits, id, n) == 0;
}

static Elf *try_alt(const char *path, const void *id, size_t n)
{
	Elf *elf = hi_type_elf_open(hi_file_open_regular(path));

	if (elf && !has_build_id(elf, id, n)) {
		hi_elf_unmap(elf);
		elf = NULL;
	}
	return elf;
}

/* By the name in the link (relative to the debug file), then by build-id. */
static Elf *find_alt(const struct hi_module *module, const char *name, const uint8_t *id,
		     size_t n)
{
	const char *dirs = module->priv->modules->debug_dir, *slash;
	char path[PATH_BYTES];
	Elf *elf = NULL;
	int used;

	slash = strrchr(module->debug_path, '/');
	if (name[0] == '/' || !slash)
		elf = try_alt(name, id, n);
	else if ((size_t)snprintf(path, sizeof(path), "%.*s/%s",
				  (int)(slash - module->debug_path), module->debug_path,
				  name) < sizeof(path))
		elf = try_alt(path, id, n);
	for (dirs = dirs ? dirs : "/usr/lib/debug"; !elf && *dirs;) {
		size_t length = strcspn(dirs, ":");

		used = snprintf(path, sizeof(path), "%.*s/.build-id/%02x/",
				length > 2000 ? 2000 : (int)length, dirs, id[0]);
		for (size_t i = 1; i < n && (size_t)used + 16 < sizeof(path); i++)
			used += snprintf(path + used, sizeof(path) - (size_t)used, "%02x",
					 id[i]);
		snprintf(path + used, sizeof(path) - (size_t)used, ".debug");
		elf = try_alt(path, id, n);
		dirs += length + (dirs[length] == ':');
	}
	return elf;
}

static void open_alt(struct hi_types *types, struct hi_type_module *module,
		     struct hi_dw_file *main)
{
	size_t strings;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(main->elf, &strings) != 0)
		return;
	while ((scn = elf_nextscn(main->elf, scn)) != NULL) {
		GElf_Shdr shdr;
		const char *name;
		Elf_Data *data;
		size_t n;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(main->elf, strings, shdr.sh_name);
		if (name && strcmp(name, ".debug_sup") == 0)
			hi_type_module_note(
				module->module,
				"its shared debug file (.debug_sup) is not supported");
		if (!name || strcmp(name, ".gnu_debugaltlink") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			return;
		n = strnlen(data->d_buf, data->d_size);
		if (n + 2 > data->d_size || n > 1024 || data->d_size - n - 1 > 64)
			return;
		main->alt = hi_type_module_open_elf(
			types, module,
			find_alt(module->module, data->d_buf,
				 (uint8_t *)data->d_buf + n + 1, data->d_size - n - 1),
			false);
		if (!main->alt)
			hi_type_module_note(module->module,
					    "its shared debug file (dwz) was not found: "
					    "types are incomplete");
		return;
	}
}

/* ---- the module ---- */

/* The ELF that holds the DWARF; *own_ret: the caller ends it. */
static Elf *dwarf_elf(struct hi_module *module, bool *own_ret)
{
	int fd;

	*own_ret = false;
	if (module->debug == HI_DEBUG_IN_FILE)
		return hi_module_elf(module);
	fd = hi_module_inflated(module);
	if (fd >= 0) {
		*own_ret = true;
		return hi_type_elf_open(fd);
	}
	return hi_module_debug_elf(module);
}

/* A debug file may have been linked elsewhere (prelink): its addresses differ from
 * the module's by what their lowest segments differ. */
static uint64_t bias_of(const struct hi_module *module, Elf *elf)
{
	size_t n;

	if (module->debug == HI_DEBUG_IN_FILE || elf_getphdrnum(elf, &n) != 0)
		return module->bias;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		return module->bias + module->priv->header.low -
		       (ph.p_vaddr & ~(uint64_t)(HI_PAGE - 1));
	}
	return module->bias;
}

static void open_debug_files(struct hi_types *types, struct hi_type_module *module)
{
	struct hi_dw_file *file;
	bool own;
	Elf *elf;

	hi_module_find_debug(module->module);
	if (module->module->debug == HI_DEBUG_NONE)
		return;
	elf = dwarf_elf(module->module, &own);
	if (!elf)
		return;
	if (hi_dw_file_open(elf, false, &types->arena, &file, NULL) != HI_OK) {
		if (own)
			hi_elf_unmap(elf);
		return;
	}
	file->own_elf = own;
	if (!add_file(module, file)) {
		hi_dw_file_close(file);
		return;
	}
	module->bias = bias_of(module->module, elf);
	open_alt(types, module, file);
	hi_type_module_open_splits(types, module, file);
}

/* Of .debug_info and .debug_types, the uncompressed size where the file has it. */
static uint64_t size_in_file(Elf *elf)
{
	Elf_Scn *scn = NULL;
	uint64_t size = 0;
	size_t strings;

	if (!elf || elf_getshdrstrndx(elf, &strings) != 0)
		return 0;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		GElf_Chdr chdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		if (!name || (strcmp(name, ".debug_info") != 0 &&
			      strcmp(name, ".zdebug_info") != 0 &&
			      strcmp(name, ".debug_types") != 0))
			continue;
		if (shdr.sh_flags & SHF_COMPRESSED && gelf_getchdr(scn, &chdr))
			shdr.sh_size = chdr.ch_size;
		size = size + shdr.sh_size < size ? UINT64_MAX : size + shdr.sh_size;
	}
	return size;
}

uint64_t hi_types_dwarf_size(struct hi_types *types, struct hi_module *module)
{
	const struct hi_type_module *item = &types->items[hi_module_index(module)];
	uint64_t size = 0;

	if (!item->opened) {
		hi_module_find_debug(module);
		return module->debug == HI_DEBUG_NONE
			       ? 0
			       : size_in_file(module->debug == HI_DEBUG_IN_FILE
						      ? hi_module_elf(module)
						      : hi_module_debug_elf(module));
	}
	for (size_t i = 0; i < item->n_files; i++)
		size += item->files[i]->sections[HI_DW_INFO].size +
			item->files[i]->sections[HI_DW_TYPES].size;
	return size;
}

struct hi_type_module *hi_types_module(struct hi_types *types, struct hi_module *module)
{
	struct hi_type_module *item = &types->items[hi_module_index(module)];

	if (!item->opened) {
		item->opened = true;
		open_debug_files(types, item);
	}
	return item->n_files ? item : NULL;
}

struct hi_type_module *hi_types_indexed(struct hi_types *types, struct hi_module *module)
{
	struct hi_type_module *item = hi_types_module(types, module);
	uint64_t start = hi_clock_ns();

	if (!item || item->indexed)
		return item;
	item->indexed = true;
	if (hi_type_cache_load(item)) {
		types->stats.index_from_cache = true;
	} else if (hi_type_index_build(item, hi_parallel_threads(), NULL) == HI_OK) {
		hi_type_cache_store(item);
	} else {
		hi_type_module_note(module, "out of memory: its types are not known");
	}
	types->stats.index_ns += hi_clock_ns() - start;
	return item;
}

/* ---- files that are no modules ---- */

static struct hi_module *unmapped_module(struct hi_types *types, const char *path)
{
	struct hi_module *module = hi_arena_alloc(&types->arena, sizeof(*module));
	struct hi_module_private *priv = hi_arena_alloc(&types->arena, sizeof(*priv));
	const char *slash;

	if (!module || !priv)
		return NULL;
	*priv = (struct hi_module_private){.modules = types->modules,
					   .index = types->n_items,
					   .fd = -1,
					   .debug_fd = -1,
					   .elf_tried = true,
					   .debug_tried = true,
					   .debug_elf_tried = true,
					   .dwarf_tried = true,
					   .dwfl_checked = true};
	priv->symbols.loaded = true;
	module->priv = priv;
	module->path = module->debug_path = hi_arena_strdup(&types->arena, path);
	if (!module->path)
		return NULL;
	slash = strrchr(module->path, '/');
	module->name = slash ? slash + 1 : module->path;
	module->debug = HI_DEBUG_IN_FILE;
	return module;
}

void hi_types_give_back(struct hi_types *types)
{
	hi_types_lock(types);
	for (size_t i = 0; i < types->n_items; i++)
		for (size_t k = 0; k < types->items[i].n_files; k++)
			hi_dw_file_give_back(types->items[i].files[k]);
	hi_types_unlock(types);
}

/* Offsets into other sections are right only after linking. */
static bool is_unlinked(Elf *elf)
{
	GElf_Ehdr ehdr;

	return gelf_getehdr(elf, &ehdr) && ehdr.e_type != ET_DYN &&
	       ehdr.e_type != ET_EXEC;
}

static enum hi_status open_side_file(struct hi_types *types, struct hi_type_module *item,
				     const char *path, struct hi_error *err)
{
	int fd = hi_file_open_regular(path);
	Elf *elf = hi_type_elf_open(fd);
	struct hi_dw_file *file;

	if (fd < 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.150s: cannot be opened", path);
	if (elf && is_unlinked(elf)) {
		hi_elf_unmap(elf);
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "%.150s: link it first (cc -shared)", path);
	}
	file = hi_type_module_open_elf(types, item, elf, false);
	if (!file)
		return hi_fail(err, HI_BAD_DATA, 0, "%.150s: no debug information", path);
	open_alt(types, item, file);
	hi_type_module_open_splits(types, item, file);
	return HI_OK;
}

enum hi_status hi_types_add_file(struct hi_types *types, const char *path,
				 struct hi_error *err)
{
	struct hi_type_module *item = &types->items[types->n_items];
	enum hi_status status = HI_OK;

	hi_types_lock(types);
	if (types->n_items >= hi_modules_count(types->modules) + HI_SIDE_FILES_MAX)
		status = hi_fail(err, HI_LIMIT, 0, "more than %d files of types",
				 HI_SIDE_FILES_MAX);
	else if (!(item->module = unmapped_module(types, path)))
		status = hi_fail_memory(err, "file of types");
	else
		status = open_side_file(types, item, path, err);
	if (status == HI_OK)
		status = hi_type_index_build(item, hi_parallel_threads(), err);
	if (status == HI_OK) {
		item->opened = item->indexed = true;
		/* It is not mapped: its variables are nowhere. */
		item->index.n_variables = item->index.n_tls = 0;
		types->n_items++;
	} else if (types->n_items <
		   hi_modules_count(types->modules) + HI_SIDE_FILES_MAX) {
		hi_types_close_files(item);
	}
	hi_types_unlock(types);
	return status;
}
