/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image: what was frozen of a target. Memory, mappings, threads with their
 * registers, auxv. Immutable once made; everything after the pause reads it.
 * Made by hi_stop_and_copy() (stop.h) or hi_core_open() (core.h), or by hand
 * in tests (hi_image_create_mock).
 */
#ifndef HI_ATTACH_IMAGE_H
#define HI_ATTACH_IMAGE_H

#include <sys/types.h>
#include <sys/user.h>

#include "attach/command_line.h"
#include "attach/kernel_words.h"
#include "attach/memory.h"
#include "attach/packed.h"
#include "attach/trigger.h"
#include "base/cleanup.h"

enum hi_prot { HI_PROT_READ = 1, HI_PROT_WRITE = 2, HI_PROT_EXEC = 4 };

enum hi_mapping_kind {
	HI_MAPPING_ANONYMOUS,
	HI_MAPPING_FILE,
	HI_MAPPING_HEAP,  /* [heap] */
	HI_MAPPING_STACK, /* [stack] of the main thread; thread stacks are anonymous */
	HI_MAPPING_VDSO,  /* [vdso] */
	HI_MAPPING_SHMEM, /* shared anonymous, memfd, SysV, /dev/zero, /dev/shm */
	HI_MAPPING_OTHER, /* [vvar], [vsyscall], devices: never copied */
};

/* One line of /proc/PID/maps, or one PT_LOAD of a core. Sorted, disjoint. */
struct hi_mapping {
	uint64_t start, end;  /* [start, end) */
	uint64_t file_offset; /* only HI_MAPPING_FILE and _SHMEM */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint8_t prot; /* enum hi_prot bits */
	bool shared;
	bool deleted; /* the kernel appended " (deleted)"; not part of path */
	bool held;    /* some of its bytes are in the image's memory */
	enum hi_mapping_kind kind;
	const char *path; /* as the target sees it; "" for anonymous; hostile */
	/* Bytes at the stop; UINT64_MAX where unknown (cores). */
	uint64_t resident, swapped;
	uint64_t copied; /* bytes of it that the image holds */
};

/* Is it shared memory that others may write to, or this process through another mapping:
 * of a file that it may write to here, or without a file on disk? */
static inline bool hi_mapping_is_shared_data(const struct hi_mapping *mapping)
{
	return mapping->shared &&
	       (mapping->kind == HI_MAPPING_SHMEM ||
		(mapping->kind == HI_MAPPING_FILE && (mapping->prot & HI_PROT_WRITE)));
}

struct hi_thread {
	pid_t tid;
	char name[32];		      /* comm, hostile; "" if unknown */
	struct user_regs_struct regs; /* as the thread will resume; fs_base in it */
	bool maybe_in_allocator;      /* it did not leave it in time */
};

enum hi_snapshot_mode {
	HI_SNAPSHOT_COPY,
	HI_SNAPSHOT_CORE,
	HI_SNAPSHOT_MOCK,
	HI_SNAPSHOT_FORK, /* read from a copy-on-write child */
};

struct hi_image_stats {
	uint64_t pause_ns; /* stop to resume, the longest of all threads; 0 for a core */
	uint64_t time_ns;  /* CLOCK_REALTIME at the stop; a core: its file's mtime */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC when all threads stood; a core: 0 */
	uint64_t bytes_copied;
	uint64_t pages_never_touched; /* mapped, private, neither present nor swapped */
	uint64_t pages_swapped;	      /* left out (no --swap) */
	uint64_t bytes_unreadable;    /* present, but the read failed */
	uint64_t shared_unreadable;   /* of these, in shared mappings */
	uint32_t segments_missing;    /* cores: PT_LOADs cut short or not dumped */
	uint32_t threads_in_allocator;
	uint32_t avoid_rounds; /* in which threads ran on to leave the allocator */
	bool at_exit;	       /* it was about to exit (exit_watch.h) */
	bool outlived;	       /* it had exited, and its memory was kept */
	struct hi_trigger_stop trigger; /* position NONE: stopped at once */
	/* Read from the target while it ran: shared memory, and what a fork does not
	 * hand on (MADV_DONTFORK, MADV_WIPEONFORK). Only in mode FORK. */
	uint64_t bytes_live;
	char not_forked[160]; /* why it was copied though a fork was requested; "" else */
};

struct hi_image {
	struct hi_memory *memory;
	struct hi_mapping *mappings; /* sorted by start */
	size_t n_mappings;
	struct hi_thread *threads; /* [0] is the thread-group leader */
	size_t n_threads;
	/* Read of a live process; Note [Words that the kernel keeps]. */
	struct hi_kernel_word *kernel_words;
	size_t n_kernel_words;
	uint64_t kernel_unread; /* bytes of those that were not read */
	uint64_t *auxv; /* pairs (AT_*, value), without the closing AT_NULL pair */
	size_t n_auxv;	/* pairs */
	pid_t pid;	/* in the pid namespace of this process; 0: unknown */
	char *exe;	/* path as the target sees it; "" when unknown; hostile */
	struct hi_command_line command_line; /* of a core; empty: unknown */
	enum hi_snapshot_mode mode;
	bool complete; /* nothing that should be there was unreadable or missing */
	struct hi_image_stats stats;
	struct hi_image_private *priv; /* files, arenas: image.c only */
};

/* Returns whether it is of a live process: residency is known for all of its pages. */
static inline bool hi_image_is_live(const struct hi_image *image)
{
	return image->mode == HI_SNAPSHOT_COPY || image->mode == HI_SNAPSHOT_FORK;
}

/* Read of a live process: what its private mappings of files have beside the pages that
 * the image holds is as in the files. */
static inline bool hi_image_has_written_pages(const struct hi_image *image)
{
	return hi_image_is_live(image) &&
	       image->stats.bytes_unreadable == image->stats.shared_unreadable;
}

/* Which mapping holds addr; NULL if none. O(log n). */
const struct hi_mapping *hi_image_mapping_at(const struct hi_image *image, uint64_t addr);
/* Value of an auxv entry; false if it has none. */
bool hi_image_auxv(const struct hi_image *image, uint64_t type, uint64_t *value_ret);
/* Resident bytes (at the stop) of [start, end), from pagemap; UINT64_MAX when
 * that is not known (cores, mocks). */
uint64_t hi_image_resident(const struct hi_image *image, uint64_t start, uint64_t end);
/*
 * Mode FORK: bytes that the target has copied on write because of the snapshot,
 * so far or until the child was ended, as what only the child still has: what the
 * target has given back meanwhile counts too. UINT64_MAX: not known (the target or
 * the child has exited), or another mode.
 */
uint64_t hi_image_copied_on_write(const struct hi_image *image);
/*
 * HI_GONE: the image was read in place, its child has ended, and bytes were read as zeros
 * instead. Results computed since are wrong. Call this after everything was read and
 * before results are used. NULL: HI_OK.
 */
enum hi_status hi_image_check(const struct hi_image *image, struct hi_error *err);
/*
 * The first range of bytes in [addr, limit) that was copied, clipped to it; false
 * if there is none. For scans: what it leaves out is not in the image, or was
 * never touched and reads as zeros (a reservation may be terabytes of those).
 * Ranges may be cut where mappings meet. O(log n).
 */
bool hi_image_next_held(const struct hi_image *image, uint64_t addr, uint64_t limit,
			uint64_t *start_ret, uint64_t *end_ret);
/* The total of those bytes. */
uint64_t hi_image_held_bytes(const struct hi_image *image);
/*
 * A descriptor of the very file that this mapping was made from (checked: same device and
 * inode, or a map_files link), seekable, owned by the caller. HI_NOT_FOUND where the file
 * is gone and cannot be reached without a capability; then only the ELF in memory is
 * left. For cores: the path on this machine, or --exe for the executable; the caller must
 * check its build-id in any case.
 */
enum hi_status hi_image_open_file(const struct hi_image *image,
				  const struct hi_mapping *mapping, int *fd_ret,
				  struct hi_error *err);

/*
 * A regular file at that path in the root directory of a target of another mount
 * namespace; links do not lead out of it. HI_NOT_FOUND: no such file, or the target has
 * no root of its own (nor has a core). The caller must check the file's build-id: it need
 * not belong to the target.
 */
enum hi_status hi_image_open_path(const struct hi_image *image, const char *path,
				  int *fd_ret, struct hi_error *err);

/* The target's root directory, if it is of another mount namespace: a descriptor that is
 * the image's. -1: it is of the same, or this process has adopted the image. */
int hi_image_root(const struct hi_image *image);
/*
 * A forked process may read the image instead of this one: call share before the fork,
 * adopt in the fork before anything is read, and give_away in the parent, which then may
 * only destroy the image. Only images of live processes need this.
 */
void hi_image_share(struct hi_image *image);
/* In the forked process; closes its descriptor of the target's root. HI_UNSUPPORTED,
 * HI_NO_MEMORY: it cannot be read in place there. */
enum hi_status hi_image_adopt(struct hi_image *image, struct hi_error *err);
/* In the parent, after the fork. */
void hi_image_give_away(struct hi_image *image);

/* An empty image in that mode; takes memory, also on failure. */
enum hi_status hi_image_create(struct hi_memory *memory, enum hi_snapshot_mode mode,
			       struct hi_image **ret, struct hi_error *err);
/* For tests: an image over a mock memory; takes `memory`. Fill in the rest
 * through hi_image_add_mapping / hi_image_add_thread. */
enum hi_status hi_image_create_mock(struct hi_memory *memory, struct hi_image **ret,
				    struct hi_error *err);
/* Adds a copy of mapping and of its path. HI_BAD_DATA: empty, or overlaps another one. */
enum hi_status hi_image_add_mapping(struct hi_image *image,
				    const struct hi_mapping *mapping,
				    struct hi_error *err); /* copies the path */
/* Adds a copy of thread. HI_NO_MEMORY. */
enum hi_status hi_image_add_thread(struct hi_image *image, const struct hi_thread *thread,
				   struct hi_error *err);
/*
 * For an image of which little is read from now on: compresses its memory and gives it
 * back, if it holds so many bytes at least. Packs `most` bytes of each of its blocks first
 * (0: all), and the rest when it is called again. Threads may be reading it. Later reads
 * unpack it again, and hi_image_check() fails if that could not be done. HI_UNSUPPORTED: it
 * stays as it is: it is small, or not this process's own memory, or there is no userfaultfd.
 * Other failures leave some of it as it is.
 */
enum hi_status hi_image_pack(struct hi_image *image, uint64_t least, uint64_t most,
			     struct hi_error *err);
/* Bytes that were given back, and what they take now; zeros: it was not packed. */
struct hi_packed_stats hi_image_packed(const struct hi_image *image);
/* Ends its copy-on-write child, if it has one: its memory is not read any more. */
void hi_image_end_child(struct hi_image *image);
/* Frees the image with its memory, and ends its child. NULL is fine. */
void hi_image_destroy(struct hi_image *image);
HI_DEFINE_GUARD(struct hi_image *, hi_image_destroy)

#endif
