/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `check`: evaluates gates on a heap. */
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "census/analysis/leak_totals.h"
#include "cli/baseline.h"
#include "cli/command.h"
#include "cli/gate_names.h"
#include "report/views/check_report.h"
#include "report/views/heap_known.h"
#include "report/views/names.h"
#include "session/lookup.h"

enum { WANTED = HI_WANT_DOMINATORS | HI_WANT_CENSUS | HI_WANT_LEAKS | HI_WANT_LEDGER };

struct sides {
	struct hi_inspection *in, *before; /* before: NULL, no baseline */
	const struct hi_report_header *header, *head_before;
};

/* ---- metrics ---- */

static double of_type(struct hi_inspection *in, const struct hi_gate_metric *m)
{
	struct hi_type_set set = {};
	struct hi_error quiet;
	uint64_t sum = 0;

	if (hi_types_select(in->graph, m->name, &set, NULL, &quiet) != HI_OK) {
		hi_inspect_warn(in, "no object has the type %.100s", m->name);
		return 0;
	}
	for (size_t i = 0; i < in->results.census->n_rows; i++) {
		const struct hi_census_row *row = &in->results.census->rows[i];

		if (!hi_type_set_has(&set, row->type))
			continue;
		sum += m->field == HI_GATE_COUNT      ? row->count
		       : m->field == HI_GATE_RETAINED ? row->retained
						      : row->shallow;
	}
	hi_type_set_free(&set);
	return (double)sum;
}

static double of_module(struct hi_inspection *in, const struct hi_gate_metric *m)
{
	uint64_t sum = 0;
	bool found = false;

	for (size_t i = 0; i < in->results.census->n_rows; i++) {
		const struct hi_census_row *row = &in->results.census->rows[i];
		const char *module = in->graph->types[row->type].module;

		if (!module || strcmp(module, m->name) != 0)
			continue;
		found = true;
		sum += m->field == HI_GATE_COUNT ? row->count : row->shallow;
	}
	if (!found)
		hi_inspect_warn(in, "no object is of the module %.100s", m->name);
	return (double)sum;
}

static bool is_among(const struct hi_edges *edges, hi_node node)
{
	for (uint32_t i = 0; i < edges->count; i++)
		if (edges->to[i] == node)
			return true;
	return false;
}

/* A module of Python is a name for its dict, which frames and functions refer to as well:
 * what goes with the objects that it is, and not what the name alone keeps. */
static uint64_t retained_by_runtime(const struct hi_inspection *in, hi_node root)
{
	struct hi_edges edges = hi_graph_edges(in->graph, root);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < edges.count; i++)
		if (edges.grade[i] != HI_GRADE_WEAK &&
		    !is_among(&edges, in->results.dominators->idom[edges.to[i]]))
			sum += in->results.dominators->retained[edges.to[i]];
	return sum;
}

static double of_root(struct hi_inspection *in, const struct hi_gate_metric *m)
{
	const struct hi_graph *g = in->graph;
	uint64_t sum = 0;
	bool found = false;

	for (hi_node i = 0; i < g->n_roots; i++) {
		if (strcmp(g->roots[i].name, m->name) != 0)
			continue;
		found = true;
		sum += g->roots[i].kind == HI_ROOT_RUNTIME
			       ? retained_by_runtime(in, g->first_root + i)
			       : in->results.dominators->retained[g->first_root + i];
	}
	if (!found)
		hi_inspect_warn(in, "no variable has the name %.100s", m->name);
	return (double)sum;
}

static bool of_ledger(struct hi_inspection *in, const struct hi_gate_metric *m,
		      double *ret)
{
	if (!in->results.ledger_known)
		return false;
	if (strcmp(m->name, "rss") == 0) {
		*ret = (double)in->results.ledger.rss;
		return in->results.ledger.rss != HI_UNKNOWN;
	}
	for (size_t i = 0; i < in->results.ledger.n_rows; i++) {
		const struct hi_ledger_row *row = &in->results.ledger.rows[i];
		uint64_t n = m->field == HI_GATE_COUNT	   ? row->count
			     : row->resident != HI_UNKNOWN ? row->resident
							   : row->virtual_size;

		if (strcmp(row->key, m->name) != 0)
			continue;
		*ret = (double)n;
		return n != HI_UNKNOWN;
	}
	return false;
}

/* What a collector has not taken yet is no leak. */
static double count_leak_roots(const struct hi_inspection *in)
{
	size_t n = 0;

	for (size_t i = 0; i < in->results.leaks->n_roots; i++)
		n += in->results.leaks->roots[i].unreachable_class !=
			     HI_UNREACHABLE_GARBAGE &&
		     !in->results.leaks->roots[i].is_likely;
	return (double)n;
}

static double of_leaks(const struct hi_inspection *in, const struct hi_gate_metric *m)
{
	const struct hi_leak_total *sum;
	struct hi_leak_totals sums;

	hi_leak_totals_count(in->graph, in->results.reach, in->results.reach, &sums);
	sum = m->subject == HI_GATE_GARBAGE	    ? &sums.garbage
	      : m->subject == HI_GATE_UNCOLLECTABLE ? &sums.uncollectable
	      : m->subject == HI_GATE_LOST	    ? &sums.lost
	      : m->field == HI_GATE_LIKELY	    ? &sums.likely
						    : &sums.certain;
	return (double)(m->field == HI_GATE_COUNT ? sum->objects : sum->bytes);
}

static double of_all(const struct hi_inspection *in, const struct hi_gate_metric *m)
{
	const struct hi_reach *r = in->results.reach;
	bool leak = m->subject == HI_GATE_TOTAL;

	if (m->field == HI_GATE_ROOTS)
		return count_leak_roots(in);
	if (m->subject != HI_GATE_LIVE && m->subject != HI_GATE_TOTAL)
		return of_leaks(in, m);
	if (m->field == HI_GATE_COUNT)
		return (double)(r->live_objects + (leak ? r->leak_objects : 0));
	return (double)(r->live_bytes + (leak ? r->leak_bytes : 0));
}

/* A heap that is not decoded adds an unknown number: a lower bound passes no gate. */
static bool is_of_heap(const struct hi_gate_metric *m)
{
	static const char *const rows[] = {"live", "leak", "free", "allocator",
					   "fragmentation"};

	if (m->subject == HI_GATE_SNAPSHOT)
		return false;
	if (m->subject != HI_GATE_LEDGER)
		return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strncmp(m->name, rows[i], strlen(rows[i])) == 0)
			return true;
	return false;
}

static bool value_of_gate(void *arg, const struct hi_gate_metric *m, double *ret)
{
	const struct sides *s = arg;
	struct hi_inspection *in = m->baseline ? s->before : s->in;
	const struct hi_report_header *header = m->baseline ? s->head_before : s->header;

	if (!in || (is_of_heap(m) && hi_heap_known(header) != HI_HEAP_KNOWN))
		return false;
	switch (m->subject) {
	case HI_GATE_TYPE:
		*ret = of_type(in, m);
		return true;
	case HI_GATE_MODULE:
		*ret = of_module(in, m);
		return true;
	case HI_GATE_ROOT:
		*ret = of_root(in, m);
		return true;
	case HI_GATE_LEDGER:
		return of_ledger(in, m, ret);
	case HI_GATE_SNAPSHOT:
		*ret = (double)header->pause_ns;
		return header->pause_ns != UINT64_MAX;
	case HI_GATE_LIVE:
	case HI_GATE_LEAK:
	case HI_GATE_TOTAL:
	case HI_GATE_GARBAGE:
	case HI_GATE_UNCOLLECTABLE:
	case HI_GATE_LOST:
	default:
		*ret = of_all(in, m);
		return true;
	}
}

/* ---- the command ---- */

static enum hi_status write_junit(const struct hi_check_report *r,
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
	hi_check_junit(r, output.file);
	status = hi_output_commit(&output, err);
	hi_output_close(&output);
	return status;
}

/* The gate fails; other unknown values are an error. */
static bool fails_as_unknown(const struct sides *s, const struct hi_gate_metric *m)
{
	const struct hi_report_header *header = m->baseline ? s->head_before : s->header;

	return is_of_heap(m) && hi_heap_known(header) != HI_HEAP_KNOWN;
}

static enum hi_status evaluate_gates(const struct sides *s, const struct hi_gate *gate,
				     struct hi_check_row *row, struct hi_error *err)
{
	*row = (struct hi_check_row){
		gate, hi_gate_evaluate(gate, value_of_gate, (void *)(uintptr_t)s)};
	if (row->result.is_known)
		return hi_gate_check_names(gate, s->in, s->before, err);
	if (fails_as_unknown(s, row->result.unknown))
		return HI_OK;
	return hi_fail(err, HI_NOT_FOUND, 0, "--fail-on '%.100s': %s%.60s is not known%s",
		       gate->text,
		       row->result.unknown->subject == HI_GATE_LEDGER
			       ? "row of the ledger: "
			       : "a value",
		       row->result.unknown->name,
		       row->result.unknown->baseline ? " of the baseline" : "");
}

static enum hi_status print_check_report(const struct sides *s, struct hi_page *page,
					 struct hi_json *json, struct hi_error *err)
{
	struct hi_inspection *in = s->in;
	const struct hi_options *o = in->options;
	struct hi_check_row *rows =
		hi_arena_alloc(&in->arena, (o->check.n_gates + 1) * sizeof(*rows));
	struct hi_report_header header = *s->header;
	struct hi_check_report r = {.header = &header,
				    .baseline = s->head_before,
				    .rows = rows,
				    .n_rows = o->check.n_gates};
	enum hi_status status = rows ? HI_OK : hi_fail_memory(err, "gates");

	for (size_t i = 0; i < o->check.n_gates && status == HI_OK; i++) {
		status = evaluate_gates(s, &o->check.gates[i], &rows[i], err);
		r.n_failed += hi_check_fails(&rows[i]);
	}
	/* What names nothing was found out just now. */
	header.warnings = in->diagnostics.warnings.items;
	header.n_warnings = in->diagnostics.warnings.count;
	if (status == HI_OK)
		status = write_junit(&r, o, err);
	if (status != HI_OK)
		return status;
	in->diagnostics.has_finding = r.n_failed;
	if (o->check.github)
		hi_check_github(&r, stderr);
	if (json)
		hi_check_json(&r, json);
	else
		hi_check_display(&r, page);
	return HI_OK;
}

static enum hi_status run_check_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	struct hi_baseline before = {};
	struct sides s = {.in = in, .header = header};
	enum hi_status status = HI_OK;

	if (in->options->comparison.baseline) {
		status = hi_baseline_open(in, header, in->options->comparison.baseline,
					  in->options->comparison.baseline_census, WANTED,
					  &before, err);
		s.before = before.in;
		s.head_before = &before.header;
	}
	if (status == HI_OK)
		status = print_check_report(&s, page, json, err);
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
		"change since the baseline, for example 10%.\n"
		"\n"
		"Examples:\n"
		"  heapinspect check app.hisnap --fail-on 'leak.bytes > 0'\n"
		"  heapinspect check app.hisnap --fail-on 'type(\"struct "
		"session\").count > 1000'\n"
		"  heapinspect check app.hisnap --baseline old.hisnap --fail-on "
		"'growth(live.bytes) > 10%' --junit heap.xml",
	.wanted = WANTED,
	.run = run_check_command,
};
