/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths as text over a source that is made up: links of containers are left out. */
#include <stdio.h>
#include <string.h>

#include "census/graph/edge_name.h"
#include "session/path_text.h"
#include "session/source.h"
#include "tests/harness.h"

enum { LONG = 1 << 20 };

static struct hi_graph graph;
static struct hi_inspection in;
static hi_node nodes[LONG];
static size_t n_asked;
/* Nodes [first_link, end_link) lead on in the same container. */
static hi_node first_link, end_link;
/* Nodes [first_word, end_word) lead on by a word without a name. */
static hi_node first_word, end_word;

static const char *made_up_text(struct hi_inspection *unused, hi_node from, hi_node to)
{
	static char text[32];
	const char *kept;

	(void)unused, (void)to;
	n_asked++;
	if (from >= first_link && from < end_link)
		return "->next\x01";
	if (from >= first_word && from < end_word)
		return " +0x18";
	snprintf(text, sizeof(text), "->f%u", from);
	kept = hi_arena_strdup(&in.arena, text);
	return kept ? kept : "";
}

static const struct hi_text_ops made_up_texts = {.edge_text = made_up_text};
static const struct hi_source_ops made_up = {.texts = &made_up_texts};

static void free_texts(void *unused)
{
	(void)unused;
	hi_arena_free(&in.arena);
}

static const char *text_of(size_t n, hi_node first, hi_node end)
{
	graph = (struct hi_graph){
		.n_objects = LONG, .first_root = LONG, .first_kind = LONG};
	in.graph = &graph;
	in.source = &made_up;
	n_asked = 0;
	first_link = first;
	end_link = end;
	for (hi_node i = 0; i < LONG; i++)
		nodes[i] = i;
	return hi_path_text_of_nodes(&in, nodes, n);
}

HI_TEST(path_text, text_leaves_out_links_of_containers)
{
	hi_test_defer(free_texts, NULL);
	HI_ASSERT_STREQ("->f0->f1", text_of(3, 0, 0));
	HI_ASSERT_STREQ("->f0->f902->f903", text_of(905, 1, 902));
	HI_ASSERT_STREQ("", text_of(40, 0, 40));
	HI_ASSERT_STREQ("->next", hi_path_text_of_edge(&in, 3, 4));
	HI_ASSERT_STREQ("", text_of(0, 0, 0));
}

/* A chain of a million nodes is not looked at node by node. */
HI_TEST(path_text, of_a_long_chain_looks_at_both_ends)
{
	hi_test_defer(free_texts, NULL);
	HI_ASSERT_STREQ("->f0->f1048574", text_of(LONG, 1, LONG - 2));
	HI_ASSERT(n_asked < 10000);
	HI_ASSERT(strstr(text_of(LONG, 0, 0), "->f23 … 1048543 steps … ->f1048567"));
	HI_ASSERT(n_asked < 100);
}

/* A list in memory without types: two of its steps, and a mark for the others. */
HI_TEST(path_text, shows_two_of_many_steps_by_one_offset)
{
	hi_test_defer(free_texts, NULL);
	first_word = 1;
	end_word = 3;
	HI_ASSERT_STREQ("->f0 +0x18 +0x18->f3", text_of(5, 0, 0));
	end_word = 900;
	HI_ASSERT_STREQ("->f0 +0x18 +0x18 …->f900", text_of(902, 0, 0));
	end_word = LONG - 3;
	HI_ASSERT(strstr(text_of(LONG, 0, 0), "->f0 +0x18 +0x18 … "));
	HI_ASSERT(strstr(text_of(LONG, 0, 0), " steps …  +0x18 +0x18->f1048573->f"));
	first_word = end_word = 0;
}
