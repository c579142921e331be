/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file with many censuses of one process: of each of them the totals (a snapshot
 * without objects), of some the graph too (a whole snapshot). The file only grows. A part
 * counts when the record after it has been written, so a writer that is killed loses no
 * complete part. docs/SNAPSHOT_FORMAT.md describes the bytes.
 *
 * The reader trusts nothing. It goes from record to record; where a record is damaged it
 * searches for the next one page by page and reports what it skipped.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_SERIES_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_SERIES_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/output_file.h"
#include "census/snapshot/snapshot_file.h"

/* One census, as recorded. */
struct hi_census_point {
	uint32_t number;  /* from 1, ascending; some may be missing */
	uint64_t time_ns; /* CLOCK_REALTIME at the stop */
	/* Since the first census: of the clock on the wall, of the target. */
	uint64_t wall_ns, cpu_ns;
	uint64_t pause_ns;
	/* Live objects, their bytes; bytes of certain leaks
	 * (census/analysis/leak_totals.h; in files of minor version 0 of all that no root
	 * leads to). */
	uint64_t objects, bytes, leaked;
};

enum hi_snapshots_kind { HI_SNAPSHOTS_TOTALS, HI_SNAPSHOTS_WHOLE, HI_SNAPSHOTS_KINDS };

struct hi_snapshots_part {
	uint64_t offset, size; /* of the snapshot in the file; size 0: there is none */
	uint64_t hash;
};

struct hi_snapshots_entry {
	struct hi_census_point point;
	struct hi_snapshots_part parts[HI_SNAPSHOTS_KINDS];
};

/* How a series ended, as its writer recorded it. */
enum hi_snapshots_end {
	HI_SNAPSHOTS_OPEN, /* not: it goes on, or its writer was killed */
	HI_SNAPSHOTS_OVER,
	HI_SNAPSHOTS_EXITED,  /* the target */
	HI_SNAPSHOTS_STOPPED, /* the writer, by a signal */
	HI_SNAPSHOTS_FAILED,
};

/* A point in time that the user named while the series ran. */
struct hi_snapshots_mark {
	uint32_t census;	  /* the last one before it; 0: none yet */
	uint64_t wall_ns, cpu_ns; /* as those of a census */
	uint64_t time_ns;	  /* since 1970; of what is read */
	const char *text;	  /* hostile */
};
enum {
	HI_SNAPSHOTS_MARKS_MOST = 1 << 16,
	HI_SNAPSHOTS_MARK_TEXT = 4096, /* bytes of one, at most */
};

/* ---- reading ---- */

struct hi_snapshots {
	char *path;
	int fd;
	uint64_t size; /* of the file when it was opened */
	struct hi_snapshots_entry *entries;
	size_t n_entries;
	enum hi_snapshots_end end;
	uint64_t damaged; /* bytes between parts that are none: something is lost */
	uint64_t lost;	  /* records that are missing, by their numbers */
	uint64_t torn;	  /* bytes after the last part: a census that never ended */
	struct hi_snapshots_part *marks; /* parts that have marks */
	size_t n_marks;
};

/* Returns whether the file begins with the magic bytes of a series. Nothing else is
 * checked. */
bool hi_snapshots_is_one(const char *path);
/* HI_BAD_DATA: not a series, or not one complete census is in it. */
enum hi_status hi_snapshots_open(const char *path, struct hi_snapshots **ret,
				 struct hi_error *err);
void hi_snapshots_close(struct hi_snapshots *s);
HI_DEFINE_GUARD(struct hi_snapshots *, hi_snapshots_close)
/* A part of entry i, which there must be. It may outlive s. */
enum hi_status hi_snapshots_part(const struct hi_snapshots *s, size_t i,
				 enum hi_snapshots_kind kind, struct hi_snapshot **ret,
				 struct hi_error *err);

/* All marks, in the order of the file. */
struct hi_snapshots_marks {
	struct hi_snapshots_mark *items;
	size_t count, capacity;
	uint64_t lost; /* parts of them that are damaged */
	struct hi_arena strings;
};
enum hi_status hi_snapshots_read_marks(const struct hi_snapshots *s,
				       struct hi_snapshots_marks *ret,
				       struct hi_error *err);
void hi_snapshots_marks_free(struct hi_snapshots_marks *marks); /* also a zeroed one */

/* ---- writing ---- */

struct hi_snapshots_writer {
	char *path;
	int fd;
	struct hi_output_file target; /* of path; named when the first part is complete */
	uint8_t id[16];
	uint64_t end;	   /* after the last record; a multiple of 4096 */
	uint64_t sequence; /* of the next record */
	struct hi_snapshots_entry *entries;
	size_t n_entries, capacity;
	struct hi_snapshots_marks marks;
	uint64_t marks_size; /* bytes of their parts */
};

/* Creates a file next to `path`, mode 0600, which is renamed to `path` when the first
 * part is complete. A file of that name stays until then. */
enum hi_status hi_snapshots_create(const char *path, struct hi_snapshots_writer **ret,
				   struct hi_error *err);
/* A snapshot was written to w->fd at w->end (hi_snapshot_options.at) and finished:
 * from now on it counts. Numbers ascend; each kind of a number comes once. */
enum hi_status hi_snapshots_commit(struct hi_snapshots_writer *w,
				   enum hi_snapshots_kind kind,
				   const struct hi_census_point *point,
				   struct hi_error *err);
/* Appends the marks as a part, which stays when the file is thinned out. HI_LIMIT:
 * there are too many, and the file is unchanged. */
enum hi_status hi_snapshots_put_mark(struct hi_snapshots_writer *w,
				     const struct hi_snapshots_mark *mark,
				     struct hi_error *err);
/* Cuts off the bytes after w->end: the disk was full. */
void hi_snapshots_take_back(struct hi_snapshots_writer *w);
/* Returns the size of the file in bytes if only the parts that `keep` selects stay.
 * Marks take less space when they are rewritten. */
typedef bool hi_snapshots_keep_fn(void *arg, size_t entry, enum hi_snapshots_kind kind);
uint64_t hi_snapshots_size(const struct hi_snapshots_writer *w,
			   hi_snapshots_keep_fn *keep, void *arg);
/* Writes a new file with these parts alone, which then takes the name. When that
 * fails, all is as before. */
enum hi_status hi_snapshots_thin(struct hi_snapshots_writer *w,
				 hi_snapshots_keep_fn *keep, void *arg,
				 struct hi_error *err);
/* The end record. */
enum hi_status hi_snapshots_finish(struct hi_snapshots_writer *w,
				   enum hi_snapshots_end end, struct hi_error *err);
/* Removes a file that has no complete part. NULL is fine. */
void hi_snapshots_writer_destroy(struct hi_snapshots_writer *w);
HI_DEFINE_GUARD(struct hi_snapshots_writer *, hi_snapshots_writer_destroy)

#endif
