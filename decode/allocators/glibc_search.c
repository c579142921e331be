/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * malloc's variables by what they contain, for a static program without symbols. An empty
 * bin is two pointers to itself: 16 bytes before the first of them. Where a few words are
 * such pointers, and the ring of arenas leads back, main_arena may be; mp_ is where its
 * limits and counters agree. They are candidates, which glibc_probe.c checks.
 */
#include <stdio.h>
#include <string.h>

#include "decode/allocators/glibc.h"

/* The data of a program, and pairs that are tried in it: bounds of the work. */
enum { RANGES_MAX = 32, TRIES_MAX = 1 << 20, RING_MAX = 4096 };

struct search {
	const struct hi_image *image;
	struct hi_window data, arenas;
	struct hi_section_range ranges[RANGES_MAX];
	size_t n_ranges;
	unsigned tries;
	const struct hi_glibc_layout *state; /* the arena that was found is of its kind */
};

static bool is_self_linked(struct search *s, uint64_t at)
{
	uint64_t fd, bk;

	return hi_window_u64(&s->data, at, &fd) && fd == at - 16 &&
	       hi_window_u64(&s->data, at + 8, &bk) && bk == fd;
}

static bool does_ring_close(struct search *s, const struct hi_glibc_layout *l,
			    uint64_t arena)
{
	uint64_t at = arena;

	for (unsigned n = 0; n < RING_MAX; n++) {
		if (!hi_window_u64(&s->arenas, at + l->next, &at) || at % 8)
			return false;
		if (at == arena)
			return true;
	}
	return false;
}

/* Are most bins empty, or have two links? */
static bool has_bins(struct search *s, const struct hi_glibc_layout *l, uint64_t arena)
{
	unsigned n_empty = 0;

	for (unsigned bin = 0; bin < HI_GLIBC_BINS; bin++) {
		uint64_t at = arena + l->bins + bin * 16ull, fd, bk;

		if (is_self_linked(s, at))
			n_empty++;
		else if (!hi_window_u64(&s->data, at, &fd) || !fd ||
			 fd % HI_CHUNK_ALIGN || !hi_window_u64(&s->data, at + 8, &bk) ||
			 !bk || bk % HI_CHUNK_ALIGN)
			return false;
	}
	return n_empty > 0;
}

/* The arena one of whose bins is at `at`; 0: none. */
static uint64_t find_arena_of_bin(struct search *s, uint64_t at)
{
	for (size_t i = 0; i < hi_glibc_n_layouts; i++) {
		const struct hi_glibc_layout *l = &hi_glibc_layouts[i];

		if (i && l->bins == l[-1].bins && l->next == l[-1].next)
			continue;
		for (unsigned bin = 0; bin < HI_GLIBC_BINS; bin++) {
			uint64_t arena = at - l->bins - bin * 16ull, top;

			if (++s->tries > TRIES_MAX)
				return 0;
			if (hi_window_u64(&s->data, arena + l->top, &top) && top &&
			    top % HI_CHUNK_ALIGN == 0 && does_ring_close(s, l, arena) &&
			    has_bins(s, l, arena)) {
				s->state = l;
				return arena;
			}
		}
	}
	return 0;
}

static uint64_t find_main_arena(struct search *s)
{
	uint64_t found = 0, held, end;

	for (size_t i = 0; i < s->n_ranges; i++)
		for (uint64_t at = s->ranges[i].start;
		     hi_image_next_held(s->image, at, s->ranges[i].end, &held, &end);
		     at = end)
			for (at = (held + 7) & ~7ull; at + 16 <= end; at += 8) {
				if (!is_self_linked(s, at))
					continue;
				found = find_arena_of_bin(s, at);
				if (found || s->tries > TRIES_MAX)
					return found;
				/* The others of a run are bins of the same arena. */
				while (at + 32 <= end && is_self_linked(s, at + 16))
					at += 16;
			}
	return 0;
}

/* ---- mp_ ---- */

static uint64_t par_field(const uint8_t *par, unsigned offset, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, par + offset, width);
	return value;
}

static bool is_par(struct search *s, const struct hi_glibc_layout *l, uint64_t at)
{
	const uint8_t *par = hi_window_at(&s->data, at, l->par_size);
	uint64_t sbrk_base, n_mmaps, mmapped, most;

	if (!par || !par_field(par, l->tcache_bins, 8) ||
	    par_field(par, l->tcache_max_bytes, 8) < 24 ||
	    !hi_glibc_limits_agree(l, par) ||
	    par_field(par, l->tcache_count, 8) > UINT16_MAX ||
	    par_field(par, l->no_dyn_threshold, 4) > 1)
		return false;
	n_mmaps = par_field(par, l->n_mmaps, 4);
	most = par_field(par, l->n_mmaps + 4u, 4);
	mmapped = par_field(par, l->mmapped_mem, 8);
	sbrk_base = par_field(par, l->sbrk_base, 8);
	if (n_mmaps > INT32_MAX || (mmapped % HI_GLIBC_PAGE && !l->mmapped_uncounted) ||
	    (!l->mmapped_uncounted && !n_mmaps != !mmapped) || n_mmaps > most ||
	    most > INT32_MAX || !most)
		return false;
	/* Without a heap by brk() only the values that nothing has changed are told from
	 * others. */
	return sbrk_base ? hi_image_mapping_at(s->image, sbrk_base) != NULL
			 : par_field(par, l->tcache_bins, 8) == 64 &&
				   par_field(par, l->tcache_max_bytes, 8) == 1032;
}

/* Fields of a later release lie where those of an earlier one would be 8 bytes on: only
 * the layouts that the arena fits. */
static bool is_par_of_any_layout(struct search *s, uint64_t at)
{
	for (size_t i = 0; i < hi_glibc_n_layouts; i++)
		if (hi_glibc_layouts[i].bins == s->state->bins &&
		    is_par(s, &hi_glibc_layouts[i], at))
			return true;
	return false;
}

static uint64_t find_par(struct search *s)
{
	uint64_t held, end;

	for (size_t i = 0; i < s->n_ranges; i++)
		for (uint64_t at = s->ranges[i].start;
		     hi_image_next_held(s->image, at, s->ranges[i].end, &held, &end);
		     at = end)
			for (at = (held + 7) & ~7ull; at + 8 <= end; at += 8)
				if (is_par_of_any_layout(s, at))
					return at;
	return 0;
}

enum hi_status hi_glibc_search(const struct hi_image *image, struct hi_module *module,
			       struct hi_glibc_where *ret, struct hi_error *err)
{
	struct search s = {.image = image,
			   .data.memory = image->memory,
			   .arenas.memory = image->memory};
	bool is_out_of_memory;

	s.n_ranges = hi_module_data(module, s.ranges, RANGES_MAX);
	ret->main_arena = find_main_arena(&s);
	ret->mp = ret->main_arena ? find_par(&s) : 0;
	is_out_of_memory = s.data.out_of_memory || s.arenas.out_of_memory;
	hi_window_free(&s.data);
	hi_window_free(&s.arenas);
	if (is_out_of_memory)
		return hi_fail_memory(err, "window");
	if (!ret->mp)
		return hi_fail(err, HI_NOT_FOUND, 0, "no arena of glibc in %s",
			       module->name);
	ret->main_arena_size = ret->mp_size = 0;
	snprintf(ret->found_by, sizeof(ret->found_by), "what they contain");
	return HI_OK;
}
