/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluates the rule sites of a layout on the bytes of an object; targets of rules become
 * layouts. Records that lie inside the object (PLACE rules) are walked too, to a bounded
 * depth. A walker belongs to one thread.
 */
#ifndef HI_DECODE_INFERENCE_WALKER_H
#define HI_DECODE_INFERENCE_WALKER_H

#include "decode/rules/apply.h"
#include "decode/inference/typing_state.h"

enum { HI_WALKER_DEPTH = 8, HI_LAYOUT_CACHE = 512 };

struct hi_walker {
	struct hi_typing *typing;
	struct hi_applier applier;
	/* Reports only references of own words; lists and slots are not walked, and no
	 * types are inferred. */
	bool edges_only;
	bool own_only; /* the same, but with inferred types */
	void *arg;     /* of both */
	/* The pointer slots of a layout at [addr, end) of the object. */
	void (*words)(void *arg, const struct hi_layout *layout, bool array,
		      uint64_t addr, uint64_t end);
	/* A pointer, or a slot of a pool; layout HI_LAYOUT_NOTHING: no type is inferred.
	 */
	void (*reference)(void *arg, const struct hi_rule_reference *reference,
			  uint32_t layout);
	/* May be NULL. Rules of the record at [addr, end) could not be resolved, and it
	 * is not known which words they are about: any word there may be a pointer. */
	void (*unresolved)(void *arg, uint64_t addr, uint64_t end);
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
	bool reads_elsewhere; /* not only in the block; set, never cleared */
	const uint8_t *host;  /* its bytes, or NULL */
	const uint8_t *value; /* the object's bytes, when they are in no memory */
};

/* Makes a walker over typing, which is borrowed. The caller sets the callbacks
 * afterwards. Frees nothing, needs no freeing. */
void hi_walker_init(struct hi_walker *w, struct hi_typing *typing);

/* Evaluates all rule sites of an object of this layout at [addr, addr + usable). */
void hi_walker_rule_sites(struct hi_walker *w, const struct hi_layout *layout, bool array,
			  uint64_t addr, uint64_t usable);
/* Is element k, one of those that are counted, of an object at addr live? */
bool hi_walker_is_live(struct hi_walker *w, const struct hi_layout *layout, uint64_t addr,
		       uint64_t k);
/* As hi_layout_words_until for an object at addr, of its live elements only. */
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
/* Do rules describe the bytes after the record in its block? */
bool hi_walker_tail_known(struct hi_walker *w, const struct hi_layout *layout,
			  uint64_t addr, uint64_t usable);
/* Bytes of an object with this layout at addr, at most room. */
uint64_t hi_walker_size(struct hi_walker *w, const struct hi_layout *layout,
			uint64_t addr, uint64_t room);
/* The layout of what is at addr, by the `variant` statements of its type. */
uint32_t hi_walker_variant(struct hi_walker *w, uint32_t layout, uint64_t addr,
			   uint64_t room);
/* May it be another type by a `variant` statement that could not be resolved? */
bool hi_walker_variant_is_open(struct hi_walker *w, const struct hi_layout *layout,
			       uint64_t addr, uint64_t room);
/* The layout of the pointee of an object with this context. */
uint32_t hi_walker_with_context(struct hi_walker *w, uint32_t layout, hi_context context);

#endif
