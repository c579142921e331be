/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/era_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

enum { NUMBER = 16, LISTED = 4 };

/* ---- the option ---- */

static bool begins_with_digit(const char *text, size_t length)
{
	return length && text[0] >= '0' && text[0] <= '9';
}

static enum hi_status parse_era_end(const char *text, const char *name, size_t length,
				    struct hi_era_end *ret, struct hi_error *err)
{
	char number[NUMBER] = "";
	uint64_t n = 0;

	*ret = (struct hi_era_end){.name = name, .length = length};
	if (!length)
		return hi_fail(err, HI_USAGE, 0,
			       "--era %.100s: not FROM or FROM-TO, which are numbers or "
			       "names of eras",
			       text);
	if (!begins_with_digit(name, length))
		return HI_OK;
	memcpy(number, name, length < NUMBER ? length : 0);
	if (!hi_parse_number(number, 0, UINT32_MAX - 1, &n))
		return hi_fail(err, HI_USAGE, 0, "--era %.100s: %.*s is not a number",
			       text, (int)(length < 60 ? length : 60), name);
	if (!n)
		return hi_fail(err, HI_USAGE, 0,
			       "--era %.100s: what is born in era 0 does not count; the "
			       "first era is 1",
			       text);
	ret->number = (uint32_t)n;
	return HI_OK;
}

/* The only '-', or NULL. */
static const char *find_dash(const char *text)
{
	const char *dash = strchr(text, '-');

	return dash && !strchr(dash + 1, '-') ? dash : NULL;
}

enum hi_status hi_era_choice_parse(const char *text, struct hi_era_choice *ret,
				   struct hi_error *err)
{
	const char *dash = find_dash(text), *to = dash ? dash + 1 : text;
	enum hi_status status;

	*ret = (struct hi_era_choice){.text = text};
	status = parse_era_end(text, text, dash ? (size_t)(dash - text) : strlen(text),
			       &ret->from, err);
	if (status == HI_OK)
		status = parse_era_end(text, to, strlen(to), &ret->to, err);
	if (status == HI_OK && ret->to.number && ret->from.number > ret->to.number)
		return hi_fail(err, HI_USAGE, 0,
			       "--era %.60s: era %u is behind era %u: eras go forward "
			       "only",
			       text, ret->from.number, ret->to.number);
	return status;
}

/* ---- eras ---- */

static bool is_end_named(const struct hi_era_end *end, const char *name)
{
	return !end->number && strlen(name) == end->length &&
	       memcmp(name, end->name, end->length) == 0;
}

/* A number begins once: with the first era that has it or a higher one. */
static bool is_from(const struct hi_era_choice *c, uint32_t era, const char *name)
{
	if (c->to.number && era > c->to.number)
		return false;
	return c->from.number ? !c->has_from && era >= c->from.number
			      : is_end_named(&c->from, name);
}

static bool is_past_end(const struct hi_era_choice *c, uint32_t era)
{
	return c->to.number ? era > c->to.number : c->ends;
}

bool hi_era_choice_begin(struct hi_era_choice *c, uint32_t era, const char *name)
{
	bool is_to;

	if (!c->text || !era)
		return !c->text;
	if (!c->has_from && !c->from.number && strcmp(name, c->text) == 0)
		c->from = c->to =
			(struct hi_era_end){.name = c->text, .length = strlen(c->text)};
	is_to = is_end_named(&c->to, name);
	if (is_past_end(c, era))
		c->is_in = c->ends = false;
	if (is_from(c, era, name))
		c->is_in = c->has_from = true;
	c->ends = c->is_in && is_to;
	c->has_to |= c->ends;
	/* Where TO is a number, the name of FROM came behind it. */
	c->is_to_before |=
		!c->has_from && (c->to.number ? is_end_named(&c->from, name) : is_to);
	return c->is_in;
}

/* The first one, which need not have a name, and the last ones. */
static void list_eras(const struct hi_bio_era_mark *eras, uint32_t n, char *out,
		      size_t size)
{
	int used = snprintf(out, size, "1");

	for (uint32_t i = n > LISTED ? n - LISTED : 0; i < n; i++)
		used += snprintf(out + used, size - (size_t)used, ", %.20s",
				 eras[i].name);
}

enum hi_status hi_era_choice_check(const struct hi_era_choice *c,
				   const struct hi_bio_era_mark *eras, uint32_t n,
				   struct hi_error *err)
{
	char list[8 + LISTED * 24];
	const int from = (int)(c->from.length < 60 ? c->from.length : 60);
	const int to = (int)(c->to.length < 60 ? c->to.length : 60);

	if (!c->text || (c->has_from && (c->has_to || c->to.number || !c->is_to_before)))
		return HI_OK;
	if (c->is_to_before && (c->has_from || c->to.number))
		return hi_fail(
			err, HI_USAGE, 0,
			"--era %.100s: era %.*s has begun behind era %.*s: eras go "
			"forward only",
			c->text, from, c->from.name, to, c->to.name);
	list_eras(eras, n, list, sizeof(list));
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "--era %.60s: no era %.*s has begun; there were %s", c->text, from,
		       c->from.name, list);
}

bool hi_era_choice_is_open(const struct hi_era_choice *c)
{
	return c->text && c->has_from && !c->has_to && !c->to.number;
}

/* ---- numbers ---- */

/* Era 0 is no step back. */
static uint32_t highest_era(const struct hi_bio *bio)
{
	uint32_t n, highest = 1;
	const struct hi_bio_era_mark *eras = hi_bio_eras(bio, &n);

	for (uint32_t i = 0; i < n; i++)
		if (eras[i].era > highest)
			highest = eras[i].era;
	return highest;
}

bool hi_era_number(const struct hi_bio *bio, const char *name, uint32_t *ret)
{
	uint64_t number;

	if (!begins_with_digit(name, strlen(name))) {
		*ret = highest_era(bio) + 1;
		return true;
	}
	if (!hi_parse_number(name, 0, UINT32_MAX - 1, &number))
		return false;
	*ret = (uint32_t)number;
	return true;
}
