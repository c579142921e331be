/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attach/command_line.h"
#include "attach/image_internal.h"
#include "attach/target.h"
#include "attach/target_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/text.h"

#define OVERLAYFS_MAGIC 0x794c7630 /* linux/magic.h */
#define BTRFS_MAGIC 0x9123683e

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/*
 * Note [Is it the same file]
 *
 * A path may have been given to another file since the target mapped it: only device and
 * inode identify it. On overlayfs and btrfs stat() invents a device number per layer or
 * subvolume which is not the one in maps; there the inode alone must do, and the
 * build-id, which every reader of a module compares with the one in memory, is the second
 * check. On any other file system a different device is a different file. A map_files
 * link is the mapped file itself, and its inode is compared only because another mapping
 * may have taken the same addresses meanwhile.
 */
static bool is_same_file(int fd, const struct hi_mapping *m, bool is_link)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (st.st_ino != m->inode)
		return false;
	if (is_link || st.st_dev == makedev(m->dev_major, m->dev_minor))
		return true;
	return fstatfs(fd, &fs) == 0 && ((unsigned)fs.f_type == OVERLAYFS_MAGIC ||
					 (unsigned)fs.f_type == BTRFS_MAGIC);
}

/* Checks by O_PATH first: opening a pipe or a device could block or have effects. */
static int reopen_if_same(int path_fd, const struct hi_mapping *m, bool is_link)
{
	char path[64];

	if (path_fd < 0 || !is_same_file(path_fd, m, is_link))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	return open(path, OPEN_FLAGS);
}

static int open_map_files(const struct hi_target *target, const struct hi_mapping *m)
{
	HI_GUARD(close) int fd = -1;
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx",
		 (int)target->priv->proc_pid, (unsigned long long)m->start,
		 (unsigned long long)m->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	return reopen_if_same(fd, m, true);
}

static int open_in_root(const struct hi_target *target, const struct hi_mapping *m)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	HI_GUARD(close) int fd = -1;

	if (target->priv->root_fd < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, target->priv->root_fd, m->path, &how, sizeof(how));
	return reopen_if_same(fd, m, false);
}

/* In one mount namespace maps shows paths from the common root, also of a chroot. */
static int open_by_path(const struct hi_target *target, const struct hi_mapping *m)
{
	HI_GUARD(close) int fd = -1;

	if (target->other_mount_ns)
		return -1;
	fd = open(m->path, O_PATH | O_CLOEXEC);
	return reopen_if_same(fd, m, false);
}

static int open_exe(const struct hi_target *target, const struct hi_mapping *m)
{
	HI_GUARD(close) int fd = hi_proc_open(target->priv->proc_pid, "exe");

	if (fd < 0 || !is_same_file(fd, m, false))
		return -1;
	return hi_take_fd(fd);
}

/* Both are looked up now, so that a device number means the same for both. */
static bool leads_to_exe(const struct hi_target *target, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	HI_GUARD(close) int fd = -1;
	struct stat file, exe;
	char link[64];

	if (target->priv->root_fd < 0)
		return false;
	fd = (int)syscall(SYS_openat2, target->priv->root_fd, path, &how, sizeof(how));
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)target->priv->proc_pid);
	return fd >= 0 && fstat(fd, &file) == 0 && stat(link, &exe) == 0 &&
	       file.st_dev == exe.st_dev && file.st_ino == exe.st_ino;
}

/* Programs may write anything over their arguments ("redis-server *:6379"): the first
 * word counts only as a path that leads to the executable. */
enum hi_status hi_target_find_start(struct hi_target *target, struct hi_error *err)
{
	HI_GUARD(free) char *word = hi_command_line_text(&target->command_line, true);
	HI_GUARD(free) char *path = NULL;
	const char *name;
	int directory;

	if (!word)
		return hi_fail_memory(err, "command line");
	name = hi_base_name(word);
	directory = (int)(hi_base_name(target->exe) - target->exe);
	if (asprintf(&path, "%.*s%s", directory, target->exe, name) < 0)
		return hi_fail_memory(err, "path of the executable");
	if (!*name || strcmp(path, target->exe) == 0)
		target->started_as = hi_strdup(target->exe);
	else if (*word == '/' && leads_to_exe(target, word))
		target->started_as = hi_strdup(word);
	else
		target->started_as =
			hi_strdup(leads_to_exe(target, path) ? path : target->exe);
	return target->started_as ? HI_OK : hi_fail_memory(err, "path of the executable");
}

bool hi_mapping_is_of_file(const struct hi_mapping *mapping, int fd)
{
	return is_same_file(fd, mapping, false);
}

enum hi_status hi_target_open_file(const struct hi_target *target,
				   const struct hi_mapping *mapping, int *fd_ret,
				   struct hi_error *err)
{
	int fd = -1;

	if ((mapping->kind != HI_MAPPING_FILE && mapping->kind != HI_MAPPING_SHMEM) ||
	    !mapping->inode)
		return hi_fail(err, HI_NOT_FOUND, 0, "this mapping has no file");
	if (hi_files_are_served())
		return hi_image_ask_for_file(mapping, fd_ret, err);
	fd = open_map_files(target, mapping);
	if (fd < 0 && !mapping->deleted)
		fd = open_in_root(target, mapping);
	if (fd < 0 && !mapping->deleted)
		fd = open_by_path(target, mapping);
	if (fd < 0)
		fd = open_exe(target, mapping);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.120s: too many open files (ulimit -n)", mapping->path);
	if (fd < 0)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.120s: deleted or replaced, and map_files needs "
			       "CAP_CHECKPOINT_RESTORE",
			       mapping->path);
	*fd_ret = fd;
	return HI_OK;
}
