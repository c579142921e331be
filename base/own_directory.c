/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/output_directory.h"

static enum hi_status refuse_directory(const char *path, struct hi_error *err)
{
	return hi_fail(err, HI_USAGE, 0,
		       "%.150s: not a directory of this user alone; remove it, or set "
		       "XDG_RUNTIME_DIR or XDG_CACHE_HOME",
		       path);
}

static bool is_owner(int directory, uid_t other)
{
	struct stat st;

	return fstat(directory, &st) == 0 &&
	       (st.st_uid == geteuid() || st.st_uid == other);
}

/* Directories above it, from the outermost on, as far as they lie in one of this user. */
static void make_own_parents(const char *path)
{
	char prefix[PATH_MAX];

	for (const char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
		struct hi_output_place place;

		snprintf(prefix, sizeof(prefix), "%.*s", (int)(end - path), path);
		if (hi_output_place_find(prefix, &place, NULL) != HI_OK)
			return;
		if (is_owner(place.directory, geteuid()) &&
		    hi_output_place_check(&place, prefix, NULL) == HI_OK)
			(void)!mkdirat(place.directory, place.name, 0700);
		close(place.directory);
	}
}

static enum hi_status find_parent(const char *path, struct hi_output_place *ret,
				  struct hi_error *err)
{
	struct hi_error first;
	enum hi_status status = hi_output_place_find(path, ret, &first);

	if (status == HI_OS && first.os_errno == ENOENT) {
		make_own_parents(path);
		return hi_output_place_find(path, ret, err);
	}
	if (status != HI_OK && err)
		*err = first;
	return status;
}

static enum hi_status open_in_parent(const struct hi_output_place *place,
				     const char *path, mode_t forbidden, int *fd_ret,
				     struct hi_error *err)
{
	HI_GUARD(close) int fd = -1;
	struct stat st;

	if (!is_owner(place->directory, 0))
		return refuse_directory(path, err);
	if (mkdirat(place->directory, place->name, 0700) != 0 && errno != EEXIST)
		return hi_fail_errno(err, "make %.150s", path);
	fd = openat(place->directory, place->name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return hi_fail_errno(err, "open %.150s", path);
	if (st.st_uid != geteuid() || st.st_mode & forbidden)
		return refuse_directory(path, err);
	*fd_ret = hi_take_fd(fd);
	return HI_OK;
}

enum hi_status hi_own_directory_open(const char *path, mode_t forbidden, int *fd_ret,
				     struct hi_error *err)
{
	struct hi_output_place place;
	enum hi_status status = find_parent(path, &place, err);

	if (status != HI_OK)
		return status;
	status = hi_output_place_check(&place, path, err);
	if (status == HI_OK)
		status = open_in_parent(&place, path, forbidden, fd_ret, err);
	close(place.directory);
	return status;
}
