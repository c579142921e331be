/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How calls find their callees, by the instruction before a return address, in the file
 * of a module. Offsets are from where the module begins in memory. Files are hostile; the
 * kind of a call is a guess about code that cannot be decoded for certain:
 *
 *	direct		call rel32, to an address in the code of the module; or through
 *			the table of addresses that the loader fills in
 *	virtual		through a table that the first word of an object leads to, as far
 *			as the instructions before the call show it (a program of C that
 *			keeps a table of functions there looks the same)
 *	indirect	any other call of a register or of memory
 *	signal		no call, but the code that a handler returns to
 */
#ifndef HI_DECODE_MODULES_CALL_FILE_H
#define HI_DECODE_MODULES_CALL_FILE_H

#include <stdbool.h>

#include "base/error.h"

enum hi_call_kind {
	HI_CALL_UNKNOWN,
	HI_CALL_DIRECT,
	HI_CALL_INDIRECT,
	HI_CALL_VIRTUAL,
	HI_CALL_SIGNAL,
};

struct hi_call_file;
/* build_id: in hexadecimal. *ret: hi_call_file_close(). HI_NOT_FOUND: there is no such
 * file, or it is of another build. HI_UNSUPPORTED: it is no ELF file of x86-64.
 * HI_NO_MEMORY. */
enum hi_status hi_call_file_open(const char *path, const char *build_id,
				 struct hi_call_file **ret, struct hi_error *err);
void hi_call_file_close(struct hi_call_file *file); /* NULL is fine */
/* *target_ret: of a direct call; else 0. */
enum hi_call_kind hi_call_file_kind(const struct hi_call_file *file, uint64_t offset,
				    uint64_t *target_ret);
/* The name of the function that has the offset, by symbols; NULL: none has. Lives as long
 * as the file. */
const char *hi_call_file_function(const struct hi_call_file *file, uint64_t offset);

/* Is that function exported: can other modules call it by its name? */
bool hi_call_file_exports(const struct hi_call_file *file, uint64_t offset);

#endif
