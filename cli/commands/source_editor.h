/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --edit: opens the source of a function in the user's editor.
 *
 * The name of the file is of the target's debug information, so it is hostile. No shell
 * sees it, and it is an absolute path of a regular file, so that no editor takes it for
 * an option. The process that reads the target has no rights and starts no program: it
 * leaves the place in memory that both share, and the first one opens it.
 */
#ifndef HI_CLI_COMMANDS_SOURCE_EDITOR_H
#define HI_CLI_COMMANDS_SOURCE_EDITOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct hi_edit_place {
	char file[PATH_MAX];   /* "" none; as the compiler was given it */
	char module[PATH_MAX]; /* the program's file, or a library; absolute */
	char function[256];    /* for messages */
	uint32_t line;	       /* 0 unknown */
};

struct hi_edit_source {
	const char *function, *file, *module;
	uint32_t line;
};

/* Is VISUAL or EDITOR set? */
bool hi_edit_has_editor(void);
/* *ret is shared with processes that are forked later, for as long as this one lives.
 * HI_NO_MEMORY. */
enum hi_status hi_edit_prepare(struct hi_edit_place **ret, struct hi_error *err);
/* NULL is fine, and takes no note. */
void hi_edit_note(struct hi_edit_place *place, const struct hi_edit_source *source);
/* Runs EDITOR +LINE FILE until it ends; words of EDITOR are separated by blanks. A file
 * that is not absolute is looked for from the current directory, then from those that
 * the module is in, the innermost first: compilers are run in one of them.
 * HI_NOT_FOUND: there is no place, no such file, or no such editor. HI_OS: the editor
 * failed. */
enum hi_status hi_edit_open(const struct hi_edit_place *place, struct hi_error *err);

#endif
