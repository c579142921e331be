/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/record/record_live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/vector.h"
#include "report/render/live_screen.h"
#include "report/reports/series/series_text.h"

enum {
	PAST = 40,   /* samples that are kept of a row */
	GROWTH = 10, /* samples: what a row gained in the last seconds */
	HEAD_LINES = 7,
	/* Columns. */
	BYTES = 11,
	CHANGE = 12,
	RATE = 10,
	LIVE = 11,
	WHERE = 22,
	LEAST_NAME = 16,
};

/* A row over time: sample n is at n % PAST. */
struct live_past {
	uint64_t first; /* the sample in which it came; 0: none yet */
	uint64_t bytes[PAST];
	uint64_t allocs; /* of the sample before the newest */
	struct hi_record_live_sums now;
	const char *name, *where;
};

enum live_order { BY_BYTES, BY_GROWTH, BY_ALLOCATIONS, LIVE_ORDERS };

struct hi_record_live {
	struct hi_record_live_sample now; /* without rows; texts in `texts`, note */
	char note[200];
	uint64_t number, before_ns; /* of samples; time of the one before */
	struct live_past all;
	struct HI_VECTOR(struct live_past) rows;
	struct HI_VECTOR(uint32_t) order;
	struct hi_arena texts;
	enum live_order sorted_by;
	bool keys, pauses;
};

struct hi_record_live *hi_record_live_create(void)
{
	return hi_calloc(1, sizeof(struct hi_record_live));
}

void hi_record_live_destroy(struct hi_record_live *live)
{
	if (!live)
		return;
	hi_vector_free(&live->rows);
	hi_vector_free(&live->order);
	hi_arena_free(&live->texts);
	free(live);
}

/* ---- over time ---- */

static void add_past(struct hi_record_live *live, struct live_past *past,
		     const struct hi_record_live_sums *now)
{
	if (!past->first)
		past->first = live->number;
	past->allocs = past->first < live->number ? past->now.allocs : now->allocs;
	past->bytes[live->number % PAST] = now->bytes;
	past->now = *now;
}

/* The bytes so many samples ago, or of the first one that is kept. */
static uint64_t past_bytes(const struct hi_record_live *live,
			   const struct live_past *past, uint64_t ago)
{
	uint64_t least = live->number >= PAST ? live->number - PAST + 1 : 1;
	uint64_t at = live->number > ago ? live->number - ago : 0;

	least = past->first > least ? past->first : least;
	at = at > least ? at : least;
	return past->bytes[at % PAST];
}

static int64_t live_growth(const struct hi_record_live *live,
			   const struct live_past *past)
{
	return (int64_t)(past->now.bytes - past_bytes(live, past, GROWTH));
}

static uint64_t new_allocs(const struct live_past *past)
{
	return past->now.allocs - past->allocs;
}

static int order_by_number(uint64_t x, uint64_t y)
{
	return x > y ? -1 : x < y;
}

static int compare_live_pasts(const void *a, const void *b, void *arg)
{
	const struct hi_record_live *live = arg;
	const struct live_past *x = &live->rows.items[*(const uint32_t *)a];
	const struct live_past *y = &live->rows.items[*(const uint32_t *)b];
	int64_t grown = live_growth(live, x), other = live_growth(live, y);
	int order = 0;

	if (live->sorted_by == BY_GROWTH && grown != other)
		return grown > other ? -1 : 1;
	if (live->sorted_by == BY_ALLOCATIONS)
		order = order_by_number(new_allocs(x), new_allocs(y));
	if (!order)
		order = order_by_number(x->now.bytes, y->now.bytes);
	return order ? order : strcmp(x->name, y->name);
}

static void sort_live_pasts(struct hi_record_live *live)
{
	if (live->order.count > 1)
		qsort_r(live->order.items, live->order.count, sizeof(uint32_t),
			compare_live_pasts, live);
}

void hi_record_live_sort(struct hi_record_live *live)
{
	live->sorted_by = (live->sorted_by + 1) % LIVE_ORDERS;
	sort_live_pasts(live);
}

void hi_record_live_show_keys(struct hi_record_live *live, bool keys, bool pauses)
{
	live->keys = keys;
	live->pauses = pauses;
}

static const char *keep_live_text(struct hi_record_live *live, const char *text)
{
	return hi_arena_strdup(&live->texts, text);
}

/* Names of rows never change. */
static bool take_live_row(struct hi_record_live *live, size_t i,
			  const struct hi_record_live_row *row)
{
	struct live_past *past;

	if (i == live->rows.count) {
		struct live_past new = {.name = keep_live_text(live, row->name),
					.where = keep_live_text(live, row->where)};

		if (!new.name || !new.where || !hi_vector_push(&live->rows, new) ||
		    !hi_vector_push(&live->order, (uint32_t)i))
			return false;
	}
	past = &live->rows.items[i];
	add_past(live, past, &row->now);
	return true;
}

enum hi_status hi_record_live_add(struct hi_record_live *live,
				  const struct hi_record_live_sample *sample,
				  struct hi_error *err)
{
	bool fine = true;
	const char *exe = live->now.exe, *followed = live->now.followed;

	live->before_ns = live->now.time_ns;
	live->now = *sample;
	live->now.rows = NULL; /* the caller's */
	live->now.exe = live->number ? exe : keep_live_text(live, sample->exe);
	live->now.followed =
		live->number ? followed : keep_live_text(live, sample->followed);
	snprintf(live->note, sizeof(live->note), "%s", sample->note);
	live->now.note = live->note;
	live->number++;
	if (!live->now.exe || !live->now.followed)
		return hi_fail_memory(err, "live view");
	add_past(live, &live->all, &sample->all);
	for (size_t i = 0; fine && i < sample->n_rows; i++)
		fine = take_live_row(live, i, &sample->rows[i]);
	sort_live_pasts(live);
	return fine ? HI_OK : hi_fail_memory(err, "live view");
}

/* ---- the screen ---- */

struct live_screen {
	struct hi_live_screen base; /* first */
	const struct hi_record_live *live;
	unsigned name, where, past;
	bool shows_live; /* the number of allocations that are live */
	bool shows_rate;
};

static uint64_t rate_of(const struct hi_record_live *live, uint64_t n)
{
	uint64_t ns = live->now.time_ns - live->before_ns;

	return ns ? (uint64_t)((double)n * 1e9 / (double)ns) : 0;
}

static void put_past(const struct live_screen *s, const struct live_past *past)
{
	const struct hi_record_live *live = s->live;
	uint64_t from = live->number > s->past ? live->number - s->past + 1 : 1, most = 0;

	from = from > past->first ? from : past->first;
	for (uint64_t i = from; i <= live->number; i++)
		if (past->bytes[i % PAST] > most)
			most = past->bytes[i % PAST];
	for (uint64_t i = from; i <= live->number; i++)
		hi_live_put_block(&s->base, past->bytes[i % PAST], most);
}

static void put_live_row(struct live_screen *s, const struct live_past *past)
{
	const struct hi_record_live *live = s->live;
	char size[24], change[32], rate[32], count[32];

	hi_live_put_text(&s->base, past->name, s->name, true);
	fprintf(s->base.style.out, "%*s%*s", BYTES, hi_text_bytes(size, past->now.bytes),
		CHANGE,
		hi_series_change_text(change, past_bytes(live, past, GROWTH),
				      past->now.bytes));
	if (s->shows_rate)
		fprintf(s->base.style.out, "%*s", RATE,
			hi_text_count(rate, rate_of(live, new_allocs(past))));
	if (s->shows_live)
		fprintf(s->base.style.out, "%*s", LIVE,
			hi_text_count(count, past->now.live));
	if (s->where) {
		fputs("  ", s->base.style.out);
		hi_live_put_text(&s->base, past->where, s->where - 2, s->past > 0);
	}
	if (s->past) {
		fputc(' ', s->base.style.out);
		put_past(s, past);
	}
	hi_live_end_line(&s->base);
}

void hi_record_live_times(char *text, size_t size, uint64_t time_ns, uint64_t for_ns)
{
	uint64_t second = 1000000000, seconds = time_ns / second, all = for_ns;
	char end[24] = "";

	if (all && (all % second || all >= 600 * second))
		hi_text_duration(end, all);
	else if (all)
		snprintf(end, sizeof(end), "%" PRIu64 " s", all / second);
	snprintf(text, size, "%" PRIu64 " s%s%s", seconds, all ? " of " : "", end);
}

static void put_live_header(struct live_screen *s)
{
	static const char *const orders[] = {"bytes", "growth", "allocations"};
	const struct hi_record_live *live = s->live;
	const struct hi_record_live_sample *now = &live->now;
	char line[512], times[80], size[24], lost[32], rate[32];

	snprintf(line, sizeof(line), "%s, pid %d: recording %s", hi_base_name(now->exe),
		 now->pid, now->followed);
	hi_live_put_line(&s->base, line, 'b');
	hi_record_live_times(times, sizeof(times), now->time_ns, now->for_ns);
	snprintf(line, sizeof(line), "%s, %s%s; %s allocations/s%s%s%s", times,
		 now->sample_bytes ? "estimated from one allocation per "
				   : "every allocation",
		 now->sample_bytes ? hi_text_bytes(size, now->sample_bytes) : "",
		 hi_text_count(rate, rate_of(live, new_allocs(&live->all))),
		 now->lost ? "; " : "", now->lost ? hi_text_count(lost, now->lost) : "",
		 now->lost ? " events lost" : "");
	hi_live_put_line(&s->base, line, 0);
	if (live->keys && !s->base.plain) {
		snprintf(line, sizeof(line), "q ends it  s sorts (by %s)  p %s",
			 orders[live->sorted_by],
			 live->pauses ? "continues (paused)" : "pauses");
		hi_live_put_line(&s->base, line, 'd');
	}
	if (!s->base.plain)
		hi_live_end_line(&s->base);
}

static void put_live_heading(struct live_screen *s)
{
	hi_text_color(&s->base.style, 'd');
	hi_live_put_text(&s->base, "allocated by", s->name, true);
	fprintf(s->base.style.out, "%*s%*s", BYTES, "live", CHANGE, "last 10 s");
	if (s->shows_rate)
		fprintf(s->base.style.out, "%*s", RATE, "allocs/s");
	if (s->shows_live)
		fprintf(s->base.style.out, "%*s", LIVE, "objects");
	if (s->where)
		fputs("  where", s->base.style.out);
	hi_text_color(&s->base.style, 0);
	hi_live_end_line(&s->base);
}

static struct live_past past_of_all(const struct hi_record_live *live)
{
	struct live_past ret = live->all;

	ret.name = "all of the recording";
	ret.where = "";
	return ret;
}

/* Functions whose allocations are all freed stand below, where there is room. */
static void put_live_rows(struct live_screen *s, unsigned lines)
{
	const struct hi_record_live *live = s->live;
	struct live_past all = past_of_all(live);

	put_live_heading(s);
	put_live_row(s, &all);
	for (size_t i = 0; i < live->order.count && i < lines; i++)
		put_live_row(s, &live->rows.items[live->order.items[i]]);
}

/* Of a line, the name and the numbers come first; then where; then the past. */
static struct live_screen make_live_screen(const struct hi_record_live *live,
					   const struct hi_text_options *looks, FILE *out)
{
	struct live_screen s = {.base = hi_live_screen_make(looks, out), .live = live};
	unsigned taken = BYTES + CHANGE + 1;
	unsigned room = looks->width > taken ? looks->width - taken : 0;

	if (room >= LEAST_NAME + RATE) {
		s.shows_rate = true;
		room -= RATE;
	}
	if (room >= LEAST_NAME + 8 + WHERE) {
		s.where = WHERE;
		room -= WHERE;
	}
	if (room >= LEAST_NAME + 16 + LIVE) {
		s.shows_live = true;
		room -= LIVE;
	}
	if (room >= LEAST_NAME + 16 + 9) {
		s.past = room - LEAST_NAME - 16 - 1;
		s.past = s.past < PAST ? s.past : PAST;
		room -= s.past + 1;
	}
	s.name = room > LEAST_NAME ? room : LEAST_NAME;
	return s;
}

static unsigned live_rows_for(unsigned lines)
{
	return lines > HEAD_LINES ? lines - HEAD_LINES : 1;
}

static void put_live_bottom(struct live_screen *s, unsigned rows)
{
	const struct hi_record_live *live = s->live;
	char line[128], size[24];

	if (*live->now.note)
		hi_live_put_line_text(&s->base, live->now.note, 0);
	else if (live->now.unnamed.bytes) {
		snprintf(line, sizeof(line), "%s more, of stacks without names yet",
			 hi_text_bytes(size, live->now.unnamed.bytes));
		hi_live_put_line_text(&s->base, line, 0);
	} else if (live->order.count > rows)
		fprintf(s->base.style.out, "%zu more rows", live->order.count - rows);
}

enum hi_status hi_record_live_draw(struct hi_record_live *live, unsigned lines,
				   const struct hi_text_options *looks, FILE *out,
				   struct hi_error *err)
{
	struct live_screen s = make_live_screen(live, looks, out);
	unsigned rows = live_rows_for(lines);

	fputs("\033[H", out);
	put_live_header(&s);
	put_live_rows(&s, rows);
	fputs("\033[J", out);
	put_live_bottom(&s, rows);
	hi_arena_free(&s.base.arena);
	return s.base.failed ? hi_fail_memory(err, "live view") : HI_OK;
}

enum hi_status hi_record_live_print(struct hi_record_live *live, unsigned lines,
				    const struct hi_text_options *looks, FILE *out,
				    struct hi_error *err)
{
	struct live_screen s = make_live_screen(live, looks, out);
	unsigned rows = live_rows_for(lines);

	s.base.plain = true;
	put_live_header(&s);
	put_live_rows(&s, rows < 5 ? rows : 5);
	hi_arena_free(&s.base.arena);
	return s.base.failed ? hi_fail_memory(err, "live view") : HI_OK;
}
