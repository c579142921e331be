/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of --centre and --manner. */
#include <string.h>

#include "base/alloc.h"
#include "cli/options/option_take.h"
#include "cli/options/option_values.h"

/* Returns where the name ends: at a comma that is in no brackets. */
static size_t length_of_centre(const char *text)
{
	int depth = 0;
	size_t i = 0;

	for (; text[i] && (text[i] != ',' || depth > 0); i++) {
		depth += text[i] == '(' || text[i] == '<';
		depth -= text[i] == ')' || text[i] == '>';
	}
	return i;
}

static bool push_centre(struct hi_alloc_options *o, const char *name)
{
	const char **more =
		hi_realloc_array(o->centres, o->n_centres + 1, sizeof(*o->centres));

	if (!more)
		return false;
	o->centres = more;
	o->centres[o->n_centres++] = name;
	return true;
}

int hi_option_take_centres(const struct hi_option_row *row, char *value,
			   struct hi_options *o)
{
	bool is_last;

	do {
		size_t n = length_of_centre(value);

		is_last = !value[n];
		value[n] = '\0';
		if (!n)
			return hi_option_wrong("--%s: the name of a function is missing",
					       row->name);
		if (!push_centre(&o->alloc, value))
			return hi_option_wrong("--%s: out of memory", row->name);
		value += n + 1;
	} while (!is_last);
	return 0;
}

int hi_option_take_manner(const struct hi_option_row *row, char *value,
			  struct hi_options *o)
{
	struct hi_alloc_options *a = &o->alloc;
	struct hi_manner *more =
		hi_realloc_array(a->manners, a->n_manners + 1, sizeof(*a->manners));
	const char *why, *where;

	if (!more)
		return hi_option_wrong("--%s: out of memory", row->name);
	a->manners = more;
	if (!hi_manner_parse(value, &a->manners[a->n_manners], &why, &where))
		return hi_option_wrong("--%s %s: %s", row->name, where, why);
	a->n_manners++;
	return 0;
}
