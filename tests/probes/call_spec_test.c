/* SPDX-License-Identifier: BSD-2-Clause */
/* What --calls and --frees take. */
#include <string.h>

#include "probes/events/call_spec.h"
#include "tests/harness.h"

static const struct good_call {
	const char *text, *module, *name;
	struct hi_bpf_function does;
} good_calls[] = {
	{"pool_get:ret",
	 "",
	 "pool_get",
	 {.result = HI_BPF_RETURNED, .flags = HI_BPF_ALWAYS}},
	{"pool_get:ret,size=$2",
	 "",
	 "pool_get",
	 {.size = 2, .result = HI_BPF_RETURNED, .unit = 1}},
	{"libpool:pool_get:size=$2*$3,ret",
	 "libpool",
	 "pool_get",
	 {.size = 2, .count = 3, .result = HI_BPF_RETURNED, .unit = 1}},
	{"ns::pool<int>::get:ret,size=48",
	 "",
	 "ns::pool<int>::get",
	 {.result = HI_BPF_RETURNED, .unit = 48}},
	{"items:ret,size=4KiB*$6*2",
	 "",
	 "items",
	 {.size = 6, .result = HI_BPF_RETURNED, .unit = 8192}},
	{"take:ret=*$4,size=$1", "", "take", {.size = 1, .result = 4, .unit = 1}},
	{"resize:old=$2,ret,size=$3",
	 "",
	 "resize",
	 {.size = 3, .block = 2, .result = HI_BPF_RETURNED, .unit = 1}},
};

HI_TEST(call_spec, says_where_block_and_size_are)
{
	for (size_t i = 0; i < sizeof(good_calls) / sizeof(*good_calls); i++) {
		const struct good_call *good = &good_calls[i];
		struct hi_call_spec spec;
		struct hi_error err;
		size_t column;

		HI_ASSERT_OK(hi_call_spec_parse(good->text, &spec, &column, &err), &err);
		HI_ASSERT_STREQ(good->name, spec.function.name);
		HI_ASSERT_STREQ(good->module, spec.function.detail);
		HI_ASSERT_MSG(memcmp(&good->does, &spec.does, sizeof(spec.does)) == 0,
			      "%s", good->text);
	}
}

HI_TEST(call_spec, says_which_argument_is_freed)
{
	struct hi_call_spec spec;
	struct hi_error err;
	size_t column;

	HI_ASSERT_OK(hi_free_spec_parse("a.so:put:$2", &spec, &column, &err), &err);
	HI_ASSERT_STREQ("put", spec.function.name);
	HI_ASSERT_STREQ("a.so", spec.function.detail);
	HI_ASSERT_EQ(2, spec.does.block);
	HI_ASSERT_EQ(0, spec.does.result);
}

static const struct bad_call {
	const char *text;
	size_t column;
	const char *says;
} bad_calls[] = {
	{"", 0, "FUNCTION:ret"},
	{"pool_get", 8, "FUNCTION:ret"},
	{"ns::get", 7, "FUNCTION:ret"},
	{":ret", 4, "FUNCTION:ret"},
	{"pool_get:", 9, "one of ret"},
	{"pool_get:rte", 9, "one of ret"},
	{"pool_get:size=$1", 16, "where the result is"},
	{"pool_get:ret,size=$7", 18, "$1 to $6"},
	{"pool_get:ret,size=$12", 18, "$1 to $6"},
	{"pool_get:ret,size=many", 18, "a size is expected"},
	{"pool_get:ret,size=0", 18, "a size is expected"},
	{"pool_get:ret,size=$1*", 21, "a size is expected"},
	{"pool_get:ret,size=$1*$2*$3", 24, "at most two"},
	{"pool_get:ret,ret", 13, "each once"},
	{"pool_get:ret;size=$1", 12, "','"},
	{"pool_get%return:ret", 0, "name of a function"},
	{"pool.c:12:ret", 0, "name of a function"},
};

HI_TEST(call_spec, says_what_is_expected_and_where)
{
	for (size_t i = 0; i < sizeof(bad_calls) / sizeof(*bad_calls); i++) {
		const struct bad_call *bad = &bad_calls[i];
		struct hi_call_spec spec;
		struct hi_error err;
		size_t column = 99;

		HI_ASSERT_EQ(HI_USAGE,
			     hi_call_spec_parse(bad->text, &spec, &column, &err));
		HI_ASSERT_MSG(strstr(err.text, bad->says), "%s: %s", bad->text, err.text);
		HI_ASSERT_MSG(column == bad->column, "%s: column %zu", bad->text, column);
	}
}

HI_TEST(call_spec, says_what_is_wrong_with_frees)
{
	static const char *const bad[] = {"put", "put:", "put:ret", "put:$0",
					  "put:$1,$2"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct hi_call_spec spec;
		struct hi_error err;
		size_t column;

		HI_ASSERT_EQ(HI_USAGE, hi_free_spec_parse(bad[i], &spec, &column, &err));
	}
}
