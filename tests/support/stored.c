/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "tests/harness.h"

static void remove_file(void *path)
{
	unlink(path);
	free(path);
}

static void *read_packed(const char *path, size_t *size_ret)
{
	FILE *file = fopen(path, "re");
	void *bytes;
	long size;

	HI_ASSERT_MSG(file, "no %s", path);
	HI_ASSERT(fseek(file, 0, SEEK_END) == 0);
	size = ftell(file);
	HI_ASSERT(size > 0 && fseek(file, 0, SEEK_SET) == 0);
	bytes = malloc((size_t)size);
	HI_ASSERT(bytes && fread(bytes, (size_t)size, 1, file) == 1);
	fclose(file);
	*size_ret = (size_t)size;
	return bytes;
}

static void *unpack(const char *path, size_t *size_ret)
{
	size_t packed_size, done;
	void *packed = read_packed(path, &packed_size), *bytes;
	unsigned long long size = ZSTD_getFrameContentSize(packed, packed_size);

	HI_ASSERT(size < ZSTD_CONTENTSIZE_ERROR);
	bytes = malloc(size);
	HI_ASSERT(bytes);
	done = ZSTD_decompress(bytes, size, packed, packed_size);
	HI_ASSERT_MSG(done == size, "%s: %s", path, ZSTD_getErrorName(done));
	free(packed);
	*size_ret = size;
	return bytes;
}

const char *stored_file(const char *name)
{
	char *path = strdup("/tmp/heapinspect-stored-XXXXXX"), packed[400];
	size_t size;
	void *bytes;
	int fd;

	snprintf(packed, sizeof(packed), HI_SOURCE_DIR "/tests/data/%s.zst", name);
	bytes = unpack(packed, &size);
	HI_ASSERT(path);
	fd = mkstemp(path);
	HI_ASSERT(fd >= 0);
	hi_test_defer(remove_file, path);
	HI_ASSERT(write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	free(bytes);
	return path;
}
