/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a file Deep.data. Ids: nodes, edges and functions have their index + 1. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "census/deep/deep_profile.h"
#include "census/deep/mercury_format.h"

enum { WORD = 8, TICKS_PER_SECOND = 100 };

/* The root's procedure, by Mercury's rules. */
#define ROOT_NAME "Mercury runtime"

/* A site that leads to several functions. */
#define SEVERAL (HI_DEEP_NONE - 1)

struct writing {
	const struct hi_deep_profile *profile;
	FILE *out;
	/* By call site: its id, 0: left out; the one that it calls, HI_DEEP_NONE,
	 * SEVERAL. */
	uint32_t *css, *callee;
	uint32_t n_css;
	/* Call sites by function, in ascending order: what is not left out. */
	uint32_t *first_site, *sites;
	struct hi_mercury_text text;
	bool has_memory;
};

static void free_writing(struct writing *w)
{
	free(w->css);
	free(w->callee);
	free(w->first_site);
	free(w->sites);
	hi_vector_free(&w->text);
}

static bool allocate_writing(struct writing *w)
{
	size_t n_sites = w->profile->sites.count,
	       n_functions = w->profile->functions.count;

	w->css = hi_calloc(n_sites + 1, sizeof(*w->css));
	w->callee = hi_calloc(n_sites + 1, sizeof(*w->callee));
	w->sites = hi_calloc(n_sites + 1, sizeof(*w->sites));
	w->first_site = hi_calloc(n_functions + 2, sizeof(*w->first_site));
	return w->css && w->callee && w->sites && w->first_site;
}

/* ---- items ---- */

static void put_mercury_byte(struct writing *w, unsigned byte)
{
	putc((int)byte, w->out);
}

static void put_fixed(struct writing *w, uint64_t n)
{
	for (int i = 0; i < 8; i++)
		put_mercury_byte(w, n >> 8 * i & 0xff);
}

static void put_coded_number(struct writing *w, uint64_t n)
{
	int shift = 0;

	while (shift < 63 && n >> (shift + 7))
		shift += 7;
	for (; shift; shift -= 7)
		put_mercury_byte(w, (n >> shift & 0x7f) | 0x80);
	put_mercury_byte(w, n & 0x7f);
}

static void put_piece(struct writing *w, struct hi_mercury_piece piece)
{
	put_coded_number(w, piece.n);
	if (piece.n)
		fwrite(piece.at, 1, piece.n, w->out);
}

static void put_coded_string(struct writing *w, const char *text)
{
	put_piece(w, (struct hi_mercury_piece){text, strlen(text)});
}

static void put_text(struct writing *w, uint32_t text)
{
	put_coded_string(w, hi_deep_profile_text(w->profile, text));
}

/* ---- call sites ---- */

static void find_callees(struct writing *w)
{
	const struct hi_deep_graph *g = &w->profile->graph;

	for (size_t i = 0; i < w->profile->sites.count; i++) {
		const struct hi_deep_call_site *site = &w->profile->sites.items[i];

		w->callee[i] =
			hi_deep_is_one_callee(site->kind) ? site->callee : HI_DEEP_NONE;
	}
	for (uint32_t i = 0; i < g->n_edges; i++) {
		uint32_t *callee = &w->callee[g->edges[i].site],
			 function = g->nodes[g->edges[i].callee].function;

		if (*callee == HI_DEEP_NONE)
			*callee = function;
		else if (*callee != function)
			*callee = SEVERAL;
	}
}

/* Numbers a function's own call sites, in their order, so that edges of a node and slots
 * are in the same order. */
static void number_sites(struct writing *w)
{
	const struct hi_deep_profile *p = w->profile;
	uint32_t *first = w->first_site;

	for (size_t i = 0; i < p->sites.count; i++) {
		const struct hi_deep_call_site *site = &p->sites.items[i];

		if (hi_deep_is_one_callee(site->kind) && w->callee[i] == HI_DEEP_NONE)
			continue;
		w->css[i] = ++w->n_css;
		first[site->function + 2]++;
	}
	for (size_t i = 2; i <= p->functions.count; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < p->sites.count; i++)
		if (w->css[i])
			w->sites[first[p->sites.items[i].function + 1]++] = i;
}

static unsigned kind_of_site(const struct writing *w, uint32_t site)
{
	unsigned kind = w->profile->sites.items[site].kind;

	if (!hi_deep_is_one_callee(kind))
		return kind;
	return w->callee[site] == SEVERAL ? HI_DEEP_INDIRECT : HI_DEEP_DIRECT;
}

/* ---- header ---- */

static uint64_t count_known(const struct writing *w, enum hi_deep_cost cost)
{
	return w->profile->has[cost] ? w->profile->graph.total.of[cost] : 0;
}

/* Without a rate Mercury's tools would divide by 0. */
static void put_mercury_header(struct writing *w)
{
	const struct hi_deep_profile *p = w->profile;

	fprintf(w->out, HI_MERCURY_PREFIX "%d\n", HI_MERCURY_NEW);
	put_text(w, p->program);
	put_fixed(w, HI_MERCURY_CANONICAL | WORD);
	put_fixed(w, p->graph.n_edges);
	put_fixed(w, w->n_css);
	put_fixed(w, p->graph.n_nodes);
	put_fixed(w, p->functions.count);
	put_coded_number(w, p->ticks_per_second ? p->ticks_per_second : TICKS_PER_SECOND);
	put_coded_number(w, p->tool_ticks);
	put_coded_number(w, count_known(w, HI_DEEP_TICKS));
	put_coded_number(w, p->sequence);
	put_coded_number(w, 1);
}

/* ---- procedures ---- */

static void put_mercury_label(struct writing *w, const struct hi_deep_procedure *p)
{
	struct hi_mercury_label l =
		hi_mercury_label(hi_deep_profile_text(w->profile, p->name));

	put_mercury_byte(w, l.kind);
	if (l.kind == HI_MERCURY_SPECIAL) {
		put_piece(w, l.type);
		put_piece(w, l.type_module);
	} else {
		put_text(w, p->module);
	}
	put_text(w, p->module);
	put_piece(w, l.name);
	put_coded_number(w, l.arity);
	put_coded_number(w, l.mode);
}

static void put_root_label(struct writing *w)
{
	put_mercury_byte(w, HI_MERCURY_PREDICATE);
	for (int i = 0; i < 3; i++)
		put_coded_string(w, ROOT_NAME);
	put_coded_number(w, 0);
	put_coded_number(w, 0);
}

static void put_procedure(struct writing *w, uint32_t function)
{
	const struct hi_deep_procedure *p = &w->profile->functions.items[function];

	put_mercury_byte(w, HI_MERCURY_PS);
	put_coded_number(w, function + 1u);
	if (function) {
		put_mercury_label(w, p);
		put_text(w, p->file);
	} else {
		put_root_label(w);
		put_coded_string(w, ROOT_NAME);
	}
	put_coded_number(w, p->line);
	put_mercury_byte(w, p->is_exported);
	put_coded_number(w, w->first_site[function + 1] - w->first_site[function]);
	for (uint32_t i = w->first_site[function]; i < w->first_site[function + 1]; i++)
		put_coded_number(w, w->css[w->sites[i]]);
}

static void put_goal_path(struct writing *w, uint32_t place)
{
	w->text.count = 0;
	if (!hi_mercury_goal_path(hi_deep_profile_text(w->profile, place), &w->text))
		w->has_memory = false;
	put_piece(w, (struct hi_mercury_piece){w->text.items, w->text.count});
}

static void put_call_site(struct writing *w, uint32_t site)
{
	const struct hi_deep_call_site *s = &w->profile->sites.items[site];
	unsigned kind = kind_of_site(w, site);

	put_mercury_byte(w, HI_MERCURY_CSS);
	put_coded_number(w, w->css[site]);
	put_mercury_byte(w, kind);
	if (kind == HI_DEEP_DIRECT) {
		put_coded_number(w, w->callee[site] + 1u);
		put_coded_string(w, "");
	}
	put_text(w, s->file);
	put_coded_number(w, s->line);
	put_goal_path(w, s->place);
}

/* ---- nodes ---- */

/* Calls are not put: Mercury's reader counts them from the others. */
static uint64_t cost_to_put(const struct writing *w, const struct hi_deep_costs *own,
			    enum hi_deep_cost cost)
{
	const bool *has = w->profile->has;

	if (cost == HI_DEEP_CALLSEQS && !has[cost])
		cost = HI_DEEP_CALLS;
	if (cost == HI_DEEP_EXITS && !has[cost])
		cost = HI_DEEP_CALLS;
	if (!has[cost])
		return 0;
	return cost == HI_DEEP_BYTES ? own->of[cost] / WORD + !!(own->of[cost] % WORD)
				     : own->of[cost];
}

static void put_own_costs(struct writing *w, const struct hi_deep_costs *own)
{
	uint64_t numbers[HI_MERCURY_COSTS] = {};
	unsigned mask = 0;

	for (int i = 1; i < HI_MERCURY_COSTS; i++) {
		numbers[i] = cost_to_put(w, own, hi_mercury_costs[i].cost);
		if (numbers[i])
			mask |= hi_mercury_costs[i].bit;
	}
	put_coded_number(w, mask);
	for (int i = 1; i < HI_MERCURY_COSTS; i++)
		if (numbers[i])
			put_coded_number(w, numbers[i]);
}

static void put_call(struct writing *w, uint32_t edge)
{
	const struct hi_deep_edge *e = &w->profile->graph.edges[edge];

	put_mercury_byte(w, HI_MERCURY_CSD);
	put_coded_number(w, edge + 1u);
	put_coded_number(w, e->callee + 1u);
	put_own_costs(w, &e->own);
}

/* Edges from *edge on that are at this site. */
static void put_call_slot(struct writing *w, uint32_t site, uint32_t *edge, uint32_t end)
{
	const struct hi_deep_edge *edges = w->profile->graph.edges;
	unsigned kind = kind_of_site(w, site);
	bool is_empty = true;

	put_mercury_byte(w, kind);
	for (; *edge < end && edges[*edge].site == site; ++*edge) {
		put_coded_number(w, *edge + 1u);
		is_empty = false;
	}
	if (kind != HI_DEEP_DIRECT || is_empty)
		put_mercury_byte(w, 0);
}

static void put_mercury_node(struct writing *w, uint32_t node)
{
	const struct hi_deep_node *n = &w->profile->graph.nodes[node];
	const uint32_t *first = &w->first_site[n->function];
	uint32_t edge = n->first_edge, end = n->first_edge + n->n_edges;

	put_mercury_byte(w, HI_MERCURY_PD);
	put_coded_number(w, node + 1u);
	put_coded_number(w, n->function + 1u);
	put_coded_number(w, first[1] - first[0]);
	for (uint32_t i = first[0]; i < first[1]; i++)
		put_call_slot(w, w->sites[i], &edge, end);
	for (uint32_t i = n->first_edge; i < end; i++)
		put_call(w, i);
}

static void put_mercury_file(struct writing *w)
{
	const struct hi_deep_profile *p = w->profile;

	put_mercury_header(w);
	for (uint32_t i = 0; i < p->functions.count; i++) {
		put_procedure(w, i);
		for (uint32_t k = w->first_site[i]; k < w->first_site[i + 1]; k++)
			put_call_site(w, w->sites[k]);
	}
	for (uint32_t i = 0; i < p->graph.n_nodes; i++)
		put_mercury_node(w, i);
	put_mercury_byte(w, HI_MERCURY_END);
}

enum hi_status hi_deep_mercury_write(const struct hi_deep_profile *profile, FILE *file,
				     struct hi_error *err)
{
	struct writing w = {.profile = profile, .out = file, .has_memory = true};
	enum hi_status status = HI_OK;

	if (!allocate_writing(&w)) {
		free_writing(&w);
		return hi_fail_memory(err, "deep profile");
	}
	find_callees(&w);
	number_sites(&w);
	put_mercury_file(&w);
	if (!w.has_memory)
		status = hi_fail_memory(err, "deep profile");
	else if (fflush(file) != 0 || ferror(file))
		status = hi_fail_errno(err, "cannot write data for Mercury's profiler");
	free_writing(&w);
	return status;
}
