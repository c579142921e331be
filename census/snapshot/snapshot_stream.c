/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [One order]
 *
 * All that changes the file is a list of operations (a section begins, bytes, it ends), which
 * are done in the order in which they came: by the caller where there is one thread, else by
 * a thread of the stream, from a ring. So where a section lies and how its bytes are cut into
 * frames does not depend on the number of threads.
 *
 * Small pieces are gathered in buffers, of which there are few: the caller waits when the
 * disk is slower than it is. Lasting pieces go out from where they are, but for small ones of
 * compressed sections, whose frames are cut as those of gathered ones.
 */
#include "census/snapshot/snapshot_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/parallel.h"

/*
 * LEVEL: the next one takes twice as long for a tenth less. BLOCK: the unit that is
 * hashed, or compressed as one frame, and written while it is in the cache. PUSHED: bytes
 * that are given to the disk at a time, so that it works while we do. DIRECT: smaller
 * lasting pieces are gathered.
 */
enum {
	LEVEL = 1,
	BLOCK = 1 << 20,
	BLOCKS = 8,
	BUFFER = BLOCK * BLOCKS,
	PUSHED = 8 << 20,
	DIRECT = 64 << 10,
	MOST_THREADS = 16,
	BUFFERS = 3,
	RING = 1024,
};

_Static_assert((int)BUFFER == (int)HI_SNAPSHOT_GATHERED, "as the header has it");

/* A frame for each block of a batch, made on several threads. */
struct packer {
	unsigned threads;
	ZSTD_CCtx *contexts[MOST_THREADS];
	const uint8_t *from;
	size_t size, room; /* of a block's frame */
	uint8_t *frames;
	size_t sizes[BLOCKS]; /* as ZSTD_compress2 gives them */
};

enum operation_kind { SECTION_BEGINS, SECTION_BYTES, SECTION_ENDS };

struct operation {
	enum operation_kind kind;
	struct hi_snapshot_section *section; /* BEGINS */
	const uint8_t *bytes;
	size_t size;
	uint8_t *buffer; /* NULL, or of the stream: unused again afterwards */
	void *owned;	 /* NULL, or freed afterwards */
};

struct hi_snapshot_stream {
	int fd;
	uint64_t base; /* where it begins in the file */
	/* The source that does the operations: */
	uint64_t at; /* end of what was written, from base */
	uint64_t pushed;
	struct hi_snapshot_section *open; /* NULL: none */
	XXH3_state_t *hash;
	struct packer *packer; /* NULL: not compressed */
	/* The caller's: */
	uint8_t *gathering; /* one of the buffers; NULL: none yet */
	size_t gathered;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* for what is below */
	pthread_cond_t changed;
	uint8_t *unused[BUFFERS];
	unsigned n_unused;
	struct operation ring[RING];
	size_t n_put, n_done; /* of all time */
	bool stops;
	enum hi_status status;
	struct hi_error error;
};

/* ---- bytes ---- */

enum hi_status hi_snapshot_stream_write_at(const struct hi_snapshot_stream *s,
					   const void *bytes, size_t size, uint64_t at,
					   struct hi_error *err)
{
	const uint8_t *p = bytes;

	while (size) {
		ssize_t n = pwrite(s->fd, p, size, (off_t)(s->base + at));

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
static enum hi_status store_block(struct hi_snapshot_stream *s, const void *bytes,
				  size_t size, struct hi_error *err)
{
	enum hi_status status;

	XXH3_64bits_update(s->hash, bytes, size);
	status = hi_snapshot_stream_write_at(s, bytes, size, s->at, err);
	s->open->stored += size;
	s->at += size;
	/* Starts the write-back early; without it the disk begins when everything is
	 * written. This is advice: errors are reported by fsync. */
	if (s->at - s->pushed >= PUSHED) {
		(void)sync_file_range(s->fd, (off_t)(s->base + s->pushed),
				      (off_t)(s->at - s->pushed), SYNC_FILE_RANGE_WRITE);
		s->pushed = s->at;
	}
	return status;
}

static enum hi_status store_blocks(struct hi_snapshot_stream *s, const uint8_t *bytes,
				   size_t size, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t at = 0; at < size && status == HI_OK; at += BLOCK)
		status = store_block(s, bytes + at, size - at < BLOCK ? size - at : BLOCK,
				     err);
	return status;
}

/* hi_task_fn */
static void pack_block(void *arg, size_t task, unsigned worker)
{
	struct packer *p = arg;
	size_t at = task * BLOCK, left = p->size - at;

	p->sizes[task] =
		ZSTD_compress2(p->contexts[worker], p->frames + task * p->room, p->room,
			       p->from + at, left < BLOCK ? left : BLOCK);
}

/* At most BUFFER bytes. */
static enum hi_status pack_blocks(struct hi_snapshot_stream *s, const uint8_t *bytes,
				  size_t size, struct hi_error *err)
{
	struct packer *p = s->packer;
	size_t n = (size + BLOCK - 1) / BLOCK;
	enum hi_status status = HI_OK;

	p->from = bytes;
	p->size = size;
	hi_parallel(p->threads, n, pack_block, p);
	for (size_t i = 0; i < n && status == HI_OK; i++) {
		if (ZSTD_isError(p->sizes[i]))
			return hi_fail(err, HI_NO_MEMORY, 0, "cannot compress: %s",
				       ZSTD_getErrorName(p->sizes[i]));
		status = store_blocks(s, p->frames + i * p->room, p->sizes[i], err);
	}
	return status;
}

static enum hi_status store_bytes(struct hi_snapshot_stream *s, const uint8_t *bytes,
				  size_t size, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!s->packer)
		return store_blocks(s, bytes, size, err);
	for (size_t at = 0; at < size && status == HI_OK; at += BUFFER)
		status = pack_blocks(s, bytes + at,
				     size - at < BUFFER ? size - at : BUFFER, err);
	return status;
}

/* ---- operations ---- */

static void begin_stored_section(struct hi_snapshot_stream *s,
				 struct hi_snapshot_section *section)
{
	s->at = (s->at + HI_SNAPSHOT_ALIGN - 1) & ~(uint64_t)(HI_SNAPSHOT_ALIGN - 1);
	section->offset = s->at;
	s->open = section;
	XXH3_64bits_reset(s->hash);
}

static enum hi_status do_operation(struct hi_snapshot_stream *s,
				   const struct operation *op, struct hi_error *err)
{
	if (op->kind == SECTION_BEGINS)
		begin_stored_section(s, op->section);
	else if (op->kind == SECTION_ENDS)
		s->open->hash = XXH3_64bits_digest(s->hash);
	else
		return store_bytes(s, op->bytes, op->size, err);
	return HI_OK;
}

/* The lock is held, but not while it is done. After a failure nothing is written. */
static void do_locked(struct hi_snapshot_stream *s, const struct operation *op)
{
	enum hi_status status = s->status;
	struct hi_error err;

	if (status == HI_OK) {
		pthread_mutex_unlock(&s->lock);
		status = do_operation(s, op, &err);
		pthread_mutex_lock(&s->lock);
		if (status != HI_OK)
			s->error = err;
		s->status = status;
	}
	if (op->buffer)
		s->unused[s->n_unused++] = op->buffer;
	free(op->owned);
	s->n_done++;
	pthread_cond_broadcast(&s->changed);
}

static void *stream_main(void *arg)
{
	struct hi_snapshot_stream *s = arg;

	pthread_mutex_lock(&s->lock);
	while (s->n_done < s->n_put || !s->stops) {
		struct operation op;

		if (s->n_done == s->n_put) {
			pthread_cond_wait(&s->changed, &s->lock);
			continue;
		}
		op = s->ring[s->n_done % RING];
		do_locked(s, &op);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void add_operation(struct hi_snapshot_stream *s, struct operation op)
{
	pthread_mutex_lock(&s->lock);
	while (s->n_put - s->n_done == RING)
		pthread_cond_wait(&s->changed, &s->lock);
	s->ring[s->n_put++ % RING] = op;
	if (s->has_thread)
		pthread_cond_broadcast(&s->changed);
	else
		do_locked(s, &op);
	pthread_mutex_unlock(&s->lock);
}

static void wait_until_done(struct hi_snapshot_stream *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->n_done < s->n_put)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* ---- what the caller puts ---- */

static uint8_t *wait_for_buffer(struct hi_snapshot_stream *s)
{
	uint8_t *buffer;

	pthread_mutex_lock(&s->lock);
	while (!s->n_unused)
		pthread_cond_wait(&s->changed, &s->lock);
	buffer = s->unused[--s->n_unused];
	pthread_mutex_unlock(&s->lock);
	return buffer;
}

static void add_gathered(struct hi_snapshot_stream *s)
{
	if (!s->gathered)
		return;
	add_operation(s, (struct operation){.kind = SECTION_BYTES,
					    .bytes = s->gathering,
					    .size = s->gathered,
					    .buffer = s->gathering});
	s->gathering = NULL;
	s->gathered = 0;
}

void hi_snapshot_stream_begin(struct hi_snapshot_stream *s,
			      struct hi_snapshot_section *section)
{
	add_operation(s, (struct operation){.kind = SECTION_BEGINS, .section = section});
}

void hi_snapshot_stream_end(struct hi_snapshot_stream *s)
{
	add_gathered(s);
	add_operation(s, (struct operation){.kind = SECTION_ENDS});
}

/* Small ones are gathered; false: it is to go out from where it is. */
static bool gather_bytes(struct hi_snapshot_stream *s, const void *bytes, size_t size,
			 size_t least)
{
	if (size > BUFFER - s->gathered || size >= least)
		add_gathered(s);
	if (size >= least)
		return false;
	if (!s->gathering)
		s->gathering = wait_for_buffer(s);
	memcpy(s->gathering + s->gathered, bytes, size);
	s->gathered += size;
	return true;
}

/* Frames of compressed sections are cut as if nothing was lasting. */
static size_t least_direct(const struct hi_snapshot_stream *s)
{
	return s->packer ? BUFFER : DIRECT;
}

void hi_snapshot_stream_put(struct hi_snapshot_stream *s, const void *bytes, size_t size)
{
	if (!size || gather_bytes(s, bytes, size, BUFFER))
		return;
	hi_snapshot_stream_put_lasting(s, bytes, size);
	wait_until_done(s);
}

void hi_snapshot_stream_put_lasting(struct hi_snapshot_stream *s, const void *bytes,
				    size_t size)
{
	if (size && !gather_bytes(s, bytes, size, least_direct(s)))
		add_operation(s, (struct operation){.kind = SECTION_BYTES,
						    .bytes = bytes,
						    .size = size});
}

void hi_snapshot_stream_put_owned(struct hi_snapshot_stream *s, void *bytes, size_t size)
{
	if (!size || gather_bytes(s, bytes, size, least_direct(s)))
		free(bytes);
	else
		add_operation(s, (struct operation){.kind = SECTION_BYTES,
						    .bytes = bytes,
						    .size = size,
						    .owned = bytes});
}

enum hi_status hi_snapshot_stream_check(struct hi_snapshot_stream *s,
					struct hi_error *err)
{
	enum hi_status status;

	pthread_mutex_lock(&s->lock);
	status = s->status;
	if (status != HI_OK && err)
		*err = s->error;
	pthread_mutex_unlock(&s->lock);
	return status;
}

enum hi_status hi_snapshot_stream_settle(struct hi_snapshot_stream *s,
					 struct hi_error *err)
{
	wait_until_done(s);
	return hi_snapshot_stream_check(s, err);
}

uint64_t hi_snapshot_stream_size(const struct hi_snapshot_stream *s)
{
	return s->at;
}

/* ---- its life ---- */

static void destroy_packer(struct packer *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->threads; i++)
		ZSTD_freeCCtx(p->contexts[i]);
	free(p->frames);
	free(p);
}

static struct packer *create_packer(unsigned threads)
{
	struct packer *p = hi_calloc(1, sizeof(*p));
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

/* One buffer for one thread, or as many as may wait. */
static bool take_buffers(struct hi_snapshot_stream *s, unsigned n)
{
	while (s->n_unused < n) {
		s->unused[s->n_unused] = hi_alloc(BUFFER);
		if (!s->unused[s->n_unused])
			return false;
		s->n_unused++;
	}
	return true;
}

enum hi_status hi_snapshot_stream_create(int fd,
					 const struct hi_snapshot_options *options,
					 struct hi_snapshot_stream **ret,
					 struct hi_error *err)
{
	HI_GUARD(hi_snapshot_stream_destroy)
	struct hi_snapshot_stream *s = hi_calloc(1, sizeof(*s));

	if (!s)
		return hi_fail_memory(err, "snapshot");
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->fd = fd;
	s->base = options->at;
	s->at = HI_SNAPSHOT_FIRST;
	s->hash = XXH3_createState();
	if (!s->hash || !take_buffers(s, options->threads > 1 ? BUFFERS : 1) ||
	    (options->compress && !(s->packer = create_packer(options->threads))))
		return hi_fail_memory(err, "snapshot");
	/* Without a thread the caller does it. */
	s->has_thread = options->threads > 1 &&
			pthread_create(&s->thread, NULL, stream_main, s) == 0;
	*ret = hi_take(s);
	return HI_OK;
}

void hi_snapshot_stream_destroy(struct hi_snapshot_stream *s)
{
	if (!s)
		return;
	if (s->has_thread) {
		pthread_mutex_lock(&s->lock);
		s->stops = true;
		/* Nobody asks for the rest. */
		if (s->n_done < s->n_put && s->status == HI_OK)
			s->status = HI_GONE;
		pthread_cond_broadcast(&s->changed);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	while (s->n_unused)
		free(s->unused[--s->n_unused]);
	free(s->gathering);
	destroy_packer(s->packer);
	XXH3_freeState(s->hash);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
