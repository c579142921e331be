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

#include "decode/layouts/block_sizes.h"
#include "base/arena.h"
#include "census/graph/graph.h"
#include "decode/layouts/pointer_slot.h"

#define HI_COUNT_UNKNOWN UINT64_MAX

/* Context that is passed along edges: HI_CONTEXT_WORDS, interned. */
typedef uint32_t hi_context; /* 0: no key has a value */

/* Indexes. */
enum {
	HI_LAYOUT_NONE = 0,	/* not looked up yet, no layout */
	HI_LAYOUT_NOTHING = 1,	/* void, unknown: the pointer infers no type */
	HI_LAYOUT_FUNCTION = 2, /* code: no edge at all */
	HI_LAYOUT_FIRST = 3,	/* of the first layout */
	HI_LAYOUT_MAX = 1 << 25,
};

struct hi_layout {
	uint32_t index;
	const struct hi_type *type; /* NULL: only a name is known (RTTI) */
	const char *name;	    /* hostile */
	uint64_t size;		    /* bytes of one element; 0: unknown */
	uint64_t fixed_size; /* without a last member that stands for the bytes after
			      * the record: `char data[1]`; else size */
	uint64_t hash;
	enum hi_type_class klass;
	bool opaque;	  /* members unknown: every word of the block may be a pointer */
	bool open_ended;  /* the last slots go on to the end of the block */
	bool truncated;	  /* too complex: all of it is one raw slot */
	bool called;	  /* by a name that a rule gives it, not its type's */
	bool blob;	  /* a buffer without pointers; only a name */
	uint32_t n_slots; /* sorted by offset, no word in two of them */
	uint32_t n_pointers;
	struct hi_pointer_slot *slots;
	uint32_t n_either; /* what a slot without pointee may lead to, by offset */
	struct hi_pointer_slot *either;
	uint32_t n_rule_sites;
	const struct hi_rule_site *rule_sites;
	const struct hi_rules *rules; /* of the type itself; NULL: none */
	uint64_t wants;		      /* context keys that its rules read */
	/* A refinement of the layout `base` (else base = index): what is known of one use
	 * of the type. Elements begin `lead` bytes into the block; [first, first + count)
	 * of them are live, the others are dead. */
	uint32_t base;
	uint64_t lead, first, count; /* count: or HI_COUNT_UNKNOWN */
	struct hi_live live;	     /* of those counted */
	hi_context context;
	bool quiet; /* its pointers are edges, but infer no types */
	bool part;  /* of a sequence in several blocks: numbers of elements say nothing */
	const uint64_t *context_values; /* of context; NULL: none */
	/* Set by typing_run.c: */
	_Atomic bool used;   /* some object has it */
	uint32_t graph_type; /* 0: unused */
	/* A type of a runtime (decode/runtime.h): its number there, from 1 on; 0: none.
	 * Its edges come from the runtime, unless it is opaque. */
	uint32_t managed;
	const char *module; /* of a runtime's type; else NULL */
};

/* All layouts, in leaves of HI_LAYOUT_LEAF that never move. */
enum { HI_LAYOUT_LEAF = 1 << 20, HI_LAYOUT_LEAVES = HI_LAYOUT_MAX / HI_LAYOUT_LEAF };
struct hi_layouts {
	struct hi_layout **leaves[HI_LAYOUT_LEAVES];
	struct hi_layouts_private *priv;
	struct hi_block_sizes sizes; /* set by its owner; all zero: glibc's */
};

/* source is copied; what it points to is borrowed. *ret: hi_layouts_destroy(). */
enum hi_status hi_layouts_create(struct hi_type_source source, struct hi_layouts **ret,
				 struct hi_error *err);
void hi_layouts_destroy(struct hi_layouts *layouts);
/* For another run of inference: no layout is used, none is a graph type. */
void hi_layouts_renew(struct hi_layouts *layouts);

/*
 * Index of the layout of a type, which is made if there is none yet. HI_LAYOUT_FUNCTION
 * for functions; HI_LAYOUT_NOTHING for void and unknown types, and when out of memory
 * (then hi_layouts_failed()). Thread-safe, as are all functions that add a layout.
 */
uint32_t hi_layouts_of(struct hi_layouts *layouts, hi_type_id type);
/* The same for a type of which only the name is known (copied). */
uint32_t hi_layouts_named(struct hi_layouts *layouts, const char *name);
/* index: from HI_LAYOUT_FIRST on. The layout lives as long as layouts. */
static inline struct hi_layout *hi_layouts_get(const struct hi_layouts *layouts,
					       uint32_t index)
{
	return layouts->leaves[index / HI_LAYOUT_LEAF][index % HI_LAYOUT_LEAF];
}
/* A buffer called `name` (copied): without pointers (blob), else of words that may be
 * pointers. */
uint32_t hi_layouts_buffer(struct hi_layouts *layouts, const char *name, bool blob);

/* The layout of `index` under another name (copied): for one use of a type, as of
 * characters in strings. NULL: the layout itself; so for what is no layout. */
uint32_t hi_layouts_called(struct hi_layouts *layouts, uint32_t index, const char *name);

/* A type of a runtime. */
struct hi_managed_name {
	const char *name, *module;
	uint64_t size;
	enum hi_type_class klass;
	bool words;	 /* may be pointers */
	uint32_t number; /* from 1 on */
};
/* Adds a new layout at each call. Strings are copied. */
uint32_t hi_layouts_managed(struct hi_layouts *layouts,
			    const struct hi_managed_name *name);

/* Facts about one use of a type; members as in struct hi_layout. */
struct hi_layout_refinement {
	uint64_t lead, first, count;
	struct hi_live live;
	hi_context context;
	uint16_t quiet, part; /* 0, 1 */
};
struct hi_layout_refinement hi_layout_refinement_of(const struct hi_layout *layout);
/* Index of the layout with this refinement in place of its own. Interned; a refinement
 * that adds nothing gives the base layout. index: from HI_LAYOUT_FIRST on.
 * HI_LAYOUT_NOTHING when out of memory. */
uint32_t hi_layouts_refine(struct hi_layouts *layouts, uint32_t index,
			   const struct hi_layout_refinement *refinement);
/* The context with these values, interned; 0 where no key has a value. */
hi_context hi_layouts_context(struct hi_layouts *layouts,
			      const uint64_t values[HI_CONTEXT_WORDS]);
/* NULL for context 0. */
const uint64_t *hi_layouts_context_values(const struct hi_layouts *layouts,
					  hi_context context);

/* One past the last index. */
uint32_t hi_layouts_count(const struct hi_layouts *layouts);
/* Some layout could not be made: out of memory. */
bool hi_layouts_failed(const struct hi_layouts *layouts);

/* Makes the layout that hi_layouts_pointee() did not find in the slot, and stores it
 * there. */
uint32_t hi_layouts_pointee_slow(struct hi_layouts *layouts,
				 struct hi_pointer_slot *slot);
/* Returns the layout of what the slot points to; made once, then read from the slot.
 * Safe from several threads. */
static inline uint32_t hi_layouts_pointee(struct hi_layouts *layouts,
					  struct hi_pointer_slot *slot)
{
	uint32_t layout = atomic_load_explicit(&slot->layout, memory_order_acquire);

	return layout ? layout : hi_layouts_pointee_slow(layouts, slot);
}

/* The source of the layouts' types; lives as long as layouts. */
const struct hi_type_source *hi_layouts_source(const struct hi_layouts *layouts);

/* Total order of candidates for one block's type, by trust in their layouts: > 0 if a is
 * the better one. It depends on nothing but the types. */
int hi_layout_compare(const struct hi_layout *a, const struct hi_layout *b);
/* The same with the evidence of each, which decides between types of one size. */
int hi_type_candidate_compare(const struct hi_layout *a, enum hi_evidence a_evidence,
			      const struct hi_layout *b, enum hi_evidence b_evidence);
/* Is b the same as a, or a's first member, or that one's first member and so on? Not
 * through_unions: not where a union is on the way. */
bool hi_layout_starts_with(struct hi_layouts *layouts, const struct hi_layout *a,
			   const struct hi_layout *b, bool through_unions);
/* Does a, which starts with b, lead from each word of b to what b leads to? Rules of a
 * may name words of b; then it does not. After MAX_COVERED slots the answer is no. */
bool hi_layout_covers(const struct hi_layout *a, const struct hi_layout *b);

/* Does a value of layout's type hold one of other's type at this offset: as a
 * member, an element, a member of those, or itself? Through unions too. Types are
 * hostile: after MAX_LOOKS types the answer is no (layout_contains.c). */
bool hi_layout_has_at(struct hi_layouts *layouts, const struct hi_layout *layout,
		      uint64_t offset, const struct hi_layout *other);

/* A word at `offset` of the block; slot NULL: a raw word that no member covers. */
typedef void hi_word_fn(void *arg, uint64_t offset, struct hi_pointer_slot *slot);

/* Calls fn for every word of a slot whose record begins at `base` of the block, up to
 * byte `end` of the block (exclusive). */
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

/* Does a rule give the number of live elements? */
static inline bool hi_layout_has_count(const struct hi_layout *layout)
{
	return layout->count != HI_COUNT_UNKNOWN;
}

/* Elements that a rule counts, and that are integers of pointer size? */
static inline bool hi_layout_is_integers(const struct hi_layout *layout)
{
	return hi_layout_has_count(layout) && layout->type &&
	       layout->type->kind == HI_KIND_INTEGER && layout->size == 8;
}

/* Bytes [*start, *end) of a block of `usable` bytes where elements are live: one element,
 * or of an array as many as are counted or fit. */
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
 * Calls fn for every word of a block of `usable` bytes that may be a pointer if the block
 * has this layout. usable: below 2^47. tail_known: rules describe the bytes after the
 * record, so words there and flexible arrays of raw storage are left out.
 */
static inline __attribute__((always_inline)) void
hi_layout_words_until(const struct hi_layout *layout, bool array, bool tail_known,
		      uint64_t usable, hi_word_fn *fn, void *arg)
{
	/* If only the block's size makes it an array, and its records have no pointers,
	 * something else may follow the first one, and their integers may be addresses.
	 * Arrays of numbers are arrays. */
	bool whole = array && (layout->n_slots || layout->klass != HI_TYPE_RECORD);
	uint64_t known = whole	 ? usable
			 : array ? layout->lead
				 : layout->lead + layout->size;
	uint64_t step = array && layout->size ? layout->size : usable;
	uint64_t start, end;

	if (layout->blob)
		return;
	/* The header: its type is unknown. */
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
	/* Bytes that no member covers may be padding, or the next member of a larger
	 * record of which only the first member (list_head, a base class) is known. Its
	 * words stay conservative, else objects that they hold would be called leaked.
	 * Bytes after a known number of elements are dead. */
	if (layout->open_ended || (tail_known && !layout->opaque) ||
	    hi_layout_has_count(layout))
		return;
	for (uint64_t o = (known + 7) & ~(uint64_t)7; o + 8 <= usable; o += 8)
		fn(arg, o, NULL);
}

/* As hi_layout_words_until, where no rule describes the bytes after the record. */
static inline __attribute__((always_inline)) void
hi_layout_words(const struct hi_layout *layout, bool array, uint64_t usable,
		hi_word_fn *fn, void *arg)
{
	hi_layout_words_until(layout, array, false, usable, fn, arg);
}

#endif
