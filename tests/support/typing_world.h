/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drawn target for tests of typing: blocks, words, types and one thread whose
 * local variables are the roots. Everything is freed when the test ends.
 */
#ifndef HI_TESTS_SUPPORT_TYPING_WORLD_H
#define HI_TESTS_SUPPORT_TYPING_WORLD_H

#include "decode/typing/typing_internal.h"

#define WORLD_HEAP 0x10000000ull
#define WORLD_HEAP_SIZE (8ull << 20)
#define WORLD_STACK 0x7f0000000000ull
#define WORLD_STACK_SIZE 0x4000ull
#define WORLD_MODULE 0x400000ull /* a mapping that vtables lie in */

enum { WORLD_TYPES = 64, WORLD_MEMBERS = 256, WORLD_LOCALS = 32 };

struct world {
	struct hi_memory *memory; /* of image */
	struct hi_image *image;
	struct hi_type types[WORLD_TYPES];
	struct hi_member members[WORLD_MEMBERS];
	uint32_t n_types, n_members;
	struct hi_local locals[WORLD_LOCALS];
	size_t n_locals;
	uint64_t stack_used; /* from WORLD_STACK on, by locals */
	struct HI_VECTOR(struct hi_block) blocks;
	uint64_t vtable_of[WORLD_TYPES]; /* vptr of a type, 0 none */
	struct hi_typing_source source;
	/* after world_run: */
	struct hi_typing *typing;
	struct hi_graph *graph;
};

struct world *world_create(void);
void world_free(struct world *w); /* what the end of the test does */

/* Types get ids from 1 on, in the order in which they are drawn. */
hi_type_id world_scalar(struct world *w, enum hi_type_kind kind, const char *name,
			uint64_t size);
hi_type_id world_pointer(struct world *w, hi_type_id target);
hi_type_id world_array(struct world *w, hi_type_id element, uint64_t count);
/* members: (name, offset, type)…, ended by a NULL name. */
hi_type_id world_record(struct world *w, enum hi_type_kind kind, const char *name,
			uint64_t size, ...);
/* A further member of the record that was drawn last. */
void world_member(struct world *w, struct hi_member member);

/* In increasing address order. */
void world_block(struct world *w, uint64_t addr, uint64_t usable);
void world_poke(struct world *w, uint64_t addr, uint64_t word);
/* A local variable in memory with this first word; returns its address. */
uint64_t world_local(struct world *w, const char *name, hi_type_id type, uint64_t word);

/* Builds objects and runs; outputs replace those of the last run. */
enum hi_status world_run(struct world *w, const struct hi_typing_options *options,
			 struct hi_error *err);

hi_node world_node(const struct world *w, uint64_t addr); /* fails the test */
const char *world_type(const struct world *w, uint64_t addr);
/* "addr:grade addr:grade …", sorted, grades e i c w; addresses relative to the
 * heap in hex. */
const char *world_edges(const struct world *w, uint64_t addr);

#endif
