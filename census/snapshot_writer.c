/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sections one after the other; the first page last, when all of them are on the disk:
 * whatever ends the writer before that leaves no file that a reader takes.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/snapshot_internal.h"

/* Fast: the next level takes twice as long for a tenth less. */
enum { LEVEL = 1, BUFFER = 1 << 20, MOST_THREADS = 16 };

struct hi_snapshot_writer {
	int fd;
	uint64_t base; /* where it begins in the file */
	uint64_t at;   /* end of what was written, from there */
	uint32_t n_sections;
	struct hi_snapshot_section sections[HI_SNAPSHOT_SECTIONS];
	struct hi_snapshot_section *open; /* NULL: none */
	XXH3_state_t *hash;
	ZSTD_CCtx *zstd; /* NULL: not compressed */
	uint8_t *buffer;
	size_t buffered;
	struct hi_snapshot_strings strings;
	struct HI_VECTOR(struct hi_snapshot_property) properties;
};
HI_DEFINE_GUARD(struct hi_snapshot_writer *, hi_snapshot_writer_destroy)

void hi_snapshot_writer_destroy(struct hi_snapshot_writer *w)
{
	if (!w)
		return;
	XXH3_freeState(w->hash);
	ZSTD_freeCCtx(w->zstd);
	hi_snapshot_strings_free(&w->strings);
	hi_vector_free(&w->properties);
	free(w->buffer);
	free(w);
}

static bool set_compression(struct hi_snapshot_writer *w, unsigned threads)
{
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		return false;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	/* A library that was built without threads does without. */
	if (threads > 1)
		ZSTD_CCtx_setParameter(
			w->zstd, ZSTD_c_nbWorkers,
			(int)(threads < MOST_THREADS ? threads : MOST_THREADS));
	return true;
}

enum hi_status hi_snapshot_create(int fd, const struct hi_snapshot_options *options,
				  struct hi_snapshot_writer **ret, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_writer_destroy)
	struct hi_snapshot_writer *w = hi_calloc(1, sizeof(*w));
	struct stat st;

	if (fstat(fd, &st) != 0)
		return hi_fail_errno(err, "snapshot");
	if (!S_ISREG(st.st_mode))
		return hi_fail(err, HI_USAGE, 0,
			       "a snapshot is written into a regular file (-o FILE)");
	if (!w)
		return hi_fail_memory(err, "snapshot");
	w->fd = fd;
	w->base = options->at;
	w->at = HI_SNAPSHOT_FIRST;
	w->hash = XXH3_createState();
	w->buffer = hi_alloc(BUFFER);
	if (!w->hash || !w->buffer ||
	    (options->compress && !set_compression(w, options->threads)))
		return hi_fail_memory(err, "snapshot");
	*ret = hi_take(w);
	return HI_OK;
}

/* ---- bytes ---- */

static enum hi_status write_all(const struct hi_snapshot_writer *w, const void *bytes,
				size_t size, uint64_t at, struct hi_error *err)
{
	const uint8_t *p = bytes;

	while (size) {
		ssize_t n = pwrite(w->fd, p, size, (off_t)(w->base + at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : ENOSPC;
			return hi_fail_errno(err, "cannot write the snapshot");
		}
		p += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return HI_OK;
}

static enum hi_status flush(struct hi_snapshot_writer *w, struct hi_error *err)
{
	enum hi_status status = write_all(w, w->buffer, w->buffered, w->at, err);

	w->at += w->buffered;
	w->buffered = 0;
	return status;
}

/* Onto the section as it is stored. */
static enum hi_status store(struct hi_snapshot_writer *w, const void *bytes, size_t size,
			    struct hi_error *err)
{
	enum hi_status status = HI_OK;

	XXH3_64bits_update(w->hash, bytes, size);
	w->open->stored += size;
	if (size > BUFFER - w->buffered)
		status = flush(w, err);
	if (status != HI_OK)
		return status;
	if (size >= BUFFER) {
		status = write_all(w, bytes, size, w->at, err);
		w->at += size;
		return status;
	}
	memcpy(w->buffer + w->buffered, bytes, size);
	w->buffered += size;
	return HI_OK;
}

static enum hi_status compress(struct hi_snapshot_writer *w, const void *bytes,
			       size_t size, ZSTD_EndDirective mode, struct hi_error *err)
{
	uint8_t out[1 << 15];
	ZSTD_inBuffer from = {bytes, size, 0};
	size_t left;

	do {
		ZSTD_outBuffer to = {out, sizeof(out), 0};
		enum hi_status status;

		left = ZSTD_compressStream2(w->zstd, &to, &from, mode);
		if (ZSTD_isError(left))
			return hi_fail(err, HI_NO_MEMORY, 0, "cannot compress: %s",
				       ZSTD_getErrorName(left));
		status = store(w, out, to.pos, err);
		if (status != HI_OK)
			return status;
	} while (mode == ZSTD_e_end ? left != 0 : from.pos < from.size);
	return HI_OK;
}

/* ---- sections ---- */

enum hi_status hi_snapshot_begin(struct hi_snapshot_writer *w, const char *name,
				 uint32_t item, struct hi_error *err)
{
	uint64_t at =
		(w->at + HI_SNAPSHOT_ALIGN - 1) & ~(uint64_t)(HI_SNAPSHOT_ALIGN - 1);

	if (w->open || strlen(name) >= HI_SNAPSHOT_NAME || !item)
		return hi_fail(err, HI_USAGE, 0, "snapshot: section %.32s", name);
	if (w->n_sections == HI_SNAPSHOT_SECTIONS)
		return hi_fail(err, HI_LIMIT, 0, "snapshot: too many sections");
	w->open = &w->sections[w->n_sections++];
	*w->open = (struct hi_snapshot_section){
		.item = item, .offset = at, .flags = w->zstd ? HI_SNAPSHOT_ZSTD : 0};
	strcpy(w->open->name, name);
	w->at = at;
	XXH3_64bits_reset(w->hash);
	return HI_OK;
}

enum hi_status hi_snapshot_append(struct hi_snapshot_writer *w, const void *bytes,
				  size_t size, struct hi_error *err)
{
	if (!size)
		return HI_OK;
	w->open->size += size;
	return w->zstd ? compress(w, bytes, size, ZSTD_e_continue, err)
		       : store(w, bytes, size, err);
}

enum hi_status hi_snapshot_end(struct hi_snapshot_writer *w, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (w->zstd)
		status = compress(w, NULL, 0, ZSTD_e_end, err);
	if (status == HI_OK)
		status = flush(w, err);
	w->open->hash = XXH3_64bits_digest(w->hash);
	w->open = NULL;
	return status;
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

/* ---- names ---- */

enum hi_status hi_snapshot_put_string(struct hi_snapshot_writer *w, const char *text,
				      uint32_t *offset_ret, struct hi_error *err)
{
	return hi_snapshot_strings_add(&w->strings, text, offset_ret, err);
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
		.file_size = w->at,
		.n_sections = w->n_sections,
		.directory_hash = XXH3_64bits(w->sections, size),
	};
	enum hi_status status;

	h.hash = XXH3_64bits(&h, offsetof(struct hi_snapshot_header, hash));
	status = write_all(w, w->sections, sizeof(w->sections), sizeof(h), err);
	return status == HI_OK ? write_all(w, &h, sizeof(h), 0, err) : status;
}

enum hi_status hi_snapshot_finish(struct hi_snapshot_writer *w, struct hi_error *err)
{
	enum hi_status status = write_names(w, err);

	/* Sections before the page that says that they are there. */
	if (status == HI_OK && fdatasync(w->fd) != 0)
		status = hi_fail_errno(err, "cannot write the snapshot");
	if (status == HI_OK)
		status = write_first_page(w, err);
	if (status == HI_OK && fsync(w->fd) != 0)
		status = hi_fail_errno(err, "cannot write the snapshot");
	return status;
}
