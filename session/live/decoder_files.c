/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/decoder_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool is_elf(int fd)
{
	unsigned char start[SELFMAG];

	return pread(fd, start, SELFMAG, 0) == SELFMAG &&
	       memcmp(start, ELFMAG, SELFMAG) == 0;
}

/* Looks at it before it is opened: a pipe or a device could block or do things. */
int hi_decoder_open_elf(const char *path)
{
	HI_GUARD(close) int at = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat st;
	char again[64];

	if (at < 0)
		return -1;
	errno = EACCES;
	if (fstat(at, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || is_elf(fd))
		return hi_take_fd(fd);
	errno = EACCES;
	return -1;
}

int hi_decoder_open_in_root(const struct hi_image *image, const char *path)
{
	HI_GUARD(close) int fd = -1;

	errno = ENOENT;
	if (!image || hi_image_open_path(image, path, &fd, NULL) != HI_OK)
		return -1;
	if (is_elf(fd))
		return hi_take_fd(fd);
	errno = EACCES;
	return -1;
}

void hi_decoder_report_dropped(const struct hi_rights_dropped *dropped, const char *what)
{
	fprintf(stderr,
		"heapinspect: %s without privileges (no capabilities, seccomp%s%s)\n",
		what, dropped->user ? ", user nobody" : "",
		dropped->landlock ? ", Landlock" : "");
}
