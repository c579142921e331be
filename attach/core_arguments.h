/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line in a core's memory. The notes have its first 80 bytes, and with gdb's
 * gcore only the program's name; the stack has all of it, as the kernel put it there for
 * execve (fs/binfmt_elf.c, create_elf_tables): argc, the pointers of argv and a NULL,
 * those of the environment and a NULL, the auxiliary vector.
 */
#ifndef HI_ATTACH_CORE_ARGUMENTS_H
#define HI_ATTACH_CORE_ARGUMENTS_H

#include "attach/image.h"

/* Reads it from the image's memory, whose auxv is known. HI_NOT_FOUND: the stack is
 * missing, or the program has overwritten its arguments. HI_NO_MEMORY. */
enum hi_status hi_core_arguments_read(const struct hi_image *image,
				      struct hi_command_line *ret, struct hi_error *err);

#endif
