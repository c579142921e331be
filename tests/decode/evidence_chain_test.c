/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains of evidence from a root to an object. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/describe/evidence_chain.h"
#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))

HI_DEFINE_GUARD(struct hi_evidence_chain *, hi_evidence_chain_destroy)

static struct hi_error err;

/* "ROOT.field (says *) | ->next (says *)!": ! where it is not believed. */
static const char *chain_of(struct world *w, uint64_t addr)
{
	static char text[4000];
	HI_GUARD(hi_evidence_chain_destroy) struct hi_evidence_chain *chain = NULL;
	size_t used = 0;

	text[0] = 0;
	HI_ASSERT_OK(hi_evidence_chain_find(w->typing, w->graph, world_node(w, addr),
					    &chain, &err),
		     &err);
	for (size_t i = 0; i < chain->n_steps; i++) {
		const struct hi_evidence_step *step = &chain->steps[i];

		/* A step begins where the one before ended. */
		if (i && !(chain->left_out && i == chain->gap))
			HI_ASSERT_EQ(chain->steps[i - 1].to, step->from);
		if (chain->left_out && i == chain->gap)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 " | %zu more", chain->left_out);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s (%s)%s",
					 i ? " | " : "", step->field, step->inferred.type,
					 step->inferred.is_accepted ? "" : "!");
	}
	if (chain->n_steps)
		HI_ASSERT_EQ(world_node(w, addr), chain->steps[chain->n_steps - 1].to);
	return text;
}

/* struct item { struct item *next; void *any; };
 * struct list { long n; struct item *first; } *list; */
struct shapes {
	hi_type_id item, item_pointer, list_pointer, any;
};

static struct shapes draw_types(struct world *w)
{
	hi_type_id integer = world_scalar(w, HI_KIND_INTEGER, "long", 8), list;
	struct shapes s = {
		.any = world_pointer(w, world_scalar(w, HI_KIND_VOID, "void", 0))};

	s.item = s.any + 2;
	s.item_pointer = world_pointer(w, s.item);
	HI_ASSERT_EQ(s.item, world_record(w, HI_KIND_STRUCT, "struct item", 16, "next", 0,
					  s.item_pointer, "any", 8, s.any, NULL));
	list = world_record(w, HI_KIND_STRUCT, "struct list", 16, "n", 0, integer,
			    "first", 8, s.item_pointer, NULL);
	s.list_pointer = world_pointer(w, list);
	return s;
}

HI_TEST(evidence_chain, every_field_on_the_way_says_what_is_next)
{
	struct world *w = world_create();
	struct shapes s = draw_types(w);

	for (uint64_t i = 0; i < 5; i++)
		world_block(w, H(0x100 * i), 24);
	world_local(w, "list", s.list_pointer, H(0));
	world_poke(w, H(0x008), H(0x100)); /* list->first */
	world_poke(w, H(0x100), H(0x200)); /* ->next */
	world_poke(w, H(0x208), H(0x300)); /* ->any */
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("thread 7 draw(): list (struct list *)", chain_of(w, H(0)));
	HI_ASSERT_STREQ("thread 7 draw(): list (struct list *) | ->first (struct item *) "
			"| ->next (struct item *)",
			chain_of(w, H(0x200)));
	/* The last one says nothing: that is why it has no type. */
	HI_ASSERT_STREQ("thread 7 draw(): list (struct list *) | ->first (struct item *) "
			"| ->next (struct item *) | ->any (void *)!",
			chain_of(w, H(0x300)));
	/* Nothing leads there. */
	HI_ASSERT_STREQ("", chain_of(w, H(0x400)));
}

HI_TEST(evidence_chain, a_longer_way_that_says_the_type_beats_a_shorter_that_does_not)
{
	struct world *w = world_create();
	struct shapes s = draw_types(w);

	for (uint64_t i = 0; i < 3; i++)
		world_block(w, H(0x100 * i), 24);
	world_local(w, "last", s.any, H(0x200));
	world_local(w, "list", s.list_pointer, H(0));
	world_poke(w, H(0x008), H(0x100));
	world_poke(w, H(0x100), H(0x200));
	/* It leads to itself, too, which proves nothing. */
	world_poke(w, H(0x200), H(0x200));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("thread 7 draw(): list (struct list *) | ->first (struct item *) "
			"| ->next (struct item *)",
			chain_of(w, H(0x200)));
}

HI_TEST(evidence_chain, of_a_long_list_the_middle_is_left_out)
{
	enum { N = 1000 };
	struct world *w = world_create();
	struct shapes s = draw_types(w);
	const char *text;

	for (uint64_t i = 0; i < N; i++)
		world_block(w, H(0x20 * i), 24);
	world_local(w, "head", s.item_pointer, H(0));
	for (uint64_t i = 0; i + 1 < N; i++)
		world_poke(w, H(0x20 * i), H(0x20 * (i + 1)));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	text = chain_of(w, H(0x20 * (N - 1)));
	HI_ASSERT_MSG(strncmp(text,
			      "thread 7 draw(): head (struct item *) | ->next (struct "
			      "item *) | ->next (struct item *) | ->next (struct item *) "
			      "| 988 more | ->next",
			      strlen("thread 7 draw(): head (struct item *) | ->next "
				     "(struct item *) | ->next (struct item *) | ->next "
				     "(struct item *) | 988 more | ->next")) == 0,
		      "%s", text);
	HI_ASSERT(strchr(text, '!') == NULL);
}

HI_TEST(evidence_chain, what_a_vtable_says_begins_a_chain)
{
	struct world *w = world_create();
	struct shapes s = draw_types(w);
	hi_type_id shop = world_record(w, HI_KIND_STRUCT, "Shop", 16, "_vptr", 0, s.any,
				       "first", 8, s.item_pointer, NULL);

	w->vtable_of[shop] = WORLD_MODULE + 0x10;
	world_block(w, H(0), 24);
	world_block(w, H(0x100), 24);
	world_poke(w, H(0), WORLD_MODULE + 0x10);
	world_poke(w, H(8), H(0x100));
	world_local(w, "any", s.any, H(0));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("Shop", world_type(w, H(0)));
	HI_ASSERT_STREQ("", chain_of(w, H(0)));
	HI_ASSERT_STREQ("->first (struct item *)", chain_of(w, H(0x100)));
}

HI_TEST(evidence_chain, every_failed_allocation_is_reported)
{
	struct world *w = world_create();
	struct shapes s = draw_types(w);
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth;

	world_block(w, H(0), 24);
	world_block(w, H(0x100), 24);
	world_local(w, "list", s.list_pointer, H(0));
	world_poke(w, H(0x008), H(0x100));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	for (nth = 1; status != HI_OK && nth < 100; nth++) {
		HI_GUARD(hi_evidence_chain_destroy)
		struct hi_evidence_chain *chain = NULL;

		hi_alloc_fail_at(nth);
		status = hi_evidence_chain_find(w->typing, w->graph,
						world_node(w, H(0x100)), &chain, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
	}
	HI_ASSERT_EQ(HI_OK, status);
	HI_ASSERT(nth > 4);
}
