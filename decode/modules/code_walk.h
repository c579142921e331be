/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk over the DIEs of a unit in their order, without recursion. It goes forward only,
 * whatever siblings say, so that each DIE is met once at most. For decode/ only; the
 * caller holds hi_modules_lock().
 *
 *	hi_code_walk_begin(&walk, &unit);
 *	while (hi_code_walk_next(&walk, &step))
 *		if (has_what_is_wanted_below(&step.die))
 *			hi_code_walk_enter(&walk, &step);
 */
#ifndef HI_DECODE_MODULES_CODE_WALK_H
#define HI_DECODE_MODULES_CODE_WALK_H

#include "decode/modules/dwfl.h"

enum { HI_CODE_DEPTH = 256 }; /* nesting of DIEs that is followed */

struct hi_code_step {
	Dwarf_Die die;
	/* All below the DIE is below it, UINT64_MAX at the end of the unit. For the last
	 * DIE of several it is where the one above them ends. */
	Dwarf_Off end;
	/* Given on to what is below the DIE; the caller may set it before it enters. */
	uint32_t owner;
};

struct hi_code_walk {
	struct hi_code_step levels[HI_CODE_DEPTH]; /* die: that comes next */
	size_t depth, visited;
};

/* Begins with the first DIE below that of the unit; its owner is 0. */
void hi_code_walk_begin(struct hi_code_walk *walk, const Dwarf_Die *unit);
/* The next DIE; false: there is none, or there were too many. */
bool hi_code_walk_next(struct hi_code_walk *walk, struct hi_code_step *ret);
/* Continues with the children of this DIE. */
void hi_code_walk_enter(struct hi_code_walk *walk, const struct hi_code_step *step);

#endif
