/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of the metrics of gates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "census/analysis/block_states.h"
#include "census/analysis/leak_totals.h"
#include "cli/check/check.h"
#include "report/parts/decoded_share.h"
#include "report/type_search.h"
#include "session/type_values.h"

/* A count is of values: an array of 100 is 100. */
static enum hi_status of_type(struct hi_inspection *in, const struct hi_gate_metric *m,
			      double *ret, struct hi_error *err)
{
	struct hi_type_set set = {};
	struct hi_error quiet;
	enum hi_status status;
	uint64_t sum = 0;

	*ret = 0;
	if (hi_types_select(in->graph, m->name, &set, NULL, &quiet) != HI_OK)
		return 0;
	if (m->field == HI_GATE_COUNT) {
		status =
			hi_type_values_count(in, &set, in->results.reach->any, &sum, err);
		hi_type_set_free(&set);
		*ret = (double)sum;
		return status;
	}
	for (size_t i = 0; i < in->results.census->n_rows; i++) {
		const struct hi_census_row *row = &in->results.census->rows[i];

		if (!hi_type_set_has(&set, row->type))
			continue;
		sum += m->field == HI_GATE_RETAINED ? row->retained : row->shallow;
	}
	hi_type_set_free(&set);
	*ret = (double)sum;
	return HI_OK;
}

static double of_module(struct hi_inspection *in, const struct hi_gate_metric *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < in->results.census->n_rows; i++) {
		const struct hi_census_row *row = &in->results.census->rows[i];
		const char *module = in->graph->types[row->type].module;

		if (module && strcmp(module, m->name) == 0)
			sum += m->field == HI_GATE_COUNT ? row->count : row->shallow;
	}
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

	for (hi_node i = 0; i < g->n_roots; i++) {
		if (strcmp(g->roots[i].name, m->name) != 0)
			continue;
		sum += g->roots[i].kind == HI_ROOT_RUNTIME
			       ? retained_by_runtime(in, g->first_root + i)
			       : in->results.dominators->retained[g->first_root + i];
	}
	return (double)sum;
}

/* Memory of a kind that other allocators have. */
static bool is_other_free_row(const struct hi_inspection *in, const char *key)
{
	uint64_t size = HI_UNKNOWN;

	for (size_t i = 0; i < in->results.ledger.n_rows; i++)
		if (strcmp(in->results.ledger.rows[i].key, "free") == 0)
			size = in->results.ledger.rows[i].virtual_size;
	if (size == HI_UNKNOWN) /* no allocator is known */
		return false;
	for (int s = HI_BLOCK_FREE_FIRST; s < HI_BLOCK_STATES; s++)
		if (strcmp(hi_block_state_key((enum hi_block_state)s), key) == 0)
			return true;
	return false;
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
	*ret = 0;
	return is_other_free_row(in, m->name);
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

/* types: NULL, all. */
static double sum_survivors(const struct hi_check_heaps *s,
			    const struct hi_type_set *types, bool as_count)
{
	const struct hi_objects *objects = s->in->graph->objects;
	uint64_t sum = 0;

	for (hi_node i = 0; i < s->in->graph->n_objects; i++)
		if (hi_bit(s->three->survivors, i) &&
		    hi_type_set_has(types, objects->type[i]))
			sum += as_count ? 1 : hi_objects_cost(objects, i);
	return (double)sum;
}

/* The survivors, all of them or those of the types. */
static enum hi_status of_survivors(struct hi_check_heaps *s,
				   const struct hi_gate_metric *m, double *ret)
{
	bool as_count = m->field == HI_GATE_COUNT;
	struct hi_type_set set = {};
	enum hi_status status = HI_OK;
	struct hi_error quiet;
	uint64_t n = 0;

	*ret = *m->name ? 0 : sum_survivors(s, NULL, as_count);
	if (!*m->name ||
	    hi_types_select(s->in->graph, m->name, &set, NULL, &quiet) != HI_OK)
		return HI_OK;
	if (as_count) {
		status = hi_type_values_count(s->in, &set, s->three->survivors, &n,
					      &s->failure);
		*ret = (double)n;
	} else {
		*ret = sum_survivors(s, &set, false);
	}
	hi_type_set_free(&set);
	return status;
}

/* A heap that is not decoded adds an unknown number: a lower bound passes no gate. */
static bool is_of_heap(const struct hi_gate_metric *m)
{
	static const char *const rows[] = {"live",	"leak",	    "free",
					   "allocator", "metadata", "fragmentation"};

	if (m->subject == HI_GATE_SNAPSHOT)
		return false;
	if (m->subject != HI_GATE_LEDGER)
		return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strncmp(m->name, rows[i], strlen(rows[i])) == 0)
			return true;
	return false;
}

bool hi_check_is_undecoded(const struct hi_check_heaps *s, const struct hi_gate_metric *m)
{
	const struct hi_report_header *header = m->baseline ? s->head_before : s->header;

	if (m->slope)
		return s->is_undecoded;
	if (!header || !is_of_heap(m))
		return false;
	if (m->subject == HI_GATE_SURVIVED &&
	    (hi_heap_known(&s->three->warm.header) != HI_HEAP_KNOWN ||
	     hi_heap_known(&s->three->load.header) != HI_HEAP_KNOWN))
		return true;
	return hi_heap_known(header) != HI_HEAP_KNOWN;
}

const struct hi_reach *hi_check_doubtful(const struct hi_check_heaps *s,
					 const struct hi_gate_metric *m)
{
	const struct hi_inspection *in = m->baseline ? s->before : s->in;

	return in && !m->slope && m->subject == HI_GATE_LEAK &&
			       m->field != HI_GATE_LIKELY && in->results.reach &&
			       in->results.reach->is_doubtful
		       ? in->results.reach
		       : NULL;
}

static bool value_of_slope(struct hi_check_heaps *s, const struct hi_gate_metric *m,
			   double *ret)
{
	const struct hi_check_slope *slope = hi_check_slope(s, m);

	if (slope)
		*ret = fabs(slope->slope) > slope->margin ? slope->slope : 0;
	return slope;
}

bool hi_check_value(void *arg, const struct hi_gate_metric *m, double *ret)
{
	struct hi_check_heaps *s = arg;
	struct hi_inspection *in = m->baseline ? s->before : s->in;
	const struct hi_report_header *header = m->baseline ? s->head_before : s->header;

	if (m->slope)
		return value_of_slope(s, m, ret);
	if (!in || hi_check_is_undecoded(s, m) || hi_check_doubtful(s, m))
		return false;
	switch (m->subject) {
	case HI_GATE_TYPE:
		return of_type(in, m, ret, &s->failure) == HI_OK;
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
	case HI_GATE_SURVIVED:
		return of_survivors(s, m, ret) == HI_OK;
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

/* ---- --min-size ---- */

static enum hi_gate_field field_in_bytes(enum hi_gate_field field)
{
	return field == HI_GATE_COUNT || field == HI_GATE_ROOTS ? HI_GATE_BYTES : field;
}

/* Bytes that the metric stands for: of the change where the gate compares. */
static double bytes_of_metric(struct hi_check_heaps *s, const struct hi_gate *gate,
			      const struct hi_gate_metric *metric)
{
	struct hi_gate_metric m = *metric, before;
	double now = 0, then = 0;

	m.field = field_in_bytes(m.field);
	if (m.slope) {
		const struct hi_check_slope *slope = hi_check_slope(s, &m);

		return slope ? fabs(slope->slope) * (double)(slope->n - 1) : INFINITY;
	}
	if (!hi_check_value(s, &m, &now))
		return INFINITY;
	before = m;
	before.baseline = true;
	if (gate->needs_baseline && m.subject != HI_GATE_SURVIVED &&
	    hi_check_value(s, &before, &then))
		return fabs(now - then);
	return now;
}

bool hi_check_is_small(struct hi_check_heaps *s, const struct hi_gate *gate)
{
	uint64_t least = s->in->options->selection.min_size;

	/* A gate on too little is about what is missing. */
	if (!least || gate->order == HI_GATE_LESS || gate->order == HI_GATE_AT_MOST)
		return false;
	for (size_t i = 0; i < gate->n_steps; i++) {
		const struct hi_gate_metric *m = &gate->steps[i].metric;

		if (gate->steps[i].op != HI_GATE_METRIC || m->baseline)
			continue;
		if (m->subject == HI_GATE_SNAPSHOT ||
		    bytes_of_metric(s, gate, m) >= (double)least)
			return false;
	}
	return true;
}
