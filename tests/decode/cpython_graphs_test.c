/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random graphs of objects (fixtures/python/random_graph.py), whose types and fate the
 * program says: each that is kept has its type and a way from a root, and what was
 * dropped has none.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "census/analysis/analysis.h"
#include "decode/inference/audit.h"
#include "harness.h"
#include "support/fixture.h"
#include "support/pythons.h"
#include "support/typed_process.h"

enum { GRAPHS = 4, GRAPHS_AT_LENGTH = 60, MAX_LINES = 4096, DEAD_ONE_OF = 4 };

struct line {
	bool is_live;
	uint64_t addr;
	char type[80];
};

struct truth_of_graph {
	struct line lines[MAX_LINES];
	size_t n;
};

static void keep_line(const char *text, void *arg)
{
	struct truth_of_graph *t = arg;
	struct line *line = &t->lines[t->n];
	unsigned long long addr;

	if (t->n == MAX_LINES)
		return;
	line->is_live = sscanf(text, "live %llx %79s", &addr, line->type) == 2;
	if (line->is_live || sscanf(text, "dropped %llx", &addr) == 1) {
		line->addr = addr;
		t->n++;
	}
}

struct verdict {
	unsigned live, elsewhere, wrong, dropped, alive;
};

static void check_live(const struct typed_process *p, const struct hi_reach *reach,
		       const struct line *line, unsigned seed, struct verdict *v)
{
	hi_node node = hi_objects_find(p->graph->objects, line->addr, NULL);
	const char *type;

	v->live++;
	v->elsewhere += node == HI_NODE_NONE;
	if (node == HI_NODE_NONE)
		return; /* in the interpreter's data */
	type = p->graph->types[p->graph->objects->type[node]].name;
	if (strcmp(type, line->type) == 0 && hi_bit(reach->any, node))
		return;
	if (v->wrong++ < 10)
		hi_test_note("seed %u: 0x%llx is a %s, found a %s%s", seed,
			     (unsigned long long)line->addr, line->type, type,
			     hi_bit(reach->any, node) ? "" : ", leaked");
}

static void check_dropped(const struct typed_process *p, const struct hi_reach *reach,
			  const struct line *line, struct verdict *v)
{
	hi_node node = hi_objects_find(p->graph->objects, line->addr, NULL);

	v->dropped++;
	v->alive += node == HI_NODE_NONE || hi_bit(reach->any, node);
}

static void check_audit(const struct typed_process *p, unsigned seed)
{
	struct hi_audit audit = {};
	struct hi_error err = {};

	HI_ASSERT_OK(hi_runtime_audit(p->typing, p->runtime, p->graph, &audit, &err),
		     &err);
	HI_ASSERT_MSG(audit.missing == 0 && audit.known == 0,
		      "seed %u: %llu missing, %llu known", seed,
		      (unsigned long long)audit.missing, (unsigned long long)audit.known);
	/* Up to 3.9 the interpreter loses one or two of its own. */
	HI_ASSERT_MSG(audit.excess <= 2, "seed %u: %llu lost, of a %s", seed,
		      (unsigned long long)audit.excess,
		      p->graph->types[audit.rows[0].type].name);
	hi_audit_deinit(&audit);
}

static void check_graph(const char *python, unsigned seed, struct verdict *v)
{
	static struct truth_of_graph truth;
	struct hi_reach *reach = NULL;
	struct hi_error err = {};
	struct typed_process *p;
	struct hi_fixture *fx;
	char argument[16];

	snprintf(argument, sizeof(argument), "%u", seed);
	fx = hi_fixture_start(python, HI_SOURCE_DIR "/fixtures/python/random_graph.py",
			      argument, NULL);
	truth.n = 0;
	hi_fixture_read_until(fx, "ready", keep_line, &truth);
	p = typed_process_open_without_debug(fx->pid);
	HI_ASSERT(p->runtime);
	HI_ASSERT_EQ(0, p->runtime->n_odd);
	HI_ASSERT_EQ(0, p->runtime->n_cut);
	HI_ASSERT_OK(hi_reach_compute(p->graph, 1, &reach, &err), &err);
	for (size_t i = 0; i < truth.n; i++)
		if (truth.lines[i].is_live)
			check_live(p, reach, &truth.lines[i], seed, v);
		else
			check_dropped(p, reach, &truth.lines[i], v);
	hi_reach_destroy(reach);
	check_audit(p, seed);
	kill(fx->pid, SIGKILL);
	hi_fixture_end(fx);
}

static unsigned n_graphs;

static void check_graphs(const char *python)
{
	struct verdict v = {};

	for (unsigned seed = 1; seed <= n_graphs; seed++)
		check_graph(python, seed, &v);
	hi_test_note("%u live, %u of them in the interpreter's data, %u wrong; %u "
		     "dropped, %u alive",
		     v.live, v.elsewhere, v.wrong, v.dropped, v.alive);
	HI_ASSERT(v.live > 1000 * n_graphs && v.dropped > 30 * n_graphs);
	HI_ASSERT_EQ(0, v.wrong);
	/* Stale words of stacks keep some, and what these lead to. */
	HI_ASSERT((v.dropped - v.alive) * DEAD_ONE_OF >= v.dropped);
}

HI_TEST_SCENARIO(cpython_graphs, random_graphs_have_their_types_and_no_leaks)
{
	n_graphs = GRAPHS;
	hi_each_python(check_graphs);
}

HI_TEST_SLOW(cpython_graphs, many_more_random_graphs_have_no_leaks)
{
	n_graphs = GRAPHS_AT_LENGTH;
	hi_each_python(check_graphs);
}
