/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects roots one at a time: add words, typed or not, then end the root. A root
 * without an edge is not kept. For roots*.c; the run of inference calls hi_roots_find().
 */
#ifndef HI_DECODE_ROOTS_ROOTS_H
#define HI_DECODE_ROOTS_ROOTS_H

#include "decode/inference/typing_state.h"
#include "decode/inference/walker.h"

enum { HI_ROOT_BATCH = 1024 };

struct hi_root_edge {
	hi_node to;
	uint8_t grade;
	bool doubtful; /* an untyped word that leads to no record or member */
	struct hi_pointer_slot *slot; /* that it was found through, or NULL */
};

struct hi_ranges HI_VECTOR(struct hi_section_range);

struct hi_roots {
	struct hi_typing *typing;
	struct hi_graph_builder *builder;
	struct HI_VECTOR(struct hi_root_edge) edges; /* of the root at hand */
	uint64_t words[HI_ROOT_BATCH];
	struct hi_pointer_slot *slots[HI_ROOT_BATCH]; /* NULL: untyped */
	bool past_end[HI_ROOT_BATCH];		      /* hi_is_past_the_end() */
	struct hi_hit hits[HI_ROOT_BATCH];
	size_t n;
	struct hi_walker walker;
	uint64_t low, span; /* of all objects */
	struct hi_memory_window window;
	uint8_t *scratch;
	/* Memory that is accounted for, so that no word is a root twice: heap regions,
	 * module data, stacks, thread-local blocks, the allocator's own data. */
	struct hi_ranges taken;
	/* The allocator's and the runtime's static data: no roots in it. */
	struct hi_ranges own;
	enum hi_status status;
	struct hi_error *err;
};

/* Adds every root to b, and their seeds to typing->seeds. */
enum hi_status hi_roots_find(struct hi_typing *typing, struct hi_graph_builder *b,
			     struct hi_error *err);

/* Adds the words of [start, end), untyped. */
void hi_roots_add_range(struct hi_roots *r, uint64_t start, uint64_t end);
/* The same without the parts that `cuts` (sorted by start) cover. */
void hi_roots_add_uncovered(struct hi_roots *r, uint64_t start, uint64_t end,
			    const struct hi_section_range *cuts, size_t n_cuts);
/* Adds an edge that has no slot. */
void hi_roots_refer(struct hi_roots *r, uint64_t to, enum hi_grade grade);
/* Adds edges to all objects that begin in [start, end). */
void hi_roots_refer_within(struct hi_roots *r, uint64_t start, uint64_t end);
/* Adds the edge of a word that was read from a slot. */
void hi_roots_add_word(struct hi_roots *r, uint64_t word, struct hi_pointer_slot *slot);
/* Adds a typed variable in memory; layout HI_LAYOUT_NONE: its words. */
void hi_roots_add_variable(struct hi_roots *r, uint64_t address, uint64_t size,
			   uint32_t layout);
/* Adds a variable that has rules. */
void hi_roots_add_ruled(struct hi_roots *r, const struct hi_rules *rules,
			uint64_t address, uint64_t size);
/* Adds what rules find in a value that is in no memory. */
void hi_roots_add_rule_sites_of_value(struct hi_roots *r, const struct hi_layout *layout,
				      const uint8_t *value, uint64_t size);
/* Does the word lead to where subobjects may be? */
bool hi_roots_may_refer(const struct hi_roots *r, uint64_t word);
/* Ends the root: it joins the graph if it has edges. info may be NULL. */
void hi_roots_end(struct hi_roots *r, const struct hi_root *root,
		  const struct hi_root_info *info);
/* Keeps the range, which is searched for roots, for verdict.c. */
void hi_roots_note(struct hi_roots *r, uint64_t start, uint64_t end);
/* Marks [start, end) as searched, so that it is not searched as untyped memory too.
 * False: out of memory. */
bool hi_roots_take(struct hi_roots *r, uint64_t start, uint64_t end);
/* Records that memory ran out; the collection of roots then fails. */
void hi_roots_no_memory(struct hi_roots *r);
/* NULL where a type has no layout; else its name. */
const char *hi_roots_type_name(struct hi_roots *r, hi_type_id type);
/* Returns the layout of a type; HI_LAYOUT_NONE: it has none, or it is opaque. */
uint32_t hi_roots_layout(struct hi_roots *r, hi_type_id type);
/* Bytes of a variable: its own size, else that of its type; at most limit. */
uint64_t hi_roots_size(struct hi_roots *r, uint64_t size, hi_type_id type,
		       uint64_t limit);
/* Compares two ranges by start, then by end; for qsort. */
int hi_ranges_compare(const void *a, const void *b);
/* Sorts ranges by start, and merges those that overlap. */
void hi_ranges_sort(struct hi_ranges *ranges);

/* roots_data.c */
void hi_roots_of_modules(struct hi_roots *r);
/* Finds the static data that is the allocator's own (r->own). */
void hi_roots_find_own(struct hi_roots *r);
/* The part of r->own that addr is in; NULL. */
const struct hi_section_range *hi_roots_own_at(const struct hi_roots *r, uint64_t addr);
/* roots_places.c */
/* A word without a variable. */
struct hi_root_word {
	uint64_t at, word;
};
struct hi_root_words HI_VECTOR(struct hi_root_word);
/* Adds a root for each place in the module's data that has such words, which ascend.
 * covered: variables, sorted; no place goes across one. */
void hi_roots_of_places(struct hi_roots *r, struct hi_module *module,
			const struct hi_root_words *words,
			const struct hi_ranges *covered);
/* How well the module's variables say whose an object is: enum hi_root_rank. */
uint8_t hi_roots_module_rank(const struct hi_module *module);
/* The same of one of them, by its name. */
uint8_t hi_roots_variable_rank(struct hi_module *module, const char *name);
/* roots_runtime.c */
void hi_roots_take_runtime(struct hi_roots *r);
/* Adds the roots of the runtime. */
void hi_roots_of_runtime(struct hi_roots *r);
/* roots_stack.c */
void hi_roots_of_threads(struct hi_roots *r);

#endif
