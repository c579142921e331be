/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/tiny_dwarf.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "tests/harness.h"

/* Code, tag, children, (attribute, form)…, 0, 0; closed by 0. */
static const uint8_t abbreviations[] = {1,
					DW_TAG_compile_unit,
					1,
					0,
					0, /* */
					2,
					DW_TAG_base_type,
					0,
					DW_AT_byte_size,
					DW_FORM_data1,
					DW_AT_encoding,
					DW_FORM_data1,
					0,
					0, /* */
					3,
					DW_TAG_variable,
					0,
					DW_AT_location,
					DW_FORM_exprloc,
					0,
					0, /* */
					0};

static const char names[] = "\0.debug_abbrev\0.debug_info\0.shstrtab";

/* Version 5: length, version, type, address size, abbreviations; then the DIEs. */
static const uint8_t unit_head[] = {0,
				    0,
				    0,
				    0,
				    5,
				    0,
				    DW_UT_compile,
				    8,
				    0,
				    0,
				    0,
				    0, /* 12 bytes of header */
				    1, /* */
				    2,
				    4,
				    DW_ATE_signed, /* HI_TINY_INT32 */
				    2,
				    1,
				    DW_ATE_unsigned, /* HI_TINY_UINT8 */
				    2,
				    8,
				    DW_ATE_float, /* HI_TINY_DOUBLE */
				    3};

static size_t put(struct hi_tiny_dwarf *tiny, size_t at, const void *bytes, size_t n)
{
	HI_ASSERT(at + n <= sizeof(tiny->file));
	memcpy(tiny->file + at, bytes, n);
	return at + n;
}

static size_t put_unit(struct hi_tiny_dwarf *tiny, size_t at, const uint8_t *expression,
		       size_t n)
{
	uint8_t length[2] = {(uint8_t)(n & 0x7f) | 0x80, (uint8_t)(n >> 7)}, end = 0;
	uint32_t size;
	size_t next;

	next = put(tiny, at, unit_head, sizeof(unit_head));
	next = put(tiny, next, length, sizeof(length));
	next = put(tiny, next, expression, n);
	next = put(tiny, next, &end, 1);
	size = (uint32_t)(next - at - 4);
	put(tiny, at, &size, sizeof(size));
	return next;
}

static void put_headers(struct hi_tiny_dwarf *tiny, size_t abbrev, size_t info,
			size_t strings, size_t headers)
{
	Elf64_Shdr sections[4] = {
		{},
		{.sh_name = 1, .sh_offset = abbrev, .sh_size = sizeof(abbreviations)},
		{.sh_name = 15, .sh_offset = info, .sh_size = strings - info},
		{.sh_name = 27, .sh_offset = strings, .sh_size = sizeof(names)}};
	Elf64_Ehdr head = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = headers,
		.e_ehsize = sizeof(head),
		.e_shentsize = sizeof(sections[0]),
		.e_shnum = 4,
		.e_shstrndx = 3};

	for (int i = 1; i < 4; i++) {
		sections[i].sh_type = i == 3 ? SHT_STRTAB : SHT_PROGBITS;
		sections[i].sh_addralign = 1;
	}
	put(tiny, 0, &head, sizeof(head));
	put(tiny, headers, sections, sizeof(sections));
}

static void find_location(struct hi_tiny_dwarf *tiny)
{
	Dwarf_Die unit, die;

	HI_ASSERT(dwarf_offdie(tiny->dwarf, 12, &unit));
	HI_ASSERT_EQ(0, dwarf_child(&unit, &die));
	while (dwarf_tag(&die) != DW_TAG_variable)
		HI_ASSERT_EQ(0, dwarf_siblingof(&die, &die));
	HI_ASSERT(dwarf_attr(&die, DW_AT_location, &tiny->location));
}

void hi_tiny_dwarf_open(struct hi_tiny_dwarf *tiny, const uint8_t *expression, size_t n)
{
	size_t abbrev = sizeof(Elf64_Ehdr), info, strings, headers;

	info = put(tiny, abbrev, abbreviations, sizeof(abbreviations));
	strings = put_unit(tiny, info, expression, n);
	headers = (put(tiny, strings, names, sizeof(names)) + 7) & ~(size_t)7;
	put_headers(tiny, abbrev, info, strings, headers);
	elf_version(EV_CURRENT);
	tiny->elf = elf_memory((char *)tiny->file, headers + 4 * sizeof(Elf64_Shdr));
	HI_ASSERT(tiny->elf);
	tiny->dwarf = dwarf_begin_elf(tiny->elf, DWARF_C_READ, NULL);
	HI_ASSERT_MSG(tiny->dwarf, "%s", dwarf_errmsg(-1));
	find_location(tiny);
}

void hi_tiny_dwarf_close(struct hi_tiny_dwarf *tiny)
{
	dwarf_end(tiny->dwarf);
	elf_end(tiny->elf);
}
