/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place of a file that is to be written: its directory, found once and held by a
 * descriptor, and its name in that. For base/output_file.h.
 *
 * Note [Directories of outputs]
 *
 * heapinspect often runs as root, and writes into directories that other users may write
 * to, above all /tmp. Nothing that they put there may make it write elsewhere, and
 * nobody but the owner of the directory and root may put another file in place of one
 * that is being written:
 *
 * - Links in the path are followed where they are root's or ours. A link of another user
 *   is followed to a directory of that same user, who could have written there himself,
 *   and to no other: fs.protected_symlinks does this for links in sticky directories
 *   only, and may be off.
 * - The directory may not be writable by others, unless it is sticky, as /tmp is. The
 *   group counts as others unless it is private: it has no member but the owner of the
 *   directory (the groups of users on Debian and Fedora, whose directories have mode
 *   0775), or is root's. An access list counts as others.
 * - Its owner is not looked at: root writes into the home directory of the user who
 *   called sudo. The owner may replace the file, now and later, and nothing else.
 *
 * The directories above it are not looked at: who may rename those can only choose among
 * directories that pass these rules.
 */
#ifndef HI_BASE_OUTPUT_DIRECTORY_H
#define HI_BASE_OUTPUT_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

enum { HI_OUTPUT_NAME = NAME_MAX + 1 };

struct hi_output_place {
	int directory;		   /* O_PATH; the owner closes it */
	char name[HI_OUTPUT_NAME]; /* no slash in it */
	bool has_foreign_link;	   /* in the path, of the user foreign */
	uid_t foreign;
	unsigned links; /* followed so far */
};

/* Finds the directory of a path, by the rules above for links, and the name in it, which
 * need not be there. HI_OS; HI_USAGE: a link that is not followed. */
enum hi_status hi_output_place_find(const char *path, struct hi_output_place *ret,
				    struct hi_error *err);
/* Steps over the link that has the name: *place becomes that of what it leads to, which
 * need not be there. False: it is no link, is one of /proc, or cannot be followed. */
bool hi_output_place_pass_link(struct hi_output_place *place);
/* In /proc, links lead to files and not to names. */
bool hi_output_place_is_in_proc(const struct hi_output_place *place);
/* Checks the directory by the rules above. path: for the message. HI_USAGE. */
enum hi_status hi_output_place_check(const struct hi_output_place *place,
				     const char *path, struct hi_error *err);

#endif
