/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/near_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { FAR = 1000 };

static char lower_ascii(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_same_letter(char a, char b)
{
	return lower_ascii(a) == lower_ascii(b);
}

static unsigned min_unsigned(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Levenshtein's table, of which three rows are kept for swaps. */
unsigned hi_edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][HI_EDITED_MAX + 1];

	n = n < HI_EDITED_MAX ? n : HI_EDITED_MAX;
	m = m < HI_EDITED_MAX ? m : HI_EDITED_MAX;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = min_unsigned(above[j - 1] +
						      !is_same_letter(a[i - 1], b[j - 1]),
					      min_unsigned(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
			    is_same_letter(a[i - 2], b[j - 1]))
				row[j] = min_unsigned(row[j],
						      rows[(i - 2) % 3][j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

static unsigned distance_of_name(const char *pattern, const char *name)
{
	size_t n = strnlen(pattern, HI_EDITED_MAX);
	unsigned d = hi_edit_distance(pattern, n, name, strnlen(name, HI_EDITED_MAX));

	return d > 2 && n >= 3 && strcasestr(name, pattern) ? 2 : d;
}

void hi_names_rank(const char *pattern, hi_nth_name_fn *name_of, void *arg, uint32_t n,
		   uint32_t nearest[HI_NAMES_NEAREST])
{
	const char *bare = hi_type_bare(pattern);
	unsigned best[HI_NAMES_NEAREST] = {FAR, FAR, FAR};
	unsigned limit = (unsigned)strnlen(bare, HI_EDITED_MAX) / 2 + 1;

	for (uint32_t i = 0; i < HI_NAMES_NEAREST; i++)
		nearest[i] = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = name_of(arg, i);
		unsigned d = name ? distance_of_name(bare, hi_type_bare(name)) : FAR;
		int at = HI_NAMES_NEAREST;

		if (d > limit)
			continue;
		while (at > 0 && d < best[at - 1])
			at--;
		if (at == HI_NAMES_NEAREST)
			continue;
		for (int k = HI_NAMES_NEAREST - 1; k > at; k--) {
			best[k] = best[k - 1];
			nearest[k] = nearest[k - 1];
		}
		best[at] = d;
		nearest[at] = i;
	}
}

void hi_names_nearest(const char *pattern, hi_nth_name_fn *name_of, void *arg, uint32_t n,
		      const char *nearest[HI_NAMES_NEAREST])
{
	uint32_t numbers[HI_NAMES_NEAREST];

	hi_names_rank(pattern, name_of, arg, n, numbers);
	for (size_t i = 0; i < HI_NAMES_NEAREST; i++)
		nearest[i] = numbers[i] == UINT32_MAX ? NULL : name_of(arg, numbers[i]);
}

const char *hi_names_near_text(const char *pattern, hi_nth_name_fn *name_of, void *arg,
			       uint32_t n, char out[HI_NEAR_TEXT])
{
	const char *near[HI_NAMES_NEAREST];
	size_t used = 0;

	hi_names_nearest(pattern, name_of, arg, n, near);
	out[0] = 0;
	for (size_t i = 0; i < HI_NAMES_NEAREST && near[i]; i++)
		used += (size_t)snprintf(out + used, HI_NEAR_TEXT - used, "%s%.80s",
					 i ? ", " : "; near it: ", near[i]);
	return out;
}
