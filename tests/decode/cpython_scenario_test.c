/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects, references and sizes of a live Python against what it says itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "decode/runtimes/cpython.h"
#include "decode/inference/audit.h"
#include "harness.h"
#include "support/fixture.h"
#include "support/pythons.h"
#include "support/typed_process.h"

enum {
	GC_HEAD = 16,
	TYPE = 8, /* PyObject.ob_type, PyTypeObject.tp_flags */
	TYPE_FLAGS = 168,
	INLINE_VALUES = 1 << 2,
	HANDFUL = 40, /* blocks that come and go while the number is told */
	SMALL = 512,
	LEAKED = 5,    /* references that the fixture leaks */
	HELD_BY_C = 3, /* by static variables of C, more than once; by a running call */
	MAX_SHOWN = 20,
};

#define TYPE_SUBCLASS (UINT64_C(1) << 31)

struct refs {
	uint64_t from;
	char type[64];
	size_t first, n; /* of truth.to */
};
struct size {
	uint64_t addr, bytes;
};
struct sentinel {
	uint64_t addr;
	char name[32];
	unsigned refs;
};
struct named {
	uint64_t addr; /* first: sorted by it */
	char type[64];
};
struct truth {
	struct HI_VECTOR(uint64_t) tracked;
	struct HI_VECTOR(struct named) named;
	struct HI_VECTOR(struct refs) refs;
	struct HI_VECTOR(uint64_t) to;
	struct HI_VECTOR(struct size) sizes;
	struct sentinel sentinels[2][8];
	size_t n_sentinels[2];
	uint64_t blocks, dicts[2], frozen, line;
	int turn; /* 1: after the inspection */
};

static void truth_free(struct truth *t)
{
	hi_vector_free(&t->to);
	hi_vector_free(&t->tracked);
	hi_vector_free(&t->named);
	hi_vector_free(&t->refs);
	hi_vector_free(&t->sizes);
	free(t);
}

static void keep_refs(struct truth *t, const char *line)
{
	struct refs r = {};
	unsigned long long from;

	HI_ASSERT(sscanf(line, "R %llx %63s", &from, r.type) == 2);
	r.from = from;
	r.first = t->to.count;
	HI_ASSERT(hi_vector_push(&t->refs, r));
}

static void keep_ref(struct truth *t, const char *line)
{
	HI_ASSERT(t->refs.count);
	HI_ASSERT(hi_vector_push(&t->to, strtoull(line + 2, NULL, 16)));
	t->refs.items[t->refs.count - 1].n++;
}

static void keep_tracked(struct truth *t, const char *line)
{
	struct named named = {};
	unsigned long long addr;

	HI_ASSERT(sscanf(line, "T %llx %63s", &addr, named.type) == 2);
	named.addr = addr;
	HI_ASSERT(hi_vector_push(&t->tracked, named.addr));
	HI_ASSERT(hi_vector_push(&t->named, named));
}

static void keep_line(const char *line, void *arg)
{
	struct truth *t = arg;
	unsigned long long a, b;
	struct sentinel *s;

	switch (line[0]) {
	case 'T':
		keep_tracked(t, line);
		break;
	case 'R':
		keep_refs(t, line);
		break;
	case '+':
		keep_ref(t, line);
		break;
	case 'Z':
		HI_ASSERT(sscanf(line, "Z %llx %llu", &a, &b) == 2);
		HI_ASSERT(hi_vector_push(&t->sizes, ((struct size){a, b})));
		break;
	case 'B':
		t->blocks = strtoull(line + 2, NULL, 10);
		break;
	case 'F':
		t->frozen = strtoull(line + 2, NULL, 10);
		break;
	case 'L':
		t->line = strtoull(line + 2, NULL, 10);
		break;
	case 'N':
		t->dicts[t->turn] = strtoull(line + 2, NULL, 10);
		break;
	case 'S':
		HI_ASSERT(t->n_sentinels[t->turn] < 8);
		s = &t->sentinels[t->turn][t->n_sentinels[t->turn]++];
		HI_ASSERT(sscanf(line, "S %llx %31s %u", &a, s->name, &s->refs) == 3);
		s->addr = a;
		break;
	default:
		break;
	}
}

static struct truth *read_truth(struct hi_fixture *fx)
{
	struct truth *t = hi_calloc(1, sizeof(*t));

	HI_ASSERT(t);
	hi_test_defer(truth_free, t);
	hi_fixture_read_until(fx, "ready", keep_line, t);
	return t;
}

static hi_node node_at(const struct typed_process *p, uint64_t addr)
{
	return hi_objects_find(p->graph->objects, addr, NULL);
}

static const char *type_of(const struct typed_process *p, hi_node node)
{
	return p->graph->types[p->graph->objects->type[node]].name;
}

static bool is_runtime(const struct typed_process *p, hi_node node)
{
	return (p->graph->objects->flags[node] & HI_OBJECT_EVIDENCE_MASK) ==
	       HI_EVIDENCE_RUNTIME;
}

/* Every object of gc.get_objects() is one that the collector has, and it has no
 * others. */
static void check_tracked(const struct typed_process *p, const struct truth *t)
{
	HI_ASSERT_EQ(t->tracked.count + t->frozen, p->runtime->tracked);
	for (size_t i = 0; i < t->tracked.count; i++) {
		uint64_t addr = t->tracked.items[i], next = 0;
		hi_node node = node_at(p, addr);

		if (node == HI_NODE_NONE || !is_runtime(p, node)) {
			uint64_t w[4] = {}, name = 0, size = 0;
			char text[64] = "";

			(void)hi_memory_read(p->image->memory, addr - GC_HEAD, w,
					     sizeof(w), NULL);
			(void)hi_memory_read_u64(p->image->memory, w[3] + 24, &name,
						 NULL);
			(void)hi_memory_read_u64(p->image->memory, w[3] + 32, &size,
						 NULL);
			(void)hi_memory_read(p->image->memory, name, text,
					     sizeof(text) - 1, NULL);
			hi_test_fail(
				__FILE__, __LINE__,
				"nothing is known of the %s (%llu bytes) at 0x%llx: %s",
				text, (unsigned long long)size, (unsigned long long)addr,
				node == HI_NODE_NONE ? "no block" : type_of(p, node));
		}
		HI_ASSERT_OK(
			hi_memory_read_u64(p->image->memory, addr - GC_HEAD, &next, NULL),
			&(struct hi_error){});
		HI_ASSERT(next);
	}
}

/* Each has the type that it says, as far as that has a name: of "app.Thing" "Thing". */
static void check_types(const struct typed_process *p, const struct truth *t)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < t->named.count; i++) {
		const struct named *named = &t->named.items[i];
		const char *type = type_of(p, node_at(p, named->addr));
		const char *dot = strrchr(type, '.');

		if (strcmp(dot ? dot + 1 : type, named->type) != 0 && wrong++ < MAX_SHOWN)
			hi_test_note("0x%llx is a %s, not a %s",
				     (unsigned long long)named->addr, named->type, type);
	}
	HI_ASSERT_EQ(0, wrong);
}

/* id(), but of large blocks between the marks of two allocators. */
static void check_addresses(const struct typed_process *p, const struct truth *t)
{
	enum { SMALL_MAX = 512 };
	unsigned wrong = 0;

	for (size_t i = 0; i < t->named.count; i++) {
		uint64_t addr = t->named.items[i].addr, offset = 0;
		hi_node node = hi_objects_find(p->graph->objects, addr, &offset);

		if (node == HI_NODE_NONE ||
		    hi_objects_usable(p->graph->objects, node) > SMALL_MAX)
			continue;
		if (hi_graph_address(p->graph, node) != addr && wrong++ < MAX_SHOWN)
			hi_test_note(
				"0x%llx is at 0x%llx", (unsigned long long)addr,
				(unsigned long long)hi_graph_address(p->graph, node));
	}
	HI_ASSERT_EQ(0, wrong);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_tracked(const struct typed_process *p, const struct truth *t, hi_node node)
{
	uint64_t start = hi_objects_address(p->graph->objects, node);
	uint64_t usable = hi_objects_usable(p->graph->objects, node);

	/* Behind heads of the collector, of attributes, of debug hooks. */
	for (unsigned front = GC_HEAD; front <= 4 * GC_HEAD && front + GC_HEAD <= usable;
	     front += GC_HEAD) {
		uint64_t addr = start + front;

		if (bsearch(&addr, t->tracked.items, t->tracked.count, sizeof(addr),
			    by_value))
			return true;
	}
	return false;
}

static bool has_edge(const struct hi_edges *edges, hi_node to)
{
	for (uint32_t i = 0; i < edges->count; i++)
		if (edges->to[i] == to && edges->grade[i] != HI_GRADE_WEAK)
			return true;
	return false;
}

/* Over what is no object of its own for the collector: the state of a module, the links
 * of a cache, the description of a type of ctypes, what a capsule points to. */
static bool is_part(const char *type)
{
	return strcmp(type, "module state") == 0 ||
	       strcmp(type, "functools._lru_list_elem") == 0 ||
	       strcmp(type, "StgDict") == 0;
}

static bool has_way(const struct typed_process *p, const char *from,
		    const struct hi_edges *edges, hi_node to)
{
	for (uint32_t i = 0; i < edges->count; i++) {
		struct hi_edges more = hi_graph_edges(p->graph, edges->to[i]);

		if ((is_part(type_of(p, edges->to[i])) ||
		     strcmp(from, "PyCapsule") == 0) &&
		    has_edge(&more, to))
			return true;
	}
	return has_edge(edges, to);
}

static uint64_t word_at(const struct typed_process *p, uint64_t addr)
{
	uint64_t word = 0;

	(void)hi_memory_read_u64(p->image->memory, addr, &word, NULL);
	return word;
}

/* What a module visits in variables of C: faulthandler (-X dev) its file, where that was
 * made before there was a file of Python (3.9). */
static bool is_in_variable(const struct typed_process *p, const struct refs *r,
			   hi_node to)
{
	return strcmp(r->type, "module") == 0 &&
	       strcmp(type_of(p, to), "stderrprinter") == 0;
}

/* What an object owns and counts, but does not visit: a type its tp_subclasses; an
 * object with its values behind it the dict that was made of them (3.13); an instance
 * its class (3.8), a local of a thread its callback, a description of ctypes its
 * converters. */
static bool is_left_out(const struct typed_process *p, uint64_t from, hi_node to)
{
	uint64_t type = word_at(p, from + TYPE), flags = word_at(p, type + TYPE_FLAGS);
	bool is_dict = strcmp(type_of(p, to), "dict") == 0;

	if (flags & TYPE_SUBCLASS || flags & INLINE_VALUES)
		return is_dict;
	return to == node_at(p, type) ||
	       strcmp(type_of(p, node_at(p, from)), "StgDict") == 0 ||
	       (strcmp(type_of(p, node_at(p, from)), "asyncio.events._RunningLoop") ==
			0 &&
		strcmp(type_of(p, to), "builtin_function_or_method") == 0);
}

struct tally {
	unsigned missing, extra;
	uint64_t checked, edges;
};

/* What gc.get_referents says is among the edges; among those to objects that the
 * collector tracks there is no other. */
static void check_refs(const struct typed_process *p, const struct truth *t,
		       const struct refs *r, struct tally *tally)
{
	hi_node from = node_at(p, r->from);
	struct hi_edges edges;

	if (from == HI_NODE_NONE)
		return; /* in the interpreter's data */
	edges = hi_graph_edges(p->graph, from);
	tally->checked++;
	for (size_t i = 0; i < r->n; i++) {
		hi_node to = node_at(p, t->to.items[r->first + i]);

		tally->edges++;
		if (to == HI_NODE_NONE || has_way(p, r->type, &edges, to) ||
		    is_in_variable(p, r, to))
			continue;
		if (tally->missing++ < MAX_SHOWN)
			hi_test_note("missing: %s 0x%llx -> %s 0x%llx", r->type,
				     (unsigned long long)r->from, type_of(p, to),
				     (unsigned long long)t->to.items[r->first + i]);
	}
	for (uint32_t i = 0; i < edges.count; i++) {
		char label[200];
		bool said = edges.grade[i] >= HI_GRADE_CONSERVATIVE ||
			    !is_tracked(p, t, edges.to[i]) ||
			    is_left_out(p, r->from, edges.to[i]);

		for (size_t k = 0; k < r->n && !said; k++)
			said = node_at(p, t->to.items[r->first + k]) == edges.to[i];
		if (said || tally->extra++ >= MAX_SHOWN)
			continue;
		hi_typing_describe_edge(p->typing, p->graph, from, edges.to[i], label,
					sizeof(label));
		hi_test_note("extra: %s 0x%llx%s -> %s", r->type,
			     (unsigned long long)r->from, label, type_of(p, edges.to[i]));
	}
}

static unsigned count_types(const struct truth *t)
{
	unsigned n = 0;

	for (size_t i = 0; i < t->refs.count; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(t->refs.items[k].type, t->refs.items[i].type) == 0;
		n += !seen;
	}
	return n;
}

static void check_sizes(const struct typed_process *p, const struct truth *t)
{
	for (size_t i = 0; i < t->sizes.count; i++) {
		const struct size *s = &t->sizes.items[i];
		hi_node node = node_at(p, s->addr);
		uint64_t usable;

		if (node == HI_NODE_NONE)
			continue;
		usable = hi_objects_usable(p->graph->objects, node);
		HI_ASSERT_MSG(s->bytes <= SMALL
				      ? usable == ((s->bytes + 15) & ~15ull)
				      : usable >= s->bytes && usable - s->bytes < 32,
			      "%s at 0x%llx: %llu bytes, sys.getsizeof says %llu",
			      type_of(p, node), (unsigned long long)s->addr,
			      (unsigned long long)usable, (unsigned long long)s->bytes);
	}
}

static void check_undisturbed(struct truth *t, struct hi_fixture *fx)
{
	t->turn = 1;
	hi_fixture_tell(fx, "");
	hi_fixture_read_until(fx, "done", keep_line, t);
	HI_ASSERT_EQ(t->dicts[0], t->dicts[1]);
	HI_ASSERT_EQ(t->n_sentinels[0], t->n_sentinels[1]);
	for (size_t i = 0; i < t->n_sentinels[0]; i++)
		HI_ASSERT_EQ(t->sentinels[0][i].refs, t->sentinels[1][i].refs);
}

static hi_node find_label(const struct typed_process *p, hi_node from, const char *label)
{
	struct hi_edges edges = hi_graph_edges(p->graph, from);
	char text[200];

	for (uint32_t i = 0; i < edges.count; i++) {
		hi_typing_describe_edge(p->typing, p->graph, from, edges.to[i], text,
					sizeof(text));
		if (strcmp(text, label) == 0)
			return edges.to[i];
	}
	return HI_NODE_NONE;
}

/* The object that `from` refers to by this label. */
static hi_node follow(const struct typed_process *p, hi_node from, const char *label)
{
	hi_node to = find_label(p, from, label);

	HI_ASSERT_MSG(to != HI_NODE_NONE, "no %s of a %s", label, type_of(p, from));
	return to;
}

/* Up to 3.10 an instance has a dict. */
static hi_node follow_items(const struct typed_process *p, hi_node from)
{
	hi_node to = find_label(p, from, ".items");

	return to != HI_NODE_NONE
		       ? to
		       : follow(p, follow(p, from, ".__dict__"), "[\"items\"]");
}

static hi_node root_named(const struct typed_process *p, const char *part,
			  enum hi_root_kind kind, const char *detail)
{
	for (uint32_t i = 0; i < p->graph->n_roots; i++) {
		const struct hi_root *root = &p->graph->roots[i];

		if (root->kind == kind && strstr(root->name, part) &&
		    strstr(root->detail, detail))
			return p->graph->first_root + i;
	}
	hi_test_fail(__FILE__, __LINE__, "no root %s", part);
}

static hi_node object_of_type(const struct typed_process *p, hi_node from,
			      const char *type)
{
	struct hi_edges edges = hi_graph_edges(p->graph, from);

	for (uint32_t i = 0; i < edges.count; i++)
		if (strcmp(type_of(p, edges.to[i]), type) == 0)
			return edges.to[i];
	hi_test_fail(__FILE__, __LINE__, "no %s there", type);
}

static bool is_described(const struct typed_process *p)
{
	struct hi_module *module = ((const struct hi_py *)p->runtime)->module;

	(void)hi_module_debug(module, NULL);
	return module->debug != HI_DEBUG_NONE;
}

/* module myapp.cache["SESSIONS"]["s1"].items[0]; a local of a frame and its line. */
static void check_names(const struct typed_process *p, const struct truth *t)
{
	hi_node module = root_named(p, "module myapp.cache", HI_ROOT_RUNTIME, "");
	hi_node dict = object_of_type(p, module, "dict"), session, local;
	char place[64];

	session = follow(p, follow(p, dict, "[\"SESSIONS\"]"), "[\"s1\"]");
	HI_ASSERT_EQ(node_at(p, t->sentinels[0][1].addr), session);
	HI_ASSERT_STREQ("__main__.Session", type_of(p, session));
	HI_ASSERT_STREQ("bytes", type_of(p, follow(p, follow_items(p, session), "[0]")));
	snprintf(place, sizeof(place), "python_truth.py:%llu",
		 (unsigned long long)t->line);
	local = root_named(p, " tell() local_thing", HI_ROOT_STACK, place);
	HI_ASSERT_STREQ("list", type_of(p, follow(p, object_of_type(p, local, "dict"),
						  "[\"deep\"]")));
	/* A structure of C that only debug information describes. */
	if (is_described(p))
		HI_ASSERT_STREQ(
			"list_iterator",
			type_of(p, follow(p, follow(p, dict, "[\"ISLICE\"]"), ".it")));
	local = root_named(p, " worker() local_in_thread", HI_ROOT_STACK,
			   "python_truth.py:");
	HI_ASSERT_STREQ("dict", type_of(p, object_of_type(p, local, "dict")));
}

static void check_audit(const struct typed_process *p)
{
	const struct hi_audit_row *leaked = NULL;
	struct hi_audit audit = {};
	struct hi_error err = {};

	HI_ASSERT_OK(hi_runtime_audit(p->typing, p->runtime, p->graph, &audit, &err),
		     &err);
	hi_test_note("%llu objects count, %llu have %llu references too many",
		     (unsigned long long)audit.objects,
		     (unsigned long long)audit.excess_objects,
		     (unsigned long long)audit.excess);

	for (size_t i = 0; i < audit.n_rows; i++)
		if (strcmp("__main__.Leaked", p->graph->types[audit.rows[i].type].name) ==
		    0)
			leaked = &audit.rows[i];
	HI_ASSERT(leaked);
	HI_ASSERT_EQ(1, leaked->objects);
	HI_ASSERT_EQ(LEAKED, leaked->excess);
	HI_ASSERT(audit.excess - leaked->excess <= HELD_BY_C);
	hi_audit_deinit(&audit);
}

enum mode { PLAIN, WITHOUT_DEBUG_FILES, DEBUG_HOOKS };

static void check(const char *python, enum mode mode)
{
	/* -X dev: each block has a head and a tail of the debug hooks. */
	struct hi_fixture *fx = hi_fixture_start(
		python, "-X", mode == DEBUG_HOOKS ? "dev" : "utf8", "-W", "ignore",
		HI_SOURCE_DIR "/fixtures/python_truth.py", NULL);
	struct truth *t = read_truth(fx);
	struct typed_process *p = mode == WITHOUT_DEBUG_FILES
					  ? typed_process_open_without_debug(fx->pid)
					  : typed_process_open(fx->pid, NULL);
	struct tally tally = {};

	HI_ASSERT(p->runtime);
	hi_test_note("%s: %s", p->runtime->version, p->runtime->found_by);
	if (t->tracked.count)
		qsort(t->tracked.items, t->tracked.count, sizeof(uint64_t), by_value);
	check_tracked(p, t);
	check_types(p, t);
	check_addresses(p, t);
	HI_ASSERT_EQ(0, p->runtime->n_damage);
	hi_test_note("%llu blocks used, %llu said",
		     (unsigned long long)p->runtime->used_blocks,
		     (unsigned long long)t->blocks);
	HI_ASSERT(llabs((long long)(p->runtime->used_blocks - t->blocks)) <= HANDFUL);
	for (size_t i = 0; i < t->refs.count; i++)
		check_refs(p, t, &t->refs.items[i], &tally);
	hi_test_note("%llu objects of %u types, %llu references: %u missing, %u extra",
		     (unsigned long long)tally.checked, count_types(t),
		     (unsigned long long)tally.edges, tally.missing, tally.extra);
	HI_ASSERT(tally.checked > 5000 && count_types(t) >= 25);
	HI_ASSERT_EQ(0, tally.missing);
	HI_ASSERT_EQ(0, tally.extra);
	if (mode != DEBUG_HOOKS)
		check_sizes(p, t);
	check_names(p, t);
	check_audit(p);
	check_undisturbed(t, fx);
}

static void check_python(const char *python)
{
	check(python, PLAIN);
}

static void check_without_debug(const char *python)
{
	check(python, WITHOUT_DEBUG_FILES);
}

static void check_hooks(const char *python)
{
	check(python, DEBUG_HOOKS);
}

HI_TEST_SCENARIO(cpython, objects_found_are_those_that_python_lists)
{
	hi_each_python(check_python);
}

HI_TEST_SCENARIO(cpython, objects_found_are_the_same_without_debug_files)
{
	hi_each_python(check_without_debug);
}

HI_TEST_SCENARIO(cpython, debug_hooks_of_the_allocator_are_in_front_of_objects)
{
	hi_each_python(check_hooks);
}
