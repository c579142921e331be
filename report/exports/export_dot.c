/* SPDX-License-Identifier: BSD-2-Clause */
/* The top of the merged dominator tree for Graphviz; gauges for Prometheus. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "base/table.h"
#include "base/text.h"
#include "census/analysis/merged.h"
#include "report/exports/export.h"
#include "report/exports/prometheus_labels.h"
#include "report/parts/decoded_share.h"
#include "report/parts/leak_totals.h"
#include "report/parts/report_node.h"
#include "report/pictures/merged_text.h"

enum { TOP_NODES = 60, TOP_TYPES = 50 };

/* Finds the least size that a node must have to be among the `top` largest. */
static enum hi_status find_least(const struct hi_merged *m, const uint64_t *below,
				 size_t top, uint64_t *ret, struct hi_error *err)
{
	size_t n = 0;
	HI_GUARD(free) uint64_t *best = hi_calloc(top + 1, sizeof(*best));

	if (!best)
		return hi_fail_memory(err, "export");
	for (size_t i = 0; i < m->count; i++) {
		size_t at;

		if (n == top && below[i] <= best[n - 1])
			continue;
		n += n < top;
		for (at = n - 1; at > 0 && best[at - 1] < below[i]; at--)
			best[at] = best[at - 1];
		best[at] = below[i];
	}
	*ret = n && best[n - 1] ? best[n - 1] : 1;
	return HI_OK;
}

static void put_dot_node(const struct hi_export *x, const struct hi_merged *m, size_t i,
			 uint64_t below)
{
	const struct hi_merged_node *node = &m->nodes[i];
	char bytes[24], count[32], text[HI_MERGED_TEXT];

	fprintf(x->out, "n%zu [label=\"", i);
	hi_export_put_quoted(x->out, hi_merged_text(x->graph, m, node->frame, text));
	if (node->objects > 1)
		fprintf(x->out, "\\n%s objects", hi_text_count(count, node->objects));
	fprintf(x->out, "\\n%s\"];\n", hi_text_bytes(bytes, below));
	if (node->parent != UINT32_MAX)
		fprintf(x->out, "n%" PRIu32 " -> n%zu;\n", node->parent, i);
}

enum hi_status hi_export_dot(struct hi_export *x, struct hi_error *err)
{
	HI_GUARD(hi_merged_destroy) struct hi_merged *m = NULL;
	HI_GUARD(free) uint64_t *below = NULL;
	size_t top = x->top ? x->top : TOP_NODES, n = 0, of = 0;
	enum hi_status status = x->source->merge(x->arg, &m, err);
	uint64_t least = 0;

	if (status == HI_OK) {
		below = hi_merged_below(m);
		status = below ? find_least(m, below, top < 10000 ? top : 10000, &least,
					    err)
			       : hi_fail_memory(err, "export");
	}
	if (status != HI_OK)
		return status;
	fputs("digraph heap {\nrankdir=LR;\nnode [shape=box];\n", x->out);
	/* Parents come before their children, and have at least their size. */
	for (size_t i = 0; i < m->count; i++) {
		of += below[i] > 0;
		if (below[i] < least || n >= top)
			continue;
		n++;
		put_dot_node(x, m, i, below[i]);
	}
	fputs("}\n", x->out);
	if (of > n)
		hi_export_warn(x,
			       "the largest %zu of %zu groups of objects; --top N for "
			       "more",
			       n, of);
	return HI_OK;
}

/* ---- Prometheus ---- */

static void put_gauge_heading(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# HELP heapinspect_%s %s\n# TYPE heapinspect_%s gauge\n", name,
		help, name);
}

static void put_gauge(const struct hi_export *x, const char *name, const char *type,
		      const char *module, uint64_t value)
{
	const struct hi_prometheus_labels labels = {.exe = x->header->exe,
						    .pid = x->header->pid,
						    .added = x->labels,
						    .n_added = x->n_labels};

	fprintf(x->out, "heapinspect_%s", name);
	hi_prometheus_put_labels(x->out, &labels, type, module);
	fprintf(x->out, " %" PRIu64 "\n", value);
}

/* UINT64_MAX: unknown, and absent. */
static void put_single_gauge(const struct hi_export *x, const char *name,
			     const char *help, uint64_t value)
{
	put_gauge_heading(x->out, name, help);
	if (value != UINT64_MAX)
		put_gauge(x, name, NULL, NULL, value);
}

static bool is_same_series(const struct hi_export *x, size_t i, size_t k)
{
	const struct hi_type_name *a = &x->graph->types[x->census->rows[i].type];
	const struct hi_type_name *b = &x->graph->types[x->census->rows[k].type];
	char a_name[HI_TYPE_SHORT_SIZE], b_name[HI_TYPE_SHORT_SIZE];

	return strcmp(hi_prometheus_type(a->name, a_name),
		      hi_prometheus_type(b->name, b_name)) == 0 &&
	       strcmp(hi_text_or_empty(a->module), hi_text_or_empty(b->module)) == 0;
}

/* Types of one displayed name and module are one series: by the first of them. Returns for each
 * row the row that it is added to; freed by the caller. NULL: out of memory. */
static size_t *find_series(const struct hi_export *x)
{
	const struct hi_census *c = x->census;
	size_t *series = hi_calloc(c->n_rows + 1, sizeof(*series));
	struct hi_interner names = {};
	struct hi_table first = {};
	char shown[HI_TYPE_SHORT_SIZE];
	bool failed = !series;

	for (size_t i = 0; i < c->n_rows && !failed; i++) {
		const struct hi_type_name *t = &x->graph->types[c->rows[i].type];
		uint32_t name =
			hi_interner_add(&names, hi_prometheus_type(t->name, shown));
		uint32_t module = hi_interner_add(&names, hi_text_or_empty(t->module));
		uint64_t key = (uint64_t)name << 32 | module, found = i;

		if (!hi_table_get(&first, key, &found))
			failed = !hi_table_put(&first, key, i);
		failed |= !name || !module || !is_same_series(x, i, found);
		series[i] = found;
	}
	hi_table_free(&first);
	hi_interner_free(&names);
	if (failed)
		free(hi_take(series));
	return series;
}

static void put_type_gauges(struct hi_export *x, const char *name, const char *help,
			    bool bytes, const size_t *series, uint64_t *sums)
{
	const struct hi_census *c = x->census;
	size_t top = x->all ? SIZE_MAX : x->top ? x->top : TOP_TYPES, n = 0;
	uint64_t rest = 0;
	char shown[HI_TYPE_SHORT_SIZE];

	memset(sums, 0, c->n_rows * sizeof(*sums));
	for (size_t i = 0; i < c->n_rows; i++)
		sums[series[i]] += bytes ? c->rows[i].shallow : c->rows[i].count;
	put_gauge_heading(x->out, name, help);
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct hi_type_name *t = &x->graph->types[c->rows[i].type];

		if (series[i] != i)
			continue;
		if (n++ >= top)
			rest += sums[i];
		else
			put_gauge(x, name, hi_prometheus_type(t->name, shown),
				  hi_text_or_empty(t->module), sums[i]);
	}
	/* No type is called so. */
	if (n > top)
		put_gauge(x, name, "(other)", "", rest);
}

enum hi_status hi_export_prometheus(struct hi_export *x, struct hi_error *err)
{
	const struct hi_reach *r = x->reach;
	HI_GUARD(free) size_t *series = find_series(x);
	HI_GUARD(free) uint64_t *sums = hi_calloc(x->census->n_rows + 1, sizeof(*sums));
	struct hi_leak_totals leaks;

	if (!series || !sums)
		return hi_fail_memory(err, "export");
	hi_leak_totals_count(x->graph, r, r, &leaks);
	leaks = hi_leak_totals_if_known(x->header, leaks);
	put_single_gauge(
		x, "live_bytes",
		"Live bytes: reachable from a root; a lower bound if heap_known is 0.",
		r->live_bytes);
	put_single_gauge(
		x, "live_objects",
		"Live objects: reachable from a root; a lower bound if heap_known is 0.",
		r->live_objects);
	put_single_gauge(x, "leak_bytes",
			 "Certainly leaked bytes: unreachable, and no garbage of a "
			 "collector; absent if heap_known is 0.",
			 leaks.certain.bytes);
	put_single_gauge(x, "leak_objects",
			 "Certainly leaked objects: unreachable, and no garbage of a "
			 "collector; absent if heap_known is 0.",
			 leaks.certain.objects);
	put_single_gauge(x, "leak_likely_bytes",
			 "Likely leaked bytes: only values that are not pointers refer "
			 "to them; absent if heap_known is 0.",
			 leaks.likely.bytes);
	put_single_gauge(
		x, "garbage_bytes",
		"Bytes that the next collection frees; absent if heap_known is 0.",
		leaks.garbage.bytes);
	put_single_gauge(
		x, "uncollectable_bytes",
		"Bytes that the collector cannot free; absent if heap_known is 0.",
		leaks.uncollectable.bytes);
	put_single_gauge(x, "lost_bytes",
			 "Bytes that lost references hold; absent if heap_known is 0.",
			 leaks.lost.bytes);
	put_single_gauge(x, "heap_known",
			 "1: the whole heap was walked; 0: some allocator or runtime is "
			 "not decoded.",
			 hi_heap_known(x->header) == HI_HEAP_KNOWN);
	if (x->ledger && x->ledger->rss != HI_UNKNOWN)
		put_single_gauge(x, "rss_bytes", "Resident bytes of the process.",
				 x->ledger->rss);
	put_type_gauges(x, "type_bytes", "Live bytes by type.", true, series, sums);
	put_type_gauges(x, "type_objects", "Live objects by type.", false, series, sums);
	return HI_OK;
}
