/* SPDX-License-Identifier: BSD-2-Clause */
/* All interpreters of a process are walked: their objects, blocks and modules. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/runtimes/cpython.h"
#include "harness.h"
#include "support/fixture.h"
#include "support/pythons.h"
#include "support/typed_process.h"

enum {
	INTERPRETERS = 3,
	HANDFUL = 100, /* objects that come and go while the number is told */
};

struct truth {
	uint64_t kept[INTERPRETERS], tracked[INTERPRETERS], last;
	unsigned n;
	bool shared;
};

static void keep_line(const char *line, void *arg)
{
	struct truth *t = arg;
	unsigned long long kept, tracked;
	unsigned id;

	if (strcmp(line, "shared") == 0)
		t->shared = true;
	if (sscanf(line, "I %u %llx %llu", &id, &kept, &tracked) != 3)
		return;
	HI_ASSERT(id < INTERPRETERS);
	t->kept[id] = kept;
	t->tracked[id] = t->last = tracked;
	t->n++;
}

static uint64_t sum_tracked(const struct truth *t)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < INTERPRETERS; i++)
		sum += t->tracked[i];
	return t->shared ? t->last : sum;
}

/* The dict that a root leads to has it by this name. */
static bool has_item(const struct typed_process *p, hi_node root, hi_node to,
		     const char *label)
{
	struct hi_edges dicts = hi_graph_edges(p->graph, root);
	char text[100];

	for (uint32_t i = 0; i < dicts.count; i++) {
		struct hi_edges items = hi_graph_edges(p->graph, dicts.to[i]);

		for (uint32_t k = 0; k < items.count; k++) {
			if (items.to[k] != to)
				continue;
			hi_typing_describe_edge(p->typing, p->graph, dicts.to[i], to,
						text, sizeof(text));
			if (strcmp(text, label) == 0)
				return true;
		}
	}
	return false;
}

static void check_module(const struct typed_process *p, unsigned id, uint64_t kept)
{
	hi_node to = hi_objects_find(p->graph->objects, kept, NULL);
	char detail[48];

	HI_ASSERT(to != HI_NODE_NONE);
	HI_ASSERT_STREQ("dict", p->graph->types[p->graph->objects->type[to]].name);
	snprintf(detail, sizeof(detail), "interpreter %u", id);
	for (uint32_t i = 0; i < p->graph->n_roots; i++) {
		const struct hi_root *root = &p->graph->roots[i];

		if (strcmp(root->name, "module __main__") == 0 &&
		    strcmp(root->detail, detail) == 0 &&
		    has_item(p, p->graph->first_root + i, to, "[\"KEPT\"]"))
			return;
	}
	hi_test_fail(__FILE__, __LINE__, "no module __main__ of %s has it", detail);
}

static void check_interpreters(const char *python)
{
	struct hi_fixture *fx = hi_fixture_start(
		python, HI_SOURCE_DIR "/fixtures/python_interpreters.py", NULL);
	struct truth t = {};
	struct typed_process *p;

	hi_fixture_read_until(fx, "ready", keep_line, &t);
	HI_ASSERT_EQ(INTERPRETERS, t.n);
	p = typed_process_open(fx->pid, NULL);
	HI_ASSERT(p->runtime);
	HI_ASSERT_EQ(INTERPRETERS,
		     ((const struct hi_py *)p->runtime)->interpreters.count);
	hi_test_note("%" PRIu64 " objects tracked, %" PRIu64 " said", p->runtime->tracked,
		     sum_tracked(&t));
	HI_ASSERT(llabs((long long)(p->runtime->tracked - sum_tracked(&t))) <= HANDFUL);
	HI_ASSERT_EQ(0, p->runtime->n_damage);
	for (unsigned i = 0; i < INTERPRETERS; i++)
		check_module(p, i, t.kept[i]);
}

HI_TEST_SCENARIO(cpython_interpreters, all_interpreters_are_walked)
{
	hi_each_python(check_interpreters);
}
