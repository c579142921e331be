/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes sections one after the other, and the first page last, when all sections are on
 * the disk. A writer that is interrupted leaves a file that no reader accepts.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_internal.h"
#include "census/snapshot/snapshot_stream.h"

struct hi_snapshot_writer {
	int fd;
	uint32_t n_sections;
	struct hi_snapshot_section sections[HI_SNAPSHOT_SECTIONS];
	struct hi_snapshot_section *open; /* NULL: none */
	bool is_compressed;
	struct hi_snapshot_stream *stream;
	struct hi_snapshot_strings strings;
	struct HI_VECTOR(struct hi_snapshot_property) properties;
};

void hi_snapshot_writer_destroy(struct hi_snapshot_writer *w)
{
	if (!w)
		return;
	hi_snapshot_stream_destroy(w->stream);
	hi_snapshot_strings_free(&w->strings);
	hi_vector_free(&w->properties);
	free(w);
}

enum hi_status hi_snapshot_create(int fd, const struct hi_snapshot_options *options,
				  struct hi_snapshot_writer **ret, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_writer_destroy)
	struct hi_snapshot_writer *w = hi_calloc(1, sizeof(*w));
	enum hi_status status;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return hi_fail_errno(err, "snapshot");
	if (!S_ISREG(st.st_mode))
		return hi_fail(err, HI_USAGE, 0,
			       "a snapshot is written into a regular file (-o FILE)");
	if (!w)
		return hi_fail_memory(err, "snapshot");
	w->fd = fd;
	w->is_compressed = options->compress;
	status = hi_snapshot_stream_create(fd, options, &w->stream, err);
	if (status == HI_OK)
		*ret = hi_take(w);
	return status;
}

/* ---- sections ---- */

enum hi_status hi_snapshot_begin(struct hi_snapshot_writer *w, const char *name,
				 uint32_t item, struct hi_error *err)
{
	if (w->open || strlen(name) >= HI_SNAPSHOT_NAME || !item)
		return hi_fail(err, HI_USAGE, 0, "snapshot: section %.32s", name);
	if (w->n_sections == HI_SNAPSHOT_SECTIONS)
		return hi_fail(err, HI_LIMIT, 0, "snapshot: too many sections");
	w->open = &w->sections[w->n_sections++];
	*w->open = (struct hi_snapshot_section){
		.item = item, .flags = w->is_compressed ? HI_SNAPSHOT_ZSTD : 0};
	memcpy(w->open->name, name, strlen(name) + 1);
	hi_snapshot_stream_begin(w->stream, w->open);
	return HI_OK;
}

enum hi_status hi_snapshot_append(struct hi_snapshot_writer *w, const void *bytes,
				  size_t size, struct hi_error *err)
{
	w->open->size += size;
	hi_snapshot_stream_put(w->stream, bytes, size);
	return hi_snapshot_stream_check(w->stream, err);
}

enum hi_status hi_snapshot_append_lasting(struct hi_snapshot_writer *w, const void *bytes,
					  size_t size, struct hi_error *err)
{
	w->open->size += size;
	hi_snapshot_stream_put_lasting(w->stream, bytes, size);
	return hi_snapshot_stream_check(w->stream, err);
}

enum hi_status hi_snapshot_append_owned(struct hi_snapshot_writer *w, void *bytes,
					size_t size, struct hi_error *err)
{
	w->open->size += size;
	hi_snapshot_stream_put_owned(w->stream, bytes, size);
	return hi_snapshot_stream_check(w->stream, err);
}

enum hi_status hi_snapshot_end(struct hi_snapshot_writer *w, struct hi_error *err)
{
	hi_snapshot_stream_end(w->stream);
	w->open = NULL;
	return hi_snapshot_stream_check(w->stream, err);
}

enum hi_status hi_snapshot_settle(struct hi_snapshot_writer *w, struct hi_error *err)
{
	return hi_snapshot_stream_settle(w->stream, err);
}

enum hi_status hi_snapshot_put(struct hi_snapshot_writer *w, const char *name,
			       const void *items, uint32_t item, uint64_t n,
			       struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin(w, name, item, err);

	if (status == HI_OK)
		status = hi_snapshot_append(w, items, (size_t)n * item, err);
	if (status == HI_OK)
		status = hi_snapshot_end(w, err);
	return status;
}

enum hi_status hi_snapshot_put_pieces(struct hi_snapshot_writer *w, const char *name,
				      uint32_t item, hi_snapshot_piece_fn *next,
				      void *arg, struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin(w, name, item, err);
	const void *bytes = NULL;
	size_t size = 1;

	while (status == HI_OK && size) {
		status = next(arg, &bytes, &size, err);
		if (status == HI_OK)
			status = hi_snapshot_append(w, bytes, size, err);
	}
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

/* ---- names ---- */

enum hi_status hi_snapshot_put_string(struct hi_snapshot_writer *w, const char *text,
				      uint32_t *offset_ret, struct hi_error *err)
{
	return hi_snapshot_strings_add(&w->strings, text, offset_ret, err);
}

const char *hi_snapshot_strings_put(const struct hi_snapshot_writer *w)
{
	return w->strings.text;
}

static enum hi_status add_property(struct hi_snapshot_writer *w, const char *name,
				   struct hi_snapshot_property p, struct hi_error *err)
{
	enum hi_status status = hi_snapshot_put_string(w, name, &p.name, err);

	if (status == HI_OK && !hi_vector_push(&w->properties, p))
		status = hi_fail_memory(err, "properties");
	return status;
}

enum hi_status hi_snapshot_put_number(struct hi_snapshot_writer *w, const char *name,
				      uint64_t value, struct hi_error *err)
{
	struct hi_snapshot_property p = {.kind = HI_SNAPSHOT_NUMBER, .value = value};

	return add_property(w, name, p, err);
}

enum hi_status hi_snapshot_put_text(struct hi_snapshot_writer *w, const char *name,
				    const char *text, struct hi_error *err)
{
	uint32_t offset;
	enum hi_status status = hi_snapshot_put_string(w, text, &offset, err);
	struct hi_snapshot_property p = {.kind = HI_SNAPSHOT_TEXT};

	if (status != HI_OK)
		return status;
	p.value = offset;
	return add_property(w, name, p, err);
}

/* ---- the end ---- */

static enum hi_status write_names(struct hi_snapshot_writer *w, struct hi_error *err)
{
	uint32_t none;
	enum hi_status status = hi_snapshot_put_string(w, "", &none, err);

	if (status == HI_OK)
		status = hi_snapshot_put(w, "properties", w->properties.items,
					 sizeof(*w->properties.items),
					 w->properties.count, err);
	if (status == HI_OK)
		status = hi_snapshot_put(w, "strings", w->strings.text, 1,
					 w->strings.size, err);
	return status;
}

static enum hi_status write_first_page(struct hi_snapshot_writer *w, struct hi_error *err)
{
	size_t size = w->n_sections * sizeof(*w->sections);
	struct hi_snapshot_header h = {
		.magic = HI_SNAPSHOT_MAGIC_BYTES,
		.major = HI_SNAPSHOT_MAJOR,
		.minor = HI_SNAPSHOT_MINOR,
		.file_size = hi_snapshot_stream_size(w->stream),
		.n_sections = w->n_sections,
		.directory_hash = XXH3_64bits(w->sections, size),
	};
	enum hi_status status;

	h.hash = XXH3_64bits(&h, offsetof(struct hi_snapshot_header, hash));
	status = hi_snapshot_stream_write_at(w->stream, w->sections, sizeof(w->sections),
					     sizeof(h), err);
	return status == HI_OK
		       ? hi_snapshot_stream_write_at(w->stream, &h, sizeof(h), 0, err)
		       : status;
}

unsigned hi_snapshot_sections_left(const struct hi_snapshot_writer *w)
{
	return HI_SNAPSHOT_SECTIONS - w->n_sections;
}

enum hi_status hi_snapshot_finish(struct hi_snapshot_writer *w, struct hi_error *err)
{
	enum hi_status status = write_names(w, err);

	if (status == HI_OK)
		status = hi_snapshot_settle(w, err);
	/* Writes the sections before the page that makes them valid. */
	if (status == HI_OK && fdatasync(w->fd) != 0)
		status = hi_fail_errno(err, "cannot write the snapshot");
	if (status == HI_OK)
		status = write_first_page(w, err);
	if (status == HI_OK && fsync(w->fd) != 0)
		status = hi_fail_errno(err, "cannot write the snapshot");
	return status;
}
