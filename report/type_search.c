/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/type_search.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/type_name.h"

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

/* Each name twice in its own memory: what is compared, its NUL, and the short one. */
struct short_names {
	const struct hi_graph *g;
	bool qualified; /* compare with qualifiers */
	struct hi_arena arena;
};

static const char *nth_short_name(void *arg, uint32_t i)
{
	struct short_names *names = arg;
	const char *full = names->g->types[i].name;
	char shown[HI_TYPE_SHORT_SIZE], compared[HI_TYPE_SHORT_SIZE], *both;
	size_t n;

	if (!i || !full)
		return NULL;
	hi_type_short(full, shown, sizeof(shown));
	n = strlen(names->qualified
			   ? hi_type_short(full, compared, sizeof(compared))
			   : hi_type_unqualified(full, compared, sizeof(compared)));
	both = hi_arena_alloc(&names->arena, n + strlen(shown) + 2);
	if (!both)
		return NULL;
	memcpy(both, compared, n);
	memcpy(both + n + 1, shown, strlen(shown) + 1);
	return both;
}

static void find_nearest(const struct hi_graph *g, const char *pattern,
			 struct hi_types_near *near)
{
	struct short_names names = {.g = g, .qualified = strstr(pattern, "::") != NULL};
	const char *nearest[HI_NAMES_NEAREST];
	char out[HI_TYPE_SHORT_SIZE];

	hi_names_nearest(hi_type_short(pattern, out, sizeof(out)), nth_short_name, &names,
			 g->n_types, nearest);
	for (size_t i = 0; i < HI_NAMES_NEAREST; i++)
		if (nearest[i])
			snprintf(near->name[i], sizeof(near->name[i]), "%s",
				 nearest[i] + strlen(nearest[i]) + 1);
	hi_arena_free(&names.arena);
}

static bool is_in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* Are they equal but for blanks that divide no words? */
static bool equal_but_blanks(const char *a, const char *b)
{
	char last = 0;

	for (;;) {
		bool space_a = *a == ' ', space_b = *b == ' ';

		a += strspn(a, " ");
		b += strspn(b, " ");
		if (*a != *b ||
		    (space_a != space_b && is_in_word(last) && is_in_word(*a)))
			return false;
		if (!*a)
			return true;
		last = *a++;
		b++;
	}
}

enum match { MATCH_FULL, MATCH_SHORT, MATCH_UNQUALIFIED, MATCH_SHELL };

static bool matches_short(const char *want, const char *name, enum match how)
{
	char want_short[HI_TYPE_SHORT_SIZE], out[HI_TYPE_SHORT_SIZE];

	if (how == MATCH_UNQUALIFIED) {
		hi_type_unqualified(name, out, sizeof(out));
		return equal_but_blanks(want, hi_type_bare(out));
	}
	hi_type_short(name, out, sizeof(out));
	if (how == MATCH_SHELL)
		return fnmatch(want, hi_type_bare(out), 0) == 0;
	/* A pasted name, of this compiler or another. */
	hi_type_short(want, want_short, sizeof(want_short));
	return equal_but_blanks(want_short, hi_type_bare(out));
}

static bool name_matches(const char *want, const char *name, enum match how)
{
	const char *bare = hi_type_bare(name);

	switch (how) {
	case MATCH_FULL:
		return strcmp(want, bare) == 0;
	case MATCH_SHELL:
		return fnmatch(want, bare, 0) == 0 || matches_short(want, name, how);
	case MATCH_SHORT:
	case MATCH_UNQUALIFIED:
	default:
		return matches_short(want, name, how);
	}
}

/* Returns how many match. */
static uint32_t select_where(const struct hi_graph *g, const char *pattern,
			     enum match how, struct hi_type_set *set)
{
	const char *want = hi_type_bare(pattern);
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_types && *want; i++) {
		const char *name = g->types[i].name ? g->types[i].name : "";

		if (!*name)
			name = i == 0 ? "(untyped)" : "";
		if (!name_matches(want, name, how))
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
	uint32_t n;

	if (select_where(g, pattern, MATCH_FULL, set) > 0 ||
	    select_where(g, pattern, MATCH_SHORT, set) > 0)
		return true;
	n = select_where(g, pattern, MATCH_UNQUALIFIED, set);
	set->ambiguous |= n > 1;
	return n > 0 || (strpbrk(pattern, "*?[") &&
			 select_where(g, pattern, MATCH_SHELL, set) > 0);
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

/* Takes the types of a name away again; of a list that begins so, from all of them. */
static bool select_without(const struct hi_graph *g, const char *name,
			   struct hi_type_set *set)
{
	struct hi_type_set gone = {.n_types = set->n_types};
	bool found;

	gone.has = hi_calloc(g->n_types ? g->n_types : 1, sizeof(*gone.has));
	found = gone.has && select_one(g, name, &gone);
	for (uint32_t i = 0; found && i < g->n_types; i++) {
		set->count -= set->has[i] && gone.has[i];
		set->has[i] &= !gone.has[i];
	}
	hi_type_set_free(&gone);
	return found;
}

static void select_all(struct hi_type_set *set)
{
	for (uint32_t i = 0; i < set->n_types; i++)
		set->has[i] = true;
	set->count = set->n_types;
}

static bool select_part(const struct hi_graph *g, const char *name,
			struct hi_type_set *set)
{
	return *name == '!' ? select_without(g, name + 1, set) : select_one(g, name, set);
}

/* Every name of a list must be there: a misspelt one would pass unseen. */
static bool select_list(const struct hi_graph *g, const char *list,
			struct hi_type_set *set, char *name, size_t size)
{
	if (*list == '!')
		select_all(set);
	for (;;) {
		size_t n, length;

		list += strspn(list, " ");
		length = n = first_of_list(list);
		while (length && list[length - 1] == ' ')
			length--;
		snprintf(name, size, "%.*s", (int)length, list);
		if (length >= size || !select_part(g, name, set))
			return false;
		if (!list[n])
			return true;
		list += n + 1;
	}
}

enum hi_status hi_types_select(const struct hi_graph *g, const char *pattern,
			       struct hi_type_set *ret, struct hi_types_near *near,
			       struct hi_error *err)
{
	struct hi_type_set set = {.n_types = g->n_types};
	char missing[512];

	if (near)
		*near = (struct hi_types_near){};
	set.has = hi_calloc(g->n_types ? g->n_types : 1, sizeof(*set.has));
	if (!set.has)
		return hi_fail_memory(err, "set of types");
	if (!select_one(g, pattern, &set) &&
	    !select_list(g, pattern, &set, missing, sizeof(missing))) {
		hi_type_set_free(&set);
		if (near)
			find_nearest(g, missing, near);
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
