/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan: a type flattened, on demand, to the words in it that may be
 * pointers. Pointees are not looked at before a word leads to one.
 *
 * Slots are runs of words: {offset, count, stride}; `struct node *table[1024]`
 * is one slot, an array of 1,000 structs with 3 pointers each is three. Sorted
 * by offset, no two slots cover the same word. Note [Flattening] in flatten.c.
 */
#ifndef HI_TYPING_PLAN_H
#define HI_TYPING_PLAN_H

#include <stdatomic.h>

#include "base/arena.h"
#include "census/graph.h"
#include "decode/debuginfo/types.h"

/* Where plans get types from: debug information, or what a test draws. */
struct hi_type_source {
	void *arg;
	/* Never NULL; thread-safe; as hi_type_get(). */
	const struct hi_type *(*type)(void *arg, hi_type_id id);
};

enum hi_slot_kind {
	HI_SLOT_POINTER,
	HI_SLOT_RAW, /* raw storage, uintptr_t, unknown layout: conservative */
};

#define HI_SLOT_TO_END UINT64_MAX

struct hi_slot {
	uint64_t offset; /* bytes from the start of the type, of the first word */
	uint64_t count;	 /* words; HI_SLOT_TO_END: as many as the block has room for */
	uint64_t stride; /* bytes from one word to the next */
	enum hi_slot_kind kind;
	hi_type_id pointee; /* POINTER only; 0: unknown, or two opinions (union) */
	/* Plan of the pointee: 0 until hi_plans_pointee() was asked. */
	_Atomic uint32_t plan;
};

enum {
	HI_PLAN_NONE = 0,     /* not asked yet, no plan */
	HI_PLAN_NOTHING = 1,  /* void, unknown: the pointer says nothing */
	HI_PLAN_FUNCTION = 2, /* code: no edge at all */
	HI_PLAN_FIRST = 3,    /* real plans from here */
	HI_PLAN_MAX = 1 << 25,
};

struct hi_plan {
	uint32_t index;
	const struct hi_type *type; /* NULL: only a name is known (RTTI) */
	const char *name;	    /* hostile */
	uint64_t size;		    /* bytes of one element; 0: layout unknown */
	uint64_t hash;
	enum hi_type_class klass;
	bool opaque;	  /* layout unknown: every word of the block may be a pointer */
	bool open_ended;  /* the last slots go on to the end of the block */
	bool truncated;	  /* too complex: all of it is one raw slot */
	uint32_t n_slots; /* sorted by offset */
	uint32_t n_pointers;
	struct hi_slot *slots;
	/* Owned by typing.c: */
	_Atomic bool used;   /* some object has it */
	uint32_t graph_type; /* 0: unused */
};

/* All plans, in leaves of HI_PLAN_LEAF that never move. */
enum { HI_PLAN_LEAF = 1 << 20, HI_PLAN_LEAVES = HI_PLAN_MAX / HI_PLAN_LEAF };
struct hi_plans {
	struct hi_plan **leaves[HI_PLAN_LEAVES];
	struct hi_plans_private *priv;
};

enum hi_status hi_plans_create(struct hi_type_source source, struct hi_plans **ret,
			       struct hi_error *err);
void hi_plans_destroy(struct hi_plans *plans);

/*
 * Index of the plan of a type, made if need be; HI_PLAN_NOTHING or _FUNCTION
 * where there is nothing to plan. Thread-safe. HI_PLAN_NOTHING as well when
 * out of memory (then hi_plans_failed()).
 */
uint32_t hi_plans_of(struct hi_plans *plans, hi_type_id type);
/* The same for a name without a layout (copied). */
uint32_t hi_plans_named(struct hi_plans *plans, const char *name);
/* index >= HI_PLAN_FIRST. */
static inline struct hi_plan *hi_plans_get(const struct hi_plans *plans, uint32_t index)
{
	return plans->leaves[index / HI_PLAN_LEAF][index % HI_PLAN_LEAF];
}
uint32_t hi_plans_count(const struct hi_plans *plans); /* one past the last index */
bool hi_plans_failed(const struct hi_plans *plans);

uint32_t hi_plans_pointee_slow(struct hi_plans *plans, struct hi_slot *slot);
static inline uint32_t hi_plans_pointee(struct hi_plans *plans, struct hi_slot *slot)
{
	uint32_t plan = atomic_load_explicit(&slot->plan, memory_order_acquire);

	return plan ? plan : hi_plans_pointee_slow(plans, slot);
}

/* Total order of opinions about one block's type, by trust in their layout:
 * > 0 if a is the better one. Depends on nothing but the types themselves. */
int hi_plan_compare(const struct hi_plan *a, const struct hi_plan *b);
/* a's first member, or its first member's and so on, is b; or a is b. Without
 * unions on the way every slot of b is one of a. */
bool hi_plan_starts_with(struct hi_plans *plans, const struct hi_plan *a,
			 const struct hi_plan *b, bool through_unions);

/* Usable bytes that the allocator gives for a request: what is left over in a
 * block of this size is padding. Source: glibc's request2size. */
static inline uint64_t hi_fit_usable(uint64_t request)
{
	uint64_t chunk = (request + 8 + 15) & ~(uint64_t)15;

	return chunk < 32 ? 24 : chunk - 8;
}

/* fn(arg, offset, slot) for a word; slot NULL: beyond the known part (raw). */
typedef void hi_word_fn(void *arg, uint64_t offset, struct hi_slot *slot);

static inline __attribute__((always_inline)) void hi_slot_words(struct hi_slot *slot,
								uint64_t base,
								uint64_t end,
								hi_word_fn *fn, void *arg)
{
	uint64_t offset = base + slot->offset;

	for (uint64_t n = slot->count; n && offset + 8 <= end; n--) {
		fn(arg, offset, slot);
		offset += slot->stride;
	}
}

/*
 * Every word of a block of `usable` bytes that may be a pointer if it has this
 * type: one element, or (array) as many as there is room for. usable < 2^47.
 */
static inline __attribute__((always_inline)) void
hi_plan_words(const struct hi_plan *plan, bool array, uint64_t usable, hi_word_fn *fn,
	      void *arg)
{
	/* Elements without pointers that were only counted by size: the tail may as
	 * well be something else. Numbers are numbers. */
	bool whole = array && (plan->n_slots || plan->klass != HI_TYPE_RECORD);
	uint64_t known = whole ? usable : plan->size;
	uint64_t step = array && plan->size ? plan->size : usable;

	if (plan->n_slots)
		for (uint64_t base = 0; base + plan->size <= usable; base += step) {
			for (uint32_t i = 0; i < plan->n_slots; i++)
				hi_slot_words(&plan->slots[i], base, usable, fn, arg);
			if (!array)
				break;
		}
	/* What no member covers may be padding, or the next member of a larger record
	 * whose first member (list_head, a base class) is all that was seen: its
	 * words stay conservative, else what they hold would be called leaked. */
	if (plan->open_ended)
		return;
	for (uint64_t o = (known + 7) & ~(uint64_t)7; o + 8 <= usable; o += 8)
		fn(arg, o, NULL);
}

#endif
