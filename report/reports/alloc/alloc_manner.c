/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/alloc/alloc_manner.h"

#include <stdint.h>
#include <string.h>

#include "base/parse.h"
#include "census/events/frames.h"

struct hi_manner hi_manner_of(const struct hi_manners *manners, const char *function)
{
	for (size_t i = manners->n; i-- > 0;) {
		const struct hi_manner *m = &manners->items[i];

		if (!m->pattern || hi_frame_matches(function, m->pattern))
			return *m;
	}
	return (struct hi_manner){.columns =
					  manners->n ? HI_ALLOC_USUAL : HI_ALLOC_COLUMNS};
}

/* ---- parsing ---- */

static const struct {
	const char *name;
	unsigned column;
} manner_words[] = {{"calls", HI_ALLOC_CALLS},
		    {"time", HI_ALLOC_TIME},
		    {"space", HI_ALLOC_SPACE},
		    {"copies", HI_ALLOC_COPIES},
		    {"types", HI_ALLOC_TYPES}};
static const char depth_word[] = "depth=";

/* Does the = at text[i] belong to the column depth=N? */
static bool is_of_depth(const char *text, size_t i)
{
	const size_t n = sizeof(depth_word) - 2;

	return i >= n && strncmp(text + i - n, depth_word, n) == 0 &&
	       (i == n || text[i - n - 1] == ',' || text[i - n - 1] == '=');
}

/* Where the columns begin: a pattern may have = as well (operator==). */
static char *find_columns(char *text)
{
	for (size_t i = strlen(text); i-- > 0;)
		if (text[i] == '=' && !is_of_depth(text, i))
			return text + i + 1;
	return text;
}

static bool take_column(const char *word, struct hi_manner *ret)
{
	uint64_t depth;

	for (size_t i = 0; i < sizeof(manner_words) / sizeof(*manner_words); i++)
		if (strcmp(word, manner_words[i].name) == 0) {
			ret->columns |= manner_words[i].column;
			return true;
		}
	if (strncmp(word, depth_word, sizeof(depth_word) - 1) != 0 ||
	    !hi_parse_number(word + sizeof(depth_word) - 1, 0, HI_MANNER_DEPTH, &depth))
		return false;
	ret->depth = (unsigned)depth;
	ret->has_depth = true;
	return true;
}

bool hi_manner_parse(char *text, struct hi_manner *ret, const char **why_ret,
		     const char **where_ret)
{
	char *columns = find_columns(text);
	bool is_last;

	*ret = (struct hi_manner){.pattern = columns > text ? text : NULL};
	*where_ret = text;
	*why_ret = "the function is missing before =";
	if (columns > text)
		columns[-1] = '\0';
	if (ret->pattern && !*ret->pattern)
		return false;
	*why_ret = "not one of calls, time, space, copies, types, depth=0 to depth=15";
	do {
		size_t n = strcspn(columns, ",");

		is_last = !columns[n];
		columns[n] = '\0';
		*where_ret = columns;
		if (!take_column(columns, ret))
			return false;
		columns += n + 1;
	} while (!is_last);
	return true;
}
