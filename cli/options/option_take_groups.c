/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of options that only some commands take. */
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cli/command/complaints.h"
#include "cli/command/command.h"
#include "cli/options/option_table.h"
#include "cli/options/profile_options.h"
#include "cli/options/safepoint_options.h"
#include "cli/options/series_options.h"
#include "probes/bpf/sampling.h"
#include "report/reports/alloc/alloc_order.h"

enum { SCAN_MS_MAX = 10000 };

static int take_sort(struct hi_options *o, const char *text)
{
	static const char *const words[] = {"size", "deviation", "name", "slope",
					    "number"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i]) == 0) {
			o->drawing.bands.sort = (enum hi_bands_sort)i;
			return 0;
		}
	hi_option_wrong("--sort %s: not one of size, deviation, name, slope, number",
			text);
	return HI_OPTION_SAID;
}

static int take_decimal(const char *option, const char *text, double high, double *ret)
{
	if (hi_hp_parse_time(text, strlen(text), ret) && *ret <= high)
		return 0;
	hi_option_wrong("%s %s: not a number from 0 to %.15g", option, text, high);
	return HI_OPTION_SAID;
}

static int take_shape(struct hi_options *o, const char *text)
{
	o->drawing.has_shape = true;
	o->drawing.treemap = strcmp(text, "treemap") == 0;
	if (o->drawing.treemap || strcmp(text, "flame") == 0)
		return 0;
	hi_option_wrong("--shape %s: not one of flame, treemap", text);
	return HI_OPTION_SAID;
}

static int take_bands_by(struct hi_options *o, const char *text)
{
	static const char *const words[] = {[HI_BANDS_BY_TYPE] = "type",
					    [HI_BANDS_BY_FUNCTION] = "function",
					    [HI_BANDS_BY_RETAINER] = "retainer",
					    [HI_BANDS_BY_BIOGRAPHY] = "biography"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i]) == 0) {
			o->over_time.by = (enum hi_bands_by)i;
			o->over_time.has_by = true;
			return 0;
		}
	hi_option_wrong("--by %s: not one of type, function, retainer, biography", text);
	return HI_OPTION_SAID;
}

static int take_alloc_order(struct hi_options *o, const char *text)
{
	o->alloc.has_order = true;
	if (hi_alloc_order_parse(text, &o->alloc.order))
		return 0;
	hi_option_wrong("--sort %s: not one of weight, alloc, survived, live, name",
			text);
	return HI_OPTION_SAID;
}

/* What only graphs, alloc and files of many censuses take. */
int hi_option_take_drawn(int key, char *arg, struct hi_options *o)
{
	uint64_t n = 0;
	int bad;

	switch (key) {
	case HI_OPT_BANDS:
		bad = hi_option_take_number("--bands", arg, 1, HI_BANDS_MAX, &n);
		o->drawing.bands.limit = n;
		return bad;
	case HI_OPT_MIN_PCT:
		bad = take_decimal("--min-pct", arg, 50, &o->drawing.bands.min_share);
		o->drawing.bands.min_share /= 100;
		o->drawing.has_min_share = true;
		return bad;
	case HI_OPT_WEIGHT:
		o->alloc.has_weight = true;
		return take_decimal("--weight", arg, 1, &o->alloc.weight);
	case HI_OPT_BANDS_BY:
		return take_bands_by(o, arg);
	case HI_OPT_PEAKS:
		bad = hi_option_take_number("--peaks", arg, 1, HI_GRAPHS_PEAKS_MAX, &n);
		o->over_time.peaks = n;
		return bad;
	case HI_OPT_ALLOC_SORT:
		return take_alloc_order(o, arg);
	case HI_OPT_SHAPE:
		return take_shape(o, arg);
	case HI_OPT_SORT:
		return take_sort(o, arg);
	case HI_OPT_FROM:
		return take_decimal("--from", arg, 1e15, &o->drawing.bands.from);
	case HI_OPT_TO:
		return take_decimal("--to", arg, 1e15, &o->drawing.bands.to);
	case HI_OPT_Y_MAX:
		if (hi_parse_size(arg, &n) && n > 0) {
			o->drawing.bands.y_max = (double)n;
			return 0;
		}
		hi_option_wrong("--ymax %s: not a size like 4096 or 64MiB", arg);
		return HI_OPTION_SAID;
	case HI_OPT_LIKE:
		o->drawing.like = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Options of profiles. */
int hi_option_take_profile(int key, char *arg, struct hi_options *o, size_t most)
{
	struct hi_profile_options *p = &o->profile;
	const char *why = "";
	uint64_t n = 0;
	int bad;

	switch (key) {
	case HI_OPT_ROOT:
		if (hi_profile_take_root(p, most, arg, &why))
			return 0;
		hi_option_wrong("--root %s: %s", arg, *why ? why : "out of memory");
		return HI_OPTION_SAID;
	case HI_OPT_RETAINER:
		if (hi_profile_take_retainer(p, most, arg, &why))
			return 0;
		hi_option_wrong("--retainer %s: %s", arg, *why ? why : "out of memory");
		return HI_OPTION_SAID;
	case HI_OPT_IDENTITY:
		if (hi_profile_take_identity(p, arg))
			return 0;
		hi_option_wrong("--identity %s: not one of type, var, module, addr", arg);
		return HI_OPTION_SAID;
	case HI_OPT_MAX_SET:
		bad = hi_option_take_number("--max-set", arg, 1, 1000000, &n);
		p->max_set = (uint32_t)n;
		return bad;
	case HI_OPT_UNDER:
		if (hi_profile_take_under(p, most, arg, &why))
			return 0;
		hi_option_wrong("--under %s: %s", arg, *why ? why : "out of memory");
		return HI_OPTION_SAID;
	case HI_OPT_RETAINED_BY:
		return hi_option_take_once("--retained-by", arg, &p->retained_by);
	case HI_OPT_JOIN:
		p->join = arg;
		return 0;
	case HI_OPT_ALL_BINS:
		p->all_bins = true;
		return 0;
	case HI_OPT_COUNT:
		p->count = true;
		return 0;
	case HI_OPT_PURE:
		p->pure = true;
		return 0;
	case HI_OPT_WEAK_AS_ROOTS:
		p->weak_as_roots = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int take_sample_distance(struct hi_options *o, const char *text)
{
	struct hi_record_options *r = &o->record;
	bool has_none = o->command->id == HI_COMMAND_BIO;

	r->has_sample = true;
	r->sample_bytes = 0;
	r->is_none = has_none && strcmp(text, "none") == 0;
	if (r->is_none)
		return 0;
	if (strcmp(text, "all") == 0)
		return 0;
	if (hi_parse_size(text, &r->sample_bytes) && r->sample_bytes &&
	    r->sample_bytes <= HI_SAMPLING_MEAN_MAX)
		return 0;
	hi_option_wrong("--sample %s: not all, %sand not a size up to 1GiB like 512KiB",
			text, has_none ? "not none, " : "");
	return HI_OPTION_SAID;
}

/* "10" or "10ms". */
static int take_scan(struct hi_record_options *r, const char *text)
{
	size_t n = strspn(text, "0123456789");
	char digits[8];
	uint64_t ms = 0;

	r->has_scan = true;
	snprintf(digits, sizeof(digits), "%.*s", (int)(n < sizeof(digits) ? n : 0), text);
	if ((!text[n] || strcmp(text + n, "ms") == 0) &&
	    hi_parse_number(digits, 0, SCAN_MS_MAX, &ms)) {
		r->scan_ns = ms * 1000000;
		return 0;
	}
	hi_option_wrong("--scan %s: not a number of milliseconds from 0 (off) to %d",
			text, SCAN_MS_MAX);
	return HI_OPTION_SAID;
}

/* Of --calls and --frees, with a caret below what is wrong. */
static int take_call(struct hi_record_options *r, const char *option, const char *text)
{
	struct hi_error err = {};
	size_t column = 0;

	if (r->n_calls == HI_CALL_SPECS_MAX) {
		hi_option_wrong("%s: at most %d functions", option, HI_CALL_SPECS_MAX);
		return HI_OPTION_SAID;
	}
	if ((strcmp(option, "--calls") == 0 ? hi_call_spec_parse : hi_free_spec_parse)(
		    text, &r->calls[r->n_calls], &column, &err) == HI_OK) {
		r->n_calls++;
		return 0;
	}
	hi_option_wrong("%s: %s", option, err.text);
	hi_complaints_point_at(text, column);
	return HI_OPTION_SAID;
}

/* Options of a series, and of a recording. */
int hi_option_take_series(int key, char *arg, struct hi_options *o)
{
	switch (key) {
	case HI_OPT_EVERY:
		if (hi_series_take_every(&o->series, arg))
			return 0;
		hi_option_wrong("--every %s: not a time like 0.5s or a size like 10MB",
				arg);
		return HI_OPTION_SAID;
	case HI_OPT_FOR:
		if (hi_parse_duration(arg, &o->series.for_ns))
			return 0;
		hi_option_wrong("--for %s: not a time like 60s or 5min", arg);
		return HI_OPTION_SAID;
	case HI_OPT_SAMPLE:
		return take_sample_distance(o, arg);
	case HI_OPT_SCAN:
		return take_scan(&o->record, arg);
	case HI_OPT_DEPTH:
		o->alloc.has_depth = true;
		return hi_option_take_number("--depth", arg, 0, HI_CHAIN_MAX,
					     &o->alloc.depth);
	case HI_OPT_CALLS:
		return take_call(&o->record, "--calls", arg);
	case HI_OPT_FREES:
		return take_call(&o->record, "--frees", arg);
	case HI_OPT_MAPPINGS:
		o->record.mappings = true;
		return 0;
	case HI_OPT_KEEP_EVENTS:
		o->record.keep_events = true;
		return 0;
	case HI_OPT_CHILDREN:
		o->record.children = true;
		return 0;
	case HI_OPT_FULL:
		if (hi_series_take_full(&o->series, arg))
			return 0;
		hi_option_wrong("--full %s: not first, last, every:N, peaks:K (several "
				"with ','), all or none",
				arg);
		return HI_OPTION_SAID;
	case HI_OPT_MAX_FILE:
		if (hi_parse_size(arg, &o->series.max_file) && o->series.max_file)
			return 0;
		hi_option_wrong("--max-file %s: not a size like 500MiB", arg);
		return HI_OPTION_SAID;
	case HI_OPT_HP:
		o->series.hp = arg;
		return 0;
	case HI_OPT_TIME:
		if (hi_series_take_time(&o->series, arg))
			return 0;
		hi_option_wrong("--time %s: not one of cpu, wall, census", arg);
		return HI_OPTION_SAID;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int take_at(struct hi_options *o, const char *text)
{
	struct hi_error err;

	if (hi_safepoint_take_at(&o->safepoint, text, &err) == HI_OK)
		return 0;
	hi_option_wrong("%s", err.text);
	return HI_OPTION_SAID;
}

/* When and how to stop. */
int hi_option_take_stop(int key, char *arg, struct hi_options *o)
{
	switch (key) {
	case HI_OPT_AT:
		return take_at(o, arg);
	case HI_OPT_TIMEOUT:
		if (hi_parse_duration(arg, &o->safepoint.timeout_ns))
			return 0;
		hi_option_wrong("--timeout %s: not a time like 500ms or 30s", arg);
		return HI_OPTION_SAID;
	case HI_OPT_SNAPSHOT:
		if (hi_safepoint_take_snapshot(&o->safepoint, arg))
			return 0;
		hi_option_wrong("--snapshot %s: not one of auto, copy, fork", arg);
		return HI_OPTION_SAID;
	case HI_OPT_MAX_IMAGE:
		if (hi_parse_size(arg, &o->safepoint.max_image) &&
		    o->safepoint.max_image > 0)
			return 0;
		hi_option_wrong("--max-image %s: not a size like 512MiB or 4GiB", arg);
		return HI_OPTION_SAID;
	case HI_OPT_MAX_PAUSE:
		if (hi_parse_duration(arg, &o->safepoint.max_pause_ns))
			return 0;
		hi_option_wrong("--max-pause %s: not a time like 200ms or 1s", arg);
		return HI_OPTION_SAID;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* "10s..1min"; an end that is missing is open. */
static bool take_range(const char *text, struct hi_birth_range *ret)
{
	struct hi_birth_range range = {.is_set = true, .to_ns = UINT64_MAX};
	const char *dots = strstr(text, "..");
	char from[32];

	if (!dots || (size_t)(dots - text) >= sizeof(from) || (dots == text && !dots[2]))
		return false;
	snprintf(from, sizeof(from), "%.*s", (int)(dots - text), text);
	if ((*from && !hi_parse_duration(from, &range.from_ns)) ||
	    (dots[2] && !hi_parse_duration(dots + 2, &range.to_ns)) ||
	    range.from_ns >= range.to_ns)
		return false;
	*ret = range;
	return true;
}

static int take_range_of(const char *option, const char *text, struct hi_birth_range *ret)
{
	if (take_range(text, ret))
		return 0;
	hi_option_wrong("%s %s: not a range of time like 10s.., ..1min or 10s..1min",
			option, text);
	return HI_OPTION_SAID;
}

int hi_option_take_births(int key, char *arg, struct hi_options *o)
{
	struct hi_birth_choice *births = &o->selection.births;
	uint64_t thread = 0;
	int bad;

	switch (key) {
	case HI_OPT_SITE:
		return hi_option_take_once("--site", arg, &births->site);
	case HI_OPT_SITE_ANY:
		return hi_option_take_once("--site-any", arg, &births->site_any);
	case HI_OPT_AGE:
		return take_range_of("--age", arg, &births->age);
	case HI_OPT_BORN:
		return take_range_of("--born", arg, &births->born);
	case HI_OPT_THREAD:
		bad = hi_option_take_number("--thread", arg, 1, UINT32_MAX, &thread);
		births->thread = (uint32_t)thread;
		return bad;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
