/* SPDX-License-Identifier: BSD-2-Clause */
/* Interpreters of distributions by cores of them (scripts/store-python-core), so that
 * nobody needs the distribution: types and references as the program said them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "decode/runtimes/cpython.h"
#include "harness.h"
#include "support/stored.h"
#include "support/typed_process.h"

enum {
	COMES_AND_GOES = 4, /* objects, while they are listed */
	MAX_SHOWN = 10,
};

struct zoo {
	const struct typed_process *p;
	hi_node from; /* of the referents that follow; HI_NODE_NONE: of no block */
	unsigned objects, kinds, references, wrong;
};

static const char *name_of(const struct typed_process *p, hi_node node)
{
	return p->graph->types[p->graph->objects->type[node]].name;
}

static void complain(struct zoo *z, const char *what, const char *line, const char *found)
{
	if (z->wrong++ < MAX_SHOWN)
		hi_test_note("%s: \"%s\": %s", what, line, found);
}

/* "O address type" */
static void check_type(struct zoo *z, const char *line)
{
	char *name = NULL;
	uint64_t addr = strtoull(line + 2, &name, 16);
	hi_node node = hi_objects_find(z->p->graph->objects, addr, NULL);

	z->objects++;
	if (node == HI_NODE_NONE)
		return; /* in the interpreter's data */
	if (*name == ' ' && strcmp(name + 1, name_of(z->p, node)) != 0)
		complain(z, "type", line, name_of(z->p, node));
}

/* A table of the object: what it refers to is the object's. */
static bool is_table(const char *name)
{
	static const char *const tables[] = {
		"dict keys",   "list items",	   "set table",		"instance values",
		"deque block", "OrderedDict node", "OrderedDict table",
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (strcmp(tables[i], name) == 0)
			return true;
	return false;
}

static bool refers(const struct typed_process *p, hi_node from, hi_node to, bool deeper)
{
	struct hi_edges edges = hi_graph_edges(p->graph, from);

	for (uint32_t i = 0; i < edges.count; i++)
		if (edges.to[i] == to || (deeper && is_table(name_of(p, edges.to[i])) &&
					  refers(p, edges.to[i], to, false)))
			return true;
	return false;
}

/* "+ address" */
static void check_reference(struct zoo *z, const char *line)
{
	hi_node to =
		hi_objects_find(z->p->graph->objects, strtoull(line + 2, NULL, 16), NULL);

	if (z->from == HI_NODE_NONE || to == HI_NODE_NONE)
		return;
	z->references++;
	if (!refers(z->p, z->from, to, true))
		complain(z, "reference", line, name_of(z->p, z->from));
}

/* "C count type" */
static void check_count(struct zoo *z, const char *line)
{
	const struct hi_graph *graph = z->p->graph;
	char *name = NULL, found[24];
	unsigned long said = strtoul(line + 2, &name, 10), n = 0;

	z->kinds++;
	for (hi_node i = 0; i < graph->n_objects; i++)
		n += strcmp(name_of(z->p, i), name + 1) == 0;
	snprintf(found, sizeof(found), "%lu", n);
	if (n != said)
		complain(z, "count", line, found);
}

static void check_line(struct zoo *z, const char *line)
{
	if (line[0] == 'O')
		check_type(z, line);
	else if (line[0] == 'R')
		z->from = hi_objects_find(z->p->graph->objects,
					  strtoull(line + 2, NULL, 16), NULL);
	else if (line[0] == '+')
		check_reference(z, line);
	else if (line[0] == 'C')
		check_count(z, line);
}

static void check_truth(struct zoo *z, const char *path)
{
	FILE *truth = fopen(path, "re");
	char line[200];

	HI_ASSERT(truth);
	while (fgets(line, sizeof(line), truth)) {
		line[strcspn(line, "\n")] = 0;
		check_line(z, line);
	}
	fclose(truth);
}

static void check_stored(const char *name, const char *version, const char *found_by)
{
	char core[100], truth[100];
	struct zoo z = {};

	snprintf(core, sizeof(core), "%s.core", name);
	snprintf(truth, sizeof(truth), "%s.truth", name);
	z.p = typed_process_open_core(stored_file(core));
	HI_ASSERT(z.p->runtime);
	HI_ASSERT_STREQ(version, z.p->runtime->version);
	HI_ASSERT(strstr(z.p->runtime->found_by, found_by));
	check_truth(&z, stored_file(truth));
	hi_test_note("%u objects, %u kinds, %u references: %u wrong", z.objects, z.kinds,
		     z.references, z.wrong);
	HI_ASSERT_EQ(0, z.wrong);
	HI_ASSERT(z.kinds > 20 && z.objects > 5000 && z.references > 2000);
	HI_ASSERT(llabs((long long)z.p->runtime->tracked - z.objects) <= COMES_AND_GOES);
	HI_ASSERT_EQ(0, z.p->runtime->n_damage);
}

HI_TEST_SCENARIO(cpython_stored, python_of_debian_13_is_decoded_by_its_own_offsets)
{
	check_stored("python3.13-debian13", "3.13.5", "its table of offsets");
}

HI_TEST_SCENARIO(cpython_stored, python_of_debian_sid_is_decoded_by_its_own_offsets)
{
	check_stored("python3.14-sid", "3.14.10", "its table of offsets");
}
