/* SPDX-License-Identifier: BSD-2-Clause */
/* Files for the process that decodes. Nothing here looks into them but for the first
 * four bytes. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "cli/decoder.h"
#include "decode/modules/file_server.h"

struct server {
	const struct hi_decoder *decoder;
	struct hi_cache_server cache;
	struct hi_output junit; /* path NULL: not opened */
};

static bool is_same(const char *name, const char *given)
{
	return given && strcmp(name, given) == 0;
}

/* FILE.prof beside FILE.hp. */
static bool is_key_of(const char *name, const char *profile)
{
	size_t n = profile ? strlen(profile) : 0;

	return n > 3 && strcmp(profile + n - 3, ".hp") == 0 && strlen(name) == n + 2 &&
	       memcmp(name, profile, n - 2) == 0 && strcmp(name + n - 2, "prof") == 0;
}

/* On the command line. */
static bool is_named(const struct hi_options *o, const char *name)
{
	const char *const given[] = {o->file, o->baseline, o->middle, o->core,
				     o->exe,  o->argument, o->like};

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		if (is_same(name, given[i]))
			return true;
	for (size_t i = 0; i < o->n_hints; i++)
		if (is_same(name, o->hints[i]))
			return true;
	return is_key_of(name, o->argument);
}

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

static int open_file(const struct server *s, const char *path, int flags)
{
	if (is_named(s->decoder->options, path))
		return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	return hi_decoder_open_elf(path);
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

/* The one beside the report. */
static int open_output(struct server *s, const char *path)
{
	struct hi_options other = *s->decoder->options;
	struct hi_error err;

	errno = EPERM;
	if (!is_same(path, other.junit) || s->junit.path)
		return -1;
	other.output = other.junit;
	if (hi_output_open(&other, &s->junit, &err) != HI_OK) {
		errno = err.os_errno ? err.os_errno : ENOMEM;
		return -1;
	}
	return fcntl(fileno(s->junit.file), F_DUPFD_CLOEXEC, 3);
}

static int commit_output(struct server *s, const char *path)
{
	struct hi_output *output =
		is_same(path, s->junit.path) ? &s->junit : s->decoder->output;
	struct hi_error err;

	errno = EPERM;
	if (!is_same(path, output->path))
		return -1;
	errno = 0;
	if (hi_output_rename(output, &err) != HI_OK)
		errno = err.os_errno;
	return -1;
}

static int serve_request(struct server *s, const struct hi_files_request *r, char *text)
{
	switch (r->operation) {
	case HI_FILES_OPEN:
		return open_file(s, r->name, O_NONBLOCK);
	case HI_FILES_OPEN_STREAM:
		return open_file(s, r->name, 0);
	case HI_FILES_OPEN_IN_ROOT:
		return hi_decoder_open_in_root(
			s->decoder->in ? s->decoder->in->image : NULL, r->name);
	case HI_FILES_DEBUGINFOD:
		return hi_debuginfod_open(r->name, text);
	case HI_FILES_OUTPUT:
		return open_output(s, r->name);
	case HI_FILES_OUTPUT_COMMIT:
		return commit_output(s, r->name);
	default:
		return hi_cache_serve(&s->cache, r, text);
	}
}

void hi_decoder_serve(const struct hi_decoder *decoder)
{
	struct server server = {.decoder = decoder};
	struct hi_files_request request;
	bool goes_on = true;

	while (goes_on && hi_files_receive(decoder->socket, &request)) {
		struct hi_files_answer answer = {};
		HI_GUARD(close) int fd = serve_request(&server, &request, answer.text);

		answer.error = fd < 0 ? errno : 0;
		goes_on = hi_files_answer(decoder->socket, &answer, fd);
	}
	hi_output_close(&server.junit);
	hi_cache_server_end(&server.cache);
}
