/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "base/parse.h"

enum { TRIES = 16, PREFIX_MAX = 240, FORK_FILES = 16 };

static enum hi_status cannot_open(const char *path, struct hi_error *err)
{
	return hi_fail_errno(err, "cannot write %.150s", path);
}

static void close_place(struct hi_output_place *place)
{
	hi_close_fd(place->directory);
	place->directory = -1;
}

/* ---- files that a fork without rights goes on with ---- */

/* Like rights, of the process. The number of a file is its index and one. */
static struct remembered {
	bool is_used, is_begun_here; /* for the other process */
	struct hi_output_file file;  /* without its descriptor */
} remembered[FORK_FILES];

static void remember_output(struct hi_output_file *file)
{
	for (unsigned i = 0; i < FORK_FILES; i++) {
		if (remembered[i].is_used)
			continue;
		file->number = i + 1;
		remembered[i] = (struct remembered){.is_used = true, .file = *file};
		remembered[i].file.fd = -1;
		return;
	}
}

static void forget_output(const struct hi_output_file *file)
{
	if (file->number)
		remembered[file->number - 1] = (struct remembered){};
}

/* ---- in the fork ---- */

static int ask_by_number(enum hi_files_operation operation,
			 const struct hi_output_file *file, char *text_ret)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", file->number);
	return hi_files_ask(operation, number, "", text_ret);
}

static bool ask_for_name(const struct hi_output_file *file)
{
	int fd = ask_by_number(HI_FILES_OUTPUT_NAME, file, NULL);

	hi_close_fd(fd);
	return errno == 0;
}

static bool ask_for_another(const struct hi_output_file *file, struct hi_output_file *ret)
{
	char text[HI_FILES_NAME] = "", *name;
	unsigned long number;
	int fd = ask_by_number(HI_FILES_OUTPUT_AGAIN, file, text);

	if (fd < 0)
		return false;
	text[sizeof(text) - 1] = 0;
	number = strtoul(text, &name, 10);
	*ret = HI_OUTPUT_FILE_NONE;
	ret->fd = fd;
	ret->number = (unsigned)number;
	snprintf(ret->name, sizeof(ret->name), "%s", file->name);
	snprintf(ret->temporary, sizeof(ret->temporary), "%.*s", HI_OUTPUT_NAME - 1,
		 *name ? name + 1 : "");
	return true;
}

/* ---- a new one ---- */

int hi_output_file_create(int directory, const char *temporary)
{
	return openat(directory, temporary,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* A name that nobody can tell before. */
static bool name_temporary_output(const char *name, char out[HI_OUTPUT_NAME])
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	snprintf(out, HI_OUTPUT_NAME, "%.*s.%012llx", PREFIX_MAX, name,
		 (unsigned long long)(random >> 16));
	return true;
}

/* False: errno. */
static bool create_temporary_output(struct hi_output_file *file)
{
	for (int i = 0; i < TRIES; i++) {
		if (!name_temporary_output(file->name, file->temporary))
			break;
		file->fd = hi_output_file_create(file->directory, file->temporary);
		if (file->fd >= 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	file->temporary[0] = '\0'; /* it is another one's */
	return false;
}

static void remove_temporary_output(struct hi_output_file *file)
{
	if (*file->temporary)
		(void)unlinkat(file->directory, file->temporary, 0);
	file->temporary[0] = '\0';
}

/* The directory becomes the file's. */
static enum hi_status create_in_place(struct hi_output_place *place, const char *path,
				      struct hi_output_file *ret, struct hi_error *err)
{
	struct hi_output_file file = HI_OUTPUT_FILE_NONE;

	memcpy(file.name, place->name, sizeof(file.name));
	file.directory = hi_take_fd(place->directory);
	if (!create_temporary_output(&file)) {
		enum hi_status status = cannot_open(path, err);

		hi_output_file_close(&file);
		return status;
	}
	remember_output(&file);
	*ret = file;
	return HI_OK;
}

/* Only of a file that nobody else has a name for: another one may be a hard link. */
static void keep_mode_of(const struct stat *was, int fd)
{
	if (S_ISREG(was->st_mode) && was->st_uid == geteuid() && was->st_nlink == 1)
		(void)!fchmod(fd, was->st_mode & 0777);
}

/* ---- what is there ---- */

enum there { THERE_NOTHING, THERE_FILE, THERE_DIRECTORY, THERE_SPECIAL, THERE_OURS };

/* A link: it was changed meanwhile. */
static enum there classify_mode(mode_t mode)
{
	return S_ISREG(mode)   ? THERE_FILE
	       : S_ISDIR(mode) ? THERE_DIRECTORY
	       : S_ISLNK(mode) ? THERE_NOTHING
			       : THERE_SPECIAL;
}

/* Is the directory that of our own descriptors in /proc? */
static bool has_own_descriptors(int directory)
{
	struct stat own, st;

	return stat("/proc/self/fd", &own) == 0 && fstat(directory, &st) == 0 &&
	       own.st_dev == st.st_dev && own.st_ino == st.st_ino;
}

/* Over all links; *place becomes where it is. */
static enum there look_at_place(struct hi_output_place *place)
{
	struct stat st;

	do
		if (has_own_descriptors(place->directory))
			return THERE_OURS;
	while (hi_output_place_pass_link(place));
	return fstatat(place->directory, place->name, &st, 0) == 0
		       ? classify_mode(st.st_mode)
		       : THERE_NOTHING;
}

/* ---- devices, pipes, descriptors ---- */

static bool is_ours_or_roots(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

static bool is_of_nobody_else(int directory)
{
	struct stat st;

	return fstat(directory, &st) == 0 && is_ours_or_roots(st.st_uid) &&
	       !(st.st_mode & 022);
}

static enum hi_status refuse_special(const char *path, uid_t owner, struct hi_error *err)
{
	return hi_fail(err, HI_USAGE, 0,
		       "cannot write %.110s: a pipe or a device that user %u has put "
		       "there; remove it, or give another name",
		       path, (unsigned)owner);
}

static enum hi_status open_own_descriptor(const char *name, const char *path,
					  struct hi_output_file *ret,
					  struct hi_error *err)
{
	uint64_t number;
	int flags;

	errno = ENOENT;
	if (!hi_parse_number(name, 0, INT_MAX, &number))
		return cannot_open(path, err);
	flags = fcntl((int)number, F_GETFL);
	errno = EBADF;
	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY)
		return cannot_open(path, err);
	*ret = HI_OUTPUT_FILE_NONE;
	ret->fd = fcntl((int)number, F_DUPFD_CLOEXEC, 3);
	return ret->fd < 0 ? cannot_open(path, err) : HI_OK;
}

/* Opens what was looked at, whatever has its name by now. */
static enum hi_status open_special(const struct hi_output_place *place, const char *path,
				   struct hi_output_file *ret, struct hi_error *err)
{
	int follow = hi_output_place_is_in_proc(place) ? 0 : O_NOFOLLOW;
	HI_GUARD(close)
	int at = openat(place->directory, place->name, O_PATH | O_CLOEXEC | follow);
	struct stat st;
	char again[40];

	if (at < 0 || fstat(at, &st) != 0)
		return cannot_open(path, err);
	if (place->has_foreign_link)
		return refuse_special(path, place->foreign, err);
	if (classify_mode(st.st_mode) != THERE_SPECIAL ||
	    (!is_ours_or_roots(st.st_uid) && !is_of_nobody_else(place->directory)))
		return refuse_special(path, st.st_uid, err);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
	*ret = HI_OUTPUT_FILE_NONE;
	ret->fd = open(again, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return ret->fd < 0 ? cannot_open(path, err) : HI_OK;
}

/* ---- the interface ---- */

static enum hi_status open_where_it_is(const struct hi_output_place *place,
				       enum there there, unsigned flags, const char *path,
				       struct hi_output_file *ret, struct hi_error *err)
{
	errno = EISDIR;
	if (there == THERE_DIRECTORY)
		return cannot_open(path, err);
	if (flags & HI_OUTPUT_FILE_REGULAR)
		return hi_fail(err, HI_USAGE, 0, "%.150s: not a regular file", path);
	return there == THERE_OURS ? open_own_descriptor(place->name, path, ret, err)
				   : open_special(place, path, ret, err);
}

/* A sticky directory lets only the owner of a file, its own and root replace it. */
static enum hi_status check_replaceable(const struct hi_output_place *place,
					const char *path, struct hi_error *err)
{
	struct stat directory, st;

	if (geteuid() == 0 || fstat(place->directory, &directory) != 0 ||
	    !(directory.st_mode & S_ISVTX) || directory.st_uid == geteuid() ||
	    fstatat(place->directory, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    st.st_uid == geteuid())
		return HI_OK;
	return hi_fail(err, HI_USAGE, 0,
		       "cannot write %.110s: user %u has a file of that name there, and "
		       "only he may replace it; give another name",
		       path, (unsigned)st.st_uid);
}

static enum hi_status open_new(struct hi_output_place *place, unsigned flags,
			       const char *path, struct hi_output_file *ret,
			       struct hi_error *err)
{
	struct stat was = {};
	bool is_there =
		fstatat(place->directory, place->name, &was, AT_SYMLINK_NOFOLLOW) == 0;
	enum hi_status status = hi_output_place_check(place, path, err);

	if (status == HI_OK && is_there)
		status = check_replaceable(place, path, err);
	if (status == HI_OK)
		status = create_in_place(place, path, ret, err);
	if (status == HI_OK && is_there && flags & HI_OUTPUT_FILE_KEEP_MODE)
		keep_mode_of(&was, ret->fd);
	else if (status == HI_OK && flags & HI_OUTPUT_FILE_READABLE)
		(void)!fchmod(ret->fd, 0644);
	return status;
}

enum hi_status hi_output_file_open(const char *path, unsigned flags,
				   struct hi_output_file *ret, struct hi_error *err)
{
	struct hi_output_place place = {.directory = -1}, at = {.directory = -1};
	enum hi_status status = hi_output_place_find(path, &place, err);
	enum there there;

	if (status != HI_OK)
		return status;
	at = place;
	at.directory = fcntl(place.directory, F_DUPFD_CLOEXEC, 3);
	there = look_at_place(&at);
	if (at.directory < 0)
		status = cannot_open(path, err);
	else if (there == THERE_NOTHING || there == THERE_FILE)
		status = open_new(&place, flags, path, ret, err);
	else
		status = open_where_it_is(&at, there, flags, path, ret, err);
	close_place(&at);
	close_place(&place);
	return status;
}

enum hi_status hi_output_file_open_again(const struct hi_output_file *file,
					 struct hi_output_file *ret, struct hi_error *err)
{
	struct hi_output_place place = {};

	if (hi_files_are_served())
		return ask_for_another(file, ret) ? HI_OK : cannot_open(file->name, err);
	memcpy(place.name, file->name, sizeof(place.name));
	place.directory = fcntl(file->directory, F_DUPFD_CLOEXEC, 3);
	return place.directory < 0 ? cannot_open(file->name, err)
				   : create_in_place(&place, file->name, ret, err);
}

/* Some file systems (overlayfs of older kernels, FUSE, NFS) have no O_TMPFILE. */
static int open_unnamed(int directory)
{
	struct hi_output_file file = HI_OUTPUT_FILE_NONE;
	int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	file.directory = directory;
	snprintf(file.name, sizeof(file.name), ".heapinspect");
	if (!create_temporary_output(&file))
		return -1;
	remove_temporary_output(&file);
	return file.fd;
}

enum hi_status hi_output_file_open_unnamed(const char *path, int *fd_ret,
					   struct hi_error *err)
{
	struct hi_output_place place = {.directory = -1};
	enum hi_status status = hi_output_place_find(path, &place, err);

	if (status == HI_OK)
		status = hi_output_place_check(&place, path, err);
	if (status == HI_OK) {
		*fd_ret = open_unnamed(place.directory);
		if (*fd_ret < 0)
			status = cannot_open(path, err);
	}
	close_place(&place);
	return status;
}

enum hi_status hi_output_file_commit(struct hi_output_file *file, const char *path,
				     struct hi_error *err)
{
	if (*file->temporary &&
	    !(hi_files_are_served() ? ask_for_name(file)
				    : renameat(file->directory, file->temporary,
					       file->directory, file->name) == 0))
		return cannot_open(path, err);
	file->temporary[0] = '\0';
	return HI_OK;
}

void hi_output_file_sync_name(const struct hi_output_file *file)
{
	HI_GUARD(close)
	int fd = file->directory < 0 || hi_files_are_served()
			 ? -1
			 : openat(file->directory, ".",
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		(void)!fsync(fd);
}

void hi_output_file_leave(struct hi_output_file *file)
{
	file->temporary[0] = '\0';
	hi_close_fd(hi_take_fd(file->directory));
}

void hi_output_file_close(struct hi_output_file *file)
{
	if (hi_files_are_served()) {
		if (file->number)
			hi_close_fd(ask_by_number(HI_FILES_OUTPUT_DROP, file, NULL));
		file->directory = -1; /* it was the other process's */
	} else {
		remove_temporary_output(file);
		forget_output(file);
	}
	file->temporary[0] = '\0';
	hi_close_fd(hi_take_fd(file->fd));
	hi_close_fd(hi_take_fd(file->directory));
}

/* ---- for such a fork ---- */

static struct remembered *find_remembered(const char *number)
{
	uint64_t n;

	if (!hi_parse_number(number, 1, FORK_FILES, &n) || !remembered[n - 1].is_used)
		return NULL;
	return &remembered[n - 1];
}

static int name_remembered(struct remembered *r)
{
	struct hi_error err = {};

	errno = 0;
	if (hi_output_file_commit(&r->file, r->file.name, &err) != HI_OK)
		errno = err.os_errno ? err.os_errno : EIO;
	else
		hi_output_file_sync_name(&r->file);
	return -1;
}

static int begin_again(const struct remembered *before, char text[HI_FILES_NAME])
{
	struct hi_output_file next = HI_OUTPUT_FILE_NONE;
	struct hi_error err = {};

	if (hi_output_file_open_again(&before->file, &next, &err) != HI_OK) {
		errno = err.os_errno ? err.os_errno : EIO;
		return -1;
	}
	errno = EMFILE;
	if (!next.number) {
		hi_output_file_close(&next);
		return -1;
	}
	remembered[next.number - 1].is_begun_here = true;
	snprintf(text, HI_FILES_NAME, "%u %s", next.number, next.temporary);
	return hi_take_fd(next.fd);
}

/* The directory of a file that was begun here is its own. */
static void drop_remembered(struct remembered *r)
{
	struct hi_output_file file = r->file;

	if (!r->is_begun_here)
		return;
	*r = (struct remembered){};
	file.number = 0;
	hi_output_file_close(&file);
}

int hi_output_file_serve(const struct hi_files_request *request, char text[HI_FILES_NAME])
{
	struct remembered *r = find_remembered(request->name);

	errno = EPERM;
	if (!r)
		return -1;
	if (request->operation == HI_FILES_OUTPUT_NAME)
		return name_remembered(r);
	if (request->operation == HI_FILES_OUTPUT_AGAIN)
		return begin_again(r, text);
	drop_remembered(r);
	errno = 0;
	return -1;
}

void hi_output_file_serve_end(void)
{
	for (unsigned i = 0; i < FORK_FILES; i++)
		if (remembered[i].is_used)
			drop_remembered(&remembered[i]);
}
