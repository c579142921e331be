/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that heapinspect writes. All outputs are opened here, so that nothing that
 * another user has put at the name, a link, a hard link or a pipe, is written through:
 *
 * - It is new, of mode 0600, with a temporary name in the directory of its path, and
 *   takes the place of what has its name at the commit; a file that grows is committed
 *   when it has its first event. A file, or a link to one, that was there is replaced,
 *   never written. A directory is refused.
 * - The directory is found once and held by a descriptor: Note [Directories of outputs]
 *   in base/output_directory.h.
 * - Devices and pipes, which cannot be replaced, are written as they are, if they are
 *   root's or ours, or lie in a directory of root or ours that others may not write to;
 *   /dev/stdout, /dev/fd/N and the like are the open descriptor itself.
 *
 * For any process and any number of files.
 */
#ifndef HI_BASE_OUTPUT_FILE_H
#define HI_BASE_OUTPUT_FILE_H

#include "base/error.h"
#include "base/files.h"
#include "base/output_directory.h"

enum hi_output_file_flags {
	HI_OUTPUT_FILE_REGULAR = 1,   /* a device or a pipe is refused */
	HI_OUTPUT_FILE_KEEP_MODE = 2, /* that of the file of ours that it replaces */
	HI_OUTPUT_FILE_READABLE = 4,  /* 0644, where there is none to replace */
};

struct hi_output_file {
	int fd;				/* for reading and writing; -1: it was taken */
	int directory;			/* O_PATH; -1: written as it is */
	char name[HI_OUTPUT_NAME];	/* in the directory */
	char temporary[HI_OUTPUT_NAME]; /* "": it has its name */
	unsigned number;		/* by which a fork names it; 0: none */
};
#define HI_OUTPUT_FILE_NONE ((struct hi_output_file){.fd = -1, .directory = -1})

/* Opens a file for this path. flags: bits of the enum. ret: hi_output_file_close().
 * HI_OS; HI_USAGE: refused, and the message names the reason and what helps. */
enum hi_status hi_output_file_open(const char *path, unsigned flags,
				   struct hi_output_file *ret, struct hi_error *err);
/* Opens one more for the same name, in the directory that was found. */
enum hi_status hi_output_file_open_again(const struct hi_output_file *file,
					 struct hi_output_file *ret,
					 struct hi_error *err);
/* Opens a file without a name in the directory of the path; it is gone with its last
 * descriptor. */
enum hi_status hi_output_file_open_unnamed(const char *path, int *fd_ret,
					   struct hi_error *err);
/* Opens the temporary one: new, or -1 and errno. */
int hi_output_file_create(int directory, const char *temporary);
/* Gives it its name, in place of what has it. path: for the message. HI_OS. */
enum hi_status hi_output_file_commit(struct hi_output_file *file, const char *path,
				     struct hi_error *err);
/* Makes the name survive a loss of power; where that fails, it is no more than that. */
void hi_output_file_sync_name(const struct hi_output_file *file);
/* In a fork that is to have no rights: keeps the descriptor alone, as the directory's
 * would open what lies below it. The other process commits. */
void hi_output_file_leave(struct hi_output_file *file);
/* Closes it, and removes the temporary name. */
void hi_output_file_close(struct hi_output_file *file);

/*
 * A fork that has given up its rights (base/rights.h) goes on with the files that were
 * open before, and has no right to their directories: opening again, committing and
 * closing ask the process with the rights (base/files.h), by the numbers of the files.
 * That process serves HI_FILES_OUTPUT_NAME, _AGAIN and _DROP here: returns a descriptor,
 * or -1 and errno, which is 0 where it was done.
 */
int hi_output_file_serve(const struct hi_files_request *request,
			 char text[HI_FILES_NAME]);
/* Removes what was begun for the fork and has no name. */
void hi_output_file_serve_end(void);

#endif
