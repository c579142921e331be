/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * malloc's code in a stripped libc. Note [One object file]: all of malloc is one object
 * (malloc.o), so its functions lie side by side, and the exported ones among them are
 * known by name. Every function (an .eh_frame range) between the first and the last of
 * those is malloc's, unless it is exported under another name. Outwards, up to the next
 * foreign export, lie malloc.o's static functions and those of its neighbours: malloc's
 * are those that a direct call or jump reaches. What malloc calls elsewhere (mmap,
 * memset, the lock's slow path) is left out: there the return address lies in malloc's
 * text. Checked against libc6-dbg: tests/decode/allocator_text_test.c.
 */
#include <gelf.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/allocators/malloc_text.h"
#include "decode/allocators/malloc_text_signs.h"

#define MAX_FUNCTIONS (1u << 20)
#define MAX_SPAN (256u << 10)

struct function {
	uint64_t start, end;
	bool exported, malloc;
	bool taken, scanned;
};
struct functions HI_VECTOR(struct function);

struct image { /* bytes of the file by address */
	Elf *elf;
	const uint8_t *raw;
	size_t raw_size;
};

/* size bytes at an ELF address; NULL if the file does not hold them. */
static const uint8_t *elf_bytes_at(const struct image *im, uint64_t addr, uint64_t size)
{
	size_t n;

	if (elf_getphdrnum(im->elf, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;
		uint64_t offset;

		if (!gelf_getphdr(im->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    addr < ph.p_vaddr || addr - ph.p_vaddr >= ph.p_filesz ||
		    ph.p_filesz - (addr - ph.p_vaddr) < size)
			continue;
		offset = ph.p_offset + (addr - ph.p_vaddr);
		if (offset > im->raw_size || im->raw_size - offset < size)
			return NULL;
		return im->raw + offset;
	}
	return NULL;
}

static int32_t load_s32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The end of the function that an FDE describes: pc-relative 4-byte start,
 * then a 4-byte length (the encoding of all x86-64 compilers). 0: odd. */
static uint64_t fde_end(const struct image *im, uint64_t fde, uint64_t start)
{
	const uint8_t *p = elf_bytes_at(im, fde, 16);

	if (!p || fde + 8 + (uint64_t)(int64_t)load_s32(p + 8) != start ||
	    load_s32(p + 12) <= 0)
		return 0;
	return start + (uint32_t)load_s32(p + 12);
}

/* All functions by .eh_frame_hdr's table, which is sorted by address. */
static enum hi_status read_frames(const struct image *im, struct functions *list,
				  struct hi_error *err)
{
	GElf_Phdr ph = {};
	const uint8_t *hdr, *table;
	uint32_t n_entries;
	size_t n;

	if (elf_getphdrnum(im->elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(im->elf, (int)i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			break;
	hdr = ph.p_type == PT_GNU_EH_FRAME ? elf_bytes_at(im, ph.p_vaddr, 12) : NULL;
	/* Version 1; pointer pcrel sdata4; count udata4; table datarel sdata4. */
	if (!hdr || memcmp(hdr, "\1\x1b\3\x3b", 4) != 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "no table of frames");
	memcpy(&n_entries, hdr + 8, sizeof(n_entries));
	if (n_entries > MAX_FUNCTIONS)
		return hi_fail(err, HI_NOT_FOUND, 0, "table of frames is damaged");
	table = elf_bytes_at(im, ph.p_vaddr + 12, (uint64_t)n_entries * 8);
	if (!table)
		return hi_fail(err, HI_NOT_FOUND, 0, "table of frames is damaged");
	for (uint32_t i = 0; i < n_entries; i++) {
		struct function f = {.start = ph.p_vaddr +
					      (uint64_t)(int64_t)load_s32(table + i * 8)};

		f.end = fde_end(
			im, ph.p_vaddr + (uint64_t)(int64_t)load_s32(table + i * 8 + 4),
			f.start);
		if (f.end <= f.start ||
		    (list->count && f.start < list->items[list->count - 1].end))
			continue;
		if (!hi_vector_push(list, f))
			return hi_fail_memory(err, "functions");
	}
	return HI_OK;
}

/* The function that starts at addr; NULL if none. */
static struct function *function_at(const struct functions *list, uint64_t addr)
{
	size_t low = hi_search(i, list->count, list->items[i].start < addr);

	return low < list->count && list->items[low].start == addr ? &list->items[low]
								   : NULL;
}

static void mark_exports(Elf *elf, Elf_Data *data, size_t strings, struct functions *list)
{
	size_t n = data->d_size / sizeof(Elf64_Sym);

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		struct function *f;
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC))
			continue;
		f = function_at(list, sym.st_value);
		name = elf_strptr(elf, strings, sym.st_name);
		if (!f || !name)
			continue;
		f->exported = true;
		f->malloc |= hi_malloc_text_has_name(name);
	}
}

static void read_exports(Elf *elf, struct functions *list)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNSYM)
			continue;
		data = elf_getdata(scn, NULL);
		if (data)
			mark_exports(elf, data, shdr.sh_link, list);
	}
}

/* Which functions one may reach: those in [low, high); also those whose addresses it
 * takes (of a destructor of thread-local data, of a thread). */
struct reach {
	size_t low, high;
	bool by_address;
};

/* The displacement of a call, jmp, jcc or lea at code[i]: its place, from where it
 * counts; 0: none. */
static uint64_t displacement_at(const uint8_t *code, uint64_t i, uint64_t size,
				const struct reach *reach)
{
	if (i + 6 <= size && code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80)
		return i + 2;
	if (i + 6 <= size && reach->by_address && code[i] == 0x8d &&
	    (code[i + 1] & 0xc7) == 0x05)
		return i + 2;
	if (i + 5 <= size && (code[i] == 0xe8 || code[i] == 0xe9))
		return i + 1;
	return 0;
}

/* The functions that f calls or jumps to: every 4-byte displacement behind such an
 * opcode that hits the very start of one. How many are new. */
static size_t take_reached(const struct image *im, const struct functions *list,
			   const struct function *f, const struct reach *reach)
{
	uint64_t size = f->end - f->start;
	const uint8_t *code = elf_bytes_at(im, f->start, size);
	size_t taken = 0;

	for (uint64_t i = 0; code && i < size; i++) {
		uint64_t at = displacement_at(code, i, size, reach);
		struct function *g;

		if (!at)
			continue;
		g = function_at(list, f->start + at + 4 +
					      (uint64_t)(int64_t)load_s32(code + at));
		if (!g || g->taken || g < list->items + reach->low ||
		    g >= list->items + reach->high)
			continue;
		g->taken = true;
		taken++;
	}
	return taken;
}

/* Adds what those that are taken reach, until nothing is new: each round takes at least
 * one more. */
static void take_all_reached(const struct image *im, struct functions *list,
			     const struct reach *reach)
{
	size_t news;

	do {
		news = 0;
		for (size_t i = reach->low; i < reach->high; i++)
			if (list->items[i].taken && !list->items[i].scanned) {
				list->items[i].scanned = true;
				news += take_reached(im, list, &list->items[i], reach);
			}
	} while (news);
}

/* Marks malloc's functions as taken; false if none is exported, or if they do
 * not lie side by side. */
static bool take_malloc(const struct image *im, struct functions *list)
{
	size_t first = SIZE_MAX, last = 0, low, high;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].malloc) {
			first = i < first ? i : first;
			last = i;
		}
	if (first == SIZE_MAX ||
	    list->items[last].end - list->items[first].start > MAX_SPAN)
		return false;
	for (size_t i = first; i <= last; i++)
		list->items[i].taken = !list->items[i].exported || list->items[i].malloc;
	for (low = first;
	     low > 0 && !list->items[low - 1].exported &&
	     list->items[first].start - list->items[low - 1].start < MAX_SPAN;)
		low--;
	for (high = last + 1; high < list->count && !list->items[high].exported &&
			      list->items[high].end - list->items[last].end < MAX_SPAN;)
		high++;
	take_all_reached(im, list, &(struct reach){.low = low, .high = high});
	return true;
}

static void free_functions(struct functions *list)
{
	hi_vector_free(list);
}

static enum hi_status push_taken(const struct functions *functions,
				 struct hi_range_list *list, struct hi_error *err)
{
	for (size_t i = 0; i < functions->count; i++) {
		const struct function *f = &functions->items[i];

		if (f->taken &&
		    !hi_vector_push(list, (struct hi_range){f->start, f->end}))
			return hi_fail_memory(err, "allocator's text");
	}
	return HI_OK;
}

enum hi_status hi_malloc_text_by_frames(Elf *elf, struct hi_range_list *list,
					struct hi_error *err)
{
	__attribute__((cleanup(free_functions))) struct functions functions = {};
	struct image im = {.elf = elf};
	enum hi_status status;

	im.raw = (const uint8_t *)elf_rawfile(elf, &im.raw_size);
	if (!im.raw)
		return hi_fail(err, HI_NOT_FOUND, 0, "file is not readable");
	status = read_frames(&im, &functions, err);
	if (status != HI_OK)
		return status;
	read_exports(elf, &functions);
	if (!take_malloc(&im, &functions))
		return hi_fail(err, HI_NOT_FOUND, 0, "no malloc among the exports");
	return push_taken(&functions, list, err);
}

/* ---- allocators inside another file ---- */

struct export_search {
	struct functions *functions;
	const struct hi_malloc_signs *signs;
	bool found;
};

static bool take_export(const GElf_Sym *sym, const char *name, unsigned file, void *arg)
{
	struct export_search *search = arg;
	struct function *f = function_at(search->functions, sym->st_value);

	(void)file;
	if (f && hi_malloc_signs_has_name(search->signs, name))
		f->taken = search->found = true;
	return true;
}

/* A static program's allocator calls functions of libc that all others call, too. */
static bool has_dynamic_linker(Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_DYNAMIC)
			return true;
	}
	return false;
}

/* An allocator calls none of the program's functions directly, and the libraries' only
 * through the procedure linkage table, which no frame describes as functions of theirs.
 */
enum hi_status hi_malloc_text_by_calls(Elf *elf, const struct hi_malloc_signs *signs,
				       struct hi_range_list *list, struct hi_error *err)
{
	__attribute__((cleanup(free_functions))) struct functions functions = {};
	struct export_search search = {.functions = &functions, .signs = signs};
	struct image im = {.elf = elf};
	enum hi_status status;

	im.raw = (const uint8_t *)elf_rawfile(elf, &im.raw_size);
	if (!im.raw || !has_dynamic_linker(elf))
		return hi_fail(err, HI_NOT_FOUND, 0, "the program is static");
	status = read_frames(&im, &functions, err);
	if (status != HI_OK)
		return status;
	(void)hi_malloc_each_function(elf, SHT_DYNSYM, take_export, &search);
	if (!search.found)
		return hi_fail(err, HI_NOT_FOUND, 0, "no allocator among the exports");
	take_all_reached(&im, &functions,
			 &(struct reach){.high = functions.count, .by_address = true});
	return push_taken(&functions, list, err);
}
