/* SPDX-License-Identifier: BSD-2-Clause */
/* Contour files: what they leave out, and what is wrong with them. */
#include "tests/report/deep_profiles.h"

static enum hi_status parse_contour(struct deep_made *made, const char *text, size_t size,
				    struct hi_error *err)
{
	hi_deep_contour_free(&made->contour);
	return hi_deep_contour_parse(&made->profile, text, size, &made->contour, err);
}

static void expect_excluded(struct deep_made *made, const char *text, bool main,
			    bool parse, bool expr, bool load)
{
	struct hi_error err;

	HI_ASSERT_OK(parse_contour(made, text, strlen(text), &err), &err);
	HI_ASSERT_EQ(false, made->contour.excludes[0]);
	HI_ASSERT_EQ(main, made->contour.excludes[DRAWN_MAIN]);
	HI_ASSERT_EQ(parse, made->contour.excludes[DRAWN_PARSE]);
	HI_ASSERT_EQ(expr, made->contour.excludes[DRAWN_EXPR]);
	HI_ASSERT_EQ(load, made->contour.excludes[DRAWN_LOAD]);
}

HI_TEST(deep_contour, lines_leave_out_functions)
{
	struct deep_made *made = make_deep_drawn();

	expect_excluded(made, "", false, false, false, false);
	expect_excluded(made, "all util", false, true, true, false);
	expect_excluded(made, "internal util\n", false, false, true, false);
	expect_excluded(made, "internal util\nall util\n", false, true, true, false);
	expect_excluded(made, "  all\tutil  \r\n\n# all demo\nall disk", false, true,
			true, true);
	expect_excluded(made, "# only this", false, false, false, false);
}

HI_TEST(deep_contour, modules_are_named_by_path_or_its_end)
{
	struct deep_made *made = make_deep();
	struct hi_error err;

	add_deep_function(made, "f", "/opt/my lib/libx.so", true);
	add_deep_function(made, "g", "libx.so", true);
	add_deep_function(made, "h", "/opt/liby.so", true);
	HI_ASSERT_OK(parse_contour(made, "all /opt/my lib/libx.so", 23, &err), &err);
	HI_ASSERT(made->contour.excludes[1] && !made->contour.excludes[2]);
	HI_ASSERT_OK(parse_contour(made, "all libx.so", 11, &err), &err);
	HI_ASSERT(made->contour.excludes[1] && made->contour.excludes[2]);
	HI_ASSERT(!made->contour.excludes[3]);
}

HI_TEST(deep_contour, some_unknown_modules_are_a_warning_all_are_an_error)
{
	struct deep_made *made = make_deep_drawn();
	struct hi_error err;

	HI_ASSERT_OK(parse_contour(made, "all util\nall no\033ne\nall nil\n", 26, &err),
		     &err);
	HI_ASSERT_EQ(3, made->contour.n_lines);
	HI_ASSERT_EQ(2, made->contour.n_unknown);
	HI_ASSERT_STREQ("no\\x1bne", made->contour.first_unknown);
	HI_ASSERT_STATUS(HI_USAGE, parse_contour(made, "all none\nall nil", 16, &err));
	HI_ASSERT(strstr(err.text, "none") && strstr(err.text, "2 modules"));
}

HI_TEST(deep_contour, other_lines_are_refused)
{
	static const char *const texts[] = {"util",	     "all",
					    "all ",	     "some util",
					    "all util\nx\n", "\xff\xfe all util",
					    "ALL util",	     "internal"};
	struct deep_made *made = make_deep_drawn();
	struct hi_error err;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		enum hi_status status =
			parse_contour(made, texts[i], strlen(texts[i]), &err);

		HI_ASSERT_MSG(status == HI_USAGE, "\"%s\": %s", texts[i],
			      hi_status_text(status));
		HI_ASSERT(strstr(err.text, "all MODULE") != NULL);
	}
	/* A NUL is no end. */
	HI_ASSERT_STATUS(HI_USAGE, parse_contour(made, "all util\n\0x\n", 12, &err));
}
