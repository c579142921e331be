/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before the stop: where no thread should be stopped. Each file with code is looked at:
 * malloc's functions of libc (or of a static program), the whole text of a library that
 * is another allocator, and the functions of one that is inside a program or a larger
 * library. A process may have all of them at once. Only reads files.
 */
#include "decode/allocators/malloc_text.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/text.h"
#include "decode/allocators/malloc_text_signs.h"

static void free_ranges(struct hi_range_list *list)
{
	hi_vector_free(list);
}

static bool is_libc(const struct hi_mapping *m)
{
	const char *name = hi_base_name(m->path);

	/* musl's libc.so is its dynamic linker, too. */
	return strncmp(name, "libc.so.6", 9) == 0 || strncmp(name, "libc-2.", 7) == 0 ||
	       strcmp(name, "libc.so") == 0 || strncmp(name, "ld-musl-", 8) == 0;
}

/* What to add to an ELF address: by the segment that the mapping shows. */
static bool find_bias(Elf *elf, const struct hi_mapping *m, uint64_t *bias_ret)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;
		uint64_t page_mask = ~(uint64_t)4095;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || m->file_offset < (ph.p_offset & page_mask) ||
		    m->file_offset >= ph.p_offset + ph.p_filesz)
			continue;
		*bias_ret = m->start - ((ph.p_vaddr & page_mask) +
					(m->file_offset - (ph.p_offset & page_mask)));
		return true;
	}
	return false;
}

/* The build-id's bytes; 0 if there is none. */
static size_t build_id(Elf *elf, uint8_t id[32])
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		size_t offset = 0, name, desc;
		GElf_Shdr shdr;
		GElf_Nhdr note;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(scn, NULL);
		while (data && (offset = gelf_getnote(data, offset, &note, &name, &desc)))
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    note.n_descsz >= 2 && note.n_descsz <= 32) {
				memcpy(id, (const uint8_t *)data->d_buf + desc,
				       note.n_descsz);
				return note.n_descsz;
			}
	}
	return 0;
}

/* A file, or its debug file. */
struct elf_file {
	int fd;
	Elf *elf;
};

static void close_elf_file(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct elf_file){.fd = -1};
}

/* The debug file that has elf's build-id. */
static bool open_debug_file(Elf *elf, struct elf_file *debug)
{
	char path[128] = "/usr/lib/debug/.build-id/";
	uint8_t id[32], other[32];
	size_t n = build_id(elf, id), used = strlen(path);

	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%02x%s",
					 id[i], i == 0 ? "/" : "");
	snprintf(path + used, sizeof(path) - used, ".debug");
	if (n)
		debug->fd = hi_files_open(path);
	if (debug->fd >= 0)
		debug->elf = elf_begin(debug->fd, ELF_C_READ_MMAP, NULL);
	return debug->elf && build_id(debug->elf, other) == n &&
	       memcmp(id, other, n) == 0;
}

/* What is looked at: one mapping of one file. */
struct text_search {
	const struct hi_text_files *files;
	const struct hi_mapping *mapping;
	bool is_program, is_libc; /* is_libc: its malloc is looked for */
	bool without_symbols;
	struct elf_file file;
	struct hi_range_list found; /* ELF addresses */
	struct hi_range_list *list; /* target addresses */
};

static void free_text_search(struct text_search *search)
{
	close_elf_file(&search->file);
	free_ranges(&search->found);
}

/* ---- libc's malloc ---- */

static enum hi_status find_libc_malloc(struct text_search *search, struct hi_error *err)
{
	__attribute__((cleanup(close_elf_file))) struct elf_file debug = {.fd = -1};
	enum hi_status status = HI_NOT_FOUND;
	Elf *elf = search->file.elf;

	if (!search->without_symbols)
		status = hi_malloc_text_by_symbols(elf, &search->found, err);
	if (status == HI_NOT_FOUND && !search->without_symbols &&
	    open_debug_file(elf, &debug))
		status = hi_malloc_text_by_symbols(debug.elf, &search->found, err);
	if (status == HI_NOT_FOUND)
		status = hi_malloc_text_by_musl_tables(elf, &search->found, err);
	if (status == HI_NOT_FOUND)
		status = hi_malloc_text_by_frames(elf, &search->found, err);
	return status;
}

/* ---- other allocators ---- */

static enum hi_status find_inside(struct text_search *search, Elf *debug,
				  const struct hi_malloc_signs *signs,
				  struct hi_error *err)
{
	enum hi_status status = HI_NOT_FOUND;

	if (!search->without_symbols && signs->kinds)
		status = hi_malloc_text_by_units(search->file.elf, signs, &search->found,
						 err);
	if (status == HI_NOT_FOUND && debug && signs->kinds)
		status = hi_malloc_text_by_units(debug, signs, &search->found, err);
	if (status == HI_NOT_FOUND)
		status = hi_malloc_text_by_calls(search->file.elf, signs, &search->found,
						 err);
	return status;
}

/* Symbols that are not exported are looked at in the program, and where the exported ones
 * show an allocator: debug files of all libraries would take too long. */
static enum hi_status find_other_allocators(struct text_search *search,
					    struct hi_error *err)
{
	__attribute__((cleanup(close_elf_file))) struct elf_file debug = {.fd = -1};
	const struct hi_mapping *m = search->mapping;
	struct hi_malloc_signs signs = {};
	Elf *elf = search->file.elf;
	bool has_debug = false;

	hi_malloc_signs_read(elf, SHT_DYNSYM, &signs);
	if (!search->is_program && hi_malloc_signs_is_library(elf, &signs))
		return hi_vector_push(search->list, (struct hi_range){m->start, m->end})
			       ? HI_OK
			       : hi_fail_memory(err, "allocator's text");
	if (!search->without_symbols) {
		hi_malloc_signs_read(elf, SHT_SYMTAB, &signs);
		has_debug = (search->is_program || signs.kinds) &&
			    open_debug_file(elf, &debug);
	}
	if (has_debug)
		hi_malloc_signs_read(debug.elf, SHT_SYMTAB, &signs);
	if (!signs.kinds && (!signs.has_malloc || search->is_libc))
		return HI_NOT_FOUND;
	return find_inside(search, has_debug ? debug.elf : NULL, &signs, err);
}

/* ---- all of them ---- */

static enum hi_status add_at_bias(struct text_search *search, struct hi_error *err)
{
	const struct hi_range_list *found = &search->found;
	uint64_t bias;

	if (!found->count || !find_bias(search->file.elf, search->mapping, &bias))
		return HI_OK;
	for (size_t i = 0; i < found->count; i++)
		if (!hi_vector_push(search->list,
				    (struct hi_range){found->items[i].start + bias,
						      found->items[i].end + bias}))
			return hi_fail_memory(err, "allocator's text");
	return HI_OK;
}

/* A file that cannot be read, or has no malloc, is no error. */
static enum hi_status search_mapping(struct text_search *search, struct hi_error *err)
{
	enum hi_status status;

	const struct hi_text_files *files = search->files;

	if (files->open(files->arg, search->mapping, &search->file.fd, err) == HI_OK)
		search->file.elf = elf_begin(search->file.fd, ELF_C_READ_MMAP, NULL);
	if (!search->file.elf || elf_kind(search->file.elf) != ELF_K_ELF)
		return HI_OK;
	status = search->is_libc ? find_libc_malloc(search, err) : HI_OK;
	if (status != HI_NO_MEMORY)
		status = find_other_allocators(search, err);
	return status == HI_NO_MEMORY ? status : add_at_bias(search, err);
}

static int compare_text_ranges(const void *a, const void *b)
{
	const struct hi_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void merge_text_ranges(struct hi_range_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items),
		      compare_text_ranges);
	for (size_t i = 0; i < list->count; i++) {
		struct hi_range r = list->items[i];

		if (kept && r.start <= list->items[kept - 1].end) {
			if (r.end > list->items[kept - 1].end)
				list->items[kept - 1].end = r.end;
		} else if (r.start < r.end) {
			list->items[kept++] = r;
		}
	}
	list->count = kept;
}

static enum hi_status add_allocator_mapping(struct text_search *search,
					    struct hi_error *err)
{
	__attribute__((cleanup(free_text_search))) struct text_search own = *search;
	const struct hi_mapping *m = own.mapping;

	/* Also where its file cannot be read. */
	if (hi_malloc_is_library_name(hi_base_name(m->path)))
		return hi_vector_push(own.list, (struct hi_range){m->start, m->end})
			       ? HI_OK
			       : hi_fail_memory(err, "allocator's text");
	return search_mapping(&own, err);
}

static bool maps_libc(const struct hi_text_files *files)
{
	for (size_t i = 0; i < files->n_mappings; i++)
		if (is_libc(&files->mappings[i]))
			return true;
	return false;
}

enum hi_status hi_allocator_text_of(const struct hi_text_files *files,
				    struct hi_range **ret, size_t *n_ret,
				    struct hi_error *err)
{
	__attribute__((cleanup(free_ranges))) struct hi_range_list list = {};
	bool libc_seen = maps_libc(files);
	enum hi_status status = HI_OK;

	elf_version(EV_CURRENT);
	for (size_t i = 0; i < files->n_mappings && status == HI_OK; i++) {
		const struct hi_mapping *m = &files->mappings[i];
		struct text_search search = {.files = files,
					     .mapping = m,
					     .without_symbols = files->without_symbols,
					     .file = {.fd = -1},
					     .list = &list};

		if (!(m->prot & HI_PROT_EXEC) || m->path[0] != '/')
			continue;
		search.is_program = files->exe && strcmp(m->path, files->exe) == 0;
		search.is_libc = is_libc(m) || (search.is_program && !libc_seen);
		status = add_allocator_mapping(&search, err);
	}
	if (status != HI_OK)
		return status;
	merge_text_ranges(&list);
	*ret = list.items;
	*n_ret = list.count;
	list.items = NULL;
	return HI_OK;
}

/* ---- of a running process ---- */

static enum hi_status open_target_file(void *arg, const struct hi_mapping *m, int *fd_ret,
				       struct hi_error *err)
{
	return hi_target_open_file(arg, m, fd_ret, err);
}

enum hi_status hi_allocator_text_with(const struct hi_target *target,
				      bool without_symbols, struct hi_range **ret,
				      size_t *n_ret, struct hi_error *err)
{
	const struct hi_text_files files = {.mappings = target->mappings,
					    .n_mappings = target->n_mappings,
					    .exe = target->exe,
					    .without_symbols = without_symbols,
					    .open = open_target_file,
					    .arg = (void *)(uintptr_t)target};

	return hi_allocator_text_of(&files, ret, n_ret, err);
}

enum hi_status hi_allocator_text(const struct hi_target *target, struct hi_range **ret,
				 size_t *n_ret, struct hi_error *err)
{
	return hi_allocator_text_with(target, false, ret, n_ret, err);
}
