/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of musl's malloc in a file that may have no symbols and has no frames: the
 * functions that use a table of constants that only they have. For mallocng it is
 * size_classes, for oldmalloc bin_tab. Every function that the program calls uses it
 * itself; what these call in turn has them as callers. A function begins where calls lead
 * to, behind an instruction that does not go on.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <gelf.h>
#include <string.h>

#include "base/search.h"
#include "decode/allocators/malloc_text.h"
#include "decode/allocators/mallocng.h"

enum {
	MAX_SEGMENTS = 8,
	MAX_FUNCTION = 16384,
	MAX_TEXT = 256 << 20,
	MAX_ENTRIES = 1 << 20
};

/* src/malloc/oldmalloc/malloc.c, 1.1.0 to 1.2.5 */
static const uint8_t bin_table[60] = {
	32, 33, 34, 35, 36, 36, 37, 37, 38, 38, 39, 39, 40, 40, 40, 40, 41, 41, 41, 41,
	42, 42, 42, 42, 43, 43, 43, 43, 44, 44, 44, 44, 44, 44, 44, 44, 45, 45, 45, 45,
	45, 45, 45, 45, 46, 46, 46, 46, 46, 46, 46, 46, 47, 47, 47, 47, 47, 47, 47, 47};

struct text_segment {
	const uint8_t *bytes;
	uint64_t addr, size; /* as in the file */
};
struct musl_text {
	struct text_segment code[MAX_SEGMENTS];
	size_t n_code;
	uint64_t table, table_size; /* ELF address; 0: not found */
	struct address_list HI_VECTOR(uint64_t) entries;
};

static int32_t load_offset(const uint8_t *p)
{
	int32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* ---- the table ---- */

static void find_table_in(struct musl_text *t, const struct text_segment *s)
{
	const void *tables[] = {hi_mallocng_layout.classes, bin_table};
	size_t sizes[] = {sizeof(hi_mallocng_layout.classes), sizeof(bin_table)};

	for (size_t i = 0; i < 2 && !t->table; i++) {
		const uint8_t *p = memmem(s->bytes, s->size, tables[i], sizes[i]);

		if (!p)
			continue;
		t->table = s->addr + (uint64_t)(p - s->bytes);
		t->table_size = sizes[i];
	}
}

static void look_at_segment(Elf *elf, const GElf_Phdr *ph, struct musl_text *t)
{
	struct text_segment s = {.addr = ph->p_vaddr, .size = ph->p_filesz};
	Elf_Data *data;

	if (ph->p_type != PT_LOAD || ph->p_flags & PF_W || !s.size || s.size > MAX_TEXT)
		return;
	data = elf_getdata_rawchunk(elf, (int64_t)ph->p_offset, s.size, ELF_T_BYTE);
	if (!data || data->d_size != s.size)
		return;
	s.bytes = data->d_buf;
	if (!t->table)
		find_table_in(t, &s);
	if (ph->p_flags & PF_X && t->n_code < MAX_SEGMENTS)
		t->code[t->n_code++] = s;
}

/* ---- entries ---- */

static const uint8_t *bytes_of_code(const struct musl_text *t, uint64_t addr,
				    uint64_t *before_ret)
{
	for (size_t i = 0; i < t->n_code; i++) {
		const struct text_segment *s = &t->code[i];

		if (addr >= s->addr && addr - s->addr < s->size) {
			*before_ret = addr - s->addr;
			return s->bytes + (addr - s->addr);
		}
	}
	return NULL;
}

/* What is in front of addr does not go on there: it returns, jumps, or is padding. */
static bool is_behind_end(const struct musl_text *t, uint64_t addr)
{
	uint64_t before = 0;
	const uint8_t *p = bytes_of_code(t, addr, &before);

	if (!p || before < 5)
		return p && before == 0;
	return p[-1] == 0xc3 || p[-1] == 0xcc || p[-1] == 0x90 || p[-1] == 0xf4 ||
	       p[-5] == 0xe9 || p[-2] == 0xeb || (p[-2] == 0x0f && p[-1] == 0x0b) ||
	       /* nop of several bytes: 0f 1f and zeros */
	       (p[-1] == 0 &&
		(p[-2] == 0x1f || p[-3] == 0x1f || p[-4] == 0x1f || p[-5] == 0x1f ||
		 (p[-2] == 0 && p[-3] == 0 && p[-4] == 0)));
}

/* A call; or a jump that is all of a function, which hands its call on. */
static bool leads_to_entry(const struct musl_text *t, const struct text_segment *s,
			   uint64_t at)
{
	return s->bytes[at] == 0xe8 ||
	       (s->bytes[at] == 0xe9 && is_behind_end(t, s->addr + at));
}

static bool collect_calls(struct musl_text *t, const struct text_segment *s)
{
	for (uint64_t i = 0; i + 5 <= s->size; i++) {
		uint64_t to;

		if (!leads_to_entry(t, s, i))
			continue;
		to = s->addr + i + 5 + (uint64_t)(int64_t)load_offset(s->bytes + i + 1);
		if (!is_behind_end(t, to) || t->entries.count >= MAX_ENTRIES)
			continue;
		if (!hi_vector_push(&t->entries, to))
			return false;
	}
	return true;
}

static int compare_entry_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- uses of the table ---- */

/* The last entry at site or before, and the first one behind it. */
static struct hi_range find_code_around(const struct musl_text *t, uint64_t site)
{
	struct hi_range found = {site, site + 1};
	size_t low = hi_search(i, t->entries.count, t->entries.items[i] <= site);

	found.start = low && site - t->entries.items[low - 1] < MAX_FUNCTION
			      ? t->entries.items[low - 1]
			      : site;
	found.end = low < t->entries.count && t->entries.items[low] - site < MAX_FUNCTION
			    ? t->entries.items[low]
			    : site + 64;
	return found;
}

/* Does an operand of 4 bytes at p follow what such an operand follows? Relative to the
 * instruction pointer: mod 0, r/m 5. Absolute: with a register, or an index; or it is a
 * constant of mov. Other bytes of a program look like an offset by chance. */
static bool follows_relative(const uint8_t *p)
{
	return (p[-1] & 0xc7) == 0x05;
}

static bool follows_absolute(const uint8_t *p)
{
	bool has_index =
		(p[-2] & 0xc7) == 0x84 || ((p[-2] & 0xc7) == 0x04 && (p[-1] & 7) == 5);

	return has_index || (p[-1] & 0xc0) == 0x80 || (p[-1] & 0xf8) == 0xb8;
}

/* A displacement of 4 bytes at p, relative to what follows or absolute, into the table or
 * a little before: indices are counted from there. */
static bool refers_to_table(const struct musl_text *t, const uint8_t *p, uint64_t addr)
{
	int64_t offset = load_offset(p);
	uint64_t from = t->table - 8, size = t->table_size + 8;

	return (addr + 4 + (uint64_t)offset - from < size && follows_relative(p)) ||
	       (offset > 0 && (uint64_t)offset - from < size && follows_absolute(p));
}

static enum hi_status collect_users(const struct musl_text *t,
				    const struct text_segment *s,
				    struct hi_range_list *list, struct hi_error *err)
{
	struct hi_range last = {};

	for (uint64_t i = 2; i + 4 <= s->size; i++) {
		uint64_t addr = s->addr + i;

		if ((addr >= last.start && addr < last.end) ||
		    !refers_to_table(t, s->bytes + i, addr))
			continue;
		last = find_code_around(t, addr);
		if (!hi_vector_push(list, last))
			return hi_fail_memory(err, "allocator's text");
	}
	return HI_OK;
}

static enum hi_status find_users(struct musl_text *t, struct hi_range_list *list,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < t->n_code; i++)
		if (!collect_calls(t, &t->code[i]))
			return hi_fail_memory(err, "calls");
	if (t->entries.count)
		qsort(t->entries.items, t->entries.count, sizeof(*t->entries.items),
		      compare_entry_addresses);
	for (size_t i = 0; i < t->n_code && status == HI_OK; i++)
		status = collect_users(t, &t->code[i], list, err);
	return status;
}

enum hi_status hi_malloc_text_by_musl_tables(Elf *elf, struct hi_range_list *list,
					     struct hi_error *err)
{
	struct musl_text t = {};
	size_t before = list->count, n;
	enum hi_status status = HI_OK;

	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph))
			look_at_segment(elf, &ph, &t);
	}
	if (t.table)
		status = find_users(&t, list, err);
	hi_vector_free(&t.entries);
	if (status == HI_OK && list->count == before)
		return hi_fail(err, HI_NOT_FOUND, 0, "no code of musl's malloc");
	return status;
}
