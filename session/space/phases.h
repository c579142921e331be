/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases of a space profile: what was allocated between one mark and the next, and which
 * of them count. Contexts are told apart by phase: a *part* is a context in one phase.
 */
#ifndef HI_SESSION_SPACE_PHASES_H
#define HI_SESSION_SPACE_PHASES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/table.h"
#include "base/vector.h"

struct hi_space_phase {
	uint64_t from_ns;  /* of the mark, since the recording began: for objects born
			    * after it */
	const char *label; /* of the mark; hostile */
	bool is_wanted;
};
struct hi_space_part {
	uint32_t context, phase;
};

/* Zeros are no phases at all. */
struct hi_space_phases {
	/* Phases after the first mark of the one text count, up to the next mark of the
	 * other. NULL: from the beginning, to the end. Borrowed. */
	const char *from_mark, *to_mark;
	bool has_from, has_to;			       /* they have come */
	struct HI_VECTOR(struct hi_space_phase) items; /* [0] is before the first mark */
	struct HI_VECTOR(struct hi_space_part) parts;
	struct hi_table part_of;
	struct hi_arena labels;
};

/* The phase before the first mark. False: out of memory. */
bool hi_space_phases_begin(struct hi_space_phases *phases);
/* A mark, in the order of time: a phase begins. */
bool hi_space_phases_add(struct hi_space_phases *phases, uint64_t time_ns,
			 const char *text);
/* The phase that a time belongs to. */
uint32_t hi_space_phase_at(const struct hi_space_phases *phases, uint64_t time_ns);
/* The number of a context in a phase. */
bool hi_space_part_number(struct hi_space_phases *phases, struct hi_space_part part,
			  uint32_t *ret);
/* HI_NOT_FOUND: there is no such mark; the error lists those that there are. */
enum hi_status hi_space_phases_check(const struct hi_space_phases *phases,
				     struct hi_error *err);
void hi_space_phases_free(struct hi_space_phases *phases);

#endif
