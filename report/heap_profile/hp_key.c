/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/heap_profile/hp_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"

struct hi_hp_key {
	struct hi_arena arena;
	struct hi_table sets, names; /* number -> index in texts */
	struct HI_VECTOR(const char *) texts;
	struct hi_table marks; /* the number of a mark -> index in texts */
};

void hi_hp_key_destroy(struct hi_hp_key *key)
{
	if (!key)
		return;
	hi_arena_free(&key->arena);
	hi_table_free(&key->sets);
	hi_table_free(&key->names);
	hi_table_free(&key->marks);
	hi_vector_free(&key->texts);
	free(key);
}

/* Digits at s up to end; false if there are none or too many. */
static bool read_key_number(const char **s, const char *end, uint64_t *ret)
{
	const char *begin = *s;
	uint64_t n = 0;

	while (*s < end && **s >= '0' && **s <= '9' && *s - begin < 19)
		n = n * 10 + (uint64_t)(*(*s)++ - '0');
	*ret = n;
	return *s > begin;
}

static bool read_key_word(const char **s, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(end - *s) < n || memcmp(*s, word, n) != 0)
		return false;
	*s += n;
	return true;
}

static enum hi_status add_key_text(struct hi_hp_key *key, struct hi_table *table,
				   uint64_t number, const char *text, size_t n,
				   struct hi_error *err)
{
	char *copy = hi_arena_alloc(&key->arena, n + 1);

	if (!copy || !hi_table_put(table, number, key->texts.count) ||
	    !hi_vector_push(&key->texts, copy))
		return hi_fail_memory(err, "key of a heap profile");
	memcpy(copy, text, n);
	return HI_OK;
}

/* "TIME text": the marks are those of the series, in its order. */
static enum hi_status read_key_mark(struct hi_hp_key *key, const char *s, const char *end,
				    struct hi_error *err)
{
	const char *blank = memchr(s, ' ', (size_t)(end - s));

	s = blank ? blank + 1 : end;
	return add_key_text(key, &key->marks, key->marks.count, s, (size_t)(end - s),
			    err);
}

static enum hi_status read_key_line(struct hi_hp_key *key, const char *s, const char *end,
				    struct hi_error *err)
{
	struct hi_table *table = NULL;
	uint64_t number;

	if (read_key_word(&s, end, "MARK "))
		return read_key_mark(key, s, end, err);
	if (read_key_word(&s, end, "SET "))
		table = &key->sets;
	else if (read_key_word(&s, end, "NAME n"))
		table = &key->names;
	if (!table || !read_key_number(&s, end, &number) ||
	    !read_key_word(&s, end, " = "))
		return HI_OK;
	return add_key_text(key, table, number, s, (size_t)(end - s), err);
}

/* `JOB "text"`, quotes doubled, is the text of the series, escaped as in the file. */
static bool is_key_line_text(const char *s, const char *end, const char *word,
			     const char *text)
{
	if (!read_key_word(&s, end, word) || !read_key_word(&s, end, " \""))
		return false;
	for (; *text && s < end; text++, s++) {
		if (*s != *text)
			return false;
		if (*s == '"' && (s + 1 >= end || *++s != '"'))
			return false;
	}
	return !*text && read_key_word(&s, end, "\"") && s == end;
}

static const char *end_of_key_line(const char *s, const char *end)
{
	const char *newline = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;

	return newline ? newline : end;
}

enum hi_status hi_hp_key_parse(const char *text, size_t size,
			       const struct hi_hp_series *series, struct hi_hp_key **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_hp_key_destroy) struct hi_hp_key *key = hi_calloc(1, sizeof(*key));
	const char *s = text, *end = text + size;
	enum hi_status status = HI_OK;

	if (!key)
		return hi_fail_memory(err, "key of a heap profile");
	for (unsigned line = 1; s < end && status == HI_OK; line++) {
		const char *stop = end_of_key_line(s, end);

		if ((line == 1 && !read_key_word(&s, stop, "Key of a heap profile")) ||
		    (line == 2 && !is_key_line_text(s, stop, "JOB", series->job)) ||
		    (line == 3 && !is_key_line_text(s, stop, "DATE", series->date)))
			return hi_fail(err, HI_NOT_FOUND, 0,
				       "not the key of this heap profile");
		/* A line that was cut is not believed. */
		if (line > 3 && stop < end)
			status = read_key_line(key, s, stop, err);
		s = stop < end ? stop + 1 : end;
	}
	if (status == HI_OK)
		*ret = hi_take(key);
	return status;
}

enum hi_status hi_hp_key_read(const char *path, const struct hi_hp_series *series,
			      struct hi_hp_key **ret, struct hi_error *err)
{
	HI_GUARD(free) char *text = NULL;
	size_t size = 0;
	enum hi_status status = hi_hp_read_text(path, &text, &size, err);

	return status == HI_OK ? hi_hp_key_parse(text, size, series, ret, err) : status;
}

const char *hi_hp_key_mark(const struct hi_hp_key *key, size_t i)
{
	uint64_t at;

	return hi_table_get(&key->marks, i, &at) ? key->texts.items[at] : "";
}

const char *hi_hp_key_find(const struct hi_hp_key *key, const char *label)
{
	const char *end = label + strlen(label);
	const struct hi_table *table = &key->sets;
	uint64_t number, at;

	if (!read_key_word(&label, end, "("))
		return NULL;
	if (read_key_word(&label, end, "n"))
		table = &key->names;
	if (!read_key_number(&label, end, &number) || !read_key_word(&label, end, ")") ||
	    !hi_table_get(table, number, &at))
		return NULL;
	return key->texts.items[at];
}
