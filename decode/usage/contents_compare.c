/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Two passes over contents]
 *
 * First every live object's bytes are read once, in address order, a chunk of
 * objects a task: zeros and unused bytes are counted, what is left becomes an
 * entry of 16 bytes: 112 bits of hash and the object's number in its chunk. A
 * chunk keeps its entries sorted by shard, the first bits of the hash. Then a
 * task takes one shard out of all chunks, in order, and counts equal hashes in
 * a table that fits into a cache. Where marks are wanted it goes through the shard
 * again: to each object of a group its first one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/usage/contents_digest.h"
#include "decode/usage/contents_internal.h"

enum { MAX_THREADS = 64, FIRST_SLOTS = 1 << 10, BATCH = 1 << 10 };

/* ---- second pass ---- */

static struct hi_contents_slot *find_digest_slot(struct hi_contents_slot *slots,
						 uint32_t n, uint64_t hash, uint64_t rest)
{
	return &slots[hi_probe(i, n, hash >> 8,
			       !slots[i].count ||
				       (slots[i].hash == hash && slots[i].rest == rest))];
}

static bool grow_digest_slots(struct hi_contents_worker *w)
{
	uint32_t n = w->n_slots ? w->n_slots * 2 : FIRST_SLOTS;
	struct hi_contents_slot *slots = n ? hi_calloc(n, sizeof(*slots)) : NULL;

	if (!slots)
		return false;
	for (uint32_t i = 0; i < w->n_slots; i++)
		if (w->slots[i].count)
			*find_digest_slot(slots, n, w->slots[i].hash, w->slots[i].rest) =
				w->slots[i];
	free(w->slots);
	w->slots = slots;
	w->n_slots = n;
	return true;
}

static void add_cost(struct hi_contents_slot *s, uint64_t cost)
{
	s->sum += cost;
	if (cost > s->most)
		s->most = cost;
}

void hi_contents_add(const struct hi_objects *objects, struct hi_contents_slot *s,
		     hi_node id)
{
	if (s->count++ == 0) {
		s->first = id;
		return;
	}
	if (s->count == 2)
		add_cost(s, hi_objects_cost(objects, s->first));
	add_cost(s, hi_objects_cost(objects, id));
}

static void count_digest_entry(struct hi_contents_worker *w, const struct hi_entry *e,
			       hi_node id)
{
	uint64_t rest = e->rest >> 16;
	struct hi_contents_slot *s;

	if (w->used >= w->n_slots / 4 * 3 && !grow_digest_slots(w)) {
		w->no_memory = true;
		return;
	}
	s = find_digest_slot(w->slots, w->n_slots, e->hash, rest);
	if (s->count == 0) {
		*s = (struct hi_contents_slot){.hash = e->hash, .rest = rest};
		w->used++;
	}
	hi_contents_add(w->c->graph->objects, s, id);
}

/* Most bytes first, then by address. */
static int compare_copied_bytes(const void *a, const void *b)
{
	const struct hi_contents_group *x = a, *y = b;

	if (x->copied != y->copied)
		return x->copied < y->copied ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void count_left_group(struct hi_waste_left *left, uint64_t copied)
{
	left->groups++;
	left->copied += copied;
}

/* Only the first `top` stay. */
static void cut_groups(struct hi_contents_groups *groups, size_t top,
		       struct hi_waste_left *beyond)
{
	if (groups->count > 1)
		qsort(groups->items, groups->count, sizeof(*groups->items),
		      compare_copied_bytes);
	while (groups->count > top)
		count_left_group(beyond, groups->items[--groups->count].copied);
}

void hi_contents_add_group(struct hi_contents_worker *w, const struct hi_contents_slot *s)
{
	const struct hi_contents_options *options = w->c->options;
	uint32_t type = w->c->graph->objects->type[s->first];
	struct hi_contents_group group = {s->sum - s->most, s->first, s->count};
	struct hi_waste_row *row = &w->rows[type < w->c->graph->n_types ? type : 0];

	if (!options->row_of) {
		row->groups++;
		row->copies += s->count - 1;
		row->copied += group.copied;
	}
	if (options->types && (type >= options->n_types || !options->types[type])) {
		count_left_group(&w->other, group.copied);
		return;
	}
	if (group.copied < options->min_size) {
		count_left_group(&w->below, group.copied);
		return;
	}
	/* Sorted and full since the last cut: a group behind the last one is not added.
	 */
	if (w->full &&
	    compare_copied_bytes(&group, &w->groups.items[options->top - 1]) > 0) {
		count_left_group(&w->beyond, group.copied);
		return;
	}
	if (!hi_vector_push(&w->groups, group)) {
		w->no_memory = true;
	} else if (w->groups.count > HI_CONTENTS_SHARDS &&
		   w->groups.count / 2 > options->top) {
		cut_groups(&w->groups, options->top, &w->beyond);
		w->full = options->top > 0;
	}
}

static void mark_shard(struct hi_contents_worker *w, size_t shard)
{
	struct hi_contents_comparison *c = w->c;

	for (size_t k = 0; k < c->n_chunks; k++) {
		const struct hi_contents_chunk *chunk = &c->chunks[k];
		hi_node first = (hi_node)k * HI_CHUNK_NODES;

		for (uint32_t i = chunk->start[shard]; i < chunk->start[shard + 1]; i++) {
			const struct hi_entry *e = &chunk->entries[i];
			const struct hi_contents_slot *s = find_digest_slot(
				w->slots, w->n_slots, e->hash, e->rest >> 16);

			if (s->count > 1)
				c->equal[first + (hi_node)(e->rest & 0xffff)] = s->first;
		}
	}
}

static void count_shard(void *arg, size_t task, unsigned worker)
{
	struct hi_contents_comparison *c = arg;
	struct hi_contents_worker *w = &c->workers[worker];

	memset(w->slots, 0, w->n_slots * sizeof(*w->slots));
	w->used = 0;
	for (size_t k = 0; k < c->n_chunks; k++) {
		const struct hi_contents_chunk *chunk = &c->chunks[k];
		hi_node first = (hi_node)k * HI_CHUNK_NODES;

		for (uint32_t i = chunk->start[task];
		     i < chunk->start[task + 1] && !w->no_memory; i++)
			count_digest_entry(
				w, &chunk->entries[i],
				first + (hi_node)(chunk->entries[i].rest & 0xffff));
	}
	for (uint32_t i = 0; i < w->n_slots && !w->no_memory; i++)
		if (w->slots[i].count > 1)
			hi_contents_add_group(w, &w->slots[i]);
	if (c->equal && !w->no_memory)
		mark_shard(w, task);
}

/* ---- the result ---- */

/* At most n bytes of a longer text, and no half of a character at their end. */
static size_t whole_characters(const uint8_t *text, size_t n)
{
	while (n && (text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static void describe_group(struct hi_contents_worker *w,
			   const struct hi_contents_group *from,
			   struct hi_waste_group *group)
{
	const struct hi_objects *objects = w->c->graph->objects;
	struct hi_contents_object o = {.id = from->first,
				       .addr = hi_objects_address(objects, from->first),
				       .usable = hi_objects_usable(objects, from->first)};
	size_t n;

	group->type = objects->type[from->first];
	group->first = from->first;
	group->objects = from->objects;
	group->copied = from->copied;
	if (!w->c->image || !hi_contents_locate(w, &o))
		return;
	group->size = o.end - o.start;
	group->is_text = o.is_text;
	if (!o.is_text)
		return;
	n = o.end - o.text - 1;
	if (n >= sizeof(group->text)) {
		n = whole_characters(o.host + o.text, sizeof(group->text) - 1);
		group->cut = true;
	}
	memcpy(group->text, o.host + o.text, n);
}

/* hi_task_fn over batches of the first worker's groups. */
static void describe_batch(void *arg, size_t task, unsigned worker)
{
	struct hi_contents_comparison *c = arg;
	const struct hi_contents_groups *groups = &c->workers[0].groups;

	for (size_t i = task * BATCH; i < groups->count && i < (task + 1) * BATCH; i++)
		describe_group(&c->workers[worker], &groups->items[i], &c->groups[i]);
}

static void add_waste_row(struct hi_waste_row *to, const struct hi_waste_row *from)
{
	to->objects += from->objects;
	to->bytes += from->bytes;
	to->groups += from->groups;
	to->copies += from->copies;
	to->copied += from->copied;
	to->zeros += from->zeros;
	to->zero_bytes += from->zero_bytes;
	to->loose += from->loose;
	to->unused += from->unused;
	to->savable += from->savable;
}

static void add_left(struct hi_waste_left *to, const struct hi_waste_left *from)
{
	to->groups += from->groups;
	to->copied += from->copied;
}

/* All into the first worker. */
static bool merge_comparison_workers(struct hi_contents_comparison *c)
{
	struct hi_contents_worker *w = &c->workers[0];

	for (unsigned i = 1; i < c->n_workers; i++) {
		struct hi_contents_worker *v = &c->workers[i];

		for (uint32_t t = 0; t < c->n_rows; t++)
			add_waste_row(&w->rows[t], &v->rows[t]);
		add_left(&w->beyond, &v->beyond);
		add_left(&w->below, &v->below);
		add_left(&w->other, &v->other);
		w->unread += v->unread;
		w->unread_bytes += v->unread_bytes;
		if (!hi_vector_reserve(&w->groups, w->groups.count + v->groups.count))
			return false;
		if (v->groups.count)
			memcpy(w->groups.items + w->groups.count, v->groups.items,
			       v->groups.count * sizeof(*v->groups.items));
		w->groups.count += v->groups.count;
	}
	cut_groups(&w->groups, c->options->top, &w->beyond);
	c->groups = hi_calloc(w->groups.count, sizeof(*c->groups));
	if (!c->groups)
		return false;
	hi_parallel(c->n_workers, (w->groups.count + BATCH - 1) / BATCH, describe_batch,
		    c);
	return true;
}

enum hi_status hi_contents_result(struct hi_contents_comparison *c, struct hi_waste **ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_waste_destroy) struct hi_waste *waste = hi_calloc(1, sizeof(*waste));
	struct hi_contents_worker *w = &c->workers[0];

	if (!waste || !merge_comparison_workers(c))
		return hi_fail_memory(err, "contents");
	waste->rows = hi_take(w->rows);
	for (uint32_t t = 0; t < c->n_rows; t++) {
		waste->rows[t].type = t;
		add_waste_row(&waste->all, &waste->rows[t]);
		if (waste->rows[t].objects)
			waste->rows[waste->n_rows++] = waste->rows[t];
	}
	waste->groups = hi_take(c->groups);
	waste->n_groups = w->groups.count;
	waste->beyond = w->beyond;
	waste->below = w->below;
	waste->other = w->other;
	waste->unread = w->unread;
	waste->unread_bytes = w->unread_bytes;
	*ret = hi_take(waste);
	return HI_OK;
}

void hi_waste_destroy(struct hi_waste *waste)
{
	if (!waste)
		return;
	free(waste->rows);
	free(waste->groups);
	free(waste);
}

/* ---- the whole ---- */

static bool worker_init(struct hi_contents_worker *w, struct hi_contents_comparison *c)
{
	w->c = c;
	w->piece = hi_alloc(HI_DIGEST_PIECE);
	w->scratch = hi_alloc(HI_SPAN_SCRATCH);
	w->fresh = hi_alloc(HI_CHUNK_NODES * sizeof(*w->fresh));
	w->rows = hi_calloc((size_t)c->graph->n_types + 1, sizeof(*w->rows));
	if (c->equal)
		w->fresh_used = hi_alloc(HI_CHUNK_NODES * sizeof(*w->fresh_used));
	return w->piece && w->scratch && w->fresh && w->rows &&
	       (!c->equal || w->fresh_used) && grow_digest_slots(w);
}

static void deinit_comparison(struct hi_contents_comparison *c)
{
	for (unsigned i = 0; c->workers && i < c->n_workers; i++) {
		struct hi_contents_worker *w = &c->workers[i];

		free(w->piece);
		free(w->scratch);
		free(w->fresh);
		free(w->fresh_used);
		free(w->rows);
		free(w->slots);
		hi_vector_free(&w->groups);
	}
	free(c->workers);
	free(c->groups);
	for (size_t i = 0; c->chunks && i < c->n_chunks; i++) {
		free(c->chunks[i].entries);
		free(c->chunks[i].used);
	}
	free(c->chunks);
	free(c->equal);
	hi_memory_windows_deinit(&c->memory_windows);
}

static enum hi_status init_comparison(struct hi_contents_comparison *c,
				      struct hi_error *err)
{
	const struct hi_objects *objects = c->graph->objects;
	unsigned threads =
		c->options->threads ? c->options->threads : hi_parallel_threads();

	c->n_workers = threads < MAX_THREADS ? threads : MAX_THREADS;
	c->n_chunks = ((size_t)objects->count + HI_CHUNK_NODES - 1) / HI_CHUNK_NODES;
	c->chunks = hi_calloc(c->n_chunks + 1, sizeof(*c->chunks));
	c->workers = hi_calloc(c->n_workers, sizeof(*c->workers));
	if (c->options->marks)
		c->equal = hi_alloc(((size_t)objects->count + 1) * sizeof(*c->equal));
	if (!c->chunks || !c->workers || (c->options->marks && !c->equal))
		return hi_fail_memory(err, "contents");
	for (unsigned i = 0; i < c->n_workers; i++)
		if (!worker_init(&c->workers[i], c))
			return hi_fail_memory(err, "contents");
	return hi_memory_windows_init(&c->memory_windows, c->image->memory, objects, err);
}

static bool has_comparison_failed(const struct hi_contents_comparison *c)
{
	for (unsigned i = 0; i < c->n_workers; i++)
		if (c->workers[i].no_memory)
			return true;
	return false;
}

enum hi_status hi_contents_compare(const struct hi_image *image,
				   const struct hi_typing *typing,
				   const struct hi_graph *graph,
				   const struct hi_reach *reach,
				   const struct hi_contents_options *options,
				   struct hi_waste **ret, struct hi_error *err)
{
	struct hi_contents_comparison c = {.image = image,
					   .typing = typing,
					   .sizes = typing ? hi_typing_sizes(typing)
							   : NULL,
					   .graph = graph,
					   .reach = reach,
					   .options = options,
					   .n_rows = graph->n_types};
	enum hi_status status = init_comparison(&c, err);

	*ret = NULL;
	if (status == HI_OK) {
		hi_parallel(c.n_workers, c.n_chunks, hi_contents_read_chunk, &c);
		if (!has_comparison_failed(&c))
			hi_parallel(c.n_workers, HI_CONTENTS_SHARDS, count_shard, &c);
		status = has_comparison_failed(&c) ? hi_fail_memory(err, "contents")
						   : hi_contents_result(&c, ret, err);
		if (status == HI_OK && options->marks)
			status = hi_contents_move_marks(&c, options->marks, err);
		if (status != HI_OK) {
			hi_waste_destroy(*ret);
			*ret = NULL;
		}
	}
	deinit_comparison(&c);
	return status;
}
