/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "decode/modules/elf_unpacked.h"
#include "tests/harness.h"

/* An ELF file of two compressed sections, one in each format, and of their names. */
struct small_elf {
	Elf64_Ehdr header;
	Elf64_Shdr sections[4];
	struct {
		Elf64_Chdr head;
		uint8_t bytes[8];
	} info;
	struct {
		char magic[4];
		uint8_t size[8], bytes[4];
	} line;
	char names[40];
};

static Elf64_Shdr section_of(const struct small_elf *e, uint32_t name, const void *bytes,
			     size_t size, uint32_t type, uint64_t flags)
{
	return (Elf64_Shdr){.sh_name = name,
			    .sh_type = type,
			    .sh_flags = flags,
			    .sh_offset =
				    (uint64_t)((const char *)bytes - (const char *)e),
			    .sh_size = size,
			    .sh_addralign = 1};
}

static void fill_elf(struct small_elf *e, uint64_t info_size, uint64_t line_size)
{
	uint64_t big_endian = htobe64(line_size);

	*e = (struct small_elf){
		.header = {.e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = offsetof(struct small_elf, sections),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 4,
			   .e_shstrndx = 3},
		.info.head = {.ch_type = ELFCOMPRESS_ZLIB,
			      .ch_size = info_size,
			      .ch_addralign = 1},
		.line.magic = {'Z', 'L', 'I', 'B'}};
	memcpy(e->header.e_ident, ELFMAG, SELFMAG);
	e->header.e_ident[EI_CLASS] = ELFCLASS64;
	e->header.e_ident[EI_DATA] = ELFDATA2LSB;
	e->header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(e->line.size, &big_endian, sizeof(big_endian));
	memcpy(e->names, "\0.debug_info\0.zdebug_line\0.shstrtab", 36);
	e->sections[1] =
		section_of(e, 1, &e->info, sizeof(e->info), SHT_PROGBITS, SHF_COMPRESSED);
	e->sections[2] = section_of(e, 13, &e->line, sizeof(e->line), SHT_PROGBITS, 0);
	e->sections[3] = section_of(e, 26, e->names, sizeof(e->names), SHT_STRTAB, 0);
}

static enum hi_status take(uint64_t info_size, uint64_t line_size, uint64_t *bytes_ret,
			   struct hi_error *err)
{
	struct small_elf *image = malloc(sizeof(*image));
	struct hi_unpacked file = {};
	enum hi_status status;
	Elf *elf;

	HI_ASSERT(image);
	fill_elf(image, info_size, line_size);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image, sizeof(*image));
	HI_ASSERT_MSG(elf, "%s", elf_errmsg(-1));
	status = hi_elf_unpacked_take(elf, "small", &file, bytes_ret, err);
	HI_ASSERT_EQ(sizeof(*image), file.file_size);
	HI_ASSERT_EQ(*bytes_ret, file.taken);
	hi_unpacked_release(&file, *bytes_ret);
	elf_end(elf);
	free(image);
	return status;
}

HI_TEST(elf_unpacked, the_sizes_of_both_formats_are_added_up)
{
	struct hi_error err;
	uint64_t bytes;

	HI_ASSERT_OK(take(5000, 300, &bytes, &err), &err);
	HI_ASSERT_EQ(5300, bytes);
}

HI_TEST(elf_unpacked, a_small_file_that_claims_much_is_refused)
{
	static const uint64_t sizes[][2] = {{UINT64_C(1) << 30, 0},
					    {0, UINT64_C(1) << 30},
					    {UINT64_MAX, UINT64_MAX},
					    {UINT64_C(1) << 63, UINT64_C(1) << 63}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct hi_error err;
		uint64_t bytes;

		HI_ASSERT_EQ(HI_LIMIT, take(sizes[i][0], sizes[i][1], &bytes, &err));
		HI_ASSERT_EQ(0, bytes);
		HI_ASSERT_MSG(strstr(err.text, "small: its debug information unpacks to"),
			      "%s", err.text);
	}
}
