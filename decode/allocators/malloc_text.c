/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before the stop: where no thread should be stopped. malloc's functions of
 * libc (or of a static program), and the whole text of other allocators'
 * libraries. Only reads files.
 */
#include "decode/allocators/malloc_text.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/files.h"
#include "base/text.h"

HI_DEFINE_GUARD(Elf *, elf_end)

static void free_ranges(struct hi_range_list *list)
{
	hi_vector_free(list);
}

static bool is_libc(const struct hi_mapping *m)
{
	const char *name = hi_base_name(m->path);

	return strncmp(name, "libc.so.6", 9) == 0 || strncmp(name, "libc-2.", 7) == 0;
}

/* Libraries that are an allocator and nothing else. */
static bool is_allocator(const struct hi_mapping *m)
{
	static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};
	const char *name = hi_base_name(m->path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
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

/* Symbols of the debug file that has this build-id. */
static enum hi_status by_debug_file(Elf *elf, struct hi_range_list *list,
				    struct hi_error *err)
{
	HI_GUARD(close) int fd = -1;
	HI_GUARD(elf_end) Elf *debug = NULL;
	char path[128] = "/usr/lib/debug/.build-id/";
	uint8_t id[32], other[32];
	size_t n = build_id(elf, id), used = strlen(path);

	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%02x%s",
					 id[i], i == 0 ? "/" : "");
	snprintf(path + used, sizeof(path) - used, ".debug");
	if (n)
		fd = hi_files_open(path);
	if (fd < 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "no debug file for libc");
	debug = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!debug || build_id(debug, other) != n || memcmp(id, other, n) != 0)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "libc's debug file is of another build");
	return hi_malloc_text_by_symbols(debug, list, err);
}

static enum hi_status by_file(Elf *elf, bool without_symbols, struct hi_range_list *list,
			      struct hi_error *err)
{
	enum hi_status status = HI_NOT_FOUND;

	if (!without_symbols)
		status = hi_malloc_text_by_symbols(elf, list, err);
	if (status == HI_NOT_FOUND && !without_symbols)
		status = by_debug_file(elf, list, err);
	if (status == HI_NOT_FOUND)
		status = hi_malloc_text_by_frames(elf, list, err);
	return status;
}

/* malloc's functions of the file behind m, as target addresses. */
static enum hi_status add_malloc(const struct hi_target *target,
				 const struct hi_mapping *m, bool without_symbols,
				 struct hi_range_list *list, struct hi_error *err)
{
	__attribute__((cleanup(free_ranges))) struct hi_range_list found = {};
	HI_GUARD(close) int fd = -1;
	HI_GUARD(elf_end) Elf *elf = NULL;
	uint64_t bias;
	enum hi_status status = hi_target_open_file(target, m, &fd, err);

	if (status != HI_OK)
		return status;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !find_bias(elf, m, &bias))
		return hi_fail(err, HI_NOT_FOUND, 0, "%.100s is not an ELF file",
			       m->path);
	status = by_file(elf, without_symbols, &found, err);
	for (size_t i = 0; i < found.count && status == HI_OK; i++)
		if (!hi_vector_push(list, (struct hi_range){found.items[i].start + bias,
							    found.items[i].end + bias}))
			status = hi_fail_memory(err, "allocator's text");
	return status;
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

/* A file that cannot be read, or has no malloc, is no error. */
static enum hi_status add_allocator_mapping(const struct hi_target *target,
					    const struct hi_mapping *m,
					    bool without_symbols,
					    struct hi_range_list *list,
					    struct hi_error *err)
{
	enum hi_status status;

	if (is_allocator(m))
		return hi_vector_push(list, (struct hi_range){m->start, m->end})
			       ? HI_OK
			       : hi_fail_memory(err, "allocator's text");
	status = add_malloc(target, m, without_symbols, list, err);
	return status == HI_NO_MEMORY ? status : HI_OK;
}

enum hi_status hi_allocator_text_with(const struct hi_target *target,
				      bool without_symbols, struct hi_range **ret,
				      size_t *n_ret, struct hi_error *err)
{
	__attribute__((cleanup(free_ranges))) struct hi_range_list list = {};
	enum hi_status status = HI_OK;
	bool libc_seen = false;

	for (size_t i = 0; i < target->n_mappings; i++)
		libc_seen |= is_libc(&target->mappings[i]);
	for (size_t i = 0; i < target->n_mappings && status == HI_OK; i++) {
		const struct hi_mapping *m = &target->mappings[i];
		bool is_program = target->exe && strcmp(m->path, target->exe) == 0;

		if (!(m->prot & HI_PROT_EXEC) || m->path[0] != '/')
			continue;
		if (is_libc(m) || is_allocator(m) || (is_program && !libc_seen))
			status = add_allocator_mapping(target, m, without_symbols, &list,
						       err);
	}
	if (status != HI_OK)
		return status;
	merge_text_ranges(&list);
	*ret = list.items;
	*n_ret = list.count;
	list.items = NULL;
	return HI_OK;
}

enum hi_status hi_allocator_text(const struct hi_target *target, struct hi_range **ret,
				 size_t *n_ret, struct hi_error *err)
{
	return hi_allocator_text_with(target, false, ret, n_ret, err);
}
