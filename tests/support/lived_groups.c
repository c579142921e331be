/* SPDX-License-Identifier: BSD-2-Clause */
/* In which groups of bio the objects of fixtures/lives.c are. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/lived.h"

/* The static array that keeps objects of a type. */
static const char *array_of_type(const char *type)
{
	static const char *const types[] = {"node", "buf", "arena", "cell"};
	static const char *const arrays[] = {"nodes", "bufs", "arenas", "lists"};

	for (unsigned i = 0; i < 4; i++)
		if (strcmp(type, types[i]) == 0)
			return arrays[i];
	hi_test_fail(__FILE__, __LINE__, "no array for %s", type);
}

static bool is_dropped(const struct lived_object *o, unsigned t)
{
	return o->dropped && o->dropped <= t;
}

static bool is_shared(const struct lived_object *o, unsigned t)
{
	return o->is_shared && o->shared <= t;
}

static bool has_root(const struct lived_object *o, unsigned t, const char *root)
{
	const char *expected = is_dropped(o, t)	 ? ""
			       : is_shared(o, t) ? "(several roots)"
						 : array_of_type(o->type);

	return strcmp(root, expected) == 0;
}

/* "{nodes, shared}", in any order. Only the first cell of a list has no other cell in
 * front of it, so that a list is kept by one set if cells are no retainers. */
static bool has_retainers(const struct lived_object *o, unsigned t, const char *set)
{
	const char *array = array_of_type(o->type);
	char one[64], two[64];

	if (is_dropped(o, t))
		return !*set;
	if (!is_shared(o, t)) {
		snprintf(one, sizeof(one), "{%s}", array);
		return strcmp(set, one) == 0;
	}
	snprintf(one, sizeof(one), "{%s, shared}", array);
	snprintf(two, sizeof(two), "{shared, %s}", array);
	return strcmp(set, one) == 0 || strcmp(set, two) == 0;
}

/* "make_object lives.c:120": the line is the compiler's. */
static bool has_site(const struct lived_object *o, const char *site)
{
	size_t n = strlen(o->site);

	if (!o->birth)
		return !*site;
	return strncmp(site, o->site, n) == 0 && (!site[n] || site[n] == ' ');
}

bool lived_belongs(const struct lived_object *o, unsigned t, const char *by,
		   const char *group)
{
	if (strcmp(by, "root") == 0)
		return has_root(o, t, group);
	if (strcmp(by, "retainers") == 0)
		return has_retainers(o, t, group);
	if (strcmp(by, "site") == 0)
		return has_site(o, group);
	if (strcmp(by, "era") == 0)
		return strcmp(group, o->era) == 0;
	HI_ASSERT_STREQ("type", by);
	return strncmp(group, "struct ", 7) == 0 && strcmp(group + 7, o->type) == 0;
}
