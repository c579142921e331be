/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files in mappings of our own, so that pages of them that were read can be given back:
 * an index reads all of a large debug file, and later little of it is needed. */
#ifndef HI_DECODE_ELF_MAPPED_H
#define HI_DECODE_ELF_MAPPED_H

#include <libelf.h>
#include <stddef.h>

/* Maps the file; fd stays the caller's. NULL: it cannot be mapped. Freed by
 * hi_elf_unmap(). */
Elf *hi_elf_map(int fd);
/* Ends an ELF file of hi_elf_map(). NULL is fine. */
void hi_elf_unmap(Elf *elf);
/* Gives back the whole pages of bytes [at, at + size) of an ELF file of hi_elf_map(), which
 * nothing may have changed; they are read again when they are touched. Does nothing where
 * the bytes are in no mapping (inflated sections). */
void hi_elf_give_back(Elf *elf, const void *at, size_t size);

#endif
