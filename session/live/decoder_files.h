/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a process with rights opens for one that has dropped them (base/files.h).
 * Only the first four bytes of a file are read here.
 */
#ifndef HI_SESSION_LIVE_DECODER_FILES_H
#define HI_SESSION_LIVE_DECODER_FILES_H

#include "attach/image.h"
#include "base/rights.h"

/* Opens a regular file that begins with the ELF magic bytes; else -1 and errno. */
int hi_decoder_open_elf(const char *path);
/* The same in the root directory of the target. */
int hi_decoder_open_in_root(const struct hi_image *image, const char *path);

/* Prints "decoding without rights (…)" on stderr. */
void hi_decoder_report_dropped(const struct hi_rights_dropped *dropped, const char *what);

#endif
