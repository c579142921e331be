/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/expressions/expression_names.h"

#include <stdio.h>
#include <string.h>

/*
 * Note [Spellings of integers]
 *
 * What a programmer calls Box<long> is Box<long int> to gcc and Box<long> to clang,
 * in debug information as in messages. A name that is not found as it is written is
 * looked for as either of them would write it.
 */
enum { NAME_SIZE = 2048, WORDS = 6 };

static const char *const words[WORDS] = {"long",   "short", "unsigned",
					 "signed", "int",   "char"};

struct integer {
	unsigned count[WORDS]; /* of each word */
};

/* Length of the keyword of an integer type that text begins with; 0: none. */
static size_t take_integer_keyword(const char *text, struct integer *integer)
{
	size_t n = strcspn(text, " ,<>()*&:[]{}");

	for (unsigned i = 0; i < WORDS; i++)
		if (n == strlen(words[i]) && strncmp(text, words[i], n) == 0) {
			integer->count[i]++;
			return n;
		}
	return 0;
}

static size_t spell_integer_type(const struct integer *integer, bool gcc, char *out,
				 size_t size)
{
	const unsigned *n = integer->count;
	const char *length = n[0] > 1 ? "long long" : n[0] ? "long" : n[1] ? "short" : "";
	const char *sign = n[2] ? "unsigned" : n[5] && n[3] ? "signed" : "";
	const char *last = n[5] ? "char" : gcc || !length[0] ? "int" : "";
	const char *const parts[] = {gcc ? length : sign, gcc ? sign : length, last};
	size_t used = 0;

	for (unsigned i = 0; i < 3; i++)
		if (parts[i][0] && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used ? " " : "", parts[i]);
	return used;
}

/* False: it does not fit into out. */
static bool respell_integer_types(const char *name, bool gcc, char out[NAME_SIZE])
{
	size_t used = 0, n;

	while (*name) {
		struct integer integer = {};
		const char *end = NULL;

		while ((n = take_integer_keyword(name, &integer)) > 0) {
			end = name + n;
			name = end + (*end == ' ');
		}
		if (end) {
			name = end;
			used += spell_integer_type(&integer, gcc, out + used,
						   NAME_SIZE - used);
		} else {
			n = strcspn(name, " ,<>()*&:[]{}");
			n += n == 0;
			if (used + n < NAME_SIZE)
				memcpy(out + used, name, n);
			used += n;
			name += n;
		}
		if (used >= NAME_SIZE)
			return false;
	}
	out[used] = '\0';
	return true;
}

static const struct hi_type *get_source_type(void *arg, hi_type_id id)
{
	const struct hi_expression_names *names = arg;

	return hi_type_get(names->types, id);
}

static hi_type_id find_source_type(void *arg, const char *name)
{
	const struct hi_expression_names *names = arg;
	char other[NAME_SIZE];
	hi_type_id id = 0;

	if (hi_types_find(names->types, name, &id, NULL) == HI_OK ||
	    (respell_integer_types(name, true, other) &&
	     hi_types_find(names->types, other, &id, NULL) == HI_OK) ||
	    (respell_integer_types(name, false, other) &&
	     hi_types_find(names->types, other, &id, NULL) == HI_OK))
		return id;
	return 0;
}

static hi_type_id make_source_pointer(void *arg, hi_type_id id)
{
	const struct hi_expression_names *names = arg;

	return hi_types_pointer_to(names->types, id);
}

static bool variable_named(const struct hi_expression_names *names, const char *name,
			   struct hi_variable *ret)
{
	char other[NAME_SIZE];

	if (hi_types_variable_named(names->types, name, ret, NULL) == HI_OK)
		return true;
	if (!strchr(name, '<'))
		return false;
	return (respell_integer_types(name, true, other) &&
		hi_types_variable_named(names->types, other, ret, NULL) == HI_OK) ||
	       (respell_integer_types(name, false, other) &&
		hi_types_variable_named(names->types, other, ret, NULL) == HI_OK);
}

static struct hi_name find_source_name(void *arg, const char *name)
{
	const struct hi_expression_names *names = arg;
	struct hi_variable variable;
	uint64_t addr, size;

	if (variable_named(names, name, &variable))
		return (struct hi_name){HI_NAME_VARIABLE, variable.address,
					variable.type};
	if (names->modules &&
	    hi_modules_symbol(names->modules, NULL, name, &addr, &size, NULL) == HI_OK)
		return (struct hi_name){HI_NAME_FUNCTION, addr, 0};
	return (struct hi_name){};
}

static void each_source_name(void *arg, bool (*fn)(void *fn_arg, const char *name),
			     void *fn_arg)
{
	const struct hi_expression_names *names = arg;

	hi_types_each_variable_name(names->types, fn, fn_arg);
}

struct hi_expression_source hi_expression_source_of(struct hi_expression_names *names)
{
	return (struct hi_expression_source){.arg = names,
					     .type = get_source_type,
					     .type_named = find_source_type,
					     .pointer_to = make_source_pointer,
					     .name = find_source_name,
					     .each_name = each_source_name};
}
