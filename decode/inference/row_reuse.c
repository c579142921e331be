/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/row_reuse.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/search.h"

enum { AHEAD = 48 }; /* edges whose targets are fetched before they are needed */

/* Words up to so many bytes past the heap are looked up as well, so that it may grow. */
static const uint64_t room_to_grow = (uint64_t)1 << 30;

static uint64_t mix_size_hash(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdull;
	return hash ^ hash >> 32;
}

/* Whether a record fills its block depends on them. */
static uint64_t hash_sizes(const struct hi_block_sizes *sizes)
{
	uint64_t hash = mix_size_hash(1, sizes->n);

	for (size_t i = 0; i < sizes->n; i++) {
		const struct hi_size_rule *rule = &sizes->rules[i];

		hash = mix_size_hash(mix_size_hash(hash, rule->n), rule->step);
		for (size_t k = 0; k < rule->n; k++)
			hash = mix_size_hash(hash, rule->sizes[k]);
	}
	return hash;
}

/* ---- recording ---- */

bool hi_rows_record(struct hi_typing *typing)
{
	const struct hi_objects *objects = typing->objects;
	struct hi_kept_rows *rows = &typing->rows;
	size_t n = (size_t)objects->count + 1;
	uint64_t high = objects->high;

	rows->keys = hi_alloc(n * sizeof(*rows->keys));
	rows->marks = hi_alloc(n);
	rows->low = objects->low;
	for (uint32_t i = 0; i < objects->n_regions; i++) {
		if (objects->regions[i].start < rows->low)
			rows->low = objects->regions[i].start;
		if (objects->regions[i].end > high)
			high = objects->regions[i].end;
	}
	rows->high = high < UINT64_MAX - room_to_grow ? high + room_to_grow : high;
	rows->sizes_hash = hash_sizes(&typing->layouts->sizes);
	return rows->keys && rows->marks;
}

/* ---- matching ---- */

static void move_row_cursor(struct hi_row_cursor *c, uint64_t addr)
{
	while (c->addr < addr) {
		c->next++;
		c->addr = c->next < c->objects->count
				  ? hi_address_at(c->objects, &c->window, c->next)
				  : UINT64_MAX;
	}
}

struct hi_row_cursor hi_row_cursor(const struct hi_row_reuse *reuse, hi_node first)
{
	const struct hi_objects *objects = reuse->before->graph->objects;
	uint64_t addr = hi_objects_address(reuse->typing->objects, first);
	struct hi_row_cursor c = {.objects = objects, .chunk = UINT32_MAX};

	c.next = hi_search(i, objects->count, hi_objects_address(objects, i) < addr);
	c.addr = c.next < objects->count ? hi_objects_address(objects, c.next)
					 : UINT64_MAX;
	return c;
}

static void match_chunk(void *arg, size_t task, unsigned worker)
{
	struct hi_row_reuse *reuse = arg;
	const struct hi_objects *objects = reuse->typing->objects;
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT, left = objects->count - first;
	hi_node end = first + (left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES);
	struct hi_row_cursor c = hi_row_cursor(reuse, first);
	struct hi_address_cursor window = {};

	(void)worker;
	for (hi_node id = first; id < end; id++) {
		uint64_t addr = hi_address_at(objects, &window, id);

		move_row_cursor(&c, addr);
		if (c.addr == addr &&
		    hi_object_usable(objects, id) == hi_object_usable(c.objects, c.next))
			reuse->now[c.next] = id;
	}
}

/* Were all words that may lead to an object looked up then, and has the allocator the
 * same sizes? */
static bool may_reuse_rows(const struct hi_typing *typing)
{
	const struct hi_kept_rows *before = &typing->rows_before;

	return before->graph && before->graph->n_objects && typing->objects->count &&
	       typing->objects->low >= before->low &&
	       typing->objects->high <= before->high &&
	       before->sizes_hash == hash_sizes(&typing->layouts->sizes);
}

static size_t bytes_of_map(const struct hi_row_reuse *reuse)
{
	return reuse->before->graph->n_objects * sizeof(*reuse->now);
}

void hi_row_reuse_begin(struct hi_row_reuse *reuse, const struct hi_typing *typing)
{
	size_t n_chunks =
		((size_t)typing->objects->count + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT;

	*reuse = (struct hi_row_reuse){.typing = typing, .before = &typing->rows_before};
	if (!may_reuse_rows(typing))
		return;
	reuse->now = hi_pages_alloc(bytes_of_map(reuse));
	if (!reuse->now)
		return;
	memset(reuse->now, 0xff, bytes_of_map(reuse));
	hi_parallel(typing->threads, n_chunks, match_chunk, reuse);
}

void hi_row_reuse_end(struct hi_row_reuse *reuse)
{
	if (reuse->now)
		hi_pages_free(reuse->now, bytes_of_map(reuse));
	reuse->now = NULL;
}

/* ---- rows ---- */

/* Fetches the entries of later rows: the map is read at random. */
static void fetch_targets(const struct hi_row_reuse *reuse, const struct hi_row_cursor *c,
			  const struct hi_old_row *row)
{
	const hi_node *at = row->edges.to + AHEAD;

	for (uint32_t i = 0; i < row->edges.count && at + i < c->edges_end; i++)
		__builtin_prefetch(&reuse->now[at[i]]);
}

/* The integers and edges of another chunk of then. */
static void enter_chunk(const struct hi_row_reuse *reuse, struct hi_row_cursor *c,
			const struct hi_old_row *row)
{
	const struct hi_graph *g = reuse->before->graph;
	const struct hi_edge_indexes *integers =
		&reuse->before->integer_edges[row->chunk];
	hi_node left = g->n_objects - (row->chunk << HI_CHUNK_SHIFT);
	const struct hi_edge_chunk *chunk = &g->chunks[row->chunk];

	c->chunk = row->chunk;
	c->integers = hi_search(i, integers->count, integers->items[i] < row->first);
	c->edges_end =
		chunk->to + chunk->row[left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES];
}

bool hi_row_find(const struct hi_row_reuse *reuse, struct hi_row_cursor *cursor,
		 uint64_t addr, uint64_t usable, uint32_t key, struct hi_old_row *ret)
{
	const struct hi_graph *g = reuse->before->graph;
	hi_node old;

	move_row_cursor(cursor, addr);
	old = cursor->next;
	if (cursor->addr != addr || !(g->objects->flags[old] & HI_ROW_ALONE) ||
	    g->objects->type[old] != key || hi_object_usable(g->objects, old) != usable)
		return false;
	ret->edges = hi_graph_edges(g, old);
	ret->mark = g->objects->flags[old];
	ret->chunk = old >> HI_CHUNK_SHIFT;
	ret->first = g->chunks[ret->chunk].row[old & (HI_CHUNK_NODES - 1)];
	if (cursor->chunk != ret->chunk)
		enter_chunk(reuse, cursor, ret);
	fetch_targets(reuse, cursor, ret);
	return true;
}

bool hi_row_translate(const struct hi_row_reuse *reuse, const struct hi_old_row *row,
		      bool names_targets, hi_node *to)
{
	const uint64_t *untyped = reuse->typing->untyped;

	for (uint32_t i = 0; i < row->edges.count; i++) {
		hi_node now = reuse->now[row->edges.to[i]];

		if (now == HI_NODE_NONE ||
		    (names_targets && untyped[now / 64] >> now % 64 & 1))
			return false;
		to[i] = now;
	}
	return true;
}

bool hi_row_integers(const struct hi_row_reuse *reuse, struct hi_row_cursor *cursor,
		     const struct hi_old_row *row, size_t at,
		     struct hi_edge_indexes *integers)
{
	const struct hi_edge_indexes *old = &reuse->before->integer_edges[row->chunk];

	while (cursor->integers < old->count && old->items[cursor->integers] < row->first)
		cursor->integers++;
	for (; cursor->integers < old->count &&
	       old->items[cursor->integers] < row->first + row->edges.count;
	     cursor->integers++)
		if (!hi_vector_push(
			    integers,
			    (uint32_t)(at + old->items[cursor->integers] - row->first)))
			return false;
	return true;
}
