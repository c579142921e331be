/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drawn target for tests of typing: blocks, words, types and one thread whose
 * local variables are the roots. Everything is freed when the test ends.
 */
#ifndef HI_TESTS_SUPPORT_TYPING_WORLD_H
#define HI_TESTS_SUPPORT_TYPING_WORLD_H

#include "decode/rules/rulebook.h"
#include "decode/describe/object_text.h"
#include "decode/inference/typing_state.h"
#include "decode/run/typing_run.h"

#define WORLD_HEAP 0x10000000ull
#define WORLD_HEAP_SIZE (8ull << 20)
#define WORLD_STACK 0x7f0000000000ull
#define WORLD_STACK_SIZE 0x4000ull
#define WORLD_MODULE 0x400000ull /* a mapping that vtables lie in */
#define WORLD_FAR 0x20000000ull	 /* for a mapping without allocator */
#define WORLD_FAR_SIZE (1ull << 20)

enum { WORLD_TYPES = 192, WORLD_MEMBERS = 512, WORLD_LOCALS = 32, WORLD_ARGS = 32 };

struct world {
	struct hi_memory *memory; /* of image */
	struct hi_image *image;
	struct hi_type types[WORLD_TYPES];
	struct hi_member members[WORLD_MEMBERS];
	struct hi_template_arg args[WORLD_ARGS];
	_Atomic uint32_t n_types; /* rules make pointers to types while they run */
	uint32_t n_members, n_args;
	struct hi_local locals[WORLD_LOCALS];
	size_t n_locals;
	uint64_t stack_used; /* from WORLD_STACK on, by locals */
	struct HI_VECTOR(struct hi_block) blocks;
	struct hi_allocator *allocator;	 /* beside the blocks; NULL: none is known */
	struct hi_modules *modules;	 /* or NULL */
	uint64_t vtable_of[WORLD_TYPES]; /* vptr of a type, 0 none */
	struct hi_typing_source source;
	const char *hints;	       /* a text that world_run() uses, or NULL */
	struct hi_rulebook *book;      /* of the last run with hints */
	struct hi_rulebook *kept_book; /* for a run with options.kept; NULL: a new one */
	/* Places that expressions of hints know by name. */
	struct world_place {
		const char *name;
		struct hi_name is;
	} places[8];
	size_t n_places;
	char text[8192]; /* names that are made up */
	size_t text_used;
	/* after world_run: */
	struct hi_typing *typing;
	struct hi_graph *graph;
};

struct world *world_create(void);
void world_free(struct world *w); /* what the end of the test does */
/* Its memory is given back now, for tests of many worlds; nothing else is asked. */
void world_forget(struct world *w);

/* In increasing address order. */
void world_block(struct world *w, uint64_t addr, uint64_t usable);
void world_poke(struct world *w, uint64_t addr, uint64_t word);
/* A local variable in memory with this first word; returns its address. */
uint64_t world_local(struct world *w, const char *name, hi_type_id type, uint64_t word);

/* ---- types by name (named_types.c) ---- */

/* "long", "int", "char", "void", "uintptr_t", "code" (a function), names of records
 * (declared only, until they are defined), and behind them any of " *" and " [N]". */
hi_type_id world_named(struct world *w, const char *text);
/* Records as C has them, "struct vec { item **d; long n; };" or "union …", one after the
 * other and none in another, laid out as a compiler does. What lies elsewhere says so:
 * "struct Base 16 { @8 Base *next; };" has 16 bytes. Template arguments are those of the
 * name. */
void world_types(struct world *w, const char *text);
/* A local variable of a type by name. */
uint64_t world_var(struct world *w, const char *name, const char *type, uint64_t word);
/* A function that hints know by name. */
void world_function(struct world *w, const char *name, uint64_t address);
/* From now on, records are found by their size and layout. */
void world_knows_records(struct world *w);

/* The type of a declaration, "item **d" or "char raw[8]", and the name in it. */
hi_type_id world_declared(struct world *w, const char *text, size_t length,
			  const char **name_ret);
/* A copy of the text, as long as the world lasts; for names. */
const char *world_text(struct world *w, const char *text, size_t length);
/* What expressions of hints ask; for world_run(). */
struct hi_expression_source world_expressions(struct world *w);
/* A new type; for both files. */
hi_type_id world_add_type(struct world *w, struct hi_type type);

/* An anonymous private mapping, zeroed, in which no allocator is. */
void world_mapping(struct world *w, uint64_t start, uint64_t size);

/* Builds objects and runs; outputs replace those of the last run. */
enum hi_status world_run(struct world *w, const struct hi_typing_options *options,
			 struct hi_error *err);

/* The text of one warning about the hints; "" beyond the last. */
const char *world_warning(struct world *w, size_t i);

/* "100" is WORLD_HEAP + 0x100, "F100" WORLD_FAR + 0x100. */
const char *world_address(uint64_t addr);
hi_node world_node(const struct world *w, uint64_t addr); /* fails the test */
const char *world_type(const struct world *w, uint64_t addr);
/* "addr:grade addr:grade …", sorted, grades e i c w; addresses as world_address(). */
const char *world_edges(const struct world *w, uint64_t addr);
/* As world_type, and what only a field names: "via node.any, 24 B". */
const char *world_named_type(const struct world *w, uint64_t addr);
enum hi_evidence world_evidence(const struct world *w, uint64_t addr);
/* Objects that nothing reaches, "100 200". */
const char *world_leaks(const struct world *w);

#endif
