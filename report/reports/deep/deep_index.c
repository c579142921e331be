/* SPDX-License-Identifier: BSD-2-Clause */
/* What reports of a deep profile look up: deep_report.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/deep/merge.h"
#include "report/reports/deep/deep_report.h"

static void sum_deep_functions(struct hi_deep_index *index)
{
	const struct hi_deep_graph *g = &index->profile->graph;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct hi_deep_function_sums *f = &index->functions[g->nodes[i].function];

		hi_deep_costs_add(&f->own, &g->nodes[i].own);
		hi_deep_costs_add(&f->desc, &g->nodes[i].desc);
		f->n_nodes++;
	}
	for (uint32_t i = 0; i < g->n_edges; i++)
		index->functions[g->nodes[g->edges[i].callee].function].n_callers++;
	for (size_t i = 0; i < index->profile->sites.count; i++)
		index->functions[index->profile->sites.items[i].function].n_sites++;
}

/* Where the lists of functions begin; counts become 0 again for list_by_function(). */
static void place_lists(struct hi_deep_index *index)
{
	uint32_t node = 0, caller = 0, site = 0;

	for (size_t i = 0; i < index->profile->functions.count; i++) {
		struct hi_deep_function_sums *f = &index->functions[i];

		f->first_node = node;
		f->first_caller = caller;
		f->first_site = site;
		node += f->n_nodes;
		caller += f->n_callers;
		site += f->n_sites;
		f->n_nodes = f->n_callers = f->n_sites = 0;
	}
}

static void list_by_function(struct hi_deep_index *index)
{
	const struct hi_deep_graph *g = &index->profile->graph;
	struct hi_deep_function_sums *f;

	place_lists(index);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		f = &index->functions[g->nodes[i].function];
		index->node_list[f->first_node + f->n_nodes++] = i;
	}
	for (uint32_t i = 0; i < g->n_edges; i++) {
		f = &index->functions[g->nodes[g->edges[i].callee].function];
		index->caller_list[f->first_caller + f->n_callers++] = i;
	}
	for (uint32_t i = 0; i < index->profile->sites.count; i++) {
		f = &index->functions[index->profile->sites.items[i].function];
		index->site_list[f->first_site + f->n_sites++] = i;
	}
}

static int compare_by_line(const void *a, const void *b, void *context)
{
	const struct hi_deep_call_site *sites = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct hi_deep_call_site *s = &sites[x], *t = &sites[y];

	if (s->function != t->function)
		return s->function < t->function ? -1 : 1;
	if (s->file != t->file)
		return s->file < t->file ? -1 : 1;
	if (s->line != t->line)
		return s->line < t->line ? -1 : 1;
	return (x > y) - (x < y);
}

/* False: out of memory. */
static bool find_shared_lines(struct hi_deep_index *index)
{
	struct hi_deep_call_site *sites = index->profile->sites.items;
	size_t n = index->profile->sites.count;
	HI_GUARD(free) uint32_t *order = hi_calloc(n + 1, sizeof(*order));

	if (!order)
		return false;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_by_line, sites);
	for (size_t i = 1; i < n; i++) {
		const struct hi_deep_call_site *a = &sites[order[i - 1]],
					       *b = &sites[order[i]];

		if (a->function == b->function && a->file == b->file &&
		    a->line == b->line)
			index->is_line_shared[order[i - 1]] =
				index->is_line_shared[order[i]] = true;
	}
	return true;
}

static int compare_by_module(const void *a, const void *b, void *context)
{
	const struct hi_deep_profile *p = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t m = p->functions.items[x].module, n = p->functions.items[y].module;
	int order =
		m == n ? 0
		       : strcmp(hi_deep_profile_text(p, m), hi_deep_profile_text(p, n));

	return order ? order : (x > y) - (x < y);
}

/* The root is in none. */
static void list_by_module(struct hi_deep_index *index)
{
	const struct hi_deep_profile *p = index->profile;
	uint32_t n = (uint32_t)p->functions.count - 1;
	struct hi_deep_module *m = NULL;

	for (uint32_t i = 0; i < n; i++)
		index->function_list[i] = i + 1;
	qsort_r(index->function_list, n, sizeof(*index->function_list), compare_by_module,
		(void *)(uintptr_t)p);
	index->functions[0].module = HI_DEEP_NONE;
	for (uint32_t i = 0; i < n; i++) {
		struct hi_deep_function_sums *f =
			&index->functions[index->function_list[i]];
		uint32_t name = p->functions.items[index->function_list[i]].module;

		if (!m || m->name != name) {
			m = &index->modules[index->n_modules++];
			*m = (struct hi_deep_module){.name = name, .first_function = i};
		}
		f->module = index->n_modules - 1;
		m->n_functions++;
		hi_deep_costs_add(&m->own, &f->own);
		hi_deep_costs_add(&m->desc, &f->desc);
	}
}

enum hi_status hi_deep_index_create(const struct hi_deep_profile *profile,
				    struct hi_deep_index *ret, struct hi_error *err)
{
	size_t n = profile->functions.count;
	struct hi_deep_index index = {.profile = profile};

	if (!hi_deep_is_described(profile))
		return hi_fail(err, HI_BAD_DATA, 0,
			       "deep profile: it has no description of a call site or "
			       "function");
	index.functions = hi_calloc(n + 1, sizeof(*index.functions));
	index.modules = hi_calloc(n + 1, sizeof(*index.modules));
	index.node_list =
		hi_calloc(profile->graph.n_nodes + 1u, sizeof(*index.node_list));
	index.caller_list =
		hi_calloc(profile->graph.n_edges + 1u, sizeof(*index.caller_list));
	index.site_list = hi_calloc(profile->sites.count + 1, sizeof(*index.site_list));
	index.function_list = hi_calloc(n + 1, sizeof(*index.function_list));
	index.is_line_shared =
		hi_calloc(profile->sites.count + 1, sizeof(*index.is_line_shared));
	if (!index.functions || !index.modules || !index.node_list ||
	    !index.caller_list || !index.site_list || !index.function_list ||
	    !index.is_line_shared || !find_shared_lines(&index)) {
		hi_deep_index_free(&index);
		return hi_fail_memory(err, "index of a deep profile");
	}
	sum_deep_functions(&index);
	list_by_function(&index);
	list_by_module(&index);
	*ret = index;
	return HI_OK;
}

void hi_deep_index_free(struct hi_deep_index *index)
{
	free(index->functions);
	free(index->modules);
	free(index->node_list);
	free(index->caller_list);
	free(index->site_list);
	free(index->function_list);
	free(index->is_line_shared);
	*index = (struct hi_deep_index){};
}
