/* SPDX-License-Identifier: BSD-2-Clause */
/* Many censuses in one file: written, read, thinned out; and what damage leaves. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <xxhash.h>

#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_series_format.h"
#include "tests/census/series_files.h"

struct world {
	struct hi_graph *g;
	struct hi_reach *r;
	struct hi_dominators *d;
	char path[96];
	/* the file as it was written, and a file to put other bytes into */
	uint8_t *bytes;
	size_t size;
	int fd;
	const char *changed;
};

static void close_world(struct world *w)
{
	hi_dominators_destroy(w->d);
	hi_reach_destroy(w->r);
	hi_graph_destroy(w->g);
	free(w->bytes);
	close(w->fd);
}

static void open_world(struct world *w, uint32_t n)
{
	*w = (struct world){.g = drawn_graph(3, n)};
	w->r = reach_of(w->g);
	w->d = dominators_of(w->g, w->r);
	w->fd = memory_file(&w->changed);
	snprintf(w->path, sizeof(w->path), "%s/a.hisnap", scratch());
	hi_test_defer(close_world, w);
}

static enum hi_status put_census(struct world *w, struct hi_snapshots_writer *s,
				 uint32_t number, bool whole, struct hi_error *err)
{
	enum hi_status status = put_sums(s, number, err);

	return status == HI_OK && whole ? put_whole(s, number, w->g, w->r, w->d, err)
					: status;
}

/* Censuses 1 to n; those of `whole` (bits, from 1) with their graphs. */
static void write_series(struct world *w, uint32_t n, uint32_t whole, bool finish)
{
	HI_GUARD(hi_snapshots_writer_destroy) struct hi_snapshots_writer *s = NULL;
	struct hi_error err;
	struct stat st;
	int fd;

	HI_ASSERT_OK(hi_snapshots_create(w->path, &s, &err), &err);
	for (uint32_t i = 1; i <= n; i++)
		HI_ASSERT_OK(put_census(w, s, i, whole >> i & 1, &err), &err);
	if (finish)
		HI_ASSERT_OK(hi_snapshots_finish(s, HI_SNAPSHOTS_EXITED, &err), &err);
	HI_ASSERT(stat(w->path, &st) == 0);
	HI_ASSERT_EQ(0600, st.st_mode & 07777);
	w->size = (size_t)st.st_size;
	w->bytes = malloc(w->size);
	fd = open(w->path, O_RDONLY | O_CLOEXEC);
	HI_ASSERT(fd >= 0 && w->bytes);
	HI_ASSERT(pread(fd, w->bytes, w->size, 0) == (ssize_t)w->size);
	close(fd);
}

static void check_point(const struct hi_census_point *p)
{
	struct hi_census_point want = drawn_point(p->number);

	HI_ASSERT_EQ(want.time_ns, p->time_ns);
	HI_ASSERT_EQ(want.wall_ns, p->wall_ns);
	HI_ASSERT_EQ(want.cpu_ns, p->cpu_ns);
	HI_ASSERT_EQ(want.pause_ns, p->pause_ns);
	HI_ASSERT_EQ(want.objects, p->objects);
	HI_ASSERT_EQ(want.bytes, p->bytes);
	HI_ASSERT_EQ(want.leaked, p->leaked);
}

HI_TEST(census_snapshot_series, what_was_written_is_read)
{
	static struct world w;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_error err;

	open_world(&w, 30);
	write_series(&w, 5, 1 << 1 | 1 << 3 | 1 << 5, true);
	HI_ASSERT(hi_snapshots_is_one(w.path) && !hi_snapshot_is_one(w.path));
	HI_ASSERT_OK(hi_snapshots_open(w.path, &s, &err), &err);
	HI_ASSERT_EQ(5, s->n_entries);
	HI_ASSERT_EQ(HI_SNAPSHOTS_EXITED, s->end);
	HI_ASSERT_EQ(0, s->damaged + s->lost + s->torn);
	for (size_t i = 0; i < 5; i++) {
		HI_ASSERT_EQ(i + 1, s->entries[i].point.number);
		check_point(&s->entries[i].point);
		HI_ASSERT(part_is_whole(s, i, HI_SNAPSHOTS_TOTALS, w.g));
		HI_ASSERT_EQ(i % 2 == 0, part_is_whole(s, i, HI_SNAPSHOTS_WHOLE, w.g));
	}
}

/* Any part is a snapshot file: cut out, every reader of those takes it. */
HI_TEST(census_snapshot_series, a_part_cut_out_is_a_snapshot_file)
{
	static struct world w;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *one = NULL;
	const struct hi_snapshots_part *part;
	struct hi_error err;

	open_world(&w, 30);
	write_series(&w, 2, 1 << 2, false);
	HI_ASSERT_OK(hi_snapshots_open(w.path, &s, &err), &err);
	HI_ASSERT_EQ(HI_SNAPSHOTS_OPEN, s->end);
	part = &s->entries[1].parts[HI_SNAPSHOTS_WHOLE];
	HI_ASSERT(pwrite(w.fd, w.bytes + part->offset, part->size, 0) ==
		  (ssize_t)part->size);
	HI_ASSERT_OK(hi_snapshot_open(w.changed, &one, &err), &err);
	HI_ASSERT_EQ(2, hi_snapshot_number(one, "number", 0));
}

/* ---- thinning ---- */

static bool keep_odd(void *arg, size_t entry, enum hi_snapshots_kind kind)
{
	return entry % 2 == 0 && (kind == HI_SNAPSHOTS_TOTALS || entry == *(size_t *)arg);
}

static unsigned files_in(const char *directory)
{
	DIR *dir = opendir(directory);
	unsigned n = 0;

	HI_ASSERT(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

HI_TEST(census_snapshot_series, thinned_out_it_goes_on_under_its_name)
{
	static struct world w;
	HI_GUARD(hi_snapshots_writer_destroy) struct hi_snapshots_writer *writer = NULL;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_error err;
	uint64_t predicted;
	struct stat st;
	size_t whole = 2;

	open_world(&w, 60);
	HI_ASSERT_OK(hi_snapshots_create(w.path, &writer, &err), &err);
	for (uint32_t i = 1; i <= 6; i++)
		HI_ASSERT_OK(put_census(&w, writer, i, true, &err), &err);
	predicted = hi_snapshots_size(writer, keep_odd, &whole);
	HI_ASSERT_OK(hi_snapshots_thin(writer, keep_odd, &whole, &err), &err);
	HI_ASSERT_EQ(predicted, writer->end);
	HI_ASSERT_OK(put_census(&w, writer, 7, true, &err), &err);
	HI_ASSERT_OK(hi_snapshots_finish(writer, HI_SNAPSHOTS_OVER, &err), &err);
	HI_ASSERT(stat(w.path, &st) == 0 && st.st_size <= (off_t)writer->end + 4096);
	HI_ASSERT_OK(hi_snapshots_open(w.path, &s, &err), &err);
	HI_ASSERT_EQ(4, s->n_entries); /* 1, 3, 5, 7 */
	HI_ASSERT_EQ(0, s->damaged + s->lost + s->torn);
	for (size_t i = 0; i < 4; i++) {
		HI_ASSERT_EQ(2 * i + 1, s->entries[i].point.number);
		check_point(&s->entries[i].point);
		HI_ASSERT(part_is_whole(s, i, HI_SNAPSHOTS_TOTALS, w.g));
		HI_ASSERT_EQ(i == 1 || i == 3,
			     part_is_whole(s, i, HI_SNAPSHOTS_WHOLE, w.g));
	}
	*strrchr(w.path, '/') = 0;
	HI_ASSERT_EQ(1, files_in(w.path));
}

HI_TEST(census_snapshot_series, a_file_without_a_census_leaves_the_old_one)
{
	static struct world w;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_snapshots_writer *writer = NULL;
	struct hi_error err;

	open_world(&w, 12);
	write_series(&w, 2, 0, true);
	HI_ASSERT_OK(hi_snapshots_create(w.path, &writer, &err), &err);
	HI_ASSERT_OK(hi_snapshots_open(w.path, &s, &err), &err);
	HI_ASSERT_EQ(2, s->n_entries);
	hi_snapshots_writer_destroy(writer);
	*strrchr(w.path, '/') = 0;
	HI_ASSERT_EQ(1, files_in(w.path));
}

/* ---- marks ---- */

static void put_mark(struct hi_snapshots_writer *s, uint32_t census, const char *text)
{
	struct hi_snapshots_mark mark = {.census = census,
					 .wall_ns = census * 1000000007ull + 5,
					 .cpu_ns = census * 10007ull + 3,
					 .text = text};
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshots_put_mark(s, &mark, &err), &err);
}

static void check_mark(const struct hi_snapshots_mark *m, uint32_t census,
		       const char *text)
{
	HI_ASSERT_EQ(census, m->census);
	HI_ASSERT_EQ(census * 1000000007ull + 5, m->wall_ns);
	HI_ASSERT_EQ(census * 10007ull + 3, m->cpu_ns);
	HI_ASSERT_STREQ(text, m->text);
	/* As the censuses have it. */
	HI_ASSERT_EQ(drawn_point(1).time_ns - drawn_point(1).wall_ns + m->wall_ns,
		     m->time_ns);
}

/* Before the first census, between them and behind the last; one text twice. */
static void write_marked(struct world *w, bool thin)
{
	HI_GUARD(hi_snapshots_writer_destroy) struct hi_snapshots_writer *s = NULL;
	struct hi_error err;
	size_t whole = 0;

	HI_ASSERT_OK(hi_snapshots_create(w->path, &s, &err), &err);
	put_mark(s, 0, "early");
	/* Nothing is in it that counts. */
	HI_ASSERT(thin || access(w->path, F_OK) != 0);
	HI_ASSERT_OK(put_census(w, s, 1, true, &err), &err);
	put_mark(s, 1, "\x1b[31m\xff");
	put_mark(s, 1, "");
	HI_ASSERT_OK(put_census(w, s, 2, false, &err), &err);
	if (thin)
		HI_ASSERT_OK(hi_snapshots_thin(s, keep_odd, &whole, &err), &err);
	put_mark(s, 2, "early");
	HI_ASSERT_OK(hi_snapshots_finish(s, HI_SNAPSHOTS_OVER, &err), &err);
}

static void check_marked(const struct world *w, size_t censuses)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_snapshots_marks marks = {};
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshots_open(w->path, &s, &err), &err);
	HI_ASSERT_EQ(censuses, s->n_entries);
	HI_ASSERT_EQ(HI_SNAPSHOTS_OVER, s->end);
	HI_ASSERT_EQ(0, s->damaged + s->lost + s->torn);
	HI_ASSERT(part_is_whole(s, 0, HI_SNAPSHOTS_WHOLE, w->g));
	HI_ASSERT_OK(hi_snapshots_read_marks(s, &marks, &err), &err);
	HI_ASSERT_EQ(0, marks.lost);
	HI_ASSERT_EQ(4, marks.count);
	check_mark(&marks.items[0], 0, "early");
	check_mark(&marks.items[1], 1, "\x1b[31m\xff");
	check_mark(&marks.items[2], 1, "");
	check_mark(&marks.items[3], 2, "early");
	hi_snapshots_marks_free(&marks);
}

HI_TEST(census_snapshot_series, marks_are_kept_also_when_it_is_thinned_out)
{
	static struct world w;

	open_world(&w, 20);
	write_marked(&w, false);
	check_marked(&w, 2);
	write_marked(&w, true);
	check_marked(&w, 1);
}

/* A part that nobody knows is passed over: what a reader that is older does. */
HI_TEST(census_snapshot_series, marks_are_parts_that_a_reader_may_pass_over)
{
	static struct world w;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_snapshots_record *r;
	size_t changed = 0;
	struct hi_error err;
	struct stat st;
	uint8_t *bytes;
	int fd;

	open_world(&w, 20);
	write_marked(&w, false);
	fd = open(w.path, O_RDWR | O_CLOEXEC);
	HI_ASSERT(fd >= 0 && fstat(fd, &st) == 0);
	bytes = malloc((size_t)st.st_size);
	HI_ASSERT(pread(fd, bytes, (size_t)st.st_size, 0) == st.st_size);
	for (size_t at = 4096; at + sizeof(*r) <= (size_t)st.st_size; at += 64) {
		r = (struct hi_snapshots_record *)(bytes + at);
		if (memcmp(r->magic, "\x89HIPART\n", 8) != 0 ||
		    r->kind != HI_SNAPSHOTS_MARKS)
			continue;
		r->kind = 99;
		r->hash = XXH3_64bits(r, offsetof(struct hi_snapshots_record, hash));
		changed++;
	}
	HI_ASSERT_EQ(4, changed);
	HI_ASSERT(pwrite(fd, bytes, (size_t)st.st_size, 0) == st.st_size);
	close(fd);
	free(bytes);
	HI_ASSERT_OK(hi_snapshots_open(w.path, &s, &err), &err);
	HI_ASSERT_EQ(2, s->n_entries);
	HI_ASSERT_EQ(0, s->n_marks);
	HI_ASSERT_EQ(0, s->damaged + s->lost + s->torn);
}

/* Whatever byte of it is another one: it is lost and counted, or as it was. */
HI_TEST(census_snapshot_series, a_damaged_mark_is_counted_and_never_another_one)
{
	static struct world w;
	size_t from, to, lost = 0;
	struct hi_error err;

	open_world(&w, 8);
	{
		HI_GUARD(hi_snapshots_writer_destroy)
		struct hi_snapshots_writer *s = NULL;

		HI_ASSERT_OK(hi_snapshots_create(w.path, &s, &err), &err);
		HI_ASSERT_OK(put_census(&w, s, 1, false, &err), &err);
		from = s->end;
		put_mark(s, 1, "flush");
		to = s->end;
		HI_ASSERT_OK(put_census(&w, s, 2, false, &err), &err);
	}
	for (size_t at = from; at < to; at++) {
		HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
		struct hi_snapshots_marks marks = {};
		int fd = open(w.path, O_RDWR | O_CLOEXEC);
		uint8_t was, other;

		HI_ASSERT(fd >= 0 && pread(fd, &was, 1, (off_t)at) >= 0);
		other = was ^ 0x41;
		HI_ASSERT(pwrite(fd, &other, 1, (off_t)at) == 1);
		HI_ASSERT_OK(hi_snapshots_open(w.path, &s, &err), &err);
		HI_ASSERT_EQ(2, s->n_entries);
		HI_ASSERT_OK(hi_snapshots_read_marks(s, &marks, &err), &err);
		if (marks.count)
			check_mark(&marks.items[0], 1, "flush");
		else
			HI_ASSERT_MSG(marks.lost + s->lost + s->damaged, "byte %zu", at);
		lost += !marks.count;
		HI_ASSERT(pwrite(fd, &was, 1, (off_t)at) == 1);
		close(fd);
		hi_snapshots_marks_free(&marks);
	}
	HI_ASSERT(lost > 128);
}

/* ---- damage ---- */

static void put(struct world *w, const uint8_t *bytes, size_t size)
{
	HI_ASSERT(ftruncate(w->fd, 0) == 0 &&
		  pwrite(w->fd, bytes, size, 0) == (ssize_t)size);
}

/* Where the parts of the undamaged file end, with their records. */
static size_t ends_of(const struct world *w, size_t ends[], size_t most)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_error err;
	size_t n = 0;

	HI_ASSERT_OK(hi_snapshots_open(w->path, &s, &err), &err);
	for (size_t i = 0; i < s->n_entries; i++)
		for (int k = 0; k < HI_SNAPSHOTS_KINDS; k++) {
			const struct hi_snapshots_part *p = &s->entries[i].parts[k];

			HI_ASSERT(n < most);
			if (p->size)
				ends[n++] = ((p->offset + p->size + 63) & ~63ull) + 128;
		}
	return n;
}

static size_t parts_in(const struct hi_snapshots *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_entries; i++)
		for (int k = 0; k < HI_SNAPSHOTS_KINDS; k++)
			n += s->entries[i].parts[k].size != 0;
	return n;
}

HI_TEST(census_snapshot_series, every_cut_leaves_what_was_complete_before_it)
{
	static struct world w;
	size_t ends[16], n, before = SIZE_MAX;
	struct hi_error err;

	open_world(&w, 12);
	write_series(&w, 3, 1 << 1 | 1 << 3, true);
	n = ends_of(&w, ends, 16);
	HI_ASSERT_EQ(5, n);
	for (size_t size = 0; size < w.size; size++) {
		HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
		size_t complete = 0;

		put(&w, w.bytes, size);
		while (complete < n && ends[complete] <= size)
			complete++;
		if (!complete) {
			HI_ASSERT_STATUS(HI_BAD_DATA,
					 hi_snapshots_open(w.changed, &s, &err));
			continue;
		}
		HI_ASSERT_OK(hi_snapshots_open(w.changed, &s, &err), &err);
		HI_ASSERT_EQ(complete, parts_in(s));
		HI_ASSERT_EQ(HI_SNAPSHOTS_OPEN, s->end); /* the end record is cut */
		HI_ASSERT_EQ(0, s->damaged + s->lost);
		if (complete == before)
			continue;
		before = complete;
		for (size_t i = 0; i < s->n_entries; i++) {
			check_point(&s->entries[i].point);
			for (int k = 0; k < HI_SNAPSHOTS_KINDS; k++)
				if (s->entries[i].parts[k].size)
					HI_ASSERT(part_is_whole(
						s, i, (enum hi_snapshots_kind)k, w.g));
		}
	}
}

/* Does every section of the part hold? */
static bool sections_hold(const struct world *w, const struct hi_snapshots *s, size_t i,
			  enum hi_snapshots_kind kind)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *part = NULL;
	const struct hi_snapshot_header *h =
		(const void *)(w->bytes + s->entries[i].parts[kind].offset);
	const struct hi_snapshot_section *e = (const void *)(h + 1);
	struct hi_error err;
	const void *items;
	uint64_t n;

	if (hi_snapshots_part(s, i, kind, &part, &err) != HI_OK)
		return false;
	for (uint32_t k = 0; k < h->n_sections; k++)
		if (hi_snapshot_get(part, e[k].name, e[k].item, &items, &n, &err) !=
		    HI_OK)
			return false;
	return true;
}

/* Is anything missing, or refused? What is read is as it was written. */
static bool is_noticed(const struct world *w, size_t parts)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_error err;
	size_t whole = 0;

	if (hi_snapshots_open(w->changed, &s, &err) != HI_OK)
		return true;
	for (size_t i = 0; i < s->n_entries; i++) {
		check_point(&s->entries[i].point);
		for (int k = 0; k < HI_SNAPSHOTS_KINDS; k++)
			whole += s->entries[i].parts[k].size &&
				 sections_hold(w, s, i, (enum hi_snapshots_kind)k);
	}
	if (parts_in(s) < parts || s->end == HI_SNAPSHOTS_OPEN)
		HI_ASSERT(s->damaged + s->lost + s->torn > 0);
	return whole < parts || s->end == HI_SNAPSHOTS_OPEN;
}

static bool is_within(size_t at, uint64_t from, uint64_t size)
{
	return at >= from && at - from < size;
}

/* Does the byte mean anything, by the documented layout? */
static bool has_meaning(const struct world *w, size_t at, const struct hi_snapshots *s)
{
	if (at < 64 || at >= w->size - 128) /* the end record is the last */
		return true;
	for (size_t i = 0; i < s->n_entries; i++)
		for (int k = 0; k < HI_SNAPSHOTS_KINDS; k++) {
			const struct hi_snapshots_part *p = &s->entries[i].parts[k];
			const struct hi_snapshot_header *h =
				(const void *)(w->bytes + p->offset);
			const struct hi_snapshot_section *e = (const void *)(h + 1);

			if (!p->size)
				continue;
			if (is_within(at, p->offset, 64 + 64 * h->n_sections) ||
			    is_within(at, (p->offset + p->size + 63) & ~63ull, 128))
				return true;
			for (uint32_t j = 0; j < h->n_sections; j++)
				if (is_within(at, p->offset + e[j].offset, e[j].stored))
					return true;
		}
	return false;
}

HI_TEST(census_snapshot_series, flipped_bits_are_noticed_or_were_padding)
{
	static struct world w;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	uint64_t state = 17;
	unsigned noticed = 0;
	struct hi_error err;

	open_world(&w, 60);
	write_series(&w, 4, 1 << 1 | 1 << 4, true);
	HI_ASSERT_OK(hi_snapshots_open(w.path, &s, &err), &err);
	for (unsigned i = 0; i < 10000; i++) {
		size_t at = random_below(&state, (uint32_t)w.size);
		uint8_t bit = (uint8_t)(1u << random_below(&state, 8));
		bool means = has_meaning(&w, at, s);

		w.bytes[at] ^= bit;
		put(&w, w.bytes, w.size);
		w.bytes[at] ^= bit;
		HI_ASSERT_MSG(is_noticed(&w, 6) == means, "byte %zu of %zu", at, w.size);
		noticed += means;
	}
	hi_test_note("%u of 10000 flips noticed, in %zu bytes", noticed, w.size);
}

/* A record that is gone costs its own part and no other. */
HI_TEST(census_snapshot_series, behind_a_damaged_part_the_others_are_found)
{
	static struct world w;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	size_t ends[16];
	struct hi_error err;

	open_world(&w, 30);
	write_series(&w, 4, 1 << 2, true);
	HI_ASSERT_EQ(5, ends_of(&w, ends, 16));
	memset(w.bytes + ends[1] - 128, 0, 128); /* the sums of census 2 */
	put(&w, w.bytes, w.size);
	HI_ASSERT_OK(hi_snapshots_open(w.changed, &s, &err), &err);
	HI_ASSERT_EQ(4, s->n_entries);
	HI_ASSERT_EQ(0, s->entries[1].parts[HI_SNAPSHOTS_TOTALS].size);
	HI_ASSERT(part_is_whole(s, 1, HI_SNAPSHOTS_WHOLE, w.g));
	HI_ASSERT_EQ(1, s->lost);
	HI_ASSERT(s->damaged > 0);
	HI_ASSERT_EQ(HI_SNAPSHOTS_EXITED, s->end);
}

static void open_parts(const struct hi_snapshots *s)
{
	for (size_t i = 0; i < s->n_entries; i++)
		for (int k = 0; k < HI_SNAPSHOTS_KINDS; k++) {
			HI_GUARD(hi_snapshot_close) struct hi_snapshot *part = NULL;
			struct hi_error err;

			(void)!hi_snapshots_part(s, i, (enum hi_snapshots_kind)k, &part,
						 &err);
		}
}

/* Who makes up a file makes up its checksums, too. */
HI_TEST(census_snapshot_series, made_up_records_hurt_nobody)
{
	static const uint64_t wicked[] = {0,	    1,		63,	    4095,
					  4096,	    0xffffffff, 1ull << 40, 1ull << 63,
					  ~4095ull, UINT64_MAX};
	static struct world w;
	uint64_t state = 5;
	size_t ends[16], n;
	unsigned opened = 0;

	open_world(&w, 30);
	write_series(&w, 4, 1 << 1 | 1 << 4, true);
	n = ends_of(&w, ends, 16);
	for (unsigned i = 0; i < 4000; i++) {
		HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
		uint32_t which = random_below(&state, (uint32_t)n);
		struct hi_snapshots_record *r = (void *)(w.bytes + ends[which] - 128);
		struct hi_snapshots_record was = *r;
		uint64_t value = wicked[random_below(&state, 10)];
		struct hi_error err;

		memcpy((uint8_t *)r + 8 + 4 * random_below(&state, 26), &value, 8);
		r->hash = XXH3_64bits(r, offsetof(struct hi_snapshots_record, hash));
		put(&w, w.bytes, w.size);
		*r = was;
		if (hi_snapshots_open(w.changed, &s, &err) != HI_OK)
			continue;
		opened++;
		for (size_t k = 1; k < s->n_entries; k++)
			HI_ASSERT(s->entries[k].point.number >
				  s->entries[k - 1].point.number);
		open_parts(s);
	}
	HI_ASSERT(opened > 1000);
}

HI_TEST(census_snapshot_series, other_files_and_newer_versions_are_told_apart)
{
	static struct world w;
	struct hi_snapshots_header *h;
	struct hi_snapshots *s = NULL;
	struct hi_error err;

	open_world(&w, 12);
	write_series(&w, 1, 0, true);
	h = (void *)w.bytes;
	h->major++;
	h->hash = XXH3_64bits(h, offsetof(struct hi_snapshots_header, hash));
	put(&w, w.bytes, w.size);
	HI_ASSERT_STATUS(HI_UNSUPPORTED, hi_snapshots_open(w.changed, &s, &err));
	HI_ASSERT(strstr(err.text, "version 2"));
	memset(w.bytes, 'x', w.size);
	put(&w, w.bytes, w.size);
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_snapshots_open(w.changed, &s, &err));
	HI_ASSERT(strstr(err.text, "not a series"));
	HI_ASSERT_STATUS(HI_OS, hi_snapshots_open("/nonexistent", &s, &err));
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_snapshots_open("/tmp", &s, &err));
}

/* ---- a full disk ---- */

static void fill_up(struct world *w, size_t most)
{
	HI_GUARD(hi_snapshots_writer_destroy) struct hi_snapshots_writer *writer = NULL;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct rlimit limit = {most, RLIM_INFINITY};
	enum hi_status status;
	uint32_t done = 0;
	struct hi_error err;

	unlink(w->path);
	HI_ASSERT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	status = hi_snapshots_create(w->path, &writer, &err);
	for (uint32_t i = 1; status == HI_OK; i++) {
		status = put_census(w, writer, i, true, &err);
		done += status == HI_OK;
	}
	HI_ASSERT_EQ(HI_OS, status);
	HI_ASSERT_EQ(EFBIG, err.os_errno);
	if (!done)
		return;
	hi_snapshots_take_back(writer);
	status = hi_snapshots_finish(writer, HI_SNAPSHOTS_FAILED, &err);
	HI_ASSERT_OK(hi_snapshots_open(w->path, &s, &err), &err);
	HI_ASSERT(s->n_entries == done || s->n_entries == done + 1);
	HI_ASSERT_EQ(status == HI_OK, s->end == HI_SNAPSHOTS_FAILED);
	for (size_t i = 0; i < done; i++)
		HI_ASSERT(part_is_whole(s, i, HI_SNAPSHOTS_WHOLE, w->g));
}

HI_TEST(census_snapshot_series, a_full_disk_leaves_what_was_complete)
{
	static struct world w;
	struct rlimit old;

	open_world(&w, 30);
	HI_ASSERT(getrlimit(RLIMIT_FSIZE, &old) == 0);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t most = 0; most < 80000; most += 997)
		fill_up(&w, most);
	HI_ASSERT(setrlimit(RLIMIT_FSIZE, &old) == 0);
	signal(SIGXFSZ, SIG_DFL);
}

/* ---- killed writers ---- */

/* Tells each census that is complete by a byte. */
static _Noreturn void write_for_ever(struct world *w, int fd)
{
	struct hi_snapshots_writer *s = NULL;
	size_t whole = 2;
	struct hi_error err;

	if (hi_snapshots_create(w->path, &s, &err) != HI_OK)
		_exit(1);
	for (uint32_t i = 1;; i++) {
		if (put_census(w, s, i, i % 3 == 1, &err) != HI_OK ||
		    write(fd, "", 1) != 1)
			_exit(1);
		/* Every second one goes; the newest is the last entry. */
		if (i % 8 == 0 && hi_snapshots_thin(s, keep_odd, &whole, &err) != HI_OK)
			_exit(1);
	}
}

/* How many of 1 … told are in a file that was thinned out after every eighth: the last
 * ones since then must be there. */
static void check_survivors(struct world *w, uint32_t told)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	struct hi_error err;
	uint32_t last, since = 0;

	HI_ASSERT_OK(hi_snapshots_open(w->path, &s, &err), &err);
	HI_ASSERT_EQ(0, s->damaged + s->lost);
	HI_ASSERT_EQ(HI_SNAPSHOTS_OPEN, s->end);
	last = s->entries[s->n_entries - 1].point.number;
	/* Thinning may have taken number 8, 16, …: of an even number of them the last. */
	HI_ASSERT(last + 1 >= told && last <= told + 1);
	for (size_t i = 0; i < s->n_entries; i++) {
		check_point(&s->entries[i].point);
		HI_ASSERT(part_is_whole(s, i, HI_SNAPSHOTS_TOTALS, w->g));
		if (s->entries[i].parts[HI_SNAPSHOTS_WHOLE].size)
			HI_ASSERT(part_is_whole(s, i, HI_SNAPSHOTS_WHOLE, w->g));
		since += s->entries[i].point.number > told / 8 * 8;
	}
	HI_ASSERT(since >= told % 8);
}

static uint32_t kill_one(struct world *w, uint64_t us)
{
	struct timespec wait = {.tv_nsec = (long)us * 1000};
	uint32_t told = 0;
	int pipes[2];
	pid_t pid;
	char c;

	unlink(w->path);
	HI_ASSERT(pipe2(pipes, O_CLOEXEC) == 0);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0)
		write_for_ever(w, pipes[1]);
	close(pipes[1]);
	HI_ASSERT(read(pipes[0], &c, 1) == 1); /* the first */
	nanosleep(&wait, NULL);
	kill(pid, SIGKILL);
	HI_ASSERT(waitpid(pid, NULL, 0) == pid);
	for (told = 1; read(pipes[0], &c, 1) == 1;)
		told++;
	close(pipes[0]);
	check_survivors(w, told);
	return told;
}

HI_TEST_SLOW(census_snapshot_series,
	     writers_killed_at_any_instant_leave_what_was_complete)
{
	static struct world w;
	uint64_t state = 77, most = 0, all = 0;

	open_world(&w, 30);
	for (unsigned i = 0; i < 500; i++) {
		uint32_t told = kill_one(&w, random_below(&state, 20000));

		all += told;
		most = told > most ? told : most;
	}
	hi_test_note("%llu censuses in 500 files, %llu at most", (unsigned long long)all,
		     (unsigned long long)most);
	HI_ASSERT(most > 1);
}
