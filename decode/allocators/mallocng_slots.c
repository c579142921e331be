/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups as slabs, without those slots that hold a group themselves; and what the header
 * of a live slot says. The header ends where the user's address begins, which may lie
 * inside of the slot: -4 wide offset, -3 slot number and reserved bytes, -2 offset from
 * the group's storage in units. The sources: enframe(), get_nominal_size() in meta.h.
 */
#include <string.h>

#include "decode/allocators/mallocng.h"
#include "decode/allocators/window.h"

enum {
	MOVED = 7 << 5,	    /* at the slot's start: the user's address is further on */
	RESERVED_LONG = 5,  /* how many bytes are left is in the last 4 */
	LARGE_SLOT = 16384, /* its two ends are read one by one */
};

/* ---- slabs ---- */

static enum hi_block_state state_of_slot(const struct hi_mallocng_group *g, unsigned i)
{
	if (g->avail >> i & 1)
		return HI_BLOCK_FREE_SLOT;
	/* Freed, and given out again once no other slot of the group is available; or
	 * never given out at all. */
	if (g->freed >> i & 1)
		return i > g->active ? HI_BLOCK_FREE_UNUSED : HI_BLOCK_FREE_SLOT;
	return HI_BLOCK_LIVE;
}

/* Slots [from, to) of group number `index`. */
static enum hi_status add_group_piece(struct hi_mallocng *m, size_t index, unsigned from,
				      unsigned to, struct hi_error *err)
{
	const struct hi_mallocng_group *g = &m->groups.items[index];
	uint64_t storage = hi_mallocng_storage(m, g);
	struct hi_slab slab = {
		.start = from == 0 ? g->start : storage + from * g->stride,
		.end = to > g->last ? g->end : storage + to * g->stride,
		.first = storage + from * g->stride,
		.size = g->stride,
		.usable = g->stride - m->layout->in_band,
		.context = index,
		.n = to - from,
		.align_shift = 4,
	};
	uint32_t id;
	enum hi_status status = hi_slabs_add(&m->slabs, &slab, HI_BLOCK_LIVE, &id, err);

	for (unsigned i = from; i < to && status == HI_OK; i++)
		hi_slabs_set_state(&m->slabs, id, i - from, state_of_slot(g, i));
	return status;
}

static enum hi_status add_group_pieces(struct hi_mallocng *m, size_t index,
				       struct hi_error *err)
{
	const struct hi_mallocng_group *g = &m->groups.items[index];
	enum hi_status status = HI_OK;
	unsigned i = 0;

	while (i <= g->last && status == HI_OK) {
		unsigned from = i;

		while (i <= g->last && !(g->nested >> i & 1))
			i++;
		if (i > from)
			status = add_group_piece(m, index, from, i, err);
		i++;
	}
	return status;
}

static enum hi_status add_meta_areas(struct hi_mallocng *m, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < m->areas.count && status == HI_OK; i++) {
		uint64_t area = m->areas.items[i];
		struct hi_slab slab = {.start = area,
				       .end = area + HI_MALLOCNG_PAGE,
				       .first = area,
				       .size = HI_MALLOCNG_PAGE,
				       .usable = HI_MALLOCNG_PAGE,
				       .n = 1,
				       .align_shift = 4};

		status = hi_slabs_add(&m->slabs, &slab, HI_BLOCK_METADATA, NULL, err);
	}
	return status;
}

enum hi_status hi_mallocng_add_slabs(struct hi_mallocng *m, struct hi_error *err)
{
	enum hi_status status = add_meta_areas(m, err);

	for (size_t i = 0; i < m->groups.count && status == HI_OK; i++)
		status = add_group_pieces(m, i, err);
	return status;
}

/* ---- one live slot ---- */

struct slot_view {
	const struct hi_mallocng *m;
	const struct hi_mallocng_group *group;
	struct hi_window *window;
	uint64_t start, end; /* end: of what a user may get; one byte of header follows */
	unsigned index;
};

static bool read_slot(const struct slot_view *s, uint64_t addr, void *buf, size_t size)
{
	const void *p;

	if (s->group->stride > LARGE_SLOT)
		return hi_memory_read(s->m->memory, addr, buf, size, NULL) == HI_OK;
	p = hi_window_at(s->window, addr, size);
	if (p)
		memcpy(buf, p, size);
	return p;
}

/* Whether the header in front of p is that of this slot. */
static bool is_slot_header(const struct slot_view *s, uint64_t p, const uint8_t h[8])
{
	uint64_t units = (p - hi_mallocng_storage(s->m, s->group)) / s->m->layout->unit;
	uint16_t narrow;
	uint32_t wide;

	memcpy(&narrow, h + 6, 2);
	memcpy(&wide, h, 4);
	if ((h[5] & 31) != s->index || h[5] >> 5 > RESERVED_LONG)
		return false;
	/* Before a slot that begins here, -4 is the last byte of the slot before. */
	return h[4] ? narrow == 0 && wide > UINT16_MAX && wide == units : narrow == units;
}

/* An alignment of 1 MiB and more: the distance is known modulo 2^16 units only. */
static bool find_far_start(const struct slot_view *s, uint64_t *p, uint8_t h[8])
{
	uint64_t step = (UINT16_MAX + 1ull) * s->m->layout->unit;

	for (uint64_t at = *p + step; at < s->end; at += step)
		if (read_slot(s, at - 8, h, 8) && is_slot_header(s, at, h)) {
			*p = at;
			return true;
		}
	return false;
}

/* The user's address; h is its header. */
static bool find_user_start(const struct slot_view *s, uint64_t *ret, uint8_t h[8])
{
	uint64_t p = s->start;
	uint16_t units;

	if (!read_slot(s, p - 8, h, 8))
		return false;
	if (h[5] == MOVED) {
		memcpy(&units, h + 6, 2);
		p += (uint64_t)units * s->m->layout->unit;
		if (p >= s->end || !read_slot(s, p - 8, h, 8))
			return false;
	}
	*ret = p;
	return is_slot_header(s, p, h) ||
	       (p > s->start && s->group->stride > UINT16_MAX &&
		find_far_start(s, ret, h));
}

/* Bytes that were asked for, by the reserved ones at the slot's end. */
static bool find_requested(const struct slot_view *s, uint64_t p, const uint8_t h[8],
			   uint64_t *ret)
{
	uint8_t tail[6], byte = 0; /* end - 5 ... end */
	uint32_t reserved = h[5] >> 5;

	if (!read_slot(s, s->end - 5, tail, sizeof(tail)) || tail[5])
		return false;
	if (reserved == RESERVED_LONG) {
		memcpy(&reserved, tail + 1, 4);
		if (reserved < RESERVED_LONG || tail[0])
			return false;
	}
	if (reserved > s->end - p ||
	    (reserved && (!read_slot(s, s->end - reserved, &byte, 1) || byte)))
		return false;
	*ret = s->end - reserved - p;
	return true;
}

static void note_slot(struct hi_mallocng *m, const struct slot_view *s, const char *what)
{
	pthread_mutex_lock(&m->slabs.lock);
	hi_allocator_note_damage(&m->base, s->start,
				 "mallocng: slot %u of group 0x%lx: %s", s->index,
				 s->group->mem, what);
	pthread_mutex_unlock(&m->slabs.lock);
}

static void add_slack(struct hi_mallocng *m, const struct hi_mallocng_group *g,
		      uint64_t bytes)
{
	if (g->sizeclass < HI_MALLOCNG_CLASSES && m->class_at[g->sizeclass] < UINT8_MAX)
		__atomic_fetch_add(&m->classes[m->class_at[g->sizeclass]].slack, bytes,
				   __ATOMIC_RELAXED);
}

/* A slot whose header is wrong stays a block, all of the slot: the masks say so. */
void hi_mallocng_describe(const struct hi_slabs *slabs, const struct hi_slab *slab,
			  uint32_t slot, struct hi_window *window, struct hi_block *block)
{
	struct hi_mallocng *m = (struct hi_mallocng *)slabs->allocator;
	const struct hi_mallocng_group *g = &m->groups.items[slab->context];
	struct slot_view s = {.m = m,
			      .group = g,
			      .window = window,
			      .start = block->addr,
			      .end = block->addr + g->stride - m->layout->in_band};
	uint64_t user = block->addr, size = g->stride - m->layout->in_band;
	uint8_t h[8] = {};

	(void)slot;
	s.index = (unsigned)((s.start - hi_mallocng_storage(m, g)) / g->stride);
	if (!find_user_start(&s, &user, h)) {
		user = s.start;
		note_slot(m, &s,
			  h[5] == UINT8_MAX ? "in use, but its header is of a freed slot"
					    : "in use, but its header is not its own");
	} else if (!find_requested(&s, user, h, &size)) {
		size = s.end - user;
		note_slot(m, &s, "in use, but bytes behind it are overwritten");
	}
	add_slack(m, g, g->stride - size);
	block->addr = user;
	block->usable = block->cost = size;
}
