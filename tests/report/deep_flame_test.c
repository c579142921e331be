/* SPDX-License-Identifier: BSD-2-Clause */
/* The flame graph of contexts against sums over the stacks. */
#include "report/pictures/picture.h"
#include "report/render/html_page.h"
#include "tests/report/deep_profiles.h"
#include "tests/support/random.h"

enum { SETS = 200, STACKS = 14, FUNCTIONS = 8, SITES = 2, FRAMES = 1500 };

struct flame_set {
	struct deep_stack stacks[STACKS];
	size_t n;
};

/* recursive: any function may call any; else only those with larger numbers. */
static struct deep_made *draw_flame_profile(uint64_t seed, bool recursive,
					    struct flame_set *set)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 7;
	struct deep_made *made = make_deep();
	char name[16];

	for (uint32_t f = 1; f <= FUNCTIONS; f++) {
		snprintf(name, sizeof(name), "f%u", f);
		add_deep_function(made, name, "app", false);
		for (uint32_t s = 0; s < SITES; s++)
			add_deep_site(made, f, s ? "+1" : "+0");
	}
	set->n = random_below(&random, STACKS + 1);
	for (size_t i = 0; i < set->n; i++) {
		struct deep_stack *s = &set->stacks[i];
		uint32_t f = 0;

		*s = (struct deep_stack){.bytes = random_below(&random, 1000),
					 .count = 1};
		do {
			f = recursive ? 1 + random_below(&random, FUNCTIONS)
				      : f + 1 + random_below(&random, 3);
			if (f > FUNCTIONS)
				break;
			s->frames[s->n++] = (struct hi_deep_frame){
				f, 1 + (f - 1) * SITES + random_below(&random, SITES)};
		} while (s->n < 8 && random_below(&random, 5));
		if (!s->n)
			s->frames[s->n++] = (struct hi_deep_frame){1, 1};
	}
	add_deep_stacks(made, set->stacks, set->n);
	return made;
}

static struct hi_deep_report *ask_flame(const struct deep_made *made, const char *query)
{
	struct hi_deep_report *report = NULL;
	struct hi_error err;

	HI_ASSERT_OK(try_deep(made, query, &report, &err), &err);
	hi_test_defer(hi_deep_report_destroy, report);
	return report;
}

/* "f1/f4/f5" of a frame. */
static void name_flame_path(const struct hi_deep_report *r, int32_t at, char out[256])
{
	char below[256] = "";

	for (; at > 0; at = r->flame.items[at].parent) {
		snprintf(out, 256, "/%s%s", r->flame.items[at].name, below);
		snprintf(below, sizeof(below), "%s", out);
	}
	snprintf(out, 256, "%s", below);
}

static uint64_t bytes_below(const struct flame_set *set, const char *path)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < set->n; i++) {
		char prefix[256] = "";
		bool is_below = !*path;

		for (uint32_t k = 0; k < set->stacks[i].n; k++) {
			size_t n = strlen(prefix);

			snprintf(prefix + n, sizeof(prefix) - n, "/f%u",
				 set->stacks[i].frames[k].function);
			is_below |= strcmp(prefix, path) == 0;
		}
		sum += is_below ? set->stacks[i].bytes : 0;
	}
	return sum;
}

HI_TEST(deep_flame, frames_are_as_wide_as_the_stacks_through_them)
{
	size_t checked = 0;

	for (uint64_t seed = 0; seed < SETS; seed++) {
		struct flame_set set;
		struct deep_made *made = draw_flame_profile(seed, false, &set);
		const struct hi_deep_report *r = ask_flame(made, "flame/bytes");
		char path[256], other[256];

		for (size_t i = 0; i < r->flame.count; i++) {
			uint64_t sum = 0;

			/* Two call sites of one function are two frames. */
			name_flame_path(r, (int32_t)i, path);
			for (size_t k = 0; k < r->flame.count; k++) {
				name_flame_path(r, (int32_t)k, other);
				if (strcmp(path, other) == 0)
					sum += r->flame.items[k].value;
			}
			HI_ASSERT_EQ(bytes_below(&set, path), sum);
			checked++;
		}
	}
	HI_ASSERT(checked > 2000);
}

/* Whatever recurs: what a frame has more than those in it is what it allocates itself. */
HI_TEST(deep_flame, frames_add_up)
{
	for (uint64_t seed = 0; seed < SETS; seed++) {
		struct flame_set set;
		struct deep_made *made = draw_flame_profile(seed, true, &set);
		const struct hi_deep_graph *g = &made->profile.graph;
		const struct hi_deep_report *r = ask_flame(made, "flame");
		const struct hi_deep_frame_box *frames = r->flame.items;

		if (!bytes_below(&set, ""))
			continue;
		HI_ASSERT_EQ(bytes_below(&set, ""), frames[0].value);
		for (size_t i = 0; i < r->flame.count; i++) {
			uint64_t inside = 0, own = 0;
			uint32_t clique = (uint32_t)atoi(strchr(frames[i].link, '/') + 1);

			for (size_t k = i + 1; k < r->flame.count; k++)
				if (frames[k].parent == (int32_t)i)
					inside += frames[k].value;
			for (uint32_t k = 0; k < g->n_nodes; k++)
				if (g->nodes[k].clique + 1 == clique)
					own += g->nodes[k].own.of[HI_DEEP_BYTES];
			HI_ASSERT_EQ(frames[i].value, inside + own);
			HI_ASSERT(frames[i].parent < (int32_t)i);
		}
	}
}

/* A part of it has the same frames as the whole has there. */
HI_TEST(deep_flame, a_part_begins_at_its_clique)
{
	struct flame_set set;
	struct deep_made *made = draw_flame_profile(13, false, &set);
	const struct hi_deep_report *whole = ask_flame(made, "flame/bytes"), *part;
	const struct hi_deep_frame_box *frames = whole->flame.items;
	size_t inside = 0;
	char query[64];

	HI_ASSERT(whole->flame.count > 3);
	snprintf(query, sizeof(query), "flame/bytes/%s", strchr(frames[1].link, '/') + 1);
	part = ask_flame(made, query);
	HI_ASSERT_EQ(frames[1].value, part->flame.items[0].value);
	HI_ASSERT_STREQ(frames[1].name, part->flame.items[0].name);
	for (size_t i = 1; i < whole->flame.count; i++)
		for (int32_t up = (int32_t)i; up > 0; up = frames[up].parent)
			inside += up == 1;
	HI_ASSERT_EQ(inside, part->flame.count);
}

HI_TEST(deep_flame, a_page_has_a_link_for_each_frame)
{
	struct flame_set set;
	struct deep_made *made = draw_flame_profile(13, false, &set);
	const struct hi_deep_report *r = ask_flame(made, "flame/bytes");
	struct hi_page *page = hi_page_create();
	const struct hi_page_picture *picture = NULL;

	hi_deep_display(r, page);
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].kind == HI_ITEM_PICTURE)
			picture = page->items.items[i].picture;
	HI_ASSERT(picture != NULL);
	HI_ASSERT_EQ(r->flame.count, picture->n_boxes);
	for (size_t i = 0; i < picture->n_boxes; i++) {
		HI_ASSERT_EQ(r->flame.items[i].value, picture->boxes[i].bytes);
		HI_ASSERT(strncmp(picture->boxes[i].link, "deep/clique/", 12) == 0);
	}
	hi_page_destroy(page);
}

/* main and leaf are of the program, load is of a library; walk and step call each other, and
 * one of them is of the library. */
HI_TEST(deep_flame, frames_have_the_module_of_their_functions)
{
	static const struct {
		const char *name, *module, *shown;
	} functions[] = {{"main", "/opt/bin/app", "app"},
			 {"load", "/usr/lib/libload.so.2", "libload.so.2"},
			 {"leaf", "/opt/bin/app", "app"},
			 {"walk", "/opt/bin/app", ""},
			 {"step", "/usr/lib/libload.so.2", ""}};
	struct deep_stack stacks[] = {
		{.bytes = 70, .count = 1, .n = 3, .frames = {{1, 1}, {2, 2}, {3, 3}}},
		{.bytes = 30,
		 .count = 1,
		 .n = 4,
		 .frames = {{1, 1}, {4, 4}, {5, 5}, {4, 4}}}};
	struct deep_made *made = make_deep();
	const struct hi_deep_report *r;
	struct hi_page *page = hi_page_create();
	const struct hi_page_box *boxes = NULL;

	for (uint32_t i = 0; i < 5; i++) {
		add_deep_function(made, functions[i].name, functions[i].module, false);
		add_deep_site(made, i + 1, "+0");
	}
	add_deep_stacks(made, stacks, 2);
	r = ask_flame(made, "flame/bytes");
	hi_deep_display(r, page);
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].kind == HI_ITEM_PICTURE)
			boxes = page->items.items[i].picture->boxes;
	HI_ASSERT_EQ(5, r->flame.count);
	HI_ASSERT_STREQ("", boxes[0].module);
	for (size_t i = 1; i < r->flame.count; i++)
		for (uint32_t k = 0; k < 5; k++) {
			size_t n = strlen(functions[k].name);

			if (strncmp(boxes[i].label, functions[k].name, n) == 0)
				HI_ASSERT_STREQ(functions[k].shown, boxes[i].module);
		}
	HI_ASSERT(strstr(boxes[4].label, "recursive"));
	hi_page_destroy(page);
}

HI_TEST(deep_flame, wrong_queries_are_errors)
{
	static const struct {
		const char *query;
		enum hi_status status;
	} wrong[] = {{"flame/retained", HI_USAGE},
		     {"flame/nothing", HI_USAGE},
		     {"flame/bytes/0", HI_USAGE},
		     {"flame/bytes/1/2", HI_USAGE},
		     {"flame/bytes/4000000", HI_NOT_FOUND}};
	struct flame_set set;
	struct deep_made *made = draw_flame_profile(13, false, &set);
	struct hi_deep_report *report;
	struct hi_error err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		HI_ASSERT_EQ(wrong[i].status,
			     try_deep(made, wrong[i].query, &report, &err));
}

/* Deeper than a picture, and more than it has boxes for. */
HI_TEST(deep_flame, many_and_deep_contexts_are_cut)
{
	enum { WIDE = 2000 };
	struct deep_made *made = make_deep();
	static struct deep_stack stacks[WIDE];
	const struct hi_deep_report *r;

	for (uint32_t f = 1; f <= WIDE + 1; f++) {
		add_deep_function(made, "f", "app", false);
		add_deep_site(made, f, "+0");
	}
	for (uint32_t i = 0; i < WIDE; i++)
		stacks[i] = (struct deep_stack){
			.bytes = 1 + i,
			.count = 1,
			.n = 2,
			.frames = {{WIDE + 1, WIDE + 1}, {i + 1, i + 1}}};
	add_deep_stacks(made, stacks, WIDE);
	r = ask_flame(made, "flame");
	HI_ASSERT_EQ(FRAMES, r->flame.count);
	HI_ASSERT_EQ((uint64_t)WIDE, r->flame.items[2].value);
	HI_ASSERT_EQ((uint64_t)WIDE - FRAMES + 3, r->flame.items[FRAMES - 1].value);
}
