/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream for text about a wrong command line: an error may have several lines, with a
 * caret below the place. Usually stderr; a page about a wrong address takes it instead.
 */
#ifndef HI_CLI_COMMAND_COMPLAINTS_H
#define HI_CLI_COMMAND_COMPLAINTS_H

#include <stddef.h>
#include <stdio.h>

/* Never NULL. */
FILE *hi_complaints(void);
/* NULL: stderr. The stream stays the caller's. */
void hi_complaints_to(FILE *stream);
/* Prints the expression there, with a caret below its byte `column`. */
void hi_complaints_point_at(const char *expression, size_t column);

#endif
