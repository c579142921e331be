/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts of the report `check`, which all of its formats share. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_node.h"
#include "report/reports/check/check_report.h"

bool hi_check_fails(const struct hi_check_report *r, const struct hi_check_row *row)
{
	if (row->is_skipped)
		return false;
	return !row->result.is_known || (row->result.is_true && !row->is_small) ||
	       (r->is_strict && row->unmatched);
}

const char *hi_check_gate_name(const struct hi_gate *gate, struct hi_page *page)
{
	return hi_page_safe(page, *gate->name ? gate->name : gate->text);
}

/* ---- values ---- */

static const char *text_of_amount(double amount, enum hi_gate_unit unit, bool exact,
				  struct hi_page *page)
{
	char text[32];
	bool whole = amount < 1e15 && amount <= (double)(uint64_t)amount;

	switch (unit) {
	case HI_GATE_OF_BYTES:
		if (exact || !whole)
			return hi_page_printf(page, whole ? "%.0f B" : "%.3g B", amount);
		return hi_page_printf(page, "%s", hi_bytes(text, (uint64_t)amount));
	case HI_GATE_OF_OBJECTS:
		if (!whole)
			return hi_page_printf(page, "%.3g objects", amount);
		return hi_page_printf(page, "%s object%s",
				      hi_count(text, (uint64_t)amount),
				      amount < 1 || amount > 1 ? "s" : "");
	case HI_GATE_SHARE:
		return hi_page_printf(page, exact ? "%.10g %%" : "%.4g %%", amount * 100);
	case HI_GATE_NS:
		if (amount >= 1e18)
			return hi_page_printf(page, "%.3g s", amount / 1e9);
		return hi_page_printf(page, "%s",
				      hi_text_duration(text, (uint64_t)amount));
	case HI_GATE_PLAIN:
	default:
		return hi_page_printf(page, exact ? "%.15g" : "%.6g", amount);
	}
}

/* Bytes of a slope are rarely whole: 1.5 KiB, not 1536.25 B. */
static double round_slope(double amount, const struct hi_gate *gate)
{
	return gate->per_census && gate->unit == HI_GATE_OF_BYTES && amount >= 1024
		       ? round(amount)
		       : amount;
}

static const char *text_of_check_value(double value, const struct hi_gate *gate,
				       bool exact, struct hi_page *page)
{
	const char *text;

	if (isinf(value))
		return "infinite (from 0)";
	text = text_of_amount(round_slope(fabs(value), gate), gate->unit, exact, page);
	return hi_page_printf(page, "%s%s%s", value < 0 ? "-" : "", text,
			      gate->per_census ? " per census" : "");
}

const char *hi_check_value_text(double value, const struct hi_gate *gate,
				struct hi_page *page)
{
	return text_of_check_value(value, gate, false, page);
}

/* Rounded texts must not be equal where the values are not. */
static bool needs_exact_text(const struct hi_check_row *row, struct hi_page *page)
{
	const struct hi_gate_result *r = &row->result;

	return (r->left < r->right || r->left > r->right) &&
	       strcmp(hi_check_value_text(r->left, row->gate, page),
		      hi_check_value_text(r->right, row->gate, page)) == 0;
}

const char *hi_check_here_text(const struct hi_check_row *row, struct hi_page *page)
{
	if (row->is_skipped)
		return "no baseline yet";
	if (!row->result.is_known)
		return hi_page_printf(page, "unknown: %s%s",
				      row->why_unknown ? row->why_unknown
						       : "some heap is not decoded",
				      row->result.unknown->baseline ? " (baseline)" : "");
	return text_of_check_value(row->result.left, row->gate,
				   needs_exact_text(row, page), page);
}

const char *hi_check_limit_text(const struct hi_check_row *row, struct hi_page *page)
{
	if (row->is_skipped || !row->result.is_known)
		return "";
	return text_of_check_value(row->result.right, row->gate,
				   needs_exact_text(row, page), page);
}

/* ---- sentences ---- */

/* The left side as typed. */
static const char *left_side_text(const struct hi_gate *gate, struct hi_page *page)
{
	size_t n = gate->left_length;
	char text[512];

	if (n >= sizeof(text))
		return "the value";
	memcpy(text, gate->text, n);
	text[n] = 0;
	return hi_page_safe(page, text);
}

const char *hi_check_summary_text(const struct hi_check_report *r,
				  const struct hi_check_row *row, struct hi_page *page)
{
	if (!hi_check_fails(r, row))
		return "";
	if (!row->result.is_known)
		return hi_page_printf(page, "%s is %s", left_side_text(row->gate, page),
				      hi_check_here_text(row, page));
	if (!row->result.is_true)
		return hi_page_printf(page, "%s, and --strict is given",
				      hi_page_safe(page, row->unmatched));
	return hi_page_printf(
		page, "%s is %s; the limit is %s %s", left_side_text(row->gate, page),
		hi_check_here_text(row, page), hi_gate_order_text(row->gate->order),
		hi_check_limit_text(row, page));
}

const char *hi_check_headline(const struct hi_check_report *r, struct hi_page *page)
{
	size_t skipped = 0;

	if (r->n_failed)
		return hi_page_printf(page, "%zu of %zu gate%s failed", r->n_failed,
				      r->n_rows, r->n_rows == 1 ? "" : "s");
	for (size_t i = 0; i < r->n_rows; i++)
		skipped += r->rows[i].is_skipped;
	if (skipped)
		return hi_page_printf(page, "%zu of %zu gates passed, %zu skipped",
				      r->n_rows - skipped, r->n_rows, skipped);
	if (r->n_rows == 1)
		return "the gate passed";
	return hi_page_printf(page, "all %zu gates passed", r->n_rows);
}

static const char *text_of_culprit_type(const char *type, struct hi_page *page)
{
	return type ? hi_type_label(type, page) : "objects";
}

/* "nodes: 1,500 × struct node hold 70.3 KiB (97 %)" */
static const char *holder_text(const struct hi_check_culprit *c, struct hi_page *page)
{
	char count[32], bytes[24], part[16];

	return hi_page_printf(
		page, "%s: %s%s × %s hold %s (%s)", hi_page_safe_again(page, c->path),
		c->is_new ? "+" : "", hi_count(count, c->count),
		text_of_culprit_type(c->type, page), hi_bytes(bytes, c->bytes),
		hi_percent(part, c->bytes, c->of));
}

/* "leaked: 40 × struct value, 12.5 KiB in 80 objects, for example 0x55d0c8a412a0" */
static const char *leak_text(const struct hi_check_culprit *c, struct hi_page *page)
{
	char count[32], bytes[24], objects[32];
	const char *more = "";

	if (c->objects > c->count)
		more = hi_page_printf(page, " in %s objects",
				      hi_count(objects, c->objects));
	return hi_page_printf(page, "%sleaked: %s%s × %s, %s%s, for example 0x%" PRIx64,
			      c->is_likely ? "likely " : "", c->is_new ? "+" : "",
			      hi_count(count, c->count),
			      hi_leak_name_text(&c->name, c->shape, page),
			      hi_bytes(bytes, c->bytes), more, c->example);
}

static const char *culprit_text(const struct hi_check_culprit *c, struct hi_page *page)
{
	char count[32], bytes[24];

	if (c->kind == HI_CULPRIT_HOLDER)
		return holder_text(c, page);
	if (c->kind == HI_CULPRIT_LEAK)
		return leak_text(c, page);
	return hi_page_printf(page, "%s%s × %s, %s%s%s", c->is_new ? "+" : "",
			      hi_count(count, c->count), hi_type_label(c->type, page),
			      hi_bytes(bytes, c->bytes),
			      *c->path ? "; path to one: " : "",
			      hi_page_safe_again(page, c->path));
}

static const char *gate_slope_text(const struct hi_check_slope *s,
				   const struct hi_gate *gate, struct hi_page *page)
{
	struct hi_gate amounts = *gate;

	amounts.per_census = false;
	return hi_page_printf(page, "%s: from %s to %s in %zu censuses, %s ± %s",
			      hi_page_safe(page, s->metric->text),
			      hi_check_value_text(s->first, &amounts, page),
			      hi_check_value_text(s->last, &amounts, page), s->n,
			      hi_check_value_text(s->slope, gate, page),
			      hi_check_value_text(s->margin, &amounts, page));
}

/* What a metric has: its unit is its own, not that of a ratio. */
static const char *metric_text(const struct hi_check_row *row, size_t i,
			       struct hi_page *page)
{
	const struct hi_gate_metric *m = row->result.values[i].metric;
	struct hi_gate gate = {.per_census = m->slope, .unit = hi_gate_unit_of_metric(m)};

	return hi_page_printf(
		page, "%s is %s", hi_page_safe(page, m->text),
		hi_check_value_text(row->result.values[i].value, &gate, page));
}

/* Of a gate of one metric the value is printed already. */
static size_t count_metric_lines(const struct hi_check_row *row)
{
	return row->result.n_values > 1 ? row->result.n_values : 0;
}

const char *hi_check_detail(const struct hi_check_report *r,
			    const struct hi_check_row *row, size_t i,
			    struct hi_page *page)
{
	size_t metrics = count_metric_lines(row);

	(void)r;
	if (i < metrics)
		return metric_text(row, i, page);
	i -= metrics;
	if (i < row->n_slopes)
		return gate_slope_text(&row->slopes[i], row->gate, page);
	i -= row->n_slopes;
	return i < row->n_culprits ? culprit_text(&row->culprits[i], page) : NULL;
}
