/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/series_options.h"

#include <string.h>

#include "cli/options.h"

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

const char *hi_series_check(const struct hi_series_options *s)
{
	if (hi_series_asked(s))
		return NULL;
	if (s->for_ns)
		return "--for: only with --every, or with --at for each hit of a place";
	if (s->hp)
		return "--hp: only with --every, or with --at and --for";
	return s->has_axis ? "--time: only with --every, or with --at and --for" : NULL;
}
