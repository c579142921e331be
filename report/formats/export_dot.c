/* SPDX-License-Identifier: BSD-2-Clause */
/* The top of the dominator tree for Graphviz; gauges for Prometheus. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "census/graph/merged.h"
#include "report/formats/export.h"
#include "report/views/heap_known.h"
#include "report/views/leak_totals.h"
#include "report/views/node.h"

enum { TOP_NODES = 60, TOP_TYPES = 50 };

/* Finds the least retained size that a node must have to be among the `top` largest. */
static enum hi_status find_least(const struct hi_export *x, size_t top, uint64_t *ret,
				 struct hi_error *err)
{
	const struct hi_dominators *d = x->dominators;
	size_t n = 0;
	HI_GUARD(free) uint64_t *best = hi_calloc(top + 1, sizeof(*best));

	if (!best)
		return hi_fail_memory(err, "export");
	/* The smallest of the best is a heap's top. */
	for (hi_node i = 0; i < d->n_order; i++) {
		uint64_t bytes = d->retained[d->order[i]];
		size_t at;

		if (n == top && bytes <= best[n - 1])
			continue;
		n += n < top;
		for (at = n - 1; at > 0 && best[at - 1] < bytes; at--)
			best[at] = best[at - 1];
		best[at] = bytes;
	}
	*ret = n && best[n - 1] ? best[n - 1] : 1;
	return HI_OK;
}

enum hi_status hi_export_dot(struct hi_export *x, struct hi_error *err)
{
	const struct hi_dominators *d = x->dominators;
	const struct hi_graph *g = x->graph;
	size_t top = x->top ? x->top : TOP_NODES, n = 0;
	uint64_t least = 0;
	enum hi_status status = find_least(x, top < 10000 ? top : 10000, &least, err);

	if (status != HI_OK)
		return status;
	fputs("digraph heap {\nrankdir=LR;\nnode [shape=box];\n", x->out);
	/* In preorder: all dominators of a node that is shown are shown before it. */
	for (hi_node i = 0; i < d->n_order && n < top; i++) {
		hi_node node = d->order[i], up = d->idom[node];
		char bytes[24];

		if (d->retained[node] < least)
			continue;
		n++;
		fprintf(x->out, "n%u [label=\"", node);
		hi_export_put_quoted(x->out, hi_merged_name(g, hi_merged_key(g, node)));
		fprintf(x->out, "\\n%s\"];\n", hi_text_bytes(bytes, d->retained[node]));
		if (up != HI_NODE_NONE)
			fprintf(x->out, "n%u -> n%u;\n", up, node);
	}
	fputs("}\n", x->out);
	if (d->n_order > n)
		hi_export_warn(x,
			       "the largest %zu of %" PRIu32 " objects and variables; "
			       "--top N for more",
			       n, d->n_order);
	return HI_OK;
}

/* ---- Prometheus ---- */

static void put_gauge_heading(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# HELP heapinspect_%s %s\n# TYPE heapinspect_%s gauge\n", name,
		help, name);
}

/* UINT64_MAX: unknown, and absent. */
static void put_single_gauge(FILE *out, const char *name, const char *help,
			     uint64_t value)
{
	put_gauge_heading(out, name, help);
	if (value != UINT64_MAX)
		fprintf(out, "heapinspect_%s %" PRIu64 "\n", name, value);
}

static void put_type_gauges(struct hi_export *x, const char *name, const char *help,
			    bool bytes)
{
	const struct hi_census *c = x->census;
	size_t top = x->all ? SIZE_MAX : x->top ? x->top : TOP_TYPES;
	uint64_t rest = 0;

	put_gauge_heading(x->out, name, help);
	for (size_t i = 0; i < c->n_rows; i++) {
		uint64_t value = bytes ? c->rows[i].shallow : c->rows[i].count;

		if (i >= top) {
			rest += value;
			continue;
		}
		fprintf(x->out, "heapinspect_%s{type=\"", name);
		hi_export_put_quoted(x->out,
				     hi_type_key(x->graph->types[c->rows[i].type].name));
		/* Two types may have the same name; the id distinguishes them. */
		fprintf(x->out, "\",id=\"%u\"} %" PRIu64 "\n", c->rows[i].type, value);
	}
	if (c->n_rows > top)
		fprintf(x->out, "heapinspect_%s{type=\"other\",id=\"\"} %" PRIu64 "\n",
			name, rest);
}

enum hi_status hi_export_prometheus(struct hi_export *x, struct hi_error *err)
{
	const struct hi_reach *r = x->reach;
	struct hi_leak_totals leaks;

	(void)err;
	hi_leak_totals_count(x->graph, r, r, &leaks);
	leaks = hi_leak_totals_if_known(x->header, leaks);
	put_single_gauge(
		x->out, "live_bytes",
		"Live bytes: reachable from a root; a lower bound if heap_known is 0.",
		r->live_bytes);
	put_single_gauge(
		x->out, "live_objects",
		"Live objects: reachable from a root; a lower bound if heap_known is 0.",
		r->live_objects);
	put_single_gauge(x->out, "leak_bytes",
			 "Certainly leaked bytes: unreachable, and no garbage of a "
			 "collector; absent if heap_known is 0.",
			 leaks.certain.bytes);
	put_single_gauge(x->out, "leak_objects",
			 "Certainly leaked objects: unreachable, and no garbage of a "
			 "collector; absent if heap_known is 0.",
			 leaks.certain.objects);
	put_single_gauge(x->out, "leak_likely_bytes",
			 "Likely leaked bytes: only values that are not pointers refer "
			 "to them; absent if heap_known is 0.",
			 leaks.likely.bytes);
	put_single_gauge(
		x->out, "garbage_bytes",
		"Bytes that the next collection frees; absent if heap_known is 0.",
		leaks.garbage.bytes);
	put_single_gauge(
		x->out, "uncollectable_bytes",
		"Bytes that the collector cannot free; absent if heap_known is 0.",
		leaks.uncollectable.bytes);
	put_single_gauge(x->out, "lost_bytes",
			 "Bytes that lost references hold; absent if heap_known is 0.",
			 leaks.lost.bytes);
	put_single_gauge(x->out, "heap_known",
			 "1: the whole heap was walked; 0: some allocator or runtime is "
			 "not decoded.",
			 hi_heap_known(x->header) == HI_HEAP_KNOWN);
	if (x->ledger && x->ledger->rss != HI_UNKNOWN)
		put_single_gauge(x->out, "rss_bytes", "Resident bytes of the process.",
				 x->ledger->rss);
	put_type_gauges(x, "type_bytes", "Live bytes by type.", true);
	put_type_gauges(x, "type_objects", "Live objects by type.", false);
	return HI_OK;
}
