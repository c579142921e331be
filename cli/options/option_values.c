/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/option_values.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "census/biography/bands.h"
#include "cli/options/option_take.h"
#include "report/exports/prometheus_labels.h"
#include "session/era_choice.h"

/* The words are those of enum hi_by, then those of enum hi_born_by. */
int hi_option_take_by(const struct hi_option_row *row, char *value, struct hi_options *o)
{
	size_t i;

	if (hi_option_take_choice(row, value, &i) != 0)
		return 2;
	o->selection.has_by = true;
	if (i < HI_BY_COUNT) {
		o->selection.by = (enum hi_by)i;
		return 0;
	}
	o->selection.has_born_by = true;
	o->selection.born_by = (enum hi_born_by)(i - HI_BY_COUNT);
	return 0;
}

/* The words are those of the row: the third one is "thread". */
int hi_option_take_site_by(const struct hi_option_row *row, char *value,
			   struct hi_options *o)
{
	size_t i;

	if (hi_option_take_choice(row, value, &i) != 0)
		return 2;
	o->selection.has_born_by = i == 1;
	o->selection.born_by = HI_BORN_BY_SITE;
	o->selection.by_thread = i == 2;
	return 0;
}

/* Sites are groups as retainers are. */
int hi_option_take_compare_by(const struct hi_option_row *row, char *value,
			      struct hi_options *o)
{
	size_t i;

	if (hi_option_take_choice(row, value, &i) != 0)
		return 2;
	o->comparison.has_by = true;
	o->comparison.by_site = i > HI_COMPARE_BY_GROUP;
	o->comparison.by =
		o->comparison.by_site ? HI_COMPARE_BY_GROUP : (enum hi_compare_by)i;
	return 0;
}

int hi_option_take_bands(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	struct hi_error err = {};

	if (hi_bio_bands_parse(value, hi_option_place(row, o), &err) == HI_OK)
		return 0;
	return hi_option_wrong("--bio: %s", err.text);
}

int hi_option_take_eras(const struct hi_option_row *row, char *value,
			struct hi_options *o)
{
	struct hi_error err = {};
	struct hi_era_choice choice;

	if (hi_era_choice_parse(value, &choice, &err) == HI_OK)
		return hi_option_take_once(row->name, value, hi_option_place(row, o));
	return hi_option_wrong("%s", err.text);
}

int hi_option_take_death_use(const struct hi_option_row *row, char *value,
			     struct hi_options *o)
{
	size_t i;

	if (hi_option_take_choice(row, value, &i) != 0)
		return 2;
	o->biography.death_use = i ? HI_LIVES_ENDS_MAYBE : HI_LIVES_ENDS_NO;
	return 0;
}

/* "10s..1min"; an end that is missing is open. */
int hi_option_take_range(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	struct hi_birth_range range = {.is_set = true, .to_ns = UINT64_MAX},
			      *to = hi_option_place(row, o);
	const char *dots = strstr(value, "..");
	char from[32] = "";

	if (dots && (size_t)(dots - value) < sizeof(from))
		snprintf(from, sizeof(from), "%.*s", (int)(dots - value), value);
	if (dots && (*from || (dots == value && dots[2])) &&
	    (!*from || hi_parse_duration(from, &range.from_ns)) &&
	    (!dots[2] || hi_parse_duration(dots + 2, &range.to_ns)) &&
	    range.from_ns < range.to_ns) {
		*to = range;
		return 0;
	}
	return hi_option_wrong("--%s %s: not a range of time like 10s.., ..1min or "
			       "10s..1min",
			       row->name, value);
}

int hi_option_take_share(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	double percent;

	if (hi_option_take_decimal(row, value, &percent) != 0)
		return 2;
	*(double *)hi_option_place(row, o) = percent / 100;
	return 0;
}

int hi_option_take_y_max(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	uint64_t n;

	if (!hi_parse_size(value, &n) || n == 0)
		return hi_option_wrong("--%s %s: not a size like 4096 or 64MiB",
				       row->name, value);
	o->drawing.bands.y_max = (double)n;
	return 0;
}

int hi_option_take_hints(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	if (o->decoding.n_hints == HI_OPTIONS_HINTS)
		return hi_option_wrong("--%s %s: at most %d files", row->name, value,
				       HI_OPTIONS_HINTS);
	o->decoding.hints[o->decoding.n_hints++] = value;
	return 0;
}

int hi_option_take_label(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	const char *wrong = hi_prometheus_check_label(value);
	size_t n = strcspn(value, "=") + 1;

	for (size_t i = 0; i < o->output.n_labels && !wrong; i++)
		if (strncmp(value, o->output.labels[i], n) == 0)
			wrong = "this label is given twice";
	if (!wrong && o->output.n_labels == HI_OPTIONS_LABELS)
		wrong = "too many labels; at most 16";
	if (wrong)
		return hi_option_wrong("--%s %s: %s", row->name, value, wrong);
	o->output.labels[o->output.n_labels++] = value;
	return 0;
}

static int take_every_hit(struct hi_safepoint_options *s, const char *text,
			  const char *number)
{
	if (s->every_text)
		return hi_option_wrong("--at: given twice (%s, %s)", s->every_text, text);
	if (!hi_parse_number(number, 1, 1000000000000, &s->every))
		return hi_option_wrong("--at %s: not a number from 1 to 1000000000000",
				       text);
	s->every_text = text;
	return 0;
}

static int take_place(struct hi_safepoint_options *s, const char *text)
{
	struct hi_safepoint at = {};
	struct hi_error why;

	if (s->at.text)
		return hi_option_wrong("--at: given twice (%s, %s); only every:N goes "
				       "with another one",
				       s->at.text, text);
	if (hi_safepoint_parse(text, &at, &why) != HI_OK)
		return hi_option_wrong("--at %s", why.text);
	at.text = text;
	s->at = at;
	return 0;
}

int hi_option_take_at(const struct hi_option_row *row, char *value, struct hi_options *o)
{
	static const char every[] = "every:";
	struct hi_safepoint_options *s = &o->safepoint;
	size_t n = sizeof(every) - 1;
	int bad = strncmp(value, every, n) == 0 ? take_every_hit(s, value, value + n)
						: take_place(s, value);

	(void)row;
	s->at.every = s->every_text ? s->every : 1;
	return bad;
}
