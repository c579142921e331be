/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/profile_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/options/option_take.h"
#include "cli/options/option_values.h"

static bool push_root(struct hi_profile_options *p, struct hi_root_text root)
{
	struct hi_root_text *more =
		hi_realloc_array(p->roots, p->n_roots + 1, sizeof(*p->roots));

	if (!more)
		return false;
	p->roots = more;
	p->roots[p->n_roots++] = root;
	return true;
}

/* NAME=EXPRESSION, cut at the "=". */
int hi_option_take_root(const struct hi_option_row *row, char *value,
			struct hi_options *o)
{
	const char *why;
	size_t n;

	if (!hi_root_text_split(value, &n, &why))
		return hi_option_wrong("--%s %s: %s", row->name, value, why);
	value[n] = '\0';
	if (!push_root(&o->profile,
		       (struct hi_root_text){.name = value, .expression = value + n + 1}))
		return hi_option_wrong("--%s: out of memory", row->name);
	return 0;
}

bool hi_profile_take_expression(struct hi_profile_options *p, const char *expression)
{
	return push_root(p, (struct hi_root_text){expression, expression, true});
}

static int compare_option_root_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *hi_profile_duplicate(const struct hi_profile_options *p)
{
	const char **names = hi_calloc(p->n_roots + 1, sizeof(*names));
	const char *found = NULL;

	for (size_t i = 0; names && i < p->n_roots; i++)
		names[i] = p->roots[i].name;
	if (names && p->n_roots > 1)
		qsort((void *)names, p->n_roots, sizeof(*names),
		      compare_option_root_names);
	for (size_t i = 1; names && i < p->n_roots && !found; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			found = names[i];
	free((void *)names);
	return found;
}

const char *hi_profile_unknown_under(const struct hi_profile_options *p)
{
	for (size_t i = 0; i < p->n_under; i++)
		if (!hi_profile_has_root(p, p->under[i]))
			return p->under[i];
	return NULL;
}

void hi_profile_options_free(struct hi_profile_options *p)
{
	free(p->roots);
	free((void *)p->retainers);
	free((void *)p->under);
	*p = (struct hi_profile_options){};
}
