/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/summary/summary_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "census/graph/type_origin.h"
#include "report/node_order.h"

static struct hi_summary_type describe_type(const struct hi_summary_inputs *in,
					    const struct hi_census_row *row)
{
	return (struct hi_summary_type){
		.type = hi_graph_type_name(in->graph, row->type),
		.count = row->count,
		.shallow = row->shallow,
		.retained = row->retained,
		.evidence = hi_main_evidence(row),
	};
}

static void add_own_types(const struct hi_summary_inputs *in, struct hi_summary_report *r)
{
	for (size_t i = 0;
	     i < in->census->n_rows && r->n_own_types < HI_SUMMARY_OWN_TYPES; i++) {
		const struct hi_census_row *row = &in->census->rows[i];

		/* Not for what is next to nothing. */
		if (row->type >= in->graph->n_types ||
		    (row->retained < r->live_bytes / 1000 &&
		     row->shallow < r->live_bytes / 1000) ||
		    !hi_type_has_own_payload(&in->graph->types[row->type]))
			continue;
		r->own_places[r->n_own_types] = i;
		r->own_types[r->n_own_types++] = describe_type(in, row);
	}
}

static enum hi_status add_summary_types(const struct hi_summary_inputs *in,
					struct hi_summary_report *r, struct hi_error *err)
{
	const struct hi_census *census = in->census;
	size_t n = hi_min(census->n_rows, in->top);

	r->types = hi_calloc(n + 1, sizeof(*r->types));
	if (!r->types)
		return hi_fail_memory(err, "summary of types");
	r->n_types = n;
	r->n_types_total = census->n_rows;
	r->untyped_bytes = census->untyped_bytes;
	for (size_t i = 0; i < census->n_rows; i++) {
		if (i < n)
			r->types[i] = describe_type(in, &census->rows[i]);
		else
			r->types_hidden_bytes += census->rows[i].shallow;
	}
	add_own_types(in, r);
	return HI_OK;
}

static enum hi_status add_summary_roots(const struct hi_summary_inputs *in,
					struct hi_summary_report *r, struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	HI_GUARD(free) hi_node *ranked = NULL;
	size_t n = 0;
	uint64_t sum = 0;

	for (unsigned k = 0; k < HI_ROOT_KINDS; k++) {
		r->kinds[k] = in->dominators->retained[g->first_kind + k];
		sum += r->kinds[k];
	}
	r->shared_by_kinds = r->live_bytes > sum ? r->live_bytes - sum : 0;
	ranked = hi_alloc(((size_t)g->n_roots + 1) * sizeof(*ranked));
	if (!ranked)
		return hi_fail_memory(err, "summary of roots");
	for (hi_node i = 0; i < g->n_roots; i++) {
		if (g->roots[i].kind < HI_ROOT_KINDS)
			r->kind_roots[g->roots[i].kind]++;
		if (in->dominators->retained[g->first_root + i])
			ranked[n++] = g->first_root + i;
	}
	hi_rank_nodes(in->dominators, ranked, n);
	r->n_roots_total = n;
	r->n_roots = hi_min(n, in->top);
	r->roots = hi_calloc(r->n_roots + 1, sizeof(*r->roots));
	if (!r->roots)
		return hi_fail_memory(err, "summary of roots");
	for (size_t i = 0; i < r->n_roots; i++)
		r->roots[i] = hi_node_info(g, in->dominators, ranked[i]);
	return HI_OK;
}

/* ---- owners ---- */

/* Those that are found in the source first: globals, then what a runtime names. */
static unsigned rank_kind(enum hi_root_kind kind)
{
	static const unsigned ranks[HI_ROOT_KINDS] = {
		[HI_ROOT_GLOBAL] = 0, [HI_ROOT_RUNTIME] = 1,  [HI_ROOT_TLS] = 2,
		[HI_ROOT_STACK] = 3,  [HI_ROOT_REGISTER] = 4, [HI_ROOT_UNTYPED] = 5};

	return kind < HI_ROOT_KINDS ? ranks[kind] : HI_ROOT_KINDS;
}

/* Such names begin with their thread: "thread 7 main() stack". */
static bool is_of_thread(const struct hi_node_info *variable)
{
	return strncmp(variable->name, "thread ", 7) == 0;
}

static int compare_summary_variables(const void *a, const void *b)
{
	const struct hi_node_info *x = a, *y = b;
	unsigned rank_x = rank_kind(x->kind), rank_y = rank_kind(y->kind);

	if (rank_x != rank_y)
		return rank_x < rank_y ? -1 : 1;
	if (is_of_thread(x) != is_of_thread(y))
		return is_of_thread(x) ? 1 : -1;
	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void fill_owner(const struct hi_summary_inputs *in, const struct hi_owner_row *row,
		       struct hi_node_info *variables, struct hi_summary_owner *ret)
{
	for (uint32_t i = 0; i < row->n; i++)
		variables[i] = hi_node_info(in->graph, in->dominators, row->variables[i]);
	if (row->n > 1)
		qsort(variables, row->n, sizeof(*variables), compare_summary_variables);
	*ret = (struct hi_summary_owner){
		.variables = variables,
		.n = row->n,
		.is_many = row->is_many,
		.is_named = row->is_named,
		.bytes = row->bytes,
		.largest = hi_node_info(in->graph, in->dominators, row->largest),
	};
}

static int compare_owners(const void *a, const void *b)
{
	const struct hi_summary_owner *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->n && x->variables[0].node != y->variables[0].node
		       ? (x->variables[0].node < y->variables[0].node ? -1 : 1)
		       : 0;
}

/* What many hold together, by the root that is nearest to it. */
static void sum_nearest(const struct hi_summary_inputs *in, uint64_t *bytes)
{
	for (size_t i = 0; i < in->owners->n_shared_by_many; i++) {
		hi_node node = in->owners->shared_by_many[i];
		uint32_t root = in->nearest->root_of[node];

		if (root != HI_NEAREST_NONE)
			bytes[root] += in->dominators->retained[node];
	}
}

/* A row for each root that is nearest to something; that of the root alone, if any. */
static void add_nearest(const struct hi_summary_inputs *in, uint64_t *bytes,
			struct hi_summary_report *r)
{
	const struct hi_graph *g = in->graph;
	struct hi_node_info *variable =
		r->owner_variables + in->owners->n_rows * HI_OWNERS_MAX;

	for (size_t i = 0; i < r->n_owners; i++) {
		struct hi_summary_owner *o = &r->owners[i];
		hi_node node = o->n == 1 ? o->variables[0].node : 0;

		if (o->n != 1 || node < g->first_root || node >= g->first_kind)
			continue;
		o->nearest = bytes[node - g->first_root];
		o->bytes += o->nearest;
		bytes[node - g->first_root] = 0;
	}
	for (uint32_t i = 0; i < g->n_roots; i++) {
		if (!bytes[i])
			continue;
		*variable = hi_node_info(g, in->dominators, g->first_root + i);
		r->owners[r->n_owners++] = (struct hi_summary_owner){
			.variables = variable++,
			.n = 1,
			.is_named = true,
			.bytes = bytes[i],
			.nearest = bytes[i],
			.largest = hi_node_info(g, in->dominators, g->first_root + i)};
	}
}

/* Blocks of the allocator have no owner and cost nothing. */
static enum hi_status take_owners(const struct hi_summary_inputs *in,
				  struct hi_summary_report *r, struct hi_error *err)
{
	size_t n = in->owners->n_rows, more = in->nearest ? in->graph->n_roots : 0;
	HI_GUARD(free) uint64_t *nearest = hi_calloc(more + 1, sizeof(*nearest));

	r->owners = hi_calloc(n + more + 1, sizeof(*r->owners));
	r->owner_variables =
		hi_calloc(n * HI_OWNERS_MAX + more + 1, sizeof(*r->owner_variables));
	if (!nearest || !r->owners || !r->owner_variables)
		return hi_fail_memory(err, "summary of owners");
	for (size_t i = 0; i < n; i++)
		if (!in->nearest || !in->owners->rows[i].is_many)
			fill_owner(in, &in->owners->rows[i],
				   r->owner_variables + i * HI_OWNERS_MAX,
				   &r->owners[r->n_owners++]);
	if (in->nearest) {
		hi_nearest_sum_kinds(in->nearest, in->graph, in->dominators,
				     r->shared_nearest);
		sum_nearest(in, nearest);
		add_nearest(in, nearest, r);
		qsort(r->owners, r->n_owners, sizeof(*r->owners), compare_owners);
	}
	r->n_owners_total = r->n_owners;
	r->n_owners = hi_min(r->n_owners, in->top);
	return HI_OK;
}

static enum hi_status take_leaks(const struct hi_summary_inputs *in,
				 struct hi_summary_report *r, struct hi_error *err)
{
	size_t n = hi_min(in->leaks->n_rows, in->top);

	r->leaks = hi_calloc(n + 1, sizeof(*r->leaks));
	if (!r->leaks)
		return hi_fail_memory(err, "summary of leaks");
	r->n_leaks = n;
	r->n_leaks_total = in->leaks->n_rows;
	r->leak_roots = in->leaks->n_roots;
	r->leak_objects = in->leaks->objects;
	r->leak_bytes = in->leaks->bytes;
	r->likely_objects = in->leaks->likely_objects;
	r->likely_bytes = in->leaks->likely_bytes;
	r->cycles = in->cycles;
	r->unread = hi_unread_of(in->reach);
	r->by_class = in->graph->unreachable_classes ? in->leaks->by_class : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct hi_leak_row *row = &in->leaks->rows[i];

		r->leaks[i] = (struct hi_summary_leak){
			.kind = hi_leak_name_of_row(in->graph, in->leaks, row),
			.shape = row->shape,
			.unreachable_class = row->unreachable_class,
			.is_likely = row->is_likely,
			.count = row->count,
			.bytes = row->bytes,
			.objects = row->objects,
			.example = hi_graph_address(in->graph, row->example),
			.named = hi_graph_address(in->graph, row->named),
		};
	}
	return HI_OK;
}

/* names and paths: as of inputs. NULL: out of memory. */
static struct hi_summary_suspect *describe_holders(const struct hi_summary_inputs *in,
						   const struct hi_suspect *items,
						   size_t n, const char *const *names,
						   const char *const *paths)
{
	struct hi_summary_suspect *ret = hi_calloc(n + 1, sizeof(*ret));

	for (size_t i = 0; ret && i < n; i++) {
		const struct hi_suspect *s = &items[i];
		const char *path = paths ? paths[i] : NULL;

		ret[i] = (struct hi_summary_suspect){
			.top = hi_node_info(in->graph, in->dominators, s->top),
			.accumulation =
				hi_node_info(in->graph, in->dominators, s->accumulation),
			.path = path ? path : "",
			.child_type = hi_graph_type_name(in->graph, s->child_type),
			.children = s->children,
			.children_bytes = s->children_bytes,
			.is_list = s->is_list,
			.held = s->accumulation_retained,
		};
		/* A root has its own name. */
		if (names && names[i] && ret[i].top.sort == HI_NODE_OBJECT)
			ret[i].top.name = names[i];
	}
	return ret;
}

static enum hi_status take_suspects(const struct hi_summary_inputs *in,
				    struct hi_summary_report *r, struct hi_error *err)
{
	const struct hi_suspects *s = in->suspects;

	r->suspects = describe_holders(in, s->items, s->count, in->suspect_names,
				       in->suspect_paths);
	r->lesser = describe_holders(in, s->lesser, s->n_lesser, in->lesser_names,
				     in->lesser_paths);
	if (!r->suspects || !r->lesser)
		return hi_fail_memory(err, "suspects");
	r->n_suspects = s->count;
	r->n_lesser = s->n_lesser;
	r->suspects_below = s->is_below;
	return HI_OK;
}

static unsigned size_range_of(uint64_t bytes)
{
	return bytes <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(bytes - 1);
}

static void count_parts(const struct hi_summary_inputs *in, struct hi_summary_report *r)
{
	const struct hi_graph *g = in->graph;

	for (hi_node i = 0; i < g->n_objects; i++) {
		struct hi_summary_part *parts[2];

		if (!hi_bit(in->reach->any, i) || hi_is_internal(g, i))
			continue;
		parts[0] = &r->by_kind[hi_picture_kind_of_node(g, i)];
		parts[1] = &r->by_size[size_range_of(hi_objects_usable(g->objects, i))];
		for (unsigned k = 0; k < 2; k++) {
			parts[k]->objects++;
			parts[k]->bytes += hi_graph_cost(g, i);
		}
	}
}

enum hi_status hi_summary_report_create(const struct hi_summary_inputs *in,
					struct hi_summary_report **ret,
					struct hi_error *err)
{
	HI_GUARD(hi_summary_report_destroy)
	struct hi_summary_report *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "summary");
	r->header = in->header;
	r->ledger = in->ledger;
	r->heap_known = in->header->allocator || in->header->outside_objects ||
			in->header->runtime;
	r->live_objects = in->reach->live_objects;
	r->live_bytes = in->reach->live_bytes;
	r->tree = in->tree;
	if (in->tree)
		count_parts(in, r);
	status = add_summary_types(in, r, err);
	if (status == HI_OK)
		status = add_summary_roots(in, r, err);
	if (status == HI_OK)
		status = take_owners(in, r, err);
	if (status == HI_OK)
		status = take_leaks(in, r, err);
	if (status == HI_OK)
		status = take_suspects(in, r, err);
	if (status == HI_OK && in->tree)
		status = hi_summary_take_threads(in, r, err);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

void hi_summary_report_destroy(struct hi_summary_report *report)
{
	if (!report)
		return;
	free(report->types);
	free(report->roots);
	free(report->owners);
	free(report->owner_variables);
	free(report->leaks);
	free(report->suspects);
	free(report->lesser);
	hi_threads_report_destroy(report->threads);
	free(report);
}
