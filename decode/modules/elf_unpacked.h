/* SPDX-License-Identifier: BSD-2-Clause */
/* How large the compressed sections of an ELF file are when they are inflated, as their
 * headers have it: Note [Unpacked files] in base/memory_bound.h. */
#ifndef HI_DECODE_ELF_UNPACKED_H
#define HI_DECODE_ELF_UNPACKED_H

#include <gelf.h>

#include "base/memory_bound.h"

/* Takes what all compressed sections inflate to, before any is; *bytes_ret is what
 * hi_unpacked_release() gives back. Sets the file's size in *file. HI_LIMIT. */
enum hi_status hi_elf_unpacked_take(Elf *elf, const char *name, struct hi_unpacked *file,
				    uint64_t *bytes_ret, struct hi_error *err);

#endif
