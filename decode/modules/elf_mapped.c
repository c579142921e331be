/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/elf_mapped.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "decode/modules/module.h"

/* Private and writable, as libelf changes the headers of sections that it inflates. */
Elf *hi_elf_map(int fd)
{
	struct stat st;
	char *bytes;
	Elf *elf;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size <= 0)
		return NULL;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
		     0);
	if (bytes == MAP_FAILED)
		return NULL;
	elf = elf_memory(bytes, (size_t)st.st_size);
	if (!elf)
		(void)munmap(bytes, (size_t)st.st_size);
	return elf;
}

void hi_elf_unmap(Elf *elf)
{
	size_t size = 0;
	char *bytes = elf ? elf_rawfile(elf, &size) : NULL;

	elf_end(elf);
	if (bytes)
		(void)munmap(bytes, size);
}

void hi_elf_give_back(Elf *elf, const void *at, size_t size)
{
	size_t whole = 0;
	uintptr_t first = (uintptr_t)elf_rawfile(elf, &whole), from = (uintptr_t)at;
	uintptr_t end;

	if (!first || from < first || from - first > whole ||
	    size > whole - (from - first))
		return;
	end = (from + size) & ~(uintptr_t)(HI_PAGE - 1);
	from = (from + HI_PAGE - 1) & ~(uintptr_t)(HI_PAGE - 1);
	if (from < end)
		(void)madvise((void *)from, end - from, MADV_DONTNEED);
}
