/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metas: areas of 4096 bytes in a chain, each with the secret and a fixed number of
 * metas. A meta whose mem is 0 is in the ring of free ones. What they say of groups is
 * checked against the groups themselves.
 */
#include <string.h>

#include "base/search.h"
#include "decode/allocators/mallocng.h"

static uint64_t load_meta_word(const uint8_t *bytes, unsigned offset, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, bytes + offset, width);
	return value;
}

static uint64_t bits_of_meta(struct hi_mallocng_bits bits, uint64_t word)
{
	return word >> bits.shift & (~0ull >> (64 - bits.width));
}

static bool read_context(const struct hi_mallocng *m, uint16_t field, uint64_t *ret)
{
	return hi_memory_read_u64(m->memory, m->where.context + field, ret, NULL) ==
	       HI_OK;
}

static enum hi_status fail_check(const struct hi_mallocng *m, uint64_t addr,
				 const char *what, struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, addr, "mallocng %s: %s (at 0x%lx)",
		       m->where.version, what, addr);
}

/* ---- one meta ---- */

/* What a meta may say, whatever memory it is about. */
static bool is_meta_sound(const struct hi_mallocng *m, const struct hi_mallocng_group *g,
			  uint64_t pages)
{
	if (g->mem % m->layout->unit || g->avail & g->freed ||
	    (g->avail | g->freed) & ~(uint32_t)((2ull << g->last) - 1) ||
	    pages >= 1ull << 36)
		return false;
	if (g->sizeclass >= HI_MALLOCNG_CLASSES)
		return g->sizeclass == HI_MALLOCNG_OWN_MAPPING && g->last == 0 && pages;
	if (!pages)
		return true;
	return g->mem % HI_MALLOCNG_PAGE == 0 &&
	       (g->last == 0 || (g->last + 1ull) * g->stride + m->layout->group_storage <=
					pages * HI_MALLOCNG_PAGE);
}

static bool is_group_mapped(const struct hi_mallocng *m,
			    const struct hi_mallocng_group *g)
{
	const struct hi_mapping *at = hi_image_mapping_at(m->image, g->mem), *last = at;

	if (at && g->end > at->end)
		last = hi_image_mapping_at(m->image, g->end - 1);
	return g->end > g->mem && at && at->prot & HI_PROT_WRITE && last &&
	       last->prot & HI_PROT_WRITE;
}

/* The group's header: its meta, and how many of its slots have been used. */
static bool read_group_header(const struct hi_mallocng *m, struct hi_mallocng_group *g)
{
	const struct hi_mallocng_layout *l = m->layout;
	uint8_t header[64];
	size_t size = l->group_storage;

	if (size > sizeof(header) || l->group_meta + 8u > size ||
	    l->group_active + 1u > size ||
	    hi_memory_read(m->memory, g->mem, header, size, NULL) != HI_OK)
		return false;
	g->active = header[l->group_active] & 31;
	return load_meta_word(header, l->group_meta, 8) == g->meta &&
	       g->active <= g->last && !(g->avail & ~(uint32_t)((2ull << g->active) - 1));
}

/* A meta in a ring: both neighbours point at it. */
static bool is_ring_closed(const struct hi_mallocng *m, const uint8_t *bytes,
			   uint64_t meta)
{
	const struct hi_mallocng_layout *l = m->layout;
	uint64_t next = load_meta_word(bytes, l->meta_next, 8);
	uint64_t prev = load_meta_word(bytes, l->meta_prev, 8), back, forth;

	if (!next && !prev)
		return true;
	return hi_memory_read_u64(m->memory, next + l->meta_prev, &back, NULL) == HI_OK &&
	       hi_memory_read_u64(m->memory, prev + l->meta_next, &forth, NULL) ==
		       HI_OK &&
	       back == meta && forth == meta;
}

static void note_wrong_group(struct hi_mallocng *m, const struct hi_mallocng_group *g,
			     const char *what)
{
	m->n_wrong++;
	hi_allocator_note_damage(&m->base, g->mem, "mallocng: group at 0x%lx: %s", g->mem,
				 what);
}

static void load_group(const struct hi_mallocng *m, const uint8_t *bytes,
		       struct hi_mallocng_group *g, uint64_t *pages_ret)
{
	const struct hi_mallocng_layout *l = m->layout;
	uint64_t bits = load_meta_word(bytes, l->meta_bits, 8);
	uint64_t pages = bits_of_meta(l->maplen, bits);

	g->mem = load_meta_word(bytes, l->meta_mem, 8);
	g->avail = (uint32_t)load_meta_word(bytes, l->meta_avail, 4);
	g->freed = (uint32_t)load_meta_word(bytes, l->meta_freed, 4);
	g->last = (uint8_t)bits_of_meta(l->last_idx, bits);
	g->sizeclass = (uint8_t)bits_of_meta(l->sizeclass, bits);
	g->is_freeable = bits_of_meta(l->freeable, bits);
	g->is_mapped = pages > 0;
	if (pages && g->last == 0)
		g->stride = pages * HI_MALLOCNG_PAGE - l->group_storage;
	else if (g->sizeclass < HI_MALLOCNG_CLASSES)
		g->stride = (uint64_t)l->classes[g->sizeclass] * l->unit;
	g->start = g->mem;
	g->end = pages ? g->mem + pages * HI_MALLOCNG_PAGE
		       : g->mem + l->group_storage + (g->last + 1ull) * g->stride;
	*pages_ret = pages;
}

/* bytes of the meta at addr. One that makes no sense is left out, one whose group is
 * damaged is kept: metas lie apart from the heap, behind a guard page. */
static enum hi_status add_meta_group(struct hi_mallocng *m, const uint8_t *bytes,
				     uint64_t addr, struct hi_error *err)
{
	struct hi_mallocng_group g = {.meta = addr};
	uint64_t pages;

	load_group(m, bytes, &g, &pages);
	if (!is_meta_sound(m, &g, pages) || !is_group_mapped(m, &g)) {
		note_wrong_group(m, &g, "its meta makes no sense");
		return HI_OK;
	}
	if (!read_group_header(m, &g)) {
		note_wrong_group(m, &g, "its header does not agree with its meta");
		g.active = g.last;
	} else if (!is_ring_closed(m, bytes, addr)) {
		note_wrong_group(m, &g, "its ring does not close");
	}
	if (!hi_vector_push(&m->groups, g))
		return hi_fail_memory(err, "groups");
	return HI_OK;
}

/* ---- areas ---- */

/* Counts the meta slots ever used in an area: all of them, except in the last area. */
static enum hi_status count_metas(const struct hi_mallocng *m, uint64_t area,
				  bool is_tail, uint32_t n_slots, uint32_t *ret,
				  struct hi_error *err)
{
	const struct hi_mallocng_layout *l = m->layout;
	uint64_t unused, next;

	*ret = n_slots;
	if (!is_tail)
		return HI_OK;
	if (!read_context(m, l->avail_meta_count, &unused) ||
	    !read_context(m, l->avail_meta, &next) || unused > n_slots ||
	    next != area + l->area_slots + (n_slots - unused) * l->meta_size)
		return fail_check(m, m->where.context + l->avail_meta,
				  "the next unused meta is not where it should be", err);
	*ret = n_slots - (uint32_t)unused;
	return HI_OK;
}

static enum hi_status read_area(struct hi_mallocng *m, uint64_t area, bool is_tail,
				uint64_t *next_ret, struct hi_error *err)
{
	const struct hi_mallocng_layout *l = m->layout;
	uint32_t n_slots = (HI_MALLOCNG_PAGE - l->area_slots) / l->meta_size, n = 0;
	uint8_t bytes[HI_MALLOCNG_PAGE];
	enum hi_status status;

	if (area % HI_MALLOCNG_PAGE ||
	    hi_memory_read(m->memory, area, bytes, sizeof(bytes), NULL) != HI_OK ||
	    load_meta_word(bytes, l->area_check, 8) != m->secret)
		return fail_check(m, area, "an area of metas has another secret", err);
	if (load_meta_word(bytes, l->area_nslots, 4) != n_slots)
		return fail_check(m, area, "an area has another number of metas", err);
	*next_ret = load_meta_word(bytes, l->area_next, 8);
	status = count_metas(m, area, is_tail, n_slots, &n, err);
	for (uint32_t i = 0; i < n && status == HI_OK; i++) {
		unsigned at = l->area_slots + i * l->meta_size;

		m->n_metas++;
		if (load_meta_word(bytes, at + l->meta_mem, 8) == 0)
			m->n_free++;
		else
			status = add_meta_group(m, bytes + at, area + at, err);
	}
	return status;
}

static enum hi_status read_areas(struct hi_mallocng *m, struct hi_error *err)
{
	uint64_t max = hi_image_held_bytes(m->image) / HI_MALLOCNG_PAGE + 1;
	enum hi_status status = HI_OK;
	uint64_t area = 0, tail = 0;

	if (!read_context(m, m->layout->meta_area_head, &area) ||
	    !read_context(m, m->layout->meta_area_tail, &tail))
		return fail_check(m, m->where.context, "its areas are not readable", err);
	while (area && status == HI_OK) {
		uint64_t at = area;

		if (m->areas.count >= max)
			return fail_check(m, at, "the chain of areas does not end", err);
		if (!hi_vector_push(&m->areas, at))
			return hi_fail_memory(err, "areas");
		status = read_area(m, at, at == tail, &area, err);
		if (status == HI_OK && (at == tail) != (area == 0))
			return fail_check(m, at, "the last area is not the end", err);
	}
	return status;
}

/* ---- rings ---- */

static enum hi_status check_free_ring(const struct hi_mallocng *m, struct hi_error *err)
{
	uint64_t head = 0, at;
	size_t n = 0;

	if (!read_context(m, m->layout->free_meta_head, &head))
		return fail_check(m, m->where.context, "it is not readable", err);
	at = head;
	while (at) {
		uint64_t next, mem;

		if (n++ > m->n_free ||
		    hi_memory_read_u64(m->memory, at + m->layout->meta_next, &next,
				       NULL) != HI_OK ||
		    hi_memory_read_u64(m->memory, at + m->layout->meta_mem, &mem, NULL) !=
			    HI_OK ||
		    mem)
			return fail_check(m, at, "the ring of free metas is torn", err);
		if (next == head)
			break;
		at = next;
	}
	/* One that is taken out and not yet in use: by the thread that has the lock. */
	if (n + 1 < m->n_free || n > m->n_free)
		return fail_check(m, head, "metas are neither free nor in use", err);
	return HI_OK;
}

static enum hi_status check_active(const struct hi_mallocng *m, struct hi_error *err)
{
	const struct hi_mallocng_layout *l = m->layout;

	for (unsigned c = 0; c < HI_MALLOCNG_CLASSES; c++) {
		uint64_t at = 0, bits, mem = 0;

		if (!read_context(m, (uint16_t)(l->active + 8 * c), &at))
			return fail_check(m, m->where.context, "it is not readable", err);
		if (!at)
			continue;
		if (hi_memory_read_u64(m->memory, at + l->meta_bits, &bits, NULL) !=
			    HI_OK ||
		    hi_memory_read_u64(m->memory, at + l->meta_mem, &mem, NULL) !=
			    HI_OK ||
		    !mem || bits_of_meta(l->sizeclass, bits) != c)
			return fail_check(m, at, "a group is active in another class",
					  err);
	}
	return HI_OK;
}

enum hi_status hi_mallocng_read_groups(struct hi_mallocng *m, struct hi_error *err)
{
	enum hi_status status;

	if (!hi_mallocng_is_context(m->memory, m->layout, m->where.context) ||
	    !read_context(m, m->layout->secret, &m->secret))
		return fail_check(m, m->where.context, "no context", err);
	status = read_areas(m, err);
	if (status == HI_OK)
		status = check_free_ring(m, err);
	if (status == HI_OK)
		status = check_active(m, err);
	/* A few: damage, which was noted. Many: not what this layout says. */
	if (status == HI_OK && m->n_wrong > 1 && m->n_wrong > m->groups.count / 8)
		return fail_check(m, m->base.damage ? m->base.damage[0].address : 0,
				  "groups contradict their metas", err);
	return status;
}
