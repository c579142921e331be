/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chrome's .heapsnapshot. Its readers require: the root first, every child of the root
 * synthetic, edges in the order of their nodes, odd ids, sizes below 4 GiB.
 *
 * Note [Retained sizes in other viewers]
 *
 * A viewer computes dominators itself, over all edges that are not weak. To make it
 * arrive at the retained sizes of this program, edges that do not count here are written
 * as weak: an object that precise edges reach is dominated over precise edges from
 * objects that precise edges reach, and leaked objects keep nothing alive. Leaked objects
 * are below a node "(leaked)" of the root, and the allocator's own blocks are below
 * "(allocator)", with size 0.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/interner.h"
#include "base/vector.h"
#include "report/exports/export.h"
#include "report/exports/traces.h"

enum { FIELDS = 7, OBJECT = 3, SYNTHETIC = 9, PROPERTY = 2, WEAK = 6 };
enum { LEAKED = HI_ROOT_KINDS, ALLOCATOR, PSEUDO }; /* children of the root */

static const char meta[] =
	"{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\","
	"\"trace_node_id\",\"detachedness\"],\"node_types\":[[\"hidden\",\"array\","
	"\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\",\"native\","
	"\"synthetic\",\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\"],"
	"\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
	"\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[["
	"\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\","
	"\"weak\"],\"string_or_number\",\"node\"],";
static const char meta_without_traces[] =
	"\"trace_function_info_fields\":[],\"trace_node_fields\":[],";
static const char meta_of_traces[] =
	"\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\","
	"\"script_id\",\"line\",\"column\"],\"trace_node_fields\":[\"id\","
	"\"function_info_index\",\"count\",\"size\",\"children\"],";
static const char end_of_meta[] = "\"sample_fields\":[],\"location_fields\":[]}";

struct writer {
	struct hi_export *x;
	const struct hi_graph *g;
	struct hi_interner strings;
	struct texts HI_VECTOR(const char *) texts;
	struct hi_traces *traces; /* NULL: no recording */
	uint64_t n_written, clipped;
	bool failed;
};

/* The root, its children, variables, objects. */
static uint64_t position_of_node(const struct hi_graph *g, hi_node node)
{
	if (node < g->n_objects)
		return 1 + PSEUDO + (uint64_t)g->n_roots + node;
	if (node < g->first_kind)
		return 1 + PSEUDO + (node - g->first_root);
	return node == g->super_root ? 0 : 1 + (node - g->first_kind);
}

static uint32_t number_of_string(struct writer *w, const char *text)
{
	uint32_t number = hi_interner_add(&w->strings, text);

	w->failed |= !number;
	return number - 1;
}

static void put_node(struct writer *w, unsigned type, const char *name, uint64_t size,
		     uint64_t edges, uint32_t trace)
{
	if (size > UINT32_MAX) {
		w->clipped++;
		size = UINT32_MAX;
	}
	fprintf(w->x->out, "%s%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",0",
		w->n_written ? ",\n" : "", type, number_of_string(w, name),
		2 * w->n_written + 1, size, edges, trace);
	w->n_written++;
}

static void put_edge(struct writer *w, unsigned type, const char *name, hi_node to)
{
	fprintf(w->x->out, "%s%u,%u,%" PRIu64, w->n_written++ ? ",\n" : "", type,
		number_of_string(w, name), FIELDS * position_of_node(w->g, to));
}

/* ---- nodes ---- */

static void put_nodes(struct writer *w)
{
	const struct hi_export *x = w->x;
	const struct hi_graph *g = w->g;

	put_node(w, SYNTHETIC, "(root)", 0, PSEUDO, 0);
	for (unsigned k = 0; k < HI_ROOT_KINDS; k++)
		put_node(w, SYNTHETIC, hi_root_kind_name((enum hi_root_kind)k), 0,
			 hi_graph_edges(g, g->first_kind + k).count, 0);
	put_node(w, SYNTHETIC, "(leaked)", 0, x->leaks->n_roots, 0);
	put_node(w, SYNTHETIC, "(allocator)", 0, x->reach->n_internal_roots, 0);
	for (hi_node i = g->first_root; i < g->first_kind; i++)
		put_node(w, OBJECT, g->roots[i - g->first_root].name, 0,
			 hi_graph_edges(g, i).count, 0);
	for (hi_node i = 0; i < g->n_objects && !w->failed; i++) {
		const char *name = g->types[g->objects->type[i]].name;
		bool internal = g->objects->flags[i] & HI_OBJECT_INTERNAL;

		put_node(w, OBJECT, *name ? name : "(untyped)",
			 internal ? 0 : hi_objects_cost(g->objects, i),
			 hi_graph_edges(g, i).count, hi_traces_of(w->traces, i));
	}
}

/* ---- edges ---- */

/* Note [Retained sizes in other viewers]. */
static bool is_edge_exported(const struct hi_reach *r, hi_node from, hi_node to,
			     uint8_t grade)
{
	if (grade == HI_GRADE_WEAK || (hi_bit(r->any, to) && !hi_bit(r->any, from)))
		return false;
	return !hi_bit(r->exact, to) ||
	       (hi_grade_is_precise(grade) && hi_bit(r->exact, from));
}

static enum hi_status put_edges_of_node(struct writer *w, hi_node from,
					struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(w->g, from);
	enum hi_status status;

	if (!edges.count)
		return HI_OK;
	if (!hi_vector_reserve(&w->texts, edges.count))
		return hi_fail_memory(err, "export");
	status = w->x->source->labels(w->x->arg, from, w->texts.items, err);
	for (uint32_t i = 0; i < edges.count && status == HI_OK; i++)
		put_edge(w,
			 is_edge_exported(w->x->reach, from, edges.to[i], edges.grade[i])
				 ? PROPERTY
				 : WEAK,
			 w->texts.items[i], edges.to[i]);
	return status;
}

static void put_pseudo_edges(struct writer *w)
{
	const struct hi_export *x = w->x;
	const struct hi_graph *g = w->g;

	for (unsigned k = 0; k < PSEUDO; k++)
		fprintf(w->x->out, "%s%u,%u,%u", w->n_written++ ? ",\n" : "", PROPERTY,
			number_of_string(
				w, k == LEAKED ? "(leaked)"
				   : k == ALLOCATOR
					   ? "(allocator)"
					   : hi_root_kind_name((enum hi_root_kind)k)),
			FIELDS * (1 + k));
	for (unsigned k = 0; k < HI_ROOT_KINDS; k++) {
		struct hi_edges edges = hi_graph_edges(g, g->first_kind + k);

		for (uint32_t i = 0; i < edges.count; i++)
			put_edge(w, PROPERTY, g->roots[edges.to[i] - g->first_root].name,
				 edges.to[i]);
	}
	for (size_t i = 0; i < x->leaks->n_roots; i++)
		put_edge(w, PROPERTY, "leaked", x->leaks->roots[i].node);
	for (size_t i = 0; i < x->reach->n_internal_roots; i++)
		put_edge(w, PROPERTY, "internal", x->reach->internal_roots[i]);
}

static enum hi_status put_heapsnapshot_edges(struct writer *w, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	w->n_written = 0;
	put_pseudo_edges(w);
	for (hi_node i = w->g->first_root; i < w->g->first_kind && status == HI_OK; i++)
		status = put_edges_of_node(w, i, err);
	for (hi_node i = 0; i < w->g->n_objects && status == HI_OK && !w->failed; i++)
		status = put_edges_of_node(w, i, err);
	return status;
}

/* ---- all of it ---- */

static uint64_t count_heapsnapshot_edges(const struct writer *w)
{
	const struct hi_export *x = w->x;

	/* The super-root's own are replaced. */
	return w->g->n_edges - HI_ROOT_KINDS + PSEUDO + x->leaks->n_roots +
	       x->reach->n_internal_roots;
}

/* An edge names its target by its position in the array of nodes, in 32 bits. */
static enum hi_status check_fits(const struct hi_graph *g, uint64_t most,
				 struct hi_error *err)
{
	uint64_t n = 1 + PSEUDO + (uint64_t)g->n_roots + g->n_objects;

	if (n <= most / FIELDS)
		return HI_OK;
	return hi_fail(err, HI_LIMIT, 0,
		       "export: %" PRIu64 " objects and variables; a heapsnapshot has at "
		       "most %" PRIu64 ", -f ndjson as many as there are",
		       n, most / FIELDS);
}

/* The same as a callback. */
static uint32_t number_of_trace_string(void *arg, const char *text)
{
	return number_of_string(arg, text);
}

static void put_heapsnapshot_header(const struct writer *w)
{
	fprintf(w->x->out,
		"{\"snapshot\":{\"meta\":%s%s%s,\"node_count\":%" PRIu64
		",\"edge_count\":%" PRIu64 ",\"trace_function_count\":%" PRIu32
		"},\n\"nodes\":[",
		meta, w->traces ? meta_of_traces : meta_without_traces, end_of_meta,
		1 + PSEUDO + (uint64_t)w->g->n_roots + w->g->n_objects,
		count_heapsnapshot_edges(w), hi_traces_functions(w->traces));
}

static void put_traces(struct writer *w)
{
	fputs("],\n\"trace_function_infos\":[", w->x->out);
	hi_traces_put_functions(w->traces, w->x->out, number_of_trace_string, w);
	fputs("],\"trace_tree\":[", w->x->out);
	hi_traces_put_tree(w->traces, w->x->out);
}

enum hi_status hi_export_heapsnapshot(struct hi_export *x, struct hi_error *err)
{
	struct writer w = {.x = x, .g = x->graph};
	enum hi_status status = check_fits(w.g, x->limits->heapsnapshot, err);

	if (status == HI_OK)
		status = hi_traces_make(x, &w.traces, err);
	if (status != HI_OK)
		return status;
	put_heapsnapshot_header(&w);
	put_nodes(&w);
	fputs("],\n\"edges\":[", x->out);
	status = put_heapsnapshot_edges(&w, err);
	put_traces(&w);
	fputs("],\"samples\":[],\"locations\":[],\n\"strings\":[", x->out);
	for (size_t i = 0; i < w.strings.names.count; i++) {
		fputs(i ? ",\n" : "", x->out);
		hi_export_put_json(x->out, w.strings.names.items[i]);
	}
	fputs("]}\n", x->out);
	if (status == HI_OK && w.failed)
		status = hi_fail_memory(err, "export");
	if (w.clipped)
		hi_export_warn(x,
			       "%" PRIu64 " objects of 4 GiB or more are written as 4 "
			       "GiB: the format has no larger sizes",
			       w.clipped);
	hi_traces_destroy(w.traces);
	hi_interner_free(&w.strings);
	hi_vector_free(&w.texts);
	return status;
}
