/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/series_options.h"

#include <string.h>

#include "base/parse.h"

/* Less is noise: the kernel counts pages in batches. */
enum { LEAST_GROWTH = 64 << 10 };

bool hi_series_take_every(struct hi_series_options *s, const char *text)
{
	s->every_ns = s->every_bytes = 0;
	if (hi_parse_duration(text, &s->every_ns))
		return true;
	return hi_parse_size(text, &s->every_bytes) && s->every_bytes >= LEAST_GROWTH;
}

bool hi_series_take_time(struct hi_series_options *s, const char *text)
{
	static const char *const words[] = {"cpu", "wall", "census"};

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0) {
			s->axis = (enum hi_series_axis)i;
			s->has_axis = true;
			return true;
		}
	return false;
}

/* One word of --full, of n bytes. */
static bool take_full_word(struct hi_graphs_wanted *w, const char *text, size_t n)
{
	char word[32], *number;
	uint64_t value = 0;

	if (n >= sizeof(word))
		return false;
	memcpy(word, text, n);
	word[n] = 0;
	number = strchr(word, ':');
	if (number) {
		*number++ = 0;
		if (!hi_parse_number(number, 1, HI_GRAPHS_PEAKS_MAX * 1000, &value))
			return false;
	}
	if (number && strcmp(word, "every") == 0)
		w->every = value;
	else if (number && strcmp(word, "peaks") == 0 && value <= HI_GRAPHS_PEAKS_MAX)
		w->peaks = (uint32_t)value;
	else if (!number && strcmp(word, "first") == 0)
		w->first = true;
	else if (!number && strcmp(word, "last") == 0)
		w->last = true;
	else if (!number && strcmp(word, "all") == 0)
		w->every = 1;
	else
		return false;
	w->peak |= w->peaks != 0;
	return true;
}

bool hi_series_take_full(struct hi_series_options *s, const char *text)
{
	struct hi_graphs_wanted w = {};

	s->has_full = true;
	s->full = w;
	if (strcmp(text, "none") == 0)
		return true;
	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");

		if (!take_full_word(&w, at, n))
			return false;
		at += n;
		if (!*at)
			break;
	}
	s->full = w;
	return true;
}

const char *hi_series_check(const struct hi_series_options *s)
{
	if (hi_series_asked(s))
		return NULL;
	if (s->for_ns)
		return "--for: only with --every, or with --at for each hit of a place";
	if (s->has_full)
		return "--full: only with --every, or with --at and --for";
	if (s->max_file)
		return "--max-file: only with --every, or with --at and --for";
	if (s->hp)
		return "--hp: only with --every, or with --at and --for";
	return s->has_axis ? "--time: only with --every, or with --at and --for" : NULL;
}
