/* SPDX-License-Identifier: BSD-2-Clause */
/* Types that names of functions tell: of constructors, and of allocators of a type. */
#include <string.h>

#include "decode/sites/site_finder.h"

/* The end of a component of a name that ends at `end`: its "::" is before it. NULL: it is
 * the first one. */
static const char *find_last_component(const char *name, const char *end)
{
	unsigned depth = 0;

	for (const char *p = end; p > name + 1; p--) {
		if (p[-1] == '>' || p[-1] == ')')
			depth++;
		if ((p[-1] == '<' || p[-1] == '(') && depth)
			depth--;
		if (!depth && p[-1] == ':' && p[-2] == ':')
			return p;
	}
	return NULL;
}

static bool copy_type(const char *start, const char *end, char *buffer, size_t size)
{
	size_t n = (size_t)(end - start);

	if (n == 0 || n >= size)
		return false;
	memcpy(buffer, start, n);
	buffer[n] = 0;
	return true;
}

bool hi_site_type_constructed(const char *name, char *buffer, size_t size)
{
	const char *end = name + strlen(name);
	const char *last = find_last_component(name, end);
	const char *class = last ? find_last_component(name, last - 2) : NULL;
	size_t n;

	if (!last)
		return false;
	class = class ? class : name;
	n = strcspn(last, "<("); /* of T<int>::T */
	if (n == 0 || strncmp(class, last, n) != 0 ||
	    (class[n] != '<' && class + n != last - 2 && class[n] != '['))
		return false;
	return copy_type(name, last - 2, buffer, size);
}

/* The first argument of a template that begins at `from`. */
static bool take_first_argument(const char *from, char *buffer, size_t size)
{
	unsigned depth = 0;

	for (const char *p = from; *p; p++) {
		if (!depth && (*p == '>' || *p == ','))
			return copy_type(from, p, buffer, size);
		if (*p == '<' || *p == '(')
			depth++;
		if ((*p == '>' || *p == ')') && depth)
			depth--;
	}
	return false;
}

bool hi_site_type_allocated(const char *name, char *buffer, size_t size)
{
	static const char *const allocators[] = {
		"std::__new_allocator<", "__gnu_cxx::new_allocator<", "std::allocator<"};

	for (size_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++) {
		size_t n = strlen(allocators[i]), length = strlen(name);

		if (strncmp(name, allocators[i], n) == 0 && length > 10 &&
		    strcmp(name + length - 10, "::allocate") == 0)
			return take_first_argument(name + n, buffer, size);
	}
	return false;
}
