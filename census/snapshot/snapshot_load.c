/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads sections into memory when they are first used.
 *
 * Note [Read, not mapped]
 *
 * If another program truncates a mapped file, its reader ends by SIGBUS; if it writes to
 * the file, the data changes after its checksum was verified. So a section is read, and
 * the bytes that were hashed are the bytes that are used.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_internal.h"

enum { READ_BLOCK = 1 << 18, PREPARED_MIN = 1 << 20, PAGES_MIN = 1 << 16 };

static inline void free_hash(XXH3_state_t *hash)
{
	XXH3_freeState(hash);
}
HI_DEFINE_GUARD(XXH3_state_t *, free_hash)

/* Pages cost a call of the kernel each way. */
static void *bytes_alloc(size_t size)
{
	return size < PAGES_MIN ? hi_alloc(size) : hi_pages_alloc(size);
}

static void bytes_free(void *bytes, size_t size)
{
	if (size < PAGES_MIN)
		free(bytes);
	else
		hi_pages_free(bytes, size);
}

void hi_snapshot_unload(struct hi_snapshot *s)
{
	for (unsigned i = 0; i < HI_SNAPSHOT_SECTIONS; i++)
		if (s->loaded[i].room) {
			bytes_free(s->loaded[i].items, s->loaded[i].room);
			hi_unpacked_release(&s->unpacked, s->loaded[i].room);
		}
}

uint64_t hi_snapshot_bytes_read(const struct hi_snapshot *s)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < HI_SNAPSHOT_SECTIONS; i++)
		bytes += s->loaded[i].room;
	return bytes;
}

enum hi_status hi_snapshot_read_at(const struct hi_snapshot *s, uint64_t at, uint8_t *to,
				   size_t size, void *hash, bool *short_ret,
				   struct hi_error *err)
{
	*short_ret = false;
	while (size) {
		size_t want = size < READ_BLOCK ? size : READ_BLOCK;
		ssize_t n = pread(s->fd, to, want, (off_t)(s->base + at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hi_fail_errno(err, "cannot read %.120s", s->path);
		if (n == 0) {
			*short_ret = true;
			return HI_OK;
		}
		/* While they are in the cache. */
		if (hash)
			XXH3_64bits_update(hash, to, (size_t)n);
		to += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return HI_OK;
}

/* A frame of zstd: where it lies, and where its contents go. */
struct frame {
	size_t from, stored, to, size;
};
struct frames {
	const uint8_t *from;
	uint8_t *to;
	struct HI_VECTOR(struct frame) items;
	bool failed;
};

/* hi_task_fn */
static void unpack_frame(void *arg, size_t task, unsigned worker)
{
	struct frames *f = arg;
	const struct frame *frame = &f->items.items[task];
	size_t n = ZSTD_decompress(f->to + frame->to, frame->size, f->from + frame->from,
				   frame->stored);

	(void)worker;
	if (ZSTD_isError(n) || n != frame->size)
		__atomic_store_n(&f->failed, true, __ATOMIC_RELAXED);
}

/* Lists the frames of a section. False: a frame does not state its size. */
static bool list_frames(struct frames *f, size_t stored, size_t size)
{
	size_t from = 0, to = 0;

	while (from < stored) {
		size_t n = ZSTD_findFrameCompressedSize(f->from + from, stored - from);
		unsigned long long all =
			ZSTD_getFrameContentSize(f->from + from, stored - from);
		struct frame frame = {from, n, to, (size_t)all};

		if (ZSTD_isError(n) || all == ZSTD_CONTENTSIZE_UNKNOWN ||
		    all == ZSTD_CONTENTSIZE_ERROR || all > size - to ||
		    !hi_vector_push(&f->items, frame))
			return false;
		from += n;
		to += all;
	}
	return to == size;
}

static enum hi_status unpack_frames(const struct hi_snapshot *s,
				    const struct hi_snapshot_section *e,
				    const uint8_t *from, uint8_t *to,
				    struct hi_error *err)
{
	struct frames f = {.from = from, .to = to};
	size_t n = e->size;

	if (list_frames(&f, e->stored, e->size))
		hi_parallel(s->threads, f.items.count, unpack_frame, &f);
	else
		n = ZSTD_decompress(to, e->size, from, e->stored);
	hi_vector_free(&f.items);
	if (f.failed || ZSTD_isError(n) || n != e->size)
		return hi_snapshot_bad(s, e->name, err, "cannot be decompressed: %.60s",
				       ZSTD_isError(n) ? ZSTD_getErrorName(n)
						       : "it is shorter");
	return HI_OK;
}

/* The section as it is stored, if its checksum holds. */
static enum hi_status read_stored(const struct hi_snapshot *s,
				  const struct hi_snapshot_section *e, uint8_t *to,
				  struct hi_error *err)
{
	HI_GUARD(free_hash) XXH3_state_t *hash = XXH3_createState();
	bool is_short = false;
	enum hi_status status;

	if (!hash)
		return hi_fail_memory(err, "snapshot");
	XXH3_64bits_reset(hash);
	status = hi_snapshot_read_at(s, e->offset, to, e->stored, hash, &is_short, err);
	if (status != HI_OK)
		return status;
	if (is_short)
		return hi_snapshot_bad(s, e->name, err, "cut while it was read");
	if (XXH3_64bits_digest(hash) != e->hash)
		return hi_snapshot_bad(s, e->name, err,
				       "damaged (its checksum does not match)");
	return HI_OK;
}

/* Not NULL for an empty section: zstd and others need an address. */
static size_t size_or_one(uint64_t size)
{
	return size ? (size_t)size : 1;
}

static enum hi_status load_packed(const struct hi_snapshot *s,
				  const struct hi_snapshot_section *e, void *items,
				  struct hi_error *err)
{
	void *packed = bytes_alloc(size_or_one(e->stored));
	enum hi_status status;

	if (!packed)
		return hi_fail_memory(err, "snapshot");
	status = read_stored(s, e, packed, err);
	if (status == HI_OK)
		status = unpack_frames(s, e, packed, items, err);
	bytes_free(packed, size_or_one(e->stored));
	return status;
}

static enum hi_status load_items(const struct hi_snapshot *s,
				 const struct hi_snapshot_section *e, void **ret,
				 struct hi_error *err)
{
	void *items = bytes_alloc(size_or_one(e->size));
	enum hi_status status;

	if (!items)
		return hi_fail_memory(err, "snapshot");
	status = e->flags & HI_SNAPSHOT_ZSTD ? load_packed(s, e, items, err)
					     : read_stored(s, e, items, err);
	if (status == HI_OK)
		*ret = items;
	else
		bytes_free(items, size_or_one(e->size));
	return status;
}

enum hi_status hi_snapshot_load(struct hi_snapshot *s, uint32_t i, struct hi_error *err)
{
	const struct hi_snapshot_section *e = &s->sections[i];
	size_t room = size_or_one(e->size);
	void *items = NULL;
	enum hi_status status;

	if (s->loaded[i].room)
		return HI_OK;
	if (e->flags & ~(uint32_t)HI_SNAPSHOT_ZSTD)
		return hi_snapshot_bad(s, e->name, err, "unknown encoding");
	status = hi_unpacked_take(&s->unpacked, room, s->path, e->name, err);
	if (status != HI_OK)
		return status;
	status = load_items(s, e, &items, err);
	if (status == HI_OK)
		s->loaded[i] = (struct hi_snapshot_loaded){.items = items, .room = room};
	else
		hi_unpacked_release(&s->unpacked, room);
	return status;
}

enum hi_status hi_snapshot_check_room(struct hi_snapshot *s, const char *const *names,
				      size_t n, struct hi_error *err)
{
	uint64_t bytes = 0; /* of at most 63 sections below 2^36 */

	for (uint32_t i = 0; i < s->header->n_sections; i++)
		for (size_t k = 0; k < n && !s->loaded[i].room; k++)
			if (strcmp(s->sections[i].name, names[k]) == 0)
				bytes += s->sections[i].size;
	return hi_unpacked_check(&s->unpacked, bytes, s->path, "its heap", err);
}

/* ---- several at once ---- */

struct wanted {
	struct hi_snapshot *snapshot;
	uint32_t rows[HI_SNAPSHOT_SECTIONS];
};

/* hi_task_fn */
static void load_wanted(void *arg, size_t task, unsigned worker)
{
	struct wanted *w = arg;
	struct hi_error quiet;

	(void)worker;
	(void)hi_snapshot_load(w->snapshot, w->rows[task], &quiet);
}

void hi_snapshot_prepare(struct hi_snapshot *s, const char *const *names, size_t n)
{
	struct wanted w = {.snapshot = s};
	uint64_t stored = 0;
	size_t found = 0;

	/* The first of a name, as get() has it. */
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < s->header->n_sections; i++)
			if (strcmp(s->sections[i].name, names[k]) == 0) {
				stored += s->sections[i].stored;
				w.rows[found++] = i;
				break;
			}
	if (stored >= PREPARED_MIN)
		hi_parallel(s->threads, found, load_wanted, &w);
}
