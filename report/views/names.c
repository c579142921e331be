/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/views/names.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { NAME_MAX_COMPARED = 64, FAR = 1000 };

static char lower_ascii(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Edit distance, over the first NAME_MAX_COMPARED bytes of each. A name that
 * contains the pattern is near however long it is. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_COMPARED + 1];
	size_t n = strnlen(a, NAME_MAX_COMPARED), m = strnlen(b, NAME_MAX_COMPARED);

	for (unsigned j = 0; j <= m; j++)
		row[j] = j;
	for (unsigned i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= m; j++) {
			unsigned old = row[j], best = diagonal;

			best += lower_ascii(a[i - 1]) != lower_ascii(b[j - 1]);
			if (old + 1 < best)
				best = old + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = old;
		}
	}
	if (n >= 3 && strcasestr(b, a) && row[m] > 2)
		return 2;
	return row[m];
}

void hi_names_nearest(const char *pattern, hi_nth_name_fn *name_of, void *arg, uint32_t n,
		      const char *nearest[HI_NAMES_NEAREST])
{
	unsigned best[HI_NAMES_NEAREST] = {FAR, FAR, FAR};
	unsigned limit =
		(unsigned)strnlen(hi_type_bare(pattern), NAME_MAX_COMPARED) / 2 + 1;

	for (uint32_t i = 0; i < HI_NAMES_NEAREST; i++)
		nearest[i] = NULL;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = name_of(arg, i);
		unsigned d =
			name ? edit_distance(hi_type_bare(pattern), hi_type_bare(name))
			     : FAR;
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
		nearest[at] = name;
	}
}

static const char *name_of_type(void *arg, uint32_t i)
{
	const struct hi_graph *g = *(const struct hi_graph **)arg;

	return i ? g->types[i].name : NULL;
}

static void find_nearest(const struct hi_graph *g, const char *pattern,
			 const char *nearest[HI_NAMES_NEAREST])
{
	hi_names_nearest(pattern, name_of_type, &g, g->n_types, nearest);
}

/* Returns how many match. */
static uint32_t select_where(const struct hi_graph *g, const char *pattern, bool shell,
			     struct hi_type_set *set)
{
	const char *want = hi_type_bare(pattern);
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_types; i++) {
		const char *name = g->types[i].name ? g->types[i].name : "";

		if (!*name)
			name = i == 0 ? "(untyped)" : "";
		name = hi_type_bare(name);
		if (shell ? fnmatch(want, name, 0) != 0 : strcmp(want, name) != 0)
			continue;
		set->count += !set->has[i];
		set->has[i] = true;
		n++;
	}
	return n;
}

static bool select_one(const struct hi_graph *g, const char *pattern,
		       struct hi_type_set *set)
{
	return select_where(g, pattern, false, set) > 0 ||
	       (strpbrk(pattern, "*?[") && select_where(g, pattern, true, set) > 0);
}

/* Length of the first name of a list: to a comma outside of template arguments. */
static size_t first_of_list(const char *text)
{
	size_t n = 0;

	for (int depth = 0; text[n] && (text[n] != ',' || depth > 0); n++) {
		depth += strchr("<([{", text[n]) != NULL;
		depth -= strchr(">)]}", text[n]) != NULL && depth > 0;
	}
	return n;
}

/* Every name of a list must be there: a misspelt one would pass unseen. */
static bool select_list(const struct hi_graph *g, const char *list,
			struct hi_type_set *set, char *name, size_t size)
{
	for (;;) {
		size_t n, length;

		list += strspn(list, " ");
		length = n = first_of_list(list);
		while (length && list[length - 1] == ' ')
			length--;
		snprintf(name, size, "%.*s", (int)length, list);
		if (length >= size || !select_one(g, name, set))
			return false;
		if (!list[n])
			return true;
		list += n + 1;
	}
}

enum hi_status hi_types_select(const struct hi_graph *g, const char *pattern,
			       struct hi_type_set *ret,
			       const char *nearest[HI_NAMES_NEAREST],
			       struct hi_error *err)
{
	struct hi_type_set set = {.n_types = g->n_types};
	char missing[512];

	for (size_t i = 0; nearest && i < HI_NAMES_NEAREST; i++)
		nearest[i] = NULL;
	set.has = hi_calloc(g->n_types ? g->n_types : 1, sizeof(*set.has));
	if (!set.has)
		return hi_fail_memory(err, "set of types");
	if (!select_one(g, pattern, &set) &&
	    !select_list(g, pattern, &set, missing, sizeof(missing))) {
		hi_type_set_free(&set);
		if (nearest)
			find_nearest(g, missing, nearest);
		return hi_fail(err, HI_NOT_FOUND, 0, "no object has the type %.100s",
			       missing);
	}
	*ret = set;
	return HI_OK;
}

void hi_type_set_free(struct hi_type_set *set)
{
	free(set->has);
	*set = (struct hi_type_set){};
}
