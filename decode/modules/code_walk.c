/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/code_walk.h"

enum { DIES_MAX = 1 << 26 }; /* of one unit */

void hi_code_walk_enter(struct hi_code_walk *walk, const struct hi_code_step *step)
{
	struct hi_code_step *level = &walk->levels[walk->depth];
	Dwarf_Die die = step->die;
	Dwarf_Off at;

	if (walk->depth == HI_CODE_DEPTH || dwarf_child(&die, &level->die) != 0)
		return;
	at = dwarf_dieoffset(&level->die);
	if (at <= dwarf_dieoffset(&die) || at >= step->end)
		return;
	level->end = step->end;
	level->owner = step->owner;
	walk->depth++;
}

void hi_code_walk_begin(struct hi_code_walk *walk, const Dwarf_Die *unit)
{
	struct hi_code_step top = {.die = *unit, .end = UINT64_MAX};

	walk->depth = walk->visited = 0;
	hi_code_walk_enter(walk, &top);
}

bool hi_code_walk_next(struct hi_code_walk *walk, struct hi_code_step *ret)
{
	struct hi_code_step *level;
	Dwarf_Off next;

	if (walk->depth == 0 || ++walk->visited > DIES_MAX)
		return false;
	level = &walk->levels[walk->depth - 1];
	*ret = *level;
	next = dwarf_siblingof(&ret->die, &level->die) == 0 ? dwarf_dieoffset(&level->die)
							    : UINT64_MAX;
	/* A level ends where the DIE above it ends, and never goes back. */
	if (next <= dwarf_dieoffset(&ret->die) || next >= level->end)
		walk->depth--;
	else
		ret->end = next;
	return true;
}
