/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { LINKS_MAX = 40, DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC };

struct walk {
	struct hi_output_place place;
	char rest[PATH_MAX]; /* components that are not entered yet */
};

static enum hi_status cannot_reach(const char *path, struct hi_error *err)
{
	return hi_fail_errno(err, "cannot write %.150s", path);
}

/* ---- links ---- */

static bool note_owner_of_link(struct hi_output_place *place, uid_t owner)
{
	if (owner == 0 || owner == geteuid())
		return true;
	if (place->has_foreign_link && place->foreign != owner)
		return false;
	place->has_foreign_link = true;
	place->foreign = owner;
	return true;
}

static enum hi_status refuse_link(const char *path, uid_t owner, struct hi_error *err)
{
	return hi_fail(err, HI_USAGE, 0,
		       "cannot write %.110s: a link of user %u in this path leads to a "
		       "directory of another user; give the directory without the link",
		       path, (unsigned)owner);
}

/* Goes to this directory; -1: errno. */
static int enter_directory(struct hi_output_place *place, int directory)
{
	if (directory < 0)
		return -1;
	hi_close_fd(place->directory);
	place->directory = directory;
	return 0;
}

/* Puts the text of the link before what is left. -1: errno. */
static int take_link_text(struct walk *w, int link)
{
	char text[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlinkat(link, "", text, sizeof(text));

	if (n < 0)
		return -1;
	snprintf(rest, sizeof(rest), "%s", w->rest);
	if ((size_t)n >= sizeof(text) ||
	    (size_t)snprintf(w->rest, sizeof(w->rest), "%.*s/%s", (int)n, text, rest) >=
		    sizeof(w->rest)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return n && *text == '/' ? enter_directory(&w->place, open("/", DIRECTORY)) : 0;
}

static bool is_in_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Links of /proc lead to files, not to names. -1: errno; 1: not followed, *owner_ret. */
static int follow_link(struct walk *w, const char *name, uid_t *owner_ret)
{
	HI_GUARD(close)
	int link = openat(w->place.directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (link < 0 || fstat(link, &st) != 0)
		return -1;
	errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
	if (!S_ISLNK(st.st_mode) || ++w->place.links > LINKS_MAX)
		return -1;
	*owner_ret = st.st_uid;
	if (!note_owner_of_link(&w->place, st.st_uid))
		return 1;
	if (is_in_proc(link))
		return enter_directory(&w->place,
				       openat(w->place.directory, name, DIRECTORY));
	return take_link_text(w, link);
}

/* ---- the way ---- */

/* Takes the first component of what is left. False: there is none; or it is too long for
 * a name, and errno. */
static bool take_component(struct walk *w, char name[HI_OUTPUT_NAME])
{
	char *at = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(at, "/");

	errno = n < HI_OUTPUT_NAME ? 0 : ENAMETOOLONG;
	if (n == 0 || n >= HI_OUTPUT_NAME)
		return false;
	memcpy(name, at, n);
	name[n] = '\0';
	memmove(w->rest, at + n, strlen(at + n) + 1);
	return true;
}

/* Without following, but for automounts. */
static int enter_path_component(struct walk *w, const char *name, uid_t *owner_ret)
{
	int next = openat(w->place.directory, name, DIRECTORY | O_NOFOLLOW);

	if (next < 0 && (errno == ENOTDIR || errno == ELOOP))
		return follow_link(w, name, owner_ret);
	return enter_directory(&w->place, next);
}

static enum hi_status walk_directories(struct walk *w, const char *path,
				       struct hi_error *err)
{
	char name[HI_OUTPUT_NAME];

	while (take_component(w, name)) {
		uid_t owner = 0;
		int how = enter_path_component(w, name, &owner);

		if (how > 0)
			return refuse_link(path, owner, err);
		if (how < 0)
			return cannot_reach(path, err);
	}
	return errno ? cannot_reach(path, err) : HI_OK;
}

/* Cuts the name off; false: errno. */
static bool split_output_name(const char *path, struct walk *w)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	errno = ENOENT;
	if (!*path)
		return false;
	errno = EISDIR;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	errno = ENAMETOOLONG;
	if (strlen(name) >= HI_OUTPUT_NAME || (size_t)(name - path) >= sizeof(w->rest))
		return false;
	memcpy(w->rest, path, (size_t)(name - path));
	w->rest[name - path] = '\0';
	snprintf(w->place.name, sizeof(w->place.name), "%s", name);
	return true;
}

static enum hi_status find_output_place(struct walk *w, const char *path, int start,
					struct hi_output_place *ret, struct hi_error *err)
{
	enum hi_status status;

	w->place.directory = start;
	status = start >= 0 && split_output_name(path, w) ? walk_directories(w, path, err)
							  : cannot_reach(path, err);
	if (status == HI_OK)
		*ret = w->place;
	else
		hi_close_fd(w->place.directory);
	return status;
}

enum hi_status hi_output_place_find(const char *path, struct hi_output_place *ret,
				    struct hi_error *err)
{
	struct walk w = {};

	return find_output_place(&w, path, open(*path == '/' ? "/" : ".", DIRECTORY), ret,
				 err);
}

bool hi_output_place_is_in_proc(const struct hi_output_place *place)
{
	return is_in_proc(place->directory);
}

/* The place that the text of a link means. */
static bool go_on_from(struct hi_output_place *place, const char *text)
{
	struct walk w = {.place = *place};
	int start = *text == '/' ? open("/", DIRECTORY)
				 : openat(place->directory, ".", DIRECTORY);
	struct hi_output_place next;

	if (find_output_place(&w, text, start, &next, NULL) != HI_OK)
		return false;
	hi_close_fd(place->directory);
	*place = next;
	return true;
}

bool hi_output_place_pass_link(struct hi_output_place *place)
{
	HI_GUARD(close)
	int link = openat(place->directory, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (link < 0 || is_in_proc(link) || fstat(link, &st) != 0 ||
	    !S_ISLNK(st.st_mode) || ++place->links > LINKS_MAX)
		return false;
	n = readlinkat(link, "", text, sizeof(text) - 1);
	if (n <= 0 || !note_owner_of_link(place, st.st_uid))
		return false;
	text[n] = '\0';
	return go_on_from(place, text);
}

/* ---- who may write there ---- */

/* An access list names users that the group's bits do not show. */
static bool has_access_list(int directory)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

static bool is_name_of(const char *name, uid_t owner)
{
	HI_GUARD(fclose) FILE *users = fopen("/etc/passwd", "re");
	const struct passwd *user;

	while (users && (user = fgetpwent(users)))
		if (strcmp(user->pw_name, name) == 0)
			return user->pw_uid == owner || user->pw_uid == 0;
	return false;
}

static bool has_other_members(const struct group *group, uid_t owner)
{
	for (char **name = group->gr_mem; *name; name++)
		if (!is_name_of(*name, owner))
			return true;
	return false;
}

/* By their primary group, which /etc/group does not list. */
static bool has_other_users(gid_t gid, uid_t owner)
{
	HI_GUARD(fclose) FILE *users = fopen("/etc/passwd", "re");
	const struct passwd *user;

	while (users && (user = fgetpwent(users)))
		if (user->pw_gid == gid && user->pw_uid != owner && user->pw_uid != 0)
			return true;
	return false;
}

/* Not by getgrgid(), which loads libraries: the portable program has none. A group that
 * only a directory service has is private by the convention for its number. */
static bool is_private_group(gid_t gid, uid_t owner)
{
	HI_GUARD(fclose) FILE *groups = fopen("/etc/group", "re");
	const struct group *group;
	bool is_known = false;

	if (gid == 0)
		return true;
	while (groups && (group = fgetgrent(groups))) {
		if (group->gr_gid != gid)
			continue;
		is_known = true;
		if (has_other_members(group, owner))
			return false;
	}
	return (is_known || gid == owner) && !has_other_users(gid, owner);
}

static bool is_shared(int directory, const struct stat *st)
{
	if (st->st_mode & S_ISVTX)
		return false;
	if (st->st_mode & S_IWOTH)
		return true;
	return st->st_mode & S_IWGRP &&
	       (has_access_list(directory) || !is_private_group(st->st_gid, st->st_uid));
}

enum hi_status hi_output_place_check(const struct hi_output_place *place,
				     const char *path, struct hi_error *err)
{
	struct stat st;

	if (fstat(place->directory, &st) != 0)
		return cannot_reach(path, err);
	if (place->has_foreign_link && st.st_uid != place->foreign)
		return refuse_link(path, place->foreign, err);
	if (is_shared(place->directory, &st))
		return hi_fail(err, HI_USAGE, 0,
			       "cannot write %.100s: other users may replace files in "
			       "its directory (mode %04o); write to another one, or make "
			       "it sticky (chmod +t)",
			       path, st.st_mode & 07777);
	return HI_OK;
}
