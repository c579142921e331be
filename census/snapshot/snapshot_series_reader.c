/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a file with many censuses from record to record. If a record is damaged, it
 * searches page by page for the next one.
 */
#include "census/snapshot/snapshot_series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_series_format.h"
#include "census/snapshot/snapshot_series_internal.h"

static const uint8_t series_magic[] = HI_SNAPSHOTS_MAGIC_BYTES;

struct scan {
	struct hi_snapshots *s;
	uint8_t id[HI_SNAPSHOTS_ID];
	struct entries HI_VECTOR(struct hi_snapshots_entry) entries;
	struct mark_parts HI_VECTOR(struct hi_snapshots_part) marks;
	uint64_t sequence; /* of the next record */
	uint64_t end;	   /* after the last record that holds */
	bool failed;	   /* out of memory */
};

bool hi_snapshots_is_one(const char *path)
{
	uint8_t start[sizeof(series_magic)];
	int fd = hi_files_open(path);
	bool is;

	if (fd < 0)
		return false;
	is = pread(fd, start, sizeof(start), 0) == sizeof(start) &&
	     memcmp(start, series_magic, sizeof(start)) == 0;
	close(fd);
	return is;
}

void hi_snapshots_close(struct hi_snapshots *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s->entries);
	free(s->marks);
	free(s->path);
	free(s);
}

static bool read_series_bytes(const struct hi_snapshots *s, uint64_t at, void *bytes,
			      size_t size)
{
	if (at > s->size || s->size - at < size)
		return false;
	return pread(s->fd, bytes, size, (off_t)at) == (ssize_t)size;
}

/* ---- records ---- */

static bool get_record(const struct scan *c, uint64_t at, struct hi_snapshots_record *r)
{
	static const uint8_t magic[] = HI_SNAPSHOTS_RECORD_BYTES;

	return read_series_bytes(c->s, at, r, sizeof(*r)) &&
	       memcmp(r->magic, magic, sizeof(magic)) == 0 &&
	       r->hash == XXH3_64bits(r, offsetof(struct hi_snapshots_record, hash)) &&
	       memcmp(r->id, c->id, sizeof(c->id)) == 0;
}

/* Reads the record after the snapshot that begins here, if both hold. */
static bool get_part(const struct scan *c, uint64_t at, struct hi_snapshots_record *r)
{
	static const uint8_t magic[] = HI_SNAPSHOT_MAGIC_BYTES;
	struct hi_snapshot_header h;

	if (!read_series_bytes(c->s, at, &h, sizeof(h)) ||
	    memcmp(h.magic, magic, sizeof(magic)) != 0 ||
	    h.hash != XXH3_64bits(&h, offsetof(struct hi_snapshot_header, hash)) ||
	    h.file_size > c->s->size - at)
		return false;
	return get_record(c, hi_snapshots_record_at(at, h.file_size), r) &&
	       r->kind != HI_SNAPSHOTS_END && r->offset == at && r->size == h.file_size &&
	       r->part_hash == h.hash;
}

static bool is_known_record_kind(const struct hi_snapshots_record *r)
{
	return r->kind == HI_SNAPSHOTS_AGGREGATES || r->kind == HI_SNAPSHOTS_GRAPH;
}

/* False: it is where it cannot be. */
static bool add_series_entry(struct scan *c, const struct hi_snapshots_record *r)
{
	enum hi_snapshots_kind kind = r->kind == HI_SNAPSHOTS_AGGREGATES
					      ? HI_SNAPSHOTS_TOTALS
					      : HI_SNAPSHOTS_WHOLE;
	struct hi_snapshots_entry *last =
		c->entries.count ? &c->entries.items[c->entries.count - 1] : NULL;

	if (!r->number || (last && r->number < last->point.number) ||
	    (last && r->number == last->point.number && last->parts[kind].size))
		return false;
	if (!last || r->number != last->point.number) {
		struct hi_snapshots_entry fresh = {.point = {.number = r->number,
							     .time_ns = r->time_ns,
							     .wall_ns = r->wall_ns,
							     .cpu_ns = r->cpu_ns,
							     .pause_ns = r->pause_ns,
							     .objects = r->objects,
							     .bytes = r->bytes,
							     .leaked = r->leaked}};

		if (!hi_vector_push(&c->entries, fresh)) {
			c->failed = true;
			return true;
		}
		last = &c->entries.items[c->entries.count - 1];
	}
	last->parts[kind] = (struct hi_snapshots_part){r->offset, r->size, r->part_hash};
	return true;
}

static void add_marks_part(struct scan *c, const struct hi_snapshots_record *r)
{
	struct hi_snapshots_part part = {r->offset, r->size, r->part_hash};

	c->failed |= !hi_vector_push(&c->marks, part);
}

/* A record that holds: what is before it and after the last one is lost. */
static void count_series_record(struct scan *c, const struct hi_snapshots_record *r,
				uint64_t at, uint64_t end)
{
	if (at > c->end)
		c->s->damaged += at - c->end;
	if (r->sequence > c->sequence)
		c->s->lost += r->sequence - c->sequence;
	c->sequence = r->sequence + 1;
	c->end = end;
	c->s->end = HI_SNAPSHOTS_OPEN;
}

static uint64_t next_page(uint64_t at)
{
	return (at + HI_SNAPSHOTS_PAGE - 1) & ~(uint64_t)(HI_SNAPSHOTS_PAGE - 1);
}

/* Returns the offset to look at next. */
static uint64_t scan_series_page(struct scan *c, uint64_t at)
{
	struct hi_snapshots_record r;
	uint64_t end;

	if (get_part(c, at, &r) && r.sequence >= c->sequence) {
		end = next_page(hi_snapshots_record_at(at, r.size) + sizeof(r));
		if (is_known_record_kind(&r) && !add_series_entry(c, &r))
			return at + HI_SNAPSHOTS_PAGE;
		if (r.kind == HI_SNAPSHOTS_MARKS)
			add_marks_part(c, &r);
		count_series_record(c, &r, at, end);
		return end;
	}
	if (get_record(c, at, &r) && r.kind == HI_SNAPSHOTS_END && r.offset == at &&
	    r.sequence >= c->sequence) {
		count_series_record(c, &r, at, at + HI_SNAPSHOTS_PAGE);
		c->s->end =
			r.number >= HI_SNAPSHOTS_OVER && r.number <= HI_SNAPSHOTS_FAILED
				? (enum hi_snapshots_end)r.number
				: HI_SNAPSHOTS_FAILED;
	}
	return at + HI_SNAPSHOTS_PAGE;
}

static enum hi_status check_series_header(struct scan *c, struct hi_error *err)
{
	struct hi_snapshots_header h;
	const char *path = c->s->path;

	if (!read_series_bytes(c->s, 0, &h, sizeof(h)) ||
	    memcmp(h.magic, series_magic, sizeof(h.magic)) != 0)
		return hi_fail(err, HI_BAD_DATA, 0, "%.120s: not a series of snapshots",
			       path);
	if (h.hash != XXH3_64bits(&h, offsetof(struct hi_snapshots_header, hash)))
		return hi_fail(
			err, HI_BAD_DATA, 0,
			"%.120s: section header: damaged (its checksum does not match)",
			path);
	if (h.major > HI_SNAPSHOTS_MAJOR)
		return hi_fail(
			err, HI_UNSUPPORTED, 0,
			"%.120s: format version %u of a series; this program reads "
			"up to %d",
			path, h.major, HI_SNAPSHOTS_MAJOR);
	memcpy(c->id, h.id, sizeof(c->id));
	return HI_OK;
}

static enum hi_status open_series_file(struct hi_snapshots *s, struct hi_error *err)
{
	struct stat st;

	s->fd = hi_files_open(s->path);
	if (s->fd < 0 || fstat(s->fd, &st) != 0)
		return hi_fail_errno(err, "cannot read %.120s", s->path);
	if (!S_ISREG(st.st_mode))
		return hi_fail(err, HI_BAD_DATA, 0, "%.120s: not a file", s->path);
	s->size = (uint64_t)st.st_size;
	return HI_OK;
}

enum hi_status hi_snapshots_open(const char *path, struct hi_snapshots **ret,
				 struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = hi_calloc(1, sizeof(*s));
	struct scan c = {.s = s, .end = HI_SNAPSHOTS_PAGE};
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "series");
	s->fd = -1;
	s->path = hi_strdup(path);
	if (!s->path)
		return hi_fail_memory(err, "series");
	status = open_series_file(s, err);
	if (status == HI_OK)
		status = check_series_header(&c, err);
	if (status != HI_OK)
		return status;
	for (uint64_t at = HI_SNAPSHOTS_PAGE; at < s->size && !c.failed;)
		at = scan_series_page(&c, at);
	s->entries = c.entries.items;
	s->n_entries = c.entries.count;
	s->marks = c.marks.items;
	s->n_marks = c.marks.count;
	s->torn = s->size > c.end ? s->size - c.end : 0;
	if (c.failed)
		return hi_fail_memory(err, "series");
	if (!s->n_entries)
		return hi_fail(err, HI_BAD_DATA, 0, "%.120s: contains no complete census",
			       path);
	*ret = hi_take(s);
	return HI_OK;
}

enum hi_status hi_snapshots_part(const struct hi_snapshots *s, size_t i,
				 enum hi_snapshots_kind kind, struct hi_snapshot **ret,
				 struct hi_error *err)
{
	const struct hi_snapshots_entry *e = &s->entries[i];
	char name[160];

	if (!e->parts[kind].size)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.120s: census %u has no graph",
			       s->path, e->point.number);
	snprintf(name, sizeof(name), "%.120s@%u", s->path, e->point.number);
	return hi_snapshot_open_part(s->fd, name, e->parts[kind].offset,
				     e->parts[kind].size, ret, err);
}
