/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/frames/cfi_section.h"

#include <string.h>

#include "decode/modules/dwfl.h"

enum {
	INFLATED_MAX = 256 << 20,
	/* .eh_frame_hdr begins so (LSB, "Exception Frames"): version, and how the address
	 * of .eh_frame is written: four bytes, relative to themselves. */
	HEADER_VERSION = 1,
	HEADER_PCREL_SDATA4 = 0x1b,
};

/* ---- by section headers ---- */

static Elf_Scn *find_cfi_scn(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (!elf || elf_getshdrstrndx(elf, &strings) != 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *found = gelf_getshdr(scn, shdr)
					    ? elf_strptr(elf, strings, shdr->sh_name)
					    : NULL;

		if (found && strcmp(found, name) == 0 && shdr->sh_type != SHT_NOBITS)
			return scn;
	}
	return NULL;
}

static bool inflate_scn(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	GElf_Chdr chdr;

	if (!(shdr->sh_flags & SHF_COMPRESSED))
		return true;
	return gelf_getchdr(scn, &chdr) && chdr.ch_size <= INFLATED_MAX &&
	       elf_compress(scn, 0, 0) >= 0;
}

static bool read_cfi_scn(Elf *elf, const char *name, struct hi_cfi_section *ret)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_cfi_scn(elf, name, &shdr);
	Elf_Data *data;

	if (!scn || !inflate_scn(scn, &shdr))
		return false;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return false;
	ret->bytes = data->d_buf;
	ret->size = data->d_size;
	ret->address = shdr.sh_addr;
	return true;
}

/* ---- by program headers ---- */

/* The file's bytes from an ELF address to the end of its segment; NULL: none. */
static const uint8_t *find_loaded(struct hi_module *module, uint64_t address,
				  size_t *size_ret)
{
	size_t n = 0, file_size = 0;
	const GElf_Phdr *phdrs = hi_module_phdrs(module, &n);
	const char *file = elf_rawfile(hi_module_elf(module), &file_size);

	for (size_t i = 0; file && i < n; i++) {
		const GElf_Phdr *ph = &phdrs[i];
		uint64_t into = address - ph->p_vaddr;

		if (ph->p_type != PT_LOAD || address < ph->p_vaddr ||
		    into >= ph->p_filesz || ph->p_offset > file_size ||
		    ph->p_filesz > file_size - ph->p_offset)
			continue;
		*size_ret = ph->p_filesz - into;
		return (const uint8_t *)file + ph->p_offset + into;
	}
	return NULL;
}

static bool read_by_header(struct hi_module *module, struct hi_cfi_section *ret)
{
	size_t n = 0, size = 0;
	const GElf_Phdr *phdrs = hi_module_phdrs(module, &n);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *header;
		int32_t relative;

		if (phdrs[i].p_type != PT_GNU_EH_FRAME)
			continue;
		header = find_loaded(module, phdrs[i].p_vaddr, &size);
		if (!header || size < 8 || header[0] != HEADER_VERSION ||
		    header[1] != HEADER_PCREL_SDATA4)
			continue;
		memcpy(&relative, header + 4, sizeof(relative));
		ret->address = phdrs[i].p_vaddr + 4 + (uint64_t)(int64_t)relative;
		ret->bytes = find_loaded(module, ret->address, &ret->size);
		if (ret->bytes)
			return true;
	}
	return false;
}

bool hi_module_eh_frame(struct hi_module *module, struct hi_cfi_section *ret)
{
	struct hi_modules *modules = hi_module_modules(module);
	Elf *elf;
	bool found;

	*ret = (struct hi_cfi_section){};
	hi_modules_lock(modules);
	elf = hi_module_elf(module);
	found = elf &&
		(read_cfi_scn(elf, ".eh_frame", ret) || read_by_header(module, ret));
	hi_modules_unlock(modules);
	return found;
}

bool hi_module_debug_frame(struct hi_module *module, struct hi_cfi_section *ret)
{
	struct hi_modules *modules = hi_module_modules(module);
	bool found;

	*ret = (struct hi_cfi_section){.is_debug = true};
	hi_modules_lock(modules);
	found = read_cfi_scn(hi_module_elf(module), ".debug_frame", ret) ||
		read_cfi_scn(hi_module_debug_elf(module), ".debug_frame", ret);
	hi_modules_unlock(modules);
	return found;
}
