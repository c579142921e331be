/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes sections one after the other, and the first page last, when all sections are on
 * the disk. A writer that is interrupted leaves a file that no reader accepts.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_internal.h"

/*
 * LEVEL: the next one takes twice as long for a tenth less. BLOCK: the unit that is
 * hashed, or compressed as one frame, and written while it is in the cache. PUSHED: bytes
 * that are given to the disk at a time, so that it works while we do.
 */
enum {
	LEVEL = 1,
	BLOCK = 1 << 20,
	BLOCKS = 8,
	BUFFER = BLOCK * BLOCKS,
	PUSHED = 8 << 20,
	MOST_THREADS = 16,
};

struct hi_snapshot_writer {
	int fd;
	uint64_t base; /* where it begins in the file */
	uint64_t at;   /* end of what was written, from there */
	uint32_t n_sections;
	struct hi_snapshot_section sections[HI_SNAPSHOT_SECTIONS];
	struct hi_snapshot_section *open; /* NULL: none */
	XXH3_state_t *hash;
	struct hi_snapshot_packer *packer; /* NULL: not compressed */
	uint8_t *buffer;		   /* BUFFER bytes */
	size_t buffered;
	uint64_t pushed; /* to the disk, up to here */
	struct hi_snapshot_strings strings;
	struct HI_VECTOR(struct hi_snapshot_property) properties;
};
/* A frame for each block of a batch, made on several threads. */
struct hi_snapshot_packer {
	unsigned threads;
	ZSTD_CCtx *contexts[MOST_THREADS];
	const uint8_t *from;
	size_t size, room; /* of a block's frame */
	uint8_t *frames;
	size_t sizes[BLOCKS]; /* as ZSTD_compress2 gives them */
};

static void destroy_packer(struct hi_snapshot_packer *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->threads; i++)
		ZSTD_freeCCtx(p->contexts[i]);
	free(p->frames);
	free(p);
}

static struct hi_snapshot_packer *create_packer(unsigned threads)
{
	struct hi_snapshot_packer *p = hi_calloc(1, sizeof(*p));
	bool ok = p;

	if (!p)
		return NULL;
	p->threads = threads < 1 ? 1 : threads < MOST_THREADS ? threads : MOST_THREADS;
	p->room = ZSTD_compressBound(BLOCK);
	p->frames = hi_alloc(p->room * BLOCKS);
	for (unsigned i = 0; i < p->threads; i++) {
		p->contexts[i] = ZSTD_createCCtx();
		ok &= p->contexts[i] &&
		      !ZSTD_isError(ZSTD_CCtx_setParameter(
			      p->contexts[i], ZSTD_c_compressionLevel, LEVEL));
	}
	if (ok && p->frames)
		return p;
	destroy_packer(p);
	return NULL;
}

/* hi_task_fn */
static void pack_block(void *arg, size_t task, unsigned worker)
{
	struct hi_snapshot_packer *p = arg;
	size_t at = task * BLOCK, left = p->size - at;

	p->sizes[task] =
		ZSTD_compress2(p->contexts[worker], p->frames + task * p->room, p->room,
			       p->from + at, left < BLOCK ? left : BLOCK);
}

void hi_snapshot_writer_destroy(struct hi_snapshot_writer *w)
{
	if (!w)
		return;
	XXH3_freeState(w->hash);
	destroy_packer(w->packer);
	hi_snapshot_strings_free(&w->strings);
	hi_vector_free(&w->properties);
	free(w->buffer);
	free(w);
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
	    (options->compress && !(w->packer = create_packer(options->threads))))
		return hi_fail_memory(err, "snapshot");
	*ret = hi_take(w);
	return HI_OK;
}

/* ---- bytes ---- */

static enum hi_status write_snapshot_bytes(const struct hi_snapshot_writer *w,
					   const void *bytes, size_t size, uint64_t at,
					   struct hi_error *err)
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

/* Bytes of the section as it is stored, while they are in the cache. */
static enum hi_status store_block(struct hi_snapshot_writer *w, const void *bytes,
				  size_t size, struct hi_error *err)
{
	enum hi_status status;

	XXH3_64bits_update(w->hash, bytes, size);
	status = write_snapshot_bytes(w, bytes, size, w->at, err);
	w->open->stored += size;
	w->at += size;
	/* Starts the write-back early; without it the disk begins when everything is
	 * written. This is advice: errors are reported by fsync. */
	if (w->at - w->pushed >= PUSHED) {
		(void)sync_file_range(w->fd, (off_t)(w->base + w->pushed),
				      (off_t)(w->at - w->pushed), SYNC_FILE_RANGE_WRITE);
		w->pushed = w->at;
	}
	return status;
}

static enum hi_status store_blocks(struct hi_snapshot_writer *w, const uint8_t *bytes,
				   size_t size, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t at = 0; at < size && status == HI_OK; at += BLOCK)
		status = store_block(w, bytes + at, size - at < BLOCK ? size - at : BLOCK,
				     err);
	return status;
}

/* At most BUFFER bytes. */
static enum hi_status pack_blocks(struct hi_snapshot_writer *w, const uint8_t *bytes,
				  size_t size, struct hi_error *err)
{
	struct hi_snapshot_packer *p = w->packer;
	size_t n = (size + BLOCK - 1) / BLOCK;
	enum hi_status status = HI_OK;

	p->from = bytes;
	p->size = size;
	hi_parallel(p->threads, n, pack_block, p);
	for (size_t i = 0; i < n && status == HI_OK; i++) {
		if (ZSTD_isError(p->sizes[i]))
			return hi_fail(err, HI_NO_MEMORY, 0, "cannot compress: %s",
				       ZSTD_getErrorName(p->sizes[i]));
		status = store_blocks(w, p->frames + i * p->room, p->sizes[i], err);
	}
	return status;
}

static enum hi_status put_section_bytes(struct hi_snapshot_writer *w,
					const uint8_t *bytes, size_t size,
					struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!w->packer)
		return store_blocks(w, bytes, size, err);
	for (size_t at = 0; at < size && status == HI_OK; at += BUFFER)
		status = pack_blocks(w, bytes + at,
				     size - at < BUFFER ? size - at : BUFFER, err);
	return status;
}

static enum hi_status flush_section_buffer(struct hi_snapshot_writer *w,
					   struct hi_error *err)
{
	size_t size = w->buffered;

	w->buffered = 0;
	return put_section_bytes(w, w->buffer, size, err);
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
		.item = item, .offset = at, .flags = w->packer ? HI_SNAPSHOT_ZSTD : 0};
	strcpy(w->open->name, name);
	w->at = at;
	XXH3_64bits_reset(w->hash);
	return HI_OK;
}

/* Small ones are gathered; what is large goes out from where it is. */
enum hi_status hi_snapshot_append(struct hi_snapshot_writer *w, const void *bytes,
				  size_t size, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!size)
		return HI_OK;
	w->open->size += size;
	if (size > BUFFER - w->buffered)
		status = flush_section_buffer(w, err);
	if (status != HI_OK)
		return status;
	if (size >= BUFFER)
		return put_section_bytes(w, bytes, size, err);
	memcpy(w->buffer + w->buffered, bytes, size);
	w->buffered += size;
	return HI_OK;
}

enum hi_status hi_snapshot_end(struct hi_snapshot_writer *w, struct hi_error *err)
{
	enum hi_status status = flush_section_buffer(w, err);

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
		.file_size = w->at,
		.n_sections = w->n_sections,
		.directory_hash = XXH3_64bits(w->sections, size),
	};
	enum hi_status status;

	h.hash = XXH3_64bits(&h, offsetof(struct hi_snapshot_header, hash));
	status =
		write_snapshot_bytes(w, w->sections, sizeof(w->sections), sizeof(h), err);
	return status == HI_OK ? write_snapshot_bytes(w, &h, sizeof(h), 0, err) : status;
}

unsigned hi_snapshot_sections_left(const struct hi_snapshot_writer *w)
{
	return HI_SNAPSHOT_SECTIONS - w->n_sections;
}

enum hi_status hi_snapshot_finish(struct hi_snapshot_writer *w, struct hi_error *err)
{
	enum hi_status status = write_names(w, err);

	/* Writes the sections before the page that makes them valid. */
	if (status == HI_OK && fdatasync(w->fd) != 0)
		status = hi_fail_errno(err, "cannot write the snapshot");
	if (status == HI_OK)
		status = write_first_page(w, err);
	if (status == HI_OK && fsync(w->fd) != 0)
		status = hi_fail_errno(err, "cannot write the snapshot");
	return status;
}
