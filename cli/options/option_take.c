/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/option_take.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/near_names.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/command/complaints.h"
#include "report/heap_profile/hp_reader.h"

int hi_option_wrong(const char *fmt, ...)
{
	char text[512], safe[1100];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(hi_complaints(), "heapinspect: %s\n", safe);
	return 2;
}

int hi_option_take_once(const char *name, const char *value, const char **ret)
{
	if (*ret)
		return hi_option_wrong("--%s: given twice (%s, %s)", name, *ret, value);
	*ret = value;
	return 0;
}

int hi_option_take_number(const char *option, const char *text, uint64_t low,
			  uint64_t high, uint64_t *ret)
{
	if (hi_parse_number(text, low, high, ret))
		return 0;
	return hi_option_wrong("--%s %s: not a number from %llu to %llu", option, text,
			       (unsigned long long)low, (unsigned long long)high);
}

int hi_option_take_decimal(const struct hi_option_row *row, const char *text, double *ret)
{
	if (hi_hp_parse_time(text, strlen(text), ret) && *ret <= (double)row->high)
		return 0;
	return hi_option_wrong("--%s %s: not a number from 0 to %.15g", row->name, text,
			       (double)row->high);
}

static const char *nth_word(void *arg, uint32_t i)
{
	return ((const struct hi_option_row *)arg)->words[i];
}

static int refuse_choice(const struct hi_option_row *row, const char *text)
{
	const char *near[HI_NAMES_NEAREST];
	char words[300];
	size_t n = 0;
	uint32_t count = 0;

	if (!row->words[1])
		return hi_option_wrong("--%s %s: not %s, which is the only one",
				       row->name, text, row->words[0]);
	for (; row->words[count] && n < sizeof(words); count++)
		n += (size_t)snprintf(words + n, sizeof(words) - n, "%s%s",
				      count ? ", " : "", row->words[count]);
	hi_names_nearest(text, nth_word, (void *)(uintptr_t)row, count, near);
	return hi_option_wrong("--%s %s: not one of %s%s%s%s", row->name, text, words,
			       near[0] ? "; did you mean " : "", near[0] ? near[0] : "",
			       near[0] ? "?" : "");
}

int hi_option_take_choice(const struct hi_option_row *row, const char *text,
			  size_t *index_ret)
{
	for (size_t i = 0; row->words[i]; i++)
		if (strcmp(text, row->words[i]) == 0) {
			*index_ret = i;
			return 0;
		}
	return refuse_choice(row, text);
}

size_t hi_option_format(const struct hi_options *o, size_t otherwise)
{
	const struct hi_option_row *row = hi_option_find(o->command->id, "format");
	size_t index = otherwise;

	if (o->output.format)
		(void)hi_option_take_choice(row, o->output.format, &index);
	return index;
}

/* An integer or an enum of the size that the row gives; the machine is little-endian. */
static void put_member(const struct hi_option_row *row, uint64_t value,
		       struct hi_options *o)
{
	memcpy(hi_option_place(row, o), &value, row->size);
}

static int take_number_row(const struct hi_option_row *row, const char *text,
			   struct hi_options *o)
{
	uint64_t n;

	if (hi_option_take_number(row->name, text, row->low, row->high, &n) != 0)
		return 2;
	if (hi_option_place(row, o) == (void *)&o->target.pid && o->target.pid)
		return hi_option_wrong(
			"--pid: given twice (%d, %s); one target at a time",
			(int)o->target.pid, text);
	put_member(row, n, o);
	return 0;
}

static int take_choice_row(const struct hi_option_row *row, const char *text,
			   struct hi_options *o)
{
	size_t i = 0;

	if (hi_option_take_choice(row, text, &i) != 0)
		return 2;
	put_member(row, row->low + i, o);
	return 0;
}

static int take_size_row(const struct hi_option_row *row, const char *text,
			 struct hi_options *o)
{
	uint64_t n;

	if (!hi_parse_size(text, &n) || n < row->low)
		return hi_option_wrong("--%s %s: not a size like %s", row->name, text,
				       row->like);
	put_member(row, n, o);
	return 0;
}

static int take_time_row(const struct hi_option_row *row, const char *text,
			 struct hi_options *o)
{
	uint64_t ns;

	if (!hi_parse_duration(text, &ns) || (row->high && ns > row->high))
		return hi_option_wrong("--%s %s: not a time like %s", row->name, text,
				       row->like);
	put_member(row, ns, o);
	return 0;
}

static int take_list_row(const struct hi_option_row *row, const char *text,
			 struct hi_options *o)
{
	const char ***items = hi_option_place(row, o), **more;
	size_t *n = (size_t *)(void *)((char *)o + row->has);

	if (!*text)
		return hi_option_wrong("--%s: %s is missing", row->name, row->like);
	more = hi_realloc_array(*items, *n + 1, sizeof(**items));
	if (!more)
		return hi_option_wrong("--%s: out of memory", row->name);
	*items = more;
	more[(*n)++] = text;
	return 0;
}

static int take_word_row(const struct hi_option_row *row, const char *text,
			 struct hi_options *o)
{
	size_t unused;

	if (hi_option_take_choice(row, text, &unused) != 0)
		return 2;
	return hi_option_take_once(row->name, text, hi_option_place(row, o));
}

static int take_by_kind(const struct hi_option_row *row, char *value,
			struct hi_options *o)
{
	switch (row->kind) {
	case HI_OPTION_FLAG:
		*(bool *)hi_option_place(row, o) = true;
		return 0;
	case HI_OPTION_TEXT:
		return hi_option_take_once(row->name, value, hi_option_place(row, o));
	case HI_OPTION_LAST_TEXT:
		*(const char **)hi_option_place(row, o) = value;
		return 0;
	case HI_OPTION_WORD:
		return take_word_row(row, value, o);
	case HI_OPTION_CHOICE:
		return take_choice_row(row, value, o);
	case HI_OPTION_NUMBER:
		return take_number_row(row, value, o);
	case HI_OPTION_DECIMAL:
		return hi_option_take_decimal(row, value, hi_option_place(row, o));
	case HI_OPTION_SIZE:
		return take_size_row(row, value, o);
	case HI_OPTION_TIME:
		return take_time_row(row, value, o);
	case HI_OPTION_LIST:
		return take_list_row(row, value, o);
	case HI_OPTION_FUNCTION:
	default:
		return row->take(row, value, o);
	}
}

int hi_option_take(const struct hi_option_row *row, char *value, struct hi_options *o,
		   struct hi_given *given)
{
	size_t i = (size_t)(row - hi_option_table);

	if (take_by_kind(row, value, o) != 0)
		return 2;
	if (row->has && row->kind != HI_OPTION_LIST)
		*((bool *)o + row->has) = true;
	given->rows[i] = true;
	given->values[i] = value;
	return 0;
}
