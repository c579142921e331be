/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One odd object. A word of the header of one object of a sound heap is overwritten, in
 * our copy of it: its count, its class, its links in the collector's list, the words of a
 * class. That costs this object, the instances of such a class, and what only they lead
 * to: all others keep their types, and none becomes a leak.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "decode/runtimes/cpython.h"
#include "harness.h"
#include "support/fixture.h"
#include "support/pythons.h"
#include "support/typed_process.h"
#include "tests/support/random.h"

enum {
	POKES = 40,
	POKES_AT_LENGTH = 400,
	CLASS_WORDS = 44, /* up to tp_mro */
	HEADER_FIRST = -2,
	HEADER_WORDS = 4, /* _gc_next, _gc_prev, ob_refcnt, ob_type */
};

static const char program[] =
	"import collections, functools, sys\n"
	"class Plain: pass\n"
	"class Slots: __slots__ = ('a', 'b')\n"
	"class Odd:\n"
	"    def __init__(self, i): self.number = [i]\n"
	"class Kid(Odd): pass\n"
	"def f(x):\n"
	"    local = {'a': x}\n"
	"    print('ready', flush=True)\n"
	"    sys.stdin.read(1)\n"
	"keep = [({'k%d' % i: [i]}, {i: (i,)}, {i}, str(i) * 9, Plain(), Slots(),\n"
	"         collections.deque([str(i)]), functools.partial(f, [i]))\n"
	"        for i in range(300)]\n"
	"for k in keep: k[4].x = [k]; k[5].a = k\n"
	"odd = [c(i) for c in (Odd, Kid) for i in range(20)]\n"
	"for o in odd: print('instance %x' % id(o))\n"
	"print('class %x' % id(Odd), flush=True)\n"
	"f([1])\n";

struct sound {
	struct typed_process *p; /* reads the damaged image */
	struct hi_typing *typing;
	struct hi_graph *graph; /* of the sound one */
	struct hi_runtime *runtime;
	const struct hi_py_layout *layout;
	struct HI_VECTOR(hi_node) instances; /* of the class and of one derived from it */
	uint64_t class;
	bool *of_runtime; /* by the number of a type */
	bool *is_buffer;  /* the same: it has no head of its own */
	uint64_t state;	  /* of what is drawn */
	unsigned wrong;
};

static void close_sound(struct sound *s)
{
	hi_typing_destroy(s->typing);
	hi_graph_destroy(s->graph);
	hi_runtime_release(s->runtime);
	hi_vector_free(&s->instances);
	free(s->of_runtime);
	free(s->is_buffer);
	free(s);
}

struct said {
	uint64_t class, instances[64];
	size_t n;
};

static void keep_line(const char *line, void *arg)
{
	struct said *said = arg;

	if (strncmp(line, "instance ", 9) == 0 && said->n < 64)
		said->instances[said->n++] = strtoull(line + 9, NULL, 16);
	else if (strncmp(line, "class ", 6) == 0)
		said->class = strtoull(line + 6, NULL, 16);
}

/* The types of the graph that are among these of the runtime. */
static bool *list_types(const struct sound *s, uint32_t end)
{
	bool *of = calloc(s->graph->n_types + 1, sizeof(*of));

	for (uint32_t t = 0; of && t < s->graph->n_types; t++)
		for (uint32_t i = HI_PY_BUFFER_NONE + 1; i < end; i++)
			of[t] |= strcmp(s->graph->types[t].name,
					s->runtime->types[i].name) == 0;
	return of;
}

/* The graph of the sound image stays with the test. */
static struct sound *open_sound(const char *python)
{
	struct hi_fixture *fx = hi_fixture_start(python, "-c", program, NULL);
	struct sound *s = calloc(1, sizeof(*s));
	struct said said = {};

	HI_ASSERT(s);
	hi_test_defer(close_sound, s);
	hi_fixture_read_until(fx, "ready", keep_line, &said);
	s->p = typed_process_open_without_debug(fx->pid);
	HI_ASSERT(s->p->runtime);
	HI_ASSERT_EQ(0, s->p->runtime->n_odd);
	s->typing = s->p->typing;
	s->graph = s->p->graph;
	s->runtime = s->p->runtime;
	s->p->typing = NULL;
	s->p->graph = NULL;
	s->p->runtime = NULL;
	s->layout = ((const struct hi_py *)s->runtime)->layout;
	s->class = said.class;
	for (size_t i = 0; i < said.n; i++) {
		hi_node node =
			hi_objects_find(s->graph->objects, said.instances[i], NULL);

		HI_ASSERT(node != HI_NODE_NONE && hi_vector_push(&s->instances, node));
	}
	s->of_runtime = list_types(s, s->runtime->n_types);
	s->is_buffer = list_types(s, HI_PY_BUFFER_NDARRAY_DATA);
	HI_ASSERT(s->of_runtime && s->is_buffer && s->class && said.n == 40);
	return s;
}

/* ---- what may be lost ---- */

/* A bit per node of the sound image. */
struct kept {
	uint64_t *reached;
	uint64_t *owned; /* by a pointer of something that is reached */
};

/* Reachable without these. */
static struct kept reach_without(struct sound *s, const hi_node *without, size_t n)
{
	const struct hi_graph *g = s->graph;
	uint64_t *bits = calloc(g->n_nodes / 64 + 1, 8),
		 *owned = calloc(g->n_nodes / 64 + 1, 8);
	struct HI_VECTOR(hi_node) stack = {};

	HI_ASSERT(bits && owned && hi_vector_push(&stack, g->super_root));
	for (size_t i = 0; i < n; i++)
		hi_bit_set(bits, without[i]);
	while (stack.count) {
		struct hi_edges e = hi_graph_edges(g, stack.items[--stack.count]);

		for (uint32_t i = 0; i < e.count; i++) {
			if (hi_grade_is_precise(e.grade[i]))
				hi_bit_set(owned, e.to[i]);
			if (e.grade[i] == HI_GRADE_WEAK || hi_bit(bits, e.to[i]))
				continue;
			hi_bit_set(bits, e.to[i]);
			HI_ASSERT(hi_vector_push(&stack, e.to[i]));
		}
	}
	for (size_t i = 0; i < n; i++)
		bits[without[i] / 64] &= ~(UINT64_C(1) << without[i] % 64);
	hi_vector_free(&stack);
	return (struct kept){bits, owned};
}

static void complain(struct sound *s, const char *poke, hi_node node, const char *what)
{
	if (s->wrong++ < 10)
		hi_test_note(
			"%s: %s at 0x%llx: %s", poke,
			s->graph->types[s->graph->objects->type[node]].name,
			(unsigned long long)hi_objects_address(s->graph->objects, node),
			what);
}

/* The dict of a class has the name of its module. */
static bool is_same_name(const char *now, const char *sound)
{
	const char *dot = strrchr(sound, '.');

	return strcmp(now, sound) == 0 || (dot && strcmp(now, dot + 1) == 0);
}

/* A buffer, such as the keys of a dict, has its type from its owner: a stale word that is
 * left on a stack keeps it, and gives it none. */
static bool keeps_type(const struct sound *s, const struct kept *kept, hi_node node)
{
	return !s->is_buffer[s->graph->objects->type[node]] || hi_bit(kept->owned, node);
}

static void compare_node(struct sound *s, const struct hi_reach *reach,
			 const struct kept *kept, const char *poke, hi_node node)
{
	const struct hi_graph *now = s->p->graph;
	uint64_t addr = hi_objects_address(s->graph->objects, node), offset = 0;
	uint32_t type = s->graph->objects->type[node];
	hi_node found = hi_objects_find(now->objects, addr, &offset);
	const char *name;

	if (!s->of_runtime[type])
		return;
	if (found == HI_NODE_NONE || offset) {
		complain(s, poke, node, "gone");
		return;
	}
	name = now->types[now->objects->type[found]].name;
	if (keeps_type(s, kept, node) && !is_same_name(name, s->graph->types[type].name))
		complain(s, poke, node, *name ? name : "without a type");
	if (!hi_bit(reach->any, found))
		complain(s, poke, node, "leaked");
}

/* All that is not lost by right is as it was. */
static void compare(struct sound *s, const char *poke, const hi_node *lost, size_t n)
{
	struct kept kept = reach_without(s, lost, n);
	struct hi_reach *reach = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_reach_compute(s->p->graph, 2, &reach, &err), &err);
	for (hi_node i = 0; i < s->graph->n_objects; i++)
		if (hi_bit(kept.reached, i))
			compare_node(s, reach, &kept, poke, i);
	hi_reach_destroy(reach);
	free(kept.reached);
	free(kept.owned);
}

/* ---- one word ---- */

static uint64_t *host_word(struct sound *s, uint64_t addr)
{
	size_t avail = 0;
	const void *host = hi_memory_view(s->p->image->memory, addr, &avail);

	HI_ASSERT(host && avail >= 8);
	return (uint64_t *)(uintptr_t)host;
}

static void poke_and_compare(struct sound *s, uint64_t addr, uint64_t value,
			     const hi_node *lost, size_t n)
{
	uint64_t *word = host_word(s, addr), was = *word;
	struct hi_error err = {};
	char poke[80];

	snprintf(poke, sizeof(poke), "0x%llx = 0x%llx", (unsigned long long)addr,
		 (unsigned long long)value);
	*word = value;
	hi_runtime_release(s->p->runtime);
	s->p->runtime = NULL;
	HI_ASSERT_MSG(hi_runtime_probe(s->p->image, s->p->modules, s->p->types,
				       &s->p->runtime, NULL, &err) == HI_OK,
		      "%s, of a %s: %s", poke,
		      s->graph->types[s->graph->objects->type[lost[0]]].name, err.text);
	typed_process_again(s->p, NULL);
	compare(s, poke, lost, n);
	*word = was;
}

/* An object of the runtime: its address, after its head. */
static hi_node draw_object(struct sound *s, bool is_tracked, uint64_t *addr_ret)
{
	struct hi_runtime_cursor *c = hi_runtime_cursor(s->runtime);
	struct hi_py_object o;
	hi_node node;

	HI_ASSERT(c);
	do {
		node = (hi_node)random_below(&s->state, s->graph->n_objects);
	} while (!s->of_runtime[s->graph->objects->type[node]] ||
		 !hi_py_object_in(c, hi_objects_address(s->graph->objects, node),
				  hi_objects_usable(s->graph->objects, node), &o) ||
		 o.refcnt == 0 || (is_tracked && !(o.type->flags & HI_PY_HAVE_GC)));
	hi_runtime_cursor_free(s->runtime, c);
	*addr_ret = o.addr;
	return node;
}

static uint64_t draw_value(struct sound *s, uint64_t addr)
{
	uint64_t another;
	const uint64_t values[] = {0,
				   1,
				   0x1000,
				   addr,
				   addr - HI_PY_GC_HEAD,
				   UINT64_C(1) << 41,
				   0xdeadbeefdeadbee8,
				   UINT64_MAX,
				   INT64_MAX};
	uint64_t n = sizeof(values) / sizeof(values[0]),
		 i = random_below(&s->state, n + 2);

	if (i < n)
		return values[i];
	(void)draw_object(s, true, &another);
	return i == n ? another : another - HI_PY_GC_HEAD;
}

static void damage_object(struct sound *s)
{
	uint64_t addr, at;
	hi_node node = draw_object(s, false, &addr);
	const char *type = s->graph->types[s->graph->objects->type[node]].name;

	/* Its instances lose their class with it: another test. */
	if (strcmp(type, "type") == 0 || strcmp(type, "abc.ABCMeta") == 0)
		return;
	at = addr +
	     (uint64_t)(HEADER_FIRST + (int64_t)random_below(&s->state, HEADER_WORDS)) *
		     8;
	if (at < hi_objects_address(s->graph->objects, node))
		at += HI_PY_GC_HEAD;
	poke_and_compare(s, at, draw_value(s, addr), &node, 1);
}

static void damage_class(struct sound *s)
{
	uint64_t at = s->class + random_below(&s->state, CLASS_WORDS) * 8;
	struct HI_VECTOR(hi_node) lost = {};
	hi_node class = hi_objects_find(s->graph->objects, s->class, NULL);

	HI_ASSERT(class != HI_NODE_NONE && hi_vector_push(&lost, class));
	for (size_t i = 0; i < s->instances.count; i++)
		HI_ASSERT(hi_vector_push(&lost, s->instances.items[i]));
	poke_and_compare(s, at, draw_value(s, s->class), lost.items, lost.count);
	hi_vector_free(&lost);
}

static unsigned n_pokes;

static void check_objects(const char *python)
{
	struct sound *s = open_sound(python);

	s->state = 20;
	for (unsigned i = 0; i < n_pokes; i++)
		damage_object(s);
	HI_ASSERT_EQ(0, s->wrong);
}

static void check_classes(const char *python)
{
	struct sound *s = open_sound(python);

	s->state = 30;
	for (unsigned i = 0; i < n_pokes; i++)
		damage_class(s);
	HI_ASSERT_EQ(0, s->wrong);
}

HI_TEST_SCENARIO(cpython_odd, an_object_with_an_odd_header_costs_what_only_it_leads_to)
{
	n_pokes = POKES;
	hi_each_python(check_objects);
}

HI_TEST_SCENARIO(cpython_odd, a_class_with_an_odd_word_costs_its_instances)
{
	n_pokes = POKES;
	hi_each_python(check_classes);
}

HI_TEST_SLOW(cpython_odd, hundreds_of_odd_objects_and_classes_cost_only_themselves)
{
	n_pokes = POKES_AT_LENGTH;
	hi_each_python(check_objects);
	hi_each_python(check_classes);
}
