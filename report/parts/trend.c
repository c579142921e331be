/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "census/analysis/leak_totals.h"
#include "report/address.h"
#include "report/parts/report_node.h"

/* Less than that is no growth: a page in an hour. */
static const double least_rate = 4096.0 / 60;
static const double minutes_most = 10 * 365.25 * 24 * 60;

const char *hi_limit_name(uint64_t kind)
{
	static const char *const names[HI_LIMIT_KINDS] = {
		[HI_LIMIT_CGROUP] = "memory.max",
		[HI_LIMIT_CGROUP_V1] = "memory.limit_in_bytes",
		[HI_LIMIT_ADDRESS_SPACE] = "RLIMIT_AS",
		[HI_LIMIT_MACHINE] = "the machine's memory"};

	return kind < HI_LIMIT_KINDS && names[kind] ? names[kind] : "";
}

/* ---- rates ---- */

struct rate_unit {
	double bytes;
	const char *name;
};

static struct rate_unit unit_of_rate(const struct hi_slope *rate)
{
	static const struct rate_unit units[] = {
		{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};
	double most = fmax(fabs(rate->low), fabs(rate->high));
	size_t i = 0;

	while (i < 3 && most < units[i].bytes)
		i++;
	return units[i];
}

static bool is_steady(const struct hi_slope *rate)
{
	return fabs(rate->low) < least_rate && fabs(rate->high) < least_rate;
}

/* per: "/min", or "" where a heading has it. */
static char *format_rate(char out[HI_TREND_PART], const struct hi_slope *rate,
			 const char *per)
{
	struct rate_unit unit = unit_of_rate(rate);

	if (rate->n < HI_SLOPE_LEAST)
		snprintf(out, HI_TREND_PART, "too few censuses: it takes %d",
			 HI_SLOPE_LEAST);
	else if (is_steady(rate))
		snprintf(out, HI_TREND_PART, "steady");
	else
		snprintf(out, HI_TREND_PART, "%+.1f %s%s (%.1f to %.1f)",
			 rate->rate / unit.bytes, unit.name, per, rate->low / unit.bytes,
			 rate->high / unit.bytes);
	return out;
}

char *hi_trend_rate_text(char out[HI_TREND_PART], const struct hi_slope *rate)
{
	return format_rate(out, rate, "/min");
}

char *hi_trend_short_text(char out[24], const struct hi_slope *rate)
{
	struct rate_unit unit = unit_of_rate(rate);

	if (rate->n < HI_SLOPE_LEAST)
		*out = 0;
	else
		snprintf(out, 24, is_steady(rate) ? "steady" : "%+.1f %s",
			 rate->rate / unit.bytes, unit.name);
	return out;
}

/* ---- when a limit is reached ---- */

struct time_unit {
	double minutes;
	const char *name;
};

static struct time_unit unit_of_minutes(double minutes)
{
	static const struct time_unit units[] = {
		{24 * 60, "days"}, {60, "h"}, {1, "min"}, {1.0 / 60, "s"}};
	size_t i = 0;

	while (i < 3 && minutes < 2 * units[i].minutes)
		i++;
	return units[i];
}

char *hi_span_text(char out[24], uint64_t ns)
{
	double minutes = (double)ns / 60e9;
	struct time_unit unit = unit_of_minutes(minutes);

	if (minutes < 2.0 / 60)
		return hi_text_duration(out, ns);
	snprintf(out, 24, "%.0f %s", minutes / unit.minutes, unit.name);
	return out;
}

/* Rounded outwards, so that the interval keeps what it promises; to tenths below ten. */
static void format_minutes(char out[64], double from, double to)
{
	struct time_unit unit = unit_of_minutes(from > 0 ? from : to);
	double step = from < 9.9 * unit.minutes ? 0.1 : 1;
	/* Rounding of binary fractions is no time. */
	double low = floor(from / unit.minutes / step + 1e-6) * step;
	double high = ceil(to / unit.minutes / step - 1e-6) * step;
	int digits = step < 1;

	if (to > minutes_most)
		snprintf(out, 64, "%.*f %s or more", digits, low, unit.name);
	else if (high - low > step / 2)
		snprintf(out, 64, "%.*f to %.*f %s", digits, low, digits, high,
			 unit.name);
	else
		snprintf(out, 64, "%.*f %s", digits, high, unit.name);
}

char *hi_trend_forecast_text(char out[HI_TREND_PART], const struct hi_slope *rate,
			     const struct hi_report_limit *limit)
{
	double room = (double)hi_limit_room(limit);
	char most[24], when[64];

	*out = 0;
	if (rate->n < HI_SLOPE_LEAST || is_steady(rate) || rate->high <= 0 ||
	    !*hi_limit_name(limit->kind) || room / rate->high > minutes_most)
		return out;
	hi_text_bytes(most, limit->most);
	if (room <= 0) {
		snprintf(out, HI_TREND_PART, "%s of %s is reached",
			 hi_limit_name(limit->kind), most);
	} else if (rate->low <= 0) {
		struct time_unit unit = unit_of_minutes(room / rate->high);

		snprintf(out, HI_TREND_PART, "%s of %s not before %.0f %s",
			 hi_limit_name(limit->kind), most,
			 floor(room / rate->high / unit.minutes), unit.name);
	} else {
		format_minutes(when, room / rate->high, room / rate->low);
		snprintf(out, HI_TREND_PART, "%s of %s in %s", hi_limit_name(limit->kind),
			 most, when);
	}
	return out;
}

char *hi_trend_text(char out[HI_TREND_TEXT], const struct hi_slope *rate,
		    const struct hi_report_limit *limit)
{
	char speed[HI_TREND_PART], when[HI_TREND_PART];

	hi_trend_rate_text(speed, rate);
	hi_trend_forecast_text(when, rate, limit);
	snprintf(out, HI_TREND_TEXT, "%s%s%s", speed, *when ? ": " : "", when);
	return out;
}

/* ---- of each request ---- */

/* Bytes as text, with a sign where they are gone. */
static char *format_bytes_left(char out[32], double bytes)
{
	char text[24];

	hi_text_bytes(text, (uint64_t)(fabs(bytes) + 0.5));
	snprintf(out, 32, "%s%s", bytes <= -0.5 ? "-" : "", text);
	return out;
}

/* Names of the types that a hit leaves, the first three; what it leaves of a type is above
 * 0 with its interval. */
static const char *types_left(const struct hi_trend *trend, struct hi_page *page)
{
	enum { NAMED = 3 };
	const char *text = "";
	size_t n = 0;

	for (size_t i = 0; i < trend->n_rows && n < NAMED; i++) {
		if (trend->rows[i].per_hit.low < 0.5)
			continue;
		text = hi_page_printf(page, "%s%s%s", text, n++ ? ", " : ": ",
				      hi_type_label(trend->rows[i].name, page));
	}
	return text;
}

const char *hi_trend_per_hit_text(const struct hi_trend *trend, struct hi_page *page)
{
	const struct hi_slope *left = &trend->live.per_hit;
	char rate[32], low[32], high[32];
	const char *place;

	if (!trend->place || left->n < HI_SLOPE_LEAST)
		return "";
	place = hi_page_safe(page, trend->place);
	if (left->high < 0.5)
		return hi_page_printf(page, "no %s leaves anything", place);
	return hi_page_printf(page, "each %s leaves %s (%s to %s) in %.1f objects%s",
			      place, format_bytes_left(rate, left->rate),
			      format_bytes_left(low, left->low),
			      format_bytes_left(high, left->high),
			      fabs(trend->objects_per_hit.rate), types_left(trend, page));
}

/* ---- documents ---- */

static struct hi_doc_value growth_value(const struct hi_slope *rate, double value)
{
	return rate->n < HI_SLOPE_LEAST ? hi_doc_none() : hi_doc_real(value);
}
static struct hi_doc_value rate_of_growth(const struct hi_doc_row *row)
{
	const struct hi_slope *rate = &((const struct hi_trend_row *)row->row)->rate;

	return growth_value(rate, rate->rate);
}
static struct hi_doc_value low_of_growth(const struct hi_doc_row *row)
{
	const struct hi_slope *rate = &((const struct hi_trend_row *)row->row)->rate;

	return growth_value(rate, rate->low);
}
static struct hi_doc_value high_of_growth(const struct hi_doc_row *row)
{
	const struct hi_slope *rate = &((const struct hi_trend_row *)row->row)->rate;

	return growth_value(rate, rate->high);
}

static struct hi_doc_value per_hit_of_growth(const struct hi_doc_row *row)
{
	const struct hi_slope *left = &((const struct hi_trend_row *)row->row)->per_hit;

	return growth_value(left, left->rate);
}

static const struct hi_doc_field growth_row_fields[] = {
	{"type", NULL, HI_DOC_TEXT, HI_AT(struct hi_trend_row, name), .nullable = true,
	 .meaning = "null: untyped; of all that is live, or leaked, null too"},
	{"first_bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_trend_row, first)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_trend_row, last)},
	{"first_objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_trend_row, first_objects)},
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_trend_row, last_objects)},
	{"bytes_per_minute", NULL, HI_DOC_REAL, .value = rate_of_growth, .nullable = true,
	 .is_signed = true,
	 .meaning = "the median of the slopes between censuses; null: there are fewer "
		    "than four"},
	{"bytes_per_minute_low", NULL, HI_DOC_REAL, .value = low_of_growth,
	 .nullable = true, .is_signed = true, .meaning = "of an interval of 95 %"},
	{"bytes_per_minute_high", NULL, HI_DOC_REAL, .value = high_of_growth,
	 .nullable = true, .is_signed = true},
	{"bytes_per_hit", NULL, HI_DOC_REAL, .value = per_hit_of_growth, .nullable = true,
	 .is_signed = true,
	 .meaning = "that each hit of --at leaves; null: there is no such place, or its "
		    "hits are not counted"},
};
static const struct hi_doc_fields growth_rows =
	HI_DOC_FIELDS(growth_row_fields, .row_size = sizeof(struct hi_trend_row));

static const struct hi_doc_field holder_row_fields[] = {
	{"variable", NULL, HI_DOC_TEXT, HI_AT(struct hi_trend_row, name)},
	{"first_bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_trend_row, first),
	 .meaning = "that it alone holds, in the first graph"},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_trend_row, last),
	 .meaning = "in the last graph"},
	{"bytes_per_minute", NULL, HI_DOC_REAL, .value = rate_of_growth, .nullable = true,
	 .is_signed = true,
	 .meaning = "the median of the slopes between graphs; null: there are fewer than "
		    "four"},
	{"bytes_per_minute_low", NULL, HI_DOC_REAL, .value = low_of_growth,
	 .nullable = true, .is_signed = true, .meaning = "of an interval of 95 %"},
	{"bytes_per_minute_high", NULL, HI_DOC_REAL, .value = high_of_growth,
	 .nullable = true, .is_signed = true},
};
static const struct hi_doc_fields holder_rows =
	HI_DOC_FIELDS(holder_row_fields, .row_size = sizeof(struct hi_trend_row));

static struct hi_doc_value objects_per_hit(const struct hi_doc_row *row)
{
	const struct hi_trend *trend = row->row;

	return growth_value(&trend->objects_per_hit, trend->objects_per_hit.rate);
}
static struct hi_doc_value name_of_limit(const struct hi_doc_row *row)
{
	const struct hi_trend *growth = row->row;

	return hi_doc_text(hi_limit_name(growth->limit.kind));
}
static struct hi_doc_value bytes_of_limit(const struct hi_doc_row *row)
{
	const struct hi_trend *growth = row->row;

	return growth->limit.kind ? hi_doc_number(growth->limit.most) : hi_doc_none();
}
static struct hi_doc_value used_of_limit(const struct hi_doc_row *row)
{
	const struct hi_trend *growth = row->row;

	return growth->limit.kind ? hi_doc_number(growth->limit.used) : hi_doc_none();
}

static const struct hi_doc_field growth_fields[] = {
	{"wall_ns", NULL, HI_DOC_TIME, HI_AT(struct hi_trend, wall_ns),
	 .meaning = "from the first census to the last"},
	{"live", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_trend, live),
	 .nested = &growth_rows},
	{"leaked", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_trend, leaked),
	 .nested = &growth_rows, .meaning = "certain leaks; 0 where they are unknown"},
	{"types", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_trend, rows, n_rows),
	 .nested = &growth_rows, .meaning = "those that grew most, at most 100"},
	{"graphs", NULL, HI_DOC_COUNT, HI_AT(struct hi_trend, graphs),
	 .meaning = "of the censuses that have their graph, those that were read: at "
		    "most 32"},
	{"graphs_ns", NULL, HI_DOC_TIME, HI_AT(struct hi_trend, graphs_ns),
	 .meaning = "from the first graph to the last"},
	{"holders", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_trend, holders, n_holders),
	 .nested = &holder_rows,
	 .meaning = "variables whose retained bytes grew most from graph to graph, at "
		    "most 100; empty where there are fewer than two"},
	{"place", NULL, HI_DOC_TEXT, HI_AT(struct hi_trend, place), .nullable = true,
	 .meaning = "that each census was taken at (--at)"},
	{"hits", NULL, HI_DOC_COUNT, HI_AT(struct hi_trend, hits),
	 .meaning = "of the place, from the first census to the last"},
	{"objects_per_hit", NULL, HI_DOC_REAL, .value = objects_per_hit, .nullable = true,
	 .is_signed = true},
	{"limit", NULL, HI_DOC_TEXT, .value = name_of_limit, .nullable = true,
	 .meaning = "the limit of its memory that is reached first; null: not recorded"},
	{"limit_bytes", NULL, HI_DOC_BYTES, .value = bytes_of_limit, .nullable = true},
	{"limit_used", NULL, HI_DOC_BYTES, .value = used_of_limit, .nullable = true,
	 .meaning = "at the last census"},
};
const struct hi_doc_fields hi_trend_fields = HI_DOC_FIELDS(growth_fields);

/* ---- pages ---- */

static void show_trend_row(struct hi_report_table *t, const char *label,
			   const struct hi_trend_row *row)
{
	char rate[HI_TREND_PART];

	hi_cell_text(t, label, 0);
	hi_cell_number(t, row->first);
	hi_cell_number(t, row->last);
	hi_cell_text(
		t, row->rate.n < HI_SLOPE_LEAST ? "" : format_rate(rate, &row->rate, ""),
		0);
}

/* Returns the mean where graphs are too few for an interval. */
static const char *holder_rate(const struct hi_trend *trend,
			       const struct hi_trend_row *row, struct hi_page *page)
{
	double minutes = (double)trend->graphs_ns / 60e9;
	double grown = ((double)row->last - (double)row->first) / minutes;
	struct hi_slope mean = {grown, grown, grown, HI_SLOPE_LEAST};
	char text[HI_TREND_PART];

	if (row->rate.n >= HI_SLOPE_LEAST)
		return hi_page_printf(page, "%s", format_rate(text, &row->rate, ""));
	return trend->graphs_ns
		       ? hi_page_printf(page, "%s", hi_trend_short_text(text, &mean))
		       : "";
}

static void show_growing_holders(const struct hi_trend *trend, size_t most,
				 struct hi_page *page)
{
	static const struct hi_column columns[] = {{"variable", HI_COLUMN_TEXT},
						   {"first", HI_COLUMN_BYTES},
						   {"last", HI_COLUMN_BYTES},
						   {"per minute", HI_COLUMN_FIGURE}};
	struct hi_report_table *t;

	if (!trend->n_holders)
		return;
	hi_page_blank(page);
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < trend->n_holders && i < most; i++) {
		const struct hi_trend_row *row = &trend->holders[i];

		hi_cell_text(t, hi_page_safe(page, row->name), 0);
		hi_cell_link(t, hi_address(page, "tree", row->name));
		hi_cell_number(t, row->first);
		hi_cell_number(t, row->last);
		hi_cell_text(t, holder_rate(trend, row, page), 0);
	}
	hi_page_note(page,
		     trend->graphs < HI_SLOPE_LEAST
			     ? hi_page_printf(page,
					      "what each alone holds, in %zu graphs: "
					      "means; %d graphs give intervals (snap "
					      "--full)",
					      trend->graphs, HI_SLOPE_LEAST)
			     : hi_page_printf(page,
					      "what each alone holds, in %zu "
					      "censuses with a graph",
					      trend->graphs));
}

void hi_trend_show(const struct hi_trend *trend, size_t most, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"first", HI_COLUMN_BYTES},
						   {"last", HI_COLUMN_BYTES},
						   {"per minute", HI_COLUMN_FIGURE}};
	struct hi_report_table *t;

	if (trend->censuses < 2)
		return;
	t = hi_page_table(page, columns, 4);
	show_trend_row(t, "(all that is live)", &trend->live);
	hi_report_table_stress(t);
	if (trend->leaks_known && (trend->leaked.first || trend->leaked.last))
		show_trend_row(t, hi_leak_kind_label(HI_LEAK_CERTAIN), &trend->leaked);
	for (size_t i = 0; i < trend->n_rows && i < most; i++)
		show_trend_row(t, hi_type_label(trend->rows[i].name, page),
			       &trend->rows[i]);
	show_growing_holders(trend, most, page);
}
