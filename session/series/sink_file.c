/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/sink_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Where the descriptor writes; -1: nothing that is written can be taken back. */
static int64_t position_in_file(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || flags & O_APPEND || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	return lseek(fd, 0, SEEK_CUR);
}

enum hi_status hi_sink_file_open(const char *path, struct hi_sink_file *ret,
				 struct hi_error *err)
{
	struct hi_output_file target;
	enum hi_status status = hi_output_file_open(path, 0, &target, err);

	if (status != HI_OK)
		return status;
	*ret = (struct hi_sink_file){.fd = hi_take_fd(target.fd), .path = path};
	ret->written = position_in_file(ret->fd);
	ret->target = target;
	return HI_OK;
}

struct hi_sink_file hi_sink_file_stdout(void)
{
	return (struct hi_sink_file){1, "standard output", position_in_file(1),
				     HI_OUTPUT_FILE_NONE};
}

struct hi_sink_file hi_sink_file_stderr(void)
{
	return (struct hi_sink_file){2, "standard error", position_in_file(2),
				     HI_OUTPUT_FILE_NONE};
}

enum hi_status hi_sink_file_commit(struct hi_sink_file *file, struct hi_error *err)
{
	return hi_output_file_commit(&file->target, file->path, err);
}

void hi_sink_file_close(struct hi_sink_file *file)
{
	if (file->fd < 0)
		return;
	if (file->fd > 2)
		close(file->fd);
	file->fd = -1;
	hi_output_file_close(&file->target);
}

static enum hi_status write_whole(struct hi_sink_file *file, const char *text, size_t n,
				  struct hi_error *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t now = write(file->fd, text + done, n - done);
		int saved = errno;

		if (now < 0 && errno == EINTR)
			continue;
		if (now >= 0) {
			done += (size_t)now;
			continue;
		}
		/* A part of a line is no document: the file ends with the last one. */
		if (file->written >= 0 && ftruncate(file->fd, file->written) == 0)
			(void)lseek(file->fd, file->written, SEEK_SET);
		errno = saved;
		(void)!hi_fail_errno(err, "cannot write %s", file->path);
		/* The reader has what it wanted, as head has: nothing to say. */
		if (saved == EPIPE && file->fd <= 2 && err)
			err->text[0] = 0;
		return HI_OS;
	}
	if (file->written >= 0)
		file->written += (int64_t)n;
	return HI_OK;
}

enum hi_status hi_sink_text_open(struct hi_sink_text *ret, struct hi_error *err)
{
	*ret = (struct hi_sink_text){};
	ret->file = open_memstream(&ret->text, &ret->size);
	return ret->file ? HI_OK : hi_fail_memory(err, "text of the series");
}

enum hi_status hi_sink_text_write(struct hi_sink_text *text, bool fine,
				  struct hi_sink_file *to, struct hi_error *err)
{
	bool closed = fclose(text->file) == 0;
	enum hi_status status = fine && closed
					? write_whole(to, text->text, text->size, err)
					: hi_fail_memory(err, "text of the series");

	free(text->text);
	return status;
}
