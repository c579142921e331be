/* SPDX-License-Identifier: BSD-2-Clause */
/* Names files that do not exist, and those near them. */
#ifndef HI_CLI_OPTIONS_NEAR_FILES_H
#define HI_CLI_OPTIONS_NEAR_FILES_H

#include "base/near_names.h"
#include "session/options.h"

/* Writes "; near it: app.hisnap" of the files in the folder of the path, or "". Looks at no more
 * than its first thousands of entries. Returns out. */
const char *hi_near_files_text(const char *path, char out[HI_NEAR_TEXT]);
/* Prints "PATH: no such file", with the files near it. Returns 2. */
int hi_option_no_file(const char *path);
/* Checks that the files exist that the command is to read. Returns 0, or 2 when an error was
 * printed. */
int hi_options_check_files(const struct hi_options *o);

#endif
