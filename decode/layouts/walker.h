/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sites of a layout, evaluated: what the rules say about the bytes of an object,
 * with layouts in place of targets. One thread's. What lies in place inside the
 * object (PLACE rules) is walked too, to a bounded depth.
 */
#ifndef HI_DECODE_LAYOUTS_WALKER_H
#define HI_DECODE_LAYOUTS_WALKER_H

#include "decode/rules/apply.h"
#include "decode/inference/typing_state.h"

enum { HI_WALKER_DEPTH = 8, HI_LAYOUT_CACHE = 512 };

struct hi_walker {
	struct hi_typing *typing;
	struct hi_applier applier;
	bool edges_only; /* of own words; lists and slots are not walked, nothing is
			  * proposed */
	bool own_only;	 /* the same, but with what is proposed */
	void *arg;	 /* of both */
	/* The plain slots of a layout that lies at [addr, end) of the object. */
	void (*words)(void *arg, const struct hi_layout *layout, bool array,
		      uint64_t addr, uint64_t end);
	/* A pointer or a slot; layout HI_LAYOUT_NOTHING where no type is proposed. */
	void (*reference)(void *arg, const struct hi_rule_reference *reference,
			  uint32_t layout);
	/* May be NULL. Rules of the record at [addr, end) could not be resolved, and
	 * which words they are about is not known: any word there may be a pointer. */
	void (*doubt)(void *arg, uint64_t addr, uint64_t end);
	/* Private: */
	struct hi_memory_window window;
	struct {
		const struct hi_rule_target *target;
		uint32_t layout;
	} targets[HI_LAYOUT_CACHE];
	struct {
		uint32_t layout, refined;
		struct hi_layout_refinement what;
	} refinements[HI_LAYOUT_CACHE];
	uint64_t last_values[HI_CONTEXT_WORDS]; /* and the context that they are */
	hi_context last_context;
	unsigned depth;
	uint64_t block, block_end;
	const uint8_t *value; /* the object's bytes, when they are in no memory */
};

void hi_walker_init(struct hi_walker *w, struct hi_typing *typing);

/* All rule sites of an object of this layout at [addr, addr + usable). */
void hi_walker_rule_sites(struct hi_walker *w, const struct hi_layout *layout, bool array,
			  uint64_t addr, uint64_t usable);
/* Is element k of an object of this layout at addr live? Of those that are counted. */
bool hi_walker_is_live(struct hi_walker *w, const struct hi_layout *layout, uint64_t addr,
		       uint64_t k);
/* As hi_layout_words_until, of an object at addr: live elements only. */
static inline __attribute__((always_inline)) void
hi_walker_words(struct hi_walker *w, const struct hi_layout *layout, bool array,
		bool tail_known, uint64_t addr, uint64_t usable, hi_word_fn *fn,
		void *arg)
{
	uint64_t start, end;

	if (!layout->live.kind || !array || !layout->size) {
		hi_layout_words_until(layout, array, tail_known, usable, fn, arg);
		return;
	}
	hi_layout_extent(layout, array, usable, &start, &end);
	for (uint64_t at = start, k = layout->first; at + layout->size <= end;
	     at += layout->size, k++)
		if (layout->n_slots && hi_walker_is_live(w, layout, addr, k))
			for (uint32_t i = 0; i < layout->n_slots; i++)
				hi_pointer_slot_words(&layout->slots[i], at, usable, fn,
						      arg);
}
/* Is what lies behind the record in its block known? */
bool hi_walker_tail_known(struct hi_walker *w, const struct hi_layout *layout,
			  uint64_t addr, uint64_t usable);
/* Bytes of an object with this layout at addr, at most room. */
uint64_t hi_walker_size(struct hi_walker *w, const struct hi_layout *layout,
			uint64_t addr, uint64_t room);
/* What is really at addr, by `variants`. */
uint32_t hi_walker_variant(struct hi_walker *w, uint32_t layout, uint64_t addr,
			   uint64_t room);
/* May it be one of `variants` of which it is not known which? */
bool hi_walker_variant_is_open(struct hi_walker *w, const struct hi_layout *layout,
			       uint64_t addr, uint64_t room);
/* The layout that a pointer leads to whose owner has this context. */
uint32_t hi_walker_with_context(struct hi_walker *w, uint32_t layout, hi_context context);

#endif
