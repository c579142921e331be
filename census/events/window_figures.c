/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/window_figures.h"

#include <stdlib.h>

#include "base/clock.h"

enum { TRUSTED_ONE_IN = 50 };

static bool add_seen_block(struct hi_window_figures *f, hi_node first, hi_node last)
{
	const struct hi_births *b = f->blocks->births;
	uint64_t at = b->start_ns + b->time_ns[first], length_ns = 0;
	struct hi_seen_block block = {
		.first = first, .last = last, .group = f->blocks->groups->of[first]};
	struct hi_window_site *site = &f->sites[block.group];

	block.window = hi_windows_at(f->blocks->windows, at, &length_ns);
	block.length_s = (double)length_ns / HI_NS_PER_S;
	site->seen_live += hi_window_is_in(f->blocks->live_bits, first);
	site->seen_lost += hi_window_is_in(f->blocks->lost_bits, first);
	return !length_ns || hi_vector_push(&f->seen, block);
}

static bool find_seen_blocks(struct hi_window_figures *f)
{
	const struct hi_births *b = f->blocks->births;
	hi_node last;

	for (hi_node i = 0; i < b->n_objects && i < f->blocks->objects->count;
	     i = last + 1) {
		last = i;
		if (!hi_birth_is_known(b, i))
			continue;
		last = hi_births_last_piece(f->blocks->objects, i);
		if (last >= b->n_objects)
			last = i;
		if (!add_seen_block(f, i, last))
			return false;
	}
	return true;
}

static int compare_seen_blocks(const void *a, const void *b)
{
	const struct hi_seen_block *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Blocks of which it is known that they are gone, though no window saw it. */
static void count_unseen_frees(struct hi_window_figures *f)
{
	const struct hi_birth_groups *g = f->blocks->groups;
	struct hi_window_site *sites = f->sites;

	for (uint32_t i = 0; i < g->n_contexts; i++) {
		uint64_t left = f->blocks->outstanding[i] +
				hi_windows_reused(f->blocks->windows, i);

		sites[g->of_context[i]].unseen_frees += left;
	}
	/* These were allocated and not freed in windows. */
	for (uint32_t i = 0; i < g->n_groups; i++)
		if (sites[i].rate.seen > sites[i].unseen_frees)
			sites[i].seen_frees = sites[i].rate.seen - sites[i].unseen_frees;
	for (size_t i = 0; i < f->seen.count; i++) {
		uint64_t *frees = &sites[f->seen.items[i].group].unseen_frees;

		*frees -= *frees > 0;
	}
	for (uint32_t i = 0; i < g->n_groups; i++)
		sites[i].keeps_all = sites[i].unseen_frees * TRUSTED_ONE_IN <=
				     sites[i].seen_live + sites[i].seen_lost;
}

/* ---- sizes ---- */

static bool add_to_size(struct hi_window_figures *f, hi_node i)
{
	uint64_t key = hi_window_size(f->blocks->objects, i), at = f->sizes.count;

	if (!hi_table_get(&f->size_of, key, &at) &&
	    (!hi_vector_push(&f->sizes, (struct hi_size_class){.is_calm = true}) ||
	     !hi_table_put(&f->size_of, key, at)))
		return false;
	f->sizes.items[at].live += hi_window_is_in(f->blocks->live_bits, i);
	f->sizes.items[at].lost += hi_window_is_in(f->blocks->lost_bits, i);
	return true;
}

static bool add_site_of_size(struct hi_window_figures *f,
			     const struct hi_seen_block *block, hi_node i)
{
	uint64_t size = 0, at = f->of_sizes.count;
	struct hi_size_class *class;

	if (!hi_table_get(&f->size_of, hi_window_size(f->blocks->objects, i), &size))
		return true;
	class = &f->sizes.items[size];
	if (!hi_table_get(&f->site_of, size << 32 | block->group, &at)) {
		if (!hi_vector_push(&f->of_sizes, (struct hi_site_of_size){}) ||
		    !hi_table_put(&f->site_of, size << 32 | block->group, at))
			return false;
		class->n_sites++;
		class->is_calm &= f->sites[block->group].keeps_all;
	}
	f->of_sizes.items[at].live += hi_window_is_in(f->blocks->live_bits, i);
	f->of_sizes.items[at].lost += hi_window_is_in(f->blocks->lost_bits, i);
	return true;
}

/* Frees of blocks whose address was given out again. */
static void count_old_frees(struct hi_window_figures *f)
{
	const struct hi_objects *o = f->blocks->objects;
	struct hi_window_frees frees = hi_windows_old_frees(f->blocks->windows);
	uint64_t offset, size;

	for (size_t k = 0; k < frees.n; k++) {
		hi_node first = hi_objects_find(o, frees.addresses[k], &offset);
		hi_node last = first == HI_NODE_NONE ? 0 : hi_births_last_piece(o, first);

		if (first == HI_NODE_NONE || offset)
			continue;
		for (hi_node i = first; i <= last; i++)
			if (hi_table_get(&f->size_of, hi_window_size(o, i), &size))
				f->sizes.items[size].old_frees += frees.each;
	}
}

static bool find_sizes(struct hi_window_figures *f)
{
	const struct hi_window_blocks *b = f->blocks;

	for (hi_node i = 0; i < b->objects->count; i++)
		if ((hi_window_is_in(b->live_bits, i) ||
		     hi_window_is_in(b->lost_bits, i)) &&
		    !add_to_size(f, i))
			return false;
	for (size_t k = 0; k < f->seen.count; k++)
		for (hi_node i = f->seen.items[k].first; i <= f->seen.items[k].last; i++)
			if (!add_site_of_size(f, &f->seen.items[k], i))
				return false;
	count_old_frees(f);
	return true;
}

/* ---- all together ---- */

bool hi_window_figures_read(struct hi_window_figures *f)
{
	if (!find_seen_blocks(f))
		return false;
	if (f->seen.count)
		qsort(f->seen.items, f->seen.count, sizeof(*f->seen.items),
		      compare_seen_blocks);
	count_unseen_frees(f);
	return find_sizes(f);
}

void hi_window_figures_free(struct hi_window_figures *f)
{
	hi_vector_free(&f->seen);
	hi_vector_free(&f->sizes);
	hi_vector_free(&f->of_sizes);
	hi_table_free(&f->size_of);
	hi_table_free(&f->site_of);
}
