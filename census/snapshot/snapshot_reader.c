/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a snapshot: checks the first page and reads properties. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/parallel.h"
#include "census/snapshot/snapshot_internal.h"

/* A column has fewer than 2^32 items of 8 bytes, and a frame of zstd cannot expand to
 * more than this. */
#define SIZE_MOST (UINT64_C(8) << 32)
enum { GROWTH_MOST = 1 << 15 };

static const uint8_t magic[] = HI_SNAPSHOT_MAGIC_BYTES;

enum hi_status hi_snapshot_bad(const struct hi_snapshot *s, const char *section,
			       struct hi_error *err, const char *fmt, ...)
{
	char text[120];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return hi_fail(err, HI_BAD_DATA, 0, "%.80s: section %.16s: %s", s->path, section,
		       text);
}

bool hi_snapshot_is_one(const char *path)
{
	uint8_t start[sizeof(magic)];
	int fd = hi_files_open(path);
	bool is;

	if (fd < 0)
		return false;
	is = pread(fd, start, sizeof(start), 0) == sizeof(start) &&
	     memcmp(start, magic, sizeof(magic)) == 0;
	close(fd);
	return is;
}

void hi_snapshot_close(struct hi_snapshot *s)
{
	if (!s)
		return;
	hi_snapshot_unload(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s->first_page);
	free(s->chunk_first);
	free(s->path);
	free(s);
}

static enum hi_status open_part(struct hi_snapshot *s, int fd, uint64_t offset,
				uint64_t size, struct hi_error *err)
{
	enum hi_status status;
	bool is_short = false;

	s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (s->fd < 0)
		return hi_fail_errno(err, "cannot read %.120s", s->path);
	s->base = offset;
	s->size = (size_t)size;
	s->unpacked.file_size = size;
	s->first_page = hi_alloc(HI_SNAPSHOT_FIRST);
	if (!s->first_page)
		return hi_fail_memory(err, "snapshot");
	status = size < HI_SNAPSHOT_FIRST
			 ? HI_OK
			 : hi_snapshot_read_at(s, 0, s->first_page, HI_SNAPSHOT_FIRST,
					       NULL, &is_short, err);
	if (status == HI_OK && (is_short || size < HI_SNAPSHOT_FIRST))
		return hi_fail(err, HI_BAD_DATA, 0,
			       "%.120s: not a snapshot, or cut in section directory",
			       s->path);
	return status;
}

static enum hi_status check_snapshot_header(struct hi_snapshot *s, struct hi_error *err)
{
	const struct hi_snapshot_header *h = (const void *)s->first_page;

	if (memcmp(h->magic, magic, sizeof(magic)) != 0)
		return hi_fail(err, HI_BAD_DATA, 0, "%.120s: not a snapshot", s->path);
	if (h->hash != XXH3_64bits(h, offsetof(struct hi_snapshot_header, hash)))
		return hi_snapshot_bad(s, "header", err,
				       "damaged (its checksum does not match)");
	if (h->major > HI_SNAPSHOT_MAJOR)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "%.120s: format version %u; this program reads up to %d",
			       s->path, h->major, HI_SNAPSHOT_MAJOR);
	if (h->n_sections > HI_SNAPSHOT_SECTIONS ||
	    h->directory_hash != XXH3_64bits(h + 1, h->n_sections * sizeof(*s->sections)))
		return hi_snapshot_bad(s, "directory", err,
				       "damaged (its checksum does not match)");
	s->header = h;
	s->sections = (const void *)(h + 1);
	return HI_OK;
}

static enum hi_status check_place(const struct hi_snapshot *s,
				  const struct hi_snapshot_section *e,
				  struct hi_error *err)
{
	if (!memchr(e->name, 0, sizeof(e->name)))
		return hi_snapshot_bad(s, "directory", err, "a name without a final NUL");
	if (e->offset % HI_SNAPSHOT_ALIGN || e->offset < HI_SNAPSHOT_FIRST || !e->item ||
	    e->size % e->item || e->size > SIZE_MOST || e->stored > SIZE_MOST)
		return hi_snapshot_bad(s, e->name, err, "invalid offset or size");
	if (e->offset > s->size || e->stored > s->size - e->offset)
		return hi_snapshot_bad(s, e->name, err,
				       "cut: the file has %zu bytes of %" PRIu64, s->size,
				       s->header->file_size);
	if (e->flags & HI_SNAPSHOT_ZSTD ? e->size / GROWTH_MOST > e->stored
					: e->size != e->stored)
		return hi_snapshot_bad(s, e->name, err, "invalid size");
	return HI_OK;
}

static enum hi_status check_snapshot_directory(const struct hi_snapshot *s,
					       struct hi_error *err)
{
	uint64_t stored = 0;

	for (uint32_t i = 0; i < s->header->n_sections; i++) {
		enum hi_status status = check_place(s, &s->sections[i], err);

		if (status != HI_OK)
			return status;
		stored += s->sections[i].stored;
	}
	/* A small file must not become a large reader. */
	if (stored > s->size)
		return hi_snapshot_bad(s, "directory", err, "sections overlap");
	if (s->header->file_size != s->size)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "%.120s: has %zu bytes where its header says %" PRIu64,
			       s->path, s->size, s->header->file_size);
	return HI_OK;
}

/* ---- sections ---- */

int hi_snapshot_find(const struct hi_snapshot *s, const char *name)
{
	for (uint32_t i = 0; i < s->header->n_sections; i++)
		if (strcmp(s->sections[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool hi_snapshot_has(const struct hi_snapshot *s, const char *name)
{
	return hi_snapshot_find(s, name) >= 0;
}

enum hi_status hi_snapshot_get(struct hi_snapshot *s, const char *name, uint32_t item,
			       const void **items_ret, uint64_t *n_ret,
			       struct hi_error *err)
{
	int i = hi_snapshot_find(s, name);
	enum hi_status status;

	if (i < 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.120s: there is no section %.16s",
			       s->path, name);
	if (s->sections[i].item != item)
		return hi_snapshot_bad(s, name, err, "items of %u bytes, expected %u",
				       s->sections[i].item, item);
	status = hi_snapshot_load(s, (uint32_t)i, err);
	if (status != HI_OK)
		return status;
	*items_ret = s->loaded[i].items;
	*n_ret = s->sections[i].size / item;
	return HI_OK;
}

/* ---- names ---- */

const char *hi_snapshot_string(const struct hi_snapshot *s, uint64_t offset)
{
	return offset < s->n_strings ? s->strings + offset : NULL;
}

static enum hi_status open_names(struct hi_snapshot *s, struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_rows(s, "strings", &s->strings, &s->n_strings, err);

	if (status != HI_OK)
		return status;
	if (!s->n_strings || s->strings[0] || s->strings[s->n_strings - 1])
		return hi_snapshot_bad(s, "strings", err, "a string without a final NUL");
	status = hi_snapshot_rows(s, "properties", &s->properties, &s->n_properties, err);
	for (uint64_t i = 0; i < s->n_properties && status == HI_OK; i++)
		if (s->properties[i].kind == HI_SNAPSHOT_TEXT &&
		    s->properties[i].value >= s->n_strings)
			return hi_snapshot_bad(s, "properties", err,
					       "row %" PRIu64
					       " refers to a string that does not exist",
					       i);
	return status;
}

enum hi_status hi_snapshot_open_part(int fd, const char *name, uint64_t offset,
				     uint64_t size, struct hi_snapshot **ret,
				     struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (s)
		s->fd = -1;
	if (!s || !(s->path = hi_strdup(name)))
		return hi_fail_memory(err, "snapshot");
	s->threads = hi_parallel_threads();
	status = open_part(s, fd, offset, size, err);
	if (status == HI_OK)
		status = check_snapshot_header(s, err);
	if (status == HI_OK)
		status = check_snapshot_directory(s, err);
	if (status == HI_OK)
		status = open_names(s, err);
	if (status == HI_OK)
		*ret = hi_take(s);
	return status;
}

enum hi_status hi_snapshot_open(const char *path, struct hi_snapshot **ret,
				struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open(path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return hi_fail_errno(err, "cannot read %.120s", path);
	if (!S_ISREG(st.st_mode))
		return hi_fail(err, HI_BAD_DATA, 0, "%.120s: not a file", path);
	return hi_snapshot_open_part(fd, path, 0, (uint64_t)st.st_size, ret, err);
}

uint64_t hi_snapshot_size(const struct hi_snapshot *s)
{
	return s->size;
}

static const struct hi_snapshot_property *
find_snapshot_property(const struct hi_snapshot *s, const char *name, uint32_t kind)
{
	for (uint64_t i = 0; i < s->n_properties; i++)
		if (s->properties[i].kind == kind &&
		    strcmp(s->strings + s->properties[i].name, name) == 0)
			return &s->properties[i];
	return NULL;
}

uint64_t hi_snapshot_number(const struct hi_snapshot *s, const char *name,
			    uint64_t otherwise)
{
	const struct hi_snapshot_property *p =
		find_snapshot_property(s, name, HI_SNAPSHOT_NUMBER);

	return p ? p->value : otherwise;
}

const char *hi_snapshot_text(const struct hi_snapshot *s, const char *name,
			     const char *otherwise)
{
	const struct hi_snapshot_property *p =
		find_snapshot_property(s, name, HI_SNAPSHOT_TEXT);

	return p ? s->strings + p->value : otherwise;
}
