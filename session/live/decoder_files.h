/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a process with rights opens for one that has dropped them (base/files.h).
 * Only the first 18 bytes of a file are read here.
 *
 * Note [Files for a decoder]
 *
 * Whoever takes over the process that decodes may ask for any path, as often as it
 * likes. So the name is no reason to open a file, and its contents are hardly one: a core
 * dump of another user and /proc/kcore are ELF files, too. A file is given away if its
 * place or its owner shows that the inspection is about it:
 *
 * - mapped: the target maps it. Device and inode are the same (attach/target_files.c).
 * - in a debug directory: it lies below /usr/lib/debug or a directory of --debug-dir,
 * also after all links. Its owner is root, a user of the target, or the owner of that
 *   directory. If the target has a root directory of its own, also below /usr/lib/debug
 *   there, whose owner counts for nothing, and from where links may lead to what
 * everybody may read.
 * - beside: it lies in the directory of a file that the target maps, or in .debug there,
 *   and is no link. It is named like that file (prog.debug, prog.dwp) or ends with
 * .debug, .dwz or .sup. Its owner is root, a user of the target, or the owner of that
 * file.
 * - split: its name ends with .dwo, .dwp or .dwz, also after all links, and it is an ELF
 *   file of the relocatable type. Its owner is root or a user of the target. Compilers
 *   leave such files in directories of any name; there is nothing but types and names of
 * a program in them.
 * - of the owner, for cores, recordings and snapshots: it is a program or a library, and
 *   its owner is that of a file which is named on the command line.
 * - named: it is on the command line, and has the owner that it had at the beginning
 *   (cli/decoder/decoder_serve.c).
 *
 * In a root of the target's own a file that everybody may read has a fit owner, and user
 * 0 is root only in the user namespace of this process.
 *
 * "A user of the target" is its effective user, and the owner of the program that it
 * runs; for a core it is the owner of the core. Paths in a core or a recording are claims
 * of that file, so they count for nothing: a private program of root is given away for a
 * core that root owns, and else only as --exe.
 *
 * In all cases but the last it is a regular file with an ELF header, and no core dump; it
 * is on no file system that shows the kernel or devices (proc, sysfs, devtmpfs, …); no
 * magic link leads to it (/proc/PID/root, /proc/PID/fd); if it is not the effective
 * user's and its place counts, it has one name only, since without fs.protected_hardlinks
 * anybody may give a second name to a file of others. Number and size are bounded. A
 * kernel without openat2() (before 5.6) gives none of them: then debug information is
 * found that everybody may read.
 *
 * Refusals are alike whether there is such a file or not.
 */
#ifndef HI_SESSION_LIVE_DECODER_FILES_H
#define HI_SESSION_LIVE_DECODER_FILES_H

#include "attach/image.h"
#include "attach/target.h"
#include "base/files.h"
#include "base/rights.h"

enum { HI_DECODER_USERS = 6 };
enum {
	HI_DECODER_REQUESTS = 1 << 20, /* then nothing is served any more */
	HI_DECODER_FILES = 1 << 17,    /* given away */
	HI_DECODER_DOWNLOADS = 4096,
};
#define HI_DECODER_FILE_SIZE (UINT64_C(64) << 30)

/* Zeros: nothing is given away but what is in /usr/lib/debug. All is borrowed. */
struct hi_decoder_files {
	const struct hi_target *target;
	/* Files that the target maps. */
	const struct hi_mapping *mappings;
	size_t n_mappings;
	bool has_root; /* the target has a root directory of its own: */
	int root_fd;
	bool other_user_ns;	       /* user 0 is not root there */
	uid_t users[HI_DECODER_USERS]; /* the first is the effective one */
	size_t n_users;
	bool is_of_files;      /* cores, recordings, snapshots: "of its owner" counts */
	const char *debug_dir; /* as of hi_modules_options */
	/* So far. */
	uint32_t n_requests, n_files, n_downloads;
};

/* Sets the users of a target and what it maps. image NULL: as it was when it was
 * opened, and without a root of its own. Counts stay. */
void hi_decoder_files_of(struct hi_decoder_files *files, const struct hi_target *target,
			 const struct hi_image *image);
/* Adds the owner of a file that is named on the command line. NULL, no such file: adds
 * nothing. */
void hi_decoder_files_add_owner(struct hi_decoder_files *files, const char *path);

/* False: it has asked too often. Call it for each request. */
bool hi_decoder_files_count(struct hi_decoder_files *files);
/* Opens a file for reading; else -1 and EACCES. */
int hi_decoder_files_open(struct hi_decoder_files *files, const char *path);
/* The same in the root directory of the target. */
int hi_decoder_files_open_in_root(struct hi_decoder_files *files, const char *path);
/* The file of the target's mapping that begins at an address, in hex. */
int hi_decoder_files_open_mapping(struct hi_decoder_files *files, const char *start);
/* Calls hi_debuginfod_open(). */
int hi_decoder_files_download(struct hi_decoder_files *files, const char *hex,
			      char path_ret[HI_FILES_NAME]);

/* Prints "decoding without rights (…)" on stderr. */
void hi_decoder_report_dropped(const struct hi_rights_dropped *dropped, const char *what);

#endif
