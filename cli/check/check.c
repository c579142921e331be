/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `check`: evaluates gates on a heap. */
#include "cli/check/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/check/gate_names.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/options/option_check.h"
#include "report/parts/unread_memory.h"
#include "report/type_search.h"
#include "session/operands.h"

enum { WANTED = HI_WANT_DOMINATORS | HI_WANT_CENSUS | HI_WANT_LEAKS | HI_WANT_LEDGER };

void hi_check_heaps_close(struct hi_check_heaps *h)
{
	hi_comparison_destroy(h->comparison);
	hi_vector_free(&h->slopes);
}

static enum hi_check_format format_of_check(const struct hi_options *o)
{
	return (enum hi_check_format)hi_option_format(o, o->output.json ? HI_CHECK_JSON
									: HI_CHECK_TEXT);
}

/* ---- the command line ---- */

/* Names the place in the file where the gate is of a budget. */
static int wrong_gate(const struct hi_gate *gate, const char *why)
{
	if (gate->file)
		return hi_option_wrong("%s:%u: %s", gate->file, gate->line, why);
	return hi_option_wrong("--fail-on '%s': %s", gate->text, why);
}

/* Requires the heaps that the gate compares with. */
static int check_gate(const struct hi_options *o, const struct hi_gate *gate)
{
	if (gate->needs_three && !o->comparison.three)
		return wrong_gate(gate, "survived needs three heaps: heapinspect check "
					"--three WARM LOAD AFTER");
	if (gate->needs_baseline && !o->comparison.baseline)
		return wrong_gate(gate, "--baseline FILE is missing");
	if (gate->needs_series &&
	    (!o->target.file || !hi_snapshots_is_one(o->target.file)))
		return wrong_gate(gate,
				  "slope needs a file of many censuses (heapinspect "
				  "snap --every 10s -o FILE)");
	return 0;
}

static int check_baseline_update(const struct hi_options *o)
{
	const char *baseline = o->comparison.baseline;

	if (!o->check.update_baseline || !baseline)
		return 0;
	if (o->comparison.baseline_census)
		return hi_option_wrong("--update-baseline: %s is one census of a file",
				       baseline);
	if ((o->output.file && strcmp(o->output.file, baseline) == 0) ||
	    (o->check.junit && strcmp(o->check.junit, baseline) == 0))
		return hi_option_wrong("%s: the report and the baseline are one file",
				       baseline);
	return 0;
}

static int check_gates(const struct hi_given *given)
{
	const struct hi_options *o = given->options;

	if (o->output.json && format_of_check(o) != HI_CHECK_JSON)
		return hi_option_wrong("--json and --format %s: only one of them",
				       o->output.format);
	if (!o->check.n_gates)
		return hi_option_wrong("check: --fail-on EXPR is missing, or --budget "
				       "FILE; see heapinspect check --help");
	if (hi_option_check_three(o) != 0)
		return 2;
	for (size_t i = 0; i < o->check.n_gates; i++)
		if (check_gate(o, &o->check.gates[i]) != 0)
			return 2;
	return check_baseline_update(o);
}

/* ---- the gates ---- */

static const char *nth_ledger_key(void *arg, uint32_t i)
{
	return ((const struct hi_ledger *)arg)->rows[i].key;
}

/* "; near it: free_top", of the rows that there are. */
static void near_keys_text(struct hi_inspection *in, const char *name, char text[80])
{
	const char *near[HI_NAMES_NEAREST] = {};

	if (in->results.ledger_known)
		hi_names_nearest(name, nth_ledger_key, &in->results.ledger,
				 (uint32_t)in->results.ledger.n_rows, near);
	snprintf(text, 80, near[0] ? "; near it: %.60s" : "", near[0]);
}

static enum hi_status refuse_unknown_value(const struct hi_check_heaps *h,
					   const struct hi_gate *gate,
					   const struct hi_gate_metric *m,
					   struct hi_error *err)
{
	char near[80] = "";

	if (h->failure.status != HI_OK) {
		*err = h->failure;
		return err->status;
	}
	if (m->subject == HI_GATE_LEDGER)
		near_keys_text(h->in, m->name, near);
	if (gate->file)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.100s:%u: %.60s is not known%s",
			       gate->file, gate->line, m->text, near);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "--fail-on '%.80s': %s%.40s is not known%s%s", gate->text,
		       m->subject == HI_GATE_LEDGER ? "row of the ledger: " : "",
		       m->subject == HI_GATE_LEDGER ? m->name : m->text,
		       m->baseline ? " of the baseline" : "", near);
}

static enum hi_status keep_slopes(struct hi_check_heaps *h, struct hi_check_row *row,
				  struct hi_error *err)
{
	size_t n = row->gate->n_steps;

	if (!row->gate->needs_series)
		return HI_OK;
	row->slopes = hi_arena_alloc(&h->in->arena, n * sizeof(*row->slopes));
	if (!row->slopes)
		return hi_fail_memory(err, "slopes");
	for (size_t i = 0; i < n; i++) {
		const struct hi_gate_step *step = &row->gate->steps[i];
		const struct hi_check_slope *slope =
			step->op == HI_GATE_METRIC && step->metric.slope
				? hi_check_slope(h, &step->metric)
				: NULL;

		if (slope)
			row->slopes[row->n_slopes++] = *slope;
	}
	return HI_OK;
}

static struct hi_inspection *other_heap(const struct hi_check_heaps *h)
{
	return h->before ? h->before : h->three ? h->three->load.in : NULL;
}

/* Some are reasons to fail. */
static enum hi_status explain_unknown_value(struct hi_check_heaps *h,
					    struct hi_check_row *row,
					    struct hi_error *err)
{
	const struct hi_gate_metric *m = row->result.unknown;
	const struct hi_reach *reach = hi_check_doubtful(h, m);
	char text[HI_UNREAD_TEXT];

	if (hi_check_is_undecoded(h, m))
		return HI_OK;
	if (!reach)
		return refuse_unknown_value(h, row->gate, m, err);
	row->why_unknown = hi_arena_strdup(
		&h->in->arena,
		hi_unread_doubt_text(&(struct hi_unread){true, reach->unread_bytes, 0},
				     text));
	return row->why_unknown ? HI_OK : hi_fail_memory(err, "gates");
}

/* Once: the gate is on leaks, and some memory was not seen that may be the program's. */
static void warn_of_unread(struct hi_check_heaps *h, const struct hi_gate *gate)
{
	const struct hi_reach *reach = h->in->results.reach;
	struct hi_unread unread = reach ? hi_unread_of(reach) : (struct hi_unread){};
	char text[HI_UNREAD_TEXT];

	for (size_t i = 0; i < gate->n_steps && unread.apart && !h->warned_of_unread; i++)
		if (gate->steps[i].op == HI_GATE_METRIC &&
		    gate->steps[i].metric.subject == HI_GATE_LEAK) {
			hi_inspect_warn(h->in, "%s", hi_unread_apart_text(&unread, text));
			h->warned_of_unread = true;
		}
}

/* Had an earlier census of the file what the name selects? Its slope is not flat. */
static bool is_in_some_census(struct hi_check_heaps *h, const struct hi_gate_metric *m)
{
	const struct hi_check_slope *slope = m->slope ? hi_check_slope(h, m) : NULL;

	return slope && (slope->slope != 0 || slope->margin != 0 || slope->last != 0);
}

/* A name that is nowhere is an error, or with --allow-missing a warning. */
static enum hi_status check_names(struct hi_check_heaps *h, const struct hi_gate *gate,
				  struct hi_check_row *row, struct hi_error *err)
{
	struct hi_gate_name name;
	enum hi_status status =
		hi_gate_check_names(gate, h->in, other_heap(h), &name, err);

	if (status != HI_OK || !name.unmatched || is_in_some_census(h, name.metric))
		return status;
	if (!name.is_known && !h->in->options->check.allow_missing)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.170s (--allow-missing counts such a name as 0)",
			       name.unmatched);
	row->unmatched = name.unmatched;
	hi_inspect_warn(h->in, "%s", row->unmatched);
	return HI_OK;
}

static enum hi_status evaluate_gate(struct hi_check_heaps *h, const struct hi_gate *gate,
				    struct hi_check_row *row, struct hi_error *err)
{
	enum hi_status status;

	*row = (struct hi_check_row){.gate = gate, .next = ""};
	row->is_skipped = gate->needs_baseline && h->lacks_baseline;
	if (row->is_skipped)
		return HI_OK;
	row->result = hi_gate_evaluate(gate, hi_check_value, h);
	if (!row->result.is_known)
		return explain_unknown_value(h, row, err);
	warn_of_unread(h, gate);
	status = check_names(h, gate, row, err);
	if (status != HI_OK)
		return status;
	row->is_small = row->result.is_true && hi_check_is_small(h, gate);
	status = keep_slopes(h, row, err);
	return status == HI_OK && row->result.is_true && !row->is_small
		       ? hi_check_find_culprits(h, row, err)
		       : status;
}

static enum hi_status evaluate_gates(struct hi_check_heaps *h, struct hi_check_row *rows,
				     struct hi_check_report *r, struct hi_error *err)
{
	const struct hi_options *o = h->in->options;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < o->check.n_gates && status == HI_OK; i++) {
		status = evaluate_gate(h, &o->check.gates[i], &rows[i], err);
		r->n_failed += hi_check_fails(r, &rows[i]);
	}
	return status;
}

/* ---- the output ---- */

static enum hi_status write_junit(const struct hi_check_report *r,
				  struct hi_page *scratch,
				  const struct hi_options *options, struct hi_error *err)
{
	struct hi_options other = *options;
	struct hi_output output;
	enum hi_status status;

	if (!options->check.junit)
		return HI_OK;
	other.output.file = options->check.junit;
	status = hi_output_open(&other, &output, err);
	if (status != HI_OK)
		return status;
	hi_check_junit(r, scratch, output.file);
	status = hi_output_commit(&output, err);
	hi_output_close(&output);
	return status;
}

static enum hi_status fill_check_report(void *report, struct hi_page *page,
					struct hi_json *json, struct hi_error *)
{
	if (json)
		hi_check_json(report, json);
	else
		hi_check_display(report, page);
	return HI_OK;
}

static enum hi_status write_format(struct hi_check_report *r, const struct hi_options *o,
				   struct hi_page *scratch, struct hi_output *output,
				   struct hi_error *err)
{

	switch (format_of_check(o)) {
	case HI_CHECK_JSON:
		return hi_write_json(output, fill_check_report, r, err);
	case HI_CHECK_JUNIT:
		hi_check_junit(r, scratch, output->file);
		return HI_OK;
	case HI_CHECK_GITHUB:
		hi_check_github(r, scratch, output->file);
		return HI_OK;
	case HI_CHECK_MARKDOWN:
		hi_check_markdown(r, scratch, output->file);
		return HI_OK;
	case HI_CHECK_TEXT:
	default:
		return hi_write_page(o, output, fill_check_report, r, err);
	}
}

/* All of them; nothing is written of what was read from a damaged file. */
static enum hi_status write_check_report(struct hi_inspection *in,
					 struct hi_check_report *r,
					 struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *scratch = hi_page_create();
	enum hi_status status =
		scratch ? hi_inspect_check(in, err) : hi_fail_memory(err, "page");

	if (status == HI_OK && hi_inspect_lost_something(in))
		return hi_fail_memory(err, "report");
	if (status == HI_OK)
		status = write_junit(r, scratch, in->options, err);
	if (status == HI_OK)
		status = write_format(r, in->options, scratch, output, err);
	if (status == HI_OK && in->options->check.github)
		hi_check_github(r, scratch, stderr);
	return status == HI_OK && scratch->failed ? hi_fail_memory(err, "report")
						  : status;
}

/* ---- the command ---- */

/* A heap that is not what was wanted does not become the measure of the next one. */
static enum hi_status update_baseline(struct hi_check_heaps *h, struct hi_check_report *r,
				      struct hi_error *err)
{
	const struct hi_options *o = h->in->options;
	enum hi_status status;

	if (!o->check.update_baseline)
		return HI_OK;
	if (r->n_failed && !o->check.accept) {
		hi_inspect_warn(h->in, "the baseline stays as it is: a gate failed "
				       "(--accept updates it anyway)");
		return HI_OK;
	}
	status = hi_inspect_check(h->in, err);
	if (status == HI_OK)
		status = hi_check_update_baseline(h, err);
	r->updated = o->comparison.baseline;
	return status;
}

static enum hi_status check_heaps(struct hi_check_heaps *h, struct hi_output *output,
				  struct hi_error *err)
{
	struct hi_inspection *in = h->in;
	const struct hi_options *o = in->options;
	struct hi_check_row *rows =
		hi_arena_alloc(&in->arena, (o->check.n_gates + 1) * sizeof(*rows));
	struct hi_report_header header = *h->header;
	struct hi_check_report r = {.header = &header,
				    .baseline = h->head_before,
				    .load = h->three ? &h->three->load.header : NULL,
				    .rows = rows,
				    .n_rows = o->check.n_gates,
				    .is_strict = o->decoding.strict,
				    .min_size = o->selection.min_size};
	enum hi_status status = rows ? HI_OK : hi_fail_memory(err, "gates");

	if (status == HI_OK)
		status = evaluate_gates(h, rows, &r, err);
	if (status == HI_OK)
		status = update_baseline(h, &r, err);
	if (status != HI_OK)
		return status;
	/* What names nothing was found out just now. */
	header.warnings = in->diagnostics.warnings.items;
	header.n_warnings = in->diagnostics.warnings.count;
	in->diagnostics.has_finding = r.n_failed;
	return write_check_report(in, &r, output, err);
}

/* The baseline, or the three heaps, whose first one is the baseline. */
static enum hi_status open_other_heaps(struct hi_check_heaps *h,
				       struct hi_baseline *before,
				       struct hi_three_heaps *three, struct hi_error *err)
{
	const struct hi_options *o = h->in->options;
	enum hi_status status = HI_OK;

	if (o->comparison.three) {
		status = hi_three_heaps_open(h->in, h->header, WANTED, three, err);
		h->three = three;
		h->before = three->warm.in;
		h->head_before = &three->warm.header;
	} else if (o->comparison.baseline) {
		status = hi_baseline_open(h->in, h->header, o->comparison.baseline,
					  o->comparison.baseline_census, WANTED, before,
					  err);
		if (status == HI_OS && err->os_errno == ENOENT &&
		    o->check.update_baseline) {
			h->lacks_baseline = true;
			hi_inspect_warn(h->in,
					"there is no %s yet: gates that compare "
					"with it are skipped",
					o->comparison.baseline);
			return HI_OK;
		}
		h->before = before->in;
		h->head_before = &before->header;
	}
	return status;
}

static enum hi_status write_check(struct hi_inspection *in,
				  const struct hi_report_header *header,
				  struct hi_output *output, struct hi_error *err)
{
	struct hi_baseline before = {};
	struct hi_three_heaps three = {};
	struct hi_check_heaps heaps = {.in = in, .header = header};
	enum hi_status status = open_other_heaps(&heaps, &before, &three, err);

	if (status == HI_OK)
		status = check_heaps(&heaps, output, err);
	hi_check_heaps_close(&heaps);
	hi_three_heaps_close(&three);
	hi_baseline_close(&before);
	return status;
}

const struct hi_command hi_command_check = {
	.id = HI_COMMAND_CHECK,
	.name = "check",
	.arguments = "",
	.purpose =
		"Check gates for a build: the exit status is 1 when a limit is exceeded.",
	.help = "EXPR is a comparison. docs/GATES.md describes the syntax.\n"
		"Metrics: live, leak, total (.bytes, .count), leak.roots, leak.likely,\n"
		"type(\"NAME\") (.bytes, .count, .retained), module(\"NAME\") (.bytes, "
		".count),\n"
		"root(\"NAME\").retained, ledger(\"NAME\").bytes, snapshot.pause.\n"
		"baseline.METRIC is the value in the baseline. growth(METRIC) is the "
		"relative\n"
		"change since the baseline, for example 10%. With --three, survived and\n"
		"survived(type=\"NAME\") (.bytes, .count) are objects that were born "
		"between the\n"
		"first two heaps and still exist in the third. slope(METRIC) is the "
		"growth "
		"per\n"
		"census over a file of many censuses; a slope within the noise is 0.\n"
		"\n"
		"Examples:\n"
		"  heapinspect check app.hisnap --fail-on 'leak.bytes > 0'\n"
		"  heapinspect check app.hisnap --fail-on 'type(\"struct "
		"session\").count > 1000'\n"
		"  heapinspect check app.hisnap --baseline old.hisnap --fail-on "
		"'growth(live.bytes) > 10%' --junit heap.xml\n"
		"  heapinspect check --three warm.hisnap load.hisnap after.hisnap "
		"--fail-on 'survived.bytes > 64KiB'\n"
		"  heapinspect check series.hisnap --fail-on 'slope(type=\"struct "
		"session\", count) > 0'\n"
		"  heapinspect check app.hisnap --budget heap.budget -f markdown\n"
		"  heapinspect check app.hisnap --budget heap.budget --baseline "
		"main.hisnap --update-baseline",
	.wanted = WANTED,
	.write = write_check,
	.check = check_gates,
};
