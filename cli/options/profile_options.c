/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/profile_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

bool hi_profile_take_root(struct hi_profile_options *p, size_t most, char *text,
			  const char **why_ret)
{
	size_t n;

	if (!hi_root_text_split(text, &n, why_ret))
		return false;
	if (!p->roots)
		p->roots = hi_calloc(most, sizeof(*p->roots));
	if (!p->roots || p->n_roots == most)
		return false;
	text[n] = '\0';
	p->roots[p->n_roots++] =
		(struct hi_root_text){.name = text, .expression = text + n + 1};
	return true;
}

bool hi_profile_take_expression(struct hi_profile_options *p, const char *expression)
{
	struct hi_root_text *roots = hi_calloc(p->n_roots + 1, sizeof(*roots));

	if (!roots)
		return false;
	if (p->n_roots)
		memcpy(roots, p->roots, p->n_roots * sizeof(*roots));
	free(p->roots);
	p->roots = roots;
	p->roots[p->n_roots++] = (struct hi_root_text){expression, expression};
	return true;
}

bool hi_profile_take_retainer(struct hi_profile_options *p, size_t most, const char *text,
			      const char **why_ret)
{
	*why_ret = *text ? "" : "a type, TYPE.field, global, frame or auto is missing";
	if (!p->retainers)
		p->retainers = hi_calloc(most, sizeof(*p->retainers));
	if (!*text || !p->retainers || p->n_retainers == most)
		return false;
	p->retainers[p->n_retainers++] = text;
	return true;
}

bool hi_profile_take_under(struct hi_profile_options *p, size_t most, const char *text,
			   const char **why_ret)
{
	*why_ret = *text ? "" : "the name of a --root is missing";
	if (!p->under)
		p->under = hi_calloc(most, sizeof(*p->under));
	if (!*text || !p->under || p->n_under == most)
		return false;
	p->under[p->n_under++] = text;
	return true;
}

bool hi_profile_take_identity(struct hi_profile_options *p, const char *text)
{
	static const char *const words[] = {"type", "var", "site", "module", "addr"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i]) == 0) {
			p->identity = (enum hi_identity)i;
			return true;
		}
	return false;
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
