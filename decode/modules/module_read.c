/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of a module: out of its file, or of the image first; its data ranges. */
#include "decode/modules/module.h"

#include <string.h>

/* The PT_LOAD whose file part holds the ELF address. */
static const GElf_Phdr *load_at(const struct hi_elf_header *header, uint64_t vaddr)
{
	for (size_t i = 0; i < header->n_phdrs; i++) {
		const GElf_Phdr *ph = &header->phdrs[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr - ph->p_vaddr < ph->p_filesz)
			return ph;
	}
	return NULL;
}

enum hi_status hi_module_read_file(struct hi_module *module, uint64_t addr, void *buf,
				   size_t size, struct hi_error *err)
{
	const struct hi_module_private *priv = module->priv;
	uint64_t at = addr;
	char *to = buf;

	if (size == 0)
		return HI_OK;
	if (priv->fd < 0)
		return hi_fail(err, HI_FAULT, addr, "%s: no file to read", module->name);
	while (size > 0) {
		uint64_t vaddr = at - module->bias;
		const GElf_Phdr *ph = load_at(&priv->header, vaddr);
		size_t step;

		if (!ph)
			return hi_fail(err, HI_FAULT, at, "%s: not in its file",
				       module->name);
		step = ph->p_filesz - (vaddr - ph->p_vaddr) < size
			       ? (size_t)(ph->p_filesz - (vaddr - ph->p_vaddr))
			       : size;
		if (!hi_file_read_at(priv->fd, ph->p_offset + (vaddr - ph->p_vaddr), to,
				     step))
			return hi_fail(err, HI_FAULT, at, "%s: file cut short",
				       module->name);
		at += step;
		to += step;
		size -= step;
	}
	return HI_OK;
}

/*
 * May the file stand in for memory that the image does not hold? Always for segments that
 * are not writable; for writable ones only where the page cannot be a changed one that
 * was swapped out, unreadable or left out of a core.
 */
static bool file_is_truth(const struct hi_modules *modules,
			  const struct hi_module *module, uint64_t addr)
{
	const struct hi_image *image = modules->image;
	const GElf_Phdr *ph = load_at(&module->priv->header, addr - module->bias);
	const struct hi_mapping *mapping;

	if (!ph)
		return false;
	if (!(ph->p_flags & PF_W))
		return true;
	mapping = hi_image_mapping_at(image, addr);
	return hi_image_has_written_pages(image) && mapping &&
	       mapping->kind == HI_MAPPING_FILE && mapping->swapped == 0;
}

/* One stretch inside one page. */
static enum hi_status read_piece(struct hi_modules *modules, uint64_t addr, void *buf,
				 size_t size, struct hi_error *err)
{
	struct hi_module *module;

	if (hi_memory_read(modules->image->memory, addr, buf, size, err) == HI_OK)
		return HI_OK;
	module = hi_modules_at(modules, addr);
	if (!module || !file_is_truth(modules, module, addr))
		return hi_fail(err, HI_FAULT, addr, "neither in the image nor in a file");
	return hi_module_read_file(module, addr, buf, size, err);
}

enum hi_status hi_modules_read(struct hi_modules *modules, uint64_t addr, void *buf,
			       size_t size, struct hi_error *err)
{
	char *to = buf;

	if (addr + size < addr)
		return hi_fail(err, HI_FAULT, addr, "range exceeds the address space");
	if (hi_memory_read(modules->image->memory, addr, buf, size, err) == HI_OK)
		return HI_OK;
	/* A range may lie in both, page by page. */
	while (size > 0) {
		size_t step = HI_PAGE - (addr & (HI_PAGE - 1));
		enum hi_status status;

		if (step > size)
			step = size;
		status = read_piece(modules, addr, to, step, err);
		if (status != HI_OK)
			return status;
		addr += step;
		to += step;
		size -= step;
	}
	return HI_OK;
}

/* ---- data ---- */

struct range_list {
	struct hi_section_range *items;
	size_t n, max;
};

static void add_range(struct range_list *list, uint64_t start, uint64_t end, bool relro)
{
	if (start >= end)
		return;
	if (list->n < list->max)
		list->items[list->n] = (struct hi_section_range){start, end, relro};
	list->n++;
}

/* The program header of this type, or an empty one. */
static GElf_Phdr find_phdr_of_type(const struct hi_elf_header *header, uint32_t type)
{
	for (size_t i = 0; i < header->n_phdrs; i++)
		if (header->phdrs[i].p_type == type)
			return header->phdrs[i];
	return (GElf_Phdr){};
}

static uint64_t clamp_address(uint64_t x, uint64_t low, uint64_t high)
{
	return x < low ? low : x > high ? high : x;
}

/* [start, end) without [hole_start, hole_end). */
static void add_without(struct range_list *list, uint64_t start, uint64_t end,
			uint64_t hole_start, uint64_t hole_end, bool relro)
{
	hole_start = clamp_address(hole_start, start, end);
	hole_end = clamp_address(hole_end, hole_start, end);
	add_range(list, start, hole_start, relro);
	add_range(list, hole_end, end, relro);
}

bool hi_module_has_section(struct hi_module *module, const char *name)
{
	Elf *elf = hi_module_elf(module);
	Elf_Scn *scn = NULL;
	size_t strings;

	if (!elf || elf_getshdrstrndx(elf, &strings) != 0)
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		const char *found = gelf_getshdr(scn, &shdr)
					    ? elf_strptr(elf, strings, shdr.sh_name)
					    : NULL;

		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

bool hi_module_section_at(struct hi_module *module, uint64_t addr, const char **name_ret,
			  uint64_t *offset_ret)
{
	struct hi_modules *modules = hi_module_modules(module);
	uint64_t at = addr - module->bias;
	Elf_Scn *scn = NULL;
	bool found = false;
	size_t strings;
	Elf *elf;

	hi_modules_lock(modules);
	elf = hi_module_elf(module);
	while (elf && !found && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;

		/* .tbss takes no memory: what follows has its addresses. */
		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC) ||
		    shdr.sh_flags & SHF_TLS || at - shdr.sh_addr >= shdr.sh_size)
			continue;
		if (elf_getshdrstrndx(elf, &strings) != 0 ||
		    !(*name_ret = elf_strptr(elf, strings, shdr.sh_name)))
			break;
		*offset_ret = at - shdr.sh_addr;
		found = true;
	}
	hi_modules_unlock(modules);
	return found;
}

bool hi_module_is_system(const struct hi_module *module)
{
	return hi_file_is_system(module->name);
}

bool hi_file_is_system(const char *name)
{
	static const char *const names[] = {
		"ld-linux",   "ld-2.",	   "ld-musl", "ld.so",	 "libc.so",  "libc-2.",
		"libm.so",    "libm-2.",   "libdl.",  "libdl-2", "librt.so", "librt-2.",
		"libpthread", "libresolv", "libnss_", "libanl",	 "libutil."};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

size_t hi_module_data(struct hi_module *module, struct hi_section_range *ret, size_t max)
{
	const struct hi_elf_header *header = &module->priv->header;
	const GElf_Phdr tls = find_phdr_of_type(header, PT_TLS),
			relro = find_phdr_of_type(header, PT_GNU_RELRO);
	struct range_list list = {ret, 0, max};

	for (size_t i = 0; i < header->n_phdrs; i++) {
		const GElf_Phdr *ph = &header->phdrs[i];
		uint64_t start, end, relro_start, relro_end, tls_start, tls_end;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W))
			continue;
		start = clamp_address(ph->p_vaddr + module->bias, module->start,
				      module->end);
		end = clamp_address(ph->p_vaddr + ph->p_memsz + module->bias, start,
				    module->end);
		relro_start = clamp_address(relro.p_vaddr + module->bias, start, end);
		relro_end = clamp_address(relro.p_vaddr + relro.p_memsz + module->bias,
					  relro_start, end);
		/* The TLS image is a template, not storage. */
		tls_start = tls.p_vaddr + module->bias;
		tls_end = tls_start + tls.p_filesz;
		add_without(&list, start, relro_start, tls_start, tls_end, false);
		add_without(&list, relro_start, relro_end, tls_start, tls_end, true);
		add_without(&list, relro_end, end, tls_start, tls_end, false);
	}
	return list.n < max ? list.n : max;
}
