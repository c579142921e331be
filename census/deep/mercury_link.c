/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of a file Deep.data become functions, call sites and a graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/deep/mercury_internal.h"

struct linking {
	const struct hi_mercury_file *file;
	struct hi_deep_profile *profile;
	uint32_t *owner;       /* by CSS: PS; 0: none */
	uint32_t *site_of;     /* by CSS */
	uint32_t *function_of; /* by PS */
	uint32_t *itself;      /* by function: call site that stands for it; 0: none */
	bool *has_caller;      /* by CSD */
	uint32_t *number_of;   /* by PD; HI_DEEP_NONE: not reached */
	uint32_t *order;       /* by number: PD */
	struct hi_deep_graph graph; /* of the file, not folded */
	struct hi_error *err;
};

static void free_linking(struct linking *l)
{
	free(l->owner);
	free(l->site_of);
	free(l->function_of);
	free(l->itself);
	free(l->has_caller);
	free(l->number_of);
	free(l->order);
	hi_deep_graph_free(&l->graph);
}

static enum hi_status fail_linking(const struct linking *l)
{
	return hi_fail_memory(l->err, "deep profile");
}

#define fail_link(l, ...) hi_fail((l)->err, HI_BAD_DATA, 0, "damaged: " __VA_ARGS__)

static enum hi_status allocate_linking(struct linking *l)
{
	const uint32_t *counts = l->file->counts;

	l->owner = hi_calloc(counts[HI_MERCURY_CSS] + 1u, sizeof(*l->owner));
	l->site_of = hi_calloc(counts[HI_MERCURY_CSS] + 1u, sizeof(*l->site_of));
	l->function_of = hi_calloc(counts[HI_MERCURY_PS] + 1u, sizeof(*l->function_of));
	l->itself = hi_calloc(counts[HI_MERCURY_PS] + 1u, sizeof(*l->itself));
	l->has_caller = hi_calloc(counts[HI_MERCURY_CSD] + 1u, sizeof(*l->has_caller));
	l->number_of = hi_calloc(counts[HI_MERCURY_PD] + 1u, sizeof(*l->number_of));
	l->order = hi_calloc(counts[HI_MERCURY_PD] + 1u, sizeof(*l->order));
	return l->owner && l->site_of && l->function_of && l->itself && l->has_caller &&
			       l->number_of && l->order
		       ? HI_OK
		       : fail_linking(l);
}

/* ---- checks ---- */

static enum hi_status check_owners(struct linking *l)
{
	const struct hi_mercury_file *f = l->file;

	for (uint32_t i = 1; i <= f->counts[HI_MERCURY_PS]; i++)
		for (uint32_t k = 0; k < f->ps[i].n_sites; k++) {
			uint32_t css = f->sites.items[f->ps[i].first_site + k];

			if (l->owner[css])
				return fail_link(l,
						 "call site %" PRIu32
						 " is in procedure %" PRIu32
						 " and in %" PRIu32,
						 css, l->owner[css], i);
			l->owner[css] = i;
		}
	for (uint32_t i = 1; i <= f->counts[HI_MERCURY_CSS]; i++) {
		if (!l->owner[i])
			return fail_link(l, "call site %" PRIu32 " is in no procedure",
					 i);
		if (f->css[i].callee == f->pd[f->root].ps)
			return fail_link(l, "call site %" PRIu32 " calls the root", i);
	}
	return HI_OK;
}

/* A node has a slot for each call site of its procedure, of the same kind. */
static enum hi_status check_slots(const struct linking *l, uint32_t pd)
{
	const struct hi_mercury_file *f = l->file;
	const struct hi_mercury_pd *node = &f->pd[pd];
	const struct hi_mercury_ps *ps = &f->ps[node->ps];

	if (node->n_slots != ps->n_sites)
		return fail_link(l,
				 "node %" PRIu32 " has %" PRIu32
				 " slots, its procedure has %" PRIu32 " call sites",
				 pd, node->n_slots, ps->n_sites);
	for (uint32_t i = 0; i < node->n_slots; i++) {
		uint32_t css = f->sites.items[ps->first_site + i];
		uint8_t kind = f->kinds.items[node->first_kind + i];

		if (kind != f->css[css].kind)
			return fail_link(l,
					 "node %" PRIu32 " has a slot of kind %u at call "
					 "site %" PRIu32 " of kind %u",
					 pd, kind, css, f->css[css].kind);
	}
	return HI_OK;
}

static uint32_t css_of_call(const struct linking *l, uint32_t pd,
			    const struct hi_mercury_call *call)
{
	const struct hi_mercury_ps *ps = &l->file->ps[l->file->pd[pd].ps];

	return l->file->sites.items[ps->first_site + call->slot];
}

static enum hi_status check_callee(const struct linking *l, uint32_t pd,
				   const struct hi_mercury_call *call)
{
	const struct hi_mercury_file *f = l->file;
	const struct hi_mercury_csd *csd = &f->csd[call->csd];
	uint32_t css = css_of_call(l, pd, call), ps = f->pd[csd->callee].ps;

	if (csd->callee == f->root)
		return fail_link(l, "call %" PRIu32 " calls the root", call->csd);
	if (f->css[css].callee && ps != f->css[css].callee)
		return fail_link(l,
				 "call %" PRIu32 " leads to procedure %" PRIu32
				 ", its call site to %" PRIu32,
				 call->csd, ps, f->css[css].callee);
	return HI_OK;
}

static enum hi_status check_calls_of_node(struct linking *l, uint32_t pd)
{
	const struct hi_mercury_file *f = l->file;
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < f->pd[pd].n_calls; i++) {
		const struct hi_mercury_call *call =
			&f->calls.items[f->pd[pd].first_call + i];

		if (l->has_caller[call->csd])
			return fail_link(l, "call %" PRIu32 " is in two slots",
					 call->csd);
		l->has_caller[call->csd] = true;
		if (f->csd[call->csd].callee)
			status = check_callee(l, pd, call);
	}
	return status;
}

static enum hi_status check_nodes(struct linking *l)
{
	const struct hi_mercury_file *f = l->file;
	uint32_t root_ps = f->pd[f->root].ps;
	enum hi_status status = check_owners(l);

	if (status == HI_OK && f->ps[root_ps].n_sites != 1)
		return fail_link(l, "the root has %" PRIu32 " call sites, not one",
				 f->ps[root_ps].n_sites);
	for (uint32_t i = 1; status == HI_OK && i <= f->counts[HI_MERCURY_PD]; i++) {
		if (i != f->root && f->pd[i].ps == root_ps)
			return fail_link(l, "node %" PRIu32 " is a second root", i);
		status = check_slots(l, i);
		if (status == HI_OK)
			status = check_calls_of_node(l, i);
	}
	return status;
}

/* ---- functions and call sites ---- */

static bool number_procedures(struct linking *l)
{
	const struct hi_mercury_file *f = l->file;

	for (uint32_t i = 1; i <= f->counts[HI_MERCURY_PS]; i++) {
		if (i == f->pd[f->root].ps)
			continue;
		l->function_of[i] = (uint32_t)l->profile->functions.count;
		if (!hi_vector_push(&l->profile->functions, f->ps[i].procedure))
			return false;
	}
	return true;
}

static struct hi_deep_call_site describe_call_site(const struct linking *l, uint32_t css)
{
	const struct hi_mercury_css *c = &l->file->css[css];

	return (struct hi_deep_call_site){.function = l->function_of[l->owner[css]],
					  .kind = c->kind,
					  .callee = c->callee ? l->function_of[c->callee]
							      : HI_DEEP_NONE,
					  .file = c->file,
					  .line = c->line,
					  .place = c->place};
}

static bool number_call_sites(struct linking *l)
{
	const struct hi_mercury_file *f = l->file;
	uint32_t root_site = f->sites.items[f->ps[f->pd[f->root].ps].first_site];

	l->profile->sites.items[0] = describe_call_site(l, root_site);
	for (uint32_t i = 1; i <= f->counts[HI_MERCURY_CSS]; i++) {
		if (i == root_site)
			continue;
		l->site_of[i] = (uint32_t)l->profile->sites.count;
		if (!hi_vector_push(&l->profile->sites, describe_call_site(l, i)))
			return false;
	}
	return true;
}

/* ---- the graph ---- */

static void reach_nodes(struct linking *l)
{
	const struct hi_mercury_file *f = l->file;
	uint32_t n = 1;

	for (uint32_t i = 0; i <= f->counts[HI_MERCURY_PD]; i++)
		l->number_of[i] = HI_DEEP_NONE;
	l->number_of[f->root] = 0;
	l->order[0] = f->root;
	for (uint32_t i = 0; i < n; i++) {
		const struct hi_mercury_pd *pd = &f->pd[l->order[i]];

		for (uint32_t k = 0; k < pd->n_calls; k++) {
			uint32_t csd = f->calls.items[pd->first_call + k].csd;
			uint32_t callee = f->csd[csd].callee;

			if (!callee || l->number_of[callee] != HI_DEEP_NONE)
				continue;
			l->number_of[callee] = n;
			l->order[n++] = callee;
		}
	}
	l->graph.n_nodes = n;
}

static void fill_file_edges(struct linking *l, uint32_t number)
{
	const struct hi_mercury_file *f = l->file;
	const struct hi_mercury_pd *pd = &f->pd[l->order[number]];
	struct hi_deep_graph *g = &l->graph;
	struct hi_deep_node *node = &g->nodes[number];

	node->function = l->function_of[pd->ps];
	node->first_edge = g->n_edges;
	for (uint32_t i = 0; i < pd->n_calls; i++) {
		const struct hi_mercury_call *call = &f->calls.items[pd->first_call + i];
		const struct hi_mercury_csd *csd = &f->csd[call->csd];

		if (csd->callee)
			g->edges[g->n_edges++] =
				(struct hi_deep_edge){.caller = number,
						      .site = l->site_of[css_of_call(
							      l, l->order[number], call)],
						      .callee = l->number_of[csd->callee],
						      .own = csd->own};
	}
	node->n_edges = g->n_edges - node->first_edge;
}

/* All costs of the file are costs of a call that is reached. */
static enum hi_status fill_file_graph(struct linking *l)
{
	struct hi_deep_graph *g = &l->graph;

	g->nodes = hi_calloc(g->n_nodes + 1u, sizeof(*g->nodes));
	g->edges = hi_calloc(l->file->calls.count + 1, sizeof(*g->edges));
	if (!g->nodes || !g->edges)
		return fail_linking(l);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		fill_file_edges(l, i);
	for (uint32_t i = 0; i < g->n_edges; i++) {
		hi_deep_costs_add(&g->nodes[g->edges[i].callee].own, &g->edges[i].own);
		hi_deep_costs_add(&g->total, &g->edges[i].own);
	}
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		if (g->total.of[i] != l->file->total.of[i])
			return fail_link(l, "calls have costs and no callee, or are not "
					    "reached from the root");
	return HI_OK;
}

static bool has_costs(const struct hi_deep_costs *costs)
{
	static const struct hi_deep_costs none;

	return memcmp(costs, &none, sizeof(none)) != 0;
}

static bool add_sites_of_functions(struct linking *l)
{
	const struct hi_deep_graph *g = &l->graph;
	struct hi_deep_call_site site = {.kind = HI_DEEP_DIRECT, .callee = HI_DEEP_NONE};

	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (has_costs(&g->nodes[i].own))
			l->itself[g->nodes[i].function] = 1;
	for (uint32_t i = 1; i < l->profile->functions.count; i++) {
		if (!l->itself[i])
			continue;
		site.function = i;
		site.file = l->profile->functions.items[i].file;
		site.line = l->profile->functions.items[i].line;
		l->itself[i] = (uint32_t)l->profile->sites.count;
		if (!hi_vector_push(&l->profile->sites, site))
			return false;
	}
	return true;
}

static enum hi_status fill_file_leaves(struct linking *l)
{
	struct hi_deep_graph *g = &l->graph;

	g->leaves = hi_calloc(g->n_nodes + 1u, sizeof(*g->leaves));
	if (!g->leaves || !add_sites_of_functions(l))
		return fail_linking(l);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (has_costs(&g->nodes[i].own))
			g->leaves[g->n_leaves++] = (struct hi_deep_leaf){
				i, l->itself[g->nodes[i].function], g->nodes[i].own};
	return HI_OK;
}

static enum hi_status fold_file_graph(struct linking *l)
{
	HI_GUARD(hi_deep_destroy) struct hi_deep *deep = NULL;
	enum hi_status status = hi_mercury_find_cliques(
		&l->graph, (uint32_t)l->profile->functions.count, l->err);

	if (status == HI_OK)
		status = hi_deep_create(&deep, l->err);
	if (status == HI_OK)
		status = hi_deep_merge(deep, &l->graph, l->err);
	return status == HI_OK ? hi_deep_graph(deep, &l->profile->graph, l->err) : status;
}

/* ---- all of it ---- */

static void set_measures(const struct linking *l)
{
	const struct hi_mercury_file *f = l->file;
	struct hi_deep_profile *p = l->profile;
	bool has_ticks =
		f->user_ticks || f->tool_ticks || p->graph.total.of[HI_DEEP_TICKS];

	p->ticks_per_second = has_ticks ? f->ticks_per_second : 0;
	p->tool_ticks = f->tool_ticks;
	p->sequence = f->sequence;
	for (int i = 0; i < HI_MERCURY_COSTS; i++)
		p->has[hi_mercury_costs[i].cost] = true;
	p->has[HI_DEEP_TICKS] = has_ticks;
}

static enum hi_status link_file(struct linking *l)
{
	enum hi_status status = allocate_linking(l);

	if (status == HI_OK)
		status = check_nodes(l);
	if (status == HI_OK && (!number_procedures(l) || !number_call_sites(l)))
		return fail_linking(l);
	if (status != HI_OK)
		return status;
	reach_nodes(l);
	status = fill_file_graph(l);
	if (status == HI_OK)
		status = fill_file_leaves(l);
	if (status == HI_OK)
		status = fold_file_graph(l);
	if (status == HI_OK)
		set_measures(l);
	return status;
}

enum hi_status hi_mercury_link(const struct hi_mercury_file *file,
			       struct hi_deep_profile *profile, struct hi_error *err)
{
	struct linking l = {.file = file, .profile = profile, .err = err};
	enum hi_status status = link_file(&l);

	free_linking(&l);
	return status;
}
