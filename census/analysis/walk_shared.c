/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Shared walks]
 *
 * Each thread has a stack of its own, of fixed size, and works from its top. If that is full,
 * its lower half goes to the blocks that all share; and while a thread waits for work and
 * there is no block, a thread that has enough gives some from the bottom of its stack, as the
 * largest parts of a graph are there. A node is pushed by the thread that set its bit,
 * so it is pushed once. The walk is over when there is no block and no thread at work.
 */
#include "census/analysis/walk_shared.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "census/analysis/walk_internal.h"

enum { STACK = 1 << 14, BLOCK = STACK / 2, WORTH_GIVING = 64 };

struct block {
	size_t n;
	hi_node nodes[BLOCK];
};

struct shared_walk {
	const struct hi_graph *graph;
	uint64_t *bits;
	bool is_precise;
	pthread_mutex_t lock; /* for what is below */
	pthread_cond_t changed;
	struct HI_VECTOR(struct block *) blocks;
	unsigned n_working, n_waiting;
	_Atomic bool wants_work; /* threads wait, and there is no block */
	_Atomic bool has_failed;
};

/* The nodes of a thread are [bottom, top) of its stack. */
struct own_stack {
	struct shared_walk *walk;
	size_t bottom, top;
	hi_node nodes[STACK];
};

/* The lock is held. */
static void note_wants(struct shared_walk *w)
{
	w->wants_work = w->n_waiting && !w->blocks.count;
}

static void share_block(struct shared_walk *w, const hi_node *nodes, size_t n)
{
	struct block *block = hi_alloc(sizeof(*block));
	bool is_kept;

	if (block) {
		block->n = n;
		memcpy(block->nodes, nodes, n * sizeof(*nodes));
	}
	pthread_mutex_lock(&w->lock);
	is_kept = block && hi_vector_push(&w->blocks, block);
	note_wants(w);
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (is_kept)
		return;
	free(block);
	w->has_failed = true;
}

/* A part from the bottom: half of what is there, at most a block. */
static void share_bottom(struct own_stack *s)
{
	size_t n = (s->top - s->bottom) / 2;

	n = n < BLOCK ? n : BLOCK;
	share_block(s->walk, s->nodes + s->bottom, n);
	s->bottom += n;
}

static void make_stack_room(struct own_stack *s)
{
	if (s->bottom < BLOCK)
		share_bottom(s);
	memmove(s->nodes, s->nodes + s->bottom, (s->top - s->bottom) * sizeof(*s->nodes));
	s->top -= s->bottom;
	s->bottom = 0;
}

HI_INLINE void push_own(struct own_stack *s, hi_node node)
{
	if (s->top == STACK)
		make_stack_room(s);
	s->nodes[s->top++] = node;
}

/* As hi_bit_take(), beside other threads. */
HI_INLINE bool take_shared_bit(uint64_t *bits, hi_node node)
{
	uint64_t *word = &bits[node >> 6], bit = UINT64_C(1) << (node & 63);

	return !(__atomic_load_n(word, __ATOMIC_RELAXED) & bit) &&
	       !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

HI_INLINE void visit_edges(struct own_stack *s, struct hi_edges edges, bool is_precise)
{
	for (uint32_t i = 0; i < edges.count; i++) {
		bool follows = is_precise ? hi_grade_is_precise(edges.grade[i])
					  : edges.grade[i] != HI_GRADE_WEAK;

		if (follows && take_shared_bit(s->walk->bits, edges.to[i]))
			push_own(s, edges.to[i]);
	}
	if (atomic_load_explicit(&s->walk->wants_work, memory_order_relaxed) &&
	    s->top - s->bottom >= WORTH_GIVING)
		share_bottom(s);
}

/* Note [Prefetch ring] in walk_internal.h. Until the stack is empty. */
HI_INLINE void walk_own(struct own_stack *s, bool is_precise)
{
	const struct hi_graph *g = s->walk->graph;
	struct {
		struct hi_edges edges;
		hi_node node;
	} ring[HI_RING];
	uint32_t in = 0, half = 0, out = 0; /* ring positions, out <= half <= in */

	while (s->top != s->bottom || in != out) {
		if (s->top != s->bottom && in - out < HI_RING) {
			ring[in % HI_RING].node = s->nodes[--s->top];
			hi_prefetch_row(g, ring[in++ % HI_RING].node);
			if (in - half <= HI_RING / 2 && s->top != s->bottom)
				continue;
		}
		if (half != in) {
			uint32_t i = half++ % HI_RING;

			ring[i].edges = hi_graph_edges(g, ring[i].node);
			hi_prefetch_edges(&ring[i].edges);
			if (in - out < HI_RING && s->top != s->bottom)
				continue;
		}
		visit_edges(s, ring[out++ % HI_RING].edges, is_precise);
	}
}

/* Takes a block, and counts as one at work. False: the walk is over. */
static bool take_shared_block(struct shared_walk *w, struct own_stack *s)
{
	struct block *block = NULL;

	pthread_mutex_lock(&w->lock);
	w->n_waiting++;
	note_wants(w);
	while (!w->blocks.count && w->n_working)
		pthread_cond_wait(&w->changed, &w->lock);
	w->n_waiting--;
	if (w->blocks.count) {
		block = w->blocks.items[--w->blocks.count];
		w->n_working++;
	}
	note_wants(w);
	pthread_mutex_unlock(&w->lock);
	if (!block)
		return false;
	memcpy(s->nodes, block->nodes, block->n * sizeof(*s->nodes));
	s->bottom = 0;
	s->top = block->n;
	free(block);
	return true;
}

static void end_work(struct shared_walk *w)
{
	pthread_mutex_lock(&w->lock);
	if (!--w->n_working)
		pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

/* hi_task_fn */
static void walk_beside_others(void *arg, size_t task, unsigned worker)
{
	struct shared_walk *w = arg;
	HI_GUARD(free) struct own_stack *s = hi_alloc(sizeof(*s));

	(void)task, (void)worker;
	if (!s) {
		w->has_failed = true;
		return;
	}
	s->walk = w;
	while (take_shared_block(w, s)) {
		if (w->is_precise)
			walk_own(s, true);
		else
			walk_own(s, false);
		end_work(w);
	}
}

bool hi_walk_shared(const struct hi_shared_walk_request *request)
{
	struct shared_walk w = {.graph = request->graph,
				.bits = request->bits,
				.is_precise = request->is_precise};

	pthread_mutex_init(&w.lock, NULL);
	pthread_cond_init(&w.changed, NULL);
	for (size_t at = 0; at < request->n_seeds; at += BLOCK)
		share_block(&w, request->seeds + at,
			    request->n_seeds - at < BLOCK ? request->n_seeds - at
							  : BLOCK);
	hi_parallel(request->threads, request->threads, walk_beside_others, &w);
	/* Left by threads that got no memory. */
	w.has_failed |= w.blocks.count != 0;
	for (size_t i = 0; i < w.blocks.count; i++)
		free(w.blocks.items[i]);
	hi_vector_free(&w.blocks);
	pthread_cond_destroy(&w.changed);
	pthread_mutex_destroy(&w.lock);
	return !w.has_failed;
}
