/* SPDX-License-Identifier: BSD-2-Clause */
/* The private part of an image; see image.h for the public one. */
#ifndef HI_ATTACH_IMAGE_INTERNAL_H
#define HI_ATTACH_IMAGE_INTERNAL_H

#include "attach/image_pages.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/vector.h"

struct hi_frozen;
struct hi_mapping;
struct hi_memory;
struct hi_image_child;

/* Instead of a descriptor: the process that sent the image opens the file. */
enum { HI_FILE_SERVED = -2 };

/* One mapped file, opened while the target was there. */
struct hi_image_file {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	int fd; /* -1: it cannot be opened */
};

struct hi_image_files HI_VECTOR(struct hi_image_file);

struct hi_image_private {
	struct hi_arena arena; /* paths */
	size_t mappings_capacity, threads_capacity;
	const struct hi_frozen *frozen; /* image->memory, if residency is known */
	struct hi_image_child *child;	/* mode FORK only */
	struct hi_image_files files;
	struct hi_image_changes changes; /* of what was read of a child, if it was sent */
	struct hi_pager_runs runs;	 /* that may be kept, of all of it; else none */
	uint64_t room_to_keep;		 /* bytes, beside the runs */
	/* Is the target in another mount namespace? */
	bool has_own_root;
	/* Its root directory then; -1: it is not open here (hi_image_adopt()). */
	int root_fd;
	bool root_is_served; /* it is of the process that sent the image */
	char *core_exe;	     /* core only: --exe; NULL */
	char *sysroot;	     /* core only; NULL: "/" */
};

/* Memory of a running process (unstopped.h), by its /proc/PID/mem; -1: nothing is
 * readable. Takes fd, also on failure. NULL: out of memory. */
struct hi_memory *hi_running_memory(int fd);
/* Is it such a memory? *fd_ret stays its own. */
bool hi_running_memory_fd(const struct hi_memory *memory, int *fd_ret);
/* Asks the server of this process's files (base/files.h) for the file of a mapping. */
enum hi_status hi_image_ask_for_file(const struct hi_mapping *mapping, int *fd_ret,
				     struct hi_error *err);
/* NULL if this file was never looked for. */
const struct hi_image_file *hi_image_files_find(const struct hi_image_files *files,
						const struct hi_mapping *mapping);
/* Closes the descriptors and frees the list. */
void hi_image_files_close(struct hi_image_files *files);

#endif
