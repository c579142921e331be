/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sites of a plan, evaluated: what the rules say about the bytes of an object,
 * with plans in place of targets. One thread's. What lies in place inside the
 * object (PLACE rules) is walked too, to a bounded depth.
 */
#ifndef HI_DECODE_LAYOUTS_WALKER_H
#define HI_DECODE_LAYOUTS_WALKER_H

#include "decode/rules/apply.h"
#include "decode/inference/typing_state.h"

enum { HI_WALKER_DEPTH = 8, HI_PLAN_CACHE = 512 };

struct hi_walker {
	struct hi_typing *typing;
	struct hi_applier applier;
	bool edges_only; /* of own words; lists and slots are not walked, nothing is
			  * proposed */
	bool own_only;	 /* the same, but with what is proposed */
	void *arg;	 /* of both */
	/* The plain slots of a plan that lies at [addr, end) of the object. */
	void (*words)(void *arg, const struct hi_plan *plan, bool array, uint64_t addr,
		      uint64_t end);
	/* A pointer or a slot; plan HI_PLAN_NOTHING where no type is proposed. */
	void (*claim)(void *arg, const struct hi_claim *claim, uint32_t plan);
	/* May be NULL. Rules of the record at [addr, end) could not be resolved, and
	 * which words they are about is not known: any word there may be a pointer. */
	void (*doubt)(void *arg, uint64_t addr, uint64_t end);
	/* Private: */
	struct hi_view view;
	struct {
		const struct hi_rule_target *target;
		uint32_t plan;
	} targets[HI_PLAN_CACHE];
	struct {
		uint32_t plan, variant;
		struct hi_variant what;
	} variants[HI_PLAN_CACHE];
	uint64_t last_values[HI_CONTEXT_WORDS]; /* and the context that they are */
	hi_context last_context;
	unsigned depth;
	uint64_t block, block_end;
	const uint8_t *value; /* the object's bytes, when they are in no memory */
};

void hi_walker_init(struct hi_walker *w, struct hi_typing *typing);

/* All sites of an object of this plan at [addr, addr + usable). */
void hi_walker_sites(struct hi_walker *w, const struct hi_plan *plan, bool array,
		     uint64_t addr, uint64_t usable);
/* Is element k of an object of this plan at addr live? Of those that are counted. */
bool hi_walker_is_live(struct hi_walker *w, const struct hi_plan *plan, uint64_t addr,
		       uint64_t k);
/* As hi_plan_words_until, of an object at addr: live elements only. */
static inline __attribute__((always_inline)) void
hi_walker_words(struct hi_walker *w, const struct hi_plan *plan, bool array,
		bool tail_known, uint64_t addr, uint64_t usable, hi_word_fn *fn,
		void *arg)
{
	uint64_t start, end;

	if (!plan->live.kind || !array || !plan->size) {
		hi_plan_words_until(plan, array, tail_known, usable, fn, arg);
		return;
	}
	hi_plan_extent(plan, array, usable, &start, &end);
	for (uint64_t at = start, k = plan->first; at + plan->size <= end;
	     at += plan->size, k++)
		if (plan->n_slots && hi_walker_is_live(w, plan, addr, k))
			for (uint32_t i = 0; i < plan->n_slots; i++)
				hi_slot_words(&plan->slots[i], at, usable, fn, arg);
}
/* Is what lies behind the record in its block known? */
bool hi_walker_tail_known(struct hi_walker *w, const struct hi_plan *plan, uint64_t addr,
			  uint64_t usable);
/* Bytes of an object with this plan at addr, at most room. */
uint64_t hi_walker_size(struct hi_walker *w, const struct hi_plan *plan, uint64_t addr,
			uint64_t room);
/* What is really at addr, by `variants`. */
uint32_t hi_walker_variant(struct hi_walker *w, uint32_t plan, uint64_t addr,
			   uint64_t room);
/* May it be one of `variants` of which it is not known which? */
bool hi_walker_variant_is_open(struct hi_walker *w, const struct hi_plan *plan,
			       uint64_t addr, uint64_t room);
/* The plan that a pointer leads to whose owner has this context. */
uint32_t hi_walker_with_context(struct hi_walker *w, uint32_t plan, hi_context context);

#endif
