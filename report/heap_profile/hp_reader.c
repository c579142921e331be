/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/heap_profile/hp_reader.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "report/heap_profile/hp_names.h"

/* The series and what grows while it is read. */
struct reader {
	struct hi_hp_series series; /* first: it is what is handed out */
	struct hi_hp_names names;
	struct hi_arena arena;
	struct HI_VECTOR(double) times, marks;
	struct HI_VECTOR(const char *) mark_texts; /* not from a text: one a mark */
	struct HI_VECTOR(size_t) starts;
	struct HI_VECTOR(struct hi_hp_point) points;
	struct HI_VECTOR(size_t) last; /* of a band: its newest point + 1 */
	bool in_sample;
	bool is_skipping; /* what is left of a damaged sample */
	double time;	  /* of the open sample */
	size_t line;
	struct hi_error *err;
};

struct word {
	const char *text;
	size_t n;
};

void hi_hp_series_destroy(struct hi_hp_series *series)
{
	struct reader *r = (struct reader *)series;

	if (!r)
		return;
	hi_hp_names_free(&r->names);
	hi_arena_free(&r->arena);
	hi_vector_free(&r->times);
	hi_vector_free(&r->marks);
	hi_vector_free(&r->mark_texts);
	hi_vector_free(&r->starts);
	hi_vector_free(&r->points);
	hi_vector_free(&r->last);
	free(r);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct word trim_hp_word(struct word w)
{
	while (w.n && is_blank(w.text[0])) {
		w.text++;
		w.n--;
	}
	while (w.n && is_blank(w.text[w.n - 1]))
		w.n--;
	return w;
}

/* Long words are cut: a message is one line. */
static int shown_word_length(struct word w)
{
	return w.n > 40 ? 40 : (int)w.n;
}

static enum hi_status refuse_hp_line(struct reader *r, const char *what, struct word w)
{
	return hi_fail(r->err, HI_BAD_DATA, 0, "line %zu: %s: %.*s", r->line, what,
		       shown_word_length(w), w.text);
}

static enum hi_status too_many(struct reader *r, const char *what, size_t limit)
{
	return hi_fail(r->err, HI_LIMIT, 0, "line %zu: more than %zu %s", r->line, limit,
		       what);
}

static enum hi_status no_memory(struct reader *r)
{
	return hi_fail_memory(r->err, "heap profile");
}

bool hi_hp_parse_time(const char *text, size_t n, double *ret)
{
	double value = 0, unit = 1;
	bool point = false, digits = false;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9')
			return false;
		digits = true;
		/* Digits that a double cannot hold are read and forgotten. */
		if (point && unit < 1e15) {
			value = value * 10 + (text[i] - '0');
			unit *= 10;
		} else if (!point) {
			value = value * 10 + (text[i] - '0');
			if (value > 1e15)
				return false;
		}
	}
	*ret = value / unit;
	return digits;
}

static enum hi_status take_time(struct reader *r, const char *name, struct word w,
				double *ret)
{
	char what[64];

	if (hi_hp_parse_time(w.text, w.n, ret))
		return HI_OK;
	if (memchr(w.text, ',', w.n))
		return refuse_hp_line(r, "a decimal comma where a point is needed", w);
	snprintf(what, sizeof(what), "no time after %s", name);
	return refuse_hp_line(r, what, w);
}

static bool parse_value(struct word w, uint64_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < w.n; i++) {
		if (w.text[i] < '0' || w.text[i] > '9' ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, w.text[i] - '0', &value))
			return false;
	}
	*ret = value;
	return w.n > 0;
}

/* "text" with doubled quotes inside, or bare text. */
static const char *unquote_hp_text(struct reader *r, struct word w)
{
	char *copy = hi_arena_alloc(&r->arena, w.n + 1), *out = copy;

	if (!copy)
		return NULL;
	if (w.n >= 2 && w.text[0] == '"' && w.text[w.n - 1] == '"') {
		w.text++;
		w.n -= 2;
	}
	for (size_t i = 0; i < w.n; i++) {
		*out++ = w.text[i];
		if (w.text[i] == '"' && i + 1 < w.n && w.text[i + 1] == '"')
			i++;
	}
	return copy;
}

static enum hi_status take_begin(struct reader *r, struct word rest)
{
	size_t n = r->times.count;
	enum hi_status status;

	if (r->in_sample)
		return refuse_hp_line(r, "BEGIN_SAMPLE within a sample", rest);
	if (n >= HI_HP_MAX_SAMPLES)
		return too_many(r, "samples", HI_HP_MAX_SAMPLES);
	status = take_time(r, "BEGIN_SAMPLE", rest, &r->time);
	if (status != HI_OK)
		return status;
	if (n && r->time < r->times.items[n - 1])
		return refuse_hp_line(r, "a sample before the one above it", rest);
	r->in_sample = true;
	if (!hi_vector_push(&r->starts, r->points.count))
		return no_memory(r);
	return HI_OK;
}

static enum hi_status take_end(struct reader *r, struct word rest)
{
	enum hi_status status;
	double time;

	if (!r->in_sample)
		return refuse_hp_line(r, "END_SAMPLE without BEGIN_SAMPLE", rest);
	status = take_time(r, "END_SAMPLE", rest, &time);
	if (status != HI_OK)
		return status;
	if (time < r->time)
		return refuse_hp_line(r, "a sample ends before it begins", rest);
	r->in_sample = false;
	if (!hi_vector_push(&r->times, r->time))
		return no_memory(r);
	return HI_OK;
}

static enum hi_status take_mark(struct reader *r, struct word rest)
{
	enum hi_status status;
	double time;

	status = take_time(r, "MARK", rest, &time);
	if (status != HI_OK)
		return status;
	if (r->marks.count >= HI_HP_MAX_MARKS)
		return too_many(r, "marks", HI_HP_MAX_MARKS);
	if (!hi_vector_push(&r->marks, time))
		return no_memory(r);
	return HI_OK;
}

/* Where the value begins: behind the last tab, or else the last blank. */
static size_t find_value_column(struct word line)
{
	const char *tab = memrchr(line.text, '\t', line.n);
	size_t i = line.n;

	if (tab)
		return (size_t)(tab - line.text) + 1;
	while (i > 0 && !is_blank(line.text[i - 1]))
		i--;
	return i;
}

static enum hi_status add_point(struct reader *r, uint32_t band, uint64_t value)
{
	size_t begin = r->starts.items[r->starts.count - 1];
	size_t *last = &r->last.items[band];

	if (*last > begin) {
		uint64_t *sum = &r->points.items[*last - 1].value;

		if (__builtin_add_overflow(*sum, value, sum))
			*sum = UINT64_MAX;
		return HI_OK;
	}
	if (r->points.count >= HI_HP_MAX_POINTS)
		return too_many(r, "values", HI_HP_MAX_POINTS);
	if (!hi_vector_push(&r->points, (struct hi_hp_point){band, value}))
		return no_memory(r);
	*last = r->points.count;
	return HI_OK;
}

static enum hi_status number_band(struct reader *r, struct word name, uint32_t *ret)
{
	if (r->names.texts.count >= HI_HP_MAX_BANDS)
		return too_many(r, "bands", HI_HP_MAX_BANDS);
	*ret = hi_hp_names_add(&r->names, name.text, name.n);
	if (*ret == HI_HP_NO_NAME)
		return no_memory(r);
	if (*ret == r->last.count && !hi_vector_push(&r->last, 0))
		return no_memory(r);
	return HI_OK;
}

static enum hi_status add_hp_value(struct reader *r, struct word name, uint64_t value)
{
	uint32_t band;
	enum hi_status status = number_band(r, name, &band);

	return status == HI_OK ? add_point(r, band, value) : status;
}

static enum hi_status take_band(struct reader *r, struct word line)
{
	size_t at = find_value_column(line);
	struct word name = trim_hp_word((struct word){line.text, at});
	struct word number = trim_hp_word((struct word){line.text + at, line.n - at});
	uint64_t value;

	if (!r->in_sample)
		return refuse_hp_line(r, "a band outside a sample", line);
	if (!name.n || !parse_value(number, &value))
		return refuse_hp_line(r, "not \"label TAB whole number\"", line);
	return add_hp_value(r, name, value);
}

static enum hi_status take_header(struct reader *r, const char **where, struct word rest)
{
	*where = unquote_hp_text(r, rest);
	return *where ? HI_OK : no_memory(r);
}

static bool is_hp_word(struct word w, const char *text)
{
	return w.n == strlen(text) && memcmp(w.text, text, w.n) == 0;
}

/* An unknown header line: WORD "text". */
static bool is_unknown_header(struct word key, struct word rest)
{
	if (rest.n < 2 || rest.text[0] != '"' || rest.text[rest.n - 1] != '"')
		return false;
	for (size_t i = 0; i < key.n; i++)
		if ((key.text[i] < 'A' || key.text[i] > 'Z') && key.text[i] != '_')
			return false;
	return key.n > 0;
}

static enum hi_status read_hp_line(struct reader *r, struct word line)
{
	struct hi_hp_series *s = &r->series;
	struct word key = line, rest;

	for (key.n = 0; key.n < line.n && !is_blank(line.text[key.n]);)
		key.n++;
	rest = trim_hp_word((struct word){line.text + key.n, line.n - key.n});
	if (is_hp_word(key, "BEGIN_SAMPLE"))
		return take_begin(r, rest);
	if (is_hp_word(key, "END_SAMPLE"))
		return take_end(r, rest);
	if (is_hp_word(key, "MARK"))
		return take_mark(r, rest);
	if (r->in_sample)
		return take_band(r, line);
	if (is_hp_word(key, "JOB"))
		return take_header(r, &s->job, rest);
	if (is_hp_word(key, "DATE"))
		return take_header(r, &s->date, rest);
	if (is_hp_word(key, "SAMPLE_UNIT"))
		return take_header(r, &s->sample_unit, rest);
	if (is_hp_word(key, "VALUE_UNIT"))
		return take_header(r, &s->value_unit, rest);
	return is_unknown_header(key, rest) ? HI_OK : take_band(r, line);
}

/* The last line has no newline: it is complete only if it ends the sample with
 * the very words that began it. */
static bool ends_the_sample(const struct reader *r, struct word line)
{
	static const char word[] = "END_SAMPLE ";
	size_t n = sizeof(word) - 1;
	double time;

	return r->in_sample && line.n > n && memcmp(line.text, word, n) == 0 &&
	       hi_hp_parse_time(line.text + n, line.n - n, &time) && !(time < r->time) &&
	       !(time > r->time);
}

static bool begins_sample(struct word line)
{
	static const char word[] = "BEGIN_SAMPLE ";

	return line.n >= sizeof(word) && memcmp(line.text, word, sizeof(word) - 1) == 0;
}

static void drop_sample(struct reader *r)
{
	if (!r->in_sample)
		return;
	/* Points that are gone are no band's newest. */
	for (size_t begin = r->starts.items[--r->starts.count]; r->points.count > begin;)
		r->last.items[r->points.items[--r->points.count].band] = 0;
	r->in_sample = false;
}

/* The sample of a line that is none is left out, up to the next one. */
static enum hi_status read_or_skip(struct reader *r, struct word line)
{
	bool has_nul = memchr(line.text, 0, line.n), was_inside = r->in_sample;
	enum hi_status status;

	if (r->is_skipping && (has_nul || !begins_sample(line)))
		return HI_OK;
	r->is_skipping = false;
	status = has_nul ? refuse_hp_line(r, "a NUL byte", (struct word){"", 0})
			 : read_hp_line(r, line);
	if (status != HI_BAD_DATA || (!was_inside && !has_nul))
		return status;
	drop_sample(r);
	if (!r->series.n_damaged++)
		r->series.damage = hi_arena_strdup(&r->arena, r->err->text);
	if (!r->series.damage)
		return no_memory(r);
	r->is_skipping = has_nul || !begins_sample(line);
	return r->is_skipping ? HI_OK : read_hp_line(r, line);
}

static enum hi_status read_hp_lines(struct reader *r, const char *text, size_t size)
{
	const char *end = text + size;
	enum hi_status status;

	for (const char *s = text, *newline; s < end; s = newline + 1) {
		struct word line;

		r->line++;
		newline = memchr(s, '\n', (size_t)(end - s));
		line = trim_hp_word(
			(struct word){s, (size_t)((newline ? newline : end) - s)});
		if (line.n > HI_HP_MAX_LINE)
			return hi_fail(r->err, HI_LIMIT, 0, "line %zu: over %d bytes",
				       r->line, HI_HP_MAX_LINE);
		if (!newline && line.n && !ends_the_sample(r, line)) {
			r->series.truncated = true;
			return HI_OK;
		}
		status = line.n ? read_or_skip(r, line) : HI_OK;
		if (status != HI_OK || !newline)
			return status;
	}
	return HI_OK;
}

static void finish_hp_series(struct reader *r)
{
	struct hi_hp_series *s = &r->series;

	if (r->in_sample) {
		s->truncated = true;
		r->points.count = r->starts.items[--r->starts.count];
	}
	s->n_samples = r->times.count;
	s->times = r->times.items;
	s->points = r->points.items;
	s->n_bands = r->names.texts.count;
	s->bands = r->names.texts.items;
	s->n_marks = r->marks.count;
	s->marks = r->marks.items;
}

enum hi_status hi_hp_parse(const char *text, size_t size, struct hi_hp_series **ret,
			   struct hi_error *err)
{
	HI_GUARD(hi_hp_series_destroy) struct hi_hp_series *series = NULL;
	struct reader *r = hi_calloc(1, sizeof(*r));
	size_t used = size;
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "heap profile");
	series = &r->series;
	r->err = err;
	series->job = series->date = series->sample_unit = series->value_unit = "";
	series->damage = "";
	/* What a crash left behind a file that was growing. */
	while (used && !text[used - 1])
		used--;
	series->truncated = used < size;
	status = read_hp_lines(r, text, used);
	if (status != HI_OK)
		return status;
	finish_hp_series(r);
	if (!series->n_samples && series->n_damaged)
		return hi_fail(err, HI_BAD_DATA, 0, "%s", series->damage);
	if (!series->n_samples)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "no complete sample: not a heap profile, or an empty one");
	if (!hi_vector_push(&r->starts, r->points.count))
		return no_memory(r);
	series->starts = r->starts.items;
	*ret = hi_take(series);
	return HI_OK;
}

/* ---- from a program instead of a text ---- */

static struct reader *reader_of(struct hi_hp_series *series, struct hi_error *err)
{
	struct reader *r = (struct reader *)series;

	r->err = err;
	return r;
}

enum hi_status hi_hp_series_create(const char *job, const char *date,
				   struct hi_hp_series **ret, struct hi_error *err)
{
	HI_GUARD(hi_hp_series_destroy) struct hi_hp_series *series = NULL;
	struct reader *r = hi_calloc(1, sizeof(*r));

	if (!r)
		return hi_fail_memory(err, "series");
	series = &r->series;
	series->job = hi_arena_printf(&r->arena, "%s", job);
	series->date = hi_arena_printf(&r->arena, "%s", date);
	series->sample_unit = series->value_unit = "";
	if (!series->job || !series->date)
		return hi_fail_memory(err, "series");
	*ret = hi_take(series);
	return HI_OK;
}

enum hi_status hi_hp_series_sample(struct hi_hp_series *series, double time,
				   struct hi_error *err)
{
	struct reader *r = reader_of(series, err);

	if (r->times.count >= HI_HP_MAX_SAMPLES)
		return hi_fail(err, HI_LIMIT, 0, "more than %d censuses",
			       HI_HP_MAX_SAMPLES);
	if (!hi_vector_push(&r->starts, r->points.count) ||
	    !hi_vector_push(&r->times, time))
		return no_memory(r);
	return HI_OK;
}

enum hi_status hi_hp_series_band(struct hi_hp_series *series, const char *name,
				 uint64_t value, struct hi_error *err)
{
	return add_hp_value(reader_of(series, err), (struct word){name, strlen(name)},
			    value);
}

enum hi_status hi_hp_series_name(struct hi_hp_series *series, const char *name,
				 uint32_t *band_ret, struct hi_error *err)
{
	return number_band(reader_of(series, err), (struct word){name, strlen(name)},
			   band_ret);
}

enum hi_status hi_hp_series_value(struct hi_hp_series *series, uint32_t band,
				  uint64_t value, struct hi_error *err)
{
	return add_point(reader_of(series, err), band, value);
}

enum hi_status hi_hp_series_mark(struct hi_hp_series *series, double time,
				 const char *text, struct hi_error *err)
{
	struct reader *r = reader_of(series, err);
	const char *copy = hi_arena_printf(&r->arena, "%s", text);

	if (r->marks.count >= HI_HP_MAX_MARKS)
		return too_many(r, "marks", HI_HP_MAX_MARKS);
	if (!copy || !hi_vector_push(&r->marks, time) ||
	    !hi_vector_push(&r->mark_texts, copy))
		return no_memory(r);
	return HI_OK;
}

enum hi_status hi_hp_series_finish(struct hi_hp_series *series, struct hi_error *err)
{
	struct reader *r = reader_of(series, err);

	if (!r->times.count)
		return hi_fail(err, HI_BAD_DATA, 0, "no census: nothing to draw");
	finish_hp_series(r);
	series->mark_texts = r->mark_texts.items;
	if (!hi_vector_push(&r->starts, r->points.count))
		return no_memory(r);
	series->starts = r->starts.items;
	return HI_OK;
}

static enum hi_status read_all(FILE *file, const char *path, char **text_ret,
			       size_t *size_ret, struct hi_error *err)
{
	struct HI_VECTOR(char) text = {};
	size_t n = 1;

	while (n > 0 && text.count <= HI_HP_MAX_BYTES) {
		if (!hi_vector_reserve(&text, text.count + 65536)) {
			hi_vector_free(&text);
			return hi_fail_memory(err, "heap profile");
		}
		n = fread(text.items + text.count, 1, text.capacity - text.count, file);
		text.count += n;
	}
	if (ferror(file)) {
		hi_vector_free(&text);
		return hi_fail_errno(err, "cannot read %.160s", path);
	}
	if (text.count > HI_HP_MAX_BYTES) {
		hi_vector_free(&text);
		return hi_fail(err, HI_LIMIT, 0, "more than %llu MiB",
			       HI_HP_MAX_BYTES >> 20);
	}
	*text_ret = text.items;
	*size_ret = text.count;
	return HI_OK;
}

enum hi_status hi_hp_read_text(const char *path, char **text_ret, size_t *size_ret,
			       struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open_stream(path);
	HI_GUARD(fclose) FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (file)
		fd = -1;
	if (!file)
		return hi_fail_errno(err, "cannot read %.160s", path);
	return read_all(file, path, text_ret, size_ret, err);
}

enum hi_status hi_hp_read(const char *path, struct hi_hp_series **ret,
			  struct hi_error *err)
{
	HI_GUARD(free) char *text = NULL;
	struct hi_error why = {};
	enum hi_status status;
	size_t size = 0;

	status = hi_hp_read_text(path, &text, &size, err);
	if (status != HI_OK)
		return status;
	status = hi_hp_parse(text, size, ret, &why);
	if (status == HI_OK)
		return HI_OK;
	return hi_fail(err, status, 0, "%.120s: %s", path, why.text);
}
