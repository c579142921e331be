/* SPDX-License-Identifier: BSD-2-Clause */
/* See Note [Files for a decoder] in decoder_files.h. */
#include "session/live/decoder_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "decode/modules/file_server.h"
#include "session/user.h"

static const char system_debug_dir[] = "/usr/lib/debug";

/* Mapped files of one directory that are looked at. */
enum { BESIDE_MOST = 16 };

/* Bits by e_type. */
enum {
	OBJECTS = 1 << ET_REL,
	PROGRAMS = 1 << ET_EXEC | 1 << ET_DYN,
	NO_CORES = OBJECTS | PROGRAMS,
};

/* A root directory: of this process, or of the target. */
struct root {
	int fd;
	uint64_t resolve;
	bool is_other; /* user 0 there is not root */
};

static const struct root own_root = {AT_FDCWD, 0, false};

/* ---- a file, however it was found ---- */

/* By linux/magic.h, and some that it lacks: configfs, mqueue, rpc_pipefs, fusectl,
 * pidfs. */
static const uint32_t kernel_file_systems[] = {
	PROC_SUPER_MAGIC,   SYSFS_MAGIC,	  DEBUGFS_MAGIC,      TRACEFS_MAGIC,
	SECURITYFS_MAGIC,   SELINUX_MAGIC,	  SMACK_MAGIC,	      BPF_FS_MAGIC,
	CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,  EFIVARFS_MAGIC,     PSTOREFS_MAGIC,
	NSFS_MAGIC,	    SOCKFS_MAGIC,	  PIPEFS_MAGIC,	      ANON_INODE_FS_MAGIC,
	BINFMTFS_MAGIC,	    RDTGROUP_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, XENFS_SUPER_MAGIC,
	0x62656570,	    0x19800202,		  0x67596969,	      0x65735543,
	0x50494446,
};

/* devtmpfs has the magic number of tmpfs. If /dev is a directory of the root's own file
 * system there is none. */
static bool is_in_devices(const struct stat *st)
{
	struct stat dev, root;

	return stat("/dev", &dev) == 0 && stat("/", &root) == 0 &&
	       dev.st_dev != root.st_dev && st->st_dev == dev.st_dev;
}

/* fd: O_PATH will do, as opening a pipe or a device could block or have effects. */
static bool is_plain_file(int fd, struct stat *ret)
{
	struct statfs fs;

	if (fstat(fd, ret) != 0 || !S_ISREG(ret->st_mode) ||
	    (uint64_t)ret->st_size > HI_DECODER_FILE_SIZE || fstatfs(fd, &fs) != 0)
		return false;
	for (size_t i = 0; i < sizeof(kernel_file_systems) / sizeof(uint32_t); i++)
		if ((uint32_t)fs.f_type == kernel_file_systems[i])
			return false;
	return !is_in_devices(ret);
}

/* types: bits by e_type; other byte orders have none of them. */
static bool is_elf_of(int fd, unsigned types)
{
	unsigned char start[EI_NIDENT + 2];

	return pread(fd, start, sizeof(start), 0) == sizeof(start) &&
	       memcmp(start, ELFMAG, SELFMAG) == 0 && !start[EI_NIDENT + 1] &&
	       start[EI_NIDENT] <= ET_CORE && (types & 1u << start[EI_NIDENT]);
}

/* The file that `at`, an O_PATH descriptor, leads to; -1: none of these types. */
static int open_elf(int at, unsigned types)
{
	HI_GUARD(close) int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd >= 0 && is_elf_of(fd, types) ? hi_take_fd(fd) : -1;
}

static int look_up_file(int directory, const char *path, uint64_t resolve, uint64_t flags)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
			       .resolve = resolve | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
}

static int look_up_directory(const struct root *root, const char *path, size_t n,
			     struct stat *ret)
{
	HI_GUARD(close) int fd = -1;
	char text[HI_FILES_NAME];

	if (n == 0 || n >= sizeof(text))
		return -1;
	memcpy(text, path, n);
	text[n] = 0;
	fd = look_up_file(root->fd, text, root->resolve, O_DIRECTORY);
	return fd >= 0 && fstat(fd, ret) == 0 ? hi_take_fd(fd) : -1;
}

/* ---- whose it is ---- */

static bool is_user(const struct hi_decoder_files *files, uid_t uid)
{
	for (size_t i = 0; i < files->n_users; i++)
		if (files->users[i] == uid)
			return true;
	return false;
}

/* keeper: the owner of what makes the place fit, who may be trusted with his own files
 * there; -1: nobody. */
static bool has_fit_owner(const struct hi_decoder_files *files, const struct root *root,
			  const struct stat *st, uid_t keeper)
{
	bool is_roots = !st->st_uid && root->is_other; /* and not that root's */

	if (root != &own_root && (st->st_mode & S_IROTH))
		return true;
	if (files->n_users && st->st_uid == files->users[0])
		return true;
	if (st->st_nlink > 1 || is_roots)
		return false;
	return !st->st_uid || st->st_uid == keeper || is_user(files, st->st_uid);
}

/* Opens `at` if it is plain, has such an owner and is of these types. */
static int open_if_fit(const struct hi_decoder_files *files, const struct root *root,
		       int at, uid_t keeper, unsigned types)
{
	struct stat st;

	if (at < 0 || !is_plain_file(at, &st) || !has_fit_owner(files, root, &st, keeper))
		return -1;
	return open_elf(at, types);
}

/* ---- debug directories ---- */

/* Distributions have links there that lead out of it. */
static int open_linked(const struct root *root, const char *path)
{
	HI_GUARD(close) int at = -1;
	struct stat st;

	if (root != &own_root)
		at = look_up_file(root->fd, path, root->resolve, 0);
	if (at < 0 || !is_plain_file(at, &st) || !(st.st_mode & S_IROTH))
		return -1;
	return open_elf(at, NO_CORES);
}

static int open_below(const struct hi_decoder_files *files, const struct root *root,
		      const char *path, const char *dir, size_t n)
{
	HI_GUARD(close) int directory = -1, at = -1;
	struct stat st = {};

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (strncmp(path, dir, n) != 0 || path[n] != '/')
		return -1;
	directory = look_up_directory(root, path, n, &st);
	if (directory >= 0)
		at = look_up_file(directory, path + n + strspn(path + n, "/"),
				  RESOLVE_BENEATH, 0);
	if (at < 0)
		return open_linked(root, path);
	/* In a root of its own the target chooses which directory this is. */
	return open_if_fit(files, root, at, root == &own_root ? st.st_uid : (uid_t)-1,
			   NO_CORES);
}

static int open_in_debug_dirs(const struct hi_decoder_files *files,
			      const struct root *root, const char *path)
{
	int fd = open_below(files, root, path, system_debug_dir,
			    sizeof(system_debug_dir) - 1);
	const char *dirs = root == &own_root ? files->debug_dir : NULL;

	while (fd < 0 && dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (n)
			fd = open_below(files, root, path, dirs, n);
		dirs += n + (dirs[n] == ':');
	}
	return fd;
}

/* ---- beside what is mapped ---- */

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

/* Is it named like a separate debug file of the mapped one? */
static bool is_named_like(const char *name, const char *mapped)
{
	size_t n = strlen(mapped);

	if (ends_with(name, ".debug") || ends_with(name, ".dwz") ||
	    ends_with(name, ".sup"))
		return true;
	return n && strncmp(name, mapped, n) == 0 && (!name[n] || name[n] == '.');
}

static bool is_beside(const char *path, const char *mapped)
{
	const char *name = hi_base_name(mapped);
	size_t n = (size_t)(name - mapped);

	if (n == 0 || *mapped != '/' || strncmp(path, mapped, n) != 0)
		return false;
	path += n;
	if (strncmp(path, ".debug/", 7) == 0)
		path += 7;
	return *path && !strchr(path, '/') && is_named_like(path, name);
}

/* The directory that has the mapped file itself, under its own name. */
static int find_directory_of(const struct root *root, const struct hi_mapping *mapped,
			     uid_t *owner_ret)
{
	const char *name = hi_base_name(mapped->path);
	HI_GUARD(close) int directory = -1, file = -1;
	struct stat st;

	directory =
		look_up_directory(root, mapped->path, (size_t)(name - mapped->path), &st);
	if (directory < 0)
		return -1;
	file = look_up_file(directory, name, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, 0);
	if (file < 0 || fstat(file, &st) != 0 || !hi_mapping_is_of_file(mapped, file))
		return -1;
	*owner_ret = st.st_uid;
	return hi_take_fd(directory);
}

static int open_beside_file(const struct hi_decoder_files *files, const struct root *root,
			    const char *path, const struct hi_mapping *mapped)
{
	size_t n = (size_t)(hi_base_name(mapped->path) - mapped->path);
	HI_GUARD(close) int directory = -1, at = -1;
	uid_t owner;

	directory = find_directory_of(root, mapped, &owner);
	if (directory < 0)
		return -1;
	at = look_up_file(directory, path + n,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV, 0);
	return open_if_fit(files, root, at, owner, NO_CORES);
}

static int open_beside_mapped(const struct hi_decoder_files *files,
			      const struct root *root, const char *path)
{
	const struct hi_mapping *before = NULL;
	unsigned n_tried = 0;
	int fd = -1;

	for (size_t i = 0; i < files->n_mappings && fd < 0 && n_tried < BESIDE_MOST;
	     i++) {
		const struct hi_mapping *m = &files->mappings[i];

		if (m->kind != HI_MAPPING_FILE || !is_beside(path, m->path))
			continue;
		if (!before || before->inode != m->inode) { /* it is mapped in parts */
			fd = open_beside_file(files, root, path, m);
			n_tried++;
		}
		before = m;
	}
	return fd;
}

/* ---- elsewhere ---- */

static bool is_split_name(const char *path)
{
	return ends_with(path, ".dwo") || ends_with(path, ".dwp") ||
	       ends_with(path, ".dwz");
}

/* Its own name, also where a link led to it. */
static bool is_split_file(int at)
{
	char link[64], path[HI_FILES_NAME];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return is_split_name(path);
}

static int open_split_file(const struct hi_decoder_files *files, const char *path)
{
	HI_GUARD(close) int at = -1;

	if (*path != '/' || !is_split_name(path))
		return -1;
	at = look_up_file(AT_FDCWD, path, 0, 0);
	if (at < 0 || !is_split_file(at))
		return -1;
	return open_if_fit(files, &own_root, at, (uid_t)-1, OBJECTS);
}

static int open_of_owner(const struct hi_decoder_files *files, const char *path)
{
	HI_GUARD(close) int at = -1;
	struct stat st;

	if (!files->is_of_files || *path != '/')
		return -1;
	at = look_up_file(AT_FDCWD, path, 0, 0);
	if (at < 0 || !is_plain_file(at, &st) || !is_user(files, st.st_uid))
		return -1;
	return open_elf(at, PROGRAMS);
}

/* ---- requests ---- */

static void add_user(struct hi_decoder_files *files, uid_t uid)
{
	if (uid != (uid_t)-1 && !is_user(files, uid) && files->n_users < HI_DECODER_USERS)
		files->users[files->n_users++] = uid;
}

void hi_decoder_files_of(struct hi_decoder_files *files, const struct hi_target *target,
			 const struct hi_image *image)
{
	files->target = target;
	files->mappings = image ? image->mappings : target->mappings;
	files->n_mappings = image ? image->n_mappings : target->n_mappings;
	files->root_fd = image ? hi_image_root(image) : -1;
	files->has_root = files->root_fd >= 0;
	files->other_user_ns = target->other_user_ns;
	files->n_users = 0;
	add_user(files, target->user);
	add_user(files, target->exe_owner);
}

void hi_decoder_files_add_owner(struct hi_decoder_files *files, const char *path)
{
	struct stat st;

	if (path && stat(path, &st) == 0)
		add_user(files, st.st_uid);
}

bool hi_decoder_files_count(struct hi_decoder_files *files)
{
	return files->n_requests++ < HI_DECODER_REQUESTS;
}

/* Takes fd. */
static int give_file(struct hi_decoder_files *files, int fd)
{
	HI_GUARD(close) int given = fd;

	errno = EACCES;
	if (fd < 0 || files->n_files >= HI_DECODER_FILES)
		return -1;
	files->n_files++;
	return hi_take_fd(given);
}

int hi_decoder_files_open(struct hi_decoder_files *files, const char *path)
{
	int fd = open_in_debug_dirs(files, &own_root, path);

	if (fd < 0)
		fd = open_beside_mapped(files, &own_root, path);
	if (fd < 0)
		fd = open_split_file(files, path);
	if (fd < 0)
		fd = open_of_owner(files, path);
	return give_file(files, fd);
}

int hi_decoder_files_open_in_root(struct hi_decoder_files *files, const char *path)
{
	const struct root root = {files->root_fd, RESOLVE_IN_ROOT, files->other_user_ns};
	int fd = -1;

	if (files->has_root && *path == '/')
		fd = open_in_debug_dirs(files, &root, path);
	if (files->has_root && *path == '/' && fd < 0)
		fd = open_beside_mapped(files, &root, path);
	return give_file(files, fd);
}

int hi_decoder_files_open_mapping(struct hi_decoder_files *files, const char *start)
{
	const struct hi_target *target = files->target;
	uint64_t at = strtoull(start, NULL, 16);
	HI_GUARD(close) int fd = -1;
	struct stat st;

	for (size_t i = 0; target && i < target->n_mappings && fd < 0; i++)
		if (target->mappings[i].start == at &&
		    hi_target_open_file(target, &target->mappings[i], &fd, NULL) != HI_OK)
			fd = -1;
	if (fd < 0 || !is_plain_file(fd, &st) || !is_elf_of(fd, NO_CORES))
		return give_file(files, -1);
	return give_file(files, hi_take_fd(fd));
}

int hi_decoder_files_download(struct hi_decoder_files *files, const char *hex,
			      char path_ret[HI_FILES_NAME])
{
	HI_GUARD(close) int fd = -1;
	struct stat st;

	errno = EACCES;
	if (files->n_downloads++ >= HI_DECODER_DOWNLOADS)
		return -1;
	fd = hi_debuginfod_open(hex, path_ret);
	if (fd < 0)
		return -1;
	if (!is_plain_file(fd, &st) || !is_elf_of(fd, NO_CORES))
		return give_file(files, -1);
	return give_file(files, hi_take_fd(fd));
}

void hi_decoder_report_dropped(const struct hi_rights_dropped *dropped, const char *what)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "%s without privileges (no capabilities, seccomp%s%s)", what,
		 dropped->user ? ", user nobody" : "",
		 dropped->landlock ? ", Landlock" : "");
	hi_user_tell(text);
}
