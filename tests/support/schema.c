/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/schema.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"

/* Says what is wrong. Where no alternative of a schema is right, the most likely one is
 * told: it has no wrong `const` (that says of which kind a document is), and came
 * deepest. */
struct fault {
	unsigned likely;
	char text[600];
};

struct check {
	const json_t *whole;  /* the schema, with its definitions */
	const json_t *beside; /* the schema that has the rule */
	unsigned depth;
	char path[400]; /* of the value that is looked at */
	struct fault fault;
};

static bool is_valid(struct check *k, const json_t *schema, const json_t *value);

__attribute__((format(printf, 3, 4))) static bool say_fault(struct check *k, bool is_kind,
							    const char *format, ...)
{
	char what[160];
	va_list words;

	va_start(words, format);
	vsnprintf(what, sizeof(what), format, words);
	va_end(words);
	k->fault.likely = is_kind ? 1 : 2 + k->depth;
	snprintf(k->fault.text, sizeof(k->fault.text), "%s: %s",
		 *k->path ? k->path : "the document", what);
	return false;
}

static bool is_valid_below(struct check *k, const json_t *schema, const json_t *value,
			   const char *name)
{
	size_t size = strlen(k->path);
	bool valid;

	snprintf(k->path + size, sizeof(k->path) - size, "%s%s", size ? "." : "", name);
	k->depth++;
	valid = is_valid(k, schema, value);
	k->depth--;
	k->path[size] = 0;
	return valid;
}

/* ---- keywords: whether a value obeys this rule of its schema ---- */

static bool is_integral(const json_t *value)
{
	return json_is_integer(value) ||
	       (json_is_real(value) &&
		trunc(json_real_value(value)) == json_real_value(value));
}

static bool is_of_type(const json_t *value, const char *type)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "object", [JSON_ARRAY] = "array",
		[JSON_STRING] = "string", [JSON_INTEGER] = "number",
		[JSON_REAL] = "number",	  [JSON_TRUE] = "boolean",
		[JSON_FALSE] = "boolean", [JSON_NULL] = "null"};

	if (strcmp(type, "integer") == 0)
		return is_integral(value);
	return strcmp(names[json_typeof(value)], type) == 0;
}

static bool obeys_type(struct check *k, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *type;

	if (json_is_string(rule))
		return is_of_type(value, json_string_value(rule)) ||
		       say_fault(k, false, "no %s", json_string_value(rule));
	json_array_foreach(rule, i, type)
	{
		if (is_of_type(value, json_string_value(type)))
			return true;
	}
	return say_fault(k, false, "of none of the types");
}

static bool is_same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

static bool obeys_const(struct check *k, const json_t *rule, const json_t *value)
{
	return is_same(rule, value) ||
	       say_fault(k, true, "not %s", json_string_value(rule));
}

static bool obeys_enum(struct check *k, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *one;

	json_array_foreach(rule, i, one)
	{
		if (is_same(one, value))
			return true;
	}
	return say_fault(k, false, "none of the enum");
}

static bool obeys_properties(struct check *k, const json_t *rule, const json_t *value)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)(uintptr_t)rule, name, member)
	{
		json_t *found = json_object_get(value, name);

		if (found && !is_valid_below(k, member, found, name))
			return false;
	}
	return true;
}

static bool obeys_additional(struct check *k, const json_t *rule, const json_t *value)
{
	const json_t *known = json_object_get(k->beside, "properties");
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)(uintptr_t)value, name, member)
	{
		if (!json_object_get(known, name) &&
		    !is_valid_below(k, rule, member, name))
			return false;
	}
	return true;
}

static bool obeys_required(struct check *k, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *name;

	json_array_foreach(rule, i, name)
	{
		if (json_is_object(value) &&
		    !json_object_get(value, json_string_value(name)))
			return say_fault(k, false, "has no \"%s\"",
					 json_string_value(name));
	}
	return true;
}

static bool obeys_items(struct check *k, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *item;
	char name[24];

	json_array_foreach(value, i, item)
	{
		snprintf(name, sizeof(name), "%zu", i);
		if (!is_valid_below(k, rule, item, name))
			return false;
	}
	return true;
}

static bool obeys_min_items(struct check *k, const json_t *rule, const json_t *value)
{
	return !json_is_array(value) ||
	       json_array_size(value) >= (size_t)json_integer_value(rule) ||
	       say_fault(k, false, "too few items");
}

static bool obeys_max_items(struct check *k, const json_t *rule, const json_t *value)
{
	return json_array_size(value) <= (size_t)json_integer_value(rule) ||
	       say_fault(k, false, "too many items");
}

static bool obeys_minimum(struct check *k, const json_t *rule, const json_t *value)
{
	return !json_is_number(value) ||
	       json_number_value(value) >= json_number_value(rule) ||
	       say_fault(k, false, "below %g", json_number_value(rule));
}

static bool obeys_maximum(struct check *k, const json_t *rule, const json_t *value)
{
	return !json_is_number(value) ||
	       json_number_value(value) <= json_number_value(rule) ||
	       say_fault(k, false, "above %g", json_number_value(rule));
}

/* Takes them as extended regular expressions: those of docs/schema mean the same. */
static bool obeys_pattern(struct check *k, const json_t *rule, const json_t *value)
{
	const char *pattern = json_string_value(rule);
	regex_t regex;
	bool matches;

	if (!json_is_string(value))
		return true;
	HI_ASSERT_MSG(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0,
		      "no pattern: %s", pattern);
	matches = regexec(&regex, json_string_value(value), 0, NULL, 0) == 0;
	regfree(&regex);
	return matches || say_fault(k, false, "does not match %s", pattern);
}

static bool obeys_all(struct check *k, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *part;

	json_array_foreach(rule, i, part)
	{
		if (!is_valid(k, part, value))
			return false;
	}
	return true;
}

/* Counts those that the value obeys; none: the fault is that of the most likely one. */
static unsigned count_obeyed(struct check *k, const json_t *alternatives,
			     const json_t *value)
{
	struct fault likely = {};
	unsigned n = 0;
	json_t *schema;
	size_t i;

	json_array_foreach(alternatives, i, schema)
	{
		if (is_valid(k, schema, value))
			n++;
		else if (k->fault.likely > likely.likely)
			likely = k->fault;
	}
	k->fault = likely;
	return n;
}

static bool obeys_any(struct check *k, const json_t *rule, const json_t *value)
{
	return count_obeyed(k, rule, value) > 0;
}

static bool obeys_one(struct check *k, const json_t *rule, const json_t *value)
{
	unsigned n = count_obeyed(k, rule, value);

	return n == 1 ||
	       (n > 1 && say_fault(k, false, "obeys %u alternatives, not one", n));
}

static bool obeys_reference(struct check *k, const json_t *rule, const json_t *value)
{
	static const char start[] = "#/definitions/";
	const char *to = json_string_value(rule);

	HI_ASSERT_MSG(strncmp(to, start, strlen(start)) == 0, "no reference: %s", to);
	return is_valid(k,
			doc_at(doc_at(k->whole, "definitions"), "%s", to + strlen(start)),
			value);
}

/* ---- the table of them ---- */

/* Says which schemas are in the rule of a keyword. */
enum holds { NOTHING, A_SCHEMA, A_LIST, MEMBERS };

static const struct keyword {
	const char *name;
	bool (*obeys)(struct check *k, const json_t *rule, const json_t *value);
	enum holds holds;
} keywords[] = {
	{"$ref", obeys_reference, NOTHING},
	{"type", obeys_type, NOTHING},
	{"const", obeys_const, NOTHING},
	{"enum", obeys_enum, NOTHING},
	{"required", obeys_required, NOTHING},
	{"properties", obeys_properties, MEMBERS},
	{"additionalProperties", obeys_additional, A_SCHEMA},
	{"items", obeys_items, A_SCHEMA},
	{"minItems", obeys_min_items, NOTHING},
	{"maxItems", obeys_max_items, NOTHING},
	{"minimum", obeys_minimum, NOTHING},
	{"maximum", obeys_maximum, NOTHING},
	{"pattern", obeys_pattern, NOTHING},
	{"allOf", obeys_all, A_LIST},
	{"anyOf", obeys_any, A_LIST},
	{"oneOf", obeys_one, A_LIST},
	{"definitions", NULL, MEMBERS},
	{"$schema", NULL, NOTHING},
	{"title", NULL, NOTHING},
	{"description", NULL, NOTHING},
};

static const struct keyword *find_keyword(const char *name)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
		if (strcmp(keywords[i].name, name) == 0)
			return &keywords[i];
	}
	hi_test_fail(__FILE__, __LINE__, "a schema uses \"%s\"", name);
}

/* Heeds nothing beside "$ref", as draft 7 says. */
static bool is_valid(struct check *k, const json_t *schema, const json_t *value)
{
	const json_t *reference = json_object_get(schema, "$ref");
	const char *name;
	json_t *rule;

	if (reference)
		return obeys_reference(k, reference, value);
	json_object_foreach((json_t *)(uintptr_t)schema, name, rule)
	{
		const struct keyword *word = find_keyword(name);

		k->beside = schema;
		if (word->obeys && !word->obeys(k, rule, value))
			return false;
	}
	return !json_is_false(schema) || say_fault(k, false, "may not be there");
}

/* ---- whether this understands a schema ---- */

static void check_words(const json_t *schema);

static void check_words_below(const json_t *rule, enum holds holds)
{
	const char *name;
	json_t *schema;
	size_t i;

	if (holds == A_SCHEMA)
		check_words(rule);
	if (holds == A_LIST)
		json_array_foreach(rule, i, schema) check_words(schema);
	if (holds == MEMBERS)
		json_object_foreach((json_t *)(uintptr_t)rule, name, schema)
			check_words(schema);
}

static void check_words(const json_t *schema)
{
	bool is_reference = json_object_get(schema, "$ref") != NULL;
	const char *name;
	json_t *rule;

	HI_ASSERT(json_is_object(schema) || json_is_boolean(schema));
	json_object_foreach((json_t *)(uintptr_t)schema, name, rule)
	{
		const struct keyword *word = find_keyword(name);

		HI_ASSERT_MSG(!is_reference || !word->obeys ||
				      word->obeys == obeys_reference,
			      "\"%s\" beside \"$ref\" does not count", name);
		check_words_below(rule, word->holds);
	}
}

/* ---- checks ---- */

json_t *hi_schema_read(const char *name)
{
	char path[512];
	json_t *schema;

	snprintf(path, sizeof(path), HI_SOURCE_DIR "/docs/schema/%s", name);
	schema = doc_read(path);
	check_words(schema);
	return schema;
}

const char *hi_schema_fault(const json_t *schema, const json_t *doc)
{
	static struct check k;

	k = (struct check){.whole = schema};
	return is_valid(&k, schema, doc) ? NULL : k.fault.text;
}

void hi_check_schema_of(const json_t *doc, const char *name)
{
	const char *fault = hi_schema_fault(hi_schema_read(name), doc);

	HI_ASSERT_MSG(!fault, "not as %s says: %s", name, fault);
}

void hi_check_schema(const struct hi_command *c, const char *name)
{
	hi_check_schema_of(doc_parse(c->out), name);
}

json_t *doc_checked(const struct hi_command *c, const char *name)
{
	json_t *doc = doc_of(c);

	hi_check_schema_of(doc, name);
	return doc;
}
