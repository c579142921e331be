/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/record/record_rates_live.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/render/live_screen.h"
#include "report/reports/record/record_live.h"

enum {
	RATES_HEAD = 7,
	LAST_ROWS = 5,
	/* Columns. */
	ALLOCS = 13,
	RANGE = 22,
	RATE_BYTES = 12,
	RATE_WHERE = 22,
	LEAST_SITE = 16,
};

/* ---- texts ---- */

char *hi_record_rate_text(char out[32], double rate)
{
	if (rate > 0 && rate < 9.95)
		snprintf(out, 32, "%.1f", rate);
	else if (rate < 999999.5)
		hi_text_count(out, rate > 0 ? (uint64_t)llround(rate) : 0);
	else
		snprintf(out, 32, "%.1f million", rate < 1e15 ? rate / 1e6 : 1e9);
	return out;
}

/* Both in millions have the word once. */
char *hi_record_rate_range(char out[80], const struct hi_bounded *rate)
{
	char low[32], high[32];
	char *unit;

	hi_record_rate_text(low, rate->low);
	if (isinf(rate->high)) {
		snprintf(out, 80, "at least %s", low);
		return out;
	}
	hi_record_rate_text(high, rate->high);
	unit = strstr(low, " million");
	if (unit && strstr(high, " million"))
		*unit = '\0';
	snprintf(out, 80, "%s to %s", low, high);
	return out;
}

/* ---- rows ---- */

static int compare_rates(const void *a, const void *b, void *arg)
{
	const enum hi_record_rates_order *order = arg;
	const struct hi_record_rates_row *x =
		*(const struct hi_record_rates_row *const *)a;
	const struct hi_record_rates_row *y =
		*(const struct hi_record_rates_row *const *)b;
	double of_x = x->rate.allocs.value, of_y = y->rate.allocs.value;

	if (*order == HI_RATES_BY_BYTES) {
		of_x = x->rate.bytes.value;
		of_y = y->rate.bytes.value;
	}
	if (of_x > of_y || of_x < of_y)
		return of_x > of_y ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sites with a rate, the largest first; *n_ret of them. NULL: out of memory. */
static const struct hi_record_rates_row **
order_rates(const struct hi_record_rates_sample *sample, enum hi_record_rates_order order,
	    size_t *n_ret)
{
	const struct hi_record_rates_row **ret =
		hi_calloc(sample->n_rows + 1, sizeof(*ret));

	*n_ret = 0;
	for (size_t i = 0; ret && i < sample->n_rows; i++)
		if (sample->rows[i].rate.allocs.value > 0)
			ret[(*n_ret)++] = &sample->rows[i];
	if (*n_ret)
		qsort_r(ret, *n_ret, sizeof(*ret), compare_rates, &order);
	return ret;
}

/* ---- the screen ---- */

struct rates_screen {
	struct hi_live_screen base; /* first */
	const struct hi_record_rates_sample *sample;
	const struct hi_record_rates_looks *how;
	unsigned name, where;
	bool shows_range, shows_bytes;
};

/* Name and rate come first in a line; then its range; then where. */
static struct rates_screen make_rates_screen(const struct hi_record_rates_sample *sample,
					     const struct hi_record_rates_looks *how,
					     const struct hi_text_options *looks,
					     FILE *out)
{
	struct rates_screen s = {
		.base = hi_live_screen_make(looks, out), .sample = sample, .how = how};
	unsigned room = looks->width > ALLOCS + 1 ? looks->width - ALLOCS - 1 : 0;

	s.base.plain = how->is_last;
	if (room >= LEAST_SITE + RANGE) {
		s.shows_range = true;
		room -= RANGE;
	}
	if (room >= LEAST_SITE + RATE_WHERE) {
		s.where = RATE_WHERE;
		room -= RATE_WHERE;
	}
	if (room >= LEAST_SITE + RATE_BYTES) {
		s.shows_bytes = true;
		room -= RATE_BYTES;
	}
	s.name = room > LEAST_SITE ? room : LEAST_SITE;
	return s;
}

static void put_rates_header(struct rates_screen *s)
{
	const struct hi_record_rates_sample *now = s->sample;
	char line[512], times[80], count[32], covered[24], lost[32];

	snprintf(line, sizeof(line), "%s, pid %d: recording %s", hi_base_name(now->exe),
		 now->pid, now->followed);
	hi_live_put_line(&s->base, line, 'b');
	hi_record_live_times(times, sizeof(times), now->time_ns, now->for_ns);
	snprintf(line, sizeof(line), "%s, %s window%s of %s in all%s%s%s", times,
		 hi_text_count(count, now->totals.n), now->totals.n == 1 ? "" : "s",
		 hi_text_duration(covered, now->totals.covered_ns), now->lost ? "; " : "",
		 now->lost ? hi_text_count(lost, now->lost) : "",
		 now->lost ? " events lost" : "");
	hi_live_put_line(&s->base, line, 0);
	if (s->how->keys && !s->base.plain) {
		snprintf(line, sizeof(line), "q ends it  s sorts (by %s)  p %s",
			 s->how->order == HI_RATES_BY_BYTES ? "bytes" : "allocations",
			 s->how->pauses ? "continues (paused)" : "pauses");
		hi_live_put_line(&s->base, line, 'd');
	}
	if (!s->base.plain)
		hi_live_end_line(&s->base);
}

static void put_rates_heading(struct rates_screen *s)
{
	hi_text_color(&s->base.style, 'd');
	hi_live_put_text(&s->base, "allocated by", s->name, true);
	fprintf(s->base.style.out, "%*s", ALLOCS, "~allocs/s");
	if (s->shows_range)
		fprintf(s->base.style.out, "%*s", RANGE, "95 %");
	if (s->shows_bytes)
		fprintf(s->base.style.out, "%*s", RATE_BYTES, "~bytes/s");
	if (s->where)
		fputs("  where", s->base.style.out);
	hi_text_color(&s->base.style, 0);
	hi_live_end_line(&s->base);
}

static void put_rates_row(struct rates_screen *s, const struct hi_record_rates_row *row)
{
	char rate[32], range[80], bytes[24];
	double value = row->rate.bytes.value;

	hi_live_put_text(&s->base, row->name, s->name, true);
	fprintf(s->base.style.out, "%*s", ALLOCS,
		hi_record_rate_text(rate, row->rate.allocs.value));
	if (s->shows_range)
		fprintf(s->base.style.out, "%*s", RANGE,
			hi_record_rate_range(range, &row->rate.allocs));
	if (s->shows_bytes)
		fprintf(s->base.style.out, "%*s", RATE_BYTES,
			hi_text_bytes(bytes, value > 0 && value < 0x1p63
						     ? (uint64_t)llround(value)
						     : 0));
	if (s->where) {
		fputs("  ", s->base.style.out);
		hi_live_put_text(&s->base, row->where, s->where - 2, false);
	}
	hi_live_end_line(&s->base);
}

static void put_rates_bottom(struct rates_screen *s, size_t n, size_t shown)
{
	fputs("\033[J", s->base.style.out);
	if (*s->sample->note)
		hi_live_put_line_text(&s->base, s->sample->note, 0);
	else if (!s->sample->totals.n)
		hi_live_put_line_text(&s->base, "no window has ended yet", 0);
	else if (n > shown)
		fprintf(s->base.style.out, "%zu more rows", n - shown);
}

static size_t count_shown_rates(const struct hi_record_rates_looks *how, size_t n)
{
	size_t room = how->lines > RATES_HEAD ? how->lines - RATES_HEAD : 1;

	if (how->is_last && room > LAST_ROWS)
		room = LAST_ROWS;
	return n < room ? n : room;
}

enum hi_status hi_record_rates_draw(const struct hi_record_rates_sample *sample,
				    const struct hi_record_rates_looks *how,
				    const struct hi_text_options *looks, FILE *out,
				    struct hi_error *err)
{
	struct rates_screen s = make_rates_screen(sample, how, looks, out);
	const struct hi_record_rates_row all = {"all of the recording", "", sample->all};
	size_t n = 0, shown;
	HI_GUARD(free)
	const struct hi_record_rates_row **rows = order_rates(sample, how->order, &n);

	shown = count_shown_rates(how, n);
	if (!how->is_last)
		fputs("\033[H", out);
	put_rates_header(&s);
	put_rates_heading(&s);
	put_rates_row(&s, &all);
	for (size_t i = 0; i < shown; i++)
		put_rates_row(&s, rows[i]);
	if (!how->is_last)
		put_rates_bottom(&s, n, shown);
	hi_arena_free(&s.base.arena);
	return !rows || s.base.failed ? hi_fail_memory(err, "live view") : HI_OK;
}
