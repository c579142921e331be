/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of --every and --full. */
#include <string.h>

#include "base/parse.h"
#include "cli/options/option_take.h"
#include "cli/options/option_values.h"

/* Less is noise: the kernel counts pages in batches. */
enum { LEAST_GROWTH = 64 << 10 };

int hi_option_take_every(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	struct hi_series_options *s = &o->series;

	s->every_ns = s->every_bytes = 0;
	if (hi_parse_duration(value, &s->every_ns) ||
	    (hi_parse_size(value, &s->every_bytes) && s->every_bytes >= LEAST_GROWTH))
		return 0;
	return hi_option_wrong("--%s %s: not a time like 0.5s or a size like 10MB",
			       row->name, value);
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

/* "first,last,every:10,peaks:3", "all", "none". */
int hi_option_take_full(const struct hi_option_row *row, char *value,
			struct hi_options *o)
{
	struct hi_graphs_wanted w = {};
	bool is_none = strcmp(value, "none") == 0;

	for (const char *at = value; !is_none; at++) {
		size_t n = strcspn(at, ",");

		if (!take_full_word(&w, at, n))
			return hi_option_wrong("--%s %s: not first, last, every:N, "
					       "peaks:K (several with ','), all or none",
					       row->name, value);
		at += n;
		if (!*at)
			break;
	}
	o->series.full = w;
	return 0;
}
