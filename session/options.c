/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/options.h"

#include <string.h>

bool hi_profile_has_root(const struct hi_profile_options *p, const char *name)
{
	for (size_t i = 0; i < p->n_roots; i++)
		if (strcmp(p->roots[i].name, name) == 0)
			return true;
	return false;
}

bool hi_profile_is_under(const struct hi_profile_options *p, const char *name)
{
	for (size_t i = 0; i < p->n_under; i++)
		if (strcmp(p->under[i], name) == 0)
			return true;
	return false;
}
