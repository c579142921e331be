/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions: as symbols, as in the source, and as people mistype them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/near_names.h"
#include "base/text.h"
#include "decode/modules/demangle.h"
#include "probes/target_code.h"

enum { PLAIN_MAX = 1024 };

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* GCC's clones of a whole function; .part and .cold are pieces of one. */
static const char *const clones[] = {".isra.", ".constprop.", ".llvm.", ".lto_priv."};

static const char *clone_suffix(const char *symbol)
{
	const char *dot = strchr(symbol, '.');

	if (!dot || strstr(dot, ".part.") || strstr(dot, ".cold"))
		return NULL;
	for (size_t i = 0; i < sizeof(clones) / sizeof(clones[0]); i++)
		if (starts_with(dot, clones[i]))
			return dot;
	return NULL;
}

bool hi_name_is_clone(const char *symbol)
{
	return strstr(symbol, ".isra.") || strstr(symbol, ".constprop.");
}

/* Returns the length of the name before the parameters, which begin with the '(' that the
 * last ')' closes; the whole length if there are none. */
static size_t without_parameters(const char *plain, size_t n)
{
	size_t end = n;
	int depth = 0;

	while (end > 0 && plain[end - 1] != ')')
		end--;
	if (end == 0)
		return n;
	for (size_t i = end; i-- > 0;) {
		depth += plain[i] == ')';
		depth -= plain[i] == '(';
		if (depth == 0)
			return i;
	}
	return n;
}

/* Behind the return type, which demangled templates have. */
static size_t name_start(const char *plain, size_t n)
{
	size_t start = 0;
	int depth = 0;

	if (strstr(plain, "operator"))
		return 0;
	for (size_t i = 0; i < n; i++) {
		depth += plain[i] == '<' || plain[i] == '(';
		depth -= plain[i] == '>' || plain[i] == ')';
		if (plain[i] == ' ' && depth == 0)
			start = i + 1;
	}
	return start;
}

/* In front of the template arguments at its end. */
static size_t without_arguments(const char *plain, size_t n)
{
	int depth = 0;

	if (n == 0 || plain[n - 1] != '>')
		return n;
	for (size_t i = n; i-- > 0;) {
		depth += plain[i] == '>';
		depth -= plain[i] == '<';
		if (depth == 0)
			return i;
	}
	return n;
}

static bool is_exact_name(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(text, name, n) == 0;
}

bool hi_plain_name_matches(const char *plain, const char *name)
{
	size_t n = strlen(plain), start;

	if (strcmp(plain, name) == 0)
		return true;
	n = without_parameters(plain, n);
	start = name_start(plain, n);
	return is_exact_name(plain + start, n - start, name) ||
	       strcmp(plain + start, name) == 0 ||
	       is_exact_name(plain + start, without_arguments(plain + start, n - start),
			     name);
}

/* The last identifier of a name is in its mangled form as it is, but in abbreviations of
 * std and in operators. */
static bool may_be_mangled(const char *symbol, const char *name)
{
	size_t end = strcspn(name, "(<"), start;
	char last[128];

	if (starts_with(name, "std::") || strstr(name, "operator"))
		return true;
	while (end > 0 && !isalnum((unsigned char)name[end - 1]) && name[end - 1] != '_')
		end--;
	start = end;
	while (start > 0 &&
	       (isalnum((unsigned char)name[start - 1]) || name[start - 1] == '_'))
		start--;
	if (end - start >= sizeof(last))
		return true;
	memcpy(last, name + start, end - start);
	last[end - start] = '\0';
	return strstr(symbol, last) != NULL;
}

bool hi_name_matches(const char *symbol, const char *name)
{
	const char *suffix;
	char plain[PLAIN_MAX];

	if (strcmp(symbol, name) == 0)
		return true;
	suffix = clone_suffix(symbol);
	if (suffix && is_exact_name(symbol, (size_t)(suffix - symbol), name))
		return true;
	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') ||
	    !may_be_mangled(symbol, name) || !hi_demangle(symbol, plain, sizeof(plain)))
		return false;
	if (strstr(plain, "[clone .cold") || strstr(plain, "[clone .part"))
		return false;
	return hi_plain_name_matches(plain, name);
}

bool hi_module_is_named(const struct hi_module *module, const char *name)
{
	size_t n = strlen(name);

	if (strcmp(module->path, name) == 0)
		return true;
	return strncmp(module->name, name, n) == 0 &&
	       (module->name[n] == '\0' || module->name[n] == '.' ||
		module->name[n] == '-');
}

/* ---- near names ---- */

/* UINT32_MAX: many. */
static unsigned distance_of_function(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	if (n > HI_EDITED_MAX || m > HI_EDITED_MAX || (n > m ? n - m : m - n) > 3)
		return UINT32_MAX;
	return hi_edit_distance(a, n, b, m);
}

/* A name that contains the wanted one is near as well. */
static unsigned rank_near_name(const char *wanted, const char *name)
{
	unsigned d = distance_of_function(wanted, name);
	size_t n = strlen(wanted);

	if (d <= 1 + n / 5 && d <= 3)
		return d;
	return n >= 4 && strlen(name) < HI_EDITED_MAX && strstr(name, wanted)
		       ? 4
		       : UINT32_MAX;
}

void hi_near_names_offer(struct hi_near_names *near, const char *name)
{
	unsigned d = rank_near_name(near->wanted, name), at;

	if (d == UINT32_MAX)
		return;
	for (unsigned i = 0; i < near->count; i++)
		if (strcmp(near->best[i].text, name) == 0)
			return;
	for (at = 0; at < near->count && near->best[at].distance <= d;)
		at++;
	if (at == 3)
		return;
	for (unsigned i = near->count < 3 ? near->count : 2; i > at; i--)
		near->best[i] = near->best[i - 1];
	hi_text_escape(near->best[at].text, sizeof(near->best[at].text), name,
		       strlen(name));
	near->best[at].distance = d;
	near->count += near->count < 3;
}

void hi_near_names_text(const struct hi_near_names *near, char *out, size_t out_size)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < near->count && used < out_size; i++)
		used += (size_t)snprintf(out + used, out_size - used, "%s%.60s%s",
					 i ? ", " : "; there is ", near->best[i].text,
					 "");
}
