/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As row_reuse_test.c, on the heaps of programs with containers of the C++ library, of
 * which random words are changed in the image: each census is the same with the rows of
 * the one before and without.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/kept_typing.h"
#include "harness.h"
#include "support/fixture.h"
#include "support/random.h"
#include "support/two_typings.h"
#include "support/typed_process.h"

enum { PAGE = 4096, ROUNDS = 6 };

struct followed {
	struct typed_process *p;
	uint64_t state, start; /* start: address of area */
	unsigned char *area, *before;
	size_t size;
	struct hi_kept_typing kept;
	uint64_t reused, rows, round;
};

/* The pages of the first region that lie in one piece. */
static void find_area(struct followed *f)
{
	const struct hi_objects *objects = f->p->graph->objects;
	size_t avail = 0;

	HI_ASSERT(objects->n_regions);
	f->start = objects->regions[0].start & ~(uint64_t)(PAGE - 1);
	f->area = (unsigned char *)(uintptr_t)hi_memory_view(f->p->image->memory,
							     f->start, &avail);
	HI_ASSERT(f->area);
	f->size = avail / PAGE * PAGE;
}

static void take_census_both_ways(struct followed *f)
{
	struct typed_process *p = f->p;
	struct hi_typing *typing;
	struct hi_graph *graph;

	two_typings_note_changes(p->image, f->area, f->size, &f->before);
	typed_process_again(p,
			    &(struct hi_typing_options){.threads = 1, .kept = &f->kept});
	graph = hi_take(p->graph);
	typing = hi_take(p->typing);
	typed_process_again(p, &(struct hi_typing_options){.threads = 1});
	two_graphs_same(graph, p->graph, f->round++);
	two_typings_same(typing, p->typing);
	f->reused += hi_typing_stats(typing).rows_reused;
	f->rows += graph->n_objects;
	hi_typing_keep(typing, &graph, UINT64_MAX, &f->kept);
	hi_typing_destroy(typing);
	hi_graph_destroy(graph);
}

static uint64_t some_object(struct followed *f)
{
	const struct hi_graph *g = f->p->graph;

	return hi_objects_address(g->objects, random_below(&f->state, g->n_objects));
}

/* A word of a random object: another one's address, its inside, a small number. */
static void change_word(struct followed *f)
{
	const struct hi_objects *objects = f->p->graph->objects;
	hi_node node = random_below(&f->state, objects->count);
	uint64_t addr = hi_objects_address(objects, node), word = 0;
	uint64_t n = hi_objects_usable(objects, node) / 8;

	if (!n || hi_is_internal(f->p->graph, node) || addr < f->start ||
	    addr + 8 * n > f->start + f->size)
		return;
	switch (random_below(&f->state, 4)) {
	case 0:
	case 1:
		word = some_object(f);
		break;
	case 2:
		word = some_object(f) + 8 * random_below(&f->state, 4);
		break;
	default:
		word = random_below(&f->state, 64);
		break;
	}
	memcpy(f->area + (addr - f->start) + 8 * random_below(&f->state, n), &word,
	       sizeof(word));
}

static void follow_process(const char *fixture, const char *argument)
{
	static const unsigned changes[ROUNDS] = {0, 1, 10, 100, 0, 20};
	struct hi_fixture *fx = hi_fixture_start(fixture, argument, NULL);
	struct followed f = {.state = 1};

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	f.p = typed_process_open(fx->pid, NULL);
	find_area(&f);
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned k = 0; k < changes[i]; k++)
			change_word(&f);
		take_census_both_ways(&f);
	}
	HI_ASSERT_MSG(f.reused > f.rows / 4, "%d of %d rows", (int)f.reused, (int)f.rows);
	hi_kept_typing_free(&f.kept);
	free(f.before);
}

HI_TEST_SCENARIO(row_reuse_process, maps_lists_and_vectors)
{
	follow_process("containers_mixed", NULL);
}

HI_TEST_SCENARIO(row_reuse_process, hash_tables)
{
	follow_process("containers_hashes", NULL);
}

HI_TEST_SCENARIO(row_reuse_process, trees)
{
	follow_process("containers_trees", NULL);
}

HI_TEST_SCENARIO(row_reuse_process, sequences)
{
	follow_process("containers_sequences", NULL);
}

HI_TEST_SCENARIO(row_reuse_process, smart_pointers_and_vtables)
{
	follow_process("containers_pointers", NULL);
}

HI_TEST_SCENARIO(row_reuse_process, strings)
{
	follow_process("containers_strings", NULL);
}

HI_TEST_SCENARIO(row_reuse_process, a_shop)
{
	follow_process("bench_shop", "20000");
}
