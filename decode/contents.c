/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Two passes over contents]
 *
 * First every live object's bytes are read once, in address order, a chunk of
 * objects a task: zeros and unused bytes are counted, what is left becomes an
 * entry of 16 bytes: 112 bits of hash and the object's number in its chunk. A
 * chunk keeps its entries sorted by shard, the first bits of the hash. Then a
 * task takes one shard out of all chunks, in order, and counts equal hashes in
 * a table that fits into a cache.
 */
#include "decode/contents.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "decode/contents_digest.h"
#include "decode/typing/extent.h"
#include "decode/typing/plan.h"
#include "decode/typing/views.h"

enum {
	CHUNK = HI_CHUNK_NODES,
	SHARD_SHIFT = 64 - 9,
	SHARDS = 1 << (64 - SHARD_SHIFT),
	MAX_THREADS = 64,
	FIRST_SLOTS = 1 << 10,
	PAGE = 4096,
	MAPPED_HEADER = 16, /* of a chunk that is a mapping: two words (glibc) */
};

struct entry {
	uint64_t hash;
	uint64_t rest; /* 48 more bits of hash, the object's number in its chunk */
};

struct chunk {
	struct entry *entries; /* by shard, then object */
	uint32_t start[SHARDS + 1];
};

/* Contents in the table of a shard; sum and most are 0 while there is one only. */
struct slot {
	uint64_t hash, rest;
	hi_node first;
	uint32_t count; /* 0: empty */
	uint64_t sum, most;
};

struct groups HI_VECTOR(struct hi_waste_group);

struct worker {
	struct comparison *c;
	struct hi_view view;
	uint8_t *piece;		   /* HI_DIGEST_PIECE bytes */
	uint8_t *scratch;	   /* HI_SPAN_SCRATCH bytes */
	struct entry *fresh;	   /* CHUNK of them, by object */
	struct hi_waste_row *rows; /* by type */
	struct slot *slots;
	uint32_t n_slots, used;
	struct groups groups;
	struct hi_waste_left beyond, below, other;
	uint64_t unread, unread_bytes;
	bool no_memory;
};

struct comparison {
	const struct hi_image *image;
	const struct hi_typing *typing;
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_contents_options *options;
	struct hi_views views;
	struct chunk *chunks;
	size_t n_chunks;
	struct worker *workers;
	unsigned n_workers;
};

/* ---- bytes of one object ---- */

struct object {
	hi_node id;
	uint64_t addr, usable, cost;
	const uint8_t *host; /* NULL: not in one piece */
	uint64_t start, end; /* what its type uses */
	bool is_known, is_text;
};

/* Copies what is readable into the piece; false if some of it is not. */
static bool gather(struct worker *w, struct object *o)
{
	struct hi_spans spans = {.image = w->c->image,
				 .addr = o->addr,
				 .end = o->addr + o->usable,
				 .scratch = w->scratch};
	const uint8_t *host;
	uint64_t addr, size;

	memset(w->piece, 0, o->usable);
	while (hi_spans_next(&spans, &host, &addr, &size))
		memcpy(w->piece + (addr - o->addr), host, size);
	o->host = w->piece;
	return spans.unreadable == 0;
}

static void digest_host(struct hi_digest *d, const struct object *o)
{
	uint64_t size = o->end - o->start;
	const uint8_t *at = o->host + o->start;

	for (uint64_t i = 0; size; i++) {
		uint64_t n = size < HI_DIGEST_PIECE ? size : HI_DIGEST_PIECE;

		hi_digest_piece(d, i, at, n);
		at += n;
		size -= n;
	}
}

/* The same for bytes that lie in several places: pieces are put together. */
static bool digest_spans(struct worker *w, struct hi_digest *d, const struct object *o)
{
	struct hi_spans spans = {.image = w->c->image,
				 .addr = o->addr + o->start,
				 .end = o->addr + o->end,
				 .scratch = w->scratch};
	uint64_t begin = spans.addr, total = o->end - o->start, current = UINT64_MAX;
	const uint8_t *host;
	uint64_t addr, size;

	while (hi_spans_next(&spans, &host, &addr, &size))
		while (size) {
			uint64_t offset = addr - begin, index = offset / HI_DIGEST_PIECE;
			uint64_t at = offset % HI_DIGEST_PIECE;
			uint64_t n = HI_DIGEST_PIECE - at;

			n = n < size ? n : size;
			if (index != current) {
				if (current != UINT64_MAX)
					hi_digest_piece(d, current, w->piece,
							HI_DIGEST_PIECE);
				memset(w->piece, 0, HI_DIGEST_PIECE);
				current = index;
			}
			memcpy(w->piece + at, host, n);
			host += n;
			addr += n;
			size -= n;
		}
	if (current != UINT64_MAX) {
		uint64_t left = total - current * HI_DIGEST_PIECE;

		hi_digest_piece(d, current, w->piece,
				left < HI_DIGEST_PIECE ? left : HI_DIGEST_PIECE);
	}
	return spans.unreadable == 0;
}

/* Where its bytes are, and which of them are in use; false: some are unread. */
static bool look_at(struct worker *w, struct object *o)
{
	const struct comparison *c = w->c;
	struct hi_extent e = hi_typing_extent(c->typing, c->graph, o->id);
	uint64_t text;

	o->start = e.start;
	o->end = e.end;
	o->is_known = e.is_known;
	o->is_text = false;
	o->host = hi_views_at(&c->views, &w->view, o->addr, o->usable);
	if (!o->host && o->usable <= HI_DIGEST_PIECE && !gather(w, o))
		return false;
	text = o->host ? hi_typing_text_size(c->typing, c->graph, o->id,
					     o->host + o->start, o->end - o->start)
		       : 0;
	if (text) {
		o->end = o->start + text;
		o->is_text = true;
		o->is_known = true;
	}
	return true;
}

/* ---- first pass ---- */

/* What a request for the bytes in use alone would save. */
static uint64_t savable_of(const struct object *o)
{
	uint64_t used = o->end - o->start, fit;

	if (o->cost - o->usable == MAPPED_HEADER)
		return (o->usable - used) / PAGE * PAGE;
	fit = hi_fit_usable(used);
	return fit < o->usable ? o->usable - fit : 0;
}

static void count_unused(struct hi_waste_row *row, const struct object *o)
{
	uint64_t unused = o->usable - (o->end - o->start);

	if (!o->is_known || unused == 0)
		return;
	row->loose++;
	row->unused += unused;
	row->savable += savable_of(o);
}

/* True: it has an entry. */
static bool take_object(struct worker *w, struct object *o, struct entry *entry)
{
	uint32_t type = w->c->graph->objects->type[o->id];
	struct hi_waste_row *row = &w->rows[type < w->c->graph->n_types ? type : 0];
	struct hi_digest d;
	bool readable = look_at(w, o);

	row->objects++;
	row->bytes += o->cost;
	if (readable) {
		count_unused(row, o);
		if (o->start == o->end)
			return false;
		d = hi_digest_begin(type, o->end - o->start);
		if (o->host)
			digest_host(&d, o);
		else
			readable = digest_spans(w, &d, o);
	}
	if (!readable) {
		w->unread++;
		w->unread_bytes += o->cost;
		return false;
	}
	if (!d.nonzero) {
		row->zeros++;
		row->zero_bytes += o->cost;
		return false;
	}
	hi_digest_end(&d);
	*entry = (struct entry){d.a, d.b << 16};
	return true;
}

/* The entries of a chunk, sorted by shard (counting sort: order stays). */
static bool keep_chunk(struct worker *w, struct chunk *chunk, uint32_t n)
{
	uint32_t at[SHARDS];

	memset(chunk->start, 0, sizeof(chunk->start));
	if (n == 0)
		return true;
	chunk->entries = hi_alloc(n * sizeof(*chunk->entries));
	if (!chunk->entries)
		return false;
	for (uint32_t i = 0; i < n; i++)
		chunk->start[(w->fresh[i].hash >> SHARD_SHIFT) + 1]++;
	for (uint32_t s = 0; s < SHARDS; s++) {
		chunk->start[s + 1] += chunk->start[s];
		at[s] = chunk->start[s];
	}
	for (uint32_t i = 0; i < n; i++)
		chunk->entries[at[w->fresh[i].hash >> SHARD_SHIFT]++] = w->fresh[i];
	return true;
}

static void read_chunk(void *arg, size_t task, unsigned worker)
{
	struct comparison *c = arg;
	struct worker *w = &c->workers[worker];
	const struct hi_objects *objects = c->graph->objects;
	hi_node first = (hi_node)task * CHUNK, n = objects->count - first;
	uint32_t kept = 0;

	if (n > CHUNK)
		n = CHUNK;
	for (hi_node i = 0; i < n && !w->no_memory; i++) {
		struct object o = {.id = first + i};

		if (!hi_bit(c->reach->any, o.id) ||
		    (objects->flags[o.id] & HI_OBJECT_INTERNAL))
			continue;
		o.addr = hi_objects_address(objects, o.id);
		o.usable = hi_objects_usable(objects, o.id);
		o.cost = hi_objects_cost(objects, o.id);
		if (take_object(w, &o, &w->fresh[kept]))
			w->fresh[kept++].rest |= i;
	}
	if (!w->no_memory && !keep_chunk(w, &c->chunks[task], kept))
		w->no_memory = true;
}

/* ---- second pass ---- */

static struct slot *slot_of(struct slot *slots, uint32_t n, uint64_t hash, uint64_t rest)
{
	uint32_t i = (uint32_t)(hash >> 8) & (n - 1);

	while (slots[i].count && (slots[i].hash != hash || slots[i].rest != rest))
		i = (i + 1) & (n - 1);
	return &slots[i];
}

static bool grow_slots(struct worker *w)
{
	uint32_t n = w->n_slots ? w->n_slots * 2 : FIRST_SLOTS;
	struct slot *slots = n ? hi_calloc(n, sizeof(*slots)) : NULL;

	if (!slots)
		return false;
	for (uint32_t i = 0; i < w->n_slots; i++)
		if (w->slots[i].count)
			*slot_of(slots, n, w->slots[i].hash, w->slots[i].rest) =
				w->slots[i];
	free(w->slots);
	w->slots = slots;
	w->n_slots = n;
	return true;
}

static void add_cost(struct slot *s, uint64_t cost)
{
	s->sum += cost;
	if (cost > s->most)
		s->most = cost;
}

static void count_entry(struct worker *w, const struct entry *e, hi_node id)
{
	const struct hi_objects *objects = w->c->graph->objects;
	uint64_t rest = e->rest >> 16;
	struct slot *s;

	if (w->used >= w->n_slots / 4 * 3 && !grow_slots(w)) {
		w->no_memory = true;
		return;
	}
	s = slot_of(w->slots, w->n_slots, e->hash, rest);
	if (s->count == 0) {
		*s = (struct slot){
			.hash = e->hash, .rest = rest, .first = id, .count = 1};
		w->used++;
		return;
	}
	if (s->count++ == 1)
		add_cost(s, hi_objects_cost(objects, s->first));
	add_cost(s, hi_objects_cost(objects, id));
}

/* Most bytes first, then by address. */
static int by_copied(const void *a, const void *b)
{
	const struct hi_waste_group *x = a, *y = b;

	if (x->copied != y->copied)
		return x->copied < y->copied ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void leave(struct hi_waste_left *left, uint64_t copied)
{
	left->groups++;
	left->copied += copied;
}

/* Only the first `top` stay. */
static void cut_groups(struct groups *groups, size_t top, struct hi_waste_left *beyond)
{
	if (groups->count > 1)
		qsort(groups->items, groups->count, sizeof(*groups->items), by_copied);
	while (groups->count > top)
		leave(beyond, groups->items[--groups->count].copied);
}

static void take_group(struct worker *w, const struct slot *s)
{
	const struct hi_contents_options *options = w->c->options;
	uint32_t type = w->c->graph->objects->type[s->first];
	struct hi_waste_group group = {.type = type,
				       .first = s->first,
				       .objects = s->count,
				       .copied = s->sum - s->most};
	struct hi_waste_row *row = &w->rows[type < w->c->graph->n_types ? type : 0];

	row->groups++;
	row->copies += s->count - 1;
	row->copied += group.copied;
	if (options->types && (type >= options->n_types || !options->types[type])) {
		leave(&w->other, group.copied);
		return;
	}
	if (group.copied < options->min_size) {
		leave(&w->below, group.copied);
		return;
	}
	if (!hi_vector_push(&w->groups, group))
		w->no_memory = true;
	else if (w->groups.count > SHARDS && w->groups.count / 2 > options->top)
		cut_groups(&w->groups, options->top, &w->beyond);
}

static void count_shard(void *arg, size_t task, unsigned worker)
{
	struct comparison *c = arg;
	struct worker *w = &c->workers[worker];

	memset(w->slots, 0, w->n_slots * sizeof(*w->slots));
	w->used = 0;
	for (size_t k = 0; k < c->n_chunks; k++) {
		const struct chunk *chunk = &c->chunks[k];
		hi_node first = (hi_node)k * CHUNK;

		for (uint32_t i = chunk->start[task];
		     i < chunk->start[task + 1] && !w->no_memory; i++)
			count_entry(w, &chunk->entries[i],
				    first + (hi_node)(chunk->entries[i].rest & 0xffff));
	}
	for (uint32_t i = 0; i < w->n_slots && !w->no_memory; i++)
		if (w->slots[i].count > 1)
			take_group(w, &w->slots[i]);
}

/* ---- the result ---- */

/* At most n bytes, and no half of a character at their end. */
static size_t whole_characters(const uint8_t *text, size_t n)
{
	size_t at = n;

	while (at && n - at < 4 && (text[at - 1] & 0xc0) == 0x80)
		at--;
	return at && (text[at - 1] & 0xc0) == 0xc0 ? at - 1 : n;
}

static void describe_group(struct worker *w, struct hi_waste_group *group)
{
	const struct hi_objects *objects = w->c->graph->objects;
	struct object o = {.id = group->first,
			   .addr = hi_objects_address(objects, group->first),
			   .usable = hi_objects_usable(objects, group->first)};
	size_t n;

	if (!look_at(w, &o))
		return;
	group->size = o.end - o.start;
	group->is_text = o.is_text;
	if (!o.is_text)
		return;
	n = group->size - 1;
	if (n >= sizeof(group->text)) {
		n = whole_characters(o.host + o.start, sizeof(group->text) - 1);
		group->cut = true;
	}
	memcpy(group->text, o.host + o.start, n);
}

static void add_row(struct hi_waste_row *to, const struct hi_waste_row *from)
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
static bool merge(struct comparison *c)
{
	struct worker *w = &c->workers[0];

	for (unsigned i = 1; i < c->n_workers; i++) {
		struct worker *v = &c->workers[i];

		for (uint32_t t = 0; t < c->graph->n_types; t++)
			add_row(&w->rows[t], &v->rows[t]);
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
	for (size_t i = 0; i < w->groups.count; i++)
		describe_group(w, &w->groups.items[i]);
	return true;
}

HI_DEFINE_GUARD(struct hi_waste *, hi_waste_destroy)

static enum hi_status make_result(struct comparison *c, struct hi_waste **ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_waste_destroy) struct hi_waste *waste = hi_calloc(1, sizeof(*waste));
	struct worker *w = &c->workers[0];

	if (!waste || !merge(c))
		return hi_fail_memory(err, "contents");
	waste->rows = hi_take(w->rows);
	for (uint32_t t = 0; t < c->graph->n_types; t++) {
		waste->rows[t].type = t;
		add_row(&waste->all, &waste->rows[t]);
		if (waste->rows[t].objects)
			waste->rows[waste->n_rows++] = waste->rows[t];
	}
	waste->groups = hi_take(w->groups.items);
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

static bool worker_init(struct worker *w, struct comparison *c)
{
	w->c = c;
	w->piece = hi_alloc(HI_DIGEST_PIECE);
	w->scratch = hi_alloc(HI_SPAN_SCRATCH);
	w->fresh = hi_alloc(CHUNK * sizeof(*w->fresh));
	w->rows = hi_calloc((size_t)c->graph->n_types + 1, sizeof(*w->rows));
	return w->piece && w->scratch && w->fresh && w->rows && grow_slots(w);
}

static void deinit(struct comparison *c)
{
	for (unsigned i = 0; c->workers && i < c->n_workers; i++) {
		struct worker *w = &c->workers[i];

		free(w->piece);
		free(w->scratch);
		free(w->fresh);
		free(w->rows);
		free(w->slots);
		hi_vector_free(&w->groups);
	}
	free(c->workers);
	for (size_t i = 0; c->chunks && i < c->n_chunks; i++)
		free(c->chunks[i].entries);
	free(c->chunks);
	hi_views_deinit(&c->views);
}

static enum hi_status init(struct comparison *c, struct hi_error *err)
{
	const struct hi_objects *objects = c->graph->objects;
	unsigned threads =
		c->options->threads ? c->options->threads : hi_parallel_threads();

	c->n_workers = threads < MAX_THREADS ? threads : MAX_THREADS;
	c->n_chunks = ((size_t)objects->count + CHUNK - 1) / CHUNK;
	c->chunks = hi_calloc(c->n_chunks + 1, sizeof(*c->chunks));
	c->workers = hi_calloc(c->n_workers, sizeof(*c->workers));
	if (!c->chunks || !c->workers)
		return hi_fail_memory(err, "contents");
	for (unsigned i = 0; i < c->n_workers; i++)
		if (!worker_init(&c->workers[i], c))
			return hi_fail_memory(err, "contents");
	return hi_views_init(&c->views, c->image->memory, objects, err);
}

static bool failed(const struct comparison *c)
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
	struct comparison c = {.image = image,
			       .typing = typing,
			       .graph = graph,
			       .reach = reach,
			       .options = options};
	enum hi_status status = init(&c, err);

	if (status == HI_OK) {
		hi_parallel(c.n_workers, c.n_chunks, read_chunk, &c);
		if (!failed(&c))
			hi_parallel(c.n_workers, SHARDS, count_shard, &c);
		status = failed(&c) ? hi_fail_memory(err, "contents")
				    : make_result(&c, ret, err);
	}
	deinit(&c);
	return status;
}
