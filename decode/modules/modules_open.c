/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules out of the image's mappings: which mappings are ELF files, which file
 * they came from, and whether the file found is that very file.
 */
#include "decode/modules/module.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"

enum { MODULES_MAX = 1 << 16 };

struct module_list HI_VECTOR(struct hi_module);

static bool is_candidate(const struct hi_mapping *mapping)
{
	switch (mapping->kind) {
	case HI_MAPPING_VDSO:
		return true;
	case HI_MAPPING_FILE:
	case HI_MAPPING_SHMEM: /* programs run from a memfd */
		return mapping->file_offset == 0 && mapping->path[0] != '\0';
	default:
		return false;
	}
}

static bool same_file(const struct hi_mapping *a, const struct hi_mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && strcmp(a->path, b->path) == 0;
}

static void set_note(struct hi_module *module, const char *text)
{
	snprintf(module->note, sizeof(module->note), "%s", text);
}

/* The file of the mapping, or --exe for the program of a core. */
static int open_mapped_file(const struct hi_modules *modules,
			    const struct hi_mapping *mapping)
{
	const struct hi_image *image = modules->image;
	struct stat st;
	int fd = -1;

	if (mapping->kind == HI_MAPPING_VDSO)
		return -1;
	if (modules->exe && image->mode == HI_SNAPSHOT_CORE && image->exe &&
	    strcmp(mapping->path, image->exe) == 0)
		return hi_file_open_regular(modules->exe);
	if (hi_image_open_file(image, mapping, &fd, NULL) != HI_OK)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -1;
}

static bool same_build(const struct hi_elf_header *a, const struct hi_elf_header *b)
{
	return a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

/* Same identity, and where neither has a build-id the same load layout. */
static bool is_same_elf(const struct hi_elf_header *file,
			const struct hi_elf_header *memory)
{
	if (!same_build(file, memory))
		return false;
	if (file->build_id_size > 0)
		return true;
	return file->n_phdrs == memory->n_phdrs &&
	       memcmp(file->phdrs, memory->phdrs, file->n_phdrs * sizeof(GElf_Phdr)) ==
		       0 &&
	       file->ehdr.e_entry == memory->ehdr.e_entry;
}

/* Chooses between the file and the ELF in memory; both headers are consumed. */
static void choose_elf_source(struct hi_module *module, int fd,
			      struct hi_elf_header *file, bool have_file,
			      struct hi_elf_header *memory, bool have_memory,
			      const struct hi_modules *modules)
{
	struct hi_module_private *priv = module->priv;

	priv->fd = -1;
	if (have_file && (!have_memory || is_same_elf(file, memory))) {
		priv->fd = fd;
		priv->header = *file;
		hi_elf_header_free(memory);
		if (!have_memory && modules->image->mode == HI_SNAPSHOT_CORE)
			set_note(module, "file not checked: the core lacks its headers");
		return;
	}
	if (fd >= 0)
		close(fd);
	hi_elf_header_free(file);
	module->file_mismatch = have_file;
	module->from_memory = have_memory;
	if (have_memory)
		priv->header = *memory;
	if (have_file)
		set_note(module, "the file on disk has another build-id: not used");
	else if (!have_memory)
		set_note(module, "neither its file nor its headers can be read");
	else if (module->path[0] == '/')
		set_note(module,
			 fd >= 0 ? "the file is not an ELF program: read from memory"
				 : "its file cannot be reached: read from memory");
}

/* End of the mapped range: the range in its headers, cut where another file's mapping
 * begins, and at least the mapping itself. */
static uint64_t module_end(const struct hi_image *image, size_t first,
			   const struct hi_module *module)
{
	const struct hi_mapping *own = &image->mappings[first];
	const struct hi_elf_header *header = &module->priv->header;
	uint64_t claimed_end = module->start + (header->high - header->first),
		 end = own->end;

	if (header->n_phdrs == 0)
		claimed_end = UINT64_MAX;
	for (size_t i = first + 1; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (m->start >= claimed_end ||
		    (header->n_phdrs == 0 && !same_file(own, m)))
			break;
		if (is_candidate(m) || (m->path[0] == '/' && !same_file(own, m)))
			return m->start;
		end = m->end < claimed_end ? m->end : claimed_end;
	}
	return end > own->end ? end : own->end;
}

static void name_module(struct hi_module *module, const char *path)
{
	const char *slash = strrchr(path, '/');

	module->path = path;
	module->name = slash && slash[1] ? slash + 1 : path;
}

/* Mappings of one file in a row that hold code: a module even if nothing of it
 * can be read. */
static bool has_code(const struct hi_image *image, size_t first)
{
	const struct hi_mapping *own = &image->mappings[first];

	for (size_t i = first; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (!same_file(own, m) || (i > first && is_candidate(m)))
			return false;
		if (m->prot & HI_PROT_EXEC)
			return true;
	}
	return false;
}

/* Tells data that a core left out, of which it does not say whether it was code, from
 * programs: by the file. */
static bool is_left_out_data(const struct hi_image *image,
			     const struct hi_mapping *mapping, int fd, bool is_elf)
{
	return image->mode == HI_SNAPSHOT_CORE && !mapping->held && fd >= 0 && !is_elf;
}

/* Fills in a module for mapping number i; HI_NOT_FOUND: no ELF there. */
static enum hi_status make_module(struct hi_modules *modules, size_t i,
				  struct hi_module *ret, struct hi_error *err)
{
	const struct hi_mapping *mapping = &modules->image->mappings[i];
	struct hi_elf_source in_memory = {-1, modules->image->memory, mapping->start};
	struct hi_elf_source in_file = {open_mapped_file(modules, mapping), NULL, 0};
	struct hi_elf_header memory = {}, file = {};
	struct hi_module module = {.start = mapping->start};
	bool have_memory = hi_elf_header_read(&in_memory, &memory, NULL) == HI_OK;
	bool have_file =
		in_file.fd >= 0 && hi_elf_header_read(&in_file, &file, NULL) == HI_OK;
	bool wanted = have_memory || have_file ||
		      (has_code(modules->image, i) &&
		       !is_left_out_data(modules->image, mapping, in_file.fd, have_file));
	const char *path = NULL;

	if (wanted) {
		module.priv = hi_calloc(1, sizeof(*module.priv));
		path = hi_arena_strdup(&modules->arena, mapping->path);
	}
	if (!module.priv || !path) {
		hi_elf_header_free(&memory);
		hi_elf_header_free(&file);
		if (in_file.fd >= 0)
			close(in_file.fd);
		free(module.priv);
		return wanted ? hi_fail_memory(err, "module") : HI_NOT_FOUND;
	}
	name_module(&module, path);
	module.priv->modules = modules;
	module.priv->debug_fd = -1;
	module.priv->inflated_fd = -1;
	choose_elf_source(&module, in_file.fd, &file, have_file, &memory, have_memory,
			  modules);
	module.bias = module.priv->header.n_phdrs
			      ? module.start - module.priv->header.first
			      : 0;
	module.end = module_end(modules->image, i, &module);
	module.build_id_size = module.priv->header.build_id_size;
	memcpy(module.build_id, module.priv->header.build_id, sizeof(module.build_id));
	*ret = module;
	return HI_OK;
}

static void module_free(struct hi_module *module)
{
	struct hi_module_private *priv = module->priv;

	if (!priv)
		return;
	hi_module_symbols_free(&priv->symbols);
	if (priv->debug_elf)
		elf_end(priv->debug_elf);
	if (priv->elf)
		elf_end(priv->elf);
	hi_pages_free(priv->memory_elf, priv->memory_elf_size);
	if (priv->debug_fd >= 0)
		close(priv->debug_fd);
	if (priv->inflated_fd >= 0)
		close(priv->inflated_fd);
	if (priv->fd >= 0)
		close(priv->fd);
	hi_elf_header_free(&priv->header);
	free(priv);
}

static enum hi_status find_mapped_modules(struct hi_modules *modules,
					  struct module_list *list, struct hi_error *err)
{
	const struct hi_image *image = modules->image;
	uint64_t covered = 0;

	for (size_t i = 0; i < image->n_mappings && list->count < MODULES_MAX; i++) {
		struct hi_module module;
		enum hi_status status;

		/* Some linkers map the header page twice. */
		if (!is_candidate(&image->mappings[i]) ||
		    image->mappings[i].start < covered)
			continue;
		if (!hi_vector_reserve(list, list->count + 1))
			return hi_fail_memory(err, "modules");
		status = make_module(modules, i, &module, err);
		if (status == HI_NOT_FOUND)
			continue;
		if (status != HI_OK)
			return status;
		covered = module.end;
		list->items[list->count++] = module;
	}
	return HI_OK;
}

static void mark_executable(struct hi_modules *modules)
{
	const struct hi_image *image = modules->image;
	struct hi_module *module = NULL;
	uint64_t phdr = 0;

	if (hi_image_auxv(image, AT_PHDR, &phdr))
		module = hi_modules_at(modules, phdr);
	for (size_t i = 0; !module && i < modules->count; i++)
		if (image->exe && image->exe[0] &&
		    strcmp(modules->items[i].path, image->exe) == 0)
			module = &modules->items[i];
	if (module)
		module->is_executable = true;
}

static bool copy_option(char **to, const char *from)
{
	*to = from ? hi_strdup(from) : NULL;
	return !from || *to;
}

static bool init_modules(struct hi_modules *modules, const struct hi_image *image,
			 const struct hi_modules_options *options)
{
	pthread_mutexattr_t attr;

	modules->image = image;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&modules->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	elf_version(EV_CURRENT);
	if (!options)
		return true;
	return copy_option(&modules->debug_dir, options->debug_dir) &&
	       copy_option(&modules->cache_dir, options->cache_dir) &&
	       copy_option(&modules->exe, options->exe);
}

enum hi_status hi_modules_open(const struct hi_image *image,
			       const struct hi_modules_options *options,
			       struct hi_modules **ret, struct hi_error *err)
{
	HI_GUARD(hi_modules_close) struct hi_modules *modules = NULL;
	struct module_list list = {};
	enum hi_status status;

	modules = hi_calloc(1, sizeof(*modules));
	if (!modules || !init_modules(modules, image, options))
		return hi_fail_memory(err, "modules");
	modules->options = (struct hi_modules_options){modules->debug_dir,
						       modules->cache_dir, modules->exe};
	status = find_mapped_modules(modules, &list, err);
	modules->items = list.items;
	modules->count = list.count;
	for (size_t i = 0; i < modules->count; i++)
		modules->items[i].priv->index = i;
	if (status != HI_OK)
		return status;
	mark_executable(modules);
	if (!hi_modules_remember(modules))
		return hi_fail_memory(err, "modules");
	*ret = hi_take(modules);
	return HI_OK;
}

void hi_modules_close(struct hi_modules *modules)
{
	if (!modules)
		return;
	if (modules->dwfl)
		dwfl_end(modules->dwfl);
	for (size_t i = 0; i < modules->count; i++)
		module_free(&modules->items[i]);
	free(modules->items);
	hi_arena_free(&modules->arena);
	free(modules->debug_dir);
	free(modules->cache_dir);
	free(modules->exe);
	pthread_mutex_destroy(&modules->lock);
	free(modules);
}

size_t hi_modules_count(const struct hi_modules *modules)
{
	return modules->count;
}

struct hi_module *hi_modules_get(struct hi_modules *modules, size_t i)
{
	return i < modules->count ? &modules->items[i] : NULL;
}

struct hi_module *hi_modules_at(struct hi_modules *modules, uint64_t addr)
{
	size_t low = hi_search(i, modules->count, modules->items[i].start <= addr);

	if (low == 0 || addr >= modules->items[low - 1].end)
		return NULL;
	return &modules->items[low - 1];
}

struct hi_module *hi_modules_executable(struct hi_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		if (modules->items[i].is_executable)
			return &modules->items[i];
	return NULL;
}

struct hi_module *hi_modules_named(struct hi_modules *modules, const char *prefix)
{
	for (size_t i = 0; i < modules->count; i++)
		if (strncmp(modules->items[i].name, prefix, strlen(prefix)) == 0)
			return &modules->items[i];
	return NULL;
}

void hi_modules_lock(struct hi_modules *modules)
{
	pthread_mutex_lock(&modules->lock);
}

void hi_modules_unlock(struct hi_modules *modules)
{
	pthread_mutex_unlock(&modules->lock);
}

const struct hi_image *hi_modules_image(const struct hi_modules *modules)
{
	return modules->image;
}

const struct hi_modules_options *hi_modules_options(const struct hi_modules *modules)
{
	return &modules->options;
}

struct hi_modules *hi_module_modules(const struct hi_module *module)
{
	return module->priv->modules;
}

size_t hi_module_index(const struct hi_module *module)
{
	return module->priv->index;
}

const GElf_Phdr *hi_module_phdrs(const struct hi_module *module, size_t *n_ret)
{
	*n_ret = module->priv->header.n_phdrs;
	return module->priv->header.phdrs;
}
