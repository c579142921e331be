/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains of evidence from a root to an object. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/describe/evidence_chain.h"
#include "harness.h"
#include "support/rules_world.h"

#define H(offset) (WORLD_HEAP + (offset))

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

/* Types are called "struct …", as in C. */
#define TYPES                                                                            \
	"struct struct item { struct item *next; void *any; };\n"                        \
	"struct struct list { long n; struct item *first; };\n"

HI_TEST(evidence_chain, every_field_on_the_way_says_what_is_next)
{
	struct world *w = HI_DRAWN(TYPES "struct list *list = &0\n"
					 "0 (24): 0 &100\n"
					 "100 (24): &200\n"
					 "200 (24): 0 &300\n"
					 "300 (24):\n"
					 "400 (24): => leaked\n");

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

/* The last item leads to itself, too, which proves nothing. */
HI_TEST(evidence_chain, a_longer_way_that_says_the_type_beats_a_shorter_that_does_not)
{
	struct world *w = HI_DRAWN(TYPES "void *last = &200\n"
					 "struct list *list = &0\n"
					 "0 (24): 0 &100\n"
					 "100 (24): &200\n"
					 "200 (24): &200\n");

	HI_ASSERT_STREQ("thread 7 draw(): list (struct list *) | ->first (struct item *) "
			"| ->next (struct item *)",
			chain_of(w, H(0x200)));
}

HI_TEST(evidence_chain, middle_of_a_long_chain_is_left_out)
{
	enum { N = 1000 };
	struct world *w = world_create();
	const char *text;

	world_types(w, TYPES);
	for (uint64_t i = 0; i < N; i++)
		world_block(w, H(0x20 * i), 24);
	world_var(w, "head", "struct item *", H(0));
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

HI_TEST(evidence_chain, vtable_begins_a_chain)
{
	struct world *w =
		HI_DRAWN(TYPES "struct Shop { void *_vptr; struct item *first; };\n"
			       "vtable Shop M10\n"
			       "void *any = &0\n"
			       "0 (24): &M10 &100 => Shop\n"
			       "100 (24):\n");

	HI_ASSERT_STREQ("", chain_of(w, H(0)));
	HI_ASSERT_STREQ("->first (struct item *)", chain_of(w, H(0x100)));
}

HI_TEST(evidence_chain, every_failed_allocation_is_reported)
{
	struct world *w = HI_DRAWN(TYPES "struct list *list = &0\n"
					 "0 (24): 0 &100\n"
					 "100 (24):\n");
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth;

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
