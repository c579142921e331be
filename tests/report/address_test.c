/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "report/address.h"
#include "tests/harness.h"

HI_TEST(address, has_no_byte_of_a_name_that_means_something_in_a_page)
{
	struct hi_page *page = hi_page_create();
	const char *a = hi_address(page, "paths", "a<b>\"'&?#%\xff\n c");

	HI_ASSERT_STREQ("paths/a%3Cb%3E%22%27%26%3F%23%25%FF%0A%20c", a);
	hi_page_destroy(page);
}

/* What browsers make of it: "/TOKEN/paths/../quit" is "/TOKEN/quit" for them. */
HI_TEST(address, a_name_leads_to_no_other_page)
{
	static const char *const names[][2] = {
		{"../quit", "paths/..%2Fquit"},
		{"a/./b", "paths/a%2F.%2Fb"},
		{"a/..", "paths/a%2F.."},
		{"..", ""},
		{".", ""},
		{"src/a..b/.c", "paths/src/a..b/.c"},
		{"a/.../b", "paths/a/.../b"},
		{"%2e%2e/x", "paths/%252e%252e/x"},
		{"a//b", "paths/a//b"},
	};
	struct hi_page *page = hi_page_create();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		HI_ASSERT_STREQ(names[i][1], hi_address(page, "paths", names[i][0]));
	hi_page_destroy(page);
}

HI_TEST(address, any_bytes_come_back)
{
	struct hi_page *page = hi_page_create();
	struct hi_arena arena = {};
	struct hi_error err = {};

	srand(1);
	for (int round = 0; round < 2000; round++) {
		char raw[3][40];
		struct hi_address back;
		const char *text;

		for (int k = 0; k < 3; k++) {
			int n = 1 + rand() % 38;

			for (int i = 0; i < n; i++)
				raw[k][i] = (char)(1 + rand() % 255);
			raw[k][n] = '\0';
		}
		text = hi_address_with(page, hi_address(page, "census", raw[0]), raw[1],
				       raw[2]);
		text = hi_address_with(page, text, "all", "");
		HI_ASSERT_OK(hi_address_parse(text, &arena, &back, &err), &err);
		HI_ASSERT_STREQ("census", back.name);
		HI_ASSERT_STREQ(raw[0], back.argument);
		HI_ASSERT_EQ(2, back.n_options);
		HI_ASSERT_STREQ(raw[1], back.options[0].name);
		HI_ASSERT_STREQ(raw[2], back.options[0].value);
		HI_ASSERT_STREQ("", back.options[1].value);
	}
	hi_arena_free(&arena);
	hi_page_destroy(page);
}

HI_TEST(address, wrong_ones_are_errors)
{
	static const char *const wrong[] = {"a/%",   "a/%4",   "a/%zz",
					    "a/%00", "a?b=%1", "a?%=1"};
	struct hi_arena arena = {};
	struct hi_error err = {};
	struct hi_address ret;
	char many[200] = "a?";

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		HI_ASSERT_EQ(HI_USAGE, hi_address_parse(wrong[i], &arena, &ret, &err));
	for (int i = 0; i < 17; i++)
		strcat(many, "b=1&");
	HI_ASSERT_EQ(HI_USAGE, hi_address_parse(many, &arena, &ret, &err));
	hi_arena_free(&arena);
}

HI_TEST(address, a_name_that_is_too_long_has_none)
{
	struct hi_page *page = hi_page_create();
	char *name = malloc(HI_ADDRESS_ARGUMENT + 2);

	memset(name, 'a', HI_ADDRESS_ARGUMENT + 1);
	name[HI_ADDRESS_ARGUMENT + 1] = '\0';
	HI_ASSERT_STREQ("", hi_address_of_type(page, name));
	HI_ASSERT_STREQ("", hi_address_with(page, "", "top", "1"));
	free(name);
	hi_page_destroy(page);
}
