/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/type_names.h"

#include <string.h>

/* The types that have this short name, and this one with them; true: this one alone. */
static bool is_sole_owner(struct hi_type_names *names, const char *full,
			  const char *shown)
{
	uint32_t number = hi_interner_add(&names->shorts, shown);
	const char **owner;

	if (number > names->owners.count) {
		const char *copy = hi_arena_strdup(&names->arena, full);

		/* Numbers are given one by one. */
		if (copy && hi_vector_push(&names->owners, copy))
			return true;
		number = 0;
	}
	/* Without memory, nothing is known to be the only one of its short name. */
	names->keep_full |= !number;
	if (!number)
		return false;
	owner = &names->owners.items[number - 1];
	if (*owner && strcmp(*owner, full) != 0)
		*owner = NULL;
	return *owner != NULL;
}

void hi_type_names_add(struct hi_type_names *names, const char *full)
{
	char out[HI_TYPE_SHORT_SIZE];

	/* Others have the same name short. */
	if (!names->keep_full && full && strchr(full, '<'))
		is_sole_owner(names, full, hi_type_short(full, out, sizeof(out)));
}

const char *hi_type_names_shown(struct hi_type_names *names, const char *full,
				char out[HI_TYPE_SHORT_SIZE])
{
	if (!full)
		full = "";
	if (names->keep_full || !*full)
		return full;
	hi_type_short(full, out, HI_TYPE_SHORT_SIZE);
	return is_sole_owner(names, full, out) ? out : full;
}

void hi_type_names_free(struct hi_type_names *names)
{
	hi_interner_free(&names->shorts);
	hi_vector_free(&names->owners);
	hi_arena_free(&names->arena);
}
