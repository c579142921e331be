/* SPDX-License-Identifier: BSD-2-Clause */
/* Merged deep profiles and their differences, beside profiles of all stacks. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "census/deep/merge.h"
#include "tests/census/deep_stacks.h"
#include "tests/support/random.h"

enum { SETS = 1000, STACKS = 10, FUNCTIONS = 5, SITES = 2 /* of each function */ };

struct run {
	struct deep_stack stacks[STACKS]; /* in numbers of `names` */
	size_t n;
	struct hi_deep_profile profile;
};

static uint32_t intern(struct hi_deep_profile *p, const char *text)
{
	uint32_t number;

	HI_ASSERT(hi_deep_profile_intern(p, text, &number));
	return number;
}

/* Function f is "fN" of a file; call site s of it has two places on one line. */
static void describe_function(struct hi_deep_profile *p, uint32_t f)
{
	struct hi_deep_procedure function = {.line = f};
	char name[16];

	snprintf(name, sizeof(name), "f%u", f / 2);
	function.name = intern(p, name);
	snprintf(name, sizeof(name), "%u.c", f % 2);
	function.file = intern(p, name);
	function.module = intern(p, "demo");
	HI_ASSERT(hi_vector_push(&p->functions, function));
	for (uint32_t i = 0; i < SITES; i++) {
		struct hi_deep_call_site site = {.function =
							 (uint32_t)p->functions.count - 1,
						 .callee = HI_DEEP_NONE,
						 .line = f,
						 .file = function.file};

		snprintf(name, sizeof(name), "+%u", i);
		site.place = intern(p, name);
		HI_ASSERT(hi_vector_push(&p->sites, site));
	}
}

static void draw_run(struct run *run, uint64_t *random)
{
	run->n = random_below(random, STACKS + 1);
	for (size_t i = 0; i < run->n; i++) {
		struct deep_stack *s = &run->stacks[i];

		*s = (struct deep_stack){random_below(random, 1000),
					 1 + random_below(random, 9),
					 1 + random_below(random, 6),
					 {}};
		for (uint32_t k = 0; k < s->n; k++) {
			uint32_t f = 1 + random_below(random, FUNCTIONS);

			s->frames[k] = (struct hi_deep_frame){
				f, f * SITES + random_below(random, SITES)};
		}
	}
}

/* Numbers of the profile by those of stacks: HI_DEEP_NONE: it does not have it. */
static struct hi_deep_frame find_frame(const struct hi_deep_profile *p,
				       struct hi_deep_frame frame)
{
	struct hi_deep_frame found = {HI_DEEP_NONE, HI_DEEP_NONE};
	char name[16], file[16], place[16];

	snprintf(name, sizeof(name), "f%u", frame.function / 2);
	snprintf(file, sizeof(file), "%u.c", frame.function % 2);
	snprintf(place, sizeof(place), "+%u", frame.site % SITES);
	for (uint32_t i = 1; i < p->functions.count; i++)
		if (strcmp(hi_deep_profile_text(p, p->functions.items[i].name), name) ==
			    0 &&
		    strcmp(hi_deep_profile_text(p, p->functions.items[i].file), file) ==
			    0)
			found.function = i;
	for (uint32_t i = 1; i < p->sites.count; i++)
		if (p->sites.items[i].function == found.function &&
		    strcmp(hi_deep_profile_text(p, p->sites.items[i].place), place) == 0)
			found.site = i;
	return found;
}

static void translate_stacks(const struct hi_deep_profile *p, const struct run *run,
			     struct deep_stack *to)
{
	for (size_t i = 0; i < run->n; i++) {
		to[i] = run->stacks[i];
		for (uint32_t k = 0; k < to[i].n; k++) {
			to[i].frames[k] = find_frame(p, to[i].frames[k]);
			HI_ASSERT(to[i].frames[k].function != HI_DEEP_NONE);
			HI_ASSERT(to[i].frames[k].site != HI_DEEP_NONE);
		}
	}
}

/* The functions that its stacks have, from the first or from the last. */
static void make_run(struct run *run, bool backwards)
{
	bool has[FUNCTIONS + 1] = {};
	struct deep_stack stacks[STACKS];
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_profile_init(&run->profile, &err), &err);
	run->profile.has[HI_DEEP_BYTES] = run->profile.has[HI_DEEP_ALLOCS] = true;
	for (size_t i = 0; i < run->n; i++)
		for (uint32_t k = 0; k < run->stacks[i].n; k++)
			has[run->stacks[i].frames[k].function] = true;
	for (uint32_t i = 1; i <= FUNCTIONS; i++) {
		uint32_t f = backwards ? FUNCTIONS + 1 - i : i;

		if (has[f])
			describe_function(&run->profile, f);
	}
	translate_stacks(&run->profile, run, stacks);
	run->profile.graph = graph_of_stacks(stacks, run->n);
}

/* The sum of what is at the places of a function, by its name. */
static struct hi_deep_costs function_own(const struct hi_deep_profile *p,
					 const struct hi_deep_graph *g, uint32_t f)
{
	uint32_t number = find_frame(p, (struct hi_deep_frame){f, f * SITES}).function;
	struct hi_deep_costs sum = {};

	for (uint32_t i = 0; i < g->n_leaves; i++)
		if (g->nodes[g->leaves[i].node].function == number)
			hi_deep_costs_add(&sum, &g->leaves[i].costs);
	return sum;
}

static void expect_equal_graphs(const struct hi_deep_graph *g,
				const struct hi_deep_graph *h)
{
	HI_ASSERT_EQ(g->n_nodes, h->n_nodes);
	HI_ASSERT_EQ(g->n_edges, h->n_edges);
	HI_ASSERT_EQ(g->n_leaves, h->n_leaves);
	HI_ASSERT_EQ(g->n_cliques, h->n_cliques);
	HI_ASSERT(memcmp(g->nodes, h->nodes, g->n_nodes * sizeof(*g->nodes)) == 0);
	HI_ASSERT(memcmp(g->edges, h->edges, g->n_edges * sizeof(*g->edges)) == 0);
	HI_ASSERT(memcmp(g->leaves, h->leaves, g->n_leaves * sizeof(*g->leaves)) == 0);
	HI_ASSERT(memcmp(g->cliques, h->cliques, g->n_cliques * sizeof(*g->cliques)) ==
		  0);
	HI_ASSERT(memcmp(&g->total, &h->total, sizeof(g->total)) == 0);
}

static void check_merge(const struct run *a, const struct run *b,
			const struct hi_deep_profile *merged)
{
	struct deep_stack stacks[2 * STACKS];
	struct hi_deep_graph all;

	translate_stacks(merged, a, stacks);
	translate_stacks(merged, b, stacks + a->n);
	all = graph_of_stacks(stacks, a->n + b->n);
	expect_equal_graphs(&all, &merged->graph);
	hi_deep_graph_free(&all);
}

/* What the sum has more than the first is the second. */
static void check_restored(const struct run *a, const struct run *b,
			   const struct hi_deep_profile *merged)
{
	struct hi_deep_diff d;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_diff(&a->profile, merged, &d, &err), &err);
	for (uint32_t f = 1; f <= FUNCTIONS; f++) {
		struct hi_deep_costs sum = function_own(&d.merged, &d.before, f);
		struct hi_deep_costs more =
			function_own(&b->profile, &b->profile.graph, f);
		struct hi_deep_costs after = function_own(&d.merged, &d.after, f);

		hi_deep_costs_add(&sum, &more);
		HI_ASSERT(memcmp(&sum, &after, sizeof(sum)) == 0);
	}
	hi_deep_diff_free(&d);
}

/* The nodes of a stack, and where it allocates, by its own costs alone. */
static void check_side(const struct hi_deep_profile *p, const struct hi_deep_graph *side,
		       const struct run *run)
{
	struct deep_stack stacks[STACKS];
	uint64_t *leaves = calloc(side->n_leaves + 1u, sizeof(*leaves));

	HI_ASSERT(leaves != NULL);
	translate_stacks(p, run, stacks);
	for (size_t i = 0; i < run->n; i++) {
		uint32_t node = 0, site = 0, leaf = 0;

		for (uint32_t k = 0; k < stacks[i].n; k++) {
			uint32_t e = side->nodes[node].first_edge;

			while (side->edges[e].site != site ||
			       side->nodes[side->edges[e].callee].function !=
				       stacks[i].frames[k].function)
				e++;
			node = side->edges[e].callee;
			site = stacks[i].frames[k].site;
		}
		for (leaf = side->nodes[node].first_leaf; side->leaves[leaf].site != site;
		     leaf++)
			;
		leaves[leaf] += stacks[i].bytes;
	}
	for (uint32_t i = 0; i < side->n_leaves; i++)
		HI_ASSERT_EQ(leaves[i], side->leaves[i].costs.of[HI_DEEP_BYTES]);
	free(leaves);
	HI_ASSERT_EQ(run->profile.graph.total.of[HI_DEEP_BYTES],
		     side->nodes[0].desc.of[HI_DEEP_BYTES]);
}

static void check_diff(const struct run *a, const struct run *b)
{
	struct hi_deep_diff d;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_diff(&a->profile, &b->profile, &d, &err), &err);
	check_side(&d.merged, &d.before, a);
	check_side(&d.merged, &d.after, b);
	for (uint32_t i = 0; i < d.merged.graph.n_edges; i++) {
		struct hi_deep_costs sum = d.before.edges[i].own;

		hi_deep_costs_add(&sum, &d.after.edges[i].own);
		HI_ASSERT(memcmp(&sum, &d.merged.graph.edges[i].own, sizeof(sum)) == 0);
		sum = d.before.edges[i].desc;
		hi_deep_costs_add(&sum, &d.after.edges[i].desc);
		HI_ASSERT(memcmp(&sum, &d.merged.graph.edges[i].desc, sizeof(sum)) == 0);
	}
	hi_deep_diff_free(&d);
}

static void check_double(const struct run *a)
{
	struct hi_deep_profile twice;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_profile_merge(&a->profile, &a->profile, &twice, &err), &err);
	HI_ASSERT_EQ(a->profile.functions.count, twice.functions.count);
	HI_ASSERT_EQ(a->profile.sites.count, twice.sites.count);
	HI_ASSERT_EQ(a->profile.graph.n_nodes, twice.graph.n_nodes);
	for (uint32_t i = 0; i < twice.graph.n_edges; i++)
		HI_ASSERT_EQ(2 * a->profile.graph.edges[i].own.of[HI_DEEP_BYTES],
			     twice.graph.edges[i].own.of[HI_DEEP_BYTES]);
	hi_deep_profile_free(&twice);
}

HI_TEST(deep_merge, sums_and_differences_of_random_profiles)
{
	for (uint64_t seed = 0; seed < SETS; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15u + 7;
		struct run a = {}, b = {};
		struct hi_deep_profile merged;
		struct hi_error err;

		draw_run(&a, &random);
		draw_run(&b, &random);
		make_run(&a, false);
		make_run(&b, true);
		HI_ASSERT_OK(hi_deep_profile_merge(&a.profile, &b.profile, &merged, &err),
			     &err);
		check_merge(&a, &b, &merged);
		check_restored(&a, &b, &merged);
		check_diff(&a, &b);
		check_double(&a);
		hi_deep_profile_free(&merged);
		hi_deep_profile_free(&a.profile);
		hi_deep_profile_free(&b.profile);
	}
}

/* Two static functions of one name and file: in the order of lines. */
HI_TEST(deep_merge, static_functions_of_one_name_stay_apart)
{
	struct hi_deep_profile p[2], merged;
	static const struct deep_stack stacks[] = {{5, 1, 1, {{1, 1}}},
						   {7, 1, 1, {{2, 2}}}};
	struct hi_error err;

	for (int i = 0; i < 2; i++) {
		HI_ASSERT_OK(hi_deep_profile_init(&p[i], &err), &err);
		for (uint32_t k = 1; k <= 2; k++) {
			/* The second profile has them the other way round. */
			struct hi_deep_procedure f = {.name = intern(&p[i], "init"),
						      .file = intern(&p[i], "a.c"),
						      .line = i ? 30 - 10 * k : 10 * k};
			struct hi_deep_call_site s = {.function = k,
						      .callee = HI_DEEP_NONE,
						      .line = f.line + 1};

			HI_ASSERT(hi_vector_push(&p[i].functions, f));
			HI_ASSERT(hi_vector_push(&p[i].sites, s));
		}
		p[i].graph = graph_of_stacks(stacks, 2);
	}
	HI_ASSERT_OK(hi_deep_profile_merge(&p[0], &p[1], &merged, &err), &err);
	HI_ASSERT_EQ(3, merged.functions.count);
	HI_ASSERT_EQ(3, merged.sites.count);
	HI_ASSERT_EQ(12, merged.graph.nodes[1].own.of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(12, merged.graph.nodes[2].own.of[HI_DEEP_BYTES]);
	hi_deep_profile_free(&merged);
	hi_deep_profile_free(&p[0]);
	hi_deep_profile_free(&p[1]);
}

HI_TEST(deep_merge, costs_that_one_does_not_know_are_not_known)
{
	struct hi_deep_profile p[2], merged;
	struct hi_error err;

	for (int i = 0; i < 2; i++) {
		HI_ASSERT_OK(hi_deep_profile_init(&p[i], &err), &err);
		p[i].graph = graph_of_stacks(NULL, 0);
		p[i].has[HI_DEEP_BYTES] = p[i].has[HI_DEEP_TICKS] = true;
		p[i].ticks_per_second = 100 + (uint64_t)i;
		p[i].sequence = 5;
		p[i].before_bytes = 3;
	}
	p[1].has[HI_DEEP_DRAG_BYTES] = true;
	HI_ASSERT_OK(hi_deep_profile_merge(&p[0], &p[1], &merged, &err), &err);
	HI_ASSERT(merged.has[HI_DEEP_BYTES]);
	HI_ASSERT(!merged.has[HI_DEEP_DRAG_BYTES]);
	HI_ASSERT(!merged.has[HI_DEEP_TICKS]);
	HI_ASSERT_EQ(10, merged.sequence);
	HI_ASSERT_EQ(6, merged.before_bytes);
	HI_ASSERT_EQ(1, merged.graph.n_nodes);
	hi_deep_profile_free(&merged);
	hi_deep_profile_free(&p[0]);
	hi_deep_profile_free(&p[1]);
}

HI_TEST(deep_merge, a_graph_without_descriptions_is_refused)
{
	static const struct deep_stack stacks[] = {{5, 1, 1, {{1, 1}}}};
	struct hi_deep_profile p, merged;
	struct hi_deep_diff diff;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_profile_init(&p, &err), &err);
	p.graph = graph_of_stacks(stacks, 1);
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_deep_profile_merge(&p, &p, &merged, &err));
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_deep_diff(&p, &p, &diff, &err));
	hi_deep_profile_free(&p);
}

HI_TEST(deep_merge, without_memory_there_is_none)
{
	enum hi_status status = HI_NO_MEMORY;
	struct run a = {}, b = {};
	struct hi_deep_diff diff;
	struct hi_error err;
	uint64_t random = 5;

	draw_run(&a, &random);
	draw_run(&b, &random);
	make_run(&a, false);
	make_run(&b, true);
	for (uint64_t nth = 1; status; nth++) {
		hi_alloc_fail_once(nth);
		status = hi_deep_diff(&a.profile, &b.profile, &diff, &err);
		if (status)
			HI_ASSERT_STATUS(HI_NO_MEMORY, status);
		else
			HI_ASSERT(hi_alloc_count() < nth);
		hi_alloc_fail_at(0);
	}
	hi_deep_diff_free(&diff);
	hi_deep_profile_free(&a.profile);
	hi_deep_profile_free(&b.profile);
}
