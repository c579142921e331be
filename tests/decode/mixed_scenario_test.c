/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mixed heap of C structs and C++ containers against its truth, block by
 * block: nothing is named wrong, nearly everything reachable is named right,
 * and what only dead words and numbers lead to is leaked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "support/fixture.h"
#include "support/type_names.h"
#include "support/typed_process.h"

enum { MAX_NAMES = 100, FATES = 5 };
enum fate { REACHABLE, LEAKED, IN_NUMBERS, IN_TAIL, IN_ARRAY };

struct record { /* as in fixtures/mixed_heap.h */
	uint64_t addr;
	uint32_t name, fate;
};

struct result {
	uint64_t right, wrong, unnamed, missing;
};

struct mixed {
	char names[MAX_NAMES][1000];
	unsigned n_names;
	struct record *records;
	size_t n;
	struct typed_process *process;
	bool *reached; /* by node */
	uint8_t *fits; /* by type and name: 0 not asked, 1 no, 2 yes */
	struct result by_name[MAX_NAMES];
	struct result all;
	uint64_t leaks[FATES], alive[FATES]; /* as found */
};

static void keep_name(const char *line, struct mixed *m)
{
	unsigned id;
	int at = 0;

	if (sscanf(line, "T %u %n", &id, &at) != 1 || !at)
		return;
	HI_ASSERT(id == m->n_names && id < MAX_NAMES);
	snprintf(m->names[m->n_names++], sizeof(m->names[0]), "%s", line + at);
}

static void read_names(struct hi_fixture *fx, struct mixed *m)
{
	char line[1200];

	while (hi_fixture_line(fx, line, sizeof(line))) {
		if (sscanf(line, "ready %zu", &m->n) == 1)
			return;
		keep_name(line, m);
	}
	HI_ASSERT_MSG(false, "the fixture ended early");
}

static void read_records(const char *path, struct mixed *m)
{
	size_t size = m->n * sizeof(struct record);
	FILE *f = fopen(path, "re");

	HI_ASSERT(f);
	m->records = malloc(size);
	HI_ASSERT(m->records && fread(m->records, 1, size, f) == size);
	fclose(f);
}

/* Everything that a root reaches by edges that retain. */
static void reach(struct mixed *m)
{
	const struct hi_graph *g = m->process->graph;
	hi_node *queue = calloc(g->n_nodes, sizeof(*queue));
	hi_node n = 0;

	m->reached = calloc(g->n_nodes, sizeof(*m->reached));
	HI_ASSERT(queue && m->reached);
	m->reached[g->super_root] = true;
	queue[n++] = g->super_root;
	for (hi_node i = 0; i < n; i++) {
		struct hi_edges e = hi_graph_edges(g, queue[i]);

		for (uint32_t k = 0; k < e.count; k++)
			if (e.grade[k] != HI_GRADE_WEAK && !m->reached[e.to[k]]) {
				m->reached[e.to[k]] = true;
				queue[n++] = e.to[k];
			}
	}
	free(queue);
}

static bool is_right(struct mixed *m, uint32_t type, uint32_t name)
{
	uint8_t *fits = &m->fits[(size_t)type * MAX_NAMES + name];

	if (!*fits)
		*fits = type_name_fits(m->names[name],
				       m->process->graph->types[type].name)
				? 2
				: 1;
	return *fits == 2;
}

/* Only what is reached must have a name; but a wrong one is wrong everywhere.
 */
static void check_name(struct mixed *m, const struct record *r, hi_node node)
{
	const struct hi_graph *g = m->process->graph;
	uint32_t type = g->objects->type[node];
	struct result *by_name = &m->by_name[r->name];

	if (!type || g->types[type].klass == HI_TYPE_FIELD) {
		m->all.unnamed += r->fate == REACHABLE;
		by_name->unnamed += r->fate == REACHABLE;
	} else if (is_right(m, type, r->name)) {
		m->all.right += r->fate == REACHABLE;
		by_name->right += r->fate == REACHABLE;
	} else {
		if (!by_name->wrong++)
			fprintf(stderr, "0x%lx: expected %s, got %s\n", r->addr,
				m->names[r->name], g->types[type].name);
		m->all.wrong++;
	}
}

static void check_record(struct mixed *m, const struct record *r)
{
	uint64_t offset = 0;
	hi_node node = hi_objects_find(m->process->graph->objects, r->addr, &offset);

	HI_ASSERT(r->name < m->n_names && r->fate < FATES);
	if (node == HI_NODE_NONE || offset) {
		m->all.missing++;
		return;
	}
	if (m->reached[node])
		m->alive[r->fate]++;
	else
		m->leaks[r->fate]++;
	check_name(m, r, node);
}

static void print_result(const struct mixed *m)
{
	for (unsigned i = 0; i < m->n_names; i++) {
		const struct result *r = &m->by_name[i];

		if (r->wrong || r->unnamed)
			fprintf(stderr, "%s: %lu right, %lu wrong, %lu unnamed\n",
				m->names[i], r->right, r->wrong, r->unnamed);
	}
	fprintf(stderr, "all: %lu right, %lu wrong, %lu unnamed, %lu missing\n",
		m->all.right, m->all.wrong, m->all.unnamed, m->all.missing);
}

static void mixed_free(struct mixed *m)
{
	free(m->records);
	free(m->reached);
	free(m->fits);
	free(m);
}

static struct mixed *inspect(const char *objects, bool conservative)
{
	struct mixed *m = calloc(1, sizeof(*m));
	struct hi_typing_options options = {.conservative = conservative};
	char path[] = "/tmp/mixed-truth-XXXXXX";
	struct hi_fixture *fx;
	int fd = mkstemp(path);

	HI_ASSERT(m && fd >= 0);
	hi_test_defer(mixed_free, m);
	close(fd);
	fx = hi_fixture_start("mixed_heap", path, objects, "1000", NULL);
	read_names(fx, m);
	read_records(path, m);
	unlink(path);
	m->process = typed_process_open_with(fx->pid, &options,
					     HI_SOURCE_DIR "/tests/data/mixed.hints");
	m->fits = calloc((size_t)m->process->graph->n_types * MAX_NAMES, 1);
	HI_ASSERT(m->fits);
	reach(m);
	for (size_t i = 0; i < m->n; i++)
		check_record(m, &m->records[i]);
	return m;
}

/* Blocks that are not the fixture's own: of the C and the C++ library. */
static uint64_t others(const struct mixed *m)
{
	const struct hi_objects *objects = m->process->graph->objects;
	uint64_t n = 0;

	for (hi_node i = 0; i < m->process->graph->n_objects; i++)
		n += !(objects->flags[i] & HI_OBJECT_INTERNAL);
	HI_ASSERT(n >= m->n);
	return n - m->n;
}

static void check_mixed(const char *objects)
{
	struct mixed *m = inspect(objects, false);

	if (m->all.wrong || m->all.unnamed || m->all.missing)
		print_result(m);
	HI_ASSERT(m->n >= strtoull(objects, NULL, 10));
	HI_ASSERT(others(m) <= 8);
	HI_ASSERT_EQ(0, m->all.missing);
	HI_ASSERT_EQ(0, m->all.wrong);
	HI_ASSERT(m->all.right * 100 >= (m->all.right + m->all.unnamed) * 99);
	HI_ASSERT_EQ(0, m->leaks[REACHABLE]);
	for (unsigned fate = IN_NUMBERS; fate < FATES; fate++) {
		HI_ASSERT_EQ(0, m->alive[fate]);
		HI_ASSERT_EQ(1000, m->leaks[fate]);
	}
	HI_ASSERT_EQ(0, m->alive[LEAKED]);
}

HI_TEST_SCENARIO(mixed, nothing_is_named_wrong_and_dead_words_keep_nothing_alive)
{
	check_mixed("20000");
}

HI_TEST_SLOW(mixed, a_million_objects_are_named_right)
{
	check_mixed("1000000");
}

HI_TEST_SCENARIO(mixed, conservative_reading_keeps_targets_of_dead_words)
{
	struct mixed *m = inspect("20000", true);

	HI_ASSERT_EQ(0, m->leaks[REACHABLE]);
	for (unsigned fate = IN_NUMBERS; fate < FATES; fate++)
		HI_ASSERT_EQ(1000, m->alive[fate]);
	HI_ASSERT_EQ(0, m->alive[LEAKED]);
}
