/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/dense.h"
#include "base/alloc.h"
#include "base/cleanup.h"

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* linux/fcntl.h since 5.1 */
#endif

/*
 * A limit of file sizes is meant for files on disks, and counts for these, too: where
 * that is permitted it is lifted meanwhile. Else, where it is less, the kernel would send
 * a signal that kills. False: errno.
 */
static bool lift_size_limit(size_t size, struct rlimit *before)
{
	struct rlimit more;

	if (getrlimit(RLIMIT_FSIZE, before) != 0 || before->rlim_cur == RLIM_INFINITY ||
	    size <= before->rlim_cur)
		return true;
	more = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	if (setrlimit(RLIMIT_FSIZE, &more) == 0)
		return true;
	more = (struct rlimit){before->rlim_max, before->rlim_max};
	if (size <= before->rlim_max && setrlimit(RLIMIT_FSIZE, &more) == 0)
		return true;
	errno = EFBIG;
	return false;
}

bool hi_sealed_is_possible(void)
{
	struct rlimit before;
	bool is_possible = lift_size_limit(SIZE_MAX >> 1, &before);

	(void)setrlimit(RLIMIT_FSIZE, &before);
	return is_possible;
}

static int make_file(size_t size)
{
	HI_GUARD(close)
	int fd = memfd_create("heapinspect-image", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* By /proc/PID/fd of a process that it is sent to, others could open it. */
	if (fd < 0 || fchmod(fd, S_IRUSR) != 0 || ftruncate(fd, (off_t)size) != 0)
		return -1;
	return hi_take_fd(fd);
}

static int create_file(size_t size)
{
	struct rlimit before;
	int fd;

	if (!lift_size_limit(size, &before))
		return -1;
	fd = make_file(size);
	(void)setrlimit(RLIMIT_FSIZE, &before);
	return fd;
}

static void *map_sealed_file(int fd, size_t size, int protection)
{
	size_t whole = (size + 4095) / 4096 * 4096;
	void *pages = hi_dense_alloc(whole, 0);

	if (!pages) {
		errno = ENOMEM;
		return NULL;
	}
	if (mmap(pages, whole, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
		 0) == MAP_FAILED) {
		hi_pages_free(pages, whole);
		return NULL;
	}
	return pages;
}

void *hi_sealed_alloc(size_t size, int *fd_ret)
{
	HI_GUARD(close) int fd = create_file(size);
	void *pages = fd < 0 ? NULL : map_sealed_file(fd, size, PROT_READ | PROT_WRITE);

	if (!pages)
		return NULL;
	/* The pages that are mapped stay writable here. */
	if (fcntl(fd, F_ADD_SEALS, SIZE_SEALS | F_SEAL_FUTURE_WRITE) != 0) {
		hi_pages_free(pages, size);
		return NULL;
	}
	*fd_ret = hi_take_fd(fd);
	return pages;
}

int hi_sealed_open(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* By a mapping: a write has the limit of file sizes. */
static bool write_all(int fd, const char *bytes, size_t size)
{
	void *pages;

	if (!size)
		return true;
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED)
		return false;
	memcpy(pages, bytes, size);
	munmap(pages, size);
	return true;
}

int hi_sealed_copy(const void *bytes, size_t size)
{
	HI_GUARD(close) int fd = create_file(size);

	if (fd < 0 || !write_all(fd, bytes, size) ||
	    fcntl(fd, F_ADD_SEALS, SIZE_SEALS | F_SEAL_WRITE) != 0)
		return -1;
	return hi_sealed_open(fd);
}

void *hi_sealed_map(int fd, size_t size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	if (st.st_size < 0 || (uint64_t)st.st_size < size) {
		errno = EINVAL;
		return NULL;
	}
	return map_sealed_file(fd, size, PROT_READ);
}
