/* SPDX-License-Identifier: BSD-2-Clause */
/* Deep profiles that are kept between queries, of files that the test writes. */
#include "session/deep/deep_kept.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/commands/deep.h"
#include "tests/harness.h"
#include "tests/report/deep_profiles.h"
#include "tests/support/workshop.h"

struct keeping {
	struct hi_deep_kept kept;
	struct hi_options options;
	char file[2][256], contour[256];
	struct hi_error err;
};

static void free_keeping(void *arg)
{
	hi_deep_kept_free(&((struct keeping *)arg)->kept);
}

/* main calls work so many times, which allocates 10 bytes each. */
static void write_kept_file(const char *path, uint64_t times)
{
	struct deep_made *made = make_deep();
	uint32_t main_ = add_deep_function(made, "main", "app", true);
	uint32_t work = add_deep_function(made, "work", "util", true);
	struct deep_stack stack = {.bytes = 16 * times, .count = times, .n = 2};
	FILE *f = fopen(path, "w");
	struct hi_error err;

	stack.frames[0] = (struct hi_deep_frame){main_, add_deep_site(made, main_, "a")};
	stack.frames[1] = (struct hi_deep_frame){work, add_deep_site(made, work, "b")};
	add_deep_stacks(made, &stack, 1);
	HI_ASSERT(f);
	HI_ASSERT_OK(hi_deep_mercury_write(&made->profile, f, &err), &err);
	HI_ASSERT(fclose(f) == 0);
}

static struct keeping *begin_keeping(void)
{
	static struct keeping k;
	const char *folder = workshop_open();

	k = (struct keeping){};
	hi_test_defer(free_keeping, &k);
	for (int i = 0; i < 2; i++)
		snprintf(k.file[i], sizeof(k.file[i]), "%s/Deep%d.data", folder, i);
	snprintf(k.contour, sizeof(k.contour), "%s/util.contour", folder);
	write_kept_file(k.file[0], 3);
	write_kept_file(k.file[1], 5);
	k.options.deep.operands.files[0].path = k.file[0];
	k.options.deep.operands.n_files = 1;
	return &k;
}

/* Of the bytes of all. */
static uint64_t open_kept(struct keeping *k)
{
	HI_ASSERT_OK(hi_deep_kept_open(&k->kept, &k->options, &k->err), &k->err);
	return k->kept.profile.graph.total.of[HI_DEEP_BYTES];
}

HI_TEST(deep_kept, a_file_is_read_once)
{
	struct keeping *k = begin_keeping();

	HI_ASSERT_EQ(48, open_kept(k));
	HI_ASSERT_EQ(48, open_kept(k));
	k->options.deep.operands.query = "root/no";
	HI_ASSERT_EQ(48, open_kept(k));
	k->options.deep.operands.verb = HI_DEEP_VERB_ADVISE;
	HI_ASSERT_EQ(48, open_kept(k));
	HI_ASSERT_EQ(1, k->kept.n_made);
}

HI_TEST(deep_kept, a_file_that_changed_is_read_again)
{
	struct keeping *k = begin_keeping();

	HI_ASSERT_EQ(48, open_kept(k));
	write_kept_file(k->file[0], 300);
	HI_ASSERT_EQ(4800, open_kept(k));
	HI_ASSERT_EQ(2, k->kept.n_made);
	HI_ASSERT(unlink(k->file[0]) == 0);
	HI_ASSERT(hi_deep_kept_open(&k->kept, &k->options, &k->err) != HI_OK);
	HI_ASSERT_EQ(HI_DEEP_KEPT_NOTHING, k->kept.state);
	write_kept_file(k->file[0], 2);
	HI_ASSERT_EQ(32, open_kept(k));
}

HI_TEST(deep_kept, another_file_verb_or_contour_is_another_profile)
{
	struct keeping *k = begin_keeping();
	FILE *f = fopen(k->contour, "w");

	HI_ASSERT(f && fputs("all util\n", f) >= 0 && fclose(f) == 0);
	HI_ASSERT_EQ(48, open_kept(k));
	k->options.deep.operands.files[0].path = k->file[1];
	HI_ASSERT_EQ(80, open_kept(k));
	k->options.deep.operands.files[1].path = k->file[0];
	k->options.deep.operands.n_files = 2;
	k->options.deep.operands.verb = HI_DEEP_VERB_MERGE;
	HI_ASSERT_EQ(128, open_kept(k));
	HI_ASSERT(!k->kept.index.contour);
	k->options.deep.contour = k->contour;
	HI_ASSERT_EQ(128, open_kept(k));
	HI_ASSERT(k->kept.index.contour);
	k->options.deep.operands.verb = HI_DEEP_VERB_DIFF;
	HI_ASSERT_OK(hi_deep_kept_open(&k->kept, &k->options, &k->err), &k->err);
	HI_ASSERT_EQ(80, k->kept.diff.before.total.of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(48, k->kept.diff.after.total.of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(5, k->kept.n_made);
}

static struct hi_page *make_kept_page(struct keeping *k, struct hi_deep_kept *kept)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(hi_page_destroy, page);
	HI_ASSERT_OK(hi_deep_page(&k->options, kept, page, &k->err), &k->err);
	return page;
}

HI_TEST(deep_kept, pages_are_those_of_a_file_that_was_just_read)
{
	static const char *const queries[] = {NULL, "root/no", "proc/2",
					      "top_procs/1-9/bytes/self/oa", "clique/1"};
	struct keeping *k = begin_keeping();
	struct hi_page *page;

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		struct hi_deep_kept fresh = {};
		const struct hi_page *a, *b;

		k->options.deep.operands.query = queries[i];
		a = make_kept_page(k, &k->kept);
		b = make_kept_page(k, &fresh);
		hi_deep_kept_free(&fresh);
		HI_ASSERT_EQ(a->items.count, b->items.count);
		for (size_t n = 0; n < a->items.count; n++)
			if (a->items.items[n].text)
				HI_ASSERT_STREQ(a->items.items[n].text,
						b->items.items[n].text);
	}
	HI_ASSERT_EQ(1, k->kept.n_made);
	page = hi_page_create();
	hi_test_defer(hi_page_destroy, page);
	k->options.deep.operands.query = "proc/99";
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_deep_page(&k->options, &k->kept, page, &k->err));
	HI_ASSERT_EQ(1, k->kept.n_made);
}

HI_TEST(deep_kept, the_file_of_the_target_is_one_too)
{
	struct keeping *k = begin_keeping();

	k->options = (struct hi_options){.target.file = k->file[1]};
	HI_ASSERT_EQ(80, open_kept(k));
	k->options.target.file = NULL;
	HI_ASSERT_STATUS(HI_USAGE, hi_deep_kept_open(&k->kept, &k->options, &k->err));
}
