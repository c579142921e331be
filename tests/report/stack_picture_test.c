/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph of the stacks of a recording: functions have the colours of their modules,
 * and what was allocated before the recording is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/pictures/merged_text.h"
#include "report/pictures/picture_svg.h"
#include "tests/harness.h"
#include "tests/report/sample.h"

/* main of app calls load, which has 3,000 B in 30 objects; malloc of libc 1,000 in 1; 4,096
 * in 2 are from before it. */
static struct hi_merged_frame drawn_frames[] = {
	{.key = 0, .label = ""},
	{.key = HI_MERGED_PLAIN, .label = "main", .module = "app"},
	{.key = HI_MERGED_PLAIN, .label = "app::load(char const*)", .module = "app"},
	{.key = HI_MERGED_PLAIN, .label = "malloc", .module = "libc.so.6"},
	{.key = HI_MERGED_PLAIN, .label = "(before the recording)"},
};
static struct hi_merged_node drawn_nodes[] = {
	{.parent = UINT32_MAX, .key = 0},
	{.parent = 0, .key = HI_MERGED_PLAIN, .frame = 1, .depth = 1},
	{.parent = 1,
	 .key = HI_MERGED_PLAIN,
	 .frame = 2,
	 .depth = 2,
	 .bytes = 3000,
	 .objects = 30},
	{.parent = 1,
	 .key = HI_MERGED_PLAIN,
	 .frame = 3,
	 .depth = 2,
	 .bytes = 1000,
	 .objects = 1},
	{.parent = 0,
	 .key = HI_MERGED_PLAIN,
	 .frame = 4,
	 .depth = 1,
	 .bytes = 4096,
	 .objects = 2},
};

static struct hi_merged stacks_merged(void)
{
	return (struct hi_merged){.nodes = drawn_nodes,
				  .count = 5,
				  .frames = drawn_frames,
				  .n_frames = 5,
				  .before = 4};
}

static struct hi_picture *draw_stacks(struct sample *s)
{
	const struct hi_merged m = stacks_merged();
	struct hi_picture *p;
	struct hi_error err;

	HI_ASSERT_OK(hi_picture_make(&s->header, s->graph, &m, NULL, 0, &p, &err), &err);
	hi_test_defer(hi_picture_destroy, p);
	return p;
}

HI_TEST(stack_picture, what_is_older_than_the_recording_is_left_out)
{
	struct hi_picture *p = draw_stacks(sample_make());

	HI_ASSERT_EQ(4, p->count);
	HI_ASSERT_EQ(4000, p->live_bytes);
	HI_ASSERT_EQ(31, p->live_objects);
	HI_ASSERT_EQ(4000, p->nodes[0].bytes);
	HI_ASSERT_EQ(4096, p->before_bytes);
	HI_ASSERT_EQ(2, p->before_objects);
}

HI_TEST(stack_picture, functions_have_short_names_and_modules)
{
	struct hi_picture *p = draw_stacks(sample_make());
	const struct hi_merged m = stacks_merged();
	char text[HI_MERGED_TEXT];

	HI_ASSERT_STREQ("main", p->nodes[1].type);
	HI_ASSERT_STREQ("app::load", p->nodes[2].type);
	HI_ASSERT_STREQ("app::load(char const*)", p->nodes[2].full_type);
	HI_ASSERT_STREQ("app", p->nodes[2].module);
	HI_ASSERT_STREQ("libc.so.6", p->nodes[3].module);
	HI_ASSERT_STREQ("app::load", hi_merged_text(NULL, &m, 2, text));
}

/* The class of the colour of the node that has this name. */
static const char *color_in(const char *svg, const char *name)
{
	char title[64];
	const char *at, *color = NULL;

	snprintf(title, sizeof(title), "<title>%s\n", name);
	at = strstr(svg, title);
	HI_ASSERT_MSG(at, "no %s", title);
	for (const char *c = strstr(svg, " m"); c && c < at; c = strstr(c + 1, " m"))
		color = c;
	HI_ASSERT(color);
	return color;
}

HI_TEST(stack_picture, a_module_has_one_colour_and_a_legend)
{
	char *svg = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&svg, &size);
	struct hi_error err;

	HI_ASSERT(out != NULL);
	HI_ASSERT_OK(hi_picture_svg_write(draw_stacks(sample_make()), HI_PICTURE_FLAME,
					  out, &err),
		     &err);
	fclose(out);
	hi_test_defer(free, svg);
	HI_ASSERT(strstr(svg, "left out: 4.0 KiB from before the recording"));
	HI_ASSERT(!strstr(svg, "(before the recording)"));
	HI_ASSERT(strncmp(color_in(svg, "main"), color_in(svg, "app::load"), 4) == 0);
	HI_ASSERT(strncmp(color_in(svg, "main"), color_in(svg, "malloc"), 4) != 0);
	HI_ASSERT(strstr(svg, ">libc.so.6</text>"));
}
