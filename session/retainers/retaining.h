/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retainer sets as the command line selects them: what retains, and by which
 * name it is known.
 *
 *	root variables	  always, by their names; words without one are SYSTEM
 *	--retainer TYPE	  objects of the type
 *	TYPE.field	  what that field of such objects leads to
 *	global, frame	  what a global or thread-local variable, or one of a stack
 *			  frame, refers to
 *	auto		  objects of types that hints call retainers; where there are
 *			  none, of record types that retain a lot: a twentieth of the
 *			  live bytes or more, and four times their own
 */
#ifndef HI_SESSION_RETAINERS_RETAINING_H
#define HI_SESSION_RETAINERS_RETAINING_H

#include "base/cleanup.h"
#include "base/interner.h"
#include "census/retainers/retainers.h"
#include "session/census_cache.h"
#include "session/inspection.h"

struct hi_retaining {
	struct hi_interner names;
	uint32_t system, weak; /* of these numbers; weak 0: weak fields do not retain */
	uint32_t *identities;  /* by node below first_kind; 0: no retainer */
	uint64_t *heap;	       /* bits: objects that are retainers */
	uint64_t heap_objects; /* how many, alive */
	bool *auto_types;      /* by graph type: auto took it; NULL: not asked */
	bool auto_by_hints;    /* else by what they retain */
	struct hi_set_pool *pool;
	struct hi_census_cache *owner; /* of names and pool, in a series; NULL: this */
	struct hi_retainers *sets;
};

/* Fills in->profile.retaining, once. Unknown types are HI_NOT_FOUND with the nearest
 * names. */
enum hi_status hi_retaining_compute(struct hi_inspection *in, struct hi_error *err);
/* The same for retainers that the caller marks (bits by node; taken). */
enum hi_status hi_retaining_of(struct hi_inspection *in, uint64_t *heap,
			       struct hi_retaining **ret, struct hi_error *err);
/* Bits of the objects whose sets have one of these names; with NAME1,NAME2 as it is
 * typed. MANY and untyped ones that this hides are in in->shown.restriction. */
enum hi_status hi_retaining_mark(struct hi_inspection *in, const char *names,
				 uint64_t **bits_ret, struct hi_error *err);
void hi_retaining_destroy(struct hi_retaining *retaining);
HI_DEFINE_GUARD(struct hi_retaining *, hi_retaining_destroy)

#endif
