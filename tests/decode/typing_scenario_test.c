/* SPDX-License-Identifier: BSD-2-Clause */
/* Types, edges and roots of live programs against what they print. */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "support/fixture.h"
#include "support/typed_process.h"

enum { MAX_LINES = 1000 };

struct truth {
	char kind;
	uint64_t a, b;
	char name[200];
	unsigned n; /* elements; 0: one */
};

struct truths {
	struct truth items[MAX_LINES];
	size_t count;
};

static void keep_line(const char *line, void *arg)
{
	struct truths *all = arg;
	struct truth *t = &all->items[all->count];
	unsigned long long a = 0, b = 0;
	const char *last;

	HI_ASSERT(all->count < MAX_LINES);
	*t = (struct truth){.kind = line[0]};
	if (line[0] == 'G' || line[0] == 'K') {
		/* The name may have spaces; the address is the last word. */
		last = strrchr(line, ' ');
		HI_ASSERT(last && last > line + 2);
		snprintf(t->name, sizeof(t->name), "%.*s", (int)(last - line) - 2,
			 line + 2);
		a = strtoull(last + 1, NULL, 16);
	} else if (line[0] == 'O') {
		HI_ASSERT_EQ(2, sscanf(line, "O %llx %199[^\n]", &a, t->name));
		last = strrchr(t->name, ' ');
		if (last && (t->n = (unsigned)atoi(last + 1)) > 0)
			t->name[last - t->name] = 0;
	} else if (line[0] == 'E' || line[0] == 'N') {
		HI_ASSERT_EQ(2, sscanf(line + 2, "%llx %llx", &a, &b));
	} else if (line[0] == 'U' || line[0] == 'L') {
		HI_ASSERT_EQ(1, sscanf(line + 2, "%llx", &a));
	} else {
		return;
	}
	t->a = a;
	t->b = b;
	all->count++;
}

static uint32_t edges_between(const struct typed_process *p, uint64_t from, uint64_t to)
{
	struct hi_edges e = hi_graph_edges(p->graph, typed_process_node(p, from));
	hi_node node = typed_process_node(p, to);
	uint32_t n = 0;

	for (uint32_t i = 0; i < e.count; i++)
		n += e.to[i] == node;
	return n;
}

static const struct hi_root *root_named(const struct typed_process *p, const char *name,
					uint64_t to)
{
	hi_node node = typed_process_node(p, to);

	for (hi_node i = 0; i < p->graph->n_roots; i++) {
		struct hi_edges e = hi_graph_edges(p->graph, p->graph->first_root + i);

		if (!strstr(p->graph->roots[i].name, name))
			continue;
		for (uint32_t k = 0; k < e.count; k++)
			if (e.to[k] == node)
				return &p->graph->roots[i];
	}
	return NULL;
}

static bool any_root_leads_to(const struct typed_process *p, uint64_t to,
			      enum hi_root_kind kind)
{
	hi_node node = typed_process_node(p, to);

	for (hi_node i = 0; i < p->graph->n_roots; i++) {
		struct hi_edges e = hi_graph_edges(p->graph, p->graph->first_root + i);

		for (uint32_t k = 0; p->graph->roots[i].kind == kind && k < e.count; k++)
			if (e.to[k] == node)
				return true;
	}
	return false;
}

/* Roots of this kind lead to it, and no others. */
static void check_kind(const struct typed_process *p, const char *kind, uint64_t to)
{
	static const char *const names[HI_ROOT_KINDS] = {
		"global", "tls", "stack", "register", "runtime", "untyped"};

	for (unsigned i = 0; i < HI_ROOT_KINDS; i++) {
		bool wanted = strcmp(names[i], kind) == 0;

		if (any_root_leads_to(p, to, (enum hi_root_kind)i) != wanted)
			hi_test_fail(__FILE__, __LINE__, "0x%llx of %s: %s",
				     (unsigned long long)to, kind, names[i]);
	}
}

static void check_unreachable(const struct typed_process *p, uint64_t to)
{
	hi_node node = typed_process_node(p, to);

	for (hi_node i = 0; i < p->graph->first_kind; i++) {
		struct hi_edges e = hi_graph_edges(p->graph, i);

		for (uint32_t k = 0; k < e.count; k++)
			HI_ASSERT(e.to[k] != node);
	}
}

static void check_object(const struct typed_process *p, const struct truth *t)
{
	char wanted[210];
	const char *type = typed_process_type(p, t->a);

	snprintf(wanted, sizeof(wanted), "%s%s", t->name, t->n > 1 ? "[]" : "");
	/* Arrays whatever their number. */
	if (strcmp(t->name, "char []") == 0 || strcmp(t->name, "string buffer") == 0)
		HI_ASSERT_MSG(strncmp(type, t->name, strlen(t->name)) == 0, "0x%llx: %s",
			      (unsigned long long)t->a, type);
	else
		HI_ASSERT_MSG(strcmp(wanted, type) == 0,
			      "0x%llx: expected \"%s\", got \"%s\"",
			      (unsigned long long)t->a, wanted, type);
}

/* Those that an object refers to equal the E lines about it. */
static void check_all_edges(const struct typed_process *p, const struct truths *all,
			    uint64_t from)
{
	struct hi_edges e = hi_graph_edges(p->graph, typed_process_node(p, from));
	uint32_t wanted = 0, found = 0;

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].kind == 'E' && all->items[i].a == from)
			wanted++;
	for (uint32_t i = 0; i < e.count; i++) {
		bool seen = false; /* begin, end and capacity of one vector */

		for (uint32_t k = 0; k < i; k++)
			seen |= e.to[k] == e.to[i];
		found += !seen;
	}
	HI_ASSERT_MSG(wanted == found, "0x%llx (%s): expected %u edges, got %u",
		      (unsigned long long)from, typed_process_type(p, from), wanted,
		      found);
}

static void check_truth(const struct typed_process *p, const struct truths *all,
			bool with_edges)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct truth *t = &all->items[i];

		switch (t->kind) {
		case 'O':
			check_object(p, t);
			if (with_edges)
				check_all_edges(p, all, t->a);
			break;
		case 'K':
			check_kind(p, t->name, t->a);
			break;
		case 'L':
			check_unreachable(p, t->a);
			break;
		case 'U':
			HI_ASSERT_STREQ("", typed_process_type(p, t->a));
			break;
		case 'E':
			HI_ASSERT(edges_between(p, t->a, t->b) > 0);
			break;
		case 'N':
			HI_ASSERT_EQ(0, edges_between(p, t->a, t->b));
			break;
		case 'G':
			HI_ASSERT_MSG(root_named(p, t->name, t->a), "root %s", t->name);
			break;
		default:
			break;
		}
	}
}

static void check_fixture(const char *name, bool with_edges)
{
	static struct truths all;
	struct hi_fixture *fx = hi_fixture_start(name, NULL);
	struct typed_process *p;

	all.count = 0;
	hi_fixture_read_until(fx, "ready", keep_line, &all);
	HI_ASSERT(all.count > 10);
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		struct hi_typing_options options = {.threads = threads};

		if (threads == 1)
			p = typed_process_open(fx->pid, &options);
		else
			typed_process_again(p, &options);
		check_truth(p, &all, with_edges);
	}
}

HI_TEST_SCENARIO(typing_c, types_edges_and_roots_are_those_that_the_program_prints)
{
	check_fixture("typing_c", true);
}

HI_TEST_SCENARIO(typing_cxx, dynamic_types_bases_and_vectors_are_those_that_it_prints)
{
	check_fixture("typing_cxx", true);
}

HI_TEST_SCENARIO(typing_threads,
		 each_object_is_held_by_the_one_kind_of_root_that_is_printed)
{
	check_fixture("typing_threads", false);
}
