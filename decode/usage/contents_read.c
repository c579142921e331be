/* SPDX-License-Identifier: BSD-2-Clause */
/* The first pass of Note [Two passes over contents] in contents_compare.c. */
#include <string.h>

#include "base/alloc.h"
#include "decode/usage/contents_internal.h"
#include "decode/usage/digest_bytes.h"
#include "decode/inference/extent.h"
#include "decode/layouts/layout.h"

enum {
	PAGE = 4096,
	PIECE_CLASS = 3,    /* of overheads: what is no block's start */
	MAPPED_HEADER = 16, /* of a chunk that is a mapping: two words (glibc) */
};

/* ---- bytes of one object ---- */

/* Copies what is readable into the piece; false if some of it is not. */
static bool gather_object_bytes(struct hi_contents_worker *w,
				struct hi_contents_object *o)
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

/* False: some bytes are unread. */
static bool digest_object(struct hi_contents_worker *w, struct hi_digest *d,
			  const struct hi_contents_object *o)
{
	struct hi_digest_buffers buffers = {w->piece, w->scratch};

	if (!o->host)
		return hi_digest_spans(d, w->c->image, &buffers, o->addr + o->start,
				       o->end - o->start);
	hi_digest_host(d, o->host + o->start, o->end - o->start);
	return true;
}

/* Text ends at its NUL, which may be the first byte behind counted elements, and is
 * nowhere else then. */
static void look_for_text(const struct hi_contents_comparison *c,
			  struct hi_contents_object *o, const struct hi_extent *e)
{
	uint64_t at = o->start + e->lead, counted = o->end - at;
	uint64_t n = hi_typing_text_size(c->typing, o->id, o->host + at, o->usable - at);

	if (n == 0 || (e->is_counted && n != counted && n != counted + 1))
		return;
	o->text = at;
	o->end = at + n;
	o->is_text = true;
	o->is_known = true;
}

bool hi_contents_locate(struct hi_contents_worker *w, struct hi_contents_object *o)
{
	const struct hi_contents_comparison *c = w->c;
	struct hi_extent e = hi_typing_extent(c->typing, c->graph, o->id);

	o->start = e.start;
	o->end = e.end;
	o->is_known = e.is_known;
	o->is_text = false;
	o->host =
		hi_memory_windows_at(&c->memory_windows, &w->window, o->addr, o->usable);
	if (!o->host && o->usable <= HI_DIGEST_PIECE && !gather_object_bytes(w, o))
		return false;
	if (o->host)
		look_for_text(c, o, &e);
	return true;
}

/* ---- first pass ---- */

/* Of a block, and not its first one (census/graph/objects_split.c). */
static bool is_later_piece(const struct hi_objects *objects, hi_node id)
{
	return (objects->flags[id] >> HI_OBJECT_OVERHEAD_SHIFT & 3) == PIECE_CLASS;
}

/* What a request for the bytes in use alone would save. */
static uint64_t savable_of(const struct hi_contents_comparison *c,
			   const struct hi_contents_object *o)
{
	static const struct hi_block_sizes glibc = {};
	const struct hi_block_sizes *sizes = c->sizes ? c->sizes : &glibc;
	uint64_t used = o->end - o->start, fit;

	/* A subobject: no block of its own. Blocks of glibc have a header. */
	if (is_later_piece(c->graph->objects, o->id) ||
	    (o->cost == o->usable && !sizes->n))
		return 0;
	if (o->cost - o->usable == MAPPED_HEADER)
		return (o->usable - used) / PAGE * PAGE;
	fit = hi_fit_usable(sizes, used);
	return fit < o->usable ? o->usable - fit : 0;
}

void hi_contents_count_unused(const struct hi_contents_comparison *c,
			      struct hi_waste_row *row,
			      const struct hi_contents_object *o)
{
	uint64_t unused = o->usable - (o->end - o->start);

	if (!o->is_known || unused == 0)
		return;
	row->loose++;
	row->unused += unused;
	row->savable += savable_of(c, o);
}

/* Texts, and objects that were not read: all others use the bytes of their type. */
static void mark_object_used(struct hi_contents_worker *w,
			     const struct hi_contents_object *o, bool readable)
{
	uint64_t bytes = o->end - o->start;

	if (w->fresh_used && (!readable || o->is_text))
		w->fresh_used[w->n_fresh_used++] = (struct hi_contents_used){
			o->id,
			readable && bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX};
}

static void mark_object_equal(const struct hi_contents_worker *w, hi_node id,
			      uint32_t mark)
{
	if (w->c->equal)
		w->c->equal[id] = mark;
}

/* True: it has an entry. */
static bool take_object(struct hi_contents_worker *w, struct hi_contents_object *o,
			struct hi_entry *entry)
{
	uint32_t type = w->c->graph->objects->type[o->id];
	struct hi_waste_row *row = &w->rows[type < w->c->graph->n_types ? type : 0];
	struct hi_digest d;
	bool readable = hi_contents_locate(w, o);

	row->objects++;
	row->bytes += o->cost;
	mark_object_used(w, o, readable);
	if (readable) {
		hi_contents_count_unused(w->c, row, o);
		if (o->start == o->end)
			return false;
		d = hi_digest_begin(type, o->end - o->start);
		readable = digest_object(w, &d, o);
	}
	if (!readable) {
		w->unread++;
		w->unread_bytes += o->cost;
		mark_object_equal(w, o->id, HI_MARK_UNREAD);
		return false;
	}
	if (!d.nonzero) {
		row->zeros++;
		row->zero_bytes += o->cost;
		mark_object_equal(w, o->id, HI_MARK_ZEROS);
		return false;
	}
	hi_digest_end(&d);
	*entry = (struct hi_entry){d.a, d.b << 16};
	return true;
}

/* The entries of a chunk, sorted by shard (counting sort: order stays). */
static bool store_chunk_entries(struct hi_contents_worker *w,
				struct hi_contents_chunk *chunk, uint32_t n)
{
	uint32_t at[HI_CONTENTS_SHARDS];

	memset(chunk->start, 0, sizeof(chunk->start));
	if (w->n_fresh_used) {
		size_t size = w->n_fresh_used * sizeof(*chunk->used);

		chunk->used = hi_alloc(size);
		if (!chunk->used)
			return false;
		memcpy(chunk->used, w->fresh_used, size);
		chunk->n_used = w->n_fresh_used;
	}
	if (n == 0)
		return true;
	chunk->entries = hi_alloc(n * sizeof(*chunk->entries));
	if (!chunk->entries)
		return false;
	for (uint32_t i = 0; i < n; i++)
		chunk->start[(w->fresh[i].hash >> HI_CONTENTS_SHARD_SHIFT) + 1]++;
	for (uint32_t s = 0; s < HI_CONTENTS_SHARDS; s++) {
		chunk->start[s + 1] += chunk->start[s];
		at[s] = chunk->start[s];
	}
	for (uint32_t i = 0; i < n; i++)
		chunk->entries[at[w->fresh[i].hash >> HI_CONTENTS_SHARD_SHIFT]++] =
			w->fresh[i];
	return true;
}

void hi_contents_read_chunk(void *arg, size_t task, unsigned worker)
{
	struct hi_contents_comparison *c = arg;
	struct hi_contents_worker *w = &c->workers[worker];
	const struct hi_objects *objects = c->graph->objects;
	hi_node first = (hi_node)task * HI_CHUNK_NODES, n = objects->count - first;
	uint32_t kept = 0;

	if (n > HI_CHUNK_NODES)
		n = HI_CHUNK_NODES;
	w->n_fresh_used = 0;
	for (hi_node i = 0; i < n && !w->no_memory; i++) {
		struct hi_contents_object o = {.id = first + i};

		mark_object_equal(w, o.id, HI_MARK_ALONE);
		if (!hi_bit(c->reach->any, o.id) ||
		    (objects->flags[o.id] & HI_OBJECT_INTERNAL))
			continue;
		o.addr = hi_objects_address(objects, o.id);
		o.usable = hi_objects_usable(objects, o.id);
		o.cost = hi_objects_cost(objects, o.id);
		if (take_object(w, &o, &w->fresh[kept]))
			w->fresh[kept++].rest |= i;
	}
	if (!w->no_memory && !store_chunk_entries(w, &c->chunks[task], kept))
		w->no_memory = true;
}
