/* SPDX-License-Identifier: BSD-2-Clause */
/* A Python whose state does not hold: a clear word, never a wrong number. The image
 * of a live one is damaged, not the process. */
#include <stdlib.h>
#include <string.h>

#include "decode/runtimes/cpython.h"
#include "harness.h"
#include "support/fixture.h"
#include "support/inspected.h"
#include "support/pythons.h"
#include "support/typed_process.h"

enum { ROUNDS = 6, FLIPS = 3000 };

static const char program[] =
	"import sys\n"
	"keep = [({'k%d' % i: [i]}, {i: (i,)}, {i}, str(i) * 9) for i in range(4000)]\n"
	"def f(x):\n"
	"    local = {'a': x}\n"
	"    print('ready', flush=True)\n"
	"    sys.stdin.read(1)\n"
	"f([1])\n";

struct damaged {
	struct inspected *p;
	const struct hi_py_layout *l;
	uint64_t runtime, interp;
};

static struct hi_fixture *start_python(const char *python)
{
	struct hi_fixture *fx = hi_fixture_start(python, "-c", program, NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

static uint64_t symbol(const struct damaged *d, const char *name)
{
	struct hi_error err = {};
	uint64_t addr, size;

	HI_ASSERT_OK(hi_modules_symbol(d->p->modules, NULL, name, &addr, &size, &err),
		     &err);
	return addr;
}

static uint64_t word_at(const struct damaged *d, uint64_t addr)
{
	struct hi_error err = {};
	uint64_t word = 0;

	HI_ASSERT_OK(hi_memory_read_u64(d->p->image->memory, addr, &word, &err), &err);
	return word;
}

/* Into our copy of its memory. */
static void poke(const struct damaged *d, uint64_t addr, const void *bytes, size_t size)
{
	size_t avail = 0;
	const void *host = hi_memory_view(d->p->image->memory, addr, &avail);

	HI_ASSERT(host && avail >= size);
	memcpy((void *)(uintptr_t)host, bytes, size);
}

static void poke_word(const struct damaged *d, uint64_t addr, uint64_t word)
{
	poke(d, addr, &word, sizeof(word));
}

static enum hi_status probe(const struct damaged *d, struct hi_runtime **ret,
			    struct hi_error *err)
{
	enum hi_status status =
		hi_runtime_probe(d->p->image, d->p->modules, d->p->types, ret, NULL, err);

	if (status == HI_OK)
		hi_test_defer(hi_runtime_release, *ret);
	return status;
}

static struct damaged open_python(const char *python)
{
	struct damaged d = {.p = inspected_open(start_python(python)->pid, NULL)};
	struct hi_runtime *runtime = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(probe(&d, &runtime, &err), &err);
	d.l = ((const struct hi_py *)runtime)->layout;
	d.runtime = symbol(&d, "_PyRuntime");
	d.interp = word_at(&d, d.runtime + d.l->runtime_interpreters_head);
	return d;
}

/* Where the collector of the first interpreter is. */
static uint64_t collector(const struct damaged *d)
{
	return d->l->runtime_gc ? d->runtime + d->l->runtime_gc
				: d->interp + d->l->interp_gc;
}

static void expect(const struct damaged *d, enum hi_status status, const char *word)
{
	struct hi_runtime *runtime = NULL;
	struct hi_error err = {};

	HI_ASSERT_STATUS(status, probe(d, &runtime, &err));
	HI_ASSERT_MSG(strstr(err.text, word), "\"%s\" is not in \"%s\"", word, err.text);
}

static void check_state(const char *python)
{
	struct damaged d = open_python(python);
	uint32_t zero = 0, one = 1;

	poke(&d, d.runtime + d.l->runtime_initialized, &zero, sizeof(zero));
	expect(&d, HI_UNSUPPORTED, "starting");
	poke(&d, d.runtime + d.l->runtime_initialized, &one, sizeof(one));
	poke_word(&d, d.runtime + d.l->runtime_finalizing, d.interp);
	expect(&d, HI_UNSUPPORTED, "finalising");
}

HI_TEST_SCENARIO(cpython_hostile, a_start_and_an_end_are_refused)
{
	hi_each_python(check_state);
}

static void check_layout(const char *python)
{
	struct damaged d = open_python(python);
	uint64_t size = symbol(&d, "PyDict_Type") + d.l->type_basicsize;

	poke_word(&d, size, word_at(&d, size) + 16);
	expect(&d, HI_BAD_DATA, "dict");
	poke_word(&d, size, word_at(&d, size) - 16);
	if (d.l->interp_runtime) {
		poke_word(&d, d.interp + d.l->interp_runtime, 0);
		expect(&d, HI_BAD_DATA, "interpreters");
	} else {
		poke_word(&d,
			  word_at(&d, d.interp + d.l->interp_threads) +
				  d.l->thread_interp,
			  0);
		expect(&d, HI_BAD_DATA, "threads");
	}
}

HI_TEST_SCENARIO(cpython_hostile, another_layout_is_refused)
{
	hi_each_python(check_layout);
}

static uint64_t tracked(const struct damaged *d, uint64_t n_odd)
{
	struct hi_runtime *runtime = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(probe(d, &runtime, &err), &err);
	HI_ASSERT_EQ(n_odd, runtime->n_odd);
	if (n_odd)
		HI_ASSERT_MSG(strstr(runtime->odd, "is torn"), "%s", runtime->odd);
	return runtime->tracked;
}

/* From both ends all of its objects are found. */
static void check_list(const char *python)
{
	struct damaged d = open_python(python);
	uint64_t head = collector(&d) + d.l->gc_generations, all = tracked(&d, 0);
	uint64_t no_flags = ~d.l->gc_next_flags, first, second, third;

	/* The oldest generation that has three. */
	head += 2 * d.l->gc_generation_size;
	first = word_at(&d, head) & no_flags;
	second = word_at(&d, first) & no_flags;
	third = word_at(&d, second);
	HI_ASSERT(first != head && second != head && (third & no_flags) != head);
	poke_word(&d, second, first); /* a circle without the head */
	HI_ASSERT_EQ(all, tracked(&d, 1));
	poke_word(&d, second, 0x1000);
	HI_ASSERT_EQ(all, tracked(&d, 1));
	poke_word(&d, second, third);
	poke_word(&d, second + 8, head); /* its link back */
	HI_ASSERT_EQ(all, tracked(&d, 1));
}

HI_TEST_SCENARIO(cpython_hostile, a_torn_list_of_objects_is_read_from_both_ends)
{
	hi_each_python(check_list);
}

/* As where a layout has another place for the lists. */
static void check_no_list(const char *python)
{
	struct damaged d = open_python(python);

	for (uint32_t g = 0; g < d.l->gc_n_generations; g++) {
		uint64_t head = collector(&d) + d.l->gc_generations +
				(uint64_t)g * d.l->gc_generation_size;

		poke_word(&d, head, d.runtime);
		poke_word(&d, head + 8, d.runtime);
	}
	expect(&d, HI_BAD_DATA, "does not close");
}

HI_TEST_SCENARIO(cpython_hostile, a_list_without_an_object_is_another_layout)
{
	hi_each_python(check_no_list);
}

static bool count_blocks(const struct hi_runtime_block *blocks, size_t n, size_t area,
			 void *arg)
{
	uint64_t *sum = arg;

	(void)blocks;
	(void)area;
	*sum += n;
	return true;
}

static void check_pool(const char *python)
{
	struct damaged d = open_python(python);
	struct hi_runtime *runtime = NULL;
	struct hi_error err = {};
	uint64_t before = 0, after = 0;
	const struct hi_py *py;
	uint32_t many = 5000;
	uint64_t pool;

	HI_ASSERT_OK(probe(&d, &runtime, &err), &err);
	HI_ASSERT_OK(hi_runtime_walk(runtime, count_blocks, &before, &err), &err);
	HI_ASSERT_EQ(0, runtime->n_damage);
	HI_ASSERT_EQ(before, runtime->used_blocks);
	py = (const struct hi_py *)runtime;
	pool = py->arenas.items[0].first_pool;
	poke(&d, pool, &many, sizeof(many)); /* its count of used blocks */
	HI_ASSERT_OK(hi_runtime_walk(runtime, count_blocks, &after, &err), &err);
	HI_ASSERT_EQ(1, runtime->n_damage);
	HI_ASSERT_EQ(d.l->pool_size, runtime->skipped_bytes);
	HI_ASSERT(strstr(runtime->damage, "pool"));
	HI_ASSERT(after < before);
}

HI_TEST_SCENARIO(cpython_hostile, a_damaged_pool_is_left_out_and_counted)
{
	hi_each_python(check_pool);
}

static void flip(const struct damaged *d, const struct hi_runtime *runtime,
		 uint64_t *state)
{
	for (int i = 0; i < FLIPS; i++) {
		uint64_t area, offset, addr, start, end;
		uint8_t byte;

		*state = *state * 6364136223846793005ull + 1442695040888963407ull;
		area = (*state >> 33) % runtime->n_areas;
		*state = *state * 6364136223846793005ull + 1442695040888963407ull;
		offset = (*state >> 33) %
			 (runtime->areas[area].end - runtime->areas[area].start);
		byte = (uint8_t)(*state >> 20);
		addr = runtime->areas[area].start + offset;
		/* What was never touched is shared zeros. */
		if (hi_image_next_held(d->p->image, addr, addr + 1, &start, &end))
			poke(d, addr, &byte, 1);
	}
}

struct building {
	struct hi_objects_builder *builder;
	unsigned *regions;
};

static bool build(const struct hi_runtime_block *blocks, size_t n, size_t area, void *arg)
{
	struct building *b = arg;
	struct hi_error err = {};

	for (size_t i = 0; i < n; i++)
		HI_ASSERT_OK(hi_objects_builder_add(b->builder, b->regions[area],
						    blocks[i].addr, blocks[i].size, 0,
						    &err),
			     &err);
	return true;
}

static struct hi_objects *objects_of(struct hi_runtime *runtime)
{
	struct building b = {.regions = calloc(runtime->n_areas + 1, sizeof(unsigned))};
	struct hi_objects *objects = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_objects_builder_create(&b.builder, &err), &err);
	for (size_t i = 0; i < runtime->n_areas; i++)
		HI_ASSERT_OK(hi_objects_builder_region(b.builder, runtime->areas[i].start,
						       runtime->areas[i].end, 4,
						       &b.regions[i], &err),
			     &err);
	HI_ASSERT_OK(hi_runtime_walk(runtime, build, &b, &err), &err);
	HI_ASSERT_OK(hi_objects_seal(b.builder, &objects, &err), &err);
	free(b.regions);
	return objects;
}

/* Up to 3.10 the version is only in the dict of sys, which may be hit. */
static bool version_is_hit(const struct damaged *d, const struct hi_error *err)
{
	return d->l->minor < 11 && strstr(err->text, "no readable version");
}

/* Edges of the graph; 0: it was refused. */
static uint64_t read_damaged(const struct damaged *d)
{
	struct hi_typing_options options = {.threads = 2};
	struct hi_runtime *again = NULL;
	struct hi_typing *typing = NULL;
	struct hi_graph *graph = NULL;
	struct hi_error err = {};
	uint64_t n;

	/* Its lists are broken by now: the self-check may refuse it. */
	if (hi_runtime_cpython.probe(d->p->image, d->p->modules, NULL, &again, &err) !=
	    HI_OK) {
		HI_ASSERT_MSG(version_is_hit(d, &err), "%s", err.text);
		return 0;
	}
	options.runtime = again;
	HI_ASSERT_OK(hi_typing_run(d->p->image, d->p->modules, d->p->types, NULL,
				   objects_of(again), &options, &typing, &graph, &err),
		     &err);
	HI_ASSERT(hi_graph_is_valid(graph));
	n = graph->n_edges;
	hi_typing_destroy(typing);
	hi_graph_destroy(graph);
	hi_runtime_release(again);
	return n;
}

/* Whatever the bytes are: types, edges and roots end, and the graph is a graph. */
static void check_random(const char *python)
{
	struct damaged d = open_python(python);
	struct hi_runtime *runtime = NULL;
	struct hi_error err = {};
	uint64_t state = 42;
	unsigned graphs = 0;

	HI_ASSERT_OK(probe(&d, &runtime, &err), &err);
	for (int round = 0; round < 2 * ROUNDS && graphs < ROUNDS; round++) {
		uint64_t n;

		flip(&d, runtime, &state);
		n = read_damaged(&d);
		graphs += n > 1000;
		if (n)
			continue;
		d = open_python(python);
		HI_ASSERT_OK(probe(&d, &runtime, &err), &err);
	}
	HI_ASSERT_EQ(ROUNDS, graphs);
}

HI_TEST_SCENARIO(cpython_hostile, random_damage_ends_in_a_graph)
{
	hi_each_python(check_random);
}

static void expect_refused(const char *fixture, const char *kind, const char *word)
{
	struct hi_fixture *fx = hi_fixture_start(fixture, kind, NULL);
	struct damaged d;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	d = (struct damaged){.p = inspected_open(fx->pid, NULL)};
	expect(&d, HI_UNSUPPORTED, word);
}

HI_TEST_SCENARIO(cpython_hostile, an_unknown_version_is_refused)
{
	expect_refused("python_unknown", "unknown", "3.99.1");
	expect_refused("python_unknown", "unknown", "3.8 to 3.14 are");
	expect_refused("python_unknown", "free-threaded", "free-threaded");
}

HI_TEST_SCENARIO(cpython_hostile, an_older_python_is_refused)
{
	expect_refused("python_old", "", "a CPython older than 3.7");
}

HI_TEST_SCENARIO(cpython_hostile, a_library_that_was_never_initialised_is_no_runtime)
{
	struct hi_fixture *fx = hi_fixture_start("python_silent", "unused", NULL);
	struct damaged d;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	d = (struct damaged){.p = inspected_open(fx->pid, NULL)};
	expect(&d, HI_NOT_FOUND, "never initialised");
}

HI_TEST_SCENARIO(cpython_hostile, missing_version_is_refused)
{
	struct hi_fixture *fx = hi_fixture_start("python_silent", NULL);
	struct damaged d;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	d = (struct damaged){.p = inspected_open(fx->pid, NULL)};
	expect(&d, HI_UNSUPPORTED, "has no readable version");
}
