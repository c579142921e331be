/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF headers, from a file or from the target's memory, by a small parser of our own:
 * which file belongs to a module is decided before a library reads it. Hostile input.
 */
#include "decode/modules/module.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"

#define PAGE_DOWN(x) ((x) & ~(uint64_t)(HI_PAGE - 1))
#define PAGE_UP(x) PAGE_DOWN((x) + HI_PAGE - 1)

bool hi_file_read_at(int fd, uint64_t offset, void *buf, size_t size)
{
	char *to = buf;

	while (size > 0) {
		ssize_t n = pread(fd, to, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

int hi_file_open_regular(const char *path)
{
	int fd = hi_files_open(path);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -1;
}

/* A header (file offset) or a loaded byte (ELF address): the same bytes. */
static bool source_read(const struct hi_elf_source *source, uint64_t first,
			uint64_t offset, uint64_t vaddr, void *buf, size_t size)
{
	if (source->fd >= 0)
		return offset <= INT64_MAX &&
		       hi_file_read_at(source->fd, offset, buf, size);
	return hi_memory_read(source->memory, source->start + (vaddr - first), buf, size,
			      NULL) == HI_OK;
}

static const char *ehdr_refusal(const GElf_Ehdr *ehdr)
{
	if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0)
		return "no ELF file";
	if (ehdr->e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr->e_ident[EI_DATA] != ELFDATA2LSB || ehdr->e_machine != EM_X86_64)
		return "no x86-64 ELF file";
	if (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN)
		return "neither a program nor a library";
	if (ehdr->e_phentsize != sizeof(GElf_Phdr) || ehdr->e_phnum == 0 ||
	    ehdr->e_phnum > HI_ELF_PHDRS_MAX || ehdr->e_phoff > INT64_MAX)
		return "invalid program headers";
	return NULL;
}

/* low, high and first out of the PT_LOADs; what is wrong, else NULL. */
static const char *measure_load_segments(struct hi_elf_header *header)
{
	bool any = false, first = false;

	for (size_t i = 0; i < header->n_phdrs; i++) {
		const GElf_Phdr *ph = &header->phdrs[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_vaddr + ph->p_memsz < ph->p_vaddr ||
		    ph->p_vaddr + ph->p_memsz > UINT64_MAX - HI_PAGE ||
		    ph->p_offset + ph->p_filesz < ph->p_offset ||
		    ph->p_filesz > ph->p_memsz)
			return "a segment exceeds the address space";
		if (!any || PAGE_DOWN(ph->p_vaddr) < header->low)
			header->low = PAGE_DOWN(ph->p_vaddr);
		if (!any || PAGE_UP(ph->p_vaddr + ph->p_memsz) > header->high)
			header->high = PAGE_UP(ph->p_vaddr + ph->p_memsz);
		if (!first && PAGE_DOWN(ph->p_offset) == 0) {
			header->first = PAGE_DOWN(ph->p_vaddr);
			first = true;
		}
		any = true;
	}
	if (!any)
		return "nothing to load";
	if (!first)
		header->first = header->low;
	if (header->high - header->low > HI_ELF_SPAN_MAX)
		return "segments span too large a range";
	return NULL;
}

/* The build-id in one PT_NOTE's bytes. */
static bool build_id_in(struct hi_elf_header *header, const uint8_t *notes, size_t n,
			size_t align)
{
	size_t at = 0;

	while (n - at >= sizeof(GElf_Nhdr)) {
		GElf_Nhdr note;
		size_t name, desc, end;

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > n || note.n_descsz > n)
			return false;
		name = at + sizeof(note);
		desc = (name + note.n_namesz + align - 1) & ~(align - 1);
		end = desc + note.n_descsz;
		if (end > n)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz > 0 &&
		    note.n_descsz <= sizeof(header->build_id)) {
			memcpy(header->build_id, notes + desc, note.n_descsz);
			header->build_id_size = note.n_descsz;
			return true;
		}
		at = (end + align - 1) & ~(align - 1);
		if (at > n)
			return false;
	}
	return false;
}

static void read_build_id(const struct hi_elf_source *source,
			  struct hi_elf_header *header)
{
	for (size_t i = 0; i < header->n_phdrs; i++) {
		const GElf_Phdr *ph = &header->phdrs[i];
		HI_GUARD(free) uint8_t *notes = NULL;
		size_t size;

		if (ph->p_type != PT_NOTE || ph->p_filesz == 0)
			continue;
		size = ph->p_filesz < HI_ELF_NOTES_MAX ? ph->p_filesz : HI_ELF_NOTES_MAX;
		notes = hi_alloc(size);
		if (!notes || !source_read(source, header->first, ph->p_offset,
					   ph->p_vaddr, notes, size))
			continue;
		if (build_id_in(header, notes, size, ph->p_align == 8 ? 8 : 4))
			return;
	}
}

void hi_elf_header_free(struct hi_elf_header *header)
{
	free(header->phdrs);
	header->phdrs = NULL;
	header->n_phdrs = 0;
}

enum hi_status hi_elf_header_read(const struct hi_elf_source *source,
				  struct hi_elf_header *ret, struct hi_error *err)
{
	struct hi_elf_header header = {};
	const char *refusal;
	size_t size;

	if (!source_read(source, 0, 0, 0, &header.ehdr, sizeof(header.ehdr)))
		return hi_fail(err, HI_FAULT, source->start, "ELF header: not readable");
	refusal = ehdr_refusal(&header.ehdr);
	if (refusal)
		return hi_fail(err, HI_BAD_DATA, source->start, "ELF header: %s",
			       refusal);
	size = header.ehdr.e_phnum * sizeof(GElf_Phdr);
	header.phdrs = hi_alloc(size);
	if (!header.phdrs)
		return hi_fail_memory(err, "program headers");
	header.n_phdrs = header.ehdr.e_phnum;
	if (!source_read(source, 0, header.ehdr.e_phoff, header.ehdr.e_phoff,
			 header.phdrs, size)) {
		hi_elf_header_free(&header);
		return hi_fail(err, HI_FAULT, source->start,
			       "program headers: not readable");
	}
	refusal = measure_load_segments(&header);
	if (refusal) {
		hi_elf_header_free(&header);
		return hi_fail(err, HI_BAD_DATA, source->start, "program headers: %s",
			       refusal);
	}
	read_build_id(source, &header);
	*ret = header;
	return HI_OK;
}

/* Bytes of file that the segments fill; 0: more than the limit. */
static size_t file_span(const struct hi_elf_header *header)
{
	uint64_t span = 0;

	for (size_t i = 0; i < header->n_phdrs; i++) {
		const GElf_Phdr *ph = &header->phdrs[i];

		if (ph->p_type == PT_LOAD && ph->p_offset + ph->p_filesz > span)
			span = ph->p_offset + ph->p_filesz;
	}
	return span > (1ull << 30) || span < sizeof(GElf_Ehdr) ? 0 : (size_t)span;
}

/* Page by page, so that a hole leaves out no more than itself. */
static void copy_segment(struct hi_memory *memory, uint64_t addr, uint8_t *to, size_t n)
{
	while (n > 0) {
		size_t step = HI_PAGE - (addr & (HI_PAGE - 1));

		if (step > n)
			step = n;
		if (hi_memory_read(memory, addr, to, step, NULL) != HI_OK)
			memset(to, 0, step);
		addr += step;
		to += step;
		n -= step;
	}
}

enum hi_status hi_elf_from_memory(struct hi_memory *memory, uint64_t start,
				  const struct hi_elf_header *header, void **ret,
				  size_t *size_ret, struct hi_error *err)
{
	size_t size = file_span(header), budget = size + HI_PAGE * 16;
	GElf_Ehdr *ehdr;
	uint8_t *file;

	if (size == 0)
		return hi_fail(err, HI_BAD_DATA, start, "ELF in memory: invalid size");
	file = hi_pages_alloc(size);
	if (!file)
		return hi_fail_memory(err, "ELF in memory");
	for (size_t i = 0; i < header->n_phdrs; i++) {
		const GElf_Phdr *ph = &header->phdrs[i];

		/* Honest segments share no more of the file than their edges. */
		if (ph->p_type != PT_LOAD || ph->p_filesz > budget)
			continue;
		budget -= ph->p_filesz;
		copy_segment(memory, start + (ph->p_vaddr - header->first),
			     file + ph->p_offset, ph->p_filesz);
	}
	ehdr = (GElf_Ehdr *)file;
	*ehdr = header->ehdr;
	/* Section headers are rarely loaded (the vdso's are). */
	if (ehdr->e_shoff > size ||
	    (uint64_t)ehdr->e_shnum * sizeof(GElf_Shdr) > size - ehdr->e_shoff ||
	    ehdr->e_shentsize != sizeof(GElf_Shdr))
		ehdr->e_shoff = ehdr->e_shnum = ehdr->e_shstrndx = 0;
	*ret = file;
	*size_ret = size;
	return HI_OK;
}
