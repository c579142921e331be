/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/series/series_live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/render/live_screen.h"
#include "report/parts/trend.h"
#include "report/reports/series/series_past.h"
#include "report/reports/series/series_text.h"

enum {
	MAX_ROWS = 100,
	HEAD_LINES = 8,
	NUMBER_COLUMNS = 11 + 11 + 12, /* bytes, objects, change */
	RATE_COLUMNS = 12,
	RATE_LEAST_WIDTH = 100, /* of the screen */
	LEAST_NAME = 16,
	NOTE_SAMPLES = 10, /* so long is a note shown */
};

/* The name of the total of all bands: no band has it. */
static const char total[] = "";

struct row {
	uint64_t bytes, objects;
	uint64_t first; /* its bytes in the first sample */
	const char *name;
};

enum row_order { BY_BYTES, BY_OBJECTS, BY_CHANGE, ROW_ORDERS };

struct hi_series_live {
	struct hi_series_past *past;
	struct row rows[MAX_ROWS];
	size_t n_rows, n_all;
	struct hi_arena shown; /* names of rows */
	struct hi_series_sample now;
	uint64_t longest_pause_ns;
	char note[200];
	uint64_t note_until; /* number of a sample */
	char only[200];	     /* restriction; "" none */
	struct hi_leak_total leaked[HI_LEAK_KINDS];
	bool had_leaks[HI_LEAK_KINDS];
	double minutes
		[HI_SERIES_HISTORY]; /* when sample n was: at n % HI_SERIES_HISTORY */
	enum row_order order;
	bool keys, pauses;
};

struct hi_series_live *hi_series_live_create(void)
{
	struct hi_series_live *live = hi_calloc(1, sizeof(*live));

	if (live && !(live->past = hi_series_past_create()))
		free(hi_take(live));
	return live;
}

void hi_series_live_destroy(struct hi_series_live *live)
{
	if (!live)
		return;
	hi_series_past_destroy(live->past);
	hi_arena_free(&live->shown);
	free(live);
}

static int compare_live_rows(const void *a, const void *b, void *arg)
{
	const struct row *x = a, *y = b;
	const struct hi_series_live *live = arg;
	int64_t x_change = (int64_t)(x->bytes - x->first);
	int64_t y_change = (int64_t)(y->bytes - y->first);

	if (live->order == BY_CHANGE && x_change != y_change)
		return x_change > y_change ? -1 : 1;
	if (live->order == BY_OBJECTS && x->objects != y->objects)
		return x->objects > y->objects ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void sort_live_rows(struct hi_series_live *live)
{
	if (live->n_rows > 1)
		qsort_r(live->rows, live->n_rows, sizeof(*live->rows), compare_live_rows,
			live);
}

void hi_series_live_sort(struct hi_series_live *live)
{
	live->order = (live->order + 1) % ROW_ORDERS;
	sort_live_rows(live);
}

void hi_series_live_show_keys(struct hi_series_live *live, bool keys, bool pauses)
{
	live->keys = keys;
	live->pauses = pauses;
}

static bool add_leaks(struct hi_series_live *live, const struct hi_series_sample *sample,
		      enum hi_leak_kind kind)
{
	live->leaked[kind] = hi_series_leaked(sample, kind);
	live->had_leaks[kind] |= live->leaked[kind].bytes != 0;
	return !live->had_leaks[kind] ||
	       hi_series_past_add(live->past, hi_leak_kind_label(kind), sample->number,
				  live->leaked[kind].bytes);
}

enum hi_status hi_series_live_add(struct hi_series_live *live,
				  const struct hi_series_header *header,
				  const struct hi_series_sample *sample,
				  struct hi_error *err)
{
	bool fine = hi_series_past_add(live->past, total, sample->number, sample->bytes);

	live->now = *sample;
	live->minutes[sample->number % HI_SERIES_HISTORY] =
		(double)sample->wall_ns / 60e9;
	live->now.rows = NULL; /* owned by the caller */
	live->n_rows = 0;
	live->n_all = sample->n_rows;
	hi_arena_free(&live->shown);
	hi_series_restriction_text(sample, live->only, sizeof(live->only));
	live->now.only = NULL;
	for (unsigned i = 0; i < HI_LEAK_KINDS; i++)
		fine &= add_leaks(live, sample, i);
	if (sample->pause_ns > live->longest_pause_ns)
		live->longest_pause_ns = sample->pause_ns;
	for (size_t i = 0; fine && i < sample->n_rows; i++) {
		const struct hi_series_row *row = &sample->rows[i];
		const char *name = hi_series_name(header, row);

		fine = hi_series_past_add(live->past, name, sample->number, row->bytes);
		if (!fine || live->n_rows == MAX_ROWS)
			continue;
		name = hi_arena_strdup(&live->shown, name);
		fine = name != NULL;
		live->rows[live->n_rows++] =
			(struct row){row->bytes, row->objects, 0, name};
	}
	for (size_t i = 0; i < live->n_rows && fine; i++)
		live->rows[i].first =
			hi_series_past_first(live->past, live->rows[i].name);
	sort_live_rows(live);
	return fine ? HI_OK : hi_fail_memory(err, "live view");
}

void hi_series_live_note(struct hi_series_live *live, const char *text)
{
	hi_text_escape(live->note, sizeof(live->note), text, strlen(text));
	live->note_until = live->now.number + NOTE_SAMPLES;
}

/* Of the last samples; without memory there is none. */
static struct hi_slope rate_of_name(const struct hi_series_live *live, const char *name)
{
	double times[HI_SERIES_HISTORY], bytes[HI_SERIES_HISTORY];
	uint64_t newest = live->now.number;
	uint64_t first = newest > HI_SERIES_HISTORY ? newest - HI_SERIES_HISTORY + 1 : 1;
	struct hi_slope rate;
	struct hi_error quiet;
	size_t n = 0;

	for (uint64_t i = first; i <= newest; i++, n++) {
		times[n] = live->minutes[i % HI_SERIES_HISTORY];
		bytes[n] = (double)hi_series_past_at(live->past, name, i);
	}
	return hi_slope_fit(times, bytes, n, &rate, &quiet) == HI_OK
		       ? rate
		       : (struct hi_slope){};
}

/* ---- the screen ---- */

struct screen {
	struct hi_live_screen base; /* first */
	const struct hi_series_header *header;
	const struct hi_series_live *live;
	struct hi_type_names type_names;
	unsigned name_columns, history;
	bool has_rates;
};

static void put_history(const struct screen *s, const char *name)
{
	uint64_t newest = s->live->now.number, most = 0;
	uint64_t first = newest > s->history ? newest - s->history + 1 : 1;

	for (uint64_t i = first; i <= newest; i++) {
		uint64_t value = hi_series_past_at(s->live->past, name, i);

		if (value > most)
			most = value;
	}
	for (uint64_t i = first; i <= newest; i++)
		hi_live_put_block(&s->base, hi_series_past_at(s->live->past, name, i),
				  most);
	hi_live_end_line(&s->base);
}

static void put_numbers(const struct screen *s, uint64_t bytes, uint64_t objects,
			uint64_t first)
{
	char size[24], count[32], change[32];

	fprintf(s->base.style.out, "%11s%11s%12s ", hi_text_bytes(size, bytes),
		hi_text_count(count, objects),
		hi_series_change_text(change, first, bytes));
}

static void put_rate(const struct screen *s, const char *name)
{
	struct hi_slope rate = rate_of_name(s->live, name);
	char text[24];

	if (s->has_rates)
		fprintf(s->base.style.out, "%*s ", RATE_COLUMNS - 1,
			hi_trend_short_text(text, &rate));
}

static void put_keys(struct screen *s)
{
	static const char *const orders[] = {"bytes", "objects", "change"};
	const struct hi_series_live *live = s->live;
	char line[128];

	snprintf(line, sizeof(line), "q quits  s sorts (by %s)  p %s",
		 orders[live->order], live->pauses ? "continues (paused)" : "pauses");
	hi_live_put_line_text(&s->base, line, 'd');
}

/* The rate of all that is live, and when a limit is reached. */
static void put_growth(struct screen *s)
{
	struct hi_slope rate = rate_of_name(s->live, total);
	char text[HI_TREND_TEXT], line[HI_TREND_TEXT + 16];

	if (rate.n < HI_SLOPE_LEAST)
		return;
	snprintf(line, sizeof(line), "growth: %s",
		 hi_trend_text(text, &rate, &s->live->now.limit));
	hi_live_put_line(&s->base, line, 0);
}

static void put_screen_header(struct screen *s)
{
	const struct hi_series_live *live = s->live;
	char line[512], time[32], pause[24], longest[24], leaks[160];

	snprintf(line, sizeof(line), "%s, pid %d%s%s", hi_base_name(s->header->exe),
		 s->header->pid, *live->only ? ", only what is " : "", live->only);
	hi_live_put_line(&s->base, line, 'b');
	hi_leak_totals_text(leaks, sizeof(leaks), &live->now.leaks);
	snprintf(line, sizeof(line),
		 "%s%s, sample %" PRIu64 ", paused for %s (at most %s)%s%s%s",
		 hi_series_time_text(time, s->header, live->now.at_ns),
		 s->header->axis == HI_SERIES_CPU ? " of CPU time" : "", live->now.number,
		 hi_text_duration(pause, live->now.pause_ns),
		 hi_text_duration(longest, live->longest_pause_ns),
		 live->now.complete ? "" : ", not complete", *leaks ? "; " : "", leaks);
	hi_live_put_line(&s->base, line, 0);
	put_growth(s);
	if (live->keys && !s->base.plain)
		put_keys(s);
	hi_live_end_line(&s->base);
}

static void put_screen_row(struct screen *s, const char *label, const char *name,
			   uint64_t bytes, uint64_t objects)
{
	hi_live_put_text(&s->base, label, s->name_columns, true);
	put_numbers(s, bytes, objects, hi_series_past_first(s->live->past, name));
	put_rate(s, name);
	put_history(s, name);
}

static void put_screen_rows(struct screen *s, unsigned lines)
{
	const struct hi_series_live *live = s->live;
	char heading[64], label[HI_TYPE_SHORT_SIZE];

	snprintf(heading, sizeof(heading), "by %s", s->header->by);
	hi_text_color(&s->base.style, 'd');
	hi_live_put_text(&s->base, heading, s->name_columns, true);
	fprintf(s->base.style.out, "%11s%11s%12s", "bytes", "objects", "change");
	if (s->has_rates)
		fprintf(s->base.style.out, "%*s", RATE_COLUMNS, "a minute");
	hi_text_color(&s->base.style, 0);
	hi_live_end_line(&s->base);
	put_screen_row(s, "all that is live", total, live->now.bytes, live->now.objects);
	for (unsigned i = 0; i < HI_LEAK_KINDS; i++)
		if (live->had_leaks[i])
			put_screen_row(s, hi_leak_kind_label(i), hi_leak_kind_label(i),
				       live->leaked[i].bytes, live->leaked[i].objects);
	for (size_t i = 0; i < live->n_rows && i < lines; i++)
		put_screen_row(
			s, hi_type_names_shown(&s->type_names, live->rows[i].name, label),
			live->rows[i].name, live->rows[i].bytes, live->rows[i].objects);
}

/* Of the columns of a line the numbers take theirs, the name and the past the rest. */
static struct screen make_screen(struct hi_series_live *live,
				 const struct hi_series_header *header,
				 const struct hi_text_options *looks, FILE *out)
{
	struct screen s = {.base = hi_live_screen_make(looks, out),
			   .header = header,
			   .live = live,
			   .has_rates = looks->width >= RATE_LEAST_WIDTH};
	unsigned numbers = NUMBER_COLUMNS + (s.has_rates ? RATE_COLUMNS : 0);
	unsigned room = looks->width > numbers + LEAST_NAME + 2
				? looks->width - numbers - LEAST_NAME - 2
				: 0;

	s.history = room / 2 < HI_SERIES_HISTORY ? room / 2 : HI_SERIES_HISTORY;
	s.name_columns = looks->width > numbers + s.history + 2
				 ? looks->width - numbers - s.history - 2
				 : LEAST_NAME;
	s.type_names.keep_full = looks->full_names;
	for (size_t i = 0; i < live->n_rows; i++)
		hi_type_names_add(&s.type_names, live->rows[i].name);
	return s;
}

/* Two for the header of the table and the total, one for what stays below. */
static unsigned rows_for(unsigned lines)
{
	return lines > HEAD_LINES + 2 ? lines - HEAD_LINES - 1 : 1;
}

enum hi_status hi_series_live_draw(struct hi_series_live *live,
				   const struct hi_series_header *header, unsigned lines,
				   const struct hi_text_options *looks, FILE *out,
				   struct hi_error *err)
{
	struct screen s = make_screen(live, header, looks, out);
	unsigned rows = rows_for(lines);

	fputs("\033[H", out);
	put_screen_header(&s);
	put_screen_rows(&s, rows);
	fputs("\033[J", out);
	if (live->now.number < live->note_until)
		hi_live_put_line_text(&s.base, live->note, 0);
	else if (live->n_all > rows || live->now.hidden.rows)
		fprintf(out, "%zu more rows",
			(live->n_all > rows ? live->n_all - rows : 0) +
				(size_t)live->now.hidden.rows);
	hi_type_names_free(&s.type_names);
	hi_arena_free(&s.base.arena);
	return s.base.failed ? hi_fail_memory(err, "live view") : HI_OK;
}

enum hi_status hi_series_live_print(struct hi_series_live *live,
				    const struct hi_series_header *header, unsigned lines,
				    const struct hi_text_options *looks, FILE *out,
				    struct hi_error *err)
{
	struct screen s = make_screen(live, header, looks, out);
	unsigned rows = rows_for(lines);

	s.base.plain = true;
	put_screen_header(&s);
	/* The commands and the prompt need lines, too. */
	put_screen_rows(&s, rows > 5 ? rows - 5 : 1);
	fprintf(out, "\nNext:\n  heapinspect retained --pid %d\n", header->pid);
	if (live->leaked[HI_LEAK_CERTAIN].bytes || live->leaked[HI_LEAK_LIKELY].bytes)
		fprintf(out, "  heapinspect leaks --pid %d\n", header->pid);
	hi_type_names_free(&s.type_names);
	hi_arena_free(&s.base.arena);
	return s.base.failed ? hi_fail_memory(err, "live view") : HI_OK;
}
