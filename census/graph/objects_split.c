/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits blocks of a sealed table into subobjects, and adds objects where no block is.
 * Two passes: the subobjects are grouped by the block that they are in (or the space
 * between two regions), which gives the number of nodes; then one merge in address order
 * copies the columns in runs and appends the pieces of each group.
 *
 * A region without subobjects keeps its lookup entries with other ranks. A region with
 * subobjects gets entries for granules of 8 bytes. Mapped blocks and the space between
 * regions may be large and have few objects: those become several regions, split where no
 * object starts for a while, so that the entries cost no more than the objects.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/graph/objects_internal.h"

enum {
	SUBOBJECT_SHIFT = 3,
	DENSE_SHIFT = 4, /* regions with wider granules may be very large */
	WHOLE_CLASS = 3, /* overhead class of pieces that are no block's start */
	CLASS_MASK = 3 << HI_OBJECT_OVERHEAD_SHIFT,
	BUMP_ENTRIES = 4096,
	CUT = 64 << 10,	       /* bytes where no object starts: another region */
	CUT_OF_MANY = 8 << 10, /* beyond MANY subobjects: memory before speed */
	MANY = 1 << 20,
};

/* Subobjects [first, next group's first) that are in one block, or (node NONE) before the
 * region of this index and after the one before it. */
struct group {
	hi_node node;
	uint32_t region;
	size_t first;
};

struct split {
	const struct hi_objects *old;
	const struct hi_subobject *subobjects;
	size_t n;
	struct HI_VECTOR(struct group) groups; /* and a sentinel */
	uint64_t count;			       /* of new nodes */
	size_t n_pools;
	uint64_t cut;
	/* the merge */
	struct hi_objects *t;
	hi_node next;		    /* new id */
	size_t group;		    /* the next one */
	uint32_t window;	    /* next old window to be entered */
	size_t large;		    /* next of old->priv->large */
	struct hi_entry_block bump; /* borrowed from t's blocks */
	size_t bump_used;
	struct HI_VECTOR(struct hi_lookup_region) regions;
	struct HI_VECTOR(uint64_t) starts;
	struct hi_pools pools;
	bool no_memory;
};

void hi_pools_free(struct hi_pools *pools)
{
	free(pools->items);
	free(pools->is_remainder);
	free(pools->is_slot);
	*pools = (struct hi_pools){};
}

static uint64_t at_least_one(uint64_t usable)
{
	return usable ? usable : 1;
}

/* ---- pieces of a block ---- */

struct piece {
	uint64_t addr, size;
	const struct hi_subobject *subobject; /* NULL: remainder */
};

struct pieces {
	uint64_t at, end;
	const struct hi_subobject *next, *last; /* [next, last) */
};

static bool pieces_next(struct pieces *p, struct piece *ret)
{
	uint64_t end;

	if (p->at >= p->end)
		return false;
	ret->addr = p->at;
	ret->subobject = NULL;
	end = p->next < p->last ? p->next->addr : p->end;
	if (end == p->at) {
		uint64_t own = p->at + p->next->size;

		ret->subobject = p->next++;
		end = p->next < p->last ? p->next->addr : p->end;
		if (end - own >= HI_SUBOBJECT_GAP)
			end = (own + 7) & ~(uint64_t)7;
	}
	ret->size = end - p->at;
	p->at = end;
	return true;
}

static struct pieces pieces_of(const struct split *c, const struct group *g)
{
	uint64_t addr = hi_objects_address(c->old, g->node);

	return (struct pieces){
		.at = addr,
		.end = addr + hi_objects_usable(c->old, g->node),
		.next = c->subobjects + g->first,
		.last = c->subobjects + g[1].first,
	};
}

/* ---- grouping ---- */

static uint32_t region_after(const struct hi_objects *o, uint64_t addr)
{
	return hi_search(i, o->n_regions, o->priv->region_starts[i] <= addr);
}

/* Opens the group of a subobject. *end_ret: the highest address at which the group can
 * end. */
static bool open_group(struct split *c, size_t index, uint64_t *end_ret)
{
	const struct hi_subobject *subobject = &c->subobjects[index];
	const struct hi_objects *o = c->old;
	struct group g = {.first = index};
	uint64_t offset = 0;

	g.node = hi_objects_find(o, subobject->addr, &offset);
	if (g.node != HI_NODE_NONE) {
		*end_ret = subobject->addr - offset + hi_objects_usable(o, g.node);
		c->n_pools++;
	} else {
		g.region = region_after(o, subobject->addr);
		if (g.region && o->regions[g.region - 1].end > subobject->addr)
			return false;
		*end_ret =
			g.region < o->n_regions ? o->regions[g.region].start : UINT64_MAX;
	}
	c->no_memory = !hi_vector_push(&c->groups, g);
	return !c->no_memory;
}

static enum hi_status group_subobjects(struct split *c, struct hi_error *err)
{
	uint64_t end = 0, group_end = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct hi_subobject *subobject = &c->subobjects[i];
		bool ok = subobject->addr >= end && (subobject->addr & 7) == 0 &&
			  subobject->size &&
			  subobject->size <= UINT64_MAX - subobject->addr;

		if (ok && subobject->addr >= group_end)
			ok = open_group(c, i, &group_end);
		if (c->no_memory)
			return hi_fail_memory(err, "object table");
		if (!ok || subobject->size > group_end - subobject->addr)
			return hi_fail(err, HI_BAD_DATA, subobject->addr,
				       "object table: a subobject is out of place");
		end = subobject->addr + subobject->size;
	}
	return hi_vector_push(&c->groups, ((struct group){.first = c->n}))
		       ? HI_OK
		       : hi_fail_memory(err, "object table");
}

static void count_nodes(struct split *c)
{
	c->count = c->old->count;
	for (size_t i = 0; i + 1 < c->groups.count; i++) {
		const struct group *g = &c->groups.items[i];
		struct pieces pieces;
		struct piece piece;

		if (g->node == HI_NODE_NONE) {
			c->count += g[1].first - g->first;
			continue;
		}
		pieces = pieces_of(c, g);
		c->count--;
		while (pieces_next(&pieces, &piece))
			c->count++;
	}
}

/* ---- columns ---- */

static bool push_window(struct split *c, uint64_t base)
{
	c->no_memory |= !hi_vector_push(&c->t->priv->windows,
					((struct hi_address_window){base, c->next}));
	return !c->no_memory;
}

/* Old nodes as they are. Windows begin where they did, and the one that is open
 * is theirs: whatever did not fit into it is above all of its nodes. */
static void copy_run(struct split *c, hi_node from, hi_node to)
{
	const struct hi_objects *o = c->old;
	struct hi_objects *t = c->t;

	while (from < to && !c->no_memory) {
		hi_node end = to, n;

		if (c->window < o->n_windows && o->windows[c->window].first == from)
			if (!push_window(c, o->windows[c->window++].base))
				return;
		if (c->window < o->n_windows && o->windows[c->window].first < end)
			end = o->windows[c->window].first;
		n = end - from;
		memcpy(t->address_low + c->next, o->address_low + from, (size_t)n * 4);
		memcpy(t->usable_low + c->next, o->usable_low + from, (size_t)n * 4);
		memcpy(t->type + c->next, o->type + from, (size_t)n * 4);
		memcpy(t->flags + c->next, o->flags + from, n);
		for (; c->large < o->priv->large.count &&
		       o->priv->large.items[c->large].id < end;
		     c->large++) {
			struct hi_large_object large = o->priv->large.items[c->large];

			large.id += c->next - from;
			c->no_memory |= !hi_vector_push(&t->priv->large, large);
		}
		c->next += n;
		from = end;
	}
}

static void append_piece_row(struct split *c, const struct piece *piece, uint32_t type,
			     uint8_t flags)
{
	struct hi_objects *t = c->t;
	size_t n = t->priv->windows.count;
	uint64_t usable = piece->size;

	if (n == 0 || piece->addr - t->priv->windows.items[n - 1].base > UINT32_MAX) {
		if (!push_window(c, piece->addr))
			return;
		n++;
	}
	if (usable >= UINT32_MAX)
		c->no_memory |= !hi_vector_push(
			&t->priv->large, ((struct hi_large_object){c->next, usable}));
	t->address_low[c->next] =
		(uint32_t)(piece->addr - t->priv->windows.items[n - 1].base);
	t->usable_low[c->next] = usable < UINT32_MAX ? (uint32_t)usable : UINT32_MAX;
	t->type[c->next] = type;
	t->flags[c->next++] = flags;
}

static void append_outside(struct split *c, const struct group *g)
{
	for (size_t i = g->first; i < g[1].first && !c->no_memory; i++) {
		const struct hi_subobject *subobject = &c->subobjects[i];
		struct piece piece = {subobject->addr, subobject->size, subobject};

		append_piece_row(c, &piece, subobject->type,
				 (uint8_t)((subobject->flags & ~CLASS_MASK) |
					   WHOLE_CLASS << HI_OBJECT_OVERHEAD_SHIFT));
	}
}

static void append_piece(struct split *c, hi_node block, const struct piece *piece,
			 bool first)
{
	uint8_t old = c->old->flags[block], flags = old & HI_OBJECT_INTERNAL;
	uint32_t type = 0;

	flags |= first ? old & CLASS_MASK : WHOLE_CLASS << HI_OBJECT_OVERHEAD_SHIFT;
	if (piece->subobject) {
		flags |= (uint8_t)(piece->subobject->flags & ~CLASS_MASK);
		type = piece->subobject->type;
		if (piece->subobject->is_slot)
			c->pools.is_slot[c->next / 64] |= 1ull << (c->next & 63);
	} else {
		if (first) {
			flags = old;
			type = c->old->type[block];
		}
		c->pools.is_remainder[c->next / 64] |= 1ull << (c->next & 63);
	}
	append_piece_row(c, piece, type, flags);
}

static void append_block(struct split *c, const struct group *g)
{
	const struct hi_objects *o = c->old;
	struct hi_pool pool = {.first = c->next, .remainder = HI_NODE_NONE};
	struct pieces pieces = pieces_of(c, g);
	struct piece piece;

	if (c->window < o->n_windows && o->windows[c->window].first == g->node)
		push_window(c, o->windows[c->window++].base);
	if (c->large < o->priv->large.count &&
	    o->priv->large.items[c->large].id == g->node)
		c->large++;
	while (!c->no_memory && pieces_next(&pieces, &piece)) {
		if (!piece.subobject && pool.remainder == HI_NODE_NONE)
			pool.remainder = c->next;
		append_piece(c, g->node, &piece, c->next == pool.first);
	}
	pool.last = c->next - 1;
	c->pools.items[c->pools.count++] = pool;
}

/* ---- lookup ---- */

/* Addresses of the new table, in order of ids. */
struct reader {
	const struct hi_objects *t;
	const struct hi_address_window *window, *last;
};

static struct reader reader_at(const struct split *c, hi_node id)
{
	struct hi_objects_private *priv = c->t->priv;
	const struct hi_address_window *w = priv->windows.items;
	size_t n = priv->windows.count;
	/* No windows: no objects, nothing will be read. */
	const struct hi_address_window *last = n ? w + n - 1 : w;

	while (n > 1) {
		size_t half = n / 2;

		if (w[half].first <= id)
			w += half;
		n -= half;
	}
	return (struct reader){c->t, w, last};
}

static inline uint64_t read_address(struct reader *r, hi_node id)
{
	while (r->window < r->last && r->window[1].first <= id)
		r->window++;
	return r->window->base + r->t->address_low[id];
}

static uint64_t low_usable_of(const struct split *c, hi_node id)
{
	uint32_t low = c->t->usable_low[id];

	return low == UINT32_MAX ? hi_objects_usable(c->t, id) : low;
}

/* Entries from a block that many share, or from one of their own. */
static struct hi_lookup_entry *take_entries(struct split *c, uint64_t granules)
{
	struct hi_entry_block block = {};
	size_t n = (size_t)((granules - 1) / 64 + 1);

	if (n <= BUMP_ENTRIES / 8 && c->bump.entries &&
	    n <= BUMP_ENTRIES - c->bump_used) {
		c->bump_used += n;
		return c->bump.entries + c->bump_used - n;
	}
	if (!hi_entry_block_alloc(&block, n <= BUMP_ENTRIES / 8 ? BUMP_ENTRIES * 64ull
								: granules))
		return NULL;
	if (!hi_vector_push(&c->t->priv->blocks, block)) {
		hi_entry_block_free(&block);
		return NULL;
	}
	if (n <= BUMP_ENTRIES / 8) {
		c->bump = block;
		c->bump_used = n;
	}
	return block.entries;
}

static void push_region(struct split *c, struct hi_lookup_region region)
{
	c->no_memory |= !region.entries || !hi_vector_push(&c->regions, region) ||
			!hi_vector_push(&c->starts, region.start);
}

/* Note [Lookup by rank]: a region of one object. */
static void index_single(struct split *c, hi_node id, uint64_t addr)
{
	uint64_t size = at_least_one(low_usable_of(c, id));
	struct hi_lookup_entry *entry = take_entries(c, 1);
	struct hi_lookup_region region = {addr, addr + size, entry, 0};

	if (entry)
		*entry = (struct hi_lookup_entry){.starts = 1, .rank = id};
	while ((size - 1) >> region.shift >= 64)
		region.shift++;
	push_region(c, region);
}

/* Nodes [from, to) become a region: start bits, and ranks of the entries that
 * an object starts in or reaches into. */
static void index_region(struct split *c, hi_node from, hi_node to, uint64_t start,
			 uint64_t end, unsigned shift)
{
	struct hi_lookup_entry *entries =
		take_entries(c, ((end - start - 1) >> shift) + 1);
	struct reader reader = reader_at(c, from);
	uint64_t next = 0, covered = 0; /* entry without a rank; offset */
	unsigned span = shift + 6;

	push_region(c, (struct hi_lookup_region){start, end, entries, shift});
	for (hi_node id = from; id < to && !c->no_memory; id++) {
		uint64_t offset = read_address(&reader, id) - start;
		uint64_t e = offset >> span;

		for (; next < e && next << span < covered; next++)
			entries[next].rank = id;
		if (next <= e) {
			entries[e].rank = id;
			next = e + 1;
		}
		entries[e].starts |= 1ull << (offset >> shift & 63);
		covered = offset + low_usable_of(c, id);
	}
	for (; !c->no_memory && next << span < covered; next++)
		entries[next].rank = to;
}

/* Nodes [from, to) lie in space of any size: regions where they are dense. */
static void index_sparse(struct split *c, hi_node from, hi_node to)
{
	struct reader reader = reader_at(c, from);
	uint64_t addr = from < to ? read_address(&reader, from) : 0;

	while (from < to && !c->no_memory) {
		uint64_t start = addr, end = addr + at_least_one(low_usable_of(c, from));
		unsigned shift =
			start & 7 ? (unsigned)__builtin_ctzll(start) : SUBOBJECT_SHIFT;
		hi_node first = from++;

		while (from < to) {
			uint64_t usable = low_usable_of(c, from);

			addr = read_address(&reader, from);
			if (addr - end >= c->cut || usable >= c->cut ||
			    low_usable_of(c, from - 1) >= c->cut)
				break;
			end = addr + at_least_one(usable);
			from++;
		}
		if (from == first + 1)
			index_single(c, first, start);
		else
			index_region(c, first, from, start, end, shift);
	}
}

/* An old region as it was, `moved` nodes further on. */
static void copy_region(struct split *c, const struct hi_lookup_region *r, hi_node first,
			hi_node end)
{
	const struct hi_objects *o = c->old;
	uint64_t last = hi_objects_address(o, end - 1) - r->start +
			at_least_one(hi_objects_usable(o, end - 1)) - 1;
	unsigned span = r->shift + 6;
	struct hi_lookup_entry *entries =
		take_entries(c, ((r->end - r->start - 1) >> r->shift) + 1);
	hi_node moved = c->next - first;

	push_region(c, (struct hi_lookup_region){r->start, r->end, entries, r->shift});
	if (c->no_memory)
		return;
	for (uint64_t i = (hi_objects_address(o, first) - r->start) >> span;
	     i <= last >> span; i++)
		if (r->entries[i].starts || r->entries[i].rank)
			entries[i] = (struct hi_lookup_entry){
				.starts = r->entries[i].starts,
				.rank = r->entries[i].rank + moved};
}

/* ---- the merge ---- */

static hi_node first_object_of_region(const struct hi_objects *o, uint32_t region)
{
	hi_node low = 0, high = o->count;

	if (region >= o->n_regions)
		return o->count;
	if (o->regions[region].entries[0].starts & 1)
		return o->regions[region].entries[0].rank;
	low = hi_search_from(i, low, high,
			     hi_objects_address(o, i) < o->regions[region].start);
	return low;
}

/* Objects between the regions, before this one. */
static void merge_outside(struct split *c, uint32_t region)
{
	const struct group *g = &c->groups.items[c->group];
	hi_node from = c->next;

	if (c->group + 1 >= c->groups.count || g->node != HI_NODE_NONE ||
	    g->region != region)
		return;
	append_outside(c, g);
	c->group++;
	index_sparse(c, from, c->next);
}

static bool has_group(const struct split *c, hi_node end)
{
	const struct group *g = &c->groups.items[c->group];

	return c->group + 1 < c->groups.count && g->node < end;
}

static void merge_region(struct split *c, const struct hi_lookup_region *r, hi_node first,
			 hi_node end)
{
	hi_node from = c->next, id = first;

	if (!has_group(c, end)) {
		copy_region(c, r, first, end);
		copy_run(c, first, end);
		return;
	}
	while (has_group(c, end) && !c->no_memory) {
		const struct group *g = &c->groups.items[c->group++];

		copy_run(c, id, g->node);
		append_block(c, g);
		id = g->node + 1;
	}
	copy_run(c, id, end);
	if (c->no_memory)
		return;
	if (end - first == 1 || r->shift > DENSE_SHIFT)
		index_sparse(c, from, c->next);
	else
		index_region(c, from, c->next, r->start, r->end,
			     r->shift < SUBOBJECT_SHIFT ? r->shift : SUBOBJECT_SHIFT);
}

static bool merge_all_regions(struct split *c)
{
	const struct hi_objects *o = c->old;
	hi_node first = first_object_of_region(o, 0);

	for (uint32_t r = 0; r < o->n_regions && !c->no_memory; r++) {
		hi_node end = first_object_of_region(o, r + 1);

		merge_outside(c, r);
		merge_region(c, &o->regions[r], first, end);
		first = end;
	}
	if (!c->no_memory)
		merge_outside(c, o->n_regions);
	return !c->no_memory;
}

static enum hi_status tables_alloc(struct split *c, struct hi_error *err)
{
	struct hi_objects *t = c->t = hi_calloc(1, sizeof(*t));

	if (!t || !(t->priv = hi_calloc(1, sizeof(*t->priv))))
		return hi_fail_memory(err, "object table");
	if (c->count >= HI_NODE_NONE)
		return hi_fail(err, HI_LIMIT, 0, "object table: more than 4 G objects");
	t->count = (hi_node)c->count;
	t->address_low = hi_pages_alloc(c->count * 4);
	t->usable_low = hi_pages_alloc(c->count * 4);
	t->type = hi_pages_alloc(c->count * 4);
	t->flags = hi_pages_alloc(c->count);
	c->pools.items = hi_calloc(c->n_pools ? c->n_pools : 1, sizeof(*c->pools.items));
	c->pools.is_remainder = hi_calloc(c->count / 64 + 1, 8);
	c->pools.is_slot = hi_calloc(c->count / 64 + 1, 8);
	if (!t->address_low || !t->usable_low || !t->type || !t->flags ||
	    !c->pools.items || !c->pools.is_remainder || !c->pools.is_slot)
		return hi_fail_memory(err, "object table");
	memcpy(t->overhead, c->old->overhead, sizeof(t->overhead));
	return HI_OK;
}

static enum hi_status finish_object_table(struct split *c, struct hi_error *err)
{
	struct hi_objects *t = c->t;

	if (!merge_all_regions(c) ||
	    !hi_vector_push(&t->priv->windows,
			    ((struct hi_address_window){UINT64_MAX, t->count})))
		return hi_fail_memory(err, "object table");
	t->windows = t->priv->windows.items;
	t->n_windows = (uint32_t)t->priv->windows.count - 1;
	t->regions = t->priv->regions = hi_take(c->regions.items);
	t->priv->region_starts = hi_take(c->starts.items);
	t->n_regions = (uint32_t)c->regions.count;
	if (t->count) {
		t->low = hi_objects_address(t, 0);
		t->high = hi_objects_address(t, t->count - 1) +
			  at_least_one(hi_objects_usable(t, t->count - 1));
	}
	return HI_OK;
}

enum hi_status hi_objects_split(const struct hi_objects *old,
				const struct hi_subobject *subobjects, size_t n,
				struct hi_objects **ret, struct hi_pools *pools_ret,
				struct hi_error *err)
{
	struct split c = {.old = old,
			  .subobjects = subobjects,
			  .n = n,
			  .cut = n > MANY ? CUT_OF_MANY : CUT};
	enum hi_status status;

	if (old->overhead[WHOLE_CLASS])
		return hi_fail(err, HI_BAD_DATA, 0,
			       "object table: overhead class 3 is not free");
	status = group_subobjects(&c, err);
	if (status == HI_OK) {
		count_nodes(&c);
		status = tables_alloc(&c, err);
	}
	if (status == HI_OK)
		status = finish_object_table(&c, err);
	hi_vector_free(&c.groups);
	hi_vector_free(&c.regions);
	hi_vector_free(&c.starts);
	if (status != HI_OK) {
		hi_objects_destroy(c.t);
		hi_pools_free(&c.pools);
		return status;
	}
	*ret = c.t;
	*pools_ret = c.pools;
	return HI_OK;
}
