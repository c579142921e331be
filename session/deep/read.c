/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/deep/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "census/snapshot/snapshot_file.h"
#include "census/snapshot/snapshot_series.h"
#include "session/deep/build.h"
#include "session/inspect/inspect.h"

#define MOST_DATA (1ull << 32)

static bool is_mercury_file(const char *word)
{
	static const char id[] = "Mercury deep profiler data version ";
	char head[sizeof(id)] = "";
	int fd = hi_files_open(word);
	bool is = fd >= 0 && read(fd, head, sizeof(id) - 1) == sizeof(id) - 1 &&
		  strcmp(head, id) == 0;

	hi_close_fd(fd);
	return is;
}

bool hi_deep_is_file(const char *path)
{
	return hi_snapshot_is_one(path) || hi_snapshots_is_one(path) ||
	       is_mercury_file(path);
}

/* Up to the end of the file, if that comes earlier. */
static enum hi_status read_all_bytes(int fd, const char *path, uint8_t *data,
				     size_t *size, struct hi_error *err)
{
	size_t n = 0;

	while (n < *size) {
		ssize_t more = read(fd, data + n, *size - n);

		if (more < 0)
			return hi_fail(err, HI_OS, errno, "%.200s: %s", path,
				       strerror(errno));
		if (more == 0)
			break;
		n += (size_t)more;
	}
	*size = n;
	return HI_OK;
}

enum hi_status hi_deep_read_bytes(const char *path, uint64_t most, uint8_t **data_ret,
				  size_t *size_ret, struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open(path);
	HI_GUARD(free) uint8_t *data = NULL;
	struct stat st;
	enum hi_status status;

	if (fd < 0 || fstat(fd, &st) != 0)
		return hi_fail(err, errno == ENOENT ? HI_NOT_FOUND : HI_OS, errno,
			       "%.200s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > most)
		return hi_fail(err, HI_LIMIT, 0,
			       "%.200s: not a file of at most %llu bytes", path,
			       (unsigned long long)most);
	*size_ret = (size_t)st.st_size;
	data = hi_calloc(1, *size_ret + 1);
	if (!data)
		return hi_fail_memory(err, "file");
	status = read_all_bytes(fd, path, data, size_ret, err);
	if (status == HI_OK)
		*data_ret = hi_take(data);
	return status;
}

static enum hi_status open_mercury_file(const char *path, struct hi_deep_profile *ret,
					struct hi_error *err)
{
	HI_GUARD(free) uint8_t *data = NULL;
	size_t size = 0;
	enum hi_status status = hi_deep_read_bytes(path, MOST_DATA, &data, &size, err);

	return status == HI_OK ? hi_deep_mercury_read(data, size, ret, err) : status;
}

static enum hi_status read_recorded_profile(const struct hi_options *options,
					    const struct hi_deep_file *from,
					    struct hi_deep_profile *ret,
					    struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	struct hi_options o = *options;
	enum hi_status status;

	o.argument = NULL;
	o.target.file = from->path;
	o.target.census = from->census;
	status = hi_inspect_open(&o, NULL, HI_WANT_DOMINATORS, &in, err);
	return status == HI_OK ? hi_deep_build(in, ret, err) : status;
}

enum hi_status hi_deep_read(const struct hi_options *options,
			    const struct hi_deep_file *from, struct hi_deep_profile *ret,
			    struct hi_error *err)
{
	return is_mercury_file(from->path)
		       ? open_mercury_file(from->path, ret, err)
		       : read_recorded_profile(options, from, ret, err);
}
