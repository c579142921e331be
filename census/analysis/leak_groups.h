/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaked objects without a type, grouped by size and by which words are pointers, with
 * what they may be. A group is no type: it lists types that look the same in memory.
 */
#ifndef HI_CENSUS_ANALYSIS_LEAK_GROUPS_H
#define HI_CENSUS_ANALYSIS_LEAK_GROUPS_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/graph/objects.h"

enum { HI_LEAK_FITS = 3 };

struct hi_leak_group {
	uint64_t usable;   /* bytes of each block */
	uint32_t pointers; /* words, of the first 64, that are pointers in some of them */
	bool text;	   /* the blocks begin with text */
	/* A type of the graph whose live objects look the same in memory, and how many
	 * there are; 0: none, or several. */
	uint32_t like;
	uint64_t n_like;
	/* Records of the program that fit, the likeliest first; hostile. */
	const char *fits[HI_LEAK_FITS];
	uint32_t n_fits;
};

struct hi_leak_groups {
	struct hi_leak_group *items;
	size_t count;
	hi_node *nodes; /* ascending; each is in the group items[group_of[i] - 1] */
	uint32_t *group_of;
	size_t n_nodes;
	struct hi_arena arena; /* strings */
};

/* The group of a node, from 1 on; 0: it is in none. groups may be NULL. */
uint32_t hi_leak_groups_find(const struct hi_leak_groups *groups, hi_node node);
/* Its group, by that number; NULL for 0. */
const struct hi_leak_group *hi_leak_groups_get(const struct hi_leak_groups *groups,
					       uint32_t group);
/* Frees the groups; NULL is fine. */
void hi_leak_groups_destroy(struct hi_leak_groups *groups);
HI_DEFINE_GUARD(struct hi_leak_groups *, hi_leak_groups_destroy)

#endif
