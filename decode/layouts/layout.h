/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layouts: types flattened, on demand, to their pointer slots (pointer_slot.h). A pointee
 * is not looked at before a pointer leads to it. Note [Flattening] in flatten.c.
 *
 * Layouts are known by their index, which never changes. The layout of one use of a type
 * (how many elements are live, which context) is a refinement of the type's base layout.
 */
#ifndef HI_DECODE_LAYOUTS_LAYOUT_H
#define HI_DECODE_LAYOUTS_LAYOUT_H

#include "base/arena.h"
#include "census/graph/graph.h"
#include "decode/layouts/pointer_slot.h"

#define HI_COUNT_UNKNOWN UINT64_MAX

/* Which elements of a counted array are live, where they are not all in one run. */
enum hi_live_kind {
	HI_LIVE_ALL,
	HI_LIVE_FULL, /* k is live if the byte at block + at + k * step is below 128 */
	HI_LIVE_RING, /* `step` elements from `at` on; they go on at the array's start */
};
struct hi_live {
	uint64_t kind, at, step; /* modulo 2^64 */
};

/* Context that goes along edges: HI_CONTEXT_WORDS, interned. */
typedef uint32_t hi_context; /* 0: nothing */

enum {
	HI_LAYOUT_NONE = 0,	/* not asked yet, no layout */
	HI_LAYOUT_NOTHING = 1,	/* void, unknown: the pointer says nothing */
	HI_LAYOUT_FUNCTION = 2, /* code: no edge at all */
	HI_LAYOUT_FIRST = 3,	/* real layouts from here */
	HI_LAYOUT_MAX = 1 << 25,
};

struct hi_layout {
	uint32_t index;
	const struct hi_type *type; /* NULL: only a name is known (RTTI) */
	const char *name;	    /* hostile */
	uint64_t size;		    /* bytes of one element; 0: layout unknown */
	uint64_t hash;
	enum hi_type_class klass;
	bool opaque;	  /* layout unknown: every word of the block may be a pointer */
	bool open_ended;  /* the last slots go on to the end of the block */
	bool truncated;	  /* too complex: all of it is one raw slot */
	bool blob;	  /* a buffer without pointers; only a name */
	uint32_t n_slots; /* sorted by offset */
	uint32_t n_pointers;
	struct hi_pointer_slot *slots;
	uint32_t n_either; /* what a slot without pointee may lead to, by offset */
	struct hi_pointer_slot *either;
	uint32_t n_rule_sites;
	const struct hi_rule_site *rule_sites;
	const struct hi_rules *rules; /* of the type itself; NULL: none */
	uint64_t wants;		      /* context keys that its rules look at */
	/* A refinement of the layout `base` (else base = index): what is known of one
	 * use of the type. Elements begin `lead` bytes into the block, [first,
	 * first + count) of them are live, the others are dead. */
	uint32_t base;
	uint64_t lead, first, count; /* count HI_COUNT_UNKNOWN: not said */
	struct hi_live live;	     /* of those counted */
	hi_context context;
	bool quiet;			/* its pointers are edges, but propose no types */
	const uint64_t *context_values; /* of context; NULL: nothing */
	/* Owned by typing_run.c: */
	_Atomic bool used;   /* some object has it */
	uint32_t graph_type; /* 0: unused */
	/* A runtime's (decode/runtime.h): its number there, from 1 on; 0: none. Its edges
	 * are the runtime's to tell, unless it is opaque. */
	uint32_t managed;
	const char *module; /* of a runtime's type; else NULL */
};

/* All layouts, in leaves of HI_LAYOUT_LEAF that never move. */
enum { HI_LAYOUT_LEAF = 1 << 20, HI_LAYOUT_LEAVES = HI_LAYOUT_MAX / HI_LAYOUT_LEAF };
struct hi_layouts {
	struct hi_layout **leaves[HI_LAYOUT_LEAVES];
	struct hi_layouts_private *priv;
};

enum hi_status hi_layouts_create(struct hi_type_source source, struct hi_layouts **ret,
				 struct hi_error *err);
void hi_layouts_destroy(struct hi_layouts *layouts);

/*
 * Index of the layout of a type, made if need be; HI_LAYOUT_NOTHING or _FUNCTION
 * where there is nothing to layout. Thread-safe. HI_LAYOUT_NOTHING as well when
 * out of memory (then hi_layouts_failed()).
 */
uint32_t hi_layouts_of(struct hi_layouts *layouts, hi_type_id type);
/* The same for a name without a layout (copied). */
uint32_t hi_layouts_named(struct hi_layouts *layouts, const char *name);
/* index >= HI_LAYOUT_FIRST. */
static inline struct hi_layout *hi_layouts_get(const struct hi_layouts *layouts,
					       uint32_t index)
{
	return layouts->leaves[index / HI_LAYOUT_LEAF][index % HI_LAYOUT_LEAF];
}
/* A name alone: blob (no pointers in it), else words that may be pointers. */
uint32_t hi_layouts_buffer(struct hi_layouts *layouts, const char *name, bool blob);

/* A type of a runtime: always a new layout. number >= 1. Strings are copied. */
struct hi_managed_name {
	const char *name, *module;
	uint64_t size;
	enum hi_type_class klass;
	bool words; /* may be pointers */
	uint32_t number;
};
uint32_t hi_layouts_managed(struct hi_layouts *layouts,
			    const struct hi_managed_name *name);

/* What is said about one use of a type. */
struct hi_layout_refinement {
	uint64_t lead, first, count;
	struct hi_live live;
	hi_context context;
	uint32_t quiet; /* 0, 1 */
};
struct hi_layout_refinement hi_layout_refinement_of(const struct hi_layout *layout);
/* Interned; a refinement that says nothing is the layout itself. index >=
 * HI_LAYOUT_FIRST; HI_LAYOUT_NOTHING when out of memory. */
uint32_t hi_layouts_refine(struct hi_layouts *layouts, uint32_t index,
			   const struct hi_layout_refinement *refinement);
/* Interned; where no key has a value it is context 0. */
hi_context hi_layouts_context(struct hi_layouts *layouts,
			      const uint64_t values[HI_CONTEXT_WORDS]);
/* NULL for context 0. */
const uint64_t *hi_layouts_context_values(const struct hi_layouts *layouts,
					  hi_context context);

uint32_t hi_layouts_count(const struct hi_layouts *layouts); /* one past the last index */
bool hi_layouts_failed(const struct hi_layouts *layouts);

uint32_t hi_layouts_pointee_slow(struct hi_layouts *layouts,
				 struct hi_pointer_slot *slot);
static inline uint32_t hi_layouts_pointee(struct hi_layouts *layouts,
					  struct hi_pointer_slot *slot)
{
	uint32_t layout = atomic_load_explicit(&slot->layout, memory_order_acquire);

	return layout ? layout : hi_layouts_pointee_slow(layouts, slot);
}

/* Total order of candidates for one block's type, by trust in their layout:
 * > 0 if a is the better one. Depends on nothing but the types themselves. */
int hi_layout_compare(const struct hi_layout *a, const struct hi_layout *b);
/* The same with the evidence of each, which decides between types of one size. */
int hi_type_candidate_compare(const struct hi_layout *a, enum hi_evidence a_evidence,
			      const struct hi_layout *b, enum hi_evidence b_evidence);
/* a's first member, or its first member's and so on, is b; or a is b. Without
 * unions on the way every slot of b is one of a. */
bool hi_layout_starts_with(struct hi_layouts *layouts, const struct hi_layout *a,
			   const struct hi_layout *b, bool through_unions);

/* Does a value of layout's type hold one of other's type at this offset: as a
 * member, an element, a member of those, or itself? Through unions too. Types are
 * hostile: after MAX_LOOKS types the answer is no (layout_contains.c). */
bool hi_layout_has_at(struct hi_layouts *layouts, const struct hi_layout *layout,
		      uint64_t offset, const struct hi_layout *other);

/* Usable bytes that the allocator gives for a request: what is left over in a
 * block of this size is padding. Source: glibc's request2size. */
static inline uint64_t hi_fit_usable(uint64_t request)
{
	uint64_t chunk = (request + 8 + 15) & ~(uint64_t)15;

	return chunk < 32 ? 24 : chunk - 8;
}

/* fn(arg, offset, slot) for a word; slot NULL: beyond the known part (raw). */
typedef void hi_word_fn(void *arg, uint64_t offset, struct hi_pointer_slot *slot);

static inline __attribute__((always_inline)) void
hi_pointer_slot_words(struct hi_pointer_slot *slot, uint64_t base, uint64_t end,
		      hi_word_fn *fn, void *arg)
{
	uint64_t offset = base + slot->offset;

	for (uint64_t n = slot->count; n && offset + 8 <= end; n--) {
		fn(arg, offset, slot);
		offset += slot->stride;
	}
}

static inline bool hi_layout_has_count(const struct hi_layout *layout)
{
	return layout->count != HI_COUNT_UNKNOWN;
}

/* Elements that a rule counts and that are integers as wide as a pointer? */
static inline bool hi_layout_is_integers(const struct hi_layout *layout)
{
	return hi_layout_has_count(layout) && layout->type &&
	       layout->type->kind == HI_KIND_INTEGER && layout->size == 8;
}

/* Bytes [*start, *end) of a block of `usable` bytes where elements are live: one
 * element, or (array) as many as are said or there is room for. */
static inline __attribute__((always_inline)) void
hi_layout_extent(const struct hi_layout *layout, bool array, uint64_t usable,
		 uint64_t *start, uint64_t *end)
{
	uint64_t room = layout->size && usable > layout->lead
				? (usable - layout->lead) / layout->size
				: 0;

	*start = layout->lead;
	*end = array ? usable : layout->lead + layout->size;
	if (!hi_layout_has_count(layout))
		return;
	*start += (layout->first < room ? layout->first : room) * layout->size;
	room -= layout->first < room ? layout->first : room;
	*end = *start + (layout->count < room ? layout->count : room) * layout->size;
}

/*
 * Every word of a block of `usable` bytes that may be a pointer if it has this
 * type. usable < 2^47. tail_known: no words behind the record, and flexible
 * arrays of raw storage are left out: rules said what is there.
 */
static inline __attribute__((always_inline)) void
hi_layout_words_until(const struct hi_layout *layout, bool array, bool tail_known,
		      uint64_t usable, hi_word_fn *fn, void *arg)
{
	/* Elements without pointers that were only counted by size: the tail may as
	 * well be something else. Numbers are numbers. */
	bool whole = array && (layout->n_slots || layout->klass != HI_TYPE_RECORD);
	uint64_t known = whole ? usable : layout->lead + layout->size;
	uint64_t step = array && layout->size ? layout->size : usable;
	uint64_t start, end;

	if (layout->blob)
		return;
	/* A header, of which nothing is known. */
	for (uint64_t o = 0; o < layout->lead && o + 8 <= usable; o += 8)
		fn(arg, o, NULL);
	hi_layout_extent(layout, array, usable, &start, &end);
	if (!hi_layout_has_count(layout))
		end = usable;
	if (layout->n_slots)
		for (uint64_t base = start; base + layout->size <= end; base += step) {
			for (uint32_t i = 0; i < layout->n_slots; i++)
				if (!tail_known ||
				    layout->slots[i].count != HI_POINTER_SLOT_TO_END ||
				    layout->slots[i].kind == HI_POINTER_SLOT_TYPED)
					hi_pointer_slot_words(&layout->slots[i], base,
							      usable, fn, arg);
			if (!array)
				break;
		}
	/* What no member covers may be padding, or the next member of a larger record
	 * whose first member (list_head, a base class) is all that was seen: its
	 * words stay conservative, else what they hold would be called leaked. What
	 * is behind a number of elements that somebody said is dead. */
	if (layout->open_ended || (tail_known && !layout->opaque) ||
	    hi_layout_has_count(layout))
		return;
	for (uint64_t o = (known + 7) & ~(uint64_t)7; o + 8 <= usable; o += 8)
		fn(arg, o, NULL);
}

static inline __attribute__((always_inline)) void
hi_layout_words(const struct hi_layout *layout, bool array, uint64_t usable,
		hi_word_fn *fn, void *arg)
{
	hi_layout_words_until(layout, array, false, usable, fn, arg);
}

#endif
