/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/own_directory.h"

#define PATIENCE_NS (15 * HI_NS_PER_S)
#define PAUSE_NS 10000000ull
static const char want_name[] = "want";

/* ---- the directory ---- */

static bool is_own_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* After sudo the variable may be another user's. */
static void name_lock_directory(char *out, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && *runtime == '/' && is_own_directory(runtime))
		snprintf(out, size, "%s/heapinspect", runtime);
	else
		snprintf(out, size, "/tmp/heapinspect-%u", geteuid());
}

static enum hi_status open_lock_directory(int *ret, struct hi_error *err)
{
	char path[4096];

	name_lock_directory(path, sizeof(path));
	return hi_own_directory_open(path, 077, ret, err);
}

static int open_lock_file(int directory, const char *name)
{
	return openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* ---- one look ---- */

/* Another process may have removed the file between our open and our lock. */
static bool is_file_of_name(int directory, const char *name, int fd)
{
	struct stat by_name, by_fd;

	return fstatat(directory, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino &&
	       by_name.st_dev == by_fd.st_dev;
}

/* "PID URL\n"; false: it is not written yet. */
static bool read_found(int fd, struct hi_server_found *ret)
{
	char text[HI_LOCK_URL + 32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	long pid;

	if (n <= 0 || text[n - 1] != '\n')
		return false;
	text[n] = 0;
	if (sscanf(text, "%ld %127s", &pid, ret->url) != 2)
		return false;
	ret->pid = (pid_t)pid;
	return true;
}

enum look { LOOK_TAKEN, LOOK_FOUND, LOOK_AGAIN, LOOK_FAILED };

static enum look look_at_lock(struct hi_server_lock *lock, bool (*touch)(const char *url),
			      struct hi_server_found *found)
{
	HI_GUARD(close) int fd = open_lock_file(lock->directory, lock->name);

	if (fd < 0)
		return LOOK_FAILED;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK)
			return LOOK_FAILED;
		return touch && read_found(fd, found) && touch(found->url) ? LOOK_FOUND
									   : LOOK_AGAIN;
	}
	if (!is_file_of_name(lock->directory, lock->name, fd))
		return LOOK_AGAIN;
	/* The text of a server that was killed. */
	if (ftruncate(fd, 0) != 0)
		return LOOK_FAILED;
	lock->fd = hi_take_fd(fd);
	return LOOK_TAKEN;
}

/* ---- the interface ---- */

static enum hi_status look_until_answer(struct hi_server_lock *lock,
					bool (*touch)(const char *url),
					struct hi_server_found *found,
					struct hi_error *err)
{
	uint64_t end = hi_clock_ns() + PATIENCE_NS;

	do {
		switch (look_at_lock(lock, touch, found)) {
		case LOOK_TAKEN:
		case LOOK_FOUND:
			return HI_OK;
		case LOOK_AGAIN:
			hi_clock_pause_ns(PAUSE_NS);
			break;
		case LOOK_FAILED:
		default:
			return hi_fail_errno(err, "lock of the server");
		}
	} while (hi_clock_ns() < end);
	if (!found->pid)
		return hi_fail(err, HI_TIMEOUT, 0,
			       "another process is about to serve this file, but has not "
			       "begun in 15 s");
	return hi_fail(err, HI_TIMEOUT, 0,
		       "process %d serves this file, but does not answer; if it is "
		       "stopped, continue or end it",
		       (int)found->pid);
}

enum hi_status hi_server_lock_take(const char *name, bool (*touch)(const char *url),
				   struct hi_server_lock *ret,
				   struct hi_server_found *found_ret,
				   struct hi_error *err)
{
	struct hi_server_lock lock = {.directory = -1, .fd = -1};
	struct hi_server_found found = {};
	HI_GUARD(close) int want = -1;
	enum hi_status status = open_lock_directory(&lock.directory, err);

	if (status != HI_OK)
		return status;
	snprintf(lock.name, sizeof(lock.name), "%s", name);
	want = open_lock_file(lock.directory, want_name);
	if (want < 0 || flock(want, LOCK_SH) != 0)
		status = hi_fail_errno(err, "lock of those that look for a server");
	else
		status = look_until_answer(&lock, touch, &found, err);
	if (status != HI_OK) {
		hi_server_lock_release(&lock);
		return status;
	}
	*ret = lock;
	*found_ret = found;
	return HI_OK;
}

bool hi_server_lock_also(const struct hi_server_lock *lock, const char *name,
			 struct hi_server_lock *ret)
{
	struct hi_server_lock also = {.fd = -1};

	also.directory = fcntl(lock->directory, F_DUPFD_CLOEXEC, 3);
	snprintf(also.name, sizeof(also.name), "%s", name);
	if (also.directory < 0 || look_at_lock(&also, NULL, NULL) != LOOK_TAKEN) {
		hi_server_lock_release(&also);
		return false;
	}
	*ret = also;
	return true;
}

enum hi_status hi_server_lock_publish(const struct hi_server_lock *lock, const char *url,
				      struct hi_error *err)
{
	char text[HI_LOCK_URL + 32];
	int n = snprintf(text, sizeof(text), "%d %s\n", (int)getpid(), url);

	if (pwrite(lock->fd, text, (size_t)n, 0) != n)
		return hi_fail_errno(err, "lock of the server: write");
	return HI_OK;
}

bool hi_server_lock_give_up(struct hi_server_lock *lock)
{
	HI_GUARD(close) int want = open_lock_file(lock->directory, want_name);

	if (want >= 0 && flock(want, LOCK_EX | LOCK_NB) != 0)
		return false;
	hi_server_lock_release(lock);
	return true;
}

void hi_server_lock_release(struct hi_server_lock *lock)
{
	if (lock->fd >= 0 && is_file_of_name(lock->directory, lock->name, lock->fd))
		(void)unlinkat(lock->directory, lock->name, 0);
	hi_close_fd(hi_take_fd(lock->fd));
	hi_close_fd(hi_take_fd(lock->directory));
}
