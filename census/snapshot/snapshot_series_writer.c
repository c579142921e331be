/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a file with many censuses: parts one after the other, and a record after each
 * when it is on the disk. To remove parts, a new file is written, which takes the name
 * when it is complete.
 */
#include "census/snapshot/snapshot_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_series_format.h"
#include "census/snapshot/snapshot_series_internal.h"

enum { COPY = 1 << 20 };

static uint64_t part_end(uint64_t offset, uint64_t size)
{
	return hi_round_up(hi_snapshots_record_at(offset, size) +
				   sizeof(struct hi_snapshots_record),
			   HI_SNAPSHOTS_PAGE);
}

static enum hi_status cannot_write(struct hi_error *err, const char *path)
{
	return hi_fail_errno(err, "cannot write %.120s", path);
}

/* Writes all bytes at an offset. On failure errno is set. */
static bool write_series_bytes(int fd, const void *bytes, size_t size, uint64_t at)
{
	const uint8_t *p = bytes;

	while (size) {
		ssize_t n = pwrite(fd, p, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : ENOSPC;
			return false;
		}
		p += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

static bool put_header(int fd, const uint8_t id[HI_SNAPSHOTS_ID])
{
	union {
		struct hi_snapshots_header h;
		uint8_t bytes[HI_SNAPSHOTS_PAGE];
	} page = {.h = {.magic = HI_SNAPSHOTS_MAGIC_BYTES,
			.major = HI_SNAPSHOTS_MAJOR,
			.minor = HI_SNAPSHOTS_MINOR}};

	memcpy(page.h.id, id, HI_SNAPSHOTS_ID);
	page.h.hash = XXH3_64bits(&page.h, offsetof(struct hi_snapshots_header, hash));
	return write_series_bytes(fd, &page, sizeof(page), 0);
}

static bool put_record(int fd, const uint8_t id[HI_SNAPSHOTS_ID],
		       struct hi_snapshots_record *r, uint64_t at)
{
	static const uint8_t magic[] = HI_SNAPSHOTS_RECORD_BYTES;

	memcpy(r->magic, magic, sizeof(magic));
	memcpy(r->id, id, HI_SNAPSHOTS_ID);
	r->hash = XXH3_64bits(r, offsetof(struct hi_snapshots_record, hash));
	return write_series_bytes(fd, r, sizeof(*r), at);
}

static struct hi_snapshots_record make_series_record(enum hi_snapshots_kind kind,
						     const struct hi_census_point *p,
						     const struct hi_snapshots_part *part,
						     uint64_t sequence)
{
	return (struct hi_snapshots_record){.kind = kind == HI_SNAPSHOTS_TOTALS
							    ? HI_SNAPSHOTS_AGGREGATES
							    : HI_SNAPSHOTS_GRAPH,
					    .number = p->number,
					    .sequence = sequence,
					    .offset = part->offset,
					    .size = part->size,
					    .part_hash = part->hash,
					    .time_ns = p->time_ns,
					    .wall_ns = p->wall_ns,
					    .cpu_ns = p->cpu_ns,
					    .pause_ns = p->pause_ns,
					    .objects = p->objects,
					    .bytes = p->bytes,
					    .leaked = p->leaked};
}

/* ---- files ---- */

static enum hi_status name_temporary_series(struct hi_snapshots_writer *w,
					    struct hi_error *err)
{
	bool is_new = *w->target.temporary;
	enum hi_status status = hi_output_file_commit(&w->target, w->path, err);

	if (status == HI_OK && is_new)
		hi_output_file_sync_name(&w->target);
	return status;
}

/* before: one of this path; NULL: there is none. */
static enum hi_status open_series_output(const struct hi_snapshots_writer *before,
					 struct hi_snapshots_writer *w,
					 struct hi_error *err)
{
	enum hi_status status =
		before ? hi_output_file_open_again(&before->target, &w->target, err)
		       : hi_output_file_open(w->path, HI_OUTPUT_FILE_REGULAR, &w->target,
					     err);

	w->fd = w->target.fd;
	return status;
}

static enum hi_status create_series(const char *path,
				    const struct hi_snapshots_writer *before,
				    struct hi_snapshots_writer **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_snapshots_writer_destroy)
	struct hi_snapshots_writer *w = hi_calloc(1, sizeof(*w));
	enum hi_status status;

	if (!w)
		return hi_fail_memory(err, "series");
	w->target = HI_OUTPUT_FILE_NONE;
	w->path = hi_strdup(path);
	if (!w->path)
		return hi_fail_memory(err, "series");
	if (getrandom(w->id, sizeof(w->id), 0) != (ssize_t)sizeof(w->id))
		return hi_fail_errno(err, "random numbers");
	status = open_series_output(before, w, err);
	if (status == HI_OK && !put_header(w->fd, w->id))
		status = cannot_write(err, path);
	w->end = HI_SNAPSHOTS_PAGE;
	if (status == HI_OK)
		*ret = hi_take(w);
	return status;
}

enum hi_status hi_snapshots_create(const char *path, struct hi_snapshots_writer **ret,
				   struct hi_error *err)
{
	return create_series(path, NULL, ret, err);
}

void hi_snapshots_writer_destroy(struct hi_snapshots_writer *w)
{
	if (!w)
		return;
	hi_output_file_close(&w->target);
	free(w->path);
	free(w->entries);
	hi_snapshots_marks_free(&w->marks);
	free(w);
}

/* ---- parts ---- */

static enum hi_status entry_for(struct hi_snapshots_writer *w,
				const struct hi_census_point *point,
				struct hi_snapshots_entry **ret, struct hi_error *err)
{
	struct hi_snapshots_entry *last =
		w->n_entries ? &w->entries[w->n_entries - 1] : NULL;

	if (!last || last->point.number != point->number) {
		size_t capacity = w->capacity ? 2 * w->capacity : 64;
		struct hi_snapshots_entry *more =
			w->n_entries < w->capacity
				? w->entries
				: hi_realloc_array(w->entries, capacity, sizeof(*more));

		if (!more)
			return hi_fail_memory(err, "series");
		w->capacity = w->n_entries < w->capacity ? w->capacity : capacity;
		w->entries = more;
		last = &more[w->n_entries];
		*last = (struct hi_snapshots_entry){.point = *point};
	}
	*ret = last;
	return HI_OK;
}

/* The part at w->end, as described by its header. */
static enum hi_status part_written(const struct hi_snapshots_writer *w,
				   struct hi_snapshots_part *ret, struct hi_error *err)
{
	struct hi_snapshot_header h;

	if (pread(w->fd, &h, sizeof(h), (off_t)w->end) != (ssize_t)sizeof(h))
		return cannot_write(err, w->path);
	*ret = (struct hi_snapshots_part){w->end, h.file_size, h.hash};
	return HI_OK;
}

enum hi_status hi_snapshots_commit(struct hi_snapshots_writer *w,
				   enum hi_snapshots_kind kind,
				   const struct hi_census_point *point,
				   struct hi_error *err)
{
	struct hi_snapshots_entry *entry = NULL;
	struct hi_snapshots_part part = {};
	struct hi_snapshots_record r;
	enum hi_status status = entry_for(w, point, &entry, err);

	if (status == HI_OK)
		status = part_written(w, &part, err);
	if (status != HI_OK)
		return status;
	r = make_series_record(kind, point, &part, w->sequence);
	if (!put_record(w->fd, w->id, &r,
			hi_snapshots_record_at(part.offset, part.size)) ||
	    fdatasync(w->fd) != 0)
		return cannot_write(err, w->path);
	status = name_temporary_series(w, err);
	if (status != HI_OK)
		return status;
	entry->parts[kind] = part;
	w->n_entries = (size_t)(entry - w->entries) + 1;
	w->end = part_end(part.offset, part.size);
	w->sequence++;
	return HI_OK;
}

void hi_snapshots_take_back(struct hi_snapshots_writer *w)
{
	(void)!ftruncate(w->fd, (off_t)w->end);
}

/* One part with so many. */
static enum hi_status append_series_marks(struct hi_snapshots_writer *w,
					  const struct hi_snapshots_mark *marks, size_t n,
					  struct hi_error *err)
{
	struct hi_snapshots_part part = {};
	struct hi_snapshots_record r;
	enum hi_status status = hi_snapshots_write_marks(w->fd, w->end, marks, n, err);

	if (status == HI_OK)
		status = part_written(w, &part, err);
	if (status != HI_OK)
		return status;
	r = (struct hi_snapshots_record){.kind = HI_SNAPSHOTS_MARKS,
					 .number = marks[0].census,
					 .sequence = w->sequence,
					 .offset = part.offset,
					 .size = part.size,
					 .part_hash = part.hash,
					 .wall_ns = marks[0].wall_ns,
					 .cpu_ns = marks[0].cpu_ns};
	if (!put_record(w->fd, w->id, &r,
			hi_snapshots_record_at(part.offset, part.size)) ||
	    fdatasync(w->fd) != 0)
		return cannot_write(err, w->path);
	w->end = part_end(part.offset, part.size);
	w->marks_size += w->end - part.offset;
	w->sequence++;
	return HI_OK;
}

enum hi_status hi_snapshots_put_mark(struct hi_snapshots_writer *w,
				     const struct hi_snapshots_mark *mark,
				     struct hi_error *err)
{
	enum hi_status status = hi_snapshots_copy_mark(&w->marks, mark, mark->text, err);

	if (status != HI_OK)
		return status;
	status = append_series_marks(w, mark, 1, err);
	if (status != HI_OK) {
		w->marks.count--;
		hi_snapshots_take_back(w);
	}
	return status;
}

enum hi_status hi_snapshots_finish(struct hi_snapshots_writer *w,
				   enum hi_snapshots_end end, struct hi_error *err)
{
	struct hi_snapshots_record r = {.kind = HI_SNAPSHOTS_END,
					.number = end,
					.sequence = w->sequence,
					.offset = w->end};

	if (!put_record(w->fd, w->id, &r, w->end) || fsync(w->fd) != 0)
		return cannot_write(err, w->path);
	return HI_OK;
}

/* ---- fewer of them ---- */

uint64_t hi_snapshots_size(const struct hi_snapshots_writer *w,
			   hi_snapshots_keep_fn *keep, void *arg)
{
	uint64_t sum = HI_SNAPSHOTS_PAGE + w->marks_size;

	for (size_t i = 0; i < w->n_entries; i++)
		for (int kind = 0; kind < HI_SNAPSHOTS_KINDS; kind++) {
			uint64_t size = w->entries[i].parts[kind].size;

			if (size && keep(arg, i, (enum hi_snapshots_kind)kind))
				sum += part_end(0, size);
		}
	return sum;
}

/* Within the kernel where it can, which may even share the blocks. */
static bool copy_bytes(int from, uint64_t at, int to, uint64_t to_at, uint64_t size)
{
	HI_GUARD(free) uint8_t *buffer = NULL;

	while (size) {
		off_t in = (off_t)at, out = (off_t)to_at;
		ssize_t n = buffer ? -1 : copy_file_range(from, &in, to, &out, size, 0);

		if (n <= 0) {
			if (!buffer && !(buffer = hi_alloc(COPY)))
				return false;
			n = pread(from, buffer, size < COPY ? size : COPY, (off_t)at);
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0 || !write_series_bytes(to, buffer, (size_t)n, to_at))
				return false;
		}
		at += (uint64_t)n;
		to_at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

static bool copy_part(struct hi_snapshots_writer *to, int from,
		      struct hi_snapshots_entry *entry, enum hi_snapshots_kind kind)
{
	struct hi_snapshots_part *part = &entry->parts[kind];
	struct hi_snapshots_record r;

	if (!copy_bytes(from, part->offset, to->fd, to->end, part->size))
		return false;
	part->offset = to->end;
	r = make_series_record(kind, &entry->point, part, to->sequence);
	to->end = part_end(part->offset, part->size);
	to->sequence++;
	return put_record(to->fd, to->id, &r,
			  hi_snapshots_record_at(part->offset, part->size));
}

/* Into `to`, with its entries; false: errno, or out of memory. */
static bool copy_kept(const struct hi_snapshots_writer *w, hi_snapshots_keep_fn *keep,
		      void *arg, struct hi_snapshots_writer *to)
{
	to->entries = hi_calloc(w->n_entries + 1, sizeof(*to->entries));
	if (!to->entries)
		return false;
	to->capacity = w->n_entries + 1;
	for (size_t i = 0; i < w->n_entries; i++) {
		struct hi_snapshots_entry entry = w->entries[i];
		bool any = false;

		for (int kind = 0; kind < HI_SNAPSHOTS_KINDS; kind++) {
			if (!entry.parts[kind].size)
				continue;
			if (!keep(arg, i, (enum hi_snapshots_kind)kind)) {
				entry.parts[kind] = (struct hi_snapshots_part){};
				continue;
			}
			any = true;
			if (!copy_part(to, w->fd, &entry, (enum hi_snapshots_kind)kind))
				return false;
		}
		if (any)
			to->entries[to->n_entries++] = entry;
	}
	return true;
}

enum hi_status hi_snapshots_thin(struct hi_snapshots_writer *w,
				 hi_snapshots_keep_fn *keep, void *arg,
				 struct hi_error *err)
{
	HI_GUARD(hi_snapshots_writer_destroy) struct hi_snapshots_writer *to = NULL;
	struct hi_snapshots_writer was = *w;
	enum hi_status status = create_series(w->path, w, &to, err);

	if (status != HI_OK)
		return status;
	if (!copy_kept(w, keep, arg, to) || fsync(to->fd) != 0)
		return errno ? cannot_write(err, w->path) : hi_fail_memory(err, "series");
	if (w->marks.count)
		status = append_series_marks(to, w->marks.items, w->marks.count, err);
	if (status == HI_OK)
		status = name_temporary_series(to, err);
	if (status != HI_OK)
		return status;
	to->marks = was.marks;
	was.marks = (struct hi_snapshots_marks){};
	*w = *to;
	*to = was;
	return HI_OK;
}
