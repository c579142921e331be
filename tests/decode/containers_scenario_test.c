/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Containers of libstdc++ and libc++ against what the fixtures print about
 * every block: types, element types, all edges and no others, leaks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "support/fixture.h"
#include "support/type_names.h"
#include "support/typed_process.h"

enum { MAX_LINES = 4000 };

struct line {
	char kind;
	uint64_t a, b;
	char name[3000];
	unsigned n; /* elements; 1 where none are said */
};

static struct line lines[MAX_LINES];
static size_t n_lines;

static void keep_object(struct line *l, const char *text)
{
	char *last;

	HI_ASSERT_EQ(2, sscanf(text, "O %lx %2999[^\n]", &l->a, l->name));
	last = strrchr(l->name, ' ');
	l->n = 1;
	if (last && last[1] && strspn(last + 1, "0123456789") == strlen(last + 1)) {
		l->n = (unsigned)atoi(last + 1);
		*last = 0;
	}
}

static void keep_line(const char *text)
{
	struct line *l = &lines[n_lines];

	HI_ASSERT(n_lines < MAX_LINES);
	*l = (struct line){.kind = text[0]};
	switch (text[0]) {
	case 'O':
		keep_object(l, text);
		break;
	case 'E':
		HI_ASSERT_EQ(2, sscanf(text, "E %lx %lx", &l->a, &l->b));
		break;
	case 'L':
		HI_ASSERT_EQ(1, sscanf(text, "L %lx", &l->a));
		break;
	case 'G':
		HI_ASSERT_EQ(2, sscanf(text, "G %2999s %lx", l->name, &l->a));
		break;
	default:
		return;
	}
	n_lines++;
}

/* Its type's name, with "[]" for an array; "" if only a field names it. */
static const char *type_of(const struct typed_process *p, uint64_t addr)
{
	static char text[TYPE_NAME_MAX];
	hi_node node = typed_process_node(p, addr);
	const struct hi_type_name *type = &p->graph->types[p->graph->objects->type[node]];
	bool array = p->graph->objects->flags[node] & HI_OBJECT_ARRAY;

	snprintf(text, sizeof(text), "%s%s",
		 type->klass == HI_TYPE_FIELD ? "" : type->name, array ? "[]" : "");
	return text;
}

static unsigned check_object(const struct typed_process *p, const struct line *l)
{
	const char *type = type_of(p, l->a);
	size_t length = strlen(type);
	char element[TYPE_NAME_MAX];
	/* One element is no array, but may be called so. */
	bool array = length > 2 && strcmp(type + length - 2, "[]") == 0;
	bool fits = l->n == 1 && type_name_fits(l->name, type);

	snprintf(element, sizeof(element), "%.*s", (int)(length - 2 * array), type);
	fits |= (array || l->n == 1) && type_name_fits(l->name, element);
	if (!fits)
		fprintf(stderr, "0x%lx: expected \"%s\" * %u, got \"%s\"\n", l->a,
			l->name, l->n, type);
	return !fits;
}

static bool is_edge_wanted(uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < n_lines; i++)
		if (lines[i].kind == 'E' && lines[i].a == from && lines[i].b == to)
			return true;
	return false;
}

static bool has_edge(const struct typed_process *p, uint64_t from, uint64_t to)
{
	struct hi_edges e = hi_graph_edges(p->graph, typed_process_node(p, from));

	for (uint32_t k = 0; k < e.count; k++)
		if (hi_objects_address(p->graph->objects, e.to[k]) == to)
			return true;
	return false;
}

/* Whom it refers to, beside itself, is whom the E lines name. */
static unsigned check_edges(const struct typed_process *p, const struct line *l)
{
	hi_node node = typed_process_node(p, l->a);
	struct hi_edges e = hi_graph_edges(p->graph, node);
	unsigned wrong = 0;

	for (uint32_t i = 0; i < e.count; i++) {
		uint64_t to = hi_objects_address(p->graph->objects, e.to[i]);

		if (e.to[i] == node || is_edge_wanted(l->a, to))
			continue;
		fprintf(stderr, "0x%lx (%s): no edge to 0x%lx (grade %u)\n", l->a,
			l->name, to, e.grade[i]);
		wrong++;
	}
	for (size_t i = 0; i < n_lines; i++) {
		if (lines[i].kind != 'E' || lines[i].a != l->a ||
		    has_edge(p, l->a, lines[i].b))
			continue;
		fprintf(stderr, "0x%lx (%s): an edge to 0x%lx\n", l->a, l->name,
			lines[i].b);
		wrong++;
	}
	return wrong;
}

static unsigned check_leak(const struct typed_process *p, uint64_t addr)
{
	hi_node node = typed_process_node(p, addr);
	unsigned wrong = 0;

	for (hi_node i = 0; i < p->graph->first_kind; i++) {
		struct hi_edges e = hi_graph_edges(p->graph, i);

		for (uint32_t k = 0; k < e.count; k++)
			if (e.to[k] == node) {
				fprintf(stderr, "leak 0x%lx: node %u (%s) refers to it\n",
					addr, i,
					i < p->graph->first_root
						? p->graph->types[p->graph->objects
									  ->type[i]]
							  .name
						: p->graph->roots[i -
								  p->graph->first_root]
							  .name);
				wrong++;
			}
	}
	return wrong;
}

static unsigned check_root(const struct typed_process *p, const struct line *l)
{
	hi_node node = typed_process_node(p, l->a);

	for (hi_node i = 0; i < p->graph->n_roots; i++) {
		struct hi_edges e = hi_graph_edges(p->graph, p->graph->first_root + i);

		for (uint32_t k = 0; k < e.count; k++)
			if (e.to[k] == node && strstr(p->graph->roots[i].name, l->name))
				return 0;
	}
	fprintf(stderr, "root %s does not lead to 0x%lx\n", l->name, l->a);
	return 1;
}

static void check_all(const struct typed_process *p)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < n_lines; i++)
		switch (lines[i].kind) {
		case 'O':
			wrong += check_object(p, &lines[i]);
			wrong += check_edges(p, &lines[i]);
			break;
		case 'L':
			wrong += check_leak(p, lines[i].a);
			break;
		case 'G':
			wrong += check_root(p, &lines[i]);
			break;
		default:
			break;
		}
	HI_ASSERT_EQ(0, wrong);
}

static struct typed_process *start(const char *name)
{
	const struct hi_typing_options options = {.threads = 1};
	struct hi_fixture *fx = hi_fixture_start(name, NULL);
	static char text[8192];

	n_lines = 0;
	while (hi_fixture_line(fx, text, sizeof(text)) && strcmp(text, "ready") != 0)
		keep_line(text);
	hi_fixture_settle(fx);
	HI_ASSERT(n_lines > 10);
	return typed_process_open(fx->pid, &options);
}

static void check_fixture(const char *name)
{
	struct typed_process *p = start(name);

	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		struct hi_typing_options options = {.threads = threads};

		if (threads > 1)
			typed_process_again(p, &options);
		check_all(p);
	}
}

#define CONTAINERS(what)                                                                 \
	HI_TEST_SCENARIO(containers, what##_of_libstdcxx)                                \
	{                                                                                \
		check_fixture("containers_" #what);                                      \
	}                                                                                \
	HI_TEST_SCENARIO(containers, what##_of_libcxx)                                   \
	{                                                                                \
		check_fixture("containers_" #what "_libcxx");                            \
	}                                                                                \
	HI_TEST_SCENARIO(containers, what##_by_clang)                                    \
	{                                                                                \
		check_fixture("containers_" #what "_clang");                             \
	}

CONTAINERS(sequences)
CONTAINERS(strings)
CONTAINERS(trees)
CONTAINERS(hashes)
CONTAINERS(pointers)
CONTAINERS(values)
CONTAINERS(mixed)
CONTAINERS(dead)
CONTAINERS(iterators)

HI_TEST_SCENARIO(containers, strings_of_the_old_abi)
{
	check_fixture("containers_cow");
}

/* Nobody says how a string is laid out: its words are looked at. */
HI_TEST_SCENARIO(containers, declared_strings_keep_their_buffers_alive)
{
	const struct typed_process *p = start("containers_strings_declared");
	unsigned missing = 0;

	for (size_t i = 0; i < n_lines; i++)
		if (lines[i].kind == 'E')
			missing += !has_edge(p, lines[i].a, lines[i].b);
	HI_ASSERT_EQ(0, missing);
	HI_ASSERT(p->graph->n_edges > 0);
}
