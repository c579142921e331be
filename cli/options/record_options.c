/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of --sample, --scan, --calls and --frees. */
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cli/options/option_take.h"
#include "cli/options/option_values.h"
#include "probes/bpf/sampling.h"
#include "cli/command/complaints.h"

enum { SCAN_MS_MAX = 10000 };

static bool takes_sample_word(const struct hi_option_row *row, const char *word)
{
	for (size_t i = 0; row->words[i]; i++)
		if (strcmp(row->words[i], word) == 0)
			return true;
	return false;
}

/* Only rows with the words none and windows take them. */
int hi_option_take_sample(const struct hi_option_row *row, char *value,
			  struct hi_options *o)
{
	struct hi_record_options *r = &o->record;
	bool has_none = takes_sample_word(row, "none"),
	     has_windows = takes_sample_word(row, "windows");

	r->has_sample = true;
	r->sample_bytes = 0;
	r->is_none = has_none && strcmp(value, "none") == 0;
	r->has_windows = has_windows && strcmp(value, "windows") == 0;
	if (r->is_none || r->has_windows || strcmp(value, "all") == 0)
		return 0;
	if (hi_parse_size(value, &r->sample_bytes) && r->sample_bytes &&
	    r->sample_bytes <= HI_SAMPLING_MEAN_MAX)
		return 0;
	return hi_option_wrong(
		"--sample %s: not all, %s%sand not a size up to 1GiB like 512KiB", value,
		has_none ? "not none, " : "", has_windows ? "not windows, " : "");
}

/* "10" or "10ms". */
int hi_option_take_scan(const struct hi_option_row *row, char *value,
			struct hi_options *o)
{
	size_t n = strspn(value, "0123456789");
	char digits[8];
	uint64_t ms = 0;

	(void)row;
	o->record.has_scan = true;
	snprintf(digits, sizeof(digits), "%.*s", (int)(n < sizeof(digits) ? n : 0),
		 value);
	if ((value[n] && strcmp(value + n, "ms") != 0) ||
	    !hi_parse_number(digits, 0, SCAN_MS_MAX, &ms))
		return hi_option_wrong("--scan %s: not a number of milliseconds from 0 "
				       "(off) to %d",
				       value, SCAN_MS_MAX);
	o->record.scan_ns = ms * 1000000;
	return 0;
}

/* Takes --calls and --frees; prints a caret below the place of an error. */
int hi_option_take_calls(const struct hi_option_row *row, char *value,
			 struct hi_options *o)
{
	bool is_calls = strcmp(row->name, "calls") == 0;
	struct hi_record_options *r = &o->record;
	struct hi_error err = {};
	size_t column = 0;

	if (r->n_calls == HI_CALL_SPECS_MAX)
		return hi_option_wrong("--%s: at most %d functions", row->name,
				       HI_CALL_SPECS_MAX);
	if ((is_calls ? hi_call_spec_parse : hi_free_spec_parse)(
		    value, &r->calls[r->n_calls], &column, &err) == HI_OK) {
		r->n_calls++;
		return 0;
	}
	hi_option_wrong("--%s: %s", row->name, err.text);
	hi_complaints_point_at(value, column);
	return 2;
}
