/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/random_world.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "tests/support/random.h"

/* One of each statement of the language. */
static const char *const statements[] = {
	"record vec { d -> item *[first .. n]; }",
	"record dict { table[i] for i in 0 .. 2 -> cell *[1 << exp[i]] with on = n, el : "
	"item; }",
	"record cell { v -> ?el if on & 1; v -> thing if on & 2; v -> any; }",
	"record ring { head.next each ((link *)$)->next until $ == (link *)this -> node "
	"in l; }",
	"record node node { l.next -> node in l; }",
	"record value { p switch tag { 0, 1: item; 2: thing; 3: scalar; 4: vec; 5: blob "
	"text; 6: words junk; else: any; } }",
	"record tagged { p mask ~7 -> thing; q weak; }",
	"record msg { *(pair *)(this + 1) : pair[n & 7]; tail known if n & 1; }",
	"record tree { ((tree **)((char *)this + align8(8 + n)))[i] for i in 0 .. n -> "
	"tree; tail known; }",
	"record base { variant switch kind & 3 { 1: first; 2: second; } }",
	"record second { variant first if x & 1; }",
	"record first { variant second if kind & 4; }",
	"record membuf { is pair; }",
	"record slab { slots pool n of 32 switch u8($) & 1 { 1: item; } }",
	"record arena { slots pool n of size switch u8($) & 3 { 0: thing; 1: item; } }",
	"record chunk { size n & 63; tail known; }",
	"record buf { data -> chunk back 8 + (n & 24); end -> node in l; }",
	"record box { raw : box; }",
	"record knot { t.next -> knot; t.it -> any; }",
};
enum { STATEMENTS = sizeof(statements) / sizeof(statements[0]) };

static const char *const records[] = {
	"item",	 "thing",  "pair",  "vec",  "dict", "cell",  "ring",   "node",
	"value", "tagged", "msg",   "tree", "base", "first", "second", "hnode",
	"slab",	 "arena",  "chunk", "buf",  "box",  "both",
};
enum { RECORDS = sizeof(records) / sizeof(records[0]) };

static void draw_types(struct world *w)
{
	world_types(w, "struct item { long a; thing *t; };\n"
		       "struct thing { thing *next; item *it; long n; };\n"
		       "struct pair { item *one; value *two; };\n"
		       "struct link { link *next; link *prev; };\n"
		       "struct vec { item **d; long first; long n; };\n"
		       "struct dict { cell **table[2]; long exp[2]; long n; };\n"
		       "struct cell { cell *next; void *v; long x; };\n"
		       "struct ring { link head; node *cache; };\n"
		       "struct node 40 { long id; link l; base *b; };\n"
		       "struct value { int tag; void *p; };\n"
		       "struct tagged { void *p; vec *q; };\n"
		       "struct msg { long n; msg *next; };\n"
		       "struct tree { int leaf; int n; char key[]; };\n"
		       "struct base { int kind; base *next; };\n"
		       "struct first { base b; dict *d; };\n"
		       "struct second 40 { base b; long x; ring *r; };\n"
		       "struct membuf { char bytes[16]; };\n"
		       "struct hnode { hnode *next; membuf m; };\n"
		       "struct slab { void *slots; long n; slab *next; };\n"
		       "struct arena { void *slots; int n; int size; arena *next; };\n"
		       "struct chunk { long n; char data[]; };\n"
		       "struct buf { char *data; link *end; long n; };\n"
		       "struct box { long x; char raw[8]; };\n"
		       "union either { second *s; buf *b; tagged *t; };\n"
		       "struct both { either u; tree *t; slab *s; };\n"
		       "struct knot { thing t; item *i; };");
	world_knows_records(w);
}

/* A random part of the statements; they stay until the test ends. */
static void draw_hints(struct world *w, uint64_t *state, char *text, size_t size,
		       bool all)
{
	size_t used = (size_t)snprintf(text, size,
				       "hints x\n"
				       "context on : long; context el;\n");

	for (unsigned i = 0; i < STATEMENTS; i++) {
		/* Statements that look at the context need it. */
		if (!all && random_below(state, 4) == 0)
			continue;
		if (strncmp(statements[i], "record second", 13) == 0 && !all &&
		    random_below(state, 2))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s\n", statements[i]);
	}
	w->hints = text;
}

static uint64_t some_block(const struct world *w, uint64_t *state)
{
	return w->blocks.items[random_below(state, w->blocks.count)].addr;
}

uint64_t random_world_word(const struct world *w, uint64_t *state)
{
	switch (random_below(state, 12)) {
	case 0:
		return random_below(state, 8);
	case 1:
		return some_block(w, state) + random_below(state, 8);
	case 2:
	case 3:
		return some_block(w, state) + 8 * random_below(state, 6);
	case 4:
		return WORLD_FAR + 8 * random_below(state, WORLD_FAR_SIZE / 8);
	case 5:
		return WORLD_FAR + 64 * random_below(state, 400);
	case 6:
		return 0;
	case 7:
		return random_below(state, 2) ? random_below(state, 64)
					      : random_below(state, 64ull) << 32 |
							random_below(state, 64);
	default:
		return some_block(w, state);
	}
}

static void draw_heap(struct world *w, uint64_t *state, unsigned n)
{
	static const char *const names[] = {"v0",  "v1",  "v2",	 "v3",	"v4",  "v5",
					    "v6",  "v7",  "v8",	 "v9",	"v10", "v11",
					    "v12", "v13", "v14", "v15", "v16", "v17",
					    "v18", "v19", "v20", "v21", "v22"};
	uint64_t at = WORLD_HEAP;

	for (unsigned i = 0; i < n; i++) {
		uint64_t usable = random_below(state, 16)
					  ? 24 + 16 * random_below(state, 4)
					  : 520 + 16 * random_below(state, 60);

		world_block(w, at, usable);
		at += usable + 8 + 32 * random_below(state, 2);
	}
	for (unsigned i = 0; i < n; i++)
		for (uint64_t o = 0; o + 8 <= w->blocks.items[i].usable; o += 8)
			world_poke(w, w->blocks.items[i].addr + o,
				   random_world_word(w, state));
	for (uint64_t o = 0; o < 400 * 64; o += 8)
		world_poke(w, WORLD_FAR + o, random_world_word(w, state));
	for (unsigned i = 0; i < RECORDS; i++) {
		char type[40];

		snprintf(type, sizeof(type), "%s *", records[i]);
		world_var(w, names[i], type,
			  random_below(state, 8)
				  ? some_block(w, state)
				  : WORLD_FAR + 64 * random_below(state, 400));
	}
}

struct world *random_world(uint64_t *state, uint64_t seed, unsigned n, char *text,
			   size_t size)
{
	struct world *w = world_create();

	*state = seed * 0x9e3779b97f4a7c15 + 1;
	draw_types(w);
	world_mapping(w, WORLD_FAR, WORLD_FAR_SIZE);
	draw_hints(w, state, text, size, seed % 3 == 0);
	draw_heap(w, state, n);
	return w;
}
