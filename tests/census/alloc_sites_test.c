/* SPDX-License-Identifier: BSD-2-Clause */
/* Which calls fit an object, in a drawn program. */
#include "census/analysis/alloc_sites.h"
#include "tests/harness.h"

#define SITE(name, its_kind, bytes, its_type, grade, ...)                                \
	{                                                                                \
		.function = (name), .file = "", .module = "",                            \
		.kind = HI_ALLOC_##its_kind, .size = (bytes), .type = (its_type),        \
		.type_grade = HI_ALLOC_##grade##_TYPE, __VA_ARGS__                       \
	}

static struct hi_alloc_site drawn[] = {
	SITE("order", OF_SIZE, 64, "shop::Order", CERTAIN),
	SITE("invoice", OF_SIZE, 64, "shop::Invoice", CERTAIN),
	SITE("node", OF_SIZE, 40, "struct node", LIKELY),
	SITE("orders", ANY_SIZE, 64, "struct node", LIKELY),
	SITE("copy", ANY_SIZE, 1, "", NO, .text = HI_ALLOC_TEXT),
	SITE("coupon", OF_SIZE, 72, "", NO),
	SITE("rows", ANY_SIZE, 24, "", NO, .extra = 16),
	SITE("place", OF_SIZE, 100, "struct place", LIKELY, .text = HI_ALLOC_NO_TEXT),
	SITE("card", OF_SIZE, 100, "struct card", LIKELY),
};
static const struct hi_alloc_sites all = {.items = drawn,
					  .count = sizeof(drawn) / sizeof(*drawn)};

/* "copy coupon": the names of those that fit, of at most three. */
static const char *fitting(struct hi_alloc_sought sought)
{
	static char text[100];
	struct hi_alloc_fits fits;
	size_t n = 0;

	sought.above = hi_alloc_below(sought.usable);
	sought.type = sought.type ? sought.type : "";
	fits = hi_alloc_sites_fit(&all, &sought);
	*text = 0;
	for (uint32_t i = 0; i < fits.count && i < HI_ALLOC_NAMED; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? " " : "",
				      fits.named[i]->function);
	return text;
}

HI_TEST(alloc_sites, a_type_selects_the_call_that_makes_it)
{
	HI_ASSERT_STREQ("order",
			fitting((struct hi_alloc_sought){
				.usable = 72, .used = 64, .type = "shop::Order"}));
	HI_ASSERT_STREQ("node", fitting((struct hi_alloc_sought){
					.usable = 40, .used = 40, .type = "node"}));
	/* A variable's type may be a base of the object's. */
	HI_ASSERT_STREQ("node", fitting((struct hi_alloc_sought){
					.usable = 40, .used = 40, .type = "derived"}));
	HI_ASSERT_STREQ("copy",
			fitting((struct hi_alloc_sought){
				.usable = 56, .used = 56, .type = "struct none"}));
}

HI_TEST(alloc_sites, without_a_type_the_block_tells_the_size)
{
	static const char *const maybe[] = {"struct node"};
	struct hi_alloc_sought pointers = {.usable = 72, .has_pointers = true};

	HI_ASSERT_STREQ("order invoice coupon", fitting(pointers));
	HI_ASSERT_STREQ("copy coupon",
			fitting((struct hi_alloc_sought){.usable = 72, .is_text = true}));
	HI_ASSERT_STREQ("node", fitting((struct hi_alloc_sought){
					.usable = 40, .maybe = maybe, .n_maybe = 1}));
	/* 24 n + 16 */
	pointers.usable = 88;
	HI_ASSERT_STREQ("rows", fitting(pointers));
	pointers.usable = 56;
	HI_ASSERT_STREQ("", fitting(pointers));
}

HI_TEST(alloc_sites, a_record_that_begins_with_a_number_is_no_text)
{
	static const char *const maybe[] = {"struct place"};

	HI_ASSERT_STREQ("copy card", fitting((struct hi_alloc_sought){.usable = 104,
								      .is_text = true}));
	HI_ASSERT_STREQ("place card", fitting((struct hi_alloc_sought){
					      .usable = 104, .has_pointers = true}));
	HI_ASSERT_STREQ(
		"place",
		fitting((struct hi_alloc_sought){
			.usable = 104, .is_text = true, .maybe = maybe, .n_maybe = 1}));
}

HI_TEST(alloc_sites, a_copy_of_a_text_comes_last_where_there_is_none)
{
	HI_ASSERT_STREQ("rows", fitting((struct hi_alloc_sought){.usable = 88}));
	HI_ASSERT_STREQ("copy", fitting((struct hi_alloc_sought){.usable = 56}));
	HI_ASSERT_STREQ("copy",
			fitting((struct hi_alloc_sought){.usable = 88, .is_text = true}));
}

HI_TEST(alloc_sites, blocks_of_glibc_are_sixteen_bytes_apart)
{
	HI_ASSERT_EQ(0, hi_alloc_below(24));
	HI_ASSERT_EQ(24, hi_alloc_below(40));
	HI_ASSERT_EQ(56, hi_alloc_below(72));
	/* Size classes of others are at most a quarter apart. */
	HI_ASSERT_EQ(128, hi_alloc_below(160));
}
