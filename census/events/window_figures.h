/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of a walk that windows saw being allocated, by size and site, and what is
 * known of frees. Internal to window_live.c.
 */
#ifndef HI_CENSUS_EVENTS_WINDOW_FIGURES_H
#define HI_CENSUS_EVENTS_WINDOW_FIGURES_H

#include "base/bits.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/events/window_site.h"

/* A block that a window saw, and the walk. */
struct hi_seen_block {
	hi_node first, last; /* its pieces */
	uint32_t group, window;
	double length_s;
};

/* Blocks of one size, and those of a site among them. */
struct hi_size_class {
	uint64_t live, lost; /* that the walk has found */
	uint32_t n_sites;
	bool is_calm;	    /* all of these sites keep all of their blocks */
	uint64_t old_frees; /* in windows, of blocks at whose address one of these is */
};
struct hi_site_of_size {
	uint64_t live, lost; /* that windows saw */
};

struct hi_window_figures {
	const struct hi_window_blocks *blocks;
	struct hi_table size_of, site_of; /* usable size; index of it, and group */
	struct HI_VECTOR(struct hi_size_class) sizes;
	struct HI_VECTOR(struct hi_site_of_size) of_sizes;
	struct hi_window_site *sites; /* borrowed; rates are filled in */
	struct HI_VECTOR(struct hi_seen_block) seen;
	double seconds; /* of the recording */
	uint64_t n_windows;
	/* One allocation in windows stands for so many, at full speed; 0: there are none. */
	double each;
};

/* blocks, sites, seconds and n_windows are set; what is known of blocks and sites is filled
 * in. False: no memory. In both cases hi_window_figures_free(). */
bool hi_window_figures_read(struct hi_window_figures *figures);
void hi_window_figures_free(struct hi_window_figures *figures);

static inline bool hi_window_is_in(const uint64_t *bits, hi_node i)
{
	return bits && hi_bit(bits, i);
}
static inline uint32_t hi_window_size(const struct hi_objects *objects, hi_node i)
{
	return (uint32_t)hi_objects_usable(objects, i);
}

#endif
