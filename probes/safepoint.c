/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the argument of --at. */
#include "probes/safepoint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum hi_status fail_safepoint(struct hi_error *err, const char *text,
				     const char *at, const char *why)
{
	return hi_fail(err, HI_USAGE, 0, "%.100s: %s at column %zu", text, why,
		       (size_t)(at - text) + 1);
}

/* text[0 .. n) into out; false if it is empty or does not fit. */
static bool copy_text_part(char *out, size_t out_size, const char *text, size_t n)
{
	if (n == 0 || n >= out_size)
		return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}

static enum hi_status parse_usdt(const char *text, size_t n, struct hi_safepoint *ret,
				 struct hi_error *err)
{
	const char *provider = text + 5, *end = text + n;
	const char *colon = memchr(provider, ':', (size_t)(end - provider));

	if (!colon || !copy_text_part(ret->name, sizeof(ret->name), provider,
				      (size_t)(colon - provider)))
		return fail_safepoint(err, text, provider,
				      "usdt:PROVIDER:NAME is expected");
	if (!copy_text_part(ret->detail, sizeof(ret->detail), colon + 1,
			    (size_t)(end - colon - 1)) ||
	    strchr(ret->detail, ':'))
		return fail_safepoint(err, text, colon + 1,
				      "the name of a USDT probe is expected");
	ret->kind = HI_SAFEPOINT_USDT;
	return HI_OK;
}

/* The last ':' of text[0 .. n) that is not one of "::"; NULL: none. */
static const char *single_colon(const char *text, size_t n, bool last)
{
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (text[i] != ':')
			continue;
		if (i + 1 < n && text[i + 1] == ':') {
			i++;
			continue;
		}
		found = text + i;
		if (!last)
			break;
	}
	return found;
}

/* FILE:LINE; false: it does not look like one. */
static bool parse_safepoint_line(const char *text, size_t n, struct hi_safepoint *ret)
{
	const char *colon = single_colon(text, n, true);
	uint64_t line = 0;

	if (!colon || colon + 1 == text + n || colon == text)
		return false;
	for (const char *p = colon + 1; p < text + n; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		line = line * 10 + (uint64_t)(*p - '0');
		if (line > INT32_MAX)
			return false;
	}
	if (line == 0 ||
	    !copy_text_part(ret->name, sizeof(ret->name), text, (size_t)(colon - text)))
		return false;
	ret->line = (unsigned)line;
	ret->kind = HI_SAFEPOINT_LINE;
	return true;
}

static enum hi_status parse_function(const char *text, size_t n, struct hi_safepoint *ret,
				     struct hi_error *err)
{
	static const char at_return[] = "%return"; /* as perf probe has it */
	const size_t suffix = sizeof(at_return) - 1;
	const char *colon = single_colon(text, n, false), *name = text;

	if (n > suffix && memcmp(text + n - suffix, at_return, suffix) == 0) {
		ret->at_return = true;
		n -= suffix;
	}
	if (colon) {
		if (!copy_text_part(ret->detail, sizeof(ret->detail), text,
				    (size_t)(colon - text)))
			return fail_safepoint(err, text, text,
					      "MODULE:FUNCTION is expected");
		name = colon + 1;
	}
	if (!copy_text_part(ret->name, sizeof(ret->name), name,
			    (size_t)(text + n - name)))
		return fail_safepoint(err, text, name,
				      n > sizeof(ret->name) ? "too long a name"
							    : "a function is expected");
	for (const char *p = ret->name; *p; p++)
		if (iscntrl((unsigned char)*p))
			return fail_safepoint(err, text, name,
					      "not the name of a function");
	ret->kind = HI_SAFEPOINT_FUNCTION;
	return HI_OK;
}

/* Returns the length of the text before " if ", and the condition after it. */
static size_t split_condition(const char *text, const char **condition_ret)
{
	const char *found = strstr(text, " if ");
	size_t n = strlen(text);

	if (!found && n > 3 && strcmp(text + n - 3, " if") == 0)
		found = text + n - 3;
	if (found)
		n = (size_t)(found - text);

	*condition_ret = NULL;
	if (found) {
		const char *p = found + 3;

		while (*p == ' ')
			p++;
		*condition_ret = p;
	}
	while (n > 0 && text[n - 1] == ' ')
		n--;
	return n;
}

static bool is_safepoint_word(const char *text, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(text, word, n) == 0;
}

static enum hi_status parse_place(const char *text, size_t n, struct hi_safepoint *ret,
				  struct hi_error *err)
{
	if (n == 0)
		return hi_fail(err, HI_USAGE, 0,
			       "a safepoint is expected: gc, FUNCTION, FUNCTION%%return, "
			       "FILE:LINE, usdt:PROVIDER:NAME or now");
	if (is_safepoint_word(text, n, "now"))
		ret->kind = HI_SAFEPOINT_NOW;
	else if (is_safepoint_word(text, n, "gc"))
		ret->kind = HI_SAFEPOINT_GC;
	else if (n >= 5 && memcmp(text, "usdt:", 5) == 0)
		return parse_usdt(text, n, ret, err);
	else if (!parse_safepoint_line(text, n, ret))
		return parse_function(text, n, ret, err);
	return HI_OK;
}

enum hi_status hi_safepoint_parse(const char *text, struct hi_safepoint *ret,
				  struct hi_error *err)
{
	struct hi_safepoint made = {.text = text, .every = 1};
	const char *condition;
	enum hi_status status;
	size_t n;

	while (*text == ' ')
		text++;
	n = split_condition(text, &condition);
	status = parse_place(text, n, &made, err);
	if (status != HI_OK)
		return status;
	if (condition && *condition == '\0')
		return fail_safepoint(err, text, condition, "a condition is expected");
	if (condition && made.kind == HI_SAFEPOINT_NOW)
		return fail_safepoint(err, text, condition, "\"now\" takes no condition");
	if (condition && made.at_return)
		return fail_safepoint(
			err, text, condition,
			"a return takes no condition: the arguments are gone");
	made.condition = condition;
	*ret = made;
	return HI_OK;
}

void hi_probe_sites_free(struct hi_probe_sites *sites)
{
	free(sites->items);
	*sites = (struct hi_probe_sites){};
}

void hi_safepoints_free(struct hi_known_safepoint *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		hi_probe_sites_free(&list[i].sites);
	free(list);
}
