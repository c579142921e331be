/* SPDX-License-Identifier: BSD-2-Clause */
/* What is behind a gate that failed: the objects that it counts, by type, by what holds
 * them, or as leaks, and the command that shows more. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "census/analysis/subset_totals.h"
#include "cli/check/check.h"
#include "report/parts/report_node.h"
#include "report/type_search.h"
#include "session/path_text.h"

enum { SHOWN = 3, LEAK_ROWS = 64, CULPRITS = 2 * SHOWN };

/* One gate's. */
struct search {
	struct hi_check_heaps *heaps;
	struct hi_inspection *in;
	const struct hi_gate *gate;
	const struct hi_gate_metric *metric;
	const uint64_t *born; /* bits: only these count; NULL: all */
	struct hi_check_culprit *culprits;
	size_t n;
};

/* ---- which objects ---- */

/* The first one that is not the baseline's says what the gate is about. */
static const struct hi_gate_metric *subject_of_gate(const struct hi_gate *gate)
{
	for (size_t i = 0; i < gate->n_steps; i++)
		if (gate->steps[i].op == HI_GATE_METRIC &&
		    !gate->steps[i].metric.baseline)
			return &gate->steps[i].metric;
	return NULL;
}

static void mark_subtree(const struct hi_dominators *d, uint32_t at, hi_node n_objects,
			 uint64_t *bits)
{
	for (uint32_t i = at; i < at + d->span[at]; i++)
		if (d->order[i] < n_objects)
			bits[d->order[i] >> 6] |= (uint64_t)1 << (d->order[i] & 63);
}

/* What the variables of a name dominate. */
static void mark_root(const struct hi_inspection *in, const char *name, uint64_t *bits)
{
	const struct hi_graph *g = in->graph;
	const struct hi_dominators *d = in->results.dominators;

	for (uint32_t at = 0; at < d->n_order; at++) {
		hi_node node = d->order[at];

		if (node >= g->first_root && node < g->first_root + g->n_roots &&
		    strcmp(g->roots[node - g->first_root].name, name) == 0)
			mark_subtree(d, at, g->n_objects, bits);
	}
}

static bool is_counted_by_gate(const struct search *s, const struct hi_type_set *types,
			       hi_node object)
{
	const struct hi_graph *g = s->in->graph;
	uint32_t type = g->objects->type[object];
	bool live = s->in->results.reach->any[object >> 6] >> (object & 63) & 1;

	switch (s->metric->subject) {
	case HI_GATE_TYPE:
		return live && hi_type_set_has(types, type);
	case HI_GATE_MODULE:
		return live && g->types[type].module &&
		       strcmp(g->types[type].module, s->metric->name) == 0;
	case HI_GATE_SURVIVED:
		return s->heaps->three->survivors[object >> 6] >> (object & 63) & 1 &&
		       (!*s->metric->name || hi_type_set_has(types, type));
	case HI_GATE_TOTAL:
		return true;
	case HI_GATE_GARBAGE:
		return !live && hi_leak_kind_of(g, s->in->results.reach, object) ==
					HI_LEAK_GARBAGE;
	case HI_GATE_LIVE:
	case HI_GATE_LEAK:
	case HI_GATE_UNCOLLECTABLE:
	case HI_GATE_LOST:
	case HI_GATE_ROOT:
	case HI_GATE_LEDGER:
	case HI_GATE_SNAPSHOT:
	default:
		return live;
	}
}

/* Does the gate count objects of types? Then they are in *ret. */
static void select_counted_types(const struct search *s, struct hi_type_set *ret)
{
	struct hi_error quiet;

	*ret = (struct hi_type_set){};
	if ((s->metric->subject == HI_GATE_TYPE ||
	     s->metric->subject == HI_GATE_SURVIVED) &&
	    *s->metric->name &&
	    hi_types_select(s->in->graph, s->metric->name, ret, NULL, &quiet) != HI_OK)
		*ret = (struct hi_type_set){};
}

static void mark_counted(const struct search *s, uint64_t *bits)
{
	hi_node n = s->in->graph->n_objects;
	struct hi_type_set types;

	select_counted_types(s, &types);
	if (s->metric->subject == HI_GATE_ROOT)
		mark_root(s->in, s->metric->name, bits);
	for (hi_node i = 0; i < n && s->metric->subject != HI_GATE_ROOT; i++)
		if (!hi_is_internal(s->in->graph, i) && is_counted_by_gate(s, &types, i))
			bits[i >> 6] |= (uint64_t)1 << (i & 63);
	for (size_t i = 0; s->born && i < ((size_t)n + 63) / 64; i++)
		bits[i] &= s->born[i];
	hi_type_set_free(&types);
}

/* ---- by type, and by what holds them ---- */

static void add_culprit(struct search *s, struct hi_check_culprit c)
{
	c.is_new = s->born != NULL;
	c.path = c.path ? c.path : "";
	if (s->n < CULPRITS)
		s->culprits[s->n++] = c;
}

static uint32_t position_of(const struct hi_dominators *d, hi_node node)
{
	uint32_t at = 0;

	while (at < d->n_order && d->order[at] != node)
		at++;
	return at;
}

/* The type of which most marked objects below a node are; *n_ret: how many. */
static uint32_t main_type_below(const struct search *s, const uint64_t *bits,
				hi_node holder, uint64_t *n_ret)
{
	const struct hi_graph *g = s->in->graph;
	const struct hi_dominators *d = s->in->results.dominators;
	HI_GUARD(free)
	uint64_t *counts = hi_calloc((size_t)g->n_types + 1, sizeof(*counts));
	uint32_t at = position_of(d, holder), best = 0;

	*n_ret = 0;
	if (!counts || at == d->n_order)
		return 0;
	for (uint32_t i = at; i < at + d->span[at]; i++) {
		hi_node node = d->order[i];

		if (node < g->n_objects && bits[node >> 6] >> (node & 63) & 1)
			counts[g->objects->type[node] < g->n_types
				       ? g->objects->type[node]
				       : 0]++;
	}
	for (uint32_t t = 0; t < g->n_types; t++)
		if (counts[t] > counts[best])
			best = t;
	*n_ret = counts[best];
	return best;
}

static const char *path_to(struct hi_inspection *in, hi_node node)
{
	return hi_graph_is_object(in->graph, node) ? hi_path_text_from_root(in, node)
						   : hi_path_text_of_nodes(in, &node, 1);
}

static enum hi_status add_holders(struct search *s, const uint64_t *bits,
				  const struct hi_heap_side *side, uint64_t all,
				  struct hi_error *err)
{
	struct hi_growth found[SHOWN];
	size_t n = 0;
	enum hi_status status = hi_growth_find(side, bits, SHOWN, found, &n, err);

	for (size_t i = 0; status == HI_OK && i < n; i++) {
		hi_node node = found[i].holder;
		bool is_object = hi_graph_is_object(s->in->graph, node);
		uint64_t count;
		uint32_t type = main_type_below(s, bits, node, &count);

		add_culprit(s, (struct hi_check_culprit){
				       .kind = HI_CULPRIT_HOLDER,
				       .type = hi_graph_type_name(s->in->graph, type),
				       .count = count,
				       .bytes = found[i].holder_bytes,
				       .of = all,
				       .path = path_to(s->in, node),
				       .example = is_object ? hi_graph_address(
								      s->in->graph, node)
							    : 0});
	}
	return status;
}

static bool is_held(const struct hi_marked_row *row)
{
	uint64_t unheld = 0;

	for (unsigned i = 0; i < HI_LEAK_KINDS; i++)
		unheld += row->unheld[i].count;
	return unheld < row->all.count;
}

/* Does a holder's line say it already? */
static bool is_told_by_holder(const struct search *s, const struct hi_marked_row *row)
{
	const char *type = hi_graph_type_name(s->in->graph, row->type);

	for (size_t i = 0; i < s->n; i++)
		if (s->culprits[i].count == row->all.count &&
		    strcmp(s->culprits[i].type, type) == 0)
			return true;
	return false;
}

static void add_types(struct search *s, const struct hi_marked *m)
{
	const struct hi_graph *g = s->in->graph;

	for (size_t i = 0; i < m->n_rows && i < SHOWN; i++) {
		const struct hi_marked_row *row = &m->rows[i];

		if (is_told_by_holder(s, row))
			continue;
		add_culprit(s, (struct hi_check_culprit){
				       .kind = HI_CULPRIT_TYPE,
				       .type = hi_graph_type_name(g, row->type),
				       .count = row->all.count,
				       .bytes = row->all.bytes,
				       .path = is_held(row) ? path_to(s->in, row->example)
							    : "",
				       .example = hi_graph_address(g, row->example)});
	}
}

static enum hi_status find_counted(struct search *s, struct hi_error *err)
{
	HI_GUARD(hi_marked_destroy) struct hi_marked *m = NULL;
	HI_GUARD(free)
	uint64_t *bits =
		hi_calloc(((size_t)s->in->graph->n_objects + 63) / 64 + 1, sizeof(*bits));
	struct hi_heap_side side = {
		s->in->graph, s->in->results.reach, s->in->results.dominators, NULL, NULL,
		NULL};
	enum hi_status status;

	if (!bits)
		return hi_fail_memory(err, "culprits");
	mark_counted(s, bits);
	status = hi_marked_by_type(&side, bits, &m, err);
	if (status == HI_OK)
		status = add_holders(s, bits, &side, m->all.bytes, err);
	if (status == HI_OK)
		add_types(s, m);
	return status;
}

/* ---- leaks ---- */

static bool is_leak_of_gate(const struct search *s, const struct hi_leak_root *root)
{
	if (s->born && !(s->born[root->node >> 6] >> (root->node & 63) & 1))
		return false;
	if (s->metric->subject == HI_GATE_UNCOLLECTABLE)
		return root->unreachable_class == HI_UNREACHABLE_UNCOLLECTABLE;
	if (s->metric->subject == HI_GATE_LOST)
		return root->unreachable_class == HI_UNREACHABLE_LOST_REFERENCE;
	return root->unreachable_class != HI_UNREACHABLE_GARBAGE &&
	       root->is_likely == (s->metric->field == HI_GATE_LIKELY);
}

static void count_leak_root(const struct search *s, const struct hi_leak_root *root,
			    struct hi_leak_row *rows, size_t *n)
{
	uint32_t type = s->in->graph->objects->type[root->named];
	size_t i = 0;

	while (i < *n && (rows[i].type != type || rows[i].group != root->group ||
			  rows[i].shape != root->shape))
		i++;
	if (i == LEAK_ROWS)
		return;
	if (i == *n)
		rows[(*n)++] = (struct hi_leak_row){.type = type,
						    .group = root->group,
						    .least_members = root->members,
						    .held_type = root->held_type,
						    .held_group = root->held_group,
						    .shape = root->shape,
						    .is_likely = root->is_likely,
						    .example = root->named};
	if (root->members < rows[i].least_members)
		rows[i].least_members = root->members;
	if (root->members > rows[i].most_members)
		rows[i].most_members = root->members;
	rows[i].count++;
	rows[i].objects += root->objects;
	rows[i].bytes += root->bytes;
}

/* The rows come in the order of their largest root; the largest sum goes first.
 */
static int compare_leak_sums(const void *a, const void *b)
{
	const struct hi_leak_row *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void find_leak_rows(struct search *s)
{
	const struct hi_leaks *leaks = s->in->results.leaks;
	const struct hi_graph *g = s->in->graph;
	struct hi_leak_row rows[LEAK_ROWS];
	size_t n = 0;

	for (size_t i = 0; i < leaks->n_roots; i++)
		if (is_leak_of_gate(s, &leaks->roots[i]))
			count_leak_root(s, &leaks->roots[i], rows, &n);
	qsort(rows, n, sizeof(*rows), compare_leak_sums);
	for (size_t i = 0; i < n && i < CULPRITS - 1; i++)
		add_culprit(s, (struct hi_check_culprit){
				       .kind = HI_CULPRIT_LEAK,
				       .name = hi_leak_name_of_row(g, leaks, &rows[i]),
				       .shape = rows[i].shape,
				       .is_likely = rows[i].is_likely,
				       .count = rows[i].count,
				       .objects = rows[i].objects,
				       .bytes = rows[i].bytes,
				       .example = hi_graph_address(g, rows[i].example)});
}

/* ---- what to do next ---- */

static const char *word_of_target(const struct hi_report_header *h,
				  struct hi_page *scratch)
{
	return h ? hi_report_header_target(h, scratch) : "";
}

static const char *next_command(const struct search *s, struct hi_page *scratch)
{
	const struct hi_check_heaps *h = s->heaps;
	const char *target = word_of_target(h->header, scratch);

	if (s->metric->slope)
		return hi_page_printf(scratch, "heapinspect graph %s",
				      hi_page_shell_word(scratch, h->header->file));
	switch (s->metric->subject) {
	case HI_GATE_SURVIVED:
		return hi_page_printf(scratch, "heapinspect diff --three %s %s %s",
				      word_of_target(&h->three->warm.header, scratch),
				      word_of_target(&h->three->load.header, scratch),
				      target);
	case HI_GATE_LEAK:
	case HI_GATE_GARBAGE:
	case HI_GATE_UNCOLLECTABLE:
	case HI_GATE_LOST:
		return hi_page_printf(scratch, "heapinspect leaks %s", target);
	case HI_GATE_SNAPSHOT:
		return "";
	case HI_GATE_LEDGER:
		return hi_page_printf(scratch, "heapinspect %s", target);
	case HI_GATE_TYPE:
	case HI_GATE_LIVE:
	case HI_GATE_TOTAL:
	case HI_GATE_MODULE:
	case HI_GATE_ROOT:
	default:
		break;
	}
	if (s->born)
		return hi_page_printf(scratch, "heapinspect diff %s %s",
				      word_of_target(h->head_before, scratch), target);
	if (s->metric->subject == HI_GATE_TYPE)
		return hi_page_printf(scratch, "heapinspect paths %s %s",
				      hi_page_shell_word(scratch, s->metric->name),
				      target);
	return hi_page_printf(scratch, "heapinspect retained %s", target);
}

static const char *keep_next_command(const struct search *s)
{
	struct hi_page *scratch = hi_page_create();
	const char *text =
		scratch ? hi_arena_strdup(&s->in->arena, next_command(s, scratch)) : NULL;

	hi_page_destroy(scratch);
	return text ? text : "";
}

/* ---- all of it ---- */

/* With the baseline, once for all gates: by address and type, or by type and
 * path. */
static enum hi_status compare_with_baseline(struct hi_check_heaps *h,
					    struct hi_error *err)
{
	struct hi_baseline before = {.in = h->before};
	struct hi_heap_side a, b;
	bool same_process = false;
	enum hi_status status;

	if (h->comparison || !h->before)
		return HI_OK;
	before.header = *h->head_before;
	status = hi_baseline_is_same_process(&before, h->in, h->header, &same_process,
					     err);
	if (status == HI_OK)
		status = hi_diff_side(h->before, &a, err);
	if (status == HI_OK)
		status = hi_diff_side(h->in, &b, err);
	return status == HI_OK ? hi_compare(&a, &b, same_process, HI_COMPARE_BY_TYPE,
					    &h->comparison, err)
			       : status;
}

static bool counts_objects(const struct hi_gate_metric *m)
{
	return m->subject != HI_GATE_LEDGER && m->subject != HI_GATE_SNAPSHOT;
}

static bool counts_leaks(const struct hi_gate_metric *m)
{
	return m->subject == HI_GATE_LEAK || m->subject == HI_GATE_UNCOLLECTABLE ||
	       m->subject == HI_GATE_LOST;
}

enum hi_status hi_check_find_culprits(struct hi_check_heaps *heaps,
				      struct hi_check_row *row, struct hi_error *err)
{
	struct search s = {.heaps = heaps,
			   .in = heaps->in,
			   .gate = row->gate,
			   .metric = subject_of_gate(row->gate)};
	enum hi_status status = HI_OK;

	if (!s.metric || !row->result.is_known || !row->result.is_true)
		return HI_OK;
	s.culprits = hi_arena_alloc(&s.in->arena, CULPRITS * sizeof(*s.culprits));
	if (!s.culprits)
		return hi_fail_memory(err, "culprits");
	if (row->gate->needs_baseline) {
		status = compare_with_baseline(heaps, err);
		if (heaps->comparison && heaps->comparison->all.born.count)
			s.born = heaps->comparison->born;
	}
	if (status == HI_OK && counts_leaks(s.metric))
		find_leak_rows(&s);
	else if (status == HI_OK && counts_objects(s.metric))
		status = find_counted(&s, err);
	row->culprits = s.culprits;
	row->n_culprits = s.n;
	row->next = keep_next_command(&s);
	return status;
}
