/* SPDX-License-Identifier: BSD-2-Clause */
/* The deep profile of a recorded process: fixtures/deep_stacks.c has the stacks of the
 * worked example of SPEC section 5, whose figures are the truth. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "session/deep/build.h"
#include "session/inspect/inspect.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

struct built {
	struct hi_deep_profile profile;
	uint32_t node; /* where the walk along names is */
};

static void build_from_file(const char *file, struct hi_deep_profile *ret)
{
	struct hi_options options = {.target.file = file};
	struct hi_inspection *in;
	struct hi_error err;

	HI_ASSERT_OK(hi_inspect_open(&options, NULL, HI_WANT_DOMINATORS, &in, &err),
		     &err);
	HI_ASSERT_OK(hi_deep_build(in, ret, &err), &err);
	hi_inspect_close(in);
}

static struct built *record_stacks(bool frees)
{
	static struct built b;
	struct hi_fixture *fx = hi_fixture_start("deep_stacks", NULL);
	struct recording_run run;
	struct hi_command *c;
	char file[256];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	if (frees) {
		hi_fixture_tell(fx, "free");
		hi_fixture_read_until(fx, "done", NULL, NULL);
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	b = (struct built){};
	build_from_file(file, &b.profile);
	hi_test_defer(hi_deep_profile_free, &b.profile);
	return &b;
}

static const char *name_of_node(const struct built *b, uint32_t node)
{
	uint32_t function = b->profile.graph.nodes[node].function;

	return hi_deep_profile_text(&b->profile,
				    b->profile.functions.items[function].name);
}

/* The edge from a node to a function of this name; NULL: there is none. */
static const struct hi_deep_edge *find_call_of(const struct built *b, uint32_t node,
					       const char *name)
{
	const struct hi_deep_graph *g = &b->profile.graph;
	const struct hi_deep_edge *found = NULL;

	for (uint32_t i = 0; i < g->nodes[node].n_edges; i++) {
		const struct hi_deep_edge *e = &g->edges[g->nodes[node].first_edge + i];

		if (strcmp(name_of_node(b, e->callee), name) == 0) {
			HI_ASSERT(!found);
			found = e;
		}
	}
	return found;
}

static uint32_t find_node_of(const struct built *b, const char *name)
{
	for (uint32_t i = 0; i < b->profile.graph.n_nodes; i++)
		if (strcmp(name_of_node(b, i), name) == 0)
			return i;
	HI_ASSERT_MSG(false, "%s is missing", name);
	return 0;
}

static uint32_t expect_call(const struct built *b, uint32_t caller, const char *name,
			    uint64_t own, uint64_t desc)
{
	const struct hi_deep_edge *e = find_call_of(b, caller, name);

	HI_ASSERT_MSG(e, "%s is not called", name);
	HI_ASSERT_EQ(own, e->own.of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(desc, e->desc.of[HI_DEEP_BYTES]);
	return e->callee;
}

HI_TEST_ROOT(deep_build, a_process_has_the_figures_of_the_worked_example)
{
	struct built *b = record_stacks(false);
	uint32_t outer = find_node_of(b, "allocate_all");
	uint32_t work = expect_call(b, outer, "work", 7, 750), parse, expr, load;

	parse = expect_call(b, work, "parse", 100, 120);
	expr = expect_call(b, parse, "expr", 60, 0);
	HI_ASSERT_EQ(parse, expect_call(b, expr, "parse", 60, 0));
	load = expect_call(b, work, "load", 500, 30);
	HI_ASSERT(parse != expect_call(b, load, "parse", 30, 0));
	HI_ASSERT_EQ(757, b->profile.graph.total.of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(27, b->profile.graph.total.of[HI_DEEP_ALLOCS]);
	HI_ASSERT_EQ(757, b->profile.graph.total.of[HI_DEEP_LIVE_BYTES]);
}

/* What load() allocated is freed: it stays among what was allocated. */
HI_TEST_ROOT(deep_build, freed_objects_are_not_live)
{
	struct built *b = record_stacks(true);
	uint32_t work = find_node_of(b, "work");
	const struct hi_deep_edge *load = find_call_of(b, work, "load");

	HI_ASSERT_EQ(500, load->own.of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(0, load->own.of[HI_DEEP_LIVE_BYTES]);
	HI_ASSERT_EQ(30, load->desc.of[HI_DEEP_LIVE_BYTES]);
	HI_ASSERT_EQ(257, b->profile.graph.total.of[HI_DEEP_LIVE_BYTES]);
	HI_ASSERT_EQ(26, b->profile.graph.total.of[HI_DEEP_LIVE]);
}

/* Nothing here refers to anything: each object retains what it costs itself. */
HI_TEST_ROOT(deep_build, objects_retain_what_they_cost)
{
	struct built *b = record_stacks(false);
	const struct hi_deep_costs *total = &b->profile.graph.total;

	/* 25 blocks of 10 bytes and one of 7 cost 32 each, one of 500 costs 512. */
	HI_ASSERT_EQ(26 * 32 + 512, total->of[HI_DEEP_RETAINED_BYTES]);
	HI_ASSERT_EQ(0, total->of[HI_DEEP_LEAKED_BYTES]);
}

/* Of each function of the example the file and the module are known, and of each call
 * site the line. */
HI_TEST_ROOT(deep_build, call_sites_have_lines)
{
	struct built *b = record_stacks(false);
	uint32_t work = find_node_of(b, "work");
	const struct hi_deep_procedure *f =
		&b->profile.functions.items[b->profile.graph.nodes[work].function];
	const struct hi_deep_edge *parse = find_call_of(b, work, "parse"),
				  *load = find_call_of(b, work, "load");
	const struct hi_deep_call_site *sites = b->profile.sites.items;

	HI_ASSERT(strstr(hi_deep_profile_text(&b->profile, f->file), "deep_stacks.c"));
	HI_ASSERT(strstr(hi_deep_profile_text(&b->profile, f->module), "deep_stacks"));
	HI_ASSERT_EQ(sites[parse->site].line + 2, sites[load->site].line);
	HI_ASSERT_EQ(sites[parse->site].line, f->line);
	HI_ASSERT_EQ(parse->caller, load->caller);
	HI_ASSERT_EQ(b->profile.graph.nodes[parse->callee].function,
		     sites[parse->site].callee);
}
